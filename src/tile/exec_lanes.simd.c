/* Lanes of a dense pointer: see exec_lanes.h. */
#include "tile/exec_lanes.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b) ((a) > (b) ? (a) : (b))

static void extent_of_all(const int64_t *addr, int64_t n, struct lanes_extent *out)
{
	int64_t min = INT64_MAX, max = INT64_MIN, bits = 0;
	for (int64_t i = 0; i < n; i++) {
		min = LEAST(min, addr[i]);
		max = MOST(max, addr[i]);
		bits |= addr[i];
	}
	*out = (struct lanes_extent){ .active = n, .min = min, .max = max, .bits = bits };
}

/* A lane that is off counts as the worst of either bound, so that it moves neither. */
void SIMD_FN(lanes_extent)(const int64_t *addr, const unsigned char *on, int64_t n, struct lanes_extent *out)
{
	int64_t min = INT64_MAX, max = INT64_MIN, bits = 0, active = 0;
	if (!on) {
		extent_of_all(addr, n, out);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t set = -(int64_t)(on[i] != 0);
		int64_t lo = (addr[i] & set) | (INT64_MAX & ~set), hi = (addr[i] & set) | (INT64_MIN & ~set);
		min = LEAST(min, lo);
		max = MOST(max, hi);
		bits |= addr[i] & set;
		active -= set;
	}
	*out = (struct lanes_extent){ .active = active, .min = min, .max = max, .bits = bits };
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
