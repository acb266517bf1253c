/* SwiGLU, embedding, bias gradient, dropout, scaling, and moving of rows; formulas are in
 * ops/cpu/act.c and norm.c. Eight elements a thread. */
#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"

enum { THREADS = 256, PARTS = 256 };

static __device__ inline float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

static __global__ void swiglu(bf16 *h, const bf16 *gu, size_t n, int F)
{
	size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 8, t = at / F, i = at % F;
	struct f8 g, u;

	if (at >= n)
		return;
	g = f8_load(gu + t * 2 * F + i);
	u = f8_load(gu + t * 2 * F + F + i);
#pragma unroll
	for (int j = 0; j < 8; j++)
		g.v[j] = g.v[j] * sigmoid(g.v[j]) * u.v[j];
	f8_store(h + at, g);
}

int cuda_swiglu(struct cuda *c, void *h, const void *gu, int T, int F)
{
	size_t n = (size_t)T * F;

	if (F % 8)
		return CUDA_OWN_SHAPE;
	swiglu<<<blocks_for(n, 8 * THREADS), THREADS, 0, c->stream>>>((bf16 *)h, (const bf16 *)gu, n, F);
	return cuda_launched();
}

static __global__ void swiglu_grad(bf16 *dgu, const bf16 *dh, const bf16 *gu, size_t n, int F)
{
	size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 8, t = at / F, i = at % F;
	struct f8 g, u, d;

	if (at >= n)
		return;
	g = f8_load(gu + t * 2 * F + i);
	u = f8_load(gu + t * 2 * F + F + i);
	d = f8_load(dh + at);
#pragma unroll
	for (int j = 0; j < 8; j++) {
		float x = g.v[j], s = sigmoid(x), v = u.v[j];

		u.v[j] = d.v[j] * x * s;
		g.v[j] = d.v[j] * v * s * (1.0f + x * (1.0f - s));
	}
	f8_store(dgu + t * 2 * F + i, g);
	f8_store(dgu + t * 2 * F + F + i, u);
}

int cuda_swiglu_grad(struct cuda *c, void *dgu, const void *dh, const void *gu, int T, int F)
{
	size_t n = (size_t)T * F;

	if (F % 8)
		return CUDA_OWN_SHAPE;
	swiglu_grad<<<blocks_for(n, 8 * THREADS), THREADS, 0, c->stream>>>((bf16 *)dgu, (const bf16 *)dh,
			(const bf16 *)gu, n, F);
	return cuda_launched();
}

/* --- embedding ---- */

template <typename Dt> static __global__ void embed(float *y, const Dt *table, int C, const int32_t *tokens, size_t n)
{
	size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 8, t = at / C, i = at % C;

	if (at < n)
		f8_store(y + at, f8_load(table + (size_t)tokens[t] * C + i));
}

int cuda_embed(struct cuda *c, float *y, const void *table, int dt, int C, const int32_t *tokens, int T)
{
	size_t n = (size_t)T * C;
	unsigned blocks = blocks_for(n, 8 * THREADS);

	if (C % 8)
		return CUDA_OWN_SHAPE;
	if (dt == DT_F32)
		embed<<<blocks, THREADS, 0, c->stream>>>(y, (const float *)table, C, tokens, n);
	else if (dt == DT_BF16)
		embed<<<blocks, THREADS, 0, c->stream>>>(y, (const bf16 *)table, C, tokens, n);
	else
		embed<<<blocks, THREADS, 0, c->stream>>>(y, (const __half *)table, C, tokens, n);
	return cuda_launched();
}

/* One block a token; a thread has four columns and adds the token's rows to them in order. */
static __global__ void embed_grad(float *dtable, const float *dy, int C, const int32_t *token,
				  const int32_t *order, const int32_t *first)
{
	int begin = first[blockIdx.x], end = first[blockIdx.x + 1];
	float *to = dtable + (size_t)token[blockIdx.x] * C;

	for (int i = threadIdx.x * 4; i < C; i += blockDim.x * 4) {
		float4 s = *(const float4 *)(to + i);

#pragma unroll 8
		for (int k = begin; k < end; k++) {
			float4 d = *(const float4 *)(dy + (size_t)order[k] * C + i);

			s.x += d.x, s.y += d.y, s.z += d.z, s.w += d.w;
		}
		*(float4 *)(to + i) = s;
	}
}

int cuda_embed_grad(struct cuda *c, float *dtable, const float *dy, int C, const int32_t *token, const int32_t *order,
		    const int32_t *first, int tokens)
{
	if (C % 8)
		return CUDA_OWN_SHAPE;
	embed_grad<<<tokens, 128, 0, c->stream>>>(dtable, dy, C, token, order, first);
	return cuda_launched();
}

/* --- bias ---- */

/* Block (x, y): 8 columns a thread of row range y, into part[y]. */
static __global__ void bias_part(float *part, const bf16 *dy, size_t ld, int M, int n)
{
	int i = (blockIdx.x * 64 + threadIdx.x) * 8, each = (M + PARTS - 1) / PARTS;
	int first = blockIdx.y * each, last = min(first + each, M);
	struct f8 s = {};

	if (i >= n)
		return;
	for (int m = first; m < last; m++) {
		struct f8 d = f8_load(dy + (size_t)m * ld + i);

#pragma unroll
		for (int j = 0; j < 8; j++)
			s.v[j] += d.v[j];
	}
	f8_store(part + (size_t)blockIdx.y * n + i, s);
}

static __global__ void bias_sum(float *db, const float *part, int n)
{
	int i = blockIdx.x * 64 + threadIdx.x;
	float s = 0;

	if (i >= n)
		return;
	for (int p = 0; p < PARTS; p++)
		s += part[(size_t)p * n + i];
	db[i] += s;
}

int cuda_bias_work(int n, size_t *bytes)
{
	*bytes = (size_t)PARTS * n * sizeof(float);
	return 0;
}

int cuda_bias_grad(struct cuda *c, float *db, const void *dy, size_t lddy, int M, int n, float *work)
{
	dim3 grid(blocks_for(n, 512), PARTS);

	if (n % 8 || lddy % 8)
		return CUDA_OWN_SHAPE;
	bias_part<<<grid, 64, 0, c->stream>>>(work, (const bf16 *)dy, lddy, M, n);
	bias_sum<<<blocks_for(n, 64), 64, 0, c->stream>>>(db, work, n);
	return cuda_launched();
}

/* --- dropout: the mask of ops/cpu/row.simd.c ---- */

static __device__ inline uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

static __global__ void dropout(bf16 *y, const bf16 *x, size_t n, uint32_t k0, uint32_t k1, uint32_t below,
			       float keep, int add)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
	float v;

	if (i >= n)
		return;
	v = mix(mix((uint32_t)i ^ k0) + (k1 ^ (uint32_t)(i >> 32))) < below ? 0.0f : float(x[i]) * keep;
	y[i] = bf16(add ? float(y[i]) + v : v);
}

int cuda_dropout(struct cuda *c, void *y, const void *x, size_t n, uint64_t key, float p, int add)
{
	dropout<<<blocks_for(n, THREADS), THREADS, 0, c->stream>>>((bf16 *)y, (const bf16 *)x, n,
								   (uint32_t)key, (uint32_t)(key >> 32),
					(uint32_t)((double)p * 4294967296.0), 1.0f / (1.0f - p), add);
	return cuda_launched();
}

/* --- moving rows ---- */

/* to row i from row[i], or (back) to row[i] from i. */
static __global__ void move_rows(bf16 *to, const bf16 *from, const int32_t *row, size_t n, int C, int back)
{
	size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 8, r = at / C, i = at % C;

	if (at >= n)
		return;
	size_t other = (size_t)row[r] * C + i;

	*(uint4 *)(to + (back ? other : at)) = *(const uint4 *)(from + (back ? at : other));
}

int cuda_gather(struct cuda *c, void *to, const void *from, const int32_t *row, int rows, int C)
{
	size_t n = (size_t)rows * C;

	if (C % 8)
		return CUDA_OWN_SHAPE;
	move_rows<<<blocks_for(n, 8 * THREADS), THREADS, 0, c->stream>>>((bf16 *)to, (const bf16 *)from, row, n, C, 0);
	return cuda_launched();
}

int cuda_scatter(struct cuda *c, void *to, const void *from, const int32_t *row, int rows, int C)
{
	size_t n = (size_t)rows * C;

	if (C % 8)
		return CUDA_OWN_SHAPE;
	move_rows<<<blocks_for(n, 8 * THREADS), THREADS, 0, c->stream>>>((bf16 *)to, (const bf16 *)from, row, n, C, 1);
	return cuda_launched();
}
