/* Comparison, identity, membership and truth: a < b, a is b, a in b, bool(a). Owns the rules
 * for built-in values; program classes are asked through their special methods.
 *
 * Invariant: a program must not see what depends on the Python that runs it. Whether two equal
 * strings or large integers are one object depends on it: `is` on them ends the program
 * (host_varies). */
#include <math.h>

#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/operator.h"
#include "interp/scalar.h"
#include "interp/state.h"
#include "interp/dict_view.h"

/* Identity as this engine sees it. Immediate values and strings have no identity of their own
 * here, so equal ones count as the same object. */
static int is_same(struct val a, struct val b)
{
	if (a.kind != b.kind)
		return 0;
	if (V_IS_HEAP(a))
		return a.u.o == b.u.o || ((a.kind == V_STR || a.kind == V_TL) && str_eq(val_text(a), val_text(b)));
	if (a.kind == V_FLOAT)
		return a.u.f == b.u.f;
	if (a.kind == V_NONE || a.kind == V_ELLIPSIS || a.kind == V_NOTIMPL || a.kind == V_UNSET)
		return 1;
	return a.u.i == b.u.i && a.aux == b.aux;
}

/* The result of a comparison operator from a three-way result c. `unordered` is set if an
 * operand is NaN: then only != is true. */
static int order_result(enum py_op op, int c, int unordered)
{
	switch (op) {
	case PY_OP_Eq: return !unordered && c == 0;
	case PY_OP_NotEq: return unordered || c != 0;
	case PY_OP_Lt: return !unordered && c < 0;
	case PY_OP_LtE: return !unordered && c <= 0;
	case PY_OP_Gt: return !unordered && c > 0;
	default: return !unordered && c >= 0;
	}
}

/* Lexicographic comparison of two lists or tuples. Elements are held because __eq__ may change
 * a list. Each pair costs a step of fuel. */
static int seq_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	const struct seq_obj *x = a.u.seq, *y = b.u.seq;
	if ((op == PY_OP_Eq || op == PY_OP_NotEq) && x->n != y->n) {
		*out = val_bool(op == PY_OP_NotEq);
		return 0;
	}
	for (size_t i = 0; i < x->n && i < y->n; i++) {
		struct val p = host_hold(h, x->v[i]), q = host_hold(h, y->v[i]);
		int same = host_step(h) ? -1 : val_equal(h, p, q);
		if (same < 0)
			return -1;
		if (!same) {
			if (op == PY_OP_Eq || op == PY_OP_NotEq) {
				*out = val_bool(op == PY_OP_NotEq);
				return 0;
			}
			return op_compare(h, op, p, q, out);
		}
	}
	*out = val_bool(order_result(op, x->n < y->n ? -1 : x->n > y->n, 0));
	return 0;
}

/* d == e, or set equality without values. Returns 1, 0 or -1. */
static int dict_equal(struct host *h, struct val a, struct val b)
{
	struct val v;
	if (a.u.d->live != b.u.d->live)
		return 0;
	for (size_t i = 0; i < a.u.d->n; i++) {
		struct dict_entry e = a.u.d->e[i];
		int found;

		if (e.key.kind == V_UNSET)
			continue;
		host_hold(h, e.val);
		found = dict_get(h, b, host_hold(h, e.key), &v);
		if (found > 0 && a.kind == V_DICT)
			found = val_equal(h, e.val, v);
		if (found <= 0)
			return found;
	}
	return 1;
}

/* Is a a subset of b? Returns 1, 0 or -1. */
static int set_within(struct host *h, struct val a, struct val b)
{
	struct val v;
	for (size_t i = 0; i < a.u.d->n; i++) {
		int found;

		if (a.u.d->e[i].key.kind == V_UNSET)
			continue;
		found = dict_get(h, b, host_hold(h, a.u.d->e[i].key), &v);
		if (found <= 0)
			return found;
	}
	return 1;
}

/* <= is subset, < proper subset: {1} < {2} and {1} > {2} are both false. */
static int set_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	int within, equal_n = a.u.d->live == b.u.d->live;
	int less;

	if (op == PY_OP_Eq || op == PY_OP_NotEq) {
		within = equal_n ? set_within(h, a, b) : 0;
		*out = val_bool(within == (op == PY_OP_Eq));
		return within < 0 ? -1 : 0;
	}
	less = op == PY_OP_Lt || op == PY_OP_LtE;
	within = less ? set_within(h, a, b) : set_within(h, b, a);
	*out = val_bool(within > 0 && (op == PY_OP_LtE || op == PY_OP_GtE || !equal_n));
	return within < 0 ? -1 : 0;
}

/* Slices compare like tuples of three. */
static int slice_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	const struct slice_obj *s = a.u.slice, *t = b.u.slice;
	struct val x[3] = { s->start, s->stop, s->step }, y[3] = { t->start, t->stop, t->step }, p, q;

	for (int i = 0; i < 3; i++) {
		x[i] = x[i].kind == V_UNSET ? val_none() : x[i];
		y[i] = y[i].kind == V_UNSET ? val_none() : y[i];
	}
	if (val_tuple(h, x, 3, &p) || val_tuple(h, y, 3, &q))
		return -1;
	return seq_compare(h, op, p, q, out);
}

/* Is v an OrderedDict or derived from it? */
static int is_ordered(struct host *h, struct val v)
{
	const struct class_obj *c = val_class(h, v);

	for (size_t i = 0; i < c->n_mro; i++)
		if (c->mro[i]->native && !strcmp(c->mro[i]->native, "collections.OrderedDict"))
			return 1;
	return 0;
}

/* Do two ordered dictionaries have their keys in the same order? Two OrderedDicts are equal
 * only then; an OrderedDict and a dict ignore the order. */
static int same_order(struct host *h, struct val a, struct val b)
{
	size_t i = 0, j = 0;
	struct dict_entry *x, *y;

	while ((x = dict_next(a.u.d, &i)) && (y = dict_next(b.u.d, &j))) {
		int same = val_equal(h, host_hold(h, x->key), host_hold(h, y->key));
		if (same <= 0)
			return same;
	}
	return 1;
}

/* Ranges are equal if they give the same numbers: range(0, 3, 2) == range(0, 4, 2). */
static int range_equal(struct host *h, struct val a, struct val b)
{
	int64_t na, nb;
	const struct range_obj *x, *y;

	if (host_len(h, a, &na) || host_len(h, b, &nb))
		return -1;
	x = a.u.range;
	y = b.u.range;
	return na == nb && (na == 0 || (x->start == y->start && (na == 1 || x->step == y->step)));
}

/* Compares values that need no special method. Returns 1 if done, 0 if the values are none of
 * these, -1 on failure. Nested containers count as calls for the recursion limit. */
static int direct_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	int unordered, rc, seqs;

	if (val_is_number(a) && val_is_number(b)) {
		int c = pynum_compare(a, b, &unordered);
		*out = val_bool(order_result(op, c, unordered));
		return (scalar_is(a) || scalar_is(b)) && scalar_compare(h, a, b, out) ? -1 : 1;
	}
	if ((a.kind == V_STR && b.kind == V_STR) || (a.kind == V_BYTES && b.kind == V_BYTES)) {
		int c = memcmp(a.u.s->p, b.u.s->p, MIN(a.u.s->n, b.u.s->n));
		if (!c)
			c = a.u.s->n < b.u.s->n ? -1 : a.u.s->n > b.u.s->n;
		*out = val_bool(order_result(op, c, 0));
		return 1;
	}
	if (is_type_form(a) || is_type_form(b))
		return host_varies(h, "whether two generic types are equal") ? -1 : 0;
	seqs = (a.kind == V_TUPLE && b.kind == V_TUPLE) || (a.kind == V_LIST && b.kind == V_LIST);
	if (seqs || (a.kind == V_SET && b.kind == V_SET)) {
		if (host_enter(h))
			return -1;
		rc = seqs ? seq_compare(h, op, a, b, out) : set_compare(h, op, a, b, out);
		host_leave(h);
		return rc ? -1 : 1;
	}
	if (a.kind == V_DICT && b.kind == V_DICT && (op == PY_OP_Eq || op == PY_OP_NotEq)) {
		if (host_enter(h))
			return -1;
		rc = dict_equal(h, a, b);
		if (rc > 0 && is_ordered(h, a) && is_ordered(h, b))
			rc = same_order(h, a, b);
		host_leave(h);
		*out = val_bool(rc == (op == PY_OP_Eq));
		return rc < 0 ? -1 : 1;
	}
	if (a.kind == V_VIEW || b.kind == V_VIEW)
		return view_compare(h, op, a, b, out);
	if (a.kind == V_SLICE && b.kind == V_SLICE)
		return slice_compare(h, op, a, b, out) ? -1 : 1;
	if (a.kind == V_RANGE && b.kind == V_RANGE && (op == PY_OP_Eq || op == PY_OP_NotEq)) {
		rc = range_equal(h, a, b);
		*out = val_bool(rc == (op == PY_OP_Eq));
		return rc < 0 ? -1 : 1;
	}
	if (a.kind == V_DEVICE && b.kind == V_DEVICE && (op == PY_OP_Eq || op == PY_OP_NotEq)) {
		int same = a.aux == b.aux && (a.u.i == b.u.i);
		*out = val_bool(same == (op == PY_OP_Eq));
		return 1;
	}
	return 0;
}

/* Is the identity of a and b a detail of CPython's compiler and caches? Equal large integers,
 * floats, strings and tuples may or may not be one object. Integers from -5 to 256 are cached
 * by every CPython. */
static int is_vague(struct val a, struct val b)
{
	enum { CACHED_LEAST = -5, CACHED_MOST = 256 };
	if (a.kind != b.kind)
		return 0;
	if (scalar_is(a) && scalar_is(b) && a.kind != V_BOOL)
		return 1;
	switch (a.kind) {
	case V_INT: return a.u.i == b.u.i && (a.u.i < CACHED_LEAST || a.u.i > CACHED_MOST);
	case V_FLOAT: case V_STR: case V_BYTES: return is_same(a, b) || a.kind == V_BYTES;
	case V_BIG: return 1;
	case V_TUPLE: return a.u.o != b.u.o && a.u.seq->n == b.u.seq->n;
	default: return 0;
	}
}

/* Calls self.name(other). Returns 1 with a result, 0 if only object defines the method or it
 * returned NotImplemented, -1 on failure. */
static int try_compare(struct host *h, struct val self, struct str_obj *name, struct val other, struct val *out)
{
	struct class_obj *where = NULL;
	struct val *m = class_lookup(h, val_class(h, self), name, &where);
	struct val a[2];
	struct call_args args;

	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (!m || m->kind == V_NONE || where == h->type.object_class)
		return 0;
	a[0] = self;
	a[1] = other;
	args = (struct call_args){ .a = a, .n = 2 };
	if (host_callv(h, host_hold(h, *m), &args, out))
		return -1;
	return out->kind != V_NOTIMPL;
}

/* Comparison by special methods: a.__lt__(b), then the mirrored b.__gt__(a); the right operand
 * comes first if its class derives from the left one's. != falls back to not ==. Without any
 * method == is identity and < is a TypeError. */
static int rich_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	struct class_obj *ca = val_class(h, a), *cb = val_class(h, b);
	int right_first = ca != cb && class_is_sub(cb, ca), rc = 0;
	if (right_first)
		rc = try_compare(h, b, h->op_name[op][1], a, out);
	if (!rc)
		rc = try_compare(h, a, h->op_name[op][0], b, out);
	if (!rc && !right_first)
		rc = try_compare(h, b, h->op_name[op][1], a, out);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (op == PY_OP_NotEq && (rc = try_compare(h, a, h->op_name[PY_OP_Eq][0], b, out))) {
		int t = rc < 0 ? -1 : val_truth(h, *out);
		*out = val_bool(!t);
		return t < 0 ? -1 : 0;
	}
	if (op == PY_OP_Eq || op == PY_OP_NotEq) {
		*out = val_bool(is_same(a, b) == (op == PY_OP_Eq));
		return 0;
	}
	return host_raise(h, EXC_TypeError, "'%s' not supported between instances of '%s' and '%s'", py_op_text(op),
			  val_type_name(h, a), val_type_name(h, b));
}

/* Any comparison operator. A class of the program that derives from a built-in type uses the
 * built-in comparison unless it defines the method itself. */
int op_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	int rc, user;

	switch (op) {
	case PY_OP_Is: case PY_OP_IsNot:
		*out = val_bool(is_same(a, b) == (op == PY_OP_Is));
		return is_vague(a, b) ? host_varies(h, "whether equal values are the same object") : 0;
	case PY_OP_In: case PY_OP_NotIn:
		rc = op_contains(h, b, a);
		*out = val_bool(rc == (op == PY_OP_In));
		return rc < 0 ? -1 : 0;
	default: break;
	}
	user = (V_IS_HEAP(a) && !a.u.o->cls->native) || (V_IS_HEAP(b) && !b.u.o->cls->native);
	rc = user ? 0 : direct_compare(h, op, a, b, out);
	if (!rc && user) {
		struct class_obj *w = NULL;
		int own = (class_lookup(h, val_class(h, a), h->op_name[op][0], &w) && w != h->type.object_class) ||
			  (class_lookup(h, val_class(h, b), h->op_name[op][1], &w) && w != h->type.object_class);
		rc = own ? 0 : direct_compare(h, op, a, b, out);
	}
	if (rc)
		return rc < 0 ? -1 : 0;
	return rich_compare(h, op, a, b, out);
}

/* Inside containers Python compares identity first: [nan] == [nan] is true only if both are one
 * object. Floats have no identity here, so the answer for two NaNs is unknown. */
static int is_vague_nan(struct val a, struct val b)
{
	return a.kind == V_FLOAT && b.kind == V_FLOAT && isnan(a.u.f) && isnan(b.u.f);
}

/* Equality inside containers and of keys. Returns 1, 0 or -1. */
int val_equal(struct host *h, struct val a, struct val b)
{
	struct val r;
	if (is_vague_nan(a, b) && host_varies(h, "whether equal values are the same object"))
		return -1;
	if (is_same(a, b) && a.kind != V_FLOAT)
		return 1;
	return op_compare(h, PY_OP_Eq, a, b, &r) ? -1 : val_truth(h, r);
}

/* item in c. Ranges compute the answer; other containers without __contains__ are searched
 * element by element, at one step of fuel each. */
int op_contains(struct host *h, struct val c, struct val item)
{
	struct val v, it;
	int more;
	switch (c.kind) {
	case V_DICT: case V_SET: return dict_get(h, c, item, &v);
	case V_VIEW: return view_has(h, c, item);
	case V_STR:
		if (item.kind != V_STR)
			return host_raise(h, EXC_TypeError,
					  "'in <string>' requires string as left operand, not %s",
					  val_type_name(h, item));
		return str_find(val_text(c), val_text(item)) >= 0;
	case V_BYTES:
		if (item.kind == V_BYTES)
			return str_find(val_text(c), val_text(item)) >= 0;
		break;
	case V_RANGE:
		if (item.kind == V_INT || item.kind == V_BOOL) {
			const struct range_obj *r = c.u.range;
			int64_t i = item.u.i;
			uint64_t off = r->step > 0 ? (uint64_t)i - (uint64_t)r->start :
				(uint64_t)r->start - (uint64_t)i;
			uint64_t step = r->step > 0 ? (uint64_t)r->step : 0 - (uint64_t)r->step;
			return (r->step > 0 ? i >= r->start && i < r->stop : i <= r->start && i > r->stop) &&
				off % step == 0;
		}
		break;
	default: break;
	}
	if (c.kind != V_LIST && c.kind != V_TUPLE) {
		int found = call_special(h, c, NM___contains__, &item, 1, &v);
		if (found)
			return found < 0 ? -1 : val_truth(h, v);
	}
	if (host_iter(h, c, &it)) {
		if (!host_exc_is(h, EXC_TypeError))
			return -1;
		host_exc_clear(h);
		return host_raise(h, EXC_TypeError, "argument of type '%s' is not iterable", val_type_name(h, c));
	}
	while ((more = host_next(h, it, &v)) > 0) {
		int same = host_step(h) ? -1 : val_equal(h, v, item);
		if (same)
			return same;
	}
	return more;
}

/* bool(v): __bool__, else __len__, else true. A tensor's __bool__ reads its element, which
 * fails in a dry run (contents_needed) unless the element is known. */
int val_truth(struct host *h, struct val v)
{
	struct val r;
	int64_t n;
	int found;

	switch (v.kind) {
	case V_NONE: case V_UNSET: return 0;
	case V_BOOL: case V_INT: return v.u.i != 0;
	case V_FLOAT: return v.u.f != 0;
	case V_STR: case V_BYTES: return v.u.s->n != 0;
	case V_TUPLE: case V_LIST: return v.u.seq->n != 0;
	case V_DICT: case V_SET: return v.u.d->live != 0;
	case V_VIEW: return view_len(v) != 0;
	case V_RANGE: return host_len(h, v, &n) ? -1 : n != 0;
	/* these ask their class */
	case V_OBJECT: case V_TENSOR: break;
	default: return 1;
	}
	found = call_special(h, v, NM___bool__, NULL, 0, &r);
	if (found) {
		if (found > 0 && r.kind != V_BOOL)
			return host_raise(h, EXC_TypeError, "__bool__ should return bool, returned %s",
					  val_type_name(h, r));
		return found < 0 ? -1 : (int)r.u.i;
	}
	found = special_len(h, v, &n);
	return found < 0 ? -1 : !found || n != 0;
}
