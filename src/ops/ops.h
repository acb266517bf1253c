/* The numeric ops of the model engine.
 *
 * ops.def is the list; the CPU's versions (ops/cpu/) are the definition of correct, ops/cuda/ has
 * the GPU's. Every op works on dense rows in device memory (row strides are given where they may
 * differ from the width) and never allocates. On the CPU the bits of an output row do not depend on
 * the other rows of the call. `_grad` ops add to parameter gradients; each says whether it adds to
 * dx or sets it.
 *
 * The device chooses the type of activations (dev->act): `act *` is fp32 on the CPU and bf16 on a
 * GPU, and only ops look inside. `float *` is fp32 everywhere: residual rows, statistics, logits,
 * parameters and their gradients. Letters: T or M rows, C width, H query heads, HKV key heads, D
 * head width, F feed-forward, V vocabulary. */
#ifndef OPS_OPS_H
#define OPS_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "dev/dev.h"
#include "ops/sample.h"
#include "tensor/tensor.h"

typedef void act;

/* Element i of activations. */
static inline act *act_at(const struct dev *d, const act *p, size_t i)
{
	return (char *)(uintptr_t)p + i * (size_t)dtype_size(d->act);
}

/* The row stride of gradients that lie where rows of V logits were. */
static inline size_t act_in_logits(const struct dev *d, size_t V) { return V * sizeof(float) /
								    (size_t)dtype_size(d->act); }

/* --- matrices ------------------------------------------------------------------------ */

/* W [n, k] of y = x W^T, packed for the device. */
struct weight {
	int n, k;
	enum dtype dt;             /* CPU: DT_F32, DT_BF16 or DT_I8; GPU: DT_BF16, DT_F8E4M3 or DT_I8 */
	void *packed;
	size_t bytes;              /* of packed, including scale and across */
	float *scale;              /* 8 bits: [n], W = scale * q */
	void *across;              /* DT_F8E4M3: W^T for gradients, quantised by its own rows */
	float *across_scale;       /* [k] */
	int fast;                  /* DT_BF16: the other operand is rounded to bf16 too where that is faster */
};

/* Rows of W in the checkpoint's layout; several parts stack into one weight (q, k, v). */
struct weight_part {
	const void *data;          /* [n, k] dense */
	enum dtype dt;             /* DT_F32, DT_BF16 or DT_F16 */
	int n;
	int mapped;                /* data is in a mapped file, in host memory, for every device */
};

/* Decides how the device stores a W[n, k] that was requested as `dt`, and the bytes it takes: the
 * first half of weight_init. */
void weight_plan(const struct dev *d, struct weight *w, enum dtype dt, int n, int k);
/* Puts a planned weight at `p`, which has room for w->bytes. */
void weight_place(const struct dev *d, struct weight *w, void *p);
int weight_init(struct dev *d, struct weight *w, enum dtype dt, int n, int k, struct err *e);
void weight_release(struct dev *d, struct weight *w);

/* y[M, n] = x W^T (+ bias[n]) (+ add[M, n]); with `accumulate`, y += x W^T and no more. */
struct linear {
	int M;
	const act *x;
	size_t ldx;
	void *y;                   /* act, or fp32 with `f32` */
	size_t ldy;
	int f32;                   /* y is residual rows or logits */
	const float *bias;         /* NULL: none */
	const float *add;          /* NULL: none; must not be y, which is fp32 then */
	size_t ldadd;
	int accumulate;
};

/* Adapters that read the same rows x[M, k]. Their u_i = scale x A_i^T are side by side in u[M,
 * ldu].
 *   lora:       y_i[M, n_i] += u_i B_i^T
 *   lora_grad:  dB_i += dy_i^T u_i,  du_i = scale dy_i B_i,  dA_i += du_i^T x,  dx (+)= du_i A_i */
enum { LORA_PARTS = 3 };
struct lora_pass {
	int M, parts;
	const act *x;
	size_t ldx, ldy, ldu;
	int f32;                   /* y_i are residual rows */
	float scale;
	act *u;
	act *du;                   /* grad: [M, ldu], working rows */
	act *dx;                   /* grad: [M, ldx]; NULL: not wanted */
	int add;                   /* grad: dx is added to from the first part on */
	int later;                 /* y (grad: dx) is read by swiglu (swiglu_grad) next, which gets this pass too */
	struct lora_part {
		const struct weight *a, *b;   /* [r, k], [n, r] */
		size_t at;                    /* column of u_i in u */
		void *y;                      /* [M, n] act or fp32; grad: dy_i, act */
		float *da, *db;               /* grad: [r, k], [n, r] */
	} part[LORA_PARTS];
};

/* h[T, F] = silu(g) u of gu[T, 2F]. */
struct swiglu {
	int T, F;
	const act *gu;
	act *h;
	const act *dh;             /* grad: [T, F] */
	act *dgu;                  /* grad: [T, 2F]; may be gu */
	/* passes whose `later` let the device leave their product to this op; NULL: none */
	const struct lora_pass *lora;     /* of gate and up: gu is read with it */
	const struct lora_pass *down;     /* grad, of down: dh is read with it */
};

/* --- attention ------------------------------------------------------------------------ */

/* Block-causal attention over a pack: rows of qkv are [H + 2 HKV][D], keys rotated already. Row t
 * of sequence s sees rows start[s]..t. With `prefix`, sequences may continue another one: those
 * with prefix[s] = p see all rows of p first, as if these were in front of them. p has no prefix
 * itself, and the sequences that continue it follow it in the pack. */
struct attention {
	int H, HKV, D;
	int fast;                  /* products of bf16 operands, as a fast weight's */
	int T, sequences;
	int longest;               /* rows of the longest sequence, with those of its prefix */
	const int32_t *start;      /* [sequences + 1] */
	const int32_t *prefix;     /* [sequences] or NULL; -1 if a sequence has no prefix */
	const act *qkv;            /* [T, (H + 2 HKV) D] */
	act *out;                  /* [T, H D] */
	float *lse;                /* [T, H]: log of the softmax's denominator; NULL: not kept */
	const act *dout;           /* grad: [T, H D] */
	act *dqkv;                 /* grad: set, [T, (H + 2 HKV) D] */
};

/* New rows of cached sequences, a run of them each. Run r has rows row[r]..row[r + 1] of qkv and
 * out; length[r] positions are before them. Block b of its sequence is block[r * block_ld + b];
 * this layer's part of it is at kv + that * stride. Neighbouring runs that begin with the same
 * blocks may be told by `group`: group g is runs group[g]..group[g + 1], which share
 * `group_blocks[g]`. */
struct attention_cached {
	int H, HKV, D;
	int fast;                  /* blocks hold bf16 */
	int e4m3;                  /* a GPU's blocks hold 8 bits instead of bf16 */
	int runs, rows;
	int longest_rows;          /* of a run */
	int longest;               /* a bound of any run's positions after these rows */
	const int32_t *row;        /* [runs + 1] */
	const int32_t *length;     /* [runs] */
	const int32_t *block;
	int block_ld;
	int groups;                /* 0: not told */
	const int32_t *group, *group_blocks;
	const act *qkv;
	act *out;
	char *kv;                  /* this layer's part of block 0 */
	size_t stride;             /* bytes from a block to the next */
	size_t layer;              /* bytes of one layer in a block */
};

enum { KV_BLOCK = 64 };
/* Bytes that one layer of one block takes. */
size_t kv_bytes(const struct dev *d, int HKV, int D, int fast, int e4m3);

/* --- loss ----------------------------------------------------------------------------- */

/* Rows of hidden state against the vocabulary, a chunk of rows at a time: only `rows` x V
 * logits exist at once (in `logits`). For row i with target t >= 0:
 *   logp = logit[t] - lse,  entropy = lse - sum p logit,
 *   coef given: dlogit = coef (onehot(t) - p)   (from dLoss/dlogp = coef)               */
struct xent {
	int rows, V;
	/* [rows, V]; where coef is given, dlogits take their place: act, rows act_in_logits
	 * apart */
	float *logits;
	const int32_t *target;     /* [rows] */
	const float *coef;         /* [rows] or NULL */
	float *logp;               /* [rows] */
	float *entropy;            /* [rows] or NULL */
};

/* --- sampling ------------------------------------------------------------------------- */

/* Draws one token for each row by the rules of ops/sample.h. */
struct sample {
	int rows, V;
	const float *logits;       /* [.., V] */
	const int32_t *from;       /* [rows] the logits that each row draws from; NULL: its own */
	const struct sample_row *row;
	const int32_t *drawn;      /* [rows] tokens that the row's stream has given before */
	/* [rows][(V + 31) / 32] a bit for each token of the text, of rows with a penalty; the
	 * drawn one is added; NULL: no row has one */
	uint32_t *seen;
	int32_t *token;            /* [rows] */
	float *logprob;            /* [rows] */
};

/* Makes the tokens that were drawn the input of the next step, one position further. They are kept
 * at place *step of the lists, and *step moves on. */
struct advance {
	int rows;
	const int32_t *token;      /* [rows] */
	const float *logprob;
	int32_t *next, *pos, *length, *drawn;   /* [rows] */
	int32_t *step;             /* [1] */
	int32_t *tokens;           /* [steps][rows] */
	float *logprobs;
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
	act *qkv;                  /* in place */
	act *raw;                  /* [T, (H + HKV) D] before the norm, kept for the gradient; NULL: no norm */
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

const struct ops *ops_of(struct dev *d);
/* Scratch that ops need for sizes up to these: for dev_reserve. */
struct ops_sizes {
	int rows, widest, longest; /* rows of a call, largest n or k of a weight, longest sequence of a pack */
	int tokens;                /* rows of a pack, for attention */
	int positions;             /* of a cached sequence; 0: nothing is cached */
	int ranks;                 /* of the adapters that read the same rows, together */
	int H, HKV, D, V;
};
int ops_reserve(struct dev *d, const struct ops_sizes *s, struct err *e);

#endif
