/* Bulk conversions that are worth vector instructions, compiled once per instruction set.
 *
 * Invariant: each equals the scalar definition in dtype.c, bit for bit, NaN payloads included.
 * The scalar loop at the end of each function does the elements that do not fill a vector. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "tensor/tensor.h"

#if SIMD_LEVEL >= 1
#include <immintrin.h>
#endif

void SIMD_FN(vec_f16_to_f32)(float *dst, const uint16_t *src, size_t n);
void SIMD_FN(vec_f32_to_f16)(uint16_t *dst, const float *src, size_t n);
void SIMD_FN(vec_bf16_to_f32)(float *dst, const uint16_t *src, size_t n);
void SIMD_FN(vec_f32_to_bf16)(uint16_t *dst, const float *src, size_t n);
void SIMD_FN(vec_f32_to_f64)(double *dst, const float *src, size_t n);
void SIMD_FN(vec_f64_to_f32)(float *dst, const double *src, size_t n);

/* fp16 has conversion instructions: 16 elements at a time with AVX-512, 8 with F16C. */
void SIMD_FN(vec_f16_to_f32)(float *dst, const uint16_t *src, size_t n)
{
	size_t i = 0;

#if SIMD_LEVEL >= 2
	for (; i + 16 <= n; i += 16)
		_mm512_storeu_ps(dst + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(src + i))));
#endif
#if SIMD_LEVEL >= 1
	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(src + i))));
#endif
	for (; i < n; i++)
		dst[i] = f16_to_f32(src[i]);
}

void SIMD_FN(vec_f32_to_f16)(uint16_t *dst, const float *src, size_t n)
{
	size_t i = 0;

#if SIMD_LEVEL >= 2
	for (; i + 16 <= n; i += 16)
		_mm256_storeu_si256((void *)(dst + i), _mm512_cvtps_ph(_mm512_loadu_ps(src + i),
								       _MM_FROUND_TO_NEAREST_INT));
#endif
#if SIMD_LEVEL >= 1
	for (; i + 8 <= n; i += 8)
		_mm_storeu_si128((void *)(dst + i),
				 _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
#endif
	for (; i < n; i++)
		dst[i] = f32_to_f16(src[i]);
}

/* A bf16 is the upper half of an fp32. */
void SIMD_FN(vec_bf16_to_f32)(float *dst, const uint16_t *src, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t u = (uint32_t)src[i] << 16;

		memcpy(dst + i, &u, sizeof u);
	}
}

/* Rounds to nearest even by adding just below half of the last kept bit; every NaN becomes 0x7fc0. */
void SIMD_FN(vec_f32_to_bf16)(uint16_t *dst, const float *src, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t u;
		int nan;

		memcpy(&u, src + i, sizeof u);
		nan = (u & 0x7fffffff) > 0x7f800000;
		u = (u + 0x7fff + (u >> 16 & 1)) >> 16;
		dst[i] = (uint16_t)(nan ? 0x7fc0 : u);
	}
}

void SIMD_FN(vec_f32_to_f64)(double *dst, const float *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = src[i];
}

void SIMD_FN(vec_f64_to_f32)(float *dst, const double *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = (float)src[i];
}
