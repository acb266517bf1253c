/* Loops over the lanes of a pointer whose addresses are written out. */
#ifndef TILE_EXEC_LANES_H
#define TILE_EXEC_LANES_H

#include <stdint.h>

#include "base/cpu.h"

/* Of the lanes that are on: how many, the least and the greatest address, the bits of all. */
struct lanes_extent {
	int64_t active, min, max, bits;
};

/* `on` NULL: all lanes are. */
SIMD_DECLARE(void, lanes_extent, (const int64_t *addr, const unsigned char *on, int64_t n, struct lanes_extent *out))
/* The least and the greatest of n > 0 lanes. */
SIMD_DECLARE(void, lanes_range32, (const int32_t *v, int64_t n, int64_t *lo, int64_t *hi))
/* out[i] = base + offset[i] * scale, where `addr` is NULL; else addr[i] in place of base. */
SIMD_DECLARE(void, lanes_offset32, (int64_t *out, const int64_t *addr, int64_t base, const int32_t *offset, int64_t scale, int64_t n))
SIMD_DECLARE(void, lanes_offset64, (int64_t *out, const int64_t *addr, int64_t base, const int64_t *offset, int64_t scale, int64_t n))

#endif
