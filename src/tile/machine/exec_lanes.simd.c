/* Loops over the lanes of a pointer, compiled once per instruction set: see exec_lanes.h.
 *
 * Masks become all-ones or all-zeros words instead of branches, so that the plain loops
 * vectorise. */
#include "tile/machine/exec_lanes.h"
#include "tile/machine/replay.h"

#include <string.h>
#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b) ((a) > (b) ? (a) : (b))

/* A lane that is off cannot be wrong. Misalignment collects in `bits`, distance in `far`. */
int64_t SIMD_FN(lanes_within)(const int64_t *addr, const unsigned char *on, int64_t n, int64_t base,
			      int64_t most, int size, int *outside)
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

/* Lanes that are off keep what `out` holds. */
void SIMD_FN(lanes_gather32)(uint32_t *out, const int64_t *addr, const unsigned char *on, int64_t n)
{
	int64_t i = 0;

#ifdef __AVX512F__
	for (; i + 8 <= n; i += 8) {
		__m512i bytes = _mm512_cvtepu8_epi64(on ? _mm_loadl_epi64((const __m128i *)(on + i)) :
						     _mm_set1_epi8(1));
		__mmask8 k = _mm512_test_epi64_mask(bytes, bytes);
		__m256i was = _mm256_loadu_si256((const __m256i *)(out + i));

		_mm256_storeu_si256((__m256i *)(out + i), _mm512_mask_i64gather_epi32(was, k,
				_mm512_loadu_si512(addr + i), (const void *)0, 1));
	}
#endif
	for (; i < n; i++)
		if (!on || on[i])
			memcpy(&out[i], (const void *)(uintptr_t)addr[i], sizeof out[i]);
}

/* Sixteen lanes at a time with AVX-512, eight with AVX2. Lanes that are off take `other`. */
void SIMD_FN(lanes_near32)(uint32_t *out, const char *base, const int32_t *offset, const unsigned char *on,
			   int64_t n, uint32_t other)
{
	int64_t i = 0;

#if defined __AVX512F__
	for (; i + 16 <= n; i += 16) {
		__m128i bytes = on ? _mm_loadu_si128((const __m128i *)(on + i)) : _mm_set1_epi8(1);
		__m512i at = _mm512_loadu_si512(offset + i), x = _mm512_set1_epi32((int)other);
		__m512i apart = _mm512_sub_epi32(at, _mm512_set1_epi32(offset[i]));
		__mmask16 k = _mm_test_epi8_mask(bytes, bytes);

		/* Neighbouring lanes take one masked load, and so does a block without any lane on:
		 * a gather takes its full time even then. */
		if (!_mm512_mask_cmpneq_epi32_mask(k, apart, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8,
									       9, 10, 11, 12, 13, 14, 15)))
			x = _mm512_mask_loadu_epi32(x, k, (const void *)((uintptr_t)base +
									 4 * (uintptr_t)(int64_t)offset[i]));
		else
			x = _mm512_mask_i32gather_epi32(x, k, at, base, 4);
		_mm512_storeu_si512(out + i, x);
	}
#elif defined __AVX2__
	for (; i + 8 <= n; i += 8) {
		__m256i bytes = _mm256_cvtepu8_epi32(on ? _mm_loadl_epi64((const __m128i *)(on + i)) :
						     _mm_set1_epi8(1));
		__m256i set = _mm256_cmpgt_epi32(bytes, _mm256_setzero_si256()), rest = _mm256_set1_epi32((int)other);
		__m256i at = _mm256_loadu_si256((const __m256i *)(offset + i));

		_mm256_storeu_si256((__m256i *)(out + i), _mm256_mask_i32gather_epi32(rest,
				(const int *)(const void *)base, at, set, 4));
	}
#endif
	for (; i < n; i++) {
		out[i] = other;
		if (!on || on[i])
			memcpy(&out[i], (const void *)((uintptr_t)base + 4 * (uintptr_t)(int64_t)offset[i]),
			       sizeof out[i]);
	}
}

/* `set` is -1 or 0, so subtracting it counts the active lanes. */
int64_t SIMD_FN(lanes_between)(const int32_t *offset, const unsigned char *on, int64_t n, int32_t lo,
			       int32_t hi, int *outside)
{
	int32_t far = 0, active = 0;

	for (int64_t i = 0; i < n; i++) {
		int32_t set = on ? -(on[i] != 0) : -1, at = offset[i];

		far |= (at < lo || at > hi ? -1 : 0) & set;
		active -= set;
	}
	*outside = far != 0;
	return active;
}

/* Differences of NEAR counts in bytes. The caller knows that they fit 32 bits. */
void SIMD_FN(lanes_apart)(int32_t *out, const int32_t *offset, const unsigned char *on, int64_t n,
			  int32_t first, int32_t scale)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t set = on ? -(on[i] != 0) : -1;
		int32_t off = (int32_t)(((uint32_t)offset[i] - (uint32_t)first) * (uint32_t)scale);

		out[i] = set ? off : REPLAY_OFF;
	}
}

/* `off ^ low` is nonzero where the difference does not fit 32 bits. REPLAY_OFF itself is no
 * distance. */
int SIMD_FN(lanes_distance)(int32_t *out, const int64_t *addr, const unsigned char *on, int64_t n, int64_t first)
{
	int64_t far = 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t set = on ? -(int64_t)(on[i] != 0) : -1, off = addr[i] - first;
		int32_t low = (int32_t)off;

		far |= (off ^ low) & set;
		far |= (int64_t)(low == REPLAY_OFF) & set;
		out[i] = set ? low : REPLAY_OFF;
	}
	return far ? -1 : 0;
}

/* No row crosses a block of REPLAY_BLOCK = 16 lanes, so AVX-512 takes one masked load and store. */
void SIMD_FN(lanes_rows32)(uint32_t *out, const char *from, const struct replay_row *rows, int64_t n)
{
	for (int64_t k = 0; k < n; k++) {
		uint32_t *o = out + rows[k].lane;
		const char *s = from + rows[k].offset;
		int32_t i = 0, count = rows[k].count;   /* a block at most */

#ifdef __AVX512F__
		__mmask16 on = (__mmask16)((1u << count) - 1);

		_mm512_mask_storeu_epi32(o, on, _mm512_maskz_loadu_epi32(on, s));
		i = count;
#endif
		for (; i < count; i++)
			memcpy(o + i, s + 4 * (int64_t)i, sizeof *o);
	}
}

#ifdef __AVX512F__
/* One block at a time: first `off` in every lane, then each row of the block over it. A masked load
 * does not read the lanes outside its row. Whole blocks are stored without a mask, because the load
 * of the next tap would wait long for a masked store. */
void SIMD_FN(lanes_tap)(float *sum, int64_t n, const char *from, const struct replay_row *rows,
			int64_t n_rows, float by, float off)
{
	const struct replay_row *end = rows + n_rows;

	for (int64_t i = 0; i < n; i += REPLAY_BLOCK) {
		__m512 x = _mm512_set1_ps(off);

		for (; rows < end && rows->lane < i + REPLAY_BLOCK; rows++) {
			int skip = (int)(rows->lane - i);
			__mmask16 on = (__mmask16)(((1u << rows->count) - 1) << skip);

			x = _mm512_mask_loadu_ps(x, on, (const void *)((uintptr_t)from +
								       (uintptr_t)(int64_t)rows->offset -
								       4 * (uintptr_t)skip));
		}
		x = _mm512_mul_ps(x, _mm512_set1_ps(by));
		if (n - i >= REPLAY_BLOCK) {
			_mm512_storeu_ps(sum + i, _mm512_add_ps(_mm512_loadu_ps(sum + i), x));
		} else {
			__mmask16 rest = (__mmask16)((1u << (n - i)) - 1);

			_mm512_mask_storeu_ps(sum + i, rest, _mm512_add_ps(_mm512_maskz_loadu_ps(rest, sum + i), x));
		}
	}
}
#else
/* The same without masked loads: the lanes between two rows are off. */
void SIMD_FN(lanes_tap)(float *sum, int64_t n, const char *from, const struct replay_row *rows,
			int64_t n_rows, float by, float off)
{
	int64_t at = 0;

	for (int64_t k = 0; k < n_rows; at = rows[k].lane + rows[k].count, k++) {
		for (; at < rows[k].lane; at++)
			sum[at] = sum[at] + off * by;
		for (int32_t i = 0; i < rows[k].count; i++) {
			float x;

			memcpy(&x, from + rows[k].offset + 4 * (int64_t)i, sizeof x);
			sum[rows[k].lane + i] = sum[rows[k].lane + i] + x * by;
		}
	}
	for (; at < n; at++)
		sum[at] = sum[at] + off * by;
}
#endif

/* Lanes that are off keep what `out` holds. With AVX-512 a block without any active lane is
 * skipped. */
void SIMD_FN(lanes_offsets32)(uint32_t *out, const char *from, const int32_t *offset, int64_t n)
{
	int64_t i = 0;

#ifdef __AVX512F__
	for (; i + 16 <= n; i += 16) {
		__m512i at = _mm512_loadu_si512(offset + i);
		__mmask16 on = _mm512_cmpneq_epi32_mask(at, _mm512_set1_epi32(REPLAY_OFF));

		if (on)
			_mm512_storeu_si512(out + i, _mm512_mask_i32gather_epi32(_mm512_loadu_si512(out + i),
					on, at, from, 1));
	}
#elif defined __AVX2__
	for (; i + 8 <= n; i += 8) {
		__m256i at = _mm256_loadu_si256((const __m256i *)(offset + i)),
			off = _mm256_cmpeq_epi32(at, _mm256_set1_epi32(REPLAY_OFF));
		__m256i was = _mm256_loadu_si256((const __m256i *)(out + i)), on = _mm256_xor_si256(off,
				_mm256_set1_epi32(-1));

		_mm256_storeu_si256((__m256i *)(out + i), _mm256_mask_i32gather_epi32(was,
				(const int *)(const void *)from, at, on, 1));
	}
#endif
	for (; i < n; i++)
		if (offset[i] != REPLAY_OFF)
			memcpy(&out[i], from + offset[i], sizeof out[i]);
}

/* Least and greatest lane, for the range checks of offsets. */
void SIMD_FN(lanes_range32)(const int32_t *v, int64_t n, int32_t *lo, int32_t *hi)
{
	int32_t least = INT32_MAX, most = INT32_MIN;

	for (int64_t i = 0; i < n; i++) {
		least = LEAST(least, v[i]);
		most = MOST(most, v[i]);
	}
	*lo = least;
	*hi = most;
}

/* near_addptr has shown by ranges that no sum overflows. */
void SIMD_FN(lanes_add32)(int32_t *out, const int32_t *a, const int32_t *b, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = a[i] + b[i];
}

/* Addresses from offsets of 32 or 64 bits. Unsigned arithmetic: a wrong offset wraps and is
 * caught by the bounds check, not by undefined behaviour here. */
#define OFFSET_FN(name, T) \
	void SIMD_FN(name)(int64_t *out, const int64_t *addr, int64_t base, const T *offset, int64_t scale, int64_t n) \
	{ \
		if (addr) \
			for (int64_t i = 0; i < n; i++) \
				out[i] = (int64_t)((uint64_t)addr[i] + \
						   (uint64_t)(int64_t)offset[i] * (uint64_t)scale); \
		else \
			for (int64_t i = 0; i < n; i++) \
				out[i] = (int64_t)((uint64_t)base + (uint64_t)(int64_t)offset[i] * (uint64_t)scale); \
	}
OFFSET_FN(lanes_offset32, int32_t)
OFFSET_FN(lanes_offset64, int64_t)
