/* Declarations that the attention files share, apart from the tile (attn_tile.cuh): the call of the
 * forward kernel and the calls of cuDNN. */
#ifndef OPS_CUDA_ATTN_CUH
#define OPS_CUDA_ATTN_CUH

#include <cuda_bf16.h>

#include "dev/cuda/context.cuh"
#include "ops/cuda/cuda.h"

/* Rows of sequences against the keys of the same rows (pages NULL) and of their prefixes, or against pages
 * that hold `length` positions before the rows and the rows themselves. */
struct attn_forward {
	int H, HKV, D;
	int sequences, longest;        /* rows of the longest sequence */
	int keys;                      /* a bound of the keys of any sequence */
	const int32_t *start;          /* [sequences + 1] */
	const int32_t *prefix;         /* [sequences] or NULL */
	const __nv_bfloat16 *qkv;      /* [rows][H + 2 HKV][D] */
	__nv_bfloat16 *out;            /* [rows][H][D] */
	float *lse;                    /* [rows][H] or NULL */
	const void *pages;             /* of bf16, or of e4m3 */
	int e4m3;
	size_t stride;                 /* elements from a page to the next */
	const int32_t *length;         /* [sequences]; less than 0: not computed */
	const int32_t *table;
	int table_ld;
};
int attn_forward(cudaStream_t stream, const struct attn_forward *f);

/* Rows [first, first + n) of a pack, with rows [from, from + before) in front of them. */
struct attn_seq { int first, n, from, before; };

static __device__ __forceinline__ struct attn_seq attn_seq(const int32_t *start, const int32_t *prefix, int s)
{
	struct attn_seq q = { start[s], start[s + 1] - start[s], 0, 0 };
	int p = prefix ? prefix[s] : -1;

	if (p >= 0)
		q.from = start[p], q.before = start[p + 1] - q.from;
	return q;
}

/* The row of position i. */
static __device__ __forceinline__ int attn_row(const struct attn_seq *q, int i) { return i < q->before ?
		q->from + i : q->first + i - q->before; }

int attn_grad_own(cudaStream_t stream, const struct cuda_attention *a);
size_t attn_grad_work(const struct cuda_attention *a);

/* The ragged offsets that cuDNN takes: for each of `room` sequences the number of elements of qkv,
 * of out and of the statistics before its first row; and the lengths. Sequences from `n` on are
 * empty. */
struct attn_ragged {
	const int32_t *start;          /* [n + 1] */
	int n, room, H, HKV, D;
	int64_t *rows, *rows_out, *rows_stats;   /* [room + 1] */
	int32_t *lengths;              /* [room] */
};
int attn_ragged(cudaStream_t stream, const struct attn_ragged *r);

/* Attention by cuDNN. Without the library these return CUDA_OWN_SHAPE. */
int attn_cudnn_built(void);
int attn_cudnn_there(struct cuda *c, int *version);
int attn_cudnn_forward(struct cuda *c, const struct cuda_attention *a);
int attn_cudnn_grad(struct cuda *c, const struct cuda_attention *a);
int attn_cudnn_work(struct cuda *c, const struct cuda_attention *a, size_t *bytes);

#endif
