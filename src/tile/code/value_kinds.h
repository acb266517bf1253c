/* What kind of numbers a kernel makes of the sizes of a launch: is a quotient nought, which of two
 * is the smaller, does a comparison hold? A kernel that does the same at two sizes makes the same
 * kinds at both. Nothing is run: it costs about what it costs to read the code. What hangs on
 * memory is not known; of what hangs on the number of a program or a lane, only what it can be is. */
#ifndef TILE_CODE_VALUE_KINDS_H
#define TILE_CODE_VALUE_KINDS_H

#include "tile/tile.h"

/* Tells each kind: where it was made, and which it is. 0, -1. */
int tile_value_kinds(const struct tile_code *code, const struct tile_launch *l,
		     void (*tell)(void *ctx, int place, int kind), void *ctx, struct err *e);

#endif
