/* Simple statements: assignments, statements that begin with a keyword, imports.
 *
 *   assignment      (targets '=')+ value | target op '=' value | target ':' expression ['=' value]
 *   return          'return' [star_expressions]
 *   raise           'raise' [expression ['from' expression]]
 *   assert          'assert' expression [',' expression]
 *   import          'import' dotted ['as' NAME] (',' ...)*
 *   from            'from' '.'* [dotted] 'import' ('*' | names | '(' names [','] ')')
 *
 * An assignment begins like an expression. It is parsed as one, and target.c turns the parsed
 * expression into a target when an assignment operator follows. */
#include "py/parse.h"

/* --- assignment ------------------------------------------------------------------------- */

/* `value` has a part that cannot be assigned to. If '=' could be meant as '==', the message
 * says so. */
static _Noreturn void fail_assignment(struct parser *p, const struct py_node *value, const struct py_node *bad,
				      int only)
{
	struct pos at = { .line = bad->line, .col = bad->col };

	if (value->kind == PY_Yield || value->kind == PY_YieldFrom)
		py_fail(p, at, "assignment to yield expression not possible");
	if (only && bad == value && py_is_operand(value)) {
		py_next(p);
		py_yield_or_star_expressions(p);
		if (!py_at(p, T_ASSIGN) && !py_at(p, T_WALRUS))
			py_fail(p, at, "cannot assign to %s here. Maybe you meant '==' instead of '='?",
				py_expr_name(bad));
	}
	py_fail(p, at, "cannot assign to %s", py_expr_name(bad));
}

/* a = b = value. Each part was parsed as an expression and becomes a target when '=' follows. */
static struct py_node *assignment(struct parser *p, struct py_node *first, struct pos start)
{
	struct py_node *n = py_node(p, PY_Assign, start), *value = first;
	size_t base = p->stack.n;

	while (py_at(p, T_ASSIGN)) {
		const struct py_node *bad = py_invalid_target(value, FOR_STORE);

		if (bad)
			fail_assignment(p, value, bad, value == first);
		py_to_target(p, value, FOR_STORE);
		py_push(p, value);
		py_next(p);
		value = py_yield_or_star_expressions(p);
	}
	n->u.Assign.targets = py_list_end(p, base);
	n->u.Assign.value = value;
	return py_done(p, n);
}

static int is_single_target(const struct py_node *n)
{
	return n->kind == PY_Name || n->kind == PY_Attribute || n->kind == PY_Subscript;
}

/* a += value. The target is a name, attribute or subscript. */
static struct py_node *augmented(struct parser *p, struct py_node *target, struct pos start)
{
	struct py_node *n = py_node(p, PY_AugAssign, start);

	if (!is_single_target(target))
		py_fail(p, (struct pos){ .line = target->line, .col = target->col },
			"'%s' is an illegal expression for augmented assignment", py_expr_name(target));
	py_to_target(p, target, FOR_STORE);
	n->u.AugAssign.target = target;
	n->u.AugAssign.op = py_tokens[p->tok.kind].op;
	py_next(p);
	n->u.AugAssign.value = py_yield_or_star_expressions(p);
	return py_done(p, n);
}

/* CPython parses the annotation before it complains about the target. */
static _Noreturn void fail_annotation(struct parser *p, const struct py_node *target)
{
	struct pos at = { .line = target->line, .col = target->col };

	py_next(p);
	py_expression(p);
	if (target->kind == PY_List || target->kind == PY_Tuple)
		py_fail(p, at, "only single target (not %s) can be annotated", py_expr_name(target));
	py_fail(p, at, "illegal target for annotation");
}

/* x: T = value. `simple` is 0 for (x): T. */
static struct py_node *annotated(struct parser *p, struct py_node *target, struct pos start, int simple)
{
	struct py_node *n = py_node(p, PY_AnnAssign, start);

	if (!is_single_target(target))
		fail_annotation(p, target);
	py_to_target(p, target, FOR_STORE);
	py_next(p);
	n->u.AnnAssign.target = target;
	n->u.AnnAssign.simple = simple && target->kind == PY_Name;
	n->u.AnnAssign.annotation = py_expression(p);
	if (py_accept(p, T_ASSIGN))
		n->u.AnnAssign.value = py_yield_or_star_expressions(p);
	return py_done(p, n);
}

/* print "x" and exec "x", as in Python 2. */
static void check_statement_words(struct parser *p, const struct py_node *n)
{
	int is_print = n->kind == PY_Name && n->u.Name.id.p == p->id_print;
	int is_exec = n->kind == PY_Name && n->u.Name.id.p == p->id_exec;

	if ((is_print || is_exec) && py_starts_expr(p) && !py_tokens[p->tok.kind].prec && !py_at(p, T_LPAR))
		py_fail(p, (struct pos){ .line = n->line, .col = n->col },
			"Missing parentheses in call to '%.*s'. Did you mean %.*s(...)?",
			STR_ARG(n->u.Name.id), STR_ARG(n->u.Name.id));
}

/* An expression, or an assignment that began like one. */
static struct py_node *expression_statement(struct parser *p)
{
	struct pos start = p->tok.start;
	int plain = py_at(p, T_NAME);
	struct py_node *value = py_yield_or_star_expressions(p), *n;

	if (py_at(p, T_ASSIGN))
		return assignment(p, value, start);
	if (py_tokens[p->tok.kind].is_aug)
		return augmented(p, value, start);
	if (py_at(p, T_COLON))
		return annotated(p, value, start, plain);
	check_statement_words(p, value);
	n = py_node(p, PY_Expr, start);
	n->u.Expr.value = value;
	return py_done(p, n);
}

/* --- statements that begin with a keyword ------------------------------------------------- */

static int at_statement_end(const struct parser *p)
{
	return py_at(p, T_NEWLINE) || py_at(p, T_SEMI) || py_at(p, T_END);
}

/* A statement of one word. */
static struct py_node *word(struct parser *p, enum py_kind kind)
{
	struct py_node *n = py_node(p, kind, p->tok.start);

	py_next(p);
	return py_done(p, n);
}

static struct py_node *pass_statement(struct parser *p) { return word(p, PY_Pass); }
static struct py_node *break_statement(struct parser *p) { return word(p, PY_Break); }
static struct py_node *continue_statement(struct parser *p) { return word(p, PY_Continue); }

/* return, with an optional bare tuple. */
static struct py_node *return_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Return, p->tok.start);

	py_next(p);
	if (!at_statement_end(p))
		n->u.Return.value = py_star_expressions(p);
	return py_done(p, n);
}

/* raise, raise x, raise x from y. */
static struct py_node *raise_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Raise, p->tok.start);

	py_next(p);
	if (!at_statement_end(p)) {
		n->u.Raise.exc = py_expression(p);
		if (py_accept(p, T_FROM))
			n->u.Raise.cause = py_expression(p);
	}
	return py_done(p, n);
}

static struct py_node *assert_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Assert, p->tok.start);

	py_next(p);
	n->u.Assert.test = py_expression(p);
	if (py_accept(p, T_COMMA))
		n->u.Assert.msg = py_expression(p);
	return py_done(p, n);
}

/* `del a, b[0]`. */
static struct py_node *del_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Delete, p->tok.start);
	size_t base = p->stack.n;

	py_next(p);
	do {
		struct py_node *target = py_at(p, T_STAR) ? py_starred(p, py_bitwise_or) : py_expression(p);

		py_to_target(p, target, FOR_DEL);
		py_push(p, target);
	} while (py_accept(p, T_COMMA) && !at_statement_end(p));
	n->u.Delete.targets = py_list_end(p, base);
	return py_done(p, n);
}

/* The names of a global or nonlocal statement. */
static struct py_ids names(struct parser *p)
{
	size_t base = p->ids.n;

	py_next(p);
	do
		py_push_id(p, py_identifier(p));
	while (py_accept(p, T_COMMA));
	return py_ids_end(p, base);
}

static struct py_node *global_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Global, p->tok.start);

	n->u.Global.names = names(p);
	return py_done(p, n);
}

static struct py_node *nonlocal_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Nonlocal, p->tok.start);

	n->u.Nonlocal.names = names(p);
	return py_done(p, n);
}

/* --- imports ------------------------------------------------------------------------------ */

/* The names p->ids[base..] with dots between them, interned. */
static struct str join_names(struct parser *p, size_t base)
{
	const struct str *v = p->ids.v + base;
	size_t count = p->ids.n - base, n = count - 1;
	struct name_slot *slot;
	char *text, *w;

	for (size_t i = 0; i < count; i++)
		n += v[i].n;
	text = w = arena_zalloc(p->arena, n + 8);
	for (size_t i = 0; i < count; i++) {
		if (i)
			*w++ = '.';
		memcpy(w, v[i].p, v[i].n);
		w += v[i].n;
	}
	slot = py_intern(p, text, n);
	return (struct str){ .p = slot->p, .n = slot->n };
}

/* a.b.c as one identifier. */
static struct str dotted_name(struct parser *p)
{
	struct str id = py_identifier(p);
	size_t base = p->ids.n;

	if (!py_at(p, T_DOT))
		return id;
	py_push_id(p, id);
	while (py_accept(p, T_DOT))
		py_push_id(p, py_identifier(p));
	id = join_names(p, base);
	p->ids.n = base;
	return id;
}

/* a.b as c, or a as b in `from`. */
static struct py_node *alias(struct parser *p, int dotted)
{
	struct py_node *n = py_node(p, PY_alias, p->tok.start);

	n->u.alias.name = dotted ? dotted_name(p) : py_identifier(p);
	if (py_accept(p, T_AS))
		n->u.alias.asname = py_identifier(p);
	return py_done(p, n);
}

/* import a.b as c, d. */
static struct py_node *import_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Import, p->tok.start);
	size_t base = p->stack.n;

	py_next(p);
	do
		py_push(p, alias(p, 1));
	while (py_accept(p, T_COMMA));
	n->u.Import.names = py_list_end(p, base);
	return py_done(p, n);
}

/* The '*' of an import. */
static struct py_node *star_alias(struct parser *p)
{
	struct py_node *n = py_node(p, PY_alias, p->tok.start);

	n->u.alias.name = STR("*");
	py_next(p);
	return py_done(p, n);
}

/* '*', or names with or without parentheses. A trailing comma needs parentheses. */
static void from_names(struct parser *p)
{
	int closed, comma;

	if (py_at(p, T_STAR)) {
		py_push(p, star_alias(p));
		return;
	}
	closed = py_accept(p, T_LPAR);
	do {
		py_push(p, alias(p, 0));
		comma = py_accept(p, T_COMMA);
	} while (comma && !(closed ? py_at(p, T_RPAR) : at_statement_end(p)));
	if (closed)
		py_expect(p, T_RPAR);
	else if (comma)
		py_fail(p, p->tok.start, "trailing comma not allowed without surrounding parentheses");
}

/* `from ..a import b`; three dots are one token. */
static struct py_node *from_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_ImportFrom, p->tok.start);
	size_t base = p->stack.n;

	py_next(p);
	for (; py_at(p, T_DOT) || py_at(p, T_ELLIPSIS); py_next(p))
		n->u.ImportFrom.level += py_at(p, T_DOT) ? 1 : 3;
	if (!n->u.ImportFrom.level || !py_at(p, T_IMPORT))
		n->u.ImportFrom.module = dotted_name(p);
	py_expect(p, T_IMPORT);
	from_names(p);
	n->u.ImportFrom.names = py_list_end(p, base);
	return py_done(p, n);
}

/* --- the lines ----------------------------------------------------------------------------- */

/* The statement that each keyword begins; any other token begins an expression. */
static struct py_node *(*const simple[TOKS])(struct parser *) = {
	[T_PASS] = pass_statement, [T_BREAK] = break_statement, [T_CONTINUE] = continue_statement,
	[T_RETURN] = return_statement, [T_RAISE] = raise_statement, [T_ASSERT] = assert_statement,
	[T_DEL] = del_statement, [T_GLOBAL] = global_statement, [T_NONLOCAL] = nonlocal_statement,
	[T_IMPORT] = import_statement, [T_FROM] = from_statement,
};

/* The statements of one line, separated by semicolons. Pushes each. */
void py_simple_statements(struct parser *p)
{
	do
		py_push(p, (simple[p->tok.kind] ? simple[p->tok.kind] : expression_statement)(p));
	while (py_accept(p, T_SEMI) && !py_at(p, T_NEWLINE));
	if (!py_at(p, T_NEWLINE))
		py_fail_token(p);
	py_next(p);
}

/* Pushes one compound statement, or all simple statements of a line. */
void py_statement(struct parser *p)
{
	struct py_node *n = py_compound(p);

	if (n)
		py_push(p, n);
	else
		py_simple_statements(p);
}
