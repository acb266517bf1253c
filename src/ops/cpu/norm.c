/* RMSNorm, RoPE and the embedding, forward and backward.
 *
 *   rmsnorm        y = x r w,  r = 1 / sqrt(mean(x^2) + eps)
 *   rmsnorm_grad   dx += r (dy w - x r^2 mean(dy w x)),  dw += sum_t dy x r
 *   rope           (a, b) = (x[i], x[i + D/2]) rotated by angle pos inv_freq[i]
 *
 * Sums over rows are cut by columns: one thread sums a column, in row order. */
#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"
#include "ops/cpu/row.h"

const struct row_kernels *row_cpu(void)
{
	return SIMD_PICK(row_kernels)();
}

enum { GRAIN = 16384, COLUMNS = 64 };   /* floats a thread takes at least; columns of a cut */

/* Rows of a thread's share. */
static size_t grain(int width) { return (size_t)MAX(1, GRAIN / MAX(width, 1)); }

/* The operands of RMSNorm and of its gradient. */
struct norm {
	float *y, *rstd_out, *dx, *dw;
	const float *x, *w, *dy, *rstd;
	int T, C;
	float eps;
};

static void norm_rows(void *ctx, size_t begin, size_t end)
{
	const struct norm *n = ctx;
	const struct row_kernels *k = row_cpu();

	for (size_t t = begin; t < end; t++) {
		size_t at = t * (size_t)n->C;
		float r = k->rms(n->y + at, n->x + at, n->w, n->C, n->eps);

		if (n->rstd_out)
			n->rstd_out[t] = r;
	}
}

void cpu_rmsnorm(struct dev *d, act *y, float *rstd, const float *x, const float *w, int T, int C, float eps)
{
	struct norm n = { .y = y, .rstd_out = rstd, .x = x, .w = w, .T = T, .C = C, .eps = eps };

	pool_for(d->pool, (size_t)T, grain(C), norm_rows, &n);
}

static void norm_grad_rows(void *ctx, size_t begin, size_t end)
{
	const struct norm *n = ctx;
	const struct row_kernels *k = row_cpu();

	for (size_t t = begin; t < end; t++) {
		size_t at = t * (size_t)n->C;

		k->rms_grad(n->dx + at, n->dy + at, n->x + at, n->w, n->rstd[t], n->C, 1);
	}
}

/* Columns [begin, end) of dw: rows are added in order, by one thread. */
static void norm_grad_columns(void *ctx, size_t begin, size_t end)
{
	const struct norm *n = ctx;
	const struct row_kernels *k = row_cpu();

	for (size_t t = 0; t < (size_t)n->T; t++) {
		size_t at = t * (size_t)n->C + begin;

		k->mul3_add(n->dw + begin, n->dy + at, n->x + at, n->rstd[t], (int)(end - begin));
	}
}

void cpu_rmsnorm_grad(struct dev *d, float *dx, act *dxa, float *dw, const act *dy, const float *x,
		      const float *rstd, const float *w, int T, int C)
{
	struct norm n = { .dx = dx, .dw = dw, .dy = dy, .x = x, .rstd = rstd, .w = w, .T = T, .C = C };

	if (dxa != dx)
		BUG("residual rows of the CPU are activations as they are");
	pool_for(d->pool, (size_t)T, grain(C), norm_grad_rows, &n);
	if (dw)
		pool_for(d->pool, (size_t)C, COLUMNS, norm_grad_columns, &n);
}

/* --- q and k: norm of each head (where there is one), then RoPE ----------------------- */

/* One row: each head of q and k is normed, if the model does that, and rotated. The unnormed
 * values are kept for the backward pass. */
static void qk_row(const struct qk *a, const struct row_kernels *k, size_t t)
{
	int heads = a->H + a->HKV, D = a->D;
	float *qkv = a->qkv, *x = qkv + t * (size_t)(a->H + 2 * a->HKV) * (size_t)D, *kept = a->raw;
	size_t angle = (size_t)a->pos[t] * (size_t)(D / 2);

	for (int h = 0; h < heads; h++, x += D) {
		if (a->qw) {
			float *raw = kept ? kept + (t * (size_t)heads + (size_t)h) * (size_t)D : NULL;
			float r;

			if (raw)
				memcpy(raw, x, (size_t)D * sizeof *x);
			r = k->rms(x, x, h < a->H ? a->qw : a->kw, D, a->eps);
			if (a->rstd)
				a->rstd[t * (size_t)heads + (size_t)h] = r;
		}
		k->rotate(x, a->cos + angle, a->sin + angle, D / 2, 1);
	}
}

static void qk_rows(void *ctx, size_t begin, size_t end)
{
	for (size_t t = begin; t < end; t++)
		qk_row(ctx, row_cpu(), t);
}

void cpu_qk_rope(struct dev *d, const struct qk *a)
{
	struct qk c = *a;

	pool_for(d->pool, (size_t)a->T, grain((a->H + a->HKV) * a->D), qk_rows, &c);
}

/* The gradient of q and k, in place. */
struct qk_grad {
	struct qk a;
	float *d;
};

/* RoPE's gradient is the rotation by the opposite angle. */
static void qk_unrotate(void *ctx, size_t begin, size_t end)
{
	const struct qk_grad *g = ctx;
	const struct qk *a = &g->a;
	int heads = a->H + a->HKV;

	for (size_t t = begin; t < end; t++) {
		float *x = g->d + t * (size_t)(heads + a->HKV) * (size_t)a->D;
		size_t angle = (size_t)a->pos[t] * (size_t)(a->D / 2);

		for (int h = 0; h < heads; h++, x += a->D)
			row_cpu()->rotate(x, a->cos + angle, a->sin + angle, a->D / 2, -1);
	}
}

/* The gradient of the norm's weights. */
static void qk_norm_columns(void *ctx, size_t begin, size_t end)
{
	const struct qk_grad *g = ctx;
	const struct qk *a = &g->a;
	size_t heads = (size_t)(a->H + a->HKV), D = (size_t)a->D;
	const float *raw = a->raw;

	for (size_t t = 0; t < (size_t)a->T; t++)
		for (size_t h = 0; h < heads; h++) {
			const float *dy = g->d + (t * (heads + (size_t)a->HKV) + h) * D;
			float *dw = h < (size_t)a->H ? a->dqw : a->dkw;

			row_cpu()->mul3_add(dw + begin, dy + begin, raw + (t * heads + h) * D + begin,
					    a->rstd[t * heads + h], (int)(end - begin));
		}
}

/* The gradient through the norm. */
static void qk_norm_rows(void *ctx, size_t begin, size_t end)
{
	const struct qk_grad *g = ctx;
	const struct qk *a = &g->a;
	size_t heads = (size_t)(a->H + a->HKV), D = (size_t)a->D;
	const float *raw = a->raw;

	for (size_t t = begin; t < end; t++)
		for (size_t h = 0; h < heads; h++) {
			float *dx = g->d + (t * (heads + (size_t)a->HKV) + h) * D;

			row_cpu()->rms_grad(dx, dx, raw + (t * heads + h) * D, h < (size_t)a->H ? a->qw : a->kw,
					    a->rstd[t * heads + h], a->D, 0);
		}
}

/* In place: dqkv is the gradient after qk_rope and becomes the one before it. */
void cpu_qk_rope_grad(struct dev *d, const struct qk *a, act *dqkv)
{
	struct qk_grad g = { .a = *a, .d = dqkv };
	size_t rows = grain((a->H + a->HKV) * a->D);

	pool_for(d->pool, (size_t)a->T, rows, qk_unrotate, &g);
	if (!a->qw)
		return;
	if (a->dqw)
		pool_for(d->pool, (size_t)a->D, 16, qk_norm_columns, &g);
	pool_for(d->pool, (size_t)a->T, rows, qk_norm_rows, &g);
}

/* --- embedding ------------------------------------------------------------------------- */

/* The operands of the embedding. */
struct embed {
	float *y;
	const void *table;
	enum dtype dt;
	int C, T;
	const int32_t *tokens;
};

static void embed_rows(void *ctx, size_t begin, size_t end)
{
	const struct embed *m = ctx;
	size_t C = (size_t)m->C;

	for (size_t t = begin; t < end; t++)
		dtype_convert(DT_F32, m->y + t * C, m->dt,
			      (const char *)m->table + (size_t)m->tokens[t] * C * (size_t)dtype_size(m->dt), C);
}

/* y[t] = table[tokens[t]] */
void cpu_embed(struct dev *d, float *y, const void *table, enum dtype dt, int C, const int32_t *tokens, int T)
{
	struct embed m = { .y = y, .table = table, .dt = dt, .C = C, .T = T, .tokens = tokens };

	pool_for(d->pool, (size_t)T, grain(C), embed_rows, &m);
}

/* The operands of its gradient. */
struct embed_grad {
	float *dtable;
	const float *dy;
	int C, T;
	const int32_t *tokens;
};

/* Columns [begin, end) of the gradient: a token that occurs twice is added twice, in order. */
static void embed_columns(void *ctx, size_t begin, size_t end)
{
	const struct embed_grad *m = ctx;
	size_t C = (size_t)m->C;

	for (size_t t = 0; t < (size_t)m->T; t++)
		row_cpu()->add(m->dtable + (size_t)m->tokens[t] * C + begin, m->dy + t * C + begin, end - begin);
}

/* dtable[tokens[t]] += dy[t] */
void cpu_embed_grad(struct dev *d, float *dtable, const float *dy, int C, const int32_t *tokens, int T)
{
	struct embed_grad m = { .dtable = dtable, .dy = dy, .C = C, .T = T, .tokens = tokens };

	pool_for(d->pool, (size_t)C, COLUMNS, embed_columns, &m);
}
