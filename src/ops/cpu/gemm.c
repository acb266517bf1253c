/* Matrix products: blocking and threads around the tile kernels (gemm.h).
 *
 * One driver for the three products of a linear layer:
 *   linear     y[M, n]  = x[M, k]  W^T          B = W packed already
 *   linear_dx  dx[M, k] = dy[M, n] W            B = W transposed, packed on the way
 *   linear_dw  dW[n, k] += dy^T[n, M] x[M, k]   B = x, packed on the way
 * The k loop is cut in blocks of GEMM_KC. Within one, panels that need packing are packed by
 * all threads into shared scratch; then each thread takes its rows (or, where rows are few,
 * its panels), packs GEMM_MC rows of A at a time into its own scratch, and runs the tiles. */
#include "ops/cpu/gemm.h"

#include <string.h>

#include "base/mem.h"
#include "ops/cpu/cpu.h"

enum { NARROW = 8 };   /* up to this many rows bf16 and int8 are widened in registers */

struct job {
	struct dev *d;
	const struct gemm_kernels *k;
	int M, N, K;
	const float *a;        /* element (m, k) at a[m * a_m + k * a_k]; one of the two is 1 */
	size_t a_m, a_k;
	const struct weight *w;
	int transposed;        /* B is w as [n, k] */
	const float *rows;     /* or B is rows [K, N] */
	size_t ldrows;
	float *c;
	size_t ldc;
	int accumulate;
	const struct linear *tail;   /* bias and add, or NULL */
};

const struct gemm_kernels *gemm_cpu(void)
{
	return SIMD_PICK(gemm_kernels)();
}

static size_t floats(size_t n) { return n * sizeof(float); }

size_t gemm_scratch(void)
{
	return floats(GEMM_MC * GEMM_KC + GEMM_KC * GEMM_NR_MAX + GEMM_NR_MAX * GEMM_NR_MAX + GEMM_MR_MAX * GEMM_NR_MAX);
}

size_t gemm_shared(int columns)
{
	return floats(((size_t)columns + GEMM_NR_MAX) * GEMM_KC);
}

static size_t panel_bytes(const struct weight *w, int nr)
{
	size_t k = (size_t)w->k;

	if (w->dt == DT_BF16)
		return ((k + 1) & ~(size_t)1) * (size_t)nr * 2;
	return k * (size_t)nr * (w->dt == DT_I8 ? 1 : 4);
}

/* Rows [k0, k0 + kc) of panel p, widened to floats: borrowed or in `tmp`. k0 is even. */
static const float *panel_f32(const struct job *j, int p, size_t k0, size_t kc, float *tmp)
{
	const char *base = (const char *)j->w->packed + (size_t)p * panel_bytes(j->w, j->k->nr);
	size_t at = k0 * (size_t)j->k->nr;

	if (j->w->dt == DT_F32)
		return (const float *)(const void *)base + at;
	if (j->w->dt == DT_BF16)
		j->k->widen16(tmp, (const uint16_t *)(const void *)base + at, kc);
	else
		j->k->widen8(tmp, (const int8_t *)base + at, kc);
	return tmp;
}

/* --- packing ------------------------------------------------------------------------ */

/* B panel p, rows [k0, k0 + kc), of the transposed weight: [kc][nr] with B[n][j] = W[n][p nr + j]. */
static void pack_transposed(const struct job *j, int p, size_t k0, size_t kc, float *out, float *tmp)
{
	size_t nr = (size_t)j->k->nr, col = (size_t)p * nr;
	size_t cols = MIN(nr, (size_t)j->w->k - col);

	for (size_t n = 0; n < kc; n += nr) {
		size_t rows = MIN(nr, kc - n);
		const float *src = panel_f32(j, (int)((k0 + n) / nr), col, cols, tmp);

		j->k->transpose(out + n * nr, nr, src, nr, (int)cols, rows);
		for (size_t r = 0; r < rows; r++) {
			float *o = out + (n + r) * nr;

			for (size_t i = cols; i < nr; i++)
				o[i] = 0;
			if (j->w->scale)
				for (size_t i = 0; i < cols; i++)
					o[i] *= j->w->scale[k0 + n + r];
		}
	}
}

static void pack_rows(const struct job *j, int p, size_t k0, size_t kc, float *out)
{
	size_t nr = (size_t)j->k->nr, col = (size_t)p * nr, cols = MIN(nr, (size_t)j->N - col);
	const float *src = j->rows + k0 * j->ldrows + col;

	for (size_t k = 0; k < kc; k++, src += j->ldrows, out += nr) {
		memcpy(out, src, floats(cols));
		if (cols < nr)
			memset(out + cols, 0, floats(nr - cols));
	}
}

/* Rows [m0, m0 + rows) and k [k0, k0 + kc) of A as tiles of mr rows: [kc][height of tile]. */
static void pack_a(const struct job *j, size_t m0, size_t rows, size_t k0, size_t kc, float *out)
{
	for (size_t m = 0; m < rows; ) {
		size_t h = MIN((size_t)j->k->mr, rows - m);
		const float *src = j->a + (m0 + m) * j->a_m + k0 * j->a_k;

		if (j->a_k == 1)
			j->k->transpose(out, h, src, j->a_m, (int)h, kc);
		else
			for (size_t k = 0; k < kc; k++)
				memcpy(out + k * h, src + k * j->a_k, floats(h));
		out += h * kc;
		m += h;
	}
}

/* --- tiles --------------------------------------------------------------------------- */

static void tail_row(const struct job *j, float *c, size_t m, size_t n0, size_t cols)
{
	const struct linear *t = j->tail;
	const float *scale = j->w && !j->transposed ? j->w->scale : NULL;

	if (scale)
		for (size_t i = 0; i < cols; i++)
			c[i] *= scale[n0 + i];
	if (!t)
		return;
	if (t->bias)
		for (size_t i = 0; i < cols; i++)
			c[i] += t->bias[n0 + i];
	if (t->add) {
		const float *add = t->add + m * t->ldadd + n0;

		for (size_t i = 0; i < cols; i++)
			c[i] += add[i];
	}
}

/* One B panel for this k block. */
struct panel {
	const float *b;            /* [kc][nr] */
	const void *narrow;        /* or the packed bf16 or int8 rows themselves */
	size_t k0, kc;
	int p;
};

static void run_tile(const struct job *j, const struct panel *q, int h, const float *a, float *c,
		     size_t ldc, int load)
{
	if (!q->narrow)
		j->k->tile[h](q->kc, a, (size_t)h, q->b, (size_t)j->k->nr, c, ldc, load);
	else if (j->w->dt == DT_BF16)
		j->k->tile16[h](q->kc, a, (size_t)h, q->narrow, c, ldc, load);
	else
		j->k->tile8[h](q->kc, a, (size_t)h, q->narrow, c, ldc, load);
}

/* All tiles of a block of A rows against one panel; `edge` is room for one tile. */
static void run_panel(const struct job *j, const struct panel *q, size_t m0, size_t rows,
		      const float *a, float *edge)
{
	size_t nr = (size_t)j->k->nr, n0 = (size_t)q->p * nr, cols = MIN(nr, (size_t)j->N - n0);
	int load = j->accumulate || q->k0, last = q->k0 + q->kc == (size_t)j->K;
	int scaled = j->w && !j->transposed && j->w->scale;

	for (size_t m = 0; m < rows; ) {
		int h = (int)MIN((size_t)j->k->mr, rows - m);
		float *c = j->c + (m0 + m) * j->ldc + n0;

		if (cols == nr)
			run_tile(j, q, h, a, c, j->ldc, load);
		else {
			for (int i = 0; load && i < h; i++)
				memcpy(edge + (size_t)i * nr, c + (size_t)i * j->ldc, floats(cols));
			run_tile(j, q, h, a, edge, nr, load);
			for (int i = 0; i < h; i++)
				memcpy(c + (size_t)i * j->ldc, edge + (size_t)i * nr, floats(cols));
		}
		if (last && (j->tail || scaled))
			for (int i = 0; i < h; i++)
				tail_row(j, c + (size_t)i * j->ldc, m0 + m + (size_t)i, n0, cols);
		a += (size_t)h * q->kc;
		m += (size_t)h;
	}
}

/* --- the driver ----------------------------------------------------------------------- */

struct range { size_t begin, end; };

static void find_panel(const struct job *j, struct panel *q, size_t rows, float *wide)
{
	size_t nr = (size_t)j->k->nr;
	int packed = j->rows || j->transposed;

	q->narrow = NULL;
	if (packed)
		q->b = (const float *)dev_shared(j->d, gemm_shared(j->N)) + (size_t)q->p * q->kc * nr;
	else if (j->w->dt != DT_F32 && rows <= NARROW)
		q->narrow = (const char *)j->w->packed + (size_t)q->p * panel_bytes(j->w, j->k->nr) +
			    q->k0 * nr * (j->w->dt == DT_BF16 ? 2 : 1);
	else
		q->b = panel_f32(j, q->p, q->k0, q->kc, wide);
}

static void run_block(const struct job *j, size_t k0, size_t kc, struct range m, struct range p, float *scratch)
{
	float *a = scratch, *wide = a + GEMM_MC * GEMM_KC, *edge = wide + GEMM_KC * GEMM_NR_MAX;
	size_t mc = GEMM_MC / (size_t)j->k->mr * (size_t)j->k->mr;

	for (size_t m0 = m.begin; m0 < m.end; m0 += mc) {
		size_t rows = MIN(mc, m.end - m0);

		pack_a(j, m0, rows, k0, kc, a);
		for (size_t i = p.begin; i < p.end; i++) {
			struct panel q = { .k0 = k0, .kc = kc, .p = (int)i };

			find_panel(j, &q, rows, wide);
			run_panel(j, &q, m0, rows, a, edge);
		}
	}
}

static void pack_block(const struct job *j, size_t k0, size_t kc, struct range p, float *scratch)
{
	size_t nr = (size_t)j->k->nr;
	float *to = dev_shared(j->d, gemm_shared(j->N));

	for (size_t i = p.begin; i < p.end; i++)
		if (j->rows)
			pack_rows(j, (int)i, k0, kc, to + i * kc * nr);
		else
			pack_transposed(j, (int)i, k0, kc, to + i * kc * nr, scratch);
}

static void run_job(void *ctx, int me, int count)
{
	const struct job *j = ctx;
	size_t panels = ((size_t)j->N + (size_t)j->k->nr - 1) / (size_t)j->k->nr;
	int packs = j->rows || j->transposed, by_rows = j->M >= 2 * j->k->mr * count || panels < (size_t)count;
	struct range all = { 0, panels }, mine, m = { 0, (size_t)j->M };
	float *scratch = dev_scratch(j->d, me, gemm_scratch());

	cpu_cut(panels, 1, me, count, &mine.begin, &mine.end);
	if (by_rows)
		cpu_cut((size_t)j->M, (size_t)j->k->mr, me, count, &m.begin, &m.end);
	for (size_t k0 = 0; k0 < (size_t)j->K; k0 += GEMM_KC) {
		size_t kc = MIN((size_t)GEMM_KC, (size_t)j->K - k0);

		if (packs) {
			if (k0)
				pool_barrier(j->d->pool);
			pack_block(j, k0, kc, mine, scratch);
			pool_barrier(j->d->pool);
		}
		run_block(j, k0, kc, m, by_rows ? all : mine, scratch);
	}
}

static void start_job(struct job *j)
{
	j->k = gemm_cpu();
	if (j->M && j->N)
		pool_run(j->d->pool, run_job, j);
}

/* --- the ops --------------------------------------------------------------------------- */

/* y = x W^T (+ bias) (+ add), or y += x W^T. */
void cpu_linear(struct dev *d, const struct weight *w, const struct linear *l)
{
	struct job j = { .d = d, .M = l->M, .N = w->n, .K = w->k, .a = l->x, .a_m = l->ldx, .a_k = 1, .w = w,
			 .c = l->y, .ldc = l->ldy, .accumulate = l->accumulate };

	if (l->accumulate && (w->scale || l->bias || l->add))
		BUG("an accumulating product takes neither scale nor bias");
	if (l->bias || l->add)
		j.tail = l;
	start_job(&j);
}

/* With l->x as dy [M, n] and l->y as dx [M, k]: dx (+)= dy W. */
void cpu_linear_dx(struct dev *d, const struct weight *w, const struct linear *l)
{
	struct job j = { .d = d, .M = l->M, .N = w->k, .K = w->n, .a = l->x, .a_m = l->ldx, .a_k = 1, .w = w,
			 .transposed = 1, .c = l->y, .ldc = l->ldy, .accumulate = l->accumulate };

	start_job(&j);
}

/* dW[n, k] += dy^T[n, M] x[M, k]. */
void cpu_linear_dw(struct dev *d, float *dw, int n, int k, const float *dy, size_t lddy,
		   const float *x, size_t ldx, int M)
{
	struct job j = { .d = d, .M = n, .N = k, .K = M, .a = dy, .a_m = 1, .a_k = lddy, .rows = x, .ldrows = ldx,
			 .c = dw, .ldc = (size_t)k, .accumulate = 1 };

	start_job(&j);
}
