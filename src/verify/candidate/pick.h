/* Which instances of a launch are sampled: the first, the last, the last of the first axis, some that
 * nobody can know before, and those that constants of the kernel point to. */
#ifndef VERIFY_CANDIDATE_PICK_H
#define VERIFY_CANDIDATE_PICK_H

#include "tile/tile.h"

enum { PICK_DRAWN = 3, PICK_NAMED = 12, PICK_MOST = 3 + PICK_DRAWN + PICK_NAMED };

/* Fills v with different instances, the first of the grid first, and returns how many there are. */
int pick_programs(uint64_t seed, const struct tile_code *code, const struct tile_launch *l, int64_t v[PICK_MOST]);
/* The index of an instance among n; -1: it is not there. */
int pick_index(const int64_t *v, int n, int64_t program);

#endif
