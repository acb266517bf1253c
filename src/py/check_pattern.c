/* Checks of match patterns that CPython's compiler makes: names bound twice or in one
 * alternative only, patterns that make later cases unreachable, repeated keys. */
#include "py/tree_check.h"

#include <stdio.h>

/* Names that a pattern binds, the last one first. In the parser's arena. */
struct names { struct names *next; struct str id; };

struct pattern {
	struct parser *p;
	struct names *bound;
	int may_match_all;               /* nothing after it would become unreachable */
};

static struct pos pos_of(const struct py_node *n)
{
	return (struct pos){ .line = n->line, .col = n->col };
}

#define FAIL(x, n, ...) py_fail((x)->p, pos_of(n), __VA_ARGS__)

/* Identifiers are interned, so pointers are compared. */
static int is_bound(const struct names *l, struct str id)
{
	for (; l; l = l->next)
		if (l->id.p == id.p)
			return 1;
	return 0;
}

static size_t count(const struct names *l)
{
	size_t n = 0;

	for (; l; l = l->next)
		n++;
	return n;
}

/* Notes a bound name and refuses a second binding: `case [x, x]`. */
static void bind_name(struct pattern *x, struct str id, const struct py_node *at)
{
	struct names *one;

	if (!id.p)
		return;
	py_check_bindable(x->p, id, at);
	if (is_bound(x->bound, id))
		FAIL(x, at, "multiple assignments to name '%.*s' in pattern", STR_ARG(id));
	one = arena_zalloc(x->p->arena, sizeof *one);
	*one = (struct names){ .next = x->bound, .id = id };
	x->bound = one;
}

static void check(struct pattern *x, const struct py_node *n);

/* A part of a larger pattern may match everything, because the larger one does not. */
static void check_parts(struct pattern *x, const struct py_list *l)
{
	int was = x->may_match_all;

	for (size_t i = 0; i < l->n; i++) {
		x->may_match_all = 1;
		check(x, l->v[i]);
	}
	x->may_match_all = was;
}

/* `case x` or `case _` before the last case hides all later ones. */
static void check_as(struct pattern *x, const struct py_node *n)
{
	struct str id = n->u.MatchAs.name;

	if (n->u.MatchAs.pattern)
		check(x, n->u.MatchAs.pattern);
	else if (!x->may_match_all && id.p)
		FAIL(x, n, "name capture '%.*s' makes remaining patterns unreachable", STR_ARG(id));
	else if (!x->may_match_all)
		FAIL(x, n, "wildcard makes remaining patterns unreachable");
	bind_name(x, id, n);
}

/* All alternatives must bind the same names. Only the last may match everything. */
static void check_or(struct pattern *x, const struct py_node *n)
{
	const struct py_list *l = &n->u.MatchOr.patterns;
	struct names *first = NULL;

	for (size_t i = 0; i < l->n; i++) {
		struct pattern one = { .p = x->p, .may_match_all = x->may_match_all && i + 1 == l->n };

		check(&one, l->v[i]);
		if (!i)
			first = one.bound;
		for (const struct names *b = one.bound; b; b = b->next)
			if (!is_bound(first, b->id))
				FAIL(x, l->v[i], "alternative patterns bind different names");
		if (count(first) != count(one.bound))
			FAIL(x, l->v[i], "alternative patterns bind different names");
	}
	for (; first; first = first->next)
		bind_name(x, first->id, n);
}

/* At most one starred name. */
static void check_sequence(struct pattern *x, const struct py_node *n)
{
	const struct py_list *l = &n->u.MatchSequence.patterns;
	int stars = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i]->kind == PY_MatchStar && stars++)
			FAIL(x, n, "multiple starred names in sequence pattern");
	check_parts(x, l);
}

/* A key as a number: True, 1 and 1.0 are one key. Returns 0 if it is not a number. */
static int key_number(const struct py_node *n, double *v)
{
	const struct py_const *k = &n->u.Constant.value;

	if (n->kind == PY_UnaryOp && n->u.UnaryOp.op == PY_OP_USub && key_number(n->u.UnaryOp.operand, v)) {
		*v = -*v;
		return 1;
	}
	if (n->kind != PY_Constant || k->kind == PY_C_IMAG || k->kind > PY_C_FLOAT || k->kind == PY_C_NONE ||
	    k->kind == PY_C_ELLIPSIS || k->kind == PY_C_BIGINT)
		return 0;
	*v = k->kind == PY_C_FLOAT ? k->f : k->kind == PY_C_INT ? (double)k->i : k->kind == PY_C_TRUE;
	return 1;
}

/* Are both keys equal constants? */
static int same_key(const struct py_node *a, const struct py_node *b)
{
	double x, y;

	if (key_number(a, &x))
		return key_number(b, &y) && x == y;
	return a->kind == PY_Constant && py_equal(a, b);
}

/* No key twice; `**rest` binds a name. */
static void check_mapping(struct pattern *x, const struct py_node *n)
{
	const struct py_list *keys = &n->u.MatchMapping.keys;
	struct buf text = BUF_INIT;

	for (size_t i = 1; i < keys->n; i++)
		for (size_t k = 0; k < i; k++)
			if (same_key(keys->v[i], keys->v[k])) {
				char shown[200];

				py_print(keys->v[i], &text);
				snprintf(shown, sizeof shown, "%s", buf_cstr(&text));
				buf_release(&text);
				FAIL(x, n, "mapping pattern checks duplicate key (%s)", shown);
			}
	check_parts(x, &n->u.MatchMapping.patterns);
	bind_name(x, n->u.MatchMapping.rest, n);
}

/* No attribute twice: `case P(x=1, x=2)`. */
static void check_class(struct pattern *x, const struct py_node *n)
{
	const struct py_ids *a = &n->u.MatchClass.kwd_attrs;

	for (size_t i = 0; i < a->n; i++) {
		py_check_bindable(x->p, a->v[i], n->u.MatchClass.kwd_patterns.v[i]);
		for (size_t k = i + 1; k < a->n; k++)
			if (a->v[i].p == a->v[k].p)
				FAIL(x, n->u.MatchClass.kwd_patterns.v[k],
				     "attribute name repeated in class pattern: %.*s", STR_ARG(a->v[i]));
	}
	check_parts(x, &n->u.MatchClass.patterns);
	check_parts(x, &n->u.MatchClass.kwd_patterns);
}

/* Checks one pattern and the patterns in it. */
static void check(struct pattern *x, const struct py_node *n)
{
	switch (n->kind) {
	case PY_MatchAs: check_as(x, n); break;
	case PY_MatchOr: check_or(x, n); break;
	case PY_MatchStar: bind_name(x, n->u.MatchStar.name, n); break;
	case PY_MatchSequence: check_sequence(x, n); break;
	case PY_MatchMapping: check_mapping(x, n); break;
	case PY_MatchClass: check_class(x, n); break;
	default: break;
	}
}

/* A case with a guard may match everything, since the guard can fail. */
void py_check_case(struct parser *p, const struct py_match_case *m, int last)
{
	struct pattern x = { .p = p, .may_match_all = last || m->guard };

	check(&x, m->pattern);
}
