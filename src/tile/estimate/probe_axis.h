/* What Triton's compiler knows of the values along each dimension of a tile: see probe_axis.c. */
#ifndef TILE_ESTIMATE_PROBE_AXIS_H
#define TILE_ESTIMATE_PROBE_AXIS_H

#include "tile/machine/machine.h"

struct axis_info {
	int64_t divisible;              /* the first value is a multiple of it */
	int32_t contiguous[TILE_DIMS];  /* neighbours go up by one in runs of so many */
	int32_t constant[TILE_DIMS];    /* or are equal */
};

/* Of the result of an instruction that was just walked, from what is known of its sources; `info` is by register. */
void axis_step(const struct machine *m, const struct tile_insn *in, struct axis_info *info);
/* Of an argument of the kernel. */
void axis_param(struct axis_info *info, int pointer, int64_t value, int size);

#endif
