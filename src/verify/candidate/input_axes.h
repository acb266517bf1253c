/* The inputs of a reduced task, by the position of each dimension.
 *
 * One constant of a task may be several axes: in A[N, N] @ B[N, N] it is the rows, the columns and
 * K. A reduced task has few rows, few columns and the full K; no value of the constant gives such
 * inputs. So the inputs are drawn with a small constant, and each dimension then gets a size of its
 * own: rows of A are cut off, and K is stretched by repeating its indices in a random order. With
 * N = 4096, A is drawn as [512, 512] and becomes [16, 4096].
 *
 * Every dimension is stretched by one map of indices. So a symmetric matrix that is stretched
 * along one dimension here, and along the other one at full size (sparse_few), stays symmetric if
 * both use the same map. */
#ifndef VERIFY_CANDIDATE_INPUT_AXES_H
#define VERIFY_CANDIDATE_INPUT_AXES_H

#include "host/host.h"

/* The inputs that may have such dimensions, and the bytes of the largest. */
enum { INPUT_AXES_MOST = 8, INPUT_AXES_BYTES = 1 << 25 };

struct input_axes {
	/* the size that a dimension of an input gets; 0: the size it was drawn with */
	int64_t size[INPUT_AXES_MOST][TENSOR_DIMS];
	/* a bit for each dimension that repeats its indices in order: a local axis, such as the
	 * height of an image, whose contents then have a period */
	uint64_t periodic[INPUT_AXES_MOST];
	uint64_t seed;               /* of the map of indices */
};

/* Gives the inputs these sizes. Returns 0 on success, 1 if one would be too large, -1 on failure
 * (*e). */
int input_axes_apply(const struct input_axes *x, struct host *h, struct val inputs, struct err *e);
/* Shortens a dimension of a tensor to its first n indices, as a dense tensor. */
int input_axes_cut(struct tensor *t, int dim, int64_t n, struct err *e);

#endif
