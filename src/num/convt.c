/* Transposed convolutions: each input position adds a scaled copy of the kernel to the
 * output.
 *
 *     y[n, o, p * stride + t * dilation - pad] += sum over c of x[n, c, p] w[c, o, t]
 *     x [N, C, in...]   w [C, O / groups, k...]   b [O]   y [N, O, out...]
 *
 * The sum over c is a matrix product for a tile of positions; col2im adds its columns to the
 * output. Geometry, checks and the bias are conv.c's. */
#include "base/mem.h"
#include "num/conv.h"
#include "num/direct.h"

enum { TILE_BYTES = 512 * 1024 };       /* of a column matrix: fits a second-level cache */

/* Input positions [first, first + n) of one image and group: cols [Og * taps, n] = w^T x,
 * then col2im. */
static void convt_tile(struct conv_job *j, int64_t image, int64_t grp, int64_t first, void *cols)
{
	const struct conv_geom *g = &j->g;
	int64_t n = MIN(g->P - first, j->tile), K = g->Og * g->taps;
	struct num_gemm m = {
		.dt = j->carrier, .ta = 1, .m = K, .n = n, .k = g->Cg, .lda = K, .ldb = g->P, .ldc = n,
		.a = (char *)tensor_data(&j->w) + grp * g->Cg * K * j->size,
		.b = (char *)tensor_data(&j->x) + ((image * g->C + grp * g->Cg) * g->P + first) * j->size,
		.c = cols, .alpha = 1,
	};

	num_gemm(&m);
	j->k->col2im((char *)tensor_data(&j->y) + (image * g->O + grp * g->Og) * g->Q * j->size,
		     cols, g, first, n);
}

/* Thread body: items [begin, end), each one group of one image. The tiles of an item add to
 * the same outputs, so one thread does them in order; sums do not depend on the thread count. */
static void convt_range(void *ctx, size_t begin, size_t end)
{
	struct conv_job *j = ctx;
	const struct conv_geom *g = &j->g;
	void *cols = mem_alloc_aligned((size_t)(g->Og * g->taps * j->tile * j->size), 64);

	if (!cols) {
		atomic_store(&j->failed, 1);
		return;
	}
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++)
		for (int64_t first = 0; first < g->P; first += j->tile)
			convt_tile(j, i / g->groups, i % g->groups, first, cols);
	mem_free_aligned(cols);
}

/* output_padding must be below stride or dilation; the message is PyTorch's. */
static int check_extra(const struct num_conv *p, struct err *e)
{
	for (int i = 0; i < p->nd; i++)
		if (p->extra[i] < 0 || (p->extra[i] >= p->stride[i] && p->extra[i] >= p->dilation[i]))
			return err_set(e, ERR_STATE,
				       "output padding must be smaller than either stride or "
				       "dilation, but got output_padding: %s stride: %s "
				       "dilation: %s",
				       SHAPE_TEXT(p->nd, p->extra), SHAPE_TEXT(p->nd, p->stride),
				       SHAPE_TEXT(p->nd, p->dilation));
	return 0;
}

/* The tile is rounded to whole input rows because col2im adds whole rows. */
int num_conv_transpose(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		       const struct tensor *w, const struct tensor *b, const struct num_conv *p,
		       struct err *e)
{
	struct conv_job j = { .tile = 0 };
	int64_t K;
	int rc = -1;

	if (check_extra(p, e) || num_conv_prepare(c, &j, x, w, b, p, 1, e))
		goto out;
	if (c->hollow || !tensor_numel(&j.y))
		goto made;
	num_conv_fill_bias(&j);
	K = MAX(j.g.Og * j.g.taps, 1);
	j.tile = MAX(MIN(TILE_BYTES / (K * j.size), j.g.P), MIN(64, j.g.P));
	j.tile = MAX(j.tile / MAX(j.g.in[2], 1), 1) * j.g.in[2];         /* whole rows */
	if (j.g.P && num_direct_fits(&j, 1))
		num_direct_run(c, &j, 1);
	else if (num_scratch(c, num_conv_columns(&j, j.g.Og), e))
		goto out;
	else if (j.g.P && j.g.Og && j.g.Cg)
		pool_for(c->pool, (size_t)(j.g.N * j.g.groups), 1, convt_range, &j);
made:
	rc = num_conv_finish(c, out, &j, x, p->nd, e);
out:
	num_conv_release(&j);
	return rc;
}
