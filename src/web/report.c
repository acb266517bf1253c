/* The report of a run: see report.h. Reads the store once for numbers and once for candidates. */
#include "web/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "web/html.h"
#include "web/page.h"

/* --- gathering ----------------------------------------------------------------------------------- */

static struct curve *curve_of(struct page *p, const char *stage, const char *name)
{
	struct curve fresh = { .stage = "" };

	for (size_t i = 0; i < p->curves.n; i++)
		if (!strcmp(p->curves.v[i].stage, stage) && !strcmp(p->curves.v[i].name, name))
			return &p->curves.v[i];
	snprintf(fresh.stage, sizeof fresh.stage, "%s", stage);
	snprintf(fresh.name, sizeof fresh.name, "%s", name);
	return vec_push(&p->curves, fresh) ? NULL : &p->curves.v[p->curves.n - 1];
}

static int add_point(struct page *p, const char *stage, const char *name, double x, double y)
{
	struct curve *c = curve_of(p, stage, name);

	return !c || vec_push(&c->x, x) || vec_push(&c->y, y) ? err_nomem(p->e) : 0;
}

static int gather_step(void *ctx, const struct store_step *t)
{
	struct page *p = ctx;
	struct json *extra = json_parse(t->extra, NULL);
	int rc = add_point(p, t->stage, "loss", (double)t->step, t->loss) || add_point(p, t->stage, "grad_norm", (double)t->step, t->grad_norm) ||
		 add_point(p, t->stage, "tokens", (double)t->step, (double)t->tokens);

	for (size_t i = 0; extra && i < json_count(extra) && !rc; i++) {
		const char *key;
		const struct json *v = json_member(extra, i, &key);

		rc = add_point(p, t->stage, key, (double)t->step, json_real(v, NAN));
	}
	json_free(extra);
	return rc;
}

static struct page_batch *batch_of(struct page *p, const char *name)
{
	struct page_batch fresh = { .samples = 0 };

	for (size_t i = 0; i < p->batches.n; i++)
		if (!strcmp(p->batches.v[i].name, name))
			return &p->batches.v[i];
	snprintf(fresh.name, sizeof fresh.name, "%s", name);
	return vec_push(&p->batches, fresh) ? NULL : &p->batches.v[p->batches.n - 1];
}

static int count_reason(struct page *p, struct page_batch *b, int stage, const char *reason)
{
	struct death fresh = { .stage = stage, .n = 1 };

	for (size_t i = 0; i < b->deaths.n; i++)
		if (b->deaths.v[i].stage == stage && !strcmp(b->deaths.v[i].reason, reason)) {
			b->deaths.v[i].n++;
			return 0;
		}
	snprintf(fresh.reason, sizeof fresh.reason, "%s", reason);
	return vec_push(&b->deaths, fresh) ? err_nomem(p->e) : 0;
}

static int stage_number(const char *name)
{
	int s = 0;

	while (s < STAGES - 1 && strcmp(name, judge_stage_name(s)))
		s++;
	return s;
}

static int gather_sample(void *ctx, const struct store_sample *t)
{
	struct page *p = ctx;
	struct page_batch *b = t->judged ? batch_of(p, t->stage) : NULL;
	struct map_entry *task = map_put(&p->by_task, t->task);
	struct task_count *k;
	int stage = t->judged ? stage_number(t->reached) : 0;

	if (!t->judged)
		return 0;
	if (!b || !task)
		return err_nomem(p->e);
	if (!task->val.i64) {
		if (vec_push(&p->tasks, ((struct task_count){ .level = 0 })))
			return err_nomem(p->e);
		task->val.i64 = (int64_t)p->tasks.n;
	}
	k = &p->tasks.v[task->val.i64 - 1];
	k->n++;
	k->correct += t->correct;
	k->reward += t->reward;
	k->speedup = t->correct ? fmax(k->speedup, t->speedup) : k->speedup;
	b->samples++;
	b->correct += t->correct;
	b->rewards[(int)lround(fmin(fmax(t->reward, 0.0), 1.0) * (HISTOGRAM - 1))]++;
	for (int s = 0; s <= stage; s++)
		b->entered[s]++;
	b->died[stage] += !t->correct;
	return t->correct ? 0 : count_reason(p, b, stage, t->reason);
}

static int gather_task(void *ctx, const struct store_task *t)
{
	struct page *p = ctx;
	struct map_entry *e = map_get(&p->by_task, t->id);

	if (e) {
		p->tasks.v[e->val.i64 - 1].level = t->level;
		snprintf(p->tasks.v[e->val.i64 - 1].ops, sizeof p->tasks.v[0].ops, "%.*s", STR_ARG(t->ops));
	}
	return 0;
}

static int gather_eval(void *ctx, const char *name, struct str text)
{
	struct page *p = ctx;
	struct page_subject s = { .json = json_parse(text, p->e) };

	snprintf(s.name, sizeof s.name, "%s", name);
	if (!s.json)
		return -1;
	return vec_push(&p->subjects, s) ? err_nomem(p->e) : 0;
}

/* Place in the order of the pipeline; what is not of it, behind. */
static size_t rank_of(const char *name)
{
	static const char *const order[] = { "rl", "eval_base", "base", "eval_sft", "sft", "eval_rl" };
	size_t i = 0;

	while (i < COUNT_OF(order) && strcmp(name, order[i]))
		i++;
	return i;
}

static int by_batch(const void *a, const void *b)
{
	const struct page_batch *x = a, *y = b;
	size_t i = rank_of(x->name), k = rank_of(y->name);

	return i != k ? (i > k) - (i < k) : strcmp(x->name, y->name);
}

/* Of evaluations "rl" is the last. */
static int by_subject(const void *a, const void *b)
{
	const struct page_subject *x = a, *y = b;
	size_t i = strcmp(x->name, "rl") ? rank_of(x->name) : rank_of("eval_rl"), k = strcmp(y->name, "rl") ? rank_of(y->name) : rank_of("eval_rl");

	return i != k ? (i > k) - (i < k) : strcmp(x->name, y->name);
}

static void put_in_order(struct page *p)
{
	if (p->batches.n)
		qsort(p->batches.v, p->batches.n, sizeof *p->batches.v, by_batch);
	if (p->subjects.n)
		qsort(p->subjects.v, p->subjects.n, sizeof *p->subjects.v, by_subject);
}

static int gather(struct page *p, struct store *s)
{
	struct buf text = BUF_INIT;
	int rc = store_each_step(s, gather_step, p, p->e) || store_each_sample(s, NULL, gather_sample, p, p->e) ||
		 store_each_task(s, gather_task, p, p->e) || store_each_eval(s, gather_eval, p, p->e) ? -1 : 0;

	if (!rc && store_get_meta(s, "compare", &text, p->e) > 0)
		p->compare = json_parse(buf_str(&text), NULL);
	if (!rc)
		rc = store_get_meta(s, "config", &p->config, p->e) < 0 ? -1 : 0;
	put_in_order(p);
	buf_release(&text);
	return rc;
}

static void release(struct page *p)
{
	for (size_t i = 0; i < p->curves.n; i++) {
		vec_free(&p->curves.v[i].x);
		vec_free(&p->curves.v[i].y);
	}
	for (size_t i = 0; i < p->batches.n; i++)
		vec_free(&p->batches.v[i].deaths);
	for (size_t i = 0; i < p->subjects.n; i++)
		json_free(p->subjects.v[i].json);
	vec_free(&p->curves);
	vec_free(&p->batches);
	vec_free(&p->tasks);
	vec_free(&p->subjects);
	map_release(&p->by_task);
	json_free(p->compare);
	buf_release(&p->config);
}

const struct opt report_opt_table[] = {
	OPT_STR(struct report_opts, title, "title", "TEXT", NULL, "heading of the page"),
	OPT_INT(struct report_opts, candidates, "candidates", 0, 100000000, 0, "most candidates shown in full; 0: all"),
	OPT_END
};

int report_write(struct store *s, const struct report_opts *o, struct buf *out, struct err *e)
{
	struct page p = { .out = out, .o = o, .e = e };
	int rc = gather(&p, s);

	if (!rc) {
		buf_adds(out, html_head);
		page_head(&p);
		page_eval(&p);
		page_curves(&p);
		page_funnel(&p);
		page_tasks(&p);
		rc = page_candidates(&p, s);
		buf_adds(out, "</body></html>\n");
	}
	release(&p);
	return rc ? rc : buf_check(out, e);
}
