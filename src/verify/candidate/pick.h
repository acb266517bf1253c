/* Which programs of a launch are run where not all are: the first, the last, the last of the first
 * axis, others that nobody can know before, and those that the kernel names. */
#ifndef VERIFY_CANDIDATE_PICK_H
#define VERIFY_CANDIDATE_PICK_H

#include "tile/tile.h"

enum { PICK_DRAWN = 3, PICK_NAMED = 12, PICK_MOST = 3 + PICK_DRAWN + PICK_NAMED };

/* Gives how many; the first of the grid comes first. */
int pick_programs(uint64_t seed, const struct tile_code *code, const struct tile_launch *l, int64_t v[PICK_MOST]);
/* Where the program is among n; -1: it is not. */
int pick_index(const int64_t *v, int n, int64_t program);

#endif
