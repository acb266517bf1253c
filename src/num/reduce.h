/* Reductions: the operators of reduce.c and along.c, and their interface to the kernels of
 * reduce.simd.c. */
#ifndef NUM_REDUCE_H
#define NUM_REDUCE_H

#include "base/cpu.h"
#include "num/num.h"

enum num_red {
#define RED(name, acc, start, step, combine) RED_##name,
#include "num/reduce.def"
#undef RED
	NUM_REDS
};

/* An accumulator: `f` for floats, `i` for integers. */
union num_acc { double f; int64_t i; };

/* row: x[0..n) into one accumulator, with 32 partial sums in a fixed order. col: x[r * step +
 * k] into s[k] for all rows r < rows and columns k < n. m is the parameter of each result. */
typedef void num_row_fn(union num_acc *s, const void *x, size_t n, double m);
typedef void num_col_fn(union num_acc *s, const void *x, size_t n, const double *m, int64_t rows,
			int64_t step);

/* The kernels of one reduction. */
struct num_red_kernel {
	num_row_fn *row[3];     /* by carrier: f32, f64, i64 */
	num_col_fn *col[3];
	union num_acc start[3]; /* identities by carrier; integers: see start_of() */
};

SIMD_DECLARE(const struct num_red_kernel *, num_red_kernels, (void))

/* The row kernel of float sums: pairs are added as floats and then widened, because widening
 * is the expensive part. One rounding per two elements is less than PyTorch's chains have. */
SIMD_DECLARE(void, num_row_pairs, (union num_acc *s, const void *x, size_t n, double m))

/* The dimensions of a reduction; n = 0 means all. */
struct num_dims { int v[TENSOR_DIMS]; int n; };

/* Sums and products of integers and bool give int64, as in PyTorch; `dt` (-1: none) is the
 * dtype= argument. */
int num_sum(struct num_ctx *c, struct tensor *out, const struct tensor *t, const struct num_dims *d,
	    int keep, int dt, struct err *e);
int num_mean(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, int dt, struct err *e);
int num_prod(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, int dt, struct err *e);
int num_amax(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, struct err *e);
int num_amin(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, struct err *e);
int num_any(struct num_ctx *c, struct tensor *out, const struct tensor *t, const struct num_dims *d,
	    int keep, struct err *e);
int num_all(struct num_ctx *c, struct tensor *out, const struct tensor *t, const struct num_dims *d,
	    int keep, struct err *e);
int num_count_nonzero(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		      const struct num_dims *d, struct err *e);
/* Variance with divisor max(0, n - correction); `root`: its square root; `mean`: may be NULL. */
int num_var(struct num_ctx *c, struct tensor *out, struct tensor *mean, const struct tensor *t,
	    const struct num_dims *d, int keep, double correction, int root, struct err *e);
/* The mean and the biased variance as doubles, one per result, for normalisations. */
int num_moments(struct num_ctx *c, const struct tensor *t, const struct num_dims *d, double *mean,
		double *var, struct err *e);
int num_norm(struct num_ctx *c, struct tensor *out, const struct tensor *t, double p,
	     const struct num_dims *d, int keep, struct err *e);
int num_logsumexp(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		  const struct num_dims *d, int keep, struct err *e);
/* Extremes along one dimension with their first positions. A NaN counts as the extreme.
 * Either result may be NULL. `dim` is not negative. */
int num_extreme(struct num_ctx *c, struct tensor *value, struct tensor *index,
		const struct tensor *t, int dim, int keep, int max, struct err *e);
/* Scans along a dimension; index is for SCAN_MAX and SCAN_MIN, else NULL. */
enum num_scan { SCAN_SUM, SCAN_PROD, SCAN_MAX, SCAN_MIN, SCAN_LOGSUMEXP };
int num_scan(struct num_ctx *c, struct tensor *out, struct tensor *index, enum num_scan op,
	     const struct tensor *t, int dim, int dt, struct err *e);

#endif
