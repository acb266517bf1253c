/* Iteration: one iterator object, a `next` function per kind of source. */
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

static int next_seq(struct host *h, struct iter_obj *it, struct val *out)
{
	const struct seq_obj *s = it->src.u.seq;
	if ((size_t)it->i >= s->n)
		return 0;
	*out = host_hold(h, s->v[it->i++]);
	return 1;
}

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

/* An object with __next__. */
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

/* The old protocol: __getitem__ with 0, 1, 2, ... until IndexError. */
static int next_item(struct host *h, struct iter_obj *it, struct val *out)
{
	enum { ITEM_STEPS = 100 };              /* an object that never says it ends is soon at its limit */
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

/* The members of an enumeration, in their order: 1, 0: the value is none, -1. */
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

int host_iter(struct host *h, struct val v, struct val *out)
{
	if (v.kind == V_SET && v.u.d->live > 1 && host_varies(h, "the order of a set"))
		return -1;
	return host_iter_any(h, v, out);
}

int host_next(struct host *h, struct val it, struct val *out)
{
	return host_deep(h) || host_may_change(h, it) ? -1 : it.u.iter->next(h, it.u.iter, out);
}

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

struct list_sink { struct host *h; struct val list; };

static int append(void *ctx, struct val item)
{
	struct list_sink *c = ctx;
	return list_append(c->h, c->list, item);
}

int list_extend(struct host *h, struct val list, struct val from)
{
	struct list_sink sink = { .h = h, .list = list };
	struct val copy = from;
	if (from.kind == V_LIST && from.u.o == list.u.o && val_list(h, from.u.seq->v, from.u.seq->n, &copy))
		return -1;
	return host_each(h, copy, append, &sink);
}

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

int host_to_list(struct host *h, struct val v, struct val *out)
{
	if ((v.kind == V_LIST || v.kind == V_TUPLE) && v.u.o->cls->native)
		return val_list(h, v.u.seq->v, v.u.seq->n, out);
	return val_list(h, NULL, 0, out) ? -1 : list_extend(h, *out, v);
}
