/* Elementwise ops and sums: SwiGLU, dropout, bias gradient, moving of rows, norms, AdamW. */
#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"
#include "ops/cpu/row.h"

/* Elements of a thread's share at least; elements of a partial sum; columns of a share. */
enum { GRAIN = 16384, PART = 65536, COLUMNS = 64 };

/* The operands of SwiGLU and of its gradient. */
struct glu {
	float *h, *dgu;
	const float *gu, *dh;
	size_t F;
};

/* Rows [begin, end) of SwiGLU. */
static void swiglu_rows(void *ctx, size_t begin, size_t end)
{
	const struct glu *s = ctx;

	for (size_t t = begin; t < end; t++) {
		const float *g = s->gu + t * 2 * s->F;

		row_cpu()->swiglu(s->h + t * s->F, g, g + s->F, (int)s->F);
	}
}

/* h[T, F] = silu(g) u with gu[T, 2F] = g | u and silu(g) = g / (1 + exp(-g)). */
void cpu_swiglu(struct dev *d, const struct swiglu *s)
{
	struct glu c = { .h = s->h, .gu = s->gu, .F = (size_t)s->F };

	pool_for(d->pool, (size_t)s->T, (size_t)MAX(1, GRAIN / 8 / s->F), swiglu_rows, &c);
}

static void swiglu_grad_rows(void *ctx, size_t begin, size_t end)
{
	const struct glu *s = ctx;

	for (size_t t = begin; t < end; t++) {
		const float *g = s->gu + t * 2 * s->F;
		float *dg = s->dgu + t * 2 * s->F;

		row_cpu()->swiglu_grad(dg, dg + s->F, s->dh + t * s->F, g, g + s->F, (int)s->F);
	}
}

/* dg = dh u s (1 + g (1 - s)), du = dh g s, s = sigmoid(g). dgu may be gu. */
void cpu_swiglu_grad(struct dev *d, const struct swiglu *s)
{
	struct glu c = { .dgu = s->dgu, .dh = s->dh, .gu = s->gu, .F = (size_t)s->F };

	pool_for(d->pool, (size_t)s->T, (size_t)MAX(1, GRAIN / 8 / s->F), swiglu_grad_rows, &c);
}

/* --- dropout --------------------------------------------------------------------------- */

/* Elements [begin, end) of dropout. The kernel counts in 32 bits, so the upper half of the index
 * goes into its key. */
static void drop_range(void *ctx, size_t begin, size_t end)
{
	struct row_drop o = *(const struct row_drop *)ctx;

	/* the kernel counts in 32 bits: the upper half of the index goes into its key */
	while (begin < end) {
		size_t stop = MIN(end, (begin | 0x7fffffffu) + 1);

		o.k1 = ((const struct row_drop *)ctx)->k1 ^ (uint32_t)(begin >> 32);
		row_cpu()->dropout(&o, begin, stop);
		begin = stop;
	}
}

/* Dropout over n elements. The mask is a function of (seed, place, index), not of the threads. */
static void drop_run(struct dev *d, float *y, const float *x, size_t n, const struct dropout *o, int add)
{
	uint64_t in[2] = { o->seed, o->place }, key = hash_xxh64(in, sizeof in, 0x64726f70);
	struct row_drop c = { .y = y, .x = x, .k0 = (uint32_t)key, .k1 = (uint32_t)(key >> 32), .add = add,
			  .below = (uint32_t)((double)o->p * 4294967296.0), .keep = 1.0f / (1.0f - o->p) };

	pool_for(d->pool, n, GRAIN, drop_range, &c);
}

/* y = x m / (1 - p), m[i] = 0 with probability p */
void cpu_dropout(struct dev *d, act *y, const act *x, size_t n, const struct dropout *o)
{
	drop_run(d, y, x, n, o, 0);
}

/* dx += dy m / (1 - p) */
void cpu_dropout_grad(struct dev *d, act *dx, const act *dy, size_t n, const struct dropout *o)
{
	drop_run(d, dx, dy, n, o, 1);
}

/* --- sums ------------------------------------------------------------------- */

/* Rows to be added up or copied. */
struct rows {
	float *y;
	const float *x;
	size_t ld;
	int M;
};

/* Columns [begin, end) of a bias gradient: rows are added in order, by one thread. */
static void bias_columns(void *ctx, size_t begin, size_t end)
{
	const struct rows *r = ctx;

	for (size_t m = 0; m < (size_t)r->M; m++)
		row_cpu()->add(r->y + begin, r->x + m * r->ld + begin, end - begin);
}

/* db[n] += sum over rows of dy */
void cpu_bias_grad(struct dev *d, float *db, const act *dy, size_t lddy, int M, int n)
{
	struct rows r = { .y = db, .x = dy, .ld = lddy, .M = M };

	pool_for(d->pool, (size_t)n, COLUMNS, bias_columns, &r);
}

static void add_range(void *ctx, size_t begin, size_t end)
{
	const struct rows *r = ctx;

	row_cpu()->add(r->y + begin, r->x + begin, end - begin);
}

void cpu_add(struct dev *d, float *y, const float *x, size_t n)
{
	struct rows r = { .y = y, .x = x };

	pool_for(d->pool, n, GRAIN, add_range, &r);
}

/* --- moving rows ------------------------------------------------------------------------- */

/* Rows to be moved. */
struct move {
	char *to;
	const char *from;
	const int32_t *row;
	size_t bytes;          /* of a row */
};

static void gather_rows(void *ctx, size_t begin, size_t end)
{
	const struct move *m = ctx;

	for (size_t i = begin; i < end; i++)
		memcpy(m->to + i * m->bytes, m->from + (size_t)m->row[i] * m->bytes, m->bytes);
}

/* to[i] = from[row[i]] */
void cpu_gather(struct dev *d, act *to, const act *from, const int32_t *row, int rows, int C)
{
	struct move m = { .to = to, .from = from, .row = row, .bytes = (size_t)C * sizeof(float) };

	pool_for(d->pool, (size_t)rows, (size_t)MAX(1, GRAIN / C), gather_rows, &m);
}

static void scatter_rows(void *ctx, size_t begin, size_t end)
{
	const struct move *m = ctx;

	for (size_t i = begin; i < end; i++)
		memcpy(m->to + (size_t)m->row[i] * m->bytes, m->from + i * m->bytes, m->bytes);
}

/* to[row[i]] = from[i]; no row twice */
void cpu_scatter(struct dev *d, act *to, const act *from, const int32_t *row, int rows, int C)
{
	struct move m = { .to = to, .from = from, .row = row, .bytes = (size_t)C * sizeof(float) };

	pool_for(d->pool, (size_t)rows, (size_t)MAX(1, GRAIN / C), scatter_rows, &m);
}

/* A sum of squares in parts. */
struct sumsq {
	const float *x;
	size_t n;
	double *part;
};

/* Sums whole parts, so the number of threads does not change the order of summation. */
static void sumsq_parts(void *ctx, size_t begin, size_t end)
{
	const struct sumsq *s = ctx;

	for (size_t i = begin; i < end; i++)
		s->part[i] = row_cpu()->sumsq(s->x + i * PART, MIN((size_t)PART, s->n - i * PART));
}

/* *out = sum x^2 in double, parts of fixed size added in order. */
void cpu_sumsq(struct dev *d, double *out, const float *x, size_t n)
{
	size_t parts = (n + PART - 1) / PART;
	struct sumsq s = { .x = x, .n = n, .part = dev_shared(d, parts * sizeof(double)) };
	double sum = 0;

	pool_for(d->pool, parts, 1, sumsq_parts, &s);
	for (size_t i = 0; i < parts; i++)
		sum += s.part[i];
	*out = sum;
}

/* --- AdamW ------------------------------------------------------------------------------- */

/* The operands of AdamW. */
struct adamw_ctx {
	float *w, *m, *v;
	const float *g;
	const struct adamw *o;
};

static void adamw_range(void *ctx, size_t begin, size_t end)
{
	const struct adamw_ctx *c = ctx;

	row_cpu()->adamw(c->w + begin, c->m + begin, c->v + begin, c->g + begin, end - begin, c->o);
}

/* g = scale g;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
 * w = w (1 - lr decay) - lr (m / c1) / (sqrt(v / c2) + eps),  c = 1 - b^step */
void cpu_adamw(struct dev *d, float *w, float *m, float *v, const float *g, size_t n, const struct adamw *o)
{
	struct adamw_ctx c = { .w = w, .m = m, .v = v, .g = g, .o = o };

	pool_for(d->pool, n, GRAIN, adamw_range, &c);
}
