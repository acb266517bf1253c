/* RMSNorm of residual rows, forward and backward; formulas are in ops/cpu/norm.c.
 *
 * A narrow row has 32 threads, a wide one 256; a thread keeps NV times four of its values. The
 * gradient of w is summed by a fixed number of blocks over fixed ranges of rows; a second kernel
 * adds these sums in order. */
#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"

enum { THREADS = 256, NARROW = 1024, PARTS = 1024 };

template <int TPR, int NV> static __global__ void __launch_bounds__(THREADS)
norm_row(bf16 *y, float *rstd, const float *x, const float *w, int T, int C, float eps)
{
	__shared__ float shared[TPR / 32];
	int row = blockIdx.x * (THREADS / TPR) + threadIdx.x / TPR, lane = threadIdx.x % TPR;
	float4 v[NV];
	float s = 0, r;

	if (row >= T)
		return;
	x += (size_t)row * C;
	y += (size_t)row * C;
#pragma unroll
	for (int j = 0; j < NV; j++) {
		int i = (j * TPR + lane) * 4;

		v[j] = i < C ? *(const float4 *)(x + i) : make_float4(0, 0, 0, 0);
		s += v[j].x * v[j].x + v[j].y * v[j].y + v[j].z * v[j].z + v[j].w * v[j].w;
	}
	r = rsqrtf(row_sum<TPR>(s, shared) / C + eps);
	if (rstd && !lane)
		rstd[row] = r;
#pragma unroll
	for (int j = 0; j < NV; j++) {
		int i = (j * TPR + lane) * 4;

		if (i < C) {
			float4 k = *(const float4 *)(w + i);
			__nv_bfloat162 a = __floats2bfloat162_rn(v[j].x * r * k.x, v[j].y * r * k.y);
			__nv_bfloat162 b = __floats2bfloat162_rn(v[j].z * r * k.z, v[j].w * r * k.w);

			*(uint2 *)(y + i) = make_uint2(*(unsigned *)&a, *(unsigned *)&b);
		}
	}
}

struct norm_grad {
	float *dx;
	bf16 *dxa;
	float *part;               /* [PARTS][C] sums of dw; NULL: not wanted */
	const bf16 *dy;
	const float *x, *rstd, *w;
	int T, C;
};

static __device__ inline float4 load4(const bf16 *p)
{
	uint2 q = *(const uint2 *)p;

	return make_float4(__uint_as_float(q.x << 16), __uint_as_float(q.x & 0xffff0000u),
			   __uint_as_float(q.y << 16), __uint_as_float(q.y & 0xffff0000u));
}

/* dx += r (dy w - x k) for one row, k = r^2 mean(dy w x); and its share of dw into acc. */
template <int TPR, int NV> static __device__ inline void
grad_row(const struct norm_grad &g, int row, int lane, float4 *acc, float *shared)
{
	size_t at = (size_t)row * g.C;
	float r = g.rstd[row], s = 0, k;
	float4 dy[NV], x[NV], d[NV];

#pragma unroll
	for (int j = 0; j < NV; j++) {     /* all loads first: they wait together */
		int i = (j * TPR + lane) * 4;

		dy[j] = x[j] = make_float4(0, 0, 0, 0);
		if (i >= g.C)
			continue;
		dy[j] = load4(g.dy + at + i);
		x[j] = *(const float4 *)(g.x + at + i);
		d[j] = *(const float4 *)(g.dx + at + i);
	}
#pragma unroll
	for (int j = 0; j < NV; j++) {
		int i = (j * TPR + lane) * 4;
		float4 w;

		if (i >= g.C)
			continue;
		w = *(const float4 *)(g.w + i);
		if (g.part) {
			acc[j].x += dy[j].x * x[j].x * r, acc[j].y += dy[j].y * x[j].y * r;
			acc[j].z += dy[j].z * x[j].z * r, acc[j].w += dy[j].w * x[j].w * r;
		}
		dy[j].x *= w.x, dy[j].y *= w.y, dy[j].z *= w.z, dy[j].w *= w.w;
		s += dy[j].x * x[j].x + dy[j].y * x[j].y + dy[j].z * x[j].z + dy[j].w * x[j].w;
	}
	k = row_sum<TPR>(s, shared) * r * r / g.C;
#pragma unroll
	for (int j = 0; j < NV; j++) {
		int i = (j * TPR + lane) * 4;

		if (i >= g.C)
			continue;
		d[j].x += r * (dy[j].x - x[j].x * k), d[j].y += r * (dy[j].y - x[j].y * k);
		d[j].z += r * (dy[j].z - x[j].z * k), d[j].w += r * (dy[j].w - x[j].w * k);
		*(float4 *)(g.dx + at + i) = d[j];
		if (g.dxa) {
			__nv_bfloat162 a = __floats2bfloat162_rn(d[j].x, d[j].y),
				b = __floats2bfloat162_rn(d[j].z, d[j].w);

			*(uint2 *)(g.dxa + at + i) = make_uint2(*(unsigned *)&a, *(unsigned *)&b);
		}
	}
}

/* Adds the accumulators of the block's row slots, in order, into its line of `part`. */
template <int TPR, int NV> static __device__ inline void
put_part(const struct norm_grad &g, int slot, int lane, const float4 *acc, float4 *line)
{
	for (int s = 0; s < THREADS / TPR; s++) {
		__syncthreads();
		if (s != slot)
			continue;
#pragma unroll
		for (int j = 0; j < NV; j++) {
			int i = j * TPR + lane;
			float4 o = s ? line[i] : make_float4(0, 0, 0, 0);

			line[i] = make_float4(o.x + acc[j].x, o.y + acc[j].y, o.z + acc[j].z, o.w + acc[j].w);
		}
	}
	__syncthreads();
	for (int i = threadIdx.x; i < g.C / 4; i += THREADS)
		((float4 *)g.part)[(size_t)blockIdx.x * (g.C / 4) + i] = line[i];
}

template <int TPR, int NV> static __global__ void __launch_bounds__(THREADS) norm_grad_rows(struct norm_grad g)
{
	__shared__ float shared[TPR / 32];
	__shared__ float4 line[TPR * NV];
	int slots = THREADS / TPR, slot = threadIdx.x / TPR, lane = threadIdx.x % TPR;
	float4 acc[NV];

#pragma unroll
	for (int j = 0; j < NV; j++)
		acc[j] = make_float4(0, 0, 0, 0);
	if (!g.part) {
		int row = blockIdx.x * slots + slot;

		if (row < g.T)
			grad_row<TPR, NV>(g, row, lane, acc, shared);
		return;
	}
	int each = (g.T + PARTS - 1) / PARTS, first = blockIdx.x * each, last = min(first + each, g.T);

	for (int row = first + slot; row < last; row += slots)
		grad_row<TPR, NV>(g, row, lane, acc, shared);
	put_part<TPR, NV>(g, slot, lane, acc, line);
}

static __global__ void add_parts(float *to, const float *part, int parts, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 0;

	if (i >= n)
		return;
	for (int p = 0; p < parts; p++)
		s += part[(size_t)p * n + i];
	to[i] += s;
}

/* Calls f<TPR, NV> for rows of C values. */
#define BY_WIDTH(C, f, ...) do { \
		if ((C) <= NARROW) { \
			switch (((C) + 127) / 128) { \
			case 1: f<32, 1> __VA_ARGS__; break; \
			case 2: f<32, 2> __VA_ARGS__; break; \
			case 3: f<32, 3> __VA_ARGS__; break; \
			case 4: f<32, 4> __VA_ARGS__; break; \
			case 5: f<32, 5> __VA_ARGS__; break; \
			case 6: f<32, 6> __VA_ARGS__; break; \
			default: f<32, 8> __VA_ARGS__; break; \
			} \
		} else { \
			switch (((C) + 1023) / 1024) { \
			case 2: f<256, 2> __VA_ARGS__; break; \
			case 3: f<256, 3> __VA_ARGS__; break; \
			case 4: f<256, 4> __VA_ARGS__; break; \
			case 5: f<256, 5> __VA_ARGS__; break; \
			default: f<256, 8> __VA_ARGS__; break; \
			} \
		} \
	} while (0)

static int fits(int C) { return C % 8 == 0 && C <= 8192; }
static unsigned row_blocks(int T, int C) { return C <= NARROW ? blocks_for(T, THREADS / 32) : (unsigned)T; }

int cuda_rmsnorm(struct cuda *c, void *y, float *rstd, const float *x, const float *w, int T, int C, float eps)
{
	if (!fits(C))
		return CUDA_OWN_SHAPE;
	BY_WIDTH(C, norm_row, <<<row_blocks(T, C), THREADS, 0, c->stream>>>((bf16 *)y, rstd, x, w, T, C, eps));
	return cuda_launched();
}

int cuda_rmsnorm_work(int C, size_t *bytes)
{
	*bytes = (size_t)PARTS * C * sizeof(float);
	return 0;
}

int cuda_rmsnorm_grad(struct cuda *c, float *dx, void *dxa, float *dw, const void *dy, const float *x,
		      const float *rstd,
		      const float *w, int T, int C, float *work)
{
	struct norm_grad g = { dx, (bf16 *)dxa, dw ? work : NULL, (const bf16 *)dy, x, rstd, w, T, C };
	unsigned blocks = dw ? PARTS : row_blocks(T, C);

	if (!fits(C))
		return CUDA_OWN_SHAPE;
	BY_WIDTH(C, norm_grad_rows, <<<blocks, THREADS, 0, c->stream>>>(g));
	if (dw)
		add_parts<<<blocks_for(C, 64), 64, 0, c->stream>>>(dw, work, PARTS, C);
	return cuda_launched();
}
