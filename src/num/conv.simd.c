/* Convolution kernels that are compiled once per instruction set: im2col, col2im and
 * depthwise sums (see conv.h). The loops over elements are templates in conv_taps.inc and
 * conv_patch.inc. They move or add values in a fixed order, so results do not depend on the
 * instruction set. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "num/conv.h"

/* The outputs o in [0, n) whose input position o * stride + shift lies in [0, size): [*lo,
 * *hi). Example: n 4, stride 2, shift -1, size 7 gives [1, 4): output 0 would read position
 * -1. */
static inline void valid_range(int64_t n, int64_t stride, int64_t shift, int64_t size, int64_t *lo,
			       int64_t *hi)
{
	*lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
	*hi = size > shift ? (size - shift + stride - 1) / stride : 0;
	*lo = MIN(*lo, n);
	*hi = MAX(*lo, MIN(*hi, n));
}

/* A tap is one position of the kernel. For each dimension, outputs lo..hi-1 read input o *
 * stride + shift. In the transposed direction, inputs lo..hi-1 add to output i * stride +
 * shift. */
struct tap { int64_t lo[3], hi[3], shift[3]; };

/* Tap number r, counted with the last dimension fastest. `from` are the sizes of the side
 * that is walked, `to` those of the side that is read (forward) or added to (transposed). */
static inline struct tap tap_of(const struct conv_geom *g, int64_t r, const int64_t *from,
				const int64_t *to)
{
	struct tap t;
	int64_t k[3] = { r / (g->k[1] * g->k[2]), r / g->k[2] % g->k[1], r % g->k[2] };

	for (int i = 0; i < 3; i++) {
		t.shift[i] = k[i] * g->dil[i] - g->lo[i];
		valid_range(from[i], g->stride[i], t.shift[i], to[i], &t.lo[i], &t.hi[i]);
	}
	return t;
}

#define T float
#include "num/conv_taps.inc"
#define T double
#include "num/conv_taps.inc"
#define T int32_t
#include "num/conv_taps.inc"

/* Patches of small images with many channels: the source of each patch element is found once
 * and reused for all channels. im2col finds it by making patches of an "image" of position
 * numbers, counted from 1; 0 means padding. SMALL limits the index arrays, SHORT is the row
 * length below which row loops are dominated by their overhead. */
enum { SMALL = 1024, SHORT = 12 };

/* Does a tile of n output positions qualify for the index arrays? */
static inline int is_small(const struct conv_geom *g, int64_t n)
{
	return g->out[2] <= SHORT && g->P <= SMALL && g->taps * n <= SMALL && g->Cg > 4;
}

/* For whole input rows [first, first + n): the inputs that a tap adds to some output. from[i]
 * is relative to `first`, to[i] is the flat output position. Returns how many there are. */
static int64_t tap_positions(const struct conv_geom *g, const struct tap *t, int64_t first,
			     int64_t n,
			  int32_t *from, int32_t *to)
{
	int64_t W = g->in[2], h = first / W % g->in[1], d = first / W / g->in[1], m = 0;

	for (int64_t row = 0; row < n; row += W) {
		int64_t at = ((d * g->stride[0] + t->shift[0]) * g->out[1] + h * g->stride[1] + t->shift[1]) *
			g->out[2] + t->shift[2];

		if (d >= t->lo[0] && d < t->hi[0] && h >= t->lo[1] && h < t->hi[1])
			for (int64_t i = t->lo[2]; i < t->hi[2]; i++) {
				from[m] = (int32_t)(row + i);
				to[m++] = (int32_t)(at + i * g->stride[2]);
			}
		if (++h == g->in[1])
			h = 0, d++;
	}
	return m;
}

#define T float
#include "num/conv_patch.inc"
#define T double
#include "num/conv_patch.inc"

/* The kernels for a carrier; only float and double have convolutions. */
const struct conv_kernels *SIMD_FN(num_conv_kernels)(enum dtype carrier)
{
	static const struct conv_kernels f32 = { im2col_float, col2im_float, depthwise_float };
	static const struct conv_kernels f64 = { im2col_double, col2im_double, depthwise_double };

	return carrier == DT_F32 ? &f32 : &f64;
}
