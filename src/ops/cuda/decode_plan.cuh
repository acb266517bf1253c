/* The work of a decode step and how it is cut into items: see decode.cu.
 *
 * The keys of a run are cut into splits of SPLIT_KEYS positions from the start. Splits that all
 * runs of a group share are computed for several runs at once; the others for each run. Every block
 * computes the same plan in its shared memory from lengths and groups, so no kernel has to run
 * before. */
#ifndef OPS_CUDA_DECODE_PLAN_CUH
#define OPS_CUDA_DECODE_PLAN_CUH

#include "ops/cuda/attn_tile.cuh"

/* Most runs of a call and key heads; rows of a group that a block takes. */
enum { DECODE_RUNS = 512, DECODE_HEADS = 64, DECODE_ROWS = 64, DECODE_THREADS = 128 };

struct decode {
	int H, HKV, runs, groups;
	int splits;                    /* a bound of the splits of a run */
	const int32_t *row, *length, *table, *group, *group_pages, *member;
	int table_ld;
	const __nv_bfloat16 *qkv;
	__nv_bfloat16 *out;
	char *kv;
	size_t stride;                 /* bytes from a page to the next */
	float *part;                   /* [runs][splits][H][D]: results of splits */
	float2 *stat;                  /* [runs][splits][H]: their maximum and sum */
	float c;
};

struct decode_plan {
	int first[DECODE_RUNS + 1];        /* splits of runs before, without shared ones */
	int group_first[DECODE_RUNS + 1];  /* shared pieces of groups before */
	uint16_t shared[DECODE_RUNS];      /* shared splits of a run */
};

/* One piece of work. */
struct decode_item {
	int split, kvh;
	int run;                       /* of one run, or -1: */
	int first, members;            /* of these members of a group */
};

static __device__ __forceinline__ int decode_run(const struct decode *a, int i)
{
	return a->member ? a->member[i] : i;
}

/* Keys that a run sees: those before and its own; 0 for a run that is not computed. */
static __device__ __forceinline__ int decode_keys(const struct decode *a, int run)
{
	return max(a->length[run] + 1, 0);
}

static __device__ __forceinline__ int decode_splits(const struct decode *a, int run)
{
	return (decode_keys(a, run) + SPLIT_KEYS - 1) / SPLIT_KEYS;
}

/* Runs of a group that fit into one piece of shared work. */
static __device__ __forceinline__ int decode_together(const struct decode *a)
{
	return DECODE_ROWS / (a->H / a->HKV);
}

/* Sets the number of splits that the runs of group `g` share: none unless at least two of its runs
 * are active. Returns the number of items for the shared splits. */
static __device__ int plan_group(const struct decode *a, struct decode_plan *p, int g)
{
	int from = a->group[g], to = a->group[g + 1], active = 0, shared = a->group_pages[g] / SPLIT_TILES;

	for (int i = from; i < to; i++)
		active += a->length[decode_run(a, i)] >= 0;
	if (active < 2)
		shared = 0;
	for (int i = from; i < to; i++)
		p->shared[decode_run(a, i)] = (uint16_t)shared;
	return shared * ((to - from + decode_together(a) - 1) / decode_together(a));
}

/* v[i] becomes the sum of those before it, v[n] the sum of all. One warp. */
static __device__ void scan_warp(int *v, int n)
{
	int lane = threadIdx.x & 31, sum = 0;

	for (int i = lane; i - lane < n; i += 32) {
		int x = i < n ? v[i] : 0, all = x;

		for (int d = 1; d < 32; d *= 2) {
			int below = __shfl_up_sync(~0u, all, d);

			all += lane >= d ? below : 0;
		}
		if (i < n)
			v[i] = sum + all - x;
		sum += __shfl_sync(~0u, all, 31);
	}
	if (!lane)
		v[n] = sum;
}

static __device__ void plan_make(const struct decode *a, struct decode_plan *p)
{
	for (int r = threadIdx.x; r < a->runs; r += DECODE_THREADS)
		p->shared[r] = 0;
	__syncthreads();
	for (int g = threadIdx.x; g < a->groups; g += DECODE_THREADS)
		p->group_first[g] = plan_group(a, p, g);
	__syncthreads();
	for (int r = threadIdx.x; r < a->runs; r += DECODE_THREADS)
		p->first[r] = decode_keys(a, r) ? decode_splits(a, r) - p->shared[r] : 0;
	__syncthreads();
	if (threadIdx.x < 32)
		scan_warp(p->first, a->runs);
	else if (threadIdx.x < 64)
		scan_warp(p->group_first, a->groups);
	__syncthreads();
}

/* The last i with v[i] <= at. */
static __device__ int plan_find(const int *v, int n, int at)
{
	int low = 0, high = n;

	while (high - low > 1) {
		int middle = (low + high) / 2;

		if (v[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static __device__ __forceinline__ int plan_items(const struct decode *a, const struct decode_plan *p)
{
	return (p->group_first[a->groups] + p->first[a->runs]) * a->HKV;
}

/* Shared pieces come first: they take longest. */
static __device__ struct decode_item plan_item(const struct decode *a, const struct decode_plan *p, int i)
{
	struct decode_item x;
	int at = i / a->HKV, shared = p->group_first[a->groups];

	x.kvh = i % a->HKV;
	if (at >= shared) {
		x.run = plan_find(p->first, a->runs, at - shared);
		x.split = p->shared[x.run] + at - shared - p->first[x.run];
		x.first = x.members = 0;
		return x;
	}
	int g = plan_find(p->group_first, a->groups, at), n = a->group[g + 1] - a->group[g];
	int together = decode_together(a), pieces = (n + together - 1) / together;

	at -= p->group_first[g];
	x.run = -1;
	x.split = at / pieces;
	x.first = a->group[g] + at % pieces * together;
	x.members = min(together, a->group[g + 1] - x.first);
	return x;
}

#endif
