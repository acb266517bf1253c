/* Micro-kernels of matrix products, compiled once per instruction set.
 *
 * fp32: MR rows by two vectors of C stay in registers during one pass over K. Tiles are small and
 * already contiguous, so nothing is packed: rows of B are read as vectors, elements of A as
 * broadcasts. With AVX-512, MR = 8 rows x 32 columns take 16 accumulators.
 *
 * Invariant: each element of C adds its K products in order with one rounding each, on every
 * instruction set. */
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "tile/machine/math_fma.h"

#if SIMD_LEVEL >= 1
#include <immintrin.h>
#endif

void SIMD_FN(tile_dot_f32)(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K);
void SIMD_FN(tile_dot_f64)(double *c, const double *a, const double *b, int64_t M, int64_t N, int64_t K);
void SIMD_FN(tile_dot_i32)(int32_t *c, const int32_t *a, const int32_t *b, int64_t M, int64_t N, int64_t K);

void SIMD_FN(tile_split_tf32)(float *hi, float *lo, const float *x, size_t n);
void SIMD_FN(tile_split_bf16)(float *hi, float *mid, float *lo, const float *x, size_t n);

#if SIMD_LEVEL == 2
typedef __m512 vec;
enum { W = 16 };
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SPREAD(x) _mm512_set1_ps(x)
#define FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
#elif SIMD_LEVEL == 1
typedef __m256 vec;
enum { W = 8 };
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SPREAD(x) _mm256_set1_ps(x)
#define FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
#endif

/* Any shape, one row of C at a time. ldb and ldc are the row lengths of B and C. */
static void dot_rows(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, int64_t ldb,
		     int64_t ldc)
{
	for (int64_t i = 0; i < M; i++)
		for (int64_t k = 0; k < K; k++) {
			float x = a[i * K + k];
			const float *row = b + k * ldb;
			float *out = c + i * ldc;
			for (int64_t j = 0; j < N; j++)
				out[j] = fma_exact(x, row[j], out[j]);
		}
}

#ifdef LOAD
/* One block of C: `rows` x (cols * W) elements, with cols vectors of W lanes. */
#define MICRO(name, rows, cols) \
	static inline void name(float *c, const float *a, const float *b, int64_t K, int64_t ldb, int64_t ldc) \
	{ \
		vec acc[rows][cols]; \
		for (int i = 0; i < rows; i++) \
			for (int j = 0; j < cols; j++) \
				acc[i][j] = LOAD(c + i * ldc + j * W); \
		for (int64_t k = 0; k < K; k++, b += ldb) { \
			vec y[cols]; \
			for (int j = 0; j < cols; j++) \
				y[j] = LOAD(b + j * W); \
			for (int i = 0; i < rows; i++) { \
				vec x = SPREAD(a[i * K + k]); \
				for (int j = 0; j < cols; j++) \
					acc[i][j] = FMA(x, y[j], acc[i][j]); \
			} \
		} \
		for (int i = 0; i < rows; i++) \
			for (int j = 0; j < cols; j++) \
				STORE(c + i * ldc + j * W, acc[i][j]); \
	}
#if SIMD_LEVEL == 2
enum { MR = 8 };
#else
enum { MR = 4 };
#endif
MICRO(micro_wide, MR, 2)
MICRO(micro_narrow, MR, 1)
MICRO(micro_row2, 1, 2)
MICRO(micro_row1, 1, 1)

/* All rows of C for the columns [j, j + cols * W): blocks of MR rows, then single rows. */
#define PANEL(name, wide, one) \
	static void name(float *c, const float *a, const float *b, int64_t M, int64_t K, int64_t ld) \
	{ \
		int64_t i = 0; \
		for (; i + MR <= M; i += MR) \
			wide(c + i * ld, a + i * K, b, K, ld, ld); \
		for (; i < M; i++) \
			one(c + i * ld, a + i * K, b, K, ld, ld); \
	}
PANEL(panel2, micro_wide, micro_row2)
PANEL(panel1, micro_narrow, micro_row1)

void SIMD_FN(tile_dot_f32)(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K)
{
	int64_t j = 0;
	for (; j + 2 * W <= N; j += 2 * W)
		panel2(c + j, a, b + j, M, K, N);
	for (; j + W <= N; j += W)
		panel1(c + j, a, b + j, M, K, N);
	if (j < N)
		dot_rows(c + j, a, b + j, M, N - j, K, N, N);
}
#else
void SIMD_FN(tile_dot_f32)(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K)
{
	dot_rows(c, a, b, M, N, K, N, N);
}
#endif

/* fp64 and int32 products are rare: plain loops, one row of C at a time. Integer sums wrap around. */
void SIMD_FN(tile_dot_f64)(double *c, const double *a, const double *b, int64_t M, int64_t N, int64_t K)
{
	for (int64_t i = 0; i < M; i++)
		for (int64_t k = 0; k < K; k++) {
			double x = a[i * K + k];
			for (int64_t j = 0; j < N; j++)
				c[i * N + j] = fma(x, b[k * N + j], c[i * N + j]);
		}
}

void SIMD_FN(tile_dot_i32)(int32_t *c, const int32_t *a, const int32_t *b, int64_t M, int64_t N, int64_t K)
{
	for (int64_t i = 0; i < M; i++)
		for (int64_t k = 0; k < K; k++) {
			uint32_t x = (uint32_t)a[i * K + k];
			for (int64_t j = 0; j < N; j++)
				c[i * N + j] = (int32_t)((uint32_t)c[i * N + j] + x * (uint32_t)b[k * N + j]);
		}
}

/* --- operands of the emulated precisions ---------------------------------------------------- */

/* Rounds to 10 mantissa bits, ties away, as f32_to_tf32 does. It is written so that it
 * vectorises; inf and NaN pass. */
static inline float tf32(float x)
{
	uint32_t u, r;

	memcpy(&u, &x, 4);
	r = (u + 0x1000u) & ~0x1fffu;
	u = (u & 0x7f800000u) == 0x7f800000u ? u : r;
	memcpy(&x, &u, 4);
	return x;
}

/* Rounds to 7 mantissa bits, ties to even; inf and NaN pass. */
static inline float bf16(float x)
{
	uint32_t u, r;

	memcpy(&u, &x, 4);
	r = (u + 0x7fffu + (u >> 16 & 1)) & ~0xffffu;
	u = (u & 0x7f800000u) == 0x7f800000u ? u : r;
	memcpy(&x, &u, 4);
	return x;
}

/* Tensor cores ignore the low 13 bits of operands that nobody rounded for them. */
static inline float cut_tf32(float x)
{
	uint32_t u;
	memcpy(&u, &x, 4);
	u = (u & 0x7f800000u) == 0x7f800000u ? u : u & ~0x1fffu;
	memcpy(&x, &u, 4);
	return x;
}

/* lo is computed before hi, so that hi may be x itself. */
void SIMD_FN(tile_split_tf32)(float *hi, float *lo, const float *x, size_t n)
{
	if (!lo) {
		for (size_t i = 0; i < n; i++)
			hi[i] = cut_tf32(x[i]);
		return;
	}
	for (size_t i = 0; i < n; i++)
		lo[i] = tf32(x[i] - tf32(x[i]));
	for (size_t i = 0; i < n; i++)
		hi[i] = tf32(x[i]);
}

/* Each part takes the next 8 bits: 1/3 is 0.333984375 - 0.00065231 + 0.00000128. */
void SIMD_FN(tile_split_bf16)(float *hi, float *mid, float *lo, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float v = x[i], h = bf16(v), r = v - h, s = bf16(r);
		hi[i] = h;
		if (mid)
			mid[i] = s;
		if (lo)
			lo[i] = bf16(r - s);
	}
}
