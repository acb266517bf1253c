/* A stream of candidates: see stream.h.
 *
 * Owns the order of the output, its text and JSON forms, and the continuation of an earlier output
 * file. The batch below it (batch.c) knows nothing of order. Invariant: items from `printed` to
 * `added` are in the ring; an item leaves it only when it was printed. */
#include "verify/pool/stream.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "py/caret.h"
#include "tile/estimate/speed.h"
#include "verify/pool/verdict_cache.h"
#include "verify/task/dump.h"

enum { CACHE_GROUP = 512 };     /* verdicts a transaction of the cache holds */

/* The item of a candidate's number. */
static struct stream_item *item_at(struct stream *s, uint64_t number)
{
	return &s->ring[number % STREAM_WINDOW];
}

/* Frees the item and empties its place in the ring. */
static void item_release(struct stream_item *it)
{
	mem_free(it->id);
	mem_free(it->path);
	mem_free(it->candidate);
	buf_release(&it->json);
	buf_release(&it->plain);
	*it = (struct stream_item){ .done = 0 };
}

/* --- what is said of a verdict ------------------------------------------------------------ */

/* Appends a text for the terminal. Names come from the data and messages from the candidate, so
 * control characters are shown as \xNN: they could move the cursor or forge a line of output. */
static void add_text(struct buf *out, const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			buf_addf(out, "\\x%02x", (unsigned char)*text);
		else
			buf_addc(out, *text);
}

/* Appends a line: `before` is ours, `text` is shown by add_text. */
static void add_line(struct buf *out, const char *before, const char *text)
{
	buf_adds(out, before);
	add_text(out, text);
	buf_addc(out, '\n');
}

/* Appends what a GPU measured: the time with its interval, how near it is to the limit of the GPU's
 * memory and of its peak rate, and each baseline. */
static void explain_gpu(const struct verdict_gpu *g, struct buf *out)
{
	if (!g->measured)
		return;
	buf_addf(out, "  %s, Triton %s: %.4g microseconds (%.4g to %.4g), %d samples", g->device, g->compiler,
		 g->time.mean * 1e6, g->time.low * 1e6, g->time.high * 1e6, g->samples);
	if (g->floor > 0)
		buf_addf(out, "; memory needs %.4g: %.0f %% of its peak, bound by %s", g->floor * 1e6,
			 100.0 * g->floor / g->time.mean,
			 g->floor > 0.6 * g->time.mean ? "memory" : "computation or starts");
	if (g->product_floor > 0)
		buf_addf(out, "; matrix products need %.4g: %.0f %% of the GPU's peak", g->product_floor * 1e6,
			 100.0 * g->product_floor / g->time.mean);
	buf_addc(out, '\n');
	for (int i = 0; i < BASELINES; i++)
		if (g->baseline[i].mean > 0)
			buf_addf(out, "  PyTorch %s: %.4g microseconds (%.4g to %.4g), %.2f times the candidate's\n",
				 baseline_name((enum baseline)i), g->baseline[i].mean * 1e6, g->baseline[i].low * 1e6,
				 g->baseline[i].high * 1e6, g->baseline[i].mean / g->time.mean);
	if (g->counters.why[0])
		buf_addf(out, "  no counters of the profiler: %s\n", g->counters.why);
	if (!g->counters.read)
		return;
	buf_addf(out, "  profiler, %d kernel%s: ", g->counters.kernels, g->counters.kernels == 1 ? "" : "s");
	verdict_counters_text(&g->counters, out);
	buf_addc(out, '\n');
}

/* Appends the details of --explain: the source line, the input sets, and notes about task,
 * autotuning, buffers and weights. */
static void explain(const struct stream_item *it, const struct verdict *v, struct buf *out)
{
	if (v->diag.line > 0 && it->candidate)
		py_caret(str_of(it->candidate), v->diag.line, v->diag.col, out);
	explain_gpu(&v->gpu, out);
	if (v->explain[0])
		add_line(out, "  ", v->explain);
	for (int i = 0; i < v->n_inputs; i++)
		if (v->inputs[i].skipped[0])
			buf_addf(out, "  input %-12s %-16s skipped: %s\n", v->inputs[i].kind,
				 v->inputs[i].shape, v->inputs[i].skipped);
		else
			buf_addf(out, "  input %-12s %-16s %s, error %.3g, allowed %.3g\n", v->inputs[i].kind,
				 v->inputs[i].shape, v->inputs[i].passed ? "passed" : "failed",
				 isnan(v->inputs[i].max_error) ? (double)NAN : v->inputs[i].max_error,
				 v->inputs[i].tolerance);
	if (v->correct)
		buf_addf(out, "  full size: %s%s\n", verdict_evidence_name(verdict_evidence(v)),
			 verdict_evidence(v) == EVIDENCE_SAMPLED ? ": only some instances were looked at, so the speed "
								   "earns no reward" : "");
	verdict_speed(v, out);
	if (v->task.unfit[0])
		buf_addf(out, "  task: not fit to judge by: %s\n", v->task.unfit);
	if (v->task.model_shrunk)
		buf_adds(out, "  task: judged with a smaller model, because its own is too large\n");
	if (v->task.survivors)
		buf_addf(out, "  task: the inputs do not detect %d of %d mutants of the reference; the first: %s\n",
			 v->task.survivors, v->task.mutants,
			 v->task.survivor);
	if (v->configs > v->configs_run)
		buf_addf(out, "  autotune: only %d of %d different programs were run\n", v->configs_run, v->configs);
	if (v->buffers_left)
		buf_adds(out, "  buffers: the candidate does not update, or does not have, those that the reference "
			      "changes (running statistics)\n");
	if (v->weights[0])
		buf_addf(out, "  weights matched by %s%s\n", v->weights, v->eval_mode ? "; judged in eval mode" : "");
}

/* Appends the outcome of a correct candidate. One that fails beyond its task must not read as plainly
 * correct: "correct for this task; not robust: NaN on outliers (general: spread)". */
static void say_correct(const struct verdict *v, struct buf *out)
{
	struct buf robust = BUF_INIT;

	verdict_robustness(v, &robust);
	if (robust.n)
		buf_addf(out, ": correct for this task; %s, reward %.3f", buf_cstr(&robust), v->reward);
	else
		buf_addf(out, ": correct, reward %.3f", v->reward);
	buf_release(&robust);
}

/* Appends the verdict as text: file, outcome, message, and how to repair it. */
static void say(const struct stream *s, const struct stream_item *it, const struct verdict *v, struct buf *out)
{
	add_text(out, it->path ? it->path : it->id);
	if (it->failed) {
		add_line(out, ": could not judge: ", v->diag.text);
	} else if (v->correct) {
		say_correct(v, out);
		if (v->speedup > 0 && !strcmp(v->timed, "gpu"))
			buf_addf(out, ", measured speedup %.2f (%.4g against %.4g microseconds)", v->speedup,
				 v->seconds * 1e6, v->reference_seconds * 1e6);
		else if (v->speedup > 0)
			buf_addf(out, ", estimated speedup %.2f (%s, within a factor of %.1f two times in three)",
				 v->speedup, v->timed, speed_rates.error);
		if (v->gpu.measured && strcmp(v->timed, "gpu"))
			buf_addf(out, ", %.4g microseconds on %s", v->gpu.time.mean * 1e6, v->gpu.device);
		buf_addc(out, '\n');
		if (v->gpu.note[0])
			add_line(out, "  GPU: ", v->gpu.note);
	} else {
		if (v->diag.line > 0)
			buf_addf(out, ":%d:%d", v->diag.line, v->diag.col);
		buf_addf(out, ": %s[%s]: ", verdict_is_unsupported(v) ? "could not judge" : "error",
			 reason_code(v->diag.reason));
		add_text(out, v->diag.text);
		buf_addf(out, " (stage %s, ", judge_stage_name(v->stage));
		if (verdict_is_unsupported(v))
			buf_adds(out, "no reward)\n");
		else
			buf_addf(out, "reward %.3f)\n", v->reward);
		if (v->diag.hint[0])
			add_line(out, "  hint: ", v->diag.hint);
	}
	if (s->o.explain && !it->failed)
		explain(it, v, out);
	if (s->o.explain && s->o.look && it->candidate && !strcmp(verdict_name(v), "wrong"))
		s->o.look(s->o.look_ctx, str_of(it->candidate), out);
}

/* Stores the output of an item. `failure` is the reason why it could not be judged; NULL if it was
 * judged. */
static int finish_item(struct stream *s, struct stream_item *it, struct verdict *v, const char *failure, struct err *e)
{
	it->done = 1;
	it->failed = failure != NULL;
	it->unsupported = !failure && verdict_is_unsupported(v);
	it->wrong = !failure && !it->unsupported && !v->correct;
	if (failure && v->diag.reason == REASON_ok)
		diag_set(&v->diag, REASON_bad_task, 0, 0, "%s", failure);
	if (s->o.json || s->o.out)
		verdict_json(v, str_of(it->id), &it->json);
	if (!s->o.json && !s->o.out)
		say(s, it, v, &it->plain);
	mem_free(it->candidate);
	it->candidate = NULL;
	return buf_check(&it->json, e) || buf_check(&it->plain, e) ? -1 : 0;
}

/* --- out, in order ------------------------------------------------------------------------ */

static const char cannot_print[] = "cannot write the verdicts to standard output";

/* Writes one item and counts it. */
static int print_item(struct stream *s, struct stream_item *it, struct err *e)
{
	s->failed += it->failed;
	s->wrong += it->wrong;
	s->unsupported += it->unsupported;
	s->correct += !it->failed && !it->wrong && !it->unsupported;
	it->printed = 1;
	if (it->plain.n)
		fwrite(it->plain.p, 1, it->plain.n, stdout);
	if (s->o.json && !s->o.out)
		fwrite(it->json.p, 1, it->json.n, stdout);
	if (ferror(stdout))
		return err_errno(e, cannot_print);
	return s->o.out ? file_append(s->o.out, buf_str(&it->json), 0, e) : 0;
}

/* Prints items up to the first one that is not done, and flushes: a killed run keeps its verdicts. */
static int print_ready(struct stream *s, struct err *e)
{
	size_t before = s->printed;
	int rc = 0;

	while (!rc && s->printed < s->added && item_at(s, s->printed)->done) {
		struct stream_item *it = item_at(s, s->printed++);

		rc = it->printed ? 0 : print_item(s, it, e);
		item_release(it);
		progress_add(&s->bar, 1);
	}
	if (!rc && (s->printed > before || s->o.unordered) && fflush(stdout))
		rc = err_errno(e, cannot_print);
	return rc;
}

/* The cache is written in groups, because a transaction for each verdict is slow. */
static int commit_some(struct stream *s, struct err *e)
{
	if (s->batch.kept < CACHE_GROUP)
		return 0;
	s->batch.kept = 0;
	return store_commit(s->cache, e) || store_begin(s->cache, e) ? -1 : 0;
}

/* Stores a verdict and prints what can be printed. */
static int take(struct stream *s, struct judged *j, struct err *e)
{
	struct stream_item *it = item_at(s, j->id);

	return finish_item(s, it, &j->verdict, !j->rc ? NULL : j->err.code ? j->err.text : j->verdict.diag.text,
			   e) || (s->o.unordered && print_item(s, it, e)) || print_ready(s, e) ? -1 : 0;
}

/* Takes one verdict from the batch. Returns 1 if there was one, 0 if not, -1 on failure. */
static int collect(struct stream *s, int wait, struct err *e)
{
	struct judged j;
	int rc = judge_batch_next(&s->batch, wait, &j, e);

	return rc <= 0 ? rc : commit_some(s, e) || take(s, &j, e) ? -1 : 1;
}

/* --- what was judged before --------------------------------------------------------------- */

/* Counts the verdict of an earlier run. */
static void count_earlier(struct stream *s, struct str verdict)
{
	if (str_is(verdict, "correct"))
		s->correct++;
	else if (str_is(verdict, reason_class(REASON_bad_task)))
		s->failed++;
	else if (str_is(verdict, reason_class(REASON_unsupported)))
		s->unsupported++;
	else
		s->wrong++;
}

/* Compares the candidate with the next line of the earlier output. Returns 1 if the output has its
 * verdict, 0 if not, -1 if the file belongs to other candidates. */
static int was_judged(struct stream *s, struct str id, struct err *e)
{
	struct str line;
	struct json *j;
	int rc;

	if (!s->resuming)
		return 0;
	rc = lines_next(&s->old, &line, e);
	if (rc <= 0) {
		s->resuming = 0;
		lines_close(&s->old);
		return rc;
	}
	j = json_parse(line, e);
	if (!j) {
		err_wrap(e, "'%s' line %lld", s->o.out, (long long)s->old.number);
		return -1;
	}
	if (!str_eq(json_str(json_get(j, "id"), ""), id)) {
		json_free(j);
		return err_set(e, ERR_STATE,
			       "'%s' does not belong to these candidates: line %lld is not about '%.*s'", s->o.out,
			       (long long)s->old.number, STR_ARG(id));
	}
	count_earlier(s, json_str(json_get(j, "verdict"), ""));
	json_free(j);
	s->skipped++;
	progress_add(&s->bar, 1);
	s->bar.done_at_start++;
	return 1;
}

/* --- in ----------------------------------------------------------------------------------- */

/* The error of a requested stop, with the number of candidates that are done. */
static int interrupted(const struct stream *s, struct err *e)
{
	return err_set(e, ERR_INTERRUPTED, "interrupted after %llu candidates",
		       (unsigned long long)(s->skipped + (int64_t)s->printed));
}

/* Makes room in the ring, waiting for verdicts if it is full, and puts the candidate there. */
static struct stream_item *new_item(struct stream *s, struct str id, const char *path, struct err *e)
{
	struct stream_item *it;

	while (s->added - s->printed >= STREAM_WINDOW)
		if (collect(s, 1, e) < 0 || (stop_requested() && interrupted(s, e)))
			return NULL;
	it = item_at(s, s->added);
	it->id = mem_strndup(id.p, id.n);
	it->path = path ? mem_strdup(path) : NULL;
	if (!it->id || (path && !it->path)) {
		err_nomem(e);
		item_release(it);
		return NULL;
	}
	s->added++;
	return it;
}

/* A verdict of an earlier run is skipped, one of the cache is taken at once. Otherwise the
 * candidate goes to the workers. The call then waits until the workers' queue has room, which
 * bounds memory for any length of input. */
int stream_add(struct stream *s, struct str id, const char *path, struct str task, struct str candidate, struct err *e)
{
	struct stream_item *it;
	struct judged now;
	int rc = was_judged(s, id, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	it = new_item(s, id, path, e);
	if (!it)
		return -1;
	if (s->o.explain && !(it->candidate = mem_strndup(candidate.p, candidate.n)))
		return err_nomem(e);
	rc = judge_batch_ask(&s->batch, s->added - 1, task, candidate, &now, e);
	if (rc > 0)
		rc = take(s, &now, e);
	while (!rc && judge_batch_full(&s->batch) && !stop_requested())
		rc = collect(s, 1, e) < 0 ? -1 : 0;
	return rc;
}

/* A line that could not be read still gets its place in the output, so that line n of the output
 * belongs to candidate n. */
int stream_add_failed(struct stream *s, struct str id, const char *why, struct err *e)
{
	struct verdict v = { .stage = STAGE_ast, .track = s->o.judge.track };
	struct stream_item *it;
	int rc = was_judged(s, id, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	it = new_item(s, id, NULL, e);
	return !it || finish_item(s, it, &v, why, e) || print_ready(s, e) ? -1 : 0;
}

/* Standard output is flushed in every pass: an interactive client waits for each line. */
int stream_wait(struct stream *s, int fd, struct err *e)
{
	while (!stop_requested()) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int pending = judge_batch_pending(&s->batch) > 0, rc;

		/* A verdict takes about a millisecond, so check for one once a millisecond. */
		rc = poll(&p, 1, pending ? 1 : 100);
		if (rc > 0)
			return 0;
		while (pending && (rc = collect(s, 0, e)) > 0)
			;
		if (pending && rc < 0)
			return -1;
		if (fflush(stdout))
			return err_errno(e, cannot_print);
	}
	return 0;
}

/* Waits for all verdicts, then ends the other ranks' part. */
int stream_finish(struct stream *s, struct err *e)
{
	while (judge_batch_pending(&s->batch) && !stop_requested())
		if (collect(s, 1, e) < 0)
			return -1;
	if (stop_requested())
		return interrupted(s, e);
	return rank_pool_dismiss(&s->batch.rank_pool, e);
}

/* --- life --------------------------------------------------------------------------------- */

/* Callback of the pool: writes the dump of one input set. */
static int write_dump(void *ctx, uint64_t id, const char *kind, struct str task_py, struct str tensors, struct err *e)
{
	struct stream *s = ctx;

	return dump_write(s->o.dump, item_at(s, id)->id, kind, task_py, tensors, e);
}

/* The order matters: the pool is forked before the cache is opened, because a database connection
 * must not be shared with forked processes. An incomplete last line of an interrupted run is cut
 * off before the file is read. */
int stream_open(struct stream *s, const struct stream_options *o, int64_t total, struct err *e)
{
	*s = (struct stream){ .o = *o, .old = { .fd = -1 } };
	if (o->out && file_check_output(o->out, e))
		return -1;
	if (o->dump) {
		s->o.pool.dump = write_dump;
		s->o.pool.dump_ctx = s;
	}
	s->o.pool.stopped = stop_requested;
	s->ring = mem_array(STREAM_WINDOW, sizeof *s->ring);
	s->pool = s->ring ? judge_pool_open(&s->o.judge, &s->o.pool, e) : (err_nomem(e), NULL);
	if (!s->pool)
		return -1;
	if (o->out && file_exists(o->out)) {
		if (file_cut_line(o->out, e) || lines_open(&s->old, o->out, e))
			return -1;
		s->resuming = 1;
	}
	if (o->cache && (store_open(&s->cache, o->cache, e) || store_begin(s->cache, e)))
		return -1;
	/* Without a cache every candidate is judged, also an equal one. With a dump, too: it needs
	 * the run. */
	if (judge_batch_init(&s->batch, s->pool, o->par, s->cache ? &s->o.judge : NULL, s->cache, e))
		return -1;
	s->batch.always = o->dump != NULL;
	progress_begin(&s->bar, "verify", "candidates", total);
	return 0;
}

/* Prints the sums, and closes what was opened, also after a failure in stream_open. */
void stream_close(struct stream *s)
{
	struct err e = ERR_INIT;

	progress_end(&s->bar);
	if (s->pool)
		log_info("%lld correct, %lld not, %lld unsupported, %lld could not be judged", (long long)s->correct,
			 (long long)s->wrong, (long long)s->unsupported, (long long)s->failed);
	if (s->skipped)
		log_info("%lld candidates were judged in an earlier run", (long long)s->skipped);
	if (s->batch.hits)
		log_info("%lld verdicts came from the cache", (long long)s->batch.hits);
	judge_batch_release(&s->batch);
	judge_pool_close(s->pool);
	if (s->cache && store_commit(s->cache, &e))
		log_warn("the verdict cache was not written: %s", e.text);
	store_close(s->cache);
	if (s->resuming)
		lines_close(&s->old);
	for (uint64_t i = s->printed; s->ring && i < s->added; i++)
		item_release(item_at(s, i));
	mem_free(s->ring);
}
