/* The census of objects that outlive a call: see census.h. Each object contributes one hash of its
 * own contents; references to other objects count by identity, because those have entries of their
 * own. */
#include "host/census.h"

#include "base/hash.h"
#include "base/mem.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/object.h"
#include "interp/state.h"
#include "torch/torch.h"

/* Storages above 4 MiB are hashed in samples of 64 bytes every 4 KiB. Kernels and operators that
 * write to sealed tensors are also caught one by one (host_guard, launcher.c). */
enum { CONTENTS_WHOLE = 4 << 20, CONTENTS_STEP = 4096 + 64 };

/* Adds x to a hash. */
static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* --- exempt objects ----------------------------------------------------------------------------- */

/* Objects that our own library changes where no program can see it: caches of autotuners and
 * functools.cache, interned strings, modules and members of modules that are made at first use.
 * `counted` of an object holds these marks until the next census reaches it, together with the mark
 * of the last census. */
enum mark {
	COUNTED = 1,                /* the last census has an entry for it */
	EXEMPT = 2,        /* not examined */
	GROWS = 4,         /* may gain entries, but must keep those it has */
};

/* Sets a mark. */
static void add(enum mark m, struct obj *o)
{
	o->counted |= (int)m;
}

/* Modules of the prelude whose functions cache on purpose. */
static int is_ours(const struct module_obj *m)
{
	return m && m->trusted && (!strncmp(m->name->p, "triton", 6) || !strcmp(m->name->p, "functools"));
}

/* A cache is a dictionary or a cell; anything else is not exempt. */
static void add_val(struct val v)
{
	if (v.kind == V_DICT || v.kind == V_CELL)
		add(EXEMPT, v.u.o);
}

/* The variables that a function of ours closes over. */
static void exempt_function(const struct func_obj *f)
{
	for (size_t i = 0; i < f->n_cells; i++) {
		add_val(f->cells[i]);
		add_val(CELL_VALUE(f->cells[i]));
	}
}

/* The attributes of an instance of one of our classes, and the dictionaries among them. */
static void exempt_instance(const struct obj *o)
{
	if (!o->attrs)
		return;
	add(EXEMPT, &o->attrs->h);
	for (size_t i = 0; i < o->attrs->n; i++)
		if (o->attrs->e[i].key.kind != V_UNSET)
			add_val(o->attrs->e[i].val);
}

/* Marks what one object exempts. */
static void exempt_one(const struct obj *o)
{
	const struct class_obj *c = (const struct class_obj *)o;
	const struct module_obj *m = (const struct module_obj *)o;

	if (o->kind == V_FUNC && is_ours(((const struct func_obj *)o)->mod))
		exempt_function((const struct func_obj *)o);
	else if (o->kind == V_OBJECT && o->cls && is_ours(o->cls->mod))
		exempt_instance(o);
	else if (o->attrs && ((o->kind == V_MODULE && m->trusted) ||
			      (o->kind == V_CLASS && (c->native || (c->mod && c->mod->trusted)))))
		add(GROWS, &o->attrs->h);
}

/* Only objects from before the seal matter: younger ones have no entry. */
static void mark_exempt(struct host *h)
{
	add(EXEMPT, &h->heap.interned->h);
	add(EXEMPT, &h->modules->h);
	add(EXEMPT, &h->type.natives->h);
	for (const struct obj *o = h->heap.objects; o; o = o->next)
		if (!o->young)
			exempt_one(o);
}

/* --- hashes of objects ------------------------------------------------------------------------- */

/* Numbers count by value, text by content, all other values by identity. */
static uint64_t hash_val(uint64_t h, struct val v)
{
	h = mix(h, (uint64_t)v.kind << 32 | (unsigned)v.aux);
	if (v.kind == V_STR || v.kind == V_BYTES)
		return mix(h, v.u.s->hash);
	return mix(h, v.kind == V_UNSET || v.kind == V_NONE ? 0 : (uint64_t)v.u.i);
}

static uint64_t hash_vals(uint64_t h, const struct val *v, size_t n)
{
	h = mix(h, n);
	for (size_t i = 0; i < n; i++)
		h = hash_val(h, v[i]);
	return h;
}

/* The first `most` entries. */
static uint64_t hash_dict(uint64_t h, const struct dict_obj *d, size_t most)
{
	for (size_t i = 0; i < MIN(d->n, most); i++)
		if (d->e[i].key.kind != V_UNSET)
			h = hash_val(hash_val(h, d->e[i].key), d->e[i].val);
	return h;
}

/* The view, not the values: storage, dtype, offset, shape, strides, device, gradient. */
static uint64_t hash_tensor(uint64_t h, const struct tensor_obj *t)
{
	h = mix(mix(mix(h, (uintptr_t)t->t.st), (uint64_t)t->t.dt), (uint64_t)t->t.offset);
	h = mix(h, (uint64_t)t->device << 8 | t->is_param);
	for (int i = 0; i < t->t.ndim; i++)
		h = mix(mix(h, (uint64_t)t->t.shape[i]), (uint64_t)t->t.stride[i]);
	return hash_val(mix(h, t->t.st ? t->t.st->bytes : 0), t->grad);
}

/* The values of a storage, sampled if it is large. */
static uint64_t hash_contents(const struct storage *st)
{
	uint64_t h = 0;

	if (st->bytes <= CONTENTS_WHOLE)
		return hash_xxh64(st->data, st->bytes, 2);
	for (size_t at = 0; at + 64 <= st->bytes; at += CONTENTS_STEP)
		h = mix(h, hash_xxh64((const char *)st->data + at, 64, 2));
	return h;
}

/* An iterator that a program advances remembers its position. */
static uint64_t hash_iter(uint64_t h, const struct iter_obj *it)
{
	h = hash_val(hash_val(hash_val(h, it->src), it->a), it->b);
	return mix(mix(h, (uint64_t)it->i), (uint64_t)it->n);
}

/* Defaults and closed-over variables: both outlive the call. */
static uint64_t hash_function(uint64_t h, const struct func_obj *f)
{
	return hash_vals(hash_vals(hash_vals(h, f->defaults, f->n_defaults), f->kw_defaults, f->n_kw),
			 f->cells, f->n_cells);
}

/* The contents of one object, by kind. */
static uint64_t hash_object(const struct obj *o, size_t most)
{
	uint64_t h = mix((uint64_t)o->kind, (uintptr_t)o->cls);

	/* An empty attribute dictionary is created when code looks at it, so only one with entries counts. The
	 * dictionary of a class or module never changes its identity. */
	if (o->kind != V_CLASS && o->kind != V_MODULE)
		h = mix(h, o->attrs && o->attrs->live ? (uintptr_t)o->attrs : 0);
	switch (o->kind) {
	case V_LIST: case V_TUPLE: return hash_vals(h, ((const struct seq_obj *)o)->v, ((const struct seq_obj *)o)->n);
	case V_DICT: case V_SET: return hash_dict(h, (const struct dict_obj *)o, most);
	case V_ITER: return hash_iter(h, (const struct iter_obj *)o);
	case V_FUNC: return hash_function(h, (const struct func_obj *)o);
	case V_TENSOR: return hash_tensor(h, (const struct tensor_obj *)o);
	case V_METHOD: case V_PROPERTY: case V_STATICMETHOD: case V_CLASSMETHOD: case V_SUPER: case V_CELL: case V_VIEW:
		return hash_vals(h, &((const struct method_obj *)o)->self, 3);
	default: return h;
	}
}

/* The global settings of torch that a program can change. */
static uint64_t hash_settings(const struct host *h)
{
	return mix(mix(1, (uint64_t)h->torch.grad_enabled), (uint64_t)h->torch.default_dtype);
}

/* Immutable objects need no entry. */
static int is_watched(const struct obj *o)
{
	return !o->young && o->kind != V_STR && o->kind != V_BYTES && o->kind != V_BIG && !(o->counted & EXEMPT);
}

/* --- before and after -------------------------------------------------------------------------- */

void census_release(struct census *c)
{
	vec_free(c);
}

/* The number of entries of a dictionary that may grow; these must stay. */
static size_t entries_of(const struct obj *o)
{
	return o->kind == V_DICT && o->counted & GROWS ? ((const struct dict_obj *)o)->n : SIZE_MAX;
}

/* Marks are replaced as the walk passes, so that the next census starts clean. */
int census_take(struct census *c, struct host *h, struct err *e)
{
	int rc = 0;

	mark_exempt(h);
	c->n = 0;
	c->settings = hash_settings(h);
	for (struct obj *o = h->heap.objects; o; o = o->next) {
		const struct tensor_obj *t = (const struct tensor_obj *)o;
		size_t most = entries_of(o);

		o->counted = is_watched(o) ? COUNTED : 0;
		if (!o->counted || rc || (rc = vec_grow(c, 1)))
			continue;
		c->v[c->n].o = o;
		c->v[c->n].st = o->kind == V_TENSOR ? t->t.st : NULL;
		c->v[c->n].wants_grad = o->kind == V_TENSOR && t->requires_grad;
		c->v[c->n].hash = hash_object(o, most);
		c->v[c->n++].contents = o->kind == V_TENSOR && t->t.st ? hash_contents(t->t.st) : most;
	}
	return rc ? err_nomem(e) : 0;
}

/* Reports a change of an object. */
static int changed(struct host *h, const struct obj *o, const char *what, struct diag *d)
{
	diag_set(d, REASON_state_kept, 0, 0, "%s of a %s that outlives the call", what,
		 val_type_name(h, val_obj((struct obj *)o)));
	return 1;
}

/* Whether the program may write this tensor. Its values may differ then, and an in-place update may
 * set requires_grad; its shape and attributes must stay. */
static int may_write(const struct census_may *may, const struct tensor_obj *t)
{
	for (size_t i = 0; i < may->n; i++)
		if (may->v[i] == t->t.st)
			return 1;
	return 0;
}

/* Compares an object with its entry. Returns 0, or 1 and *d. */
static int compare_one(const struct census *c, size_t i, struct host *h, const struct census_may *may, struct diag *d)
{
	const struct obj *o = c->v[i].o;
	const struct tensor_obj *t = (const struct tensor_obj *)o;
	int tensor = o->kind == V_TENSOR;
	int free = tensor && may_write(may, t) && t->t.st == c->v[i].st;

	if (hash_object(o, tensor ? SIZE_MAX : c->v[i].contents) != c->v[i].hash ||
	    (tensor && !free && t->requires_grad != c->v[i].wants_grad))
		return changed(h, o, tensor ? "forward changes the form or a flag" : "forward changes the contents", d);
	if (tensor && !free && t->t.st && hash_contents(t->t.st) != c->v[i].contents)
		return changed(h, o, "forward changes the values", d);
	return 0;
}

/* Walks the objects in the order of the census. A missing object was freed, so the program dropped
 * it. */
int census_compare(const struct census *c, struct host *h, const struct census_may *may, struct diag *d)
{
	size_t at = 0;
	int rc = 0;

	for (const struct obj *o = h->heap.objects; o && !rc; o = o->next) {
		if (!o->counted)
			continue;
		/* Objects of the census are marked, and the list keeps their order. */
		if (at == c->n || c->v[at].o != o)
			break;
		rc = compare_one(c, at++, h, may, d);
	}
	if (!rc && at != c->n) {
		diag_set(d, REASON_state_kept, 0, 0, "forward drops an object that outlives the call");
		rc = 1;
	}
	if (!rc && hash_settings(h) != c->settings) {
		diag_set(d, REASON_state_kept, 0, 0, "forward leaves another grad mode or default dtype behind");
		rc = 1;
	}
	return rc;
}

/* torch's generator gets the seed; those of Python and NumPy count as never seeded. */
void host_reset_random(struct host *h, uint64_t seed)
{
	torch_seed(h, seed);
	h->torch.seeds.now = 0;
	h->torch.random = h->torch.numpy_random = (struct host_random){ .ready = 0 };
}
