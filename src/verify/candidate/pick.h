/* Picks the instances of a launch that are sampled: the first, the last, the last of the first
 * axis, a few random ones that a candidate cannot predict, and some of every class of instances. */
#ifndef VERIFY_CANDIDATE_PICK_H
#define VERIFY_CANDIDATE_PICK_H

#include "tile/slice/slice.h"

enum { PICK_DRAWN = 3, PICK_MOST = 3 + PICK_DRAWN + SLICE_PICKS };

/* Fills v with distinct instances, a drawn one first. Returns their number. The slice has
 * the classes of this launch; NULL: they are not known. */
int pick_programs(uint64_t seed, const struct tile_launch *l, const struct slice_call *slice, int64_t v[PICK_MOST]);
/* A drawn share of a grid, in [0, 1): the place of the first instance in every launch of a call.
 * Launches that work on the same rows in order then work on the same row. */
double pick_share(uint64_t seed);
/* Returns the index of an instance in v, or -1 if v does not contain it. */
int pick_index(const int64_t *v, int n, int64_t program);

#endif
