/* Picks the micro-kernels of matrix products for the CPU that this runs on. The shapes of
 * dot_scaled are in code/, because the verifier needs them too. */
#include "tile/machine/dot.h"

#include "base/cpu.h"

SIMD_DECLARE(void, tile_dot_f32, (float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K))
SIMD_DECLARE(void, tile_dot_f64, (double *c, const double *a, const double *b, int64_t M, int64_t N, int64_t K))
SIMD_DECLARE(void, tile_split_tf32, (float *hi, float *lo, const float *x, size_t n))
SIMD_DECLARE(void, tile_split_bf16, (float *hi, float *mid, float *lo, const float *x, size_t n))
SIMD_DECLARE(void, tile_dot_i32, (int32_t *c, const int32_t *a, const int32_t *b, int64_t M, int64_t N, int64_t K))

void dot_f32(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K)
{
	SIMD_PICK(tile_dot_f32)(c, a, b, M, N, K);
}

void dot_f64(double *c, const double *a, const double *b, int64_t M, int64_t N, int64_t K)
{
	SIMD_PICK(tile_dot_f64)(c, a, b, M, N, K);
}

void dot_i32(int32_t *c, const int32_t *a, const int32_t *b, int64_t M, int64_t N, int64_t K)
{
	SIMD_PICK(tile_dot_i32)(c, a, b, M, N, K);
}

void dot_split_tf32(float *hi, float *lo, const float *x, size_t n)
{
	SIMD_PICK(tile_split_tf32)(hi, lo, x, n);
}

void dot_split_bf16(float *hi, float *mid, float *lo, const float *x, size_t n)
{
	SIMD_PICK(tile_split_bf16)(hi, mid, lo, x, n);
}
