/* copy.deepcopy: shared objects stay shared in the copy, and so do tensors that share a
 * storage. Functions, classes and modules are not copied, as in Python. */
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/ptrmap.h"

struct copier {
	struct host *h;
	struct ptr_map objects;        /* struct obj -> its copy */
	struct ptr_map storages;       /* struct storage -> the copy of it */
};

static int copy_val(struct copier *c, struct val v, struct val *out);

/* The copy of a storage, made once per deep copy. Hollow storages stay hollow; the map of
 * unwritten bytes is copied too. */
static int copy_storage(struct copier *c, const struct tensor *t, struct storage **out)
{
	struct storage *old = ptr_map_get(&c->storages, t->st);
	struct tensor flat;
	struct err e = ERR_INIT;
	int64_t bytes = (int64_t)t->st->bytes;
	struct val held;

	if (old) {
		*out = old;
		return 0;
	}
	if (host_room(c->h, bytes))
		return -1;
	if (t->st->hollow ? tensor_new_hollow(&flat, DT_U8, 1, &bytes, &(int64_t){ 1 }, &e) :
	    tensor_new(&flat, DT_U8, 1, &bytes, &e))
		return host_raise_err(c->h, &e);
	if (!t->st->hollow)
		memcpy(flat.st->data, t->st->data, t->st->bytes);
	*out = flat.st;
	if (ptr_map_put(&c->storages, t->st, flat.st))
		return host_fatal(c->h, REASON_out_of_memory, "the machine is out of memory");
	if (t->st->undef) {
		if (storage_track_undef(flat.st, &e))
			return host_raise_err(c->h, &e);
		memcpy(flat.st->undef, t->st->undef, t->st->bytes);
	}
	return val_tensor(c->h, &flat, HOST_CPU, &held);       /* held as a temporary while copying */
}

/* A view of the copied storage with the same shape, strides and flags. */
static int copy_tensor(struct copier *c, struct val v, struct val *out)
{
	struct tensor t = v.u.t->t;
	if (copy_storage(c, &v.u.t->t, &t.st))
		return -1;
	tensor_retain(&t);
	if (val_tensor(c->h, &t, v.u.t->device, out))
		return -1;
	out->u.t->requires_grad = v.u.t->requires_grad;
	out->u.t->leaf = v.u.t->leaf;
	out->u.t->is_param = v.u.t->is_param;
	out->u.t->made_empty = v.u.t->made_empty;
	out->u.t->computed = v.u.t->computed;
	out->u.o->cls = v.u.o->cls;
	return 0;
}

/* Copies the members of a list or tuple. */
static int copy_items(struct copier *c, const struct seq_obj *s, struct val into)
{
	for (size_t i = 0; i < s->n; i++) {
		struct val item;
		if (copy_val(c, s->v[i], &item) || list_append(c->h, into, item))
			return -1;
	}
	return 0;
}

/* Copies the entries of a dictionary, set or namespace. Hashing a key may run code. */
static int copy_entries(struct copier *c, struct dict_obj *d, struct val into)
{
	for (size_t i = 0; i < d->n; i++) {
		struct dict_entry e = d->e[i];
		struct val k, x;
		if (e.key.kind == V_UNSET)
			continue;
		host_hold(c->h, e.val);
		if (copy_val(c, e.key, &k) || copy_val(c, e.val, &x) || dict_set(c->h, into, k, x))
			return -1;
	}
	return 0;
}

/* An empty object of the same kind, registered before its contents are copied: cycles end
 * there. */
static int copy_shell(struct copier *c, struct val v, struct val *out)
{
	struct host *h = c->h;
	int rc;
	switch (v.kind) {
	case V_LIST: rc = val_list(h, NULL, 0, out); break;
	case V_TUPLE: rc = val_tuple(h, NULL, 0, out); break;
	case V_DICT: rc = val_dict(h, out); break;
	case V_SET: rc = val_set(h, out); break;
	case V_METHOD: rc = val_pair(h, V_METHOD, v.u.m->self, v.u.m->fn, out); break;
	default: {
		struct obj *o = host_obj(h, V_OBJECT, sizeof *o, v.u.o->cls);
		rc = o ? 0 : -1;
		if (o)
			*out = val_obj(o);
	}
	}
	if (rc)
		return -1;
	out->u.o->cls = v.u.o->cls;
	if (ptr_map_put(&c->objects, v.u.o, out->u.o))
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	return 0;
}

/* Fills the shell: items, entries, the receiver of a bound method, attributes. */
static int copy_contents(struct copier *c, struct val v, struct val to)
{
	struct val bound;
	struct dict_obj *d;

	if (v.kind == V_LIST || v.kind == V_TUPLE) {
		if (copy_items(c, v.u.seq, to))
			return -1;
	} else if (v.kind == V_DICT || v.kind == V_SET) {
		if (copy_entries(c, v.u.d, to))
			return -1;
	} else if (v.kind == V_METHOD) {         /* bound to the copied receiver */
		if (copy_val(c, v.u.m->self, &bound))
			return -1;
		val_assign(c->h, &to.u.m->self, bound);
	}
	if (!v.u.o->attrs)
		return 0;
	d = dict_obj_new(c->h, V_DICT);
	if (!d)
		return -1;
	val_keep(val_obj(&d->h));
	to.u.o->attrs = d;
	return copy_entries(c, v.u.o->attrs, val_obj(&d->h));
}

/* Copies one value. Immutable values are shared. Each object costs a step of fuel. */
static int copy_val(struct copier *c, struct val v, struct val *out)
{
	int rc;
	struct obj *done;

	/* Hashing keys may run code that drops the original. Holding it keeps its address
	 * unique. */
	*out = host_hold(c->h, v);
	if (!V_IS_HEAP(v))
		return 0;
	done = ptr_map_get(&c->objects, v.u.o);
	if (done) {
		*out = val_obj(done);
		return 0;
	}
	if (host_step(c->h))
		return -1;
	if (v.kind == V_TENSOR) {
		if (copy_tensor(c, v, out))
			return -1;
		return ptr_map_put(&c->objects, v.u.o, out->u.o) ?
			host_fatal(c->h, REASON_out_of_memory, "the machine is out of memory") : 0;
	}
	if (v.kind != V_LIST && v.kind != V_TUPLE && v.kind != V_DICT && v.kind != V_SET &&
	    v.kind != V_OBJECT && v.kind != V_METHOD)
		return 0;
	if (host_enter(c->h))
		return -1;
	rc = copy_shell(c, v, out) || copy_contents(c, v, *out) ? -1 : 0;
	host_leave(c->h);
	return rc;
}

/* The maps live for one copy only. */
int copy_deep(struct host *h, struct val v, struct val *out)
{
	struct copier c = { .h = h };
	int rc = copy_val(&c, v, out);
	ptr_map_release(&c.objects);
	ptr_map_release(&c.storages);
	return rc;
}

static int b_deepcopy(struct bind *b)
{
	return copy_deep(b->h, b->a[0], &b->out);
}

const struct bind_row copy_rows[] = {
	{ "copy.deepcopy", "x, memo=None", b_deepcopy, 0 },
	{ NULL, NULL, NULL, 0 }
};
