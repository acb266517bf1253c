/* Kernels of the elementwise operations: for each row of the ew_*.def tables and each carrier
 * a loop over dense memory that the compiler vectorises. The file is compiled once per
 * instruction set. Accuracy: float functions of vmath.h are within a few units in the last
 * place; double uses libm, because double is the oracle. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")    /* selects may compute both sides; values do not change */
#endif
#include <stddef.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "num/ew.h"
#include "num/vmath.h"

/* --- helpers by carrier ---------------------------------------------------------------- */

/* Names by carrier: M(add) of a .def row becomes f32_add, f64_add or i64_add. Integers wrap
 * modulo 2^64; the unsigned arithmetic avoids undefined overflow. */
VM float f32_add(float a, float b) { return a + b; }
VM float f32_sub(float a, float b) { return a - b; }
VM float f32_mul(float a, float b) { return a * b; }
VM double f64_add(double a, double b) { return a + b; }
VM double f64_sub(double a, double b) { return a - b; }
VM double f64_mul(double a, double b) { return a * b; }
VM int64_t i64_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
VM int64_t i64_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
VM int64_t i64_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* Helpers of both float types; F(f) is libm's f for double and ff for float. */

#define LIBM1(g) VM float f32_##g(float a) { return g##f(a); } VM double f64_##g(double a) { return g(a); }
#define LIBM2(g) VM float f32_##g(float a, float b) { return g##f(a, b); } VM double f64_##g(double a, \
		double b) { return g(a, b); }
#define LIBM64(f) VM double f64_##f(double a) { return f(a); }
LIBM64(exp) LIBM64(expm1) LIBM64(log) LIBM64(log1p) LIBM64(tanh) LIBM64(erf)
LIBM64(sin) LIBM64(cos)
LIBM1(exp2) LIBM1(log2) LIBM1(log10) LIBM1(tan) LIBM1(asin) LIBM1(acos) LIBM1(atan)
LIBM1(sinh) LIBM1(cosh) LIBM1(asinh) LIBM1(acosh) LIBM1(atanh) LIBM1(sqrt) LIBM1(erfc)
LIBM2(atan2) LIBM2(hypot) LIBM2(copysign) LIBM2(nextafter)
VM float f32_sin(float a) { return vm_sin(a); }
VM float f32_cos(float a) { return vm_cos(a); }
VM float f32_libm_sin(float a) { return sinf(a); }
VM float f32_libm_cos(float a) { return cosf(a); }
VM double f64_libm_sin(double a) { return sin(a); }
VM double f64_libm_cos(double a) { return cos(a); }
VM double f64_plain_pow(double a, double b) { return pow(a, b); }
VM double f64_gelu(double a) { return 0.5 * a * (1 + erf(a * 0.70710678118654752440)); }
/* lgamma writes the global signgam; the reentrant form does not. */
VM double f64_lgamma(double a) { int s; return lgamma_r(a, &s); }
VM float f32_lgamma(float a) { int s; return lgammaf_r(a, &s); }

#define LIBM_F(g) g##f
#define LIBM_D(g) g
#define t f32
#define T float
#define F LIBM_F
#include "num/ew_float.inc"
#define t f64
#define T double
#define F LIBM_D
#include "num/ew_float.inc"

/* Inverse of erf. Winitzki's closed form starts within 0.2 %; four Newton steps with a
 * second-order term, on erf in double, bring it to full precision. Beyond |y| = 1 the error
 * is taken from erfc, which does not cancel. */
VM double f64_erfinv(double x)
{
	double w, y, s;

	if (!(x > -1 && x < 1))
		return x == 1 ? HUGE_VAL : x == -1 ? -HUGE_VAL : NAN;
	w = -log((1 - x) * (1 + x));
	s = 2 / (M_PI * 0.147) - w / 2;
	y = copysign(sqrt(sqrt(s * s + w / 0.147) - s), x);
	for (int i = 0; i < 4; i++) {
		double err = fabs(y) < 1 ? erf(y) - x : (y > 0 ? (1 - x) - erfc(y) : erfc(-y) - (1 + x));

		y -= err / (M_2_SQRTPI * exp(-y * y) - y * err);
	}
	return y;
}
VM float f32_erfinv(float x) { return (float)f64_erfinv(x); }

/* Derivative of lgamma. Negative arguments are reflected, the argument is raised to at least
 * 10 by psi(x) = psi(x + 1) - 1 / x, then the asymptotic series applies. */
VM double f64_digamma(double x)
{
	double y = 0, w;

	if (x == 0)
		return copysign(HUGE_VAL, -x);
	if (x < 0) {
		if (x == floor(x))
			return NAN;
		y = -M_PI / tan(M_PI * (x - trunc(x)));
		x = 1 - x;
	}
	for (; x < 10; x++)
		y -= 1 / x;
	w = 1 / (x * x);
	w *= 1.0 / 12 - w * (1.0 / 120 - w *
			     (1.0 / 252 - w * (1.0 / 240 - w * (1.0 / 132 - w * (691.0 / 32760 - w / 12)))));
	return y + log(x) - 0.5 / x - w;
}
VM float f32_digamma(float x) { return (float)f64_digamma(x); }

/* Division rounded to minus infinity, as in Python. The two cases that trap in C give 0
 * (division by zero) and the wrapped quotient. The operators of torch refuse a zero divisor
 * before they come here. */
VM int64_t i64_floordiv(int64_t a, int64_t b)
{
	int64_t q;

	if (b == 0 || (b == -1 && a == INT64_MIN))
		return b == 0 ? 0 : INT64_MIN;
	q = a / b;
	return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
VM int64_t i64_truncdiv(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? i64_sub(0, a) : a / b; }
VM int64_t i64_fmod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
/* Remainder with the sign of the divisor, as in Python; i64_fmod has the sign of the
 * dividend. */
VM int64_t i64_rem(int64_t a, int64_t b)
{
	int64_t r = i64_fmod(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
/* Power by squaring, modulo 2^64. A negative exponent is 0 except for bases 1 and -1. */
VM int64_t i64_pow(int64_t a, int64_t b)
{
	int64_t r = 1;

	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
	for (; b; b >>= 1, a = i64_mul(a, a))
		if (b & 1)
			r = i64_mul(r, a);
	return r;
}
/* Euclid on the absolute values; unsigned, so that |INT64_MIN| fits. */
VM int64_t i64_gcd(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;

	while (y) {
		uint64_t r = x % y;

		x = y;
		y = r;
	}
	return (int64_t)x;
}
VM int64_t i64_max(int64_t a, int64_t b) { return a > b ? a : b; }
VM int64_t i64_min(int64_t a, int64_t b) { return a < b ? a : b; }
VM int64_t i64_fmax(int64_t a, int64_t b) { return a > b ? a : b; }
VM int64_t i64_fmin(int64_t a, int64_t b) { return a < b ? a : b; }
VM int i64_isinf(int64_t a) { (void)a; return 0; }
VM int i64_isfinite(int64_t a) { (void)a; return 1; }
VM int i64_signbit(int64_t a) { return a < 0; }
VM int64_t i64_neg(int64_t a) { return i64_sub(0, a); }
VM int64_t i64_abs(int64_t a) { return a < 0 ? i64_sub(0, a) : a; }
VM int64_t i64_sign(int64_t a) { return (a > 0) - (a < 0); }
VM int64_t i64_floor(int64_t a) { return a; }
VM int64_t i64_ceil(int64_t a) { return a; }
VM int64_t i64_trunc(int64_t a) { return a; }
VM int64_t i64_rint(int64_t a) { return a; }
VM int64_t i64_nan_to_num(int64_t a, int64_t n, int64_t h,
			  int64_t l) { (void)n, (void)h, (void)l; return a; }

/* A parameter of an operation as the carrier. For integers an infinite bound (clamp without a
 * limit) becomes the extreme integer. */
VM int64_t i64_param(double x) { return x >= 0x1p63 ? INT64_MAX : x > -0x1p63 ? (int64_t)x : INT64_MIN; }
VM float f32_param(double x) { return (float)x; }
VM double f64_param(double x) { return x; }

/* --- the loops -------------------------------------------------------------------------- */

/* LOOP defines the kernel `t_ew_name` for carrier T: r[i] = expr of a, b, c (operands) and
 * p0, p1, p2 (parameters). */
#define OUT_SAME T
#define OUT_FLOAT T
#define OUT_BOOL uint8_t
#define LOOP_(t, name, out, expr)                                                                       \
	static void t##_ew_##name(void *restrict o, const void *restrict x, const void *restrict y,     \
				  const void *restrict z, size_t n, const double *p)                    \
	{                                                                                               \
		out *restrict r = o;                                                                    \
		const T *restrict xa = x, *restrict xb = y, *restrict xc = z;                           \
		const T p0 = M(param)(p[0]), p1 = M(param)(p[1]), p2 = M(param)(p[2]);                  \
		(void)p0, (void)p1, (void)p2;                                                           \
		for (size_t i = 0; i < n; i++) {                                                        \
			const T a = xa[i], b = xb[i], c = xc[i];                                        \
			(void)a, (void)b, (void)c;                                                      \
			r[i] = (out)(expr);                                                             \
		}                                                                                       \
	}
#define LOOP(t, name, out, expr) LOOP_(t, name, out, expr)
#define K(x) ((T)(x))

#define T float
#define M(f) f32_##f
#define EW(name, arity, result, expr) LOOP(f32, name, OUT_##result, expr)
#include "num/ew_arith.def"
#include "num/ew_float.def"
#include "num/ew_usual.def"
#undef EW
#undef M
#undef T

#define T double
#define M(f) f64_##f
#define EW(name, arity, result, expr) LOOP(f64, name, OUT_##result, expr)
#include "num/ew_arith.def"
#include "num/ew_float.def"
#include "num/ew_usual.def"
#undef EW
#undef M
#undef T

#define T int64_t
#define M(f) i64_##f
#define EW(name, arity, result, expr) LOOP(i64, name, OUT_##result, expr)
#include "num/ew_arith.def"
#include "num/ew_int.def"
#undef EW
#undef M
#undef T

/* The rows of ew_usual.def in float. Each operation has a cheap form that is correct for usual
 * values (the test holds) and a complete form. Each run of RUN elements takes the cheap form if all
 * of its elements pass the test. */
enum { RUN = 256 };
#define T float
#define M(f) f32_##f
#define EW(name, arity, result, expr)
#define USUAL(name, arity, test, cheap, whole)                                                          \
	LOOP(f32, cheap_##name, T, cheap)                                                               \
	static int f32_usual_##name(const T *restrict x, const T *restrict y, size_t n)                 \
	{                                                                                               \
		int all = 1;                                                                            \
		for (size_t i = 0; i < n; i++) {                                                        \
			const T a = x[i], b = y[i];                                                     \
			(void)b;                                                                        \
			all &= (test);                                                                  \
		}                                                                                       \
		return all;                                                                             \
	}                                                                                               \
	static void f32_runs_##name(void *o, const void *x, const void *y, const void *z, size_t n,     \
				    const double *p)                                                    \
	{                                                                                               \
		for (size_t i = 0; i < n; i += RUN) {                                                   \
			size_t m = MIN(n - i, (size_t)RUN);                                             \
			const T *a = (const T *)x + i, *b = (const T *)y + i;                           \
			(f32_usual_##name(a, b, m) ? f32_ew_cheap_##name : f32_ew_##name)((T *)o + i, a, b, z, m, p); \
		}                                                                                       \
	}
#include "num/ew_usual.def"
#undef EW
#undef M
#undef T

/* The table of kernels, indexed by enum num_op. A missing entry is a combination that PyTorch
 * does not have either. */
const struct num_kernel *SIMD_FN(num_kernels)(void)
{
	static const struct num_kernel table[NUM_OPS] = {
#define EW(name, arity, result, expr) [NUM_##name] = { .f32 = f32_ew_##name, .f64 = f64_ew_##name, \
						       .i64 = i64_ew_##name },
#include "num/ew_arith.def"
#undef EW
#define EW(name, arity, result, expr) [NUM_##name] = { .f32 = f32_ew_##name, .f64 = f64_ew_##name },
#include "num/ew_float.def"
#undef EW
#define EW(name, arity, result, expr) [NUM_##name] = { .f32 = f32_runs_##name, .f64 = f64_ew_##name },
#include "num/ew_usual.def"
#undef EW
#define EW(name, arity, result, expr) [NUM_##name] = { .i64 = i64_ew_##name },
#include "num/ew_int.def"
#undef EW
	};

	return table;
}
