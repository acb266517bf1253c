/* A second look at wrong values: see second_look.h.
 *
 * Changes are edits of the task's text, one for each changed reference, found in its syntax tree. */
#include "data/second_look.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/edit.h"
#include "data/module.h"
#include "verify/pool/batch.h"

enum { TREE_MOST = 64 << 20 };

/* A search for changes in progress. */
struct search {
	const struct py_module *m;
	struct second_task *out;
	int n;
	struct err *e;
	int failed;
};

/* Is the word among those of a list that NULL ends? */
static int is_one_of(struct str word, const char *const *list)
{
	for (; *list; list++)
		if (str_is(word, *list))
			return 1;
	return 0;
}

/* Functions that reduce or normalise along an axis; those with a variance; those whose result changes if
 * zeros are appended; modules with an eps. */
static const char *const along[] = { "softmax", "log_softmax", "softmin", "sum", "mean", "max", "min", "amax", "amin",
				     "argmax", "argmin", "cumsum", "cumprod", "logsumexp", "norm", "var", "std", "prod",
				     "sort", "flip", "normalize", "cosine_similarity", NULL };
static const char *const spread[] = { "var", "std", "var_mean", "std_mean", NULL };
static const char *const padded[] = { "softmax", "log_softmax", "logsumexp", "amax", "amin", NULL };
static const char *const with_eps[] = { "LayerNorm", "GroupNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d",
					"InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "RMSNorm", NULL };

/* The text that lanes beyond the end, filled with 0, give: zeros up to a power of two. */
static const char zeros_text[] =
	"\n\ndef _second_look(f, x, dim):\n"
	"    n = x.shape[dim]\n"
	"    m = 1\n"
	"    while m < n:\n"
	"        m *= 2\n"
	"    zero = torch.zeros_like(x.narrow(dim, 0, 1))\n"
	"    y = torch.cat([x, zero.repeat_interleave(m - n, dim)], dim) if m > n else x\n"
	"    r = f(y, dim=dim)\n"
	"    return r.narrow(dim, 0, n) if r.dim() == x.dim() else r\n";

/* Adds a changed reference: the bytes [begin, end) become `text`, and `extra` is appended. */
static void add_change(struct search *s, size_t begin, size_t end, const char *text, const char *extra,
		       const char *what, int line)
{
	struct buf out = BUF_INIT;
	struct str all = s->m->source;

	if (s->n == SECOND_LOOKS || s->failed)
		return;
	buf_add(&out, all.p, begin);
	buf_adds(&out, text);
	buf_add(&out, all.p + end, all.n - end);
	buf_adds(&out, extra);
	if (buf_check(&out, s->e)) {
		s->failed = 1;
		return;
	}
	snprintf(s->out[s->n].what, sizeof s->out[s->n].what, "%s (line %d of the task)", what, line);
	s->out[s->n++].task = buf_take(&out);
}

/* The offsets of a node's text. */
static void place(const struct search *s, const struct py_node *n, size_t *begin, size_t *end)
{
	struct edits x;

	edits_init(&x, s->m);
	*begin = edit_offset(&x, n->line, n->col);
	*end = edit_offset(&x, n->end_line, n->end_col);
	edits_release(&x);
}

/* The integer that a node is, also a negative one. */
static int int_of(const struct py_node *n, int64_t *v)
{
	int sign = 1;

	if (n->kind == PY_UnaryOp && n->u.UnaryOp.op == PY_OP_USub) {
		sign = -1;
		n = n->u.UnaryOp.operand;
	}
	if (n->kind != PY_Constant || n->u.Constant.value.kind != PY_C_INT)
		return 0;
	*v = sign * n->u.Constant.value.i;
	return 1;
}

/* The keyword argument of this name, or NULL. */
static const struct py_node *keyword(const struct py_Call *c, const char *name)
{
	for (size_t i = 0; i < c->keywords.n; i++)
		if (str_is(c->keywords.v[i]->u.keyword.arg, name))
			return c->keywords.v[i]->u.keyword.value;
	return NULL;
}

/* Is it a method of a tensor (x.sum) and not a function of a module (torch.sum)? */
static int is_method(const struct py_node *func)
{
	return func->kind == PY_Attribute && !(func->u.Attribute.value->kind == PY_Name &&
					       (str_is(func->u.Attribute.value->u.Name.id, "torch") ||
						str_is(func->u.Attribute.value->u.Name.id, "F"))) &&
	       func->u.Attribute.value->kind != PY_Attribute;
}

/* The node with the axis of a call, or NULL. */
static const struct py_node *axis_of(const struct py_Call *c)
{
	const struct py_node *n = keyword(c, "dim");
	size_t at = is_method(c->func) ? 0 : 1;

	n = n ? n : keyword(c, "axis");
	return n ? n : at < c->args.n ? c->args.v[at] : NULL;
}

/* Another axis. */
static void change_axis(struct search *s, const struct py_node *n)
{
	static const int64_t others[] = { 0, 1, -1, 2 };
	const struct py_node *axis = axis_of(&n->u.Call);
	int64_t now;
	size_t begin, end;

	if (!axis || !int_of(axis, &now))
		return;
	place(s, axis, &begin, &end);
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		char text[16], what[80];

		if (others[i] == now)
			continue;
		snprintf(text, sizeof text, "%lld", (long long)others[i]);
		snprintf(what, sizeof what, "works along dimension %lld, not %lld", (long long)others[i],
			 (long long)now);
		add_change(s, begin, end, text, "", what, n->line);
	}
}

/* Adds an argument before the closing bracket of a call. */
static void add_argument(struct search *s, const struct py_node *n, const char *text, const char *what)
{
	size_t begin, end;
	char insert[64];

	place(s, n, &begin, &end);
	if (end <= begin || s->m->source.p[end - 1] != ')')
		return;
	snprintf(insert, sizeof insert, "%s%s", n->u.Call.args.n + n->u.Call.keywords.n ? ", " : "", text);
	add_change(s, end - 1, end - 1, insert, "", what, n->line);
}

/* Replaces the value of a keyword argument. */
static void change_keyword(struct search *s, const struct py_node *value, const char *text, const char *what)
{
	size_t begin, end;

	place(s, value, &begin, &end);
	add_change(s, begin, end, text, "", what, value->line);
}

/* The divisor of a variance: N, or N - 1. */
static void change_divisor(struct search *s, const struct py_node *n)
{
	const struct py_node *unbiased = keyword(&n->u.Call, "unbiased");
	const struct py_node *correction = keyword(&n->u.Call, "correction");
	static const char few[] = "divides by N where the variance is divided by N - 1",
		many[] = "divides by N - 1 where the variance is divided by N";
	int64_t v;

	if (unbiased && unbiased->kind == PY_Constant)
		change_keyword(s, unbiased, unbiased->u.Constant.value.kind == PY_C_FALSE ? "True" : "False",
			       unbiased->u.Constant.value.kind == PY_C_FALSE ? many : few);
	else if (correction && int_of(correction, &v))
		change_keyword(s, correction, v ? "0" : "1", v ? few : many);
	else if (!unbiased && !correction)
		add_argument(s, n, "unbiased=False", few);
}

/* No eps: as a keyword of any call, or as the default of a norm. */
static void change_eps(struct search *s, const struct py_node *n, struct str name)
{
	const struct py_node *eps = keyword(&n->u.Call, "eps");

	if (eps)
		change_keyword(s, eps, "0.0", "leaves out eps");
	else if (is_one_of(name, with_eps))
		add_argument(s, n, "eps=0.0", "leaves out eps");
}

/* Lanes beyond the end that are filled with 0 take part. Only for calls whose operand and axis are plain. */
static void change_fill(struct search *s, const struct py_node *n, struct str name)
{
	const struct py_Call *c = &n->u.Call;
	const struct py_node *axis = axis_of(c), *x = is_method(c->func) ? c->func->u.Attribute.value :
		c->args.n ? c->args.v[0] : NULL;
	struct edits from;
	struct buf text = BUF_INIT;
	size_t begin, end;
	int64_t dim;

	if (!x || !axis || !int_of(axis, &dim) || keyword(c, "keepdim"))
		return;
	edits_init(&from, s->m);
	buf_addf(&text, "_second_look(torch.%.*s, %.*s, %lld)", STR_ARG(name), STR_ARG(edit_text(&from, x)),
		 (long long)dim);
	edits_release(&from);
	place(s, n, &begin, &end);
	if (!text.failed)
		add_change(s, begin, end, buf_cstr(&text), zeros_text,
			   "counts lanes beyond the end, which its mask fills with 0; fill them with other=-inf, or "
			   "mask the result", n->line);
	buf_release(&text);
}

/* A small constant that is added: an eps in the open. */
static void change_added(struct search *s, const struct py_node *n)
{
	const struct py_node *c = n->u.BinOp.right;
	double v = c->kind == PY_Constant && c->u.Constant.value.kind == PY_C_FLOAT ? c->u.Constant.value.f : 0;

	if (n->u.BinOp.op == PY_OP_Add && v > 0 && v < 1e-3)
		change_keyword(s, c, "0.0", "leaves out eps");
}

/* Looks at every node. */
static void visit(void *ctx, struct py_node *n)
{
	struct search *s = ctx;

	if (n->kind == PY_Call) {
		struct str name = module_last_name(n->u.Call.func);

		if (is_one_of(name, along))
			change_axis(s, n);
		if (is_one_of(name, spread))
			change_divisor(s, n);
		if (is_one_of(name, padded))
			change_fill(s, n, name);
		change_eps(s, n, name);
	} else if (n->kind == PY_BinOp) {
		change_added(s, n);
	}
	py_children(n, visit, s);
}

int second_tasks(struct str task, struct second_task *out, struct err *e)
{
	struct py_module m;
	struct search s = { .m = &m, .out = out, .e = e };

	if (py_parse(&m, task, "task", TREE_MOST, NULL))
		return 0;
	visit(&s, m.root);
	py_release(&m);
	if (s.failed) {
		second_tasks_release(out, s.n);
		return -1;
	}
	return s.n;
}

void second_tasks_release(struct second_task *v, int n)
{
	for (int i = 0; i < n; i++)
		mem_free(v[i].task);
}

/* --- judging ----------------------------------------------------------------------------------------- */

/* The candidate against each changed reference. */
struct looking {
	const struct second_task *v;
	int n, asked, fits;          /* fits: the first that the candidate solves; n: none */
	struct str candidate;
};

static int next_look(void *ctx, uint64_t *id, struct str *task, struct str *candidate)
{
	struct looking *x = ctx;

	if (x->asked >= x->n)
		return 0;
	*id = (uint64_t)x->asked;
	*task = str_of(x->v[x->asked++].task);
	*candidate = x->candidate;
	return 1;
}

static int note_look(void *ctx, const struct judged *j, struct err *e)
{
	struct looking *x = ctx;

	(void)e;
	if (!j->rc && j->verdict.correct)
		x->fits = MIN(x->fits, (int)j->id);
	return 0;
}

int second_look(struct judge_pool *pool, struct str task, struct str candidate, struct buf *out, struct err *e)
{
	struct second_task v[SECOND_LOOKS];
	int n = second_tasks(task, v, e), rc = 0;
	struct looking x = { .v = v, .n = n, .fits = n, .candidate = candidate };
	const struct batch_source all = { .next = next_look, .told = note_look, .ctx = &x };

	if (n <= 0)
		return n;
	rc = judge_pool_run(pool, &all, e);
	if (!rc && x.fits < n)
		buf_addf(out, "  second look: the candidate %s\n", v[x.fits].what);
	second_tasks_release(v, n);
	return rc;
}
