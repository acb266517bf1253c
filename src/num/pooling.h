/* Kernels of pooling, between pooling.simd.c and pooling.c. Three spatial dimensions always. */
#ifndef NUM_POOLING_H
#define NUM_POOLING_H

#include "base/cpu.h"
#include "num/nn.h"

struct pool_geom {
	int64_t in[3], k[3], out[3], stride[3], pad[3], dil[3];
	int64_t P, Q;
	int include_pad;
	int64_t divisor;
};

struct pool_kernels {
	/* One plane x [in] to y [out]; index (or NULL) gets flat input positions. */
	void (*max)(void *y, int64_t *index, const void *x, const struct pool_geom *g);
	void (*avg)(void *y, const void *x, const struct pool_geom *g);
};

SIMD_DECLARE(const struct pool_kernels *, num_pool_kernels, (enum dtype carrier))

#endif
