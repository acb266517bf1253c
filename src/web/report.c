/* The report of a run: see report.h. Reads the store once for numbers and once for candidates. */
#include "web/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "web/html.h"

enum { STAGES_MOST = 8, HISTOGRAM = 21 };

struct curve {
	char stage[16], name[24];
	struct { double *v; size_t n, cap; } x, y;
};

struct tally { char name[64]; int64_t n, correct; double reward; };

struct page {
	struct buf *out;
	const struct report_opts *o;
	struct { struct curve *v; size_t n, cap; } curves;
	struct { struct tally *v; size_t n, cap; } reasons, reached, tasks;
	double rewards[HISTOGRAM];
	int64_t samples, correct;
	size_t shown;
	struct err *e;
};

static struct tally *tally(struct page *p, void *list, struct str name)
{
	struct { struct tally *v; size_t n, cap; } *l = list;
	struct tally t = { .n = 0 };

	for (size_t i = 0; i < l->n; i++)
		if (str_is(name, l->v[i].name))
			return &l->v[i];
	snprintf(t.name, sizeof t.name, "%.*s", STR_ARG(name));
	if (vec_push(l, t)) {
		err_nomem(p->e);
		return NULL;
	}
	return &l->v[l->n - 1];
}

/* --- gathering ----------------------------------------------------------------------------------- */

static int add_point(struct page *p, const char *stage, const char *name, double x, double y)
{
	struct curve *c = NULL;

	for (size_t i = 0; i < p->curves.n; i++)
		if (!strcmp(p->curves.v[i].stage, stage) && !strcmp(p->curves.v[i].name, name))
			c = &p->curves.v[i];
	if (!c) {
		struct curve fresh = { .stage = "" };

		snprintf(fresh.stage, sizeof fresh.stage, "%s", stage);
		snprintf(fresh.name, sizeof fresh.name, "%s", name);
		if (vec_push(&p->curves, fresh))
			return err_nomem(p->e);
		c = &p->curves.v[p->curves.n - 1];
	}
	return vec_push(&c->x, x) || vec_push(&c->y, y) ? err_nomem(p->e) : 0;
}

static int gather_step(void *ctx, const struct store_step *t)
{
	struct page *p = ctx;
	struct json *extra = json_parse(t->extra, NULL);
	int rc = add_point(p, t->stage, "loss", (double)t->step, t->loss) || add_point(p, t->stage, "grad_norm", (double)t->step, t->grad_norm);

	for (size_t i = 0; extra && i < json_count(extra) && !rc; i++) {
		const char *key;
		const struct json *v = json_member(extra, i, &key);

		rc = add_point(p, t->stage, key, (double)t->step, json_real(v, NAN));
	}
	json_free(extra);
	return rc;
}

static int gather_sample(void *ctx, const struct store_sample *t)
{
	struct page *p = ctx;
	struct tally *task = tally(p, &p->tasks, t->task), *reason, *reached;
	int bin = (int)lround(fmin(fmax(t->reward, 0.0), 1.0) * (HISTOGRAM - 1));

	if (!t->judged)
		return 0;
	reason = tally(p, &p->reasons, str_of(t->correct ? "correct" : t->reason));
	reached = tally(p, &p->reached, str_of(t->correct ? "passed all" : t->reached));
	if (!task || !reason || !reached)
		return -1;
	p->samples++;
	p->correct += t->correct;
	p->rewards[bin]++;
	reason->n++;
	reached->n++;
	task->n++;
	task->correct += t->correct;
	task->reward += t->reward;
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------------- */

static const struct curve *find(const struct page *p, const char *stage, const char *name)
{
	for (size_t i = 0; i < p->curves.n; i++)
		if (!strcmp(p->curves.v[i].stage, stage) && !strcmp(p->curves.v[i].name, name))
			return &p->curves.v[i];
	return NULL;
}

static void chart(struct page *p, const char *title, const char *stage, const char *const *names, size_t n)
{
	static const char *const colours[] = { "#0969da", "#1a7f37", "#bf8700", "#cf222e", "#8250df" };
	struct series s[5];
	size_t k = 0;

	for (size_t i = 0; i < n && k < 5; i++) {
		const struct curve *c = find(p, stage, names[i]);

		if (c)
			s[k] = (struct series){ .name = c->name, .colour = colours[k], .x = c->x.v, .y = c->y.v, .n = c->x.n }, k++;
	}
	if (k)
		html_lines(p->out, title, s, k);
}

static void write_curves(struct page *p)
{
	static const char *const loss[] = { "loss" }, *const rl[] = { "reward", "correct" },
		*const stages[] = { "passed_ast", "passed_compile", "passed_tiny", "correct" }, *const share[] = { "level2_share" };

	buf_adds(p->out, "<h2>Learning curves</h2>\n");
	chart(p, "supervised: loss by step", "sft", loss, 1);
	chart(p, "reinforcement: reward and share correct by step", "rl", rl, 2);
	chart(p, "reinforcement: share that passes each stage", "rl", stages, 4);
	chart(p, "reinforcement: share of level-2 tasks", "rl", share, 1);
}

static int by_count(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return (x->n < y->n) - (x->n > y->n);
}

static void write_bars(struct page *p, const char *title, struct tally *v, size_t n, size_t most, const char *colour)
{
	struct bar b[32];
	char notes[32][48];

	qsort(v, n, sizeof *v, by_count);
	n = MIN(MIN(n, most), COUNT_OF(b));
	for (size_t i = 0; i < n; i++) {
		snprintf(notes[i], sizeof notes[i], "%lld (%.1f%%)", (long long)v[i].n, 100.0 * (double)v[i].n / (double)MAX(p->samples, 1));
		b[i] = (struct bar){ .name = v[i].name, .value = (double)v[i].n, .note = notes[i] };
	}
	if (n)
		html_bars(p->out, title, b, n, colour);
}

static void write_rewards(struct page *p)
{
	struct bar b[HISTOGRAM];
	char names[HISTOGRAM][16], notes[HISTOGRAM][24];
	size_t n = 0;

	for (int i = 0; i < HISTOGRAM; i++) {
		if (p->rewards[i] == 0)
			continue;
		snprintf(names[n], sizeof names[n], "%.2f", (double)i / (HISTOGRAM - 1));
		snprintf(notes[n], sizeof notes[n], "%.0f", p->rewards[i]);
		b[n] = (struct bar){ .name = names[n], .value = p->rewards[i], .note = notes[n] };
		n++;
	}
	html_bars(p->out, "distribution of rewards", b, n, "#8250df");
}

static void write_funnel(struct page *p)
{
	buf_adds(p->out, "<h2>The funnel</h2>\n");
	if (!p->samples) {
		buf_adds(p->out, "<p class=\"muted\">No candidate was judged in this run.</p>\n");
		return;
	}
	write_bars(p, "where candidates stop", p->reached.v, p->reached.n, 8, "#0969da");
	write_bars(p, "why", p->reasons.v, p->reasons.n, 20, "#cf222e");
	write_rewards(p);
}

static void write_group(struct page *p, const struct json *g)
{
	const struct json *ci = json_get(g, "correct_interval");

	buf_adds(p->out, "<tr><td>");
	html_text(p->out, json_str(json_get(g, "name"), ""));
	buf_addf(p->out, "<td>%lld<td>%.1f%%<td>%.1f%%<td><b>%.1f%%</b><td class=\"muted\">%.1f to %.1f<td>%.1f%%</tr>\n",
		 (long long)json_int(json_get(g, "tasks"), 0), json_real(json_get(g, "valid_rate"), 0), json_real(json_get(g, "compiled_rate"), 0),
		 json_real(json_get(g, "correct_rate"), 0), json_real(json_at(ci, 0), 0), json_real(json_at(ci, 1), 0),
		 json_real(json_get(g, "fast_1"), 0));
}

static int write_eval(void *ctx, const char *name, struct str text)
{
	struct page *p = ctx;
	struct json *j = json_parse(text, p->e);
	const struct json *groups;

	if (!j)
		return -1;
	groups = json_get(j, "groups");
	buf_adds(p->out, "<h3>");
	html_text(p->out, str_of(name));
	buf_adds(p->out, "</h3><table><tr><th>tasks of<th>tasks<th>valid<th>compiled<th>correct<th>95% interval<th>faster</tr>\n");
	write_group(p, json_get(j, "metrics"));
	for (size_t i = 0; i < json_count(groups); i++)
		if (!str_starts(json_str(json_get(json_at(groups, i), "name"), ""), "op "))
			write_group(p, json_at(groups, i));
	buf_adds(p->out, "</table>\n");
	json_free(j);
	return 0;
}

static void write_tasks(struct page *p)
{
	buf_adds(p->out, "<h2>Tasks</h2>\n<details><summary>every task</summary><table><tr><th>task<th>candidates<th>correct<th>mean reward</tr>\n");
	for (size_t i = 0; i < p->tasks.n; i++) {
		const struct tally *t = &p->tasks.v[i];

		buf_adds(p->out, "<tr><td>");
		html_text(p->out, str_of(t->name));
		buf_addf(p->out, "<td>%lld<td>%lld<td>%.3f</tr>\n", (long long)t->n, (long long)t->correct, t->n ? t->reward / (double)t->n : 0.0);
	}
	buf_adds(p->out, "</table></details>\n");
}

static void write_verdict(struct page *p, struct str text)
{
	struct json *j = json_parse(text, NULL);
	struct str explain, message;

	if (!j)
		return;
	message = json_str(json_get(j, "message"), "");
	explain = json_str(json_get(j, "explain"), "");
	if (message.n) {
		buf_addf(p->out, "<p class=\"bad\">line %lld: ", (long long)json_int(json_get(j, "line"), 0));
		html_text(p->out, message);
		buf_adds(p->out, "</p>\n");
	}
	if (explain.n) {
		buf_adds(p->out, "<p class=\"muted\">");
		html_text(p->out, explain);
		buf_adds(p->out, "</p>\n");
	}
	json_free(j);
}

static int write_candidate(void *ctx, const struct store_sample *t)
{
	struct page *p = ctx;

	if (p->o->candidates && p->shown >= p->o->candidates)
		return 0;
	p->shown++;
	buf_addf(p->out, "<details><summary><span class=\"%s\">%s</span> %s step %lld, ", t->correct ? "good" : "bad",
		 t->correct ? "correct" : t->reason, t->stage, (long long)t->step);
	html_text(p->out, t->task);
	buf_addf(p->out, " #%lld, reward %.3f", (long long)t->number, t->reward);
	if (t->correct && t->speedup > 0)
		buf_addf(p->out, ", speedup %.2f (model)", t->speedup);
	buf_adds(p->out, "</summary>\n");
	write_verdict(p, t->verdict);
	html_python(p->out, t->code.n ? t->code : t->answer);
	buf_adds(p->out, "</details>\n");
	return 0;
}

static void release(struct page *p)
{
	for (size_t i = 0; i < p->curves.n; i++) {
		vec_free(&p->curves.v[i].x);
		vec_free(&p->curves.v[i].y);
	}
	vec_free(&p->curves);
	vec_free(&p->reasons);
	vec_free(&p->reached);
	vec_free(&p->tasks);
}

int report_write(struct store *s, const struct report_opts *o, struct buf *out, struct err *e)
{
	struct page p = { .out = out, .o = o, .e = e };
	int rc = store_each_step(s, gather_step, &p, e) || store_each_sample(s, NULL, gather_sample, &p, e) ? -1 : 0;

	if (!rc) {
		buf_adds(out, html_head);
		buf_adds(out, "<h1>");
		html_text(out, str_of(o->title));
		buf_addf(out, "</h1>\n<p class=\"muted\">%lld candidates judged, %lld correct. Speedups are of the roofline model unless a device is named.</p>\n"
			 "<h2>Evaluation</h2>\n", (long long)p.samples, (long long)p.correct);
		rc = store_each_eval(s, write_eval, &p, e) ? -1 : 0;
	}
	if (!rc) {
		write_curves(&p);
		write_funnel(&p);
		write_tasks(&p);
		buf_adds(out, "<h2>Candidates</h2>\n");
		rc = store_each_sample(s, NULL, write_candidate, &p, e) ? -1 : 0;
		if (o->candidates && p.shown >= o->candidates)
			buf_addf(out, "<p class=\"muted\">The first %zu candidates are shown.</p>\n", p.shown);
		buf_adds(out, "</body></html>\n");
	}
	release(&p);
	return rc ? rc : buf_check(out, e);
}
