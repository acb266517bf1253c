/* Pooling kernels, compiled once per instruction set (see pooling.h). An output row is built
 * tap by tap: the loop over the row is the inner one and vectorises. Maxima propagate NaN;
 * averages sum in double. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")
#endif
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "num/pooling.h"

enum { ROW = 1024 };                    /* outputs of a row piece, for the buffer of sums */

/* The outputs o in [0, n) whose input o * stride + shift lies in [0, size): [*lo, *hi). */
static inline void valid(int64_t n, int64_t stride, int64_t shift, int64_t size, int64_t *lo,
			 int64_t *hi)
{
	*lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
	*hi = size > shift ? (size - shift + stride - 1) / stride : 0;
	*lo = MIN(*lo, n);
	*hi = MAX(*lo, MIN(*hi, n));
}

/* Size of the window of output o along dimension d, clipped to the padded input (`padded`) or
 * to the input: one factor of the divisor of an average. */
static inline int64_t window(const struct pool_geom *g, int d, int64_t o, int padded)
{
	int64_t a = o * g->stride[d] - g->pad[d], b = MIN(a + g->k[d], g->in[d] + g->pad[d]);

	return padded ? b - a : MIN(b, g->in[d]) - MAX(a, 0);
}

/* False for NaN only. */
#define IS_NUMBER(v) ((v) == (v))

/* The taps [*from, *to) of dimension d that meet the input. `at` is the input position of tap
 * 0; for a row piece whose outputs lie up to `span` further the union is taken. A window may
 * be far larger than the input, so the loop must not visit all of its taps. */
static inline void meet(const struct pool_geom *g, int d, int64_t at, int64_t span, int64_t *from,
			int64_t *to)
{
	valid(g->k[d], g->dil[d], at + span, g->in[d] + span, from, to);
}

/* Runs `body` for each tap of the row piece [w0, w0 + n) of output row (od, oh), with row +
 * shift + i * s the input position of output w0 + i for i in [lo, hi). */
#define TAPS(body)                                                                                            \
	{                                                                                                     \
	int64_t d0, d1, h0, h1, k0, k1;                                                                       \
	meet(g, 0, od * g->stride[0] - g->pad[0], 0, &d0, &d1);                                               \
	meet(g, 1, oh * g->stride[1] - g->pad[1], 0, &h0, &h1);                                               \
	meet(g, 2, w0 * g->stride[2] - g->pad[2], (n - 1) * g->stride[2], &k0, &k1);                          \
	for (int64_t kd = d0; kd < d1; kd++) {                                                                \
		int64_t id = od * g->stride[0] + kd * g->dil[0] - g->pad[0];                                  \
		for (int64_t kh = h0; kh < h1; kh++) {                                                        \
			int64_t ih = oh * g->stride[1] + kh * g->dil[1] - g->pad[1];                          \
			for (int64_t kw = k0; kw < k1; kw++) {                                                \
				int64_t row = (id * g->in[1] + ih) * g->in[2], s = g->stride[2], lo, hi;      \
				int64_t shift = kw * g->dil[2] - g->pad[2] + w0 * s;                          \
				valid(n, s, shift, g->in[2], &lo, &hi);                                       \
				body                                                                          \
			}                                                                                     \
		}                                                                                             \
	}                                                                                                     \
	}

/* Average pooling for T: sums in double, then the divisor of each output. */
#define AVG(T)                                                                                                \
	static inline void add_row_##T(double *restrict y, const T *restrict x, int64_t s, int64_t lo, int64_t hi) \
	{                                                                                                     \
		if (s == 1)                                                                                   \
			for (int64_t i = lo; i < hi; i++)                                                     \
				y[i] += (double)x[i];                                                         \
		else                                                                                          \
			for (int64_t i = lo; i < hi; i++)                                                     \
				y[i] += (double)x[i * s];                                                     \
	}                                                                                                     \
	static void avg_piece_##T(T *y, const T *x, const struct pool_geom *g, int64_t od, int64_t oh, int64_t w0, \
				  int64_t n)                                                                  \
	{                                                                                                     \
		double sum[ROW];                                                                              \
		int64_t outer = window(g, 0, od, g->include_pad) * window(g, 1, oh, g->include_pad);          \
		for (int64_t i = 0; i < n; i++)                                                               \
			sum[i] = 0;                                                                           \
		TAPS(add_row_##T(sum, x + row + shift, s, lo, hi);)                                           \
		for (int64_t i = 0; i < n; i++) {                                                             \
			int64_t by = g->divisor ? g->divisor : outer * window(g, 2, w0 + i, g->include_pad);  \
			y[i] = (T)(sum[i] / (double)by);                                                      \
		}                                                                                             \
	}                                                                                                     \
	static void avg_##T(void *yp, const void *xp, const struct pool_geom *g)                              \
	{                                                                                                     \
		for (int64_t r = 0; r < g->out[0] * g->out[1]; r++)                                           \
			for (int64_t w0 = 0; w0 < g->out[2]; w0 += ROW)                                       \
				avg_piece_##T((T *)yp + r * g->out[2] + w0, xp, g, r / g->out[1], r % g->out[1], w0, \
					      MIN(g->out[2] - w0, (int64_t)ROW));                             \
	}

#define T float
#define LOWEST -__builtin_inff()
#include "num/pooling_max.inc"
#define T double
#define LOWEST -__builtin_inf()
#include "num/pooling_max.inc"
#define T int64_t
#define LOWEST INT64_MIN
#include "num/pooling_max.inc"
AVG(float)
AVG(double)

/* Kernels by carrier; integers have no average. */
const struct pool_kernels *SIMD_FN(num_pool_kernels)(enum dtype carrier)
{
	static const struct pool_kernels f32 = { max_float, avg_float };
	static const struct pool_kernels f64 = { max_double, avg_double };
	static const struct pool_kernels i64 = { max_int64_t, NULL };

	return carrier == DT_F32 ? &f32 : carrier == DT_F64 ? &f64 : &i64;
}
