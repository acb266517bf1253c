/* Expressions that turn out to be targets: they are parsed as expressions, then checked and
 * marked here. */
#include "py/parse.h"

/* The name of an expression in CPython's "cannot assign to ...". */
const char *py_expr_name(const struct py_node *n)
{
	static const char *const names[PY_KINDS] = {
		[PY_Attribute] = "attribute", [PY_Subscript] = "subscript", [PY_Starred] = "starred",
		[PY_Name] = "name", [PY_List] = "list", [PY_Tuple] = "tuple", [PY_Lambda] = "lambda",
		[PY_Call] = "function call", [PY_BoolOp] = "expression", [PY_BinOp] = "expression",
		[PY_UnaryOp] = "expression", [PY_GeneratorExp] = "generator expression",
		[PY_Yield] = "yield expression", [PY_YieldFrom] = "yield expression",
		[PY_Await] = "await expression", [PY_ListComp] = "list comprehension",
		[PY_SetComp] = "set comprehension", [PY_DictComp] = "dict comprehension",
		[PY_Dict] = "dict literal", [PY_Set] = "set display", [PY_JoinedStr] = "f-string expression",
		[PY_Constant] = "literal", [PY_Compare] = "comparison", [PY_IfExp] = "conditional expression",
		[PY_NamedExpr] = "named expression",
	};

	if (n->kind == PY_Constant) {
		switch (n->u.Constant.value.kind) {
		case PY_C_NONE: return "None";
		case PY_C_TRUE: return "True";
		case PY_C_FALSE: return "False";
		case PY_C_ELLIPSIS: return "ellipsis";
		default: return "literal";
		}
	}
	return names[n->kind] ? names[n->kind] : "expression";
}

/* Does CPython's grammar take it for an operand of '='? Then its message says "here". */
int py_is_operand(const struct py_node *n)
{
	switch (n->kind) {
	case PY_Compare: case PY_BoolOp: case PY_IfExp: case PY_Lambda: case PY_NamedExpr: case PY_Starred:
	case PY_List: case PY_Tuple: case PY_GeneratorExp: case PY_Yield: case PY_YieldFrom:
		return 0;
	case PY_UnaryOp:
		return n->u.UnaryOp.op != PY_OP_Not;
	case PY_Constant:
		return n->u.Constant.value.kind > PY_C_FALSE;
	default:
		return 1;
	}
}

/* The first part of a list or tuple that cannot be a target. */
static const struct py_node *first_invalid(const struct py_list *l, enum target_use use)
{
	const struct py_node *bad = NULL;

	for (size_t i = 0; i < l->n && !bad; i++)
		bad = py_invalid_target(l->v[i], use);
	return bad;
}

/* The part of `n` that cannot be a target, or NULL. `del` takes no starred parts. */
const struct py_node *py_invalid_target(const struct py_node *n, enum target_use use)
{
	switch (n->kind) {
	case PY_Name: case PY_Attribute: case PY_Subscript: return NULL;
	case PY_Tuple: return first_invalid(&n->u.Tuple.elts, use);
	case PY_List: return first_invalid(&n->u.List.elts, use);
	case PY_Starred: return use == FOR_DEL ? n : py_invalid_target(n->u.Starred.value, use);
	default: return n;
	}
}

/* Sets the context of a target and of all its parts. */
static void mark(struct py_node *n, enum py_ctx ctx)
{
	struct py_list *elts = n->kind == PY_Tuple ? &n->u.Tuple.elts : &n->u.List.elts;

	switch (n->kind) {
	case PY_Name:
		n->u.Name.ctx = ctx;
		break;
	case PY_Attribute:
		n->u.Attribute.ctx = ctx;
		break;
	case PY_Subscript:
		n->u.Subscript.ctx = ctx;
		break;
	case PY_Starred:
		n->u.Starred.ctx = ctx;
		mark(n->u.Starred.value, ctx);
		break;
	default:
		if (n->kind == PY_Tuple)
			n->u.Tuple.ctx = ctx;
		else
			n->u.List.ctx = ctx;
		for (size_t i = 0; i < elts->n; i++)
			mark(elts->v[i], ctx);
	}
}

/* Turns an expression into a target, or fails in CPython's words. */
void py_to_target(struct parser *p, struct py_node *n, enum target_use use)
{
	const struct py_node *bad = py_invalid_target(n, use);

	if (bad)
		py_fail(p, (struct pos){ .line = bad->line, .col = bad->col }, "cannot %s %s",
			use == FOR_DEL ? "delete" : "assign to", py_expr_name(bad));
	mark(n, use == FOR_DEL ? PY_DEL : PY_STORE);
}

/* One target of for, with or a comprehension. Only a primary is read, so that `in` is not taken
 * for an operator. */
struct py_node *py_star_target(struct parser *p)
{
	struct py_node *n = py_at(p, T_STAR) ? py_starred(p, py_primary) : py_primary(p);

	py_to_target(p, n, FOR_STORE);
	return n;
}

/* One target, or a tuple of several. */
struct py_node *py_star_targets(struct parser *p)
{
	struct pos start = p->tok.start;
	struct py_node *n = py_star_target(p), *tuple;
	size_t base = p->stack.n;

	if (!py_at(p, T_COMMA))
		return n;
	py_push(p, n);
	while (py_accept(p, T_COMMA) && py_starts_expr(p))
		py_push(p, py_star_target(p));
	tuple = py_node(p, PY_Tuple, start);
	tuple->u.Tuple.elts = py_list_end(p, base);
	tuple->u.Tuple.ctx = PY_STORE;
	return py_done(p, tuple);
}
