/* What forward and transposed convolution share: geometry in three spatial dimensions and the
 * kernels of conv.simd.c. A convolution of one or two dimensions has leading dimensions of
 * size 1. */
#ifndef NUM_CONV_H
#define NUM_CONV_H

#include <stdatomic.h>

#include "base/cpu.h"
#include "num/nn.h"

struct conv_geom {
	int64_t N, C, O, groups, Cg, Og;
	int64_t in[3], k[3], out[3];
	int64_t stride[3], lo[3], dil[3];
	int64_t P, Q, taps;                /* input positions, output positions, kernel volume */
};

struct conv_kernels {
	/* cols[K, n] = the patches of output positions [first, first + n) of image x [Cg, in]. */
	void (*im2col)(void *cols, const void *x, const struct conv_geom *g, int64_t first, int64_t n);
	/* y [Og, out] += the patches cols [Og * taps, n] of input positions [first, first + n), whole rows. */
	void (*col2im)(void *y, const void *cols, const struct conv_geom *g, int64_t first, int64_t n);
	/* y [out] += x [in] * w [taps]: one channel on its own. */
	void (*depthwise)(void *y, const void *x, const void *w, const struct conv_geom *g);
};

SIMD_DECLARE(const struct conv_kernels *, num_conv_kernels, (enum dtype carrier))

/* Operands in the carrier, dense; released by num_conv_release. */
struct conv_job {
	struct conv_geom g;
	const struct conv_kernels *k;
	struct tensor x, w, b, y;
	enum dtype carrier;
	int size;
	int64_t tile, tiles;
	_Atomic int failed;                /* a scratch buffer could not be had */
};

/* The product of three sizes, or an error where it is no number of 64 bits. */
int num_volume(const int64_t *size, int64_t *v, struct err *e);

int num_conv_prepare(struct num_ctx *c, struct conv_job *j, const struct tensor *x, const struct tensor *w,
		 const struct tensor *b, const struct num_conv *p, int transposed, struct err *e);
void num_conv_release(struct conv_job *j);
/* Every output channel starts as its bias, or 0. */
void num_conv_fill_bias(struct conv_job *j);
/* Bytes that a tile takes as columns of a matrix, for so many channels. */
int64_t num_conv_columns(const struct conv_job *j, int64_t channels);
/* The result as the caller gets it: dtype, and the shape of an input without batch. */
int num_conv_finish(struct num_ctx *c, struct tensor *out, struct conv_job *j, const struct tensor *x,
		    int nd, struct err *e);

#endif
