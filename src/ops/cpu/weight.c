/* Packed weights: making them from stored rows, and reading rows back. Format: gemm.h.
 *
 * int8: scale[n] = max |W[n, :]| / 127, q = round(W / scale), ties to even. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"
#include "ops/cpu/gemm.h"

/* Elements of the packed weight, with the rows and columns that pad it. */
static size_t elements(const struct weight *w)
{
	size_t nr = (size_t)gemm_cpu()->nr, panels = ((size_t)w->n + nr - 1) / nr, k = (size_t)w->k;

	return panels * nr * (w->dt == DT_BF16 ? (k + 1) & ~(size_t)1 : k);
}

/* Bytes of the packed elements, rounded to cache lines; int8 scales follow. */
static size_t body_bytes(const struct weight *w)
{
	return (elements(w) * (size_t)dtype_size(w->dt) + 63) & ~(size_t)63;
}

void cpu_weight_plan(struct weight *w)
{
	if (w->dt != DT_F32 && w->dt != DT_BF16 && w->dt != DT_I8)
		BUG("weights are not stored as %s", dtype_info(w->dt)->torch);
	w->bytes = body_bytes(w) + (w->dt == DT_I8 ? (size_t)w->n * sizeof(float) : 0);
}

void cpu_weight_place(struct weight *w)
{
	if (w->dt == DT_I8)
		w->scale = (float *)(void *)((char *)w->packed + body_bytes(w));
}

/* The offset of element (n, k) in the packed weight, in elements. */
static size_t place(const struct weight *w, size_t n, size_t k)
{
	size_t nr = (size_t)gemm_cpu()->nr, p = n / nr, i = n % nr;

	if (w->dt == DT_BF16)
		return p * (((size_t)w->k + 1) & ~(size_t)1) * nr + k / 2 * 2 * nr + i * 2 + k % 2;
	return (p * (size_t)w->k + k) * nr + i;
}

enum { STEP = 256 };   /* columns packed at a time; even */

/* A weight and the stored parts that are packed into it. */
struct pack_ctx {
	struct weight *w;
	const struct weight_part *parts;
	int n;
	const struct gemm_kernels *g;
};

/* Columns [k0, k0 + kc) of row n of the stacked parts. */
static void stored_row(const struct pack_ctx *c, size_t n, size_t k0, size_t kc, float *out)
{
	const struct weight_part *p = c->parts;

	for (; n >= (size_t)p->n; p++)
		n -= (size_t)p->n;
	dtype_convert(DT_F32, out, p->dt, (const char *)p->data + (n * (size_t)c->w->k + k0) *
		      (size_t)dtype_size(p->dt), kc);
}

/* out[kc][nr]: columns [k0, k0 + kc) of the rows of panel p; rows past the end are zero. */
static void stored_panel(const struct pack_ctx *c, size_t p, size_t k0, size_t kc, float *out)
{
	size_t nr = (size_t)c->g->nr;
	float rows[GEMM_NR_MAX][STEP];

	for (size_t i = 0; i < nr; i++)
		if (p * nr + i < (size_t)c->w->n)
			stored_row(c, p * nr + i, k0, kc, rows[i]);
		else
			memset(rows[i], 0, sizeof rows[i]);
	c->g->transpose(out, nr, rows[0], STEP, (int)nr, kc);
}

/* The scales of the rows of panel p: max |W| / 127. */
static void find_scales(const struct pack_ctx *c, size_t p)
{
	size_t nr = (size_t)c->g->nr, k = (size_t)c->w->k;
	float t[STEP * GEMM_NR_MAX], top[GEMM_NR_MAX] = { 0 };

	for (size_t k0 = 0; k0 < k; k0 += STEP) {
		size_t kc = MIN((size_t)STEP, k - k0);

		stored_panel(c, p, k0, kc, t);
		for (size_t i = 0; i < kc * nr; i++)
			top[i % nr] = fmaxf(top[i % nr], fabsf(t[i]));
	}
	for (size_t i = 0; i < nr && p * nr + i < (size_t)c->w->n; i++)
		c->w->scale[p * nr + i] = top[i] / 127;
}

/* Rounds a panel to int8 by its rows' scales. */
static void quantise(const struct pack_ctx *c, size_t p, size_t kc, const float *t, int8_t *out)
{
	size_t nr = (size_t)c->g->nr;

	for (size_t i = 0; i < kc * nr; i++) {
		size_t n = p * nr + i % nr;
		float s = n < (size_t)c->w->n ? c->w->scale[n] : 0;

		out[i] = s > 0 ? (int8_t)rintf(t[i] / s) : 0;
	}
}

/* Packs panel p, STEP columns at a time. */
static void pack_panel(const struct pack_ctx *c, size_t p)
{
	struct weight *w = c->w;
	size_t nr = (size_t)c->g->nr, k = (size_t)w->k;
	float t[STEP * GEMM_NR_MAX];

	if (w->dt == DT_I8)
		find_scales(c, p);
	for (size_t k0 = 0; k0 < k; k0 += STEP) {
		size_t kc = MIN((size_t)STEP, k - k0), at = place(w, p * nr, k0);

		if (w->dt == DT_F32) {
			stored_panel(c, p, k0, kc, (float *)w->packed + at);
			continue;
		}
		stored_panel(c, p, k0, kc, t);
		if (w->dt == DT_BF16)
			c->g->pair_lines((uint32_t *)w->packed + at / 2, nr, t, nr, (int)nr, kc);
		else
			quantise(c, p, kc, t, (int8_t *)w->packed + at);
	}
}

static void pack_range(void *ctx, size_t begin, size_t end)
{
	for (size_t p = begin; p < end; p++)
		pack_panel(ctx, p);
}

void cpu_weight_pack(struct dev *d, struct weight *w, const struct weight_part *parts, int n)
{
	struct pack_ctx c = { .w = w, .parts = parts, .n = n, .g = gemm_cpu() };
	size_t nr = (size_t)c.g->nr;

	pool_for(d->pool, ((size_t)w->n + nr - 1) / nr, 1, pack_range, &c);
}

/* out[k] = W[row, :] as the products use it. */
void cpu_weight_row(struct dev *d, const struct weight *w, int row, float *out)
{
	size_t n = (size_t)row;

	(void)d;
	for (size_t k = 0; k < (size_t)w->k; k++) {
		size_t at = place(w, n, k);

		if (w->dt == DT_F32)
			out[k] = ((const float *)w->packed)[at];
		else if (w->dt == DT_BF16)
			out[k] = bf16_to_f32(((const uint16_t *)w->packed)[at]);
		else
			out[k] = (float)((const int8_t *)w->packed)[at] * w->scale[n];
	}
}
