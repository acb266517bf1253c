/* Elementary functions of one float, written so that a loop over them becomes vector code.
 *
 * Branch-free: selects instead of ifs, no calls, no table. Each is within 2 ulp of the exact result
 * over all floats (test_num_math measures it), handles infinities, NaN and denormals, and gives the
 * same bits on every instruction set (explicit fma, no contraction). For .simd.c files only: the
 * bodies are in this header so that the compiler can inline them. The f64 side is libm's; it serves
 * the oracle, where accuracy counts and time does not. */
#ifndef NUM_VMATH_H
#define NUM_VMATH_H

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

/* x = n ln2 + r with |r| <= ln2 / 2; *n and *i are n as a float and as an integer. */
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

/* log(1 + x). 1 + x loses low bits of x; a first-order correction restores them. */
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

/* gelu: x erfc(-x / sqrt 2) / 2 by h = 2^log2(erfc(t / sqrt 2)) for t = |x|, which does not cancel
 * for negative x. Beyond t = 6, h is under 2e-9 and is dropped: it is too small next to 2. */
VM float f32_gelu(float x)
{
	float t = __builtin_fabsf(x), q = 5.12862812e-07f, z, r, p, h;

	q = __builtin_fmaf(q, t, -9.5602436e-06f);
	q = __builtin_fmaf(q, t, 7.49738756e-05f);
	q = __builtin_fmaf(q, t, -2.84347741e-04f);
	q = __builtin_fmaf(q, t, 1.49908901e-05f);
	q = __builtin_fmaf(q, t, 6.9311196e-03f);
	q = __builtin_fmaf(q, t, -5.24347648e-02f);
	q = __builtin_fmaf(q, t, -4.59221452e-01f);
	q = __builtin_fmaf(q, t, -1.15110421f) * t;
	z = q + VM_MAGIC;
	r = q - (z - VM_MAGIC);
	p = 1.53533721e-04f;
	p = __builtin_fmaf(p, r, 1.33988808e-03f);
	p = __builtin_fmaf(p, r, 9.61843692e-03f);
	p = __builtin_fmaf(p, r, 5.55033237e-02f);
	p = __builtin_fmaf(p, r, 2.40226477e-01f);
	p = __builtin_fmaf(p, r, 6.93147182e-01f);
	p = __builtin_fmaf(p, r, 1.0f);
	h = vm_float(vm_bits(p) + (vm_bits(z) << 23));
	h = t > 6.0f ? 0.0f : h;
	return 0.5f * x * (x > 0.0f ? 2.0f - h : h);
}

/* a^b for finite a > 0 and finite b, in double: 2^(b log2 a), half an ulp after rounding. */
VM float vm_pow(float a, float b)
{
	double m, z, w, q, t, n, r, p, x = (double)a;
	uint64_t u, s;

	memcpy(&u, &x, sizeof u);
	s = u - 0x3fe6a09e00000000u;               /* below sqrt(1/2) borrows from the exponent */
	u = (s & 0xfffffffffffffu) + 0x3fe6a09e00000000u;
	memcpy(&m, &u, sizeof m);
	z = (m - 1) / (m + 1);
	w = z * z;
	q = 0.3407549622751036;
	q = __builtin_fma(q, w, 0.41167134625177543);
	q = __builtin_fma(q, w, 0.57708360922616253);
	q = __builtin_fma(q, w, 0.96179667319304896);
	q = __builtin_fma(q, w, 2.8853900817903049);
	t = (double)b * __builtin_fma(q, z, (double)((int32_t)(s >> 32) >> 20));
	t = t > 200 ? 200 : t < -200 ? -200 : t;
	n = (t + 0x1.8p52) - 0x1.8p52;
	r = t - n;
	p = 1.5196164265554512e-05;
	p = __builtin_fma(p, r, 0.00015466761143989539);
	p = __builtin_fma(p, r, 0.0013333935069606926);
	p = __builtin_fma(p, r, 0.009618038118334428);
	p = __builtin_fma(p, r, 0.055504103659207348);
	p = __builtin_fma(p, r, 0.24022651066643666);
	p = __builtin_fma(p, r, 0.69314718070456594);
	p = __builtin_fma(p, r, 1.0);
	u = (uint64_t)((int64_t)(int32_t)n + 1023) << 52;
	memcpy(&r, &u, sizeof r);
	return (float)(p * r);
}

/* a^b for finite a and b. A negative a has a power for integer b only; an odd b keeps the
 * sign. */
VM float f32_plain_pow(float a, float b)
{
	float whole = __builtin_truncf(b), pairs = 2.0f * __builtin_truncf(0.5f * b), y = vm_pow(__builtin_fabsf(a), b);
	uint32_t odd = ((whole == b) & (pairs != b)) ? 0x80000000u : 0;

	y = a == 0.0f ? (b > 0.0f ? 0.0f : b < 0.0f ? __builtin_inff() : 1.0f) : y;
	y = ((a < 0.0f) & (whole != b)) ? __builtin_nanf("") : y;
	return vm_float(vm_bits(y) ^ (vm_bits(a) & odd));
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
