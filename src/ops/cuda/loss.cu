/* Cross-entropy of rows of fp32 logits; formulas are in ops/cpu/loss.c.
 *
 * One block a row. The gradient is bf16 and takes the place of the logits: element j of it lies where
 * element j / 2 was. A block reads a stretch of logits, waits, and writes their gradients over places
 * that it has read before. */
#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"

enum { THREADS = 512, WARPS = THREADS / 32 };

struct stats { float max, sum, weighted; };   /* sum of e^(x - max), and of e^(x - max) x */

static __device__ inline struct stats join(struct stats a, struct stats b)
{
	float m = fmaxf(a.max, b.max), ka = a.max == m ? 1.0f : __expf(a.max - m), kb = b.max == m ? 1.0f : __expf(b.max - m);
	struct stats r = { m, a.sum * ka + b.sum * kb, a.weighted * ka + b.weighted * kb };

	return r;
}

static __device__ inline void take(struct stats *s, float x)
{
	if (x > s->max) {
		float k = __expf(s->max - x);

		s->sum = s->sum * k + 1.0f;
		s->weighted = s->weighted * k + x;
		s->max = x;
	} else {
		float e = __expf(x - s->max);

		s->sum += e;
		s->weighted += e * x;
	}
}

static __device__ struct stats row_stats(const float *x, int V)
{
	__shared__ struct stats shared[WARPS];
	struct stats s = { -3.0e38f, 0, 0 };

	for (int i = threadIdx.x * 4; i < V; i += THREADS * 4) {
		float4 v = *(const float4 *)(x + i);

		take(&s, v.x);
		take(&s, v.y);
		take(&s, v.z);
		take(&s, v.w);
	}
	for (int o = 16; o; o /= 2) {
		struct stats b = { __shfl_xor_sync(0xffffffffu, s.max, o), __shfl_xor_sync(0xffffffffu, s.sum, o),
				   __shfl_xor_sync(0xffffffffu, s.weighted, o) };

		s = threadIdx.x & o ? join(b, s) : join(s, b);
	}
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = s;
	__syncthreads();
	s = shared[0];
	for (int i = 1; i < WARPS; i++)
		s = join(s, shared[i]);
	return s;
}

static __device__ void put_grad(float *x, int V, float lse, int target, float coef)
{
	bf16 *to = (bf16 *)x;

	for (int at = 0; at < V; at += THREADS * 8) {
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

static __global__ void __launch_bounds__(THREADS) xent(struct cuda_xent a)
{
	size_t row = blockIdx.x;
	float *x = a.logits + row * a.V;
	struct stats s = row_stats(x, a.V);
	float lse = s.max + logf(s.sum);

	if (!threadIdx.x) {
		a.logp[row] = x[a.target[row]] - lse;
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
		xent<<<x->rows, THREADS, 0, c->stream>>>(*x);
	return cuda_launched();
}
