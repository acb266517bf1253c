/* Methods of list, tuple, dict and set, and the sort they share. Methods that change their
 * object are marked BIND_CHANGES, so builtin_call guards objects that outlive a call of
 * forward. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/operator.h"
#include "interp/state.h"

/* --- sorting -------------------------------------------------------------------------------------
 *
 * For keys with a total order, every stable sort gives the same result. For other keys (NaN,
 * program classes) the result depends on which comparisons are made: lists below 64 elements then
 * follow CPython's insertion sort comparison by comparison, longer ones are refused. */

struct pair { struct val key, val; }; /* the sort key and the element */

/* a < b. Returns 1, 0 or -1. Integers are compared without a step of fuel. */
static int before(struct host *h, struct val a, struct val b)
{
	struct val r;
	if (a.kind == V_INT && b.kind == V_INT)
		return a.u.i < b.u.i;
	if (host_step(h) || op_compare(h, PY_OP_Lt, a, b, &r))
		return -1;
	return val_truth(h, r);
}

/* Does the key have a total order? Numbers except NaN, strings, and tuples or lists of them do. */
static int is_total(struct val v, int depth)
{
	enum { DEPTH_MOST = 20 };

	if (depth > DEPTH_MOST)
		return 0;
	switch (v.kind) {
	case V_BOOL: case V_INT: case V_BIG: return 1;
	case V_STR: case V_BYTES: return v.u.o->cls->native != NULL;
	case V_FLOAT: return v.u.f == v.u.f;
	case V_TUPLE: case V_LIST:
		for (size_t i = 0; i < v.u.seq->n; i++)
			if (!is_total(v.u.seq->v[i], depth + 1))
				return 0;
		return 1;
	default: return 0;
	}
}

/* Do all keys have a total order among values of their kind? */
static int all_total(const struct pair *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_total(v[i].key, 0))
			return 0;
	return 1;
}

/* Reverses the order of n pairs. */
static void reverse_pairs(struct pair *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct pair t = v[i];
		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* The length of the ordered run at the start. A strictly descending run is reversed. Returns -1
 * on failure. The same as CPython's count_run. */
static int64_t first_run(struct host *h, struct pair *v, size_t n)
{
	int down = before(h, v[1].key, v[0].key);
	size_t run = 2;

	for (; run < n && down >= 0; run++) {
		int less = before(h, v[run].key, v[run - 1].key);
		if (less < 0)
			return -1;
		if (less != down)
			break;
	}
	if (down > 0)
		reverse_pairs(v, run);
	return down < 0 ? -1 : (int64_t)run;
}

/* CPython's binary insertion sort of a short list: the same comparisons in the same order. With
 * `reverse` the list is reversed before and after, which keeps it stable. */
static int short_sort(struct host *h, struct pair *v, size_t n, int reverse)
{
	int64_t run;

	if (n < 2)
		return 0;
	if (reverse)
		reverse_pairs(v, n);
	run = first_run(h, v, n);
	if (run < 0)
		return -1;
	for (size_t at = (size_t)run; at < n; at++) {
		struct pair pivot = v[at];
		size_t l = 0, r = at;
		while (l < r) {
			size_t p = l + ((r - l) >> 1);
			int less = before(h, pivot.key, v[p].key);
			if (less < 0)
				return -1;
			if (less)
				r = p;
			else
				l = p + 1;
		}
		memmove(v + l + 1, v + l, (at - l) * sizeof *v);
		v[l] = pivot;
	}
	if (reverse)
		reverse_pairs(v, n);
	return 0;
}

/* Merges v[0..m) and v[m..n) through tmp. Equal keys keep their order in both directions. */
static int merge_sort(struct host *h, struct pair *v, struct pair *tmp, size_t n, int reverse)
{
	size_t m, i, k, at;

	if (n < 2)
		return 0;
	m = n / 2;
	i = 0;
	k = m;
	at = 0;
	if (merge_sort(h, v, tmp, m, reverse) || merge_sort(h, v + m, tmp, n - m, reverse))
		return -1;
	while (i < m && k < n) {
		size_t mark = temps_mark(h);
		int take_right = reverse ? before(h, v[i].key, v[k].key) : before(h, v[k].key, v[i].key);
		temps_drain(h, mark);
		if (take_right < 0)
			return -1;
		tmp[at++] = take_right ? v[k++] : v[i++];
	}
	while (i < m)
		tmp[at++] = v[i++];
	while (k < n)
		tmp[at++] = v[k++];
	memcpy(v, tmp, n * sizeof *v);
	return 0;
}

/* Exchanges the contents of two lists; the objects stay. */
static void swap_items(struct seq_obj *a, struct seq_obj *b)
{
	struct seq_obj t = *a;

	a->v = b->v, a->n = b->n, a->cap = b->cap;
	b->v = t.v, b->n = t.n, b->cap = t.cap;
}

/* list.sort(). The list is empty while keys are computed and compared, as in CPython: program
 * code that changes it meanwhile is detected. */
int list_sort(struct host *h, struct val list, struct val key, int reverse)
{
	enum { SHORT = 64 };                    /* CPython sorts fewer by insertion */
	struct val items;
	struct seq_obj hidden = { .n = 0 };     /* the list is empty while it is sorted */
	int rc;
	size_t n, bytes;
	struct pair *v;

	if (val_list(h, list.u.seq->v, list.u.seq->n, &items))
		return -1;
	n = items.u.seq->n;
	if (host_burn(h, (int64_t)n))
		return -1;
	bytes = 2 * n * sizeof (struct pair) + 1;
	v = host_alloc(h, bytes);
	if (!v)
		return -1;
	rc = 0;
	swap_items(&hidden, list.u.seq);
	for (size_t i = 0; i < n && !rc; i++) {
		v[i].key = v[i].val = items.u.seq->v[i];
		if (key.kind != V_NONE && key.kind != V_UNSET)
			rc = host_call1(h, key, items.u.seq->v[i], &v[i].key);
	}
	if (!rc && all_total(v, n))
		rc = merge_sort(h, v, v + n, n, reverse);
	else if (!rc)
		rc = n < SHORT ? short_sort(h, v, n, reverse) :
			host_fatal(h, REASON_unsupported,
				   "sorting 64 or more elements without a total order is not supported");
	swap_items(&hidden, list.u.seq);
	if (!rc && hidden.n)
		rc = host_raise(h, EXC_ValueError, "list modified during sort");
	for (size_t i = 0; i < hidden.n; i++)
		val_drop(h, hidden.v[i]);
	host_release(h, hidden.v, hidden.cap * sizeof *hidden.v);
	for (size_t i = 0; i < n && !rc; i++)
		val_assign(h, &list.u.seq->v[i], v[i].val);
	host_release(h, v, bytes);
	return rc;
}

/* --- list and tuple ------------------------------------------------------------------------------------ */

static int l_append(struct bind *b) { return list_append(b->h, b->a[0], b->a[1]); }
static int l_extend(struct bind *b) { return list_extend(b->h, b->a[0], b->a[1]); }

/* Appends, then moves the element into place. Indices beyond the ends are clamped. */
static int l_insert(struct bind *b)
{
	int64_t i, n;
	struct val *v, last;

	if (bind_int(b, 1, &i) || list_append(b->h, b->a[0], b->a[2]))
		return -1;
	n = (int64_t)b->a[0].u.seq->n - 1;
	i = i < 0 ? MAX(i + n, 0) : MIN(i, n);
	v = b->a[0].u.seq->v;
	last = v[n];
	memmove(v + i + 1, v + i, (size_t)(n - i) * sizeof *v);
	v[i] = last;
	return 0;
}

/* v.pop([i]): reads the element, then deletes it. The index defaults to the last element. */
static int l_pop(struct bind *b)
{
	struct val list = b->a[0], index = b->a[1].kind == V_UNSET ? val_int(-1) : b->a[1];
	if (!list.u.seq->n)
		return bind_raise(b, EXC_IndexError, "pop from empty list");
	if (item_get(b->h, list, index, &b->out)) {
		if (!host_exc_is(b->h, EXC_IndexError))
			return -1;
		host_exc_clear(b->h);
		return bind_raise(b, EXC_IndexError, "pop index out of range");
	}
	return item_del(b->h, list, index);
}

/* The first element equal to slot 1. Returns 1 and its index, 0 if no element is equal, -1 on
 * failure. */
static int find_item(struct bind *b, int64_t *at)
{
	struct seq_obj *s = b->a[0].u.seq;
	for (size_t i = 0; i < s->n; i++) {
		int same = host_step(b->h) ? -1 : val_equal(b->h, host_hold(b->h, s->v[i]), b->a[1]);
		if (same < 0)
			return -1;
		if (same) {
			*at = (int64_t)i;
			return 1;
		}
	}
	return 0;
}

/* Deletes the first element that is equal. */
static int l_remove(struct bind *b)
{
	int64_t at;
	int found = find_item(b, &at);
	if (found <= 0)
		return found < 0 ? -1 : bind_raise(b, EXC_ValueError, "list.remove(x): x not in list");
	return item_del(b->h, b->a[0], val_int(at));
}

/* The index of the first equal element; ValueError in CPython's words without one. */
static int l_index(struct bind *b)
{
	int64_t at;
	int found = find_item(b, &at);
	struct buf t = BUF_INIT;
	if (found > 0) {
		b->out = val_int(at);
		return 0;
	}
	if (found < 0 || val_repr(b->h, b->a[1], &t)) {
		buf_release(&t);
		return -1;
	}
	if (b->a[0].kind == V_TUPLE)
		bind_raise(b, EXC_ValueError, "tuple.index(x): x not in tuple");
	else
		bind_raise(b, EXC_ValueError, "%s is not in list", buf_cstr(&t));
	buf_release(&t);
	return -1;
}

/* Elements that are equal. __eq__ may change the list, so its length is read each time. */
static int l_count(struct bind *b)
{
	int64_t n = 0;
	struct seq_obj *s = b->a[0].u.seq;
	for (size_t i = 0; i < s->n; i++) {
		int same = host_step(b->h) ? -1 : val_equal(b->h, host_hold(b->h, s->v[i]), b->a[1]);
		if (same < 0)
			return -1;
		n += same;
	}
	b->out = val_int(n);
	return 0;
}

/* Reverses in place. No program code runs. */
static int l_reverse(struct bind *b)
{
	struct seq_obj *s = b->a[0].u.seq;
	for (size_t i = 0; i < s->n / 2; i++) {
		struct val t = s->v[i];
		s->v[i] = s->v[s->n - 1 - i];
		s->v[s->n - 1 - i] = t;
	}
	return 0;
}

static int l_sort(struct bind *b)
{
	int reverse;
	return bind_bool(b, 2, &reverse) ? -1 : list_sort(b->h, b->a[0], b->a[1], reverse);
}

static int l_copy(struct bind *b) { return val_list(b->h, b->a[0].u.seq->v, b->a[0].u.seq->n, &b->out); }

/* Elements are dropped after the list is empty, as freeing may come back to it. */
static int l_clear(struct bind *b)
{
	struct seq_obj *s = b->a[0].u.seq;
	struct seq_obj old = *s;
	s->v = NULL;
	s->n = s->cap = 0;
	for (size_t i = 0; i < old.n; i++)
		val_drop(b->h, old.v[i]);
	host_release(b->h, old.v, old.cap * sizeof *old.v);
	return 0;
}

/* torch.Size.numel(): the product of the sizes. */
static int size_numel(struct bind *b)
{
	int64_t n = 1;
	for (size_t i = 0; i < b->a[0].u.seq->n; i++) {
		int64_t size;

		if (val_as_int(b->h, b->a[0].u.seq->v[i], &size))
			return -1;
		if (ck_mul64(n, size, &n))
			return bind_raise(b, EXC_OverflowError, "numel overflows");
	}
	b->out = val_int(n);
	return 0;
}

/* --- dict -------------------------------------------------------------------------------------------------- */

/* host_each callback: one (key, value) pair into b->out. */
static int fill_pair(void *ctx, struct val item)
{
	struct bind *b = ctx;
	struct val kv;
	if (host_to_list(b->h, item, &kv))
		return -1;
	if (kv.u.seq->n != 2)
		return host_raise(b->h, EXC_ValueError,
				  "dictionary update sequence element has length %zu; 2 is required", kv.u.seq->n);
	return dict_set(b->h, b->out, kv.u.seq->v[0], kv.u.seq->v[1]);
}

/* dict.update(x): a dictionary, an object with keys(), or an iterable of pairs. */
int dict_fill(struct host *h, struct val dict, struct val from)
{
	struct bind b = { .h = h, .out = dict };
	struct val keys, m;
	struct str_obj *name;
	int found;

	if (from.kind == V_DICT)
		return dict_update(h, dict, from);
	name = host_intern(h, STR("keys"));
	found = from.kind == V_OBJECT && name ? attr_get(h, from, name, &m) : 0;
	if (found < 0)
		return -1;
	if (found) {                    /* a mapping class of the program */
		struct call_args none = { .n = 0 };
		if (host_callv(h, m, &none, &keys) || host_to_list(h, keys, &keys))
			return -1;
		for (size_t i = 0; i < keys.u.seq->n; i++) {
			struct val v;
			if (item_get(h, from, keys.u.seq->v[i], &v) || dict_set(h, dict, keys.u.seq->v[i], v))
				return -1;
		}
		return 0;
	}
	return host_each(h, from, fill_pair, &b);
}

/* d.get(key, default): never raises KeyError. */
static int d_get(struct bind *b)
{
	int found = dict_get(b->h, b->a[0], b->a[1], &b->out);
	if (!found)
		b->out = b->a[2];
	return found < 0 ? -1 : 0;
}

/* d.pop(key[, default]); without a default a missing key raises KeyError. */
static int d_pop(struct bind *b)
{
	int found = dict_get(b->h, b->a[0], b->a[1], &b->out);
	if (found > 0)
		return dict_del(b->h, b->a[0], b->a[1]) < 0 ? -1 : 0;
	if (found < 0)
		return -1;
	if (b->a[2].kind == V_UNSET)
		return item_del(b->h, b->a[0], b->a[1]);
	b->out = b->a[2];
	return 0;
}

/* The last entry, or the first for OrderedDict.popitem(last=False). */
static int d_popitem(struct bind *b)
{
	struct dict_obj *d = b->a[0].u.d;
	int last = b->a[1].kind == V_UNSET ? 1 : val_truth(b->h, b->a[1]);      /* may run program code */
	size_t at = d->n;
	struct dict_entry *e;
	size_t first;
	struct val kv[2];

	if (last < 0)
		return -1;
	while (at && d->e[at - 1].key.kind == V_UNSET)
		at--;
	if (!at)
		return bind_raise(b, EXC_KeyError, "popitem(): dictionary is empty");
	e = &d->e[at - 1];
	first = 0;
	if (!last)
		e = dict_next(d, &first);
	kv[0] = e->key;
	kv[1] = e->val;
	if (val_tuple(b->h, kv, 2, &b->out))
		return -1;
	return dict_del(b->h, b->a[0], kv[0]) < 0 ? -1 : 0;
}

/* Inserts the default if the key is missing and gives the entry's value. */
static int d_setdefault(struct bind *b)
{
	int found = dict_get(b->h, b->a[0], b->a[1], &b->out);
	if (found)
		return found < 0 ? -1 : 0;
	b->out = b->a[2];
	return dict_set(b->h, b->a[0], b->a[1], b->a[2]);
}

/* d.update(x, **kwargs): x first, then the keywords. */
static int d_update(struct bind *b)
{
	if (b->a[1].kind != V_UNSET && dict_fill(b->h, b->a[0], b->a[1]))
		return -1;
	return dict_update(b->h, b->a[0], b->a[2]);
}

/* d.copy(): an OrderedDict stays one; other subclasses become a dict. */
static int d_copy(struct bind *b)
{
	struct class_obj *ordered;

	if (val_dict(b->h, &b->out))
		return -1;
	ordered = host_native_class(b->h, "collections.OrderedDict");
	if (ordered && class_is_sub(b->a[0].u.o->cls, ordered))
		b->out.u.o->cls = b->a[0].u.o->cls;
	return dict_update(b->h, b->out, b->a[0]);
}

static int d_clear(struct bind *b)
{
	dict_obj_clear(b->h, b->a[0].u.d);
	return 0;
}

struct fromkeys { struct bind *b; struct val v; }; /* context of fromkeys_item */

/* host_each callback: one key. Costs as much fuel as an entry of a set. */
static int fromkeys_item(void *ctx, struct val key)
{
	struct fromkeys *f = ctx;
	return host_burn(f->b->h, HOST_STEPS_ENTRY) || dict_set(f->b->h, f->b->out, key, f->v) ? -1 : 0;
}

/* dict.fromkeys(iterable, value): all keys share the value. */
static int d_fromkeys(struct bind *b)
{
	struct fromkeys f = { .b = b, .v = b->a[2] };
	if (b->a[0].kind == V_CLASS && !b->a[0].u.c->native)
		return bind_unsupported(b, "fromkeys() of a class of the program is not supported");
	if (val_dict(b->h, &b->out))
		return -1;
	if (b->a[0].kind == V_CLASS)
		b->out.u.o->cls = b->a[0].u.c;
	return host_each(b->h, b->a[1], fromkeys_item, &f);
}

static int d_setitem(struct bind *b) { return dict_set(b->h, b->a[0], b->a[1], b->a[2]); }

/* dict.__getitem__, reached by super(): without __missing__ of the subclass. */
static int d_getitem(struct bind *b)
{
	int found = dict_get(b->h, b->a[0], b->a[1], &b->out);
	struct class_obj *cls;
	struct val e;

	if (found)
		return found < 0 ? -1 : 0;
	cls = host_exc_class(b->h, EXC_KeyError);
	if (cls && !host_call1(b->h, val_obj(&cls->h), b->a[1], &e))
		host_raise_val(b->h, e);
	return -1;
}

/* del d[key]; a missing key raises KeyError through d_getitem. */
static int d_delitem(struct bind *b)
{
	int found = dict_del(b->h, b->a[0], b->a[1]);
	return found > 0 ? 0 : found < 0 ? -1 : d_getitem(b);
}

static int d_contains(struct bind *b)
{
	struct val v;
	int found = dict_get(b->h, b->a[0], b->a[1], &v);
	b->out = val_bool(found);
	return found < 0 ? -1 : 0;
}

/* The length of any container, reached by super().__len__(). */
static int any_len(struct bind *b)
{
	b->out = val_int(b->a[0].kind == V_LIST || b->a[0].kind == V_TUPLE ? (int64_t)b->a[0].u.seq->n :
			 (int64_t)b->a[0].u.d->live);
	return 0;
}

static int l_getitem(struct bind *b)
{
	/* Reached by super() of a subclass: the plain rule, not the subclass's own. */
	struct val plain;
	if ((b->a[0].kind == V_LIST ? val_list : val_tuple)(b->h, b->a[0].u.seq->v, b->a[0].u.seq->n, &plain))
		return -1;
	return item_get(b->h, plain, b->a[1], &b->out);
}

/* OrderedDict.move_to_end(key, last). To the front the dictionary is rebuilt. */
static int od_move_to_end(struct bind *b)
{
	struct val v;
	int found = dict_get(b->h, b->a[0], b->a[1], &v), last = val_truth(b->h, b->a[2]);
	struct val rest;

	if (found <= 0 || last < 0)
		return found < 0 || last < 0 ? -1 : d_getitem(b);
	host_hold(b->h, v);
	if (dict_del(b->h, b->a[0], b->a[1]) < 0)
		return -1;
	if (last)
		return dict_set(b->h, b->a[0], b->a[1], v);
	if (val_dict(b->h, &rest) || dict_update(b->h, rest, b->a[0]))
		return -1;
	dict_obj_clear(b->h, b->a[0].u.d);
	return dict_set(b->h, b->a[0], b->a[1], v) || dict_update(b->h, b->a[0], rest) ? -1 : 0;
}

/* --- set ----------------------------------------------------------------------------------------------------- */

static int s_add(struct bind *b) { return dict_set(b->h, b->a[0], b->a[1], val_none()); }

static int s_discard(struct bind *b) { return dict_del(b->h, b->a[0], b->a[1]) < 0 ? -1 : 0; }

/* s.remove(x): KeyError if x is missing, unlike discard(). */
static int s_remove(struct bind *b)
{
	int found = dict_del(b->h, b->a[0], b->a[1]);
	return found > 0 ? 0 : found < 0 ? -1 : d_getitem(b);
}

/* set.pop(): which element comes depends on the order, so only a single one is allowed. */
static int s_pop(struct bind *b)
{
	size_t at;
	struct dict_entry *e;

	if (b->a[0].u.d->live > 1 && host_varies(b->h, "the order of a set"))
		return -1;
	at = 0;
	e = dict_next(b->a[0].u.d, &at);
	if (!e)
		return bind_raise(b, EXC_KeyError, "pop from an empty set");
	b->out = host_hold(b->h, e->key);
	return dict_del(b->h, b->a[0], b->out) < 0 ? -1 : 0;
}

/* v as a set; a set stays itself. */
static int to_set(struct host *h, struct val v, struct val *out)
{
	if (v.kind == V_SET) {
		*out = v;
		return 0;
	}
	return host_call1(h, val_obj(&h->type.kind_class[V_SET]->h), v, out);
}

/* set.union(*others) and the like: any iterables, from left to right. Without arguments the
 * result is a copy. */
static int s_combine(struct bind *b, enum py_op op)
{
	struct val other;
	b->out = b->a[0];
	if (!b->a[1].u.seq->n)
		return val_set(b->h, &other) || op_binary(b->h, PY_OP_BitOr, b->a[0], other, &b->out) ? -1 : 0;
	for (size_t i = 0; i < b->a[1].u.seq->n; i++)
		if (to_set(b->h, b->a[1].u.seq->v[i], &other) || op_binary(b->h, op, b->out, other, &b->out))
			return -1;
	return 0;
}

static int s_union(struct bind *b) { return s_combine(b, PY_OP_BitOr); }
static int s_intersection(struct bind *b) { return s_combine(b, PY_OP_BitAnd); }
static int s_difference(struct bind *b) { return s_combine(b, PY_OP_Sub); }
static int s_symmetric(struct bind *b) { return s_combine(b, PY_OP_BitXor); }

/* A union with the empty set: a new set of the built-in class. */
static int s_copy(struct bind *b)
{
	struct val none;
	return val_set(b->h, &none) || op_binary(b->h, PY_OP_BitOr, b->a[0], none, &b->out) ? -1 : 0;
}

/* s.update(*others): changes s, unlike union(). */
static int s_update(struct bind *b)
{
	struct val other;
	for (size_t i = 0; i < b->a[1].u.seq->n; i++)
		if (to_set(b->h, b->a[1].u.seq->v[i], &other) || dict_update(b->h, b->a[0], other))
			return -1;
	b->out = val_none();
	return 0;
}

/* issubset() and issuperset() accept any iterable; <= and >= only sets. */
static int s_compare(struct bind *b, enum py_op op)
{
	struct val other;
	return to_set(b->h, b->a[1], &other) || op_compare(b->h, op, b->a[0], other, &b->out) ? -1 : 0;
}

static int s_issubset(struct bind *b) { return s_compare(b, PY_OP_LtE); }
static int s_issuperset(struct bind *b) { return s_compare(b, PY_OP_GtE); }

/* Stops at the first common element. */
static int s_isdisjoint(struct bind *b)
{
	struct val other, v;

	if (to_set(b->h, b->a[1], &other))
		return -1;
	for (size_t i = 0; i < other.u.d->n; i++) {
		struct val key = other.u.d->e[i].key;
		int found = key.kind == V_UNSET ? 0 : dict_get(b->h, b->a[0], host_hold(b->h, key), &v);

		if (found) {
			b->out = val_bool(0);
			return found < 0 ? -1 : 0;
		}
	}
	b->out = val_bool(1);
	return 0;
}

/* --- slices and ranges ------------------------------------------------------------------------------ */

/* start, stop or step of a slice or range. Self may be any value if the method is called
 * through its class. */
static int part(struct bind *b, int which)
{
	struct val v = b->a[0];
	if (v.kind == V_RANGE) {
		b->out = val_int(which == 0 ? v.u.range->start : which == 1 ? v.u.range->stop : v.u.range->step);
		return 0;
	}
	if (v.kind != V_SLICE)
		return bind_raise(b, EXC_TypeError, "expected a slice or a range, not %s", val_type_name(b->h, v));
	b->out = which == 0 ? v.u.slice->start : which == 1 ? v.u.slice->stop : v.u.slice->step;
	if (b->out.kind == V_UNSET)
		b->out = val_none();
	return 0;
}

static int part_start(struct bind *b) { return part(b, 0); }
static int part_stop(struct bind *b) { return part(b, 1); }
static int part_step(struct bind *b) { return part(b, 2); }

/* slice.indices(n). */
static int slice_of_length(struct bind *b)
{
	int64_t n, start, stop, step, count;
	struct val all[3];

	if (b->a[0].kind != V_SLICE)
		return bind_raise(b, EXC_TypeError, "expected a slice, not %s", val_type_name(b->h, b->a[0]));
	if (bind_int(b, 1, &n))
		return -1;
	if (n < 0)
		return bind_raise(b, EXC_ValueError, "length should not be negative");
	if (slice_indices(b->h, b->a[0].u.slice, n, &start, &stop, &step, &count))
		return -1;
	all[0] = val_int(start);
	all[1] = val_int(stop);
	all[2] = val_int(step);
	return val_tuple(b->h, all, 3, &b->out);
}

const struct bind_row seq_rows[] = {
	{ "list.append", "self, object, /", l_append, BIND_CHANGES },
	{ "list.extend", "self, iterable, /", l_extend, BIND_CHANGES },
	{ "list.insert", "self, index, object, /", l_insert, BIND_CHANGES },
	{ "list.pop", "self, index=?, /", l_pop, BIND_CHANGES },
	{ "list.remove", "self, value, /", l_remove, BIND_CHANGES },
	{ "list.index", "self, value, /", l_index, 0 },
	{ "list.count", "self, value, /", l_count, 0 },
	{ "list.reverse", "self", l_reverse, BIND_CHANGES },
	{ "list.sort", "self, *, key=None, reverse=False", l_sort, BIND_CHANGES },
	{ "list.copy", "self", l_copy, 0 },
	{ "list.clear", "self", l_clear, BIND_CHANGES },
	{ "list.__getitem__", "self, key", l_getitem, 0 },
	{ "list.__len__", "self", any_len, 0 },
	{ "tuple.index", "self, value, /", l_index, 0 },
	{ "tuple.count", "self, value, /", l_count, 0 },
	{ "tuple.__getitem__", "self, key", l_getitem, 0 },
	{ "tuple.__len__", "self", any_len, 0 },
	{ "torch.Size.numel", "self", size_numel, 0 },
	{ "slice.start", "self", part_start, BIND_PROPERTY },
	{ "slice.stop", "self", part_stop, BIND_PROPERTY },
	{ "slice.step", "self", part_step, BIND_PROPERTY },
	{ "slice.indices", "self, length, /", slice_of_length, 0 },
	{ "range.start", "self", part_start, BIND_PROPERTY },
	{ "range.stop", "self", part_stop, BIND_PROPERTY },
	{ "range.step", "self", part_step, BIND_PROPERTY },
	{ "dict.get", "self, key, default=None, /", d_get, 0 },
	{ "dict.pop", "self, key, default=?, /", d_pop, BIND_CHANGES },
	{ "dict.popitem", "self, last=?", d_popitem, BIND_CHANGES },
	{ "dict.setdefault", "self, key, default=None, /", d_setdefault, BIND_CHANGES },
	{ "dict.update", "self, other=?, /, **kwargs", d_update, BIND_CHANGES },
	{ "dict.copy", "self", d_copy, 0 },
	{ "dict.clear", "self", d_clear, BIND_CHANGES },
	{ "dict.fromkeys", "cls, iterable, value=None", d_fromkeys, BIND_CLASSMETHOD },
	{ "dict.__getitem__", "self, key", d_getitem, 0 },
	{ "dict.__setitem__", "self, key, value", d_setitem, BIND_CHANGES },
	{ "dict.__delitem__", "self, key", d_delitem, BIND_CHANGES },
	{ "dict.__contains__", "self, key", d_contains, 0 },
	{ "dict.__len__", "self", any_len, 0 },
	{ "collections.OrderedDict.move_to_end", "self, key, last=True", od_move_to_end, BIND_CHANGES },
	{ "set.add", "self, elem, /", s_add, BIND_CHANGES },
	{ "set.discard", "self, elem, /", s_discard, BIND_CHANGES },
	{ "set.remove", "self, elem, /", s_remove, BIND_CHANGES },
	{ "set.pop", "self", s_pop, BIND_CHANGES },
	{ "set.clear", "self", d_clear, BIND_CHANGES },
	{ "set.update", "self, *others", s_update, BIND_CHANGES },
	{ "set.union", "self, *others", s_union, 0 },
	{ "set.intersection", "self, *others", s_intersection, 0 },
	{ "set.difference", "self, *others", s_difference, 0 },
	{ "set.symmetric_difference", "self, *others", s_symmetric, 0 },
	{ "set.copy", "self", s_copy, 0 },
	{ "set.issubset", "self, other, /", s_issubset, 0 },
	{ "set.issuperset", "self, other, /", s_issuperset, 0 },
	{ "set.isdisjoint", "self, other, /", s_isdisjoint, 0 },
	{ "frozenset.union", "self, *others", s_union, 0 },
	{ "frozenset.intersection", "self, *others", s_intersection, 0 },
	{ "frozenset.difference", "self, *others", s_difference, 0 },
	{ "frozenset.issubset", "self, other, /", s_issubset, 0 },
	{ "frozenset.issuperset", "self, other, /", s_issuperset, 0 },
	{ "frozenset.isdisjoint", "self, other, /", s_isdisjoint, 0 },
	{ NULL, NULL, NULL, 0 }
};
