/* Measurements for plans: see plan_measure.h. */
#include "run/plan_measure.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "train/dataset.h"
#include "verify/pool/batch.h"

/* Rows drawn for lengths, rows made as in training, pairs drawn for times, and candidates judged for each pair. */
enum { DRAWS = 48, STREAMED = 256, PAIRS = 10, CANDIDATES = 2 };

/* --- lengths ----------------------------------------------------------------------------------------- */

/* Adds the bytes of a conversation: [0] all messages but the last, which are the prompt, [1] the
 * answer. */
static int add_row(struct str line, double bytes[2], struct err *e)
{
	struct json *j = json_parse(line, e);
	const struct json *m = j ? json_get(j, "messages") : NULL;
	size_t n = m ? json_count(m) : 0;

	for (size_t i = 0; i < n; i++)
		bytes[i + 1 == n] += (double)json_str(json_get(json_at(m, i), "content"), "").n;
	json_free(j);
	return j ? 0 : -1;
}

/* Computes the mean lengths of the rows that prepare wrote to `dir`. */
static int read_lengths(const char *dir, const struct prep_report *r, struct plan_lengths *out, struct err *e)
{
	struct buf path = BUF_INIT;
	struct line_reader lines;
	struct str line;
	double bytes[2] = { 0 };
	int rc = lines_open(&lines, path_join(&path, dir, prep_file_name(PREP_OUT_sft_train)), e);

	while (!rc && (rc = lines_next(&lines, &line, e)) > 0)
		rc = add_row(line, bytes, e);
	if (!rc && r->rows[PREP_OUT_sft_train] && bytes[0] + bytes[1] > 0) {
		out->row = (double)r->tokens / (double)r->rows[PREP_OUT_sft_train];
		out->prompt_share = bytes[0] / (bytes[0] + bytes[1]);
		out->rows_per_s = (double)r->rows[PREP_OUT_sft_train] / MAX(r->seconds, 1e-3);
	}
	lines_close(&lines);
	buf_release(&path);
	return rc;
}

/* Tells whether a folder has a tokenizer. */
static int has_tokenizer(const char *dir)
{
	struct buf path = BUF_INIT;
	int yes = dir && path_join(&path, dir, "tokenizer.json") && file_exists(path.p);

	buf_release(&path);
	return yes;
}

/* Options of prepare for a few rows of the generator, without judging. Stage sft may draw pairs of
 * its own instead of reading prepared ones. */
static struct prepare_args few_rows(const struct pipeline *p, const char *dir, const char *tokenizer)
{
	static const char *const builtin[] = { "builtin" };
	struct prepare_args a = p->prepare;

	a.source = (struct opt_list){ .v = (const char **)builtin, .n = 1 };
	a.input = a.decontaminate = (struct opt_list){ .v = NULL };
	a.count = DRAWS;
	a.rl_count = 0;
	a.validation = a.test = 0;
	a.verify = 0;
	a.out = dir;
	a.model = NULL;
	a.tokenizer = tokenizer;
	if (p->sft.draws.levels.n) {
		a.level = p->sft.draws.levels;
		a.style = p->sft.draws.plain ? "plain" : "varied";
		a.rising = 0;
	}
	return a;
}

int plan_measure_lengths(const struct pipeline *p, const char *tokenizer, struct plan_lengths *out, struct err *e)
{
	char dir[] = "/tmp/tritonrl-plan-XXXXXX";
	struct prepare_args a = few_rows(p, dir, tokenizer);
	struct prep_report r;
	int rc;

	if (!has_tokenizer(tokenizer))
		return 0;
	if (!mkdtemp(dir))
		return err_errno(e, "cannot make '%s'", dir);
	rc = prepare_args_run(&a, &r, e) || read_lengths(dir, &r, out, e) ? -1 : 0;
	return file_remove_tree(dir, rc ? NULL : e) || rc ? -1 : 0;
}

/* --- rows that are made during training ---------------------------------------------------------------- */

/* Lengths and time of the rows that were made. */
struct made_rows {
	double n, tokens, square, bytes[2], seconds;
};

/* Typical values of pairs from modules with the tokenizer of models/writer. */
static const struct plan_lengths module_rows = { .row = 1130, .square = 1750, .prompt_share = 0.4, .row_ms = 3.5 };

/* CPU seconds of this thread. */
static double thread_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec +
			u.ru_stime.tv_usec) * 1e-6;
}

/* Makes row k of the run and counts it. */
static int make_row(struct draws_rows *r, struct dataset_rows *rows, struct dataset *d, uint64_t k,
		    struct made_rows *out, struct err *e)
{
	struct buf line = BUF_INIT;
	double from = thread_seconds(), n;
	int rc;

	dataset_clear(d);
	dataset_rows_into(rows, d);
	rc = draws_row(r, k, &line, e) || dataset_rows_add(rows, buf_str(&line), e) ? -1 : 0;
	out->seconds += thread_seconds() - from;
	n = rc || !d->seqs.n ? 0 : d->seqs.v[0].n;
	out->n++;
	out->tokens += n;
	out->square += n * n;
	rc = rc || add_row(buf_str(&line), out->bytes, e) ? -1 : 0;
	buf_release(&line);
	return rc;
}

/* Makes rows from the beginning to the end of the run: with --stream-rising the later ones are longer. The first
 * row is made twice, because the first call loads the solver's library. */
static int make_rows(const struct pipeline *p, const struct draws_opts *o, const struct tok *t, struct made_rows *out,
		     struct err *e)
{
	const struct sft_opts *s = &p->sft.sft;
	uint64_t total = (uint64_t)MAX(s->steps, 1) * (uint64_t)(s->batch * MAX(s->accumulate, 1));
	struct draws_rows r = { .style = prompt_style_choose(p->sft.sample.style, NULL, p->sft.policy.model) };
	struct dataset d = { .cut = 0 };
	struct dataset_rows *rows = dataset_rows_new(&d, t, s->max_length, e);
	int rc = !rows || draws_rows_init(&r, o, (uint64_t)p->sft.seed, total, e) ? -1 : 0;

	for (uint64_t i = 0; i <= STREAMED && !rc; i++) {
		rc = make_row(&r, rows, &d, i ? (i - 1) * total / STREAMED + i - 1 : 0, out, e);
		if (!i)
			*out = (struct made_rows){ .n = 0 };
	}
	draws_rows_release(&r);
	dataset_rows_free(rows);
	dataset_release(&d);
	return rc;
}

/* Mixes the values of a share of the rows into those of the others. */
static void mix(struct plan_lengths *to, const struct plan_lengths *from, double share)
{
	double a = (1 - share) * to->row, b = share * from->row;

	to->square = (a * to->square + b * from->square) / (a + b);
	to->prompt_share = (a * to->prompt_share + b * from->prompt_share) / (a + b);
	to->row_ms = (1 - share) * to->row_ms + share * from->row_ms;
	to->row = a + b;
}

int plan_measure_rows(const struct pipeline *p, const char *tokenizer, struct plan_lengths *out, struct err *e)
{
	struct draws_opts o = p->sft.draws;
	double missing = o.modules && !file_exists(o.modules) ? o.share : 0;
	struct made_rows m = { .n = 0 };
	struct tok *t;
	int rc;

	if (!has_tokenizer(tokenizer))
		return 0;
	if (missing > 0)
		o.modules = NULL;
	t = tok_open(tokenizer, e);
	rc = t ? make_rows(p, &o, t, &m, e) : -1;
	tok_free(t);
	if (rc || m.tokens <= 0)
		return rc;
	out->row = m.tokens / m.n;
	out->square = m.square / m.tokens;
	out->prompt_share = m.bytes[0] / MAX(m.bytes[0] + m.bytes[1], 1);
	out->row_ms = MAX(m.seconds * 1000 / m.n, 1e-3);
	if (missing > 0)
		mix(out, &module_rows, missing);
	return 0;
}

/* --- the judge --------------------------------------------------------------------------------------- */

/* CPU seconds of all child processes that have ended. */
static double children_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec +
			u.ru_stime.tv_usec) * 1e-6;
}

/* Drawn pairs, and the candidates that are judged for each. */
struct judging {
	struct gen_texts pair[PAIRS];
	size_t n, asked, each;           /* pairs; candidates submitted so far, for each pair */
	struct buf text;
	size_t told;
};

/* The next candidate. With `each` 0 every task gets one empty candidate, which costs only the
 * preparation of the task. A comment makes equal solutions different texts. */
static int next_candidate(void *ctx, uint64_t *id, struct str *task, struct str *candidate)
{
	struct judging *x = ctx;
	size_t each = MAX(x->each, 1), k = x->asked / each;

	if (k >= x->n)
		return 0;
	*id = x->asked++;
	*task = buf_str(&x->pair[k].task);
	buf_clear(&x->text);
	if (x->each) {
		buf_addstr(&x->text, buf_str(&x->pair[k].solution));
		buf_addf(&x->text, "\n# %zu\n", (size_t)*id);
	}
	*candidate = buf_str(&x->text);
	return 1;
}

static int note_verdict(void *ctx, const struct judged *j, struct err *e)
{
	struct judging *x = ctx;

	(void)e;
	x->told += !j->rc || j->verdict.diag.reason != REASON_bad_task;
	return 0;
}

/* CPU seconds to judge `each` candidates for every pair in one process, without the task cache.
 * Returns -1 if the judge failed. */
static double judge_pairs(struct judging *x, const struct judge_args *given, size_t each)
{
	const struct batch_source all = { .next = next_candidate, .told = note_verdict, .ctx = x };
	struct judge_options o;
	struct judge_pool_options po;
	struct judge_pool *pool;
	double before = children_seconds();
	int rc;

	if (judge_args_options(given, &o, &po, NULL))
		return -1;
	po.workers = 1;
	po.kept = 0;
	o.skip_general = 1;
	x->asked = x->told = 0;
	x->each = each;
	pool = judge_pool_open(&o, &po, NULL);
	rc = pool ? judge_pool_run(pool, &all, NULL) : -1;
	judge_pool_close(pool);
	return rc || !x->told ? -1 : children_seconds() - before;
}

/* Draws pairs of the levels that stage rl trains on. */
static int draw_pairs(const struct pipeline *p, struct judging *x)
{
	const struct opt_list *levels = p->prepare.rl_count && p->prepare.rl_level.n ? &p->prepare.rl_level :
		&p->prepare.level;
	struct draws d;
	struct gen_plan plan;
	int rc = draws_init(&d, (uint64_t)p->prepare.seed, "plan", NULL);

	if (!rc && levels->n)
		rc = gen_levels_parse(&d.levels, levels->v, levels->n, NULL);
	d.plain = !strcmp(p->prepare.style, "plain");
	for (; !rc && x->n < PAIRS; x->n += !rc)
		rc = draws_pair(&d, x->n, &plan, &x->pair[x->n], NULL);
	draws_release(&d);
	return rc;
}

/* The pairs are judged twice: with empty candidates, and with correct ones. The difference is the
 * time of the candidates; the rest is the preparation of the tasks. Correct candidates pass every
 * stage, so wrong ones take less. */
int plan_measure_judge(const struct pipeline *p, double *judge_ms, double *task_ms)
{
	struct judging x = { .n = 0 };
	double tasks = -1, all = -1;

	*judge_ms = *task_ms = 20;
	if (!draw_pairs(p, &x)) {
		tasks = judge_pairs(&x, &p->rl.judge, 0);
		all = tasks < 0 ? -1 : judge_pairs(&x, &p->rl.judge, CANDIDATES);
	}
	if (all > 0) {
		*task_ms = MAX(0.1, tasks * 1000.0 / (double)x.n);
		*judge_ms = MAX(0.1, (all - tasks) * 1000.0 / (double)(x.n * CANDIDATES));
	}
	for (size_t i = 0; i < COUNT_OF(x.pair); i++)
		gen_texts_release(&x.pair[i]);
	buf_release(&x.text);
	return all > 0;
}
