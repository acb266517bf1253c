/* Operators of neural networks: products, convolutions, pools, norms, attention, losses.
 * The conventions of num.h hold. Weights and biases that may be absent are NULL. */
#ifndef NUM_NN_H
#define NUM_NN_H

#include "num/num.h"

/* Converts a result from the carrier to `dt` in place; releases it on failure. */
int num_settle(struct num_ctx *c, struct tensor *t, enum dtype dt, struct err *e);

/* --- products (matmul.c, einsum.c) ------------------------------------------------------- */

/* C [m, n] = alpha A [m, k] B [k, n] + beta C over row-major memory of f32 or f64. */
struct num_gemm {
	enum dtype dt;
	int ta, tb;                     /* A, B are stored transposed */
	int64_t m, n, k, lda, ldb, ldc; /* ld: elements between stored rows */
	const void *a, *b;
	void *c;
	double alpha, beta;
};
void num_gemm(const struct num_gemm *g);    /* on the calling thread */
void num_gemm_pool(struct pool *p, const struct num_gemm *g);    /* rows are divided among threads */

int num_mm(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	   struct err *e);
int num_bmm(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	    struct err *e);
int num_matmul(struct num_ctx *c, struct tensor *out, const struct tensor *a,
	       const struct tensor *b, struct err *e);
/* beta x + alpha (a b): mm, bmm or mv by the ranks of a and b. */
int num_addmm(struct num_ctx *c, struct tensor *out, const struct tensor *x, const struct tensor *a,
	      const struct tensor *b, double beta, double alpha, struct err *e);
int num_linear(struct num_ctx *c, struct tensor *out, const struct tensor *x,
	       const struct tensor *w, const struct tensor *b, struct err *e);
/* Reduced QR decomposition of a matrix. */
int num_qr(struct num_ctx *c, struct tensor *q, struct tensor *r, const struct tensor *t,
	   struct err *e);
int num_einsum(struct num_ctx *c, struct tensor *out, struct str spec,
	       const struct tensor *const *t, int n, struct err *e);

/* --- convolutions (conv.c, convt.c) ------------------------------------------------------- */

/* Parameters of a convolution. */
struct num_conv {
	int nd;                 /* 1, 2, 3 spatial dimensions */
	int64_t stride[3], lo[3], hi[3], dilation[3], extra[3];   /* lo, hi: padding; extra: output_padding */
	int64_t groups;
};
/* x [N, C, ...] or [C, ...]; w [O, C/groups, ...]; transposed: w [C, O/groups, ...]. */
int num_conv(struct num_ctx *c, struct tensor *out, const struct tensor *x, const struct tensor *w,
	     const struct tensor *b, const struct num_conv *p, struct err *e);
int num_conv_transpose(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		       const struct tensor *w, const struct tensor *b, const struct num_conv *p,
		       struct err *e);

/* --- pools (pooling.c) ------------------------------------------------------------ */

/* Parameters of a pool. */
struct num_pool {
	int nd;                 /* 1, 2 or 3 spatial dimensions */
	int64_t kernel[3], stride[3], pad[3], dilation[3];
	int ceil_mode, count_include_pad;
	int64_t divisor;        /* divisor_override; 0: the number of elements */
};
int num_max_pool(struct num_ctx *c, struct tensor *out, struct tensor *index,
		 const struct tensor *x, const struct num_pool *p, struct err *e);
int num_avg_pool(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		 const struct num_pool *p, struct err *e);
/* size[i] < 0 keeps the input's size. `max`: the largest element, else the mean. */
int num_adaptive_pool(struct num_ctx *c, struct tensor *out, struct tensor *index,
		      const struct tensor *x, int nd, const int64_t *size, int max, struct err *e);

/* --- norms (norm.c) --------------------------------------------------------------------------- */

/* Parameters of batch and instance norm. Training updates mean and var (running statistics),
 * which may be NULL then. */
struct num_batch_norm {
	const struct tensor *mean, *var, *weight, *bias;
	int training;
	double momentum, eps;
};
int num_batch_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		   const struct num_batch_norm *p, struct err *e);
int num_instance_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		      const struct num_batch_norm *p, int use_input_stats, struct err *e);
int num_group_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x, int64_t groups,
		   const struct tensor *w, const struct tensor *b, double eps, struct err *e);
/* Over the last nd dimensions, which must have the sizes `shape`. rms: no mean is subtracted
 * and there is no bias. */
int num_layer_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x, int nd,
		   const int64_t *shape,
		   const struct tensor *w, const struct tensor *b, double eps, int rms,
		   struct err *e);
int num_local_response_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x,
			    int64_t size, double alpha, double beta, double k, struct err *e);
int num_normalize(struct num_ctx *c, struct tensor *out, const struct tensor *x, double p, int dim,
		  double eps, struct err *e);

/* --- the rest ------------------------------------------------------------------------------------ */

int num_softmax(struct num_ctx *c, struct tensor *out, const struct tensor *t, int dim, int dt,
		int log, struct err *e);

/* mask: bool or added, or NULL. gqa: several query heads share a key head. scale 0: 1 /
 * sqrt(D). */
struct num_attention { const struct tensor *mask; int causal, gqa; double scale; /* 0: 1/sqrt(D) */ };
int num_attention(struct num_ctx *c, struct tensor *out, const struct tensor *q,
		  const struct tensor *k,
		  const struct tensor *v, const struct num_attention *p, struct err *e);

enum num_reduction { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM, REDUCE_BATCHMEAN };
/* Replaces the unreduced loss *t by the reduced one; *t is released on failure. */
int num_reduce_loss(struct num_ctx *c, struct tensor *t, enum num_reduction how, struct err *e);
/* Parameters of losses over classes: class weights or NULL, the target that is ignored, the
 * reduction, label smoothing. */
struct num_nll { const struct tensor *weight; int64_t ignore; enum num_reduction how; double smoothing; };
int num_nll_loss(struct num_ctx *c, struct tensor *out, const struct tensor *logp,
		 const struct tensor *target, const struct num_nll *p, struct err *e);
int num_cross_entropy(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		      const struct tensor *target, const struct num_nll *p, struct err *e);

int num_embedding(struct num_ctx *c, struct tensor *out, const struct tensor *weight,
		  const struct tensor *index, struct err *e);

#endif
