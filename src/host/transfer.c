/* Values copied within a host, and from one host into another. Does not own the copy within a host:
 * src/interp does. */
#include "host/entry.h"
#include "interp/attr.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/ptrmap.h"
#include "interp/state.h"

int host_copy(struct host *h, struct val v, struct val *out, struct err *e)
{
	struct host_entry en;
	host_begin(h, &en);
	return host_end(h, &en, copy_deep(h, v, out), out, e);
}

/* --- from another host ---------------------------------------------------------------------- */

/* One copy from another host. */
struct importer {
	struct host *h;
	struct ptr_map storages;       /* struct storage there -> its copy here */
	int foreign;                   /* the value holds an object that belongs to its host */
};

static int import_val(struct importer *m, struct val v, struct val *out, int depth);

/* Copies a storage once, converted to `dt`. A tensor held by a temporary keeps it alive until
 * host_end. */
static int import_storage(struct importer *m, const struct tensor *t, enum dtype dt, struct storage **out)
{
	struct err e = ERR_INIT;
	struct tensor all = { .st = t->st, .dt = t->dt, .ndim = 1, .stride = { 1 } }, flat;
	struct val held;
	*out = ptr_map_get(&m->storages, t->st);
	if (*out)
		return 0;
	all.shape[0] = (int64_t)t->st->bytes / dtype_size(t->dt);
	if (host_room(m->h, all.shape[0] * dtype_size(dt)))
		return -1;
	if (tensor_to(&flat, &all, dt, &e))
		return host_raise_err(m->h, &e);
	*out = flat.st;
	if (val_tensor(m->h, &flat, HOST_CPU, &held))
		return -1;
	return ptr_map_put(&m->storages, t->st, *out) ?
		host_fatal(m->h, REASON_out_of_memory, "the machine is out of memory") : 0;
}

/* The same view of the copied storage. Strides count elements, so a wider dtype keeps them. */
static int import_tensor(struct importer *m, const struct tensor_obj *from, struct val *out)
{
	struct tensor t = from->t;
	t.dt = host_dtype(m->h, t.dt);
	if (import_storage(m, &from->t, t.dt, &t.st))
		return -1;
	tensor_retain(&t);
	if (val_tensor(m->h, &t, from->device, out))
		return -1;
	out->u.t->requires_grad = from->requires_grad;
	out->u.t->leaf = from->leaf;
	out->u.t->is_param = from->is_param;
	if (from->is_param)
		out->u.o->cls = m->h->type.param_class;
	return 0;
}

static int import_items(struct importer *m, const struct seq_obj *s, struct val into, int depth)
{
	for (size_t i = 0; i < s->n; i++) {
		struct val item;
		if (import_val(m, s->v[i], &item, depth) || list_append(m->h, into, item))
			return -1;
	}
	return 0;
}

/* Deleted entries are left out. */
static int import_entries(struct importer *m, const struct dict_obj *d, struct val into, int depth)
{
	for (size_t i = 0; i < d->n; i++) {
		struct val k, x;
		if (d->e[i].key.kind == V_UNSET)
			continue;
		if (import_val(m, d->e[i].key, &k, depth) || import_val(m, d->e[i].val, &x, depth) ||
		    dict_set(m->h, into, k, x))
			return -1;
	}
	return 0;
}

/* Whether the object is of a built-in class itself, without attributes of its own. */
static int is_plain(struct val v)
{
	return v.u.o->cls && v.u.o->cls->native && !v.u.o->attrs;
}

/* One value, by kind. Numbers and other values without heap memory are copied directly. */
static int import_val(struct importer *m, struct val v, struct val *out, int depth)
{
	struct host *h = m->h;
	*out = v;
	if (!V_IS_HEAP(v))
		return 0;
	if (host_step(h))
		return -1;
	m->foreign = depth > 32 || !is_plain(v);
	if (m->foreign)
		return -1;
	switch (v.kind) {
	case V_STR: return val_str(h, val_text(v), out);
	case V_TENSOR: return import_tensor(m, v.u.t, out);
	case V_LIST: return val_list(h, NULL, 0, out) || import_items(m, v.u.seq, *out, depth + 1) ? -1 : 0;
	case V_TUPLE:
		if (val_tuple(h, NULL, 0, out) || import_items(m, v.u.seq, *out, depth + 1))
			return -1;
		out->u.o->cls = host_native_class(h, v.u.o->cls->native);
		return out->u.o->cls ? 0 : -1;
	case V_DICT: return val_dict(h, out) || import_entries(m, v.u.d, *out, depth + 1) ? -1 : 0;
	default: m->foreign = 1; return -1;
	}
}

/* A foreign object is no failure of the program: the temporaries are dropped and nothing is
 * reported. */
int host_import(struct host *h, struct val v, struct val *out, struct err *e)
{
	struct host_entry en;
	struct importer m = { .h = h };
	int rc;

	host_begin(h, &en);
	rc = import_val(&m, v, out, 0);
	ptr_map_release(&m.storages);
	if (m.foreign) {
		temps_drain(h, en.mark);
		return 1;
	}
	return host_end(h, &en, rc, out, e);
}
