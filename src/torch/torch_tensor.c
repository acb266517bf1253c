/* Bindings of a tensor's attributes, conversions, reads and in-place writes, and of dtypes as
 * constants.
 *
 * Reading an element (item, bool, tolist) goes through host_read: a judged program may not
 * let its control flow depend on the data without the host noticing, and a dry run has no
 * data. A dtype that a program sees is its own (host_nominal), even if the oracle stores
 * float64. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "torch/torch.h"

/* Slot 0, which the signature or is_tensor() has checked. */
static struct tensor_obj *self(struct bind *b)
{
	return b->a[0].u.t;
}

/* Raises Python's error unless slot 0 is a tensor. */
static int is_tensor(struct bind *b)
{
	struct tensor *t;

	return bind_tensor(b, 0, &t);
}

/* --- sizes --------------------------------------------------------------------------------------- */

/* A torch.Size. */
static int t_shape(struct bind *b)
{
	return is_tensor(b) ? -1 : val_size(b->h, self(b)->t.shape, self(b)->t.ndim, &b->out);
}

/* size() or size(dim). */
static int t_size(struct bind *b)
{
	int dim;

	if (is_tensor(b))
		return -1;
	if (!bind_given(b, 1))
		return t_shape(b);
	if (bind_dim(b, 1, self(b)->t.ndim, &dim))
		return -1;
	b->out = val_int(self(b)->t.shape[dim]);
	return 0;
}

/* stride() or stride(dim), in elements. */
static int t_stride(struct bind *b)
{
	struct val v[TENSOR_DIMS];
	int dim;

	if (is_tensor(b))
		return -1;
	if (bind_given(b, 1)) {
		if (bind_dim(b, 1, self(b)->t.ndim, &dim))
			return -1;
		b->out = val_int(self(b)->t.stride[dim]);
		return 0;
	}
	for (int i = 0; i < self(b)->t.ndim; i++)
		v[i] = val_int(self(b)->t.stride[i]);
	return val_tuple(b->h, v, (size_t)self(b)->t.ndim, &b->out);
}

/* A method without arguments that returns `expr`. */
#define INT_OF(name, expr)                                   \
	static int name(struct bind *b)                      \
	{                                                    \
		if (is_tensor(b))                            \
			return -1;                           \
		b->out = expr;                               \
		return 0;                                    \
	}
INT_OF(t_dim, val_int(self(b)->t.ndim))
INT_OF(t_numel, val_int(tensor_numel(&self(b)->t)))
INT_OF(t_element_size, val_int(dtype_size(host_nominal(b->h, self(b)->t.dt))))
INT_OF(t_nbytes, val_int(tensor_numel(&self(b)->t) * dtype_size(host_nominal(b->h, self(b)->t.dt))))
INT_OF(t_storage_offset, val_int(self(b)->t.offset))
INT_OF(t_dtype, val_dtype(host_nominal(b->h, self(b)->t.dt)))
INT_OF(t_is_floating_point, val_bool(dtype_is_float(self(b)->t.dt)))
INT_OF(t_is_complex, val_bool(0))
INT_OF(t_is_signed, val_bool(dtype_info(self(b)->t.dt)->class != DTC_UINT && self(b)->t.dt != DT_BOOL))

/* An address that looks like GPU memory: one megabyte of address space per storage id.
 * Addresses differ between runs, so a judged program may not read them. */
static int t_data_ptr(struct bind *b)
{
	const uint64_t base = 0x7f0000000000;    /* a typical address of GPU memory */

	if (is_tensor(b) || host_varies(b->h, "the address of a tensor"))
		return -1;
	b->out = val_int((int64_t)(base + (self(b)->t.st->id << 20)) + self(b)->t.offset * dtype_size(self(b)->t.dt));
	return 0;
}

/* self, memory_format=torch.contiguous_format */
static int t_is_contiguous(struct bind *b)
{
	int has;

	if (is_tensor(b))
		return -1;
	has = torch_has_format(b, 1, &self(b)->t);
	b->out = val_bool(has > 0);
	return has < 0 ? -1 : 0;
}

static int t_len(struct bind *b)
{
	if (is_tensor(b))
		return -1;
	if (self(b)->t.ndim == 0)
		return bind_raise(b, EXC_TypeError, "len() of a 0-d tensor");
	b->out = val_int(self(b)->t.shape[0]);
	return 0;
}

/* --- values ---------------------------------------------------------------------------------------- */

/* x.item(): the element as a Python number. */
static int t_item(struct bind *b)
{
	return is_tensor(b) ? -1 : torch_item(b, &self(b)->t, &b->out);
}

/* bool(x): x must have one element. */
static int t_bool(struct bind *b)
{
	struct val v;

	if (is_tensor(b))
		return -1;
	if (tensor_numel(&self(b)->t) != 1)
		return bind_raise(b, EXC_RuntimeError, "Boolean value of Tensor with %s is ambiguous",
				  tensor_numel(&self(b)->t) ? "more than one value" : "no values");
	if (host_read(b->h, &self(b)->t, &v))
		return -1;
	b->out = val_bool(v.kind == V_FLOAT ? v.u.f != 0 : v.u.i != 0);
	return 0;
}

/* float(x) and int(x) report this in other words than x.item(). */
static int one_element(struct bind *b)
{
	if (is_tensor(b))
		return -1;
	if (tensor_numel(&self(b)->t) == 1)
		return 0;
	return bind_raise(b, EXC_ValueError, "only one element tensors can be converted to Python scalars");
}

/* float(x); integers are converted. */
static int t_float(struct bind *b)
{
	struct val v;

	if (one_element(b) || torch_item(b, &self(b)->t, &v))
		return -1;
	b->out = v.kind == V_FLOAT ? v : val_float((double)v.u.i);
	return 0;
}

/* int(x) truncates. NaN and infinities are Python's errors. */
static int t_int(struct bind *b)
{
	struct val v;

	if (one_element(b) || torch_item(b, &self(b)->t, &v))
		return -1;
	if (v.kind == V_FLOAT && !(fabs(v.u.f) < 9e18))
		return bind_raise(b, isnan(v.u.f) ? EXC_ValueError : EXC_OverflowError,
				  "cannot convert float %s to integer",
				  isnan(v.u.f) ? "NaN" : "infinity");
	b->out = val_int(v.kind == V_FLOAT ? (int64_t)v.u.f : v.u.i);
	return 0;
}

/* x as an index of a list or range: integer tensors of one element only. */
static int t_index(struct bind *b)
{
	struct val v;

	if (is_tensor(b))
		return -1;
	if (tensor_numel(&self(b)->t) != 1 || dtype_is_float(self(b)->t.dt))
		return bind_raise(b, EXC_TypeError,
				  "only integer tensors of a single element can be converted to an index");
	if (host_read(b->h, &self(b)->t, &v))
		return -1;
	b->out = val_int(v.u.i);
	return 0;
}

/* Nested lists cost memory and steps for every element, however little memory the tensor
 * takes (strides of 0). */
static int list_room(struct bind *b, const struct tensor *t)
{
	int64_t n = tensor_numel(t), bytes;

	if (ck_mul64(n, (int64_t)sizeof (struct val), &bytes))
		bytes = -1;
	return host_room(b->h, bytes) || host_burn(b->h, n / 4) ? -1 : 0;
}

/* x.tolist(), recursively; a 0-d tensor is a number. */
static int list_of(struct bind *b, const struct tensor *t, struct val *out)
{
	struct tensor part;

	if (t->ndim == 0)
		return torch_item(b, t, out);
	if (val_list(b->h, NULL, 0, out))
		return -1;
	/* One list per index of the first dimension. */
	for (int64_t i = 0; i < t->shape[0]; i++) {
		struct val v;
		int rc;

		if (tensor_select(&part, t, 0, i, bind_e(b)))
			return bind_fail(b);
		rc = list_of(b, &part, &v) || list_append(b->h, *out, v);
		tensor_release(&part);
		if (rc)
			return -1;
	}
	return 0;
}

static int t_tolist(struct bind *b)
{
	return is_tensor(b) || list_room(b, &self(b)->t) ? -1 : list_of(b, &self(b)->t, &b->out);
}

static int t_get_device(struct bind *b)
{
	if (is_tensor(b))
		return -1;
	b->out = val_int(self(b)->device == HOST_CUDA ? 0 : -1);
	return 0;
}

/* x.resize_(shape): the same storage with a new shape if it is large enough, else a new
 * storage with the old elements first. The new elements have no value. */
static int t_resize_(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct bind_ints s;
	struct tensor *t, made;
	int64_t n = 1, have;

	if (bind_tensor(b, 0, &t) || bind_shape(b, 1, &s))
		return -1;
	if (b->a[0].u.t->requires_grad)
		return bind_raise(b, EXC_RuntimeError, "cannot resize variables that require grad");
	for (int i = 0; i < s.n; i++)
		if (s.v[i] < 0 || ck_mul64(n, s.v[i], &n))
			return bind_shape_error(b, "resize_: invalid shape %s", SHAPE_TEXT(s.n, s.v));
	if (tensor_check_sizes(s.n, s.v, bind_e(b)))
		return bind_fail(b);
	/* Elements that the storage holds from the view's offset on. */
	have = (int64_t)t->st->bytes / dtype_size(t->dt) - t->offset;
	/* In a dry run contents may be lent to the tensor for the call; replacing the storage
	 * would drop them. */
	if (n > have && c.hollow)
		return bind_unsupported(b, "resize_ to more elements than the storage holds");
	if (n > have) {
		if (num_new(&c, &made, t->dt, s.n, s.v, bind_e(b)))
			return bind_fail(b);
		host_forget(b->h, &made);
		if (!t->st->hollow)
			memcpy(made.st->data, tensor_data(t), (size_t)(MAX(have, 0) * dtype_size(t->dt)));
		if (made.st->undef)
			memset(made.st->undef, tensor_any_undef(t), (size_t)(MAX(have, 0) * dtype_size(t->dt)));
		tensor_release(t);
		*t = made;
	}
	t->ndim = s.n;
	memcpy(t->shape, s.v, sizeof *t->shape * (size_t)s.n);
	tensor_dense_strides(s.n, s.v, t->stride);
	b->out = b->a[0];
	return 0;
}

/* Methods that change nothing here: x itself. */
static int same(struct bind *b)
{
	if (is_tensor(b))
		return -1;
	b->out = b->a[0];
	return 0;
}

/* Only CPU tensors can be pinned; the message is PyTorch's. */
static int t_pin_memory(struct bind *b)
{
	if (is_tensor(b))
		return -1;
	if (b->a[0].u.t->device != HOST_CPU)
		return bind_raise(b, EXC_RuntimeError, "cannot pin '%s' only dense CPU tensors can be pinned",
				  "torch.cuda.FloatTensor");
	return same(b);
}

/* x.numpy(force=False): numpy's ndarray (Python code of the prelude) over the same storage. */
static int t_numpy(struct bind *b)
{
	struct val m, cls;
	struct str_obj *name = host_intern(b->h, STR("ndarray"));

	int force;

	if (is_tensor(b) || bind_bool(b, 1, &force))
		return -1;
	if (!force && self(b)->device != HOST_CPU && !b->h->o.may_mix)
		return bind_raise(b, EXC_TypeError,
				  "can't convert %s device type tensor to numpy. Use "
				  "Tensor.cpu() to copy the tensor to host memory first.",
				  self(b)->device == HOST_CUDA ? "cuda:0" : "meta");
	/* PyTorch asks for detach() first, except under no_grad. */
	if (!force && self(b)->requires_grad && b->h->torch.grad_enabled)
		return bind_raise(b, EXC_RuntimeError,
				  "Can't call numpy() on Tensor that requires grad. Use "
				  "tensor.detach().numpy() instead.");
	if (!name || import_module(b->h, STR("numpy"), &m) || module_attr(b->h, m.u.mod, name, &cls) <= 0)
		return -1;
	return host_call1(b->h, cls, b->a[0], &b->out);
}

/* x.f(...) for a function torch.f that is Python code of the prelude: x becomes the first
 * argument. The name is the last part of the row's name. */
static int t_prelude(struct bind *b)
{
	enum { MOST = 8 };
	struct val m, fn, a[MOST + 1] = { b->a[0] }, names[MOST], vals[MOST];
	struct call_args call = { .a = a, .n = 1, .kw_names = names, .kw_vals = vals };
	const struct seq_obj *more = b->a[1].u.seq;
	const struct dict_obj *kw = b->a[2].u.d;
	struct str_obj *name = host_intern(b->h, str_of(strrchr(b->row->name, '.') + 1));

	/* No function of the prelude takes more. */
	if (more->n > MOST || kw->n > MOST)
		return bind_raise(b, EXC_TypeError, "%s() got too many arguments", b->row->name);
	for (size_t i = 0; i < more->n; i++)
		a[call.n++] = more->v[i];
	for (size_t i = 0; i < kw->n; i++) {
		names[call.n_kw] = kw->e[i].key;
		vals[call.n_kw++] = kw->e[i].val;
	}
	if (is_tensor(b) || !name || import_module(b->h, STR("torch"), &m) ||
	    module_attr(b->h, m.u.mod, name, &fn) <= 0)
		return -1;
	return host_callv(b->h, fn, &call, &b->out);
}

/* --- conversion -------------------------------------------------------------------------------------- */

/* x in another dtype, device or memory format (slot `format`). Returns x itself if x already has
 * all of them and `copy` is not set. */
static int to_dtype_in(struct bind *b, int has_dtype, enum dtype asked, int has_device,
		       enum host_device dev, int copy, size_t format)
{
	struct tensor_obj *o = self(b);
	enum dtype dt = has_dtype ? host_dtype(b->h, asked) : o->t.dt;
	int64_t stride[TENSOR_DIMS];
	struct tensor y;
	int given = torch_format(b, format, 1, o->t.ndim, o->t.shape, stride);

	if (given < 0)
		return -1;
	/* x.to() of what x already is returns x itself: no copy, same identity. */
	if (!copy && dt == o->t.dt && (!has_device || dev == o->device) && (!given || torch_lies_so(&o->t, stride))) {
		b->out = b->a[0];
		return 0;
	}
	if (torch_new_like(b, &y, dt, &o->t, format))
		return -1;
	if (tensor_copy(&y, &o->t, bind_e(b))) {
		tensor_release(&y);
		return bind_fail(b);
	}
	if (bind_result(b, &y))
		return -1;
	b->out.u.t->device = has_device ? dev : o->device;
	return 0;
}

/* The same without a memory format: a slot beyond the last one. */
static int to_dtype(struct bind *b, int has_dtype, enum dtype asked, int has_device,
		    enum host_device dev, int copy)
{
	return to_dtype_in(b, has_dtype, asked, has_device, dev, copy, b->n);
}

/* x.to(dtype), x.to(device), x.to(device, dtype), x.to(other); slots 3 to 7 are the keywords
 * non_blocking, copy, dtype, device, memory_format. */
static int t_to(struct bind *b)
{
	int has_dtype = 0, has_device = 0, copy;
	enum dtype dt = DT_F32;
	enum host_device dev = HOST_CPU;

	if (is_tensor(b) || bind_bool(b, 4, &copy))
		return -1;
	for (size_t i = 1; i <= 2; i++) {
		struct val v = b->a[i];

		/* Positional arguments are told apart by their types. */
		if (v.kind == V_DTYPE) {
			has_dtype = 1;
			dt = (enum dtype)v.u.i;
		} else if (v.kind == V_TENSOR) {
			has_dtype = has_device = 1;
			dt = v.u.t->t.dt;
			dev = v.u.t->device;
		} else if (v.kind == V_DEVICE || v.kind == V_STR || v.kind == V_INT) {
			has_device = 1;
			if (bind_device(b, i, &dev))
				return -1;
		}
	}
	if (bind_given(b, 5)) {
		has_dtype = 1;
		if (bind_dtype(b, 5, dt, &dt))
			return -1;
	}
	if (bind_given(b, 6)) {
		has_device = 1;
		if (bind_device(b, 6, &dev))
			return -1;
	}
	return to_dtype_in(b, has_dtype, dt, has_device, dev, copy, 7);
}

/* x.float() and the like; slot 1 is memory_format. */
#define CAST(name, dtype) static int cast_##name(struct bind *b) { return is_tensor(b) ? -1 : \
								   to_dtype_in(b, 1, dtype, 0, HOST_CPU, 0, 1); }
CAST(float, DT_F32)
CAST(double, DT_F64)
CAST(half, DT_F16)
CAST(bfloat16, DT_BF16)
CAST(int, DT_I32)
CAST(long, DT_I64)
CAST(short, DT_I16)
CAST(char, DT_I8)
CAST(byte, DT_U8)
CAST(bool, DT_BOOL)

/* The dtype and device of an old type name: torch.FloatTensor as a class or as a text, and
 * torch.cuda.FloatTensor. Returns 0 for any other value. */
static int old_type(struct val v, enum dtype *dt, int *cuda)
{
	static const enum dtype all[] = { DT_F32, DT_F64, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I16, DT_I8, DT_U8,
					  DT_BOOL };
	struct str name = v.kind == V_STR ? val_text(v) : STR("");
	char text[64];

	if (v.kind == V_CLASS && v.u.c->mod && v.u.c->mod->trusted) {
		int n = snprintf(text, sizeof text, "%s.%s", v.u.c->mod->name->p, v.u.c->name->p);

		name = (struct str){ .p = text, .n = n < (int)sizeof text ? (size_t)n : 0 };
	}
	*cuda = str_starts(name, "torch.cuda.");
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		char want[64];

		snprintf(want, sizeof want, "torch.%s%sTensor", *cuda ? "cuda." : "", num_type_name(all[i]));
		*dt = all[i];
		if (str_is(name, want))
			return 1;
	}
	return 0;
}

/* x.type() is a text such as "torch.cuda.FloatTensor"; x.type(dtype) converts. */
static int t_type(struct bind *b)
{
	enum dtype dt;
	int cuda;

	if (is_tensor(b))
		return -1;
	if (!bind_given(b, 1))
		return val_strf(b->h, &b->out, "torch.%s%sTensor", self(b)->device == HOST_CUDA ? "cuda." : "",
				num_type_name(host_nominal(b->h, self(b)->t.dt)));
	if (old_type(b->a[1], &dt, &cuda))
		return to_dtype(b, 1, dt, 1, cuda ? HOST_CUDA : HOST_CPU, 0);
	if (bind_dtype(b, 1, DT_F32, &dt))
		return -1;
	return to_dtype(b, 1, dt, 0, HOST_CPU, 0);
}

/* x.type_as(other): dtype and device of the other tensor. */
static int t_type_as(struct bind *b)
{
	struct tensor *o;

	if (is_tensor(b) || bind_tensor(b, 1, &o))
		return -1;
	return to_dtype(b, 1, o->dt, 1, b->a[1].u.t->device, 0);
}

static int t_cuda(struct bind *b) { return is_tensor(b) ? -1 : to_dtype(b, 0, DT_F32, 1, HOST_CUDA, 0); }
static int t_cpu(struct bind *b) { return is_tensor(b) ? -1 : to_dtype(b, 0, DT_F32, 1, HOST_CPU, 0); }

/* contiguous() and clone(). contiguous() returns the tensor itself if it has the format
 * already, as in PyTorch: no copy, no cost. clone() keeps the strides by default. */
static int in_format(struct bind *b, size_t slot, int clone)
{
	struct num_ctx c = torch_ctx(b);
	int64_t stride[TENSOR_DIMS];
	struct tensor *t, y;
	int given;

	if (bind_tensor(b, 0, &t) || (given = torch_format(b, slot, clone, t->ndim, t->shape, stride)) < 0)
		return -1;
	if (!given)
		return num_clone(&c, &y, t, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
	if (!clone && torch_lies_so(t, stride)) {
		b->out = b->a[0];
		return 0;
	}
	if (num_new_strided(&c, &y, t->dt, t->ndim, t->shape, stride, bind_e(b)))
		return bind_fail(b);
	if (tensor_copy(&y, t, bind_e(b))) {
		tensor_release(&y);
		return bind_fail(b);
	}
	return bind_result(b, &y);
}

static int t_contiguous(struct bind *b) { return in_format(b, 1, 0); }
static int t_clone(struct bind *b) { return in_format(b, 1, 1); }

/* --- writing -------------------------------------------------------------------------------------------- */

/* Slot 0 := v, converted to its dtype. */
static int fill_with(struct bind *b, struct num_arg v)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t;
	int rc;

	if (bind_tensor(b, 0, &t))
		return -1;
	rc = v.kind == NUM_TENSOR ? tensor_copy(t, v.t, bind_e(b))
				  : num_fill(&c, t, v, bind_e(b));
	return rc ? bind_fail(b) : bind_self(b);
}

/* x.fill_(value): a number or a 0-d tensor. */
static int t_fill_(struct bind *b)
{
	struct num_arg v;

	if (torch_arg(b, 1, &v))
		return -1;
	if (v.kind == NUM_TENSOR && v.t->ndim)
		return bind_raise(b, EXC_RuntimeError,
				  "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
				  v.t->ndim);
	return fill_with(b, v);
}

/* x.copy_(src): src broadcasts and is converted; it may be on another device. A number fills. */
static int t_copy_(struct bind *b)
{
	struct tensor *t, *s;

	if (b->a[1].kind == V_INT || b->a[1].kind == V_FLOAT || b->a[1].kind == V_BOOL)
		return t_fill_(b);
	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &s))
		return -1;
	return tensor_check_overlap(t, s, bind_e(b)) || tensor_copy(t, s, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

static int t_zero_(struct bind *b)
{
	return fill_with(b, num_i(0));
}

/* --- functions ---------------------------------------------------------------------------------------------- */

/* torch.result_type(tensor1, tensor2) in the program's dtypes. */
static int f_result_type(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg a[2];

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]))
		return -1;
	b->out = val_dtype(host_nominal(b->h, num_result_type(&c, a, 2)));
	return 0;
}

/* torch.promote_types(type1, type2) */
static int f_promote_types(struct bind *b)
{
	enum dtype x, y;

	if (bind_dtype(b, 0, DT_F32, &x) || bind_dtype(b, 1, DT_F32, &y))
		return -1;
	b->out = val_dtype(num_promote_types(x, y));
	return 0;
}

static int f_can_cast(struct bind *b)
{
	enum dtype x, y;

	if (bind_dtype(b, 0, DT_F32, &x) || bind_dtype(b, 1, DT_F32, &y))
		return -1;
	b->out = val_bool(num_can_cast(x, y));
	return 0;
}

/* torch.broadcast_shapes(*shapes): each is a tuple or an integer. */
static int f_broadcast_shapes(struct bind *b)
{
	int64_t shape[TENSOR_DIMS];
	int ndim = 0;

	for (size_t i = 0; i < b->a[0].u.seq->n; i++) {
		struct val v = b->a[0].u.seq->v[i];
		int64_t s[TENSOR_DIMS];
		size_t n = v.kind == V_TUPLE || v.kind == V_LIST ? v.u.seq->n : 1;

		if (n > TENSOR_DIMS)
			return bind_unsupported(b, "tensors of %zu dimensions", n);
		for (size_t k = 0; k < n; k++) {
			struct val e = v.kind == V_TUPLE || v.kind == V_LIST ? v.u.seq->v[k] : v;

			if (e.kind != V_INT)
				return bind_raise(b, EXC_TypeError, "broadcast_shapes(): sizes must be ints");
			s[k] = e.u.i;
		}
		if (tensor_broadcast_shape(&ndim, shape, (int)n, s, bind_e(b)))
			return bind_fail(b);
	}
	return val_size(b->h, shape, ndim, &b->out);
}

/* --- constants ------------------------------------------------------------------------------------------------ */

#define DTYPE(id, t, tr, st, bytes, class) static int d_##id(struct bind *b) { b->out = val_dtype(DT_##id); return 0; }
#include "tensor/dtype.def"
#undef DTYPE

/* FREE: the arguments need not be on one device. The rows of dtypes at the end come from
 * dtype.def. */
#define P BIND_PROPERTY
#define T "torch.Tensor."
#define FREE BIND_ANY_DEVICE

const struct bind_row torch_tensor_rows[] = {
	{ T "shape", "self", t_shape, P },
	{ T "size", "self, dim=None", t_size, 0 },
	{ T "stride", "self, dim=None", t_stride, 0 },
	{ T "dim", "self", t_dim, 0 },
	{ T "ndimension", "self", t_dim, 0 },
	{ T "ndim", "self", t_dim, P },
	{ T "numel", "self", t_numel, 0 },
	{ T "nelement", "self", t_numel, 0 },
	{ T "element_size", "self", t_element_size, 0 },
	{ T "itemsize", "self", t_element_size, P },
	{ T "nbytes", "self", t_nbytes, P },
	{ T "storage_offset", "self", t_storage_offset, 0 },
	{ T "data_ptr", "self", t_data_ptr, 0 },
	{ T "dtype", "self", t_dtype, P },
	{ T "is_floating_point", "self", t_is_floating_point, 0 },
	{ T "is_complex", "self", t_is_complex, 0 },
	{ "torch.is_complex", "input", t_is_complex, 0 },
	{ T "is_signed", "self", t_is_signed, 0 },
	{ T "is_contiguous", "self, memory_format=None", t_is_contiguous, 0 },
	{ T "__len__", "self", t_len, 0 },
	{ T "item", "self", t_item, 0 },
	{ T "__bool__", "self", t_bool, 0 },
	{ T "__float__", "self", t_float, 0 },
	{ T "__int__", "self", t_int, 0 },
	{ T "__index__", "self", t_index, 0 },
	{ T "get_device", "self", t_get_device, 0 },
	{ T "resize_", "self, *sizes", t_resize_, BIND_ALLOC },
	{ T "tolist", "self", t_tolist, 0 },
	{ T "diff", "self, *args, **kwargs", t_prelude, 0 },
	{ T "quantile", "self, *args, **kwargs", t_prelude, 0 },
	{ T "tensor_split", "self, *args, **kwargs", t_prelude, 0 },
	{ T "kron", "self, *args, **kwargs", t_prelude, 0 },
	{ T "inverse", "self, *args, **kwargs", t_prelude, 0 },
	{ T "det", "self, *args, **kwargs", t_prelude, 0 },
	{ T "logdet", "self, *args, **kwargs", t_prelude, 0 },
	{ T "slogdet", "self, *args, **kwargs", t_prelude, 0 },
	{ T "pinverse", "self, *args, **kwargs", t_prelude, 0 },
	{ T "cholesky", "self, *args, **kwargs", t_prelude, 0 },
	{ T "matrix_power", "self, *args, **kwargs", t_prelude, 0 },
	{ T "dist", "self, *args, **kwargs", t_prelude, 0 },
	{ T "diagflat", "self, *args, **kwargs", t_prelude, 0 },
	{ T "hsplit", "self, *args, **kwargs", t_prelude, 0 },
	{ T "vsplit", "self, *args, **kwargs", t_prelude, 0 },
	{ T "dsplit", "self, *args, **kwargs", t_prelude, 0 },
	{ T "inner", "self, *args, **kwargs", t_prelude, 0 },
	{ T "msort", "self, *args, **kwargs", t_prelude, 0 },
	{ T "renorm", "self, *args, **kwargs", t_prelude, 0 },
	{ T "cov", "self, *args, **kwargs", t_prelude, 0 },
	{ T "histc", "self, *args, **kwargs", t_prelude, 0 },
	{ T "select_scatter", "self, *args, **kwargs", t_prelude, 0 },
	{ T "slice_scatter", "self, *args, **kwargs", t_prelude, 0 },
	{ T "numpy", "self, *, force=False", t_numpy, BIND_VIEW },
	{ T "to", "self, a=?, b=?, non_blocking=False, copy=False, *, dtype=None, device=None, memory_format=None",
	t_to,
	  BIND_COPY | FREE },
	{ T "float", "self, memory_format=None", cast_float, BIND_COPY },
	{ T "double", "self, memory_format=None", cast_double, BIND_COPY },
	{ T "half", "self, memory_format=None", cast_half, BIND_COPY },
	{ T "bfloat16", "self, memory_format=None", cast_bfloat16, BIND_COPY },
	{ T "int", "self, memory_format=None", cast_int, BIND_COPY },
	{ T "long", "self, memory_format=None", cast_long, BIND_COPY },
	{ T "short", "self, memory_format=None", cast_short, BIND_COPY },
	{ T "char", "self, memory_format=None", cast_char, BIND_COPY },
	{ T "byte", "self, memory_format=None", cast_byte, BIND_COPY },
	{ T "bool", "self, memory_format=None", cast_bool, BIND_COPY },
	{ T "type", "self, dtype=None", t_type, BIND_COPY },
	{ T "type_as", "self, other", t_type_as, BIND_COPY | FREE },
	{ T "cuda", "self, device=None, non_blocking=False", t_cuda, BIND_COPY | FREE },
	{ T "cpu", "self", t_cpu, BIND_COPY | FREE },
	{ T "contiguous", "self, memory_format=None", t_contiguous, BIND_COPY },
	{ T "clone", "self, *, memory_format=None", t_clone, BIND_COPY },
	{ "torch.clone", "input, *, memory_format=None", t_clone, BIND_COPY },
	{ T "pin_memory", "self", t_pin_memory, BIND_VIEW },
	{ T "copy_", "self, src, non_blocking=False", t_copy_, BIND_COPY | BIND_INPLACE | FREE },
	{ T "fill_", "self, value", t_fill_, BIND_ALLOC | BIND_INPLACE },
	{ T "zero_", "self", t_zero_, BIND_ALLOC | BIND_INPLACE },
	{ "torch.result_type", "tensor1, tensor2", f_result_type, 0 },
	{ "torch.promote_types", "type1, type2", f_promote_types, 0 },
	{ "torch.can_cast", "from_, to", f_can_cast, 0 },
	{ "torch.broadcast_shapes", "*shapes", f_broadcast_shapes, 0 },
#define DTYPE(id, t, tr, st, bytes, class) { "torch." t, "", d_##id, BIND_CONST },
#include "tensor/dtype.def"
#undef DTYPE
	{ "torch.float", "", d_F32, BIND_CONST },
	{ "torch.double", "", d_F64, BIND_CONST },
	{ "torch.half", "", d_F16, BIND_CONST },
	{ "torch.int", "", d_I32, BIND_CONST },
	{ "torch.long", "", d_I64, BIND_CONST },
	{ "torch.short", "", d_I16, BIND_CONST },
	{ NULL, NULL, NULL, 0 }
};
