/* Functions that are rare enough for one lane at a time: everything of fp64 that is not a machine
 * instruction, and the special functions. fp32 is computed in double and rounded once. fp64 uses
 * long double where the double function of the C library is not accurate to 2 ulp. */
#include <fenv.h>
#include <math.h>

#include "tile/machine/math_kernel.h"
#include "tile/machine/math_special.h"
#include "tile/machine/math_table.h"

/* EXPR of x for fp32 (x widened to double) and for fp64. */
#define SLOW1(name, EXPR_F, EXPR_D) \
	KERNEL1(name##_f, float, float, (float)(EXPR_F)) \
	KERNEL1(name##_d, double, double, (double)(EXPR_D))
#define SLOW2(name, EXPR_F, EXPR_D) \
	KERNEL2(name##_f, float, float, float, (float)(EXPR_F)) \
	KERNEL2(name##_d, double, double, double, (double)(EXPR_D))
/* fp64 only: math_fn.simd.c has the fp32 function. */
#define ONLY_D(name, EXPR) KERNEL1(name##_d, double, double, (double)(EXPR))

ONLY_D(exp, exp(x))
ONLY_D(exp2, exp2(x))
ONLY_D(exp10, exp10l(x))
ONLY_D(expm1, expm1(x))
ONLY_D(log, log(x))
ONLY_D(log2, log2(x))
ONLY_D(log10, log10l(x))
ONLY_D(log1p, log1p(x))
ONLY_D(sin, sin(x))
ONLY_D(cos, cos(x))
ONLY_D(tan, tan(x))
ONLY_D(sinh, sinhl(x))
ONLY_D(cosh, coshl(x))
ONLY_D(tanh, tanhl(x))
ONLY_D(erf, erfl(x))
ONLY_D(rsqrt, 1 / sqrtl(x))
ONLY_D(sinpi, special_sinpi(x))
ONLY_D(cospi, special_cospi(x))
ONLY_D(rcp64h, special_rcp64h(x))

SLOW1(asin, asin((double)x), asinl(x))
SLOW1(acos, acos((double)x), acosl(x))
SLOW1(atan, atan((double)x), atanl(x))
SLOW1(asinh, asinh((double)x), asinhl(x))
SLOW1(acosh, acosh((double)x), acoshl(x))
SLOW1(atanh, atanh((double)x), atanhl(x))
SLOW1(erfc, erfc((double)x), erfcl(x))
SLOW1(erfcx, special_erfcx(x), special_erfcx(x))
SLOW1(erfinv, special_erfinv(x), special_erfinv(x))
SLOW1(erfcinv, special_erfcinv(x), special_erfcinv(x))
SLOW1(normcdf, special_normcdf(x), special_normcdf(x))
SLOW1(normcdfinv, special_normcdfinv(x), special_normcdfinv(x))
SLOW1(lgamma, special_lgamma(x), special_lgamma(x))
SLOW1(tgamma, tgamma((double)x), tgammal(x))
SLOW1(cbrt, cbrt((double)x), cbrtl(x))
SLOW1(rcbrt, 1 / cbrt((double)x), 1 / cbrtl(x))
SLOW1(j0, j0((double)x), j0l(x))
SLOW1(j1, j1((double)x), j1l(x))
SLOW1(y0, y0((double)x), y0l(x))
SLOW1(y1, y1((double)x), y1l(x))
SLOW1(i0, special_bessel_i(0, x), special_bessel_i(0, x))
SLOW1(i1, special_bessel_i(1, x), special_bessel_i(1, x))
SLOW1(logb, logb((double)x), logb(x))

SLOW2(rem, fmodf(x, y), fmod(x, y))
SLOW2(atan2, atan2((double)x, (double)y), atan2l(x, y))
SLOW2(hypot, hypot((double)x, (double)y), hypotl(x, y))
SLOW2(rhypot, 1 / hypot((double)x, (double)y), 1 / hypotl(x, y))
SLOW2(remainder, remainderf(x, y), remainder(x, y))
SLOW2(nextafter, nextafterf(x, y), nextafter(x, y))
KERNEL2(pow_d, double, double, double, pow(x, y))

/* Functions whose two operands have different types: the second (ldexp, pow) or the first (jn,
 * yn) is an int32. */
KERNEL2(ldexp_f, float, float, int32_t, ldexpf(x, y))
KERNEL2(ldexp_d, double, double, int32_t, ldexp(x, y))
KERNEL2(powi_f, float, float, int32_t, (float)pow((double)x, y))
KERNEL2(powi_d, double, double, int32_t, (double)powl(x, y))
KERNEL2(jn_f, float, int32_t, float, (float)jn(x, (double)y))
KERNEL2(jn_d, double, int32_t, double, (double)jnl(x, y))
KERNEL2(yn_f, float, int32_t, float, (float)yn(x, (double)y))
KERNEL2(yn_d, double, int32_t, double, (double)ynl(x, y))

/* sqrt(x^2 + y^2 + z^2) and its reciprocal. */
KERNEL3(norm3d_f, float, float, float, float, (float)special_norm(x, y, z, 0))
KERNEL3(norm3d_d, double, double, double, double, (double)special_norm(x, y, z, 0))
KERNEL3(rnorm3d_f, float, float, float, float, (float)(1 / special_norm(x, y, z, 0)))
KERNEL3(rnorm3d_d, double, double, double, double, (double)(1 / special_norm(x, y, z, 0)))

/* The halves of a 64-bit pattern, and a double from two halves. */
KERNEL1(hi32_k, int32_t, uint64_t, (int32_t)(uint32_t)(x >> 32))
KERNEL1(lo32_k, int32_t, uint64_t, (int32_t)(uint32_t)x)
KERNEL2(hilo_k, uint64_t, uint32_t, uint32_t, (uint64_t)x << 32 | y)

/* Float in; an integer, a class or an exponent out as int64. exec_float_to_int narrows it. */
#define TO_INT(name, EXPR) \
	KERNEL1(name##_f, int64_t, float, EXPR) \
	KERNEL1(name##_d, int64_t, double, EXPR)
TO_INT(isnan, isnan(x) != 0)
TO_INT(isinf, isinf(x) != 0)
TO_INT(isfinite, isfinite(x) != 0)
TO_INT(signbit, signbit(x) != 0)
TO_INT(ilogb, special_ilogb(x))
TO_INT(lround, special_llround(x))

extern kernel_table tile_slow_kernels;
kernel_table tile_slow_kernels = {
#define ROW(ID, k) [TOP_##ID] = { [DT_F32] = k##_f, [DT_F64] = k##_d }
#define DROW(ID, k) [TOP_##ID] = { [DT_F64] = k##_d }
	DROW(EXP, exp), DROW(EXP2, exp2), DROW(EXP10, exp10), DROW(EXPM1, expm1), DROW(LOG, log),
	DROW(LOG2, log2), DROW(LOG10, log10), DROW(LOG1P, log1p), DROW(SIN, sin), DROW(COS, cos),
	DROW(TAN, tan), DROW(SINH, sinh), DROW(COSH, cosh), DROW(TANH, tanh), DROW(ERF, erf),
	DROW(RSQRT, rsqrt), DROW(SINPI, sinpi), DROW(COSPI, cospi), DROW(RCP64H, rcp64h), DROW(POW, pow),
	ROW(ASIN, asin), ROW(ACOS, acos), ROW(ATAN, atan), ROW(ASINH, asinh), ROW(ACOSH, acosh),
	ROW(ATANH, atanh), ROW(ERFC, erfc), ROW(ERFCX, erfcx), ROW(ERFINV, erfinv), ROW(ERFCINV, erfcinv),
	ROW(NORMCDF, normcdf), ROW(NORMCDFINV, normcdfinv), ROW(LGAMMA, lgamma), ROW(TGAMMA, tgamma),
	ROW(CBRT, cbrt), ROW(RCBRT, rcbrt), ROW(J0, j0), ROW(J1, j1), ROW(Y0, y0), ROW(Y1, y1),
	ROW(BESSEL_I0, i0), ROW(BESSEL_I1, i1), ROW(LOGB, logb), ROW(REM, rem), ROW(ATAN2, atan2),
	ROW(HYPOT, hypot), ROW(RHYPOT, rhypot), ROW(REMAINDER, remainder), ROW(NEXTAFTER, nextafter),
	ROW(LDEXP, ldexp), ROW(POWI, powi), ROW(JN, jn), ROW(YN, yn), ROW(NORM3D, norm3d), ROW(RNORM3D, rnorm3d),
	ROW(ISNAN, isnan), ROW(ISINF, isinf), ROW(ISFINITE, isfinite), ROW(SIGNBIT, signbit),
	ROW(ILOGB, ilogb), ROW(LROUND, lround),
	[TOP_HI32] = { [DT_F64] = hi32_k, [DT_I64] = hi32_k, [DT_U64] = hi32_k },
	[TOP_LO32] = { [DT_F64] = lo32_k, [DT_I64] = lo32_k, [DT_U64] = lo32_k },
	[TOP_HILO] = { [DT_I32] = hilo_k },
};

/* --- directed rounding ---------------------------------------------------------------- */

/* Directed rounding by the CPU's rounding mode. The volatile operands keep the operation between
 * the two fesetround calls. */
#define ROUNDED(name, T, MODE, EXPR) \
	static void name(KERNEL_ARGS) \
	{ \
		T *o = o_; const T *a = a_, *b = b_, *c = c_; \
		int before = fegetround(); \
		fesetround(MODE); \
		for (size_t i = 0; i < n; i++) { \
			volatile T x = a[u & 1 ? 0 : i], y = b ? b[u & 2 ? 0 : i] : 0, z = c ? c[u & 4 ? 0 : i] : 0; \
			volatile T r = (EXPR); \
			(void)y, (void)z; \
			o[i] = r; \
		} \
		fesetround(before); \
	}
/* The operations of PTX that have directed forms, for one rounding mode. Names end in z, m or p:
 * towards zero, minus or plus infinity. */
#define ROUNDED_MODE(s, T, m, MODE, SQRT, FMA) \
	ROUNDED(add_##s##m, T, MODE, x + y) \
	ROUNDED(sub_##s##m, T, MODE, x - y) \
	ROUNDED(mul_##s##m, T, MODE, x * y) \
	ROUNDED(div_##s##m, T, MODE, x / y) \
	ROUNDED(rcp_##s##m, T, MODE, 1 / x) \
	ROUNDED(sqrt_##s##m, T, MODE, SQRT(x)) \
	ROUNDED(fma_##s##m, T, MODE, FMA(x, y, z))
#define ROUNDED_ALL(m, MODE) \
	ROUNDED_MODE(f, float, m, MODE, sqrtf, fmaf) \
	ROUNDED_MODE(d, double, m, MODE, sqrt, fma)
ROUNDED_ALL(z, FE_TOWARDZERO)
ROUNDED_ALL(m, FE_DOWNWARD)
ROUNDED_ALL(p, FE_UPWARD)

/* NULL for rounding to nearest and for operations without directed forms. */
tile_kernel *tile_kernel_rounded(enum tile_op op, enum dtype dt, enum tile_round r)
{
	static tile_kernel *const table[TILE_OPS][2][4] = {
#define RROW(ID, k) [TOP_##ID] = { { NULL, k##_fz, k##_fm, k##_fp }, { NULL, k##_dz, k##_dm, k##_dp } }
		RROW(ADD, add), RROW(SUB, sub), RROW(MUL, mul), RROW(DIV, div), RROW(RCP, rcp),
			RROW(SQRT, sqrt), RROW(FMA, fma),
	};
	return table[op][dt == DT_F64][r];
}
