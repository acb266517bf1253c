/* One warp's 16 query rows against a tile of 64 keys: every attention kernel here consists of this
 * step.
 *
 * A row's result has one order of summation in every kernel, batch and launch:
 *   tile   64 positions counted from the start of the sequence: own maximum, own sum, own product
 *   split  8 tiles, joined one after another
 *   row    splits, joined one after another
 * A training pack, a prefill over pages and a decode step that spreads splits over blocks therefore
 * compute the same bits. Arithmetic that the compiler could contract in two ways is spelled out.
 *
 * Scores are kept as q k^T; `c` = log2(e) / sqrt(D) turns differences of them into powers of 2. */
#ifndef OPS_CUDA_ATTN_TILE_CUH
#define OPS_CUDA_ATTN_TILE_CUH

#include "ops/cuda/mma.cuh"

enum { TILE_KEYS = 64, SPLIT_TILES = 8, SPLIT_KEYS = TILE_KEYS * SPLIT_TILES };

/* Softmax so far of two rows of a thread, rows g and g + 8. */
struct row_pair { float m[2], l[2]; };

/* A thread's part of 16 rows of values: columns 8 j + 2 q, + 1 of rows g and g + 8. */
template <int D> struct rows16 { float v[D / 8][4]; };

template <int D> static __device__ __forceinline__ void rows_clear(rows16<D> *o)
{
#pragma unroll
	for (int j = 0; j < D / 8; j++)
		o->v[j][0] = o->v[j][1] = o->v[j][2] = o->v[j][3] = 0;
}

static __device__ __forceinline__ void pair_clear(row_pair *p)
{
	p->m[0] = p->m[1] = -INFINITY;
	p->l[0] = p->l[1] = 0;
}

/* The left operand of rows at `row0` (row g) and `row8` (row g + 8) of global memory. */
template <int D> static __device__ __forceinline__ void load_left(uint32_t a[D / 16][4],
								  const __nv_bfloat16 *row0, const __nv_bfloat16 *row8)
{
	int q = threadIdx.x & 3;

#pragma unroll
	for (int k = 0; k < D / 16; k++) {
		a[k][0] = *(const uint32_t *)(row0 + 16 * k + 2 * q);
		a[k][2] = *(const uint32_t *)(row0 + 16 * k + 2 * q + 8);
		a[k][1] = row8 ? *(const uint32_t *)(row8 + 16 * k + 2 * q) : 0;
		a[k][3] = row8 ? *(const uint32_t *)(row8 + 16 * k + 2 * q + 8) : 0;
	}
}

/* Scores of 16 keys, which are rows `row`... of the tile at `keys`: s[0] of the first 8, s[1] of the others. */
template <int D> static __device__ __forceinline__ void score16(float (*s)[4], const uint32_t a[D / 16][4],
								uint32_t keys, int row)
{
	int lane = threadIdx.x & 31;

	row += (lane & 7) + ((lane >> 4) << 3);
#pragma unroll
	for (int k = 0; k < D / 16; k++) {
		uint32_t b[4];

		load_matrices(b, keys + tile_at<D>(row, 2 * k + ((lane >> 3) & 1)));
		mma_bf16(s[0], a[k], b[0], b[1]);
		mma_bf16(s[1], a[k], b[2], b[3]);
	}
}

/* o += p[16, 16] v[16, D] for the 16 rows `row`... of the tile at `values`. */
template <int D> static __device__ __forceinline__ void weigh16(rows16<D> *o, const uint32_t p[4],
								uint32_t values, int row)
{
	int lane = threadIdx.x & 31;

	row += lane & 15;
#pragma unroll
	for (int j = 0; j < D / 16; j++) {
		uint32_t b[4];

		load_transposed(b, values + tile_at<D>(row, 2 * j + (lane >> 4)));
		mma_bf16(o->v[2 * j], p, b[0], b[1]);
		mma_bf16(o->v[2 * j + 1], p, b[2], b[3]);
	}
}

/* Hides the scores of keys from `seen[i]` on in row i of the pair. */
static __device__ __forceinline__ void hide(float s[8][4], const int seen[2])
{
	int q = threadIdx.x & 3;

#pragma unroll
	for (int j = 0; j < 8; j++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			if (8 * j + 2 * q + (i & 1) >= seen[i >> 1])
				s[j][i] = -INFINITY;
}

static __device__ __forceinline__ float quad_max(float x)
{
	x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
	return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

static __device__ __forceinline__ float quad_sum(float x)
{
	x = __fadd_rn(x, __shfl_xor_sync(~0u, x, 1));
	return __fadd_rn(x, __shfl_xor_sync(~0u, x, 2));
}

/* The value that is subtracted before taking powers: the maximum, or 0 if a row sees nothing. */
static __device__ __forceinline__ float base_of(float m) { return m == -INFINITY ? 0 : m; }

/* Scores of a tile to powers of them, with the maximum and the sum of each row. ROWS is 2, or 1
 * where rows g + 8 are not used. */
template <int ROWS> static __device__ __forceinline__ void soften(float s[8][4], row_pair *t, float c)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		float m = -INFINITY, sum = 0, base;

#pragma unroll
		for (int j = 0; j < 8; j++)
			m = fmaxf(m, fmaxf(s[j][2 * r], s[j][2 * r + 1]));
		t->m[r] = quad_max(m);
		base = __fmul_rn(base_of(t->m[r]), c);
#pragma unroll
		for (int j = 0; j < 8; j++)
#pragma unroll
			for (int i = 2 * r; i < 2 * r + 2; i++) {
				s[j][i] = power2(__fmaf_rn(s[j][i], c, -base));
				sum = __fadd_rn(sum, s[j][i]);
			}
		t->l[r] = quad_sum(sum);
	}
}

/* The left operand of 16 keys out of the powers of their two groups of 8. */
template <int ROWS> static __device__ __forceinline__ void powers_left(uint32_t a[4], const float s0[4],
								       const float s1[4])
{
	a[0] = pack_bf16(s0[0], s0[1]);
	a[2] = pack_bf16(s1[0], s1[1]);
	a[1] = ROWS == 2 ? pack_bf16(s0[2], s0[3]) : 0;
	a[3] = ROWS == 2 ? pack_bf16(s1[2], s1[3]) : 0;
}

/* How two parts of a softmax are joined: the factor of each. *m becomes the maximum of both. */
static __device__ __forceinline__ void join_factors(float *m, float mt, float c, float *old, float *add)
{
	float to = fmaxf(*m, mt), base = base_of(to);

	*old = power2(__fmul_rn(__fadd_rn(*m, -base), c));
	*add = power2(__fmul_rn(__fadd_rn(mt, -base), c));
	*m = to;
}

static __device__ __forceinline__ float join(float x, float old, float xt, float add)
{
	return __fmaf_rn(xt, add, __fmul_rn(x, old));
}

/* Joins the partial result of later keys (`ot`, `t`) to the running result of the same rows. */
template <int D> static __device__ __forceinline__ void join_rows(rows16<D> *o, row_pair *p,
								  const rows16<D> *ot, const row_pair *t, float c)
{
#pragma unroll
	for (int r = 0; r < 2; r++) {
		float old, add;

		join_factors(&p->m[r], t->m[r], c, &old, &add);
		p->l[r] = join(p->l[r], old, t->l[r], add);
#pragma unroll
		for (int j = 0; j < D / 8; j++)
#pragma unroll
			for (int i = 2 * r; i < 2 * r + 2; i++)
				o->v[j][i] = join(o->v[j][i], old, ot->v[j][i], add);
	}
}

/* A whole tile whose keys and values are in shared memory: its own softmax and product. `seen`
 * are the keys that the two rows see of it; `whole` says that all rows of the warp see all. */
template <int D> static __device__ __forceinline__ void attend_tile(rows16<D> *ot, row_pair *t,
								    const uint32_t q[D / 16][4], uint32_t keys,
					uint32_t values, const int seen[2], bool whole, float c)
{
	float s[8][4] = {};

#pragma unroll
	for (int u = 0; u < 4; u++)
		score16<D>(s + 2 * u, q, keys, 16 * u);
	if (!whole)
		hide(s, seen);
	soften<2>(s, t, c);
	rows_clear(ot);
#pragma unroll
	for (int u = 0; u < 4; u++) {
		uint32_t p[4];

		powers_left<2>(p, s[2 * u], s[2 * u + 1]);
		weigh16<D>(ot, p, values, 16 * u);
	}
}

#endif
