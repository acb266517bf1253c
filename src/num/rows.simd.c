/* Kernels along one dimension: see rows.h. The same source for float, double and int64. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")
#endif
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "num/rows.h"
#include "num/vmath.h"

enum { LANES = 16 };

typedef float f32_vec __attribute__((vector_size(64)));
typedef int32_t f32_mask __attribute__((vector_size(64)));
typedef double f64_vec __attribute__((vector_size(64)));
typedef int64_t f64_mask __attribute__((vector_size(64)));
typedef int64_t i64_vec __attribute__((vector_size(64)));
typedef int64_t i64_mask __attribute__((vector_size(64)));

/* BEATS(v, b): v takes the place of b; a NaN beats every number. */
#define BEATS_MAX(v, b) (((v) > (b)) | ((v) != (v)))
#define BEATS_MIN(v, b) (((v) < (b)) | ((v) != (v)))

#define EXTREME(t, T, name, BEATS)                                                                       \
	static void t##_cols_##name(T *value, int64_t *index, const T *x, int64_t L, int64_t stride, int64_t n) \
	{                                                                                                \
		T best[ROWS_BLOCK];                                                                      \
		int64_t at[ROWS_BLOCK];                                                                  \
		for (int64_t j = 0; j < n; j++) {                                                        \
			best[j] = x[j];                                                                  \
			at[j] = 0;                                                                       \
		}                                                                                        \
		for (int64_t k = 1; k < L; k++) {                                                        \
			const T *row = x + k * stride;                                                   \
			for (int64_t j = 0; j < n; j++) {                                                \
				T v = row[j], b = best[j];                                               \
				int take = BEATS(v, b) & (b == b);                                       \
				best[j] = take ? v : b;                                                  \
				at[j] = take ? k : at[j];                                                \
			}                                                                                \
		}                                                                                        \
		memcpy(index, at, (size_t)n * sizeof *at);                                               \
		memcpy(value, best, (size_t)n * sizeof *best);                                           \
	}                                                                                                \
	/* One dense row, by lanes of vectors (a loop over an array of lanes stays scalar). */           \
	static T t##_top_##name(const T *x, int64_t L)                                                   \
	{                                                                                                \
		t##_vec lane[2], v;                                                                      \
		T best = x[0];                                                                           \
		int64_t i = 0, w = (int64_t)(sizeof v / sizeof *x);                                      \
		for (int64_t k = 0; k < 2 * w; k++)                                                      \
			lane[k / w][k % w] = x[0];                                                       \
		for (; i + 2 * w <= L; i += 2 * w)                                                       \
			for (int h = 0; h < 2; h++) {                                                    \
				memcpy(&v, x + i + h * w, sizeof v);                                     \
				t##_mask m = BEATS(v, lane[h]);                                          \
				lane[h] = (t##_vec)(((t##_mask)v & m) | ((t##_mask)lane[h] & ~m));       \
			}                                                                                \
		for (; i < L; i++)                                                                       \
			best = ((best == best) & BEATS(x[i], best)) ? x[i] : best;                         \
		for (int64_t k = 0; k < 2 * w; k++) {                                                    \
			T c = lane[k / w][k % w];                                                        \
			best = ((best == best) & BEATS(c, best)) ? c : best;                               \
		}                                                                                        \
		return best;                                                                             \
	}                                                                                                \
	/* The first place of `best` in a row that holds it. */                                          \
	static int64_t t##_find_##name(const T *x, int64_t L, T best)                                    \
	{                                                                                                \
		int64_t i = 0, step = 64;                                                                \
		for (; i + step <= L; i += step) {                                                       \
			int any = 0;                                                                     \
			for (int64_t k = 0; k < step; k++)                                               \
				any |= (x[i + k] == best) | (x[i + k] != x[i + k]);                      \
			if (any)                                                                         \
				break;                                                                   \
		}                                                                                        \
		while (i < L - 1 && !(x[i] == best || (best != best && x[i] != x[i])))                   \
			i++;                                                                             \
		return i;                                                                                \
	}

#define EXTREME_ANY(t, T)                                                                                \
	EXTREME(t, T, max, BEATS_MAX)                                                                    \
	EXTREME(t, T, min, BEATS_MIN)                                                                    \
	static void t##_extreme(void *vp, int64_t *index, const void *xp, int64_t L, int64_t stride, int64_t n, int max) \
	{                                                                                                \
		const T *x = xp;                                                                         \
		if (n != 1 || stride != 1) {                                                             \
			(max ? t##_cols_max : t##_cols_min)(vp, index, x, L, stride, n);                 \
			return;                                                                          \
		}                                                                                        \
		T best = max ? t##_top_max(x, L) : t##_top_min(x, L);                                    \
		*(T *)vp = best;                                                                         \
		*index = (max ? t##_find_max : t##_find_min)(x, L, best);                                \
	}

EXTREME_ANY(f32, float)
EXTREME_ANY(f64, double)
EXTREME_ANY(i64, int64_t)

VM double f64_exp(double x) { return exp(x); }

/* Softmax of one dense row: the largest element off, exponentials, their sum in double. */
#define SOFTMAX(t, T)                                                                                    \
	static void t##_softmax_row(T *restrict y, const T *restrict x, int64_t L, int take_log)         \
	{                                                                                                \
		double lane[LANES] = { 0 }, sum = 0;                                                     \
		T top, shift, scale;                                                                     \
		int64_t i = 0;                                                                           \
		top = t##_top_max(x, L);                                                                 \
		shift = top == -__builtin_inf() ? 0 : top;                                               \
		for (int64_t k = 0; k < L; k++)                                                          \
			y[k] = t##_exp(x[k] - shift);                                                    \
		for (; i + LANES <= L; i += LANES)                                                       \
			for (int k = 0; k < LANES; k++)                                                  \
				lane[k] += (double)y[i + k];                                             \
		for (int k = 0; i < L; i++, k++)                                                         \
			lane[k] += (double)y[i];                                                         \
		for (int k = 0; k < LANES; k++)                                                          \
			sum += lane[k];                                                                  \
		if (take_log) {                                                                          \
			T off = (T)log(sum);                                                             \
			for (int64_t k = 0; k < L; k++)                                                  \
				y[k] = (x[k] - top) - off;                                               \
			return;                                                                          \
		}                                                                                        \
		if (top == -__builtin_inf())                                                             \
			sum = __builtin_nan("");                                                         \
		scale = (T)(1 / sum);                                                                    \
		for (int64_t k = 0; k < L; k++)                                                          \
			y[k] *= scale;                                                                   \
	}                                                                                                \
	static void t##_softmax(void *yp, const void *xp, int64_t L, int64_t stride, int64_t n, int take_log) \
	{                                                                                                \
		const T *x = xp;                                                                         \
		T *y = yp, top[ROWS_BLOCK];                                                              \
		double sum[ROWS_BLOCK] = { 0 };                                                          \
		if (n == 1 && stride == 1) {                                                             \
			t##_softmax_row(y, x, L, take_log);                                              \
			return;                                                                          \
		}                                                                                        \
		memcpy(top, x, (size_t)n * sizeof *top);                                                 \
		for (int64_t k = 1; k < L; k++)                                                          \
			for (int64_t j = 0; j < n; j++) {                                                \
				T v = x[k * stride + j];                                                 \
				top[j] = ((v > top[j]) | (v != v)) ? v : top[j];                           \
			}                                                                                \
		for (int64_t k = 0; k < L; k++) {                                                        \
			const T *restrict xr = x + k * stride;                                           \
			T *restrict yr = y + k * stride;                                                 \
			for (int64_t j = 0; j < n; j++)                                                  \
				yr[j] = t##_exp(xr[j] - top[j]);                                         \
			for (int64_t j = 0; j < n; j++)                                                  \
				sum[j] += (double)yr[j];                                                 \
		}                                                                                        \
		for (int64_t j = 0; j < n; j++)                                                          \
			sum[j] = take_log ? log(sum[j]) : 1 / sum[j];                                    \
		for (int64_t k = 0; k < L; k++) {                                                        \
			const T *restrict xr = x + k * stride;                                           \
			T *restrict yr = y + k * stride;                                                 \
			if (take_log)                                                                    \
				for (int64_t j = 0; j < n; j++)                                          \
					yr[j] = (xr[j] - top[j]) - (T)sum[j];                            \
			else                                                                             \
				for (int64_t j = 0; j < n; j++)                                          \
					yr[j] *= (T)sum[j];                                              \
		}                                                                                        \
	}
SOFTMAX(f32, float)
SOFTMAX(f64, double)

#define NORM(t, T)                                                                                       \
	static double t##_lanes(const T *x, int64_t n, double mean, int square)                          \
	{                                                                                                \
		double lane[LANES] = { 0 }, sum = 0;                                                     \
		int64_t i = 0;                                                                           \
		if (square) {                                                                            \
			for (; i + LANES <= n; i += LANES)                                               \
				for (int k = 0; k < LANES; k++) {                                        \
					double d = (double)x[i + k] - mean;                              \
					lane[k] += d * d;                                                \
				}                                                                        \
		} else {                                                                                 \
			for (; i + LANES <= n; i += LANES)                                               \
				for (int k = 0; k < LANES; k++)                                          \
					lane[k] += (double)x[i + k];                                     \
		}                                                                                        \
		for (int k = 0; i < n; i++, k++) {                                                       \
			double d = (double)x[i] - mean;                                                  \
			lane[k] += square ? d * d : d;                                                   \
		}                                                                                        \
		for (int k = 0; k < LANES; k++)                                                          \
			sum += lane[k];                                                                  \
		return sum;                                                                              \
	}                                                                                                \
	static void t##_affine(void *yp, const void *xp, int64_t n, double scale, double shift)          \
	{                                                                                                \
		T *restrict y = yp;                                                                      \
		const T *restrict x = xp;                                                                \
		const T a = (T)scale, b = (T)shift;                                                      \
		for (int64_t i = 0; i < n; i++)                                                          \
			y[i] = x[i] * a + b;                                                             \
	}                                                                                                \
	static void t##_layer_norm(void *yp, const void *xp, int64_t n, const void *wp, const void *bp,  \
				   double eps, int rms)                                                  \
	{                                                                                                \
		T *restrict y = yp;                                                                      \
		const T *restrict x = xp, *restrict w = wp, *restrict b = bp;                            \
		double mean = rms ? 0 : t##_lanes(x, n, 0, 0) / (double)n;                               \
		double rstd = 1 / sqrt(t##_lanes(x, n, mean, 1) / (double)n + eps);                      \
		const T m = (T)mean, s = (T)rstd;                                                        \
		if (w && b)                                                                              \
			for (int64_t i = 0; i < n; i++)                                                  \
				y[i] = (x[i] - m) * s * w[i] + b[i];                                     \
		else if (w)                                                                              \
			for (int64_t i = 0; i < n; i++)                                                  \
				y[i] = (x[i] - m) * s * w[i];                                            \
		else                                                                                     \
			for (int64_t i = 0; i < n; i++)                                                  \
				y[i] = (x[i] - m) * s + (b ? b[i] : 0);                                  \
	}
NORM(f32, float)
NORM(f64, double)

const struct num_rows *SIMD_FN(num_rows)(enum dtype carrier)
{
	static const struct num_rows f32 = { .extreme = f32_extreme, .softmax = f32_softmax,
					     .layer_norm = f32_layer_norm, .affine = f32_affine };
	static const struct num_rows f64 = { .extreme = f64_extreme, .softmax = f64_softmax,
					     .layer_norm = f64_layer_norm, .affine = f64_affine };
	static const struct num_rows i64 = { .extreme = i64_extreme };

	return carrier == DT_F32 ? &f32 : carrier == DT_F64 ? &f64 : &i64;
}
