/* Primaries: atoms, brackets, attributes, calls, subscripts, comprehensions.
 *
 *   primary         atom ('.' NAME | '(' arguments ')' | '[' slices ']')*
 *   atom            NAME | NUMBER | STRING+ | 'None' | 'True' | 'False' | '...' | bracket
 *   bracket         tuple, group or generator in (), list in [], set or dictionary in {}
 *   for_if_clauses  (['async'] 'for' star_targets 'in' disjunction ('if' disjunction)*)+
 *
 * A bracket is parsed up to its first element; the token after it decides what the bracket is. */
#include "py/parse.h"

/* --- comprehensions --------------------------------------------------------------------- */

/* Does a comprehension clause begin here? */
static int at_for(const struct parser *p)
{
	return py_at(p, T_FOR) || py_at(p, T_ASYNC);
}

/* `for x in v if p`. The iterable is a disjunction: a conditional would take the `if`. */
static struct py_node *for_if_clause(struct parser *p)
{
	struct py_node *n = py_node(p, PY_comprehension, p->tok.start);
	size_t base = p->stack.n;

	n->u.comprehension.is_async = py_accept(p, T_ASYNC);
	py_expect(p, T_FOR);
	n->u.comprehension.target = py_star_targets(p);
	py_expect(p, T_IN);
	n->u.comprehension.iter = py_disjunction(p);
	while (py_accept(p, T_IF))
		py_push(p, py_disjunction(p));
	n->u.comprehension.ifs = py_list_end(p, base);
	return py_done(p, n);
}

/* All clauses of a comprehension, at its first `for`. */
struct py_list py_for_if_clauses(struct parser *p)
{
	size_t base = p->stack.n;

	while (at_for(p))
		py_push(p, for_if_clause(p));
	return py_list_end(p, base);
}

/* After the element `elt`, at its first `for`. */
static struct py_node *comprehension(struct parser *p, enum py_kind kind, struct py_node *elt, struct pos start)
{
	struct py_node *n = py_node(p, kind, start);
	struct py_list generators;

	if (elt->kind == PY_Starred)
		py_fail(p, (struct pos){ .line = elt->line, .col = elt->col },
			"iterable unpacking cannot be used in comprehension");
	generators = py_for_if_clauses(p);
	if (kind == PY_ListComp)
		n->u.ListComp = (struct py_ListComp){ .elt = elt, .generators = generators };
	else if (kind == PY_SetComp)
		n->u.SetComp = (struct py_SetComp){ .elt = elt, .generators = generators };
	else
		n->u.GeneratorExp = (struct py_GeneratorExp){ .elt = elt, .generators = generators };
	return n;
}

/* --- brackets --------------------------------------------------------------------------- */

/* Elements after the first one, which is already pushed, up to the closing bracket. */
static void more_elements(struct parser *p)
{
	while (py_accept(p, T_COMMA) && py_starts_expr(p))
		py_push(p, py_star_named_expression(p));
}

/* The content of parentheses after the opening one: an empty or other tuple, a group, a
 * generator expression. Consumes the closing token. In an f-string the "parentheses" end with
 * the text. */
struct py_node *py_paren_content(struct parser *p, struct pos start, enum py_tok close)
{
	struct py_node *n, *first;
	size_t base = p->stack.n;

	if (py_at(p, T_YIELD)) {
		n = py_yield(p);
		py_expect(p, close);
		return n;
	}
	if (py_at(p, close)) {
		py_next(p);
		return py_done(p, py_node(p, PY_Tuple, start));
	}
	first = py_star_named_expression(p);
	if (py_at(p, T_COMMA)) {
		py_push(p, first);
		more_elements(p);
		n = py_node(p, PY_Tuple, start);
		n->u.Tuple.elts = py_list_end(p, base);
	} else if (at_for(p)) {
		n = comprehension(p, PY_GeneratorExp, first, start);
	} else {
		if (first->kind == PY_Starred)
			py_fail(p, (struct pos){ .line = first->line, .col = first->col },
				"cannot use starred expression here");
		py_expect(p, close);
		return first;
	}
	py_expect(p, close);
	return py_done(p, n);
}

/* (...), at the opening parenthesis. */
static struct py_node *paren(struct parser *p)
{
	struct pos start = p->tok.start;

	py_next(p);
	return py_paren_content(p, start, T_RPAR);
}

/* [..] or a list comprehension. */
static struct py_node *list_display(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n, *first;
	size_t base = p->stack.n;

	py_next(p);
	if (py_at(p, T_RSQB)) {
		py_next(p);
		return py_done(p, py_node(p, PY_List, start));
	}
	first = py_star_named_expression(p);
	if (at_for(p)) {
		n = comprehension(p, PY_ListComp, first, start);
	} else {
		py_push(p, first);
		more_elements(p);
		n = py_node(p, PY_List, start);
		n->u.List.elts = py_list_end(p, base);
	}
	py_expect(p, T_RSQB);
	return py_done(p, n);
}

/* The last column before `at`: where CPython puts the error. */
static struct pos before(struct pos at)
{
	return (struct pos){ .line = at.line, .col = at.col - 1 };
}

/* ": value" after a key, with CPython's messages for a missing part. */
static struct py_node *dict_value(struct parser *p)
{
	if (!py_at(p, T_COLON))
		py_fail(p, before(p->end), "':' expected after dictionary key");
	py_next(p);
	if (py_at(p, T_RBRACE) || py_at(p, T_COMMA))
		py_fail(p, before(p->end), "expression expected after dictionary key and ':'");
	return py_expression(p);
}

/* Pushes one key (NULL for **) and its value. */
static void dict_item(struct parser *p)
{
	if (py_accept(p, T_POW)) {
		py_push(p, NULL);
		py_push(p, py_bitwise_or(p));
		if (at_for(p))
			py_fail(p, p->tok.start, "dict unpacking cannot be used in dict comprehension");
	} else {
		py_push(p, py_expression(p));
		py_push(p, dict_value(p));
	}
}

/* Makes a Dict of the keys and values that alternate on the stack from `base`. */
static struct py_node *dict_end(struct parser *p, size_t base, struct pos start)
{
	struct py_node *n = py_node(p, PY_Dict, start);
	size_t count = (p->stack.n - base) / 2;
	struct py_list keys = { .n = count }, values = { .n = count };

	if (count) {
		keys.v = arena_alloc(p->arena, count * sizeof *keys.v);
		values.v = arena_alloc(p->arena, count * sizeof *values.v);
	}
	for (size_t i = 0; i < count; i++) {
		keys.v[i] = p->stack.v[base + 2 * i];
		values.v[i] = p->stack.v[base + 2 * i + 1];
	}
	p->stack.n = base;
	n->u.Dict = (struct py_Dict){ .keys = keys, .values = values };
	return n;
}

/* {a, b} or a set comprehension, after its first element. */
static struct py_node *set_display(struct parser *p, struct py_node *first, struct pos start)
{
	size_t base = p->stack.n;
	struct py_node *n;

	if (at_for(p))
		return comprehension(p, PY_SetComp, first, start);
	py_push(p, first);
	more_elements(p);
	n = py_node(p, PY_Set, start);
	n->u.Set.elts = py_list_end(p, base);
	return n;
}

/* After the first key and value, which are pushed from `base`. */
static struct py_node *dict_rest(struct parser *p, size_t base, struct pos start)
{
	struct py_node *n;

	if (at_for(p)) {
		n = py_node(p, PY_DictComp, start);
		n->u.DictComp.value = p->stack.v[--p->stack.n];
		n->u.DictComp.key = p->stack.v[--p->stack.n];
		n->u.DictComp.generators = py_for_if_clauses(p);
		return n;
	}
	while (py_accept(p, T_COMMA) && !py_at(p, T_RBRACE))
		dict_item(p);
	return dict_end(p, base, start);
}

/* The content of braces: empty, a dictionary, or a set. */
static struct py_node *set_or_dict(struct parser *p, struct pos start)
{
	size_t base = p->stack.n;
	struct pos at = p->tok.start;
	struct py_node *first;

	if (py_at(p, T_RBRACE))
		return py_node(p, PY_Dict, start);
	if (py_at(p, T_POW)) {
		dict_item(p);
		return dict_rest(p, base, start);
	}
	first = py_star_named_expression(p);
	/* A walrus needs parentheses to be a key. */
	if (!py_at(p, T_COLON) || first->kind == PY_Starred ||
	    (first->kind == PY_NamedExpr && first->line == at.line && first->col == at.col))
		return set_display(p, first, start);
	py_push(p, first);
	py_push(p, dict_value(p));
	return dict_rest(p, base, start);
}

/* {...}, at the opening brace. */
static struct py_node *brace(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n;

	py_next(p);
	n = set_or_dict(p, start);
	py_expect(p, T_RBRACE);
	return py_done(p, n);
}

/* --- atoms ------------------------------------------------------------------------------ */

/* None, True, False or ..., at its token. */
static struct py_node *constant(struct parser *p, enum py_const_kind kind)
{
	struct py_node *n = py_node(p, PY_Constant, p->tok.start);

	n->u.Constant.value.kind = kind;
	py_next(p);
	return py_done(p, n);
}

/* A number literal. */
static struct py_node *number(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Constant, p->tok.start);

	py_number_value(p, (struct str){ .p = p->tok.p, .n = p->tok.n }, p->tok.start, &n->u.Constant.value);
	py_next(p);
	return py_done(p, n);
}

/* The smallest expressions: names, literals, brackets. */
struct py_node *py_atom(struct parser *p)
{
	struct py_node *n;

	switch (p->tok.kind) {
	case T_NAME:
		n = py_node(p, PY_Name, p->tok.start);
		n->u.Name.id = (struct str){ .p = p->tok.p, .n = p->tok.n };
		py_next(p);
		return py_done(p, n);
	case T_NUMBER: return number(p);
	case T_STRING: return py_parse_strings(p);
	case T_LPAR: return paren(p);
	case T_LSQB: return list_display(p);
	case T_LBRACE: return brace(p);
	case T_NONE: return constant(p, PY_C_NONE);
	case T_TRUE: return constant(p, PY_C_TRUE);
	case T_FALSE: return constant(p, PY_C_FALSE);
	case T_ELLIPSIS: return constant(p, PY_C_ELLIPSIS);
	default: py_fail_token(p);
	}
}

/* An atom with any number of .name, (args) and [index] after it. */
struct py_node *py_primary(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = py_atom(p), *outer;

	for (int length = 1;; length++) {
		switch (p->tok.kind) {
		case T_DOT:
			py_next(p);
			outer = py_node(p, PY_Attribute, start);
			outer->u.Attribute.value = n;
			outer->u.Attribute.attr = py_identifier(p);
			n = py_done(p, outer);
			break;
		case T_LPAR:
			n = py_call(p, n, start);
			break;
		case T_LSQB:
			n = py_subscript(p, n, start);
			break;
		default:
			py_chain(p, length);
			return n;
		}
	}
}
