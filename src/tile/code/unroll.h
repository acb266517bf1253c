/* Unrolls short loops, only in the code that the machine runs. The code that is printed, measured
 * and estimated keeps its loops. */
#ifndef TILE_CODE_UNROLL_H
#define TILE_CODE_UNROLL_H

#include "tile/code/ir.h"

/* Replaces c->funcs by a copy in which `for` loops of the kernel with a small constant trip count
 * are unrolled, and operations that no longer depend on an outer loop are in front of it. The copy
 * uses additional registers. Returns 0, or -1 when memory runs out. */
int tile_unroll(struct tile_code *c, struct err *e);

#endif
