/* Arguments of bound functions as C values. Wrong types get torch's wording. The return
 * convention is that of bind.h: 0, or -1 with an exception pending. Values are borrowed from
 * the call's slots. */
#include <stdio.h>

#include "interp/attr.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/operator.h"
#include "interp/ptrmap.h"
#include "interp/sig.h"
#include "interp/state.h"

/* Raises a built-in exception. Always returns -1, so that a caller can return it. */
int bind_raise(struct bind *b, enum host_exc x, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(b->h, x, REASON_ok, fmt, ap);
	va_end(ap);
	return -1;
}

int bind_shape_error(struct bind *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(b->h, EXC_RuntimeError, REASON_shape_error, fmt, ap);
	va_end(ap);
	return -1;
}

int bind_unsupported(struct bind *b, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return host_fatal(b->h, REASON_unsupported, "%s", text);
}

/* The common exit of a binding: an exception that is pending already wins over b->e. */
int bind_fail(struct bind *b)
{
	if (b->h->fail.fatal || b->h->fail.exc.kind != V_UNSET)
		return -1;
	return host_raise_err(b->h, &b->e);
}

static const struct sig *sig_of(const struct bind *b)
{
	return ptr_map_get(&b->h->lib->sigs, b->row);
}

/* torch's TypeError: "relu(): argument 'input' (position 1) must be Tensor, not int". */
static int wrong_type(struct bind *b, size_t i, const char *want)
{
	const struct sig *s = sig_of(b);
	const char *dot = strrchr(b->row->name, '.');
	return bind_raise(b, EXC_TypeError, "%s(): argument '%.*s' (position %zu) must be %s, not %s",
			  dot ? dot + 1 : b->row->name,
			  STR_ARG(s->p[i].name), i + 1, want,
			  b->a[i].kind == V_UNSET ? "missing" : val_type_name(b->h, b->a[i]));
}

int bind_tensor(struct bind *b, size_t i, struct tensor **t)
{
	if (b->a[i].kind != V_TENSOR)
		return wrong_type(b, i, "Tensor");
	*t = &b->a[i].u.t->t;
	return 0;
}

/* None or a missing argument gives NULL. */
int bind_opt_tensor(struct bind *b, size_t i, struct tensor **t)
{
	*t = NULL;
	return bind_given(b, i) ? bind_tensor(b, i, t) : 0;
}

/* A tensor of one element can be used as a number. */
static int scalar_tensor(struct val v)
{
	return v.kind == V_TENSOR && tensor_numel(&v.u.t->t) == 1;
}

/* v as an integer. Returns -1 without an exception if v is none, so the caller words the error.
 * A tensor's element is read through host_read, which counts it. */
static int int_of(struct host *h, struct val v, int64_t *out)
{
	struct val r;
	if (v.kind == V_INT || v.kind == V_BOOL) {
		*out = v.u.i;
		return 0;
	}
	if (scalar_tensor(v) && !dtype_is_float(v.u.t->t.dt)) {
		if (host_read(h, &v.u.t->t, &r))
			return -1;
		*out = r.u.i;
		return 0;
	}
	if (v.kind == V_OBJECT && call_special(h, v, NM___index__, NULL, 0, &r) > 0 && r.kind == V_INT) {
		*out = r.u.i;
		return 0;
	}
	return -1;
}

/* torch's argument parser in C++ takes no number for a bool and no bool for a number. torch.nn
 * functions are Python in torch and do accept them. */
static int torch_parses(const struct bind *b)
{
	return !strncmp(b->row->name, "torch.", 6) && strncmp(b->row->name, "torch.nn.", 9) != 0 &&
		!(b->row->flags & BIND_INTERNAL);
}

/* An int. A bool counts as one except where torch's own parser refuses it. */
int bind_int(struct bind *b, size_t i, int64_t *v)
{
	if (b->a[i].kind == V_BOOL && torch_parses(b))
		return wrong_type(b, i, "int");
	if (!int_of(b->h, b->a[i], v))
		return 0;
	return b->h->fail.fatal || b->h->fail.exc.kind != V_UNSET ? -1 : wrong_type(b, i, "int");
}

/* A number, a tensor of one element, or an object with __float__. */
int bind_float(struct bind *b, size_t i, double *v)
{
	struct val x = b->a[i], r;
	if (val_is_number(x)) {
		*v = val_as_double(x);
		return 0;
	}
	if (scalar_tensor(x)) {
		if (host_read(b->h, &x.u.t->t, &r))
			return -1;
		*v = val_as_double(r);
		return 0;
	}
	if (x.kind == V_OBJECT && call_special(b->h, x, NM___float__, NULL, 0, &r) > 0 && r.kind == V_FLOAT) {
		*v = r.u.f;
		return 0;
	}
	return b->h->fail.fatal || b->h->fail.exc.kind != V_UNSET ? -1 : wrong_type(b, i, "float");
}

/* See bind.h. The new tensor is a temporary. */
int bind_unwrap(struct bind *b, struct val *v)
{
	struct val made;
	int found = v->kind == V_OBJECT ? call_special(b->h, *v, NM___array__, NULL, 0, &made) : 0;

	if (found > 0 && made.kind == V_TENSOR)
		*v = made;
	return found < 0 ? -1 : 0;
}

/* None and a missing argument are false. */
int bind_bool(struct bind *b, size_t i, int *v)
{
	if (b->a[i].kind == V_NONE || b->a[i].kind == V_UNSET) {
		*v = 0;
		return 0;
	}
	if (b->a[i].kind != V_BOOL && (b->a[i].kind != V_INT || torch_parses(b)))
		return wrong_type(b, i, "bool");
	*v = b->a[i].u.i != 0;
	return 0;
}

int bind_string(struct bind *b, size_t i, struct str *v)
{
	if (b->a[i].kind != V_STR)
		return wrong_type(b, i, "str");
	*v = val_text(b->a[i]);
	return 0;
}

/* torch.float32, or Python's float, int and bool as torch accepts them. */
int bind_dtype(struct bind *b, size_t i, enum dtype otherwise, enum dtype *v)
{
	struct val x;

	*v = otherwise;
	if (!bind_given(b, i))
		return 0;
	x = b->a[i];
	if (x.kind == V_DTYPE) {
		*v = (enum dtype)x.u.i;
		return 0;
	}
	if (x.kind == V_CLASS) {        /* dtype=float, int, bool */
		if (x.u.c->kind == V_FLOAT)
			*v = DT_F64;
		else if (x.u.c->kind == V_INT)
			*v = DT_I64;
		else if (x.u.c->kind == V_BOOL)
			*v = DT_BOOL;
		else
			return wrong_type(b, i, "torch.dtype");
		return 0;
	}
	return wrong_type(b, i, "torch.dtype");
}

/* There is one GPU. torch.device("cuda:1") may be made, but nothing can be placed there. */
static int check_ordinal(struct bind *b, enum host_device d, int64_t index)
{
	if (d != HOST_CUDA || index <= 0 || sig_of(b)->is_new || b->h->o.may_mix)
		return 0;
	return bind_raise(b, EXC_RuntimeError, "CUDA error: invalid device ordinal");
}

/* A torch.device, an int (cuda:N) or a string. Device types that torch has and this engine
 * lacks are unsupported; any other string gets torch's RuntimeError. */
int bind_device(struct bind *b, size_t i, enum host_device *v)
{
	static const char *const others[] = { "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip",
					      "ve", "fpga", "maia", "xla", "lazy",
					      "vulkan", "mps", "hpu", "mtia", "privateuseone" };
	struct val x = b->a[i];
	*v = b->h->torch.call_device;
	if (!bind_given(b, i))
		return 0;
	if (x.kind == V_DEVICE) {
		*v = (enum host_device)x.aux;
		return check_ordinal(b, *v, x.u.i);
	}
	if (x.kind == V_INT) {
		*v = HOST_CUDA;
		return check_ordinal(b, *v, x.u.i);
	}
	if (x.kind == V_STR) {
		struct str s = val_text(x), rest = s, name = str_cut(&rest, ':');
		if (str_is(name, "cpu") || str_is(name, "cuda") || str_is(name, "meta")) {
			int64_t index = -1;
			if (rest.n && str_to_i64(rest, &index))
				return bind_raise(b, EXC_RuntimeError, "Invalid device string: '%.*s'", STR_ARG(s));
			*v = str_is(name, "cpu") ? HOST_CPU : str_is(name, "cuda") ? HOST_CUDA : HOST_META;
			return check_ordinal(b, *v, index);
		}
		for (size_t k = 0; k < COUNT_OF(others); k++)
			if (str_is(name, others[k]))
				return bind_unsupported(b, "devices of type %s are not supported", others[k]);
		return bind_raise(b, EXC_RuntimeError,
				  "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, "
				  "ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone "
				  "device type at start of device string: %.*s", STR_ARG(s));
	}
	return wrong_type(b, i, "torch.device");
}

/* Operand of add, mul and the like: a tensor or a Python number. */
int bind_num(struct bind *b, size_t i, struct bind_num *v)
{
	struct val x = b->a[i];
	*v = (struct bind_num){ .t = NULL };
	if (x.kind == V_TENSOR) {
		v->t = &x.u.t->t;
		return 0;
	}
	if (!val_is_number(x))
		return wrong_type(b, i, "Tensor");
	if (x.kind == V_BIG)
		return bind_raise(b, EXC_RuntimeError, "Overflow when unpacking long");
	v->is_float = x.kind == V_FLOAT;
	v->is_bool = x.kind == V_BOOL;
	v->f = val_as_double(x);
	v->i = x.kind == V_FLOAT ? 0 : x.u.i;
	return 0;
}

/* --- several integers --------------------------------------------------------------------------------- */

/* n values as integers. A tensor has at most TENSOR_DIMS dimensions. */
static int ints_of(struct bind *b, size_t i, const struct val *v, size_t n, struct bind_ints *out)
{
	if (n > TENSOR_DIMS)
		return bind_unsupported(b, "tensors of more than %d dimensions are not supported", TENSOR_DIMS);
	out->n = (int)n;
	for (size_t k = 0; k < n; k++)
		if (int_of(b->h, v[k], &out->v[k])) {
			if (b->h->fail.fatal || b->h->fail.exc.kind != V_UNSET)
				return -1;
			return wrong_type(b, i, "tuple of ints");
		}
	return 0;
}

/* A sequence of ints, or one int. A list is copied, because __index__ of its items may change
 * it. */
static int seq_ints(struct bind *b, size_t i, struct val x, struct bind_ints *v)
{
	if (x.kind == V_LIST && val_tuple(b->h, x.u.seq->v, x.u.seq->n, &x))
		return -1;
	return x.kind == V_TUPLE ? ints_of(b, i, x.u.seq->v, x.u.seq->n, v) : ints_of(b, i, &x, 1, v);
}

int bind_ints(struct bind *b, size_t i, struct bind_ints *v)
{
	struct val x = b->a[i];
	return seq_ints(b, i, x, v);
}

/* stride=2 and stride=(2, 2) mean the same for a 2-d window. */
int bind_ints_n(struct bind *b, size_t i, int want, struct bind_ints *v)
{
	int64_t most;

	if (bind_ints(b, i, v))
		return -1;
	if (v->n == 1)
		for (int k = 1; k < want; k++)
			v->v[k] = v->v[0];
	else if (v->n != want)
		return bind_shape_error(b, "expected %d values for '%.*s', got %d", want,
					STR_ARG(sig_of(b)->p[i].name), v->n);
	v->n = want;
	/* Window sizes are limited so that products over a window (elements, extent) fit in 64
	 * bits. */
	most = (int64_t)1 << MIN(28, 57 / want);
	for (int k = 0; k < want; k++)
		if (v->v[k] > most || v->v[k] < -most)
			return bind_shape_error(b, "'%.*s' of %lld is too large", STR_ARG(sig_of(b)->p[i].name),
						(long long)v->v[k]);
	return 0;
}

/* zeros(2, 3) and zeros((2, 3)) are the same: a single sequence is unpacked. */
int bind_shape(struct bind *b, size_t i, struct bind_ints *v)
{
	struct val x = b->a[i];
	if ((x.kind == V_TUPLE || x.kind == V_LIST) && x.u.seq->n == 1 &&
	    (x.u.seq->v[0].kind == V_TUPLE || x.u.seq->v[0].kind == V_LIST))
		x = x.u.seq->v[0];
	return seq_ints(b, i, x, v);
}

/* -1 is the last dimension. A 0-d tensor accepts -1 and 0. */
static int wrap_dim(struct bind *b, int64_t d, int ndim, int64_t *out)
{
	int64_t n = ndim ? ndim : 1;
	if (d < -n || d >= n)
		return bind_raise(b, EXC_IndexError,
				  "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
				  (long long)-n, (long long)(n - 1), (long long)d);
	*out = d < 0 ? d + n : d;
	return 0;
}

/* One dimension, made non-negative. */
int bind_dim(struct bind *b, size_t i, int ndim, int *dim)
{
	int64_t d = 0;
	if (bind_int(b, i, &d) || wrap_dim(b, d, ndim, &d))
		return -1;
	*dim = (int)d;
	return 0;
}

/* Several dimensions, each at most once. */
int bind_dims(struct bind *b, size_t i, int ndim, struct bind_ints *v)
{
	v->n = 0;
	if (!bind_given(b, i))
		return 0;
	if (bind_ints(b, i, v))
		return -1;
	for (int k = 0; k < v->n; k++) {
		if (wrap_dim(b, v->v[k], ndim, &v->v[k]))
			return -1;
		for (int j = 0; j < k; j++)
			if (v->v[j] == v->v[k])
				return bind_shape_error(b,
							"dim %lld appears multiple times in the list of dims",
							(long long)v->v[k]);
	}
	return 0;
}

/* A list or tuple of tensors, as torch.cat takes it. */
int bind_tensors(struct bind *b, size_t i, struct tensor ***v, size_t *n)
{
	struct val x = b->a[i], list;
	struct seq_obj *s;
	struct val scratch;

	if (x.kind == V_TUPLE && x.u.seq->n == 1 && (x.u.seq->v[0].kind == V_LIST || x.u.seq->v[0].kind == V_TUPLE))
		x = x.u.seq->v[0];
	if (x.kind == V_TENSOR || host_to_list(b->h, x, &list)) {
		if (b->h->fail.fatal)
			return -1;
		host_exc_clear(b->h);
		return wrong_type(b, i, "tuple of Tensors");
	}
	*n = list.u.seq->n;
	/* The array of an empty list serves as scratch memory: the list of temporaries frees
	 * it. */
	s = list.u.seq;
	if (val_list(b->h, NULL, 0, &scratch) ||
	    seq_reserve(b->h, scratch.u.seq, (*n * sizeof **v) / sizeof (struct val) + 1))
		return -1;
	*v = (struct tensor **)(void *)scratch.u.seq->v;
	for (size_t k = 0; k < *n; k++) {
		if (s->v[k].kind != V_TENSOR)
			return bind_raise(b, EXC_TypeError,
					  "expected Tensor as element %zu in argument %zu, but got %s", k, i,
					  val_type_name(b->h, s->v[k]));
		(*v)[k] = &s->v[k].u.t->t;
	}
	return 0;
}
