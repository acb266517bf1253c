/* Reduction kernels (see reduce.h), compiled once per instruction set. A row uses 32 partial
 * accumulators that are combined in a fixed tree, so the result does not depend on the vector
 * width. Sums of floats accumulate in double. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")
#endif
#include <stddef.h>

#include "num/reduce.h"
#include "num/vmath.h"

enum { LANES = 32, COLS = 16 };    /* partial accumulators of a row; columns kept in registers */

VM float f32_abs(float a) { return __builtin_fabsf(a); }
VM double f64_abs(double a) { return __builtin_fabs(a); }
VM int64_t i64_abs(int64_t a) { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; }
VM float f32_max(float s, float x) { return x > s || x != x ? x : s; }   /* a NaN in s stays: x > NaN is false */
VM float f32_min(float s, float x) { return x < s || x != x ? x : s; }
VM double f64_max(double s, double x) { return x > s || x != x ? x : s; }
VM double f64_min(double s, double x) { return x < s || x != x ? x : s; }
VM int64_t i64_max(int64_t s, int64_t x) { return x > s ? x : s; }
VM int64_t i64_min(int64_t s, int64_t x) { return x < s ? x : s; }
VM float f32_pow(float a, float b) { return powf(a, b); }
VM double f64_pow(double a, double b) { return pow(a, b); }
VM double f64_exp(double a) { return exp(a); }
VM int64_t i64_exp(int64_t a) { return a; }         /* integers never get there */
VM int64_t i64_pow(int64_t a, int64_t b) { (void)b; return a; }
/* Identities of max and min per carrier. */
#define f32_lowest (-__builtin_inff())
#define f32_highest __builtin_inff()
#define f64_lowest (-__builtin_inf())
#define f64_highest __builtin_inf()
#define i64_lowest INT64_MIN
#define i64_highest INT64_MAX

/* Defines t_row_name: x[0..n) into 32 accumulators, combined pairwise, then into *out.
 * `begin`, `step` and `combine` are the columns of reduce.def; m is the parameter. */
#define ROW(t, name, ACC, begin, step, combine)                                                         \
	static void t##_row_##name(union num_acc *out, const void *p, size_t n, double mm)              \
	{                                                                                               \
		typedef ACC A;                                                                          \
		const T *restrict v = p;                                                                \
		A lane[LANES], s;                                                                       \
		size_t i = 0;                                                                           \
		const PARAM m = (PARAM)mm;                                                              \
		(void)m;                                                                                \
		for (int k = 0; k < LANES; k++)                                                         \
			lane[k] = (A)(begin);                                                           \
		for (; i + LANES <= n; i += LANES)                                                      \
			for (int k = 0; k < LANES; k++) {                                               \
				const T x = v[i + (size_t)k];                                           \
				s = lane[k];                                                            \
				lane[k] = (A)(step);                                                    \
			}                                                                               \
		for (int k = 0; i < n; i++, k++) {                                                      \
			const T x = v[i];                                                               \
			s = lane[k];                                                                    \
			lane[k] = (A)(step);                                                            \
		}                                                                                       \
		for (int w = LANES / 2; w; w /= 2)                                                      \
			for (int k = 0; k < w; k++) {                                                   \
				A r = lane[k + w];                                                      \
				s = lane[k];                                                            \
				lane[k] = (A)(combine);                                                 \
			}                                                                               \
		{                                                                                       \
			A r = lane[0];                                                                  \
			s = (A)out->FIELD;                                                              \
			out->FIELD = (combine);                                                         \
		}                                                                                       \
	}
/* Defines t_col_name: each column into its own accumulator. Sixteen columns stay in registers
 * while the rows pass, in row order. */
#define COL(t, name, ACC, begin, step, combine)                                                         \
	static void t##_col_##name(union num_acc *restrict out, const void *restrict p, size_t n,       \
				   const double *restrict mm, int64_t rows, int64_t pitch)              \
	{                                                                                               \
		typedef ACC A;                                                                          \
		size_t j = 0;                                                                           \
		for (; j + COLS <= n; j += COLS) {                                                    \
			A lane[COLS];                                                                  \
			const T *restrict v = (const T *)p + j;                                         \
			for (int k = 0; k < COLS; k++)                                                 \
				lane[k] = (A)out[j + (size_t)k].FIELD;                                  \
			for (int64_t r = 0; r < rows; r++, v += pitch)                                  \
				for (int k = 0; k < COLS; k++) {                                       \
					const T x = v[k];                                               \
					const A s = lane[k];                                            \
					const PARAM m = (PARAM)mm[j + (size_t)k];                       \
					(void)m;                                                        \
					lane[k] = (A)(step);                                            \
				}                                                                       \
			for (int k = 0; k < COLS; k++)                                                 \
				out[j + (size_t)k].FIELD = lane[k];                                     \
		}                                                                                       \
		for (; j < n; j++) {                                                                    \
			const T *restrict v = (const T *)p + j;                                         \
			A s = (A)out[j].FIELD;                                                          \
			const PARAM m = (PARAM)mm[j];                                                   \
			(void)m;                                                                        \
			for (int64_t r = 0; r < rows; r++, v += pitch) {                                \
				const T x = *v;                                                         \
				s = (A)(step);                                                          \
			}                                                                               \
			out[j].FIELD = s;                                                               \
		}                                                                                       \
	}

#define T float
#define M(f) f32_##f
#define PARAM double
#define FIELD f
#define ACC_WIDE double
#define ACC_T float
#define RED(name, acc, begin, step, combine) ROW(f32, name, acc, begin, step, combine) COL(f32, name, acc, \
		begin, step, combine)
#include "num/reduce.def"
#undef RED
#undef T
#undef M
#undef ACC_T

#define T double
#define M(f) f64_##f
#define ACC_T double
#define RED(name, acc, begin, step, combine) ROW(f64, name, acc, begin, step, combine) COL(f64, name, acc, \
		begin, step, combine)
#include "num/reduce.def"
#undef RED
#undef T
#undef M
#undef ACC_T
#undef ACC_WIDE
#undef PARAM
#undef FIELD

/* Integer sums wrap: they are made in uint64_t. */
#define T int64_t
#define M(f) i64_##f
#define PARAM int64_t
#define FIELD i
#define ACC_WIDE uint64_t
#define ACC_T int64_t
#define RED(name, acc, begin, step, combine) ROW(i64, name, acc, begin, step, combine) COL(i64, name, acc, \
		begin, step, combine)
#include "num/reduce.def"
#undef RED

/* Sum of float rows: pairs are added as floats and then widened. reduce.h says why. */
void SIMD_FN(num_row_pairs)(union num_acc *out, const void *p, size_t n, double m)
{
	const float *restrict v = p;
	double lane[LANES] = { 0 };
	size_t i = 0;

	(void)m;
	for (; i + 2 * LANES <= n; i += 2 * LANES)
		for (int k = 0; k < LANES; k++)
			lane[k] += (double)(v[i + (size_t)k] + v[i + LANES + (size_t)k]);
	for (; i + COLS <= n; i += COLS)
		for (int k = 0; k < COLS; k++)
			lane[k] += (double)v[i + (size_t)k];
	for (int k = 0; i < n; i++, k++)
		lane[k] += (double)v[i];
	for (int w = LANES / 2; w; w /= 2)
		for (int k = 0; k < w; k++)
			lane[k] += lane[k + w];
	out->f += lane[0];
}

/* The table of kernels by operation. Starts of integers are set by the caller, because
 * `begin` is evaluated for doubles here. */
const struct num_red_kernel *SIMD_FN(num_red_kernels)(void)
{
	static const struct num_red_kernel table[NUM_REDS] = {
#undef M
#define M(f) f64_##f
#define RED(name, acc, begin, step, combine) [RED_##name] = {                         \
		.row = { f32_row_##name, f64_row_##name, i64_row_##name },             \
		.col = { f32_col_##name, f64_col_##name, i64_col_##name },             \
		.start = { { .f = (double)(begin) }, { .f = (double)(begin) }, { .i = 0 } } },
#include "num/reduce.def"
#undef RED
	};

	return table;
}
