/* Expressions that turn out to be targets: parsed as expressions, checked and marked here. */
#include "py/parse.h"

/* What CPython calls an expression in "cannot assign to ...". */
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

static _Noreturn void fail(struct parser *p, const struct py_node *n, enum target_use use)
{
	struct pos at = { .line = n->line, .col = n->col };
	int named = n->kind == PY_Constant && n->u.Constant.value.kind <= PY_C_FALSE;

	if (use == FOR_DEL)
		py_fail(p, at, "cannot delete %s", py_expr_name(n));
	if (use == FOR_ASSIGN && !named && n->kind != PY_GeneratorExp)
		py_fail(p, at, "cannot assign to %s here. Maybe you meant '==' instead of '='?", py_expr_name(n));
	py_fail(p, at, "cannot assign to %s", py_expr_name(n));
}

void py_to_target(struct parser *p, struct py_node *n, enum target_use use)
{
	enum py_ctx ctx = use == FOR_DEL ? PY_DEL : PY_STORE;
	enum target_use inner = use == FOR_ASSIGN ? FOR_TARGETS : use;

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
		if (use == FOR_DEL)
			fail(p, n, use);
		n->u.Starred.ctx = ctx;
		py_to_target(p, n->u.Starred.value, inner);
		break;
	case PY_Tuple:
		n->u.Tuple.ctx = ctx;
		for (size_t i = 0; i < n->u.Tuple.elts.n; i++)
			py_to_target(p, n->u.Tuple.elts.v[i], inner);
		break;
	case PY_List:
		n->u.List.ctx = ctx;
		for (size_t i = 0; i < n->u.List.elts.n; i++)
			py_to_target(p, n->u.List.elts.v[i], inner);
		break;
	default:
		fail(p, n, use);
	}
}

/* One target of for, with or a comprehension: `in` must not be taken for an operator, so
 * only a primary is read. */
struct py_node *py_star_target(struct parser *p)
{
	struct py_node *n = py_at(p, T_STAR) ? py_starred(p, py_primary) : py_primary(p);

	py_to_target(p, n, FOR_TARGETS);
	return n;
}

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
