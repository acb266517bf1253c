/* Trip counts: the loops of a kernel that run at all, and those that run more than one iteration,
 * as far as the integers of a launch decide it. Nothing is run: the cost is about that of reading
 * the code.
 *
 * The trip count is unknown if it depends on memory. If it depends on the program id, the first and
 * the last program instance are examined: a loop over the tiles of an instance has the most
 * iterations in the first, a loop over the rest of a diagonal has the most in the last. */
#ifndef TILE_CODE_TRIP_COUNT_H
#define TILE_CODE_TRIP_COUNT_H

#include "tile/tile.h"

/* Calls `more` for each loop with at least one iteration (2 * loop) and again for each with at
 * least two (2 * loop + 1), in the order of the code. Returns 0, or -1 when memory runs out. */
int tile_trip_counts(const struct tile_code *code, const struct tile_launch *l,
		     void (*more)(void *ctx, int loop), void *ctx, struct err *e);

#endif
