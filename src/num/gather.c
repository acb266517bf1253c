/* gather, scatter and selection of slices along one dimension, and embedding lookup.
 *
 *     gather   out[i][j] = t[index[i][j]][j]           (dim 0)
 *     scatter  t[index[i][j]][j] op= src[i][j]
 *
 * The tensor is walked with the shape of the index and stride 0 along `dim`; the index adds
 * the movement. General indexing with several tensors is index.c's. Errors use PyTorch's
 * words. */
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"

/* One element of 1, 2, 4 or 8 bytes; constant sizes compile to single moves. */
static void copy_element(int size, char *d, const char *s)
{
	if (size == 4)
		memcpy(d, s, 4);
	else if (size == 8)
		memcpy(d, s, 8);
	else if (size == 2)
		memcpy(d, s, 2);
	else
		*d = *s;
}

/* PyTorch's error for index v of a dimension of `size`. */
static int bad_index(struct err *e, int64_t v, int dim, int64_t size)
{
	return err_set(e, ERR_STATE, "index %lld is out of bounds for dimension %d with size %lld",
		       (long long)v, dim, (long long)size);
}

/* A view of t with the shape of the index and no movement along dim. A 0-d tensor is seen as
 * a vector of one element. */
static struct tensor along(const struct tensor *t, const struct tensor *index, int dim)
{
	struct tensor v = *t;

	memcpy(v.shape, index->shape, sizeof v.shape);
	if (v.ndim)
		v.stride[dim] = 0;
	else
		v.ndim = index->ndim;
	return v;
}

/* Index dtype, rank and sizes. Along dim the index may be longer than t, elsewhere not. */
static int check(const char *name, const struct tensor *t, int dim, const struct tensor *index,
		 int gather, struct err *e)
{
	if (index->dt != DT_I64 && index->dt != DT_I32)
		return err_set(e, ERR_STATE, "%s(): Expected dtype int32/int64 for index", name);
	if ((index->ndim ? index->ndim : 1) != (t->ndim ? t->ndim : 1))
		return err_set(e, ERR_STATE, "Index tensor must have the same number of dimensions as %s tensor",
			       gather ? "input" : "self");
	for (int d = 0; d < index->ndim && tensor_numel(index); d++)
		if (d != dim && index->shape[d] > t->shape[d])
			return err_set(e, ERR_STATE,
				       "Size does not match at dimension %d expected index %s to "
				       "be no larger than self %s apart from dimension %d",
				       d, SHAPE_TEXT(index->ndim, index->shape),
				       SHAPE_TEXT(t->ndim, t->shape), dim);
	return 0;
}

/* --- gather and scatter -------------------------------------------------------------------------- */

/* One gather or scatter. */
struct job {
	char *data[3];          /* gather: out, index, input; scatter: index, source, self */
	/* inner: strides of the innermost loop; step: stride of dim in the indexed tensor;
	 * limit: its size */
	int64_t inner[3], step, limit;
	int64_t bad;            /* the index that is out of range, if `failed` */
	int failed, size;       /* size: bytes of an element */
	enum dtype dt;
	enum num_scatter how;
};

/* Innermost run of a gather. Negative indices are errors in gather and scatter, unlike in
 * t[index]. */
static void gather_run(void *ctx, const int64_t *off, int64_t n)
{
	struct job *j = ctx;
	const int64_t *ix = (const int64_t *)j->data[1] + off[1];

	for (int64_t i = 0; i < n && !j->failed; i++) {
		int64_t v = ix[i * j->inner[1]];

		if (v < 0 || v >= j->limit) {
			j->bad = ix[i * j->inner[1]];
			j->failed = 1;
			return;
		}
		copy_element(j->size, j->data[0] + (off[0] + i * j->inner[0]) * j->size,
			     j->data[2] + (off[2] + i * j->inner[2] + v * j->step) * j->size);
	}
}

/* The marks of elements that were never written move with the elements: the same loop runs
 * over the mark arrays of both tensors. The slots index data[] of struct job. */
struct moved { const struct tensor *to, *from; int to_slot, from_slot; tensor_loop_fn *fn; };

/* Runs the loop of the job again over the marks, which have the layout of their tensors. */
static int move_marks(const struct num_ctx *c, const struct tensor_loop *l, struct job *j,
		      const struct moved *m, struct err *e)
{
	struct storage as, of;
	struct tensor to, from;

	if (tensor_want_marks(m->to, e) || tensor_want_marks(m->from, e))
		return -1;
	to = tensor_marks(m->to, &as);
	from = tensor_marks(m->from, &of);
	j->data[m->to_slot] = tensor_data(&to);
	j->data[m->from_slot] = tensor_data(&from);
	tensor_loop_run(l, 0, l->outer, m->fn, j);
	if (c->carried)
		*c->carried = 1;
	return 0;
}

/* t [...], index [...] of the same rank; the result has the shape of the index and t's dtype. */
int num_gather(struct num_ctx *c, struct tensor *out, const struct tensor *t, int dim,
	       const struct tensor *index, struct err *e)
{
	struct tensor ix, view = along(t, index, dim);
	struct tensor_loop l;
	struct job j = { .size = dtype_size(t->dt), .limit = t->ndim ? t->shape[dim] : 1,
			 .step = t->ndim ? t->stride[dim] : 1 };
	int failed;

	if (check("gather", t, dim, index, 1, e) || num_as(c, &ix, index, DT_I64, e))
		return -1;
	if (num_new(c, out, t->dt, index->ndim, index->shape, e)) {
		tensor_release(&ix);
		return -1;
	}
	tensor_loop_init(&l, out->ndim, out->shape, 3, (const struct tensor *[]){ out, &ix, &view });
	j.data[0] = tensor_data(out);
	j.data[1] = tensor_data(&ix);
	j.data[2] = tensor_data(t);
	for (int k = 0; k < 3; k++)
		j.inner[k] = l.stride[k][l.ndim - 1];
	if (tensor_numel(out) && !c->hollow)
		tensor_loop_run(&l, 0, l.outer, gather_run, &j);
	failed = !j.failed && !c->hollow && tensor_any_undef(t) &&
		 move_marks(c, &l, &j, &(struct moved){ .to = out, .from = t, .to_slot = 0,
							.from_slot = 2, .fn = gather_run }, e);
	tensor_release(&ix);
	if (!j.failed && !failed)
		return 0;
	tensor_release(out);
	return failed ? -1 : bad_index(e, j.bad, dim, j.limit);
}

/* *d = *d op *s in t's dtype. Floats combine in double and round per step; a NaN wins max and
 * min. */
static void combine(const struct job *j, char *d, const char *s)
{
	if (j->how == SCATTER_SET) {
		copy_element(j->size, d, s);
	} else if (dtype_is_float(j->dt)) {
		double a = dtype_load(j->dt, d), b = dtype_load(j->dt, s);

		dtype_store(j->dt, d, j->how == SCATTER_ADD ? a + b : j->how == SCATTER_MUL ? a * b
			    : j->how == SCATTER_MAX ? (b > a || b != b ? b : a) : (b < a || b != b ? b : a));
	} else {
		int64_t a = dtype_load_int(j->dt, d), b = dtype_load_int(j->dt, s);

		dtype_store_int(j->dt, d, j->how == SCATTER_ADD ? (int64_t)((uint64_t)a + (uint64_t)b)
				: j->how == SCATTER_MUL ? (int64_t)((uint64_t)a * (uint64_t)b)
				: j->how == SCATTER_MAX ? MAX(a, b) : MIN(a, b));
	}
}

/* Innermost run of a scatter. */
static void scatter_run(void *ctx, const int64_t *off, int64_t n)
{
	struct job *j = ctx;
	const int64_t *ix = (const int64_t *)j->data[0] + off[0];

	for (int64_t i = 0; i < n && !j->failed; i++) {
		int64_t v = ix[i * j->inner[0]];

		if (v < 0 || v >= j->limit) {
			j->bad = ix[i * j->inner[0]];
			j->failed = 1;
			return;
		}
		combine(j, j->data[2] + (off[2] + i * j->inner[2] + v * j->step) * j->size,
			j->data[1] + (off[1] + i * j->inner[1]) * j->size);
	}
}

/* src must be at least as large as the index in every dimension; a 0-d src is a value for
 * all. */
static int check_scattered(const struct tensor *t, int dim, const struct tensor *index,
			   const struct tensor *src, struct err *e)
{
	int bad = !index->ndim && !tensor_numel(src);

	for (int d = 0; d < index->ndim && src->ndim; d++)
		bad |= src->ndim != index->ndim || index->shape[d] > src->shape[d];
	return bad ? err_set(e, ERR_STATE,
			     "Expected index %s to be no larger than self %s apart from "
			     "dimension %d and to be no larger size than src %s",
			     SHAPE_TEXT(index->ndim, index->shape),
			     SHAPE_TEXT(t->ndim, t->shape), dim,
			     SHAPE_TEXT(src->ndim, src->shape)) : 0;
}

/* In place on t. src is converted to t's dtype; only its leading part with the shape of the
 * index is used. Marks move for plain assignment only: a sum over an unwritten element stays
 * unwritten. */
int num_scatter(struct num_ctx *c, const struct tensor *t, int dim, const struct tensor *index,
		const struct tensor *src, enum num_scatter how, struct err *e)
{
	struct tensor ix, from, view = along(t, index, dim), part;
	struct tensor_loop l;
	struct job j = { .size = dtype_size(t->dt), .dt = t->dt, .how = how,
			 .limit = t->ndim ? t->shape[dim] : 1,
			 .step = t->ndim ? t->stride[dim] : 1 };
	int failed;

	if (tensor_check_writable(t, e) || check("scatter", t, dim, index, 0, e))
		return -1;
	if (check_scattered(t, dim, index, src, e))
		return -1;
	if (num_as(c, &ix, index, DT_I64, e))
		return -1;
	if (num_to(c, &from, src, t->dt, e)) {
		tensor_release(&ix);
		return -1;
	}
	part = from;
	if (src->ndim)
		memcpy(part.shape, index->shape, sizeof part.shape);
	/* The loop follows the index in order, on one thread: if indices repeat, the last one
	 * wins. */
	tensor_loop_init(&l, index->ndim, index->shape, 3,
			 (const struct tensor *[]){ &ix, &part, &view });
	j.data[0] = tensor_data(&ix);
	j.data[1] = tensor_data(&from);
	j.data[2] = tensor_data(t);
	for (int k = 0; k < 3; k++)
		j.inner[k] = l.stride[k][l.ndim - 1];
	if (tensor_numel(index) && !c->hollow)
		tensor_loop_run(&l, 0, l.outer, scatter_run, &j);
	failed = how == SCATTER_SET && !c->hollow && !j.failed && tensor_numel(index) &&
		(t->st->undef || tensor_any_undef(&from)) &&
		 move_marks(c, &l, &j, &(struct moved){ .to = t, .from = &from, .to_slot = 2,
							.from_slot = 1, .fn = scatter_run }, e);
	tensor_release(&ix);
	tensor_release(&from);
	return failed ? -1 : j.failed ? bad_index(e, j.bad, dim, j.limit) : 0;
}

/* All indices must be in [0, size). A dry run has no contents to check. */
static int check_in_range(struct num_ctx *c, const struct tensor *index, int64_t size,
			  struct err *e)
{
	struct tensor ix;
	int bad = 0;

	if (num_as(c, &ix, index, DT_I64, e))
		return -1;
	for (int64_t i = 0; i < tensor_numel(&ix) && !c->hollow; i++) {
		int64_t v = ((int64_t *)tensor_data(&ix))[i];

		bad |= v < 0 || v >= size;
	}
	tensor_release(&ix);
	return bad ? err_set(e, ERR_RANGE, "index out of range in self") : 0;
}

/* --- whole slices ------------------------------------------------------------------------------------ */

/* t with `index` (a vector or 0-d) in place of dimension dim. A 0-d index counts as a vector
 * of one. */
int num_index_select(struct num_ctx *c, struct tensor *out, const struct tensor *t, int dim,
		     const struct tensor *index, struct err *e)
{
	struct num_index ix = { .n = dim + 1 };

	if (index->ndim > 1)
		return err_set(e, ERR_RANGE, "index_select(): Index is supposed to be a vector");
	if (index->dt != DT_I64 && index->dt != DT_I32)
		return err_set(e, ERR_STATE, "index_select(): Expected dtype int32 or int64 for index");
	if (t->ndim == 0 && tensor_numel(index) != 1)
		return err_set(e, ERR_STATE, "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
			       (long long)tensor_numel(index));
	if (t->ndim == 0)
		return check_in_range(c, index, 1, e) ? -1 : num_clone(c, out, t, e);
	ix.v[dim] = index;
	if (check_in_range(c, index, t->shape[dim], e))
		return -1;
	if (index->ndim == 1)
		return num_index(c, out, t, &ix, e);
	else {
		struct tensor one;
		int rc;

		if (tensor_unsqueeze(&one, index, 0, e))
			return -1;
		ix.v[dim] = &one;
		rc = num_index(c, out, t, &ix, e);
		tensor_release(&one);
		return rc;
	}
}

/* index_add_, index_copy_ and index_fill_: slice index[i] of t along dim gets or adds slice i
 * of src (a 0-d src is the fill value), times alpha for sums. Repeated indices add up in
 * order. */
int num_index_add(struct num_ctx *c, const struct tensor *t, int dim, const struct tensor *index,
		  const struct tensor *src, enum num_slices how, double alpha, struct err *e)
{
	int64_t n = tensor_numel(index), size = t->ndim ? t->shape[dim] : 1;
	struct tensor ix;
	int rc = 0;

	if (c->hollow)
		return tensor_check_writable(t, e) ? -1 : (tensor_mark_defined(t), 0);
	if (num_as(c, &ix, index, DT_I64, e))
		return -1;
	for (int64_t i = 0; i < n && !rc; i++) {
		int64_t at = ((int64_t *)tensor_data(&ix))[i];
		struct tensor to, from;

		/* Only index_fill_ takes negative indices. */
		if (how != SLICES_FILL && (at < 0 || at >= size))
			rc = how == SLICES_ADD ? bad_index(e, at, dim, size)
					       : err_set(e, ERR_RANGE,
							 "index_copy_(): index %lld is out of "
							 "bounds for dimension %d with size %lld",
							 (long long)at, dim, (long long)size);
		rc = rc || tensor_select(&to, t, dim, at, e);
		if (rc)
			break;
		rc = src->ndim ? tensor_select(&from, src, dim, i, e) : (from = *src, tensor_retain(&from), 0);
		if (!rc) {
			rc = how == SLICES_ADD ?
				num_apply_into(c, &to, NUM_add,
					       (struct num_arg[]){ num_t(&to), num_t(&from) },
					       (double[]){ alpha, 0, 0 }, e) :
				tensor_copy(&to, &from, e);
			tensor_release(&from);
		}
		tensor_release(&to);
	}
	tensor_release(&ix);
	return rc;
}

/* torch.take: elements of the flattened tensor. */
int num_take(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct tensor *index, struct err *e)
{
	struct tensor flat;
	int rc;

	if (num_reshape(c, &flat, t, 1, (int64_t[]){ -1 }, e))
		return -1;
	rc = num_index(c, out, &flat, &(struct num_index){ .v = { index }, .n = 1 }, e);
	tensor_release(&flat);
	return rc;
}

/* weight [V, C], index [...] gives [..., C]: row index[i] of the table. Indices must not be
 * negative. */
int num_embedding(struct num_ctx *c, struct tensor *out, const struct tensor *weight,
		  const struct tensor *index, struct err *e)
{
	if (weight->ndim != 2)
		return err_set(e, ERR_STATE, "'weight' must be 2-D");
	if (index->dt != DT_I64 && index->dt != DT_I32)
		return err_set(e, ERR_STATE,
			       "Expected tensor for argument #1 'indices' to have one of the "
			       "following scalar types: Long, Int; but got %s%s%s instead (while "
			       "checking arguments for embedding)",
			       index->dt == DT_BOOL ? "CPU" : "torch.", num_type_name(index->dt),
			       index->dt == DT_BOOL ? "Type" : "Tensor");
	if (check_in_range(c, index, weight->shape[0], e))
		return -1;
	return num_index(c, out, weight, &(struct num_index){ .v = { index }, .n = 1 }, e);
}
