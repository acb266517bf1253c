/* Kernels along one dimension (see rows.h): extremes, softmax, norms. The bodies are
 * templates (rows_*.inc) for float, double and int64, compiled once per instruction set. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")
#endif
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "num/rows.h"
#include "num/vmath.h"

enum { LANES = 16 };                    /* partial sums of a row, on every instruction set */

typedef float f32_vec __attribute__((vector_size(64)));
typedef int32_t f32_mask __attribute__((vector_size(64)));
typedef double f64_vec __attribute__((vector_size(64)));
typedef int64_t f64_mask __attribute__((vector_size(64)));
typedef int64_t i64_vec __attribute__((vector_size(64)));
typedef int64_t i64_mask __attribute__((vector_size(64)));

/* BEATS(v, b): v replaces b. A NaN beats every number. */
#define BEATS_MAX(v, b) (((v) > (b)) | ((v) != (v)))
#define BEATS_MIN(v, b) (((v) < (b)) | ((v) != (v)))
#define IS_NUMBER(v) ((v) == (v))

/* A dense row first finds the extreme with vectors and then its first position; columns do
 * both at once. */
#define EXTREME_ANY(t, T)                                                                                \
	static void t##_extreme(void *vp, int64_t *index, const void *xp, int64_t L, \
				int64_t stride, int64_t n, int max)                               \
	{                                                                                                \
		const T *x = xp;                                                                         \
		T best;                                                                                  \
		if (n != 1 || stride != 1) {                                                             \
			(max ? t##_cols_max : t##_cols_min)(vp, index, x, L, stride, n);                 \
			return;                                                                          \
		}                                                                                        \
		best = max ? t##_top_max(x, L) : t##_top_min(x, L);                                      \
		*(T *)vp = best;                                                                         \
		*index = (max ? t##_find_max : t##_find_min)(x, L, best);                                \
	}

#define t f32
#define T float
#define name max
#define BEATS BEATS_MAX
#include "num/rows_extreme.inc"
#define t f32
#define T float
#define name min
#define BEATS BEATS_MIN
#include "num/rows_extreme.inc"
EXTREME_ANY(f32, float)
#define t f64
#define T double
#define name max
#define BEATS BEATS_MAX
#include "num/rows_extreme.inc"
#define t f64
#define T double
#define name min
#define BEATS BEATS_MIN
#include "num/rows_extreme.inc"
EXTREME_ANY(f64, double)
#define t i64
#define T int64_t
#define name max
#define BEATS BEATS_MAX
#include "num/rows_extreme.inc"
#define t i64
#define T int64_t
#define name min
#define BEATS BEATS_MIN
#include "num/rows_extreme.inc"
EXTREME_ANY(i64, int64_t)

VM double f64_exp(double x) { return exp(x); }

/* Softmax: exponentials of the distance to the largest element, their sum in double. */
#define t f32
#define T float
#include "num/rows_softmax.inc"
#define t f64
#define T double
#include "num/rows_softmax.inc"

#define t f32
#define T float
#include "num/rows_norm.inc"
#define t f64
#define T double
#include "num/rows_norm.inc"

/* Kernels by carrier; integers have extremes only. */
const struct num_rows *SIMD_FN(num_rows)(enum dtype carrier)
{
	static const struct num_rows f32 = { .extreme = f32_extreme, .softmax = f32_softmax,
					     .layer_norm = f32_layer_norm, .affine = f32_affine };
	static const struct num_rows f64 = { .extreme = f64_extreme, .softmax = f64_softmax,
					     .layer_norm = f64_layer_norm, .affine = f64_affine };
	static const struct num_rows i64 = { .extreme = i64_extreme };

	return carrier == DT_F32 ? &f32 : carrier == DT_F64 ? &f64 : &i64;
}
