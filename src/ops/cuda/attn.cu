/* Attention forward over a pack or over pages, and the choice between own kernels and cuDNN.
 *
 *   s = q k^T / sqrt(D),  out = softmax(s) v,  causal inside a sequence
 *
 * A block has 128 query rows of one head, a warp 16 of them. Tiles of 64 keys come into shared
 * memory two deep. The order of a row is that of attn_tile.cuh. */
#include "ops/cuda/attn.cuh"

#include <math.h>

#include "ops/cuda/attn_tile.cuh"

enum { ROWS = 128, THREADS = 256 };

struct forward {
	struct attn_forward f;
	float c, scale;
};

/* Bytes of one tile, keys or values. */
template <int D> static __host__ __device__ constexpr int tile_bytes() { return TILE_KEYS * D * 2; }

/* The keys of a tile: row i is at `from` + i * `ld`, or in the pack; values are `values` elements
 * later. */
struct tile_source {
	const __nv_bfloat16 *from;     /* NULL: e4m3 at `codes` */
	const unsigned char *codes;
	size_t ld, values;
};

template <int D> static __device__ __forceinline__ struct tile_source tile_source(const struct attn_forward *f,
		int s, int kvh, int t)
{
	size_t at = f->pages ? (size_t)f->table[s * f->table_ld + t] * f->stride + (size_t)kvh * TILE_KEYS * D : 0;

	if (f->pages)
		return { f->e4m3 ? NULL : (const __nv_bfloat16 *)f->pages + at,
			 (const unsigned char *)f->pages + at, D, (size_t)f->HKV * TILE_KEYS * D };
	return { f->qkv + (size_t)(f->H + kvh) * D, NULL, (size_t)(f->H + 2 * f->HKV) * D, (size_t)f->HKV * D };
}

/* Eight codes as bf16, which holds them exactly. */
static __device__ __forceinline__ void put_codes(uint32_t to, const unsigned char *from, bool there)
{
	uint2 c = there ? __ldg((const uint2 *)from) : make_uint2(0, 0);

	store16(to, bf16_of_fp8(c.x & 0xffff), bf16_of_fp8(c.x >> 16), bf16_of_fp8(c.y & 0xffff),
		bf16_of_fp8(c.y >> 16));
}

/* Starts the copies of tile `t`: keys, then values, to `to`. Keys from `keys` on become zeros. */
template <int D> static __device__ __forceinline__ void fetch_tile(const struct attn_forward *f, int s,
								   const struct attn_seq *q, int kvh, int t,
								   int keys, uint32_t to)
{
	struct tile_source src = tile_source<D>(f, s, kvh, t);
	size_t values = src.values;

#pragma unroll
	for (int i = 0; i < TILE_KEYS * D / 8 / THREADS; i++) {
		int at = (int)threadIdx.x + i * THREADS, row = at / (D / 8), piece = at % (D / 8),
			key = t * TILE_KEYS + row;
		bool there = key < keys;

		if (!src.from) {
			put_codes(to + tile_at<D>(row, piece), src.codes + row * D + piece * 8, there);
			put_codes(to + tile_bytes<D>() + tile_at<D>(row, piece),
				  src.codes + values + row * D + piece * 8, there);
			continue;
		}
		const __nv_bfloat16 *p = there ? src.from + (f->pages ? row : attn_row(q, key)) * src.ld +
			piece * 8 : f->qkv;

		copy16(to + tile_at<D>(row, piece), p, there);
		copy16(to + tile_bytes<D>() + tile_at<D>(row, piece), there ? p + values : p, there);
	}
}

/* Joins a complete split to the running result in shared memory. Each thread has D / 8 pieces of 16
 * bytes in `at`. */
template <int D> static __device__ __forceinline__ void keep_split(float4 *at, row_pair *all,
								   const rows16<D> *o, const row_pair *p, float c)
{
	float old[2], add[2];

#pragma unroll
	for (int r = 0; r < 2; r++) {
		join_factors(&all->m[r], p->m[r], c, &old[r], &add[r]);
		all->l[r] = join(all->l[r], old[r], p->l[r], add[r]);
	}
#pragma unroll
	for (int j = 0; j < D / 8; j++) {
		float4 x = at[j * THREADS];

		x.x = join(x.x, old[0], o->v[j][0], add[0]);
		x.y = join(x.y, old[0], o->v[j][1], add[0]);
		x.z = join(x.z, old[1], o->v[j][2], add[1]);
		x.w = join(x.w, old[1], o->v[j][3], add[1]);
		at[j * THREADS] = x;
	}
}

template <int D> static __device__ __forceinline__ void take_splits(const float4 *at, rows16<D> *o)
{
#pragma unroll
	for (int j = 0; j < D / 8; j++) {
		float4 x = at[j * THREADS];

		o->v[j][0] = x.x, o->v[j][1] = x.y, o->v[j][2] = x.z, o->v[j][3] = x.w;
	}
}

/* Row g + 8 r of the warp to `out`, and its log-sum-exp. */
template <int D> static __device__ __forceinline__ void put_row(const struct forward *a, size_t row, int h,
								const rows16<D> *o, const row_pair *p, int r)
{
	__nv_bfloat16 *out = a->f.out + (row * a->f.H + h) * D + 2 * (threadIdx.x & 3);
	float inverse = __frcp_rn(p->l[r]);

#pragma unroll
	for (int j = 0; j < D / 8; j++)
		*(uint32_t *)(out + 8 * j) = pack_bf16(__fmul_rn(o->v[j][2 * r], inverse),
						       __fmul_rn(o->v[j][2 * r + 1], inverse));
	if (a->f.lse && !(threadIdx.x & 3))
		a->f.lse[row * a->f.H + h] = p->m[r] * a->scale + logf(p->l[r]);
}

/* Block x counts tiles of rows from the end, which have most keys; y is the head, z the sequence. */
template <int D> static __global__ void __launch_bounds__(THREADS,
							  1) forward_kernel(const __grid_constant__ struct forward a)
{
	extern __shared__ __align__(128) char smem[];
	int s = blockIdx.z, h = blockIdx.y, kvh = h / (a.f.H / a.f.HKV),
		tile = (int)(gridDim.x - 1 - blockIdx.x) * ROWS;
	struct attn_seq seq = attn_seq(a.f.start, a.f.prefix, s);
	int first = seq.first, n = seq.n, before = a.f.length ? a.f.length[s] : seq.before;
	int mine = tile + (int)(threadIdx.x / 32) * 16, row = mine + (int)(threadIdx.x & 31) / 4;
	int keys = before + min(tile + ROWS, n), tiles = (keys + TILE_KEYS - 1) / TILE_KEYS;
	int last = mine < n ? before + min(mine + 15, n - 1) : -1;      /* position of the warp's last row */
	size_t ld = (size_t)(a.f.H + 2 * a.f.HKV) * D;
	const __nv_bfloat16 *rows = a.f.qkv + (size_t)first * ld + (size_t)h * D;
	uint32_t stage = smem_address(smem), q[D / 16][4];
	float4 *kept = (float4 *)(smem + 4 * tile_bytes<D>()) + threadIdx.x;
	row_pair p, all;
	rows16<D> o;

	if (tile >= n || before < 0)
		return;
	load_left<D>(q, rows + (size_t)min(row, n - 1) * ld, rows + (size_t)min(row + 8, n - 1) * ld);
	if (tiles > SPLIT_TILES)
		for (int j = 0; j < D / 8; j++)
			kept[j * THREADS] = make_float4(0, 0, 0, 0);
	rows_clear(&o);
	pair_clear(&p);
	pair_clear(&all);
	fetch_tile<D>(&a.f, s, &seq, kvh, 0, keys, stage);
	copies_commit();
	for (int t = 0; t < tiles; t++) {
		uint32_t at = stage + (t & 1) * 2 * tile_bytes<D>();

		copies_wait<0>();
		__syncthreads();
		if (t + 1 < tiles)
			fetch_tile<D>(&a.f, s, &seq, kvh, t + 1, keys, stage + ((t + 1) & 1) * 2 * tile_bytes<D>());
		copies_commit();
		if (t * TILE_KEYS <= last) {
			int from = before + 1 - t * TILE_KEYS, seen[2] = { from + row, from + row + 8 };
			row_pair pt;
			rows16<D> ot;

			attend_tile<D>(&ot, &pt, q, at, at + tile_bytes<D>(), seen, from + mine >= TILE_KEYS, a.c);
			join_rows(&o, &p, &ot, &pt, a.c);
		}
		if (tiles > SPLIT_TILES && ((t + 1) % SPLIT_TILES == 0 || t + 1 == tiles)) {
			keep_split<D>(kept, &all, &o, &p, a.c);
			rows_clear(&o);
			pair_clear(&p);
		}
	}
	if (tiles > SPLIT_TILES) {
		take_splits<D>(kept, &o);
		p = all;
	}
	for (int r = 0; r < 2; r++)
		if (row + 8 * r < n)
			put_row<D>(&a, (size_t)(first + row + 8 * r), h, &o, &p, r);
}

template <int D> static int launch_forward(cudaStream_t stream, const struct attn_forward *f)
{
	struct forward a = { *f, (float)(M_LOG2E / sqrt((double)D)), (float)(1 / sqrt((double)D)) };
	int bytes = 4 * tile_bytes<D>() + (f->keys > SPLIT_KEYS ? D / 8 * THREADS * 16 : 0);
	dim3 grid((unsigned)(f->longest + ROWS - 1) / ROWS, (unsigned)f->H, (unsigned)f->sequences);

	CUDA_TRY(cudaFuncSetAttribute(forward_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
	forward_kernel<D><<<grid, THREADS, (size_t)bytes, stream>>>(a);
	return cuda_launched();
}

int attn_forward(cudaStream_t stream, const struct attn_forward *f)
{
	if (!f->sequences || !f->longest)
		return 0;
	if (f->H % f->HKV || f->sequences > 65535)
		return CUDA_OWN_SHAPE;
	switch (f->D) {
	case 32: return launch_forward<32>(stream, f);
	case 64: return launch_forward<64>(stream, f);
	case 128: return launch_forward<128>(stream, f);
	default: return CUDA_OWN_SHAPE;
	}
}

static __global__ void ragged_kernel(struct attn_ragged r)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	int64_t row;

	if (i > r.room)
		return;
	row = r.start[min(i, r.n)];
	r.rows[i] = row * (r.H + 2 * r.HKV) * r.D;
	r.rows_out[i] = row * r.H * r.D;
	r.rows_stats[i] = row * r.H;
	if (i < r.room)
		r.lengths[i] = i < r.n ? r.start[i + 1] - r.start[i] : 0;
}

int attn_ragged(cudaStream_t stream, const struct attn_ragged *r)
{
	ragged_kernel<<<(unsigned)r->room / 128 + 1, 128, 0, stream>>>(*r);
	return cuda_launched();
}

/* --- the ops ---- */

/* Exact rows have the order of attn_tile.cuh, which cuDNN does not have. Gradients do not need this
 * order. */
static int by_cudnn(struct cuda *c, const struct cuda_attention *a, int exact)
{
	int version;

	if (a->variant == CUDA_ATTN_OWN || a->prefix || exact)
		return 0;
	return !attn_cudnn_there(c, &version) && version > 0;
}

int cuda_cudnn_built(void)
{
	return attn_cudnn_built();
}

int cuda_has_cudnn(struct cuda *c, int *version)
{
	return attn_cudnn_there(c, version);
}

int cuda_attention_work(struct cuda *c, const struct cuda_attention *a, size_t *bytes)
{
	*bytes = attn_grad_work(a);
	if (by_cudnn(c, a, 0)) {
		size_t cudnn;

		CUDA_TRY(attn_cudnn_work(c, a, &cudnn));
		*bytes = *bytes > cudnn ? *bytes : cudnn;
	}
	return 0;
}

int cuda_attention(struct cuda *c, const struct cuda_attention *a)
{
	struct attn_forward f = { .H = a->H, .HKV = a->HKV, .D = a->D, .sequences = a->sequences,
				  .longest = a->longest, .keys = a->longest,
				  .start = a->start, .prefix = a->prefix, .qkv = (const __nv_bfloat16 *)a->qkv,
					  .out = (__nv_bfloat16 *)a->out, .lse = a->lse };

	int rc = by_cudnn(c, a, a->exact) ? attn_cudnn_forward(c, a) : CUDA_OWN_SHAPE;

	return rc == CUDA_OWN_SHAPE && a->variant != CUDA_ATTN_CUDNN ? attn_forward(c->stream, &f) : rc;
}

int cuda_attention_grad(struct cuda *c, const struct cuda_attention *a)
{
	int rc = by_cudnn(c, a, 0) ? attn_cudnn_grad(c, a) : CUDA_OWN_SHAPE;

	return rc == CUDA_OWN_SHAPE && a->variant != CUDA_ATTN_CUDNN ? attn_grad_own(c->stream, a) : rc;
}
