/* Expressions: one function for each kind of node, found through a table. A node for which Triton's
 * visitor has no method is refused with Triton's message. An expression of constants is computed
 * here (front_const.c); one with a tensor is emitted (sem_*.c). */
#include <stdio.h>

#include "tile/front/builtin.h"
#include "tile/front/front_flow.h"

/* Evaluates one kind of expression. */
typedef struct lang_val expr_fn(struct front *f, const struct py_node *n);

/* A run-time tensor that is not hidden behind a tl.constexpr annotation. */
static int is_tensor(const struct lang_val *v) { return v->kind == LANG_TENSOR && !v->wrapped; }

/* --- operators -------------------------------------------------------------------------------- */

/* `x: tl.constexpr = a_tensor` makes a constexpr that holds a tensor; Triton fails when it is
 * used. */
_Noreturn static void hidden_tensor(struct front *f)
{
	front_fail_hint(f, REASON_not_constexpr,
			"drop the tl.constexpr annotation: the value is not known at compile time",
			"Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside "
			"of JIT functions.)");
}

/* The tensor behind a constexpr, which is good as the other operand of a tensor. */
static struct lang_val bare_tensor(struct lang_val v)
{
	if (v.kind == LANG_TENSOR)
		v.wrapped = 0;
	return v;
}

/* One tensor makes the operation a run-time one; two constants are computed here. */
struct lang_val front_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b)
{
	if (op == PY_OP_MatMult)
		front_fail_hint(f, REASON_unsupported_syntax, "use tl.dot(a, b)",
				"AST binary operator 'MatMult' is not (currently) implemented.");
	if (is_tensor(&a) || is_tensor(&b))
		return lang_of(sem_binary(f, op, bare_tensor(a), bare_tensor(b)));
	if (a.kind == LANG_TENSOR || b.kind == LANG_TENSOR)
		hidden_tensor(f);
	return front_const_binary(f, op, a, b);
}

/* The same for comparisons; the result of a run-time one is a tile of bools. */
struct lang_val front_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b)
{
	if (is_tensor(&a) || is_tensor(&b))
		return lang_of(sem_compare(f, op, bare_tensor(a), bare_tensor(b)));
	if (a.kind == LANG_TENSOR || b.kind == LANG_TENSOR)
		hidden_tensor(f);
	return front_const_compare(f, op, a, b);
}

static struct lang_val expr_BinOp(struct front *f, const struct py_node *n)
{
	struct lang_val a = front_expr(f, n->u.BinOp.left), b = front_expr(f, n->u.BinOp.right);
	return front_binary(f, n->u.BinOp.op, a, b);
}

/* A tensor has -, ~ and not, but no unary +. */
static struct lang_val expr_UnaryOp(struct front *f, const struct py_node *n)
{
	struct lang_val v = front_expr(f, n->u.UnaryOp.operand);
	if (v.kind == LANG_TENSOR && v.wrapped)
		hidden_tensor(f);
	if (v.kind != LANG_TENSOR)
		return front_const_unary(f, n->u.UnaryOp.op, v);
	switch (n->u.UnaryOp.op) {
	case PY_OP_USub: return lang_of(sem_neg(f, tv_of(&v)));
	case PY_OP_Invert: return lang_of(sem_invert(f, tv_of(&v)));
	case PY_OP_Not: return lang_of(sem_not(f, tv_of(&v)));
	default:
		front_fail(f, REASON_unknown_attribute,
			   "AttributeError(\"'tensor' object has no attribute '__pos__'\")");
	}
}

/* `and` and `or`. A constant that decides the result ends the chain; other constants drop out. The
 * remaining tensors are joined from the right, as Triton does. */
static struct lang_val expr_BoolOp(struct front *f, const struct py_node *n)
{
	enum py_op op = n->u.BoolOp.op;
	size_t count = n->u.BoolOp.values.n, kept = 0;
	struct lang_val *v = arena_array(f->a, count + 1, sizeof *v), last = { 0 };
	if (f->version < 304 && count > 2)
		front_fail_hint(f, REASON_unsupported_syntax, "add parentheses, or use & and |",
				"chained boolean operators (A or B or C) are not supported; use parentheses "
				"to split the chain.");
	for (size_t i = 0; i < count; i++) {
		int truth;

		last = front_expr(f, n->u.BoolOp.values.v[i]);
		if (is_tensor(&last)) {
			v[kept++] = last;
			continue;
		}
		/* False decides `and`, True decides `or`; the rest of the chain is not evaluated. */
		truth = last.kind == LANG_TENSOR ? 1 : lang_truth(&last);
		if (truth == (op == PY_OP_Or))
			return last;
	}
	if (!kept)
		return last;
	while (kept >= 2) {
		struct lang_val r = v[--kept], l = v[--kept];
		v[kept++] = lang_of(sem_logical(f, op, l, r));
	}
	return v[0];
}

/* Python's `is`. Small integers, bools, None and types are identical if equal; floats and tuples
 * are not. */
static int identical(const struct lang_val *a, const struct lang_val *b)
{
	if (a->kind == LANG_FLOAT || a->kind == LANG_TUPLE)
		return 0;
	return a->kind == b->kind && lang_equal(a, b);
}

/* Triton has no chained comparisons. */
static struct lang_val expr_Compare(struct front *f, const struct py_node *n)
{
	struct lang_val a, b;
	enum py_op op;

	if (n->u.Compare.ops.n != 1)
		front_fail_hint(f, REASON_unsupported_syntax, "write (a < b) & (b < c)",
				"simultaneous multiple comparison is not supported");
	a = front_expr(f, n->u.Compare.left);
	b = front_expr(f, n->u.Compare.comparators.v[0]);
	op = n->u.Compare.ops.v[0];
	if (op == PY_OP_Is || op == PY_OP_IsNot)
		return lang_bool(identical(&a, &b) == (op == PY_OP_Is));
	if (op == PY_OP_In || op == PY_OP_NotIn)
		front_fail(f, REASON_unsupported_syntax,
			   "AttributeError(\"'%s' object has no attribute '__name__'\")", py_op_name(op));
	return front_compare(f, op, a, b);
}

/* --- literals, names, containers ------------------------------------------------------------- */

/* A literal. PY_C_BIGINT is the text of an integer above 64 bits, decimal or with a prefix 0x, 0o,
 * 0b. */
static struct lang_val expr_Constant(struct front *f, const struct py_node *n)
{
	const struct py_const *c = &n->u.Constant.value;
	switch (c->kind) {
	case PY_C_NONE: return lang_none();
	case PY_C_TRUE: return lang_bool(1);
	case PY_C_FALSE: return lang_bool(0);
	case PY_C_INT: return lang_int(c->i);
	case PY_C_FLOAT: return lang_float(c->f);
	case PY_C_STR: return lang_str(c->s);
	case PY_C_BIGINT: {
		/* Digits are read by hand: no library function reads 128-bit integers. */
		pyint v = 0;
		size_t at = 0;
		int base = 10;
		if (c->s.n > 2 && c->s.p[0] == '0') {
			base = (c->s.p[1] | 32) == 'x' ? 16 : (c->s.p[1] | 32) == 'o' ? 8 : 2;
			at = 2;
		}
		for (; at < c->s.n; at++) {
			char ch = (char)(c->s.p[at] | 32);
			int d = ch >= 'a' ? ch - 'a' + 10 : c->s.p[at] - '0';
			if (__builtin_mul_overflow(v, (pyint)base, &v) || __builtin_add_overflow(v, (pyint)d, &v))
				front_fail(f, REASON_unsupported,
					   "this engine does not support integer constants of more than 127 bits");
		}
		return lang_int(v);
	}
	default:
		return (struct lang_val){ .kind = LANG_OTHER, .wrapped = 1, .u.s = STR("constant") };
	}
}

static struct lang_val expr_Name(struct front *f, const struct py_node *n) { return front_name(f, n->u.Name.id); }

static struct lang_val expr_Attribute(struct front *f, const struct py_node *n)
{
	struct lang_val v = front_expr(f, n->u.Attribute.value);
	return front_attr(f, v, n->u.Attribute.attr);
}

/* The elements of a tuple or list; all are evaluated before Triton asks for their types. */
static struct lang_val items(struct front *f, const struct py_list *l)
{
	struct lang_val *v = arena_array(f->a, l->n + 1, sizeof *v);
	for (size_t i = 0; i < l->n; i++)
		v[i] = front_expr(f, l->v[i]);
	for (size_t i = 0; i < l->n; i++) {
		int typed = v[i].wrapped || lang_is_number(&v[i]) || v[i].kind == LANG_TENSOR ||
			v[i].kind == LANG_TUPLE || v[i].kind == LANG_DESC || v[i].kind == LANG_TYPE ||
			v[i].kind == LANG_SLICE || v[i].kind == LANG_FN || v[i].kind == LANG_RANGE;
		if (!typed)
			front_fail(f, REASON_bad_types,
				   "AttributeError(\"'%s' object has no attribute 'type'\")", lang_type_name(&v[i]));
	}
	return lang_tuple(v, l->n);
}

static struct lang_val expr_Tuple(struct front *f, const struct py_node *n) { return items(f, &n->u.Tuple.elts); }
static struct lang_val expr_List(struct front *f, const struct py_node *n) { return items(f, &n->u.List.elts); }

/* `[f(x) for x in a_tuple]` is evaluated at compile time, element by element. */
static struct lang_val expr_ListComp(struct front *f, const struct py_node *n)
{
	struct lang_val *v, it;
	const struct py_comprehension *c;

	if (n->u.ListComp.generators.n != 1)
		front_fail(f, REASON_unsupported_syntax, "ValueError('nested comprehensions are not supported')");
	c = &n->u.ListComp.generators.v[0]->u.comprehension;
	it = front_expr(f, c->iter);
	if (it.kind != LANG_TUPLE)
		front_fail(f, REASON_unsupported_syntax,
			   "NotImplementedError('only tuple comprehensions are supported')");
	if (c->target->kind != PY_Name)
		front_fail(f, REASON_unsupported_syntax,
			   "AttributeError(\"'%s' object has no attribute 'id'\")",
			   py_kind_info(c->target->kind)->name);
	v = arena_array(f->a, it.u.tup.n + 1, sizeof *v);
	for (size_t i = 0; i < it.u.tup.n; i++) {
		/* The variable of the comprehension is a variable of the kernel, as in Triton. */
		front_set(f, c->target->u.Name.id, it.u.tup.v[i]);
		v[i] = front_expr(f, n->u.ListComp.elt);
	}
	return lang_tuple(v, it.u.tup.n);
}

/* lower:upper:step, None where a part is absent. */
static struct lang_val expr_Slice(struct front *f, const struct py_node *n)
{
	struct lang_val *v = arena_array(f->a, 3, sizeof *v);
	const struct py_node *part[3] = { n->u.Slice.lower, n->u.Slice.upper, n->u.Slice.step };
	for (int i = 0; i < 3; i++)
		v[i] = part[i] ? front_expr(f, part[i]) : lang_none();
	return (struct lang_val){ .kind = LANG_SLICE, .u.slice = v };
}

/* An f-string of constants. */
static struct lang_val expr_JoinedStr(struct front *f, const struct py_node *n)
{
	size_t count = n->u.JoinedStr.values.n;
	struct lang_val *v = arena_array(f->a, count + 1, sizeof *v);
	struct lang_val r;
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		const struct py_node *p = n->u.JoinedStr.values.v[i];
		v[i] = p->kind == PY_Constant ? lang_str(p->u.Constant.value.s) :
			front_expr(f, p->u.FormattedValue.value);
		if (!v[i].wrapped && v[i].kind != LANG_TYPE && v[i].kind != LANG_NONE && v[i].kind != LANG_FN)
			front_fail(f, REASON_not_constexpr,
				   "Cannot evaluate f-string containing non-constexpr conversion values, "
				   "found conversion of type <class '%s'>",
				   lang_type_name(&v[i]));
	}
	/* Nothing below may leave by longjmp: the buffer owns memory. */
	for (size_t i = 0; i < count; i++) {
		struct lang_val bare = lang_raw(v[i]);
		lang_str_to(&bare, &b);
	}
	r = lang_str((struct str){ arena_strndup(f->a, buf_cstr(&b), b.n), b.n });
	buf_release(&b);
	return lang_raw(r);
}

/* --- subscripts ------------------------------------------------------------------------------- */

/* A plain `:`. */
static int is_full_slice(const struct lang_val *v)
{
	return v->kind == LANG_SLICE && v->u.slice[0].kind == LANG_NONE && v->u.slice[1].kind == LANG_NONE &&
		v->u.slice[2].kind == LANG_NONE;
}

/* An index in Triton's message. */
static const char *index_text(struct front *f, const struct lang_val *v)
{
	return v->kind == LANG_SLICE ? "<triton.language.core.slice object>" : front_str(f, v);
}

/* x[:, None]: each None inserts a dimension of 1; nothing else may index a tensor. */
static struct lang_val tensor_index(struct front *f, struct lang_val self, const struct lang_val *index)
{
	struct lang_tuple t = index->kind == LANG_TUPLE ? index->u.tup : (struct lang_tuple){ .v = index, .n = 1 };
	struct tv x = tv_of(&self);
	if (index->kind == LANG_TENSOR)
		front_fail_hint(f, REASON_tensor_index,
				"tensors cannot be indexed: compute addresses and tl.load, or mask and tl.sum",
				"'tensor' object is not iterable");
	for (size_t d = 0; d < t.n; d++) {
		if (t.v[d].kind == LANG_NONE)
			x = sem_expand_dims(f, x, (int)d);
		else if (!is_full_slice(&t.v[d]))
			front_fail_hint(f, REASON_tensor_index,
					"only None and : may stand in a tensor's index; use tl.load at the "
					"address, tl.gather, or tl.sum(tl.where(...))",
					"unsupported tensor index: %s", index_text(f, &t.v[d]));
	}
	return lang_of(x);
}

/* A bound of a slice of n elements: negative bounds count from the end. */
static pyint clip(const struct lang_val *v, pyint otherwise, pyint n)
{
	pyint i;

	if (!lang_is_int(v))
		return otherwise;
	i = v->u.i < 0 ? v->u.i + n : v->u.i;
	return i < 0 ? 0 : i > n ? n : i;
}

/* A constant index or a slice of a tuple. */
static struct lang_val tuple_index(struct front *f, struct lang_val self, const struct lang_val *index)
{
	pyint n = (pyint)self.u.tup.n;
	pyint lo, hi;
	const struct lang_val *s;

	if (lang_is_int(index)) {
		pyint i = index->u.i < 0 ? index->u.i + n : index->u.i;
		struct lang_val v;

		if (i < 0 || i >= n)
			front_fail(f, REASON_bad_value, "list index out of range");
		v = self.u.tup.v[i];
		return v;
	}
	if (index->kind != LANG_SLICE)
		front_fail(f, REASON_not_constexpr, "a tuple can be indexed by constants only");
	s = index->u.slice;
	if (s[2].kind != LANG_NONE && !(lang_is_int(&s[2]) && s[2].u.i == 1))
		front_fail(f, REASON_unsupported, "this engine does not support slicing a tuple with a step");
	lo = clip(&s[0], 0, n);
	hi = clip(&s[1], n, n);
	return lang_tuple(self.u.tup.v + lo, hi > lo ? (size_t)(hi - lo) : 0);
}

/* Only tensors and tuples can be indexed. */
struct lang_val front_subscript(struct front *f, struct lang_val self, struct lang_val index)
{
	if (self.kind == LANG_TENSOR)
		return tensor_index(f, bare_tensor(self), &index);
	if (self.kind == LANG_TUPLE)
		return tuple_index(f, self, &index);
	front_fail(f, REASON_bad_types, "TypeError(\"'%s' object is not subscriptable\")", lang_type_name(&self));
}

static struct lang_val expr_Subscript(struct front *f, const struct py_node *n)
{
	struct lang_val self = front_expr(f, n->u.Subscript.value), index = front_expr(f, n->u.Subscript.slice);
	return front_subscript(f, self, index);
}

/* --- calls -------------------------------------------------------------------------------------- */

/* Evaluates the arguments of a call: keywords first, as Triton does; *args is unpacked. */
static void read_args(struct front *f, const struct py_Call *c, struct front_args *out)
{
	size_t cap;
	struct lang_val *v;

	*out = (struct front_args){ .n_kw = c->keywords.n };
	out->kw = arena_array(f->a, c->keywords.n + 1, sizeof *out->kw);
	out->names = arena_array(f->a, c->keywords.n + 1, sizeof *out->names);
	for (size_t i = 0; i < c->keywords.n; i++) {
		const struct py_keyword *k = &c->keywords.v[i]->u.keyword;
		if (!k->arg.p)
			front_fail(f, REASON_unsupported_syntax, "TypeError('keywords must be strings')");
		out->names[i] = k->arg;
		out->kw[i] = front_expr(f, k->value);
	}
	cap = c->args.n + 1;
	v = arena_array(f->a, cap, sizeof *v);
	for (size_t i = 0; i < c->args.n; i++) {
		const struct py_node *a = c->args.v[i];
		struct lang_val *more, star;

		if (a->kind != PY_Starred) {
			v[out->n++] = front_expr(f, a);
			continue;
		}
		star = front_expr(f, a->u.Starred.value);
		if (star.kind != LANG_TUPLE || star.wrapped)
			front_fail(f, REASON_bad_types, "AssertionError: only a tuple can be unpacked with *");
		more = arena_array(f->a, cap += star.u.tup.n, sizeof *more);
		memcpy(more, v, out->n * sizeof *v);
		memcpy(more + out->n, star.u.tup.v, star.u.tup.n * sizeof *v);
		out->n += star.u.tup.n;
		v = more;
	}
	out->v = v;
}

/* Triton evaluates the message of a static_assert only if the assertion fails. */
static struct lang_val call_static_assert(struct front *f, const struct py_Call *c, const struct builtin *b)
{
	struct lang_val a[2];

	if (c->args.n < 1 || c->args.n > 2 || c->keywords.n)
		front_fail(f, REASON_bad_argument,
			   "TypeError('`static_assert` requires one or two positional arguments only')");
	a[0] = front_expr(f, c->args.v[0]);
	a[1] = lang_str(STR(""));
	if (a[0].kind == LANG_BOOL && !a[0].u.i && c->args.n == 2 && c->args.v[1]->kind == PY_Constant)
		a[1] = front_expr(f, c->args.v[1]);
	return bi_static_assert(f, b, a);
}

/* Triton handles Python's range itself and ignores its keywords and a fourth argument. */
struct lang_val front_iterator(struct front *f, const struct py_node *call)
{
	struct lang_val fn = front_expr(f, call->u.Call.func);
	struct front_args args;
	read_args(f, &call->u.Call, &args);
	if (fn.kind != LANG_BUILTIN || fn.u.b->fn != bi_range)
		return lang_none();
	if (!strcmp(fn.u.b->module, "builtins")) {
		if (!args.n)
			front_fail(f, REASON_bad_argument, "IndexError('list index out of range')");
		args.n_kw = 0;
		args.n = MIN(args.n, 3);
	}
	return lang_builtin_call(f, fn.u.b, &args);
}

/* A call in an expression or, if `unused`, as a statement. */
static struct lang_val call(struct front *f, const struct py_node *n, int unused)
{
	const struct py_Call *c = &n->u.Call;
	struct lang_val fn = front_expr(f, c->func);
	struct front_args args;

	if (fn.kind == LANG_BUILTIN && fn.u.b->fn == bi_static_assert)
		return call_static_assert(f, c, fn.u.b);
	if (unused && fn.kind == LANG_BUILTIN && (fn.u.b->flags & BF_MUST_USE))
		front_fail(f, REASON_unused_result,
			   "The result of tl.%s is not being used. Note that tl.advance does not have any "
			   "side effects. "
			   "To move the block pointer, you need to assign the result of tl.advance to a variable.",
			   fn.u.b->name);
	read_args(f, c, &args);
	return front_call(f, fn, &args, unused);
}

static struct lang_val expr_Call(struct front *f, const struct py_node *n) { return call(f, n, 0); }

/* A statement that is a call; the call is its own location for errors. */
struct lang_val front_call_unused(struct front *f, const struct py_node *n)
{
	const struct py_node *last = f->frame->cur;
	struct lang_val v;

	f->frame->cur = n;
	v = call(f, n, 1);
	f->frame->cur = last;
	return v;
}

/* The expressions that Triton supports. */
static expr_fn *const table[PY_KINDS] = {
	[PY_BoolOp] = expr_BoolOp, [PY_BinOp] = expr_BinOp, [PY_UnaryOp] = expr_UnaryOp, [PY_IfExp] = flow_if_exp,
	[PY_ListComp] = expr_ListComp, [PY_Compare] = expr_Compare, [PY_Call] = expr_Call,
	[PY_JoinedStr] = expr_JoinedStr, [PY_Constant] = expr_Constant, [PY_Attribute] = expr_Attribute,
	[PY_Subscript] = expr_Subscript, [PY_Name] = expr_Name, [PY_List] = expr_List, [PY_Tuple] = expr_Tuple,
	[PY_Slice] = expr_Slice,
};

/* A static loop over millions of iterations ends here, with a diagnostic instead of a hang. */
void front_count(struct front *f)
{
	if (++f->nodes > FRONT_MAX_NODES)
		front_fail(f, REASON_out_of_fuel, "the kernel expands to more than %d operations", FRONT_MAX_NODES);
}

/* Evaluates an expression. `cur` follows the walk, so that errors name the innermost node. */
struct lang_val front_expr(struct front *f, const struct py_node *n)
{
	const struct py_node *last = f->frame->cur;
	struct lang_val v;

	front_count(f);
	f->frame->cur = n;
	if (!table[n->kind])
		front_fail(f, REASON_unsupported_syntax, "unsupported AST node type: %s", py_kind_info(n->kind)->name);
	v = table[n->kind](f, n);
	f->frame->cur = last;
	return v;
}
