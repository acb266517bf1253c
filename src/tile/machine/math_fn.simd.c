/* fp32 functions. Each is computed in double, only with additions, multiplications, divisions and
 * square roots (no fused operations), so that every instruction set gives the same bits. It is
 * rounded once: the error is about half a unit in the last place. fp64 is in math_slow.c. */
#include <math.h>

#include "tile/machine/math_kernel.h"

/* The bits of a double and back. */
static inline uint64_t bits_of(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
static inline double of_bits(uint64_t b) { double x; memcpy(&x, &b, 8); return x; }

#define ROUNDER 0x1.8p52        /* adding it leaves the nearest whole number in the low bits */

/* 2^x for |x| < 1000: whole part into the exponent, a polynomial for the rest. */
static inline double d_exp2(double x)
{
	double t = x + ROUNDER;
	double f = x - (t - ROUNDER);
	double p = 0x1.00c0e4e15189cp-16;
	p = p * f + 0x1.446c79efd4834p-13;
	p = p * f + 0x1.5d877598350dep-10;
	p = p * f + 0x1.3b29d8bb0b97ep-7;
	p = p * f + 0x1.c6b08da70cce3p-5;
	p = p * f + 0x1.ebfbe0aa03df0p-3;
	p = p * f + 0x1.62e42fef9cc69p-1;
	p = p * f + 0x1.ffffffffa7135p-1;
	return p * of_bits((bits_of(t) + 1023) << 52);
}

/* Limits x to a range far outside that of fp32 results. NaN stays NaN. */
static inline double d_clamp(double x, double lim)
{
	x = x < -lim ? -lim : x;
	return x > lim ? lim : x;
}

static inline double d_exp(double x) { return d_exp2(d_clamp(x, 200) * 0x1.71547652b82fep0); }

/* exp(x) - 1. Near 0, where the subtraction would cancel, it is a Taylor polynomial of degree 10. */
static inline double d_expm1(double x)
{
	double q = x * (1.0 / 10);
	double y = 1 + q;
	double e;

	y = 1 + x * (1.0 / 9) * y;
	y = 1 + x * (1.0 / 8) * y;
	y = 1 + x * (1.0 / 7) * y;
	y = 1 + x * (1.0 / 6) * y;
	y = 1 + x * (1.0 / 5) * y;
	y = 1 + x * (1.0 / 4) * y;
	y = 1 + x * (1.0 / 3) * y;
	y = 1 + x * (1.0 / 2) * y;
	e = d_exp(x) - 1;
	return fabs(x) < 0.35 ? x * y : e;
}

/* log(x) / scale for a positive normal double: x = 2^k m with m in [sqrt 1/2, sqrt 2), and log m
 * = 2 atanh((m-1)/(m+1)). `unit` is log(2)/scale, `two` is 2/scale. */
static inline double d_log_core(double x, double unit, double two)
{
	uint64_t b = bits_of(x) - 0x3fe6a09e667f3bcdu;  /* sqrt 1/2 */
	double k = of_bits((b >> 52) + 0x4330000000000000u) - 0x1p52;   /* exponent, wrapped at 2^12 */
	double m, s, z, p;

	k = k > 2047 ? k - 4096 : k;
	m = of_bits((b & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
	s = (m - 1) / (m + 1);
	z = s * s;
	p = 1.0 / 15;
	p = p * z + 1.0 / 13;
	p = p * z + 1.0 / 11;
	p = p * z + 1.0 / 9;
	p = p * z + 1.0 / 7;
	p = p * z + 1.0 / 5;
	p = p * z + 1.0 / 3;
	return k * unit + (s * two + s * two * (z * p));
}

/* log 0 = -inf, log of a negative number is NaN, log inf = inf; y is the result for all others. */
static inline double d_log_ends(double x, double y)
{
	y = x > 0 ? y : x == 0 ? -INFINITY : NAN;
	return x < INFINITY ? y : x;            /* inf, and NaN fails every comparison */
}

static inline double d_log(double x) { return d_log_ends(x, d_log_core(x, 0x1.62e42fefa39efp-1, 2)); }
static inline double d_log2(double x) { return d_log_ends(x, d_log_core(x, 1, 0x1.71547652b82fep1)); }
static inline double d_log10(double x) { return d_log_ends(x, d_log_core(x, 0x1.34413509f79ffp-2,
		0x1.bcb7b1526e50ep-1)); }
/* log(1 + x). Below 1e-8 the first term x is exact to fp32. */
static inline double d_log1p(double x)
{
	double y = d_log(1 + x);
	return fabs(x) < 1e-8 ? x : y;
}

/* tanh x = (e^2x - 1) / (e^2x + 1), through expm1 so that small x keep their digits. */
static inline double d_tanh(double x)
{
	double e = d_expm1(2 * d_clamp(x, 30));
	return e / (e + 2);
}
static inline double d_sinh(double x)
{
	double e = d_expm1(x), big = d_exp(x);
	return fabs(x) < 1 ? 0.5 * (e + e / (e + 1)) : 0.5 * (big - 1 / big);
}
static inline double d_cosh(double x)
{
	double e = d_exp(x);
	return 0.5 * (e + 1 / e);
}

/* Taylor polynomials of sin and cos for |r| <= pi/4. */
static inline double d_sin_poly(double r)
{
	double z = r * r;
	double p = -1.0 / 39916800;
	p = p * z + 1.0 / 362880;
	p = p * z - 1.0 / 5040;
	p = p * z + 1.0 / 120;
	p = p * z - 1.0 / 6;
	return r + r * (z * p);
}
static inline double d_cos_poly(double r)
{
	double z = r * r;
	double p = 1.0 / 479001600;
	p = p * z - 1.0 / 3628800;
	p = p * z + 1.0 / 40320;
	p = p * z - 1.0 / 720;
	p = p * z + 1.0 / 24;
	p = p * z - 0.5;
	return 1 + z * p;
}
/* sin (or cos) of r + q pi/2: q picks the polynomial and, by its second bit, the sign. */
static inline double d_quadrant(double r, uint64_t q, int cosine)
{
	double s = d_sin_poly(r), c = d_cos_poly(r);
	double v;

	q += (uint64_t)cosine;
	v = q & 1 ? c : s;
	return of_bits(bits_of(v) ^ (q & 2) << 62);
}

/* For |x| < 1e6: pi/2 in three parts, the first with enough zero bits that k times it is exact. */
static inline double d_sincos(double x, int cosine)
{
	double t = x * 0x1.45f306dc9c883p-1 + ROUNDER;
	double k = t - ROUNDER;
	double r = ((x - k * 0x1.921fb544p0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
	return d_quadrant(r, bits_of(t), cosine);
}
static inline double d_tan(double x)
{
	return d_sincos(x, 0) / d_sincos(x, 1);
}

/* sin(pi x): multiples of the period drop out exactly. */
static inline double d_sinpi(double x, int cosine)
{
	double t = 2 * x + ROUNDER;
	double r = (x - 0.5 * (t - ROUNDER)) * 0x1.921fb54442d18p1;
	return d_quadrant(r, bits_of(t), cosine);
}

/* erf(x) / x as a polynomial in (x^2 - 8) / 8 for x^2 <= 16. Beyond that it rounds to 1. */
static inline double d_erf(double x)
{
	double c = d_clamp(x, 4);
	double v = (c * c - 8) * 0.125;
	double p = 0x1.8a6caab470c6fp-14;
	p = p * v - 0x1.026466e217773p-12;
	p = p * v + 0x1.6b49f96c0d06fp-13;
	p = p * v - 0x1.555506765c526p-12;
	p = p * v + 0x1.71a9bd2a54af3p-10;
	p = p * v - 0x1.7d61c3299c579p-9;
	p = p * v + 0x1.38ee4f02d9147p-8;
	p = p * v - 0x1.12ba7628ceb60p-7;
	p = p * v + 0x1.d73ce53e159ffp-7;
	p = p * v - 0x1.71aa3a7454ee2p-6;
	p = p * v + 0x1.0ec5c6e1688d8p-5;
	p = p * v - 0x1.76bcc6dec6fadp-5;
	p = p * v + 0x1.ea99e1ae9780fp-5;
	p = p * v - 0x1.3218984cd195ap-4;
	p = p * v + 0x1.717eee4e076f7p-4;
	p = p * v - 0x1.b92e6d963dfaap-4;
	p = p * v + 0x1.0dabaf245a337p-3;
	p = p * v - 0x1.69a0cd301b91ep-3;
	p = p * v + 0x1.6a040781a499cp-2;
	return c * p;
}

/* x^y for finite x > 0 and finite y. */
static inline double d_pow(double x, double y)
{
	return d_exp2(d_clamp(y * d_log_core(x, 1, 0x1.71547652b82fep1), 900));
}

#define FN(name, EXPR) KERNEL1(name, float, float, (float)(EXPR))
FN(exp_f, d_exp(x))
FN(exp2_f, d_exp2(d_clamp(x, 300)))
FN(exp10_f, d_exp2(d_clamp(x, 100) * 0x1.a934f0979a371p1))
FN(expm1_f, d_expm1(d_clamp(x, 200)))
FN(log_f, d_log(x))
FN(log2_f, d_log2(x))
FN(log10_f, d_log10(x))
FN(log1p_f, d_log1p(x))
FN(tanh_f, d_tanh(x))
FN(sinh_f, d_sinh(x))
FN(cosh_f, d_cosh(d_clamp(x, 200)))
FN(erf_f, d_erf(x))
FN(rsqrt_f, 1 / sqrt((double)x))

/* Lanes that the formula is not for are done again by the double function of the C library.
 * Blocks of lanes keep a copy of the operands, because the result may overwrite them. */
enum { BLOCK = 128 };

/* EXPR for all lanes of a block, then SLOW for those where GOOD is false. */
#define FN_FIXED(name, GOOD, EXPR, SLOW) \
	static void name(KERNEL_ARGS) \
	{ \
		float *o = o_, in[BLOCK]; \
		const float *a = a_; UNUSED_ARGS; \
		for (size_t j = 0; j < n; j += BLOCK) { \
			size_t m = n - j < BLOCK ? n - j : BLOCK; \
			int bad = 0; \
			memcpy(in, a + j, m * sizeof *in); \
			for (size_t i = 0; i < m; i++) { float x = in[i]; o[j + i] = (float)(EXPR); } \
			for (size_t i = 0; i < m; i++) { float x = in[i]; bad |= !(GOOD); } \
			for (size_t i = 0; bad && i < m; i++) \
				{ float x = in[i]; if (!(GOOD)) o[j + i] = (float)(SLOW); } \
		} \
	}
FN_FIXED(sin_f, x > -1e6f && x < 1e6f, d_sincos(x, 0), sin((double)x))
FN_FIXED(cos_f, x > -1e6f && x < 1e6f, d_sincos(x, 1), cos((double)x))
FN_FIXED(tan_f, x > -1e6f && x < 1e6f, d_tan(x), tan((double)x))
/* From 2^24 on every fp32 number is an even whole number. */
FN_FIXED(sinpi_f, x > -0x1p30f && x < 0x1p30f, d_sinpi(x, 0), x - x)
FN_FIXED(cospi_f, x > -0x1p30f && x < 0x1p30f, d_sinpi(x, 1), x - x == 0 ? 1.0 : NAN)

/* The same with two operands: the formula is for finite x > 0 and finite y. */
static void pow_f(KERNEL_ARGS)
{
	float *o = o_, xs[BLOCK], ys[BLOCK];
	const float *a = a_, *b = b_;
	(void)c_;
	for (size_t j = 0; j < n; j += BLOCK) {
		size_t m = n - j < BLOCK ? n - j : BLOCK;
		int bad = 0;
		for (size_t i = 0; i < m; i++) {
			xs[i] = a[u & 1 ? 0 : j + i];
			ys[i] = b[u & 2 ? 0 : j + i];
			bad |= !(xs[i] > 0 && xs[i] < INFINITY && ys[i] - ys[i] == 0);
		}
		for (size_t i = 0; i < m; i++)
			o[j + i] = (float)d_pow(xs[i], ys[i]);
		for (size_t i = 0; bad && i < m; i++)
			if (!(xs[i] > 0 && xs[i] < INFINITY && ys[i] - ys[i] == 0))
				o[j + i] = (float)pow(xs[i], ys[i]);
	}
}

extern kernel_table SIMD_FN(tile_fn_kernels);
kernel_table SIMD_FN(tile_fn_kernels) = {
#define ROW(ID, k) [TOP_##ID] = { [DT_F32] = k }
	ROW(EXP, exp_f), ROW(EXP2, exp2_f), ROW(EXP10, exp10_f), ROW(EXPM1, expm1_f),
	ROW(LOG, log_f), ROW(LOG2, log2_f), ROW(LOG10, log10_f), ROW(LOG1P, log1p_f),
	ROW(SIN, sin_f), ROW(COS, cos_f), ROW(TAN, tan_f), ROW(SINPI, sinpi_f), ROW(COSPI, cospi_f),
	ROW(SINH, sinh_f), ROW(COSH, cosh_f), ROW(TANH, tanh_f),
	ROW(ERF, erf_f), ROW(RSQRT, rsqrt_f), ROW(POW, pow_f),
};
