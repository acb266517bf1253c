/* Norm of the heads of q and k (if the model has one) and rotation, forward and backward; formulas
 * are in ops/cpu/norm.c. D / 16 threads work on a head: each has eight values of its first half and
 * the eight values that they are rotated with. */
#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"

enum { THREADS = 256, PARTS = 512 };

struct pair8 { struct f8 a, b; };

static __device__ inline struct pair8 turn(struct pair8 x, const float *cosv, const float *sinv, float sign)
{
	struct f8 c = f8_load(cosv), s = f8_load(sinv);
	struct pair8 y;

#pragma unroll
	for (int i = 0; i < 8; i++) {
		float k = s.v[i] * sign;

		y.a.v[i] = x.a.v[i] * c.v[i] - x.b.v[i] * k;
		y.b.v[i] = x.b.v[i] * c.v[i] + x.a.v[i] * k;
	}
	return y;
}

/* The row and head that a thread works on. */
struct place {
	int t, h, i;               /* row, head, first of its eight values */
	size_t at, raw;            /* of the head in qkv and in raw */
};

template <int TPH> static __device__ inline struct place place_of(const struct cuda_qk &a, size_t unit)
{
	int heads = a.H + a.HKV;
	struct place p;

	p.t = (int)(unit / heads);
	p.h = (int)(unit % heads);
	p.i = threadIdx.x % TPH * 8;
	p.at = ((size_t)p.t * (heads + a.HKV) + p.h) * a.D;
	p.raw = unit * a.D;
	return p;
}

/* TPH = D / 16, a power of two. */
template <int TPH> static __global__ void __launch_bounds__(THREADS) rope(struct cuda_qk a)
{
	size_t unit = (size_t)blockIdx.x * (THREADS / TPH) + threadIdx.x / TPH, units = (size_t)a.T * (a.H + a.HKV);
	int live = unit < units;
	struct place p = place_of<TPH>(a, live ? unit : 0);
	bf16 *x = (bf16 *)a.qkv + p.at + p.i;
	size_t angle = (size_t)a.pos[p.t] * (a.D / 2) + p.i;
	struct pair8 v = { f8_load(x), f8_load(x + a.D / 2) };

	if (a.qw) {
		const float *w = (p.h < a.H ? a.qw : a.kw) + p.i;
		struct f8 wa = f8_load(w), wb = f8_load(w + a.D / 2);
		float s = 0, r;

#pragma unroll
		for (int i = 0; i < 8; i++)
			s += v.a.v[i] * v.a.v[i] + v.b.v[i] * v.b.v[i];
		r = rsqrtf(lanes_sum<TPH>(s) / a.D + a.eps);
		if (live && a.raw) {
			f8_store((bf16 *)a.raw + p.raw + p.i, v.a);
			f8_store((bf16 *)a.raw + p.raw + a.D / 2 + p.i, v.b);
			if (!p.i)
				a.rstd[unit] = r;
		}
#pragma unroll
		for (int i = 0; i < 8; i++) {
			v.a.v[i] *= r * wa.v[i];
			v.b.v[i] *= r * wb.v[i];
		}
	}
	v = turn(v, a.cos + angle, a.sin + angle, 1);
	if (live) {
		f8_store(x, v.a);
		f8_store(x + a.D / 2, v.b);
	}
}

struct sums { struct f8 qa, qb, ka, kb; };   /* of dqw and dkw, both halves */

static __device__ inline void add_sums(struct sums *s, int is_q, const struct pair8 &d,
				       const struct pair8 &raw, float r)
{
#pragma unroll
	for (int i = 0; i < 8; i++) {
		float a = d.a.v[i] * raw.a.v[i] * r, b = d.b.v[i] * raw.b.v[i] * r;

		s->qa.v[i] += is_q ? a : 0;
		s->qb.v[i] += is_q ? b : 0;
		s->ka.v[i] += is_q ? 0 : a;
		s->kb.v[i] += is_q ? 0 : b;
	}
}

/* dqkv of one head: rotated back and, if there is a norm, through its gradient. */
template <int TPH> static __device__ inline void grad_head(const struct cuda_qk &a, bf16 *dqkv, size_t unit,
							   int live, struct sums *s)
{
	struct place p = place_of<TPH>(a, live ? unit : 0);
	bf16 *x = dqkv + p.at + p.i;
	size_t angle = (size_t)a.pos[p.t] * (a.D / 2) + p.i;
	struct pair8 d = { f8_load(x), f8_load(x + a.D / 2) };

	d = turn(d, a.cos + angle, a.sin + angle, -1);
	if (a.qw) {
		const bf16 *rawp = (const bf16 *)a.raw + p.raw + p.i;
		const float *w = (p.h < a.H ? a.qw : a.kw) + p.i;
		struct pair8 raw = { f8_load(rawp), f8_load(rawp + a.D / 2) };
		struct f8 wa = f8_load(w), wb = f8_load(w + a.D / 2);
		float r = a.rstd[live ? unit : 0], k = 0;

		if (live && a.dqw)
			add_sums(s, p.h < a.H, d, raw, r);
#pragma unroll
		for (int i = 0; i < 8; i++) {
			d.a.v[i] *= wa.v[i];
			d.b.v[i] *= wb.v[i];
			k += d.a.v[i] * raw.a.v[i] + d.b.v[i] * raw.b.v[i];
		}
		k = lanes_sum<TPH>(k) * r * r / a.D;
#pragma unroll
		for (int i = 0; i < 8; i++) {
			d.a.v[i] = r * (d.a.v[i] - raw.a.v[i] * k);
			d.b.v[i] = r * (d.b.v[i] - raw.b.v[i] * k);
		}
	}
	if (live) {
		f8_store(x, d.a);
		f8_store(x + a.D / 2, d.b);
	}
}

/* The block's sums: its head slots added in order, to part[block][2][D]. */
template <int TPH> static __device__ inline void put_sums(const struct cuda_qk &a, const struct sums &s)
{
	__shared__ float line[2][TPH * 16];
	int slot = threadIdx.x / TPH, i = threadIdx.x % TPH * 8;

	for (int k = 0; k < THREADS / TPH; k++) {
		__syncthreads();
		if (k != slot)
			continue;
#pragma unroll
		for (int j = 0; j < 8; j++) {
			line[0][i + j] = (k ? line[0][i + j] : 0) + s.qa.v[j];
			line[0][i + j + TPH * 8] = (k ? line[0][i + j + TPH * 8] : 0) + s.qb.v[j];
			line[1][i + j] = (k ? line[1][i + j] : 0) + s.ka.v[j];
			line[1][i + j + TPH * 8] = (k ? line[1][i + j + TPH * 8] : 0) + s.kb.v[j];
		}
	}
	__syncthreads();
	for (int j = threadIdx.x; j < 2 * a.D; j += THREADS)
		a.work[(size_t)blockIdx.x * 2 * a.D + j] = line[j / a.D][j % a.D];
}

/* Block b has a fixed range of heads, so that its sums do not depend on the GPU. */
template <int TPH> static __global__ void __launch_bounds__(THREADS) rope_grad(struct cuda_qk a, bf16 *dqkv,
		size_t each)
{
	size_t units = (size_t)a.T * (a.H + a.HKV), first = blockIdx.x * each;
	struct sums s = {};

	for (size_t u = 0; u < each; u += THREADS / TPH) {
		size_t mine = u + threadIdx.x / TPH;

		grad_head<TPH>(a, dqkv, first + mine, mine < each && first + mine < units, &s);
	}
	if (a.dqw)
		put_sums<TPH>(a, s);
}

static __global__ void add_parts(float *dqw, float *dkw, const float *part, int parts, int D)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 0;

	if (i >= 2 * D)
		return;
	for (int p = 0; p < parts; p++)
		s += part[(size_t)p * 2 * D + i];
	(i < D ? dqw : dkw)[i % D] += s;
}

#define BY_HEAD(D, f, ...) do { \
		switch (D) { \
		case 16: f<1> __VA_ARGS__; break; \
		case 32: f<2> __VA_ARGS__; break; \
		case 64: f<4> __VA_ARGS__; break; \
		case 128: f<8> __VA_ARGS__; break; \
		case 256: f<16> __VA_ARGS__; break; \
		default: return CUDA_OWN_SHAPE; \
		} \
	} while (0)

int cuda_qk_rope(struct cuda *c, const struct cuda_qk *a)
{
	unsigned blocks = blocks_for((size_t)a->T * (a->H + a->HKV), (size_t)THREADS * 16 / a->D);

	BY_HEAD(a->D, rope, <<<blocks, THREADS, 0, c->stream>>>(*a));
	return cuda_launched();
}

int cuda_qk_work(int D, size_t *bytes)
{
	*bytes = (size_t)PARTS * 2 * D * sizeof(float);
	return 0;
}

int cuda_qk_rope_grad(struct cuda *c, const struct cuda_qk *a, void *dqkv)
{
	size_t units = (size_t)a->T * (a->H + a->HKV), slots = (size_t)THREADS * 16 / a->D, each = slots;
	unsigned blocks = blocks_for(units, each);

	if (a->dqw) {
		each = (blocks_for(units, PARTS) + slots - 1) / slots * slots;
		blocks = PARTS;
	}
	BY_HEAD(a->D, rope_grad, <<<blocks, THREADS, 0, c->stream>>>(*a, (bf16 *)dqkv, each));
	if (a->dqw)
		add_parts<<<blocks_for(2 * a->D, 64), 64, 0, c->stream>>>(a->dqw, a->dkw, a->work, PARTS, a->D);
	return cuda_launched();
}
