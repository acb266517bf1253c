/* Rows of shadow memory. */
#ifndef TILE_MACHINE_CHECK_ROW_H
#define TILE_MACHINE_CHECK_ROW_H

#include <stdint.h>

#include "base/cpu.h"

#define SHADOW_FLAG 0x80000000u         /* writer: by an atomic; reader: several programs */

struct check_row {
	uint32_t *writer, *reader;      /* program numbers; none if not above base */
	uint16_t *wloc, *rloc;
	uint32_t me, base;
	uint16_t loc;
	int own;                        /* what the same program did needs a closer look, too */
};

/* Marks n elements as read or written by `me`. 0, or 1 without any change if one of them needs a
 * closer look. */
SIMD_DECLARE(int, check_row_read, (const struct check_row *c, int64_t n))
SIMD_DECLARE(int, check_row_write, (const struct check_row *c, int64_t n))

#endif
