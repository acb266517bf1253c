/* Views: the same storage in another shape. Rules and messages are PyTorch's, byte for byte,
 * because a candidate may catch and compare them (test/agree).
 *
 * A view only changes offset, shape and strides. Invariant: each element of a view lies in the
 * storage, since the tensor it is made from does and no view reaches further, except
 * tensor_as_strided, which checks it. */
#include "tensor/tensor.h"

#include "base/mem.h"

/* Dimension -1 of 3 is 2. PyTorch treats a scalar as a tensor of one dimension here. */
int tensor_wrap_dim(int *dim, int64_t arg, int ndim, struct err *e)
{
	int n = ndim ? ndim : 1;

	if (arg < -n || arg >= n)
		return err_set(e, ERR_RANGE,
			       "Dimension out of range (expected to be in range of [%d, %d], but got %lld)", -n,
			       n - 1, (long long)arg);
	*dim = (int)(arg < 0 ? arg + n : arg);
	return 0;
}

/* 24 elements as [2, -1, 3] become [2, 4, 3]. If another size is 0, the -1 could be anything, and
 * PyTorch refuses it. */
int tensor_infer_shape(int64_t *out, int ndim, const int64_t *shape, int64_t numel, struct err *e)
{
	int64_t known = 1;
	int unknown = -1, overflow = 0;

	for (int i = 0; i < ndim; i++) {
		out[i] = shape[i];
		if (shape[i] == -1) {
			if (unknown >= 0)
				return err_set(e, ERR_STATE, "only one dimension can be inferred");
			unknown = i;
		} else if (shape[i] < 0) {
			return err_set(e, ERR_STATE, "invalid shape dimension %lld at index %d of shape %s",
				       (long long)shape[i], i, SHAPE_TEXT(ndim, shape));
		} else {
			overflow |= ck_mul64(known, shape[i], &known);
		}
	}
	/* A product that overflows can match no tensor. */
	if (!overflow && unknown < 0 && known == numel)
		return tensor_check_sizes(ndim, shape, e);
	if (!overflow && unknown >= 0 && known > 0 && numel % known == 0) {
		out[unknown] = numel / known;
		return 0;
	}
	if (!overflow && unknown >= 0 && known == 0 && numel == 0)
		return err_set(e, ERR_STATE,
			       "cannot reshape tensor of 0 elements into shape %s because the unspecified "
			       "dimension size "
			       "-1 can be any value and is ambiguous",
			       SHAPE_TEXT(ndim, shape));
	return err_set(e, ERR_STATE, "shape '%s' is invalid for input of size %lld", SHAPE_TEXT(ndim, shape),
		       (long long)numel);
}

/* Strides of `shape` over the memory of t, or -1 if t's layout cannot be seen that way.
 * Dimensions of t that are contiguous with each other form a group, and the new dimensions must
 * cut each group exactly. [2, 6] with strides { 6, 1 } can be viewed as [3, 4]; with strides {
 * 12, 1 } it cannot, because a new row would cross a gap. */
static int view_strides(const struct tensor *t, int ndim, const int64_t *shape, int64_t *stride)
{
	int64_t old_n = 1, new_n = 1, base;
	int d = ndim - 1;

	if (t->ndim == 0) {
		for (int i = 0; i < ndim; i++)
			stride[i] = 1;
		return 0;
	}
	/* From the last dimension on: old_n elements of the current group of t, new_n of the new shape. */
	base = t->stride[t->ndim - 1];
	for (int i = t->ndim - 1; i >= 0; i--) {
		old_n *= t->shape[i];
		if (i > 0 && (t->shape[i - 1] == 1 || t->stride[i - 1] == old_n * base))
			continue;
		/* The group ends here: new dimensions must fill it exactly. */
		while (d >= 0 && (new_n < old_n || shape[d] == 1)) {
			stride[d] = new_n * base;
			new_n *= shape[d--];
		}
		if (new_n != old_n)
			return -1;
		if (i > 0) {
			base = t->stride[i - 1];
			old_n = new_n = 1;
		}
	}
	return d == -1 ? 0 : -1;
}

/* Makes *out a view of t's storage with its own reference; out may be t. */
static void take_view(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape,
		      const int64_t *stride, int64_t offset)
{
	struct tensor v = { .st = t->st, .dt = t->dt, .ndim = ndim, .offset = offset };

	for (int i = 0; i < ndim; i++) {
		v.shape[i] = shape[i];
		v.stride[i] = stride[i];
	}
	v.st->refs++;
	*out = v;
}

/* More dimensions than a struct tensor can hold are unsupported. */
static int check_ndim(int ndim, struct err *e)
{
	if (ndim < 0 || ndim > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "tensors of %d dimensions", ndim);
	return 0;
}

/* A tensor without elements can take any shape without elements. */
static int try_view(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape)
{
	int64_t stride[TENSOR_DIMS];

	if (tensor_numel(t) == 0)
		tensor_dense_strides(ndim, shape, stride);
	else if (view_strides(t, ndim, shape, stride))
		return -1;
	take_view(out, t, ndim, shape, stride, t->offset);
	return 0;
}

/* view never copies: a layout that does not fit is an error, for which reshape would make a copy. */
int tensor_view(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape, struct err *e)
{
	int64_t full[TENSOR_DIMS];

	if (check_ndim(ndim, e) || tensor_infer_shape(full, ndim, shape, tensor_numel(t), e))
		return -1;
	if (try_view(out, t, ndim, full))
		return err_set(e, ERR_STATE,
			       "view size is not compatible with input tensor's size and stride (at least "
			       "one dimension "
			       "spans across two contiguous subspaces). Use .reshape(...) instead.");
	return 0;
}

/* The product of a stride and a step. If it overflows, the view has one element or none, and its
 * stride is never used. */
static int64_t stride_times(int64_t stride, int64_t step)
{
	int64_t v;

	return ck_mul64(stride, step, &v) ? stride : v;
}

/* A grown dimension has the stride 0. -1 keeps a size. */
int tensor_expand(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape, struct err *e)
{
	int64_t size[TENSOR_DIMS], stride[TENSOR_DIMS];
	int lead = ndim - t->ndim;

	if (check_ndim(ndim, e))
		return -1;
	if (lead < 0)
		return err_set(e, ERR_STATE,
			       "expand(torch.Tensor{%s}, size=%s): the number of sizes provided (%d) must "
			       "be greater or "
			       "equal to the number of dimensions in the tensor (%d)",
			       SHAPE_TEXT(t->ndim, t->shape), SHAPE_TEXT(ndim, shape), ndim, t->ndim);
	/* Sizes are aligned at the last dimension; `lead` new dimensions come before those of t. */
	for (int i = ndim - 1; i >= 0; i--) {
		int64_t own = i >= lead ? t->shape[i - lead] : 1;

		size[i] = shape[i] == -1 && i >= lead ? own : shape[i];
		if (size[i] < 0)
			return err_set(e, ERR_STATE,
				       "The expanded size of the tensor (%lld) isn't allowed in a leading, "
				       "non-existing "
				       "dimension %d",
				       (long long)shape[i], i);
		if (own != size[i] && own != 1)
			return err_set(e, ERR_STATE,
				       "The expanded size of the tensor (%lld) must match the existing size (%lld) at "
				       "non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
				       (long long)size[i], (long long)own, i, SHAPE_TEXT(ndim, shape),
				       SHAPE_TEXT(t->ndim, t->shape));
		if (i >= lead && own == size[i])
			stride[i] = t->stride[i - lead];
		else if (size[i] == 1)
			stride[i] = i + 1 < ndim ? stride_times(stride[i + 1], size[i + 1]) : 1;
		else
			stride[i] = 0;
	}
	if (tensor_check_sizes(ndim, size, e))
		return -1;
	take_view(out, t, ndim, size, stride, t->offset);
	return 0;
}

/* Dimension i of the result is dimension dims[i] of t; each must appear once. */
int tensor_permute(struct tensor *out, const struct tensor *t, const int *dims, struct err *e)
{
	int64_t shape[TENSOR_DIMS], stride[TENSOR_DIMS];
	unsigned seen = 0;

	for (int i = 0; i < t->ndim; i++) {
		int d = 0;

		if (tensor_wrap_dim(&d, dims[i], t->ndim, e))
			return -1;
		if (seen >> d & 1)
			return err_set(e, ERR_STATE, "permute(): duplicate dims are not allowed.");
		seen |= 1u << d;
		shape[i] = t->shape[d];
		stride[i] = t->stride[d];
	}
	take_view(out, t, t->ndim, shape, stride, t->offset);
	return 0;
}

/* A permutation that swaps two dimensions. */
int tensor_transpose(struct tensor *out, const struct tensor *t, int64_t dim0, int64_t dim1, struct err *e)
{
	int dims[TENSOR_DIMS], a = 0, b = 0;

	if (tensor_wrap_dim(&a, dim0, t->ndim, e) || tensor_wrap_dim(&b, dim1, t->ndim, e))
		return -1;
	for (int i = 0; i < t->ndim; i++)
		dims[i] = i == a ? b : i == b ? a : i;
	return tensor_permute(out, t, dims, e);
}

/* Python's slice rules: negative bounds count from the end, and bounds are clamped. */
int tensor_slice(struct tensor *out, const struct tensor *t, int dim, int64_t start, int64_t stop, int64_t step,
		 struct err *e)
{
	int64_t n;

	if (t->ndim == 0)
		return err_set(e, ERR_RANGE, "slice() cannot be applied to a 0-dim tensor.");
	if (tensor_wrap_dim(&dim, dim, t->ndim, e))
		return -1;
	if (step <= 0)
		return err_set(e, ERR_FORMAT, "step must be greater than zero");
	n = t->shape[dim];
	start += start < 0 ? n : 0;
	stop += stop < 0 ? n : 0;
	start = MIN(MAX(start, 0), n);
	stop = MIN(MAX(stop, start), n);
	take_view(out, t, t->ndim, t->shape, t->stride, t->offset + start * t->stride[dim]);
	out->shape[dim] = (stop - start) / step + ((stop - start) % step != 0);
	out->stride[dim] = stride_times(t->stride[dim], step);
	return 0;
}

/* Removes dimension `dim` by taking one index of it: t[:, 3] is select(1, 3). */
int tensor_select(struct tensor *out, const struct tensor *t, int dim, int64_t index, struct err *e)
{
	if (t->ndim == 0)
		return err_set(e, ERR_RANGE, "select() cannot be applied to a 0-dim tensor.");
	if (tensor_wrap_dim(&dim, dim, t->ndim, e))
		return -1;
	if (index < -t->shape[dim] || index >= t->shape[dim])
		return err_set(e, ERR_RANGE, "index %lld is out of bounds for dimension %d with size %lld",
			       (long long)index,
			       dim, (long long)t->shape[dim]);
	index += index < 0 ? t->shape[dim] : 0;
	take_view(out, t, t->ndim, t->shape, t->stride, t->offset + index * t->stride[dim]);
	for (int i = dim; i + 1 < t->ndim; i++) {
		out->shape[i] = out->shape[i + 1];
		out->stride[i] = out->stride[i + 1];
	}
	out->ndim--;
	return 0;
}

/* The stride of the new dimension is PyTorch's, although nothing depends on it. */
int tensor_unsqueeze(struct tensor *out, const struct tensor *t, int dim, struct err *e)
{
	int64_t shape[TENSOR_DIMS], stride[TENSOR_DIMS];

	if (tensor_wrap_dim(&dim, dim, t->ndim + 1, e) || check_ndim(t->ndim + 1, e))
		return -1;
	for (int i = 0; i <= t->ndim; i++) {
		if (i == dim) {
			shape[i] = 1;
			stride[i] = i < t->ndim ? stride_times(t->stride[i], t->shape[i]) : 1;
		} else {
			shape[i] = t->shape[i - (i > dim)];
			stride[i] = t->stride[i - (i > dim)];
		}
	}
	take_view(out, t, t->ndim + 1, shape, stride, t->offset);
	return 0;
}

/* A dimension that is not 1 stays, as in PyTorch. */
int tensor_squeeze(struct tensor *out, const struct tensor *t, int dim, struct err *e)
{
	if (tensor_wrap_dim(&dim, dim, t->ndim, e))
		return -1;
	if (t->ndim == 0 || t->shape[dim] != 1) {
		take_view(out, t, t->ndim, t->shape, t->stride, t->offset);
		return 0;
	}
	return tensor_select(out, t, dim, 0, e);
}

/* Windows of `size` elements every `step` along a dimension, as a new last dimension: 10 elements
 * with size 4 and step 3 give 3 windows. */
int tensor_unfold(struct tensor *out, const struct tensor *t, int64_t dim, int64_t size, int64_t step, struct err *e)
{
	int64_t n;
	int d = 0;

	if (tensor_wrap_dim(&d, dim, t->ndim, e) || check_ndim(t->ndim + 1, e))
		return -1;
	n = t->ndim ? t->shape[d] : 1;
	if (size > n)
		return err_set(e, ERR_STATE, "maximum size for tensor at dimension %d is %lld but size is %lld", d,
			       (long long)n, (long long)size);
	if (size < 0 || step <= 0)
		return err_set(e, ERR_STATE, "step is %lld but must be > 0", (long long)step);
	take_view(out, t, t->ndim, t->shape, t->stride, t->offset);
	out->shape[t->ndim] = size;
	out->stride[t->ndim] = t->ndim ? t->stride[d] : 1;
	if (t->ndim) {
		out->shape[d] = (n - size) / step + 1;
		out->stride[d] = stride_times(t->stride[d], step);
	}
	out->ndim++;
	if (!tensor_check_sizes(out->ndim, out->shape, e))
		return 0;
	tensor_release(out);
	return -1;
}

/* Checks that the last element lies in the storage; all arithmetic is checked for overflow. */
int tensor_as_strided(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape,
		      const int64_t *stride, int64_t offset, struct err *e)
{
	int64_t last = offset, step, bytes;
	int empty = 0, bad = offset < 0;

	if (check_ndim(ndim, e))
		return -1;
	for (int i = 0; i < ndim && !bad; i++) {
		empty |= shape[i] == 0;
		bad = shape[i] < 0 || stride[i] < 0 || ck_mul64(shape[i] - 1, stride[i], &step) ||
		      ck_add64(last, step, &last);
	}
	/* `last` is the index of the last element; the end of that element, in bytes, must be
	 * inside. */
	bad = bad || ck_add64(last, 1, &last) || ck_mul64(last, dtype_size(t->dt), &bytes);
	if (bad || (!empty && bytes > (int64_t)t->st->bytes))
		return err_set(e, ERR_STATE,
			       "setStorage: sizes %s, strides %s, storage offset %lld, and itemsize %d requiring a "
			       "storage size of %lld are out of bounds for storage of size %zu",
			       SHAPE_TEXT(ndim, shape), SHAPE_TEXT(ndim, stride), (long long)offset, dtype_size(t->dt),
			       bad ? -1LL : (long long)bytes, t->st->bytes);
	if (tensor_check_sizes(ndim, shape, e))
		return -1;
	take_view(out, t, ndim, shape, stride, offset);
	return 0;
}

/* Shapes are aligned at their last dimension: [8, 1, 4] and [5, 4] give [8, 5, 4]. */
int tensor_broadcast_shape(int *ndim, int64_t *shape, int bdim, const int64_t *bshape, struct err *e)
{
	int n = MAX(*ndim, bdim);
	int64_t out[TENSOR_DIMS];

	for (int i = 1; i <= n; i++) {
		int64_t a = i <= *ndim ? shape[*ndim - i] : 1, b = i <= bdim ? bshape[bdim - i] : 1;

		if (a != b && a != 1 && b != 1)
			return err_set(e, ERR_STATE,
				       "The size of tensor a (%lld) must match the size of tensor b (%lld) at "
				       "non-singleton dimension %d",
				       (long long)a, (long long)b, n - i);
		out[n - i] = a == 1 ? b : a;
	}
	for (int i = 0; i < n; i++)
		shape[i] = out[i];
	*ndim = n;
	return tensor_check_sizes(n, shape, e);
}

/* Starts with the shape of a and adds b. */
int tensor_broadcast(const struct tensor *a, const struct tensor *b, int *ndim, int64_t *shape, struct err *e)
{
	*ndim = a->ndim;
	for (int i = 0; i < a->ndim; i++)
		shape[i] = a->shape[i];
	return tensor_broadcast_shape(ndim, shape, b->ndim, b->shape, e);
}
