/* Subscripts and len: x[i], x[i] = v, del x[i], slices, len(x). Owns indexing of lists, tuples,
 * strings, ranges and dictionaries. Tensors and instances of program classes go through
 * __getitem__ and __setitem__.
 *
 * Invariant: converting an index may run program code (__index__), which may change the sequence.
 * plain_index therefore converts before the length is looked at. */
#include "interp/attr.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/val_text.h"
#include "interp/dict_view.h"

/* One of start, stop and step; None becomes `otherwise`. A big int saturates: x[:10**30] is
 * x[:]. */
static int slice_part(struct host *h, struct val v, int64_t otherwise, int64_t *out)
{
	*out = otherwise;
	if (v.kind == V_NONE || v.kind == V_UNSET)
		return 0;
	if (v.kind == V_BIG) {
		*out = v.u.big->neg ? INT64_MIN / 2 : INT64_MAX / 2;
		return 0;
	}
	if (val_as_int(h, v, out)) {
		if (!host_exc_is(h, EXC_TypeError))
			return -1;
		host_exc_clear(h);
		return host_raise(h, EXC_TypeError,
				  "slice indices must be integers or None or have an __index__ method");
	}
	return 0;
}

/* Resolves a negative index and limits it to lo..hi. */
static int64_t clip(int64_t i, int64_t n, int64_t lo, int64_t hi)
{
	if (i < 0)
		i = i < -n ? lo : i + n;
	return i < lo ? lo : i > hi ? hi : i;
}

/* slice.indices(n), and the number of elements. x[::-1] of 3 elements: start 2, stop -1, step
 * -1, count 3. */
int slice_indices(struct host *h, const struct slice_obj *s, int64_t n, int64_t *start, int64_t *stop,
		  int64_t *step, int64_t *count)
{
	int64_t lo, hi;

	if (slice_part(h, s->step, 1, step))
		return -1;
	if (*step == 0)
		return host_raise(h, EXC_ValueError, "slice step cannot be zero");
	if (*step < -INT64_MAX / 2)
		*step = -INT64_MAX / 2;
	lo = *step > 0 ? 0 : -1;
	hi = *step > 0 ? n : n - 1;
	if (slice_part(h, s->start, *step > 0 ? lo : hi, start) || slice_part(h, s->stop, *step > 0 ? hi : lo, stop))
		return -1;
	if (s->start.kind != V_NONE)
		*start = clip(*start, n, lo, hi);
	if (s->stop.kind != V_NONE)
		*stop = clip(*stop, n, lo, hi);
	if (*step > 0)
		*count = *start < *stop ? (*stop - *start - 1) / *step + 1 : 0;
	else
		*count = *start > *stop ? (*start - *stop - 1) / -*step + 1 : 0;
	return 0;
}

/* An integer index in 0..n-1; negative ones count from the end. `what` is CPython's text of the
 * IndexError. */
static int seq_index(struct host *h, struct val v, struct val index, int64_t n, const char *what, int64_t *i)
{
	if (index.kind != V_INT && index.kind != V_BOOL && !(V_IS_HEAP(index) && has_special(h, index, NM___index__)))
		return h->fail.fatal ? -1 :
			host_raise(h, EXC_TypeError, "%s indices must be integers or slices, not %s",
				   val_type_name(h, v), val_type_name(h, index));
	if (val_as_int(h, index, i))
		return -1;
	if (*i < 0)
		*i += n;
	if (*i < 0 || *i >= n)
		return host_raise(h, EXC_IndexError, "%s", what);
	return 0;
}

/* v[i] or v[a:b:c] of a list or tuple. A slice of a torch.Size is a torch.Size. Copying costs
 * one step per eight elements. */
static int seq_get(struct host *h, struct val v, struct val index, struct val *out)
{
	int64_t i, stop, step, count, n = (int64_t)v.u.seq->n;
	if (index.kind != V_SLICE) {
		if (seq_index(h, v, index, n,
			      v.kind == V_LIST ? "list index out of range" : "tuple index out of range", &i))
			return -1;
		*out = host_hold(h, v.u.seq->v[i]);
		return 0;
	}
	if (slice_indices(h, index.u.slice, n, &i, &stop, &step, &count))
		return -1;
	if ((v.kind == V_LIST ? val_list : val_tuple)(h, NULL, 0, out) || seq_reserve(h, out->u.seq, (size_t)count))
		return -1;
	for (int64_t k = 0; k < count; k++)
		if (list_append(h, *out, v.u.seq->v[i + k * step]))
			return -1;
	if (v.u.o->cls == h->type.size_class)
		out->u.o->cls = h->type.size_class;
	return host_burn(h, count / 8);
}

/* s[i] or s[a:b:c] by code points. A pure ASCII text, where bytes and characters coincide, is
 * indexed directly; bytes give integers. */
static int text_get(struct host *h, struct val v, struct val index, struct val *out)
{
	struct str s = val_text(v);
	int bytes = v.kind == V_BYTES;
	int64_t n = bytes ? (int64_t)s.n : (int64_t)utf8_count(s), i, stop, step, count;
	int ascii = n == (int64_t)s.n;
	int rc;
	struct buf b = BUF_INIT;

	if (index.kind != V_SLICE) {
		size_t at;
		struct str rest;

		if (seq_index(h, v, index, n, "string index out of range", &i))
			return -1;
		if (bytes) {
			*out = val_int((unsigned char)s.p[i]);
			return 0;
		}
		at = ascii ? (size_t)i : utf8_offset(s, (size_t)i);
		rest = (struct str){ .p = s.p + at, .n = s.n - at };
		rest.n = ascii ? 1 : utf8_offset(rest, 1);
		return val_str(h, rest, out);
	}
	if (slice_indices(h, index.u.slice, n, &i, &stop, &step, &count) || host_burn(h, count / 8))
		return -1;
	for (int64_t k = 0; k < count; k++) {
		size_t at = ascii ? (size_t)(i + k * step) : utf8_offset(s, (size_t)(i + k * step));
		struct str rest = { .p = s.p + at, .n = s.n - at };
		/* The usual slice is a single copy; others go character by character. */
		if (ascii && step == 1) {
			buf_add(&b, rest.p, (size_t)count);
			break;
		}
		buf_add(&b, rest.p, ascii ? 1 : utf8_offset(rest, 1));
	}
	rc = b.failed ? host_fatal(h, REASON_out_of_memory, "the machine is out of memory") :
		 bytes ? val_bytes(h, buf_str(&b), out) : val_str(h, buf_str(&b), out);
	buf_release(&b);
	return rc;
}

/* r[i] is a number, r[a:b:c] another range. Nothing is expanded. */
static int range_get(struct host *h, struct val v, struct val index, struct val *out)
{
	const struct range_obj *r = v.u.range;
	int64_t n, i, stop, step, count;
	struct range_obj *o;

	if (host_len(h, v, &n))
		return -1;
	if (index.kind != V_SLICE) {
		if (seq_index(h, v, index, n, "range object index out of range", &i))
			return -1;
		*out = val_int((int64_t)((uint64_t)r->start + (uint64_t)i * (uint64_t)r->step));
		return 0;
	}
	if (slice_indices(h, index.u.slice, n, &i, &stop, &step, &count))
		return -1;
	o = host_obj(h, V_RANGE, sizeof *o, NULL);
	if (!o)
		return -1;
	if (ck_mul64(i, r->step, &o->start) || ck_add64(o->start, r->start, &o->start) ||
	    ck_mul64(stop, r->step, &o->stop) || ck_add64(o->stop, r->start, &o->stop) ||
	    ck_mul64(r->step, step, &o->step))
		return host_fatal(h, REASON_unsupported, "a range beyond 64 bits is not supported");
	*out = val_obj(&o->h);
	return 0;
}

/* d[key]: __missing__ of a subclass, else KeyError with the key as its argument. */
static int dict_item(struct host *h, struct val v, struct val key, struct val *out)
{
	int found = dict_get(h, v, key, out);
	struct class_obj *cls;
	struct call_args args;
	struct val e;

	if (found)
		return found < 0 ? -1 : 0;
	found = call_special(h, v, NM___missing__, &key, 1, out);
	if (found)
		return found < 0 ? -1 : 0;
	args = (struct call_args){ .a = &key, .n = 1 };
	cls = host_exc_class(h, EXC_KeyError);
	if (cls && !host_callv(h, val_obj(&cls->h), &args, &e))
		host_raise_val(h, e);
	return -1;
}

/* list[int] or C[int]: __class_getitem__ if the class has it; for built-in containers a
 * types.GenericAlias, which no code here looks into. */
static int class_item(struct host *h, struct val v, struct val index, struct val *out)
{
	struct val *m = class_lookup(h, v.u.c, h->nm[NM___class_getitem__], NULL);
	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (m) {
		struct val a[2] = { v, index };
		struct call_args args = { .a = a, .n = 2 };
		return host_callv(h, m->kind == V_CLASSMETHOD ? m->u.m->self : *m, &args, out);
	}
	if (v.u.c->native && (v.u.c->kind == V_LIST || v.u.c->kind == V_TUPLE || v.u.c->kind == V_DICT ||
			      v.u.c->kind == V_SET || v.u.c->kind == V_CLASS))
		return make_type_form(h, "types.GenericAlias", v, index, out);
	return host_raise(h, EXC_TypeError, "type '%s' is not subscriptable", v.u.c->name->p);
}

/* Would converting this index run code of the program? */
static int runs_code(struct host *h, struct val part)
{
	return V_IS_HEAP(part) && part.kind != V_BIG && has_special(h, part, NM___index__);
}

/* Converts an index, or the parts of a slice, that need __index__. See the head. */
static int plain_index(struct host *h, struct val *index)
{
	int64_t i;
	if (index->kind == V_SLICE) {
		struct val part[3] = { index->u.slice->start, index->u.slice->stop, index->u.slice->step };
		int changed = 0;
		for (int k = 0; k < 3; k++)
			if (runs_code(h, part[k])) {
				if (val_as_int(h, part[k], &i))
					return -1;
				part[k] = val_int(i);
				changed = 1;
			}
		return changed ? val_slice(h, part[0], part[1], part[2], index) : 0;
	}
	if (runs_code(h, *index)) {
		if (val_as_int(h, *index, &i))
			return -1;
		*index = val_int(i);
	}
	return 0;
}

static int is_sequence(struct val v)
{
	return v.kind == V_TUPLE || v.kind == V_LIST || v.kind == V_STR || v.kind == V_BYTES || v.kind == V_RANGE;
}

/* Does a class of the program, derived from a built-in type, define this method itself? Then it
 * comes before the built-in behaviour. */
static int own_item_method(struct host *h, struct val v, enum name_id name)
{
	struct class_obj *where = NULL;
	return V_IS_HEAP(v) && v.u.o->cls && !v.u.o->cls->native &&
		class_lookup(h, v.u.o->cls, h->nm[name], &where) && !where->native;
}

/* x[index]. */
int item_get(struct host *h, struct val v, struct val index, struct val *out)
{
	int own = own_item_method(h, v, NM___getitem__);
	int found;

	if (!own && is_sequence(v) && plain_index(h, &index))
		return -1;
	if (!own)
		switch (v.kind) {
		case V_TUPLE: case V_LIST: return seq_get(h, v, index, out);
		case V_DICT: return dict_item(h, v, index, out);
		case V_STR: case V_BYTES: return text_get(h, v, index, out);
		case V_RANGE: return range_get(h, v, index, out);
		case V_CLASS: return class_item(h, v, index, out);
		default: break;
		}
	found = call_special(h, v, NM___getitem__, &index, 1, out);
	if (found)
		return found < 0 ? -1 : 0;
	return host_raise(h, EXC_TypeError, "'%s' object is not subscriptable", val_type_name(h, v));
}

/* --- writing ------------------------------------------------------------------------------------- */

/* v[a:b] = x may change the length: the new list is built in its own array and the arrays are
 * swapped, so old elements are dropped at the end. v[a:b:2] = x must match in length. */
static int list_set_slice(struct host *h, struct val v, struct slice_obj *sl, struct val x)
{
	int64_t i, stop, step, count;
	struct val items, copy;
	struct seq_obj *s = v.u.seq;
	struct seq_obj swap, *c;
	size_t n;

	if (host_to_list(h, x, &items) || slice_indices(h, sl, (int64_t)s->n, &i, &stop, &step, &count))
		return -1;
	n = items.u.seq->n;
	if (step != 1) {
		if ((int64_t)n != count)
			return host_raise(h, EXC_ValueError,
					  "attempt to assign sequence of size %zu to extended slice of size %lld",
					  n, (long long)count);
		for (int64_t k = 0; k < count; k++)
			val_assign(h, &s->v[i + k * step], items.u.seq->v[k]);
		return 0;
	}
	if (val_list(h, s->v, (size_t)i, &copy))
		return -1;
	for (size_t k = 0; k < n; k++)
		if (list_append(h, copy, items.u.seq->v[k]))
			return -1;
	for (size_t k = (size_t)(i + count); k < s->n; k++)
		if (list_append(h, copy, s->v[k]))
			return -1;
	swap = *s;
	c = copy.u.seq;
	s->v = c->v, s->n = c->n, s->cap = c->cap;
	c->v = swap.v, c->n = swap.n, c->cap = swap.cap;
	return 0;
}

/* x[index] = v. Containers that outlive the call of forward are guarded (fail.c). */
int item_set(struct host *h, struct val v, struct val index, struct val x)
{
	int64_t i;
	struct val r, a[2] = { index, x };
	int found;

	if (((v.kind == V_LIST || v.kind == V_DICT) && host_may_change(h, v)) ||
	    (v.kind == V_LIST && plain_index(h, &index)))
		return -1;
	if (!own_item_method(h, v, NM___setitem__)) {
		if (v.kind == V_DICT)
			return dict_set(h, v, index, x);
		if (v.kind == V_LIST && index.kind == V_SLICE)
			return list_set_slice(h, v, index.u.slice, x);
		if (v.kind == V_LIST) {
			if (seq_index(h, v, index, (int64_t)v.u.seq->n, "list assignment index out of range", &i))
				return -1;
			val_assign(h, &v.u.seq->v[i], x);
			return 0;
		}
	}
	found = call_special(h, v, NM___setitem__, a, 2, &r);
	if (found)
		return found < 0 ? -1 : 0;
	return host_raise(h, EXC_TypeError, "'%s' object does not support item assignment", val_type_name(h, v));
}

/* del v[i] or del v[a:b:c]. An extended slice deletes from the highest index down. */
static int list_del(struct host *h, struct val v, struct val index)
{
	int64_t i;
	struct val empty, old;
	struct seq_obj *s = v.u.seq;

	if (index.kind == V_SLICE) {
		struct slice_obj *sl = index.u.slice;
		int64_t start, stop, step, count;
		if (slice_indices(h, sl, (int64_t)s->n, &start, &stop, &step, &count))
			return -1;
		if (step == 1)
			return val_tuple(h, NULL, 0, &empty) ? -1 : list_set_slice(h, v, sl, empty);
		for (int64_t k = 0; k < count; k++) {
			int64_t at = step > 0 ? start + (count - 1 - k) * step : start + k * step;
			if (list_del(h, v, val_int(at)))
				return -1;
		}
		return 0;
	}
	if (seq_index(h, v, index, (int64_t)s->n, "list assignment index out of range", &i))
		return -1;
	old = s->v[i];
	memmove(s->v + i, s->v + i + 1, (s->n - (size_t)i - 1) * sizeof *s->v);
	s->n--;
	val_drop(h, old);
	return 0;
}

/* del x[index]. A missing key raises KeyError through dict_item. */
int item_del(struct host *h, struct val v, struct val index)
{
	struct val r;
	int found;

	if (((v.kind == V_LIST || v.kind == V_DICT) && host_may_change(h, v)) ||
	    (v.kind == V_LIST && plain_index(h, &index)))
		return -1;
	if (!own_item_method(h, v, NM___delitem__)) {
		if (v.kind == V_LIST)
			return list_del(h, v, index);
		if (v.kind == V_DICT) {
			found = dict_del(h, v, index);
			return found > 0 ? 0 : found < 0 ? -1 : dict_item(h, v, index, &r);
		}
	}
	found = call_special(h, v, NM___delitem__, &index, 1, &r);
	if (found)
		return found < 0 ? -1 : 0;
	return host_raise(h, EXC_TypeError, "'%s' object doesn't support item deletion", val_type_name(h, v));
}

/* The number of elements, computed unsigned: range(-2**63, 2**63-1) has more than an int64
 * holds. */
static int range_len(struct host *h, const struct range_obj *g, int64_t *out)
{
	uint64_t from = (uint64_t)g->start, to = (uint64_t)g->stop, steps = 0;

	if (g->step > 0 && g->start < g->stop)
		steps = (to - from - 1) / (uint64_t)g->step + 1;
	else if (g->step < 0 && g->start > g->stop)
		steps = (from - to - 1) / (0 - (uint64_t)g->step) + 1;
	if (steps > INT64_MAX)
		return host_fatal(h, REASON_unsupported,
				  "a range with more elements than 64 bits can count is not supported");
	*out = (int64_t)steps;
	return 0;
}

/* len() by __len__. Returns 1 with the length, 0 if the class has no __len__, -1 on failure. */
int special_len(struct host *h, struct val v, int64_t *out)
{
	struct val r;
	int found = call_special(h, v, NM___len__, NULL, 0, &r);

	if (found <= 0)
		return found;
	if (val_as_int(h, r, out))
		return -1;
	return *out < 0 ? host_raise(h, EXC_ValueError, "__len__() should return >= 0") : 1;
}

/* len(x). The number of code points of a string is counted once and kept. */
int host_len(struct host *h, struct val v, int64_t *out)
{
	const struct dict_obj *members;
	int found;

	if (!own_item_method(h, v, NM___len__))
		switch (v.kind) {
		case V_TUPLE: case V_LIST: *out = (int64_t)v.u.seq->n; return 0;
		case V_DICT: case V_SET: *out = (int64_t)v.u.d->live; return 0;
		case V_VIEW: *out = view_len(v); return 0;
		case V_CLASS:
			members = class_members(h, v.u.c);
			if (!members)
				break;
			*out = (int64_t)members->live;
			return 0;
		case V_BYTES: *out = (int64_t)v.u.s->n; return 0;
		case V_STR:
			if (v.u.s->chars < 0)
				v.u.s->chars = (int64_t)utf8_count(val_text(v));
			*out = v.u.s->chars;
			return 0;
		case V_RANGE: return range_len(h, v.u.range, out);
		default: break;
		}
	found = special_len(h, v, out);
	if (found)
		return found < 0 ? -1 : 0;
	return host_raise(h, EXC_TypeError, "object of type '%s' has no len()", val_type_name(h, v));
}
