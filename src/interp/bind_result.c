/* Results of bound functions: the only way from a struct tensor to a Python value. Owns the
 * modes that change results: oracle mode (every float in fp64) and noisy mode (results moved by
 * one unit in the last place). Every function here takes over the references of the tensors it
 * is given, on failure too. */
#include "base/rng.h"
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/jitter.h"
#include "interp/object.h"
#include "interp/state.h"

/* Operators that torch computes in one step and a kernel in several, with an intermediate value
 * near one: tanh is 2 sigmoid(2x) - 1, elu is exp(x) - 1. However small the result, its error
 * can be one unit in the last place of 1.0. Noisy mode perturbs these results by that much. */
static const char *const through_one[] = {
	"tanh", "tanhshrink", "sinh", "asinh", "atanh", "arcsinh", "arctanh", "expm1", "log1p", "elu",
	"selu", "celu", "gelu", "mish", "softplus",
	"logsigmoid", "log_softmax", "logsumexp", "logaddexp", "erfc", "cross_entropy",
	"binary_cross_entropy_with_logits", "soft_margin_loss",
};

/* Is the row one of them? A trailing "_" marks the in-place variant. */
static int is_through_one(const struct bind_row *row)
{
	const char *dot = strrchr(row->name, '.'), *last = dot ? dot + 1 : row->name;
	size_t n = strlen(last);
	n -= n > 1 && last[n - 1] == '_';               /* in place */
	for (size_t i = 0; i < COUNT_OF(through_one); i++)
		if (strlen(through_one[i]) == n && !memcmp(through_one[i], last, n))
			return 1;
	return 0;
}

/* Do results get rounding noise? Arithmetic inside numpy gets none: programs compute sizes with it,
 * and int(np.floor(2.0)) must stay 2. */
static int is_noisy(const struct host *h)
{
	return h->o.noise_seed && !(h->frame && h->frame->mod->trusted && !strncmp(h->frame->mod->name->p, "numpy", 5));
}

/* Perturbs the elements of a result by rounding noise, so that the judge learns how far rounding
 * can move the final result. Each operator draws from its own stream. */
static void jitter(struct host *h, struct tensor *t, const struct bind_row *row)
{
	struct rng r;
	struct tensor dense;
	struct err e = ERR_INIT;
	rng_init(&r, h->torch.noise++, "noise");
	if (!dtype_is_float(t->dt) || tensor_contiguous(&dense, t, &e))
		return;
	SIMD_PICK(jitter_floats)(t->dt, &r, tensor_data(&dense), (size_t)tensor_numel(&dense));
	if (t->dt == DT_F32 && is_through_one(row))
		SIMD_PICK(jitter_near_one)(&r, tensor_data(&dense), (size_t)tensor_numel(&dense));
	if (dense.st != t->st)
		tensor_copy(t, &dense, &e);
	tensor_release(&dense);
}

/* Oracle mode: converts a float tensor to fp64. Replaces *t; releases it on failure. */
static int widen(struct bind *b, struct tensor *t)
{
	struct tensor wide;
	if (!b->h->o.oracle || !dtype_is_float(t->dt) || t->dt == DT_F64)
		return 0;
	if (tensor_to(&wide, t, DT_F64, bind_e(b))) {
		tensor_release(t);
		return bind_fail(b);
	}
	tensor_release(t);
	*t = wide;
	return 0;
}

/* The value of one result tensor. Device and gradient flags were noted by bind_check. */
int bind_wrap(struct bind *b, struct tensor *t, struct val *v)
{
	struct host *h = b->h;
	unsigned flags = b->row->flags;
	int is_float;

	if (widen(b, t))
		return -1;
	if (is_noisy(h) && flags & BIND_COMPUTE && !(flags & BIND_VIEW))
		jitter(h, t, b->row);
	is_float = dtype_is_float(t->dt);
	if (val_tensor(h, t, h->torch.call_device, v))
		return -1;
	v->u.t->requires_grad = h->torch.call_grad && is_float && !(flags & (BIND_ALLOC | BIND_RANDOM));
	v->u.t->computed = (flags & BIND_COMPUTE) != 0;
	if (flags & BIND_VIEW && v->u.t->requires_grad && b->n && b->a[0].kind == V_TENSOR && b->a[0].u.t->leaf)
		v->u.t->leaf = LEAF_VIEW;
	return 0;
}

int bind_result(struct bind *b, struct tensor *t)
{
	return bind_wrap(b, t, &b->out);
}

/* Appends all results to `into`. If one fails the remaining tensors are released. */
static int wrap_all(struct bind *b, struct tensor *t, size_t n, struct val into)
{
	for (size_t i = 0; i < n; i++) {
		struct val v;
		if (bind_wrap(b, &t[i], &v) || list_append(b->h, into, v)) {
			for (size_t k = i + 1; k < n; k++)
				tensor_release(&t[k]);
			return -1;
		}
	}
	b->out = into;
	return 0;
}

int bind_tuple(struct bind *b, struct tensor *t, size_t n)
{
	struct val v;
	return val_tuple(b->h, NULL, 0, &v) ? -1 : wrap_all(b, t, n, v);
}

/* The class torch.return_types.NAME, made at first use: a tuple whose _fields name its items. */
static struct class_obj *named_class(struct host *h, const char *name, const char *const *fields, size_t n)
{
	struct val full, f, list, s, *old;
	struct class_obj *base, *c;
	struct str_obj *key;

	if (val_strf(h, &full, "torch.return_types.%s", name))
		return NULL;
	key = host_intern(h, val_text(full));
	old = key ? attrs_get(h->type.natives, key) : NULL;
	if (old || !key)
		return old ? old->u.c : NULL;
	base = h->type.kind_class[V_TUPLE];
	if (class_new(h, host_intern(h, str_of(name)), &base, 1, &c) || val_tuple(h, NULL, 0, &list))
		return NULL;
	c->kind = V_TUPLE;
	c->native = key->p;
	for (size_t i = 0; i < n; i++)
		if (val_str(h, str_of(fields[i]), &s) || list_append(h, list, s))
			return NULL;
	f = list;
	if (attrs_set(h, c->h.attrs, h->nm[NM__fields], f) || attrs_set(h, h->type.natives, key, val_obj(&c->h)))
		return NULL;
	return c;
}

/* torch.max(x, dim=0) gives (values, indices) with both names as attributes. */
int bind_named(struct bind *b, const char *name, const char *const *fields, struct tensor *t, size_t n)
{
	struct class_obj *c = named_class(b->h, name, fields, n);
	struct dict_obj *d;

	if (!c) {
		for (size_t i = 0; i < n; i++)
			tensor_release(&t[i]);
		return -1;
	}
	if (bind_tuple(b, t, n))
		return -1;
	b->out.u.o->cls = c;
	d = dict_obj_new(b->h, V_DICT);
	if (!d)
		return -1;
	val_keep(val_obj(&d->h));
	b->out.u.o->attrs = d;
	for (size_t i = 0; i < n; i++) {
		struct str_obj *f = host_intern(b->h, str_of(fields[i]));
		if (!f || attrs_set(b->h, d, f, b->out.u.seq->v[i]))
			return -1;
	}
	return 0;
}

/* For torch.empty: the contents become the poison value and count as never written. */
void host_forget(struct host *h, const struct tensor *t)
{
	storage_fill(t->st, h->o.poison);
	if (h->o.track_undef && storage_track_undef(t->st, NULL))
		host_fatal(h, REASON_out_of_memory, "out of memory");
}

/* The result of an in-place operator is its first argument. */
int bind_self(struct bind *b)
{
	struct host *h = b->h;

	/* An operator that moves elements has marked the elements it wrote itself. */
	if (!b->unwritten && !(b->row->flags & BIND_MOVE))
		tensor_mark_defined(&b->a[0].u.t->t);
	if (is_noisy(h) && b->row->flags & BIND_COMPUTE)
		jitter(h, &b->a[0].u.t->t, b->row);
	if (h->torch.call_grad && dtype_is_float(b->a[0].u.t->t.dt))
		b->a[0].u.t->requires_grad = 1;
	b->out = b->a[0];
	return 0;
}

/* --- settings -------------------------------------------------------------------------------------- */

enum dtype host_dtype(struct host *h, enum dtype asked)
{
	return h->o.oracle && dtype_is_float(asked) ? DT_F64 : asked;
}

enum dtype host_nominal(struct host *h, enum dtype dt)
{
	return h->o.oracle && dt == DT_F64 ? h->o.nominal : dt;
}

enum dtype host_default_dtype(struct host *h) { return h->torch.default_dtype; }
struct pool *host_pool(struct host *h) { return h->o.pool; }
int host_is_hollow(struct host *h) { return h->o.hollow; }
/* Products that tensor cores would compute: by option of the run or asked for by the program. */
unsigned host_tf32(struct host *h) { return h->o.tf32 | h->torch.tf32; }
struct host_ext *host_ext(struct host *h) { return &h->torch.ext; }
