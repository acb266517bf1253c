/* AdamW, sums of squares and addition over slabs of fp32; formulas are in ops/cpu/act.c. */
#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"

enum { THREADS = 256, PARTS = 1024 };

static __global__ void add(float *y, const float *x, size_t n)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		y[i] += x[i];
}

int cuda_add(struct cuda *c, float *y, const float *x, size_t n)
{
	add<<<blocks_for(n, THREADS), THREADS, 0, c->stream>>>(y, x, n);
	return cuda_launched();
}

/* The threads' sums of a block in order of a tree that its size fixes. */
static __device__ double block_sum(double s)
{
	__shared__ double shared[THREADS];

	shared[threadIdx.x] = s;
	for (int o = THREADS / 2; o; o /= 2) {
		__syncthreads();
		if (threadIdx.x < o)
			shared[threadIdx.x] += shared[threadIdx.x + o];
	}
	return shared[0];
}

static __global__ void sumsq_part(double *part, const float *x, size_t n)
{
	double s = 0;

	for (size_t i = ((size_t)blockIdx.x * THREADS + threadIdx.x) * 4; i < n; i += (size_t)PARTS * THREADS * 4) {
		float4 v = *(const float4 *)(x + i);

		s += (double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z + (double)v.w * v.w;
	}
	s = block_sum(s);
	if (!threadIdx.x)
		part[blockIdx.x] = s;
}

static __global__ void sumsq_all(double *out, const double *part)
{
	double s = 0;

	for (int i = threadIdx.x; i < PARTS; i += THREADS)
		s += part[i];
	s = block_sum(s);
	if (!threadIdx.x)
		*out = s;
}

int cuda_sumsq_work(size_t *bytes)
{
	*bytes = PARTS * sizeof(double);
	return 0;
}

/* Slabs end on a multiple of 64 bytes, padded with zeros. */
int cuda_sumsq(struct cuda *c, double *out, const float *x, size_t n, double *work)
{
	if (n % 4)
		return CUDA_OWN_SHAPE;
	sumsq_part<<<PARTS, THREADS, 0, c->stream>>>(work, x, n);
	sumsq_all<<<1, THREADS, 0, c->stream>>>(out, work);
	return cuda_launched();
}

static __device__ inline void adamw_one(float *w, float *m, float *v, float g, const struct cuda_adamw &o)
{
	g *= o.scale;
	*m = fmaf(*m, o.beta1, g * (1 - o.beta1));
	*v = fmaf(*v, o.beta2, g * g * (1 - o.beta2));
	*w = *w * (1 - o.lr * o.decay) - o.lr / o.correct1 * *m / (sqrtf(*v) / sqrtf(o.correct2) + o.eps);
}

static __global__ void adamw(float4 *w, float4 *m, float4 *v, const float4 *g, size_t n, struct cuda_adamw o)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i >= n)
		return;
	float4 a = w[i], b = m[i], d = v[i], e = g[i];

	adamw_one(&a.x, &b.x, &d.x, e.x, o);
	adamw_one(&a.y, &b.y, &d.y, e.y, o);
	adamw_one(&a.z, &b.z, &d.z, e.z, o);
	adamw_one(&a.w, &b.w, &d.w, e.w, o);
	w[i] = a, m[i] = b, v[i] = d;
}

int cuda_adamw(struct cuda *c, float *w, float *m, float *v, const float *g, size_t n, const struct cuda_adamw *o)
{
	if (n % 4)
		return CUDA_OWN_SHAPE;
	adamw<<<blocks_for(n / 4, THREADS), THREADS, 0, c->stream>>>((float4 *)w, (float4 *)m, (float4 *)v,
								     (const float4 *)g, n / 4, *o);
	return cuda_launched();
}
