/* A run as JSON, for the report and the live page. data.h is the manual. Samples are read without
 * their texts except those that are shown, so that a page that polls every few seconds costs
 * little. */
#include "web/data.h"

#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "verify/config/terms.h"

/* Points of a curve, texts, and speed-ups that are shown at most. */
enum { STEPS_MOST = 2000, TEXTS_MOST = 40, SPEEDS_MOST = 4000 };

__asm__(".pushsection .rodata\n"
	".globl web_app\n"
	"web_app:\n"
	".incbin \"src/web/app.html\"\n"
	".byte 0\n"
	".popsection\n");

/* How many candidates stopped at a stage for a reason. */
struct death { int stage; char reason[40]; int64_t n; };

/* Samples of one stage of the run: "rl", "eval_sft". */
struct batch {
	char name[40];
	int64_t samples, correct, last;
	int64_t entered[STAGES];
	struct { struct death *v; size_t n, cap; } deaths;
	struct { float *v; size_t n, cap; } speeds;      /* of correct ones */
};

/* The samples that a batch has of a task. */
struct share { int64_t n, correct; double speedup; };

/* The state while a run is read. */
struct gather {
	struct { struct batch *v; size_t n, cap; } batches;
	struct map tasks;               /* id -> first of its shares + 1, a list through `next` */
	struct { struct { size_t batch, next; struct share s; } *v; size_t n, cap; } shares;
	struct jw *w;
	struct err *e;
};

/* --- metrics ------------------------------------------------------------------------------ */

/* Counts the lines of a file; -1 if it cannot be read. */
static int count_lines(const char *path, int64_t *n)
{
	struct line_reader r;
	struct str line;
	int rc;

	*n = 0;
	if (!file_exists(path) || lines_open(&r, path, NULL))
		return -1;
	while ((rc = lines_next(&r, &line, NULL)) > 0)
		++*n;
	lines_close(&r);
	return rc;
}

/* Writes the lines of metrics.jsonl. A long file is thinned to every k-th line: 10 000 lines with k
 * = 6 become 1666. A line that is still being written is left out. */
static void put_metrics(struct jw *w, const char *dir)
{
	struct buf path = BUF_INIT;
	struct line_reader r;
	struct str line;
	int64_t all, every;

	jw_key(w, "metrics");
	jw_begin(w, '[');
	if (path_join(&path, dir, "metrics.jsonl") && !count_lines(path.p, &all) && !lines_open(&r, path.p, NULL)) {
		every = 1 + all / STEPS_MOST;
		while (lines_next(&r, &line, NULL) > 0) {
			struct json *j = r.number % every ? NULL : json_parse(line, NULL);

			if (j)
				jw_json(w, j);
			json_free(j);
		}
		lines_close(&r);
	}
	jw_end(w, ']');
	buf_release(&path);
}

/* --- samples ------------------------------------------------------------------------------ */

/* The batch of a stage, made at its first sample. */
static int batch_of(struct gather *g, const char *name, size_t *out)
{
	struct batch fresh = { .samples = 0 };

	for (*out = 0; *out < g->batches.n; ++*out)
		if (!strcmp(g->batches.v[*out].name, name))
			return 0;
	snprintf(fresh.name, sizeof fresh.name, "%s", name);
	return vec_push(&g->batches, fresh) ? err_nomem(g->e) : 0;
}

/* Counts one candidate that stopped at a stage for a reason. */
static int count_reason(struct gather *g, struct batch *b, int stage, const char *reason)
{
	struct death fresh = { .stage = stage, .n = 1 };

	for (size_t i = 0; i < b->deaths.n; i++)
		if (b->deaths.v[i].stage == stage && !strcmp(b->deaths.v[i].reason, reason)) {
			b->deaths.v[i].n++;
			return 0;
		}
	snprintf(fresh.reason, sizeof fresh.reason, "%s", reason);
	return vec_push(&b->deaths, fresh) ? err_nomem(g->e) : 0;
}

/* The number of a stage's name. */
static int stage_number(const char *name)
{
	int s = 0;

	while (s < STAGES - 1 && strcmp(name, judge_stage_name(s)))
		s++;
	return s;
}

/* A batch's figures of a task, made at first use; NULL if memory ended. */
static struct share *share_of(struct gather *g, struct str task, size_t batch)
{
	struct map_entry *m = map_put(&g->tasks, task);
	size_t at;

	if (!m)
		return NULL;
	for (at = (size_t)m->val.i64; at; at = g->shares.v[at - 1].next)
		if (g->shares.v[at - 1].batch == batch)
			return &g->shares.v[at - 1].s;
	if (vec_grow(&g->shares, 1))
		return NULL;
	g->shares.v[g->shares.n].batch = batch;
	g->shares.v[g->shares.n].next = (size_t)m->val.i64;
	g->shares.v[g->shares.n].s = (struct share){ .n = 0 };
	m->val.i64 = (int64_t)++g->shares.n;
	return &g->shares.v[g->shares.n - 1].s;
}

/* Adds one judged sample to its batch and its task. */
static int gather_sample(void *ctx, const struct store_sample *t)
{
	struct gather *g = ctx;
	struct share *s;
	struct batch *b;
	size_t at;
	int stage;

	if (!t->judged)
		return 0;
	stage = stage_number(t->reached);
	if (batch_of(g, t->stage, &at) || !(s = share_of(g, t->task, at)))
		return err_nomem(g->e);
	b = &g->batches.v[at];
	b->samples++;
	b->correct += t->correct;
	b->last = MAX(b->last, t->step);
	for (int k = 0; k <= stage; k++)
		b->entered[k]++;
	s->n++;
	s->correct += t->correct;
	s->speedup = t->correct ? MAX(s->speedup, t->speedup) : s->speedup;
	if (!t->correct)
		return count_reason(g, b, stage, t->reason);
	return b->speeds.n < SPEEDS_MOST && vec_push(&b->speeds, (float)t->speedup) ? err_nomem(g->e) : 0;
}

/* A batch as JSON. */
static void put_batch(struct jw *w, const struct batch *b)
{
	jw_begin(w, '{');
	jw_key(w, "name"), jw_cstr(w, b->name);
	jw_key(w, "samples"), jw_int(w, b->samples);
	jw_key(w, "correct"), jw_int(w, b->correct);
	jw_key(w, "step"), jw_int(w, b->last);
	jw_key(w, "entered"), jw_begin(w, '[');
	for (int k = 0; k < STAGES; k++)
		jw_int(w, b->entered[k]);
	jw_end(w, ']');
	jw_key(w, "deaths"), jw_begin(w, '[');
	for (size_t i = 0; i < b->deaths.n; i++) {
		jw_begin(w, '[');
		jw_int(w, b->deaths.v[i].stage);
		jw_cstr(w, b->deaths.v[i].reason);
		jw_int(w, b->deaths.v[i].n);
		jw_end(w, ']');
	}
	jw_end(w, ']');
	jw_key(w, "speeds"), jw_begin(w, '[');
	for (size_t i = 0; i < b->speeds.n; i++)
		jw_real(w, (double)(int64_t)(b->speeds.v[i] * 1000) / 1000);
	jw_end(w, ']');
	jw_end(w, '}');
}

/* A task with its figures in every batch. */
static int put_task(void *ctx, const struct store_task *t)
{
	struct gather *g = ctx;
	struct map_entry *m = map_get(&g->tasks, t->id);

	if (!m)
		return 0;
	jw_begin(g->w, '{');
	jw_key(g->w, "id"), jw_str(g->w, t->id);
	jw_key(g->w, "level"), jw_int(g->w, t->level);
	jw_key(g->w, "ops"), jw_str(g->w, t->ops);
	jw_key(g->w, "in"), jw_begin(g->w, '{');
	for (size_t at = (size_t)m->val.i64; at; at = g->shares.v[at - 1].next) {
		const struct share *s = &g->shares.v[at - 1].s;

		jw_key(g->w, g->batches.v[g->shares.v[at - 1].batch].name), jw_begin(g->w, '[');
		jw_int(g->w, s->n);
		jw_int(g->w, s->correct);
		jw_real(g->w, s->speedup);
		jw_end(g->w, ']');
	}
	jw_end(g->w, '}');
	jw_end(g->w, '}');
	return 0;
}

/* A sample with its texts. */
static int put_sample(void *ctx, const struct store_sample *t)
{
	struct jw *w = ctx;

	jw_begin(w, '{');
	jw_key(w, "stage"), jw_cstr(w, t->stage);
	jw_key(w, "step"), jw_int(w, t->step);
	jw_key(w, "task"), jw_str(w, t->task);
	jw_key(w, "number"), jw_int(w, t->number);
	jw_key(w, "correct"), jw_bool(w, t->correct);
	jw_key(w, "reward"), jw_real(w, t->reward);
	jw_key(w, "speedup"), jw_real(w, t->speedup);
	jw_key(w, "reached"), jw_cstr(w, t->judged ? t->reached : NULL);
	jw_key(w, "reason"), jw_cstr(w, t->judged ? t->reason : NULL);
	jw_key(w, "answer"), jw_str(w, t->answer);
	if (t->verdict.n)
		jw_key(w, "verdict"), jw_raw(w, t->verdict);
	jw_end(w, '}');
	return 0;
}

/* --- evaluations -------------------------------------------------------------------------- */

/* An evaluation without its single answers, which are in the tasks' rows. */
static int put_eval(void *ctx, const char *name, struct str text)
{
	struct gather *g = ctx;
	struct json *j = json_parse(text, g->e);

	if (!j)
		return -1;
	jw_begin(g->w, '{');
	jw_key(g->w, "name"), jw_cstr(g->w, name);
	for (size_t i = 0; i < json_count(j); i++) {
		const char *key;
		const struct json *v = json_member(j, i, &key);

		if (strcmp(key, "detailed_results"))
			jw_key(g->w, key), jw_json(g->w, v);
	}
	jw_end(g->w, '}');
	json_free(j);
	return 0;
}

/* A value of the store's meta table, as JSON or as text. Returns 1, or 0 if it is missing. */
static int put_meta(struct gather *g, struct store *s, const char *key, int is_json)
{
	struct buf text = BUF_INIT;
	struct json *j = NULL;
	int rc = store_get_meta(s, key, &text, g->e);

	if (rc > 0) {
		jw_key(g->w, key);
		if (is_json && (j = json_parse(buf_str(&text), NULL)))
			jw_json(g->w, j);
		else
			jw_str(g->w, buf_str(&text));
	}
	json_free(j);
	buf_release(&text);
	return rc < 0 ? -1 : rc;
}

/* The configuration: `run` keeps it in the store, `train` only in the folder. */
static int put_config(struct gather *g, struct store *s, const char *dir)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int rc = put_meta(g, s, "config", 0);

	if (!rc && path_join(&path, dir, "config.yaml") && file_exists(path.p)) {
		rc = file_read(path.p, 1 << 20, &text, g->e);
		jw_key(g->w, "config"), jw_str(g->w, buf_str(&text));
	}
	buf_release(&text);
	buf_release(&path);
	return rc < 0 ? -1 : 0;
}

/* --- the whole run ------------------------------------------------------------------------ */

/* Frees the figures that gather_sample collected. */
static void release(struct gather *g)
{
	for (size_t i = 0; i < g->batches.n; i++) {
		vec_free(&g->batches.v[i].deaths);
		vec_free(&g->batches.v[i].speeds);
	}
	vec_free(&g->batches);
	vec_free(&g->shares);
	map_release(&g->tasks);
}

/* The batches, the tasks, and the texts of a few samples of the RL stage. */
static int put_samples(struct gather *g, struct store *s)
{
	int64_t last = 0;
	int rc = store_each_brief(s, gather_sample, g, g->e);

	jw_key(g->w, "funnel"), jw_begin(g->w, '[');
	for (size_t i = 0; i < g->batches.n; i++) {
		put_batch(g->w, &g->batches.v[i]);
		last = strcmp(g->batches.v[i].name, "rl") ? last : g->batches.v[i].last;
	}
	jw_end(g->w, ']');
	jw_key(g->w, "tasks"), jw_begin(g->w, '[');
	rc = rc ? rc : store_each_task(s, put_task, g, g->e);
	jw_end(g->w, ']');
	jw_key(g->w, "texts"), jw_begin(g->w, '[');
	rc = rc ? rc : store_each_first(s, "rl", 1 + last / TEXTS_MOST, put_sample, g->w, g->e);
	jw_end(g->w, ']');
	return rc;
}

/* Writes the object that the page draws a run from. Parts that a run does not have yet (a
 * comparison, a config) are left out. */
int web_run(struct store *s, const char *dir, struct buf *out, struct err *e)
{
	struct jw w = { .out = out };
	struct gather g = { .w = &w, .e = e };
	int rc;

	jw_begin(&w, '{');
	jw_key(&w, "name"), jw_str(&w, path_base(dir));
	jw_key(&w, "stages"), jw_begin(&w, '[');
	for (int k = 0; k < STAGES; k++)
		jw_cstr(&w, judge_stage_name(k));
	jw_end(&w, ']');
	put_metrics(&w, dir);
	jw_key(&w, "evals"), jw_begin(&w, '[');
	rc = store_each_eval(s, put_eval, &g, e);
	jw_end(&w, ']');
	rc = rc || put_meta(&g, s, "compare", 1) < 0 || put_config(&g, s, dir) || put_samples(&g, s) ? -1 : 0;
	jw_end(&w, '}');
	release(&g);
	return rc ? rc : buf_check(out, e);
}

/* The samples of one task, up to a number of bytes. */
struct one_task { struct jw *w; size_t from, most; };

/* Adds a sample that has a text, until the object has `most` bytes. The sample that passes the
 * limit is still written whole. */
static int put_bounded(void *ctx, const struct store_sample *t)
{
	struct one_task *x = ctx;

	return !t->answer.n || x->w->out->n - x->from > x->most ? 0 : put_sample(x->w, t);
}

/* Writes one task with its reference and its candidates. The page asks for this when a user opens a
 * task, so that web_run stays small. */
int web_task(struct store *s, struct str id, size_t most, struct buf *out, struct err *e)
{
	struct jw w = { .out = out };
	struct one_task x = { .w = &w, .from = out->n, .most = most };
	struct buf source = BUF_INIT;
	int rc = store_get_source(s, id, &source, e) < 0 ? -1 : 0;

	jw_begin(&w, '{');
	jw_key(&w, "id"), jw_str(&w, id);
	jw_key(&w, "source"), jw_str(&w, buf_str(&source));
	jw_key(&w, "samples"), jw_begin(&w, '[');
	rc = rc ? rc : store_each_sample_of(s, id, put_bounded, &x, e);
	jw_end(&w, ']');
	jw_end(&w, '}');
	buf_release(&source);
	return rc ? rc : buf_check(out, e);
}
