/* Statements, and the names that a function assigns. One function for each kind of statement, found
 * through a table; a statement without one is refused with Triton's message. Example: `x = 1`
 * evaluates the constant, turns it into a scalar register (assigned_value) and puts that into the
 * slot of x. */
#include "tile/front/builtin.h"
#include "tile/front/front_flow.h"

/* --- names ---------------------------------------------------------------------------------- */

/* The arguments of scan_node. */
struct name_scan { struct front *f; struct front_frame *fr; };

/* Gives a name a slot, if it has none yet. */
void front_add_name(struct front *f, struct front_frame *fr, struct str id)
{
	if (front_slot(fr, id.p) >= 0)
		return;
	if (fr->n_names == fr->cap_names) {
		size_t cap = fr->cap_names ? 2 * fr->cap_names : 32;
		const char **names = arena_array(f->a, cap, sizeof *names);
		unsigned *lengths = arena_array(f->a, cap, sizeof *lengths);
		for (size_t i = 0; i < fr->n_names; i++)
			names[i] = fr->names[i], lengths[i] = fr->lengths[i];
		fr->names = names, fr->lengths = lengths, fr->cap_names = cap;
	}
	fr->lengths[fr->n_names] = (unsigned)id.n;
	fr->names[fr->n_names++] = id.p;
}

/* Adds every name that is assigned below this node. */
static void scan_node(void *ctx, struct py_node *n)
{
	struct name_scan *s = ctx;
	if (n->kind == PY_Name) {
		if (n->u.Name.ctx == PY_STORE)
			front_add_name(s->f, s->fr, n->u.Name.id);
		return;
	}
	if (n->kind != PY_Constant)
		py_children(n, scan_node, ctx);
}

/* Names get their slots before the body is compiled, so that frames have a fixed size. */
void front_scan_names(struct front *f, struct front_frame *fr, const struct py_list *body)
{
	struct name_scan s = { f, fr };
	for (size_t i = 0; i < body->n; i++)
		scan_node(&s, body->v[i]);
}

/* The arguments of mark_node. */
struct mark_scan { const struct front_frame *fr; unsigned char *mark; };

/* Marks the slot of every name that is assigned below this node. */
static void mark_node(void *ctx, struct py_node *n)
{
	struct mark_scan *s = ctx;
	if (n->kind == PY_Name) {
		if (n->u.Name.ctx == PY_STORE) {
			int slot = front_slot((struct front_frame *)s->fr, n->u.Name.id.p);
			if (slot >= 0)
				s->mark[slot] = 1;
		}
		return;
	}
	if (n->kind != PY_Constant && n->kind != PY_Attribute)
		py_children(n, mark_node, ctx);
}

/* The text decides, not the path: an assignment in a branch counts. */
void front_assigned(const struct front_frame *fr, const struct py_list *body, unsigned char *mark)
{
	struct mark_scan s = { fr, mark };
	for (size_t i = 0; i < body->n; i++)
		mark_node(&s, body->v[i]);
}

/* Looks for a return in statements that contain others. */
static void return_node(void *ctx, struct py_node *n)
{
	if (n->kind == PY_Return)
		*(int *)ctx = 1;
	else if (n->kind == PY_If || n->kind == PY_For || n->kind == PY_While || n->kind == PY_With)
		py_children(n, return_node, ctx);
}

int front_has_return(const struct py_list *body)
{
	int found = 0;
	for (size_t i = 0; i < body->n && !found; i++)
		return_node(&found, body->v[i]);
	return found;
}

/* --- assignment -------------------------------------------------------------------------------- */

/* The value that a variable holds after `x = value`: numbers become tensors; None, types and
 * tensors stay. */
static struct lang_val assigned_value(struct front *f, struct lang_val v)
{
	if (v.kind == LANG_TUPLE) {
		struct lang_val *items = arena_array(f->a, v.u.tup.n + 1, sizeof *items);
		struct lang_val t;

		for (size_t i = 0; i < v.u.tup.n; i++) {
			items[i] = assigned_value(f, v.u.tup.v[i]);
			/* Triton wraps None inside tuples, unlike a single None. */
			if (items[i].kind == LANG_NONE)
				items[i].wrapped = 1;
		}
		t = lang_tuple(items, v.u.tup.n);
		t.u.tup.fields = v.u.tup.fields;
		return t;
	}
	if (v.kind == LANG_TENSOR || v.kind == LANG_DESC || v.kind == LANG_TYPE || v.kind == LANG_NONE)
		return lang_raw(v);
	return lang_of(sem_to_tensor(f, v));
}

/* Assigns to a target: a name, or a tuple of targets. Tensors and attributes cannot be assigned
 * to. */
static void assign(struct front *f, const struct py_node *target, struct lang_val v)
{
	switch (target->kind) {
	case PY_Name:
		front_set(f, target->u.Name.id, v);
		return;
	case PY_Tuple:
		for (size_t i = 0; i < target->u.Tuple.elts.n; i++) {
			if (v.kind != LANG_TUPLE)
				front_fail(f, REASON_bad_types,
					   "AttributeError(\"'%s' object has no attribute 'values'\")",
					   lang_type_name(&v));
			if (i >= v.u.tup.n)
				front_fail(f, REASON_bad_types, "IndexError('list index out of range')");
			assign(f, target->u.Tuple.elts.v[i], v.u.tup.v[i]);
		}
		return;
	case PY_Subscript:
		/* Tiles are values: only memory can be written element by element. */
		front_fail_hint(f, REASON_tensor_index,
				"tensors cannot be assigned to by index: use tl.where, or tl.store to memory",
				"NotImplementedError('__setitem__ is not supported in triton')");
	case PY_Attribute:
		front_fail(f, REASON_unsupported_syntax,
			   "NotImplementedError('Attribute assignment is not supported in triton')");
	default:
		front_fail(f, REASON_unsupported_syntax, "AssertionError()");
	}
}

/* Triton has no `a = b = value`. */
static void stmt_Assign(struct front *f, const struct py_node *n)
{
	struct lang_val v;

	if (n->u.Assign.targets.n != 1)
		front_fail_hint(f, REASON_unsupported_syntax, "write one assignment for each name",
				"TypeError('Simultaneous multiple assignment is not supported.')");
	v = front_expr(f, n->u.Assign.value);
	assign(f, n->u.Assign.targets.v[0], assigned_value(f, v));
}

/* The old value of the target of `x += 1`. */
static struct lang_val load_target(struct front *f, const struct py_node *t)
{
	const struct py_node *last = f->frame->cur;
	struct lang_val v;
	f->frame->cur = t;
	if (t->kind == PY_Name)
		v = front_name(f, t->u.Name.id);
	else if (t->kind == PY_Subscript)
		v = front_subscript(f, front_expr(f, t->u.Subscript.value), front_expr(f, t->u.Subscript.slice));
	else if (t->kind == PY_Attribute)
		v = front_attr(f, front_expr(f, t->u.Attribute.value), t->u.Attribute.attr);
	else
		front_fail(f, REASON_unsupported_syntax, "AssertionError()");
	f->frame->cur = last;
	return v;
}

/* `x += y` is `x = x + y`: tile code has no in-place update, the optimiser removes the copy. */
static void stmt_AugAssign(struct front *f, const struct py_node *n)
{
	struct lang_val a = load_target(f, n->u.AugAssign.target), b = front_expr(f, n->u.AugAssign.value);
	struct lang_val v = front_binary(f, n->u.AugAssign.op, a, b);
	assign(f, n->u.AugAssign.target, assigned_value(f, v));
}

/* `x: tl.constexpr = value` keeps the constant instead of making a tensor of it. Other annotations
 * are evaluated and ignored. */
static void stmt_AnnAssign(struct front *f, const struct py_node *n)
{
	struct lang_val annotation = front_expr(f, n->u.AnnAssign.annotation);
	int constexpr = annotation.kind == LANG_BUILTIN && annotation.u.b->fn == bi_constexpr;
	struct lang_val v = n->u.AnnAssign.value ? front_expr(f, n->u.AnnAssign.value) : lang_none();
	const struct py_node *target = n->u.AnnAssign.target;
	int slot;

	if (!constexpr || target->kind != PY_Name) {
		assign(f, target, assigned_value(f, v));
		return;
	}
	slot = front_slot(f->frame, target->u.Name.id.p);
	if (f->frame->vars[slot].kind != LANG_UNBOUND)
		front_fail(f, REASON_not_constexpr,
			   "ValueError('%.*s is already defined. constexpr cannot be reassigned.')",
			   STR_ARG(target->u.Name.id));
	v.wrapped = 1;
	f->frame->vars[slot] = v;       /* `defs` stays: Triton does not count it as a definition */
}

/* --- the rest ------------------------------------------------------------------------------------ */

/* A call as a statement may have a result that must be used; any other expression is evaluated
 * only. */
static void stmt_Expr(struct front *f, const struct py_node *n)
{
	const struct py_node *v = n->u.Expr.value;
	if (v->kind == PY_Call)
		front_call_unused(f, v);
	else
		front_expr(f, v);
}

static void stmt_Pass(struct front *f, const struct py_node *n) { (void)f, (void)n; }

/* Python's assert is tl.device_assert. */
static void stmt_Assert(struct front *f, const struct py_node *n)
{
	struct lang_val a[3] = {
		front_expr(f, n->u.Assert.test),
		n->u.Assert.msg ? front_expr(f, n->u.Assert.msg) : lang_str(STR("")), lang_none() };
	bi_device_assert(f, NULL, a);
}

static void stmt_FunctionDef(struct front *f, const struct py_node *n)
{
	(void)n;
	front_fail_hint(f, REASON_unsupported_syntax, "define it at the top level with @triton.jit",
			"nested function definition is not supported.");
}

typedef void stmt_fn(struct front *f, const struct py_node *n);

/* The statements that Triton supports. */
static stmt_fn *const table[PY_KINDS] = {
	[PY_FunctionDef] = stmt_FunctionDef, [PY_Return] = front_return, [PY_Assign] = stmt_Assign,
	[PY_AugAssign] = stmt_AugAssign, [PY_AnnAssign] = stmt_AnnAssign, [PY_For] = flow_for,
	[PY_While] = flow_while, [PY_If] = flow_if, [PY_Assert] = stmt_Assert, [PY_Expr] = stmt_Expr,
	[PY_Pass] = stmt_Pass,
};

/* The code to write instead of a statement that Triton does not support. */
static const char *syntax_hint(enum py_kind k)
{
	switch (k) {
	case PY_Break: return "put the condition into the loop: while, or a mask on the body";
	case PY_Continue: return "guard the rest of the body with an if, or mask it";
	case PY_Raise: case PY_Try: return "kernels cannot raise; use tl.device_assert";
	case PY_Import: case PY_ImportFrom: return "import at the top of the file";
	default: return NULL;
	}
}

/* Compiles statements up to the first return; the rest is never reached. */
void front_block(struct front *f, const struct py_list *body)
{
	struct front_frame *fr = f->frame;
	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i], *last = fr->cur;
		front_count(f);
		fr->cur = n;
		if (!table[n->kind])
			front_fail_hint(f, REASON_unsupported_syntax, syntax_hint(n->kind),
					"unsupported AST node type: %s", py_kind_info(n->kind)->name);
		table[n->kind](f, n);
		fr->cur = last;
		if (n->kind == PY_Return)
			break;
	}
}
