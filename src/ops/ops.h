/* The numeric ops of the model engine.
 *
 * ops.def is the list; the CPU's versions (ops/cpu/) are the definition of correct. Every op
 * works on dense fp32 rows in device memory (row strides are given where they may differ from
 * the width), never allocates, and gives each output row the same bits whatever other rows
 * the call has. `_grad` ops add to parameter gradients and say whether they add to or set dx.
 * Letters: T or M rows, C width, H query heads, HKV key heads, D head width, F feed-forward,
 * V vocabulary. */
#ifndef OPS_OPS_H
#define OPS_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "dev/dev.h"
#include "tensor/tensor.h"

/* --- matrices ------------------------------------------------------------------------ */

/* W [n, k] of y = x W^T, packed for the device. */
struct weight {
	int n, k;
	enum dtype dt;             /* DT_F32, DT_BF16 or DT_I8 */
	void *packed;
	size_t bytes;              /* of packed, with the scales behind it */
	float *scale;              /* DT_I8: [n], W = scale * q */
	int fast;                  /* DT_BF16: the other operand is rounded to bf16 too where that is faster */
};

/* Rows of W as they are stored; several parts stack into one weight (q, k, v). */
struct weight_part {
	const void *data;          /* [n, k] dense */
	enum dtype dt;             /* DT_F32, DT_BF16 or DT_F16 */
	int n;
};

int weight_init(struct dev *d, struct weight *w, enum dtype dt, int n, int k, struct err *e);
void weight_release(struct dev *d, struct weight *w);

/* y[M, n] = x W^T (+ bias[n]) (+ add[M, n]); with `accumulate`, y += x W^T and no more. */
struct linear {
	int M;
	const float *x;
	size_t ldx;
	float *y;
	size_t ldy;
	const float *bias;         /* NULL: none */
	const float *add;          /* NULL: none; must not be y */
	size_t ldadd;
	int accumulate;
};

/* y[M, n_i] += scale (x A_i^T) B_i^T for adapters that read the same rows; u_i = scale x A_i^T
 * is left for the gradient. */
enum { LORA_PARTS = 3 };
struct lora_pass {
	int M, parts;
	const float *x;
	size_t ldx, ldy;
	float scale;
	struct lora_part {
		const struct weight *a, *b;   /* [r, k], [n, r] */
		float *u, *y;                 /* [M, r] dense, [M, n] */
	} part[LORA_PARTS];
};

/* --- attention ------------------------------------------------------------------------ */

/* Block-causal attention over a pack: rows of qkv are [H + 2 HKV][D], keys rotated already.
 * Row t of sequence s sees rows start[s]..t. */
struct attention {
	int H, HKV, D;
	int fast;                  /* products of bf16 operands, as a fast weight's */
	int sequences;
	const int32_t *start;      /* [sequences + 1] */
	const float *qkv;          /* [T, (H + 2 HKV) D] */
	float *out;                /* [T, H D] */
	float *lse;                /* [T, H]: log of the softmax's denominator; NULL: not kept */
	const float *dout;         /* grad: [T, H D] */
	float *dqkv;               /* grad: set, [T, (H + 2 HKV) D] */
};

/* A run of new rows of one cached sequence. Block b of the sequence is at kv + block[b]
 * * stride + layer part; see kv_floats. */
struct kv_run {
	int row, rows;             /* in qkv and out */
	int length;                /* positions before the first of these rows */
	const int32_t *block;      /* at least (length + rows + 63) / 64 entries */
};

struct attention_cached {
	int H, HKV, D;
	int fast;                  /* blocks hold bf16 */
	int runs;
	const struct kv_run *run;
	const float *qkv;
	float *out;
	float *kv;                 /* this layer's part of block 0 */
	size_t stride;             /* floats from a block to the next */
};

enum { KV_BLOCK = 64 };
/* Floats that one layer of one block takes. */
size_t kv_floats(int HKV, int D, int fast);

/* --- loss ----------------------------------------------------------------------------- */

/* Rows of hidden state against the vocabulary, a chunk of rows at a time: only `rows` x V
 * logits exist at once (in `logits`). For row i with target t >= 0:
 *   logp = logit[t] - lse,  entropy = lse - sum p logit,
 *   coef given: dlogit = coef (onehot(t) - p)   (from dLoss/dlogp = coef)               */
struct xent {
	int rows, V;
	float *logits;             /* [rows, V]: in logits, out dlogits where coef is given */
	const int32_t *target;     /* [rows] */
	const float *coef;         /* [rows] or NULL */
	float *logp;               /* [rows] */
	float *entropy;            /* [rows] or NULL */
};

/* --- optimizer ------------------------------------------------------------------------ */

struct adamw {
	float lr, beta1, beta2, eps, decay;
	float correct1, correct2;  /* 1 - beta^step */
	float scale;               /* of the gradient: clipping */
};

/* RoPE and, where given, RMSNorm of each head of q and k before it (Qwen3). */
struct qk {
	int T, H, HKV, D;
	float *qkv;                /* in place */
	float *raw;                /* [T, (H + HKV) D] before the norm, kept for the gradient; NULL: no norm */
	float *rstd;               /* [T, H + HKV] */
	const float *qw, *kw;      /* [D] */
	float eps;
	const float *cos, *sin;    /* [positions, D / 2] */
	const int32_t *pos;        /* [T] */
	float *dqw, *dkw;          /* grad: added to; NULL: not wanted */
};

struct dropout {
	uint64_t seed, place;      /* the mask is a function of these and the element's index */
	float p;
};

/* --- the table ------------------------------------------------------------------------- */

struct ops {
#define OP(name, params) void (*name) params;
#include "ops/ops.def"
#undef OP
};

const struct ops *ops_of(const struct dev *d);
/* Scratch that ops need for sizes up to these: for dev_reserve. */
struct ops_sizes {
	int rows, widest, longest; /* rows of a call, largest n or k of a weight, longest sequence */
	int tokens;                /* rows of a pack, for attention */
	int H, HKV, D, V;
};
int ops_reserve(struct dev *d, const struct ops_sizes *s, struct err *e);

#endif
