/* Gradient of attention over a pack, for machines without cuDNN.
 *
 *   p = softmax(q k^T / sqrt(D)),  delta = sum(dout * out),  ds = p (dout v^T - delta)
 *   dv = p^T dout,  dq = ds k / sqrt(D),  dk = ds^T q / sqrt(D)
 *
 * Two kernels: one for dq, one for dk and dv. Each keeps the rows whose gradient it computes in
 * registers and reads the other side through shared memory in tiles of 64 rows. The kernel of dk
 * and dv adds up the query heads of its key head in order. For a prefix it also adds the rows of
 * all sequences that continue the prefix; these follow it in the pack. Both kernels compute p.
 * Nothing is added up between blocks, so the result has one order. A block has 128 rows, a warp 16
 * of them. */
#include <math.h>

#include "ops/cuda/attn.cuh"
#include "ops/cuda/attn_tile.cuh"

enum { ROWS = 128, THREADS = 256 };

struct grad {
	int H, HKV, sequences;
	const int32_t *start, *prefix;
	const __nv_bfloat16 *qkv, *out, *dout;
	const float *lse;
	float *delta;                  /* [T][H] */
	__nv_bfloat16 *dqkv;
	float c, scale;                /* log2(e) / sqrt(D), 1 / sqrt(D) */
};

template <int D> static __host__ __device__ constexpr int tile_bytes() { return TILE_KEYS * D * 2; }

/* A block's sequence and its 128 rows of it. */
struct place {
	struct attn_seq seq;
	int first, n;                  /* the sequence's own rows */
	int tile;                      /* the block's first row */
	int mine, row;                 /* the warp's first row, this thread's row g */
};

static __device__ __forceinline__ struct place place_of(const struct grad *a, int tile)
{
	struct place p;

	p.seq = attn_seq(a->start, a->prefix, (int)blockIdx.z);
	p.first = p.seq.first;
	p.n = p.seq.n;
	p.tile = tile * ROWS;
	p.mine = p.tile + (int)(threadIdx.x / 32) * 16;
	p.row = p.mine + (int)(threadIdx.x & 31) / 4;
	return p;
}

/* Starts copies of N rows, `ld` apart, to a tile; rows from `there` on become zeros. */
template <int D, int N> static __device__ __forceinline__ void fetch_rows(const __nv_bfloat16 *from,
		size_t ld, int there, uint32_t to)
{
#pragma unroll
	for (int i = 0; i < N * D / 8 / THREADS; i++) {
		int at = (int)threadIdx.x + i * THREADS, row = at / (D / 8), piece = at % (D / 8);

		copy16(to + tile_at<D>(row, piece), row < there ? from + row * ld + piece * 8 : from, row < there);
	}
}

/* Starts copies of the keys and then the values of tile `t` of a sequence and its prefix. `k`
 * points to the key head in row 0. Keys from `keys` on become zeros. */
template <int D> static __device__ __forceinline__ void fetch_keys(const struct grad *a,
								   const struct attn_seq *q,
								   const __nv_bfloat16 *k, int t,
								   int keys, uint32_t to)
{
	size_t ld = (size_t)(a->H + 2 * a->HKV) * D;

#pragma unroll
	for (int i = 0; i < TILE_KEYS * D / 8 / THREADS; i++) {
		int at = (int)threadIdx.x + i * THREADS, row = at / (D / 8), piece = at % (D / 8),
			key = t * TILE_KEYS + row;
		const __nv_bfloat16 *from = key < keys ? k + (size_t)attn_row(q, key) * ld + piece * 8 : k;

		copy16(to + tile_at<D>(row, piece), from, key < keys);
		copy16(to + tile_bytes<D>() + tile_at<D>(row, piece), from + (size_t)a->HKV * D, key < keys);
	}
}

/* The left operand of rows `row`... of a tile, columns 16 k... */
template <int D> static __device__ __forceinline__ void left16(uint32_t a[4], uint32_t tile, int row, int k)
{
	int lane = threadIdx.x & 31;

	load_matrices(a, tile + tile_at<D>(row + (lane & 15), 2 * k + (lane >> 4)));
}

/* s[16, 64] += a[16, 16] of columns 16 k... times the transpose of the tile's. */
template <int D> static __device__ __forceinline__ void times_transposed(float s[8][4], const uint32_t a[4],
		uint32_t tile, int k)
{
	int lane = threadIdx.x & 31, row = (lane & 7) + ((lane >> 4) << 3);

#pragma unroll
	for (int u = 0; u < 4; u++) {
		uint32_t b[4];

		load_matrices(b, tile + tile_at<D>(row + 16 * u, 2 * k + ((lane >> 3) & 1)));
		mma_bf16(s[2 * u], a, b[0], b[1]);
		mma_bf16(s[2 * u + 1], a, b[2], b[3]);
	}
}

/* o[16, D] += s[16, 64] tile[64, D] */
template <int D> static __device__ __forceinline__ void times_tile(rows16<D> *o, const float s[8][4], uint32_t tile)
{
#pragma unroll
	for (int u = 0; u < 4; u++) {
		uint32_t a[4];

		powers_left<2>(a, s[2 * u], s[2 * u + 1]);
		weigh16<D>(o, a, tile, 16 * u);
	}
}

/* Row g + 8 r of the warp's result. */
template <int D> static __device__ __forceinline__ void put_row(__nv_bfloat16 *to, const rows16<D> *o,
								int r, float scale)
{
#pragma unroll
	for (int j = 0; j < D / 8; j++)
		*(uint32_t *)(to + 8 * j + 2 * (threadIdx.x & 3)) = pack_bf16(o->v[j][2 * r] * scale,
				o->v[j][2 * r + 1] * scale);
}

/* --- delta ---- */

/* A warp a head of a row. */
static __global__ void delta_kernel(const __nv_bfloat16 *out, const __nv_bfloat16 *dout, float *delta, size_t n, int D)
{
	size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
	int lane = threadIdx.x & 31;
	float sum = 0;

	if (i >= n)
		return;
	for (int d = 2 * lane; d < D; d += 64) {
		float2 o = unpack_bf16(*(const uint32_t *)(out + i * D + d)),
			g = unpack_bf16(*(const uint32_t *)(dout + i * D + d));

		sum += o.x * g.x + o.y * g.y;
	}
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(~0u, sum, d);
	if (!lane)
		delta[i] = sum;
}

/* --- dq ---- */

/* Scores and dp of a tile to ds (without the scale). `seen` as in attn_tile.cuh. */
static __device__ __forceinline__ void to_ds(float s[8][4], const float dp[8][4], const int seen[2],
					     const float lse[2], const float delta[2], float c)
{
	int q = threadIdx.x & 3;

#pragma unroll
	for (int j = 0; j < 8; j++)
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float p = 8 * j + 2 * q + (i & 1) < seen[i >> 1] ? power2(s[j][i] * c - lse[i >> 1]) : 0;

			s[j][i] = p * (dp[j][i] - delta[i >> 1]);
		}
}

template <int D> static __global__ void __launch_bounds__(THREADS, 1) dq_kernel(const __grid_constant__ struct grad a)
{
	extern __shared__ __align__(128) char smem[];
	struct place w = place_of(&a, (int)(gridDim.x - 1 - blockIdx.x));
	int before = w.seq.before, h = blockIdx.y, keys = before + min(w.tile + ROWS, w.n),
		tiles = (keys + TILE_KEYS - 1) / TILE_KEYS;
	size_t ld = (size_t)(a.H + 2 * a.HKV) * D, ldo = (size_t)a.H * D;
	const __nv_bfloat16 *rows = a.qkv + (size_t)w.first * ld, *k = a.qkv + (size_t)(a.H + h / (a.H / a.HKV)) * D;
	const __nv_bfloat16 *g = a.dout + (size_t)w.first * ldo + (size_t)h * D;
	uint32_t stage = smem_address(smem), q[D / 16][4], go[D / 16][4];
	float lse[2], delta[2];
	rows16<D> dq;

	if (w.tile >= w.n)
		return;
	for (int r = 0; r < 2; r++) {
		size_t at = (size_t)(w.first + min(w.row + 8 * r, w.n - 1)) * a.H + h;

		lse[r] = a.lse[at] * (float)M_LOG2E;
		delta[r] = a.delta[at];
	}
	load_left<D>(q, rows + min(w.row, w.n - 1) * ld + (size_t)h * D, rows + min(w.row + 8, w.n - 1) *
		     ld + (size_t)h * D);
	load_left<D>(go, g + min(w.row, w.n - 1) * ldo, g + min(w.row + 8, w.n - 1) * ldo);
	rows_clear(&dq);
	for (int t = -1; t < tiles; t++) {
		uint32_t at = stage + (uint32_t)(t & 1) * 2 * tile_bytes<D>(),
			next = stage + (uint32_t)((t + 1) & 1) * 2 * tile_bytes<D>();

		copies_wait<0>();
		__syncthreads();
		if (t + 1 < tiles)
			fetch_keys<D>(&a, &w.seq, k, t + 1, keys, next);
		copies_commit();
		if (t >= 0 && w.mine < w.n && t * TILE_KEYS <= before + w.mine + 15) {
			int from = before + w.row - t * TILE_KEYS, seen[2] = { from + 1, from + 9 };
			float s[8][4] = {}, dp[8][4] = {};

#pragma unroll
			for (int i = 0; i < D / 16; i++) {
				times_transposed<D>(s, q[i], at, i);
				times_transposed<D>(dp, go[i], at + tile_bytes<D>(), i);
			}
			to_ds(s, dp, seen, lse, delta, a.c);
			times_tile<D>(&dq, s, at);
		}
	}
	for (int r = 0; r < 2; r++)
		if (w.row + 8 * r < w.n)
			put_row<D>(a.dqkv + (size_t)(w.first + w.row + 8 * r) * ld + (size_t)h * D, &dq, r, a.scale);
}

/* --- dk and dv ---- */

/* The number of rows, from the sequence's first on, that see its keys: its own rows, and those of
 * the sequences that continue it. */
static __device__ __forceinline__ int seen_by(const struct grad *a)
{
	int s = (int)blockIdx.z, end = s + 1;

	while (a->prefix && end < a->sequences && a->prefix[end] == s)
		end++;
	return a->start[end] - a->start[s];
}

/* Statistics of 64 query rows; rows from `n` on get a probability of 0. */
static __device__ __forceinline__ void fetch_stats(const struct grad *a, const struct place *w, int h,
						   int row, int n, float2 *to)
{
	int i = threadIdx.x;

	if (i < TILE_KEYS) {
		size_t at = (size_t)(w->first + row + i) * a->H + h;

		to[i] = row + i < n ? make_float2(a->lse[at] * (float)M_LOG2E, a->delta[at]) : make_float2(INFINITY, 0);
	}
}

/* Transposed scores, rows are keys `key` and `key` + 8 and columns query rows from `row` on, to p and ds. */
static __device__ __forceinline__ void to_p_and_ds(float s[8][4], float dp[8][4], const float2 *stats,
						   int key, int row, float c)
{
	int q = threadIdx.x & 3;

#pragma unroll
	for (int j = 0; j < 8; j++)
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int column = 8 * j + 2 * q + (i & 1);
			float2 x = stats[column];

			s[j][i] = row + column >= key + 8 * (i >> 1) ? power2(s[j][i] * c - x.x) : 0;
			dp[j][i] = s[j][i] * (dp[j][i] - x.y);
		}
}

template <int D> static __global__ void __launch_bounds__(THREADS, 1) dkv_kernel(const __grid_constant__ struct grad a)
{
	extern __shared__ __align__(128) char smem[];
	enum { KEYS = ROWS * D * 2, TILE = TILE_KEYS * D * 2 };
	struct place w = place_of(&a, (int)blockIdx.x);
	/* query tiles a head */
	int n = seen_by(&a), heads = a.H / a.HKV, first = w.tile / TILE_KEYS,
		tiles = (n + TILE_KEYS - 1) / TILE_KEYS - first;
	size_t ld = (size_t)(a.H + 2 * a.HKV) * D, ldo = (size_t)a.H * D;
	const __nv_bfloat16 *rows = a.qkv + (size_t)w.first * ld, *k = rows + (size_t)w.tile * ld +
		(size_t)(a.H + blockIdx.y) * D;
	uint32_t keys = smem_address(smem), values = keys + KEYS, stage = values + KEYS;
	float2 *stats = (float2 *)(smem + 2 * KEYS + 4 * TILE);
	rows16<D> dk, dv;

	if (w.tile >= w.n)
		return;
	fetch_rows<D, ROWS>(k, ld, w.n - w.tile, keys);
	fetch_rows<D, ROWS>(k + (size_t)a.HKV * D, ld, w.n - w.tile, values);
	rows_clear(&dk);
	rows_clear(&dv);
	for (int t = -1; t < tiles * heads; t++) {
		int row = (first + t % tiles) * TILE_KEYS;
		uint32_t at = stage + (uint32_t)(t & 1) * 2 * TILE, next = stage + (uint32_t)((t + 1) & 1) * 2 * TILE;

		copies_wait<0>();
		__syncthreads();
		if (t + 1 < tiles * heads) {
			int h = (int)blockIdx.y * heads + (t + 1) / tiles, from = (first + (t + 1) % tiles) * TILE_KEYS;

			fetch_rows<D, TILE_KEYS>(rows + from * ld + (size_t)h * D, ld, n - from, next);
			fetch_rows<D, TILE_KEYS>(a.dout + (size_t)(w.first + from) * ldo + (size_t)h * D,
						 ldo, n - from, next + TILE);
			fetch_stats(&a, &w, h, from, n, stats + ((t + 1) & 1) * TILE_KEYS);
		}
		copies_commit();
		if (t >= 0 && row + TILE_KEYS > w.mine) {
			int mine = w.mine - w.tile;
			float s[8][4] = {}, dp[8][4] = {};

#pragma unroll
			for (int i = 0; i < D / 16; i++) {
				uint32_t left[4];

				left16<D>(left, keys, mine, i);
				times_transposed<D>(s, left, at, i);
				left16<D>(left, values, mine, i);
				times_transposed<D>(dp, left, at + TILE, i);
			}
			to_p_and_ds(s, dp, stats + (t & 1) * TILE_KEYS, w.row, row, a.c);
			times_tile<D>(&dv, s, at + TILE);
			times_tile<D>(&dk, dp, at);
		}
	}
	for (int r = 0; r < 2; r++)
		if (w.row + 8 * r < w.n) {
			__nv_bfloat16 *to = a.dqkv + (size_t)(w.first + w.row + 8 * r) * ld +
				(size_t)(a.H + blockIdx.y) * D;

			put_row<D>(to, &dk, r, a.scale);
			put_row<D>(to + (size_t)a.HKV * D, &dv, r, 1);
		}
}

/* --- launchers ---- */

size_t attn_grad_work(const struct cuda_attention *a)
{
	return (size_t)a->T * a->H * sizeof(float);
}

template <int D> static int launch(cudaStream_t stream, const struct cuda_attention *a)
{
	struct grad g = { a->H, a->HKV, a->sequences, a->start, a->prefix, (const __nv_bfloat16 *)a->qkv,
			  (const __nv_bfloat16 *)a->out, (const __nv_bfloat16 *)a->dout,
			  a->lse, (float *)a->work, (__nv_bfloat16 *)a->dqkv, (float)(M_LOG2E / sqrt((double)D)),
				  (float)(1 / sqrt((double)D)) };
	size_t heads = (size_t)a->T * a->H;
	int dq = 4 * tile_bytes<D>(), dkv = 2 * ROWS * D * 2 + 4 * tile_bytes<D>() + 2 * TILE_KEYS *
		(int)sizeof(float2);
	unsigned tiles = (unsigned)(a->longest + ROWS - 1) / ROWS, z = (unsigned)a->sequences;

	CUDA_TRY(cudaFuncSetAttribute(dq_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, dq));
	CUDA_TRY(cudaFuncSetAttribute(dkv_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, dkv));
	delta_kernel<<<(unsigned)((heads + 7) / 8), 256, 0, stream>>>(g.out, g.dout, g.delta, heads, D);
	dq_kernel<D><<<dim3(tiles, (unsigned)a->H, z), THREADS, (size_t)dq, stream>>>(g);
	dkv_kernel<D><<<dim3(tiles, (unsigned)a->HKV, z), THREADS, (size_t)dkv, stream>>>(g);
	return cuda_launched();
}

int attn_grad_own(cudaStream_t stream, const struct cuda_attention *a)
{
	if (!a->sequences || !a->longest)
		return 0;
	if (a->work_bytes < attn_grad_work(a))
		return CUDA_OWN_WORK;
	if (a->H % a->HKV || a->sequences > 65535)
		return CUDA_OWN_SHAPE;
	switch (a->D) {
	case 32: return launch<32>(stream, a);
	case 64: return launch<64>(stream, a);
	case 128: return launch<128>(stream, a);
	default: return CUDA_OWN_SHAPE;
	}
}
