/* Compound statements and blocks: if, while, for, with, try, def, class.
 *
 *   block           NEWLINE INDENT statement+ DEDENT | simple_statements
 *   if              'if' named ':' block ('elif' named ':' block)* ['else' ':' block]
 *   while           'while' named ':' block ['else' ':' block]
 *   for             'for' star_targets 'in' star_expressions ':' block ['else' ':' block]
 *   with            'with' (items | '(' items [','] ')') ':' block
 *   try             'try' ':' block except* ['else' ':' block] ['finally' ':' block]
 *   def             decorator* 'def' NAME '(' params ')' ['->' expression] ':' block
 *   class           decorator* 'class' NAME ['(' arguments ')'] ':' block
 *
 * The texts in quotes that blocks get ("'if' statement") are parts of CPython's messages. */
#include "py/parse.h"

/* The block of a statement whose colon was passed: statements on the same line, or an indented
 * block. `after` and `line` word CPython's message about a missing block. */
struct py_list py_block(struct parser *p, const char *after, int line)
{
	size_t base = p->stack.n;

	py_nest(p);
	if (!py_at(p, T_NEWLINE)) {
		py_simple_statements(p);
	} else {
		py_next(p);
		if (!py_at(p, T_INDENT))
			py_fail(p, p->tok.start, "expected an indented block after %s on line %d", after, line);
		py_next(p);
		do
			py_statement(p);
		while (!py_at(p, T_DEDENT) && !py_at(p, T_END));
		py_next(p);
	}
	py_unnest(p);
	return py_list_end(p, base);
}

/* The colon, then the block. */
static struct py_list colon_block(struct parser *p, const char *after, int line)
{
	py_colon(p);
	return py_block(p, after, line);
}

/* For statements whose header is complete, where only a colon can follow. */
static struct py_list must_colon_block(struct parser *p, const char *after, int line)
{
	if (!py_at(p, T_COLON))
		py_fail(p, p->tok.start, "expected ':'");
	return colon_block(p, after, line);
}

/* The `else` block if there is one. */
static struct py_list else_block(struct parser *p, const char *after)
{
	int line = p->tok.start.line;

	if (!py_accept(p, T_ELSE))
		return (struct py_list){ .n = 0 };
	return must_colon_block(p, after, line);
}

/* --- if, while, for ------------------------------------------------------------------------ */

/* `if` or `elif` with its block. */
static struct py_node *if_clause(struct parser *p, const char *after)
{
	struct py_node *n = py_node(p, PY_If, p->tok.start);

	py_next(p);
	n->u.If.test = py_named_expression(p);
	n->u.If.body = colon_block(p, after, n->line);
	return py_done(p, n);
}

/* elif chains can be long. They nest in the tree, but not in this function. */
static struct py_node *if_statement(struct parser *p)
{
	struct py_node *n = if_clause(p, "'if' statement"), *last = n;
	int length = 1;

	for (; py_at(p, T_ELIF); length++) {
		struct py_node *next = if_clause(p, "'elif' statement");

		last->u.If.orelse = py_list_of(p, next);
		last = next;
	}
	py_chain(p, length);
	last->u.If.orelse = else_block(p, "'else' statement");
	for (struct py_node *i = n;; i = i->u.If.orelse.v[0]) {
		py_done(p, i);
		if (i == last)
			return n;
	}
}

/* while, at its first word. */
static struct py_node *while_statement(struct parser *p)
{
	struct py_node *n = py_node(p, PY_While, p->tok.start);

	py_next(p);
	n->u.While.test = py_named_expression(p);
	n->u.While.body = colon_block(p, "'while' statement", n->line);
	n->u.While.orelse = else_block(p, "'else' statement");
	return py_done(p, n);
}

/* Both kinds of each pair have the same fields, so the code below fills either through one
 * name. */
_Static_assert(sizeof (struct py_For) == sizeof (struct py_AsyncFor), "For");
_Static_assert(sizeof (struct py_Try) == sizeof (struct py_TryStar), "Try");
_Static_assert(sizeof (struct py_With) == sizeof (struct py_AsyncWith), "With");
_Static_assert(sizeof (struct py_FunctionDef) == sizeof (struct py_AsyncFunctionDef), "FunctionDef");

/* `for` or `async for`; `start` is the position of the first word. */
static struct py_node *for_statement_at(struct parser *p, enum py_kind kind, struct pos start)
{
	struct py_node *n = py_node(p, kind, start);

	py_next(p);
	n->u.For.target = py_star_targets(p);
	py_expect(p, T_IN);
	n->u.For.iter = py_star_expressions(p);
	n->u.For.body = colon_block(p, "'for' statement", n->line);
	n->u.For.orelse = else_block(p, "'else' statement");
	return py_done(p, n);
}

static struct py_node *for_statement(struct parser *p)
{
	return for_statement_at(p, PY_For, p->tok.start);
}

/* --- with ---------------------------------------------------------------------------------- */

/* `expr as target`. */
static struct py_node *with_item(struct parser *p)
{
	struct py_node *n = py_node(p, PY_withitem, p->tok.start);

	n->u.withitem.context_expr = py_expression(p);
	if (py_accept(p, T_AS)) {
		n->u.withitem.optional_vars = py_star_target(p);
		if (!py_at(p, T_COMMA) && !py_at(p, T_RPAR) && !py_at(p, T_COLON))
			py_fail_token(p);
	}
	return py_done(p, n);
}

/* with (a, b as c): the parentheses belong to the statement if they end at its colon and hold
 * nothing but items. Otherwise returns 0 with the parser as it was. */
static int with_in_parens(struct parser *p)
{
	struct py_saved saved = py_save(p);
	size_t base = p->stack.n;

	if (!py_accept(p, T_LPAR))
		return 0;
	while (py_starts_expr(p) && !py_at(p, T_STAR) && !py_at(p, T_YIELD)) {
		py_push(p, with_item(p));
		if (!py_accept(p, T_COMMA))
			break;
	}
	if (p->stack.n > base && py_at(p, T_RPAR)) {
		py_next(p);
		if (py_at(p, T_COLON))
			return 1;
	}
	p->stack.n = base;
	py_restore(p, &saved);
	return 0;
}

/* with or async with; `start` is the position of the first word. */
static struct py_node *with_statement_at(struct parser *p, enum py_kind kind, struct pos start)
{
	struct py_node *n = py_node(p, kind, start);
	size_t base = p->stack.n;

	py_next(p);
	if (!with_in_parens(p)) {
		do
			py_push(p, with_item(p));
		while (py_accept(p, T_COMMA));
	}
	n->u.With.items = py_list_end(p, base);
	n->u.With.body = colon_block(p, "'with' statement", n->line);
	return py_done(p, n);
}

static struct py_node *with_statement(struct parser *p)
{
	return with_statement_at(p, PY_With, p->tok.start);
}

/* --- try ----------------------------------------------------------------------------------- */

/* One except clause. *star: it is `except*`. */
static struct py_node *handler(struct parser *p, int *star)
{
	struct py_node *n = py_node(p, PY_ExceptHandler, p->tok.start);

	py_next(p);
	*star = py_accept(p, T_STAR);
	if (*star && !py_starts_expr(p))
		py_fail(p, p->tok.start, "expected one or more exception types");
	if (*star || !py_at(p, T_COLON)) {
		struct pos at = p->tok.start;

		n->u.ExceptHandler.type = py_expression(p);
		if (py_at(p, T_COMMA))
			py_fail(p, at, "multiple exception types must be parenthesized");
		if (py_accept(p, T_AS))
			n->u.ExceptHandler.name = py_identifier(p);
	}
	n->u.ExceptHandler.body = colon_block(p, *star ? "'except*' statement" : "'except' statement", n->line);
	return py_done(p, n);
}

/* All except clauses; plain and starred ones may not be mixed. */
static struct py_list handlers(struct parser *p, int *stars)
{
	size_t base = p->stack.n;
	int plain = 0;

	*stars = 0;
	while (py_at(p, T_EXCEPT)) {
		struct pos at = p->tok.start;
		int star;

		py_push(p, handler(p, &star));
		*stars |= star;
		plain |= !star;
		if (*stars && plain)
			py_fail(p, at, "cannot have both 'except' and 'except*' on the same 'try'");
	}
	return py_list_end(p, base);
}

/* At least one handler or a finally block is required. */
static struct py_node *try_statement(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_Try t = { .body.n = 0 };
	struct py_node *n;
	int stars, line;

	py_next(p);
	t.body = must_colon_block(p, "'try' statement", start.line);
	t.handlers = handlers(p, &stars);
	if (t.handlers.n)
		t.orelse = else_block(p, "'else' statement");
	line = p->tok.start.line;
	if (py_accept(p, T_FINALLY))
		t.finalbody = must_colon_block(p, "'finally' statement", line);
	if (!t.handlers.n && !t.finalbody.n)
		py_fail(p, p->tok.start, "expected 'except' or 'finally' block");
	n = py_node(p, stars ? PY_TryStar : PY_Try, start);
	n->u.Try = t;
	return py_done(p, n);
}

/* --- functions and classes ------------------------------------------------------------------ */

/* `def` or `async def`, at the word def. */
static struct py_node *function(struct parser *p, enum py_kind kind, struct pos start, struct py_list decorators)
{
	struct py_node *n = py_node(p, kind, start);

	py_next(p);
	n->u.FunctionDef.decorator_list = decorators;
	n->u.FunctionDef.name = py_identifier(p);
	if (!py_at(p, T_LPAR))
		py_fail(p, p->tok.start, "expected '('");
	py_next(p);
	n->u.FunctionDef.args = py_params(p, T_RPAR);
	py_expect(p, T_RPAR);
	if (py_accept(p, T_ARROW))
		n->u.FunctionDef.returns = py_expression(p);
	n->u.FunctionDef.body = must_colon_block(p, "function definition", n->line);
	return py_done(p, n);
}

/* `class`, with the arguments of a call as its bases and keywords. */
static struct py_node *class(struct parser *p, struct py_list decorators)
{
	struct py_node *n = py_node(p, PY_ClassDef, p->tok.start);
	struct pos open;

	py_next(p);
	n->u.ClassDef.decorator_list = decorators;
	n->u.ClassDef.name = py_identifier(p);
	open = p->tok.start;
	if (py_accept(p, T_LPAR)) {
		py_arguments(p, &n->u.ClassDef.bases, &n->u.ClassDef.keywords, 0, open);
		py_expect(p, T_RPAR);
	}
	n->u.ClassDef.body = colon_block(p, "class definition", n->line);
	return py_done(p, n);
}

/* At `async`: def, for or with. Decorators fit only def. */
static struct py_node *async(struct parser *p, struct py_list decorators)
{
	struct pos start = p->tok.start;

	py_next(p);
	if (py_at(p, T_DEF))
		return function(p, PY_AsyncFunctionDef, start, decorators);
	if (py_at(p, T_FOR) && !decorators.n)
		return for_statement_at(p, PY_AsyncFor, start);
	if (py_at(p, T_WITH) && !decorators.n)
		return with_statement_at(p, PY_AsyncWith, start);
	py_fail_token(p);
}

/* Decorators (possibly none), then a def or class. */
static struct py_node *decorated(struct parser *p)
{
	size_t base = p->stack.n;
	struct py_list decorators;

	while (py_accept(p, T_AT)) {
		py_push(p, py_named_expression(p));
		if (!py_at(p, T_NEWLINE))
			py_fail_token(p);
		py_next(p);
	}
	decorators = py_list_end(p, base);
	if (py_at(p, T_DEF))
		return function(p, PY_FunctionDef, p->tok.start, decorators);
	if (py_at(p, T_CLASS))
		return class(p, decorators);
	if (py_at(p, T_ASYNC))
		return async(p, decorators);
	py_fail_token(p);
}

static struct py_node *plain_async(struct parser *p)
{
	return async(p, (struct py_list){ .n = 0 });
}

/* The statement that each token begins; a name may begin `match`. */
static struct py_node *(*const compound[TOKS])(struct parser *) = {
	[T_IF] = if_statement, [T_WHILE] = while_statement, [T_FOR] = for_statement,
	[T_WITH] = with_statement, [T_TRY] = try_statement, [T_DEF] = decorated, [T_CLASS] = decorated,
	[T_AT] = decorated, [T_ASYNC] = plain_async, [T_NAME] = py_match,
};

struct py_node *py_compound(struct parser *p)
{
	return compound[p->tok.kind] ? compound[p->tok.kind](p) : NULL;
}
