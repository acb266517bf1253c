/* Loops over the lanes of a pointer that is DENSE or NEAR. `on` is the mask; NULL means all lanes
 * are on. */
#ifndef TILE_MACHINE_EXEC_LANES_H
#define TILE_MACHINE_EXEC_LANES_H

#include <stdint.h>

#include "base/cpu.h"

struct replay_row;

/* Counts the active lanes. *outside is set if one of them is not a multiple of `size` (a power of
 * two), or is not within base .. base + most. */
SIMD_DECLARE(int64_t, lanes_within, (const int64_t *addr, const unsigned char *on, int64_t n, int64_t base,
				     int64_t most, int size, int *outside))
/* out[i] = the four bytes at addr[i], for the lanes that are on. */
SIMD_DECLARE(void, lanes_gather32, (uint32_t *out, const int64_t *addr, const unsigned char *on, int64_t n))
/* out[i] = the four bytes at base + 4 * offset[i], or `other` where the lane is off. */
SIMD_DECLARE(void, lanes_near32, (uint32_t *out, const char *base, const int32_t *offset,
				  const unsigned char *on, int64_t n, uint32_t other))
/* Counts the active lanes. *outside is set if the offset of one of them is below lo or above hi. */
SIMD_DECLARE(int64_t, lanes_between, (const int32_t *offset, const unsigned char *on, int64_t n, int32_t lo,
				      int32_t hi, int *outside))
/* out[i] = (offset[i] - first) * scale, REPLAY_OFF where the lane is off. */
SIMD_DECLARE(void, lanes_apart, (int32_t *out, const int32_t *offset, const unsigned char *on, int64_t n,
				 int32_t first, int32_t scale))
/* out[i] = addr[i] - first, REPLAY_OFF where the lane is off. Returns -1 if a difference does not
 * fit. */
SIMD_DECLARE(int, lanes_distance, (int32_t *out, const int64_t *addr, const unsigned char *on, int64_t n,
				   int64_t first))
/* Loads the lanes of a replay's footprint: by rows, or by lane with REPLAY_OFF where the lane is
 * off. */
SIMD_DECLARE(void, lanes_rows32, (uint32_t *out, const char *from, const struct replay_row *rows, int64_t n))
SIMD_DECLARE(void, lanes_offsets32, (uint32_t *out, const char *from, const int32_t *offset, int64_t n))
/* sum[i] += x * by, where x is the footprint's lane i, or `off` where that lane is off. */
SIMD_DECLARE(void, lanes_tap, (float *sum, int64_t n, const char *from, const struct replay_row *rows,
			       int64_t n_rows, float by, float off))
/* The least and the greatest of n > 0 lanes. */
SIMD_DECLARE(void, lanes_range32, (const int32_t *v, int64_t n, int32_t *lo, int32_t *hi))
/* out[i] = a[i] + b[i]. No sum may overflow. */
SIMD_DECLARE(void, lanes_add32, (int32_t *out, const int32_t *a, const int32_t *b, int64_t n))
/* out[i] = base + offset[i] * scale; with `addr`, addr[i] + offset[i] * scale. */
SIMD_DECLARE(void, lanes_offset32, (int64_t *out, const int64_t *addr, int64_t base, const int32_t *offset,
				    int64_t scale, int64_t n))
SIMD_DECLARE(void, lanes_offset64, (int64_t *out, const int64_t *addr, int64_t base, const int64_t *offset,
				    int64_t scale, int64_t n))

#endif
