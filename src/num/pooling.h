/* The interface between pooling.c and its kernels (pooling.simd.c). Always three spatial
 * dimensions. */
#ifndef NUM_POOLING_H
#define NUM_POOLING_H

#include "base/cpu.h"
#include "num/nn.h"

/* Sizes of one pool. */
struct pool_geom {
	int64_t in[3], k[3], out[3], stride[3], pad[3], dil[3];
	int64_t P, Q;           /* input and output positions of a plane */
	int include_pad;        /* an average counts padding */
	int64_t divisor;        /* fixed divisor of an average, or 0 */
};

struct pool_kernels {
	/* One plane x [in] to y [out]; index gets flat input positions and may be NULL. */
	void (*max)(void *y, int64_t *index, const void *x, const struct pool_geom *g);
	void (*avg)(void *y, const void *x, const struct pool_geom *g);
};

SIMD_DECLARE(const struct pool_kernels *, num_pool_kernels, (enum dtype carrier))

#endif
