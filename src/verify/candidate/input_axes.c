/* The inputs of a reduced task, by the position of each dimension: see input_axes.h. */
#include "verify/candidate/input_axes.h"

#include "base/mem.h"
#include "tensor/sparse.h"

/* An input's way through the list of sizes. */
struct reshaping {
	const struct input_axes *x;
	int i;                        /* the number of the next input */
	struct err *e;
};

/* A copy of what is kept lets the memory of the rest be freed. */
int input_axes_cut(struct tensor *t, int dim, int64_t n, struct err *e)
{
	struct tensor part, dense;
	int rc = tensor_slice(&part, t, dim, 0, n, 1, e);

	if (rc)
		return -1;
	rc = tensor_to(&dense, &part, t->dt, e);
	tensor_release(&part);
	if (rc)
		return -1;
	tensor_release(t);
	*t = dense;
	return 0;
}

/* Makes a tensor of this shape. Returns 1 if it would be too large. */
static int make(struct tensor *out, const struct tensor *like, const int64_t *shape, struct err *e)
{
	int64_t stride[TENSOR_DIMS], bytes = dtype_size(like->dt);

	for (int d = 0; d < like->ndim; d++)
		if (ck_mul64(bytes, shape[d], &bytes) || bytes > INPUT_AXES_BYTES)
			return 1;
	tensor_dense_strides(like->ndim, shape, stride);
	return like->st->hollow ? tensor_new_hollow(out, like->dt, like->ndim, shape, stride, e) :
		tensor_new_in(like->st->budget, out, like->dt, like->ndim, shape, e);
}

/* Replaces the tensor by another one, unless making that one failed. */
static int replace(struct tensor *t, struct tensor *by, int rc)
{
	tensor_release(rc ? by : t);
	*t = rc ? *t : *by;
	return rc;
}

/* Copies the first n indices of a dimension to the indices from `at` on. */
static int copy_indices(const struct tensor *to, const struct tensor *from, int dim, int64_t at, int64_t n,
			struct err *e)
{
	struct tensor a, b;
	int rc = tensor_slice(&a, to, dim, at, at + n, 1, e);

	if (rc)
		return -1;
	rc = tensor_slice(&b, from, dim, 0, n, 1, e);
	if (!rc) {
		rc = tensor_copy(&a, &b, e);
		tensor_release(&b);
	}
	tensor_release(&a);
	return rc;
}

/* Repeats the indices of a dimension in order: 0 1 2 3 0 1 2 3 0 1. */
static int repeat(struct tensor *t, int dim, int64_t n, struct err *e)
{
	struct tensor out;
	int64_t shape[TENSOR_DIMS], period = t->shape[dim];
	int rc;

	memcpy(shape, t->shape, sizeof shape);
	shape[dim] = n;
	rc = make(&out, t, shape, e);
	if (rc)
		return rc;
	for (int64_t at = 0; at < n && !rc && !t->st->hollow; at += period)
		rc = copy_indices(&out, t, dim, at, MIN(period, n - at), e);
	return replace(t, &out, rc);
}

/* Repeats indices until the tensor has this shape. A hollow tensor has no contents to repeat. */
static int stretch(struct tensor *t, const int64_t *shape, uint64_t seed, struct err *e)
{
	struct tensor from, out;
	int rc = make(&out, t, shape, e);

	if (rc)
		return rc;
	rc = tensor_contiguous(&from, t, e);
	if (!rc && !t->st->hollow)
		rc = sparse_spread(&out, &from, seed) ? err_nomem(e) : 0;
	if (!rc)
		tensor_release(&from);
	return replace(t, &out, rc);
}

/* Cuts first: what is cut off need not be stretched. */
static int reshape_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct reshaping *r = ctx;
	const int64_t *size = r->i < INPUT_AXES_MOST ? r->x->size[r->i] : NULL;
	uint64_t periodic = size ? r->x->periodic[r->i] : 0;
	int64_t shape[TENSOR_DIMS];
	int longer = 0, rc = 0;

	(void)name;
	r->i++;
	for (int d = 0; size && d < obj->t.ndim && !rc; d++) {
		if (size[d] && size[d] < obj->t.shape[d])
			rc = input_axes_cut(&obj->t, d, size[d], r->e);
		else if (size[d] > obj->t.shape[d] && periodic >> d & 1)
			rc = repeat(&obj->t, d, size[d], r->e);
		shape[d] = size[d] ? size[d] : obj->t.shape[d];
		longer |= shape[d] > obj->t.shape[d];
	}
	return !rc && longer ? stretch(&obj->t, shape, r->x->seed, r->e) : rc;
}

int input_axes_apply(const struct input_axes *x, struct host *h, struct val inputs, struct err *e)
{
	struct reshaping r = { .x = x, .e = e };

	return host_tensors(h, inputs, reshape_input, &r);
}
