/* Picks the instances of a launch that are sampled: the first, the last, the last of the first
 * axis, a few random ones that a candidate cannot predict, and those that constants of the kernel
 * point to. */
#ifndef VERIFY_CANDIDATE_PICK_H
#define VERIFY_CANDIDATE_PICK_H

#include "tile/tile.h"

enum { PICK_DRAWN = 3, PICK_NAMED = 12, PICK_MOST = 3 + PICK_DRAWN + PICK_NAMED };

/* Fills v with distinct instances, beginning with the first of the grid. Returns their number. */
int pick_programs(uint64_t seed, const struct tile_code *code, const struct tile_launch *l, int64_t v[PICK_MOST]);
/* Returns the index of an instance in v, or -1 if v does not contain it. */
int pick_index(const int64_t *v, int n, int64_t program);

#endif
