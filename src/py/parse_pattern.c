/* The match statement and its patterns. `match` and `case` are ordinary names elsewhere.
 *
 *   match           'match' subject ':' NEWLINE INDENT case+ DEDENT
 *   case            'case' patterns ['if' named] ':' block
 *   pattern         or_pattern ['as' NAME]
 *   or_pattern      closed ('|' closed)*
 *   closed          literal | NAME | a.b | class '(' ... ')' | '[' ... ']' | '(' ... ')' | '{' ... '}'
 *
 * Names bound twice and unreachable cases are found later (check_pattern.c). */
#include "py/parse.h"

static struct py_node *pattern(struct parser *p);

/* --- literals and values --------------------------------------------------------------------- */

/* A number; the second part of 3 + 4j must be imaginary. */
static struct py_node *number(struct parser *p, int imaginary)
{
	struct py_node *n;

	if (!py_at(p, T_NUMBER))
		py_fail_token(p);
	n = py_atom(p);
	if (imaginary && n->u.Constant.value.kind != PY_C_IMAG)
		py_fail(p, (struct pos){ .line = n->line, .col = n->col },
			"imaginary number required in complex literal");
	return n;
}

/* -1, 2.5, 3 + 4j */
static struct py_node *signed_number(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n, *sum;

	if (py_accept(p, T_MINUS)) {
		n = py_node(p, PY_UnaryOp, start);
		n->u.UnaryOp.op = PY_OP_USub;
		n->u.UnaryOp.operand = number(p, 0);
		py_done(p, n);
	} else {
		n = number(p, 0);
	}
	if (!py_at(p, T_PLUS) && !py_at(p, T_MINUS))
		return n;
	if ((n->kind == PY_UnaryOp ? n->u.UnaryOp.operand : n)->u.Constant.value.kind == PY_C_IMAG)
		py_fail(p, start, "real number required in complex literal");
	sum = py_node(p, PY_BinOp, start);
	sum->u.BinOp.left = n;
	sum->u.BinOp.op = py_tokens[p->tok.kind].op;
	py_next(p);
	sum->u.BinOp.right = number(p, 1);
	return py_done(p, sum);
}

/* A pattern that compares with ==. */
static struct py_node *value_of(struct parser *p, struct py_node *value, struct pos start)
{
	struct py_node *n = py_node(p, PY_MatchValue, start);

	n->u.MatchValue.value = value;
	return py_done(p, n);
}

/* None, True or False. */
static struct py_node *singleton(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *value = py_atom(p), *n = py_node(p, PY_MatchSingleton, start);

	n->u.MatchSingleton.value = value->u.Constant.value;
	return py_done(p, n);
}

/* The rest of a.b.c, after its first name. */
static struct py_node *attributes(struct parser *p, struct py_node *n, struct pos start)
{
	int length = 1;

	for (; py_accept(p, T_DOT); length++) {
		struct py_node *outer = py_node(p, PY_Attribute, start);

		outer->u.Attribute.value = n;
		outer->u.Attribute.attr = py_identifier(p);
		n = py_done(p, outer);
	}
	py_chain(p, length);
	return n;
}

/* A name or a.b.c, as a mapping key may have it. */
static struct py_node *name_or_attr(struct parser *p)
{
	struct pos start = p->tok.start;
	struct str id = py_identifier(p);

	return attributes(p, py_name(p, id, start), start);
}

/* --- classes ------------------------------------------------------------------------------------ */

/* Is the NAME at p->tok followed by '='? */
static int at_keyword(struct parser *p)
{
	struct py_saved saved = py_save(p);
	int yes;

	if (!py_at(p, T_NAME))
		return 0;
	py_next(p);
	yes = py_at(p, T_ASSIGN);
	py_restore(p, &saved);
	return yes;
}

/* Point(x, y=0): after the class, at its '('. Positional patterns come first. */
static struct py_node *class_pattern(struct parser *p, struct py_node *cls, struct pos start)
{
	struct py_node *n = py_node(p, PY_MatchClass, start);
	size_t base = p->stack.n, ids = p->ids.n;

	py_next(p);
	n->u.MatchClass.cls = cls;
	while (!py_at(p, T_RPAR) && !at_keyword(p)) {
		py_push(p, pattern(p));
		if (!py_accept(p, T_COMMA))
			break;
	}
	n->u.MatchClass.patterns = py_list_end(p, base);
	while (at_keyword(p)) {
		py_push_id(p, py_identifier(p));
		py_next(p);
		py_push(p, pattern(p));
		if (!py_accept(p, T_COMMA))
			break;
		if (!py_at(p, T_RPAR) && !at_keyword(p))
			py_fail(p, p->tok.start, "positional patterns follow keyword patterns");
	}
	n->u.MatchClass.kwd_patterns = py_list_end(p, base);
	n->u.MatchClass.kwd_attrs = py_ids_end(p, ids);
	py_expect(p, T_RPAR);
	return py_done(p, n);
}

/* A name that is bound; `_` binds nothing. */
static struct py_node *capture(struct parser *p, struct str name, struct pos start)
{
	struct py_node *n = py_node(p, PY_MatchAs, start);

	if (name.p != p->id_under)
		n->u.MatchAs.name = name;
	return py_done(p, n);
}

/* A name begins a capture, a wildcard, a value a.b, or a class pattern. */
static struct py_node *name_pattern(struct parser *p)
{
	struct pos start = p->tok.start;
	struct str id = py_identifier(p);
	struct py_node *n;

	if (!py_at(p, T_DOT) && !py_at(p, T_LPAR))
		return capture(p, id, start);
	n = attributes(p, py_name(p, id, start), start);
	if (py_at(p, T_LPAR))
		return class_pattern(p, n, start);
	return value_of(p, n, start);
}

/* --- sequences and mappings ---------------------------------------------------------------------- */

/* A pattern or *rest. */
static struct py_node *maybe_star(struct parser *p)
{
	struct py_node *n;

	if (!py_at(p, T_STAR))
		return pattern(p);
	n = py_node(p, PY_MatchStar, p->tok.start);
	py_next(p);
	n->u.MatchStar.name = py_identifier(p);
	if (n->u.MatchStar.name.p == p->id_under)
		n->u.MatchStar.name = (struct str){ .p = NULL };
	return py_done(p, n);
}

static int ends_sequence(const struct parser *p)
{
	return py_at(p, T_RPAR) || py_at(p, T_RSQB) || py_at(p, T_COLON) || py_at(p, T_IF);
}

/* [...] or (...): a sequence, or in parentheses a group. */
static struct py_node *bracketed(struct parser *p)
{
	enum py_tok close = py_at(p, T_LPAR) ? T_RPAR : T_RSQB;
	struct py_node *n = py_node(p, PY_MatchSequence, p->tok.start), *only;
	size_t base = p->stack.n;
	int commas = 0;

	py_next(p);
	while (!py_at(p, close)) {
		py_push(p, maybe_star(p));
		if (!py_accept(p, T_COMMA))
			break;
		commas++;
	}
	only = p->stack.n == base + 1 && !commas && close == T_RPAR ? p->stack.v[base] : NULL;
	if (only && only->kind == PY_MatchStar)
		py_fail_token(p);
	py_expect(p, close);
	n->u.MatchSequence.patterns = py_list_end(p, base);
	return only ? only : py_done(p, n);
}

/* A key is a literal or a dotted name; a bare name would be ambiguous. */
static struct py_node *mapping_key(struct parser *p)
{
	switch (p->tok.kind) {
	case T_NUMBER:
	case T_MINUS:
		return signed_number(p);
	case T_STRING:
		return py_parse_strings(p);
	case T_NONE:
	case T_TRUE:
	case T_FALSE:
		return py_atom(p);
	default: {
		struct py_node *n = name_or_attr(p);

		if (n->kind == PY_Name)
			py_fail_token(p);
		return n;
	}
	}
}

/* Splits the keys and patterns that alternate on the stack from `base`. */
static void split_pairs(struct parser *p, size_t base, struct py_MatchMapping *m)
{
	size_t count = (p->stack.n - base) / 2;

	if (!count)
		return;
	m->keys = (struct py_list){ .v = arena_alloc(p->arena, count * sizeof *m->keys.v), .n = count };
	m->patterns = (struct py_list){ .v = arena_alloc(p->arena, count * sizeof *m->patterns.v), .n = count };
	for (size_t i = 0; i < count; i++) {
		m->keys.v[i] = p->stack.v[base + 2 * i];
		m->patterns.v[i] = p->stack.v[base + 2 * i + 1];
	}
	p->stack.n = base;
}

/* {key: pattern, **rest}. `**rest` must be the last item. */
static struct py_node *mapping(struct parser *p)
{
	struct py_node *n = py_node(p, PY_MatchMapping, p->tok.start);
	size_t base = p->stack.n;

	py_next(p);
	while (!py_at(p, T_RBRACE)) {
		if (py_accept(p, T_POW)) {
			n->u.MatchMapping.rest = py_identifier(p);
			if (n->u.MatchMapping.rest.p == p->id_under)
				py_fail_token(p);
			py_accept(p, T_COMMA);
			break;
		}
		py_push(p, mapping_key(p));
		py_expect(p, T_COLON);
		py_push(p, pattern(p));
		if (!py_accept(p, T_COMMA))
			break;
	}
	py_expect(p, T_RBRACE);
	split_pairs(p, base, &n->u.MatchMapping);
	return py_done(p, n);
}

/* --- patterns --------------------------------------------------------------------------------------- */

/* A pattern that needs no parentheses. */
static struct py_node *closed_pattern(struct parser *p)
{
	struct pos start = p->tok.start;

	switch (p->tok.kind) {
	case T_NAME: return name_pattern(p);
	case T_NUMBER:
	case T_MINUS: return value_of(p, signed_number(p), start);
	case T_STRING: return value_of(p, py_parse_strings(p), start);
	case T_NONE:
	case T_TRUE:
	case T_FALSE: return singleton(p);
	case T_LPAR:
	case T_LSQB: return bracketed(p);
	case T_LBRACE: return mapping(p);
	default: py_fail_token(p);
	}
}

/* a | b | c. */
static struct py_node *or_pattern(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = closed_pattern(p);
	size_t base = p->stack.n;

	if (!py_at(p, T_BAR))
		return n;
	py_push(p, n);
	while (py_accept(p, T_BAR))
		py_push(p, closed_pattern(p));
	n = py_node(p, PY_MatchOr, start);
	n->u.MatchOr.patterns = py_list_end(p, base);
	return py_done(p, n);
}

/* An or-pattern with an optional `as name`. */
static struct py_node *pattern(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n, *as;
	struct pos at;

	py_nest(p);
	n = or_pattern(p);
	if (py_accept(p, T_AS)) {
		as = py_node(p, PY_MatchAs, start);
		as->u.MatchAs.pattern = n;
		if (!py_at(p, T_NAME))
			py_fail(p, p->tok.start, "invalid pattern target");
		at = p->tok.start;
		as->u.MatchAs.name = py_identifier(p);
		if (as->u.MatchAs.name.p == p->id_under)
			py_fail(p, at, "cannot use '_' as a target");
		if (py_at(p, T_DOT) || py_at(p, T_LPAR) || py_at(p, T_ASSIGN))
			py_fail(p, at, "invalid pattern target");
		n = py_done(p, as);
	}
	py_unnest(p);
	return n;
}

/* The pattern of a case: one pattern, or several that make a sequence without brackets. */
struct py_node *py_patterns(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = maybe_star(p), *sequence;
	size_t base = p->stack.n;

	if (!py_at(p, T_COMMA)) {
		if (n->kind == PY_MatchStar)
			py_fail_token(p);
		return n;
	}
	py_push(p, n);
	while (py_accept(p, T_COMMA) && !ends_sequence(p))
		py_push(p, maybe_star(p));
	sequence = py_node(p, PY_MatchSequence, start);
	sequence->u.MatchSequence.patterns = py_list_end(p, base);
	return py_done(p, sequence);
}

/* --- the statement ------------------------------------------------------------------------------------ */

/* case pattern if guard: block. */
static struct py_node *case_block(struct parser *p)
{
	struct py_node *n = py_node(p, PY_match_case, p->tok.start);
	int line = p->tok.start.line;

	if (!py_at(p, T_NAME) || p->tok.p != p->id_case)
		py_fail_token(p);
	py_next(p);
	n->u.match_case.pattern = py_patterns(p);
	if (py_accept(p, T_IF))
		n->u.match_case.guard = py_named_expression(p);
	py_colon(p);
	n->u.match_case.body = py_block(p, "'case' statement", line);
	return py_done(p, n);
}

/* `match` begins a statement if its logical line ends with a colon: no other line that starts
 * with a name does. */
static int line_ends_with_colon(struct parser *p)
{
	struct py_saved saved = py_save(p);
	enum py_tok last = T_NAME;

	py_next(p);
	if (py_starts_expr(p))
		for (; !py_at(p, T_NEWLINE) && !py_at(p, T_END); py_next(p))
			last = p->tok.kind;
	py_restore(p, &saved);
	return last == T_COLON;
}

/* The matched expression; several make a tuple. */
static struct py_node *subject(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = py_star_named_expression(p), *tuple;
	size_t base = p->stack.n;

	if (!py_at(p, T_COMMA)) {
		if (n->kind == PY_Starred)
			py_fail_token(p);
		return n;
	}
	py_push(p, n);
	while (py_accept(p, T_COMMA) && py_starts_expr(p))
		py_push(p, py_star_named_expression(p));
	tuple = py_node(p, PY_Tuple, start);
	tuple->u.Tuple.elts = py_list_end(p, base);
	return py_done(p, tuple);
}

/* The statement, or NULL if the line is no match statement. */
struct py_node *py_match(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n;
	size_t base = p->stack.n;

	if (p->tok.p != p->id_match || !line_ends_with_colon(p))
		return NULL;
	py_next(p);
	n = py_node(p, PY_Match, start);
	n->u.Match.subject = subject(p);
	py_expect(p, T_COLON);
	py_expect(p, T_NEWLINE);
	if (!py_at(p, T_INDENT))
		py_fail(p, p->tok.start, "expected an indented block after 'match' statement on line %d", start.line);
	py_next(p);
	py_nest(p);
	do
		py_push(p, case_block(p));
	while (!py_at(p, T_DEDENT) && !py_at(p, T_END));
	py_unnest(p);
	py_next(p);
	n->u.Match.cases = py_list_end(p, base);
	return py_done(p, n);
}
