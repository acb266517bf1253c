/* Folding: the lanes of a tile as instances of their own.
 *
 * An index that was rounded, such as float(pid * 64 + tl.arange(0, 64)) beyond 2^24, is not linear in the lane. If each
 * lane counts as an instance, it is a number: a grid of 100 instances becomes 6400 instances of one lane. The other
 * dimensions of the tile stay variables. */
#ifndef TILE_SLICE_SLICE_FOLD_H
#define TILE_SLICE_SLICE_FOLD_H

#include "tile/code/ir.h"

/* Finds ranges of one size that a quotient, remainder or float depends on and that appear along one dimension of each
 * tile only; two dimensions could not be folded into one lane. Marks these instructions. Returns their number of lanes,
 * 0 if nothing suits, -1 if memory runs out. */
int64_t slice_fold_find(const struct tile_code *code, const uint8_t *needed, uint8_t *folded);

#endif
