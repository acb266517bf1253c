/* Iteration: one iterator object (V_ITER) with a `next` function per kind of source. Also
 * builds lists from iterables. Fields of an iterator: src is the value walked, i the position,
 * n a size that was noted at the start. Each element handed out is a temporary. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/val_text.h"
#include "interp/dict_view.h"

/* A list may grow during the loop; the length is read again each time, as CPython does. */
static int next_seq(struct host *h, struct iter_obj *it, struct val *out)
{
	const struct seq_obj *s = it->src.u.seq;
	if ((size_t)it->i >= s->n)
		return 0;
	*out = host_hold(h, s->v[it->i++]);
	return 1;
}

/* i is the next number and n how many are left. The sum wraps only after the last one. */
static int next_range(struct host *h, struct iter_obj *it, struct val *out)
{
	(void)h;
	if (it->n <= 0)
		return 0;
	it->n--;
	*out = val_int(it->i);
	it->i = (int64_t)((uint64_t)it->i + (uint64_t)it->src.u.range->step);
	return 1;
}

/* One code point at a time; bytes give integers. i is a byte offset. */
static int next_str(struct host *h, struct iter_obj *it, struct val *out)
{
	struct str s = val_text(it->src);
	size_t n;

	if ((size_t)it->i >= s.n)
		return 0;
	if (it->src.kind == V_BYTES) {
		*out = val_int((unsigned char)s.p[it->i++]);
		return 1;
	}
	n = utf8_offset((struct str){ .p = s.p + it->i, .n = s.n - (size_t)it->i }, 1);
	if (val_str(h, (struct str){ .p = s.p + it->i, .n = n }, out))
		return -1;
	it->i += (int64_t)n;
	return 1;
}

/* Keys of a dictionary or elements of a set. A changed size is a RuntimeError. */
static int next_dict(struct host *h, struct iter_obj *it, struct val *out)
{
	struct dict_obj *d = it->src.u.d;
	size_t at = (size_t)it->i;
	struct dict_entry *e;

	if ((int64_t)d->live != it->n)
		return host_raise(h, EXC_RuntimeError, "%s changed size during iteration",
				  it->src.kind == V_SET ? "Set" : "dictionary");
	e = dict_next(d, &at);
	it->i = (int64_t)at;
	if (!e)
		return 0;
	*out = host_hold(h, e->key);
	return 1;
}

/* An object with __next__; StopIteration ends the loop. */
static int next_object(struct host *h, struct iter_obj *it, struct val *out)
{
	int rc = call_special(h, it->src, NM___next__, NULL, 0, out);
	if (rc < 0 && host_exc_is(h, EXC_StopIteration)) {
		host_exc_clear(h);
		return 0;
	}
	if (!rc)
		return host_raise(h, EXC_TypeError, "'%s' object is not an iterator", val_type_name(h, it->src));
	return rc;
}

/* The old protocol: __getitem__ with 0, 1, 2, ... until IndexError. Each element costs 100
 * steps, because an object that never raises IndexError should meet its fuel limit soon. */
static int next_item(struct host *h, struct iter_obj *it, struct val *out)
{
	enum { ITEM_STEPS = 100 };              /* cost of one element in fuel */
	if (host_burn(h, ITEM_STEPS))
		return -1;
	if (!item_get(h, it->src, val_int(it->i), out)) {
		it->i++;
		return 1;
	}
	if (!host_exc_is(h, EXC_IndexError))
		return -1;
	host_exc_clear(h);
	return 0;
}

/* `for m in Color` walks the members of an enumeration in their order. Returns 0 if v is not an
 * enumeration. */
static int iter_members(struct host *h, struct val v, struct val *out)
{
	struct dict_obj *members = v.kind == V_CLASS ? class_members(h, v.u.c) : NULL;
	struct dict_entry *entry;
	struct val list;
	size_t at = 0;

	if (!members)
		return 0;
	if (val_list(h, NULL, 0, &list))
		return -1;
	while ((entry = dict_next(members, &at)))
		if (list_append(h, list, entry->val))
			return -1;
	return host_iter(h, list, out) ? -1 : 1;
}

/* iter(v) by special methods: __iter__, then an enumeration, then __getitem__. */
static int iter_object(struct host *h, struct val v, struct val *out)
{
	struct val it;
	int found = call_special(h, v, NM___iter__, NULL, 0, &it);
	if (found < 0)
		return -1;
	if (found) {
		if (it.kind == V_ITER) {
			*out = it;
			return 0;
		}
		return val_iter(h, it, next_object, out);
	}
	found = iter_members(h, v, out);
	if (found)
		return found < 0 ? -1 : 0;
	if (v.kind == V_TENSOR && !v.u.t->t.ndim)
		return host_raise(h, EXC_TypeError, "iteration over a 0-d tensor");
	if (has_special(h, v, NM___getitem__) && v.kind != V_CLASS)
		return val_iter(h, v, next_item, out);
	if (v.kind == V_TENSOR)
		return -1;
	return h->fail.fatal ? -1 : host_raise(h, EXC_TypeError, "'%s' object is not iterable", val_type_name(h, v));
}

/* iter(v). A class of the program that derives from a built-in container and defines __iter__
 * uses it. The order of a set may show here; see host_iter. */
int host_iter_any(struct host *h, struct val v, struct val *out)
{
	int rc = 0;
	if (V_IS_HEAP(v) && v.u.o->cls && !v.u.o->cls->native && v.kind != V_OBJECT) {
		struct class_obj *where;
		if (class_lookup(h, v.u.o->cls, h->nm[NM___iter__], &where) && !where->native)
			return iter_object(h, v, out);
	}
	switch (v.kind) {
	case V_ITER: *out = v; return 0;
	case V_VIEW: return view_iter(h, v, out);
	case V_TUPLE: case V_LIST: return val_iter(h, v, next_seq, out);
	case V_STR: case V_BYTES: return val_iter(h, v, next_str, out);
	case V_RANGE:
		rc = val_iter(h, v, next_range, out);
		if (!rc) {
			out->u.iter->i = v.u.range->start;
			rc = host_len(h, v, &out->u.iter->n);
		}
		return rc;
	case V_DICT: case V_SET:
		rc = val_iter(h, v, next_dict, out);
		if (!rc)
			out->u.iter->n = (int64_t)v.u.d->live;
		return rc;
	default: return iter_object(h, v, out);
	}
}

/* iter(v) for program code. The order of a set with more than one element depends on the Python
 * that runs it, so a program that iterates over one is refused. */
int host_iter(struct host *h, struct val v, struct val *out)
{
	if (v.kind == V_SET && v.u.d->live > 1 && host_varies(h, "the order of a set"))
		return -1;
	return host_iter_any(h, v, out);
}

/* The next element. Advancing an iterator changes it, so one that outlives the call of forward
 * is guarded like any object. */
int host_next(struct host *h, struct val it, struct val *out)
{
	return host_deep(h) || host_may_change(h, it) ? -1 : it.u.iter->next(h, it.u.iter, out);
}

/* Calls fn for each element and drops the temporaries of each iteration. */
static int each_of(struct host *h, struct val it, int (*fn)(void *ctx, struct val item), void *ctx)
{
	struct val item;
	int more;
	size_t mark = temps_mark(h);
	while ((more = host_next(h, it, &item)) > 0) {
		int rc = host_step(h) ? -1 : fn(ctx, item);
		temps_drain(h, mark);
		if (rc)
			return rc;
	}
	return more;
}

int host_each(struct host *h, struct val v, int (*fn)(void *ctx, struct val item), void *ctx)
{
	struct val it;
	return host_iter(h, v, &it) ? -1 : each_of(h, it, fn, ctx);
}

int host_each_any(struct host *h, struct val v, int (*fn)(void *ctx, struct val item), void *ctx)
{
	struct val it;
	return host_iter_any(h, v, &it) ? -1 : each_of(h, it, fn, ctx);
}

struct list_sink { struct host *h; struct val list; }; /* list_append with a host, for host_each */

static int append(void *ctx, struct val item)
{
	struct list_sink *c = ctx;
	return list_append(c->h, c->list, item);
}

/* list += from. `v.extend(v)` walks a copy, or it would never end. */
int list_extend(struct host *h, struct val list, struct val from)
{
	struct list_sink sink = { .h = h, .list = list };
	/* the list itself, unless it is extended by itself */
	struct val copy = from;
	if (from.kind == V_LIST && from.u.o == list.u.o && val_list(h, from.u.seq->v, from.u.seq->n, &copy))
		return -1;
	return host_each(h, copy, append, &sink);
}

/* A list that the caller sorts next, so the order of a set does not matter. */
int host_to_sortable(struct host *h, struct val v, struct val *out)
{
	struct list_sink sink = { .h = h };
	if (v.kind != V_SET)
		return host_to_list(h, v, out);
	if (val_list(h, NULL, 0, out))
		return -1;
	sink.list = *out;
	return host_each_any(h, v, append, &sink);
}

/* list(v). A plain list or tuple is copied at once. */
int host_to_list(struct host *h, struct val v, struct val *out)
{
	if ((v.kind == V_LIST || v.kind == V_TUPLE) && v.u.o->cls->native)
		return val_list(h, v.u.seq->v, v.u.seq->n, out);
	return val_list(h, NULL, 0, out) ? -1 : list_extend(h, *out, v);
}
