/* Rules about the tensors of a call: PyTorch's (devices agree, no in-place change of a leaf
 * that requires gradients) and the judge's (who computes). Invariant: everything follows from
 * the flags of the binding's row and the names of its slots, so a new operator is checked as
 * soon as it has a row. */
#include "interp/bind_check.h"

#include "interp/fail.h"
#include "interp/work.h"

/* Facts about the tensors among a call's arguments. */
struct call_tensors {
	int seen, mixed, grad;               /* any seen; on several devices; any wants gradients */
	enum host_device device, other;      /* of the first, and of one elsewhere */
};

/* `scalars`: a 0-d tensor on the CPU does not count, as it goes with any device. */
static void note_tensor(struct call_tensors *c, const struct tensor_obj *t, int scalars)
{
	c->grad |= t->requires_grad;
	if (scalars && t->t.ndim == 0 && t->device == HOST_CPU)
		return;
	if (!c->seen) {
		c->seen = 1;
		c->device = t->device;
	} else if (c->device != t->device) {
		c->mixed = 1;
		c->other = t->device;
	}
}

/* Looks into lists and tuples two levels deep, as torch.cat([a, b]) needs it. */
static void note_value(struct call_tensors *c, struct val v, int scalars, int depth)
{
	if (v.kind == V_TENSOR)
		note_tensor(c, v.u.t, scalars);
	else if ((v.kind == V_LIST || v.kind == V_TUPLE) && depth < 2)
		for (size_t i = 0; i < MIN(v.u.seq->n, 256); i++)
			note_value(c, v.u.seq->v[i], scalars, depth + 1);
}

/* Does the slot take a 0-d CPU tensor along with tensors of any device? Operators that compute
 * with it or write it do; operators that move tensors do not. */
static int takes_scalars(const struct sig_param *p, unsigned flags)
{
	return flags & BIND_COMPUTE || str_starts(p->name, "value") || str_is(p->name, "fill_value");
}

static const char *device_name(enum host_device d)
{
	return d == HOST_CUDA ? "cuda:0" : d == HOST_META ? "meta" : "cpu";
}

/* PyTorch's RuntimeError; the GPU is named first. */
static int check_devices(struct host *h, const struct call_tensors *c)
{
	int first = c->device == HOST_CUDA;

	return host_raise(h, EXC_RuntimeError,
			  "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
			  device_name(first ? c->device : c->other), device_name(first ? c->other : c->device));
}

/* Index tensors must be on the CPU or on the device of the indexed tensor. */
static int check_index(struct host *h, const struct tensor_obj *self, struct val index)
{
	struct call_tensors c = { .seen = 0 };

	note_value(&c, index, 0, 0);
	if (!c.seen || (!c.mixed && (c.device == HOST_CPU || c.device == self->device)) || self->device == HOST_CUDA)
		return 0;
	return host_raise(h, EXC_RuntimeError,
			  "indices should be either on cpu or on the same device as the indexed tensor (%s)",
			  device_name(self->device));
}

/* An in-place change of a leaf that requires gradients is PyTorch's RuntimeError. */
static int check_leaf(struct host *h, const struct tensor_obj *t)
{
	if (!t->requires_grad || !t->leaf || !h->torch.grad_enabled)
		return 0;
	return host_raise(h, EXC_RuntimeError,
			  "a %sleaf Variable that requires grad is being used in an in-place operation.",
			  t->leaf == LEAF_VIEW ? "view of a " : "");
}

/* The effect of this particular call, as enum bind_flag: the row's flags, and more that the
 * arguments imply. index_put(accumulate=True) adds, so it computes; full(size, tensor) copies
 * an element. */
unsigned bind_kind(const struct bind_row *row, const struct sig *s, const struct val *a)
{
	const struct val *how = s->adds >= 0 ? &a[s->adds] : NULL;

	if (how && (how->kind == V_STR || ((how->kind == V_BOOL || how->kind == V_INT) && how->u.i)))
		return row->flags | BIND_COMPUTE;
	if (row->flags & BIND_ALLOC && s->fills >= 0 && a[s->fills].kind == V_TENSOR)
		return row->flags | BIND_COPY;
	return row->flags;
}

/* Elements of an expanded tensor take no memory, but each costs time: x.expand(10**6, n) pays
 * fuel for what it does not hold. */
static int burn_expanded(struct host *h, const struct tensor *t)
{
	enum { PER_STEP = 200 };
	int64_t n = tensor_numel(t), held = t->st ? (int64_t)t->st->bytes / dtype_size(t->dt) : n;

	return n > held ? host_burn(h, (n - held) / PER_STEP) : 0;
}

/* See bind_check.h. `SIZED` operators (masked_select) read values to find the size of their
 * result, so they count as a read. */
int bind_check(struct host *h, const struct bind_row *row, unsigned flags, const struct sig *s, const struct val *a)
{
	const unsigned moves = BIND_COMPUTE | BIND_COPY;
	struct call_tensors c = { .device = HOST_CPU };

	for (size_t i = 0; i < s->n; i++)
		if ((int)i != s->index)
			note_value(&c, a[i], takes_scalars(&s->p[i], flags), 0);
	if (s->index >= 0 && !h->o.may_mix && a[0].kind == V_TENSOR && check_index(h, a[0].u.t, a[s->index]))
		return -1;
	h->torch.call_device = c.device;
	h->torch.call_grad = c.grad && h->torch.grad_enabled;
	if (s->device >= 0 && a[s->device].kind == V_DEVICE)
		h->torch.call_device = (enum host_device)a[s->device].aux;
	if (c.mixed && flags & moves && !(flags & BIND_ANY_DEVICE) && !h->o.may_mix)
		return check_devices(h, &c);
	for (size_t i = 0; flags & moves && i < s->n; i++)
		if (a[i].kind == V_TENSOR && burn_expanded(h, &a[i].u.t->t))
			return -1;
	if (flags & BIND_INPLACE && !h->o.may_misuse && a[0].kind == V_TENSOR && check_leaf(h, a[0].u.t))
		return -1;
	if (flags & BIND_SIZED && (host_may_read(h, DT_I64, 1) ||
				   (a[0].kind == V_TENSOR && host_is_unwritten(h, &a[0].u.t->t))))
		return -1;
	return flags & (BIND_COMPUTE | BIND_RANDOM) ? host_may_compute(h, row->name) : 0;
}

/* Is v a float tensor, or a sequence with one? */
static int has_floats(struct val v)
{
	int found = v.kind == V_TENSOR && dtype_is_float(v.u.t->t.dt);

	for (size_t i = 0; (v.kind == V_LIST || v.kind == V_TUPLE) && i < v.u.seq->n && !found; i++)
		found = v.u.seq->v[i].kind == V_TENSOR && dtype_is_float(v.u.seq->v[i].u.t->t.dt);
	return found;
}

/* A copy that turns floats into integers rounds, and one that turns them into bools compares:
 * in both cases the host computes, which the strict track forbids. */
int bind_check_result(struct host *h, const struct bind_row *row, unsigned flags, const struct sig *s,
		      const struct val *a, struct val out)
{
	struct val to = flags & BIND_INPLACE && s->n ? a[0] : out;

	if (!(flags & BIND_COPY) || flags & BIND_COMPUTE || to.kind != V_TENSOR || dtype_is_float(to.u.t->t.dt))
		return 0;
	for (size_t i = 0; i < s->n; i++)
		if ((int)i != s->index && has_floats(a[i]))
			return host_may_compute(h, row->name);
	return 0;
}
