/* The report of runs: one HTML page with all data inside. report.h is the manual. The page is the
 * same application that the live view uses. */
#include "web/report.h"

#include "base/json.h"
#include "base/mem.h"
#include "web/data.h"

const struct opt report_opt_table[] = {
	OPT_STR(struct report_opts, title, "title", "TEXT", NULL, "title of the page"),
	OPT_INT(struct report_opts, megabytes, "megabytes", 1, 1 << 20, 5,
		"maximum page size; further candidates are left out"),
	OPT_FLAG(struct report_opts, wandb, "wandb", 0,
		 "also write RUN/wandb, an offline run that `wandb sync` uploads"),
	OPT_END
};

/* The state while a report is written. */
struct writing {
	struct store *s;
	struct jw *w;
	size_t most;                 /* bytes of all data */
	int full;
	int64_t left_out;
	struct err *e;
	int wanted;                  /* the tasks of this pass, enum priority */
	struct map outcomes;         /* id -> 1 + its index in `held` */
	struct { struct eval_counts *v; size_t n, cap; } held;
};

/* How often a held-out task was asked and solved in each evaluation. */
enum { EVALS = 3 };
struct eval_counts { int64_t n[EVALS], correct[EVALS]; };

/* Tasks with the first priority come first: their candidates show what training changed. */
enum priority { CHANGED, HELD_OUT, OTHERS, PRIORITIES };

/* Counts a sample of an evaluation. */
static int note_outcome(void *ctx, const struct store_sample *t)
{
	static const char *const stages[EVALS] = { "eval_base", "eval_sft", "eval_rl" };
	struct writing *x = ctx;
	struct map_entry *m;
	int k = 0;

	while (k < EVALS && strcmp(t->stage, stages[k]))
		k++;
	if (k == EVALS || !t->judged)
		return 0;
	m = map_put(&x->outcomes, t->task);
	if (!m || (!m->val.i64 && vec_push(&x->held, ((struct eval_counts){ .n = { 0 } }))))
		return err_nomem(x->e);
	if (!m->val.i64)
		m->val.i64 = (int64_t)x->held.n;
	x->held.v[m->val.i64 - 1].n[k]++;
	x->held.v[m->val.i64 - 1].correct[k] += t->correct;
	return 0;
}

/* A held-out task has changed if two evaluations solved different shares of its samples. */
static enum priority priority_of(const struct writing *x, struct str id)
{
	const struct map_entry *m = map_get(&x->outcomes, id);
	const struct eval_counts *o = m ? &x->held.v[m->val.i64 - 1] : NULL;

	for (int i = 0; o && i < EVALS; i++)
		for (int k = 0; k < i; k++)
			if (o->n[i] && o->n[k] && o->correct[i] * o->n[k] != o->correct[k] * o->n[i])
				return CHANGED;
	return o ? HELD_OUT : OTHERS;
}

/* Adds the candidates of one task, until the page is full. */
static int put_task(void *ctx, struct str id)
{
	enum { TASK_MOST = 256 << 10 };
	struct writing *x = ctx;
	struct buf task = BUF_INIT;
	int rc;

	if (priority_of(x, id) != (enum priority)x->wanted)
		return 0;
	rc = x->full ? 0 : web_task(x->s, id, TASK_MOST, &task, x->e);

	x->full |= x->w->out->n + task.n > x->most;
	if (!rc && !x->full)
		jw_raw(x->w, buf_str(&task));
	x->left_out += x->full;
	buf_release(&task);
	return rc;
}

/* Adds the data of each run. */
static int put_runs(struct writing *x, const struct report_run *runs, size_t n)
{
	int rc = 0;

	jw_key(x->w, "runs"), jw_begin(x->w, '[');
	for (size_t i = 0; i < n && !rc; i++) {
		struct buf run = BUF_INIT;

		rc = web_run(runs[i].store, runs[i].dir, &run, x->e);
		if (!rc)
			jw_raw(x->w, buf_str(&run));
		buf_release(&run);
	}
	jw_end(x->w, ']');
	return rc;
}

/* Writes JSON into a script element: '<' is escaped, so that no text can end the element. */
static void add_script(struct buf *out, struct str json)
{
	for (size_t i = 0; i < json.n; i++)
		if (json.p[i] == '<')
			buf_adds(out, "\\u003c");
		else
			buf_addc(out, json.p[i]);
}

/* The page with `data` in its place. */
static int put_page(struct str data, struct buf *out, struct err *e)
{
	struct str rest = str_of(web_app);
	ptrdiff_t at = str_find(rest, STR("@DATA@"));

	BUG_ON(at < 0);
	buf_add(out, rest.p, (size_t)at);
	add_script(out, data);
	buf_adds(out, rest.p + at + 6);
	return buf_check(out, e);
}

/* Writes the page with the data of all runs inside it. The candidates of the first run follow until
 * the page has o->megabytes, held-out tasks whose outcome changed first. `left_out` tells the reader
 * how many tasks are missing. */
int report_write(const struct report_run *runs, size_t n, const struct report_opts *o, struct buf *out, struct err *e)
{
	struct buf data = BUF_INIT;
	struct jw w = { .out = &data };
	/* JSON becomes a little longer when it is escaped for a script element. */
	struct writing x = { .s = runs[0].store, .w = &w, .most = (size_t)o->megabytes * 950000 -
			     strlen(web_app), .e = e };
	int rc;

	jw_begin(&w, '{');
	jw_key(&w, "title"), jw_cstr(&w, o->title);
	rc = put_runs(&x, runs, n);
	jw_key(&w, "candidates"), jw_begin(&w, '[');
	rc = rc ? rc : store_each_brief(x.s, note_outcome, &x, e);
	for (x.wanted = 0; x.wanted < PRIORITIES && !rc; x.wanted++)
		rc = store_each_sampled(x.s, put_task, &x, e);
	jw_end(&w, ']');
	jw_key(&w, "left_out"), jw_int(&w, x.left_out);
	jw_end(&w, '}');
	rc = rc || buf_check(&data, e) || put_page(buf_str(&data), out, e) ? -1 : 0;
	buf_release(&data);
	map_release(&x.outcomes);
	vec_free(&x.held);
	return rc;
}

/* Writes the page of the live view: "live" makes the page's script poll the server for runs. */
int report_live(const char *title, struct buf *out, struct err *e)
{
	struct buf data = BUF_INIT;
	struct jw w = { .out = &data };
	int rc;

	jw_begin(&w, '{');
	jw_key(&w, "title"), jw_cstr(&w, title);
	jw_key(&w, "live"), jw_bool(&w, 1);
	jw_key(&w, "runs"), jw_begin(&w, '[');
	jw_end(&w, ']');
	jw_end(&w, '}');
	rc = put_page(buf_str(&data), out, e);
	buf_release(&data);
	return rc;
}
