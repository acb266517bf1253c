/* Kernels of convolutions: moving patches, and channels on their own. See conv.h. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "host/num/conv.h"

/* The outputs o in [0, n) of a row whose input i = o * stride + shift lies in [0, size). */
static inline void valid_range(int64_t n, int64_t stride, int64_t shift, int64_t size, int64_t *lo, int64_t *hi)
{
	*lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
	*hi = size > shift ? (size - shift + stride - 1) / stride : 0;
	*lo = MIN(*lo, n);
	*hi = MAX(*lo, MIN(*hi, n));
}

#define CONV(T)                                                                                               \
	/* One tap's row of patches: output positions [ow0, ow1) of output row (od, oh). */                   \
	static inline void tap_row_##T(T *restrict d, const T *restrict xc, const struct conv_geom *g,        \
				       const int64_t tap[3], int64_t od, int64_t oh, int64_t ow0, int64_t ow1) \
	{                                                                                                     \
		int64_t id = od * g->stride[0] + tap[0] * g->dil[0] - g->lo[0];                               \
		int64_t ih = oh * g->stride[1] + tap[1] * g->dil[1] - g->lo[1];                               \
		int64_t shift = tap[2] * g->dil[2] - g->lo[2] + ow0 * g->stride[2], s = g->stride[2];         \
		int64_t n = ow1 - ow0, lo, hi;                                                                \
		const T *row;                                                                                 \
		if (id < 0 || id >= g->in[0] || ih < 0 || ih >= g->in[1]) {                                   \
			memset(d, 0, (size_t)n * sizeof *d);                                                  \
			return;                                                                               \
		}                                                                                             \
		row = xc + (id * g->in[1] + ih) * g->in[2];                                                   \
		valid_range(n, s, shift, g->in[2], &lo, &hi);                                                 \
		for (int64_t i = 0; i < lo; i++)                                                              \
			d[i] = 0;                                                                             \
		if (s == 1)                                                                                   \
			memcpy(d + lo, row + lo + shift, (size_t)(hi - lo) * sizeof *d);                      \
		else                                                                                          \
			for (int64_t i = lo; i < hi; i++)                                                     \
				d[i] = row[i * s + shift];                                                    \
		for (int64_t i = hi; i < n; i++)                                                              \
			d[i] = 0;                                                                             \
	}                                                                                                     \
	static void im2col_##T(void *cp, const void *xp, const struct conv_geom *g, int64_t first, int64_t n)  \
	{                                                                                                     \
		T *cols = cp;                                                                                 \
		const T *x = xp;                                                                              \
		int64_t W = g->out[2];                                                                        \
		for (int64_t k = 0; k < g->Cg * g->taps; k++) {                                               \
			int64_t ch = k / g->taps, r = k % g->taps;                                            \
			int64_t tap[3] = { r / (g->k[1] * g->k[2]), r / g->k[2] % g->k[1], r % g->k[2] };      \
			for (int64_t q = first; q < first + n;) {                                             \
				int64_t ow = q % W, row = q / W, m = MIN(W - ow, first + n - q);              \
				tap_row_##T(cols + k * n + (q - first), x + ch * g->P, g, tap,                \
					    row / g->out[1], row % g->out[1], ow, ow + m);                    \
				q += m;                                                                       \
			}                                                                                     \
		}                                                                                             \
	}                                                                                                     \
	/* Transposed: geometry's `in` is the input's, outputs are hit at i * stride + tap - lo. */            \
	static inline void add_row_##T(T *restrict yc, const T *restrict s, const struct conv_geom *g,        \
				       const int64_t tap[3], int64_t id, int64_t ih, int64_t iw0, int64_t n)   \
	{                                                                                                     \
		int64_t od = id * g->stride[0] + tap[0] * g->dil[0] - g->lo[0];                               \
		int64_t oh = ih * g->stride[1] + tap[1] * g->dil[1] - g->lo[1];                               \
		int64_t shift = tap[2] * g->dil[2] - g->lo[2] + iw0 * g->stride[2], st = g->stride[2], lo, hi; \
		T *row;                                                                                       \
		if (od < 0 || od >= g->out[0] || oh < 0 || oh >= g->out[1])                                   \
			return;                                                                               \
		row = yc + (od * g->out[1] + oh) * g->out[2];                                                 \
		valid_range(n, st, shift, g->out[2], &lo, &hi);                                               \
		if (st == 1)                                                                                  \
			for (int64_t i = lo; i < hi; i++)                                                     \
				row[i + shift] += s[i];                                                       \
		else                                                                                          \
			for (int64_t i = lo; i < hi; i++)                                                     \
				row[i * st + shift] += s[i];                                                  \
	}                                                                                                     \
	static void col2im_##T(void *yp, const void *cp, const struct conv_geom *g, int64_t first, int64_t n)  \
	{                                                                                                     \
		T *y = yp;                                                                                    \
		const T *cols = cp;                                                                           \
		int64_t W = g->in[2];                                                                         \
		for (int64_t k = 0; k < g->Og * g->taps; k++) {                                               \
			int64_t ch = k / g->taps, r = k % g->taps;                                            \
			int64_t tap[3] = { r / (g->k[1] * g->k[2]), r / g->k[2] % g->k[1], r % g->k[2] };      \
			for (int64_t q = first; q < first + n;) {                                             \
				int64_t iw = q % W, row = q / W, m = MIN(W - iw, first + n - q);              \
				add_row_##T(y + ch * g->Q, cols + k * n + (q - first), g, tap,                \
					    row / g->in[1], row % g->in[1], iw, m);                           \
				q += m;                                                                       \
			}                                                                                     \
		}                                                                                             \
	}                                                                                                     \
	static inline void tap_mul_##T(T *restrict y, const T *restrict row, T w, int64_t s, int64_t shift,    \
				       int64_t lo, int64_t hi)                                                \
	{                                                                                                     \
		if (s == 1)                                                                                   \
			for (int64_t i = lo; i < hi; i++)                                                     \
				y[i] += w * row[i + shift];                                                   \
		else                                                                                          \
			for (int64_t i = lo; i < hi; i++)                                                     \
				y[i] += w * row[i * s + shift];                                               \
	}                                                                                                     \
	static void depthwise_##T(void *yp, const void *xp, const void *wp, const struct conv_geom *g)         \
	{                                                                                                     \
		const T *x = xp, *w = wp;                                                                     \
		for (int64_t r = 0; r < g->out[0] * g->out[1]; r++) {                                         \
			T *y = (T *)yp + r * g->out[2];                                                       \
			for (int64_t t = 0; t < g->taps; t++) {                                               \
				int64_t kd = t / (g->k[1] * g->k[2]), kh = t / g->k[2] % g->k[1], kw = t % g->k[2]; \
				int64_t id = r / g->out[1] * g->stride[0] + kd * g->dil[0] - g->lo[0];        \
				int64_t ih = r % g->out[1] * g->stride[1] + kh * g->dil[1] - g->lo[1];        \
				int64_t shift = kw * g->dil[2] - g->lo[2], lo, hi;                            \
				if (id < 0 || id >= g->in[0] || ih < 0 || ih >= g->in[1])                     \
					continue;                                                             \
				valid_range(g->out[2], g->stride[2], shift, g->in[2], &lo, &hi);              \
				tap_mul_##T(y, x + (id * g->in[1] + ih) * g->in[2], w[t], g->stride[2], shift, lo, hi); \
			}                                                                                     \
		}                                                                                             \
	}
CONV(float)
CONV(double)

const struct conv_kernels *SIMD_FN(num_conv_kernels)(enum dtype carrier)
{
	static const struct conv_kernels f32 = { im2col_float, col2im_float, depthwise_float };
	static const struct conv_kernels f64 = { im2col_double, col2im_double, depthwise_double };

	return carrier == DT_F32 ? &f32 : &f64;
}
