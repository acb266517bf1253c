/* Kernels of convolutions: moving patches, and channels on their own. See conv.h. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "num/conv.h"

/* The outputs o in [0, n) of a row whose input i = o * stride + shift lies in [0, size). */
static inline void valid_range(int64_t n, int64_t stride, int64_t shift, int64_t size, int64_t *lo, int64_t *hi)
{
	*lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
	*hi = size > shift ? (size - shift + stride - 1) / stride : 0;
	*lo = MIN(*lo, n);
	*hi = MAX(*lo, MIN(*hi, n));
}

/* Where a tap meets the image: outputs o = lo..hi-1 of dimension d read input o * stride + shift.
 * Transposed: inputs lo..hi-1 add to output i * stride + shift. */
struct tap { int64_t lo[3], hi[3], shift[3]; };

static inline struct tap tap_of(const struct conv_geom *g, int64_t r, const int64_t *from, const int64_t *to)
{
	struct tap t;
	int64_t k[3] = { r / (g->k[1] * g->k[2]), r / g->k[2] % g->k[1], r % g->k[2] };

	for (int i = 0; i < 3; i++) {
		t.shift[i] = k[i] * g->dil[i] - g->lo[i];
		valid_range(from[i], g->stride[i], t.shift[i], to[i], &t.lo[i], &t.hi[i]);
	}
	return t;
}

#define TAPS(T)                                                                                               \
	/* One tap's row of patches: outputs [w0, w1) of output row (od, oh). */                              \
	static inline void tap_row_##T(T *restrict d, const T *restrict xc, const struct conv_geom *g,        \
				       const struct tap *t, int64_t od, int64_t oh, int64_t w0, int64_t w1)   \
	{                                                                                                     \
		int64_t s = g->stride[2], lo = MIN(MAX(t->lo[2], w0), w1), hi = MAX(lo, MIN(t->hi[2], w1));   \
		int64_t at = ((od * g->stride[0] + t->shift[0]) * g->in[1] + oh * g->stride[1] + t->shift[1]) * \
				     g->in[2] + t->shift[2];                                                  \
		if (od < t->lo[0] || od >= t->hi[0] || oh < t->lo[1] || oh >= t->hi[1]) {                     \
			memset(d, 0, (size_t)(w1 - w0) * sizeof *d);                                          \
			return;                                                                               \
		}                                                                                             \
		for (int64_t i = w0; i < lo; i++)                                                             \
			d[i - w0] = 0;                                                                        \
		for (int64_t i = lo; i < hi; i++)                                                             \
			d[i - w0] = xc[at + i * s];                                                           \
		for (int64_t i = hi; i < w1; i++)                                                             \
			d[i - w0] = 0;                                                                        \
	}                                                                                                     \
	/* One tap of one channel: n outputs from place (dd, h, w) on. */                                     \
	static inline void fill_tap_##T(T *d, const T *xc, const struct conv_geom *g, const struct tap *t,    \
					int64_t dd, int64_t h, int64_t w, int64_t n)                          \
	{                                                                                                     \
		int64_t W = g->out[2];                                                                        \
		for (int64_t at = 0; at < n; w = 0) {                                                         \
			int64_t m = MIN(W - w, n - at);                                                       \
			tap_row_##T(d + at, xc, g, t, dd, h, w, w + m);                                       \
			at += m;                                                                              \
			if (++h == g->out[1])                                                                 \
				h = 0, dd++;                                                                  \
		}                                                                                             \
	}
TAPS(float)
TAPS(double)
TAPS(int32_t)

/* Patches of small images: where each element comes from or goes to is found once for all
 * channels. For im2col, as the patches of an image of places (from 1 on; 0 is padding). */
enum { SMALL = 1024, SHORT = 12 };

static inline int is_small(const struct conv_geom *g, int64_t n)
{
	return g->out[2] <= SHORT && g->P <= SMALL && g->taps * n <= SMALL && g->Cg > 4;
}

/* The input positions of whole rows [first, first + n) that a tap adds to an output, and to
 * which: from[i] counts from `first`. Returns how many. */
static int64_t tap_places(const struct conv_geom *g, const struct tap *t, int64_t first, int64_t n, int32_t *from, int32_t *to)
{
	int64_t W = g->in[2], h = first / W % g->in[1], d = first / W / g->in[1], m = 0;

	for (int64_t row = 0; row < n; row += W) {
		int64_t at = ((d * g->stride[0] + t->shift[0]) * g->out[1] + h * g->stride[1] + t->shift[1]) * g->out[2] + t->shift[2];

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

#define CONV(T)                                                                                               \
	static void im2col_small_##T(T *restrict d, const T *restrict x, const struct conv_geom *g, const int32_t *restrict from, \
				     int64_t n)                                                               \
	{                                                                                                     \
		for (int64_t ch = 0; ch < g->Cg; ch++, x += g->P, d += n)                                     \
			for (int64_t i = 0; i < n; i++)                                                       \
				d[i] = from[i] ? x[from[i] - 1] : 0;                                          \
	}                                                                                                     \
	static void im2col_##T(void *cp, const void *xp, const struct conv_geom *g, int64_t first, int64_t n)  \
	{                                                                                                     \
		int64_t W = g->out[2], H = g->out[1], w = first % W, h = first / W % H, d = first / W / H;    \
		int32_t place[SMALL], from[SMALL];                                                            \
		int small = is_small(g, n);                                                                   \
		for (int32_t i = 0; small && i < g->P; i++)                                                   \
			place[i] = i + 1;                                                                     \
		for (int64_t r = 0; r < g->taps; r++) {                                                       \
			struct tap t = tap_of(g, r, g->out, g->in);                                           \
			if (small)                                                                            \
				fill_tap_int32_t(from + r * n, place, g, &t, d, h, w, n);                     \
			else                                                                                  \
				for (int64_t ch = 0; ch < g->Cg; ch++)                                        \
					fill_tap_##T((T *)cp + (ch * g->taps + r) * n, (const T *)xp + ch * g->P, g, &t, d, h, w, n); \
		}                                                                                             \
		if (small)                                                                                    \
			im2col_small_##T(cp, xp, g, from, g->taps * n);                                       \
	}                                                                                                     \
	static inline void add_row_##T(T *restrict yc, int64_t at, const T *restrict s, int64_t st, int64_t lo, \
				       int64_t hi)                                                            \
	{                                                                                                     \
		if (st == 1)                                                                                  \
			for (int64_t i = lo; i < hi; i++)                                                     \
				yc[at + i] += s[i];                                                           \
		else                                                                                          \
			for (int64_t i = lo; i < hi; i++)                                                     \
				yc[at + i * st] += s[i];                                                      \
	}                                                                                                     \
	/* Rows of input positions [first, first + n), whole ones, of one tap and channel. */                 \
	static inline void add_tap_##T(T *yc, const T *s, const struct conv_geom *g, const struct tap *t,     \
				       int64_t first, int64_t n)                                              \
	{                                                                                                     \
		int64_t W = g->in[2], h = first / W % g->in[1], d = first / W / g->in[1];                      \
		for (const T *end = s + n; s < end; s += W) {                                                 \
			if (d >= t->lo[0] && d < t->hi[0] && h >= t->lo[1] && h < t->hi[1])                   \
				add_row_##T(yc, ((d * g->stride[0] + t->shift[0]) * g->out[1] + h * g->stride[1] + \
						 t->shift[1]) * g->out[2] + t->shift[2], s, g->stride[2], t->lo[2], t->hi[2]); \
			if (++h == g->in[1])                                                                  \
				h = 0, d++;                                                                   \
		}                                                                                             \
	}                                                                                                     \
	static void col2im_##T(void *yp, const void *cp, const struct conv_geom *g, int64_t first, int64_t n)  \
	{                                                                                                     \
		int32_t from[SMALL], to[SMALL];                                                               \
		int small = g->in[2] <= SHORT && n <= SMALL && g->Og > 4 && g->Q < INT32_MAX;                 \
		for (int64_t r = 0; r < g->taps; r++) {                                                       \
			struct tap t = tap_of(g, r, g->in, g->out);                                           \
			int64_t m = small ? tap_places(g, &t, first, n, from, to) : 0;                        \
			for (int64_t ch = 0; ch < g->Og; ch++) {                                              \
				T *yc = (T *)yp + ch * g->Q;                                                  \
				const T *sc = (const T *)cp + (ch * g->taps + r) * n;                         \
				if (!small)                                                                   \
					add_tap_##T(yc, sc, g, &t, first, n);                                 \
				for (int64_t i = 0; i < m; i++)                                               \
					yc[to[i]] += sc[from[i]];                                             \
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
