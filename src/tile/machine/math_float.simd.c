/* Plain floating-point kernels: IEEE operations, comparisons, rounding to whole numbers. These
 * are exact by definition, so every instruction set gives the same bits. */
#include <math.h>

#include "tile/machine/math_fma.h"
#include "tile/machine/math_kernel.h"

/* max and min: NUM returns the number if one operand is NaN, PROP returns the NaN. */
#define MAX_NUM(x, y) ((x) >= (y) || (y) != (y) ? (x) : (y))
#define MIN_NUM(x, y) ((x) <= (y) || (y) != (y) ? (x) : (y))
#define MAX_PROP(x, y) ((x) >= (y) || (x) != (x) ? (x) : (y))
#define MIN_PROP(x, y) ((x) <= (y) || (x) != (x) ? (x) : (y))

/* Rounds to the nearest whole number, ties away from zero. */
static inline float half_away_f(float x)
{
	float t = truncf(x);
	return fabsf(x - t) >= 0.5f ? t + copysignf(1, x) : t;
}
static inline double half_away_d(double x)
{
	double t = trunc(x);
	return fabs(x - t) >= 0.5 ? t + copysign(1, x) : t;
}
#define SAT_01(x) ((x) > 0 ? (x) < 1 ? (x) : 1 : 0)

/* s: suffix of the names, T: type; the rest are the C functions for that type. fdim gives NaN if
 * an operand is NaN. CLAMP returns a bound for NaN, CLAMP_NAN returns the NaN. */
#define FLOAT_KERNELS(s, T, SQRT, FLOOR, CEIL, TRUNC, RINT, AWAY, ABS, SIGN, FMA) \
	KERNEL2(add_##s, T, T, T, x + y) \
	KERNEL2(sub_##s, T, T, T, x - y) \
	KERNEL2(mul_##s, T, T, T, x * y) \
	KERNEL2(div_##s, T, T, T, x / y) \
	KERNEL2(max_##s, T, T, T, MAX_NUM(x, y)) \
	KERNEL2(min_##s, T, T, T, MIN_NUM(x, y)) \
	KERNEL2(maxp_##s, T, T, T, MAX_PROP(x, y)) \
	KERNEL2(minp_##s, T, T, T, MIN_PROP(x, y)) \
	KERNEL2(eq_##s, uint8_t, T, T, x == y) \
	KERNEL2(ne_##s, uint8_t, T, T, x != y) \
	KERNEL2(lt_##s, uint8_t, T, T, x < y) \
	KERNEL2(le_##s, uint8_t, T, T, x <= y) \
	KERNEL2(gt_##s, uint8_t, T, T, x > y) \
	KERNEL2(ge_##s, uint8_t, T, T, x >= y) \
	KERNEL2(copysign_##s, T, T, T, SIGN(x, y)) \
	KERNEL2(fdim_##s, T, T, T, x > y ? x - y : x != x || y != y ? x + y : 0) \
	KERNEL1(neg_##s, T, T, -x) \
	KERNEL1(abs_##s, T, T, ABS(x)) \
	KERNEL1(sqrt_##s, T, T, SQRT(x)) \
	KERNEL1(rcp_##s, T, T, 1 / x) \
	KERNEL1(floor_##s, T, T, FLOOR(x)) \
	KERNEL1(ceil_##s, T, T, CEIL(x)) \
	KERNEL1(trunc_##s, T, T, TRUNC(x)) \
	KERNEL1(rint_##s, T, T, RINT(x)) \
	KERNEL1(round_##s, T, T, AWAY(x)) \
	KERNEL1(sat_##s, T, T, SAT_01(x)) \
	KERNEL3(fma_##s, T, T, T, T, FMA(x, y, z)) \
	KERNEL3(clamp_##s, T, T, T, T, MIN_NUM(MAX_NUM(x, y), z)) \
	KERNEL3(clampp_##s, T, T, T, T, x != x ? x : MIN_NUM(MAX_NUM(x, y), z))

FLOAT_KERNELS(f, float, sqrtf, floorf, ceilf, truncf, rintf, half_away_f, fabsf, copysignf, fma_exact)
FLOAT_KERNELS(d, double, sqrt, floor, ceil, trunc, rint, half_away_d, fabs, copysign, fma)

/* Kernels by operation for fp32 and fp64. */
extern kernel_table SIMD_FN(tile_float_kernels);
kernel_table SIMD_FN(tile_float_kernels) = {
#define ROW(ID, k) [TOP_##ID] = { [DT_F32] = k##_f, [DT_F64] = k##_d }
	ROW(ADD, add), ROW(SUB, sub), ROW(MUL, mul), ROW(DIV, div),
	ROW(MAX, max), ROW(MIN, min), ROW(MAX_NAN, maxp), ROW(MIN_NAN, minp),
	ROW(EQ, eq), ROW(NE, ne), ROW(LT, lt), ROW(LE, le), ROW(GT, gt), ROW(GE, ge),
	ROW(COPYSIGN, copysign), ROW(FDIM, fdim), ROW(NEG, neg), ROW(ABS, abs), ROW(SQRT, sqrt), ROW(RCP, rcp),
	ROW(FLOOR, floor), ROW(CEIL, ceil), ROW(TRUNC, trunc), ROW(RINT, rint), ROW(ROUND, round),
	ROW(SATURATE, sat), ROW(FMA, fma), ROW(CLAMP, clamp), ROW(CLAMP_NAN, clampp),
};

/* o[i] = p[i] ? b[i] : c[i] by the width of an element. o may be any operand but p. u: bit 1 says
 * b is one element, bit 2 says c is. */
#define SELECT_KERNEL(name, T) \
	static void name(KERNEL_ARGS) \
	{ \
		const uint8_t *p = a_; T *o = o_; const T *b = b_, *c = c_; \
		if (u == 0) { \
			LANES for (size_t i = 0; i < n; i++) o[i] = p[i] ? b[i] : c[i]; \
		} else if (u == 2) { \
			T y = *b; \
			LANES for (size_t i = 0; i < n; i++) o[i] = p[i] ? y : c[i]; \
		} else if (u == 4) { \
			T z = *c; \
			LANES for (size_t i = 0; i < n; i++) o[i] = p[i] ? b[i] : z; \
		} else { \
			T y = *b, z = *c; \
			LANES for (size_t i = 0; i < n; i++) o[i] = p[i] ? y : z; \
		} \
	}
SELECT_KERNEL(select8, uint8_t)
SELECT_KERNEL(select16, uint16_t)
SELECT_KERNEL(select32, uint32_t)
SELECT_KERNEL(select64, uint64_t)

/* By the logarithm of the element's width. */
extern tile_kernel *const SIMD_FN(tile_select_kernels)[4];
tile_kernel *const SIMD_FN(tile_select_kernels)[4] = { select8, select16, select32, select64 };
