/* Sections of the report but the candidates: see page.h. */
#include "web/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "web/html.h"

/* What a stage of the run is called for readers. */
static const char *title_of(const char *batch)
{
	static const char *const names[][2] = { { "rl", "Reinforcement" }, { "eval_base", "Evaluation of the base model" },
						{ "eval_sft", "Evaluation after the supervised stage" },
						{ "eval_rl", "Evaluation after reinforcement" } };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(batch, names[i][0]))
			return names[i][1];
	return batch;
}

static const struct curve *find(const struct page *p, const char *stage, const char *name)
{
	for (size_t i = 0; i < p->curves.n; i++)
		if (!strcmp(p->curves.v[i].stage, stage) && !strcmp(p->curves.v[i].name, name))
			return &p->curves.v[i];
	return NULL;
}

/* Mean of the first or last tenth of a curve. */
static double end_of(const struct curve *c, int last)
{
	size_t n = MAX(c->y.n / 10, (size_t)1);
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += c->y.v[last ? c->y.n - 1 - i : i];
	return sum / (double)n;
}

static double total_of(const struct curve *c)
{
	double sum = 0.0;

	for (size_t i = 0; c && i < c->y.n; i++)
		sum += c->y.v[i];
	return sum;
}

/* --- head: the pipeline in a few numbers --------------------------------------------------------------- */

static void card(struct page *p, const char *name, const char *value, const char *note)
{
	buf_adds(p->out, "<div class=\"card\"><div>");
	html_text(p->out, str_of(name));
	buf_adds(p->out, "</div><div>");
	html_text(p->out, str_of(value));
	buf_adds(p->out, "</div><div>");
	html_text(p->out, str_of(note));
	buf_adds(p->out, "</div></div>\n");
}

static void subject_card(struct page *p, const struct page_subject *s)
{
	const struct json *m = json_get(s->json, "metrics"), *ci = json_get(m, "correct_interval");
	char value[32], note[96], name[64];

	snprintf(name, sizeof name, "%s: correct", s->name);
	snprintf(value, sizeof value, "%.1f %%", json_real(json_get(m, "correct_rate"), 0));
	snprintf(note, sizeof note, "%.1f to %.1f, %lld tasks x %lld", json_real(json_at(ci, 0), 0), json_real(json_at(ci, 1), 0),
		 (long long)json_int(json_get(s->json, "num_tasks"), 0), (long long)json_int(json_get(s->json, "samples_per_task"), 0));
	card(p, name, value, note);
}

static void stage_row(struct page *p, const char *stage, const char *what)
{
	const struct curve *loss = find(p, stage, "loss"), *reward = find(p, stage, "reward"), *correct = find(p, stage, "correct");

	if (!loss)
		return;
	buf_addf(p->out, "<tr><td>%s<td>%zu<td>%.0f<td>%.4f to %.4f<td>", what, loss->y.n, total_of(find(p, stage, "tokens")), end_of(loss, 0),
		 end_of(loss, 1));
	if (reward && correct)
		buf_addf(p->out, "%.3f to %.3f<td>%.1f %% to %.1f %%</tr>\n", end_of(reward, 0), end_of(reward, 1), 100 * end_of(correct, 0),
			 100 * end_of(correct, 1));
	else
		buf_adds(p->out, "<td></tr>\n");
}

void page_head(struct page *p)
{
	int64_t samples = 0, correct = 0;
	char value[32], note[64];

	for (size_t i = 0; i < p->batches.n; i++) {
		samples += p->batches.v[i].samples;
		correct += p->batches.v[i].correct;
	}
	buf_adds(p->out, "<h1>");
	html_text(p->out, str_of(p->o->title));
	buf_adds(p->out, "</h1>\n<p class=\"muted\">Speedups are of the roofline model unless a device is named.</p>\n<nav><a href=\"#eval\">Evaluation</a>"
			 "<a href=\"#curves\">Learning curves</a><a href=\"#funnel\">Funnel</a><a href=\"#tasks\">Tasks</a>"
			 "<a href=\"#candidates\">Candidates</a></nav>\n<div class=\"cards\">\n");
	for (size_t i = 0; i < p->subjects.n && i < 4; i++)
		subject_card(p, &p->subjects.v[i]);
	snprintf(value, sizeof value, "%lld", (long long)samples);
	snprintf(note, sizeof note, "%lld correct, %zu tasks", (long long)correct, p->tasks.n);
	card(p, "candidates judged", value, note);
	buf_adds(p->out, "</div>\n");
	if (p->curves.n) {
		buf_adds(p->out, "<div class=\"wide\"><table><tr><th>stage<th>steps<th>tokens trained<th>loss<th>reward<th>correct</tr>\n");
		stage_row(p, "sft", "supervised");
		stage_row(p, "rl", "reinforcement");
		buf_adds(p->out, "</table></div>\n<p class=\"muted\">From the first tenth of a stage's steps to the last.</p>\n");
	}
	if (p->config.n) {
		buf_adds(p->out, "<details><summary>configuration, every option as used</summary><pre>");
		html_text(p->out, buf_str(&p->config));
		buf_adds(p->out, "</pre></details>\n");
	}
}

/* --- evaluation ------------------------------------------------------------------------------------------- */

enum { GROUPS = 12, SERIES = HTML_COLOURS };

/* Group `name` of an evaluation: "all" is its metrics. */
static const struct json *group_of(const struct page_subject *s, const char *name)
{
	const struct json *groups = json_get(s->json, "groups");

	if (!strcmp(name, "all"))
		return json_get(s->json, "metrics");
	for (size_t i = 0; i < json_count(groups); i++)
		if (str_is(json_str(json_get(json_at(groups, i), "name"), ""), name))
			return json_at(groups, i);
	return NULL;
}

/* Names of the groups but the operators', as the last subject has them. */
static size_t group_names(const struct page *p, char names[GROUPS][24])
{
	const struct json *groups = p->subjects.n ? json_get(p->subjects.v[p->subjects.n - 1].json, "groups") : NULL;
	size_t n = 0;

	snprintf(names[n++], 24, "all");
	for (size_t i = 0; i < json_count(groups) && n < GROUPS; i++) {
		struct str name = json_str(json_get(json_at(groups, i), "name"), "");

		if (!str_starts(name, "op "))
			snprintf(names[n++], 24, "%.*s", STR_ARG(name));
	}
	return n;
}

/* Of the track the answers were made for: the other's groups carry its name. */
static int of_own_track(const char *group)
{
	return !strncmp(group, "all", 3) || !strncmp(group, "level", 5);
}

static void eval_chart(struct page *p, char names[GROUPS][24], size_t n)
{
	struct interval v[GROUPS * SERIES] = { { .value = 0 } };
	const char *series[SERIES], *groups[GROUPS];
	size_t ns = MIN(p->subjects.n, (size_t)SERIES), ng = 0;

	for (size_t g = 0; g < n; g++) {
		if (!of_own_track(names[g]))
			continue;
		groups[ng++] = names[g];
		for (size_t s = 0; s < ns; s++) {
			const struct json *j = group_of(&p->subjects.v[s], names[g]), *ci = json_get(j, "correct_interval");

			series[s] = p->subjects.v[s].name;
			if (j)
				v[(ng - 1) * ns + s] = (struct interval){ .value = json_real(json_get(j, "correct_rate"), 0), .low = json_real(json_at(ci, 0), 0),
								   .high = json_real(json_at(ci, 1), 0) };
		}
	}
	buf_adds(p->out, "<div class=\"charts\">");
	html_groups(p->out, "correct, percent, with 95 % intervals", groups, ng, series, ns, v);
	buf_adds(p->out, "</div>\n");
}

static void eval_header(struct page *p, const struct json *metrics)
{
	buf_adds(p->out, "<tr><th>model<th class=\"l\">tasks of<th>tasks<th>valid<th>compiled<th>correct<th>95 % interval<th>reward");
	for (size_t i = 0; i < json_count(metrics); i++) {
		const char *key;

		json_member(metrics, i, &key);
		if ((!strncmp(key, "pass@", 5) && !strchr(key, '_')) || !strncmp(key, "fast_", 5))
			buf_addf(p->out, "<th>%s", key);
	}
	buf_adds(p->out, "</tr>\n");
}

static void eval_row(struct page *p, const char *subject, const struct json *g)
{
	const struct json *ci = json_get(g, "correct_interval");

	buf_adds(p->out, "<tr><td>");
	html_text(p->out, str_of(subject));
	buf_adds(p->out, "<td class=\"l\">");
	html_text(p->out, json_str(json_get(g, "name"), ""));
	buf_addf(p->out, "<td>%lld<td>%.1f %%<td>%.1f %%<td><b>%.1f %%</b><td class=\"muted\">%.1f to %.1f<td>%.3f",
		 (long long)json_int(json_get(g, "tasks"), 0), json_real(json_get(g, "valid_rate"), 0), json_real(json_get(g, "compiled_rate"), 0),
		 json_real(json_get(g, "correct_rate"), 0), json_real(json_at(ci, 0), 0), json_real(json_at(ci, 1), 0),
		 json_real(json_get(g, "reward"), 0));
	for (size_t i = 0; i < json_count(g); i++) {
		const char *key;
		const struct json *v = json_member(g, i, &key);

		if ((!strncmp(key, "pass@", 5) && !strchr(key, '_')) || !strncmp(key, "fast_", 5))
			buf_addf(p->out, "<td>%.1f %%", json_real(v, 0));
	}
	buf_adds(p->out, "</tr>\n");
}

static void compare_rows(struct page *p)
{
	if (!json_count(p->compare))
		return;
	buf_adds(p->out, "<h3>Differences, paired over tasks</h3>\n<div class=\"wide\"><table><tr><th>from<th class=\"l\">to<th class=\"l\">tasks of"
			 "<th>tasks<th>points correct<th>p</tr>\n");
	for (size_t i = 0; i < json_count(p->compare); i++) {
		const struct json *d = json_at(p->compare, i);
		double points = json_real(json_get(d, "points"), 0);

		buf_addf(p->out, "<tr><td>%.*s<td class=\"l\">%.*s<td class=\"l\">%.*s<td>%lld<td class=\"%s\">%+.1f<td>%.4f</tr>\n",
			 STR_ARG(json_str(json_get(d, "from"), "")), STR_ARG(json_str(json_get(d, "to"), "")),
			 STR_ARG(json_str(json_get(d, "group"), "")), (long long)json_int(json_get(d, "tasks"), 0),
			 points > 0 ? "good" : points < 0 ? "bad" : "muted", points, json_real(json_get(d, "p"), 1));
	}
	buf_adds(p->out, "</table></div>\n<p class=\"muted\">Two-sided sign-flip permutation test.</p>\n");
}

static void operator_rows(struct page *p, const struct page_subject *s)
{
	const struct json *groups = json_get(s->json, "groups");

	buf_adds(p->out, "<details><summary>");
	html_text(p->out, str_of(s->name));
	buf_adds(p->out, ": by operator</summary><div class=\"wide\"><table>");
	eval_header(p, json_get(s->json, "metrics"));
	for (size_t i = 0; i < json_count(groups); i++)
		if (str_starts(json_str(json_get(json_at(groups, i), "name"), ""), "op "))
			eval_row(p, s->name, json_at(groups, i));
	buf_adds(p->out, "</table></div></details>\n");
}

void page_eval(struct page *p)
{
	char names[GROUPS][24];
	size_t n = group_names(p, names);

	buf_adds(p->out, "<h2 id=\"eval\">Evaluation</h2>\n");
	if (!p->subjects.n) {
		buf_adds(p->out, "<p class=\"muted\">Nothing was evaluated in this run.</p>\n");
		return;
	}
	eval_chart(p, names, n);
	buf_addf(p->out, "<p class=\"muted\">Track: %.*s; the rows of the other track are named so.</p><div class=\"wide\"><table>",
		 STR_ARG(json_str(json_get(p->subjects.v[0].json, "track"), "strict")));
	eval_header(p, json_get(p->subjects.v[0].json, "metrics"));
	for (size_t i = 0; i < n; i++)
		for (size_t s = 0; s < p->subjects.n; s++)
			if (group_of(&p->subjects.v[s], names[i]))
				eval_row(p, p->subjects.v[s].name, group_of(&p->subjects.v[s], names[i]));
	buf_adds(p->out, "</table></div>\n");
	compare_rows(p);
	for (size_t s = 0; s < p->subjects.n; s++)
		operator_rows(p, &p->subjects.v[s]);
}

/* --- curves ---------------------------------------------------------------------------------------------- */

static void chart(struct page *p, const char *title, const char *stage, const char *const *names, size_t n, double top)
{
	struct series s[HTML_COLOURS];
	size_t k = 0;

	for (size_t i = 0; i < n && k < HTML_COLOURS; i++) {
		const struct curve *c = find(p, stage, names[i]);

		if (c)
			s[k++] = (struct series){ .name = c->name, .x = c->x.v, .y = c->y.v, .n = c->x.n };
	}
	if (k)
		html_lines(p->out, title, s, k, top);
}

void page_curves(struct page *p)
{
	static const char *const loss[] = { "loss" }, *const rl[] = { "reward", "correct" },
		*const stages[] = { "passed_ast", "passed_compile", "passed_tiny", "correct" }, *const share[] = { "level2_share" },
		*const grad[] = { "grad_norm" };

	if (!p->curves.n)
		return;
	buf_adds(p->out, "<h2 id=\"curves\">Learning curves</h2>\n<div class=\"charts\">\n");
	chart(p, "supervised: loss by step", "sft", loss, 1, NAN);
	chart(p, "reinforcement: reward and share correct by step", "rl", rl, 2, 1.0);
	chart(p, "reinforcement: share that passes each stage", "rl", stages, 4, 1.0);
	chart(p, "reinforcement: share of level-2 tasks", "rl", share, 1, NAN);
	chart(p, "supervised: norm of the gradient", "sft", grad, 1, NAN);
	chart(p, "reinforcement: norm of the gradient", "rl", grad, 1, NAN);
	buf_adds(p->out, "</div>\n");
}

/* --- funnel ---------------------------------------------------------------------------------------------- */

static int by_stage_and_count(const void *a, const void *b)
{
	const struct death *x = a, *y = b;

	return x->stage != y->stage ? x->stage - y->stage : (x->n < y->n) - (x->n > y->n);
}

static void funnel_chart(struct page *p, struct page_batch *b)
{
	struct bar bars[STAGES + 1];
	char notes[STAGES + 1][64];
	size_t n = 0;

	for (int s = 0; s < STAGES; s++) {
		snprintf(notes[n], sizeof notes[n], "%lld in, %lld out (%.1f %%)", (long long)b->entered[s], (long long)b->died[s],
			 100.0 * (double)b->died[s] / (double)MAX(b->entered[s], (int64_t)1));
		bars[n] = (struct bar){ .name = judge_stage_name(s), .value = (double)b->entered[s], .part = (double)b->died[s], .note = notes[n] };
		n++;
	}
	snprintf(notes[n], sizeof notes[n], "%lld (%.1f %%)", (long long)b->correct, 100.0 * (double)b->correct / (double)MAX(b->samples, (int64_t)1));
	bars[n] = (struct bar){ .name = "correct", .value = (double)b->correct, .note = notes[n] };
	html_bars(p->out, title_of(b->name), bars, n + 1);
}

static void reason_rows(struct page *p, struct page_batch *b)
{
	int open = -1;

	if (b->deaths.n)
		qsort(b->deaths.v, b->deaths.n, sizeof *b->deaths.v, by_stage_and_count);
	for (size_t i = 0; i < b->deaths.n; i++) {
		const struct death *d = &b->deaths.v[i];

		if (d->stage != open)
			buf_addf(p->out, "%s<tr><td>%s<td class=\"l\">%s<td>%lld<td class=\"l wrap\">", open < 0 ? "" : "</tr>\n", title_of(b->name),
				 judge_stage_name(d->stage), (long long)b->died[d->stage]);
		open = d->stage;
		buf_adds(p->out, "<span class=\"chip\">");
		html_text(p->out, str_of(d->reason));
		buf_addf(p->out, " %lld</span>", (long long)d->n);
	}
	if (open >= 0)
		buf_adds(p->out, "</tr>\n");
}

void page_funnel(struct page *p)
{
	buf_adds(p->out, "<h2 id=\"funnel\">The funnel</h2>\n");
	if (!p->batches.n) {
		buf_adds(p->out, "<p class=\"muted\">No candidate was judged in this run.</p>\n");
		return;
	}
	buf_adds(p->out, "<p class=\"muted\">Candidates that enter each stage; red is the share that ends there.</p>\n<div class=\"charts\">\n");
	for (size_t i = 0; i < p->batches.n; i++)
		funnel_chart(p, &p->batches.v[i]);
	buf_adds(p->out, "</div>\n<h3>Why they end</h3>\n<div class=\"wide\"><table><tr><th>candidates<th class=\"l\">stage<th>ended<th class=\"l\">reasons</tr>\n");
	for (size_t i = 0; i < p->batches.n; i++)
		reason_rows(p, &p->batches.v[i]);
	buf_adds(p->out, "</table></div>\n<h3>Rewards</h3>\n<div class=\"charts\">\n");
	for (size_t i = 0; i < p->batches.n; i++)
		html_histogram(p->out, title_of(p->batches.v[i].name), p->batches.v[i].rewards, HISTOGRAM, 0.0, 1.0);
	buf_adds(p->out, "</div>\n");
}

/* --- tasks ------------------------------------------------------------------------------------------------ */

static void task_row(struct page *p, struct str id, const struct task_count *t)
{
	buf_adds(p->out, "<tr><td>");
	html_text(p->out, id);
	buf_addf(p->out, "<td>%.0d<td class=\"l wrap\">", t->level);
	for (struct str rest = str_of(t->ops); rest.n;) {
		html_text(p->out, str_cut(&rest, ','));
		buf_adds(p->out, rest.n ? ", " : "");
	}
	buf_addf(p->out, "<td>%lld<td>%lld<td>%.0f %%<td>%.3f<td>", (long long)t->n, (long long)t->correct, 100.0 * (double)t->correct / (double)MAX(t->n, (int64_t)1),
		 t->reward / (double)MAX(t->n, (int64_t)1));
	if (t->speedup > 0)
		buf_addf(p->out, "%.2f", t->speedup);
	buf_adds(p->out, "</tr>\n");
}

void page_tasks(struct page *p)
{
	buf_addf(p->out, "<h2 id=\"tasks\">Tasks</h2>\n<details%s><summary>%zu tasks</summary><div class=\"wide\"><table><tr><th>task<th>level<th class=\"l\">"
		 "operators<th>candidates<th>correct<th>share<th>mean reward<th>best speedup</tr>\n", p->tasks.n <= 40 ? " open" : "", p->tasks.n);
	for (size_t i = 0; i < p->by_task.n; i++)
		if (p->by_task.e[i].val.i64)
			task_row(p, p->by_task.e[i].key, &p->tasks.v[p->by_task.e[i].val.i64 - 1]);
	buf_adds(p->out, "</table></div></details>\n");
}
