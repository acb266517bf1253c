/* Attention of new rows of cached sequences: one row per run (decoding), or several (prefill).
 *
 * Decoding: a fixed grid of blocks walks the items of the plan. An item is a split of one run's
 * keys: its four warps take a tile of 64 keys each, with the query heads of one key head as rows,
 * and join their results in order. Or it is a split that a group of runs shares: then rows are the
 * query heads of several runs, and the warps divide the rows. If a run has several splits, the
 * block that finishes the last of them joins all, in order. Rows have the order of attn_tile.cuh:
 * their bits depend on no other run, on no grid and no group. */
#include <math.h>

#include "ops/cuda/attn.cuh"
#include "ops/cuda/decode_page.cuh"

enum { WARPS = DECODE_THREADS / 32, HEADS = 8 };

/* Copies under way in a warp: UNITS places of 16 positions. */
template <int D, class PAGE> struct ring {
	enum { UNITS = PAGE::UNIT > 2048 ? 5 : 8, BYTES = WARPS * UNITS * PAGE::UNIT };
};

template <int D, class PAGE> struct shared_memory {
	enum { TILES = 4 * TILE_KEYS * D * 2 };        /* a group's: two of keys, two of values */
	alignas(128) char tiles[(int)TILES > (int)ring<D, PAGE>::BYTES ? (int)TILES : (int)ring<D, PAGE>::BYTES];
	float result[WARPS][HEADS][D + 8];             /* of the warps' tiles; the 8 move rows to other banks */
	float2 stat[WARPS][HEADS];
	struct decode_plan plan;
	int last[DECODE_ROWS];
};

/* Columns of the heads' results that a thread joins: column `column` of heads head(0), head(1)... */
template <int D> struct joined {
	enum { N = HEADS * D / DECODE_THREADS };
	float o[N], m[N], l[N];

	static __device__ __forceinline__ int column(void) { return (int)threadIdx.x % D; }
	static __device__ __forceinline__ int head(int i) { return i * (DECODE_THREADS / D) + (int)threadIdx.x / D; }

	__device__ __forceinline__ void clear(void)
	{
#pragma unroll
		for (int i = 0; i < N; i++)
			o[i] = l[i] = 0, m[i] = -INFINITY;
	}

	__device__ __forceinline__ void add(int i, float ot, float2 stat, float c)
	{
		float old, add;

		join_factors(&m[i], stat.x, c, &old, &add);
		l[i] = join(l[i], old, stat.y, add);
		o[i] = join(o[i], old, ot, add);
	}
};

/* Place of head `h` of a split in the partial results. */
static __device__ __forceinline__ size_t part_at(const struct decode *a, int run, int split, int h)
{
	return ((size_t)run * a->splits + split) * a->H + h;
}

template <int D> static __device__ void put_out(const struct decode *a, int run, int kvh, const joined<D> *j)
{
	int heads = a->H / a->HKV;

#pragma unroll
	for (int i = 0; i < joined<D>::N; i++)
		if (j->head(i) < heads)
			a->out[((size_t)a->row[run] * a->H + kvh * heads + j->head(i)) * D + j->column()] =
				__float2bfloat16_rn(__fmul_rn(j->o[i], __frcp_rn(j->l[i])));
}

template <int D> static __device__ void put_part(const struct decode *a, const struct decode_item *x,
						 const joined<D> *j)
{
	int heads = a->H / a->HKV;

#pragma unroll
	for (int i = 0; i < joined<D>::N; i++)
		if (j->head(i) < heads) {
			size_t at = part_at(a, x->run, x->split, x->kvh * heads + j->head(i));

			a->part[at * D + j->column()] = j->o[i];
			if (!j->column())
				a->stat[at] = make_float2(j->m[i], j->l[i]);
		}
}

/* Joins all splits of a run, which other blocks wrote. */
template <int D> static __device__ void join_splits(const struct decode *a, int run, int kvh)
{
	int heads = a->H / a->HKV, splits = decode_splits(a, run);
	joined<D> j;

	j.clear();
	for (int s = 0; s < splits; s++)
#pragma unroll
		for (int i = 0; i < joined<D>::N; i++)
			if (j.head(i) < heads) {
				size_t at = part_at(a, run, s, kvh * heads + j.head(i));

				j.add(i, __ldcg(a->part + at * D + j.column()), __ldcg(a->stat + at), a->c);
			}
	put_out<D>(a, run, kvh, &j);
}

/* The number of finished splits of each run and key head. All are 0 between launches: the block
 * that completes a run clears its counter. */
static __device__ unsigned arrived[DECODE_RUNS * DECODE_HEADS];

/* Counts the splits of `n` runs whose partial results are written now. The block that completes a
 * run joins its splits. */
template <int D> static __device__ void arrive(const struct decode *a, int *last, const struct decode_item *x, int n)
{
	__threadfence();
	__syncthreads();
	if ((int)threadIdx.x < n) {
		int run = x->run >= 0 ? x->run : decode_run(a, x->first + (int)threadIdx.x);
		unsigned *counter = arrived + run * a->HKV + x->kvh;

		last[threadIdx.x] = -1;
		if (a->length[run] >= 0 && atomicAdd(counter, 1) + 1 == (unsigned)decode_splits(a, run)) {
			last[threadIdx.x] = run;
			*counter = 0;
		}
		__threadfence();
	}
	__syncthreads();
	for (int i = 0; i < n; i++)
		if (last[i] >= 0)
			join_splits<D>(a, last[i], x->kvh);
	__syncthreads();
}

/* --- a split of one run ---- */

/* A warp's units: unit u is 16 positions of its tile u / 8, first four of keys, then four of values. */
template <int D, class PAGE> struct stream {
	const struct decode *a;
	int run, kvh, keys, from;      /* from: first position of the warp's first tile */
	int units, next;               /* of all; to be fetched */
	uint32_t place;

	__device__ __forceinline__ uint32_t slot(int u) const { return place + (uint32_t)(u % ring<D,
			PAGE>::UNITS) * PAGE::UNIT; }

	/* Starts the next unit; there is a group of copies for each even when there are no more. */
	__device__ __forceinline__ void fetch(void)
	{
		if (next < units) {
			int key = from + next / 8 * (WARPS * TILE_KEYS) + next % 4 * UNIT_KEYS;

			PAGE::fetch(a, run, kvh, key, keys, next % 8 / 4, slot(next));
		}
		copies_commit();
		next++;
	}

	/* Waits for unit u, and refills the place of the unit before it. */
	__device__ __forceinline__ uint32_t take(int u)
	{
		copies_wait<ring<D, PAGE>::UNITS - 2>();
		__syncwarp();
		fetch();
		return slot(u);
	}
};

/* The warp's next tile, its units from `u` on. `seen` of its keys are there. */
template <int D, class PAGE> static __device__ __forceinline__ void stream_tile(stream<D, PAGE> *w,
		const PAGE *page, int u, int seen, float *result,
										 float2 *stat, int heads, float c)
{
	int g = (int)(threadIdx.x & 31) / 4, see[2] = { seen, seen };
	float s[8][4] = {};
	row_pair t;
	rows16<D> o;

#pragma unroll
	for (int i = 0; i < 4; i++)
		page->score(s + 2 * i, w->take(u + i));
	if (seen < TILE_KEYS)
		hide(s, see);
	soften<1>(s, &t, c);
	rows_clear(&o);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		uint32_t p[4];

		PAGE::left(p, s[2 * i], s[2 * i + 1]);
		PAGE::weigh(&o, p, w->take(u + 4 + i));
	}
	if (g >= heads)
		return;
	PAGE::put(result + g * (D + 8), &o);
	if (!(threadIdx.x & 3))
		stat[g] = make_float2(t.m[0], t.l[0]);
}

/* The newest key and value go to their page. */
template <int D> static __device__ void write_newest(const struct decode *a, int run, int kvh, int key)
{
	int i = threadIdx.x, values = i / (D / 8), piece = i % (D / 8);
	const __nv_bfloat16 *own = a->qkv + ((size_t)a->row[run] * (a->H + 2 * a->HKV) + a->H + values *
					     a->HKV + kvh) * D;

	if (values < 2)
		*(uint4 *)(page_head(a, run, key, kvh, values, TILE_KEYS * D * 2) +
			   (key % TILE_KEYS * D + piece * 8) * 2) =
			*(const uint4 *)(own + piece * 8);
}

template <int D, class PAGE> static __device__ void run_item(const struct decode *a, shared_memory<D,
							     PAGE> *sm, const struct decode_item *x)
{
	int warp = threadIdx.x / 32, heads = a->H / a->HKV, g = (int)(threadIdx.x & 31) / 4,
		keys = decode_keys(a, x->run);
	int from = x->split * SPLIT_KEYS, tiles = (min(keys - from, (int)SPLIT_KEYS) + TILE_KEYS - 1) / TILE_KEYS;
	stream<D, PAGE> w = { a, x->run, x->kvh, keys, from + warp * TILE_KEYS, tiles > warp ?
			      (tiles - warp + WARPS - 1) / WARPS * 8 : 0, 0,
			      smem_address(sm->tiles) + (uint32_t)(warp * ring<D, PAGE>::UNITS * PAGE::UNIT) };
	joined<D> j;
	PAGE page;

	for (int i = 0; i < ring<D, PAGE>::UNITS - 1; i++)
		w.fetch();
	page.load_q(g < heads ? a->qkv + ((size_t)a->row[x->run] * (a->H + 2 * a->HKV) + x->kvh * heads + g) *
		    D : NULL);
	j.clear();
	for (int t = 0; t < tiles; t += WARPS) {
		if (t + warp < tiles)
			stream_tile<D, PAGE>(&w, &page, t / WARPS * 8, keys - from - (t + warp) * TILE_KEYS,
					     &sm->result[warp][0][0],
					     sm->stat[warp], heads, a->c);
		__syncthreads();
		for (int k = 0; k < min(tiles - t, (int)WARPS); k++)
#pragma unroll
			for (int i = 0; i < joined<D>::N; i++)
				if (j.head(i) < heads)
					j.add(i, sm->result[k][j.head(i)][j.column()], sm->stat[k][j.head(i)], a->c);
		__syncthreads();
	}
	if (PAGE::FUSED && from + SPLIT_KEYS >= keys)
		write_newest<D>(a, x->run, x->kvh, keys - 1);
	if (decode_splits(a, x->run) == 1) {
		put_out<D>(a, x->run, x->kvh, &j);
		return;
	}
	put_part<D>(a, x, &j);
	arrive<D>(a, sm->last, x, 1);
}

/* --- a split that a group shares ---- */

/* Row i of the members' heads; i is clamped to the last existing row. */
template <int D> static __device__ __forceinline__ const __nv_bfloat16 *group_row(const struct decode *a,
		const struct decode_item *x, int i)
{
	int heads = a->H / a->HKV;

	i = min(i, x->members * heads - 1);
	return a->qkv + ((size_t)a->row[decode_run(a, x->first + i / heads)] * (a->H + 2 * a->HKV) +
			 x->kvh * heads + i % heads) * D;
}

template <int D> static __device__ void put_group_row(const struct decode *a, const struct decode_item *x,
						      int i, const rows16<D> *o,
						      const row_pair *p, int r)
{
	int heads = a->H / a->HKV, run, q = threadIdx.x & 3;
	size_t at;

	if (i >= x->members * heads)
		return;
	run = decode_run(a, x->first + i / heads);
	if (a->length[run] < 0)
		return;
	at = part_at(a, run, x->split, x->kvh * heads + i % heads);
#pragma unroll
	for (int j = 0; j < D / 8; j++)
		*(float2 *)(a->part + at * D + 8 * j + 2 * q) = make_float2(o->v[j][2 * r], o->v[j][2 * r + 1]);
	if (!q)
		a->stat[at] = make_float2(p->m[r], p->l[r]);
}

template <int D, class PAGE> static __device__ void group_item(const struct decode *a, shared_memory<D,
							       PAGE> *sm, const struct decode_item *x)
{
	enum { TILE = TILE_KEYS * D * 2 };
	int rows = x->members * (a->H / a->HKV), mine = (int)(threadIdx.x / 32) * 16,
		row = mine + (int)(threadIdx.x & 31) / 4;
	int run = decode_run(a, x->first), all[2] = { TILE_KEYS, TILE_KEYS };
	uint32_t place = smem_address(sm->tiles), q[D / 16][4];
	row_pair p, pt;
	rows16<D> o, ot;

	load_left<D>(q, group_row<D>(a, x, row), group_row<D>(a, x, row + 8));
	rows_clear(&o);
	pair_clear(&p);
	for (int t = -1; t < SPLIT_TILES; t++) {
		uint32_t at = place + (uint32_t)(t & 1) * 2 * TILE, next = place + (uint32_t)((t + 1) & 1) * 2 * TILE;

		copies_wait<0>();
		__syncthreads();
		if (t + 1 < SPLIT_TILES) {
			PAGE::fetch_tile(a, run, x->kvh, x->split * SPLIT_TILES + t + 1, 0, next);
			PAGE::fetch_tile(a, run, x->kvh, x->split * SPLIT_TILES + t + 1, 1, next + TILE);
			copies_commit();
		}
		if (t >= 0 && mine < rows) {
			attend_tile<D>(&ot, &pt, q, at, at + TILE, all, true, a->c);
			join_rows(&o, &p, &ot, &pt, a->c);
		}
	}
	put_group_row<D>(a, x, row, &o, &p, 0);
	put_group_row<D>(a, x, row + 8, &o, &p, 1);
	arrive<D>(a, sm->last, x, x->members);
}

template <int D, class PAGE> static __global__ void __launch_bounds__(DECODE_THREADS,
					2) decode_kernel(const __grid_constant__ struct decode a)
{
	extern __shared__ __align__(128) char smem[];
	shared_memory<D, PAGE> *sm = (shared_memory<D, PAGE> *)smem;
	int items;

	plan_make(&a, &sm->plan);
	items = plan_items(&a, &sm->plan);
	for (int i = blockIdx.x; i < items; i += gridDim.x) {
		struct decode_item x = plan_item(&a, &sm->plan, i);

		__syncthreads();
		if (x.run < 0)
			group_item<D, PAGE>(&a, sm, &x);
		else
			run_item<D, PAGE>(&a, sm, &x);
	}
}

/* --- new keys and values to their pages ---- */

struct write {
	int HKV, H, D, runs;
	const int32_t *row, *length, *table;
	int table_ld;
	const __nv_bfloat16 *qkv;
	char *kv;
	size_t stride;
};

static __device__ __forceinline__ uint32_t fp8_of_bf16(uint32_t two)
{
	return __nv_cvt_float2_to_fp8x2(unpack_bf16(two), __NV_SATFINITE, __NV_E4M3);
}

/* Block x is a row of run y; a thread moves 8 elements of one head. */
template <bool FP8> static __global__ void write_kernel(const __grid_constant__ struct write a)
{
	int run = blockIdx.y, first = a.row[run], row = blockIdx.x, pieces = a.D / 8;

	if (row >= a.row[run + 1] - first || a.length[run] < 0)
		return;
	int key = a.length[run] + row, page = a.table[run * a.table_ld + key / TILE_KEYS];

	for (int i = threadIdx.x; i < 2 * a.HKV * pieces; i += blockDim.x) {
		int head = i / pieces, piece = i % pieces;
		uint4 v = *(const uint4 *)(a.qkv + ((size_t)(first + row) * (a.H + 2 * a.HKV) + a.H + head) *
					   a.D + piece * 8);
		size_t at = ((size_t)head * TILE_KEYS + key % TILE_KEYS) * a.D + piece * 8;

		if (FP8)
			*(uint2 *)(a.kv + (size_t)page * a.stride + at) =
				make_uint2(fp8_of_bf16(v.x) | fp8_of_bf16(v.y) << 16,
					   fp8_of_bf16(v.z) | fp8_of_bf16(v.w) << 16);
		else
			*(uint4 *)(a.kv + (size_t)page * a.stride + at * 2) = v;
	}
}

static int write_rows(cudaStream_t stream, const struct cuda_paged *p)
{
	struct write w = { p->HKV, p->H, p->D, p->runs, p->row, p->length, p->table, p->table_ld,
			   (const __nv_bfloat16 *)p->qkv, (char *)p->kv, p->stride };
	dim3 grid((unsigned)p->longest_rows, (unsigned)p->runs);

	if (p->kv_dt == DT_F8E4M3)
		write_kernel<true><<<grid, 128, 0, stream>>>(w);
	else
		write_kernel<false><<<grid, 128, 0, stream>>>(w);
	return cuda_launched();
}

/* --- launchers ---- */

static int splits_of(const struct cuda_paged *p)
{
	return (p->longest + SPLIT_KEYS - 1) / SPLIT_KEYS;
}

/* Partial results: heads of the splits of all runs. */
static size_t work_parts(const struct cuda_paged *p)
{
	return (size_t)(p->runs < DECODE_RUNS ? p->runs : DECODE_RUNS) * splits_of(p) * p->H;
}

int cuda_paged_work(struct cuda *c, const struct cuda_paged *p, size_t *bytes)
{
	(void)c;
	*bytes = work_parts(p) * ((size_t)p->D * sizeof(float) + sizeof(float2));
	return 0;
}

template <int D, class PAGE> static int launch_decode(struct cuda *c, const struct decode *a)
{
	int bytes = (int)sizeof(shared_memory<D, PAGE>);

	CUDA_TRY(cudaFuncSetAttribute(decode_kernel<D, PAGE>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
	decode_kernel<D, PAGE><<<2 * c->info.sms, DECODE_THREADS, (size_t)bytes, c->stream>>>(*a);
	return cuda_launched();
}

static int decode(struct cuda *c, const struct cuda_paged *p)
{
	size_t need;
	int fp8 = p->kv_dt == DT_F8E4M3;
	struct decode a = { .H = p->H, .HKV = p->HKV, .runs = p->runs, .groups = p->groups,
			    .splits = splits_of(p), .row = p->row,
			    .length = p->length, .table = p->table, .group = p->group,
			    .group_pages = p->group_pages, .member = p->member,
			    .table_ld = p->table_ld, .qkv = (const __nv_bfloat16 *)p->qkv,
			    .out = (__nv_bfloat16 *)p->out, .kv = (char *)p->kv,
			    .stride = p->stride, .c = (float)(M_LOG2E / sqrt((double)p->D)) };

	CUDA_TRY(cuda_paged_work(c, p, &need));
	if (p->work_bytes < need)
		return CUDA_OWN_WORK;
	a.part = (float *)p->work;
	a.stat = (float2 *)(a.part + work_parts(p) * p->D);
	if (p->runs > DECODE_RUNS || p->HKV > DECODE_HEADS || p->H % p->HKV || p->H / p->HKV > HEADS)
		return CUDA_OWN_SHAPE;
	if (fp8)
		CUDA_TRY(write_rows(c->stream, p));
	switch (p->D * 2 + fp8) {
	case 64: return launch_decode<32, page_bf16<32>>(c, &a);
	case 128: return launch_decode<64, page_bf16<64>>(c, &a);
	case 129: return launch_decode<64, page_fp8<64>>(c, &a);
	case 256: return launch_decode<128, page_bf16<128>>(c, &a);
	case 257: return launch_decode<128, page_fp8<128>>(c, &a);
	default: return CUDA_OWN_SHAPE;
	}
}

/* Prefill. If no run has cached positions before its new rows, these rows see only each other, and
 * the kernel does not read the pages. */
static int prefill(struct cuda *c, const struct cuda_paged *p)
{
	struct attn_forward f = { .H = p->H, .HKV = p->HKV, .D = p->D, .sequences = p->runs,
				  .longest = p->longest_rows, .keys = p->longest,
				  .start = p->row, .qkv = (const __nv_bfloat16 *)p->qkv,
					  .out = (__nv_bfloat16 *)p->out, .length = p->length };

	CUDA_TRY(write_rows(c->stream, p));
	if (p->longest > p->longest_rows) {
		f.pages = p->kv;
		f.e4m3 = p->kv_dt == DT_F8E4M3;
		f.stride = p->stride / (f.e4m3 ? 1 : 2);
		f.table = p->table;
		f.table_ld = p->table_ld;
	}
	return attn_forward(c->stream, &f);
}

int cuda_paged(struct cuda *c, const struct cuda_paged *p)
{
	if (p->runs < 1)
		return 0;
	return p->longest_rows == 1 ? decode(c, p) : prefill(c, p);
}
