/* Values as bytes, for a host in another process: host_pack writes what host_import can copy,
 * host_unpack rebuilds it. Tensors that share memory share it again. Does not own the channel: the
 * runner link does. */
#include "base/bytes.h"
#include "host/entry.h"
#include "interp/attr.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/ptrmap.h"
#include "interp/state.h"

/* --- writing --------------------------------------------------------------------------------- */

/* The state of writing. */
struct packer {
	struct buf *out;
	struct ptr_map storages;       /* struct storage -> its number, from 1 */
	int foreign;                   /* the value holds an object that belongs to its host */
	int nomem;
};

static void pack_val(struct packer *k, struct val v, int depth);

/* Writes the number of a storage that was written before, or 0 and its bytes. */
static void pack_storage(struct packer *k, const struct storage *st)
{
	uintptr_t id = (uintptr_t)ptr_map_get(&k->storages, st);

	bytes_put_int(k->out, (int64_t)id);
	if (id)
		return;
	bytes_put_str(k->out, (struct str){ .p = st->data, .n = st->bytes });
	if (ptr_map_put(&k->storages, st, (void *)(uintptr_t)(k->storages.n + 1)))
		k->nomem = 1;
}

/* The view and its flags, then the storage. */
static void pack_tensor(struct packer *k, const struct tensor_obj *t)
{
	struct tensor view = t->t;
	unsigned char flags[] = { (unsigned char)t->device, t->requires_grad, t->is_param };

	view.st = NULL;
	bytes_put(k->out, view);
	bytes_put(k->out, flags);
	pack_storage(k, t->t.st);
}

/* Deleted entries are left out. */
static void pack_dict(struct packer *k, const struct dict_obj *d, int depth)
{
	bytes_put_int(k->out, (int64_t)d->live);
	for (size_t i = 0; i < d->n; i++) {
		if (d->e[i].key.kind == V_UNSET)
			continue;
		pack_val(k, d->e[i].key, depth);
		pack_val(k, d->e[i].val, depth);
	}
}

static void pack_seq(struct packer *k, const struct seq_obj *s, int depth)
{
	bytes_put_int(k->out, (int64_t)s->n);
	for (size_t i = 0; i < s->n; i++)
		pack_val(k, s->v[i], depth);
}

/* The kind, then the contents. An object of the program's own classes, or with attributes, cannot
 * leave. */
static void pack_val(struct packer *k, struct val v, int depth)
{
	bytes_put_int(k->out, v.kind);
	if (!V_IS_HEAP(v)) {
		bytes_put(k->out, v);
		return;
	}
	/* A value nested this deep may contain itself. */
	if (depth > 32 || !v.u.o->cls || !v.u.o->cls->native || v.u.o->attrs) {
		k->foreign = 1;
		return;
	}
	switch (v.kind) {
	case V_STR: bytes_put_str(k->out, val_text(v)); break;
	case V_TENSOR: pack_tensor(k, v.u.t); break;
	case V_TUPLE: bytes_put_str(k->out, str_of(v.u.o->cls->native)); /* fallthrough */
	case V_LIST: pack_seq(k, v.u.seq, depth + 1); break;
	case V_DICT: pack_dict(k, v.u.d, depth + 1); break;
	default: k->foreign = 1;
	}
}

/* The walk continues after a foreign object, but the bytes are then not usable. */
int host_pack(struct val v, struct buf *out, struct err *e)
{
	struct packer k = { .out = out };

	pack_val(&k, v, 0);
	ptr_map_release(&k.storages);
	if (k.nomem || buf_check(out, e))
		return err_nomem(e);
	return k.foreign;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The state of reading. */
struct unpacker {
	struct host *h;
	struct bytes in;
	struct { struct storage **v; size_t n, cap; } storages;
};

static int unpack_val(struct unpacker *u, struct val *out, int depth);

/* The bytes are not what host_pack writes. */
static int nonsense(struct unpacker *u)
{
	return host_fatal(u->h, REASON_internal, "packed values cannot be unpacked");
}

/* Charges the memory to the host before it allocates. */
static int unpack_storage(struct unpacker *u, struct storage **out)
{
	struct err e = ERR_INIT;
	struct tensor flat;
	struct val held;
	struct str bytes;
	int64_t id, n;
	if (bytes_get_int(&u->in, &id) || id < 0 || (size_t)id > u->storages.n)
		return nonsense(u);
	if (id) {
		*out = u->storages.v[id - 1];
		return 0;
	}
	if (bytes_get_str(&u->in, &bytes))
		return nonsense(u);
	n = (int64_t)bytes.n;
	if (host_room(u->h, n))
		return -1;
	if (tensor_new(&flat, DT_U8, 1, &n, &e))
		return host_raise_err(u->h, &e);
	memcpy(flat.st->data, bytes.p, bytes.n);
	*out = flat.st;
	if (val_tensor(u->h, &flat, HOST_CPU, &held))          /* a temporary keeps it alive until host_end */
		return -1;
	return vec_push(&u->storages, *out) ?
		host_fatal(u->h, REASON_out_of_memory, "the machine is out of memory") : 0;
}

/* A Parameter gets its class back. */
static int unpack_tensor(struct unpacker *u, struct val *out)
{
	struct tensor t;
	unsigned char flags[3];
	if (bytes_get(&u->in, &t) || bytes_get(&u->in, &flags))
		return nonsense(u);
	if (unpack_storage(u, &t.st))
		return -1;
	tensor_retain(&t);
	if (val_tensor(u->h, &t, (enum host_device)flags[0], out))
		return -1;
	out->u.t->requires_grad = flags[1];
	out->u.t->is_param = flags[2];
	if (flags[2])
		out->u.o->cls = u->h->type.param_class;
	return 0;
}

/* The elements of a list or tuple, or the keys and values of a dictionary. */
static int unpack_items(struct unpacker *u, struct val into, int depth)
{
	int64_t n;
	if (bytes_get_int(&u->in, &n))
		return nonsense(u);
	for (int64_t i = 0; i < n; i++) {
		struct val k, x;
		if (unpack_val(u, &k, depth))
			return -1;
		if (into.kind != V_DICT ? list_append(u->h, into, k) : unpack_val(u, &x, depth) ||
		    dict_set(u->h, into, k, x))
			return -1;
	}
	return 0;
}

/* A named tuple of torch gets its class back by name. */
static int unpack_tuple(struct unpacker *u, struct val *out, int depth)
{
	struct str native;
	struct str_obj *name;

	if (bytes_get_str(&u->in, &native))
		return nonsense(u);
	if (val_tuple(u->h, NULL, 0, out) || unpack_items(u, *out, depth))
		return -1;
	name = host_intern(u->h, native);
	out->u.o->cls = name ? host_native_class(u->h, name->p) : NULL;
	return out->u.o->cls ? 0 : -1;
}

/* Counts a step for each value, so that a huge value costs fuel. */
static int unpack_val(struct unpacker *u, struct val *out, int depth)
{
	int64_t kind;
	struct str text;
	if (host_step(u->h))
		return -1;
	if (depth > 32 || bytes_get_int(&u->in, &kind) || kind < 0 || kind >= V_KINDS)
		return nonsense(u);
	if (kind < V_BIG)
		return bytes_get(&u->in, out) ? nonsense(u) : 0;
	switch (kind) {
	case V_STR: return bytes_get_str(&u->in, &text) ? nonsense(u) : val_str(u->h, text, out);
	case V_TENSOR: return unpack_tensor(u, out);
	case V_TUPLE: return unpack_tuple(u, out, depth + 1);
	case V_LIST: return val_list(u->h, NULL, 0, out) || unpack_items(u, *out, depth + 1) ? -1 : 0;
	case V_DICT: return val_dict(u->h, out) || unpack_items(u, *out, depth + 1) ? -1 : 0;
	default: return nonsense(u);
	}
}

/* Temporaries hold the new objects until host_end keeps the result. */
int host_unpack(struct host *h, struct str packed, struct val *out, struct err *e)
{
	struct host_entry en;
	struct unpacker u = { .h = h, .in = bytes_of(packed) };
	int rc;

	host_begin(h, &en);
	rc = unpack_val(&u, out, 0);
	vec_free(&u.storages);
	return host_end(h, &en, rc, out, e);
}
