/* Rounding noise: moves floats by one unit in the last place, to show what rounding does to a
 * program. */
#ifndef INTERP_JITTER_H
#define INTERP_JITTER_H

#include "base/cpu.h"
#include "base/rng.h"
#include "tensor/dtype.h"

/* Moves each of n floats up or down by one unit in the last place, or not, at random. Zero,
 * infinities and NaN stay, and no step reaches infinity. Other dtypes stay unchanged. */
SIMD_DECLARE(void, jitter_floats, (enum dtype dt, struct rng *r, void *data, size_t n))

/* Moves each float below 1 by one unit in the last place of 1.0, up or down at random. No value
 * changes its sign, as a logarithm may follow. */
SIMD_DECLARE(void, jitter_near_one, (struct rng *r, float *p, size_t n))

#endif
