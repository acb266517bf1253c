/* The heap of a host: objects, references, temporaries, the memory limit. Owns allocation and
 * freeing of every Python object. Does not own the contents of hash tables (dict.c) or the
 * storage of tensors (src/tensor).
 *
 * Invariants:
 * - refs counts every holder: containers, variables, attributes, and the list of temporaries.
 * - An object with no references goes to the dead list. The list is emptied in a loop, so freeing a
 *   nest of a million lists needs no deep C stack.
 * - Classes and modules live as long as the host.
 * - All objects are on one doubly linked list. host_free_objects walks it and thereby frees the
 *   objects that reference cycles kept alive; there is no cycle collector.
 *
 * Memory limit: lim.bytes counts objects and their arrays, lim.tensor_bytes counts storages that
 * the program's tensors own. Their sum may not pass o.memory. Memory is charged before it is
 * allocated and uncharged when it is freed; a refusal is fatal (out_of_memory) and cannot be
 * caught by the program. */
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/object.h"
#include "interp/state.h"

/* Charges `bytes` to the program. The test `total < bytes` catches overflow. */
int host_charge(struct host *h, size_t bytes)
{
	size_t total = h->lim.bytes + bytes;
	if (total < bytes || total + h->lim.tensor_bytes > h->o.memory)
		return host_fatal(h, REASON_out_of_memory, "the program holds more than %zu MB", h->o.memory >> 20);
	h->lim.bytes = total;
	if (total + h->lim.tensor_bytes > h->lim.peak)
		h->lim.peak = total + h->lim.tensor_bytes;
	return 0;
}

/* Saturates at 0: a size that is reported twice must not wrap the counter and lift the limit. */
void host_uncharge(struct host *h, size_t bytes)
{
	h->lim.bytes -= MIN(bytes, h->lim.bytes);
}

/* Completes a charged allocation: returns p, or undoes the charge when p is NULL. */
static void *charged(struct host *h, void *p, size_t bytes)
{
	if (!p) {
		host_uncharge(h, bytes);
		host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	}
	return p;
}

void *host_alloc(struct host *h, size_t bytes)
{
	return host_charge(h, bytes) ? NULL : charged(h, mem_zalloc(bytes), bytes);
}

/* Frees an array of host_alloc. The caller says its size; there is no header on it. */
void host_release(struct host *h, void *p, size_t bytes)
{
	if (!p)
		return;
	host_uncharge(h, bytes);
	mem_free(p);
}

/* Bytes of the object itself as it was allocated, without its arrays. It must agree with the
 * sizes that constructors pass to host_obj, or charges would drift. */
static size_t obj_size(const struct obj *o)
{
	switch (o->kind) {
	case V_STR: case V_BYTES: case V_TL: return sizeof (struct str_obj) + ((const struct str_obj *)o)->n + 1;
	case V_BIG: return sizeof (struct big_obj) + ((const struct big_obj *)o)->n * sizeof (uint32_t);
	case V_TUPLE: case V_LIST: return sizeof (struct seq_obj);
	case V_DICT: case V_SET: return sizeof (struct dict_obj);
	case V_SLICE: return sizeof (struct slice_obj);
	case V_RANGE: return sizeof (struct range_obj);
	case V_ITER: return sizeof (struct iter_obj);
	case V_FUNC: return sizeof (struct func_obj);
	case V_BUILTIN: return sizeof (struct builtin_obj);
	case V_CLASS: return sizeof (struct class_obj);
	case V_MODULE: return sizeof (struct module_obj);
	case V_TENSOR: return sizeof (struct tensor_obj);
	case V_OBJECT: return sizeof (struct obj);
	default: return sizeof (struct method_obj);
	}
}

/* --- small objects ---------------------------------------------------------------------------------
 *
 * Most objects have at most 256 bytes and die within one statement. They are cut from arena
 * blocks. A freed one goes to a list of spares of its size class and serves the next object of
 * that class. Under the address sanitizer each object is an allocation of its own, so that a use
 * after free is seen. */

enum { SMALL_MOST = MEM_WATCHED ? 0 : HEAP_SMALL * HEAP_STEP };

struct spare { struct spare *next; };

/* Size classes are HEAP_STEP = 16 bytes wide: 1..16 is class 0, 17..32 is class 1. */
static struct spare **spares_of(struct host *h, size_t size)
{
	return &h->heap.spares[(size - 1) / HEAP_STEP];
}

/* Zeroed memory for an object: a spare, a cut of the arena, or (large) its own block. */
static void *new_block(struct host *h, size_t size)
{
	struct spare **at, *s;

	if (size > SMALL_MOST)
		return mem_zalloc(size);
	at = spares_of(h, size);
	s = *at;
	if (!s)
		return arena_zalloc(&h->heap.blocks, size);
	*at = s->next;
	return memset(s, 0, size);
}

/* Gives the memory of new_block back. `size` selects the same class as there. */
static void drop_block(struct host *h, void *p, size_t size)
{
	struct spare **at, *s = p;

	if (size > SMALL_MOST) {
		mem_free(p);
		return;
	}
	at = spares_of(h, size);
	s->next = *at;
	*at = s;
}

/* Adds one reference that the caller has counted to the list of temporaries. */
static int pool_push(struct host *h, struct obj *o)
{
	if (vec_push(&h->heap.temps, o))
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	return 0;
}

/* Makes an object with one reference, which the list of temporaries holds. The object survives
 * the statement only if a container or variable keeps it as well. `young` marks objects made
 * after host_seal: guarded code may change only those. */
void *host_obj(struct host *h, enum val_kind kind, size_t size, struct class_obj *cls)
{
	struct obj *o = host_charge(h, size) ? NULL : charged(h, new_block(h, size), size);

	if (!o)
		return NULL;
	o->kind = kind;
	o->refs = 1;
	o->young = h->heap.sealed;
	o->cls = cls ? cls : h->type.kind_class[kind];
	o->next = h->heap.objects;
	if (h->heap.objects)
		h->heap.objects->prev = o;
	h->heap.objects = o;
	return pool_push(h, o) ? NULL : o;
}

/* Protects a value that C code read from a variable or container while program code runs.
 * Without it `x[0] = f(x)` could free the list that is being written. */
struct val host_hold(struct host *h, struct val v)
{
	if (V_IS_HEAP(v)) {
		v.u.o->refs++;
		pool_push(h, v.u.o);
	}
	return v;
}

void val_keep(struct val v)
{
	if (V_IS_HEAP(v))
		v.u.o->refs++;
}

/* Drops n members and frees the array of `cap` values. */
static void drop_array(struct host *h, struct val *v, size_t n, size_t cap)
{
	for (size_t i = 0; i < n; i++)
		val_drop(h, v[i]);
	host_release(h, v, cap * sizeof *v);
}

static void free_dict(struct host *h, struct dict_obj *d)
{
	dict_obj_clear(h, d);
}

/* Drops what a function holds: defaults, cells, names. The syntax tree is not its own. */
static void free_func(struct host *h, struct func_obj *f)
{
	drop_array(h, f->defaults, f->n_defaults, f->n_defaults);
	drop_array(h, f->kw_defaults, f->n_kw, f->n_kw);
	drop_array(h, f->cells, f->n_cells, f->n_cells);
	val_drop(h, f->class_cell);
	val_drop(h, val_of_str(f->name));
	val_drop(h, val_of_str(f->qualname));
}

/* The last view of a storage gives the bytes back that val_tensor charged. */
static void free_tensor(struct host *h, struct tensor_obj *t)
{
	val_drop(h, t->grad);
	if (t->t.st && t->t.st->refs == 1)
		h->lim.tensor_bytes -= MIN(t->t.st->bytes, h->lim.tensor_bytes);
	if (t->t.st)
		tensor_release(&t->t);
}

/* Bases and the MRO are arrays of borrowed classes: classes live as long as the host. */
static void free_class(struct host *h, struct class_obj *c)
{
	host_release(h, c->bases, c->n_bases * sizeof *c->bases);
	host_release(h, c->mro, c->n_mro * sizeof *c->mro);
}

/* Drops the references that an object holds. Each drop may add to the dead list. */
static void free_fields(struct host *h, struct obj *o)
{
	struct val v = val_obj(o);
	switch (o->kind) {
	case V_TUPLE: case V_LIST: drop_array(h, v.u.seq->v, v.u.seq->n, v.u.seq->cap); break;
	case V_DICT: case V_SET: free_dict(h, v.u.d); break;
	case V_SLICE: val_drop(h, v.u.slice->start); val_drop(h, v.u.slice->stop); val_drop(h, v.u.slice->step); break;
	case V_ITER: val_drop(h, v.u.iter->src); val_drop(h, v.u.iter->a); val_drop(h, v.u.iter->b); break;
	case V_FUNC: free_func(h, v.u.fn); break;
	case V_BUILTIN: val_drop(h, v.u.b->self); break;
	case V_CLASS: free_class(h, v.u.c); break;
	case V_TENSOR: free_tensor(h, v.u.t); break;
	case V_METHOD: case V_PROPERTY: case V_STATICMETHOD: case V_CLASSMETHOD: case V_SUPER: case V_CELL: case V_VIEW:
		val_drop(h, v.u.m->self); val_drop(h, v.u.m->fn); val_drop(h, v.u.m->extra); break;
	default: break;
	}
	if (o->attrs)
		val_drop(h, val_obj(&o->attrs->h));
}

/* Takes a dead object off the list of all objects and frees its memory. */
static void unlink_obj(struct host *h, struct obj *o)
{
	size_t size = obj_size(o);

	if (o->prev)
		o->prev->next = o->next;
	else
		h->heap.objects = o->next;
	if (o->next)
		o->next->prev = o->prev;
	host_uncharge(h, size);
	drop_block(h, o, size);
}

/* Empties the dead list. `freeing` makes a nested call return at once, so the outermost call
 * frees everything and the C stack stays flat. */
static void bury(struct host *h)
{
	if (h->heap.freeing)
		return;
	h->heap.freeing = 1;
	while (h->heap.dead.n) {
		struct obj *o = h->heap.dead.v[--h->heap.dead.n];
		free_fields(h, o);
		unlink_obj(h, o);
	}
	h->heap.freeing = 0;
}

/* Gives up one reference. `freeing > 1` means that host_free_objects is at work, which frees
 * every object without looking at counts. */
void val_drop(struct host *h, struct val v)
{
	struct obj *o;

	if (!V_IS_HEAP(v) || !v.u.o)
		return;
	o = v.u.o;
	if (--o->refs > 0 || h->heap.freeing > 1)
		return;
	if (vec_push(&h->heap.dead, o)) {
		o->refs = 1;            /* no memory to free it now: host_free will */
		return;
	}
	bury(h);
}

/* Stores v in a variable. The old value is dropped last, because it may be the object that keeps v
 * alive: `x = x.next`. */
void val_assign(struct host *h, struct val *slot, struct val v)
{
	struct val old = *slot;
	val_keep(v);
	*slot = v;
	val_drop(h, old);
}

/* The height of the list of temporaries. A statement or call remembers it and later drains to
 * it. */
size_t temps_mark(const struct host *h)
{
	return h->heap.temps.n;
}

/* Drops the temporaries that were added since `mark`. */
void temps_drain(struct host *h, size_t mark)
{
	while (h->heap.temps.n > mark)
		val_drop(h, val_obj(h->heap.temps.v[--h->heap.temps.n]));
}

/* Drains, but carries one value across: the result of a call stays a temporary of the caller. */
struct val temps_drain_to(struct host *h, size_t mark, struct val keep)
{
	val_keep(keep);
	temps_drain(h, mark);
	if (V_IS_HEAP(keep))
		pool_push(h, keep.u.o);
	return keep;
}

/* Frees everything at the end of a host. The first loop frees the arrays of each object, the
 * second the large objects; the arena takes the small ones with it. */
void host_free_objects(struct host *h)
{
	h->heap.freeing = 2;                 /* from here val_drop frees nothing: everything goes */
	for (struct obj *o = h->heap.objects; o; o = o->next) {
		struct val v = val_obj(o);
		if (o->kind == V_TUPLE || o->kind == V_LIST)
			mem_free(v.u.seq->v);
		else if (o->kind == V_DICT || o->kind == V_SET)
			mem_free(v.u.d->e), mem_free(v.u.d->slot);
		else if (o->kind == V_FUNC)
			mem_free(v.u.fn->defaults), mem_free(v.u.fn->kw_defaults), mem_free(v.u.fn->cells);
		else if (o->kind == V_CLASS)
			mem_free(v.u.c->bases), mem_free(v.u.c->mro);
		else if (o->kind == V_TENSOR && v.u.t->t.st)
			tensor_release(&v.u.t->t);
	}
	for (struct obj *o = h->heap.objects, *next; o; o = next) {
		next = o->next;
		if (obj_size(o) > SMALL_MOST)
			mem_free(o);
	}
	arena_release(&h->heap.blocks);
	memset(h->heap.spares, 0, sizeof h->heap.spares);
	h->heap.objects = NULL;
	vec_free(&h->heap.temps);
	vec_free(&h->heap.dead);
}
