/* Bindings of views: other shapes, strides and parts of the same storage. A result shares
 * storage with its argument (BIND_VIEW); only reshape, flatten and unflatten may copy, if the
 * strides leave no view. Errors are PyTorch's. */
#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"
#include "torch/torch.h"

/* The usual end of a binding: the view, or the error of the operator. */
static int viewed(struct bind *b, int rc, struct tensor *v)
{
	return rc ? bind_fail(b) : bind_result(b, v);
}

/* --- reshaping ------------------------------------------------------------------------------- */

/* self, *shape. x.view(torch.int32) reinterprets the bytes; only between types of one size
 * here. */
static int v_view(struct bind *b)
{
	struct tensor *t, v;
	struct bind_ints s;
	struct val *first = b->a[1].kind == V_TUPLE && b->a[1].u.seq->n == 1 ? &b->a[1].u.seq->v[0] : NULL;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (first && first->kind == V_DTYPE) {
		enum dtype dt = (enum dtype)first->u.i;

		/* PyTorch would scale the last dimension. */
		if (dtype_size(dt) != dtype_size(t->dt))
			return bind_unsupported(b, "Tensor.view(dtype) to another element size");
		v = *t;
		v.dt = dt;
		tensor_retain(&v);
		return bind_result(b, &v);
	}
	if (bind_shape(b, 1, &s))
		return -1;
	return viewed(b, tensor_view(&v, t, s.n, s.v, bind_e(b)), &v);
}

/* A view if the strides allow one, else a copy. */
static int v_reshape(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, v;
	struct bind_ints s;

	if (bind_tensor(b, 0, &t) || bind_shape(b, 1, &s))
		return -1;
	return viewed(b, num_reshape(&c, &v, t, s.n, s.v, bind_e(b)), &v);
}

/* self, other: view(other.shape). */
static int v_view_as(struct bind *b)
{
	struct tensor *t, *like, v;

	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &like))
		return -1;
	return viewed(b, tensor_view(&v, t, like->ndim, like->shape, bind_e(b)), &v);
}

/* self, other: reshape(other.shape). */
static int v_reshape_as(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *like, v;

	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &like))
		return -1;
	return viewed(b, num_reshape(&c, &v, t, like->ndim, like->shape, bind_e(b)), &v);
}

/* input, start_dim=0, end_dim=-1: the dimensions from start to end become one. A single
 * dimension gives the tensor itself; a 0-d tensor becomes [1]. */
static int v_flatten(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, v;
	int64_t shape[TENSOR_DIMS], merged = 1;
	int from, to, n = 0;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &from) || bind_dim(b, 2, t->ndim, &to))
		return -1;
	if (from > to)
		return bind_raise(b, EXC_RuntimeError,
				  "flatten() has invalid args: start_dim cannot come after end_dim");
	if (t->ndim && from == to) {
		v = *t;
		tensor_retain(&v);
		return bind_result(b, &v);
	}
	for (int i = 0; i < t->ndim; i++) {
		if (i >= from && i <= to)
			merged *= t->shape[i];
		if (i < from || i > to)
			shape[n++] = t->shape[i];
		else if (i == to)
			shape[n++] = merged;
	}
	if (t->ndim == 0)
		shape[n++] = 1;
	return viewed(b, num_reshape(&c, &v, t, n, shape, bind_e(b)), &v);
}

/* input, dim, sizes: one dimension becomes several; one of the sizes may be -1. */
static int v_unflatten(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, v;
	struct bind_ints s;
	int64_t shape[TENSOR_DIMS * 2], part[TENSOR_DIMS];
	int dim, n = 0;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_ints(b, 2, &s))
		return -1;
	if (b->a[2].kind == V_INT)
		return bind_raise(b, EXC_TypeError,
				  "unflatten(): argument 'sizes' (position 2) must be tuple of ints, not int");
	if (tensor_infer_shape(part, s.n, s.v, t->shape[dim], bind_e(b)))
		return bind_fail(b);
	for (int i = 0; i < t->ndim; i++)
		if (i != dim)
			shape[n++] = t->shape[i];
		else
			for (int k = 0; k < s.n; k++)
				shape[n++] = part[k];
	return viewed(b, num_reshape(&c, &v, t, n, shape, bind_e(b)), &v);
}

/* --- dimensions -------------------------------------------------------------------------------- */

/* self, *dims, with PyTorch's check of their number. */
static int v_permute(struct bind *b)
{
	struct tensor *t, v;
	struct bind_ints s;
	int dims[TENSOR_DIMS];

	if (bind_tensor(b, 0, &t) || bind_shape(b, 1, &s))
		return -1;
	if (s.n != t->ndim)
		return bind_shape_error(b,
					"permute(sparse_coo): number of dimensions in the tensor "
					"input does not match the length of the desired ordering "
					"of dimensions i.e. input.dim() = %d is not equal to "
					"len(dims) = %d",
					t->ndim, s.n);
	for (int i = 0; i < s.n; i++)
		if (tensor_wrap_dim(&dims[i], s.v[i], t->ndim, bind_e(b)))
			return bind_fail(b);
	return viewed(b, tensor_permute(&v, t, dims, bind_e(b)), &v);
}

/* input, dim0, dim1 */
static int v_transpose(struct bind *b)
{
	struct tensor *t, v;
	int64_t d0, d1;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &d0) || bind_int(b, 2, &d1))
		return -1;
	return viewed(b, tensor_transpose(&v, t, d0, d1, bind_e(b)), &v);
}

/* Transposes a matrix; vectors and numbers stay. */
static int v_t(struct bind *b)
{
	struct tensor *t, v;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (t->ndim > 2)
		return bind_shape_error(b, "t() expects a tensor with <= 2 dimensions, but self is %dD", t->ndim);
	if (t->ndim < 2) {
		v = *t;
		tensor_retain(&v);
		return bind_result(b, &v);
	}
	return viewed(b, tensor_transpose(&v, t, 0, 1, bind_e(b)), &v);
}

/* x.T reverses all dimensions. */
static int v_T(struct bind *b)
{
	struct tensor *t, v;
	int dims[TENSOR_DIMS];

	if (bind_tensor(b, 0, &t))
		return -1;
	for (int i = 0; i < t->ndim; i++)
		dims[i] = t->ndim - 1 - i;
	return viewed(b, tensor_permute(&v, t, dims, bind_e(b)), &v);
}

/* x.mT swaps the last two dimensions. */
static int v_mT(struct bind *b)
{
	struct tensor *t, v;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (t->ndim < 2)
		return bind_shape_error(b,
					"tensor.mT is only supported on matrices or batches of "
					"matrices. Got %d-D tensor.", t->ndim);
	return viewed(b, tensor_transpose(&v, t, -2, -1, bind_e(b)), &v);
}

/* input, source, destination: source[i] moves to destination[i]; the other dimensions keep
 * their order in the free positions. */
static int v_movedim(struct bind *b)
{
	struct tensor *t, v;
	struct bind_ints from, to;
	int dims[TENSOR_DIMS], next = 0;
	unsigned moved = 0, taken = 0;

	if (bind_tensor(b, 0, &t) || bind_dims(b, 1, t->ndim, &from) || bind_dims(b, 2, t->ndim, &to))
		return -1;
	if (from.n != to.n)
		return bind_shape_error(b,
					"movedim: Invalid source or destination dims: source (%d "
					"dims) should contain the same number of dims as "
					"destination (%d dims)", from.n, to.n);
	for (int i = 0; i < from.n; i++) {
		/* dims[i] is the source of result dimension i. */
		dims[to.v[i]] = (int)from.v[i];
		moved |= 1u << from.v[i];
		taken |= 1u << to.v[i];
	}
	for (int i = 0; i < t->ndim; i++) {
		if (taken >> i & 1)
			continue;
		/* The next source dimension that was not moved explicitly. */
		while (moved >> next & 1)
			next++;
		dims[i] = next++;
	}
	return viewed(b, tensor_permute(&v, t, dims, bind_e(b)), &v);
}

/* dim may be one past the last dimension. */
static int v_unsqueeze(struct bind *b)
{
	struct tensor *t, v;
	int dim;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim + 1, &dim))
		return -1;
	return viewed(b, tensor_unsqueeze(&v, t, dim, bind_e(b)), &v);
}

/* Drops the dimensions of size 1, or of those only the ones named in slot 1. */
static int v_squeeze(struct bind *b)
{
	struct tensor *t, v;
	struct bind_ints d;
	int n = 0;

	if (bind_tensor(b, 0, &t) || bind_dims(b, 1, t->ndim, &d))
		return -1;
	v = *t;
	for (int i = 0; i < t->ndim; i++) {
		int drop = t->shape[i] == 1 && !bind_given(b, 1);

		for (int k = 0; k < d.n; k++)
			drop |= d.v[k] == i && t->shape[i] == 1;
		if (drop)
			continue;
		v.shape[n] = t->shape[i];
		v.stride[n++] = t->stride[i];
	}
	v.ndim = n;
	tensor_retain(&v);
	return bind_result(b, &v);
}

/* x.squeeze_(), x.unsqueeze_(d), x.t_(), x.transpose_(): shape and strides of x become those
 * of the view that fn makes. */
static int become(struct bind *b, bind_fn *fn)
{
	struct tensor *t;

	if (bind_tensor(b, 0, &t) || fn(b))
		return -1;
	/* The storage and the offset are the same: only shape and strides change. */
	t->ndim = b->out.u.t->t.ndim;
	for (int i = 0; i < t->ndim; i++) {
		t->shape[i] = b->out.u.t->t.shape[i];
		t->stride[i] = b->out.u.t->t.stride[i];
	}
	b->out = b->a[0];
	return 0;
}

static int v_squeeze_(struct bind *b) { return become(b, v_squeeze); }
static int v_unsqueeze_(struct bind *b) { return become(b, v_unsqueeze); }
static int v_t_(struct bind *b) { return become(b, v_t); }
static int v_transpose_(struct bind *b) { return become(b, v_transpose); }

/* self, *size: size-1 dimensions get stride 0; -1 keeps a size. */
static int v_expand(struct bind *b)
{
	struct tensor *t, v;
	struct bind_ints s;

	if (bind_tensor(b, 0, &t) || bind_shape(b, 1, &s))
		return -1;
	return viewed(b, tensor_expand(&v, t, s.n, s.v, bind_e(b)), &v);
}

/* self, other: expand(other.shape). */
static int v_expand_as(struct bind *b)
{
	struct tensor *t, *like, v;

	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &like))
		return -1;
	return viewed(b, tensor_expand(&v, t, like->ndim, like->shape, bind_e(b)), &v);
}

/* *tensors: all expanded to their common shape. */
static int v_broadcast_tensors(struct bind *b)
{
	struct tensor **t, *v;
	int64_t shape[TENSOR_DIMS];
	size_t n, made = 0;
	int ndim = 0, rc = 0;

	if (bind_tensors(b, 0, &t, &n))
		return -1;
	for (size_t i = 0; i < n && !rc; i++)
		rc = tensor_broadcast_shape(&ndim, shape, t[i]->ndim, t[i]->shape, bind_e(b));
	v = mem_array(n + 1, sizeof *v);
	for (; made < n && v && !rc; made++)
		rc = tensor_expand(&v[made], t[made], ndim, shape, bind_e(b));
	if (rc || !v) {
		mem_free(v);
		return rc ? bind_fail(b) : (err_nomem(bind_e(b)), bind_fail(b));
	}
	rc = bind_tuple(b, v, n);
	mem_free(v);
	return rc;
}

/* --- parts --------------------------------------------------------------------------------------- */

/* input, dim, index: removes a dimension. The message names the dimension as the program
 * wrote it. */
static int v_select(struct bind *b)
{
	struct tensor *t, v;
	int64_t d, i;
	int dim = 0;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &d) || bind_int(b, 2, &i))
		return -1;
	if (d >= -t->ndim && d < t->ndim) {
		dim = (int)(d < 0 ? d + t->ndim : d);

		if (i < -t->shape[dim] || i >= t->shape[dim])
			return bind_raise(b, EXC_IndexError,
					  "select(): index %lld out of range for tensor of size %s at dimension %lld",
					  (long long)i,
					  SHAPE_TEXT(t->ndim, t->shape), (long long)d);
	}
	return viewed(b, t->ndim && tensor_wrap_dim(&dim, d, t->ndim, bind_e(b)) ? -1 :
		      tensor_select(&v, t, dim, i, bind_e(b)), &v);
}

/* input, dim, start, length: the slice start .. start + length, without clipping. */
static int v_narrow(struct bind *b)
{
	struct tensor *t, v;
	int64_t start, n;
	int dim;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_int(b, 2, &start) || bind_int(b, 3, &n))
		return -1;
	if (t->ndim == 0)
		return bind_shape_error(b, "narrow() cannot be applied to a 0-dim tensor.");
	if (n < 0)
		return bind_shape_error(b, "narrow(): length must be non-negative.");
	if (start < -t->shape[dim] || start > t->shape[dim])
		return bind_raise(b, EXC_IndexError,
				  "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
				  (long long)-t->shape[dim], (long long)t->shape[dim], (long long)start);
	start += start < 0 ? t->shape[dim] : 0;
	if (n > t->shape[dim] - start)
		return bind_shape_error(b, "start (%lld) + length (%lld) exceeds dimension size (%lld).",
					(long long)start, (long long)n, (long long)t->shape[dim]);
	return viewed(b, tensor_slice(&v, t, dim, start, start + n, 1, bind_e(b)), &v);
}

/* A tuple of n views [at, at + size[i]) along dim, one after the other. */
static int parts(struct bind *b, const struct tensor *t, int dim, const int64_t *size, int64_t n)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *v = num_array(&c, n + 1, sizeof *v, bind_e(b));
	int64_t at = 0;
	int rc = 0;

	if (!v)
		return bind_fail(b);
	for (int64_t i = 0; i < n && !rc; i++) {
		rc = tensor_slice(&v[i], t, dim, at, at + size[i], 1, bind_e(b));
		at += size[i];
	}
	rc = rc ? bind_fail(b) : bind_tuple(b, v, (size_t)n);
	mem_free(v);
	return rc;
}

/* Parts of `size` elements, the last one possibly shorter. A dimension of size 0 gives one
 * part. */
static int equal_parts(struct bind *b, const struct tensor *t, int dim, int64_t size)
{
	struct num_ctx c = torch_ctx(b);
	int64_t n = t->shape[dim], count = n ? (n - 1) / size + 1 : 1;
	int64_t *sizes = num_array(&c, count, sizeof *sizes, bind_e(b));
	int rc;

	if (!sizes)
		return bind_fail(b);
	for (int64_t i = 0; i < count; i++)
		sizes[i] = MIN(size, n - i * size);
	rc = parts(b, t, dim, sizes, count);
	mem_free(sizes);
	return rc;
}

/* tensor, split_size_or_sections, dim=0: equal parts of a size, or parts of the listed sizes. */
static int v_split(struct bind *b)
{
	struct tensor *t;
	struct val sizes;
	int64_t size, total = 0, *list;
	int dim, rc, negative = 0;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 2, t->ndim, &dim))
		return -1;
	if (t->ndim == 0)
		return bind_shape_error(b, "split expects at least a 1-dimensional tensor");
	sizes = b->a[1];
	if (sizes.kind != V_LIST && sizes.kind != V_TUPLE) {
		if (bind_int(b, 1, &size))
			return -1;
		if (size < 0)
			return bind_raise(b, EXC_RuntimeError,
					  "split expects split_size be non-negative, but got split_size=%lld",
					  (long long)size);
		/* PyTorch: parts of size 0 make sense for an empty dimension only; it gives
		 * one part. */
		if (size == 0 && t->shape[dim] == 0)
			return equal_parts(b, t, dim, 1);
		if (size == 0)
			return bind_raise(b, EXC_RuntimeError,
					  "split_size can only be 0 if dimension size is 0, but "
					  "got dimension size of %lld", (long long)t->shape[dim]);
		return equal_parts(b, t, dim, size);
	}
	list = mem_array(sizes.u.seq->n + 1, sizeof *list);
	if (!list) {
		err_nomem(bind_e(b));
		return bind_fail(b);
	}
	for (size_t i = 0; i < sizes.u.seq->n; i++) {
		/* Anything but an integer counts as negative and fails below. */
		list[i] = sizes.u.seq->v[i].kind == V_INT ? sizes.u.seq->v[i].u.i : -1;
		negative |= list[i] < 0;
		/* A sum that overflows matches no size. */
		if (total < 0 || list[i] < 0 || ck_add64(total, list[i], &total))
			total = -1;
	}
	if (negative)
		rc = bind_shape_error(b,
				      "split_with_sizes expects split_sizes have only "
				      "non-negative entries, but got split_sizes=%s",
				      SHAPE_TEXT(MIN((int)sizes.u.seq->n, TENSOR_DIMS), list));
	else if (total != t->shape[dim])
		rc = bind_shape_error(b,
				      "split_with_sizes expects split_sizes to sum exactly to "
				      "%lld (input tensor's size at dimension %d), but got "
				      "split_sizes=%s", (long long)t->shape[dim], dim,
				      SHAPE_TEXT(MIN((int)sizes.u.seq->n, TENSOR_DIMS), list));
	else
		rc = parts(b, t, dim, list, (int64_t)sizes.u.seq->n);
	mem_free(list);
	return rc;
}

/* n parts of a dimension of size 0, as chunk gives. */
static int empty_parts(struct bind *b, const struct tensor *t, int dim, int64_t n)
{
	struct num_ctx c = torch_ctx(b);
	int64_t *sizes = num_array(&c, n, sizeof *sizes, bind_e(b));
	int rc;

	if (!sizes)
		return bind_fail(b);
	memset(sizes, 0, (size_t)n * sizeof *sizes);
	rc = parts(b, t, dim, sizes, n);
	mem_free(sizes);
	return rc;
}

/* input, chunks, dim=0: at most `chunks` parts of ceil(size / chunks) elements. */
static int v_chunk(struct bind *b)
{
	struct tensor *t;
	int64_t n;
	int dim;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &n) || bind_dim(b, 2, t->ndim, &dim))
		return -1;
	if (t->ndim == 0 || n <= 0)
		return bind_shape_error(b, t->ndim ? "chunk expects `chunks` to be greater than 0, got: %lld"
						   : "chunk expects at least a 1-dimensional tensor%.0lld",
						   (long long)n);
	return t->shape[dim] ? equal_parts(b, t, dim, (t->shape[dim] - 1) / n + 1) : empty_parts(b, t, dim, n);
}

/* A tuple of the slices along dim. */
static int v_unbind(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *v;
	int64_t n;
	int dim, rc = 0;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim))
		return -1;
	if (t->ndim == 0)
		return bind_raise(b, EXC_IndexError, "Dimension specified as 0 but tensor has no dimensions");
	n = t->shape[dim];
	if (!(v = num_array(&c, n + 1, sizeof *v, bind_e(b))))
		return bind_fail(b);
	for (int64_t i = 0; i < n && !rc; i++)
		rc = tensor_select(&v[i], t, dim, i, bind_e(b));
	rc = rc ? bind_fail(b) : bind_tuple(b, v, (size_t)n);
	mem_free(v);
	return rc;
}

/* self, dimension, size, step: overlapping windows as a view with a new last dimension. */
static int v_unfold(struct bind *b)
{
	struct tensor *t, v;
	int64_t d, size, step;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &d) || bind_int(b, 2, &size) || bind_int(b, 3, &step))
		return -1;
	return viewed(b, tensor_unfold(&v, t, d, size, step, bind_e(b)), &v);
}

/* input, offset=0, dim1=0, dim2=1 */
static int v_diagonal(struct bind *b)
{
	struct tensor *t, v;
	int64_t off;
	int d1, d2;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &off) || bind_dim(b, 2, t->ndim, &d1) ||
	    bind_dim(b, 3, t->ndim, &d2))
		return -1;
	return viewed(b, num_diagonal(&v, t, off, d1, d2, bind_e(b)), &v);
}

/* input, size, stride, storage_offset=None. The bounds of the storage are checked by
 * tensor_as_strided. */
static int v_as_strided(struct bind *b)
{
	struct tensor *t, v;
	struct bind_ints size, stride;
	int64_t off;

	if (bind_tensor(b, 0, &t) || bind_ints(b, 1, &size) || bind_ints(b, 2, &stride) ||
	    torch_int(b, 3, t->offset, &off))
		return -1;
	if (size.n != stride.n)
		return bind_shape_error(b, "mismatch in length of strides and shape");
	if (tensor_check_strides(stride.n, stride.v, bind_e(b)))
		return bind_fail(b);
	return viewed(b, tensor_as_strided(&v, t, size.n, size.v, stride.v, off, bind_e(b)), &v);
}

/* BIND_VIEW: the result shares storage with slot 0, so writes to either are seen through
 * both. */
#define BOTH(name, sig, fn) { "torch." name, "input" sig, fn, BIND_VIEW }, \
	{ "torch.Tensor." name, "self" sig, fn, BIND_VIEW }
#define METHOD(name, sig, fn) { "torch.Tensor." name, "self" sig, fn, BIND_VIEW }

const struct bind_row torch_view_rows[] = {
	METHOD("view", ", *shape", v_view),
	METHOD("reshape", ", *shape", v_reshape),
	{ "torch.reshape", "input, shape", v_reshape, BIND_VIEW },
	METHOD("view_as", ", other", v_view_as),
	METHOD("reshape_as", ", other", v_reshape_as),
	BOTH("flatten", ", start_dim=0, end_dim=-1", v_flatten),
	BOTH("unflatten", ", dim, sizes", v_unflatten),
	{ "torch.ravel", "input, start_dim=0, end_dim=-1", v_flatten, BIND_VIEW },
	ALIAS("torch.Tensor.ravel", "torch.Tensor.flatten"),
	METHOD("permute", ", *dims", v_permute),
	{ "torch.permute", "input, dims", v_permute, BIND_VIEW },
	BOTH("transpose", ", dim0, dim1", v_transpose),
	BOTH("swapaxes", ", axis0, axis1", v_transpose),
	BOTH("swapdims", ", dim0, dim1", v_transpose),
	BOTH("t", "", v_t),
	{ "torch.Tensor.T", "self", v_T, BIND_VIEW | BIND_PROPERTY },
	{ "torch.Tensor.mT", "self", v_mT, BIND_VIEW | BIND_PROPERTY },
	BOTH("movedim", ", source, destination", v_movedim),
	BOTH("moveaxis", ", source, destination", v_movedim),
	BOTH("unsqueeze", ", dim", v_unsqueeze),
	BOTH("squeeze", ", dim=?", v_squeeze),
	METHOD("squeeze_", ", dim=?", v_squeeze_),
	METHOD("unsqueeze_", ", dim", v_unsqueeze_),
	METHOD("t_", "", v_t_),
	METHOD("transpose_", ", dim0, dim1", v_transpose_),
	METHOD("expand", ", *size", v_expand),
	METHOD("expand_as", ", other", v_expand_as),
	{ "torch.broadcast_to", "input, size", v_expand, BIND_VIEW },
	METHOD("broadcast_to", ", size", v_expand),
	{ "torch.broadcast_tensors", "*tensors", v_broadcast_tensors, BIND_VIEW },
	BOTH("select", ", dim, index", v_select),
	BOTH("narrow", ", dim, start, length", v_narrow),
	{ "torch.split", "tensor, split_size_or_sections, dim=0", v_split, BIND_VIEW },
	METHOD("split", ", split_size, dim=0", v_split),
	ALIAS("torch.split_with_sizes", "torch.split"),
	ALIAS("torch.Tensor.split_with_sizes", "torch.Tensor.split"),
	BOTH("chunk", ", chunks, dim=0", v_chunk),
	BOTH("unbind", ", dim=0", v_unbind),
	{ "torch.Tensor.unfold", "self, dimension, size, step", v_unfold, BIND_VIEW | BIND_WINDOW },
	BOTH("diagonal", ", offset=0, dim1=0, dim2=1", v_diagonal),
	BOTH("as_strided", ", size: tuple | list, stride: tuple | list, storage_offset=None", v_as_strided),
	{ NULL, NULL, NULL, 0 }
};
