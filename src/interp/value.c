/* Constructors of values: strings, sequences, pairs, iterators, tensors, modules. Owns the
 * allocation rules of each kind of object and the memory limit of tensors. Does not own
 * reference counting (heap.c) or hash tables (dict.c). Invariant: each constructor hands back a
 * borrowed value that the list of temporaries holds (see value.h). A container that is built
 * here takes its own reference to every member. */
#include <stdio.h>

#include "base/hash.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/ptrmap.h"
#include "interp/state.h"

/* Concatenates `parts` pieces into one V_STR or V_BYTES object. The hash is computed at once
 * because names are looked up by it. The count of code points (chars) is -1 until a caller asks
 * for it, as most strings are never indexed. The extra byte keeps the text NUL-terminated. */
static int text_obj(struct host *h, enum val_kind kind, const struct str *part, size_t parts, struct val *out)
{
	struct str_obj *o;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < parts; i++)
		n += part[i].n;
	o = host_obj(h, kind, sizeof *o + n + 1, NULL);
	if (!o)
		return -1;
	o->n = n;
	for (size_t i = 0; i < parts; at += part[i++].n)
		if (part[i].n)
			memcpy(o->p + at, part[i].p, part[i].n);
	o->hash = hash_xxh64(o->p, n, 0);
	o->chars = -1;
	*out = val_obj(&o->h);
	return 0;
}

int val_str(struct host *h, struct str s, struct val *out)
{
	return text_obj(h, V_STR, &s, 1, out);
}

/* Three parts in one allocation: "torch" + "." + "nn" without a temporary in between. */
int val_joined(struct host *h, struct str a, struct str between, struct str b, struct val *out)
{
	return text_obj(h, V_STR, (struct str[]){ a, between, b }, 3, out);
}

int val_bytes(struct host *h, struct str s, struct val *out)
{
	return text_obj(h, V_BYTES, &s, 1, out);
}

/* printf into a Python string. The text has no fixed limit of its own; the heap charges it like
 * any other object. */
int val_strf(struct host *h, struct val *out, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	rc = b.failed ? host_fatal(h, REASON_out_of_memory, "the machine is out of memory") :
		val_str(h, buf_str(&b), out);
	buf_release(&b);
	return rc;
}

/* Makes room for `more` further members. The capacity grows by half each time, so n appends
 * cost O(n). The growth is charged before it is allocated: a program that appends for ever
 * meets its own memory limit, not the machine's. */
int seq_reserve(struct host *h, struct seq_obj *s, size_t more)
{
	size_t need, cap;
	struct val *v;

	if (ck_add(s->n, more, &need) || need > SIZE_MAX / sizeof (struct val) / 4)
		return host_fatal(h, REASON_out_of_memory, "a sequence exceeds the memory limit");
	if (need <= s->cap)
		return 0;
	cap = MAX(need, s->cap + s->cap / 2 + 4);
	if (host_charge(h, (cap - s->cap) * sizeof *s->v))
		return -1;
	v = mem_resize(s->v, cap * sizeof *v);
	if (!v) {
		host_uncharge(h, (cap - s->cap) * sizeof *s->v);
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	}
	s->v = v;
	s->cap = cap;
	return 0;
}

/* Builds a tuple or list. The members are borrowed from the caller; the object keeps each one. */
static int seq(struct host *h, enum val_kind kind, const struct val *v, size_t n, struct val *out)
{
	struct seq_obj *s = host_obj(h, kind, sizeof *s, NULL);
	if (!s || (n && seq_reserve(h, s, n)))
		return -1;
	for (size_t i = 0; i < n; i++) {
		val_keep(v[i]);
		s->v[i] = v[i];
	}
	s->n = n;
	*out = val_obj(&s->h);
	return 0;
}

int val_tuple(struct host *h, const struct val *v, size_t n, struct val *out) { return seq(h, V_TUPLE, v, n, out); }
int val_list(struct host *h, const struct val *v, size_t n, struct val *out) { return seq(h, V_LIST, v, n, out); }

/* An empty dictionary. */
int val_dict(struct host *h, struct val *out)
{
	struct dict_obj *d = dict_obj_new(h, V_DICT);
	if (!d)
		return -1;
	*out = val_obj(&d->h);
	return 0;
}

/* An empty set: a hash table whose values are None. */
int val_set(struct host *h, struct val *out)
{
	struct dict_obj *d = dict_obj_new(h, V_SET);
	if (!d)
		return -1;
	*out = val_obj(&d->h);
	return 0;
}

/* A torch.Size is a tuple whose class is size_class; only repr and type() differ. */
int val_size(struct host *h, const int64_t *v, int n, struct val *out)
{
	struct val items[TENSOR_DIMS];
	BUG_ON(n < 0 || n > TENSOR_DIMS);
	for (int i = 0; i < n; i++)
		items[i] = val_int(v[i]);
	if (val_tuple(h, items, (size_t)n, out))
		return -1;
	out->u.o->cls = h->type.size_class;
	return 0;
}

/* Wraps a tensor as a Python value. Takes over the reference that *t holds, on failure too, and
 * clears t->st. Only the first view of a storage is charged (refs == 1), because views share its
 * bytes. A hollow storage has a size but no memory, so it is never charged. free_tensor (heap.c)
 * refunds the bytes by the same test. */
int val_tensor(struct host *h, struct tensor *t, enum host_device dev, struct val *out)
{
	struct tensor_obj *o = host_obj(h, V_TENSOR, sizeof *o, NULL);
	if (!o) {
		tensor_release(t);
		return -1;
	}
	o->t = *t;
	o->device = dev;
	o->grad = val_none();
	if (t->st->refs == 1 && !t->st->hollow) {
		h->lim.tensor_bytes += t->st->bytes;
		if (h->lim.bytes + h->lim.tensor_bytes > h->lim.peak)
			h->lim.peak = h->lim.bytes + h->lim.tensor_bytes;
	}
	t->st = NULL;
	*out = val_obj(&o->h);
	/* Checks the limit after the fact: the tensor exists already, so the request is 0. */
	return host_room(h, 0);
}

/* Asks whether a tensor of `bytes` more may be allocated. The largest request is recorded in a
 * dry run as well: there a tensor of 64 GB is allowed, but the judge wants to know that the
 * candidate asked for it. */
int host_room(struct host *h, int64_t bytes)
{
	h->lim.largest = MAX(h->lim.largest, bytes);
	return h->o.hollow ? 0 : host_scratch(h, bytes);
}

/* Checks whether `bytes` of real memory fit in addition to all that the program holds. */
int host_scratch(struct host *h, int64_t bytes)
{
	if (bytes < 0 || h->lim.bytes + h->lim.tensor_bytes + (size_t)bytes > h->o.memory)
		return host_fatal(h, REASON_out_of_memory,
				  "the program asks for %lld MB of tensors on top of the %zu MB it holds; "
				  "its limit is %zu MB",
				  (long long)(bytes >> 20), (h->lim.bytes + h->lim.tensor_bytes) >> 20,
				  h->o.memory >> 20);
	return 0;
}

/* An object of two values. Bound methods, properties, static methods, cells, super() and
 * dictionary views all have this form; `kind` tells them apart. */
int val_pair(struct host *h, enum val_kind kind, struct val self, struct val fn, struct val *out)
{
	struct method_obj *m = host_obj(h, kind, sizeof *m, NULL);
	if (!m)
		return -1;
	val_keep(self);
	val_keep(fn);
	m->self = self;
	m->fn = fn;
	*out = val_obj(&m->h);
	return 0;
}

/* slice(a, b, c); a part that the program leaves out is None. */
int val_slice(struct host *h, struct val a, struct val b, struct val c, struct val *out)
{
	struct slice_obj *s = host_obj(h, V_SLICE, sizeof *s, NULL);
	if (!s)
		return -1;
	val_keep(a);
	val_keep(b);
	val_keep(c);
	s->start = a;
	s->stop = b;
	s->step = c;
	*out = val_obj(&s->h);
	return 0;
}

/* An iterator over `src` whose next element `next` computes. The state fields a, b, i and n
 * start at zero; the caller sets those that its `next` needs. */
int val_iter(struct host *h, struct val src, int (*next)(struct host *, struct iter_obj *, struct val *),
	     struct val *out)
{
	struct iter_obj *it = host_obj(h, V_ITER, sizeof *it, NULL);
	if (!it)
		return -1;
	val_keep(src);
	it->src = src;
	it->next = next;
	*out = val_obj(&it->h);
	return 0;
}

/* Also used while C code builds a list, so it does not ask whether the list is sealed. Methods
 * of the program ask host_may_change first. */
int list_append(struct host *h, struct val list, struct val v)
{
	struct seq_obj *s = list.u.seq;
	if (seq_reserve(h, s, 1))
		return -1;
	val_keep(v);
	s->v[s->n++] = v;
	return 0;
}

/* The one string object for a text. Attribute and variable names are interned, so a name is
 * allocated once per host. The table holds a reference until the host ends. */
struct str_obj *host_intern(struct host *h, struct str s)
{
	struct val *old = attrs_find(h->heap.interned, s, hash_xxh64(s.p, s.n, 0)), v;

	if (old)
		return old->u.s;
	if (val_str(h, s, &v))
		return NULL;
	v.u.s->interned = 1;
	return attrs_set(h, h->heap.interned, v.u.s, v) ? NULL : v.u.s;
}

/* The string object of an identifier of a syntax tree. Identifiers are unique pointers within a
 * tree, so the pointer is the key and no text is hashed. The length check guards against a
 * prefix at the same address ("a" of "a.b" points at the same bytes). */
struct str_obj *host_ident(struct host *h, struct str id)
{
	struct str_obj *s = ptr_map_get(&h->heap.idents, id.p);
	if (s && s->n == id.n)
		return s;
	s = host_intern(h, id);
	if (s && ptr_map_put(&h->heap.idents, id.p, s)) {
		host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
		return NULL;
	}
	return s;
}

/* A new module with an empty namespace and __name__ set. It has one reference that is never
 * dropped. */
int host_module(struct host *h, struct str name, struct module_obj **out)
{
	struct str_obj *n = host_intern(h, name);
	struct module_obj *m = n ? host_obj(h, V_MODULE, sizeof *m, NULL) : NULL;
	struct dict_obj *d = m ? dict_obj_new(h, V_DICT) : NULL;
	if (!d)
		return -1;
	val_keep(val_obj(&d->h));
	m->h.attrs = d;
	m->name = n;
	val_keep(val_obj(&m->h));       /* modules live as long as the host */
	*out = m;
	return attrs_set(h, d, h->nm[NM___name__], val_of_str(n));
}
