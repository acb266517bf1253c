/* Attributes of tensors that belong to the interpreter rather than to numbers: device,
 * gradient flags, .data, identity.
 *
 * There is no autograd here. requires_grad, grad and is_leaf are kept so that modules behave
 * as in PyTorch; backward() is refused. */
#include <string.h>

#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/state.h"

/* The device as a torch.device; CUDA always has index 0, the CPU none. */
static int a_device(struct bind *b)
{
	enum host_device d = b->a[0].u.t->device;
	b->out = val_device(d, d == HOST_CUDA ? 0 : -1);
	return 0;
}

static int a_is_cuda(struct bind *b)
{
	b->out = val_bool(b->a[0].u.t->device == HOST_CUDA);
	return 0;
}

static int a_is_cpu(struct bind *b)
{
	b->out = val_bool(b->a[0].u.t->device == HOST_CPU);
	return 0;
}

/* Every tensor is strided: the value of torch.strided (torchenv.c). */
static int a_layout(struct bind *b)
{
	return val_str(b->h, STR("torch.strided"), &b->out);
}

/* Properties that never hold here: is_meta, is_sparse and the like. */
static int a_false(struct bind *b)
{
	b->out = val_bool(0);
	return 0;
}

static int a_requires_grad(struct bind *b)
{
	b->out = val_bool(b->a[0].u.t->requires_grad);
	return 0;
}

/* requires_grad = x and requires_grad_(x). Integers cannot have gradients. Setting it makes
 * the tensor a leaf. */
static int set_requires_grad(struct bind *b)
{
	int on;
	if (bind_bool(b, 1, &on))
		return -1;
	if (on && !dtype_is_float(b->a[0].u.t->t.dt))
		return bind_raise(b, EXC_RuntimeError, "only Tensors of floating point dtype can require gradients");
	b->a[0].u.t->requires_grad = (unsigned char)on;
	if (on && !b->a[0].u.t->leaf)
		b->a[0].u.t->leaf = LEAF_OWN;
	b->out = b->a[0];
	return 0;
}

/* A tensor without gradient counts as a leaf, as in PyTorch. */
static int a_is_leaf(struct bind *b)
{
	b->out = val_bool(!b->a[0].u.t->requires_grad || b->a[0].u.t->leaf == LEAF_OWN);
	return 0;
}

/* x.grad: what the program assigned, or None. */
static int a_grad(struct bind *b)
{
	b->out = host_hold(b->h, b->a[0].u.t->grad);
	return 0;
}

/* x.grad = g: dtype, device and shape must be x's. The messages are PyTorch's. */
static int set_grad(struct bind *b)
{
	const struct tensor *t = &b->a[0].u.t->t, *g = b->a[1].kind == V_TENSOR ? &b->a[1].u.t->t : NULL;

	if (g && g->dt != t->dt)
		return bind_raise(b, EXC_RuntimeError, "assigned grad has data of a different type");
	if (g && b->a[1].u.t->device != b->a[0].u.t->device)
		return bind_raise(b, EXC_RuntimeError, "assigned grad has data located on a different device");
	if (g && (g->ndim != t->ndim || memcmp(g->shape, t->shape, (size_t)t->ndim * sizeof *t->shape) != 0))
		return bind_raise(b, EXC_RuntimeError, "assigned grad has data of a different size");
	val_assign(b->h, &b->a[0].u.t->grad, b->a[1]);
	return 0;
}

/* x.data and x.detach(): a new tensor object over the same storage, without gradient flags. */
static int a_data(struct bind *b)
{
	struct tensor t = b->a[0].u.t->t;
	tensor_retain(&t);
	if (val_tensor(b->h, &t, b->a[0].u.t->device, &b->out))
		return -1;
	b->out.u.t->made_empty = b->a[0].u.t->made_empty;
	b->out.u.t->computed = b->a[0].u.t->computed;
	return 0;
}

/* Do two tensors show the same elements of the same memory with the same strides? */
static int same_view(const struct tensor *a, const struct tensor *b)
{
	return a->st == b->st && a->dt == b->dt && tensor_data(a) == tensor_data(b) && tensor_same_shape(a, b) &&
	       !memcmp(a->stride, b->stride, sizeof *a->stride * (size_t)a->ndim);
}

/* x.data = y: x shows y's storage from now on. The memory of x's old storage is refunded to the
 * host's account if x was its last user. */
static int set_data(struct bind *b)
{
	struct tensor *from, old, t;
	struct tensor_obj *self = b->a[0].u.t, *other = b->a[1].u.t;

	if (bind_tensor(b, 1, &from))
		return -1;
	if (self->requires_grad && !dtype_is_float(from->dt))
		return bind_raise(b, EXC_RuntimeError,
				  "data set to a tensor that requires gradients must be floating "
				  "point or complex dtype");
	if (same_view(&self->t, from))
		return 0;
	/* A tensor that outlives the judged call must not change in it. */
	if (host_may_change(b->h, b->a[0]))
		return -1;
	old = self->t;
	t = *from;
	tensor_retain(&t);
	self->t = t;
	self->device = other->device;
	self->made_empty = other->made_empty;
	self->computed = other->computed;
	/* Give the bytes back to the account before the storage goes. */
	if (old.st->refs == 1 && old.st != t.st)
		b->h->lim.tensor_bytes -= MIN(old.st->bytes, b->h->lim.tensor_bytes);
	tensor_release(&old);
	return 0;
}

/* Identity: the address of the object. */
static int a_hash(struct bind *b)
{
	b->out = val_int((int64_t)((uintptr_t)b->a[0].u.o & INT64_MAX));
	return 0;
}

/* grad_fn: there is no graph. */
static int a_none(struct bind *b)
{
	b->out = val_none();
	return 0;
}

/* detach_() in place. PyTorch refuses it for views; a view is recognised by not filling its
 * storage. */
static int a_detach_(struct bind *b)
{
	struct tensor_obj *self = b->a[0].u.t;

	if (!tensor_is_contiguous(&self->t) || self->t.offset || tensor_numel(&self->t) *
	    dtype_size(self->t.dt) != (int64_t)self->t.st->bytes)
		return bind_raise(b, EXC_RuntimeError, "Can't detach views in-place. Use detach() instead.");
	self->requires_grad = 0;
	b->out = b->a[0];
	return 0;
}

/* There is nothing to retain, but the check of PyTorch applies. */
static int a_retain_grad(struct bind *b)
{
	if (!b->a[0].u.t->requires_grad)
		return bind_raise(b, EXC_RuntimeError, "can't retain_grad on Tensor that has requires_grad=False");
	return a_none(b);
}

static int a_backward(struct bind *b)
{
	return bind_unsupported(b, "Tensor.backward: gradients are not computed here");
}

/* A row "NAME.set" is the setter of the property NAME. */
const struct bind_row tensor_attr_rows[] = {
	{ "torch.Tensor.device", "self", a_device, BIND_PROPERTY },
	{ "torch.Tensor.layout", "self", a_layout, BIND_PROPERTY },
	{ "torch.Tensor.is_cuda", "self", a_is_cuda, BIND_PROPERTY },
	{ "torch.Tensor.is_cpu", "self", a_is_cpu, BIND_PROPERTY },
	{ "torch.Tensor.is_meta", "self", a_false, BIND_PROPERTY },
	{ "torch.Tensor.is_sparse", "self", a_false, BIND_PROPERTY },
	{ "torch.Tensor.is_mps", "self", a_false, BIND_PROPERTY },
	{ "torch.Tensor.is_xpu", "self", a_false, BIND_PROPERTY },
	{ "torch.Tensor.is_quantized", "self", a_false, BIND_PROPERTY },
	{ "torch.Tensor.requires_grad", "self", a_requires_grad, BIND_PROPERTY },
	{ "torch.Tensor.requires_grad.set", "self, value", set_requires_grad, 0 },
	{ "torch.Tensor.requires_grad_", "self, requires_grad=True", set_requires_grad, 0 },
	{ "torch.Tensor.is_leaf", "self", a_is_leaf, BIND_PROPERTY },
	{ "torch.Tensor.grad", "self", a_grad, BIND_PROPERTY },
	{ "torch.Tensor.grad.set", "self, value: torch.Tensor | None", set_grad, 0 },
	{ "torch.Tensor.grad_fn", "self", a_none, BIND_PROPERTY },
	{ "torch.Tensor.data", "self", a_data, BIND_PROPERTY },
	{ "torch.Tensor.data.set", "self, value: torch.Tensor", set_data, 0 },
	{ "torch.Tensor.detach", "self", a_data, 0 },
	{ "torch.Tensor.detach_", "self", a_detach_, 0 },
	{ "torch.detach", "input: torch.Tensor", a_data, 0 },
	{ "torch.Tensor.__hash__", "self", a_hash, 0 },
	{ "torch.Tensor.backward", "self, *args, **kwargs", a_backward, 0 },
	{ "torch.Tensor.retain_grad", "self", a_retain_grad, 0 },
	{ "torch.Tensor.share_memory_", "self", a_data, 0 },
	{ NULL, NULL, NULL, 0 }
};
