/* Resampling of images (F.interpolate): one dimension at a time, each output a weighted sum
 * of at most four inputs. Weights are computed in double; sums are kept in double and rounded
 * once per dimension.
 *
 *     x [N, C, in...]   y [N, C, size...]
 *
 * "area" is adaptive pooling (torch_image.c), antialiasing is not supported. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"

/* The inputs of one output along a dimension, and their weights. Unused entries have weight 0
 * and index 0. */
struct tap { int64_t at[4]; double w[4]; };

/* The cubic convolution kernel for distances below 1 and from 1 to 2. */
static double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
static double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

/* Weights of the four neighbours at fraction t; a = -0.75, as in PyTorch's bicubic mode. */
static void cubic_weights(double t, double w[4])
{
	w[0] = cubic_far(t + 1, -0.75);
	w[1] = cubic_near(t, -0.75);
	w[2] = cubic_near(1 - t, -0.75);
	w[3] = cubic_far(2 - t, -0.75);
}

/* The real-valued input position of output o. Without align_corners pixels are areas, so
 * centres lie at + 0.5; the linear modes clamp negative positions to 0, the cubic one does
 * not. */
static double source(int64_t o, double scale, int align, int cubic)
{
	double s;

	if (align)
		return scale * (double)o;
	s = scale * ((double)o + 0.5) - 0.5;
	return s < 0 && !cubic ? 0 : s;
}

/* i limited to [0, n). */
static int64_t clip(int64_t i, int64_t n)
{
	return MIN(MAX(i, 0), n - 1);
}

/* The inputs and weights of output o over a line of n inputs. PyTorch scales in float for
 * float data, and the nearest modes must round as it does to pick the same input. */
static struct tap tap_of(int64_t o, int64_t n, double scale, enum num_interp mode, int align)
{
	struct tap t = { .w = { 1 } };
	double s, f;
	int64_t i;

	if (mode == INTERP_NEAREST || mode == INTERP_NEAREST_EXACT) {
		float at = mode == INTERP_NEAREST ? (float)o * (float)scale : ((float)o + 0.5f) * (float)scale;

		t.at[0] = MIN((int64_t)floorf(at), n - 1);
		return t;
	}
	s = source(o, scale, align, mode == INTERP_CUBIC);
	i = (int64_t)floor(s);
	f = s - (double)i;
	if (mode == INTERP_LINEAR) {
		i = MIN(i, n - 1);
		t.at[0] = i;
		t.at[1] = MIN(i + 1, n - 1);
		t.w[0] = 1 - f;
		t.w[1] = f;
		return t;
	}
	cubic_weights(f, t.w);
	for (int k = 0; k < 4; k++)
		t.at[k] = clip(i - 1 + k, n);
	return t;
}

/* Input step per output. `scale` is the scale_factor of the call if it is to be used (> 0),
 * else the ratio of the sizes. */
static double step_of(int64_t in, int64_t out, double scale, int align, enum num_interp mode)
{
	if (align && mode >= INTERP_LINEAR)
		return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
	return scale > 0 ? 1 / scale : (double)in / (double)out;
}

/* y [outer, out, inner] from x [outer, in, inner]; t has one entry per output. The loop over
 * inner vectorises. */
#define RESAMPLE(T)                                                                                         \
	static void resample_##T(T *restrict y, const T *restrict x, int64_t outer, int64_t in, int64_t out,  \
				 int64_t inner, const struct tap *t, int taps)                              \
	{                                                                                                   \
		for (int64_t r = 0; r < outer; r++)                                                         \
			for (int64_t o = 0; o < out; o++) {                                                 \
				const T *x0 = x + (r * in + t[o].at[0]) * inner, \
					*x1 = x + (r * in + t[o].at[1]) * inner; \
				const T *x2 = x + (r * in + t[o].at[2]) * inner, \
					*x3 = x + (r * in + t[o].at[3]) * inner; \
				const double *w = t[o].w;                                                   \
				T *to = y + (r * out + o) * inner;                                          \
				if (taps == 1)                                                              \
					memcpy(to, x0, (size_t)inner * sizeof *to);                         \
				else if (taps == 2)                                                         \
					for (int64_t k = 0; k < inner; k++)                                 \
						to[k] = (T)(w[0] * (double)x0[k] + w[1] * (double)x1[k]);   \
				else                                                                        \
					for (int64_t k = 0; k < inner; k++)                                 \
						to[k] = (T)(w[0] * (double)x0[k] + w[1] * (double)x1[k] +   \
							    w[2] * (double)x2[k] + w[3] * (double)x3[k]);   \
			}                                                                                   \
	}
RESAMPLE(float)
RESAMPLE(double)

/* One dimension of the image, from x to y. */
static int resample(struct num_ctx *c, struct tensor *y, const struct tensor *x, int dim,
		    double step, enum num_interp mode, int align, struct err *e)
{
	int64_t outer = 1, inner = 1, in = x->shape[dim], out = y->shape[dim];
	int taps = mode == INTERP_CUBIC ? 4 : mode == INTERP_LINEAR ? 2 : 1;
	struct tap *t;

	if (!tensor_numel(y))
		return 0;
	if (!(t = num_array(c, out, sizeof *t, e)))
		return -1;
	for (int i = 0; i < x->ndim; i++)
		if (i != dim)
			*(i < dim ? &outer : &inner) *= x->shape[i];
	for (int64_t o = 0; o < out; o++)
		t[o] = tap_of(o, in, step, mode, align);
	if (y->dt == DT_F32)
		resample_float(tensor_data(y), tensor_data(x), outer, in, out, inner, t, taps);
	else
		resample_double(tensor_data(y), tensor_data(x), outer, in, out, inner, t, taps);
	mem_free(t);
	return 0;
}

/* size [nd]: the sizes of the result; scale [nd] or NULL. */
int num_interpolate(struct num_ctx *c, struct tensor *out, const struct tensor *x, int nd,
		    const int64_t *size,
		    const double *scale, enum num_interp mode, int align, struct err *e)
{
	struct tensor now;

	if (x->ndim != nd + 2)
		return err_set(e, ERR_STATE,
			       "Input and output must have the same number of spatial "
			       "dimensions, but got input with spatial dimensions of %s and "
			       "output size of %s.",
			       SHAPE_TEXT(MAX(x->ndim - 2, 0), x->shape + 2), SHAPE_TEXT(nd, size));
	if (!dtype_is_float(x->dt))
		return err_set(e, ERR_STATE, "\"compute_indices_weights_linear\" not implemented for '%s'",
			       num_type_name(x->dt));
	if (x->shape[1] == 0)
		return err_set(e, ERR_STATE,
			       "Non-empty %dD data tensor expected but got a tensor with sizes %s",
			       x->ndim, SHAPE_TEXT(x->ndim, x->shape));
	if (num_as(c, &now, x, dtype_carrier(x->dt), e))
		return -1;
	for (int d = nd - 1; d >= 0; d--) {    /* the last dimension first */
		int64_t shape[TENSOR_DIMS], in = now.shape[d + 2];
		struct tensor next = { .st = NULL };
		int rc;

		memcpy(shape, now.shape, sizeof shape);
		shape[d + 2] = size[d];
		if (in <= 0 || size[d] <= 0)
			rc = err_set(e, ERR_STATE,
				     "Input and output sizes should be greater than 0, but got "
				     "input (%lld) output (%lld)",
				     (long long)in, (long long)size[d]);
		else
			rc = num_new(c, &next, now.dt, now.ndim, shape, e) ||
			     (c->hollow ? 0 :
			      resample(c, &next, &now, d + 2,
				       step_of(in, size[d], scale ? scale[d] : 0, align, mode),
				       mode, align, e));
		tensor_release(&now);
		now = next;
		if (rc) {
			tensor_release(&now);
			return -1;
		}
	}
	if (num_settle(c, &now, x->dt, e))
		return -1;
	*out = now;
	return 0;
}
