/* Shared by forward and transposed convolution: the geometry in three spatial dimensions, the
 * kernels of conv.simd.c, and the job. A convolution of one or two dimensions has leading
 * dimensions of size 1. */
#ifndef NUM_CONV_H
#define NUM_CONV_H

#include <stdatomic.h>

#include "base/cpu.h"
#include "num/nn.h"

/* Sizes of one convolution. */
struct conv_geom {
	/* batch, input and output channels, groups, channels per group */
	int64_t N, C, O, groups, Cg, Og;
	int64_t in[3], k[3], out[3];    /* spatial sizes of input, kernel and output */
	int64_t stride[3], lo[3], dil[3];    /* lo: padding in front */
	int64_t P, Q, taps;             /* input positions, output positions, kernel volume */
};

struct conv_kernels {
	/* cols [Cg * taps, n] = the patches of output positions [first, first + n) of the
	 * image x [Cg, in]. */
	void (*im2col)(void *cols, const void *x, const struct conv_geom *g, int64_t first,
		       int64_t n);
	/* y [Og, out] += the patches cols [Og * taps, n] of input positions [first, first +
	 * n), which are whole rows. */
	void (*col2im)(void *y, const void *cols, const struct conv_geom *g, int64_t first,
		       int64_t n);
	/* y [out] += x [in] * w [taps] for one channel. */
	void (*depthwise)(void *y, const void *x, const void *w, const struct conv_geom *g);
};

SIMD_DECLARE(const struct conv_kernels *, num_conv_kernels, (enum dtype carrier))

/* One convolution as its threads see it. The tensors are dense and in the carrier;
 * num_conv_release releases them. */
struct conv_job {
	struct conv_geom g;
	const struct conv_kernels *k;
	struct tensor x, w, b, y;
	enum dtype carrier;     /* float32 or float64 */
	int size;               /* bytes of an element of the carrier */
	int64_t tile, tiles;    /* positions of a patch matrix; such matrices per image and group */
	_Atomic int failed;     /* a thread could not get its scratch buffer */
};

/* The product of three sizes; an error if it exceeds 64 bits. */
int num_volume(const int64_t *size, int64_t *v, struct err *e);

/* Checks and converts the operands and makes y without contents. num_conv_release is due even
 * after a failure. */
int num_conv_prepare(struct num_ctx *c, struct conv_job *j, const struct tensor *x,
		     const struct tensor *w, const struct tensor *b, const struct num_conv *p,
		     int transposed, struct err *e);
void num_conv_release(struct conv_job *j);
/* Fills every output channel with its bias, or 0. */
void num_conv_fill_bias(struct conv_job *j);
/* Bytes of the patch matrix of a tile for that many channels. */
int64_t num_conv_columns(const struct conv_job *j, int64_t channels);
/* Moves the result to *out: in x's dtype, without the dimensions that x does not have. */
int num_conv_finish(struct num_ctx *c, struct tensor *out, struct conv_job *j,
		    const struct tensor *x, int nd, struct err *e);

#endif
