/* Loops over the elements of several tensors: see tensor.h.
 *
 * A contiguous [8, 4, 100] operand together with another contiguous one becomes a single loop of
 * 3200. Together with a broadcast [100] it becomes 32 outer iterations of 100. */
#include "tensor/tensor.h"

#include <stdlib.h>

/* The stride of operand t at dimension d of the shape of `ndim` dimensions that it broadcasts to. */
static int64_t stride_at(const struct tensor *t, int ndim, const int64_t *shape, int d)
{
	int own = d - (ndim - t->ndim);

	if (own < 0 || (t->shape[own] == 1 && shape[d] != 1))
		return 0;
	return t->stride[own];
}

/* Whether dimension a of the loop should be outside of b. The first operand decides whose strides
 * there differ and are not zero. */
static int goes_outside(const struct tensor_loop *l, int a, int b)
{
	for (int k = 0; k < l->nops; k++) {
		int64_t sa = llabs(l->stride[k][a]), sb = llabs(l->stride[k][b]);

		if (sa != 0 && sb != 0 && sa != sb)
			return sa > sb;
	}
	return 0;
}

/* Shape and strides of all operands. */
static void swap_dims(struct tensor_loop *l, int a, int b)
{
	int64_t t = l->shape[a];

	l->shape[a] = l->shape[b];
	l->shape[b] = t;
	for (int k = 0; k < l->nops; k++) {
		t = l->stride[k][a];
		l->stride[k][a] = l->stride[k][b];
		l->stride[k][b] = t;
	}
}

/* Whether two neighbouring dimensions are one for every operand. */
static int mergeable(const struct tensor_loop *l, int outer, int inner)
{
	for (int k = 0; k < l->nops; k++)
		if (l->stride[k][outer] != l->stride[k][inner] * l->shape[inner])
			return 0;
	return 1;
}

/* Merges neighbouring dimensions where possible. */
static void merge_dims(struct tensor_loop *l)
{
	int to = 0;

	for (int d = 1; d < l->ndim; d++) {
		if (mergeable(l, to, d)) {
			l->shape[to] *= l->shape[d];
		} else {
			to++;
			l->shape[to] = l->shape[d];
		}
		for (int k = 0; k < l->nops; k++)
			l->stride[k][to] = l->stride[k][d];
	}
	l->ndim = to + 1;
}

/* Drops dimensions of 1, sorts the others by stride (insertion sort, at most 12), and merges
 * them. */
void tensor_loop_init(struct tensor_loop *l, int ndim, const int64_t *shape, int nops, const struct tensor *const *ops)
{
	l->nops = nops;
	l->ndim = 0;
	for (int d = 0; d < ndim; d++) {
		if (shape[d] == 1)
			continue;
		l->shape[l->ndim] = shape[d];
		for (int k = 0; k < nops; k++)
			l->stride[k][l->ndim] = stride_at(ops[k], ndim, shape, d);
		l->ndim++;
	}
	if (l->ndim == 0) {
		l->ndim = 1;
		l->shape[0] = 1;
		for (int k = 0; k < nops; k++)
			l->stride[k][0] = 1;
	}
	for (int i = 1; i < l->ndim; i++)
		for (int j = i; j > 0 && goes_outside(l, j, j - 1); j--)
			swap_dims(l, j, j - 1);
	merge_dims(l);
	l->outer = 1;
	for (int d = 0; d < l->ndim - 1; d++)
		l->outer *= l->shape[d];
}

void tensor_loop_run(const struct tensor_loop *l, int64_t begin, int64_t end, tensor_loop_fn *fn, void *ctx)
{
	int64_t index[TENSOR_DIMS], off[TENSOR_OPERANDS] = { 0 }, rest = begin;
	int last = l->ndim - 1;

	if (begin >= end || l->shape[last] == 0)
		return;
	for (int d = last - 1; d >= 0; d--) {
		index[d] = rest % l->shape[d];
		rest /= l->shape[d];
		for (int k = 0; k < l->nops; k++)
			off[k] += index[d] * l->stride[k][d];
	}
	for (int64_t i = begin;;) {
		fn(ctx, off, l->shape[last]);
		if (++i >= end)
			return;
		/* The next outer index, like an odometer: `back` rewinds a dimension, or is one step forward. */
		for (int d = last - 1; d >= 0; d--) {
			int64_t back = ++index[d] == l->shape[d] ? l->shape[d] - 1 : -1;

			for (int k = 0; k < l->nops; k++)
				off[k] -= back * l->stride[k][d];
			if (back < 0)
				break;
			index[d] = 0;
		}
	}
}
