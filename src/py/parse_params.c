/* Parameters of functions and lambdas.
 *
 *   params          param* ['/' param*] ['*' [NAME] param*] ['**' NAME]
 *   param           NAME [':' expression] ['=' expression]
 *
 * Annotations exist only in a def; in a lambda the colon ends the parameters. Messages are
 * CPython's. */
#include "py/parse.h"

/* The parameters under construction. */
struct params {
	struct parser *p;
	enum py_tok close;          /* ')' of a def, ':' of a lambda */
	struct py_node *n;       /* the arguments node */
	size_t base;             /* start of positional parameters on p->stack */
	size_t star_base;        /* start of keyword-only ones, each with its default */
	struct py_list defaults; /* of positional parameters; in the arena */
	size_t defaults_cap;
	int slash, star;         /* '/' and '*' were seen */
	int bare_star;           /* a '*' that still needs a named parameter */
};

/* Appends to the list of defaults, which grows in the arena. */
static void add_default(struct params *s, struct py_node *value)
{
	if (s->defaults.n == s->defaults_cap) {
		size_t cap = s->defaults_cap ? s->defaults_cap * 2 : 4;
		struct py_node **v = arena_alloc(s->p->arena, cap * sizeof *v);

		if (s->defaults.n)
			memcpy(v, s->defaults.v, s->defaults.n * sizeof *v);
		s->defaults.v = v;
		s->defaults_cap = cap;
	}
	s->defaults.v[s->defaults.n++] = value;
}

/* A name with its annotation. `starred` allows *args: *Ts. */
static struct py_node *parameter(struct params *s, int starred)
{
	struct parser *p = s->p;
	struct py_node *n = py_node(p, PY_arg, p->tok.start);

	n->u.arg.arg = py_identifier(p);
	if (s->close == T_RPAR && py_accept(p, T_COLON))
		n->u.arg.annotation = starred && py_at(p, T_STAR) ? py_starred(p, py_bitwise_or) : py_expression(p);
	return py_done(p, n);
}

/* The value after '=', or NULL. */
static struct py_node *default_value(struct params *s)
{
	struct parser *p = s->p;

	if (!py_accept(p, T_ASSIGN))
		return NULL;
	if (py_at(p, T_COMMA) || py_at(p, s->close))
		py_fail(p, p->end, "expected default value expression");
	return py_expression(p);
}

/* A name that is positional before '*' and keyword-only after it. */
static void plain_parameter(struct params *s)
{
	struct parser *p = s->p;
	struct pos at = p->tok.start;
	struct py_node *n, *value;

	if (py_at(p, T_LPAR))
		py_fail(p, at, s->close == T_RPAR ? "Function parameters cannot be parenthesized" :
			"Lambda expression parameters cannot be parenthesized");
	n = parameter(s, 0);
	value = default_value(s);

	py_push(p, n);
	if (s->star) {
		py_push(p, value);
		s->bare_star = 0;
	} else if (value) {
		add_default(s, value);
	} else if (s->defaults.n) {
		py_fail(p, at, "non-default argument follows default argument");
	}
}

/* '/': all parameters so far are positional-only. */
static void slash(struct params *s)
{
	struct parser *p = s->p;

	if (s->slash)
		py_fail(p, p->tok.start, "/ may appear only once");
	if (s->star)
		py_fail(p, p->tok.start, "/ must be ahead of *");
	if (p->stack.n == s->base)
		py_fail(p, p->tok.start, "at least one argument must precede /");
	s->slash = 1;
	s->n->u.arguments.posonlyargs = py_list_end(p, s->base);
	py_next(p);
}

/* '*args' or a bare '*'. */
static void star(struct params *s)
{
	struct parser *p = s->p;
	struct pos at = p->tok.start;

	if (s->star)
		py_fail(p, at, "* argument may appear only once");
	s->star = 1;
	s->star_base = p->stack.n;
	py_next(p);
	if (py_at(p, T_NAME)) {
		s->n->u.arguments.vararg = parameter(s, 1);
		if (py_at(p, T_ASSIGN))
			py_fail(p, p->tok.start, "var-positional argument cannot have default value");
	} else {
		s->bare_star = 1;
		if (!py_at(p, T_COMMA) || p->tok.kind == s->close)
			py_fail(p, at, "named arguments must follow bare *");
	}
}

/* Builds the lists. Positional parameters are p->stack[base, star_base); keyword-only ones
 * follow in pairs with their defaults. */
static void finish(struct params *s)
{
	struct parser *p = s->p;
	struct py_arguments *a = &s->n->u.arguments;
	size_t from = s->star ? s->star_base : p->stack.n, count = (p->stack.n - from) / 2;

	if (count) {
		a->kwonlyargs = (struct py_list){ .v = arena_alloc(p->arena, count * sizeof *a->kwonlyargs.v),
						  .n = count };
		a->kw_defaults = (struct py_list){ .v = arena_alloc(p->arena, count * sizeof *a->kw_defaults.v),
						   .n = count };
	}
	for (size_t i = 0; i < count; i++) {
		a->kwonlyargs.v[i] = p->stack.v[from + 2 * i];
		a->kw_defaults.v[i] = p->stack.v[from + 2 * i + 1];
	}
	p->stack.n = from;
	a->args = py_list_end(p, s->base);
	a->defaults = s->defaults;
}

/* All parameters up to the closing token, which is left. */
struct py_node *py_params(struct parser *p, enum py_tok close)
{
	struct params s = { .p = p, .close = close, .base = p->stack.n };

	s.n = py_node(p, PY_arguments, p->tok.start);
	while (!py_at(p, close)) {
		if (s.n->u.arguments.kwarg)
			py_fail(p, p->tok.start, "arguments cannot follow var-keyword argument");
		if (py_at(p, T_SLASH)) {
			slash(&s);
		} else if (py_at(p, T_STAR)) {
			star(&s);
		} else if (py_at(p, T_POW)) {
			if (s.bare_star)
				py_fail(p, p->tok.start, "named arguments must follow bare *");
			py_next(p);
			s.n->u.arguments.kwarg = parameter(&s, 0);
			if (py_at(p, T_ASSIGN))
				py_fail(p, p->tok.start, "var-keyword argument cannot have default value");
		} else {
			plain_parameter(&s);
		}
		if (!py_accept(p, T_COMMA))
			break;
	}
	if (s.bare_star)
		py_fail(p, p->tok.start, "named arguments must follow bare *");
	finish(&s);
	return py_done(p, s.n);
}
