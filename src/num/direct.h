/* Direct convolution: sums of shifted copies of the input, without a patch matrix.
 *
 * The input of one image and group is copied once into a padded buffer that is split by the
 * phases of the strides. In that layout every output position q (flat, with some unused
 * positions between the rows) takes element q + offset of the buffer for each term (channel,
 * tap). Forward and transposed convolutions of any stride and dilation become one inner loop
 * over terms, for a few output channels and a few vectors of positions at a time. */
#ifndef NUM_DIRECT_H
#define NUM_DIRECT_H

#include "base/cpu.h"
#include "num/conv.h"

enum { DIRECT_TERMS = 512 };            /* terms of a partial sum: shorter chains round less */

/* out[o, i] = sum over t of w[t, o] x[offset[t] + i] for o < block, i < n. */
typedef void direct_fn(float *out, const float *x, const int32_t *offset, const float *w,
		       int64_t terms, int64_t n);

/* The inner loop of one instruction set and its sizes. */
struct direct_kernel {
	direct_fn *run;
	int block;              /* output channels at a time; w is padded to it */
	int chunk;              /* most positions at a time; out has rows of this length */
	int lanes;              /* positions are computed in multiples of this */
};

/* `single`: for one or two output channels per group. */
SIMD_DECLARE(const struct direct_kernel *, num_direct_kernel, (int single))

/* Is the direct path the better one for the job? Positions between rows and zeros around a
 * small input can cost many times the work of a product with patches. */
int num_direct_fits(const struct conv_job *j, int transposed);
/* Adds the convolution to j->y, which already holds the bias. */
void num_direct_run(struct num_ctx *c, struct conv_job *j, int transposed);

#endif
