/* Operand formats of attention, and the products over them. attn.h is the manual: "across" means
 * that a key's elements lie nr apart, "along" that they lie side by side. */
#include <string.h>

#include "base/mem.h"
#include "ops/cpu/attn.h"
#include "ops/cpu/cpu_ops.h"

/* The format for heads of width D; `fast` uses bf16 pairs where the CPU has the instruction. */
struct attn_format attn_format(int D, int fast)
{
	struct attn_format f = { .g = gemm_cpu(), .D = D, .fast = fast && gemm_has_fast() };

	f.nr = (size_t)f.g->nr;
	f.dp = ((size_t)D + f.nr - 1) / f.nr * f.nr;
	return f;
}

size_t cpu_kv_bytes(int HKV, int D, int fast)
{
	struct attn_format f = attn_format(D, fast);

	return (size_t)HKV * attn_block(&f) * sizeof(float);
}

/* --- blocks ------------------------------------------------------------------------------- */

/* Loads n rows into a block, transposed, so that a product runs over the row's elements. */
void attn_load_across(const struct attn_format *f, float *block, const float *x, size_t ld, int n)
{
	size_t depth = attn_depth(f, (size_t)f->D);

	if (n < KV_BLOCK)
		memset(block, 0, attn_across(f) * sizeof *block);
	for (size_t i = 0; i < (size_t)n; i += f->nr) {
		int h = (int)MIN(f->nr, (size_t)n - i);
		float *to = block + i * depth;

		if (f->fast)
			f->g->pair_rows((uint32_t *)(void *)to, f->nr, x + i * ld, ld, h, (size_t)f->D);
		else
			f->g->transpose(to, f->nr, x + i * ld, ld, h, (size_t)f->D);
	}
}

/* Loads n rows into a block without transposing them, so that a product runs over the rows. */
void attn_load_along(const struct attn_format *f, float *block, const float *x, size_t ld, int n)
{
	size_t D = (size_t)f->D, depth = attn_depth(f, KV_BLOCK);

	if (n < KV_BLOCK || D < f->dp)
		memset(block, 0, attn_along(f) * sizeof *block);
	for (size_t d = 0; d < D; d += f->nr) {
		size_t w = MIN(f->nr, D - d);
		float *to = block + d * depth;

		if (f->fast)
			f->g->pair_lines((uint32_t *)(void *)to, f->nr, x + d, ld, (int)w, (size_t)n);
		else
			for (int i = 0; i < n; i++)
				memcpy(to + (size_t)i * f->nr, x + (size_t)i * ld + d, w * sizeof *to);
	}
}

/* Writes one row into a block, element by element: the form of attn_load_across. */
void attn_put_across(const struct attn_format *f, float *block, int i, const float *x)
{
	size_t D = (size_t)f->D, at = (size_t)i / f->nr * f->nr * attn_depth(f, D) + (size_t)i % f->nr;
	uint16_t *half = (uint16_t *)(void *)block;

	for (size_t d = 0; d < D; d++)
		if (f->fast)
			half[2 * (at + d / 2 * f->nr) + d % 2] = f32_to_bf16(x[d]);
		else
			block[at + d * f->nr] = x[d];
}

/* Writes one row into a block: the form of attn_load_along. */
void attn_put_along(const struct attn_format *f, float *block, int i, const float *x)
{
	size_t row = (size_t)i, depth = attn_depth(f, KV_BLOCK);
	uint16_t *half = (uint16_t *)(void *)block;

	for (size_t d = 0; d < (size_t)f->D; d++) {
		size_t at = d / f->nr * f->nr * depth + d % f->nr;

		if (f->fast)
			half[2 * (at + row / 2 * f->nr) + row % 2] = f32_to_bf16(x[d]);
		else
			block[at + row * f->nr] = x[d];
	}
}

/* --- operands ----------------------------------------------------------------------------- */

/* Makes the left operand of a product from rows of x. */
void attn_left(const struct attn_format *f, float *out, const float *x, size_t ld, size_t rows, size_t n)
{
	if (!f->fast) {
		f->g->transpose(out, rows, x, ld, (int)rows, n);
		return;
	}
	for (size_t m = 0; m < rows; m += (size_t)f->g->mr) {
		size_t h = MIN((size_t)f->g->mr, rows - m);

		f->g->pair_rows((uint32_t *)(void *)(out + m * attn_depth(f, n)), h, x + m * ld, ld, (int)h, n);
	}
}

void attn_left_lines(const struct attn_format *f, float *out, const float *x, size_t ld, size_t rows, size_t n)
{
	for (size_t m = 0; m < rows; m += (size_t)f->g->mr) {
		size_t h = MIN((size_t)f->g->mr, rows - m);

		f->g->pair_lines((uint32_t *)(void *)(out + m * attn_depth(f, n)), h, x + m, ld, (int)h, n);
	}
}

void attn_right_lines(const struct attn_format *f, float *out, const float *x, size_t n)
{
	for (size_t d = 0; d < f->dp; d += f->nr)
		f->g->pair_lines((uint32_t *)(void *)(out + d * attn_depth(f, n)), f->nr, x + d, f->dp, (int)f->nr, n);
}

/* c (+)= a b over tiles of the matrix kernels. */
void attn_mul(const struct attn_format *f, const struct attn_mul *x)
{
	size_t mr = (size_t)f->g->mr, depth = attn_depth(f, x->k);

	for (size_t n = 0; n < x->cols; n += f->nr)
		for (size_t m = 0; m < x->rows; m += mr) {
			size_t h = MIN(mr, x->rows - m);
			const float *b = x->b + n / f->nr * x->panel;
			float *c = x->c + m * x->ldc + n;

			if (f->fast)
				f->g->tiledp[h](depth, (const uint32_t *)(const void *)(x->a + m * depth),
					(const uint32_t *)(const void *)b, c, x->ldc, x->load ? GEMM_GO_ON : GEMM_SET);
			else
				f->g->tile[h](x->k, x->a + m, x->as, b, x->bs, c, x->ldc, x->load ?
					      GEMM_GO_ON : GEMM_SET);
		}
}
