/* Elementary functions of one float, written so that a loop over them becomes vector code.
 *
 * Branch-free: selects instead of ifs, no calls, no table. Each is within 2 ulp of the exact
 * result over all floats (test_num_math measures it), handles infinities, NaN and denormals,
 * and gives the same bits on every instruction set (explicit fma, no contraction).
 * For .simd.c files only: inlining is the point, so the bodies stand here. The f64 side is
 * libm's; it serves the oracle, where accuracy counts and time does not. */
#ifndef HOST_NUM_VMATH_H
#define HOST_NUM_VMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define VM static inline __attribute__((always_inline))

VM uint32_t vm_bits(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof u);
	return u;
}

VM float vm_float(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof x);
	return x;
}

#define VM_MAGIC 12582912.0f            /* 1.5 * 2^23: adding it rounds to an integer */
#define VM_LN2_HI 0.693145751953125f    /* 11 low bits zero: n * hi is exact */
#define VM_LN2_LO 1.42860677e-6f

/* x = n ln2 + r, |r| <= ln2/2; n comes back as an integer too. */
VM float vm_reduce(float x, float *n, int32_t *i)
{
	float z = __builtin_fmaf(x, 1.44269504f, VM_MAGIC);

	*i = (int32_t)(vm_bits(z) - vm_bits(VM_MAGIC));
	*n = z - VM_MAGIC;
	return __builtin_fmaf(*n, -VM_LN2_LO, __builtin_fmaf(*n, -VM_LN2_HI, x));
}

/* 2^i for -126 <= i <= 127. */
VM float vm_pow2i(int32_t i)
{
	return vm_float((uint32_t)(i + 127) << 23);
}

/* (e^r - 1 - r) / r^2 for small r. */
VM float vm_exp_tail(float r)
{
	float q = 1.9915032e-04f;

	q = __builtin_fmaf(q, r, 1.394206e-03f);
	q = __builtin_fmaf(q, r, 8.333271e-03f);
	q = __builtin_fmaf(q, r, 4.166634e-02f);
	q = __builtin_fmaf(q, r, 1.6666667e-01f);
	return __builtin_fmaf(q, r, 5.0e-01f);
}

VM float f32_exp(float x)
{
	float c = x > 89.0f ? 89.0f : x, n, r, p;
	int32_t i, half;

	c = c < -104.5f ? -104.5f : c;
	r = vm_reduce(c, &n, &i);
	p = __builtin_fmaf(r * r, vm_exp_tail(r), r) + 1.0f;
	half = i >> 1;          /* in two steps, so that overflow and denormals come out right */
	return p * vm_pow2i(half) * vm_pow2i(i - half);
}

VM float f32_expm1(float x)
{
	float c = x > 89.0f ? 89.0f : x, n, r, p, s;
	int32_t i;

	c = c < -18.0f ? -18.0f : c;
	r = vm_reduce(c, &n, &i);
	p = __builtin_fmaf(r * r, vm_exp_tail(r), r);
	s = vm_pow2i(i - 1);
	return 2.0f * __builtin_fmaf(s, p, s - 0.5f);
}

/* log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)], plus e ln2. */
VM float vm_log_poly(float f, float e)
{
	float q = 6.915368e-02f, f2 = f * f;

	q = __builtin_fmaf(q, f, -1.1789808e-01f);
	q = __builtin_fmaf(q, f, 1.1872976e-01f);
	q = __builtin_fmaf(q, f, -1.2384348e-01f);
	q = __builtin_fmaf(q, f, 1.4218658e-01f);
	q = __builtin_fmaf(q, f, -1.6669251e-01f);
	q = __builtin_fmaf(q, f, 2.0002227e-01f);
	q = __builtin_fmaf(q, f, -2.4999987e-01f);
	q = __builtin_fmaf(q, f, 3.333331e-01f);
	q = __builtin_fmaf(q * f, f2, e * VM_LN2_LO);
	q = __builtin_fmaf(-0.5f, f2, q);
	return __builtin_fmaf(e, VM_LN2_HI, f + q);
}

/* Splits a positive normal x into 2^e (1 + f). */
VM float vm_split(float x, float *e)
{
	uint32_t u = vm_bits(x) - 0x3f3504f3u;   /* below sqrt(1/2) borrows from the exponent */

	*e = (float)((int32_t)u >> 23);
	return vm_float((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
}

VM float f32_log(float x)
{
	float tiny = x < 1.17549435e-38f ? 1.0f : 0.0f, e, f, y;
	float s = x < 1.17549435e-38f ? x * 8388608.0f : x;

	f = vm_split(s, &e);
	y = vm_log_poly(f, e - 23.0f * tiny);
	y = x == 0.0f ? -__builtin_inff() : y;
	y = x == __builtin_inff() ? x : y;
	return x >= 0.0f ? y : __builtin_nanf("");
}

/* log(1 + x): the part of x that 1 + x lost comes back as a first-order correction. */
VM float f32_log1p(float x)
{
	float u = 1.0f + x, lost = x - (u - 1.0f), e, f, y;

	lost = u - 1.0f > x ? -((u - 1.0f) - x) : lost;
	f = vm_split(u, &e);
	y = vm_log_poly(f, e) + lost / u;
	y = x == -1.0f ? -__builtin_inff() : y;
	y = x == __builtin_inff() ? x : y;
	y = x >= -1.0f ? y : __builtin_nanf("");
	return __builtin_fabsf(x) < 1e-10f ? x : y;
}

VM float f32_tanh(float x)
{
	float t = f32_expm1(-2.0f * __builtin_fabsf(x));

	return __builtin_copysignf(-t / (2.0f + t), x);
}

VM float f32_erf(float x)
{
	float a = __builtin_fabsf(x), s = x * x, lo, hi, t = a > 4.1f ? 4.1f : a;

	lo = 7.889285e-05f;
	lo = __builtin_fmaf(lo, s, -8.020895e-04f);
	lo = __builtin_fmaf(lo, s, 5.189542e-03f);
	lo = __builtin_fmaf(lo, s, -2.6854448e-02f);
	lo = __builtin_fmaf(lo, s, 1.12836e-01f);
	lo = __builtin_fmaf(lo, s, -3.7612626e-01f);
	lo = __builtin_fmaf(lo, s, 1.2837917e-01f);
	lo = __builtin_fmaf(lo, x, x);
	hi = 2.1208464e-07f;            /* log(erfc(t)) */
	hi = __builtin_fmaf(hi, t, -2.4754223e-05f);
	hi = __builtin_fmaf(hi, t, 4.6035775e-04f);
	hi = __builtin_fmaf(hi, t, -4.270636e-03f);
	hi = __builtin_fmaf(hi, t, 2.5348924e-02f);
	hi = __builtin_fmaf(hi, t, -1.086066e-01f);
	hi = __builtin_fmaf(hi, t, -6.3306576e-01f);
	hi = __builtin_fmaf(hi, t, -1.1296494e+00f);
	hi = __builtin_fmaf(hi, t, 2.020654e-04f);
	hi = __builtin_copysignf(1.0f - f32_exp(hi), x);
	return a < 1.0f ? lo : hi;
}

/* sin(r + k pi/2) for |r| <= pi/4: the odd and the even polynomial, chosen by k. */
VM float vm_quarter(float r, uint32_t k)
{
	float s = r * r, odd, even, y;

	odd = 2.7182373e-06f;
	odd = __builtin_fmaf(odd, s, -1.9839327e-04f);
	odd = __builtin_fmaf(odd, s, 8.333329e-03f);
	odd = __builtin_fmaf(odd, s, -1.6666667e-01f);
	odd = __builtin_fmaf(odd * s, r, r);
	even = 2.443773e-05f;
	even = __builtin_fmaf(even, s, -1.3887362e-03f);
	even = __builtin_fmaf(even, s, 4.1666646e-02f);
	even = __builtin_fmaf(even, s, -0.5f);
	even = __builtin_fmaf(even, s, 1.0f);
	y = k & 1 ? even : odd;
	return k & 2 ? -y : y;
}

/* x = n pi/2 + r, for |x| < VM_TURNS; beyond that callers use libm. */
#define VM_TURNS 30000.0f
VM float vm_turns(float x, uint32_t *k)
{
	float z = __builtin_fmaf(x, 0.636619772f, VM_MAGIC), n = z - VM_MAGIC, r;

	*k = vm_bits(z) - vm_bits(VM_MAGIC);
	r = __builtin_fmaf(n, -0x1.921fb6p+0f, x);
	r = __builtin_fmaf(n, 0x1.777a5cp-25f, r);
	return __builtin_fmaf(n, 0x1.ee59dap-50f, r);
}

VM float vm_sin(float x)
{
	uint32_t k;
	float r = vm_turns(x, &k);

	return vm_quarter(r, k);
}

VM float vm_cos(float x)
{
	uint32_t k;
	float r = vm_turns(x, &k);

	return vm_quarter(r, k + 1);
}

VM float f32_sigmoid(float x)
{
	return 1.0f / (1.0f + f32_exp(-x));
}

VM double f64_sigmoid(double x)
{
	return 1.0 / (1.0 + exp(-x));
}

#undef VM_MAGIC
#endif
