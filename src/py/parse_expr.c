/* Expressions above the primaries. Rules from the tightest to the loosest, in CPython's
 * grammar:
 *
 *   await_primary   ['await'] primary
 *   power           await_primary ['**' factor]
 *   factor          ('+' | '-' | '~') factor | power
 *   binary          factor (operator factor)*, by precedence: * / % @ //, + -, << >>, &, ^, |
 *   comparison      binary (('<' | 'in' | 'is' 'not' | ...) binary)*
 *   inversion       'not' inversion | comparison
 *   conjunction     inversion ('and' inversion)*
 *   disjunction     conjunction ('or' conjunction)*
 *   expression      disjunction ['if' disjunction 'else' expression] | lambda
 *   named           NAME ':=' expression | expression
 *
 * Invariant: every function that recurses through a bracket or a prefix counts with py_nest. */
#include "py/parse.h"

/* --- operators ---------------------------------------------------------------------- */

static struct py_node *factor(struct parser *p);

/* await_primary: ['await'] primary */
static struct py_node *await_primary(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n;

	if (!py_accept(p, T_AWAIT))
		return py_primary(p);
	n = py_node(p, PY_Await, start);
	n->u.Await.value = py_primary(p);
	return py_done(p, n);
}

/* ** binds tighter than a unary operator on its left and looser than one on its right: -2 ** -1
 * is -(2 ** (-1)). */
static struct py_node *power(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *left = await_primary(p), *n;

	if (!py_at(p, T_POW))
		return left;
	py_next(p);
	n = py_node(p, PY_BinOp, start);
	py_nest(p);
	n->u.BinOp = (struct py_BinOp){ .left = left, .op = PY_OP_Pow, .right = factor(p) };
	py_unnest(p);
	return py_done(p, n);
}

/* Unary +, - and ~. */
static struct py_node *factor(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n;
	enum py_op op;

	switch (p->tok.kind) {
	case T_PLUS: op = PY_OP_UAdd; break;
	case T_MINUS: op = PY_OP_USub; break;
	case T_TILDE: op = PY_OP_Invert; break;
	default: return power(p);
	}
	py_next(p);
	n = py_node(p, PY_UnaryOp, start);
	py_nest(p);
	n->u.UnaryOp = (struct py_UnaryOp){ .op = op, .operand = factor(p) };
	py_unnest(p);
	return py_done(p, n);
}

/* Binary operators of precedence `least` or more, by precedence climbing. Chains are
 * left-nested. */
static struct py_node *binary(struct parser *p, int least)
{
	struct pos start = p->tok.start;
	struct py_node *left = factor(p);
	int length = 0;

	for (;;) {
		const struct token_info *t = &py_tokens[p->tok.kind];
		struct py_node *n;

		if (!t->prec || t->prec < least)
			break;
		py_next(p);
		n = py_node(p, PY_BinOp, start);
		n->u.BinOp = (struct py_BinOp){ .left = left, .op = t->op, .right = binary(p, t->prec + 1) };
		left = py_done(p, n);
		length++;
	}
	py_chain(p, length);
	return left;
}

/* An expression of binary operators, without comparisons. */
struct py_node *py_bitwise_or(struct parser *p)
{
	struct py_node *n;

	py_nest(p);
	n = binary(p, 1);
	py_unnest(p);
	return n;
}

/* Passes the comparison operator at p->tok; `is not` and `not in` are two words. */
static enum py_op comparison_operator(struct parser *p)
{
	enum py_tok kind = p->tok.kind;

	py_next(p);
	if (kind == T_IN)
		return PY_OP_In;
	if (kind == T_IS)
		return py_accept(p, T_NOT) ? PY_OP_IsNot : PY_OP_Is;
	if (kind == T_NOT) {
		py_expect(p, T_IN);
		return PY_OP_NotIn;
	}
	return py_tokens[kind].op;
}

/* a < b <= c is one node with two operators. */
static struct py_node *comparison(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *left = binary(p, 1), *n;
	size_t base = p->stack.n, cap = 0;
	struct py_oplist ops = { .n = 0 };

	if (!py_tokens[p->tok.kind].is_cmp)
		return left;
	while (py_tokens[p->tok.kind].is_cmp) {
		if (ops.n == cap) {
			enum py_op *v = arena_alloc(p->arena, (cap ? cap * 2 : 4) * sizeof *v);

			if (ops.n)
				memcpy(v, ops.v, ops.n * sizeof *v);
			ops.v = v;
			cap = cap ? cap * 2 : 4;
		}
		ops.v[ops.n++] = comparison_operator(p);
		py_push(p, binary(p, 1));
	}
	n = py_node(p, PY_Compare, start);
	n->u.Compare = (struct py_Compare){ .left = left, .ops = ops, .comparators = py_list_end(p, base) };
	return py_done(p, n);
}

/* `not x`. */
static struct py_node *inversion(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n;

	if (!py_at(p, T_NOT))
		return comparison(p);
	py_next(p);
	n = py_node(p, PY_UnaryOp, start);
	py_nest(p);
	n->u.UnaryOp = (struct py_UnaryOp){ .op = PY_OP_Not, .operand = inversion(p) };
	py_unnest(p);
	return py_done(p, n);
}

/* a and b and c is one node with three values. */
static struct py_node *bool_op(struct parser *p, struct py_node *first, struct pos start, enum py_tok word,
			       enum py_op op, struct py_node *(*operand)(struct parser *))
{
	size_t base = p->stack.n;
	struct py_node *n;

	py_push(p, first);
	while (py_accept(p, word))
		py_push(p, operand(p));
	n = py_node(p, PY_BoolOp, start);
	n->u.BoolOp = (struct py_BoolOp){ .op = op, .values = py_list_end(p, base) };
	return py_done(p, n);
}

/* conjunction: inversion ('and' inversion)* */
static struct py_node *conjunction(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = inversion(p);

	return py_at(p, T_AND) ? bool_op(p, n, start, T_AND, PY_OP_And, inversion) : n;
}

/* disjunction: conjunction ('or' conjunction)* */
static struct py_node *disjunction(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = conjunction(p);

	return py_at(p, T_OR) ? bool_op(p, n, start, T_OR, PY_OP_Or, conjunction) : n;
}

/* An `or` expression, without a conditional. */
struct py_node *py_disjunction(struct parser *p)
{
	struct py_node *n;

	py_nest(p);
	n = disjunction(p);
	py_unnest(p);
	return n;
}

/* --- expression ----------------------------------------------------------------------- */

/* lambda: 'lambda' [params] ':' expression */
static struct py_node *lambda(struct parser *p)
{
	struct py_node *n = py_node(p, PY_Lambda, p->tok.start);

	py_next(p);
	n->u.Lambda.args = py_params(p, T_COLON);
	py_expect(p, T_COLON);
	n->u.Lambda.body = py_expression(p);
	return py_done(p, n);
}

/* `body if test else orelse`, at the `if`. */
static struct py_node *conditional(struct parser *p, struct py_node *body, struct pos start)
{
	struct py_node *n = py_node(p, PY_IfExp, start);

	py_next(p);
	n->u.IfExp.body = body;
	n->u.IfExp.test = disjunction(p);
	if (!py_at(p, T_ELSE) && !py_at(p, T_COLON))
		py_fail(p, start, "expected 'else' after 'if' expression");
	py_expect(p, T_ELSE);
	n->u.IfExp.orelse = py_expression(p);
	return py_done(p, n);
}

/* In brackets, an expression directly after another: most likely a comma is missing. A name
 * followed by a string is an unknown string prefix instead. */
static void check_missing_comma(struct parser *p, const struct py_node *n, struct pos start, const char *word)
{
	if (n->kind == PY_Name && py_at(p, T_STRING))
		return;
	if (word == p->id_match || word == p->id_case || word == p->id_under)
		return;
	py_fail(p, start, "invalid syntax. Perhaps you forgot a comma?");
}

/* A conditional expression or a lambda. */
struct py_node *py_expression(struct parser *p)
{
	struct pos start = p->tok.start;
	const char *word = p->tok.p;
	struct py_node *n;

	py_nest(p);
	if (py_at(p, T_LAMBDA)) {
		n = lambda(p);
	} else {
		n = disjunction(p);
		if (py_at(p, T_IF))
			n = conditional(p, n, start);
		else if (py_starts_expr(p) && p->lx.depth)
			check_missing_comma(p, n, start, word);
	}
	py_unnest(p);
	return n;
}

/* name := value, at the operator. */
static struct py_node *walrus(struct parser *p, struct py_node *target, struct pos start)
{
	struct py_node *n = py_node(p, PY_NamedExpr, start);

	py_next(p);
	target->u.Name.ctx = PY_STORE;
	n->u.NamedExpr.target = target;
	n->u.NamedExpr.value = py_expression(p);
	return py_done(p, n);
}

/* An expression, or a walrus on a plain name: (x) := 1 is none. */
struct py_node *py_assignment_expression(struct parser *p)
{
	struct pos start = p->tok.start;
	int plain = py_at(p, T_NAME);
	struct py_node *n = py_expression(p);

	if (py_at(p, T_WALRUS) && plain && n->kind == PY_Name)
		return walrus(p, n, start);
	return n;
}

/* An '=' in a test or an element was meant as '==' or ':='. */
static void check_equals(struct parser *p, const struct py_node *n)
{
	struct pos at = { .line = n->line, .col = n->col };

	if (n->kind == PY_Name)
		py_fail(p, at, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
	if (py_is_operand(n))
		py_fail(p, at, "cannot assign to %s here. Maybe you meant '==' instead of '='?", py_expr_name(n));
}

/* As py_assignment_expression, with messages about misplaced '=' and ':='. */
struct py_node *py_named_expression(struct parser *p)
{
	struct py_node *n = py_assignment_expression(p);

	if (py_at(p, T_WALRUS) && n->kind != PY_NamedExpr)
		py_fail(p, (struct pos){ .line = n->line, .col = n->col },
			"cannot use assignment expressions with %s", py_expr_name(n));
	if (py_at(p, T_ASSIGN))
		check_equals(p, n);
	return n;
}

/* --- starred and lists ------------------------------------------------------------------ */

/* *operand, at the star. */
struct py_node *py_starred(struct parser *p, struct py_node *(*operand)(struct parser *))
{
	struct py_node *n = py_node(p, PY_Starred, p->tok.start);

	py_next(p);
	n->u.Starred.value = operand(p);
	return py_done(p, n);
}

static struct py_node *star_expression(struct parser *p)
{
	return py_at(p, T_STAR) ? py_starred(p, py_bitwise_or) : py_expression(p);
}

struct py_node *py_star_named_expression(struct parser *p)
{
	return py_at(p, T_STAR) ? py_starred(p, py_bitwise_or) : py_named_expression(p);
}

/* One expression, or a tuple without parentheses. */
struct py_node *py_star_expressions(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = star_expression(p), *tuple;
	size_t base = p->stack.n;

	if (!py_at(p, T_COMMA))
		return n;
	py_push(p, n);
	while (py_accept(p, T_COMMA) && py_starts_expr(p) && !py_at(p, T_YIELD))
		py_push(p, star_expression(p));
	tuple = py_node(p, PY_Tuple, start);
	tuple->u.Tuple.elts = py_list_end(p, base);
	return py_done(p, tuple);
}

/* yield, yield v, or yield from v. */
struct py_node *py_yield(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n;

	py_next(p);
	if (py_accept(p, T_FROM)) {
		n = py_node(p, PY_YieldFrom, start);
		n->u.YieldFrom.value = py_expression(p);
	} else {
		n = py_node(p, PY_Yield, start);
		if (py_starts_expr(p) && !py_at(p, T_YIELD))
			n->u.Yield.value = py_star_expressions(p);
	}
	return py_done(p, n);
}

struct py_node *py_yield_or_star_expressions(struct parser *p)
{
	return py_at(p, T_YIELD) ? py_yield(p) : py_star_expressions(p);
}
