/* Built-in functions and types over sequences: containers, iterators, reductions, order. The
 * rest is in builtins.c.
 *
 * enumerate, zip, map and filter are lazy as in Python: an iterator object whose src is the
 * iterator or tuple of iterators underneath. Every element costs fuel, so itertools-style loops
 * cannot run for ever. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/work.h"

/* --- sequences ----------------------------------------------------------------------------------------- */

/* len(x). */
static int b_len(struct bind *b)
{
	int64_t n;
	if (host_len(b->h, b->a[0], &n))
		return -1;
	b->out = val_int(n);
	return 0;
}

/* list() or list(iterable). */
static int b_list(struct bind *b)
{
	return b->a[1].kind == V_UNSET ? val_list(b->h, NULL, 0, &b->out) : host_to_list(b->h, b->a[1], &b->out);
}

/* tuple(x). A plain tuple stays itself, as in CPython. */
static int b_tuple(struct bind *b)
{
	struct val v = b->a[1], cls = b->a[0];
	int exact = cls.kind == V_CLASS && cls.u.c == b->h->type.kind_class[V_TUPLE];
	if (exact && v.kind == V_TUPLE && v.u.o->cls == cls.u.c) {
		b->out = v;
		return 0;
	}
	if (val_tuple(b->h, NULL, 0, &b->out))
		return -1;
	if (v.kind == V_UNSET)
		return 0;
	if (v.kind == V_LIST || v.kind == V_TUPLE) {
		for (size_t i = 0; i < v.u.seq->n; i++)
			if (list_append(b->h, b->out, v.u.seq->v[i]))
				return -1;
		return 0;
	}
	return list_extend(b->h, b->out, v);
}

/* torch.Size(iterable): a tuple of integers only. A copy is made before its class changes. */
static int b_size(struct bind *b)
{
	if (b_tuple(b))
		return -1;
	if (b->a[1].kind != V_UNSET && val_tuple(b->h, b->out.u.seq->v, b->out.u.seq->n, &b->out))
		return -1;
	for (size_t i = 0; b->a[1].kind != V_UNSET && i < b->out.u.seq->n; i++) {
		struct val v = b->out.u.seq->v[i];
		int64_t n;

		if (v.kind == V_FLOAT || v.kind == V_STR || v.kind == V_NONE || val_as_int(b->h, v, &n))
			return bind_raise(b, EXC_TypeError,
					  "torch.Size() takes an iterable of 'int' (item %zu is '%s')", i,
					  val_type_name(b->h, v));
		val_assign(b->h, &b->out.u.seq->v[i], val_int(n));
	}
	b->out.u.o->cls = b->h->type.size_class;
	return 0;
}

/* host_each callback. An entry costs 16 steps, about its hashing and memory. */
static int add_to_set(void *ctx, struct val item)
{
	struct bind *b = ctx;
	return host_burn(b->h, HOST_STEPS_ENTRY) || dict_set(b->h, b->out, item, val_none()) ? -1 : 0;
}

/* set(iterable). The order of a set that is walked does not show in the result. */
static int b_set(struct bind *b)
{
	if (val_set(b->h, &b->out))
		return -1;
	return b->a[1].kind == V_UNSET ? 0 : host_each_any(b->h, b->a[1], add_to_set, b);
}

/* frozenset(iterable): a set with another class, which makes it hashable. */
static int b_frozenset(struct bind *b)
{
	if (b_set(b))
		return -1;
	b->out.u.o->cls = host_native_class(b->h, "frozenset");
	return 0;
}

/* dict(mapping or pairs, **kwargs). */
static int b_dict(struct bind *b)
{
	if (val_dict(b->h, &b->out))
		return -1;
	if (b->a[1].kind != V_UNSET && dict_fill(b->h, b->out, b->a[1]))
		return -1;
	return dict_update(b->h, b->out, b->a[2]);
}

/* range(stop) or range(start, stop[, step]). */
static int b_range(struct bind *b)
{
	int64_t start = 0, stop, step = 1;
	struct range_obj *r;
	int two = b->a[2].kind != V_UNSET;
	if (val_as_int(b->h, b->a[two ? 2 : 1], &stop) || (two && val_as_int(b->h, b->a[1], &start)) ||
	    (b->a[3].kind != V_UNSET && val_as_int(b->h, b->a[3], &step)))
		return -1;
	if (!step)
		return bind_raise(b, EXC_ValueError, "range() arg 3 must not be zero");
	if (!(r = host_obj(b->h, V_RANGE, sizeof *r, NULL)))
		return -1;
	r->start = start;
	r->stop = stop;
	r->step = step;
	b->out = val_obj(&r->h);
	return 0;
}

/* slice(stop) or slice(start, stop[, step]). */
static int b_slice(struct bind *b)
{
	struct val *a = b->a + 1;
	if (a[1].kind == V_UNSET)
		return val_slice(b->h, val_none(), a[0], val_none(), &b->out);
	return val_slice(b->h, a[0], a[1], a[2].kind == V_UNSET ? val_none() : a[2], &b->out);
}

/* iter(x); the two-argument form iter(f, sentinel) is not supported. */
static int b_iter(struct bind *b)
{
	return host_iter(b->h, b->a[0], &b->out);
}

/* next(it[, default]). */
static int b_next(struct bind *b)
{
	struct val it = b->a[0];
	int found;
	if (it.kind == V_ITER) {
		found = host_next(b->h, it, &b->out);
	} else {
		found = call_special(b->h, it, NM___next__, NULL, 0, &b->out);
		if (!found)
			return bind_raise(b, EXC_TypeError, "'%s' object is not an iterator", val_type_name(b->h, it));
		if (found < 0 && b->a[1].kind != V_UNSET && host_exc_is(b->h, EXC_StopIteration)) {
			host_exc_clear(b->h);
			found = 0;
		}
	}
	if (found)
		return found < 0 ? -1 : 0;
	if (b->a[1].kind == V_UNSET)
		return bind_raise(b, EXC_StopIteration, "%s", "");
	b->out = b->a[1];
	return 0;
}

/* enumerate: i counts, src is the iterator underneath. */
static int next_enumerate(struct host *h, struct iter_obj *it, struct val *out)
{
	struct val kv[2] = { val_int(it->i) };
	int more = host_next(h, it->src, &kv[1]);
	if (more <= 0)
		return more;
	if (it->i == INT64_MAX)
		return host_fatal(h, REASON_unsupported, "enumerate() beyond 64 bits is not supported");
	it->i++;
	return val_tuple(h, kv, 2, out) ? -1 : 1;
}

/* enumerate(iterable, start). The argument is turned into an iterator at once. */
static int b_enumerate(struct bind *b)
{
	struct val it;
	int64_t start;
	if (bind_int(b, 1, &start) || host_iter(b->h, b->a[0], &it) || val_iter(b->h, it, next_enumerate, &b->out))
		return -1;
	b->out.u.iter->i = start;
	return 0;
}

/* zip: src is a tuple of iterators; n is set for strict=True, which reports arguments of
 * different lengths. */
static int next_zip(struct host *h, struct iter_obj *it, struct val *out)
{
	struct val item, t;
	const struct seq_obj *s = it->src.u.seq;
	if (!s->n || val_tuple(h, NULL, 0, &t))
		return s->n ? -1 : 0;
	for (size_t i = 0; i < s->n; i++) {
		int more = host_next(h, s->v[i], &item);
		if (more < 0)
			return -1;
		if (!more) {
			if (it->n && i)
				return host_raise(h, EXC_ValueError,
						  "zip() argument %zu is shorter than argument 1", i + 1);
			for (size_t k = 1; it->n && k < s->n; k++)
				if (host_next(h, s->v[k], &item) > 0)
					return host_raise(h, EXC_ValueError,
							  "zip() argument %zu is longer than argument 1", k + 1);
			return 0;
		}
		if (list_append(h, t, item))
			return -1;
	}
	*out = t;
	return 1;
}

/* A tuple with an iterator over each value. */
static int iterators_of(struct host *h, const struct val *v, size_t n, struct val *out)
{
	struct val it;
	if (val_tuple(h, NULL, 0, out))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (host_iter(h, v[i], &it) || list_append(h, *out, it))
			return -1;
	return 0;
}

/* zip(*iterables, strict). Without arguments it is empty. */
static int b_zip(struct bind *b)
{
	struct val its;
	int strict;

	if (iterators_of(b->h, b->a[0].u.seq->v, b->a[0].u.seq->n, &its) || val_iter(b->h, its, next_zip, &b->out))
		return -1;
	strict = val_truth(b->h, b->a[1]);
	b->out.u.iter->n = strict > 0;
	return strict < 0 ? -1 : 0;
}

/* map: a zip whose tuples become the arguments of it->a. */
static int next_map(struct host *h, struct iter_obj *it, struct val *out)
{
	struct val args;
	int more = next_zip(h, it, &args);
	struct call_args a;

	if (more <= 0)
		return more;
	a = (struct call_args){ .a = args.u.seq->v, .n = args.u.seq->n };
	return host_callv(h, it->a, &a, out) ? -1 : 1;
}

/* map(f, *iterables): f is called when an element is asked for. */
static int b_map(struct bind *b)
{
	struct val its;
	if (iterators_of(b->h, b->a[1].u.seq->v, b->a[1].u.seq->n, &its) || val_iter(b->h, its, next_map, &b->out))
		return -1;
	val_assign(b->h, &b->out.u.iter->a, b->a[0]);
	return 0;
}

/* filter: elements for which it->a (or, for None, the element itself) is true. */
static int next_filter(struct host *h, struct iter_obj *it, struct val *out)
{
	for (;;) {
		struct val t;
		int more = host_step(h) ? -1 : host_next(h, it->src, out);
		int yes;

		if (more <= 0)
			return more;
		t = *out;
		if (it->a.kind != V_NONE && host_call1(h, it->a, *out, &t))
			return -1;
		yes = val_truth(h, t);
		if (yes)
			return yes;
	}
}

/* filter(f, iterable): lazy as well. */
static int b_filter(struct bind *b)
{
	struct val it;
	if (host_iter(b->h, b->a[1], &it) || val_iter(b->h, it, next_filter, &b->out))
		return -1;
	val_assign(b->h, &b->out.u.iter->a, b->a[0]);
	return 0;
}

/* reversed(list): the list is read when an element is asked for, so later changes show. */
static int next_reversed(struct host *h, struct iter_obj *it, struct val *out)
{
	const struct seq_obj *s = it->src.u.seq;

	if (it->i <= 0 || (size_t)it->i > s->n) {
		it->i = 0;
		return 0;
	}
	*out = host_hold(h, s->v[--it->i]);
	return 1;
}

/* An iterator over a reversed copy of the elements; also range.__reversed__. */
static int reversed_copy(struct bind *b)
{
	struct val list;
	struct seq_obj *s;

	if (host_to_list(b->h, b->a[0], &list))
		return -1;
	s = list.u.seq;
	for (size_t i = 0; i < s->n / 2; i++) {
		struct val t = s->v[i];
		s->v[i] = s->v[s->n - 1 - i];
		s->v[s->n - 1 - i] = t;
	}
	return host_iter(b->h, list, &b->out);
}

/* reversed(x): __reversed__, a list walked backwards, or a reversed copy. */
static int b_reversed(struct bind *b)
{
	int found = call_special(b->h, b->a[0], NM___reversed__, NULL, 0, &b->out);

	if (found)
		return found < 0 ? -1 : 0;
	if (b->a[0].kind == V_SET)
		return bind_raise(b, EXC_TypeError, "'%s' object is not reversible", val_type_name(b->h, b->a[0]));
	if (b->a[0].kind == V_LIST) {
		if (val_iter(b->h, b->a[0], next_reversed, &b->out))
			return -1;
		b->out.u.iter->i = (int64_t)b->a[0].u.seq->n;
		return 0;
	}
	return reversed_copy(b);
}

/* --- reductions ------------------------------------------------------------------------------------------- */

/* sum(iterable, start): start + x0 + x1 ..., left to right. */
static int b_sum(struct bind *b)
{
	struct val it, v;
	int more;
	b->out = b->a[1];
	if (host_iter(b->h, b->a[0], &it))
		return -1;
	while ((more = host_next(b->h, it, &v)) > 0)
		if (host_step(b->h) || op_binary(b->h, PY_OP_Add, b->out, v, &b->out))
			return -1;
	return more;
}

/* any() stops at the first true element, all() at the first false one. */
static int any_all(struct bind *b, int stop_at)
{
	struct val it, v;
	int more;
	if (host_iter_any(b->h, b->a[0], &it))
		return -1;
	b->out = val_bool(!stop_at);
	while ((more = host_next(b->h, it, &v)) > 0) {
		int t = host_step(b->h) ? -1 : val_truth(b->h, v);
		if (t < 0)
			return -1;
		if (t == stop_at) {
			b->out = val_bool(stop_at);
			return 0;
		}
	}
	return more;
}

static int b_any(struct bind *b) { return any_all(b, 1); }
static int b_all(struct bind *b) { return any_all(b, 0); }

/* min() and max() with key and default; the first of equal elements wins. In a dry run each
 * comparison and the index of the winner are recorded: min(1024, n) is a size branch. */
static int best_of(struct bind *b, enum py_op op)
{
	enum { BEST = 16, BEST_MOST = 15 };
	struct val items = b->a[0], it, v, key, best_key, r;
	struct val fn = b->a[1];
	int more, have = 0, n = 0, best = 0;
	const char *name = op == PY_OP_Lt ? "min" : "max";
	if (items.u.seq->n == 0)
		return bind_raise(b, EXC_TypeError, "%s expected at least 1 argument, got 0", name);
	if ((fn.kind == V_NONE ? host_iter_any : host_iter)(b->h, items.u.seq->n == 1 ? items.u.seq->v[0] : items, &it))
		return -1;
	while ((more = host_next(b->h, it, &v)) > 0) {
		int better, equal;

		key = v;
		if (host_step(b->h) || (fn.kind != V_NONE && host_call1(b->h, fn, v, &key)))
			return -1;
		better = 1;
		equal = have && key.kind == V_INT && best_key.kind == V_INT && key.u.i == best_key.u.i;
		if (have && (op_compare(b->h, op, key, best_key, &r) || (better = val_truth(b->h, r)) < 0))
			return -1;
		if (better) {
			b->out = v;
			best_key = key;
			best = n;
			have = 1;
		}
		n++;
		host_note_branch(b->h, b->h->frame ? b->h->frame->node : NULL, better + 2 * have + 4 * equal);
	}
	if (!more && have)
		host_note_branch(b->h, b->h->frame ? b->h->frame->node : NULL, BEST + MIN(best, BEST_MOST));
	if (more < 0 || have)
		return more;
	if (b->a[2].kind == V_UNSET)
		return bind_raise(b, EXC_ValueError, "%s() arg is an empty sequence", name);
	b->out = b->a[2];
	return 0;
}

static int b_min(struct bind *b) { return best_of(b, PY_OP_Lt); }
static int b_max(struct bind *b) { return best_of(b, PY_OP_Gt); }

/* sorted(): a set may be sorted, because its order does not show. */
static int b_sorted(struct bind *b)
{
	int reverse;
	if (bind_bool(b, 2, &reverse) || host_to_sortable(b->h, b->a[0], &b->out))
		return -1;
	return list_sort(b->h, b->out, b->a[1], reverse);
}

const struct bind_row builtin_sequence_rows[] = {
	{ "builtins.len", "obj, /", b_len, 0 },
	{ "builtins.iter", "obj, /", b_iter, 0 },
	{ "builtins.next", "iterator, default=?, /", b_next, 0 },
	{ "builtins.enumerate", "iterable, start=0", b_enumerate, 0 },
	{ "builtins.zip", "*iterables, strict=False", b_zip, 0 },
	{ "builtins.map", "func, *iterables", b_map, 0 },
	{ "builtins.filter", "function, iterable, /", b_filter, 0 },
	{ "builtins.reversed", "sequence, /", b_reversed, 0 },
	{ "range.__reversed__", "self, /", reversed_copy, 0 },
	{ "builtins.sum", "iterable, /, start=0", b_sum, 0 },
	{ "builtins.any", "iterable, /", b_any, 0 },
	{ "builtins.all", "iterable, /", b_all, 0 },
	{ "builtins.min", "*args, key=None, default=?", b_min, 0 },
	{ "builtins.max", "*args, key=None, default=?", b_max, 0 },
	{ "builtins.sorted", "iterable, /, *, key=None, reverse=False", b_sorted, 0 },
	{ "list.__new__", "cls, iterable=?, /", b_list, BIND_STATIC },
	{ "tuple.__new__", "cls, iterable=?, /", b_tuple, BIND_STATIC },
	{ "torch.Size.__new__", "cls, iterable=?, /", b_size, BIND_STATIC },
	{ "set.__new__", "cls, iterable=?, /", b_set, BIND_STATIC },
	{ "frozenset.__new__", "cls, iterable=?, /", b_frozenset, BIND_STATIC },
	{ "dict.__new__", "cls, mapping=?, /, **kwargs", b_dict, BIND_STATIC },
	{ "range.__new__", "cls, start, stop=?, step=?, /", b_range, BIND_STATIC },
	{ "slice.__new__", "cls, start, stop=?, step=?, /", b_slice, BIND_STATIC },
	{ NULL, NULL, NULL, 0 }
};
