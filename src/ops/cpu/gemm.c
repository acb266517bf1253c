/* Matrix products: blocking and threads around the tile kernels (gemm.h).
 *
 * One driver for the three products of a linear layer:
 *   linear     y[M, n]  = x[M, k]  W^T          B = W, packed when the weight was loaded
 *   linear_dx  dx[M, k] = dy[M, n] W            B = W transposed, packed during the product
 *   linear_dw  dW[n, k] += dy^T[n, M] x[M, k]   B = x, packed during the product
 * The k loop is cut in blocks of GEMM_KC. Within one, panels that need packing are packed by all
 * threads into shared scratch. Then each thread takes its rows (or its panels, if there are few
 * rows), packs GEMM_MC rows of A at a time into its own scratch, and runs the tiles. */
#include "ops/cpu/gemm.h"

#include <string.h>

#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"
#include "ops/cpu/gemm_job.h"
#include "ops/cpu/row.h"

enum { NARROW = 8 };   /* up to this many rows bf16 and int8 are widened in registers */

const struct gemm_kernels *gemm_cpu(void)
{
	return SIMD_PICK(gemm_kernels)();
}

int gemm_has_fast(void)
{
	return cpu_info()->avx512_bf16 && gemm_cpu()->tiledp[1];
}

static size_t floats(size_t n) { return n * sizeof(float); }

size_t gemm_scratch(void)
{
	return floats(GEMM_MC * GEMM_KC + (GEMM_KC + GEMM_NR_MAX) * GEMM_NR_MAX + GEMM_MR_MAX * GEMM_NR_MAX);
}

size_t gemm_shared(int columns)
{
	return floats(((size_t)columns + GEMM_NR_MAX) * GEMM_KC);
}

/* --- tiles --------------------------------------------------------------------------- */

/* Finishes a row of the product: multiplies by the scale of int8 weights, adds bias and
 * residual. */
static void tail_row(const struct gemm_job *j, float *c, size_t m, size_t n0, size_t cols)
{
	const struct linear *t = j->tail;
	const float *scale = j->w && !j->transposed ? j->w->scale : NULL;

	if (scale)
		for (size_t i = 0; i < cols; i++)
			c[i] *= scale[n0 + i];
	if (!t)
		return;
	if (t->bias)
		row_cpu()->add(c, t->bias + n0, cols);
	if (t->add)
		row_cpu()->add(c, t->add + m * t->ldadd + n0, cols);
}

/* One B panel for this k block. */
struct panel {
	const float *b;            /* [kc][nr] */
	const void *narrow;        /* or bf16 pairs or int8 rows */
	size_t k0, kc;
	int p;
};

/* Computes one tile of C. `a` is [kc][h] floats, or [kc/2][h] pairs of bf16. Sums of more than
 * GEMM_KC terms are formed in blocks, and their order is the same for every batch size. */
static void run_tile(const struct gemm_job *j, const struct panel *q, int h, const float *a, float *c,
		     size_t ldc, enum gemm_sum sum)
{
	size_t nr = (size_t)j->k->nr;

	for (size_t k = 0; k < q->kc; k += GEMM_KC) {
		size_t n = MIN((size_t)GEMM_KC, q->kc - k);
		const char *narrow = q->narrow;

		if (j->fast)
			j->k->tiledp[h]((n + 1) / 2, (const uint32_t *)(const void *)a,
					(const uint32_t *)(const void *)narrow + k / 2 * nr, c, ldc, sum);
		else if (!narrow)
			j->k->tile[h](n, a, (size_t)h, q->b + k * nr, nr, c, ldc, sum);
		else if (j->w->dt == DT_BF16)
			j->k->tile16[h](n, a, (size_t)h, (const uint16_t *)(const void *)narrow + k * nr, c, ldc, sum);
		else
			j->k->tile8[h](n, a, (size_t)h, (const int8_t *)narrow + k * nr, c, ldc, sum);
		a += (j->fast ? GEMM_KC / 2 : GEMM_KC) * (size_t)h;
		sum = j->accumulate ? GEMM_GO_ON : GEMM_ADD;
	}
}

/* All tiles of a block of A rows against one panel. A panel at the right edge, narrower than nr,
 * is computed in `edge` and copied. */
static void run_panel(const struct gemm_job *j, const struct panel *q, size_t m0, size_t rows,
		      const float *a, float *edge)
{
	size_t nr = (size_t)j->k->nr, n0 = (size_t)q->p * nr, cols = MIN(nr, (size_t)j->N - n0);
	enum gemm_sum sum = j->accumulate ? GEMM_GO_ON : q->k0 ? GEMM_ADD : GEMM_SET;
	int last = q->k0 + q->kc == (size_t)j->K;
	int scaled = j->w && !j->transposed && j->w->scale;

	for (size_t m = 0; m < rows; ) {
		int h = (int)MIN((size_t)j->k->mr, rows - m);
		float *c = j->c + (m0 + m) * j->ldc + n0;

		if (cols == nr)
			run_tile(j, q, h, a, c, j->ldc, sum);
		else {
			for (int i = 0; sum != GEMM_SET && i < h; i++)
				memcpy(edge + (size_t)i * nr, c + (size_t)i * j->ldc, floats(cols));
			run_tile(j, q, h, a, edge, nr, sum);
			for (int i = 0; i < h; i++)
				memcpy(c + (size_t)i * j->ldc, edge + (size_t)i * nr, floats(cols));
		}
		if (last && (j->tail || scaled))
			for (int i = 0; i < h; i++)
				tail_row(j, c + (size_t)i * j->ldc, m0 + m + (size_t)i, n0, cols);
		a += (size_t)h * (j->fast ? (q->kc + 1) / 2 : q->kc);
		m += (size_t)h;
	}
}

/* --- the driver ----------------------------------------------------------------------- */

struct range { size_t begin, end; };

/* Words of a panel of kc rows in shared scratch. */
static size_t panel_words(const struct gemm_job *j, size_t kc)
{
	return (j->fast ? (kc + 1) / 2 : kc) * (size_t)j->k->nr;
}

/* Finds panel q: packed in shared scratch, narrow as the weight is stored, or widened to floats. */
static void find_panel(const struct gemm_job *j, struct panel *q, size_t rows, float *wide)
{
	const float *packed;

	q->narrow = NULL;
	if (j->rows || j->transposed) {
		packed = (const float *)dev_shared(j->d, gemm_shared(j->N)) + (size_t)q->p * panel_words(j, q->kc);
		q->b = packed;
		if (j->fast)
			q->narrow = packed;
	} else if (j->fast || (j->w->dt != DT_F32 && rows <= NARROW))
		q->narrow = (const char *)j->w->packed + (size_t)q->p * gemm_panel_bytes(j->w, j->k->nr) +
			    q->k0 * (size_t)j->k->nr * (j->w->dt == DT_BF16 ? 2 : 1);
	else
		q->b = gemm_panel_f32(j, q->p, q->k0, q->kc, wide);
}

/* One block of k: packs GEMM_MC rows of A at a time and runs them against all panels of the
 * range. */
static void run_block(const struct gemm_job *j, size_t k0, size_t kc, struct range m, struct range p, float *scratch)
{
	float *a = scratch, *wide = a + GEMM_MC * GEMM_KC, *edge = wide + (GEMM_KC + GEMM_NR_MAX) * GEMM_NR_MAX;
	size_t mc = GEMM_MC / (size_t)j->k->mr * (size_t)j->k->mr;

	for (size_t m0 = m.begin; m0 < m.end; m0 += mc) {
		size_t rows = MIN(mc, m.end - m0);

		gemm_pack_a(j, m0, rows, k0, kc, a);
		for (size_t i = p.begin; i < p.end; i++) {
			struct panel q = { .k0 = k0, .kc = kc, .p = (int)i };

			find_panel(j, &q, rows, wide);
			run_panel(j, &q, m0, rows, a, edge);
		}
	}
}

/* Packs this thread's panels of B for one block of k. */
static void pack_block(const struct gemm_job *j, size_t k0, size_t kc, struct range p, float *scratch)
{
	float *to = dev_shared(j->d, gemm_shared(j->N));

	for (size_t i = p.begin; i < p.end; i++)
		gemm_pack_b(j, (int)i, k0, kc, to + i * panel_words(j, kc), scratch + GEMM_MC * GEMM_KC);
}

/* The number of panels of B. */
static size_t panels_of(const struct gemm_job *j)
{
	return ((size_t)j->N + (size_t)j->k->nr - 1) / (size_t)j->k->nr;
}

/* Chooses the kernels of this CPU. */
static void ready(struct gemm_job *j)
{
	j->k = gemm_cpu();
	j->fast = j->fast && gemm_has_fast();
}

/* Rows of k that are taken at a time: all of them if C has few rows, so that a panel is read from
 * end to end and C is written once. */
static size_t depth_of(const struct gemm_job *j, int packs)
{
	int whole = !packs && j->M <= NARROW && (size_t)j->M * (size_t)j->K <= GEMM_MC * GEMM_KC;

	return whole ? (size_t)j->K : GEMM_KC;
}

/* A thread's share of a product: rows of C, or panels if rows are few. */
static void run_job(void *ctx, int me, int count)
{
	const struct gemm_job *j = ctx;
	int packs = j->rows || j->transposed;
	size_t panels = panels_of(j), depth = depth_of(j, packs);
	int by_rows = j->M >= 2 * j->k->mr * count || panels < (size_t)count;
	struct range all = { 0, panels }, mine, m = { 0, (size_t)j->M };
	float *scratch = dev_scratch(j->d, me, gemm_scratch());

	cpu_cut(panels, 1, me, count, &mine.begin, &mine.end);
	if (by_rows)
		cpu_cut((size_t)j->M, (size_t)j->k->mr, me, count, &m.begin, &m.end);
	for (size_t k0 = 0; k0 < (size_t)j->K; k0 += depth) {
		size_t kc = MIN(depth, (size_t)j->K - k0);

		if (packs) {
			if (k0)
				pool_barrier(j->d->pool);
			pack_block(j, k0, kc, mine, scratch);
			pool_barrier(j->d->pool);
		}
		run_block(j, k0, kc, m, by_rows ? all : mine, scratch);
	}
}

static void start_job(struct gemm_job *j)
{
	ready(j);
	if (j->M && j->N)
		pool_run(j->d->pool, run_job, j);
}

/* --- the ops --------------------------------------------------------------------------- */

/* y = x W^T (+ bias) (+ add), or y += x W^T. */
void cpu_linear(struct dev *d, const struct weight *w, const struct linear *l)
{
	struct gemm_job j = { .d = d, .M = l->M, .N = w->n, .K = w->k, .a = l->x, .a_m = l->ldx, .a_k = 1, .w = w,
			 .c = l->y, .ldc = l->ldy, .accumulate = l->accumulate, .fast = w->fast };

	if (l->accumulate && (w->scale || l->bias || l->add))
		BUG("an accumulating product takes neither scale nor bias");
	if (l->bias || l->add)
		j.tail = l;
	start_job(&j);
}

/* --- adapters: each thread takes its rows through both products --------------------------- */

/* Adapters: each thread takes its rows through both products. */
struct lora_job {
	struct dev *d;
	const struct lora_pass *l;
};

/* u = scale u for rows `m` of r columns. */
static void scale_rows(float *u, size_t ld, size_t r, struct range m, float scale)
{
	for (size_t i = m.begin; i < m.end; i++)
		row_cpu()->scale(u + i * ld, r, scale);
}

/* Rows m of one adapter: u = scale x A^T, then y += u B^T. */
static void lora_rows(const struct lora_job *j, const struct lora_part *p, struct range m, float *scratch)
{
	const struct lora_pass *l = j->l;
	float *u = (float *)l->u + p->at;
	struct gemm_job down = { .d = j->d, .M = l->M, .N = p->a->n, .K = p->a->k, .a = l->x, .a_m = l->ldx,
				 .a_k = 1, .w = p->a,
				 .c = u, .ldc = l->ldu, .fast = p->a->fast };
	struct gemm_job up = { .d = j->d, .M = l->M, .N = p->b->n, .K = p->b->k, .a = u, .a_m = l->ldu,
			       .a_k = 1, .w = p->b,
			       .c = p->y, .ldc = l->ldy, .accumulate = 1, .fast = p->b->fast };

	ready(&down);
	ready(&up);
	for (size_t k0 = 0; k0 < (size_t)down.K; k0 += GEMM_KC)
		run_block(&down, k0, MIN((size_t)GEMM_KC, (size_t)down.K - k0), m,
			  (struct range){ 0, panels_of(&down) }, scratch);
	scale_rows(u, l->ldu, (size_t)p->a->n, m, l->scale);
	for (size_t k0 = 0; k0 < (size_t)up.K; k0 += GEMM_KC)
		run_block(&up, k0, MIN((size_t)GEMM_KC, (size_t)up.K - k0), m,
			  (struct range){ 0, panels_of(&up) }, scratch);
}

/* A thread's rows of all adapters. */
static void run_lora(void *ctx, int me, int count)
{
	const struct lora_job *j = ctx;
	struct range m;

	cpu_cut((size_t)j->l->M, 1, me, count, &m.begin, &m.end);
	for (int i = 0; i < j->l->parts && m.begin < m.end; i++)
		lora_rows(j, &j->l->part[i], m, dev_scratch(j->d, me, gemm_scratch()));
}

void cpu_lora(struct dev *d, const struct lora_pass *l)
{
	struct lora_job j = { .d = d, .l = l };

	pool_run(d->pool, run_lora, &j);
}

/* With l->x as dy [M, n] and l->y as dx [M, k]: dx (+)= dy W. */
void cpu_linear_dx(struct dev *d, const struct weight *w, const struct linear *l)
{
	struct gemm_job j = { .d = d, .M = l->M, .N = w->k, .K = w->n, .a = l->x, .a_m = l->ldx, .a_k = 1, .w = w,
			 .transposed = 1, .c = l->y, .ldc = l->ldy, .accumulate = l->accumulate, .fast = w->fast };

	start_job(&j);
}

/* dW[n, k] += dy^T[n, M] x[M, k]. */
void cpu_linear_dw(struct dev *d, float *dw, int n, int k, const act *dy, size_t lddy,
		   const act *x, size_t ldx, int M, int fast)
{
	struct gemm_job j = { .d = d, .M = n, .N = k, .K = M, .a = dy, .a_m = 1, .a_k = lddy, .rows = x, .ldrows = ldx,
			 .c = dw, .ldc = (size_t)k, .accumulate = 1, .fast = fast };

	start_job(&j);
}

/* The gradients of adapters, one part at a time:
 *   dB += dy^T u,  du = scale dy B,  dA += du^T x,  dx (+)= du A */
void cpu_lora_grad(struct dev *d, const struct lora_pass *l)
{
	for (int i = 0; i < l->parts; i++) {
		const struct lora_part *p = &l->part[i];
		float *u = (float *)l->u + p->at, *du = (float *)l->du + p->at;

		cpu_linear_dw(d, p->db, p->b->n, p->b->k, p->y, l->ldy, u, l->ldu, l->M, p->b->fast);
		cpu_linear_dx(d, p->b, &(struct linear){ .M = l->M, .x = p->y, .ldx = l->ldy, .y = du, .ldy = l->ldu });
		scale_rows(du, l->ldu, (size_t)p->a->n, (struct range){ 0, (size_t)l->M }, l->scale);
		cpu_linear_dw(d, p->da, p->a->n, p->a->k, du, l->ldu, l->x, l->ldx, l->M, p->a->fast);
		if (l->dx)
			cpu_linear_dx(d, p->a, &(struct linear){ .M = l->M, .x = du, .ldx = l->ldu,
								 .y = l->dx, .ldy = l->ldx,
								 .accumulate = l->add || i });
	}
}
