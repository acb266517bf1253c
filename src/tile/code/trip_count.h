/* Which loops of a kernel go round at all, and which more than once, as far as the integers of a
 * launch tell it. Nothing is run: it costs about what it costs to read the code. What hangs on
 * memory is not known. Of what hangs on the number of a program the first and the last are looked
 * at: a loop over the tiles of a program goes round most often in the first, one over what is left
 * of a diagonal in the last. */
#ifndef TILE_CODE_TRIP_COUNT_H
#define TILE_CODE_TRIP_COUNT_H

#include "tile/tile.h"

/* Tells `more` a number for each such loop and turn, in the order of the code. 0, -1. */
int tile_trip_counts(const struct tile_code *code, const struct tile_launch *l,
		     void (*more)(void *ctx, int loop), void *ctx, struct err *e);

#endif
