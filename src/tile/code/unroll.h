/* Short loops written out, for the machine alone: the code that is printed, measured and modelled stays as it is. */
#ifndef TILE_CODE_UNROLL_H
#define TILE_CODE_UNROLL_H

#include "tile/code/ir.h"

/* c->funcs becomes a copy in which the kernel's `for` loops of a few rounds, known in number, are
 * written out, and what no longer depends on an outer loop stands before it. There are more
 * registers then, which only the copy uses. */
int tile_unroll(struct tile_code *c, struct err *e);

#endif
