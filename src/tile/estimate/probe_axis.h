/* The knowledge of Triton's compiler about the values along each dimension of a tile: see
 * probe_axis.c. */
#ifndef TILE_ESTIMATE_PROBE_AXIS_H
#define TILE_ESTIMATE_PROBE_AXIS_H

#include "tile/machine/machine.h"

/* arange(0, 128) * 4 + 64 has divisible 64, contiguous 1, constant 1. */
struct axis_info {
	int64_t divisible;              /* the first value of each run is a multiple of it */
	int32_t contiguous[TILE_DIMS];  /* length of runs whose neighbours differ by one */
	int32_t constant[TILE_DIMS];    /* length of runs of equal values */
};

/* Sets the information of an instruction's result from that of its sources; `info` is by
 * register. */
void axis_step(const struct machine *m, const struct tile_insn *in, struct axis_info *info);
/* Sets the information of a kernel argument; `size` is the bytes of a pointer's element. */
void axis_param(struct axis_info *info, int pointer, int64_t value, int size);

#endif
