/* Kernels along one dimension of a dense array [outer, L, inner]: the interface between
 * rows.simd.c and the operators that use them. Each call does the slice of one outer index,
 * in blocks of at most ROWS_BLOCK columns. */
#ifndef NUM_ROWS_H
#define NUM_ROWS_H

#include "base/cpu.h"
#include "num/num.h"

enum { ROWS_BLOCK = 256 };

struct num_rows {
	/* First position of the largest (max) or smallest element; a NaN wins. x has L rows,
	 * `stride` elements apart, and n columns; value and index get n results. */
	void (*extreme)(void *value, int64_t *index, const void *x, int64_t L, int64_t stride,
			int64_t n, int max);
	/* y = softmax or log softmax of x along L, for n columns. */
	void (*softmax)(void *y, const void *x, int64_t L, int64_t stride, int64_t n, int log);
	/* One row of n elements: y = (x - mean) / sqrt(var + eps) * w + b. w and b may be
	 * NULL; rms: the mean is not subtracted. */
	void (*layer_norm)(void *y, const void *x, int64_t n, const void *w, const void *b,
			   double eps, int rms);
	/* y[i] = x[i] * scale + shift */
	void (*affine)(void *y, const void *x, int64_t n, double scale, double shift);
};

SIMD_DECLARE(const struct num_rows *, num_rows, (enum dtype carrier))

#endif
