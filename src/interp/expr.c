/* Expressions, dispatched by `table` over the kind of syntax node. Owns the evaluation order,
 * which is CPython's: left to right. Operators themselves are in operator.c and order.c, calls
 * in call.c, comprehensions in comp.c.
 *
 * Invariants: each result is immediate or held as a temporary. f->node is set just before an
 * operation that can fail, so that its message points at the right expression. In a dry run with
 * h->o.path set, outcomes of tests and kinds of values are recorded (work.c). */
#include "interp/attr.h"
#include "interp/big.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/work.h"

typedef int eval_fn(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);

/* Short strings are interned: they are often keys and attribute names. */
static int eval_constant(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	const struct py_const *c = &n->u.Constant.value;
	struct str_obj *s;

	(void)f;
	switch (c->kind) {
	case PY_C_NONE: *out = val_none(); return 0;
	case PY_C_TRUE: *out = val_bool(1); return 0;
	case PY_C_FALSE: *out = val_bool(0); return 0;
	case PY_C_ELLIPSIS: *out = (struct val){ .kind = V_ELLIPSIS }; return 0;
	case PY_C_INT: *out = val_int(c->i); return 0;
	case PY_C_FLOAT: *out = val_float(c->f); return 0;
	case PY_C_BIGINT: return big_parse(h, c->s, 0, out);
	case PY_C_BYTES: return val_bytes(h, c->s, out);
	case PY_C_IMAG: return host_fatal(h, REASON_unsupported, "complex numbers are not supported");
	case PY_C_STR: break;
	}
	if (c->s.n > 64)
		return val_str(h, c->s, out);
	s = host_intern(h, c->s);
	if (!s)
		return -1;
	*out = val_of_str(s);
	return 0;
}

/* A variable; f->node is set because an unbound name fails. */
static int eval_name(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	f->node = n;
	return name_load(h, f, n->u.Name.id, out);
}

/* x.name; private names are mangled first. */
static int eval_attribute(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val v;
	struct str_obj *name = attr_ident(h, f, n->u.Attribute.attr);
	if (!name || eval_expr(h, f, n->u.Attribute.value, &v))
		return -1;
	f->node = n;
	return attr_load(h, v, name, out);
}

/* An absent part of a slice is None. */
static int eval_optional(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	*out = val_none();
	return n ? eval_expr(h, f, n, out) : 0;
}

/* lower:upper:step in a subscript. */
static int eval_slice(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val a, b, c;
	if (eval_optional(h, f, n->u.Slice.lower, &a) || eval_optional(h, f, n->u.Slice.upper, &b) ||
	    eval_optional(h, f, n->u.Slice.step, &c))
		return -1;
	return val_slice(h, a, b, c, out);
}

/* x[i]. A computed index is recorded in a dry run: a list of block sizes that is indexed by a
 * size is a size branch. */
static int eval_subscript(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val v, i;
	if (eval_expr(h, f, n->u.Subscript.value, &v) || eval_expr(h, f, n->u.Subscript.slice, &i))
		return -1;
	f->node = n;
	if (h->o.path && n->u.Subscript.slice->kind != PY_Constant)
		host_note_index(h, n, v, i);
	return item_get(h, v, i, out);
}

/* a + b. Operands are dropped right after the operator, so that large intermediate tensors of
 * an expression do not pile up: in `a + b + c` the sum a + b is free before the statement ends. */
static int eval_binop(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val a, b, r;
	size_t mark = temps_mark(h);
	if (eval_expr(h, f, n->u.BinOp.left, &a) || eval_expr(h, f, n->u.BinOp.right, &b))
		return -1;
	f->node = n;
	if (op_binary(h, n->u.BinOp.op, a, b, &r))
		return -1;
	if (n->u.BinOp.op == PY_OP_FloorDiv)
		host_note_quotient(h, n, r);
	*out = temps_drain_to(h, mark, r);
	return 0;
}

/* -x, +x, ~x, not x. */
static int eval_unary(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val v;
	if (eval_expr(h, f, n->u.UnaryOp.operand, &v))
		return -1;
	f->node = n;
	return op_unary(h, n->u.UnaryOp.op, v, out);
}

/* `a and b` gives the operand that decides, not a bool; later operands are not evaluated. */
static int eval_boolop(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	const struct py_list *l = &n->u.BoolOp.values;
	for (size_t i = 0; i < l->n; i++) {
		int t;

		if (eval_expr(h, f, l->v[i], out))
			return -1;
		if (i + 1 == l->n)
			return 0;
		f->node = n;
		t = val_truth(h, *out);
		if (t < 0)
			return -1;
		host_note_branch(h, l->v[i], t);
		if (t == (n->u.BoolOp.op == PY_OP_Or))
			return 0;
	}
	return 0;
}

/* a < b < c evaluates b once and stops at the first comparison that is false. Comparisons of
 * two integers are recorded with their operands: they may be size branches. */
static int eval_compare(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val a, b;
	const struct py_Compare *c = &n->u.Compare;
	if (eval_expr(h, f, c->left, &a))
		return -1;
	for (size_t i = 0; i < c->ops.n; i++) {
		int t;

		if (eval_expr(h, f, c->comparators.v[i], &b))
			return -1;
		f->node = n;
		if (op_compare(h, c->ops.v[i], a, b, out))
			return -1;
		if (out->kind == V_BOOL)
			host_note_branch(h, c->comparators.v[i], out->u.i != 0);
		if (out->kind == V_BOOL)
			host_note_test(h, c->comparators.v[i], a, b, out->u.i != 0);
		if (i + 1 == c->ops.n)
			return 0;
		t = val_truth(h, *out);
		if (t <= 0)
			return t;
		a = b;
	}
	return 0;
}

/* `x if t else y` evaluates only one of x and y. */
static int eval_ifexp(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val t;
	int yes;

	if (eval_expr(h, f, n->u.IfExp.test, &t))
		return -1;
	f->node = n;
	yes = val_truth(h, t);
	if (yes < 0)
		return -1;
	host_note_branch(h, n, yes);
	return eval_expr(h, f, yes ? n->u.IfExp.body : n->u.IfExp.orelse, out);
}

/* Evaluates the elements of [..], (..) or {..} into a list; *v is spread. */
static int eval_items(struct host *h, struct host_frame *f, const struct py_list *l, struct val list)
{
	for (size_t i = 0; i < l->n; i++) {
		struct val v;
		size_t mark = temps_mark(h);
		int star = l->v[i]->kind == PY_Starred;
		if (eval_expr(h, f, star ? l->v[i]->u.Starred.value : l->v[i], &v))
			return -1;
		f->node = l->v[i];
		if (star ? list_extend(h, list, v) : list_append(h, list, v))
			return -1;
		temps_drain(h, mark);
	}
	return 0;
}

static int eval_list(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	return val_list(h, NULL, 0, out) ? -1 : eval_items(h, f, &n->u.List.elts, *out);
}

/* (a, *b, c). */
static int eval_tuple(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val t;
	if (val_tuple(h, NULL, 0, &t) || eval_items(h, f, &n->u.Tuple.elts, t))
		return -1;
	*out = t;
	return 0;
}

/* Elements are evaluated first and inserted afterwards, since __eq__ may run program code. */
static int eval_set(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val items;
	if (val_list(h, NULL, 0, &items) || eval_items(h, f, &n->u.Set.elts, items) || val_set(h, out))
		return -1;
	for (size_t i = 0; i < items.u.seq->n; i++)
		if (dict_set(h, *out, items.u.seq->v[i], val_none()))
			return -1;
	return 0;
}

/* {k: v, **d}. Keys are evaluated before their values; a NULL key marks **d. */
static int eval_dict(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	const struct py_Dict *d = &n->u.Dict;
	struct val key, v;
	if (val_dict(h, out))
		return -1;
	for (size_t i = 0; i < d->keys.n; i++) {
		size_t mark = temps_mark(h);
		if (d->keys.v[i] && eval_expr(h, f, d->keys.v[i], &key))
			return -1;
		if (eval_expr(h, f, d->values.v[i], &v))
			return -1;
		f->node = d->keys.v[i] ? d->keys.v[i] : d->values.v[i];
		if (!d->keys.v[i] && v.kind != V_DICT)
			return host_raise(h, EXC_TypeError, "'%s' object is not a mapping", val_type_name(h, v));
		if (d->keys.v[i] ? dict_set(h, *out, key, v) : dict_update(h, *out, v))
			return -1;
		temps_drain(h, mark);
	}
	return 0;
}

/* (x := v) stores v and gives it. */
static int eval_named(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	if (eval_expr(h, f, n->u.NamedExpr.value, out))
		return -1;
	return name_store(h, f, n->u.NamedExpr.target->u.Name.id, *out);
}

/* Appends to the list of the running generator function (call.c). The value of the yield
 * expression is None: send() does not exist. */
static int eval_yield(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val v;
	if (eval_optional(h, f, n->u.Yield.value, &v))
		return -1;
	*out = val_none();
	f->node = n;
	if (f->yields.kind != V_LIST)
		return host_fatal(h, REASON_unsupported, "yield outside a generator function");
	return list_append(h, f->yields, v);
}

/* yield from v appends all elements of v. */
static int eval_yield_from(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct val v;
	if (eval_expr(h, f, n->u.YieldFrom.value, &v))
		return -1;
	*out = val_none();
	f->node = n;
	if (f->yields.kind != V_LIST)
		return host_fatal(h, REASON_unsupported, "yield outside a generator function");
	return list_extend(h, f->yields, v);
}

/* *x is valid only where another function takes it apart. */
static int eval_starred(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	(void)out;
	f->node = n;
	return host_raise(h, EXC_SyntaxError, "can't use starred expression here");
}

static int eval_await(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	(void)out;
	f->node = n;
	return host_fatal(h, REASON_unsupported, "await is not supported");
}

/* One function per expression kind. */
static eval_fn *const table[PY_KINDS] = {
	[PY_Constant] = eval_constant, [PY_Name] = eval_name, [PY_Attribute] = eval_attribute,
	[PY_Subscript] = eval_subscript, [PY_Slice] = eval_slice, [PY_BinOp] = eval_binop,
	[PY_UnaryOp] = eval_unary, [PY_BoolOp] = eval_boolop, [PY_Compare] = eval_compare,
	[PY_IfExp] = eval_ifexp, [PY_List] = eval_list, [PY_Tuple] = eval_tuple, [PY_Set] = eval_set,
	[PY_Dict] = eval_dict, [PY_NamedExpr] = eval_named, [PY_Lambda] = make_function,
	[PY_Call] = eval_call, [PY_JoinedStr] = eval_fstring, [PY_FormattedValue] = eval_fstring,
	[PY_ListComp] = eval_comp, [PY_SetComp] = eval_comp, [PY_DictComp] = eval_comp,
	[PY_GeneratorExp] = eval_comp, [PY_Yield] = eval_yield, [PY_YieldFrom] = eval_yield_from,
	[PY_Starred] = eval_starred, [PY_Await] = eval_await,
};

/* Evaluates one expression: one step of fuel. The stack is checked here because a source can
 * nest expressions deeper than calls: 1+(1+(1+...)). */
int eval_expr(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	char here;
	eval_fn *fn;

	if (host_step(h))
		return -1;
	if (&here < h->lim.stack_floor)
		return host_fatal(h, REASON_recursion_limit, "an expression is nested too deeply");
	fn = table[n->kind];
	if (!fn)
		return host_fatal(h, REASON_unsupported, "%s is not supported here", py_kind_info(n->kind)->name);
	if (fn(h, f, n, out))
		return -1;
	if (h->o.path)
		host_note_kind(h, n, *out);
	return 0;
}
