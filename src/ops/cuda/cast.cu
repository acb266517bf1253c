/* Formats: casts between 16 and 32 bits, e4m3 and int8 with a scale for each row. */
#include <cuda_fp8.h>

#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"

enum { THREADS = 256 };

template <typename To, typename From> static __global__ void cast(To *to, const From *from, size_t n)
{
	size_t i = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 8;

	if (i + 8 <= n)
		f8_store(to + i, f8_load(from + i));
	else
		for (; i < n; i++)
			to[i] = To(float(from[i]));
}

template <typename To> static int cast_from(struct cuda *c, To *to, const void *from, int dt, size_t n)
{
	unsigned blocks = blocks_for(n, 8 * THREADS);

	if (!n)
		return 0;
	if (dt == DT_F32)
		cast<<<blocks, THREADS, 0, c->stream>>>(to, (const float *)from, n);
	else if (dt == DT_BF16)
		cast<<<blocks, THREADS, 0, c->stream>>>(to, (const bf16 *)from, n);
	else if (dt == DT_F16)
		cast<<<blocks, THREADS, 0, c->stream>>>(to, (const __half *)from, n);
	else
		return CUDA_OWN_SHAPE;
	return cuda_launched();
}

int cuda_cast(struct cuda *c, void *to, int to_dt, const void *from, int from_dt, size_t n)
{
	if (to_dt == DT_F32)
		return cast_from(c, (float *)to, from, from_dt, n);
	if (to_dt == DT_BF16)
		return cast_from(c, (bf16 *)to, from, from_dt, n);
	return CUDA_OWN_SHAPE;
}

/* --- e4m3 ---- */

static const float E4M3_MAX = 448.0f;

/* A row that is all zero gets scale 1, so that nothing is divided by zero. */
static __device__ inline float scale_of(float top) { return top > 0 ? top / E4M3_MAX : 1.0f; }

static __device__ inline uint2 e4m3_pack(struct f8 a, float inv)
{
	__nv_fp8x4_e4m3 lo(make_float4(a.v[0] * inv, a.v[1] * inv, a.v[2] * inv, a.v[3] * inv));
	__nv_fp8x4_e4m3 hi(make_float4(a.v[4] * inv, a.v[5] * inv, a.v[6] * inv, a.v[7] * inv));

	return make_uint2(lo.__x, hi.__x);
}

/* One block a row; the row is read again for the second pass, from the cache. */
template <typename From> static __global__ void quantise(unsigned char *to, float *scale, const From *x, int cols)
{
	__shared__ float shared[THREADS / 32];
	size_t row = blockIdx.x;
	float top = 0, inv;

	x += row * cols;
	to += row * cols;
	for (int i = threadIdx.x * 8; i < cols; i += THREADS * 8) {
		struct f8 a = f8_load(x + i);

#pragma unroll
		for (int j = 0; j < 8; j++)
			top = fmaxf(top, fabsf(a.v[j]));
	}
	top = scale_of(row_max<THREADS>(top, shared));
	inv = 1.0f / top;
	if (!threadIdx.x)
		scale[row] = top;
	for (int i = threadIdx.x * 8; i < cols; i += THREADS * 8)
		*(uint2 *)(to + i) = e4m3_pack(f8_load(x + i), inv);
}

int cuda_quantise(struct cuda *c, void *to, float *scale, const void *x, int dt, int rows, int cols)
{
	if (cols % 16)
		return CUDA_OWN_SHAPE;
	if (dt == DT_F32)
		quantise<<<rows, THREADS, 0, c->stream>>>((unsigned char *)to, scale, (const float *)x, cols);
	else
		quantise<<<rows, THREADS, 0, c->stream>>>((unsigned char *)to, scale, (const bf16 *)x, cols);
	return cuda_launched();
}

enum { TILE = 32 };

/* A block makes TILE rows of the result: first the largest of each column of x, then the values. */
template <typename From> static __global__ void quantise_across(unsigned char *to, float *scale,
								const From *x, int rows, int cols)
{
	__shared__ float part[TILE][TILE + 1];
	__shared__ float inv[TILE];
	int column = blockIdx.x * TILE + threadIdx.x, mine = blockIdx.x * TILE + threadIdx.y;
	float top = 0;

	for (int i = threadIdx.y; i < rows; i += TILE)
		if (column < cols)
			top = fmaxf(top, fabsf(float(x[(size_t)i * cols + column])));
	part[threadIdx.y][threadIdx.x] = top;
	__syncthreads();
	top = lanes_max<32>(part[threadIdx.x][threadIdx.y]);
	if (!threadIdx.x) {
		inv[threadIdx.y] = 1.0f / scale_of(top);
		if (mine < cols)
			scale[mine] = scale_of(top);
	}
	for (int i = 0; i < rows; i += TILE) {
		__syncthreads();
		if (column < cols && i + threadIdx.y < rows)
			part[threadIdx.y][threadIdx.x] = float(x[(size_t)(i + threadIdx.y) * cols + column]);
		__syncthreads();
		if (mine < cols && i + threadIdx.x < rows)
			to[(size_t)mine * rows + i + threadIdx.x] =
				__nv_fp8_e4m3(part[threadIdx.x][threadIdx.y] * inv[threadIdx.y]).__x;
	}
}

int cuda_quantise_across(struct cuda *c, void *to, float *scale, const void *x, int dt, int rows, int cols)
{
	dim3 threads(TILE, TILE);
	unsigned blocks = blocks_for(cols, TILE);

	if (dt == DT_F32)
		quantise_across<<<blocks, threads, 0, c->stream>>>((unsigned char *)to, scale,
								   (const float *)x, rows, cols);
	else
		quantise_across<<<blocks, threads, 0, c->stream>>>((unsigned char *)to, scale,
								   (const bf16 *)x, rows, cols);
	return cuda_launched();
}

/* --- int8 ---- */

static const float INT8_MAX_CODE = 127.0f;

/* Codes are whole numbers of scale = max / 127, the nearest, halves to even: as the CPU's. */
static __global__ void quantise_int8(signed char *to, float *scale, const bf16 *x, int cols)
{
	__shared__ float shared[THREADS / 32];
	size_t row = blockIdx.x;
	float top = 0;

	x += row * cols;
	to += row * cols;
	for (int i = threadIdx.x; i < cols; i += THREADS)
		top = fmaxf(top, fabsf(float(x[i])));
	top = row_max<THREADS>(top, shared) / INT8_MAX_CODE;
	if (!threadIdx.x)
		scale[row] = top;
	for (int i = threadIdx.x; i < cols; i += THREADS)
		to[i] = (signed char)(top > 0 ? rintf(float(x[i]) / top) : 0);
}

int cuda_quantise_int8(struct cuda *c, void *to, float *scale, const void *x, int rows, int cols)
{
	quantise_int8<<<rows, THREADS, 0, c->stream>>>((signed char *)to, scale, (const bf16 *)x, cols);
	return cuda_launched();
}

/* One block a row, eight codes a thread. */
static __global__ void widen_int8(bf16 *to, const signed char *codes, const float *scale, int cols)
{
	size_t row = blockIdx.x;
	float s = scale[row];

	codes += row * cols;
	to += row * cols;
	for (int i = threadIdx.x * 8; i < cols; i += THREADS * 8) {
		uint2 v = *(const uint2 *)(codes + i);
		struct f8 a;

#pragma unroll
		for (int j = 0; j < 8; j++)
			a.v[j] = s * (float)(signed char)((j < 4 ? v.x : v.y) >> (j & 3) * 8);
		f8_store(to + i, a);
	}
}

int cuda_widen_int8(struct cuda *c, void *to, const void *codes, const float *scale, int rows, int cols)
{
	if (cols % 8)
		return CUDA_OWN_SHAPE;
	widen_int8<<<rows, THREADS, 0, c->stream>>>((bf16 *)to, (const signed char *)codes, scale, cols);
	return cuda_launched();
}
