/* Attention on the CPU: blocks of 64 keys, and the vector loops over a tile of scores. */
#ifndef OPS_CPU_ATTN_H
#define OPS_CPU_ATTN_H

#include "base/cpu.h"
#include "ops/cpu/gemm.h"
#include "ops/ops.h"

enum { ATTN_ROWS = 48 };   /* query rows of a tile: a multiple of every level's MR */

struct attn_kernels {
	/* One step of the running softmax over s[R][64]: row i sees its first valid[i] keys.
	 * s becomes exp(s - max); acc[R][dp], m[R], l[R] are rescaled to the new max. */
	void (*softmax)(float *s, int R, const int32_t *valid, float *m, float *l, float *acc, int dp);
	/* s = exp(s - lse) where visible, else 0. */
	void (*prob)(float *s, int R, const int32_t *valid, const float *lse);
	/* ds = p (dp - delta), in dp. */
	void (*dscore)(float *dp, const float *p, int R, const float *delta);
};

SIMD_DECLARE(const struct attn_kernels *, attn_kernels, (void))

static inline const struct attn_kernels *attn_cpu(void) { return SIMD_PICK(attn_kernels)(); }

/* A block holds, for one key head, K as panels [64 / nr][D][nr] (columns are keys) and V as
 * panels [dp / nr][64][nr] (columns are dimensions), dp being D rounded up to nr. */
static inline size_t attn_dp(int D)
{
	size_t nr = (size_t)gemm_cpu()->nr;

	return ((size_t)D + nr - 1) / nr * nr;
}
static inline size_t attn_block(int D) { return KV_BLOCK * ((size_t)D + attn_dp(D)); }
/* Puts one key or value [D] at place `i` of a block. */
void attn_put_k(float *block, int D, int i, const float *k);
void attn_put_v(float *block, int D, int i, const float *v);

/* C[rows][dp] (+)= A B over tiles: A is [k][as] with `rows` columns, B [k][bs] with dp columns. */
struct attn_mul {
	size_t k, rows, cols;
	const float *a;
	size_t as;
	const float *b;
	size_t bs, panel;          /* from a row to the next, from a panel to the next */
	float *c;
	size_t ldc;
	int load;
};
void attn_mul(const struct gemm_kernels *g, const struct attn_mul *x);

#endif
