/* The candidates of the report: see page.h. Each with its verdict, the stages it passed, the input
 * sets it was run on, what was expected and what it gave, and its source. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "web/html.h"
#include "web/page.h"

static void stages(struct page *p, const struct json *v)
{
	const struct json *list = json_get(v, "stages");

	if (!json_count(list))
		return;
	buf_adds(p->out, "<p>");
	for (size_t i = 0; i < json_count(list); i++) {
		int passed = json_bool(json_get(json_at(list, i), "passed"), 0);

		buf_addf(p->out, "<span class=\"chip %s\">%s %.*s</span>", passed ? "good" : "bad", passed ? "&#10003;" : "&#10007;",
			 STR_ARG(json_str(json_get(json_at(list, i), "name"), "")));
	}
	buf_adds(p->out, "</p>\n");
}

static void message(struct page *p, const struct json *v)
{
	struct str text = json_str(json_get(v, "message"), ""), hint = json_str(json_get(v, "hint"), "");
	int64_t line = json_int(json_get(v, "line"), 0);

	if (!text.n)
		return;
	buf_adds(p->out, "<p class=\"bad\">");
	if (line)
		buf_addf(p->out, "line %lld: ", (long long)line);
	html_text(p->out, text);
	buf_adds(p->out, "</p>\n");
	if (hint.n) {
		buf_adds(p->out, "<p class=\"muted\">");
		html_text(p->out, hint);
		buf_adds(p->out, "</p>\n");
	}
}

static void number(struct page *p, const struct json *v)
{
	double x = json_real(v, NAN);

	if (isfinite(x))
		buf_addf(p->out, "<td>%.9g", x);
	else
		buf_adds(p->out, "<td class=\"bad\">not finite");
}

static void elements(struct page *p, const struct json *v)
{
	const struct json *list = json_get(v, "elements");

	if (!json_count(list))
		return;
	buf_adds(p->out, "<div class=\"wide\"><table><tr><th>element<th>expected<th>got<th>difference<th>allowed</tr>\n");
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *x = json_at(list, i);
		double got = json_real(json_get(x, "got"), NAN), expected = json_real(json_get(x, "expected"), NAN);

		buf_adds(p->out, "<tr><td>");
		html_text(p->out, json_str(json_get(x, "at"), ""));
		number(p, json_get(x, "expected"));
		number(p, json_get(x, "got"));
		buf_addf(p->out, "<td class=\"bad\">%+.3g<td class=\"muted\">%.3g</tr>\n", got - expected, json_real(json_get(x, "allowed"), 0));
	}
	buf_adds(p->out, "</table></div>\n");
}

static void inputs(struct page *p, const struct json *v)
{
	const struct json *list = json_get(v, "inputs");

	if (!json_count(list))
		return;
	buf_addf(p->out, "<details><summary>%zu input sets</summary><div class=\"wide\"><table><tr><th>input set<th class=\"l\">shape<th class=\"l\">"
		 "<th>largest error<th>allowed</tr>\n", json_count(list));
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *x = json_at(list, i);
		int passed = json_bool(json_get(x, "passed"), 0);

		buf_addf(p->out, "<tr><td>%.*s<td class=\"l\">%.*s<td class=\"l %s\">%s<td>%.3g<td class=\"muted\">%.3g</tr>\n",
			 STR_ARG(json_str(json_get(x, "kind"), "")), STR_ARG(json_str(json_get(x, "shape"), "")), passed ? "good" : "bad",
			 passed ? "passed" : "failed", json_real(json_get(x, "max_error"), NAN), json_real(json_get(x, "tolerance"), NAN));
	}
	buf_adds(p->out, "</table></div></details>\n");
}

static void verdict(struct page *p, struct str text, int *line)
{
	struct json *j = json_parse(text, NULL);

	*line = 0;
	if (!j)
		return;
	*line = (int)json_int(json_get(j, "line"), 0);
	stages(p, j);
	message(p, j);
	elements(p, j);
	inputs(p, j);
	json_free(j);
}

/* Words that the filter looks at, in lower case. */
static void words(struct page *p, const struct store_sample *t)
{
	const struct map_entry *e = map_get(&p->by_task, t->task);
	struct buf b = BUF_INIT;

	buf_addf(&b, "%s step%lld %.*s %s %s %s", t->stage, (long long)t->step, STR_ARG(t->task), t->correct ? "correct" : "failed",
		 t->correct ? "" : t->reason, e && e->val.i64 ? p->tasks.v[e->val.i64 - 1].ops : "");
	for (size_t i = 0; i < b.n; i++)
		b.p[i] = b.p[i] >= 'A' && b.p[i] <= 'Z' ? (char)(b.p[i] + 32) : b.p[i];
	html_text(p->out, buf_str(&b));
	buf_release(&b);
}

static int candidate(void *ctx, const struct store_sample *t)
{
	struct page *p = ctx;
	const struct map_entry *e = map_get(&p->by_task, t->task);
	int line;

	if (p->o->candidates && p->shown >= p->o->candidates)
		return 0;
	p->shown++;
	buf_adds(p->out, "<details data-s=\"");
	html_text(p->out, str_of(t->stage));
	buf_adds(p->out, "\" data-t=\"");
	words(p, t);
	buf_addf(p->out, "\"><summary><span class=\"%s\">%s</span> <span class=\"muted\">%s%s", t->correct ? "good" : "bad", t->correct ? "correct" : t->reason,
		 t->stage, t->step ? " step " : "");
	if (t->step)
		buf_addf(p->out, "%lld", (long long)t->step);
	buf_adds(p->out, "</span> ");
	html_text(p->out, t->task);
	buf_addf(p->out, " #%lld", (long long)t->number);
	if (e && e->val.i64 && p->tasks.v[e->val.i64 - 1].ops[0]) {
		buf_adds(p->out, " <span class=\"muted\">(");
		html_text(p->out, str_of(p->tasks.v[e->val.i64 - 1].ops));
		buf_adds(p->out, ")</span>");
	}
	buf_addf(p->out, " reward %.3f", t->reward);
	if (t->correct && t->speedup > 0)
		buf_addf(p->out, ", speedup %.2f (model)", t->speedup);
	buf_adds(p->out, "</summary>\n");
	verdict(p, t->verdict, &line);
	html_python(p->out, t->code.n ? t->code : t->answer, t->code.n ? line : 0);
	buf_adds(p->out, "</details>\n");
	return 0;
}

int page_candidates(struct page *p, struct store *s)
{
	int rc;

	buf_adds(p->out, "<h2 id=\"candidates\">Candidates</h2>\n<div class=\"filter\"><input id=\"find\" placeholder=\"words: a task, an operator, a reason, "
			 "correct, step3\"><select id=\"stage\"><option value=\"\">every stage</option>");
	for (size_t i = 0; i < p->batches.n; i++)
		buf_addf(p->out, "<option>%s</option>", p->batches.v[i].name);
	buf_adds(p->out, "</select><span id=\"found\" class=\"muted\"></span></div>\n");
	rc = store_each_sample(s, NULL, candidate, p, p->e) ? -1 : 0;
	if (p->o->candidates && p->shown >= p->o->candidates)
		buf_addf(p->out, "<p class=\"muted\">The first %zu candidates are shown.</p>\n", p->shown);
	buf_adds(p->out, html_script);
	return rc;
}
