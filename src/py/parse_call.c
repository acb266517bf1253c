/* Calls, their arguments, subscripts and slices.
 *
 *   arguments       (expression | '*' expression | NAME '=' expression | '**' expression) (',' ...)*
 *   genexp          f(x for x in y), only as the sole argument
 *   slices          slice (',' slice)*
 *   slice           [expression] ':' [expression] [':' [expression]] | named | '*' expression */
#include "py/parse.h"

/* The arguments of a call under construction. CPython has rules about their order. */
struct call {
	struct parser *p;
	struct pos open;         /* position of the opening parenthesis */
	size_t args;             /* index of the first argument on p->stack */
	size_t count;            /* arguments and keywords so far */
	struct { struct py_node **v; size_t n, cap; } keywords;   /* in the arena */
	int unpacked;            /* a ** was seen */
};

/* Appends to the keywords, which grow in the arena. */
static void add_keyword(struct call *c, struct py_node *k)
{
	if (c->keywords.n == c->keywords.cap) {
		size_t cap = c->keywords.cap ? c->keywords.cap * 2 : 4;
		struct py_node **v = arena_alloc(c->p->arena, cap * sizeof *v);

		if (c->keywords.n)
			memcpy(v, c->keywords.v, c->keywords.n * sizeof *v);
		c->keywords.v = v;
		c->keywords.cap = cap;
	}
	c->keywords.v[c->keywords.n++] = k;
}

static int at_for(const struct parser *p)
{
	return py_at(p, T_FOR) || py_at(p, T_ASYNC);
}

/* At '=' or '**': the value of a keyword. A NULL name means **value. */
static void keyword_value(struct call *c, struct str name, struct pos start)
{
	struct parser *p = c->p;
	struct py_node *k = py_node(p, PY_keyword, start);

	py_next(p);
	k->u.keyword.arg = name;
	k->u.keyword.value = py_expression(p);
	if (name.p && at_for(p))
		py_fail(p, start, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
	add_keyword(c, py_done(p, k));
}

/* f(x for x in y): the generator uses the parentheses of the call as its own. */
static struct py_node *generator(struct call *c, struct py_node *elt, struct pos start, int allowed)
{
	struct parser *p = c->p;
	struct py_node *n = py_node(p, PY_GeneratorExp, c->open);

	n->u.GeneratorExp.elt = elt;
	n->u.GeneratorExp.generators = py_for_if_clauses(p);
	if (c->count || !py_at(p, T_RPAR))
		py_fail(p, start, "Generator expression must be parenthesized");
	if (!allowed)
		py_fail(p, start, "invalid syntax");
	n->end_line = p->tok.end.line;
	n->end_col = p->tok.end.col;
	return n;
}

/* A positional argument, unless '=' shows that it is the name of a keyword. */
static void positional(struct call *c, int allow_genexp)
{
	struct parser *p = c->p;
	struct pos start = p->tok.start;
	int plain = py_at(p, T_NAME);
	struct py_node *n = py_assignment_expression(p);

	if (py_at(p, T_ASSIGN)) {
		if (plain && n->kind == PY_Name) {
			keyword_value(c, n->u.Name.id, start);
			return;
		}
		if (n->kind == PY_Constant && n->u.Constant.value.kind <= PY_C_FALSE)
			py_fail(p, start, "cannot assign to %s", py_expr_name(n));
		py_fail(p, start, "expression cannot contain assignment, perhaps you meant \"==\"?");
	}
	if (at_for(p))
		n = generator(c, n, start, allow_genexp);
	if (c->keywords.n)
		py_fail(p, start, c->unpacked ? "positional argument follows keyword argument unpacking" :
			"positional argument follows keyword argument");
	py_push(p, n);
}

/* One argument of any form. */
static void argument(struct call *c, int allow_genexp)
{
	struct parser *p = c->p;
	struct pos start = p->tok.start;

	if (py_at(p, T_STAR)) {
		if (c->unpacked)
			py_fail(p, start, "iterable argument unpacking follows keyword argument unpacking");
		py_push(p, py_starred(p, py_expression));
	} else if (py_at(p, T_POW)) {
		c->unpacked = 1;
		keyword_value(c, (struct str){ .p = NULL }, start);
	} else {
		positional(c, allow_genexp);
	}
	c->count++;
}

/* After the opening parenthesis, up to the closing one, which is left. */
void py_arguments(struct parser *p, struct py_list *args, struct py_list *keywords, int allow_genexp, struct pos open)
{
	struct call c = { .p = p, .open = open, .args = p->stack.n };

	while (!py_at(p, T_RPAR)) {
		argument(&c, allow_genexp);
		if (!py_accept(p, T_COMMA))
			break;
	}
	*args = py_list_end(p, c.args);
	*keywords = (struct py_list){ .v = c.keywords.v, .n = c.keywords.n };
}

/* f(...), at the parenthesis. */
struct py_node *py_call(struct parser *p, struct py_node *func, struct pos start)
{
	struct py_node *n = py_node(p, PY_Call, start);
	struct pos open = p->tok.start;

	py_next(p);
	n->u.Call.func = func;
	py_arguments(p, &n->u.Call.args, &n->u.Call.keywords, 1, open);
	py_expect(p, T_RPAR);
	return py_done(p, n);
}

/* --- subscripts --------------------------------------------------------------------------- */

/* Can a part of a slice be missing here? */
static int at_slice_end(const struct parser *p)
{
	return py_at(p, T_COLON) || py_at(p, T_COMMA) || py_at(p, T_RSQB);
}

/* After the lower bound, at the colon. */
static struct py_node *slice_rest(struct parser *p, struct py_node *lower, struct pos start)
{
	struct py_node *n = py_node(p, PY_Slice, start);

	py_next(p);
	n->u.Slice.lower = lower;
	if (!at_slice_end(p))
		n->u.Slice.upper = py_expression(p);
	if (py_accept(p, T_COLON) && !at_slice_end(p))
		n->u.Slice.step = py_expression(p);
	return py_done(p, n);
}

/* One item of a subscript: an expression, a slice or *v. */
static struct py_node *slice(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n;

	if (py_at(p, T_STAR))
		return py_starred(p, py_expression);
	if (py_at(p, T_COLON))
		return slice_rest(p, NULL, start);
	n = py_named_expression(p);
	if (!py_at(p, T_COLON))
		return n;
	if (n->kind == PY_NamedExpr && n->line == start.line && n->col == start.col)
		py_fail_token(p);
	return slice_rest(p, n, start);
}

/* v[...], at the bracket. Several items make a tuple. */
struct py_node *py_subscript(struct parser *p, struct py_node *value, struct pos start)
{
	struct py_node *n = py_node(p, PY_Subscript, start), *first, *tuple;
	struct pos inner;
	size_t base = p->stack.n;

	py_next(p);
	inner = p->tok.start;
	n->u.Subscript.value = value;
	first = slice(p);
	if (py_at(p, T_COMMA) || first->kind == PY_Starred) {
		py_push(p, first);
		while (py_accept(p, T_COMMA) && !py_at(p, T_RSQB))
			py_push(p, slice(p));
		tuple = py_node(p, PY_Tuple, inner);
		tuple->u.Tuple.elts = py_list_end(p, base);
		first = py_done(p, tuple);
	}
	n->u.Subscript.slice = first;
	py_expect(p, T_RSQB);
	return py_done(p, n);
}
