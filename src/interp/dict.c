/* Hash tables: dict, set and every namespace (modules, classes, instances). Owns hashing,
 * lookup and insertion order. Python-level methods are in seq_methods.c and dict_view.c.
 *
 * Layout as in CPython: entries are in an array in insertion order, and a table of slots maps a
 * hash to an entry index + 1 by linear probing. A removed entry stays as a V_UNSET hole until the
 * table is rebuilt, so positions of an iterator remain valid.
 *
 * Invariant: comparing keys may run program code (__eq__), which may change the table. dict_locate
 * starts again when `version` changed meanwhile. */
#include <math.h>

#include "interp/attr.h"
#include "interp/big.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/object.h"
#include "interp/state.h"
#include "interp/work.h"

/* The finalizer of MurmurHash3: spreads integers whose low bits are alike over the slots. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

/* 2.0 == 2 in Python, so a float with an integer value hashes like that integer. */
static uint64_t hash_float(double f)
{
	uint64_t bits;

	if (f >= -9.2e18 && f <= 9.2e18 && f == floor(f))
		return mix((uint64_t)(int64_t)f);
	memcpy(&bits, &f, sizeof bits);
	return mix(bits ^ 0x5bd1e995);
}

/* Counts as a call (host_enter): a tuple nested deeper than the stack raises RecursionError. */
static int hash_tuple(struct host *h, const struct seq_obj *s, uint64_t *out)
{
	uint64_t x = 0x345678, y;
	if (host_enter(h))
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		if (val_hash(h, s->v[i], &y)) {
			host_leave(h);
			return -1;
		}
		x = mix(x * 31 + y);
	}
	host_leave(h);
	*out = x;
	return 0;
}

/* A sum, so the order of insertion does not matter. */
static int hash_frozenset(struct dict_obj *d, uint64_t *out)
{
	*out = 0x51ed27;
	for (size_t i = 0; i < d->n; i++)
		if (d->e[i].key.kind != V_UNSET)
			*out += mix(d->e[i].hash);
	return 0;
}

/* An instance with __hash__ uses it; one that defines only __eq__ is unhashable, as in CPython;
 * any other hashes by identity. The number itself never reaches the program (host_varies), so
 * it need not agree with CPython's. */
static int hash_object(struct host *h, struct val v, uint64_t *out)
{
	struct class_obj *where;
	struct val *eq = class_lookup(h, v.u.o->cls, h->nm[NM___eq__], &where);
	struct val *own = class_lookup(h, v.u.o->cls, h->nm[NM___hash__], NULL);
	if (h->fail.failed || h->fail.fatal)
		return -1;
	if (own && own->kind != V_NONE) {
		struct val r;
		int rc = call_special(h, v, NM___hash__, NULL, 0, &r);
		if (rc < 0 || (rc > 0 && r.kind != V_INT))
			return rc < 0 ? -1 : host_raise(h, EXC_TypeError, "__hash__ method should return an integer");
		*out = mix((uint64_t)r.u.i);
		return 0;
	}
	if (eq && !own && where != h->type.object_class)
		return host_raise(h, EXC_TypeError, "unhashable type: '%s'", val_type_name(h, v));
	*out = mix((uint64_t)(uintptr_t)v.u.o);
	return 0;
}

/* The hash under which a value is a key. Equal values must hash alike: True, 1 and 1.0 are one
 * key. Immutable values only; a list as a key is a TypeError. */
int val_hash(struct host *h, struct val v, uint64_t *out)
{
	switch (v.kind) {
	case V_BOOL: case V_INT: *out = mix((uint64_t)v.u.i); return 0;
	case V_FLOAT: *out = hash_float(v.u.f); return 0;
	case V_BIG: *out = hash_float(big_to_double(v)); return 0;
	case V_STR: case V_BYTES: *out = v.u.s->hash; return 0;
	case V_DTYPE: *out = mix((uint64_t)v.u.i + 7919); return 0;
	case V_DEVICE: *out = mix((uint64_t)v.aux + 104729); return 0;
	case V_TUPLE: return hash_tuple(h, v.u.seq, out);
	case V_TL: *out = v.u.s->hash + 1; return 0;
	case V_OBJECT: return hash_object(h, v, out);
	case V_SET:
		if (v.u.o->cls->native && !strcmp(v.u.o->cls->native, "frozenset"))
			return hash_frozenset(v.u.d, out);
		/* fall through */
	case V_LIST: case V_DICT: case V_SLICE: case V_VIEW:
		return host_raise(h, EXC_TypeError, "unhashable type: '%s'", val_type_name(h, v));
	default: break;
	}
	*out = V_IS_HEAP(v) ? mix((uint64_t)(uintptr_t)v.u.o) : mix((uint64_t)v.kind);
	return 0;
}

struct dict_obj *dict_obj_new(struct host *h, enum val_kind kind)
{
	return host_obj(h, kind, sizeof (struct dict_obj), NULL);
}

/* The table is emptied before the members are dropped: dropping may free an object that leads
 * back to this table. */
void dict_obj_clear(struct host *h, struct dict_obj *d)
{
	struct dict_entry *e = d->e;
	size_t n = d->n, cap = d->cap;
	host_release(h, d->slot, d->slots * sizeof *d->slot);
	d->e = NULL;
	d->slot = NULL;
	d->n = d->cap = d->live = d->slots = 0;
	d->version++;
	for (size_t i = 0; i < n; i++)
		if (e[i].key.kind != V_UNSET) {
			val_drop(h, e[i].key);
			val_drop(h, e[i].val);
		}
	host_release(h, e, cap * sizeof *e);
}

/* The next live entry from *at on; *at then is after it. */
struct dict_entry *dict_next(struct dict_obj *d, size_t *at)
{
	while (*at < d->n) {
		struct dict_entry *e = &d->e[(*at)++];
		if (e->key.kind != V_UNSET)
			return e;
	}
	return NULL;
}

/* Room for one more entry. The table is rebuilt from the live entries: capacity twice their number,
 * and a power of two of slots, at least a quarter of them empty. Example: 8 live entries get 16
 * entries and 32 slots. A dictionary that lost most of its keys shrinks here. */
static int dict_make_room(struct host *h, struct dict_obj *d)
{
	size_t n, cap, slots;
	uint32_t *slot;
	struct dict_entry *e;

	if (d->n < d->cap && d->n + 1 < d->slots - d->slots / 4)
		return 0;
	cap = MAX(8, d->live * 2);
	slots = 16;
	while (slots - slots / 4 <= cap + 1)
		slots *= 2;
	e = host_alloc(h, cap * sizeof *e);
	if (!e)
		return -1;
	slot = host_alloc(h, slots * sizeof *slot);
	if (!slot) {
		host_release(h, e, cap * sizeof *e);
		return -1;
	}
	n = 0;
	for (size_t i = 0; i < d->n; i++)
		if (d->e[i].key.kind != V_UNSET)
			e[n++] = d->e[i];
	for (size_t i = 0; i < n; i++) {
		size_t s = e[i].hash & (slots - 1);
		while (slot[s])
			s = (s + 1) & (slots - 1);
		slot[s] = (uint32_t)i + 1;
	}
	host_release(h, d->e, d->cap * sizeof *d->e);
	host_release(h, d->slot, d->slots * sizeof *d->slot);
	d->e = e;
	d->slot = slot;
	d->n = n;
	d->cap = cap;
	d->slots = slots;
	return 0;
}

/* Compares two keys without running program code. Returns 1 if they are equal, 0 if they
 * differ, -1 if only val_equal can say. Strings and small integers, nearly all keys, are
 * settled here. A tensor equals only itself as a key: == on tensors would give a tensor. */
static int same_quick(struct val a, struct val b)
{
	if (a.kind == b.kind) {
		if (a.kind == V_STR)
			return a.u.s == b.u.s || (a.u.s->n == b.u.s->n && !memcmp(a.u.s->p, b.u.s->p, a.u.s->n));
		if (a.kind == V_INT || a.kind == V_BOOL || a.kind == V_DTYPE)
			return a.u.i == b.u.i;
		if (V_IS_HEAP(a) && a.u.o == b.u.o)
			return 1;
	}
	if (a.kind == V_STR || b.kind == V_STR)
		return a.kind != b.kind && (V_IS_HEAP(a) || V_IS_HEAP(b)) &&
			(a.kind == V_OBJECT || b.kind == V_OBJECT) ? -1 : 0;
	return a.kind == V_TENSOR || b.kind == V_TENSOR ? 0 : -1;
}

/* Finds the entry of a key. Returns 1 with its position in *at, 0 if it is absent, -1 if __eq__
 * failed. The key of the entry is held meanwhile, as __eq__ may remove it. */
static int dict_locate(struct host *h, struct dict_obj *d, struct val key, uint64_t hash, size_t *at)
{
again:
	if (!d->slots)
		return 0;
	for (size_t s = hash & (d->slots - 1); d->slot[s]; s = (s + 1) & (d->slots - 1)) {
		struct dict_entry *e = &d->e[d->slot[s] - 1];
		int same;

		if (e->hash != hash || e->key.kind == V_UNSET)
			continue;
		same = same_quick(e->key, key);
		if (same < 0) {
			uint64_t version = d->version;
			same = val_equal(h, host_hold(h, e->key), key);
			if (same < 0)
				return -1;
			if (version != d->version)
				goto again;
		}
		if (same) {
			*at = d->slot[s] - 1;
			return 1;
		}
	}
	return 0;
}

/* Appends an entry for a key that the caller knows to be absent. Keeps key and value. */
static int dict_insert(struct host *h, struct dict_obj *d, struct val key, uint64_t hash, struct val v)
{
	size_t s;

	if (d->n >= UINT32_MAX - 1)
		return host_fatal(h, REASON_out_of_memory, "a dictionary has too many entries");
	if (dict_make_room(h, d))
		return -1;
	s = hash & (d->slots - 1);
	while (d->slot[s])
		s = (s + 1) & (d->slots - 1);
	val_keep(key);
	val_keep(v);
	d->e[d->n] = (struct dict_entry){ .key = key, .val = v, .hash = hash };
	d->slot[s] = (uint32_t)++d->n;
	d->live++;
	d->version++;
	return 0;
}

/* d[key] = v. An existing entry keeps its key object and its position: after `d = {1: 'a'};
 * d[True] = 'b'` the key is still 1. */
static int dict_store(struct host *h, struct dict_obj *d, struct val key, uint64_t hash, struct val v)
{
	size_t at;
	int found = dict_locate(h, d, key, hash, &at);
	if (found < 0)
		return -1;
	if (!found)
		return dict_insert(h, d, key, hash, v);
	val_assign(h, &d->e[at].val, v);
	return 0;
}

/* Leaves a hole. References are dropped last, as freeing may come back to this table. */
static void dict_remove_at(struct host *h, struct dict_obj *d, size_t at)
{
	struct dict_entry e = d->e[at];
	d->e[at].key = (struct val){ .kind = V_UNSET };
	d->e[at].val = (struct val){ .kind = V_UNSET };
	d->live--;
	d->version++;
	val_drop(h, e.key);
	val_drop(h, e.val);
}

int dict_set(struct host *h, struct val dict, struct val key, struct val v)
{
	uint64_t hash;
	return val_hash(h, key, &hash) ? -1 : dict_store(h, dict.u.d, key, hash, v);
}

/* Also records the lookup in a dry run: a table of block sizes indexed by a tensor size is a
 * size branch (work.c). */
int dict_get(struct host *h, struct val dict, struct val key, struct val *out)
{
	uint64_t hash;
	size_t at;
	int found;

	if (val_hash(h, key, &hash))
		return -1;
	found = dict_locate(h, dict.u.d, key, hash, &at);
	if (found >= 0 && h->o.path)
		host_note_entry(h, key, hash, found);
	if (found > 0)
		*out = host_hold(h, dict.u.d->e[at].val);
	return found;
}

/* Returns 1 if the key was there, 0 if not, -1 if it is unhashable. */
int dict_del(struct host *h, struct val dict, struct val key)
{
	uint64_t hash;
	size_t at;
	int found;

	if (val_hash(h, key, &hash))
		return -1;
	found = dict_locate(h, dict.u.d, key, hash, &at);
	if (found > 0)
		dict_remove_at(h, dict.u.d, at);
	return found;
}

/* Lookup in a namespace. Keys are strings, so no program code runs and nothing fails. */
static struct dict_entry *attrs_entry(const struct dict_obj *d, struct str name, uint64_t hash)
{
	if (!d || !d->slots)
		return NULL;
	for (size_t s = hash & (d->slots - 1); d->slot[s]; s = (s + 1) & (d->slots - 1)) {
		struct dict_entry *e = &d->e[d->slot[s] - 1];
		if (e->hash == hash && e->key.kind == V_STR && str_eq(val_text(e->key), name))
			return e;
	}
	return NULL;
}

struct val *attrs_find(const struct dict_obj *d, struct str name, uint64_t hash)
{
	struct dict_entry *e = attrs_entry(d, name, hash);
	return e ? &e->val : NULL;
}

struct val *attrs_get(const struct dict_obj *d, const struct str_obj *name)
{
	return attrs_find(d, (struct str){ .p = name->p, .n = name->n }, name->hash);
}

/* Linear search by a C string, for keyword dictionaries of a few entries. */
struct val *dict_find(struct val dict, const char *key)
{
	struct dict_obj *d = dict.u.d;
	for (size_t i = 0; i < d->n; i++)
		if (d->e[i].key.kind == V_STR && str_is(val_text(d->e[i].key), key))
			return &d->e[i].val;
	return NULL;
}

/* namespace[name] = v. */
int attrs_set(struct host *h, struct dict_obj *d, struct str_obj *name, struct val v)
{
	struct dict_entry *e = attrs_entry(d, (struct str){ .p = name->p, .n = name->n }, name->hash);
	if (!e)
		return dict_insert(h, d, val_of_str(name), name->hash, v);
	val_assign(h, &e->val, v);
	return 0;
}

int attrs_del(struct host *h, struct dict_obj *d, struct str_obj *name)
{
	struct dict_entry *e = attrs_entry(d, (struct str){ .p = name->p, .n = name->n }, name->hash);
	if (e)
		dict_remove_at(h, d, (size_t)(e - d->e));
	return e != NULL;
}

/* Copies every entry of `from`. Costs one step of fuel per entry. Entries are held while they
 * are stored, since __eq__ of a key may change `from`. */
int dict_update(struct host *h, struct val into, struct val from)
{
	struct dict_obj *d = from.u.d;
	if (host_burn(h, (int64_t)d->live))
		return -1;
	for (size_t i = 0; i < d->n; i++) {
		struct dict_entry e = d->e[i];
		if (e.key.kind == V_UNSET)
			continue;
		host_hold(h, e.key);
		host_hold(h, e.val);
		if (dict_store(h, into.u.d, e.key, e.hash, e.val))
			return -1;
	}
	return 0;
}
