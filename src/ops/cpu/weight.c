/* Packed weights: making them from stored rows, and reading rows back. Format: gemm.h.
 *
 * int8: scale[n] = max |W[n, :]| / 127, q = round(W / scale), ties to even. */
#include <math.h>

#include "base/mem.h"
#include "ops/cpu/cpu.h"
#include "ops/cpu/gemm.h"

static size_t elements(const struct weight *w)
{
	size_t nr = (size_t)gemm_cpu()->nr, panels = ((size_t)w->n + nr - 1) / nr, k = (size_t)w->k;

	return panels * nr * (w->dt == DT_BF16 ? (k + 1) & ~(size_t)1 : k);
}

int weight_init(struct dev *d, struct weight *w, enum dtype dt, int n, int k, struct err *e)
{
	size_t body;

	*w = (struct weight){ .n = n, .k = k, .dt = dt };
	if (dt != DT_F32 && dt != DT_BF16 && dt != DT_I8)
		BUG("weights are not stored as %s", dtype_info(dt)->torch);
	body = (elements(w) * (size_t)dtype_size(dt) + 63) & ~(size_t)63;
	w->bytes = body + (dt == DT_I8 ? (size_t)n * sizeof(float) : 0);
	if (!(w->packed = dev_alloc(d, w->bytes, e)))
		return -1;
	if (dt == DT_I8)
		w->scale = (float *)(void *)((char *)w->packed + body);
	return 0;
}

void weight_release(struct dev *d, struct weight *w)
{
	dev_free(d, w->packed, w->bytes);
	*w = (struct weight){ .n = 0 };
}

/* Where element (n, k) is, in elements. */
static size_t place(const struct weight *w, size_t n, size_t k)
{
	size_t nr = (size_t)gemm_cpu()->nr, p = n / nr, i = n % nr;

	if (w->dt == DT_BF16)
		return p * (((size_t)w->k + 1) & ~(size_t)1) * nr + k / 2 * 2 * nr + i * 2 + k % 2;
	return (p * (size_t)w->k + k) * nr + i;
}

static float stored(const struct weight_part *p, size_t at)
{
	switch (p->dt) {
	case DT_F32: return ((const float *)p->data)[at];
	case DT_BF16: return bf16_to_f32(((const uint16_t *)p->data)[at]);
	case DT_F16: return f16_to_f32(((const uint16_t *)p->data)[at]);
	default: BUG("a stored weight of type %s", dtype_info(p->dt)->torch);
	}
}

/* Row `r` of a part as row `n` of the weight. */
static void pack_row(struct weight *w, const struct weight_part *p, size_t r, size_t n)
{
	size_t k = (size_t)w->k, nr = (size_t)gemm_cpu()->nr;
	float top = 0;

	if (w->dt == DT_F32) {
		float *o = (float *)w->packed + place(w, n, 0);

		for (size_t i = 0; i < k; i++)
			o[i * nr] = stored(p, r * k + i);
		return;
	}
	if (w->dt == DT_BF16) {
		uint16_t *o = w->packed;

		for (size_t i = 0; i < k; i++)
			o[place(w, n, i)] = f32_to_bf16(stored(p, r * k + i));
		return;
	}
	for (size_t i = 0; i < k; i++)
		top = fmaxf(top, fabsf(stored(p, r * k + i)));
	w->scale[n] = top / 127;
	for (size_t i = 0; i < k; i++)
		((int8_t *)w->packed)[place(w, n, i)] = top > 0 ? (int8_t)rintf(stored(p, r * k + i) / w->scale[n]) : 0;
}

struct pack_ctx {
	struct weight *w;
	const struct weight_part *parts;
	int n;
};

static void pack_range(void *ctx, size_t begin, size_t end)
{
	struct pack_ctx *c = ctx;
	size_t at = 0;

	for (int i = 0; i < c->n; i++) {
		size_t rows = (size_t)c->parts[i].n;

		for (size_t n = MAX(begin, at); n < MIN(end, at + rows); n++)
			pack_row(c->w, &c->parts[i], n - at, n);
		at += rows;
	}
}

void cpu_weight_pack(struct dev *d, struct weight *w, const struct weight_part *parts, int n)
{
	struct pack_ctx c = { .w = w, .parts = parts, .n = n };

	pool_for(d->pool, (size_t)w->n, (size_t)gemm_cpu()->nr, pack_range, &c);
}

/* out[k] = W[row, :] as the products use it. */
void cpu_weight_row(const struct weight *w, int row, float *out)
{
	size_t n = (size_t)row;

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
