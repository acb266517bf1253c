/* Joining, repeating, flipping, rolling, triangles and diagonals. All make new tensors,
 * except num_diagonal, which is a view. Messages are PyTorch's. */
#include "num/shape.h"

#include <string.h>

#include "base/mem.h"

/* --- cat and stack --------------------------------------------------------------------------- */

/* PyTorch lets 1-d tensors without elements take part in any cat. */
static int is_skipped(const struct tensor *t)
{
	return t->ndim == 1 && t->shape[0] == 0;
}

/* Dimension, shape and dtype of the result; the dtype is the promotion of all, skipped
 * tensors included. */
static int cat_shape(const struct tensor *const *t, int n, int64_t dim, int *d, int64_t *shape,
		     int *ndim, enum dtype *dt, struct err *e)
{
	int first = 0;

	for (int i = 0; i < n; i++)
		if (t[i]->ndim == 0)
			return err_set(e, ERR_STATE,
				       "zero-dimensional tensor (at position %d) cannot be concatenated", i);
	while (first < n - 1 && is_skipped(t[first]))
		first++;
	*ndim = t[first]->ndim;
	*dt = t[first]->dt;
	if (tensor_wrap_dim(d, dim, *ndim, e))
		return -1;
	memcpy(shape, t[first]->shape, sizeof *shape * TENSOR_DIMS);
	shape[*d] = 0;
	for (int i = 0; i < n; i++) {
		*dt = num_promote_types(*dt, t[i]->dt);
		if (is_skipped(t[i]))
			continue;
		if (t[i]->ndim != *ndim)
			return err_set(e, ERR_STATE,
				       "Tensors must have same number of dimensions: got %d and %d",
				       *ndim, t[i]->ndim);
		for (int k = 0; k < *ndim; k++)
			if (k != *d && t[i]->shape[k] != shape[k])
				return err_set(e, ERR_STATE,
					       "Sizes of tensors must match except in dimension "
					       "%d. Expected size %lld but got size %lld for "
					       "tensor number %d in the list.",
					       *d, (long long)shape[k],
					       (long long)t[i]->shape[k], i);
		if (ck_add64(shape[*d], t[i]->shape[*d], &shape[*d]))
			return err_set(e, ERR_NOMEM, "cat: sizes overflow");
	}
	return 0;
}

/* Copies each tensor to its slice of the result. Marks of unwritten elements move with
 * tensor_copy. */
int num_cat(struct num_ctx *c, struct tensor *out, const struct tensor *const *t, int n,
	    int64_t dim, struct err *e)
{
	int64_t shape[TENSOR_DIMS], at = 0;
	enum dtype dt = DT_F32;
	int d = 0, ndim = 0, rc = 0;

	if (n == 0)
		return err_set(e, ERR_FORMAT, "torch.cat(): expected a non-empty list of Tensors");
	if (cat_shape(t, n, dim, &d, shape, &ndim, &dt, e) || num_new(c, out, dt, ndim, shape, e))
		return -1;
	for (int i = 0; i < n && !rc; i++) {
		struct tensor part;

		if (is_skipped(t[i]))
			continue;
		rc = tensor_slice(&part, out, d, at, at + t[i]->shape[d], 1, e);
		if (rc)
			break;
		rc = tensor_copy(&part, t[i], e);
		tensor_release(&part);
		at += t[i]->shape[d];
	}
	if (rc)
		tensor_release(out);
	return rc;
}

/* cat of views with a new dimension. */
int num_stack(struct num_ctx *c, struct tensor *out, const struct tensor *const *t, int n,
	      int64_t dim, struct err *e)
{
	struct tensor *view;
	const struct tensor **list;
	int d = 0, made = 0, rc = -1;

	if (n == 0)
		return err_set(e, ERR_STATE, "stack expects a non-empty TensorList");
	if (tensor_wrap_dim(&d, dim, t[0]->ndim + 1, e))
		return -1;
	for (int i = 1; i < n; i++)
		if (!tensor_same_shape(t[0], t[i]))
			return err_set(e, ERR_STATE,
				       "stack expects each tensor to be equal size, but got %s "
				       "at entry 0 and %s at entry %d",
				       SHAPE_TEXT(t[0]->ndim, t[0]->shape),
				       SHAPE_TEXT(t[i]->ndim, t[i]->shape), i);
	view = mem_array((size_t)n, sizeof *view);
	list = mem_array((size_t)n, sizeof *list);
	if (!view || !list) {
		err_nomem(e);
		goto out;
	}
	for (; made < n; made++) {
		if (tensor_unsqueeze(&view[made], t[made], d, e))
			goto out;
		list[made] = &view[made];
	}
	rc = num_cat(c, out, list, n, d, e);
out:
	for (int i = 0; i < made; i++)
		tensor_release(&view[i]);
	mem_free(view);
	mem_free(list);
	return rc;
}

/* --- flip, roll, repeat ------------------------------------------------------------------------ */

/* mask: bit i flips dimension i. */
int num_flip(struct num_ctx *c, struct tensor *out, const struct tensor *t, unsigned mask,
	     struct err *e)
{
	struct tensor v = *t;           /* a view with negative strides, for the copy only */

	if (num_new(c, out, t->dt, t->ndim, t->shape, e))
		return -1;
	for (int i = 0; i < t->ndim; i++)
		if (mask >> i & 1) {
			v.offset += (t->shape[i] - 1) * t->stride[i];
			v.stride[i] = -t->stride[i];
		}
	if (tensor_numel(t) && tensor_copy(out, &v, e)) {
		tensor_release(out);
		return -1;
	}
	return 0;
}

/* One dimension: the last `shift` elements come first. */
static int roll_one(struct num_ctx *c, struct tensor *out, const struct tensor *t, int64_t shift,
		    int dim, struct err *e)
{
	int64_t n = t->shape[dim], s = n ? (shift % n + n) % n : 0;
	struct tensor a, b;
	int rc;

	if (tensor_slice(&a, t, dim, n - s, n, 1, e))
		return -1;
	if (tensor_slice(&b, t, dim, 0, n - s, 1, e)) {
		tensor_release(&a);
		return -1;
	}
	rc = num_cat(c, out, (const struct tensor *[]){ &a, &b }, 2, dim, e);
	tensor_release(&a);
	tensor_release(&b);
	return rc;
}

/* Several dimensions, one after the other. */
int num_roll(struct num_ctx *c, struct tensor *out, const struct tensor *t, int n,
	     const int64_t *shift, const int *dim, struct err *e)
{
	struct tensor now;

	if (num_to(c, &now, t, t->dt, e))
		return -1;
	for (int i = 0; i < n && t->ndim; i++) {
		struct tensor next;
		int rc = roll_one(c, &next, &now, shift[i], dim[i], e);

		tensor_release(&now);
		if (rc)
			return -1;
		now = next;
	}
	*out = now;
	return 0;
}

/* torch.Tensor.repeat: times[i] copies along dimension i; n may exceed t's rank. */
int num_repeat(struct num_ctx *c, struct tensor *out, const struct tensor *t, int n,
	       const int64_t *times, struct err *e)
{
	int64_t shape[TENSOR_DIMS] = { 0 }, own[TENSOR_DIMS];
	struct tensor target = { .st = NULL };
	int lead = n - t->ndim, d = 0;
	struct tensor source;

	if (lead < 0)
		return err_set(e, ERR_STATE,
			       "Number of dimensions of repeat dims can not be smaller than "
			       "number of dimensions of tensor");
	if (2 * n > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "repeat of more than %d dimensions",
			       TENSOR_DIMS / 2);
	for (int i = 0; i < n; i++) {
		own[i] = i < lead ? 1 : t->shape[i - lead];
		if (times[i] < 0 || ck_mul64(own[i], times[i], &shape[i]))
			return err_set(e, ERR_STATE, "Trying to create tensor with negative dimension %lld: %s",
				       (long long)times[i], SHAPE_TEXT(n, times));
	}
	if (num_new(c, out, t->dt, n, shape, e))
		return -1;
	/* The result is seen as [times, own] per dimension and filled by broadcasting over
	 * the times. */
	target = *out;
	source = *t;
	target.ndim = source.ndim = 2 * n;
	for (int i = 0; i < n; i++, d += 2) {
		target.shape[d] = times[i];
		target.stride[d] = out->stride[i] * own[i];
		target.shape[d + 1] = source.shape[d + 1] = own[i];
		target.stride[d + 1] = out->stride[i];
		source.shape[d] = 1;
		source.stride[d] = 0;
		source.stride[d + 1] = i < lead ? 0 : t->stride[i - lead];
	}
	if (tensor_numel(out) && tensor_copy(&target, &source, e)) {
		tensor_release(out);
		return -1;
	}
	return 0;
}

/* Builds an index with times[i] copies of i and selects with it. [5, 6] times [2, 1] gives
 * [5, 5, 6]. */
int num_repeat_interleave(struct num_ctx *c, struct tensor *out, const struct tensor *t,
			  const struct tensor *times, int dim, struct err *e)
{
	struct tensor reps, index;
	int64_t n = t->ndim ? t->shape[dim] : 1, total = 0, k, *r, *ix;
	int rc;

	if (times->ndim > 1)
		return err_set(e, ERR_STATE, "repeats must be 0-dim or 1-dim tensor");
	k = tensor_numel(times);
	if (k != 1 && k != n)
		return err_set(e, ERR_STATE,
			       "repeats must have the same size as input along dim, but got "
			       "repeats.size(0) = %lld and input.size(%d) = %lld",
			       (long long)k, dim, (long long)n);
	if (times->dt != DT_I64 && times->dt != DT_I32)
		return err_set(e, ERR_STATE, "\"repeat_interleave_cpu\" not implemented for '%s'",
			       num_type_name(times->dt));
	if (num_as(c, &reps, times, DT_I64, e))
		return -1;
	r = tensor_data(&reps);
	if (k == 1 && (r[0] < 0 || ck_mul64(n, r[0], &total))) {
		tensor_release(&reps);
		return err_set(e, ERR_STATE, "repeats can not be negative");
	}
	for (int64_t i = 0; i < n && k != 1; i++)
		if (r[k == 1 ? 0 : i] < 0 || ck_add64(total, r[k == 1 ? 0 : i], &total)) {
			tensor_release(&reps);
			return err_set(e, ERR_STATE, "repeats can not be negative");
		}
	if (num_new(c, &index, DT_I64, 1, &total, e)) {
		tensor_release(&reps);
		return -1;
	}
	ix = tensor_data(&index);
	for (int64_t i = 0; i < n && total && !c->hollow; i++)
		for (int64_t j = 0; j < r[k == 1 ? 0 : i]; j++)
			*ix++ = i;
	rc = num_index_select(c, out, t, dim, &index, e);
	tensor_release(&reps);
	tensor_release(&index);
	return rc;
}

/* --- triangles and diagonals ---------------------------------------------------------------------- */

/* triu and tril of the last two dimensions: element [r, c] stays if c - r >= diagonal (upper)
 * or <= diagonal. */
int num_tri(struct num_ctx *c, struct tensor *out, const struct tensor *t, int64_t diagonal,
	    int upper, struct err *e)
{
	int64_t rows, cols;
	int size = dtype_size(t->dt);

	if (t->ndim < 2)
		return err_set(e, ERR_STATE, "%s: input tensor must have at least 2 dimensions",
			       upper ? "triu" : "tril");
	if (num_to(c, out, t, t->dt, e))
		return -1;
	rows = t->shape[t->ndim - 2];
	cols = t->shape[t->ndim - 1];
	diagonal = num_step(diagonal);
	for (int64_t r = 0; cols && !c->hollow && r < tensor_numel(out) / cols; r++) {
		/* Upper: columns [0, lo) of row r % rows become zero. Lower: columns [lo,
		 * cols). */
		int64_t lo = MIN(MAX(r % rows + diagonal + !upper, 0), cols);
		char *p = (char *)tensor_data(out) + r * cols * size;

		if (upper)
			memset(p, 0, (size_t)(lo * size));
		else
			memset(p + lo * size, 0, (size_t)((cols - lo) * size));
	}
	return 0;
}

/* A view: the two dimensions become one at the end, whose stride is the sum of theirs. offset
 * > 0 starts to the right of the main diagonal. */
int num_diagonal(struct tensor *out, const struct tensor *t, int64_t offset, int d1, int d2,
		 struct err *e)
{
	int64_t shape[TENSOR_DIMS], stride[TENSOR_DIMS], n, start = t->offset;
	int k = 0;

	if (d1 == d2)
		return err_set(e, ERR_STATE, "diagonal dimensions cannot be identical %d, %d",
			       d1, d2);
	offset = num_step(offset);
	n = MAX(offset >= 0 ? MIN(t->shape[d1], t->shape[d2] - offset) : MIN(t->shape[d1] + offset, t->shape[d2]), 0);
	if (n)
		start += offset >= 0 ? offset * t->stride[d2] : -offset * t->stride[d1];
	for (int i = 0; i < t->ndim; i++)
		if (i != d1 && i != d2) {
			shape[k] = t->shape[i];
			stride[k++] = t->stride[i];
		}
	shape[k] = n;
	stride[k++] = t->stride[d1] + t->stride[d2];
	return tensor_as_strided(out, t, k, shape, stride, start, e);
}

/* A matrix gives its diagonal (a copy), a vector of n gives a matrix of n + |diagonal|. */
int num_diag(struct num_ctx *c, struct tensor *out, const struct tensor *t, int64_t diagonal,
	     struct err *e)
{
	struct tensor view;
	int64_t n;
	int rc;

	if (t->ndim == 2) {
		if (num_diagonal(&view, t, diagonal, 0, 1, e))
			return -1;
		rc = num_to(c, out, &view, t->dt, e);
		tensor_release(&view);
		return rc;
	}
	if (t->ndim != 1)
		return err_set(e, ERR_STATE, "diag(): Supports 1D or 2D tensors. Got %dD", t->ndim);
	diagonal = num_step(diagonal);
	n = t->shape[0] + (diagonal < 0 ? -diagonal : diagonal);
	if (num_new(c, out, t->dt, 2, (int64_t[]){ n, n }, e))
		return -1;
	storage_fill(out->st, 0);
	rc = num_diagonal(&view, out, diagonal, 0, 1, e);
	if (!rc) {
		rc = tensor_copy(&view, t, e);
		tensor_release(&view);
	}
	if (rc)
		tensor_release(out);
	return rc;
}
