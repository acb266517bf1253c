/* Vectors of floats of the width of the level a `.simd.c` file is compiled for.
 *
 * A vector has VW floats; + - * / work on `vf` directly. This file has the operations without an
 * operator: fused multiply-add, broadcasts, partial loads, exp. Fused or not depends on the level,
 * so results are equal on one machine, not across machines. */
#ifndef OPS_CPU_VEC_H
#define OPS_CPU_VEC_H

#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

#if SIMD_LEVEL == 2
#include <immintrin.h>
enum { VW = 16 };
typedef __m512 vf;
static inline vf vf_set1(float x) { return _mm512_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf v) { _mm512_storeu_ps(p, v); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
/* `v` where x >= lo, else 0. */
static inline vf vf_keep_ge(vf x, vf lo, vf v) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, lo, _CMP_GE_OQ), v); }
static inline vf vf_load_n(const float *p, int n) { return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p); }
static inline void vf_store_n(float *p, vf v, int n) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v); }
static inline vf vf_from_i8(const int8_t *p)
{
	return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)p)));
}
#elif SIMD_LEVEL == 1
#include <immintrin.h>
enum { VW = 8 };
typedef __m256 vf;
static inline vf vf_set1(float x) { return _mm256_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf v) { _mm256_storeu_ps(p, v); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vf vf_keep_ge(vf x, vf lo, vf v) { return _mm256_and_ps(_mm256_cmp_ps(x, lo, _CMP_GE_OQ), v); }
static inline vf vf_from_i8(const int8_t *p)
{
	return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)p)));
}
#else
enum { VW = 4 };
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vf_cmp __attribute__((vector_size(16)));
static inline vf vf_set1(float x) { return (vf){ x, x, x, x }; }
static inline vf vf_load(const float *p) { vf v; memcpy(&v, p, sizeof v); return v; }
static inline void vf_store(float *p, vf v) { memcpy(p, &v, sizeof v); }
static inline vf vf_pick(vf_cmp m, vf a, vf b) { return (vf)((m & (vf_cmp)a) | (~m & (vf_cmp)b)); }
static inline vf vf_sqrt(vf a)
{
	return (vf){ __builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]), __builtin_sqrtf(a[3]) };
}
static inline vf vf_max(vf a, vf b) { return vf_pick(a > b, a, b); }
static inline vf vf_min(vf a, vf b) { return vf_pick(a < b, a, b); }
static inline vf vf_keep_ge(vf x, vf lo, vf v) { return (vf)((x >= lo) & (vf_cmp)v); }
static inline vf vf_from_i8(const int8_t *p) { return (vf){ p[0], p[1], p[2], p[3] }; }
#if defined(__aarch64__)
#include <arm_neon.h>
static inline vf vf_fma(vf a, vf b, vf c) { return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
static inline vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
#endif
#endif

typedef int32_t vi __attribute__((vector_size(sizeof (vf))));
typedef uint32_t vu __attribute__((vector_size(sizeof (vf))));

#if SIMD_LEVEL != 2
static inline vf vf_load_n(const float *p, int n)
{
	float t[VW] = { 0 };

	memcpy(t, p, (size_t)n * sizeof *t);
	return vf_load(t);
}
static inline void vf_store_n(float *p, vf v, int n)
{
	float t[VW];

	vf_store(t, v);
	memcpy(p, t, (size_t)n * sizeof *t);
}
#endif

static inline vf vf_zero(void) { return vf_set1(0.0f); }

/* Lanes are added pairwise, so the order is fixed for a level. */
static inline float vf_sum(vf v)
{
	float t[VW];

	vf_store(t, v);
	for (int w = VW / 2; w; w /= 2)
		for (int i = 0; i < w; i++)
			t[i] += t[i + w];
	return t[0];
}

static inline float vf_hmax(vf v)
{
	float t[VW];

	vf_store(t, v);
	for (int w = VW / 2; w; w /= 2)
		for (int i = 0; i < w; i++)
			t[i] = t[i] > t[i + w] ? t[i] : t[i + w];
	return t[0];
}

/* exp(x) within 2 ulp; 0 below -87.3 (so exp(-inf) is exactly 0), finite up to 88.
 * x = n ln 2 + r, |r| <= ln 2 / 2: a polynomial in r, then n added to the exponent. Adding
 * 1.5 * 2^23 rounds to the integer n and leaves it in the low bits. */
static inline vf vf_exp(vf x)
{
	const vf magic = vf_set1(12582912.0f);
	vf c = vf_max(vf_min(x, vf_set1(88.0f)), vf_set1(-87.3f));
	vf t = vf_fma(c, vf_set1(1.44269504088896341f), magic);
	vf n = t - magic;
	vf r = vf_fma(n, vf_set1(-0.693145751953125f), c);
	vf p;

	r = vf_fma(n, vf_set1(-1.42860682030941723e-6f), r);
	p = vf_fma(r, vf_set1(1.9875691500e-4f), vf_set1(1.3981999507e-3f));
	p = vf_fma(p, r, vf_set1(8.3334519073e-3f));
	p = vf_fma(p, r, vf_set1(4.1665795894e-2f));
	p = vf_fma(p, r, vf_set1(1.6666665459e-1f));
	p = vf_fma(p, r, vf_set1(5.0000001201e-1f));
	p = vf_fma(p, r * r, r + vf_set1(1.0f));
	p = (vf)((vi)p + ((vi)t << 23));
	return vf_keep_ge(x, vf_set1(-87.3f), p);
}

/* bf16 to fp32 is a shift: the even (low) and odd (high) halves of 32-bit words. */
static inline vf vf_bf16_even(vi w) { return (vf)(w << 16); }
static inline vf vf_bf16_odd(vi w) { return (vf)(w & (int32_t)0xffff0000); }
static inline vi vi_load(const void *p) { vi v; memcpy(&v, p, sizeof v); return v; }

#endif
