/* Tuning: see tune.h.
 *
 * A setting is one of three things in the text of a solution:
 *   - a number in a launch: k[(triton.cdiv(n, 64),)](x, BLOCK=64) has the setting 64, which stands twice;
 *   - a variable that a launch passes on: BLOCK = 1024, then BLOCK=BLOCK;
 *   - the number of warps of a launch, which may not be written: then it is 4. */
#include "write/tune.h"

#include <stdio.h>

#include "base/mem.h"
#include "data/edit.h"

enum { TEXT_MOST = 1 << 28, LEAST = 8, MOST = 8192, WARPS_MOST = 16, VERSIONS = 40, ROUNDS = 4 };
static const double GAIN = 1.01;              /* a smaller speed-up does not start another round */

/* The walk over a solution: it makes the versions. */
struct tuning {
	struct write_search *s;
	struct py_module m;
	enum author origin;           /* of the solution that is tuned */
	int made, failed;
	struct err *e;
};

/* One version under construction: every occurrence of `from` below a node becomes `to`. */
struct replacing {
	struct edits x;
	int64_t from;
	char to[40];
	int n;
};

static int is_number(const struct py_node *n, int64_t *v)
{
	if (!n || n->kind != PY_Constant || n->u.Constant.value.kind != PY_C_INT)
		return 0;
	*v = n->u.Constant.value.i;
	return 1;
}

static int is_block(const struct py_node *n, int64_t *v)
{
	return is_number(n, v) && *v >= LEAST && *v <= MOST && !(*v & (*v - 1));
}

/* Gives the changed text to the judge. */
static void finish_version(struct tuning *t, struct replacing *r, const char *note)
{
	struct buf text = BUF_INIT;

	if (!r->x.failed && r->n && t->made < VERSIONS && !t->failed && !search_is_over(t->s)) {
		edits_apply(&r->x, &text);
		t->failed = search_add(t->s, AUTHOR_TUNED, buf_str(&text), note, t->e) != 0;
		if (!t->failed)
			t->s->all.v[t->s->all.n - 1]->origin = t->origin;
		t->made++;
	}
	buf_release(&text);
	edits_release(&r->x);
}

static void change_node(struct replacing *r, const struct py_node *n)
{
	edit_change(&r->x, edit_offset(&r->x, n->line, n->col), edit_offset(&r->x, n->end_line, n->end_col), r->to,
		    strlen(r->to));
	r->n++;
}

/* Changes a number where a launch takes it as a block size: as a keyword, and as the divisor of a cdiv. */
static void replace_in(void *ctx, struct py_node *n)
{
	struct replacing *r = ctx;
	int64_t v;

	if (n->kind == PY_keyword && is_number(n->u.keyword.value, &v) && v == r->from &&
	    !str_is(n->u.keyword.arg, "num_warps") && !str_is(n->u.keyword.arg, "num_stages"))
		change_node(r, n->u.keyword.value);
	if (n->kind == PY_Call && n->u.Call.args.n == 2 && is_number(n->u.Call.args.v[1], &v) && v == r->from)
		change_node(r, n->u.Call.args.v[1]);
	py_children(n, replace_in, r);
}

/* A launch with another value for one of its block sizes. */
static void try_block(struct tuning *t, struct py_node *launch, int64_t from, int64_t to)
{
	struct replacing r = { .from = from };
	char note[64];

	if (to < LEAST || to > MOST)
		return;
	edits_init(&r.x, &t->m);
	snprintf(r.to, sizeof r.to, "%lld", (long long)to);
	snprintf(note, sizeof note, "%lld for %lld in line %d", (long long)to, (long long)from, launch->line);
	replace_in(&r, launch);
	finish_version(t, &r, note);
}

/* A launch with another number of warps. */
static void try_warps(struct tuning *t, const struct py_node *launch, int64_t to)
{
	const struct py_list *kw = &launch->u.Call.keywords;
	struct replacing r = { .n = 0 };
	char note[64];

	edits_init(&r.x, &t->m);
	for (size_t i = 0; i < kw->n; i++)
		if (str_is(kw->v[i]->u.keyword.arg, "num_warps")) {
			snprintf(r.to, sizeof r.to, "%lld", (long long)to);
			change_node(&r, kw->v[i]->u.keyword.value);
		}
	if (!r.n) {
		size_t end = edit_offset(&r.x, launch->end_line, launch->end_col) - 1;

		snprintf(r.to, sizeof r.to, ", num_warps=%lld", (long long)to);
		edit_change(&r.x, end, end, r.to, strlen(r.to));
		r.n = 1;
	}
	snprintf(note, sizeof note, "%lld warps in line %d", (long long)to, launch->line);
	finish_version(t, &r, note);
}

/* The settings of a launch. Each value is changed once, even if it occurs twice. */
static void tune_launch(struct tuning *t, struct py_node *launch)
{
	const struct py_list *kw = &launch->u.Call.keywords;
	int64_t warps = 4, seen[8], v;
	int n = 0;

	for (size_t i = 0; i < kw->n; i++) {
		struct str name = kw->v[i]->u.keyword.arg;
		int known = 0;

		if (str_is(name, "num_warps") && is_number(kw->v[i]->u.keyword.value, &v))
			warps = v;
		if (str_is(name, "num_warps") || str_is(name, "num_stages") || !is_block(kw->v[i]->u.keyword.value, &v))
			continue;
		for (int k = 0; k < n; k++)
			known |= seen[k] == v;
		if (known || n == (int)COUNT_OF(seen))
			continue;
		seen[n++] = v;
		try_block(t, launch, v, v / 2);
		try_block(t, launch, v, v * 2);
	}
	if (warps < WARPS_MOST)
		try_warps(t, launch, warps * 2);
	if (warps > 1)
		try_warps(t, launch, warps / 2);
}

/* A variable with a block size: BLOCK = 1024. */
static void tune_variable(struct tuning *t, const struct py_node *n)
{
	int64_t v;

	if (n->u.Assign.targets.n != 1 || n->u.Assign.targets.v[0]->kind != PY_Name || !is_block(n->u.Assign.value, &v))
		return;
	for (int up = 0; up < 2; up++) {
		struct replacing r = { .from = v };
		char note[96];

		if ((up ? v * 2 : v / 2) < LEAST || (up ? v * 2 : v / 2) > MOST)
			continue;
		edits_init(&r.x, &t->m);
		snprintf(r.to, sizeof r.to, "%lld", (long long)(up ? v * 2 : v / 2));
		change_node(&r, n->u.Assign.value);
		snprintf(note, sizeof note, "%.*s = %s", (int)MIN(n->u.Assign.targets.v[0]->u.Name.id.n, 40),
			 n->u.Assign.targets.v[0]->u.Name.id.p, r.to);
		finish_version(t, &r, note);
	}
}

/* Looks at every call k[grid](...) and every assignment. */
static void tune_node(void *ctx, struct py_node *n)
{
	struct tuning *t = ctx;

	if (n->kind == PY_Call && n->u.Call.func->kind == PY_Subscript)
		tune_launch(t, n);
	else if (n->kind == PY_Assign)
		tune_variable(t, n);
	py_children(n, tune_node, t);
}

/* One round: all versions of the best solution that differ in one setting. */
static int one_round(struct write_search *s, struct err *e)
{
	struct tuning t = { .s = s, .origin = s->best->origin, .e = e };

	if (py_parse(&t.m, buf_str(&s->best->text), "solution", TEXT_MOST, e))
		return -1;
	tune_node(&t, t.m.root);
	py_release(&t.m);
	return t.failed ? -1 : search_take(s, 1, e);
}

int tune_best(struct write_search *s, struct err *e)
{
	for (int i = 0; i < ROUNDS && s->best && !search_is_over(s); i++) {
		double before = s->best->verdict.speedup;

		if (one_round(s, e))
			return -1;
		if (!(s->best->verdict.speedup > before * GAIN))
			break;
	}
	return 0;
}
