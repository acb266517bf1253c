/* The model as an author: prompts, samples, repair. model_author.h is the manual.
 *
 * Invariant: the tokens of a sample are kept with the proposal that it became, so that a repair continues the
 * conversation with the model's own tokens. */
#include "write/model_author.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/extract.h"
#include "data/prompt.h"
#include "infer/infer.h"
#include "model/shipped.h"
#include "rl/turn.h"
#include "train/dataset.h"

/* Samples decoded at the same time, and conversations that a repair continues. */
enum { SLOTS = 16, REPAIRS = 4 };

/* The tokens of a sample: prompt, then answer. */
struct kept {
	const struct proposal *proposal;
	int32_t *tokens;
	int prompt_n, n;
};

struct model_author {
	const struct writer_args *a;
	const char *dir, *adapter_dir;
	enum prompt_style style;
	struct buf path, base;               /* of the shipped model, of the model of an adapter */
	struct tok *tok;
	struct dev *dev;
	struct model *model;
	struct adapter *adapter;
	struct { struct kept *v; size_t n, cap; } kept;
	/* of the run */
	struct write_search *search;
	enum author author;
	int refused;                         /* a prompt did not fit */
	int failed;
	struct err *e;
};

static void forget(struct model_author *m)
{
	for (size_t i = 0; i < m->kept.n; i++)
		mem_free(m->kept.v[i].tokens);
	m->kept.n = 0;
}

void model_author_close(struct model_author *m)
{
	if (!m)
		return;
	forget(m);
	vec_free(&m->kept);
	adapter_free(m->adapter);
	model_free(m->model);
	dev_close(m->dev);
	tok_free(m->tok);
	buf_release(&m->path);
	buf_release(&m->base);
	mem_free(m);
}

static int find_model(struct model_author *m, struct err *e)
{
	m->dir = m->a->model;
	m->adapter_dir = m->a->adapter;
	if (!m->dir && !model_shipped(&m->path))
		return err_set(e, ERR_NOT_FOUND, MODEL_SHIPPED_MISSING);
	if (!m->dir)
		m->dir = buf_cstr(&m->path);
	return adapter_split(&m->dir, &m->adapter_dir, &m->base, e);
}

static int load(struct model_author *m, struct err *e)
{
	const struct writer_args *a = m->a;

	if (find_model(m, e))
		return -1;
	m->style = prompt_style_choose((enum prompt_style)prompt_style_by_name(str_of(a->style)), m->adapter_dir,
				       m->dir);
	m->tok = tok_open(m->dir, e);
	m->dev = m->tok ? dev_open(a->device ? a->device : "auto", (int)a->threads, e) : NULL;
	m->model = m->dev ? model_open(m->dev, m->dir, &(struct model_opts){ .store = a->store }, e) : NULL;
	if (m->model && m->adapter_dir)
		m->adapter = adapter_open(m->model, m->adapter_dir, e);
	return m->model && (m->adapter || !m->adapter_dir) ? 0 : -1;
}

struct model_author *model_author_open(const struct writer_args *a, struct err *e)
{
	struct model_author *m = mem_zalloc(sizeof *m);

	if (!m) {
		err_nomem(e);
		return NULL;
	}
	m->a = a;
	if (!load(m, e))
		return m;
	model_author_close(m);
	return NULL;
}

/* --- samples ------------------------------------------------------------------------------------------ */

/* Keeps the tokens of a sample for a repair. */
static int keep(struct model_author *m, const struct infer_result *r, const struct proposal *p)
{
	struct kept k = { .proposal = p, .prompt_n = r->request->prompt_n, .n = r->request->prompt_n + r->n };

	k.tokens = mem_array((size_t)k.n + 1, sizeof *k.tokens);
	if (!k.tokens || vec_push(&m->kept, k)) {
		mem_free(k.tokens);
		return err_nomem(m->e);
	}
	memcpy(k.tokens, r->request->prompt, (size_t)k.prompt_n * sizeof *k.tokens);
	memcpy(k.tokens + k.prompt_n, r->tokens, (size_t)r->n * sizeof *k.tokens);
	return 0;
}

/* A finished sample becomes a candidate. An answer without code is judged as it is, so that it counts. */
static int propose(struct model_author *m, const struct infer_result *r)
{
	struct buf code = BUF_INIT;
	char note[64] = "";
	struct extract x;
	int rc = extract_code(r->text, &x, &code, m->e);

	if (r->finish == INFER_LENGTH)
		snprintf(note, sizeof note, "cut off after %d tokens", r->n);
	if (!rc)
		rc = search_add(m->search, m->author, code.n ? buf_str(&code) : r->text, note, m->e);
	if (!rc)
		rc = keep(m, r, m->search->all.v[m->search->all.n - 1]);
	buf_release(&code);
	return rc;
}

static void sample_done(void *ctx, const struct infer_result *r)
{
	struct model_author *m = ctx;

	m->refused |= r->finish == INFER_REFUSED;
	if (!m->failed && r->finish != INFER_INTERRUPTED && r->finish != INFER_REFUSED && propose(m, r))
		m->failed = 1;
}

/* Asked between steps; it also takes the verdicts of finished samples. */
static int should_stop(void *ctx)
{
	struct model_author *m = ctx;

	if (!m->failed && search_take(m->search, 0, m->e))
		m->failed = 1;
	return m->failed || search_is_over(m->search) || search_is_settled(m->search);
}

/* Draws the samples of some requests. */
static int draw(struct model_author *m, struct write_search *s, enum author author, struct infer_request *q, size_t n,
		struct err *e)
{
	struct infer_calls calls = { .done = sample_done, .stop = should_stop, .ctx = m };
	struct infer_opts o = { .slots = 0 };
	struct infer_stats stats = { .samples = 0 };
	int32_t eos = model_config(m->model)->eos;
	struct infer *x;
	int rc;

	m->search = s;
	m->author = author;
	m->e = e;
	for (size_t i = 0; i < n; i++) {
		q[i].seed = (uint64_t)m->a->seed;
		q[i].sample.temperature = (float)m->a->temperature;
		q[i].max_new_tokens = (int)m->a->max_new;
		q[i].nstop_tokens = tok_stops(m->tok, &q[i].stop_tokens);
		if (!q[i].nstop_tokens && eos >= 0) {
			q[i].stop_tokens = &eos;
			q[i].nstop_tokens = 1;
		}
		o.slots += q[i].n;
		o.length = MAX(o.length, q[i].prompt_n + m->a->max_new);
	}
	o.slots = MIN(o.slots, SLOTS);
	x = infer_new(m->model, m->adapter, m->tok, &o, e);
	rc = x ? infer_run_list(x, q, n, &calls, &stats, e) : -1;
	infer_free(x);
	return rc || m->failed ? -1 : 0;
}

/* The tokens of the prompt for a task in one style. */
static int encode_prompt(struct model_author *m, struct tok_enc *x, enum prompt_style style, struct str task,
			 struct tok_ids *ids, struct err *e)
{
	struct prompt_ask ask = { .style = style, .strict = m->a->judge.judge.track == TRACK_STRICT,
				  .tf32 = m->a->judge.judge.precision == PRECISION_TF32 };
	struct buf sys_text = BUF_INIT, user = BUF_INIT, text = BUF_INIT;
	int rc = prompt_task(ask, task, &sys_text, &user, e) ||
		 dataset_chat_prompt(m->tok, buf_str(&sys_text), buf_str(&user), &text, e) ||
		 tok_encode(x, buf_str(&text), 0, ids, e) ? -1 : 0;

	buf_release(&sys_text);
	buf_release(&user);
	buf_release(&text);
	return rc;
}

/* A model of style outline answers two prompts: with the outline in the solver's manner, without it in the
 * generator's. Each gets half of the samples, because they fail on different modules. */
int model_author_sample(struct model_author *m, struct write_search *s, int n, struct err *e)
{
	const enum prompt_style styles[] = { m->style, PROMPT_COMPACT };
	struct tok_ids ids[2] = { TOK_IDS_INIT, TOK_IDS_INIT };
	struct infer_request q[2] = { { .n = m->a->temperature > 0 ? n : 1 } };
	struct tok_enc *x = tok_enc_new(m->tok, e);
	size_t count = m->style == PROMPT_OUTLINE && q[0].n > 1 ? 2 : 1;
	int rc = x ? 0 : -1;

	forget(m);
	m->refused = 0;
	if (count == 2) {
		q[1].n = q[0].n / 2;
		q[0].n -= q[1].n;
	}
	for (size_t i = 0; i < count && !rc; i++) {
		rc = encode_prompt(m, x, styles[i], s->task, &ids[i], e);
		q[i].number = i;
		q[i].prompt = ids[i].v;
		q[i].prompt_n = (int)ids[i].n;
	}
	if (!rc)
		rc = draw(m, s, AUTHOR_MODEL, q, count, e);
	if (!rc && m->refused && !m->kept.n)
		rc = err_set(e, ERR_RANGE, "the prompt of %zu tokens does not fit the model", ids[0].n);
	tok_enc_free(x);
	vec_free(&ids[0]);
	vec_free(&ids[1]);
	return rc;
}

/* --- repair --------------------------------------------------------------------------------------------- */

/* May feedback help? Not if the task is at fault, or if the candidate was not judged. */
static int is_repairable(const struct proposal *p)
{
	return p->judged && !p->failed && !p->verdict.correct && p->verdict.diag.reason != REASON_bad_task;
}

/* The kept samples that came furthest, best first, one for each kind of failure. */
static size_t find_repairs(const struct model_author *m, const struct kept *out[REPAIRS])
{
	size_t n = 0;

	while (n < REPAIRS) {
		const struct kept *found = NULL;

		for (size_t i = 0; i < m->kept.n; i++) {
			const struct kept *k = &m->kept.v[i];
			int known = 0;

			for (size_t j = 0; j < n; j++)
				known |= out[j]->proposal->verdict.diag.reason == k->proposal->verdict.diag.reason;
			if (is_repairable(k->proposal) && !known &&
			    (!found || proposal_reach(k->proposal) > proposal_reach(found->proposal)))
				found = k;
		}
		if (!found)
			break;
		out[n++] = found;
	}
	return n;
}

int model_author_repair(struct model_author *m, struct write_search *s, int n, struct err *e)
{
	const struct kept *from[REPAIRS];
	struct infer_request q[REPAIRS] = { { .n = 0 } };
	struct tok_ids ids[REPAIRS] = { TOK_IDS_INIT };
	struct tok_enc *x = tok_enc_new(m->tok, e);
	size_t count = MIN(find_repairs(m, from), (size_t)n);
	int rc = x ? 0 : -1;

	for (size_t i = 0; i < count && !rc; i++) {
		struct rolled sample = { .tokens = from[i]->tokens, .prompt_n = from[i]->prompt_n, .n = from[i]->n,
					 .verdict = from[i]->proposal->verdict };

		rc = turn_prompt(x, m->tok, &sample, &ids[i], e);
		q[i] = (struct infer_request){ .prompt = ids[i].v, .prompt_n = (int)ids[i].n, .number = 1 + i,
					       .n = n / (int)count + ((int)i < n % (int)count) };
	}
	if (!rc && count)
		rc = draw(m, s, AUTHOR_REPAIR, q, count, e);
	for (size_t i = 0; i < count; i++)
		vec_free(&ids[i]);
	tok_enc_free(x);
	return rc;
}
