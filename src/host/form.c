/* The structure of a returned value and its numbers, in one walk: see host_result. Example: (x,
 * {"a": 1}) has the structure "tuple(Tensor, dict{a: int})" and the numbers x at path "0" and 1 at
 * path "1.a". */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "host/host.h"
#include "interp/dict.h"
#include "interp/object.h"
#include "interp/scalar.h"
#include "interp/state.h"
#include "interp/val_text.h"

/* A structure below this depth is written as "...": a list may contain itself. */
enum { DEEPEST = 32 };

/* The walk: structure and path so far. */
struct former {
	struct host *h;
	host_tensor_fn *fn;
	void *ctx;
	struct buf *form, path;
	int depth;
};

static int form_val(struct former *f, struct val v);

/* Walks an element under its name. The name is on the path during the walk. */
static int form_at(struct former *f, struct str name, struct val v)
{
	size_t n = f->path.n;
	int rc;

	if (n)
		buf_addc(&f->path, '.');
	buf_addstr(&f->path, name);
	rc = form_val(f, v);
	f->path.n = n;
	if (f->path.p)
		f->path.p[n] = 0;
	return rc;
}

/* A Python number is a tensor without dimensions, in memory of the stack. NumPy's scalars are
 * named: they are not Python numbers. */
static int form_number(struct former *f, struct val v)
{
	struct storage cell = { .data = &v.u, .bytes = sizeof v.u, .refs = 1 };
	struct tensor_obj t = { .t = { .st = &cell, .dt = v.kind == V_FLOAT ? DT_F64 : DT_I64 }, .device = HOST_CPU };
	if (scalar_is(v))
		buf_adds(f->form, v.aux == SCALAR_WIDE ? "numpy's " : "numpy's narrow ");
	buf_adds(f->form, v.kind == V_FLOAT ? "float" : v.kind == V_BOOL ? "bool" : "int");
	return f->fn(f->ctx, buf_str(&f->path), &t);
}

/* A Parameter or a tensor on another device is another structure. */
static int form_tensor(struct former *f, struct tensor_obj *t)
{
	buf_adds(f->form, t->is_param ? "Parameter, a " : "");
	buf_adds(f->form, t->device == HOST_CUDA ? "Tensor"
		 : t->device == HOST_CPU ? "Tensor on the CPU" : "Tensor without a device");
	return f->fn(f->ctx, buf_str(&f->path), t);
}

/* Named tuples of torch's own functions count as plain tuples. */
static const char *tuple_name(const struct obj *o)
{
	return !o->cls || o->cls->native ? "tuple" : o->cls->name->p;
}

/* Elements of a list or tuple under their indices. */
static int form_seq(struct former *f, struct val v)
{
	char t[32];
	int rc = 0;
	buf_addf(f->form, "%s(", v.kind == V_LIST ? "list" : tuple_name(v.u.o));
	for (size_t i = 0; i < v.u.seq->n && !rc; i++) {
		snprintf(t, sizeof t, "%zu", i);
		buf_adds(f->form, i ? ", " : "");
		rc = form_at(f, str_of(t), v.u.seq->v[i]);
	}
	buf_addc(f->form, ')');
	return rc;
}

/* Entries are sorted by the text of their key: dictionaries are equal in any order. */
struct keyed { char key[64]; struct val v; };

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

/* Entries of a dictionary, or attributes of an object. */
static int form_dict(struct former *f, const char *name, struct dict_obj *d)
{
	struct keyed *k = mem_array(d->live + 1, sizeof *k);
	struct dict_entry *e;
	size_t n = 0;
	int rc = k ? 0 : -1;
	for (size_t at = 0; !rc && n < d->live && (e = dict_next(d, &at)); n++) {
		if (e->key.kind == V_STR)
			snprintf(k[n].key, sizeof k[n].key, "%.*s", STR_ARG(val_text(e->key)));
		else
			snprintf(k[n].key, sizeof k[n].key, "%s %lld", val_type_name(f->h, e->key),
				 e->key.kind == V_INT ? (long long)e->key.u.i : 0);
		k[n].v = e->val;
	}
	if (!rc)
		qsort(k, n, sizeof *k, by_key);
	buf_addf(f->form, "%s{", name);
	for (size_t i = 0; i < n && !rc; i++) {
		buf_addf(f->form, "%s%s: ", i ? ", " : "", k[i].key);
		rc = form_at(f, str_of(k[i].key), k[i].v);
	}
	buf_addc(f->form, '}');
	mem_free(k);
	return rc;
}

/* Values that are no numbers are equal if their repr is. */
static int form_text(struct former *f, struct val v)
{
	buf_addf(f->form, "%s ", val_type_name(f->h, v));
	return val_repr(f->h, v, f->form);
}

/* One value, by kind. */
static int form_inner(struct former *f, struct val v)
{
	switch (v.kind) {
	case V_TENSOR: return form_tensor(f, v.u.t);
	case V_BOOL: case V_INT: case V_FLOAT: return form_number(f, v);
	case V_TUPLE: case V_LIST: return form_seq(f, v);
	case V_DICT: return form_dict(f, "dict", v.u.d);
	case V_BIG: case V_STR: case V_BYTES: case V_DTYPE: case V_DEVICE: return form_text(f, v);
	case V_OBJECT:
		if (v.u.o->attrs)
			return form_dict(f, val_type_name(f->h, v), v.u.o->attrs);
		break;
	default: break;
	}
	buf_adds(f->form, val_type_name(f->h, v));
	return 0;
}

/* One value within the depth limit. */
static int form_val(struct former *f, struct val v)
{
	int rc;

	if (f->depth == DEEPEST) {
		buf_adds(f->form, "...");
		return 0;
	}
	f->depth++;
	rc = form_inner(f, v);
	f->depth--;
	return rc;
}

/* The caller releases *form. */
int host_result(struct host *h, struct val v, struct buf *form, host_tensor_fn *fn, void *ctx)
{
	struct former f = { .h = h, .fn = fn, .ctx = ctx, .form = form };
	int rc = form_val(&f, v);
	buf_release(&f.path);
	return rc;
}
