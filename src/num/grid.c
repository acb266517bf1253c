/* grid_sample: the values of an image at real-valued coordinates.
 *
 *     x [N, C, H, W] or [N, C, D, H, W]   grid [N, H', W', 2] or [N, D', H', W', 3]   y [N, C, H', W']
 *
 * A coordinate runs from -1 to 1 over the image, x first. All of it is computed in double and
 * rounded once. Images are treated as volumes of depth 1. */
#include <math.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"

/* One plane of the image and the options of the call. */
struct grid {
	const double *x;        /* one channel plane [D, H, W] */
	int nd;                 /* 2 or 3 coordinates */
	int64_t size[3];        /* D, H, W of the plane (leading 1) */
	enum num_interp mode;
	enum num_border border;
	/* align_corners: -1 and 1 are the centres of the edge pixels, else their outer edges */
	int align;
};

/* Coordinate v in [-1, 1] as a pixel position in a dimension of n pixels. */
static double unnormalise(const struct grid *g, double v, int64_t n)
{
	return g->align ? (v + 1) / 2 * (double)(n - 1) : ((v + 1) * (double)n - 1) / 2;
}

/* Reflects v into [lo2 / 2, hi2 / 2] as often as needed. The bounds are doubled because they
 * are half-integers without align_corners. */
static double reflect(double v, double lo2, double hi2)
{
	double lo = lo2 / 2, span = (hi2 - lo2) / 2, extra, flips;

	if (lo2 == hi2)
		return 0;
	v = fabs(v - lo);
	extra = fmod(v, span);
	flips = floor(v / span);
	return fmod(flips, 2) == 0 ? extra + lo : span - extra + lo;
}

/* Applies the padding mode to one pixel position. Zero padding leaves it outside; pixel()
 * gives 0 there. */
static double bring_inside(const struct grid *g, double v, int64_t n)
{
	if (g->border == BORDER_REFLECT)
		v = g->align ? reflect(v, 0, 2 * (double)(n - 1)) : reflect(v, -1, 2 * (double)n - 1);
	if (g->border != BORDER_ZEROS)
		v = fmin(fmax(v, 0), (double)(n - 1));
	return v;
}

/* The pixel at [d, h, w], or 0 outside the plane. */
static double pixel(const struct grid *g, const int64_t *at)
{
	for (int i = 0; i < 3; i++)
		if (at[i] < 0 || at[i] >= g->size[i])
			return 0;
	return g->x[(at[0] * g->size[1] + at[1]) * g->size[2] + at[2]];
}

/* Trilinear mean of the eight surrounding pixels; a plane of depth 1 has weight 1 at depth 0.
 * Corners of weight 0 are skipped, so that an infinite pixel there does not give NaN. */
static double linear(const struct grid *g, const double *pos)
{
	double s = 0;

	for (int corner = 0; corner < 8; corner++) {
		int64_t at[3];
		double w = 1;

		for (int i = 0; i < 3; i++) {
			double f = floor(pos[i]), t = pos[i] - f;

			at[i] = (int64_t)f + (corner >> i & 1);
			w *= corner >> i & 1 ? t : 1 - t;
		}
		if (w != 0)
			s += w * pixel(g, at);
	}
	return s;
}

/* Cubic convolution kernel with a = -0.75, as in PyTorch; k is 0 to 3, t the fraction. */
static double cubic_weight(int k, double t)
{
	double a = -0.75, d = fabs(t - (double)(k - 1));

	return d < 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Bicubic mean of 4 x 4 pixels. The padding mode applies to each of the 16 positions, not to
 * the centre. */
static double cubic(const struct grid *g, const double *pos)
{
	double fy = floor(pos[1]), fx = floor(pos[2]), s = 0;

	for (int j = 0; j < 4; j++)
		for (int i = 0; i < 4; i++) {
			double y = bring_inside(g, fy - 1 + j, g->size[1]), x = bring_inside(g, fx - 1 + i, g->size[2]);
			int64_t at[3] = { 0, (int64_t)y, (int64_t)x };

			s += cubic_weight(j, pos[1] - fy) * cubic_weight(i, pos[2] - fx) * pixel(g, at);
		}
	return s;
}

/* The value at one coordinate. NaN, infinite and huge positions become -100, outside of every
 * image, because their conversion to an integer is undefined. "nearest" rounds ties to even. */
static double sample(const struct grid *g, const double *coords)
{
	double pos[3] = { 0 };

	for (int i = 0; i < g->nd; i++) {       /* coordinates come as x, y, (z) */
		int d = 2 - i;

		pos[d] = unnormalise(g, coords[i], g->size[d]);
		if (g->mode != INTERP_CUBIC)
			pos[d] = bring_inside(g, pos[d], g->size[d]);
		if (!isfinite(pos[d]) || fabs(pos[d]) > 1e15)
			pos[d] = -100;
	}
	if (g->mode == INTERP_CUBIC)
		return cubic(g, pos);
	if (g->mode == INTERP_LINEAR)
		return linear(g, pos);
	return pixel(g, (int64_t[]){ (int64_t)nearbyint(pos[0]), (int64_t)nearbyint(pos[1]),
				     (int64_t)nearbyint(pos[2]) });
}

/* Charges 8 units per result. PyTorch's checks and messages. */
int num_grid_sample(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		    const struct tensor *grid,
		    enum num_interp mode, enum num_border border, int align, struct err *e)
{
	struct grid g = { .nd = x->ndim - 2, .mode = mode, .border = border, .align = align,
			  .size = { 1, 1, 1 } };
	struct tensor d = { .st = NULL }, gr = { .st = NULL }, y = { .st = NULL };
	int64_t shape[TENSOR_DIMS], C, points = 1, plane = 1;
	int rc = -1;

	if ((x->ndim != 4 && x->ndim != 5) || grid->ndim != x->ndim ||
	    grid->shape[0] != x->shape[0] ||
	    grid->shape[grid->ndim - 1] != x->ndim - 2)
		return err_set(e, ERR_STATE,
			       "grid_sampler(): expected grid and input to have same batch size "
			       "and grid to have size %d in last dimension, but got input with "
			       "sizes %s and grid with sizes %s",
			       x->ndim - 2, SHAPE_TEXT(x->ndim, x->shape),
			       SHAPE_TEXT(grid->ndim, grid->shape));
	if (mode == INTERP_CUBIC && g.nd == 3)
		return err_set(e, ERR_STATE, "grid_sampler(): bicubic interpolation only supports 4D input");
	C = x->shape[1];
	shape[0] = x->shape[0];
	shape[1] = C;
	/* Sizes are aligned at the right in three dimensions: an image becomes a volume of
	 * depth 1. */
	for (int i = 0; i < g.nd; i++) {
		g.size[3 - g.nd + i] = x->shape[2 + i];
		plane *= x->shape[2 + i];
		points *= shape[2 + i] = grid->shape[1 + i];
	}
	if (num_as(c, &d, x, DT_F64, e) || num_as(c, &gr, grid, DT_F64, e) ||
	    num_new(c, &y, DT_F64, x->ndim, shape, e) ||
	    num_charge(c, (uint64_t)(shape[0] * C) * (uint64_t)points * 8, e))
		goto out;
	for (int64_t i = 0; i < shape[0] * C && points && !c->hollow; i++) {
		g.x = (double *)tensor_data(&d) + i * plane;
		for (int64_t p = 0; p < points; p++)
			((double *)tensor_data(&y))[i * points + p] =
				sample(&g, (double *)tensor_data(&gr) + (i / C * points + p) * g.nd);
	}
	if (num_settle(c, &y, x->dt, e))
		goto out;
	*out = y;
	y.st = NULL;
	rc = 0;
out:
	tensor_release(&d);
	tensor_release(&gr);
	tensor_release(&y);
	return rc;
}
