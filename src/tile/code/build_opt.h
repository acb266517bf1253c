/* Small improvements to tile code. They keep its meaning and the source line of each instruction.
 * The result is verified again. */
#ifndef TILE_CODE_BUILD_OPT_H
#define TILE_CODE_BUILD_OPT_H

#include "tile/code/ir.h"

/* Assigns loop-carried registers directly, removes operations whose results are never read and
 * moves invariant operations out of loops. Code that is not well-formed is left to the verifier to
 * reject. */
int tile_build_optimise(struct tile_code *code, struct err *e);
/* The second and third of these passes for one function: removes unused operations and moves
 * invariant operations of its loops in front of them. */
int tile_build_hoist(const struct tile_code *code, struct tile_func *f, struct err *e);

#endif
