/* Convolutions: the shapes and checks of all of them, and the forward ones.
 *
 *     y[n, o, q] = b[o] + sum over c, t of w[o, c, t] x[n, c, q * stride + t * dilation - pad]
 *     x [N, C, in...]   w [O, C / groups, k...]   b [O]   y [N, O, out...]
 *
 * Most float convolutions are direct (direct.c). The others are matrix products: the patches
 * of a tile of output positions are laid out as a matrix [Cg * taps, tile] that stays in the
 * cache, and BLAS multiplies the weights [Og, Cg * taps] with it. A kernel of one position
 * needs no patches, and a group of one channel (depthwise) no product. Transposed
 * convolutions are in convt.c and share the geometry, the checks and the job of this file. */
#include "num/conv.h"

#include "num/direct.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { TILE_BYTES = 512 * 1024 };       /* of a patch matrix: fits a second-level cache */

/* --- shapes and checks ---------------------------------------------------------------------- */

/* Ranks, dtypes and parameters. All messages are PyTorch's. */
static int check_operands(const struct tensor *x, const struct tensor *w, const struct tensor *b,
			  const struct num_conv *p, int transposed, struct err *e)
{
	int nd = p->nd;
	const char *name = transposed ? "conv_transpose" : "conv";

	if (w->ndim != nd + 2)
		return err_set(e, ERR_STATE, "Expected %dD weight for %s%dd, but got weight of size: %s",
			       nd + 2, name, nd, SHAPE_TEXT(w->ndim, w->shape));
	if (x->ndim != nd + 1 && x->ndim != nd + 2)
		return err_set(e, ERR_STATE,
			       "Expected %dD (unbatched) or %dD (batched) input to %s%dd, but got input of size: %s",
			       nd + 1, nd + 2, name, nd, SHAPE_TEXT(x->ndim, x->shape));
	if (x->dt != w->dt)
		return err_set(e, ERR_STATE, "Input type (%s) and weight type (%s) should be the same",
			       num_type_name(x->dt), num_type_name(w->dt));
	if (!dtype_is_float(x->dt))
		return err_set(e, ERR_STATE, "\"slow_conv\" not implemented for '%s'",
			       num_type_name(x->dt));
	if (p->groups <= 0)
		return err_set(e, ERR_STATE, "non-positive groups is not supported");
	for (int i = 0; i < nd; i++) {
		if (p->stride[i] <= 0)
			return err_set(e, ERR_STATE, "non-positive stride is not supported");
		if (p->lo[i] < 0 || p->hi[i] < 0)
			return err_set(e, ERR_STATE, "negative padding is not supported");
		if (p->dilation[i] <= 0)
			return err_set(e, ERR_STATE, "dilation should be greater than zero");
		if (w->shape[i + 2] == 0)
			return err_set(e, ERR_STATE, "weight should have at least one element");
	}
	if (b && b->dt != x->dt)
		return err_set(e, ERR_STATE, "Input type (%s) and bias type (%s) should be the same",
			       num_c_name(x->dt), num_c_name(b->dt));
	return 0;
}

/* "groups=2" in `out`, which has 40 bytes; returns `out`. */
static const char *groups_text(char *out, int64_t groups)
{
	snprintf(out, 40, "groups=%lld", (long long)groups);
	return out;
}

/* Channels of x against those of w, and the length of b. A forward weight is [O, C / groups,
 * ...], a transposed one [C, O / groups, ...]. */
static int check_channels(const struct tensor *x, const struct tensor *w, const struct tensor *b,
			  const struct conv_geom *g, int transposed, struct err *e)
{
	int64_t in_per_weight = transposed ? w->shape[0] : w->shape[1] * g->groups;

	if (!transposed && w->shape[0] % g->groups)
		return err_set(e, ERR_STATE,
			       "Given groups=%lld, expected weight to be divisible by %lld at "
			       "dimension 0, but got weight of size %s instead",
			       (long long)g->groups, (long long)g->groups,
			       SHAPE_TEXT(w->ndim, w->shape));
	if (g->C != in_per_weight || g->C % g->groups)
		return err_set(e, ERR_STATE,
			       "Given %s, weight of size %s, expected input%s to have %lld "
			       "channels, but got %lld channels instead",
			       transposed ? "transposed=1" : groups_text((char[40]){ 0 }, g->groups),
			       SHAPE_TEXT(w->ndim, w->shape), SHAPE_TEXT(x->ndim, x->shape),
			       (long long)in_per_weight, (long long)g->C);
	if (b && (b->ndim != 1 || b->shape[0] != g->O))
		return err_set(e, ERR_STATE,
			       "Given %sweight of size %s, expected bias to be 1-dimensional "
			       "with %lld elements, but got bias of size %s instead",
			       transposed ? "transposed=1, " : "", SHAPE_TEXT(w->ndim, w->shape),
			       (long long)g->O, SHAPE_TEXT(b->ndim, b->shape));
	return 0;
}

/* Sizes with `sep` between them, "2 x 3 x 4", as PyTorch prints sizes of images. Returns
 * `out`. */
static const char *by_text(char *out, size_t cap, int n, const int64_t *v, const char *sep)
{
	size_t at = 0;

	out[0] = 0;
	for (int i = 0; i < n && at < cap; i++)
		at += (size_t)snprintf(out + at, cap - at, "%s%lld", i ? sep : "", (long long)v[i]);
	return out;
}

/* PyTorch's error for a kernel whose extent, dilation * (k - 1) + 1, exceeds the padded
 * input. */
static int kernel_too_large(const struct conv_geom *g, const struct num_conv *p, const int64_t *hi,
			    struct err *e)
{
	int64_t padded[3], reach[3];
	int lead = 3 - p->nd;

	for (int i = 0; i < 3; i++) {
		padded[i] = g->in[i] + g->lo[i] + hi[i];
		reach[i] = g->dil[i] * (g->k[i] - 1) + 1;
	}
	return err_set(e, ERR_STATE,
		       "Calculated padded input size per channel: (%s). Kernel size: (%s). "
		       "Kernel size can't be greater than actual input size",
		       by_text((char[80]){ 0 }, 80, p->nd, padded + lead, " x "),
		       by_text((char[80]){ 0 }, 80, p->nd, reach + lead, " x "));
}

/* Output sizes:
 *     forward     floor((in + lo + hi - extent) / stride) + 1
 *     transposed  (in - 1) * stride - lo - hi + extent + output_padding
 * with extent = dilation * (k - 1) + 1. A size of 0 or less is PyTorch's error. */
static int out_sizes(struct conv_geom *g, const struct num_conv *p, const int64_t *hi,
		     const int64_t *extra, int transposed, struct err *e)
{
	for (int i = 0; i < 3; i++) {
		int64_t reach = g->dil[i] * (g->k[i] - 1) + 1;

		if (transposed)
			g->out[i] = (g->in[i] - 1) * g->stride[i] - g->lo[i] - hi[i] + reach + extra[i];
		else if (g->in[i] + g->lo[i] + hi[i] < reach)
			return kernel_too_large(g, p, hi, e);
		else
			g->out[i] = (g->in[i] + g->lo[i] + hi[i] - reach) / g->stride[i] + 1;
		if (g->out[i] <= 0)
			return err_set(e, ERR_STATE,
				       "Given input size per channel: %s. Calculated output size "
				       "per channel: %s. Output size is too small",
				       SHAPE_TEXT(p->nd, g->in + 3 - p->nd),
				       SHAPE_TEXT(p->nd, g->out + 3 - p->nd));
	}
	return 0;
}

/* Sizes come from the program, so their product is checked for overflow. */
int num_volume(const int64_t *size, int64_t *v, struct err *e)
{
	if (ck_mul64(size[0], size[1], v) || ck_mul64(*v, size[2], v))
		return err_set(e, ERR_RANGE, "a size of %lld x %lld x %lld is too large",
			       (long long)size[0], (long long)size[1], (long long)size[2]);
	return 0;
}

/* Fills the geometry in three spatial dimensions. A conv1d of length 7 becomes in = { 1, 1, 7
 * } with kernel, stride and dilation 1 in the two leading dimensions. */
static int geometry(struct conv_geom *g, const struct tensor *x, const struct tensor *w,
		    const struct tensor *b, const struct num_conv *p, int transposed, struct err *e)
{
	int batch = x->ndim == p->nd + 2, lead = 3 - p->nd;
	int64_t hi[3] = { 0 }, extra[3] = { 0 };

	*g = (struct conv_geom){ .N = batch ? x->shape[0] : 1, .C = x->shape[batch],
				 .groups = p->groups };
	if (w->shape[0] < g->groups)
		return err_set(e, ERR_STATE,
			       "Given groups=%lld, expected weight to be at least %lld at "
			       "dimension 0, but got weight of size %s instead",
			       (long long)g->groups, (long long)g->groups,
			       SHAPE_TEXT(w->ndim, w->shape));
	g->O = transposed ? w->shape[1] * g->groups : w->shape[0];
	if (check_channels(x, w, b, g, transposed, e))
		return -1;
	g->Cg = g->C / g->groups;
	g->Og = g->O / g->groups;
	for (int i = 0; i < 3; i++) {
		int own = i >= lead;

		g->in[i] = own ? x->shape[batch + 1 + i - lead] : 1;
		g->k[i] = own ? w->shape[2 + i - lead] : 1;
		g->stride[i] = own ? p->stride[i - lead] : 1;
		g->dil[i] = own ? p->dilation[i - lead] : 1;
		g->lo[i] = own ? p->lo[i - lead] : 0;
		hi[i] = own ? p->hi[i - lead] : 0;
		extra[i] = own ? p->extra[i - lead] : 0;
	}
	if (out_sizes(g, p, hi, extra, transposed, e))
		return -1;
	return num_volume(g->in, &g->P, e) || num_volume(g->out, &g->Q, e) || num_volume(g->k, &g->taps, e) ? -1 : 0;
}

/* x or w in the carrier; cut to TF32 where the program allows TF32 convolutions of float32. */
static int operand(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		   enum dtype carrier, struct err *e)
{
	return c->tf32 & NUM_TF32_CONV && t->dt == DT_F32 ? num_cut_tf32(c, out, t, e) : num_as(c, out, t, carrier, e);
}

/* Checks the operands, charges the multiply-adds, converts the operands and makes y [N, O,
 * out0, out1, out2] in the carrier, without contents. The work is computed in double because
 * the product of sizes may exceed 64 bits. On failure the job still needs num_conv_release. */
int num_conv_prepare(struct num_ctx *c, struct conv_job *j, const struct tensor *x,
		     const struct tensor *w, const struct tensor *b, const struct num_conv *p,
		     int transposed, struct err *e)
{
	struct conv_geom *g = &j->g;
	double work;

	if (check_operands(x, w, b, p, transposed, e) || geometry(g, x, w, b, p, transposed, e))
		return -1;
	work = (double)g->N * (double)g->O * (double)g->Cg * (double)g->taps * (double)(transposed ? g->P : g->Q);
	if (num_charge(c, work < 1e18 ? (uint64_t)work : UINT64_MAX / 4, e))
		return -1;
	j->carrier = dtype_carrier(x->dt);
	j->size = dtype_size(j->carrier);
	j->k = SIMD_PICK(num_conv_kernels)(j->carrier);
	if (operand(c, &j->x, x, j->carrier, e) || operand(c, &j->w, w, j->carrier, e) ||
	    (b && num_as(c, &j->b, b, j->carrier, e)))
		return -1;
	return num_new(c, &j->y, j->carrier, 5, (int64_t[]){ g->N, g->O, g->out[0], g->out[1],
							     g->out[2] }, e);
}

void num_conv_release(struct conv_job *j)
{
	tensor_release(&j->x);
	tensor_release(&j->w);
	tensor_release(&j->b);
	tensor_release(&j->y);
}

/* y[n, o, :] = b[o]. All paths then add their products to y. */
void num_conv_fill_bias(struct conv_job *j)
{
	struct conv_geom *g = &j->g;
	char *y = tensor_data(&j->y);

	if (!j->b.st) {
		memset(y, 0, (size_t)(g->N * g->O * g->Q * j->size));
		return;
	}
	for (int64_t i = 0; i < g->N * g->O; i++)
		tensor_gather(j->carrier, y + i * g->Q * j->size, j->carrier,
			      (char *)tensor_data(&j->b) + i % g->O * j->size, 0, g->Q);
}

/* Takes j->y: converts it to x's dtype and drops the dimensions that the input does not have.
 * A thread that found no memory makes it fail. */
int num_conv_finish(struct num_ctx *c, struct tensor *out, struct conv_job *j,
		    const struct tensor *x, int nd, struct err *e)
{
	int64_t shape[5];
	int batch = x->ndim == nd + 2, n = 0;
	struct tensor y = j->y;

	j->y.st = NULL;
	if (atomic_load(&j->failed)) {
		tensor_release(&y);
		return err_nomem(e);
	}
	if (num_settle(c, &y, x->dt, e))
		return -1;
	if (batch)
		shape[n++] = j->g.N;
	shape[n++] = j->g.O;
	for (int i = 3 - nd; i < 3; i++)
		shape[n++] = j->g.out[i];
	if (tensor_view(out, &y, n, shape, e))
		BUG("convolution result");
	tensor_release(&y);
	return 0;
}

/* --- forward ------------------------------------------------------------------------------------ */

/* One tile: output positions [first, first + n) of one image and group. y[Og, n] += w[Og, K]
 * * patches[K, n] with K = Cg * taps. Without `cols` (pointwise) the image itself is the
 * matrix, with rows of P elements. */
static void conv_tile(struct conv_job *j, int64_t image, int64_t grp, int64_t first, void *cols)
{
	const struct conv_geom *g = &j->g;
	int64_t n = MIN(g->Q - first, j->tile), K = g->Cg * g->taps;
	char *x = (char *)tensor_data(&j->x) + (image * g->C + grp * g->Cg) * g->P * j->size;
	struct num_gemm m = {
		.dt = j->carrier, .m = g->Og, .n = n, .k = K, .lda = K, .ldb = cols ? n : g->P, .ldc = g->Q,
		.a = (char *)tensor_data(&j->w) + grp * g->Og * K * j->size,
		.c = (char *)tensor_data(&j->y) + ((image * g->O + grp * g->Og) * g->Q + first) * j->size,
		.alpha = 1, .beta = 1,
	};

	if (cols)
		j->k->im2col(cols, x, g, first, n);
	m.b = cols ? cols : x + first * j->size;
	num_gemm(&m);
}

/* Computed in double: a program's sizes may overflow int64. Anything beyond 2^62 saturates,
 * and the request for so much scratch memory fails. */
int64_t num_conv_columns(const struct conv_job *j, int64_t channels)
{
	double bytes = (double)channels * (double)j->g.taps * (double)j->tile * (double)j->size;

	return bytes < 0x1p62 ? (int64_t)bytes : INT64_MAX;
}

/* A kernel of one position with stride 1 and no padding: x is its own patch matrix. */
static int is_pointwise(const struct conv_geom *g)
{
	return g->taps == 1 && g->stride[0] == 1 && g->stride[1] == 1 && g->stride[2] == 1 && g->P == g->Q;
}

/* Thread body: tiles [begin, end) of all images and groups, in the order image, group, tile. */
static void conv_range(void *ctx, size_t begin, size_t end)
{
	struct conv_job *j = ctx;
	const struct conv_geom *g = &j->g;
	void *cols = NULL;

	if (!is_pointwise(g) && !(cols = mem_alloc_aligned((size_t)(g->Cg * g->taps * j->tile * j->size), 64))) {
		atomic_store(&j->failed, 1);
		return;
	}
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++)
		conv_tile(j, i / j->tiles / g->groups, i / j->tiles % g->groups,
			  i % j->tiles * j->tile, cols);
	if (cols)
		mem_free_aligned(cols);
}

/* Thread body for Cg = 1: output planes [begin, end). Plane o of an image reads input channel
 * o / Og. */
static void depthwise_range(void *ctx, size_t begin, size_t end)
{
	struct conv_job *j = ctx;
	const struct conv_geom *g = &j->g;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
		int64_t image = i / g->O, o = i % g->O;

		j->k->depthwise((char *)tensor_data(&j->y) + i * g->Q * j->size,
				(char *)tensor_data(&j->x) + (image * g->C + o / g->Og) * g->P * j->size,
				(char *)tensor_data(&j->w) + o * g->taps * j->size, g);
	}
}

/* As many output positions as keep the patch matrix within TILE_BYTES, at least 64. Example:
 * Cg 64 and a 3 x 3 kernel in float have K = 576, so 2304 bytes a position and a tile of 227. */
static void pick_tile(struct conv_job *j)
{
	int64_t K = j->g.Cg * j->g.taps, t = TILE_BYTES / (K * j->size);

	t = MAX(MIN(t, j->g.Q), MIN(64, j->g.Q));
	if (is_pointwise(&j->g))
		t = j->g.Q;
	j->tile = t;
	j->tiles = (j->g.Q + t - 1) / t;
}

/* Picks the path: direct, depthwise or patches. Every path adds to the bias that y already
 * holds. */
int num_conv(struct num_ctx *c, struct tensor *out, const struct tensor *x, const struct tensor *w,
	     const struct tensor *b, const struct num_conv *p, struct err *e)
{
	struct conv_job j = { .tile = 0 };
	int rc = -1;

	if (num_conv_prepare(c, &j, x, w, b, p, 0, e))
		goto out;
	if (c->hollow || !tensor_numel(&j.y))
		goto made;
	num_conv_fill_bias(&j);
	if (!is_pointwise(&j.g) && num_direct_fits(&j, 0)) {
		num_direct_run(c, &j, 0);
	} else if (j.g.Cg == 1) {
		pool_for(c->pool, (size_t)(j.g.N * j.g.O), 1, depthwise_range, &j);
	} else if (j.g.Cg && j.g.Q) {
		pick_tile(&j);
		if (!is_pointwise(&j.g) && num_scratch(c, num_conv_columns(&j, j.g.Cg), e))
			goto out;
		pool_for(c->pool, (size_t)(j.g.N * j.g.groups * j.tiles), 1, conv_range, &j);
	}
made:
	rc = num_conv_finish(c, out, &j, x, p->nd, e);
out:
	num_conv_release(&j);
	return rc;
}
