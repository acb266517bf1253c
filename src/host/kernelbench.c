/* Tasks in KernelBench's form: Model, get_init_inputs, get_inputs, and the tensors in their
 * results. */
#include <stdio.h>

#include "host/entry.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/iter.h"
#include "interp/ptrmap.h"
#include "interp/state.h"
#include "num/random.h"
#include "torch/torch.h"

/* Calls a global by name. Raises Python's NameError if the global does not exist. */
static int call_global(struct host *h, struct val ns, const char *name, const struct val *args, size_t n,
		       struct val *out)
{
	struct val fn;
	struct call_args a = { .a = args, .n = n };
	if (!host_get(h, ns, name, &fn))
		return host_raise(h, EXC_NameError, "name '%s' is not defined", name);
	return host_callv(h, fn, &a, out);
}

/* torch.manual_seed(seed), as a program would call it. */
static int seed_now(struct host *h, uint64_t seed)
{
	struct val fn, r;
	int found = builtin_lookup(h, STR("torch.manual_seed"), &fn);
	if (found <= 0)
		return found < 0 ? -1 : host_fatal(h, REASON_unsupported, "torch.manual_seed");
	return host_call1(h, fn, val_int((int64_t)seed), &r);
}

/* Modules are not searched below this depth. */
enum { MODULES_DEEPEST = 64 };

/* The dictionary _modules, _parameters or _buffers of a module; NULL: it is none. */
static struct dict_obj *member(struct host *h, struct val m, enum name_id name)
{
	struct val *v = m.kind == V_OBJECT && m.u.o->attrs ? attrs_get(m.u.o->attrs, h->nm[name]) : NULL;
	return v && v->kind == V_DICT ? v->u.d : NULL;
}

/* PyTorch walks a model for .cuda() and ends in a RecursionError if a module contains itself. Each
 * module is visited once. */
static int check_nest(struct host *h, struct val m, struct ptr_map *done, int depth)
{
	struct dict_obj *d = member(h, m, NM__modules);
	int rc = 0;
	if (depth > MODULES_DEEPEST)
		return host_fatal(h, REASON_unsupported,
				  "modules are nested more than %d deep, or contain themselves", MODULES_DEEPEST);
	for (size_t i = 0; d && i < d->n && !rc; i++)
		if (d->e[i].val.kind == V_OBJECT && !ptr_map_get(done, d->e[i].val.u.o))
			rc = check_nest(h, d->e[i].val, done, depth + 1);
	if (!rc && ptr_map_put(done, m.u.o, m.u.o))
		rc = host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	return rc;
}

/* The seed is set twice, because get_init_inputs may draw: weights must not depend on it. */
static int build(struct host *h, struct val ns, struct val cls_ns, const char *cls, uint64_t seed, struct val *model)
{
	struct val init, list, r, names[64], vals[64];
	struct call_args args = { .n = 0 };
	struct ptr_map done;
	int rc;

	if (seed_now(h, seed) || call_global(h, ns, "get_init_inputs", NULL, 0, &init))
		return -1;
	if (host_get(h, cls_ns, cls, &r) == 0)
		return host_raise(h, EXC_NameError, "name '%s' is not defined", cls);
	if (host_to_list(h, init, &list))
		return -1;
	args.a = list.u.seq->v;
	args.n = list.u.seq->n;
	/* KernelBook's form: get_init_inputs returns [[args], {kwargs}]. At most 64 keywords. */
	if (args.n == 2 && args.a[0].kind == V_LIST && args.a[1].kind == V_DICT &&
	    args.a[1].u.d->live <= COUNT_OF(names)) {
		struct dict_obj *d = args.a[1].u.d;
		struct dict_entry *en;
		for (size_t at = 0; (en = dict_next(d, &at)); args.n_kw++) {
			if (en->key.kind != V_STR)
				return host_raise(h, EXC_TypeError, "keywords must be strings");
			names[args.n_kw] = en->key;
			vals[args.n_kw] = en->val;
		}
		args.kw_names = names;
		args.kw_vals = vals;
		args.n = args.a[0].u.seq->n;
		args.a = args.a[0].u.seq->v;
	}
	if (seed_now(h, seed))
		return -1;
	done = (struct ptr_map){ .n = 0 };
	rc = host_callv(h, r, &args, model);
	if (!rc && model->kind == V_OBJECT && !h->o.may_misuse)
		rc = check_nest(h, *model, &done, 0);
	ptr_map_release(&done);
	return rc;
}

int host_build(struct host *h, struct val ns, struct val cls_ns, const char *cls, uint64_t seed,
	       struct val *model, struct err *e)
{
	struct host_entry en;
	host_begin(h, &en);
	return host_end(h, &en, h->fail.fatal ? -1 : build(h, ns, cls_ns, cls, seed, model), model, e);
}

/* `ends` is a setting of the generator for the duration of the call. */
static int make_inputs(struct host *h, struct val ns, uint64_t seed, int ends, struct val *inputs)
{
	struct val v;
	int rc;
	if (seed_now(h, seed))
		return -1;
	torch_rng(h)->ends = ends;
	rc = call_global(h, ns, "get_inputs", NULL, 0, &v);
	torch_rng(h)->ends = 0;
	return rc ? -1 : host_to_list(h, v, inputs);
}

int host_inputs(struct host *h, struct val ns, uint64_t seed, int ends, struct val *inputs, struct err *e)
{
	struct host_entry en;
	host_begin(h, &en);
	return host_end(h, &en, h->fail.fatal ? -1 : make_inputs(h, ns, seed, ends, inputs), inputs, e);
}

int host_forward(struct host *h, struct val model, struct val inputs, struct val *out, struct err *e)
{
	struct host_entry en;
	struct call_args a = { .a = inputs.u.seq->v, .n = inputs.u.seq->n };
	host_begin(h, &en);
	return host_end(h, &en, h->fail.fatal ? -1 : host_callv(h, model, &a, out), out, e);
}

/* model.eval(). */
int host_eval_mode(struct host *h, struct val model, struct err *e)
{
	struct host_entry en;
	struct val r;
	struct str_obj *name = host_intern(h, STR("eval"));
	host_begin(h, &en);
	return host_end(h, &en, name ? host_call_method(h, model, name, NULL, 0, &r) : -1, NULL, e);
}

/* --- tensors in values -------------------------------------------------------------------------------- */

/* A walk over the tensors of a value. */
struct walker { struct host *h; host_tensor_fn *fn; void *ctx; struct buf path; int depth; };

static int walk(struct walker *w, struct val v);

/* Walks an element under its name. The name is on the path during the walk. */
static int walk_at(struct walker *w, const char *sep, struct str name, struct val v)
{
	size_t n = w->path.n;
	int rc;

	if (n)
		buf_adds(&w->path, sep);
	buf_addstr(&w->path, name);
	rc = walk(w, v);
	w->path.n = n;
	if (w->path.p)
		w->path.p[n] = 0;
	return rc;
}

/* Tuples, lists and dictionaries are entered; other objects are not. */
static int walk(struct walker *w, struct val v)
{
	char t[32];
	int rc;

	if (v.kind == V_TENSOR)
		return w->fn(w->ctx, buf_str(&w->path), v.u.t);
	if (w->depth > 64)
		return 0;
	rc = 0;
	w->depth++;
	for (size_t i = 0; (v.kind == V_TUPLE || v.kind == V_LIST) && i < v.u.seq->n && !rc; i++) {
		snprintf(t, sizeof t, "%zu", i);
		rc = walk_at(w, ".", str_of(t), v.u.seq->v[i]);
	}
	for (size_t i = 0; v.kind == V_DICT && i < v.u.d->n && !rc; i++) {
		const struct dict_entry *e = &v.u.d->e[i];
		snprintf(t, sizeof t, "%lld", e->key.kind == V_INT ? (long long)e->key.u.i : 0);
		if (e->key.kind == V_STR || e->key.kind == V_INT)
			rc = walk_at(w, ".", e->key.kind == V_STR ? val_text(e->key) : str_of(t), e->val);
	}
	w->depth--;
	return rc;
}

int host_tensors(struct host *h, struct val v, host_tensor_fn *fn, void *ctx)
{
	struct walker w = { .h = h, .fn = fn, .ctx = ctx };
	int rc = walk(&w, v);
	buf_release(&w.path);
	return rc;
}

/* A module's own tensors, then those of its children, in the order of state_dict. Buffers that are
 * not persistent are included: they are state, too. */
static int walk_state(struct walker *w, struct val m)
{
	static const enum name_id own[] = { NM__parameters, NM__buffers };
	int rc = 0;
	struct dict_obj *d;

	if (w->depth > MODULES_DEEPEST)
		return 0;
	w->depth++;
	for (size_t k = 0; k < COUNT_OF(own); k++) {
		d = member(w->h, m, own[k]);
		for (size_t i = 0; d && i < d->n && !rc; i++)
			if (d->e[i].val.kind == V_TENSOR)
				rc = walk_at(w, ".", val_text(d->e[i].key), d->e[i].val);
	}
	d = member(w->h, m, NM__modules);
	for (size_t i = 0; d && i < d->n && !rc; i++) {
		size_t n;

		if (d->e[i].val.kind != V_OBJECT)
			continue;
		n = w->path.n;
		if (n)
			buf_addc(&w->path, '.');
		buf_addstr(&w->path, val_text(d->e[i].key));
		rc = walk_state(w, d->e[i].val);
		w->path.n = n;
		if (w->path.p)
			w->path.p[n] = 0;
	}
	w->depth--;
	return rc;
}

int host_state(struct host *h, struct val model, host_tensor_fn *fn, void *ctx)
{
	struct walker w = { .h = h, .fn = fn, .ctx = ctx };
	int rc = walk_state(&w, model);
	buf_release(&w.path);
	return rc;
}

/* --- device and dtype in place ---------------------------------------------------------------------------- */

/* The arguments of set_device and set_dtype. */
struct change { struct host *h; enum host_device dev; enum dtype dt; struct err *e; };

/* The device is only a label here: memory stays where it is. */
static int set_device(void *ctx, struct str name, struct tensor_obj *t)
{
	struct change *c = ctx;
	(void)name;
	t->device = c->dev;
	return 0;
}

/* Replaces the storage of a float tensor and keeps the count of tensor bytes right. */
static int set_dtype(void *ctx, struct str name, struct tensor_obj *t)
{
	struct change *c = ctx;
	struct tensor to;
	(void)name;
	if (!dtype_is_float(t->t.dt) || t->t.dt == host_dtype(c->h, c->dt))
		return 0;
	if (tensor_to(&to, &t->t, host_dtype(c->h, c->dt), c->e))
		return -1;
	/* The old storage is freed only if no view shares it. */
	if (t->t.st->refs == 1)
		c->h->lim.tensor_bytes -= MIN(t->t.st->bytes, c->h->lim.tensor_bytes);
	tensor_release(&t->t);
	t->t = to;
	c->h->lim.tensor_bytes += to.st->bytes;
	return 0;
}

/* The state of a module, or the tensors in a nest of values. */
static int each_tensor(struct host *h, struct val v, host_tensor_fn *fn, void *ctx)
{
	return v.kind == V_OBJECT ? host_state(h, v, fn, ctx) : host_tensors(h, v, fn, ctx);
}

/* In place: a model's state, or the tensors of a nest. */
int host_to_device(struct host *h, struct val v, enum host_device dev, struct err *e)
{
	struct change c = { .h = h, .dev = dev, .e = e };
	return each_tensor(h, v, set_device, &c);
}

/* Integers keep their type. */
int host_to_dtype(struct host *h, struct val v, enum dtype dt, struct err *e)
{
	struct change c = { .h = h, .dt = dt, .e = e };
	return each_tensor(h, v, set_dtype, &c);
}
