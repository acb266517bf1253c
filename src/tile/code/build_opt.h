/* Small improvements to tile code before it is verified; meaning and lines stay. */
#ifndef TILE_CODE_BUILD_OPT_H
#define TILE_CODE_BUILD_OPT_H

#include "tile/code/ir.h"

/* Assigns loop-carried registers directly and drops operations nobody reads. Code that is not
 * well-formed is left for the verifier to reject. */
int tile_build_optimise(struct tile_code *code, struct err *e);
/* Drops operations of a function that nobody reads, and moves those of its loops that do not depend
 * on them before them. */
int tile_build_hoist(const struct tile_code *code, struct tile_func *f, struct err *e);

#endif
