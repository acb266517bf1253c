/* Printing expressions: one function per kind of node, with the precedence of each in
 * `printers`. py_print_expr adds the parentheses. print.h explains the rule. */
#include "py/print.h"

#include <math.h>

#include "py/repr.h"

/* Elements separated by commas. */
void py_print_list(struct py_printer *p, const struct py_list *l, enum prec prec)
{
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_adds(p->out, ", ");
		py_print_expr(p, l->v[i], prec);
	}
}

/* A tuple without parentheses, as `return a, b` has it. The empty tuple needs them. */
void py_print_bare(struct py_printer *p, const struct py_node *n)
{
	if (n->kind != PY_Tuple || !n->u.Tuple.elts.n) {
		py_print_expr(p, n, P_TEST);
		return;
	}
	py_print_list(p, &n->u.Tuple.elts, P_TEST);
	if (n->u.Tuple.elts.n == 1)
		buf_addc(p->out, ',');
}

/* The right side of an assignment: a bare tuple or a yield without parentheses. */
void py_print_value(struct py_printer *p, const struct py_node *n)
{
	if (n->kind == PY_Yield || n->kind == PY_YieldFrom)
		py_print_expr(p, n, P_YIELD);
	else
		py_print_bare(p, n);
}

/* --- operators --------------------------------------------------------------------------- */

/* The precedence of an operator node. */
static enum prec op_prec(enum py_op op)
{
	static const uint8_t precs[PY_OPS] = {
		[PY_OP_BitOr] = P_BIT_OR, [PY_OP_BitXor] = P_BIT_XOR, [PY_OP_BitAnd] = P_BIT_AND,
		[PY_OP_LShift] = P_SHIFT, [PY_OP_RShift] = P_SHIFT, [PY_OP_Add] = P_ARITH, [PY_OP_Sub] = P_ARITH,
		[PY_OP_Mult] = P_TERM, [PY_OP_MatMult] = P_TERM, [PY_OP_Div] = P_TERM, [PY_OP_Mod] = P_TERM,
		[PY_OP_FloorDiv] = P_TERM, [PY_OP_Pow] = P_POWER, [PY_OP_And] = P_AND, [PY_OP_Or] = P_OR,
		[PY_OP_Not] = P_NOT, [PY_OP_Invert] = P_FACTOR, [PY_OP_UAdd] = P_FACTOR, [PY_OP_USub] = P_FACTOR,
	};

	return precs[op];
}

/* Left-associative operators take an equal precedence on the left only: a - (b - c) keeps its
 * parentheses. ** associates to the right, and its left operand binds tighter than a unary
 * minus. */
static void print_binop(struct py_printer *p, const struct py_node *n)
{
	enum prec prec = op_prec(n->u.BinOp.op);
	int pow = n->u.BinOp.op == PY_OP_Pow;

	py_print_expr(p, n->u.BinOp.left, pow ? P_AWAIT : prec);
	buf_addf(p->out, " %s ", py_op_text(n->u.BinOp.op));
	py_print_expr(p, n->u.BinOp.right, pow ? P_FACTOR : prec + 1);
}

/* `a and (b and c)` is another tree than `a and b and c`, so values bind tighter. */
static void print_boolop(struct py_printer *p, const struct py_node *n)
{
	for (size_t i = 0; i < n->u.BoolOp.values.n; i++) {
		if (i)
			buf_addf(p->out, " %s ", py_op_text(n->u.BoolOp.op));
		py_print_expr(p, n->u.BoolOp.values.v[i], op_prec(n->u.BoolOp.op) + 1);
	}
}

/* `not` needs a space. */
static void print_unaryop(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, py_op_text(n->u.UnaryOp.op));
	if (n->u.UnaryOp.op == PY_OP_Not)
		buf_addc(p->out, ' ');
	py_print_expr(p, n->u.UnaryOp.operand, op_prec(n->u.UnaryOp.op));
}

/* A comparison inside a comparison gets parentheses: (a < b) < c. */
static void print_compare(struct py_printer *p, const struct py_node *n)
{
	py_print_expr(p, n->u.Compare.left, P_BIT_OR);
	for (size_t i = 0; i < n->u.Compare.ops.n; i++) {
		buf_addf(p->out, " %s ", py_op_text(n->u.Compare.ops.v[i]));
		py_print_expr(p, n->u.Compare.comparators.v[i], P_BIT_OR);
	}
}

static void print_named(struct py_printer *p, const struct py_node *n)
{
	py_print_expr(p, n->u.NamedExpr.target, P_ATOM);
	buf_adds(p->out, " := ");
	py_print_expr(p, n->u.NamedExpr.value, P_TEST);
}

/* Only the last part may be a conditional without parentheses. */
static void print_ifexp(struct py_printer *p, const struct py_node *n)
{
	py_print_expr(p, n->u.IfExp.body, P_OR);
	buf_adds(p->out, " if ");
	py_print_expr(p, n->u.IfExp.test, P_OR);
	buf_adds(p->out, " else ");
	py_print_expr(p, n->u.IfExp.orelse, P_TEST);
}

static void print_await(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "await ");
	py_print_expr(p, n->u.Await.value, P_ATOM);
}

/* yield a, b has no parentheses around its tuple. */
static void print_yield(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "yield");
	if (n->u.Yield.value) {
		buf_addc(p->out, ' ');
		py_print_bare(p, n->u.Yield.value);
	}
}

static void print_yield_from(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "yield from ");
	py_print_expr(p, n->u.YieldFrom.value, P_TEST);
}

/* *a | b is *(a | b). */
static void print_starred(struct py_printer *p, const struct py_node *n)
{
	buf_addc(p->out, '*');
	py_print_expr(p, n->u.Starred.value, P_BIT_OR);
}

/* --- displays and comprehensions ----------------------------------------------------------- */

/* (a,) needs its comma. */
static void print_tuple(struct py_printer *p, const struct py_node *n)
{
	buf_addc(p->out, '(');
	py_print_list(p, &n->u.Tuple.elts, P_TEST);
	buf_adds(p->out, n->u.Tuple.elts.n == 1 ? ",)" : ")");
}

static void print_list_display(struct py_printer *p, const struct py_node *n)
{
	buf_addc(p->out, '[');
	py_print_list(p, &n->u.List.elts, P_TEST);
	buf_addc(p->out, ']');
}

/* An empty set node prints as {*()}, because {} would be a dictionary. */
static void print_set(struct py_printer *p, const struct py_node *n)
{
	buf_addc(p->out, '{');
	py_print_list(p, &n->u.Set.elts, P_TEST);
	buf_adds(p->out, n->u.Set.elts.n ? "}" : "*()}");
}

/* A NULL key means **value. */
static void print_dict(struct py_printer *p, const struct py_node *n)
{
	buf_addc(p->out, '{');
	for (size_t i = 0; i < n->u.Dict.values.n; i++) {
		if (i)
			buf_adds(p->out, ", ");
		if (n->u.Dict.keys.v[i]) {
			py_print_expr(p, n->u.Dict.keys.v[i], P_TEST);
			buf_adds(p->out, ": ");
			py_print_expr(p, n->u.Dict.values.v[i], P_TEST);
		} else {
			buf_adds(p->out, "**");
			py_print_expr(p, n->u.Dict.values.v[i], P_BIT_OR);
		}
	}
	buf_addc(p->out, '}');
}

/* The clauses of a comprehension. An iterable or condition that is a conditional expression
 * needs parentheses. */
static void print_generators(struct py_printer *p, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct py_comprehension *c = &l->v[i]->u.comprehension;

		buf_adds(p->out, c->is_async ? " async for " : " for ");
		py_print_bare(p, c->target);
		buf_adds(p->out, " in ");
		py_print_expr(p, c->iter, P_OR);
		for (size_t k = 0; k < c->ifs.n; k++) {
			buf_adds(p->out, " if ");
			py_print_expr(p, c->ifs.v[k], P_OR);
		}
	}
}

/* Element and clauses between two brackets. */
static void print_comp(struct py_printer *p, const struct py_node *elt, const struct py_list *generators,
		       const char *brackets)
{
	buf_addc(p->out, brackets[0]);
	py_print_expr(p, elt, P_TEST);
	print_generators(p, generators);
	buf_addc(p->out, brackets[1]);
}

static void print_listcomp(struct py_printer *p, const struct py_node *n)
{
	print_comp(p, n->u.ListComp.elt, &n->u.ListComp.generators, "[]");
}

static void print_setcomp(struct py_printer *p, const struct py_node *n)
{
	print_comp(p, n->u.SetComp.elt, &n->u.SetComp.generators, "{}");
}

static void print_genexp(struct py_printer *p, const struct py_node *n)
{
	print_comp(p, n->u.GeneratorExp.elt, &n->u.GeneratorExp.generators, "()");
}

static void print_dictcomp(struct py_printer *p, const struct py_node *n)
{
	buf_addc(p->out, '{');
	py_print_expr(p, n->u.DictComp.key, P_TEST);
	buf_adds(p->out, ": ");
	py_print_expr(p, n->u.DictComp.value, P_TEST);
	print_generators(p, &n->u.DictComp.generators);
	buf_addc(p->out, '}');
}

/* --- primaries ------------------------------------------------------------------------------- */

/* Also the bases and keywords of a class statement. */
void py_print_call_arguments(struct py_printer *p, const struct py_list *args, const struct py_list *keywords)
{
	py_print_list(p, args, P_TEST);
	for (size_t i = 0; i < keywords->n; i++) {
		const struct py_keyword *k = &keywords->v[i]->u.keyword;

		if (i || args->n)
			buf_adds(p->out, ", ");
		if (k->arg.p)
			buf_addf(p->out, "%.*s=", STR_ARG(k->arg));
		else
			buf_adds(p->out, "**");
		py_print_expr(p, k->value, P_TEST);
	}
}

static void print_call(struct py_printer *p, const struct py_node *n)
{
	py_print_expr(p, n->u.Call.func, P_ATOM);
	buf_addc(p->out, '(');
	py_print_call_arguments(p, &n->u.Call.args, &n->u.Call.keywords);
	buf_addc(p->out, ')');
}

/* An integer needs a space before the dot: 1.real would be the number "1." and a name. */
static void print_attribute(struct py_printer *p, const struct py_node *n)
{
	const struct py_node *v = n->u.Attribute.value;
	int digits = v->kind == PY_Constant && (v->u.Constant.value.kind == PY_C_INT ||
						v->u.Constant.value.kind == PY_C_BIGINT);

	py_print_expr(p, v, P_ATOM);
	buf_addf(p->out, "%s.%.*s", digits ? " " : "", STR_ARG(n->u.Attribute.attr));
}

/* x[a, b]: the tuple of indices has no parentheses. */
static void print_subscript(struct py_printer *p, const struct py_node *n)
{
	py_print_expr(p, n->u.Subscript.value, P_ATOM);
	buf_addc(p->out, '[');
	if (n->u.Subscript.slice->kind == PY_Tuple)
		py_print_bare(p, n->u.Subscript.slice);
	else
		py_print_expr(p, n->u.Subscript.slice, P_TEST);
	buf_addc(p->out, ']');
}

/* a:b:c; a missing part stays missing. */
static void print_slice(struct py_printer *p, const struct py_node *n)
{
	if (n->u.Slice.lower)
		py_print_expr(p, n->u.Slice.lower, P_TEST);
	buf_addc(p->out, ':');
	if (n->u.Slice.upper)
		py_print_expr(p, n->u.Slice.upper, P_TEST);
	if (n->u.Slice.step) {
		buf_addc(p->out, ':');
		py_print_expr(p, n->u.Slice.step, P_TEST);
	}
}

static void print_name(struct py_printer *p, const struct py_node *n)
{
	buf_addstr(p->out, n->u.Name.id);
}

/* Infinity has no literal, but a number that is too large reads as infinity: 1e309. */
static void print_constant(struct py_printer *p, const struct py_node *n)
{
	const struct py_const *c = &n->u.Constant.value;

	if (c->kind == PY_C_STR || c->kind == PY_C_BYTES)
		py_print_string(p, c, n->u.Constant.kind);
	else if (c->kind == PY_C_ELLIPSIS)
		buf_adds(p->out, "...");
	else if (c->kind == PY_C_BIGINT)
		buf_addstr(p->out, c->s);
	else if ((c->kind == PY_C_FLOAT || c->kind == PY_C_IMAG) && isinf(c->f))
		buf_addf(p->out, "%s1e309%s", c->f < 0 ? "-" : "", c->kind == PY_C_IMAG ? "j" : "");
	else
		py_repr_const(c, p->out);
}

/* --- parameters ------------------------------------------------------------------------------- */

/* A parameter with its annotation and default. *any: a comma is needed before it. */
static void print_param(struct py_printer *p, const char *star, const struct py_node *n,
			const struct py_node *value, int *any)
{
	buf_addf(p->out, "%s%s%.*s", *any ? ", " : "", star, STR_ARG(n->u.arg.arg));
	*any = 1;
	if (n->u.arg.annotation) {
		buf_adds(p->out, ": ");
		py_print_expr(p, n->u.arg.annotation, P_TEST);
	}
	if (value) {
		buf_adds(p->out, n->u.arg.annotation ? " = " : "=");
		py_print_expr(p, value, P_TEST);
	}
}

/* Positional parameters of one list. `first` is the index of its first one among all; defaults
 * belong to the last parameters. */
static void print_positional(struct py_printer *p, const struct py_list *l, const struct py_arguments *a,
			     size_t first, int *any)
{
	size_t plain = a->posonlyargs.n + a->args.n - a->defaults.n;

	for (size_t i = 0; i < l->n; i++)
		print_param(p, "", l->v[i], first + i >= plain ? a->defaults.v[first + i - plain] : NULL, any);
}

/* a, b=1, /, c, *args, d=2, **kwargs. */
void py_print_params(struct py_printer *p, const struct py_arguments *a)
{
	int any = 0;

	print_positional(p, &a->posonlyargs, a, 0, &any);
	if (a->posonlyargs.n)
		buf_adds(p->out, ", /");
	print_positional(p, &a->args, a, a->posonlyargs.n, &any);
	if (a->vararg)
		print_param(p, "*", a->vararg, NULL, &any);
	else if (a->kwonlyargs.n) {
		buf_adds(p->out, any ? ", *" : "*");
		any = 1;
	}
	for (size_t i = 0; i < a->kwonlyargs.n; i++)
		print_param(p, "", a->kwonlyargs.v[i], a->kw_defaults.v[i], &any);
	if (a->kwarg)
		print_param(p, "**", a->kwarg, NULL, &any);
}

/* Without parameters there is no space: "lambda: 0". */
static void print_lambda(struct py_printer *p, const struct py_node *n)
{
	size_t before;

	buf_adds(p->out, "lambda ");
	before = p->out->n;
	py_print_params(p, &n->u.Lambda.args->u.arguments);
	if (p->out->n == before && before)
		p->out->n--;
	buf_adds(p->out, ": ");
	py_print_expr(p, n->u.Lambda.body, P_TEST);
}

/* --- dispatch ----------------------------------------------------------------------------------- */

/* The printer and the precedence of each kind. A walrus is always put in parentheses, since few
 * contexts take one without. */
static const struct { void (*print)(struct py_printer *, const struct py_node *); enum prec prec;
		      } printers[PY_KINDS] = {
	[PY_NamedExpr] = { print_named, P_TUPLE }, [PY_BoolOp] = { print_boolop, P_OR },
	[PY_BinOp] = { print_binop, P_ARITH }, [PY_UnaryOp] = { print_unaryop, P_FACTOR },
	[PY_Lambda] = { print_lambda, P_TEST }, [PY_IfExp] = { print_ifexp, P_TEST },
	[PY_Dict] = { print_dict, P_ATOM }, [PY_Set] = { print_set, P_ATOM },
	[PY_ListComp] = { print_listcomp, P_ATOM }, [PY_SetComp] = { print_setcomp, P_ATOM },
	[PY_DictComp] = { print_dictcomp, P_ATOM }, [PY_GeneratorExp] = { print_genexp, P_ATOM },
	[PY_Await] = { print_await, P_AWAIT }, [PY_Yield] = { print_yield, P_YIELD },
	[PY_YieldFrom] = { print_yield_from, P_YIELD }, [PY_Compare] = { print_compare, P_CMP },
	[PY_Call] = { print_call, P_ATOM }, [PY_JoinedStr] = { py_print_joined, P_ATOM },
	[PY_Constant] = { print_constant, P_ATOM }, [PY_Attribute] = { print_attribute, P_ATOM },
	[PY_Subscript] = { print_subscript, P_ATOM }, [PY_Starred] = { print_starred, P_ATOM },
	[PY_Name] = { print_name, P_ATOM }, [PY_List] = { print_list_display, P_ATOM },
	[PY_Tuple] = { print_tuple, P_ATOM }, [PY_Slice] = { print_slice, P_ATOM },
};

/* A negative constant, which only a program builds, binds like a unary minus. */
static enum prec prec_of(const struct py_node *n)
{
	const struct py_const *c = &n->u.Constant.value;

	switch (n->kind) {
	case PY_BinOp: return op_prec(n->u.BinOp.op);
	case PY_BoolOp: return op_prec(n->u.BoolOp.op);
	case PY_UnaryOp: return op_prec(n->u.UnaryOp.op);
	case PY_Constant:
		return (c->kind == PY_C_INT && c->i < 0) ||
			((c->kind == PY_C_FLOAT || c->kind == PY_C_IMAG) && signbit(c->f)) ? P_FACTOR : P_ATOM;
	default: return printers[n->kind].prec;
	}
}

/* Prints n for a context of precedence `prec`, in parentheses if n binds less tightly. */
void py_print_expr(struct py_printer *p, const struct py_node *n, enum prec prec)
{
	int parens = prec_of(n) < prec || n->kind == PY_NamedExpr;

	BUG_ON(!printers[n->kind].print);
	if (parens)
		buf_addc(p->out, '(');
	printers[n->kind].print(p, n);
	if (parens)
		buf_addc(p->out, ')');
}
