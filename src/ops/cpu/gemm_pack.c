/* Packs the operands of matrix products into the order in which the tile kernels read them.
 * gemm_job.h is the manual. */
#include <string.h>

#include "base/mem.h"
#include "ops/cpu/gemm_job.h"

static size_t floats(size_t n) { return n * sizeof(float); }

/* Bytes of one packed panel; bf16 comes in pairs, so an odd k is rounded up. */
size_t gemm_panel_bytes(const struct weight *w, int nr)
{
	size_t k = (size_t)w->k;

	if (w->dt == DT_BF16)
		return ((k + 1) & ~(size_t)1) * (size_t)nr * 2;
	return k * (size_t)nr * (w->dt == DT_I8 ? 1 : 4);
}

/* Rows [k0, k0 + kc) of panel p as floats: borrowed, or widened into `tmp`. k0 is even. */
const float *gemm_panel_f32(const struct gemm_job *j, int p, size_t k0, size_t kc, float *tmp)
{
	const char *base = (const char *)j->w->packed + (size_t)p * gemm_panel_bytes(j->w, j->k->nr);
	size_t at = k0 * (size_t)j->k->nr;

	if (j->w->dt == DT_F32)
		return (const float *)(const void *)base + at;
	if (j->w->dt == DT_BF16)
		j->k->widen16(tmp, (const uint16_t *)(const void *)base + at, kc);
	else
		j->k->widen8(tmp, (const int8_t *)base + at, kc);
	return tmp;
}

/* B panel p, rows [k0, k0 + kc), of the transposed weight: [kc][nr] with B[n][j] = W[n][p nr +
 * j]. */
static void pack_transposed(const struct gemm_job *j, int p, size_t k0, size_t kc, float *out, float *tmp)
{
	size_t nr = (size_t)j->k->nr, col = (size_t)p * nr;
	size_t cols = MIN(nr, (size_t)j->w->k - col);

	for (size_t n = 0; n < kc; n += nr) {
		size_t rows = MIN(nr, kc - n);
		const float *src = gemm_panel_f32(j, (int)((k0 + n) / nr), col, cols, tmp);

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

/* B panel p of a plain matrix; columns past the end are zero. */
static void pack_rows(const struct gemm_job *j, int p, size_t k0, size_t kc, float *out)
{
	size_t nr = (size_t)j->k->nr, col = (size_t)p * nr, cols = MIN(nr, (size_t)j->N - col);
	const float *src = j->rows + k0 * j->ldrows + col;

	for (size_t k = 0; k < kc; k++, src += j->ldrows, out += nr) {
		memcpy(out, src, floats(cols));
		if (cols < nr)
			memset(out + cols, 0, floats(nr - cols));
	}
}

/* B panel p in whichever form the product has. */
void gemm_pack_b(const struct gemm_job *j, int p, size_t k0, size_t kc, void *out, float *tmp)
{
	size_t nr = (size_t)j->k->nr;
	float *wide = j->fast ? tmp + nr * nr : out;

	if (j->rows && j->fast && ((size_t)p + 1) * nr <= (size_t)j->N) {
		j->k->pair_lines(out, nr, j->rows + k0 * j->ldrows + (size_t)p * nr, j->ldrows, (int)nr, kc);
		return;
	}
	if (j->rows)
		pack_rows(j, p, k0, kc, wide);
	else
		pack_transposed(j, p, k0, kc, wide, tmp);
	if (j->fast)
		j->k->pair_lines(out, nr, wide, nr, (int)nr, kc);
}

/* --- A -------------------------------------------------------------------------------- */

/* A tile whose k runs along memory is transposed; one whose rows do is copied. */
static void tile_floats(const struct gemm_job *j, const float *src, size_t h, size_t kc, float *out)
{
	if (j->a_k == 1) {
		j->k->transpose(out, h, src, j->a_m, (int)h, kc);
		return;
	}
	for (size_t k = 0; k < kc; k++)
		memcpy(out + k * h, src + k * j->a_k, floats(h));
}

/* The same as pairs of bf16. */
static void tile_pairs(const struct gemm_job *j, const float *src, size_t h, size_t kc, uint32_t *out)
{
	if (j->a_k == 1)
		j->k->pair_rows(out, h, src, j->a_m, (int)h, kc);
	else
		j->k->pair_lines(out, h, src, j->a_k, (int)h, kc);
}

/* Packs rows of A, tile by tile. */
void gemm_pack_a(const struct gemm_job *j, size_t m0, size_t rows, size_t k0, size_t kc, void *out)
{
	uint32_t *to = out;

	for (size_t m = 0; m < rows; ) {
		size_t h = MIN((size_t)j->k->mr, rows - m);
		const float *src = j->a + (m0 + m) * j->a_m + k0 * j->a_k;

		if (j->fast)
			tile_pairs(j, src, h, kc, to);
		else
			tile_floats(j, src, h, kc, (float *)(void *)to);
		to += h * (j->fast ? (kc + 1) / 2 : kc);
		m += h;
	}
}
