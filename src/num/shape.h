/* Operators that select, move and arrange elements. The conventions of num.h hold; dimension
 * arguments are non-negative unless said otherwise. */
#ifndef NUM_SHAPE_H
#define NUM_SHAPE_H

#include "num/num.h"

/* --- selection (index.c, gather.c) ---------------------------------------------------------- */

/* t[i0, i1, ...]: one entry per leading dimension, NULL for a full slice. Integer tensors broadcast
 * together. A bool tensor represents the positions of its nonzero elements, in as many dimensions
 * as it has. The indexed dimensions come first in the result if they are not adjacent. */
struct num_index { const struct tensor *v[TENSOR_DIMS]; int n; };
int num_index(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	      const struct num_index *ix, struct err *e);
int num_index_put(struct num_ctx *c, const struct tensor *t, const struct num_index *ix,
		  const struct tensor *value, int accumulate, struct err *e);
int num_nonzero(struct num_ctx *c, struct tensor *out, const struct tensor *t, struct err *e);     /* [n, ndim] */
int num_index_select(struct num_ctx *c, struct tensor *out, const struct tensor *t, int dim,
		     const struct tensor *index, struct err *e);
/* self[index] op= src along dim: copy, add, or fill with a number. */
enum num_slices { SLICES_COPY, SLICES_ADD, SLICES_FILL };
int num_index_add(struct num_ctx *c, const struct tensor *t, int dim, const struct tensor *index,
		  const struct tensor *src, enum num_slices how, double alpha, struct err *e);
int num_gather(struct num_ctx *c, struct tensor *out, const struct tensor *t, int dim,
	       const struct tensor *index, struct err *e);
enum num_scatter { SCATTER_SET, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX, SCATTER_MIN };
int num_scatter(struct num_ctx *c, const struct tensor *t, int dim, const struct tensor *index,
		const struct tensor *src, enum num_scatter how, struct err *e);
int num_take(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct tensor *index, struct err *e);
int num_masked_select(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		      const struct tensor *mask, struct err *e);

/* --- arrangement (shape.c, pad.c) ------------------------------------------------------------- */

int num_cat(struct num_ctx *c, struct tensor *out, const struct tensor *const *t, int n,
	    int64_t dim, struct err *e);
int num_stack(struct num_ctx *c, struct tensor *out, const struct tensor *const *t, int n,
	      int64_t dim, struct err *e);
int num_flip(struct num_ctx *c, struct tensor *out, const struct tensor *t, unsigned mask,
	     struct err *e);
int num_roll(struct num_ctx *c, struct tensor *out, const struct tensor *t, int n,
	     const int64_t *shift, const int *dim, struct err *e);
int num_repeat(struct num_ctx *c, struct tensor *out, const struct tensor *t, int n,
	       const int64_t *times, struct err *e);
/* Repeats slice i along dim times[i] times; `times` of one element counts for all slices. */
int num_repeat_interleave(struct num_ctx *c, struct tensor *out, const struct tensor *t,
			  const struct tensor *times, int dim, struct err *e);
int num_tri(struct num_ctx *c, struct tensor *out, const struct tensor *t, int64_t diagonal,
	    int upper, struct err *e);
int num_diag(struct num_ctx *c, struct tensor *out, const struct tensor *t, int64_t diagonal,
	     struct err *e);
/* a view of t */
int num_diagonal(struct tensor *out, const struct tensor *t, int64_t offset, int d1, int d2,
		 struct err *e);
enum num_pad { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR };
/* pads has (lo, hi) pairs from the last dimension on, as F.pad. */
int num_pad(struct num_ctx *c, struct tensor *out, const struct tensor *t, int n,
	    const int64_t *pads, enum num_pad mode, double value, struct err *e);
/* F.unfold and F.fold. */
struct num_unfold { int64_t kernel[2], dilation[2], padding[2], stride[2]; };
int num_unfold(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	       const struct num_unfold *p, struct err *e);
int num_fold(struct num_ctx *c, struct tensor *out, const struct tensor *t, const int64_t *size,
	     const struct num_unfold *p, struct err *e);

/* --- order (sort.c) ---------------------------------------------------------------------------- */

int num_sort(struct num_ctx *c, struct tensor *value, struct tensor *index, const struct tensor *t,
	     int dim, int descending, struct err *e);
int num_topk(struct num_ctx *c, struct tensor *value, struct tensor *index, const struct tensor *t,
	     int64_t k, int dim, int largest, struct err *e);
/* The k-th smallest element, k from 1 on. The median is k = (n + 1) / 2. */
int num_kth(struct num_ctx *c, struct tensor *value, struct tensor *index, const struct tensor *t,
	    int64_t k, int dim, int keep, struct err *e);
/* Sorted distinct elements of the flattened tensor; inverse and counts may be NULL. */
int num_unique(struct num_ctx *c, struct tensor *out, struct tensor *inverse, struct tensor *counts,
	       const struct tensor *t, struct err *e);
int num_searchsorted(struct num_ctx *c, struct tensor *out, const struct tensor *sorted,
		     const struct tensor *v, int right, struct err *e);
int num_bincount(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		 const struct tensor *weights, int64_t least,
		 struct err *e);

/* --- making (make.c) ------------------------------------------------------------------------------ */

int num_arange(struct num_ctx *c, struct tensor *out, struct num_arg start, struct num_arg end,
	       struct num_arg step, enum dtype dt, struct err *e);
int num_linspace(struct num_ctx *c, struct tensor *out, double start, double end, int64_t n,
		 enum dtype dt, struct err *e);
int num_eye(struct num_ctx *c, struct tensor *out, int64_t n, int64_t m, enum dtype dt,
	    struct err *e);
int num_one_hot(struct num_ctx *c, struct tensor *out, const struct tensor *t, int64_t classes,
		struct err *e);
int num_cdist(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	      double p, struct err *e);
int num_cross(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	      int dim, struct err *e);

/* --- images (resample.c, grid.c) ----------------------------------------------------------------------- */

enum num_interp { INTERP_NEAREST, INTERP_NEAREST_EXACT, INTERP_LINEAR, INTERP_CUBIC };
/* x [N, C, ...]: resamples nd spatial dimensions to `size`. scale[i] > 0 is the scale_factor
 * to use. */
int num_interpolate(struct num_ctx *c, struct tensor *out, const struct tensor *x, int nd,
		    const int64_t *size,
		    const double *scale, enum num_interp mode, int align, struct err *e);
enum num_border { BORDER_ZEROS, BORDER_EDGE, BORDER_REFLECT };
int num_grid_sample(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		    const struct tensor *grid,
		    enum num_interp mode, enum num_border border, int align, struct err *e);

/* A padding, offset or step that a program gives, clipped to +-2^48: anything beyond has the
 * same effect for every possible shape, and sums of such values stay within 64 bits. */
static inline int64_t num_step(int64_t v)
{
	const int64_t far = (int64_t)1 << 48;

	return v > far ? far : v < -far ? -far : v;
}

#endif
