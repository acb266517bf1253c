/* Operators along one dimension: extremes with their positions, softmax, running sums and the
 * like.
 *
 * This file owns the walk over the slices of a dense array and the scans; the kernels of extremes
 * and softmax are in rows.simd.c. The operand is a dense array [outer, L, inner] of the carrier
 * type: `dim` is the L, the dimensions before it are merged into outer, those after it into inner.
 * Example: dim 1 of a [2, 3, 4, 5] tensor gives outer 2, L 3, inner 20.
 *
 * Invariant: the result is computed in the carrier and converted to its dtype once, at the
 * end, so a half-precision result is rounded once. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/reduce.h"
#include "num/rows.h"

/* One operator on one tensor, as its worker threads see it. */
struct along_walk {
	const struct num_rows *k;    /* kernels for the carrier and this CPU */
	struct tensor x;        /* operand, dense, in the carrier */
	int64_t outer, L, inner;
	int size;               /* bytes of an element of the carrier */
	char *y;                /* result, laid out as x; extremes: [outer, inner] */
	int64_t *index;         /* positions along the dimension, or NULL */
	int arg;                /* extremes: 1 for max, 0 for min; softmax: 1 for its logarithm */
	enum num_scan scan;     /* scans: the operation */
};

/* Fills in the operand and the sizes of the walk and charges one unit of work per element. A
 * tensor without dimensions counts as a row of one element. */
static int along_begin(struct num_ctx *c, struct along_walk *a, const struct tensor *t, int dim,
		       enum dtype carrier, struct err *e)
{
	if (num_as(c, &a->x, t, carrier, e))
		return -1;
	a->k = SIMD_PICK(num_rows)(carrier);
	a->size = dtype_size(carrier);
	a->outer = a->inner = 1;
	a->L = t->ndim ? t->shape[dim] : 1;
	for (int i = 0; i < t->ndim; i++)
		if (i != dim)
			*(i < dim ? &a->outer : &a->inner) *= t->shape[i];
	return num_charge(c, (uint64_t)tensor_numel(t), e);
}

/* Number of work items. An item is one outer index and a block of at most ROWS_BLOCK columns,
 * so that the accumulators of a kernel fit its fixed arrays. With inner = 1 an item is one
 * dense row. */
static int64_t slices(const struct along_walk *a)
{
	return a->outer * ((a->inner + ROWS_BLOCK - 1) / ROWS_BLOCK);
}

/* Work item i: outer index `row`, and the columns [col, col + n) of it. */
static void slice_at(const struct along_walk *a, int64_t i, int64_t *row, int64_t *col, int64_t *n)
{
	int64_t blocks = (a->inner + ROWS_BLOCK - 1) / ROWS_BLOCK;

	*row = i / blocks;
	*col = i % blocks * ROWS_BLOCK;
	*n = MIN(a->inner - *col, (int64_t)ROWS_BLOCK);
}

/* Converts the result *t from the carrier to `dt`. On failure *t is released, so callers
 * return the code directly. */
int num_settle(struct num_ctx *c, struct tensor *t, enum dtype dt, struct err *e)
{
	struct tensor made;

	if (t->dt == dt)
		return 0;
	if (num_to(c, &made, t, dt, e)) {
		tensor_release(t);
		return -1;
	}
	tensor_release(t);
	*t = made;
	return 0;
}

/* --- extremes -------------------------------------------------------------------------------- */

/* Thread body: items [begin, end). The results of a row are at [row, col] of [outer, inner]. */
static void extreme_range(void *ctx, size_t begin, size_t end)
{
	const struct along_walk *a = ctx;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		int64_t row, col, n;

		slice_at(a, i, &row, &col, &n);
		a->k->extreme(a->y + (row * a->inner + col) * a->size,
			      a->index + row * a->inner + col,
			      (char *)tensor_data(&a->x) + (row * a->L * a->inner + col) * a->size,
			      a->L, a->inner, n, a->arg);
	}
}

/* torch.max, torch.min, argmax, argmin with a dimension.
 *
 * t [outer, L, inner] gives value and index [outer, inner], or [outer, 1, inner] with `keep`.
 * Ties: the first position wins, as in PyTorch on CPU. A NaN counts as the extreme and the
 * first NaN wins. An empty dimension is an error because there is no identity. */
int num_extreme(struct num_ctx *c, struct tensor *value, struct tensor *index,
		const struct tensor *t, int dim, int keep, int max, struct err *e)
{
	struct along_walk a = { .arg = max };
	struct tensor v = { .st = NULL }, ix = { .st = NULL };
	int64_t shape[TENSOR_DIMS];
	int n = 0, rc = -1;

	if (t->ndim && t->shape[dim] == 0)
		return err_set(e, ERR_RANGE, "%s(): Expected reduction dim %d to have non-zero size.",
			       max ? "max" : "min", dim);
	for (int i = 0; i < t->ndim; i++)
		if (i != dim)
			shape[n++] = t->shape[i];
		else if (keep)
			shape[n++] = 1;
	if (along_begin(c, &a, t, dim, dtype_carrier(t->dt), e) ||
	    num_new(c, &v, a.x.dt, n, shape, e) ||
	    num_new(c, &ix, DT_I64, n, shape, e))
		goto out;
	a.y = tensor_data(&v);
	a.index = tensor_data(&ix);
	pool_for(c->pool, (size_t)slices(&a), 64, extreme_range, &a);
	if (value && num_settle(c, &v, t->dt, e))
		goto out;
	if (value) {
		*value = v;
		v.st = NULL;
	}
	if (index) {
		*index = ix;
		ix.st = NULL;
	}
	rc = 0;
out:
	tensor_release(&a.x);
	tensor_release(&v);
	tensor_release(&ix);
	return rc;
}

/* --- softmax ---------------------------------------------------------------------------------- */

/* Thread body: items [begin, end); x and y have the same layout [outer, L, inner]. */
static void softmax_range(void *ctx, size_t begin, size_t end)
{
	const struct along_walk *a = ctx;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		int64_t row, col, n, at;

		slice_at(a, i, &row, &col, &n);
		at = (row * a->L * a->inner + col) * a->size;
		a->k->softmax(a->y + at, (char *)tensor_data(&a->x) + at, a->L, a->inner, n,
			      a->arg);
	}
}

/* softmax(x)[i] = exp(x[i] - max) / sum of exp(x[j] - max); `log` gives x[i] - max -
 * log(sum).
 *
 * `dt` is the dtype= argument or -1: PyTorch converts the operand to it before the
 * exponentials. Sums are kept in double. Integers have no softmax: the message is PyTorch's. */
int num_softmax(struct num_ctx *c, struct tensor *out, const struct tensor *t, int dim, int dt,
		int log, struct err *e)
{
	enum dtype to = dt >= 0 ? (enum dtype)dt : t->dt;
	struct along_walk a = { .arg = log };

	if (!dtype_is_float(to))
		return err_set(e, ERR_STATE, "\"%s_lastdim_kernel_impl\" not implemented for '%s'",
			       log ? "log_softmax" : "softmax", num_type_name(to));
	if (along_begin(c, &a, t, dim, dtype_carrier(to), e) ||
	    num_new(c, out, a.x.dt, t->ndim, t->shape, e)) {
		tensor_release(&a.x);
		return -1;
	}
	a.y = tensor_data(out);
	if (tensor_numel(out))
		pool_for(c->pool, (size_t)slices(&a), (size_t)MAX(1, 8192 / MAX(a.L, 1)),
			 softmax_range, &a);
	tensor_release(&a.x);
	return num_settle(c, out, to, e);
}

/* --- scans -------------------------------------------------------------------------------------- */

/* State of one running result: f for floats, i for integers, `at` the position of the
 * extreme. */
struct scan_step { double f; int64_t i, at; };

/* Takes element x at position k into the state. logsumexp keeps the larger of the two
 * operands outside the exponential, so exp() cannot overflow. Max and min use >= and <=:
 * cummax and cummin report the last of equal elements, unlike max and min. */
static void scan_float(enum num_scan op, struct scan_step *s, double x, int64_t k)
{
	switch (op) {
	case SCAN_SUM:
		s->f += x;
		break;
	case SCAN_PROD:
		s->f *= x;
		break;
	case SCAN_LOGSUMEXP: {
		double hi = fmax(s->f, x), lo = fmin(s->f, x);

		s->f = isinf(hi) ? hi : hi + log1p(exp(lo - hi));
		break;
	}
	case SCAN_MAX:
	case SCAN_MIN:
		if (k == 0 || isnan(x) || (op == SCAN_MAX ? x >= s->f : x <= s->f)) {
			s->f = x;
			s->at = k;
		}
		break;
	}
}

/* The same for integers. Sums and products wrap modulo 2^64, as in PyTorch; the unsigned
 * arithmetic avoids undefined overflow. */
static void scan_int(enum num_scan op, struct scan_step *s, int64_t x, int64_t k)
{
	if (op == SCAN_SUM)
		s->i = (int64_t)((uint64_t)s->i + (uint64_t)x);
	else if (op == SCAN_PROD)
		s->i = (int64_t)((uint64_t)s->i * (uint64_t)x);
	else if (k == 0 || (op == SCAN_MAX ? x >= s->i : x <= s->i)) {
		s->i = x;
		s->at = k;
	}
}

/* The frequent cases: running sums and products of floats, a block of columns at a time. The
 * loop over j vectorises; the accumulators stay in double, and each output rounds its own
 * prefix once. */
#define SCAN_COLS(T, name, start, op)                                                                     \
	static void scan_##name##_##T(const struct along_walk *a, int64_t base, int64_t n)                     \
	{                                                                                                 \
		const T *x = (const T *)tensor_data(&a->x) + base;                                        \
		T *y = (T *)a->y + base;                                                                  \
		double s[ROWS_BLOCK];                                                                     \
		for (int64_t j = 0; j < n; j++)                                                           \
			s[j] = start;                                                                     \
		for (int64_t k = 0; k < a->L; k++)                                                        \
			for (int64_t j = 0; j < n; j++) {                                                 \
				s[j] = s[j] op (double)x[k * a->inner + j];                               \
				y[k * a->inner + j] = (T)s[j];                                            \
			}                                                                                 \
	}
SCAN_COLS(float, sum, 0, +)
SCAN_COLS(double, sum, 0, +)
SCAN_COLS(float, prod, 1, *)
SCAN_COLS(double, prod, 1, *)

/* Dense rows, eight at a time. A single running sum is a chain of additions that each wait
 * for the one before; eight independent rows hide that latency. The order within a row is the
 * same. */
#define SCAN_ROWS(T, name, start, op)                                                                     \
	static void rows_##name##_##T(const struct along_walk *a, int64_t row, int64_t rows)                   \
	{                                                                                                 \
		const T *x = (const T *)tensor_data(&a->x) + row * a->L;                                  \
		T *y = (T *)a->y + row * a->L;                                                            \
		double s[8] = { start, start, start, start, start, start, start, start };                 \
		if (rows == 8) {                                                                          \
			for (int64_t k = 0; k < a->L; k++)                                                \
				for (int j = 0; j < 8; j++) {                                             \
					s[j] = s[j] op (double)x[j * a->L + k];                           \
					y[j * a->L + k] = (T)s[j];                                        \
				}                                                                         \
			return;                                                                           \
		}                                                                                         \
		for (int64_t j = 0; j < rows; j++)                                                        \
			for (int64_t k = 0; k < a->L; k++) {                                              \
				s[j] = s[j] op (double)x[j * a->L + k];                                   \
				y[j * a->L + k] = (T)s[j];                                                \
			}                                                                                 \
	}
SCAN_ROWS(float, sum, 0, +)
SCAN_ROWS(double, sum, 0, +)
SCAN_ROWS(float, prod, 1, *)
SCAN_ROWS(double, prod, 1, *)

/* Thread body for dense rows (inner = 1): rows [begin, end) in groups of eight. */
static void scan_rows(void *ctx, size_t begin, size_t end)
{
	const struct along_walk *a = ctx;
	int is_float = a->x.dt == DT_F32;
	void (*fn)(const struct along_walk *, int64_t, int64_t) =
		a->scan == SCAN_SUM ? (is_float ? rows_sum_float : rows_sum_double) :
		(is_float ? rows_prod_float : rows_prod_double);

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i += 8)
		fn(a, i, MIN(8, (int64_t)end - i));
}

/* The general case: one column that starts at element `base`, element by element, with the
 * index. */
static void scan_column(const struct along_walk *a, int64_t base)
{
	struct scan_step s = { .f = a->scan == SCAN_PROD ? 1 : a->scan == SCAN_LOGSUMEXP ? -INFINITY : 0,
			       .i = a->scan == SCAN_PROD };
	enum dtype dt = a->x.dt;

	for (int64_t k = 0; k < a->L; k++) {
		int64_t at = base + k * a->inner;
		const char *x = (const char *)tensor_data(&a->x) + at * a->size;

		if (dt == DT_I64) {
			scan_int(a->scan, &s, *(const int64_t *)x, k);
			((int64_t *)a->y)[at] = s.i;
		} else {
			scan_float(a->scan, &s, dt == DT_F32 ? (double)*(const float *)x : *(const double *)x, k);
			if (dt == DT_F32)
				((float *)a->y)[at] = (float)s.f;
			else
				((double *)a->y)[at] = s.f;
		}
		if (a->index)
			a->index[at] = s.at;
	}
}

/* Thread body for blocks of columns: fast paths for sums and products of floats, else
 * scan_column. */
static void scan_range(void *ctx, size_t begin, size_t end)
{
	const struct along_walk *a = ctx;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		int64_t row, col, n, base;

		slice_at(a, i, &row, &col, &n);
		base = row * a->L * a->inner + col;
		if (a->scan == SCAN_SUM && a->x.dt == DT_F32)
			scan_sum_float(a, base, n);
		else if (a->scan == SCAN_SUM && a->x.dt == DT_F64)
			scan_sum_double(a, base, n);
		else if (a->scan == SCAN_PROD && a->x.dt == DT_F32)
			scan_prod_float(a, base, n);
		else if (a->scan == SCAN_PROD && a->x.dt == DT_F64)
			scan_prod_double(a, base, n);
		else
			for (int64_t j = 0; j < n; j++)
				scan_column(a, base + j);
	}
}

/* cumsum, cumprod, cummax, cummin, logcumsumexp along `dim`: y[k] = op(x[0], ..., x[k]).
 *
 * y and index have the shape of t. Sums and products of integers and bool give int64 unless
 * `dt` (the dtype= argument, -1 if absent) says otherwise. index is NULL for all but cummax
 * and cummin. */
int num_scan(struct num_ctx *c, struct tensor *out, struct tensor *index, enum num_scan op,
	     const struct tensor *t, int dim, int dt, struct err *e)
{
	enum dtype to = dt >= 0 ? (enum dtype)dt : t->dt;
	struct along_walk a = { .scan = op };
	int rc = -1;

	if (dt < 0 && op <= SCAN_PROD && !dtype_is_float(t->dt))
		to = DT_I64;
	out->st = NULL;
	if (index)
		index->st = NULL;
	if (along_begin(c, &a, t, dim, dtype_carrier(to), e) ||
	    num_new(c, out, a.x.dt, t->ndim, t->shape, e) ||
	    (index && num_new(c, index, DT_I64, t->ndim, t->shape, e)))
		goto out;
	a.y = tensor_data(out);
	a.index = index ? tensor_data(index) : NULL;
	if (tensor_numel(out) && a.inner == 1 && op <= SCAN_PROD && a.x.dt != DT_I64)
		pool_for(c->pool, (size_t)a.outer, 64, scan_rows, &a);
	else if (tensor_numel(out))
		pool_for(c->pool, (size_t)slices(&a), 16, scan_range, &a);
	rc = num_settle(c, out, to, e);
out:
	if (rc) {
		tensor_release(out);
		if (index)
			tensor_release(index);
	}
	tensor_release(&a.x);
	return rc;
}
