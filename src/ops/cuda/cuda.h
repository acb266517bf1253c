/* The launchers of src/ops/cuda: a GPU's computations over raw device pointers.
 *
 * launch.def is the list. The .cu files define the launchers; the C files of this folder call them
 * through `struct cuda_launch` and build the ops of ops.def from them. A launcher enqueues on the
 * stream of its `struct cuda` and returns 0 or an error for cuda_explain. It never waits and never
 * allocates device memory (its parameters hold all it needs), so that calls can be recorded into a
 * graph. The same inputs give the same bits.
 *
 * Rows of activations are bf16, residual rows, statistics and parameters' gradients fp32. "act"
 * below is a bf16 element. Pointers are 16-byte aligned. */
#ifndef OPS_CUDA_CUDA_H
#define OPS_CUDA_CUDA_H

#include "dev/cuda.h"
#include "ops/sample.h"

/* --- products ----------------------------------------------------------------------------- */

enum cuda_gemm_kind {
	CUDA_GEMM_Y,               /* y[M, n] = x[M, k] W[n, k]^T */
	CUDA_GEMM_DX,              /* y[M, k] = x[M, n] W[n, k] */
	CUDA_GEMM_DW,              /* y[n, k] = w[M, n]^T x[M, k] */
	CUDA_GEMM_KINDS
};

/* Row-major operands with row strides ld*, in elements. y = alpha product + beta (add or y) (+
 * bias). */
struct cuda_gemm {
	int kind, M, n, k;
	const void *x, *w;
	void *y;
	size_t ldx, ldw, ldy;
	int x_dt, w_dt, y_dt;      /* DT_BF16 or, both of x and w, DT_F8E4M3; y DT_BF16 or DT_F32 */
	const float *x_scale;      /* fp8: [M], value = scale * code */
	const float *w_scale;      /* fp8: one for each row of w */
	const float *bias;         /* [n] or NULL; CUDA_GEMM_Y only */
	const void *add;           /* the matrix that beta multiplies, of y's type; NULL: y itself */
	size_t ldadd;
	float alpha, beta;
	int exact;                 /* a row's bits do not depend on M */
	int variant;               /* CUDA_GEMM_TUNED, CUDA_GEMM_FIRST: which algorithm */
};
enum { CUDA_GEMM_TUNED, CUDA_GEMM_FIRST };

/* --- attention over a pack ---------------------------------------------------------------- */

/* Row t of sequence s sees rows start[s]..t, and before them those of its prefix, as struct
 * attention says. Softmax of q k^T / sqrt(D). */
struct cuda_attention {
	int H, HKV, D;
	int T, sequences;
	int longest;               /* rows of the longest sequence, with those of its prefix */
	const int32_t *start;      /* [sequences + 1] on the device, start[0] = 0 */
	const int32_t *prefix;     /* [sequences] on the device; NULL: none has one */
	const void *qkv;           /* act [T][H + 2 HKV][D]: q heads, k heads, v heads; rotated */
	void *out;                 /* act [T][H][D] */
	float *lse;                /* [T][H], natural log of the softmax's denominator; forward: NULL: not kept */
	const void *dout;          /* grad: act [T][H][D] */
	void *dqkv;                /* grad: set, act [T][H + 2 HKV][D] */
	void *work;                /* of cuda_attention_work bytes */
	size_t work_bytes;
	int variant;               /* CUDA_ATTN_*: which kernel */
	int exact;                 /* the reduction order of cuda_attention_paged's exact mode */
};
/* BEST is cuDNN if it is installed and faster, else our own kernel. Only our own kernel handles
 * prefixes. */
enum { CUDA_ATTN_BEST, CUDA_ATTN_OWN, CUDA_ATTN_CUDNN };

/* --- attention over pages ----------------------------------------------------------------- */

/* New rows of cached sequences: first their keys and values go to the pages, then they attend. A
 * page holds 64 positions of all layers; this layer's part of page p is at kv + p * stride: [2 (k,
 * v)][HKV][64][D] of kv_dt. Run r has rows row[r]..row[r + 1], the first of them at position
 * length[r]; its pages are table[r * table_ld + 0, 1, ...]. Runs of a group begin with the same
 * `group_pages` full pages, which are read once for the group. Groups cover all runs; a run that
 * shares no page is a group of its own with 0 pages. All arrays are on the device, and the call
 * itself holds nothing but counts and bounds, so that a recorded graph stays valid. */
struct cuda_paged {
	int H, HKV, D;
	int rows, runs;            /* counts of this call */
	int longest_rows;          /* of a run; 1: decoding */
	int longest;               /* a bound of positions of any run after this call */
	const int32_t *row;        /* [runs + 1] */
	const int32_t *length;     /* [runs] */
	const int32_t *table;
	int table_ld;
	int groups;                /* 0: nothing is shared */
	const int32_t *group;      /* [groups + 1] first run of each */
	const int32_t *group_pages;    /* [groups] */
	const int32_t *member;     /* [runs] the runs in the order of groups; NULL: 0, 1, 2, ... */
	const void *qkv;           /* act [rows][H + 2 HKV][D] */
	void *out;                 /* act [rows][H][D] */
	void *kv;
	size_t stride;             /* bytes from a page to the next */
	int kv_dt;                 /* DT_BF16 or DT_F8E4M3 (unscaled values) */
	void *work;                /* of cuda_paged_work bytes */
	size_t work_bytes;
	int exact;                 /* keys in fixed pieces from position 0, the order of exact packs */
};

/* --- sampling ----------------------------------------------------------------------------- */

/* struct sample of ops.h, with stop tests. If top-k, top-p or min-p cuts tokens off, the CPU walks
 * the remaining tokens in another order than by id, so the two devices then draw different
 * tokens. */
struct cuda_sample {
	int rows, V;
	const void *logits;        /* [rows][V] */
	int logits_dt;             /* DT_BF16 or DT_F32 */
	const int32_t *from;       /* [rows] the logits that each row draws from; NULL: its own */
	const struct sample_row *row;      /* [rows] on the device */
	const int32_t *drawn;      /* [rows] tokens this row's stream has given before */
	uint32_t *seen;            /* as in struct sample */
	const int32_t *stop;       /* [stops] ids that end a sample; on the device */
	int stops;
	int32_t *token;            /* [rows] */
	float *logprob;            /* [rows] */
	int32_t *done;             /* [rows]: 1 where the token is a stop id, else left alone */
};

/* Advances rows after a draw: the drawn token becomes the next input, one position further. The
 * token is also stored at index *step of the lists, and *step is incremented. */
struct cuda_advance {
	int rows;                  /* at most 1024 */
	const int32_t *token;      /* [rows] */
	const float *logprob;
	int32_t *next;             /* [rows] input of the next step */
	int32_t *pos, *length, *drawn;     /* [rows] */
	int32_t *step;             /* [1] */
	int32_t *tokens;           /* [steps][rows] */
	float *logprobs;
};

/* --- rows --------------------------------------------------------------------------------- */

/* q and k of rows: norm of each head where qw is given, then rotation. In place in qkv. */
struct cuda_qk {
	int T, H, HKV, D;
	void *qkv;                 /* act [T][H + 2 HKV][D] */
	void *raw;                 /* act [T][H + HKV][D] before the norm; NULL: no norm or not kept */
	float *rstd;               /* [T][H + HKV]; NULL with raw */
	const float *qw, *kw;      /* [D]; NULL: no norm */
	float eps;
	const float *cos, *sin;    /* [positions][D / 2] */
	const int32_t *pos;        /* [T] */
	float *dqw, *dkw;          /* grad: added to; NULL: not wanted */
	float *work;               /* grad with dqw: of cuda_qk_work bytes */
};

/* SwiGLU of rows whose adapters are not added yet: gate += u_gate B_gate^T and so for up; in
 * backward also dh += du A_down. All of rank r. */
struct cuda_swiglu {
	int T, F, r;
	const void *gu;            /* act [T][2F] */
	void *h;                   /* act [T][F] */
	const void *dh;            /* grad: act [T][F] */
	void *dgu;                 /* grad: act [T][2F]; may be gu */
	const void *u;             /* act [T][ldu], gate's from column gate_at on, up's from up_at */
	size_t ldu, gate_at, up_at;
	const void *gate_b, *up_b; /* act [F][r]; NULL: none */
	const void *du;            /* grad: act [T][lddu] */
	size_t lddu;
	const void *down_a;        /* grad: act [r][F]; NULL: none */
};

struct cuda_xent {
	int rows, V;
	float *logits;             /* [rows][V]; where coef is given, dlogits take their place: act, rows 2V apart */
	const int32_t *target;     /* [rows] */
	const float *coef;         /* [rows] or NULL: dLoss/dlogp */
	float *logp;               /* [rows] */
	float *entropy;            /* [rows] or NULL */
};

struct cuda_adamw {
	float lr, beta1, beta2, eps, decay, correct1, correct2, scale;
};

#ifdef __cplusplus
#define LAUNCH(name, params) CUDA_EXPORT int name params;
#include "ops/cuda/launch.def"
#undef LAUNCH
#else
struct cuda_launch {
#define LAUNCH(name, params) int (*name) params;
#include "ops/cuda/launch.def"
#undef LAUNCH
};
#endif

#endif
