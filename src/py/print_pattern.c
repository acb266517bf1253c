/* Printing the patterns of a match statement. */
#include "py/print.h"

#include "py/repr.h"

/* The patterns of a list with a separator. */
static void print_each(struct py_printer *p, const struct py_list *l, const char *between)
{
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_adds(p->out, between);
		py_print_pattern(p, l->v[i]);
	}
}

/* An `as` pattern, or alternatives inside alternatives, get parentheses. */
static void print_closed(struct py_printer *p, const struct py_node *n)
{
	int parens = n->kind == PY_MatchOr || (n->kind == PY_MatchAs && n->u.MatchAs.pattern);

	buf_adds(p->out, parens ? "(" : "");
	py_print_pattern(p, n);
	buf_adds(p->out, parens ? ")" : "");
}

/* Point(x, y=0). */
static void print_class(struct py_printer *p, const struct py_MatchClass *c)
{
	py_print_expr(p, c->cls, P_ATOM);
	buf_addc(p->out, '(');
	print_each(p, &c->patterns, ", ");
	for (size_t i = 0; i < c->kwd_patterns.n; i++) {
		buf_addf(p->out, "%s%.*s=", i || c->patterns.n ? ", " : "", STR_ARG(c->kwd_attrs.v[i]));
		py_print_pattern(p, c->kwd_patterns.v[i]);
	}
	buf_addc(p->out, ')');
}

/* {key: pattern, **rest}. */
static void print_mapping(struct py_printer *p, const struct py_MatchMapping *m)
{
	buf_addc(p->out, '{');
	for (size_t i = 0; i < m->keys.n; i++) {
		if (i)
			buf_adds(p->out, ", ");
		py_print_expr(p, m->keys.v[i], P_ARITH);
		buf_adds(p->out, ": ");
		py_print_pattern(p, m->patterns.v[i]);
	}
	if (m->rest.p)
		buf_addf(p->out, "%s**%.*s", m->keys.n ? ", " : "", STR_ARG(m->rest));
	buf_addc(p->out, '}');
}

/* `p as name`, `name`, or `_` without a name. */
static void print_as(struct py_printer *p, const struct py_MatchAs *a)
{
	struct str name = a->name.p ? a->name : STR("_");

	if (a->pattern) {
		if (a->pattern->kind == PY_MatchOr)
			py_print_pattern(p, a->pattern);
		else
			print_closed(p, a->pattern);
		buf_adds(p->out, " as ");
	}
	buf_addstr(p->out, name);
}

/* One pattern. */
void py_print_pattern(struct py_printer *p, const struct py_node *n)
{
	switch (n->kind) {
	case PY_MatchValue:
		py_print_expr(p, n->u.MatchValue.value, P_ARITH);
		break;
	case PY_MatchSingleton:
		py_repr_const(&n->u.MatchSingleton.value, p->out);
		break;
	case PY_MatchSequence:
		buf_addc(p->out, '[');
		print_each(p, &n->u.MatchSequence.patterns, ", ");
		buf_addc(p->out, ']');
		break;
	case PY_MatchStar:
		buf_addf(p->out, "*%.*s", STR_ARG(n->u.MatchStar.name.p ? n->u.MatchStar.name : STR("_")));
		break;
	case PY_MatchMapping:
		print_mapping(p, &n->u.MatchMapping);
		break;
	case PY_MatchClass:
		print_class(p, &n->u.MatchClass);
		break;
	case PY_MatchAs:
		print_as(p, &n->u.MatchAs);
		break;
	case PY_MatchOr:
		for (size_t i = 0; i < n->u.MatchOr.patterns.n; i++) {
			if (i)
				buf_adds(p->out, " | ");
			print_closed(p, n->u.MatchOr.patterns.v[i]);
		}
		break;
	default:
		BUG("%s is no pattern", py_kind_info(n->kind)->name);
	}
}
