/* Resampling of images: one dimension at a time, each output a weighted sum of at most four
 * inputs. Weights are computed in double; sums are kept in double and rounded per dimension. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "host/num/nn.h"
#include "host/num/shape.h"

struct tap { int64_t at[4]; double w[4]; };

static double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
static double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

/* Catmull-Rom-like kernel with a = -0.75, as PyTorch's bicubic. */
static void cubic_weights(double t, double w[4])
{
	w[0] = cubic_far(t + 1, -0.75);
	w[1] = cubic_near(t, -0.75);
	w[2] = cubic_near(1 - t, -0.75);
	w[3] = cubic_far(2 - t, -0.75);
}

static double source(int64_t o, double scale, int align, int cubic)
{
	double s;

	if (align)
		return scale * (double)o;
	s = scale * ((double)o + 0.5) - 0.5;
	return s < 0 && !cubic ? 0 : s;
}

static int64_t clip(int64_t i, int64_t n)
{
	return MIN(MAX(i, 0), n - 1);
}

/* What output o takes from a line of n inputs. PyTorch scales in float for float data: the
 * nearest modes must round as it does to pick the same input. */
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

static double step_of(int64_t in, int64_t out, double scale, int align, enum num_interp mode)
{
	if (align && mode >= INTERP_LINEAR)
		return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
	return scale > 0 ? 1 / scale : (double)in / (double)out;
}

static double get(const struct tensor *t, int64_t i)
{
	return t->dt == DT_F32 ? (double)((float *)tensor_data(t))[i] : ((double *)tensor_data(t))[i];
}

/* y [outer, out, inner] from x [outer, in, inner]. */
static void resample(struct tensor *y, const struct tensor *x, int64_t outer, int64_t in, int64_t out, int64_t inner,
		     double step, enum num_interp mode, int align)
{
	int taps = mode == INTERP_CUBIC ? 4 : mode == INTERP_LINEAR ? 2 : 1;

	for (int64_t o = 0; o < out; o++) {
		struct tap t = tap_of(o, in, step, mode, align);

		for (int64_t r = 0; r < outer; r++)
			for (int64_t k = 0; k < inner; k++) {
				double s = 0;

				for (int j = 0; j < taps; j++)
					s += t.w[j] * get(x, (r * in + t.at[j]) * inner + k);
				if (y->dt == DT_F32)
					((float *)tensor_data(y))[(r * out + o) * inner + k] = (float)s;
				else
					((double *)tensor_data(y))[(r * out + o) * inner + k] = s;
			}
	}
}

int num_interpolate(struct num_ctx *c, struct tensor *out, const struct tensor *x, int nd, const int64_t *size,
		    const double *scale, enum num_interp mode, int align, struct err *e)
{
	struct tensor now;

	if (x->ndim != nd + 2)
		return err_set(e, ERR_STATE, "Input and output must have the same number of spatial dimensions, but got input with spatial "
					     "dimensions of %s and output size of %s.",
			       SHAPE_TEXT(MAX(x->ndim - 2, 0), x->shape + 2), SHAPE_TEXT(nd, size));
	if (!dtype_is_float(x->dt))
		return err_set(e, ERR_STATE, "\"compute_indices_weights_linear\" not implemented for '%s'", num_type_name(x->dt));
	if (num_as(c, &now, x, dtype_carrier(x->dt), e))
		return -1;
	for (int d = 0; d < nd; d++) {
		int64_t shape[TENSOR_DIMS], outer = 1, inner = 1, in = now.shape[d + 2];
		struct tensor next;

		if (in <= 0 || size[d] <= 0) {
			tensor_release(&now);
			return err_set(e, ERR_STATE, "Input and output sizes should be greater than 0, but got input (%lld) output (%lld)",
				       (long long)in, (long long)size[d]);
		}
		memcpy(shape, now.shape, sizeof shape);
		for (int i = 0; i < now.ndim; i++)
			if (i != d + 2)
				*(i < d + 2 ? &outer : &inner) *= shape[i];
		shape[d + 2] = size[d];
		if (num_new(c, &next, now.dt, now.ndim, shape, e)) {
			tensor_release(&now);
			return -1;
		}
		resample(&next, &now, outer, in, size[d], inner, step_of(in, size[d], scale ? scale[d] : 0, align, mode), mode, align);
		tensor_release(&now);
		now = next;
	}
	if (num_settle(c, &now, x->dt, e))
		return -1;
	*out = now;
	return 0;
}
