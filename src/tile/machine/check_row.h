/* Shadow memory of a row of neighbouring elements at once, for rows without anything to report. */
#ifndef TILE_MACHINE_CHECK_ROW_H
#define TILE_MACHINE_CHECK_ROW_H

#include <stdint.h>

#include "base/cpu.h"

#define SHADOW_FLAG 0x80000000u         /* writer: by an atomic; reader: several instances */

/* The cells of a row and the access that is being checked. Arrays start at the row's first cell. */
struct check_row {
	uint32_t *writer, *reader;      /* numbers of instances; up to `base`: nobody */
	uint16_t *wloc, *rloc;
	uint32_t me, base;              /* number of the current instance; last number of earlier runs */
	uint16_t loc;                   /* the instruction, as in struct shadow */
	int own; /* accesses of the same instance need a closer look too (lane marks) */
};

/* Marks n elements as read or written by `me` and returns 0. Returns 1 and changes nothing if one
 * of the elements needs a closer look. */
SIMD_DECLARE(int, check_row_read, (const struct check_row *c, int64_t n))
SIMD_DECLARE(int, check_row_write, (const struct check_row *c, int64_t n))

#endif
