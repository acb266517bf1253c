/* SwiGLU fused with LoRA adapters: it adds the adapters of gate and up as it reads them, and in
 * backward the one of down to dh. The adapters' products have a rank of 16 or 32, so they cost
 * little compared with the rows that are read anyway. They need no extra pass over those rows.
 *
 * A warp has 32 columns and walks down 256 rows, 16 at a time, with the matrices of the adapters in
 * registers. The next rows are loaded while the last ones are computed. A thread owns eight
 * neighbouring columns (8 t + 2 j, 8 t + 2 j + 1 in its j-th tile of eight), so that it reads and
 * writes 16 bytes. */
#include "ops/cuda/cuda.h"
#include "ops/cuda/row.cuh"

enum { WARPS = 4, COLUMNS = 32, ROWS = 256, TILES = 4 };

/* c += a b: m16n8k16, bf16 operands, fp32 sums. */
static __device__ inline void mma(float c[4], const unsigned a[4], const unsigned b[2])
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
		     "%7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

struct lane { int g, t; };     /* row of eight, and column pair of four */

static __device__ inline struct lane lane_of(void)
{
	struct lane l = { (int)(threadIdx.x % 32) / 4, (int)threadIdx.x % 4 };

	return l;
}

/* The column of tile j that the lane's group holds in the right operand. */
static __device__ inline int column_of(struct lane l, int j) { return 8 * (l.g / 2) + 2 * j + l.g % 2; }

/* The right operand of columns f.. from B[f][r]. */
template <int KS> static __device__ inline void load_b(unsigned b[KS][TILES][2], const bf16 *B, int f,
						       struct lane l)
{
#pragma unroll
	for (int j = 0; j < TILES; j++) {
		const bf16 *p = B + (size_t)(f + column_of(l, j)) * (16 * KS) + 2 * l.t;

#pragma unroll
		for (int s = 0; s < KS; s++) {
			b[s][j][0] = *(const unsigned *)(p + 16 * s);
			b[s][j][1] = *(const unsigned *)(p + 16 * s + 8);
		}
	}
}

static __device__ inline unsigned pair_of(bf16 lo, bf16 hi)
{
	__nv_bfloat162 p = __halves2bfloat162(lo, hi);

	return *(unsigned *)&p;
}

/* The same from A[r][F], whose columns are the products' columns. */
template <int KS> static __device__ inline void load_a(unsigned b[KS][TILES][2], const bf16 *A, int F,
						       int f, struct lane l)
{
#pragma unroll
	for (int j = 0; j < TILES; j++)
#pragma unroll
		for (int s = 0; s < KS; s++)
#pragma unroll
			for (int h = 0; h < 2; h++) {
				const bf16 *p = A + (size_t)(16 * s + 8 * h + 2 * l.t) * F + f + column_of(l, j);

				b[s][j][h] = pair_of(p[0], p[F]);
			}
}

/* The left operand: rows `row` and `row` + 8 of u[T][ld], columns at.. */
template <int KS> static __device__ inline void load_u(unsigned a[KS][4], const bf16 *u, size_t ld, int lo,
						       int hi, struct lane l)
{
#pragma unroll
	for (int s = 0; s < KS; s++) {
		const bf16 *p = u + (size_t)lo * ld + 16 * s + 2 * l.t, *q = u + (size_t)hi * ld + 16 * s + 2 * l.t;

		a[s][0] = *(const unsigned *)p;
		a[s][1] = *(const unsigned *)q;
		a[s][2] = *(const unsigned *)(p + 8);
		a[s][3] = *(const unsigned *)(q + 8);
	}
}

/* x[2] (rows lo and hi, eight columns) += u B^T. */
template <int KS> static __device__ inline void
add_product(struct f8 x[2], const bf16 *u, size_t ld, int lo, int hi, const unsigned b[KS][TILES][2],
	    struct lane l)
{
	unsigned a[KS][4];

	load_u<KS>(a, u, ld, lo, hi, l);
#pragma unroll
	for (int j = 0; j < TILES; j++) {
		float c[4] = { x[0].v[2 * j], x[0].v[2 * j + 1], x[1].v[2 * j], x[1].v[2 * j + 1] };

#pragma unroll
		for (int s = 0; s < KS; s++)
			mma(c, a[s], b[s][j]);
		x[0].v[2 * j] = c[0], x[0].v[2 * j + 1] = c[1];
		x[1].v[2 * j] = c[2], x[1].v[2 * j + 1] = c[3];
	}
}

static __device__ inline float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

/* gate and up of rows lo and hi with their adapters. */
template <int KS> struct both {
	unsigned gate[KS][TILES][2], up[KS][TILES][2];

	__device__ inline void load(const struct cuda_swiglu &a, int f, struct lane l)
	{
		if (a.gate_b)
			load_b<KS>(gate, (const bf16 *)a.gate_b, f, l);
		if (a.up_b)
			load_b<KS>(up, (const bf16 *)a.up_b, f, l);
	}

	__device__ inline void add(const struct cuda_swiglu &a, int lo, int hi, struct lane l,
				   struct f8 g[2], struct f8 u[2]) const
	{
		const bf16 *rows = (const bf16 *)a.u;

		if (a.gate_b)
			add_product<KS>(g, rows + a.gate_at, a.ldu, lo, hi, gate, l);
		if (a.up_b)
			add_product<KS>(u, rows + a.up_at, a.ldu, lo, hi, up, l);
	}
};

/* Rows on their way from memory: gate, up and (backward) dh of rows lo and hi. */
struct rows {
	int lo, hi;
	uint4 g[2], u[2], d[2];
};

template <int grad> static __device__ inline void fetch(struct rows *r, const struct cuda_swiglu &a,
							int row, int f, struct lane l)
{
	const bf16 *gu = (const bf16 *)a.gu + f + 8 * l.t;
	size_t ld = 2 * (size_t)a.F;

	r->lo = min(row + l.g, a.T - 1), r->hi = min(row + l.g + 8, a.T - 1);
#pragma unroll
	for (int i = 0; i < 2; i++) {
		size_t at = (size_t)(i ? r->hi : r->lo);

		r->g[i] = *(const uint4 *)(gu + at * ld);
		r->u[i] = *(const uint4 *)(gu + at * ld + a.F);
		if (grad)
			r->d[i] = *(const uint4 *)((const bf16 *)a.dh + at * a.F + f + 8 * l.t);
	}
}

template <int KS> static __global__ void __launch_bounds__(WARPS * 32) forward(struct cuda_swiglu a)
{
	int f = (blockIdx.x * WARPS + threadIdx.x / 32) * COLUMNS, end = min((int)(blockIdx.y + 1) * ROWS, a.T);
	struct lane l = lane_of();
	struct both<KS> w;
	struct rows next;

	if (f >= a.F)
		return;
	fetch<0>(&next, a, blockIdx.y * ROWS, f, l);
	w.load(a, f, l);
	for (int row = blockIdx.y * ROWS; row < end; row += 16) {
		struct rows r = next;
		struct f8 g[2] = { f8_unpack(r.g[0]), f8_unpack(r.g[1]) }, u[2] = { f8_unpack(r.u[0]),
				f8_unpack(r.u[1]) };

		if (row + 16 < end)
			fetch<0>(&next, a, row + 16, f, l);
		w.add(a, r.lo, r.hi, l, g, u);
#pragma unroll
		for (int i = 0; i < 2; i++) {
#pragma unroll
			for (int k = 0; k < 8; k++)
				g[i].v[k] = g[i].v[k] * sigmoid(g[i].v[k]) * u[i].v[k];
			if (row + l.g + 8 * i < a.T)
				f8_store((bf16 *)a.h + (size_t)(i ? r.hi : r.lo) * a.F + f + 8 * l.t, g[i]);
		}
	}
}

template <int KS> static __global__ void __launch_bounds__(WARPS * 32) backward(struct cuda_swiglu a)
{
	int f = (blockIdx.x * WARPS + threadIdx.x / 32) * COLUMNS, end = min((int)(blockIdx.y + 1) * ROWS, a.T);
	struct lane l = lane_of();
	unsigned down[KS][TILES][2];
	struct both<KS> w;
	struct rows next;

	if (f >= a.F)
		return;
	fetch<1>(&next, a, blockIdx.y * ROWS, f, l);
	w.load(a, f, l);
	if (a.down_a)
		load_a<KS>(down, (const bf16 *)a.down_a, a.F, f, l);
	for (int row = blockIdx.y * ROWS; row < end; row += 16) {
		struct rows r = next;
		struct f8 g[2] = { f8_unpack(r.g[0]), f8_unpack(r.g[1]) }, u[2] = { f8_unpack(r.u[0]),
				f8_unpack(r.u[1]) };
		struct f8 d[2] = { f8_unpack(r.d[0]), f8_unpack(r.d[1]) };

		if (row + 16 < end)
			fetch<1>(&next, a, row + 16, f, l);
		w.add(a, r.lo, r.hi, l, g, u);
		if (a.down_a)
			add_product<KS>(d, (const bf16 *)a.du, a.lddu, r.lo, r.hi, down, l);
#pragma unroll
		for (int i = 0; i < 2; i++) {
			bf16 *to = (bf16 *)a.dgu + (size_t)(i ? r.hi : r.lo) * 2 * a.F + f + 8 * l.t;

#pragma unroll
			for (int k = 0; k < 8; k++) {
				float x = g[i].v[k], s = sigmoid(x), v = u[i].v[k];

				u[i].v[k] = d[i].v[k] * x * s;
				g[i].v[k] = d[i].v[k] * v * s * (1.0f + x * (1.0f - s));
			}
			if (row + l.g + 8 * i < a.T) {
				f8_store(to, g[i]);
				f8_store(to + a.F, u[i]);
			}
		}
	}
}

static int rank_of(const struct cuda_swiglu *a) { return a->r == 16 ? 1 : a->r == 32 ? 2 : 0; }

int cuda_swiglu_adds(const struct cuda_swiglu *a)
{
	return rank_of(a) && a->F % COLUMNS == 0 && a->ldu % 2 == 0 && a->lddu % 2 == 0;
}

int cuda_swiglu_lora(struct cuda *c, const struct cuda_swiglu *a)
{
	dim3 grid(blocks_for(a->F, WARPS * COLUMNS), blocks_for(a->T, ROWS));

	if (!cuda_swiglu_adds(a))
		return CUDA_OWN_SHAPE;
	if (a->r == 16)
		forward<1><<<grid, WARPS * 32, 0, c->stream>>>(*a);
	else
		forward<2><<<grid, WARPS * 32, 0, c->stream>>>(*a);
	return cuda_launched();
}

int cuda_swiglu_grad_lora(struct cuda *c, const struct cuda_swiglu *a)
{
	dim3 grid(blocks_for(a->F, WARPS * COLUMNS), blocks_for(a->T, ROWS));

	if (!cuda_swiglu_adds(a))
		return CUDA_OWN_SHAPE;
	if (a->r == 16)
		backward<1><<<grid, WARPS * 32, 0, c->stream>>>(*a);
	else
		backward<2><<<grid, WARPS * 32, 0, c->stream>>>(*a);
	return cuda_launched();
}
