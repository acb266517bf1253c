/* Cross-entropy of rows of fp32 logits; formulas are in ops/cpu/loss.c.
 *
 * One block per row. The gradient is bf16 and overwrites the logits: its element j is stored in the
 * bytes of logit j / 2. A block reads a stretch of logits, waits, and writes their gradients over
 * logits that it has read before. */
#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"
#include "ops/cuda/row_stats.cuh"

static __device__ void put_grad(float *x, int V, float lse, int target, float coef)
{
	bf16 *to = (bf16 *)x;

	for (int at = 0; at < V; at += ROW_THREADS * 8) {
		int i = at + threadIdx.x * 8;
		struct f8 v;

		if (i < V) {
			v = f8_load(x + i);
#pragma unroll
			for (int j = 0; j < 8; j++)
				v.v[j] = coef * ((i + j == target ? 1.0f : 0.0f) - __expf(v.v[j] - lse));
		}
		__syncthreads();
		if (i < V)
			f8_store(to + i, v);
		__syncthreads();
	}
}

static __global__ void __launch_bounds__(ROW_THREADS) xent(struct cuda_xent a)
{
	size_t row = blockIdx.x;
	float *x = a.logits + row * a.V;
	struct row_stats s = row_stats_of(x, a.V);
	float lse = row_lse(s);

	if (!threadIdx.x) {
		a.logp[row] = __fadd_rn(x[a.target[row]], -lse);
		if (a.entropy)
			a.entropy[row] = lse - s.weighted / s.sum;
	}
	if (!a.coef)
		return;
	__syncthreads();
	put_grad(x, a.V, lse, a.target[row], a.coef[row]);
}

int cuda_xent(struct cuda *c, const struct cuda_xent *x)
{
	if (x->V % 8)
		return CUDA_OWN_SHAPE;
	if (x->rows)
		xent<<<x->rows, ROW_THREADS, 0, c->stream>>>(*x);
	return cuda_launched();
}
