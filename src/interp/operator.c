/* Binary, in-place and unary operators. Numbers go to pynum.c, numpy scalars to scalar.c,
 * built-in containers are handled here, all else by the special methods of the operands in
 * Python's order. Comparisons are in order.c. */
#include "interp/attr.h"
#include "interp/big.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/operator.h"
#include "interp/scalar.h"
#include "interp/state.h"
#include "interp/val_text.h"
#include "interp/dict_view.h"

/* --- containers ------------------------------------------------------------------------------- */

/* The count in `v * n`. A negative count is 0. The size is checked before anything is built:
 * [0] * 10**12 fails as out_of_memory, not in malloc. */
static int repeat_count(struct host *h, struct val n, size_t len, int64_t *count)
{
	int64_t total;

	if (val_as_int(h, n, count))
		return -1;
	if (*count < 0 || !len)
		*count = 0;
	if (ck_mul64(*count, (int64_t)len, &total) || total > (int64_t)(h->o.memory / 8))
		return host_fatal(h, REASON_out_of_memory,
				  "a sequence of %lld times %zu items exceeds the memory limit",
				  (long long)*count, len);
	return host_burn(h, total / 8);
}

/* v * n of a list or tuple: the elements are shared, not copied, as in Python. */
static int seq_repeat(struct host *h, struct val s, struct val n, struct val *out)
{
	int64_t count;
	size_t len = s.u.seq->n;
	if (repeat_count(h, n, len, &count))
		return -1;
	if ((s.kind == V_LIST ? val_list : val_tuple)(h, NULL, 0, out) ||
	    seq_reserve(h, out->u.seq, len * (size_t)count))
		return -1;
	for (int64_t i = 0; i < count; i++)
		for (size_t k = 0; k < len; k++) {
			val_keep(s.u.seq->v[k]);
			out->u.seq->v[out->u.seq->n++] = s.u.seq->v[k];
		}
	if (s.kind == V_TUPLE && s.u.o->cls == h->type.size_class)
		out->u.o->cls = h->type.size_class;
	return 0;
}

/* s * n. The charge is tried first and refunded, because the string charges itself again. */
static int str_repeat(struct host *h, struct val s, struct val n, struct val *out)
{
	int64_t count;
	struct buf b = BUF_INIT;
	int rc;

	if (repeat_count(h, n, s.u.s->n, &count) || host_charge(h, s.u.s->n * (size_t)count))
		return -1;
	host_uncharge(h, s.u.s->n * (size_t)count);
	for (int64_t i = 0; i < count; i++)
		buf_addstr(&b, val_text(s));
	rc = buf_check(&b, NULL) ? host_fatal(h, REASON_out_of_memory, "the machine is out of memory") :
		 s.kind == V_BYTES ? val_bytes(h, buf_str(&b), out) : val_str(h, buf_str(&b), out);
	buf_release(&b);
	return rc;
}

/* v + w of two lists or two tuples. If one is a torch.Size the result is one. */
static int seq_concat(struct host *h, struct val a, struct val b, struct val *out)
{
	const struct seq_obj *x = a.u.seq, *y = b.u.seq;
	if ((a.kind == V_LIST ? val_list : val_tuple)(h, x->v, x->n, out))
		return -1;
	if (host_burn(h, (int64_t)(x->n + y->n) / 8) || seq_reserve(h, out->u.seq, y->n))
		return -1;
	for (size_t i = 0; i < y->n; i++)
		if (list_append(h, *out, y->v[i]))
			return -1;
	if (a.kind == V_TUPLE && (a.u.o->cls == h->type.size_class || b.u.o->cls == h->type.size_class))
		out->u.o->cls = h->type.size_class;
	return 0;
}

/* s + t of two strings or two bytes. */
static int str_concat(struct host *h, struct val a, struct val b, struct val *out)
{
	struct buf t = BUF_INIT;
	int rc;

	buf_addstr(&t, val_text(a));
	buf_addstr(&t, val_text(b));
	rc = t.failed ? host_fatal(h, REASON_out_of_memory, "the machine is out of memory") :
		 a.kind == V_BYTES ? val_bytes(h, buf_str(&t), out) : val_str(h, buf_str(&t), out);
	buf_release(&t);
	return rc;
}

/* The built-in class under a class of the program: an operator on a subclass of set gives a
 * plain set. */
static struct class_obj *native_base(struct class_obj *c)
{
	for (size_t i = 0; i < c->n_mro; i++)
		if (c->mro[i]->native)
			return c->mro[i];
	return c;
}

/* The operators |, &, - and ^ of sets: takes elements of a and b depending on whether the other
 * set has them. Elements are held because __eq__ may change a set. */
static int set_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	struct val x;
	struct dict_obj *from[2] = { a.u.d, b.u.d };
	if (val_set(h, out))
		return -1;
	out->u.o->cls = native_base(a.u.o->cls);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < from[side]->n; i++) {
			struct val key = from[side]->e[i].key;
			int keep, in;

			if (key.kind == V_UNSET || (side && op != PY_OP_BitOr && op != PY_OP_BitXor))
				continue;
			host_hold(h, key);
			in = dict_get(h, side ? a : b, key, &x);
			if (in < 0)
				return -1;
			keep = op == PY_OP_BitOr || (op == PY_OP_BitAnd ? in : !in);
			if (keep && dict_set(h, *out, key, val_none()))
				return -1;
		}
	return 0;
}

/* d | e: e wins. The result is an OrderedDict if an operand is one. */
static int dict_union(struct host *h, struct val a, struct val b, struct val *out)
{
	struct class_obj *ordered = host_native_class(h, "collections.OrderedDict");

	if (val_dict(h, out))
		return -1;
	if (ordered && (class_is_sub(a.u.o->cls, ordered) || class_is_sub(b.u.o->cls, ordered)))
		out->u.o->cls = class_is_sub(a.u.o->cls, ordered) ? a.u.o->cls : b.u.o->cls;
	return dict_update(h, *out, a) || dict_update(h, *out, b) ? -1 : 0;
}

/* Operators of built-in containers. Returns 1 if done, 0 if the operands are none of these, -1
 * on failure. */
static int container_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	int rc = 1;
	int a_seq = a.kind == V_LIST || a.kind == V_TUPLE, b_seq = b.kind == V_LIST || b.kind == V_TUPLE;
	int a_int = a.kind == V_INT || a.kind == V_BOOL, b_int = b.kind == V_INT || b.kind == V_BOOL;
	int a_str = a.kind == V_STR || a.kind == V_BYTES, b_str = b.kind == V_STR || b.kind == V_BYTES;
	if (op == PY_OP_Add && a_seq && a.kind == b.kind)
		rc = seq_concat(h, a, b, out);
	else if (op == PY_OP_Add && a_str && a.kind == b.kind)
		rc = str_concat(h, a, b, out);
	else if (op == PY_OP_Mult && a_seq && b_int)
		rc = seq_repeat(h, a, b, out);
	else if (op == PY_OP_Mult && b_seq && a_int)
		rc = seq_repeat(h, b, a, out);
	else if (op == PY_OP_Mult && a_str && b_int)
		rc = str_repeat(h, a, b, out);
	else if (op == PY_OP_Mult && b_str && a_int)
		rc = str_repeat(h, b, a, out);
	else if (op == PY_OP_Mod && a.kind == V_STR)
		rc = host_percent(h, val_text(a), b, out);
	else if (a.kind == V_SET && b.kind == V_SET &&
		 (op == PY_OP_BitOr || op == PY_OP_BitAnd || op == PY_OP_Sub || op == PY_OP_BitXor))
		rc = set_binary(h, op, a, b, out);
	else if (op == PY_OP_BitOr && a.kind == V_DICT && b.kind == V_DICT)
		rc = dict_union(h, a, b, out);
	else if (a.kind == V_VIEW || b.kind == V_VIEW)
		return view_binary(h, op, a, b, out);
	else
		return 0;
	return rc ? -1 : 1;
}

/* --- special methods ------------------------------------------------------------------------------ */

/* Calls self.name(other). Returns 1 with a result, 0 if the method is absent or returned
 * NotImplemented, -1 on failure. */
static int try_method(struct host *h, struct val self, struct str_obj *name, struct val other, struct val *out)
{
	struct val *m = class_lookup(h, val_class(h, self), name, NULL);
	struct val a[2];
	struct call_args args;

	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (!m)
		return 0;
	a[0] = self;
	a[1] = other;
	args = (struct call_args){ .a = a, .n = 2 };
	if (host_callv(h, host_hold(h, *m), &args, out))
		return -1;
	return out->kind != V_NOTIMPL;
}

/* The TypeError of an operator without a meaning, in CPython's words. `suffix` is "=" for
 * in-place operators. */
static int refuse(struct host *h, enum py_op op, const char *suffix, struct val a, struct val b)
{
	const char *text = op == PY_OP_Pow && !*suffix ? "** or pow()" : py_op_text(op);
	int a_seq, b_seq;

	if (op == PY_OP_Add && a.kind == V_STR)
		return host_raise(h, EXC_TypeError, "can only concatenate str (not \"%s\") to str",
				  val_type_name(h, b));
	if (op == PY_OP_Add && (a.kind == V_LIST || a.kind == V_TUPLE))
		return host_raise(h, EXC_TypeError, "can only concatenate %s (not \"%s\") to %s", val_type_name(h, a),
				  val_type_name(h, b), val_type_name(h, a));
	a_seq = a.kind == V_STR || a.kind == V_LIST || a.kind == V_TUPLE || a.kind == V_BYTES;
	b_seq = b.kind == V_STR || b.kind == V_LIST || b.kind == V_TUPLE || b.kind == V_BYTES;
	if (op == PY_OP_Mult && (a_seq || b_seq))
		return host_raise(h, EXC_TypeError, "can't multiply sequence by non-int of type '%s'",
				  val_type_name(h, a_seq ? b : a));
	return host_raise(h, EXC_TypeError, "unsupported operand type(s) for %s%s: '%s' and '%s'", text, suffix,
			  val_type_name(h, a), val_type_name(h, b));
}

/* a + b by special methods: a.__add__(b), then b.__radd__(a). If the class of b derives from
 * that of a, b's method comes first, as in Python. */
static int method_binary(struct host *h, enum py_op op, struct val a, struct val b, const char *suffix, struct val *out)
{
	struct class_obj *ca = val_class(h, a), *cb = val_class(h, b);
	int right_first = ca != cb && class_is_sub(cb, ca), rc = 0;
	if (right_first && (rc = try_method(h, b, h->op_name[op][1], a, out)))
		return rc < 0 ? -1 : 0;
	if ((rc = try_method(h, a, h->op_name[op][0], b, out)))
		return rc < 0 ? -1 : 0;
	if (!right_first && ca != cb && (rc = try_method(h, b, h->op_name[op][1], a, out)))
		return rc < 0 ? -1 : 0;
	return refuse(h, op, suffix, a, b);
}

/* Is v an int | None or list[int]? These are tuples of a class of their own. */
int is_type_form(struct val v)
{
	return v.kind == V_TUPLE && v.u.o->cls->native && !strncmp(v.u.o->cls->native, "types.", 6);
}

/* The tuple (a, b) of class `native` that represents a | b or a[b]. */
int make_type_form(struct host *h, const char *native, struct val a, struct val b, struct val *out)
{
	struct val ab[2] = { a, b };
	struct class_obj *c = host_native_class(h, native);

	if (!c || val_tuple(h, ab, 2, out))
		return -1;
	out->u.o->cls = c;
	return 0;
}

/* Can v be an operand of int | None? */
static int is_type(struct val v)
{
	return v.kind == V_CLASS || v.kind == V_NONE || is_type_form(v);
}

/* An immediate value or an instance of a built-in type: no special method of the program is
 * involved. */
static int is_plain(struct val v)
{
	return !V_IS_HEAP(v) || (v.kind != V_OBJECT && v.u.o->cls && v.u.o->cls->native);
}

/* a op b. A subclass of a built-in container (class P(list)) uses its own method if it has one,
 * else the container's operator. */
int op_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	if (val_is_number(a) && val_is_number(b))
		return scalar_is(a) || scalar_is(b) ? scalar_binary(h, op, a, b, out) : pynum_binary(h, op, a, b, out);
	if (op == PY_OP_Mod && a.kind == V_STR && is_plain(a))
		return host_percent(h, val_text(a), b, out);
	if (is_plain(a) && is_plain(b)) {
		int done = container_binary(h, op, a, b, out);
		if (done)
			return done < 0 ? -1 : 0;
		if (op == PY_OP_BitOr && is_type(a) && is_type(b) && (a.kind != V_NONE || b.kind != V_NONE))
			return make_type_form(h, "types.UnionType", a, b, out);
	} else if (a.kind != V_OBJECT && b.kind != V_OBJECT && a.kind != V_TENSOR && b.kind != V_TENSOR) {
		int has = class_lookup(h, val_class(h, a), h->op_name[op][0], NULL) ||
			class_lookup(h, val_class(h, b), h->op_name[op][1], NULL);
		int done = has ? 0 : container_binary(h, op, a, b, out);
		if (done)
			return done < 0 ? -1 : 0;
	}
	return method_binary(h, op, a, b, "", out);
}

/* a op= b. Lists, dictionaries and sets change in place, so `a += b` is seen by every holder of
 * a. All else computes a new value, unless the class has __iadd__ and the like. */
int op_inplace(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	struct val copy;

	if (val_is_number(a))
		return op_binary(h, op, a, b, out);
	if ((a.kind == V_LIST || a.kind == V_DICT || a.kind == V_SET) && host_may_change(h, a))
		return -1;
	if (a.kind == V_LIST && op == PY_OP_Add) {
		*out = a;
		return list_extend(h, a, b);
	}
	if (a.kind == V_DICT && b.kind == V_DICT && op == PY_OP_BitOr) {
		*out = a;
		return dict_update(h, a, b);
	}
	if (a.kind == V_SET && b.kind == V_SET && is_plain(a) &&
	    (op == PY_OP_BitOr || op == PY_OP_BitAnd || op == PY_OP_Sub || op == PY_OP_BitXor) &&
	    !set_binary(h, op, a, b, &copy)) {
		dict_obj_clear(h, a.u.d);
		*out = a;
		return dict_update(h, a, copy);
	}
	if (h->op_name[op][2]) {
		int rc = try_method(h, a, h->op_name[op][2], b, out);
		if (rc)
			return rc < 0 ? -1 : 0;
	}
	if (a.kind == V_OBJECT || a.kind == V_TENSOR || b.kind == V_OBJECT || b.kind == V_TENSOR)
		return method_binary(h, op, a, b, "=", out);
	return op_binary(h, op, a, b, out);
}

/* not, -, +, ~. `-x` of the smallest int64 becomes a big int. */
int op_unary(struct host *h, enum py_op op, struct val a, struct val *out)
{
	struct val *m;

	if (op == PY_OP_Not) {
		int t = val_truth(h, a);
		*out = val_bool(!t);
		return t < 0 ? -1 : 0;
	}
	if (scalar_is(a) && scalar_may_compute(h, a))
		return -1;
	if (scalar_is(a) && a.kind == V_INT && op != PY_OP_UAdd)     /* 0 - x and -1 - x */
		return scalar_binary(h, PY_OP_Sub, val_int(op == PY_OP_USub ? 0 : -1), a, out);
	if (val_is_number(a)) {
		if (op == PY_OP_USub && a.kind == V_FLOAT)
			a.u.f = -a.u.f, *out = a;
		else if (op == PY_OP_USub)
			return a.kind == V_BIG || a.u.i == INT64_MIN ? big_neg(h, a, out) : (*out = val_int(-a.u.i), 0);
		else if (op == PY_OP_UAdd)
			*out = a.kind == V_BOOL ? val_int(a.u.i) : a;
		else if (a.kind == V_FLOAT)
			return host_raise(h, EXC_TypeError, "bad operand type for unary ~: 'float'");
		else if (a.kind == V_BIG)
			return big_neg(h, a, out) ? -1 : pynum_binary(h, PY_OP_Sub, *out, val_int(1), out);
		else
			*out = val_int(~a.u.i);
		return 0;
	}
	m = class_lookup(h, val_class(h, a), h->op_name[op][0], NULL);
	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (!m)
		return host_raise(h, EXC_TypeError, "bad operand type for unary %s: '%s'", py_op_text(op),
				  val_type_name(h, a));
	return host_call1(h, host_hold(h, *m), a, out);
}
