/* Rollouts: sampling, judging, further turns, and the exchange between ranks. rollout.h is the
 * manual. This file owns one rollout from prompts to judged samples; advantage.c turns rewards into
 * advantages.
 *
 * Invariant: the samples of a step are a function of (weights, tasks, step, options, seed). The
 * number of ranks and earlier interruptions change nothing. */
#include "rl/rollout.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "data/extract.h"
#include "rl/pending.h"
#include "rl/turn.h"
#include "train/dataset.h"
#include "verify/pool/batch.h"
#include "verify/pool/verdict_cache.h"

/* The state of a rollout in one turn: the prompts, the requests that this rank draws, and the batch
 * of candidates for the judge. */
struct rolling {
	struct rollout *r;
	struct rollout_env *env;
	const struct taskset *tasks;
	const size_t *which;
	const struct rollout_opts *o;
	uint64_t step;
	struct infer_request *group;    /* one per task, for all its samples */
	struct infer_request *requests; /* those still to be drawn */
	size_t n_requests;
	int32_t **prompts;
	const struct tok_ids *given;    /* prompts of a repair turn, one per task; NULL: the task's prompt */
	unsigned char *mine;            /* [samples]: this process draws it */
	size_t count, judged, sampled;
	struct judge_batch batch;       /* ids are sample indices */
	int failed;
	struct err *e;
};

/* --- prompts ------------------------------------------------------------------------------ */

/* Builds the chat prompt of task i and tokenises it. The tokens belong to g->prompts[i]. */
static int encode_prompt(struct rolling *g, struct tok_enc *x, size_t i)
{
	struct buf sys_text = BUF_INIT, user = BUF_INIT, text = BUF_INIT;
	struct tok_ids ids = TOK_IDS_INIT;
	struct prompt_ask ask = { .style = g->o->style, .strict = g->o->strict, .tf32 = g->o->tf32 };
	struct str source = str_of(g->tasks->rows.v[g->which[i]].source);
	int rc = prompt_task(ask, source, &sys_text, &user, g->e) ||
		 dataset_chat_prompt(g->env->tok, buf_str(&sys_text), buf_str(&user), &text, g->e) ||
		 tok_encode(x, buf_str(&text), 0, &ids, g->e) ? -1 : 0;

	g->prompts[i] = ids.v;
	g->group[i].prompt = ids.v;
	g->group[i].prompt_n = (int)ids.n;
	buf_release(&sys_text);
	buf_release(&user);
	buf_release(&text);
	return rc;
}

/* The request for all samples of one task. The position in the step is part of the seed, so a task
 * that occurs twice in a step gets different answers. */
static struct infer_request request_of(struct rolling *g, size_t i, uint64_t step)
{
	struct infer_request q = { .n = g->o->n, .seed = g->o->seed + step * 0x9e3779b97f4a7c15u,
				   .number = i, .sample = g->o->sample,
				   .max_new_tokens = g->o->max_new_tokens, .ctx = &g->group[i] };

	q.nstop_tokens = tok_stops(g->env->tok, &q.stop_tokens);
	return q;
}

/* Fills one request per task: the prompt of the task, or the conversation so far in a repair
 * turn. */
static int make_groups(struct rolling *g)
{
	struct tok_enc *x = tok_enc_new(g->env->tok, g->e);
	int rc = x ? 0 : -1;

	for (size_t i = 0; i < g->count && !rc; i++) {
		g->group[i] = request_of(g, i, g->step);
		if (g->given) {
			g->group[i].prompt = g->given[i].v;
			g->group[i].prompt_n = (int)g->given[i].n;
		} else {
			rc = encode_prompt(g, x, i);
		}
	}
	tok_enc_free(x);
	return rc;
}

/* Samples that make it worth computing the prompt on another rank, too. */
enum { TOGETHER = 8 };

/* The rank that a sample is dealt to. Answers to one task have about the same length, answers to
 * different tasks do not. So each task's samples are cut into pieces of neighbours, and the pieces
 * go round the ranks. Example: 16 samples on 4 ranks are 2 pieces of 8 a task, and task 1 goes to
 * ranks 2 and 3. */
static size_t turn_of(const struct rolling *g, size_t sample)
{
	size_t n = (size_t)g->o->n, ranks = (size_t)par_size(g->env->par);
	size_t pieces = MIN(MAX(n / TOGETHER, 1), ranks);

	return (sample / n * pieces + sample % n * pieces / n) % ranks;
}

/* Decides which samples this rank draws. Samples that an earlier run left in the store are not
 * drawn again; the others, in the order of turn_of, are cut into equal parts. Only the first rank
 * has the store, so it sends the list of stored samples to the others. */
static int share_out(struct rolling *g)
{
	size_t n = g->r->samples.n, left = 0, at = 0;
	size_t me = (size_t)par_rank(g->env->par), ranks = (size_t)par_size(g->env->par);

	for (size_t i = 0; i < n; i++)
		g->mine[i] = !g->r->samples.v[i].tokens;
	if (par_bcast(g->env->par, g->mine, n, g->e))
		return -1;
	for (size_t i = 0; i < n; i++)
		left += g->mine[i];
	for (size_t turn = 0; turn < ranks; turn++)
		for (size_t i = 0; i < n; i++)
			if (g->mine[i] && turn_of(g, i) == turn) {
				g->mine[i] = at >= left * me / ranks && at < left * (me + 1) / ranks;
				at++;
			}
	return 0;
}

/* Joins neighbouring samples of one task into one request, so that their prompt is computed
 * once. */
static int make_requests(struct rolling *g)
{
	size_t n = (size_t)g->o->n;

	for (size_t i = 0; i < g->r->samples.n; i++) {
		struct infer_request *last = g->n_requests ? &g->requests[g->n_requests - 1] : NULL;
		int number = (int)(i % n);

		if (!g->mine[i])
			continue;
		if (last && last->number == i / n && last->first + last->n == number) {
			last->n++;
			continue;
		}
		g->requests[g->n_requests] = g->group[i / n];
		g->requests[g->n_requests].first = number;
		g->requests[g->n_requests++].n = 1;
	}
	return 0;
}

/* --- one finished sample ------------------------------------------------------------------ */

/* Gives each token of the answer its class (plan, code, given by the prompt). The position where
 * the token's text ends decides, because a token may begin in one part and end in the next. */
static void classify(struct rolling *g, struct rolled *s, const struct extract *x)
{
	struct buf text = BUF_INIT;
	struct tok_stream stream = { .t = g->env->tok, .skip_special = 1 };
	int answer = s->n - s->prompt_n;

	for (int i = 0; i < answer; i++) {
		size_t end;

		tok_stream_add(&stream, s->tokens[s->prompt_n + i], &text);
		end = text.n + stream.n;
		extract_classes(x, &end, 1, &s->classes[i]);
	}
	buf_release(&text);
}

/* Copies a finished sample out of the engine's buffers and extracts its code. The engine reuses its
 * buffers as soon as the callback returns. */
static int keep_sample(struct rolling *g, struct rolled *s, const struct infer_result *res)
{
	const struct infer_request *q = res->request;
	struct buf code = BUF_INIT;
	struct extract x;

	s->prompt_n = q->prompt_n;
	s->n = q->prompt_n + res->n;
	s->tokens = mem_array((size_t)s->n + 1, sizeof *s->tokens);
	s->logprobs = mem_array((size_t)res->n + 1, sizeof *s->logprobs);
	s->classes = mem_array((size_t)res->n + 1, 1);
	s->answer = mem_strndup(res->text.p ? res->text.p : "", res->text.n);
	s->finish = res->finish;
	if (!s->tokens || !s->logprobs || !s->classes || !s->answer || extract_code(res->text, &x, &code, g->e))
		return err_nomem(g->e);
	memcpy(s->tokens, q->prompt, (size_t)q->prompt_n * sizeof *s->tokens);
	memcpy(s->tokens + q->prompt_n, res->tokens, (size_t)res->n * sizeof *s->tokens);
	memcpy(s->logprobs, res->logprobs, (size_t)res->n * sizeof *s->logprobs);
	classify(g, s, &x);
	s->code = buf_take(&code);
	return s->code ? 0 : err_nomem(g->e);
}

/* --- samples are kept as they come -------------------------------------------------------- */

/* The key of a sample in the store of pending samples: stage, step, task position, sample
 * number. */
static struct store_pending place_of(const struct rolling *g, size_t index)
{
	return (struct store_pending){ .stage = g->env->stage, .step = (int64_t)g->step,
				       .place = (int64_t)(index / (size_t)g->o->n),
				       .number = (int64_t)(index % (size_t)g->o->n) };
}

/* Stores a sample that another rank has drawn. Only the first rank writes to the store. */
static int keep_told(void *ctx, struct str data, struct err *e)
{
	struct rolling *g = ctx;
	struct store_pending at;
	uint64_t place;

	if (data.n < sizeof place)
		return err_set(e, ERR_FORMAT, "a sample of another rank is truncated");
	memcpy(&place, data.p, sizeof place);
	at = place_of(g, (size_t)place);
	return store_put_pending(g->env->pending, &at, (struct str){ .p = data.p + sizeof place,
								     .n = data.n - sizeof place }, e);
}

/* --- judging ------------------------------------------------------------------------------ */

/* Opens the batch of candidates. With several ranks an idle one judges candidates of the others. */
static int open_judge(struct rolling *g)
{
	if (judge_batch_init(&g->batch, g->env->pool, NULL, &g->env->judge, g->env->cache, g->e) ||
	    judge_batch_steal(&g->batch, g->env->par, g->e))
		return -1;
	g->batch.stealing.heard = g->env->pending ? keep_told : NULL;
	g->batch.stealing.heard_ctx = g;
	return 0;
}

/* Notes a verdict that came back from the judge. */
static void take_verdict(struct rolling *g, const struct judged *j)
{
	struct rolled *s = &g->r->samples.v[j->id];

	s->verdict = j->verdict;
	if (j->rc) {
		/* A task that cannot be judged must not end the run. Its samples earn nothing, so
		 * its group has no signal. */
		s->verdict = (struct verdict){ .stage = STAGE_ast, .diag = j->verdict.diag };
		if (s->verdict.diag.reason != REASON_bad_task) {
			diag_set(&s->verdict.diag, REASON_bad_task, 0, 0, "%s", j->err.text);
			log_warn("a sample of task '%s' could not be judged: %s", g->tasks->rows.v[s->task].id,
				 j->err.text);
		}
	}
	verdict_forget_times(&s->verdict);
	s->judged = 1;
	g->judged++;
}

/* Hands a sample's code to the judge. A verdict that the cache knows is taken at once. */
static int submit(struct rolling *g, size_t index)
{
	struct rolled *s = &g->r->samples.v[index];
	struct judged now;
	int rc = judge_batch_ask(&g->batch, index, str_of(g->tasks->rows.v[s->task].source), str_of(s->code),
				 &now, g->e);

	if (rc > 0)
		take_verdict(g, &now);
	return rc < 0 ? -1 : 0;
}

/* Takes all verdicts that are finished; with `wait` blocks until none is pending. Returns -1 if the
 * judge itself failed. */
static int drain(struct rolling *g, int wait)
{
	struct judged j;
	int rc;

	while ((rc = judge_batch_next(&g->batch, wait, &j, g->e)) > 0)
		take_verdict(g, &j);
	return rc;
}

/* Waits for the verdicts of this rank, then helps the other ranks until theirs are complete,
 * too. */
static int finish_judging(struct rolling *g)
{
	return drain(g, 1) < 0 || (!stop_requested() && judge_batch_finish(&g->batch, g->e)) ? -1 : 0;
}

/* --- samples of an earlier run ------------------------------------------------------------ */

/* The key of a sample: a hash of the prompt, seed, options and weights it was drawn with. A stored
 * sample with another key is of another policy and is not used. */
static uint64_t key_of(const struct rolling *g, size_t index)
{
	const struct infer_request *q = &g->group[index / (size_t)g->o->n];

	return pending_key(q, g->env->policy);
}

/* Stores a sample as soon as it is drawn, so that a killed run does not draw it again. The other
 * ranks send theirs to the first one, each with its index in front. */
static int remember(struct rolling *g, size_t index, const struct infer_result *res)
{
	struct store_pending at = place_of(g, index);
	uint64_t place = index;
	struct buf told = BUF_INIT;
	int rc;

	if (!g->env->pending && par_first(g->env->par))
		return 0;
	if (!g->env->pending)
		buf_add(&told, &place, sizeof place);
	pending_pack(res, key_of(g, index), &told);
	rc = buf_check(&told, g->e);
	if (!rc)
		rc = g->env->pending ? store_put_pending(g->env->pending, &at, buf_str(&told), g->e) :
			steal_tell(&g->batch.stealing, 0, buf_str(&told), g->e);
	buf_release(&told);
	return rc;
}

/* Takes samples of an interrupted run from the store and hands them to the judge. */
static int recall(struct rolling *g)
{
	struct buf blob = BUF_INIT;
	size_t found = 0;
	int rc = 0;

	for (size_t i = 0; g->env->pending && i < g->r->samples.n && rc >= 0; i++) {
		struct store_pending at = place_of(g, i);
		struct infer_result res = { .request = &g->group[i / (size_t)g->o->n] };

		buf_clear(&blob);
		rc = store_get_pending(g->env->pending, &at, &blob, g->e);
		if (rc > 0 && pending_unpack(buf_str(&blob), key_of(g, i), &res)) {
			rc = keep_sample(g, &g->r->samples.v[i], &res) || submit(g, i) ? -1 : 0;
			found++;
		}
	}
	g->sampled += found;
	if (found && rc >= 0)
		log_info("%zu of %zu samples of %s step %llu are kept from the interrupted run", found,
			 g->r->samples.n, g->env->stage, (unsigned long long)g->step + 1);
	buf_release(&blob);
	return rc < 0 ? -1 : 0;
}

/* Counts how many candidates wait for the judge at the moment: the health of the queue between
 * sampling and judging. Moments with none waiting mean that the judge is idle. */
static void note_judge(struct rolling *g)
{
	size_t waiting = judge_batch_pending(&g->batch);

	g->r->looks++;
	g->r->waiting += (int64_t)waiting;
	g->r->idle += waiting == 0;
}

/* Called by the engine when a sample ends: keeps it, stores it, hands it to the judge, and takes
 * the verdicts that the judge has finished meanwhile. */
static void sample_done(void *ctx, const struct infer_result *res)
{
	struct rolling *g = ctx;
	const struct infer_request *mine = res->request->ctx;     /* of the task: the engine has copies */
	size_t index = (size_t)(mine - g->group) * (size_t)g->o->n + (size_t)res->sample;
	struct rolled *s = &g->r->samples.v[index];

	g->sampled++;
	if (g->failed || res->finish == INFER_INTERRUPTED)
		return;
	note_judge(g);
	if (keep_sample(g, s, res) || remember(g, index, res) || submit(g, index) || drain(g, 0) < 0)
		g->failed = 1;
	if (g->env->tick)
		g->env->tick(g->env->tick_ctx, g->sampled, g->judged);
}

/* Called by the engine between decoding steps. With several ranks it also serves their requests, so
 * that a rank that samples for a long time does not hold up an idle one. */
static int should_stop(void *ctx)
{
	struct rolling *g = ctx;

	if (g->env->par && !g->failed && drain(g, 0) < 0)
		g->failed = 1;
	return g->failed || par_stopping(g->env->par);
}

/* --- from one process to the others ------------------------------------------------------- */

/* The header of a sample that travels to another rank; its tokens and text follow. */
struct parcel { uint64_t index, bytes; struct verdict verdict; };

/* Appends a sample with its verdict to what this rank sends. */
static void pack_sample(struct rolling *g, size_t i, struct buf *out)
{
	const struct rolled *s = &g->r->samples.v[i];
	struct infer_result res = { .tokens = s->tokens + s->prompt_n, .logprobs = s->logprobs, .n = s->n - s->prompt_n,
				    .text = str_of(s->answer), .finish = s->finish };
	struct parcel head = { .index = i, .verdict = s->verdict };
	struct buf blob = BUF_INIT;

	pending_pack(&res, key_of(g, i), &blob);
	head.bytes = blob.n;
	buf_add(out, &head, sizeof head);
	buf_add(out, blob.p, blob.n);
	buf_release(&blob);
}

/* Takes a sample from another rank. A key that differs means that the ranks have different weights,
 * which must never happen. */
static int unpack_sample(struct rolling *g, const struct parcel *head, struct str bytes)
{
	size_t i = (size_t)head->index;
	struct infer_result res = { .request = NULL };
	struct buf blob = BUF_INIT;
	int rc = -1;

	buf_addstr(&blob, bytes);
	if (!buf_check(&blob, g->e) && i < g->r->samples.n && !g->r->samples.v[i].tokens) {
		res.request = &g->group[i / (size_t)g->o->n];
		if (!pending_unpack(buf_str(&blob), key_of(g, i), &res))
			err_set(g->e, ERR_STATE, "another rank sampled from other weights");
		else
			rc = keep_sample(g, &g->r->samples.v[i], &res);
		g->r->samples.v[i].verdict = head->verdict;
		g->r->samples.v[i].judged = 1;
		g->r->stats.tokens += res.n;
	}
	buf_release(&blob);
	return rc;
}

/* Takes all samples of one other rank; damaged or truncated data is an error. */
static int unpack_all(struct rolling *g, struct str in)
{
	while (in.n) {
		struct parcel head;

		if (in.n < sizeof head)
			return err_set(g->e, ERR_FORMAT, "samples of another rank are truncated");
		memcpy(&head, in.p, sizeof head);
		in.p += sizeof head;
		in.n -= sizeof head;
		if (head.bytes > in.n || unpack_sample(g, &head, (struct str){ .p = in.p, .n = (size_t)head.bytes }))
			return err_set(g->e, ERR_FORMAT, "samples of another rank are damaged");
		in.p += head.bytes;
		in.n -= (size_t)head.bytes;
	}
	return 0;
}

/* Exchanges all samples, so that every rank has every sample with its verdict and computes the same
 * advantages. */
static int gather(struct rolling *g)
{
	int ranks = par_size(g->env->par), rc;
	struct buf out = BUF_INIT, *all;

	if (!g->env->par)
		return 0;
	if (!(all = mem_array((size_t)ranks, sizeof *all)))
		return err_nomem(g->e);
	for (size_t i = 0; i < g->r->samples.n; i++)
		if (g->r->samples.v[i].tokens)
			pack_sample(g, i, &out);
	rc = buf_check(&out, g->e) || par_gather(g->env->par, buf_str(&out), all, g->e) ? -1 : 0;
	for (int r = 0; r < ranks; r++) {
		if (!rc && r != par_rank(g->env->par))
			rc = unpack_all(g, buf_str(&all[r]));
		buf_release(&all[r]);
	}
	buf_release(&out);
	mem_free(all);
	return rc;
}

/* --- the whole rollout -------------------------------------------------------------------- */

/* Allocates a turn, makes the prompts, takes what an earlier run left, and shares out the rest. */
static int prepare(struct rolling *g)
{
	size_t n = g->count * (size_t)g->o->n;

	g->group = mem_array(g->count, sizeof *g->group);
	g->requests = mem_array(n, sizeof *g->requests);
	g->prompts = mem_array(g->count, sizeof *g->prompts);
	g->mine = mem_array(n, 1);
	if (!g->group || !g->requests || !g->prompts || !g->mine || vec_grow(&g->r->samples, n))
		return err_nomem(g->e);
	g->r->samples.n = n;
	memset(g->r->samples.v, 0, n * sizeof *g->r->samples.v);
	for (size_t i = 0; i < n; i++) {
		g->r->samples.v[i].task = g->which[i / (size_t)g->o->n];
		g->r->samples.v[i].number = (int)(i % (size_t)g->o->n);
		g->r->samples.v[i].turns = 1;
	}
	return make_groups(g) || recall(g) || share_out(g) || make_requests(g) ? -1 : 0;
}

/* The tasks of one turn: n answers are drawn for each. */
struct places {
	const struct taskset *tasks;
	const size_t *which;             /* tasks */
	size_t count;
	const struct tok_ids *given;     /* as in struct rolling */
};

/* One turn from prompts to judged samples on every rank. On failure *r is empty. */
static int one_turn(struct rollout *r, struct rollout_env *env, const struct places *p, uint64_t step,
		    const struct rollout_opts *o, struct err *e)
{
	struct rolling g = { .r = r, .env = env, .tasks = p->tasks, .which = p->which, .o = o,
			     .count = p->count, .given = p->given, .step = step,
			     .e = e };
	struct infer_calls calls = { .done = sample_done, .stop = should_stop, .ctx = &g };
	int64_t start = clock_ns(), sampled_ns;
	size_t count = p->count;
	int rc;

	*r = (struct rollout){ .given = -1 };
	rc = open_judge(&g) || prepare(&g) ? -1 : 0;
	if (!rc)
		rc = infer_run_list(env->infer, g.requests, g.n_requests, &calls, &r->stats, e) || g.failed ? -1 : 0;
	sampled_ns = clock_ns();
	if (!rc)
		rc = finish_judging(&g);
	r->wait_seconds = (double)(clock_ns() - sampled_ns) / 1e9;
	if (env->par)
		r->given = g.batch.stealing.given;
	if (!rc && stop_requested())
		rc = err_set(e, ERR_INTERRUPTED, "interrupted");
	if (!rc)
		rc = gather(&g);
	r->seconds = (double)(clock_ns() - start) / 1e9;
	for (size_t i = 0; g.prompts && i < count; i++)
		mem_free(g.prompts[i]);
	mem_free(g.prompts);
	mem_free(g.requests);
	mem_free(g.mine);
	mem_free(g.group);
	judge_batch_release(&g.batch);
	if (rc)
		rollout_release(r);
	return rc;
}

/* --- further turns ------------------------------------------------------------------------ */

/* Samples that get another turn, and the conversation that each is asked with. */
struct repair {
	size_t *sample, *which;
	struct tok_ids *given;
	size_t n;
};

static void repair_release(struct repair *x)
{
	for (size_t i = 0; x->given && i < x->n; i++)
		vec_free(&x->given[i]);
	mem_free(x->sample);
	mem_free(x->which);
	mem_free(x->given);
}

/* Collects the samples of this turn that are not correct. A task that could not be judged has no
 * feedback to give, so its samples are left out. */
static int find_repairs(struct repair *x, const struct rollout *r, int turn, const struct tok *t, struct err *e)
{
	size_t n = r->samples.n;
	struct tok_enc *enc = tok_enc_new(t, e);
	int rc = enc ? 0 : -1;

	*x = (struct repair){ .sample = mem_array(n, sizeof *x->sample), .which = mem_array(n, sizeof *x->which),
			      .given = mem_array(n, sizeof *x->given) };
	if (!rc && (!x->sample || !x->which || !x->given))
		rc = err_nomem(e);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct rolled *s = &r->samples.v[i];

		if (s->turns != turn || s->verdict.correct || s->verdict.diag.reason == REASON_bad_task || !s->tokens)
			continue;
		x->sample[x->n] = i;
		x->which[x->n] = s->task;
		rc = turn_prompt(enc, t, s, &x->given[x->n++], e);
	}
	tok_enc_free(enc);
	return rc;
}

/* Appends the answers of a repair turn to their conversations. A conversation that had no room for
 * another answer stays as it is. */
static int join_repairs(struct rollout *r, const struct repair *x, struct rollout *next, struct err *e)
{
	for (size_t k = 0; k < x->n; k++)
		if (next->samples.v[k].finish != INFER_REFUSED && turn_join(&r->samples.v[x->sample[k]],
				&next->samples.v[k], e))
			return -1;
	r->stats.tokens += next->stats.tokens;
	r->looks += next->looks;
	r->waiting += next->waiting;
	r->idle += next->idle;
	r->wait_seconds += next->wait_seconds;
	r->given += MAX(next->given, 0);
	return 0;
}

/* Asks once more for every sample that is not correct, with the judge's feedback in the prompt. The
 * progress callback is off, so the display of the first turn stays on the screen. */
static int another_turn(struct rollout *r, struct rollout_env *env, const struct taskset *tasks, int turn,
			uint64_t step,
			const struct rollout_opts *o, struct err *e)
{
	struct rollout_opts single = *o;
	struct rollout_env here = *env;
	struct rollout next = { .seconds = 0 };
	struct buf stage = BUF_INIT;
	struct repair x;
	int rc = find_repairs(&x, r, turn, env->tok, e);
	struct places p = { .tasks = tasks, .which = x.which, .count = x.n, .given = x.given };

	buf_addf(&stage, "%s.%d", env->stage ? env->stage : "", turn + 1);
	single.n = 1;
	single.seed = o->seed + (uint64_t)turn * 0xd1b54a32d192ed03u;
	here.stage = buf_cstr(&stage);
	here.tick = NULL;
	if (!rc && x.n)
		rc = one_turn(&next, &here, &p, step, &single, e) || join_repairs(r, &x, &next, e) ? -1 : 0;
	rollout_release(&next);
	repair_release(&x);
	buf_release(&stage);
	return rc;
}

int rollout_run(struct rollout *r, struct rollout_env *env, const struct taskset *tasks, const size_t *which,
		size_t count,
		uint64_t step, const struct rollout_opts *o, struct err *e)
{
	struct places p = { .tasks = tasks, .which = which, .count = count };
	int64_t start = clock_ns();
	int rc = one_turn(r, env, &p, step, o, e);

	for (int turn = 1; turn < o->turns && !rc; turn++) {
		rc = another_turn(r, env, tasks, turn, step, o, e);
		if (rc)
			rollout_release(r);
	}
	r->seconds = (double)(clock_ns() - start) / 1e9;
	return rc;
}

int rolled_tokens(const struct rolled *s)
{
	int n = 0;

	for (int i = 0; i < s->n - s->prompt_n; i++)
		n += s->classes[i] != EXTRACT_GIVEN;
	return n;
}

/* Exchanges the verdicts of the samples with v[]. Judging writes into the samples; the second swap
 * puts the original verdicts back. */
static void swap_verdicts(struct rollout *r, struct verdict *v)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		struct verdict was = r->samples.v[i].verdict;

		r->samples.v[i].verdict = v[i];
		v[i] = was;
	}
}

/* Sends the verdicts of this rank's share to all. Rank r has samples r, r + ranks, r + 2
 * ranks, ... */
static int gather_verdicts(struct rolling *g)
{
	size_t n = g->r->samples.n, ranks = (size_t)par_size(g->env->par);
	struct verdict *own = mem_array(n / ranks + 1, sizeof *own);
	struct buf *all = mem_array(ranks, sizeof *all);
	size_t count = 0;
	int rc = own && all ? 0 : err_nomem(g->e);

	for (size_t i = (size_t)par_rank(g->env->par); i < n && !rc; i += ranks)
		own[count++] = g->r->samples.v[i].verdict;
	if (!rc)
		rc = par_gather(g->env->par, (struct str){ .p = (const char *)own, .n = count * sizeof *own },
				all, g->e);
	for (size_t i = 0; i < n && !rc; i++)
		memcpy(&g->r->samples.v[i].verdict, all[i % ranks].p + i / ranks * sizeof *own, sizeof *own);
	for (size_t r = 0; all && r < ranks; r++)
		buf_release(&all[r]);
	mem_free(all);
	mem_free(own);
	return rc;
}

int rollout_judge(struct rollout *r, struct rollout_env *env, const struct taskset *tasks,
		  struct verdict *out, struct err *e)
{
	struct rolling g = { .r = r, .env = env, .tasks = tasks, .e = e };
	int rc = open_judge(&g);

	memset(out, 0, r->samples.n * sizeof *out);
	swap_verdicts(r, out);
	for (size_t i = 0; i < r->samples.n; i++)
		r->samples.v[i].judged = 0;
	for (size_t i = (size_t)par_rank(env->par); i < r->samples.n && !rc; i += (size_t)par_size(env->par))
		rc = submit(&g, i) || drain(&g, 0) < 0 ? -1 : 0;
	if (!rc)
		rc = finish_judging(&g) || gather_verdicts(&g) ? -1 : 0;
	for (size_t i = 0; i < r->samples.n; i++)
		r->samples.v[i].judged = 1;
	swap_verdicts(r, out);
	judge_batch_release(&g.batch);
	return rc;
}

void rollout_release(struct rollout *r)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		struct rolled *s = &r->samples.v[i];

		mem_free(s->tokens);
		mem_free(s->logprobs);
		mem_free(s->classes);
		mem_free(s->answer);
		mem_free(s->code);
	}
	vec_free(&r->samples);
}

/* Writes the task of a sample to the store, once for each task of the step. */
static int put_task(struct store *st, const struct task_row *t, struct err *e)
{
	struct store_task row = { .id = str_of(t->id), .level = t->level, .split = STR(""),
				  .ops = str_of(t->ops), .source = str_of(t->source) };

	return store_put_task(st, &row, e);
}

/* Does the store keep the texts of this sample, or only its numbers? */
static int has_text(const struct rolled *s, enum rollout_texts t)
{
	return t == ROLLOUT_ALL || (t == ROLLOUT_FIRST && s->number == 0) ||
		(t == ROLLOUT_CORRECT && s->verdict.correct);
}

int rollout_store(const struct rollout *r, struct store *st, const struct taskset *tasks, const char *stage,
		  int64_t step,
		  enum rollout_texts texts, struct err *e)
{
	struct buf json = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < r->samples.n && !rc; i++) {
		const struct rolled *s = &r->samples.v[i];
		const struct verdict *v = &s->verdict;
		double logprob = 0.0;
		struct store_sample row = { .stage = stage, .step = step,
					    .task = str_of(tasks->rows.v[s->task].id), .number = s->number,
					    .answer = STR(""), .code = STR(""), .tokens = rolled_tokens(s),
					    .finish = infer_finish_name(s->finish), .judged = s->judged,
					    .correct = v->correct,
					    .reached = judge_stage_name(v->stage),
					    .reason = reason_code(v->diag.reason),
					    .reward = verdict_is_unsupported(v) ? NAN : v->reward,
					    .speedup = v->speedup };

		if (s->number == 0)
			rc = put_task(st, &tasks->rows.v[s->task], e);
		for (int k = 0; k < s->n - s->prompt_n; k++)
			logprob += s->logprobs[k];
		row.logprob = logprob;
		buf_clear(&json);
		if (has_text(s, texts)) {
			row.answer = str_of(s->answer);
			row.code = str_of(s->code);
			verdict_json(v, row.task, &json);
		}
		row.verdict = str_trim(buf_str(&json));
		rc = rc ? rc : store_put_sample(st, &row, e);
	}
	buf_release(&json);
	return rc;
}
