/* Bulk kernels of the generator, compiled once per instruction set: next state, tempering,
 * floats from words, Box-Muller. Each gives the same bits on every instruction set. */
#ifndef __clang__
#pragma GCC optimize("no-trapping-math")
#endif
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "num/vmath.h"

enum { N = 624, M = 397 };

void SIMD_FN(mt_next)(uint32_t *s);
void SIMD_FN(mt_temper)(uint32_t *restrict out, const uint32_t *restrict s, size_t n);
void SIMD_FN(mt_uniform)(float *restrict out, const uint32_t *restrict w, size_t n, float from,
			 float range);
void SIMD_FN(box_muller)(float *d, size_t blocks, float mean, float std);

/* The twist of mt19937: the top bit of u and the rest of v, shifted and conditionally xored. */
VM uint32_t twist(uint32_t u, uint32_t v)
{
	return ((u & 0x80000000u) | (v & 0x7fffffffu)) >> 1 ^ ((0u - (v & 1)) & 0x9908b0dfu);
}

void SIMD_FN(mt_next)(uint32_t *s)
{
	/* Three pieces, each no longer than the distance between the word that is read and
	 * the word that is written: within a piece no word depends on another, so the loops
	 * vectorise. */
	for (int i = 0; i < N - M; i++)
		s[i] = s[i + M] ^ twist(s[i], s[i + 1]);
	for (int i = N - M; i < 2 * (N - M); i++)
		s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
	for (int i = 2 * (N - M); i < N - 1; i++)
		s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
	s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
}

void SIMD_FN(mt_temper)(uint32_t *restrict out, const uint32_t *restrict s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t y = s[i];

		y ^= y >> 11;
		y ^= y << 7 & 0x9d2c5680u;
		y ^= y << 15 & 0xefc60000u;
		out[i] = y ^ y >> 18;
	}
}

void SIMD_FN(mt_uniform)(float *restrict out, const uint32_t *restrict w, size_t n, float from,
			 float range)
{
	for (size_t i = 0; i < n; i++)
		out[i] = __builtin_fmaf((float)(int32_t)(w[i] & 0xffffffu) * 0x1p-24f, range, from);
}

void SIMD_FN(box_muller)(float *d, size_t blocks, float mean, float std)
{
	for (size_t i = 0; i < blocks; i++, d += 16)
		for (int j = 0; j < 8; j++) {
			float u1 = 1.0f - d[j], theta = 6.28318548f * d[j + 8];
			float rad = __builtin_sqrtf(-2.0f * f32_log(u1));

			d[j] = __builtin_fmaf(rad * vm_cos(theta), std, mean);
			d[j + 8] = __builtin_fmaf(rad * vm_sin(theta), std, mean);
		}
}
