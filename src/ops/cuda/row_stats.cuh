/* Maximum, sum of powers and their weighted sum of a row of logits, by one block of ROW_THREADS.
 *
 * Loss and sampling both take a row's log-sum-exp from here, so a token's log-probability has the
 * same bits in both. */
#ifndef OPS_CUDA_ROW_STATS_CUH
#define OPS_CUDA_ROW_STATS_CUH

#include <cuda_bf16.h>
#include <stdint.h>

enum { ROW_THREADS = 512, ROW_WARPS = ROW_THREADS / 32 };

struct row_stats { float max, sum, weighted; };   /* sum of e^(x - max), and of e^(x - max) x */

static __device__ __forceinline__ float row_lse(struct row_stats s) { return __fadd_rn(s.max, logf(s.sum)); }

static __device__ __forceinline__ float4 row_load4(const float *x) { return *(const float4 *)x; }

static __device__ __forceinline__ float4 row_load4(const __nv_bfloat16 *x)
{
	uint2 v = *(const uint2 *)x;

	return make_float4(__uint_as_float(v.x << 16), __uint_as_float(v.x & 0xffff0000u), __uint_as_float(v.y << 16),
			   __uint_as_float(v.y & 0xffff0000u));
}

static __device__ __forceinline__ struct row_stats stats_join(struct row_stats a, struct row_stats b)
{
	float m = fmaxf(a.max, b.max), ka = a.max == m ? 1.0f : __expf(a.max - m), kb = b.max == m ? 1.0f :
		__expf(b.max - m);
	struct row_stats r = { m, __fmaf_rn(b.sum, kb, __fmul_rn(a.sum, ka)), __fmaf_rn(b.weighted, kb,
			__fmul_rn(a.weighted, ka)) };

	return r;
}

static __device__ __forceinline__ void stats_take(struct row_stats *s, float x)
{
	if (x > s->max) {
		float k = __expf(s->max - x);

		s->sum = __fmaf_rn(s->sum, k, 1.0f);
		s->weighted = __fmaf_rn(s->weighted, k, x);
		s->max = x;
	} else {
		float e = __expf(x - s->max);

		s->sum = __fadd_rn(s->sum, e);
		s->weighted = __fmaf_rn(e, x, s->weighted);
	}
}

/* Every thread gets the row's. V is a multiple of 4. */
template <class T> static __device__ struct row_stats row_stats_of(const T *x, int V)
{
	__shared__ struct row_stats shared[ROW_WARPS];
	struct row_stats s = { -3.0e38f, 0, 0 };

	for (int i = (int)threadIdx.x * 4; i < V; i += ROW_THREADS * 4) {
		float4 v = row_load4(x + i);

		stats_take(&s, v.x);
		stats_take(&s, v.y);
		stats_take(&s, v.z);
		stats_take(&s, v.w);
	}
	for (int o = 16; o; o /= 2) {
		struct row_stats b = { __shfl_xor_sync(0xffffffffu, s.max, o), __shfl_xor_sync(0xffffffffu, s.sum, o),
				       __shfl_xor_sync(0xffffffffu, s.weighted, o) };

		s = threadIdx.x & (unsigned)o ? stats_join(b, s) : stats_join(s, b);
	}
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = s;
	__syncthreads();
	s = shared[0];
	for (int i = 1; i < ROW_WARPS; i++)
		s = stats_join(s, shared[i]);
	return s;
}

#endif
