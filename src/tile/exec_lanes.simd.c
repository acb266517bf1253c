/* Lanes of a dense pointer: see exec_lanes.h. */
#include "tile/exec_lanes.h"

#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b) ((a) > (b) ? (a) : (b))

/* A lane that is off is nowhere wrong. */
int64_t SIMD_FN(lanes_within)(const int64_t *addr, const unsigned char *on, int64_t n, int64_t base, int64_t most, int size, int *outside)
{
	uint64_t low = (uint64_t)size - 1, bits = 0, far = 0, limit = (uint64_t)most;
	int64_t active = 0;

	for (int64_t i = 0; i < n; i++) {
		uint64_t set = on ? -(uint64_t)(on[i] != 0) : ~(uint64_t)0, at = (uint64_t)addr[i];

		bits |= at & set;
		far |= (at - (uint64_t)base > limit ? ~(uint64_t)0 : 0) & set;
		active += (int64_t)(set & 1);
	}
	*outside = far || (bits & low);
	return active;
}

void SIMD_FN(lanes_gather32)(uint32_t *out, const int64_t *addr, const unsigned char *on, int64_t n)
{
	int64_t i = 0;

#ifdef __AVX512F__
	for (; i + 8 <= n; i += 8) {
		__m512i bytes = _mm512_cvtepu8_epi64(on ? _mm_loadl_epi64((const __m128i *)(on + i)) : _mm_set1_epi8(1));
		__mmask8 k = _mm512_test_epi64_mask(bytes, bytes);
		__m256i was = _mm256_loadu_si256((const __m256i *)(out + i));

		_mm256_storeu_si256((__m256i *)(out + i), _mm512_mask_i64gather_epi32(was, k, _mm512_loadu_si512(addr + i), (const void *)0, 1));
	}
#endif
	for (; i < n; i++)
		if (!on || on[i])
			memcpy(&out[i], (const void *)(uintptr_t)addr[i], sizeof out[i]);
}

void SIMD_FN(lanes_range32)(const int32_t *v, int64_t n, int64_t *lo, int64_t *hi)
{
	int32_t least = INT32_MAX, most = INT32_MIN;

	for (int64_t i = 0; i < n; i++) {
		least = LEAST(least, v[i]);
		most = MOST(most, v[i]);
	}
	*lo = least;
	*hi = most;
}

#define OFFSET_FN(name, T) \
	void SIMD_FN(name)(int64_t *out, const int64_t *addr, int64_t base, const T *offset, int64_t scale, int64_t n) \
	{ \
		if (addr) \
			for (int64_t i = 0; i < n; i++) \
				out[i] = (int64_t)((uint64_t)addr[i] + (uint64_t)(int64_t)offset[i] * (uint64_t)scale); \
		else \
			for (int64_t i = 0; i < n; i++) \
				out[i] = (int64_t)((uint64_t)base + (uint64_t)(int64_t)offset[i] * (uint64_t)scale); \
	}
OFFSET_FN(lanes_offset32, int32_t)
OFFSET_FN(lanes_offset64, int64_t)
