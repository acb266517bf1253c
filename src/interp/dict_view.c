/* dict.keys(), dict.values() and dict.items(). A view is a pair (V_VIEW) of its dictionary and
 * None. Its class says which part it shows. It holds no copy: the view changes when the
 * dictionary does. Sets of keys or items are built only for an operator that needs one. */
#include "interp/dict_view.h"

#include "interp/attr.h"
#include "interp/bind.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/operator.h"

/* The dictionary behind the view, borrowed. */
static struct val dict_of(struct val v)
{
	return v.u.m->self;
}

/* 'k', 'v' or 'i': the letter of "types.dict_keys", "types.dict_values" or "types.dict_items"
 * that tells them apart. */
static char shows(struct val v)
{
	return v.u.o->cls->native[strlen("types.dict_")];
}

int view_is_set(struct val v)
{
	return v.kind == V_VIEW && shows(v) != 'v';
}

int64_t view_len(struct val v)
{
	return (int64_t)dict_of(v).u.d->live;
}

/* The next entry, held as a temporary. The iterator remembered the size at its start: an
 * insertion during the loop raises RuntimeError, as CPython does. i is the position, n the
 * size. */
static int next_entry(struct host *h, struct iter_obj *it, struct dict_entry *e)
{
	struct dict_obj *d = dict_of(it->src).u.d;
	size_t at = (size_t)it->i;
	struct dict_entry *found;

	if ((int64_t)d->live != it->n)
		return host_raise(h, EXC_RuntimeError, "dictionary changed size during iteration");
	found = dict_next(d, &at);
	it->i = (int64_t)at;
	if (!found)
		return 0;
	*e = *found;
	host_hold(h, e->key);
	host_hold(h, e->val);
	return 1;
}

/* The key, the value or the pair (key, value), by the class of the view. */
static int next_view(struct host *h, struct iter_obj *it, struct val *out)
{
	struct dict_entry e;
	int more = next_entry(h, it, &e);
	struct val kv[2];

	if (more <= 0)
		return more;
	kv[0] = e.key;
	kv[1] = e.val;
	*out = shows(it->src) == 'k' ? e.key : e.val;
	return shows(it->src) == 'i' && val_tuple(h, kv, 2, out) ? -1 : 1;
}

/* The size is noted, so that a change during the loop is detected. */
int view_iter(struct host *h, struct val v, struct val *it)
{
	if (val_iter(h, v, next_view, it))
		return -1;
	it->u.iter->n = view_len(v);
	return 0;
}

/* `x in d.keys()` and `(k, v) in d.items()` are hash lookups. `x in d.values()` compares one
 * value after the other and pays a step of fuel for each. */
int view_has(struct host *h, struct val v, struct val item)
{
	struct val x, it;
	int more;

	if (shows(v) == 'k')
		return dict_get(h, dict_of(v), item, &x);
	if (shows(v) == 'i') {
		if (item.kind != V_TUPLE || item.u.seq->n != 2)
			return 0;
		more = dict_get(h, dict_of(v), item.u.seq->v[0], &x);
		return more > 0 ? val_equal(h, host_hold(h, x), item.u.seq->v[1]) : more;
	}
	if (view_iter(h, v, &it))
		return -1;
	while ((more = host_next(h, it, &x)) > 0) {
		int same = host_step(h) ? -1 : val_equal(h, x, item);
		if (same)
			return same;
	}
	return more;
}

/* host_each callback; b->out is the set. */
static int add_to_set(void *ctx, struct val item)
{
	struct bind *b = ctx;

	return dict_set(b->h, b->out, item, val_none());
}

/* The view as a set; a set stays itself. The result is a temporary. */
int view_to_set(struct host *h, struct val v, struct val *out)
{
	struct bind b = { .h = h };

	if (v.kind == V_SET) {
		*out = v;
		return 0;
	}
	if (val_set(h, &b.out) || host_each_any(h, v, add_to_set, &b))
		return -1;
	*out = b.out;
	return 0;
}

/* d.keys() == {1, 2} and d.keys() <= e.keys() compare as sets. Returns 0 if the operands are
 * not set-like, so the caller tries other rules. */
int view_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	struct val x, y;

	if (!(view_is_set(a) && (view_is_set(b) || b.kind == V_SET)) && !(view_is_set(b) && a.kind == V_SET))
		return 0;
	return view_to_set(h, a, &x) || view_to_set(h, b, &y) || op_compare(h, op, x, y, out) ? -1 : 1;
}

/* d.keys() & e.keys() gives a set. The right operand may be any iterable: d.keys() & [1, 2]
 * works too. Returns 0 for other operators or operands. */
int view_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	struct val x, y;

	if ((op != PY_OP_BitOr && op != PY_OP_BitAnd && op != PY_OP_Sub && op != PY_OP_BitXor) ||
	    (!view_is_set(a) && !view_is_set(b)))
		return 0;
	return view_to_set(h, a, &x) || view_to_set(h, b, &y) || op_binary(h, op, x, y, out) ? -1 : 1;
}

/* --- the methods of dictionaries ------------------------------------------------------------- */

/* Makes the view that `native` names of the dictionary in slot 0. */
static int make(struct bind *b, const char *native)
{
	struct class_obj *c = host_native_class(b->h, native);

	if (!c || val_pair(b->h, V_VIEW, b->a[0], val_none(), &b->out))
		return -1;
	b->out.u.o->cls = c;
	return 0;
}

static int d_keys(struct bind *b) { return make(b, "types.dict_keys"); }
static int d_values(struct bind *b) { return make(b, "types.dict_values"); }
static int d_items(struct bind *b) { return make(b, "types.dict_items"); }

/* d.keys().isdisjoint(iterable). */
static int v_isdisjoint(struct bind *b)
{
	struct val mine, other, both;

	if (view_to_set(b->h, b->a[0], &mine) || view_to_set(b->h, b->a[1], &other) ||
	    op_binary(b->h, PY_OP_BitAnd, mine, other, &both))
		return -1;
	b->out = val_bool(both.u.d->live == 0);
	return 0;
}

const struct bind_row view_rows[] = {
	{ "dict.keys", "self", d_keys, 0 },
	{ "dict.values", "self", d_values, 0 },
	{ "dict.items", "self", d_items, 0 },
	{ "types.dict_keys.isdisjoint", "self, other, /", v_isdisjoint, 0 },
	{ "types.dict_items.isdisjoint", "self, other, /", v_isdisjoint, 0 },
	{ NULL, NULL, NULL, 0 }
};
