/* Pooling over windows and adaptive pooling: shapes, checks, and the loop over planes. The
 * loops over a plane are in pooling.simd.c. Three spatial dimensions always; fewer have
 * leading sizes of 1. */
#include "num/pooling.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/conv.h"
#include "num/reduce.h"

/* One call. A plane is one channel of one image. */
struct pool_job {
	struct pool_geom g;
	const struct pool_kernels *k;
	struct tensor x, y, index;    /* dense; x, y in the carrier; index i64 or none */
	int64_t planes;
	int size, max;          /* size: bytes of an element; max: largest element, else mean */
};

/* floor((in + 2 pad - extent) / stride) + 1, or ceil in ceil_mode, with extent = dil * (k -
 * 1) + 1. The division rounds to minus infinity, as PyTorch's, so that too large a kernel
 * gives 0 or less. */
static int64_t out_size(int64_t in, int64_t k, int64_t stride, int64_t pad, int64_t dil,
			int ceil_mode)
{
	int64_t span = in + 2 * pad - dil * (k - 1) - 1 + (ceil_mode ? stride - 1 : 0);
	int64_t n = (span < 0 ? -((-span + stride - 1) / stride) : span / stride) + 1;

	/* In ceil_mode the last window must start inside the input or its left padding. */
	if (ceil_mode && (n - 1) * stride >= in + pad)
		n--;
	return n;
}

/* Ranks and parameters, with PyTorch's messages. */
static int pool_check(const struct tensor *x, const struct num_pool *p, const char *name,
		      struct err *e)
{
	if (x->ndim != p->nd + 1 && x->ndim != p->nd + 2)
		return err_set(e, ERR_STATE, "%s%dd(): Expected %dD or %dD input tensor, but got %s", name,
			       p->nd, p->nd + 1, p->nd + 2, SHAPE_TEXT(x->ndim, x->shape));
	if (p->nd == 2 && x->shape[x->ndim - 3] == 0)
		return err_set(e, ERR_STATE,
			       "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch "
			       "size for input, but got:%s", SHAPE_TEXT(x->ndim, x->shape));
	for (int i = 0; i < p->nd; i++) {
		if (p->kernel[i] <= 0)
			return err_set(e, ERR_STATE, "kernel size should be greater than zero, but got %lld",
				       (long long)p->kernel[i]);
		if (p->stride[i] <= 0)
			return err_set(e, ERR_STATE, "stride should be greater than zero, but got %lld",
				       (long long)p->stride[i]);
		if (p->dilation[i] <= 0)
			return err_set(e, ERR_STATE, "dilation should be greater than zero, but got %lld",
				       (long long)p->dilation[i]);
		if (p->pad[i] < 0 || p->pad[i] > ((p->kernel[i] - 1) * p->dilation[i] + 1) / 2)
			return err_set(e, ERR_STATE,
				       "pad should be at most half of effective kernel size, but "
				       "got pad=%lld, kernel_size=%lld and dilation=%lld",
				       (long long)p->pad[i], (long long)p->kernel[i],
				       (long long)p->dilation[i]);
	}
	return 0;
}

/* Fills the geometry and counts the planes. */
static int pool_geometry(struct pool_job *j, const struct tensor *x, const struct num_pool *p,
			 struct err *e)
{
	struct pool_geom *g = &j->g;
	int lead = 3 - p->nd, first = x->ndim - p->nd;

	*g = (struct pool_geom){ .include_pad = p->count_include_pad, .divisor = p->divisor };
	for (int i = 0; i < 3; i++) {
		int own = i >= lead, q = i - lead;

		g->in[i] = own ? x->shape[first + q] : 1;
		g->k[i] = own ? p->kernel[q] : 1;
		g->stride[i] = own ? p->stride[q] : 1;
		g->pad[i] = own ? p->pad[q] : 0;
		g->dil[i] = own ? p->dilation[q] : 1;
		g->out[i] = out_size(g->in[i], g->k[i], g->stride[i], g->pad[i], g->dil[i],
				     p->ceil_mode);
		if (g->out[i] < 1)
			return err_set(e, ERR_STATE,
				       "Given input size: %s. Calculated output size: %s. Output size is too small",
				       SHAPE_TEXT(p->nd + 1, x->shape + first - 1),
				       SHAPE_TEXT(p->nd, g->out + lead));
	}
	if (num_volume(g->in, &g->P, e) || num_volume(g->out, &g->Q, e))
		return -1;
	j->planes = 1;
	for (int i = 0; i < first; i++)
		j->planes *= x->shape[i];
	return 0;
}

/* Thread body: planes [begin, end). */
static void pool_range(void *ctx, size_t begin, size_t end)
{
	struct pool_job *j = ctx;
	const struct pool_geom *g = &j->g;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		char *y = (char *)tensor_data(&j->y) + i * g->Q * j->size;
		const char *x = (char *)tensor_data(&j->x) + i * g->P * j->size;

		if (j->max)
			j->k->max(y, j->index.st ? (int64_t *)tensor_data(&j->index) + i * g->Q : NULL, x, g);
		else
			j->k->avg(y, x, g);
	}
}

/* x's shape with its last nd sizes replaced by those of the output. */
static void result_shape(const struct tensor *x, int nd, const int64_t *out3, int64_t *shape)
{
	for (int i = 0; i < x->ndim; i++)
		shape[i] = i < x->ndim - nd ? x->shape[i] : out3[3 - nd + i - (x->ndim - nd)];
}

/* Releases the tensors of a job; returns -1 for the error path. */
static int drop(struct pool_job *j)
{
	tensor_release(&j->x);
	tensor_release(&j->y);
	tensor_release(&j->index);
	return -1;
}

/* Moves the results of the job to the caller, converted to `dt`, and releases the rest. */
static int hand_over(struct num_ctx *c, struct pool_job *j, enum dtype dt, struct tensor *out,
		     struct tensor *index, struct err *e)
{
	if (num_settle(c, &j->y, dt, e))
		return drop(j);
	*out = j->y;
	j->y.st = NULL;
	if (index) {
		*index = j->index;
		j->index.st = NULL;
	}
	drop(j);
	return 0;
}

/* Element visits. A window that exceeds the input visits the input only. */
static uint64_t pool_work(const struct pool_job *j)
{
	uint64_t work = (uint64_t)(j->planes * j->g.Q);

	for (int i = 0; i < 3; i++)
		work *= (uint64_t)MIN(j->g.k[i], j->g.in[i]);
	return work;
}

/* Max or average pooling. Max pooling takes integers, averaging does not. */
static int run_pool(struct num_ctx *c, struct tensor *out, struct tensor *index,
		    const struct tensor *x, const struct num_pool *p, int max, struct err *e)
{
	struct pool_job j = { .max = max };
	enum dtype carrier = dtype_carrier(x->dt);
	int64_t shape[TENSOR_DIMS];

	if (pool_check(x, p, max ? "max_pool" : "avg_pool", e) || pool_geometry(&j, x, p, e))
		return -1;
	if (!max && !dtype_is_float(x->dt))
		return err_set(e, ERR_STATE, "\"avg_pool%dd\" not implemented for '%s'", p->nd,
			       num_type_name(x->dt));
	result_shape(x, p->nd, j.g.out, shape);
	j.k = SIMD_PICK(num_pool_kernels)(carrier);
	j.size = dtype_size(carrier);
	if (num_as(c, &j.x, x, carrier, e) || num_new(c, &j.y, carrier, x->ndim, shape, e) ||
	    (index && num_new(c, &j.index, DT_I64, x->ndim, shape, e)) ||
	    num_charge(c, pool_work(&j), e))
		return drop(&j);
	pool_for(c->pool, (size_t)j.planes, 4, pool_range, &j);
	return hand_over(c, &j, x->dt, out, index, e);
}

/* index gets the flat position of each maximum within its input plane; it may be NULL. */
int num_max_pool(struct num_ctx *c, struct tensor *out, struct tensor *index,
		 const struct tensor *x, const struct num_pool *p, struct err *e)
{
	return run_pool(c, out, index, x, p, 1, e);
}

/* The divisor is p->divisor, else the size of the window, with or without its padding part. */
int num_avg_pool(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		 const struct num_pool *p, struct err *e)
{
	return run_pool(c, out, NULL, x, p, 0, e);
}

/* --- adaptive ------------------------------------------------------------------------------------ */

/* Adaptive pooling, output o of `out` over `in` inputs: the window [floor(o in / out),
 * ceil((o + 1) in / out)). Windows overlap if `out` does not divide `in`. The form o / out *
 * in + ... avoids overflow. */
static int64_t window_start(int64_t o, int64_t out, int64_t in)
{
	return o / out * in + o % out * in / out;
}

/* One past the last input of the window. */
static int64_t window_end(int64_t o, int64_t out, int64_t in)
{
	return 1 + ((o + 1) * in - 1) / out;
}

/* One output: the mean or the largest element of a box of plane x; *at gets the position of
 * the largest. The first of equal elements wins and a NaN wins over all. */
static double box(enum dtype dt, const void *x, const struct pool_geom *g, const int64_t *o,
		  int max, int64_t *at)
{
	int64_t lo[3], hi[3];
	double s = max ? -INFINITY : 0;

	*at = -1;
	for (int i = 0; i < 3; i++) {
		lo[i] = window_start(o[i], g->out[i], g->in[i]);
		hi[i] = window_end(o[i], g->out[i], g->in[i]);
	}
	for (int64_t d = lo[0]; d < hi[0]; d++)
		for (int64_t h = lo[1]; h < hi[1]; h++)
			for (int64_t w = lo[2]; w < hi[2]; w++) {
				int64_t p = (d * g->in[1] + h) * g->in[2] + w;
				double v = dt == DT_F32 ? (double)((const float *)x)[p] : ((const double *)x)[p];

				if (!max)
					s += v;
				else if (*at < 0 || v > s || isnan(v)) {
					s = v;
					*at = p;
				}
			}
	return max ? s : s / (double)((hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]));
}

/* Thread body: planes [begin, end). */
static void adaptive_range(void *ctx, size_t begin, size_t end)
{
	struct pool_job *j = ctx;
	const struct pool_geom *g = &j->g;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		const char *x = (char *)tensor_data(&j->x) + i * g->P * j->size;

		for (int64_t q = 0; q < g->Q; q++) {
			int64_t o[3] = { q / (g->out[1] * g->out[2]), q / g->out[2] % g->out[1],
					 q % g->out[2] }, at;
			double v = box(j->x.dt, x, g, o, j->max, &at);

			dtype_store(j->y.dt, (char *)tensor_data(&j->y) + (i * g->Q + q) * j->size, v);
			if (j->index.st)
				((int64_t *)tensor_data(&j->index))[i * g->Q + q] = at;
		}
	}
}

/* size[i] < 0 keeps the size of the input. */
static int adaptive_geometry(struct pool_job *j, const struct tensor *x, int nd,
			     const int64_t *size, struct err *e)
{
	int lead = 3 - nd, first = x->ndim - nd;

	if (x->ndim != nd + 1 && x->ndim != nd + 2)
		return err_set(e, ERR_STATE, "adaptive_pool%dd(): Expected %dD or %dD tensor, but got %s",
			       nd, nd + 1, nd + 2, SHAPE_TEXT(x->ndim, x->shape));
	for (int i = 0; i < 3; i++) {
		j->g.in[i] = i >= lead ? x->shape[first + i - lead] : 1;
		j->g.out[i] = i < lead ? 1 : size[i - lead] < 0 ? j->g.in[i] : size[i - lead];
		if (j->g.in[i] == 0)
			return err_set(e, ERR_STATE,
				       "adaptive_pool%dd(): Expected input to have non-zero size "
				       "for non-batch dimensions, but input has sizes %s",
				       nd, SHAPE_TEXT(x->ndim, x->shape));
	}
	if (num_volume(j->g.in, &j->g.P, e) || num_volume(j->g.out, &j->g.Q, e))
		return -1;
	j->planes = 1;
	for (int i = 0; i < first; i++)
		j->planes *= x->shape[i];
	return 0;
}

/* One result per plane is a plain reduction. */
static int whole_plane(struct num_ctx *c, struct tensor *out, const struct tensor *x, int nd,
		       int max, struct err *e)
{
	struct num_dims d = { .n = nd };

	for (int i = 0; i < nd; i++)
		d.v[i] = x->ndim - nd + i;
	return max ? num_amax(c, out, x, &d, 1, e) : num_mean(c, out, x, &d, 1, -1, e);
}

/* If the output sizes divide the input sizes, adaptive pooling is plain pooling with kernel =
 * stride. Returns 1 and fills *p in that case. */
static int equal_windows(const struct pool_geom *g, int nd, struct num_pool *p)
{
	*p = (struct num_pool){ .nd = nd, .dilation = { 1, 1, 1 } };
	for (int i = 0; i < nd; i++) {
		int d = 3 - nd + i;

		if (g->out[d] == 0 || g->in[d] % g->out[d])
			return 0;
		p->kernel[i] = p->stride[i] = g->in[d] / g->out[d];
	}
	return 1;
}

/* Takes the fastest of three ways: reduction, plain pooling, boxes. An index needs boxes. */
int num_adaptive_pool(struct num_ctx *c, struct tensor *out, struct tensor *index,
		      const struct tensor *x, int nd, const int64_t *size, int max, struct err *e)
{
	struct pool_job j = { .max = max };
	struct num_pool p;
	enum dtype carrier = dtype_carrier(x->dt);
	int64_t shape[TENSOR_DIMS];

	if (!dtype_is_float(x->dt))
		return err_set(e, ERR_STATE, "\"adaptive_pool%dd\" not implemented for '%s'", nd,
			       num_type_name(x->dt));
	if (adaptive_geometry(&j, x, nd, size, e))
		return -1;
	for (int i = x->ndim - nd - 1; i < x->ndim && max; i++)
		if (x->shape[i] == 0)
			return err_set(e, ERR_STATE,
				       "adaptive_max_pool%dd(): Expected input to have non-zero "
				       "size for non-batch dimensions, but input has sizes %s "
				       "with dimension %d being empty", nd,
				       SHAPE_TEXT(x->ndim, x->shape), i);
	if (!index && j.g.Q == 1)
		return whole_plane(c, out, x, nd, max, e);
	if (!index && tensor_numel(x) && equal_windows(&j.g, nd, &p))
		return run_pool(c, out, NULL, x, &p, max, e);
	result_shape(x, nd, j.g.out, shape);
	j.size = dtype_size(carrier);
	if (num_as(c, &j.x, x, carrier, e) || num_new(c, &j.y, carrier, x->ndim, shape, e) ||
	    (index && num_new(c, &j.index, DT_I64, x->ndim, shape, e)) ||
	    num_charge(c, (uint64_t)tensor_numel(x), e))
		return drop(&j);
	pool_for(c->pool, (size_t)j.planes, 16, adaptive_range, &j);
	return hand_over(c, &j, x->dt, out, index, e);
}
