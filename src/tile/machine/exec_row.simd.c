/* Reductions along rows of fp32. The number of partial results is fixed in the source (64), so
 * the order of additions does not depend on the width of the vectors: lane i goes into partial i
 * % 64, and the partials are halved to one. */
#include "base/cpu.h"
#include "tile/machine/exec_reduce.h"

enum { PARTS = 64 };

#define ADD(x, y) ((x) + (y))
#define MAX_NUM(x, y) ((x) >= (y) || (y) != (y) ? (x) : (y))
#define MIN_NUM(x, y) ((x) <= (y) || (y) != (y) ? (x) : (y))

/* One loop adds rows of 64 lanes, the next halves the partials. L is a power of two. */
#define ROW_FN(name, OP) \
	static void name(float *o, const float *a, int64_t rows, int64_t L) \
	{ \
		for (int64_t r = 0; r < rows; r++, a += L) { \
			float part[PARTS]; \
			int64_t w = L < PARTS ? L : PARTS; \
			memcpy(part, a, (size_t)w * sizeof *part); \
			for (int64_t i = PARTS; i < L; i += PARTS) \
				for (int j = 0; j < PARTS; j++) \
					part[j] = OP(part[j], a[i + j]); \
			for (w /= 2; w >= 1; w /= 2) \
				for (int64_t j = 0; j < w; j++) \
					part[j] = OP(part[j], part[j + w]); \
			o[r] = part[0]; \
		} \
	}
ROW_FN(row_sum, ADD)
ROW_FN(row_max, MAX_NUM)
ROW_FN(row_min, MIN_NUM)

extern row_fn *const SIMD_FN(tile_row_fns)[TILE_COMBINES];
row_fn *const SIMD_FN(tile_row_fns)[TILE_COMBINES] = {
	[TILE_SUM] = row_sum, [TILE_MAX] = row_max, [TILE_MIN] = row_min,
};
