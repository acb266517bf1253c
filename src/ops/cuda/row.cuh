/* Eight bf16 values as one 16-byte access, and sums over the threads of a row. The number of
 * threads of a row fixes the order of a sum, and only the row's width decides that number. So a row
 * has the same bits in any batch. */
#ifndef OPS_CUDA_ROW_CUH
#define OPS_CUDA_ROW_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "dev/cuda/context.cuh"

typedef __nv_bfloat16 bf16;

struct f8 { float v[8]; };

static __device__ inline struct f8 f8_unpack(uint4 q)
{
	struct f8 r;
	unsigned w[4] = { q.x, q.y, q.z, q.w };

#pragma unroll
	for (int i = 0; i < 4; i++) {
		r.v[2 * i] = __uint_as_float(w[i] << 16);
		r.v[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
	}
	return r;
}

static __device__ inline uint4 f8_pack(struct f8 a)
{
	unsigned w[4];

#pragma unroll
	for (int i = 0; i < 4; i++) {
		__nv_bfloat162 p = __floats2bfloat162_rn(a.v[2 * i], a.v[2 * i + 1]);

		w[i] = *(unsigned *)&p;
	}
	return make_uint4(w[0], w[1], w[2], w[3]);
}

static __device__ inline struct f8 f8_load(const bf16 *p) { return f8_unpack(*(const uint4 *)p); }
static __device__ inline void f8_store(bf16 *p, struct f8 a) { *(uint4 *)p = f8_pack(a); }

static __device__ inline struct f8 f8_load(const float *p)
{
	float4 a = ((const float4 *)p)[0], b = ((const float4 *)p)[1];
	struct f8 r = { { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w } };

	return r;
}

static __device__ inline void f8_store(float *p, struct f8 a)
{
	((float4 *)p)[0] = make_float4(a.v[0], a.v[1], a.v[2], a.v[3]);
	((float4 *)p)[1] = make_float4(a.v[4], a.v[5], a.v[6], a.v[7]);
}

static __device__ inline struct f8 f8_load(const __half *p)
{
	uint4 q = *(const uint4 *)p;
	const __half2 *h = (const __half2 *)&q;
	struct f8 r;

#pragma unroll
	for (int i = 0; i < 4; i++) {
		float2 f = __half22float2(h[i]);

		r.v[2 * i] = f.x;
		r.v[2 * i + 1] = f.y;
	}
	return r;
}

static __device__ inline void f8_store(__half *p, struct f8 a)
{
	uint4 q;
	__half2 *h = (__half2 *)&q;

#pragma unroll
	for (int i = 0; i < 4; i++)
		h[i] = __floats2half2_rn(a.v[2 * i], a.v[2 * i + 1]);
	*(uint4 *)p = q;
}

/* The sum over `lanes` neighbouring lanes (a power of two), known to all of them. */
template <int lanes> static __device__ inline float lanes_sum(float x)
{
#pragma unroll
	for (int o = lanes / 2; o; o /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, o);
	return x;
}

template <int lanes> static __device__ inline float lanes_max(float x)
{
#pragma unroll
	for (int o = lanes / 2; o; o /= 2)
		x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, o));
	return x;
}

/* The sum over a row's TPR threads: 32, or all of a block. `shared` has TPR / 32 floats and may be
 * used again only after a barrier. */
template <int TPR> static __device__ inline float row_sum(float x, float *shared)
{
	x = lanes_sum<32>(x);
	if (TPR == 32)
		return x;
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = x;
	__syncthreads();
	x = 0;
#pragma unroll
	for (int i = 0; i < TPR / 32; i++)
		x += shared[i];
	return x;
}

template <int TPR> static __device__ inline float row_max(float x, float *shared)
{
	x = lanes_max<32>(x);
	if (TPR == 32)
		return x;
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = x;
	__syncthreads();
	x = shared[0];
#pragma unroll
	for (int i = 1; i < TPR / 32; i++)
		x = fmaxf(x, shared[i]);
	return x;
}

static inline unsigned blocks_for(size_t n, size_t each) { return (unsigned)((n + each - 1) / each); }

#endif
