/* Noise in the last place, for runs that show what rounding does to a program. */
#ifndef INTERP_JITTER_H
#define INTERP_JITTER_H

#include "base/cpu.h"
#include "base/rng.h"
#include "tensor/dtype.h"

/* One step in the last place up or down, by chance, for every float of n; zero, infinities and NaN
 * stay, and no step makes one. Other types stay as they are. */
SIMD_DECLARE(void, jitter_floats, (enum dtype dt, struct rng *r, void *data, size_t n))

/* A step in the last place of one, up or down by chance, for every float below one; but no value changes its
 * sign by it, as a logarithm may follow. */
SIMD_DECLARE(void, jitter_near_one, (struct rng *r, float *p, size_t n))

#endif
