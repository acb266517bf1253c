/* Attention on the CPU: blocks of 64 keys, products of tiles, and the vector loops over a tile
 * of scores. */
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

/* --- sequences of a pack ------------------------------------------------------------------ */

/* Rows [first, first + n) of a pack, with rows [from, from + before) in front of them. */
struct attn_seq { int first, n, from, before; };

static inline struct attn_seq attn_seq(const struct attention *a, int s)
{
	int p = a->prefix ? a->prefix[s] : -1;
	struct attn_seq q = { .first = a->start[s], .n = a->start[s + 1] - a->start[s] };

	if (p >= 0)
		q.from = a->start[p], q.before = a->start[p + 1] - q.from;
	return q;
}

/* The row of position i of the sequence. */
static inline size_t attn_row(const struct attn_seq *s, int i) { return (size_t)(i < s->before ?
		s->from + i : s->first + i - s->before); }

/* --- formats -------------------------------------------------------------------------- */

/* Operands of the tile products are 32-bit words: floats, or (fast) pairs of bf16 along the
 * dimension that is summed over, half as many. */
struct attn_format {
	const struct gemm_kernels *g;
	int D;
	size_t nr, dp;             /* dp: D rounded up to nr */
	int fast;
};

struct attn_format attn_format(int D, int fast);
/* Words of n summed elements. */
static inline size_t attn_depth(const struct attn_format *f, size_t n) { return f->fast ? (n + 1) / 2 : n; }

/* A block of 64 rows in two forms: "across", the columns are rows of x and the sum runs over
 * D (keys of q k^T): panels [64 / nr][depth(D)][nr]; "along", the columns are dimensions and the
 * sum runs over the 64 rows (values of p v): panels [dp / nr][depth(64)][nr]. */
static inline size_t attn_across(const struct attn_format *f) { return KV_BLOCK * attn_depth(f, (size_t)f->D); }
static inline size_t attn_along(const struct attn_format *f) { return f->dp * attn_depth(f, KV_BLOCK); }
static inline size_t attn_block(const struct attn_format *f) { return attn_across(f) + attn_along(f); }
/* n <= 64 rows of x, the rest zero. */
void attn_load_across(const struct attn_format *f, float *block, const float *x, size_t ld, int n);
void attn_load_along(const struct attn_format *f, float *block, const float *x, size_t ld, int n);
/* One row at place i. */
void attn_put_across(const struct attn_format *f, float *block, int i, const float *x);
void attn_put_along(const struct attn_format *f, float *block, int i, const float *x);

/* --- products --------------------------------------------------------------------------- */

/* The left operand from x[rows][n] (sum over n): floats [n][rows], or pairs by tiles of MR
 * rows. And from lines x[n][rows] (sum over the lines), fast only: floats are used in place. */
void attn_left(const struct attn_format *f, float *out, const float *x, size_t ld, size_t rows, size_t n);
void attn_left_lines(const struct attn_format *f, float *out, const float *x, size_t ld, size_t rows, size_t n);
/* The right operand from lines x[n][dp]: pairs in panels of nr, fast only. */
void attn_right_lines(const struct attn_format *f, float *out, const float *x, size_t n);

/* C[rows][cols] (+)= A B, summed over k. */
struct attn_mul {
	size_t k, rows, cols;
	const float *a;
	size_t as;                 /* floats: from one k to the next */
	const float *b;
	size_t bs, panel;          /* floats: from one k to the next; words from a panel to the next */
	float *c;
	size_t ldc;
	int load;
};
void attn_mul(const struct attn_format *f, const struct attn_mul *x);

#endif
