/* One token a row, drawn on the device: see struct cuda_sample and ops/sample.h.
 *
 * Probabilities are integers: floor(2^40 p / p_max). Sums of them are exact in any order, so
 * histograms may be added to by all threads at once and the result is still one.
 *   top-k  keeps every token at least as probable as the k-th
 *   top-p  keeps the fewest tokens, the most probable first and of equals the lower id, whose sum
 *          reaches top_p of what top-k left
 *   min-p  keeps what has at least min_p of the largest probability
 * The token is the first, by id, at which the running sum passes u times the sum of what is kept.
 * One block a row. */
#include <math.h>

#include "dev/cuda/context.cuh"
#include "ops/cuda/cuda.h"
#include "ops/cuda/mma.cuh"
#include "ops/cuda/row_stats.cuh"

enum { BINS = 2048, SEGMENT = 128, STEP = ROW_THREADS * 4 };   /* a warp takes a segment a step */
typedef unsigned long long u64;

struct shared_row {
	u64 bin[BINS];
	u64 scan[ROW_WARPS];
	u64 found[3];                  /* results of one thread for all the others */
	int index;
	uint32_t most;                 /* key of the largest logit */
};

/* The tokens that remain after top-k, top-p and min-p: keys above `key`, and the first `equal` of
 * those equal to it. All have a probability of at least `least`. */
struct cut {
	uint32_t key;
	u64 equal, least;
};

template <class T> struct row {
	const T *x;
	int V;
	float max, slope;              /* log2(e) / temperature */
	uint32_t *seen;                /* tokens of the text, whose logits are penalised; NULL: none are */
	float penalty;
};

/* Order of floats as integers. */
static __device__ __forceinline__ uint32_t key_of(float x)
{
	uint32_t b = __float_as_uint(x);

	return b & 0x80000000u ? ~b : b | 0x80000000u;
}

static __device__ __forceinline__ float float_of(uint32_t key)
{
	return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

static __device__ __forceinline__ float penalise(float x, float penalty) { return x < 0 ? x * penalty : x / penalty; }

/* Loads four logits with the repetition penalty applied. */
template <class T> static __device__ __forceinline__ float4 load4(const row<T> *r, int i)
{
	float4 v = row_load4(r->x + i);

	if (r->seen) {
		uint32_t bits = r->seen[i / 32] >> i % 32;

		v.x = bits & 1 ? penalise(v.x, r->penalty) : v.x;
		v.y = bits & 2 ? penalise(v.y, r->penalty) : v.y;
		v.z = bits & 4 ? penalise(v.z, r->penalty) : v.z;
		v.w = bits & 8 ? penalise(v.w, r->penalty) : v.w;
	}
	return v;
}

template <class T> static __device__ __forceinline__ u64 mass(const row<T> *r, float x)
{
	return __float2ull_rd(__fmul_rn(power2(__fmul_rn(__fadd_rn(x, -r->max), r->slope)), 0x1p40f));
}

/* --- sums over the block ---- */

static __device__ __forceinline__ u64 warp_before(u64 v, u64 *all)
{
	int lane = threadIdx.x & 31;
	u64 sum = v;

	for (int d = 1; d < 32; d *= 2) {
		u64 below = __shfl_up_sync(~0u, sum, d);

		sum += lane >= d ? below : 0;
	}
	*all = __shfl_sync(~0u, sum, 31);
	return sum - v;
}

/* The sum of v of the threads before this one, and of all. */
static __device__ u64 block_before(struct shared_row *sm, u64 v, u64 *all)
{
	u64 warp, before = warp_before(v, &warp), sum = 0;

	__syncthreads();
	if ((threadIdx.x & 31) == 31)
		sm->scan[threadIdx.x / 32] = warp;
	__syncthreads();
	for (int w = 0; w < ROW_WARPS; w++) {
		before += w < (int)threadIdx.x / 32 ? sm->scan[w] : 0;
		sum += sm->scan[w];
	}
	*all = sum;
	return before;
}

/* --- the cut ---- */

/* Bins of the first pass are linear in the logit, which spreads them; those of later passes take
 * the bits of the key. All grow towards the improbable. */
template <class T> static __device__ __forceinline__ int bin_of(const row<T> *r, float x)
{
	return (int)fminf(__fmul_rn(__fadd_rn(r->max, -x), 64.0f), BINS - 1);
}

/* The keys that a pass counts: bin `linear` of the first pass (-1: all), bits above `shift` as in
 * `prefix`. */
struct digits {
	int linear, shift, width;
	uint32_t prefix, from;         /* from: smaller keys are left out */
};

/* Histogram of the weights: 1 each, or the mass. */
template <bool MASS, class T> static __device__ void histogram(const row<T> *r, struct shared_row *sm,
							       const struct digits *d)
{
	__syncthreads();
	for (int i = threadIdx.x; i < BINS; i += ROW_THREADS)
		sm->bin[i] = 0;
	__syncthreads();
	for (int i = (int)threadIdx.x * 4; i < r->V; i += STEP) {
		float4 v = load4(r, i);
		float x[4] = { v.x, v.y, v.z, v.w };

#pragma unroll
		for (int k = 0; k < 4; k++) {
			uint32_t key = key_of(x[k]);
			int bin = bin_of(r, x[k]);

			if (key < d->from)
				continue;
			if (d->linear >= 0) {
				if (bin != d->linear || (u64)key >> (d->shift + d->width) != d->prefix)
					continue;
				bin = BINS - 1 - (int)(key >> d->shift & ((1u << d->width) - 1));
			}
			atomicAdd(&sm->bin[bin], MASS ? mass(r, x[k]) : 1);
		}
	}
	__syncthreads();
}

/* The bin at which the sum, started at *before, reaches `want`; *before becomes the sum ahead of that bin. */
static __device__ int reach(struct shared_row *sm, u64 want, u64 *before)
{
	enum { EACH = BINS / ROW_THREADS };
	u64 own = 0, all, at;

	for (int i = 0; i < EACH; i++)
		own += sm->bin[threadIdx.x * EACH + i];
	at = *before + block_before(sm, own, &all);
	if (!threadIdx.x)
		sm->index = BINS - 1, sm->found[0] = *before + all;
	__syncthreads();
	if (at < want && at + own >= want)
		for (int i = 0; i < EACH; i++) {
			u64 v = sm->bin[threadIdx.x * EACH + i];

			if (at + v >= want) {
				sm->index = (int)threadIdx.x * EACH + i;
				sm->found[0] = at;
				break;
			}
			at += v;
		}
	__syncthreads();
	*before = sm->found[0];
	return sm->index;
}

/* The key at which weights of keys from `from` on, the largest first, reach `want`; *before is their sum
 * ahead of it. */
template <bool MASS, class T> static __device__ uint32_t key_reaching(const row<T> *r, struct shared_row *sm,
								      uint32_t from, u64 want, u64 *before)
{
	static const struct { int shift, width; } digit[] = { { 21, 11 }, { 10, 11 }, { 0, 10 } };
	struct digits d = { -1, 32, 0, 0, from };

	*before = 0;
	histogram<MASS>(r, sm, &d);
	d.linear = reach(sm, want, before);
	for (int i = 0; i < 3; i++) {
		d.shift = digit[i].shift;
		d.width = digit[i].width;
		histogram<MASS>(r, sm, &d);
		d.prefix = d.prefix << d.width | (uint32_t)(BINS - 1 - reach(sm, want, before));
	}
	return d.prefix;
}

/* The mass of keys from `from` on. */
template <class T> static __device__ u64 mass_from(const row<T> *r, struct shared_row *sm, uint32_t from)
{
	u64 own = 0, all;

	for (int i = (int)threadIdx.x * 4; i < r->V; i += STEP) {
		float4 v = load4(r, i);

		own += key_of(v.x) >= from ? mass(r, v.x) : 0;
		own += key_of(v.y) >= from ? mass(r, v.y) : 0;
		own += key_of(v.z) >= from ? mass(r, v.z) : 0;
		own += key_of(v.w) >= from ? mass(r, v.w) : 0;
	}
	block_before(sm, own, &all);
	return all;
}

template <class T> static __device__ struct cut cut_of(const row<T> *r, struct shared_row *sm,
						       const struct sample_opts *o)
{
	struct cut c = { 0, ~(u64)0, 1 };
	u64 before;

	if (o->top_k > 0 && o->top_k < r->V)
		c.key = key_reaching<false>(r, sm, 0, (u64)o->top_k, &before);
	if (o->top_p > 0 && o->top_p < 1) {
		u64 all = mass_from(r, sm, c.key), want = (u64)ceil((double)o->top_p * (double)all), each;

		want = want > 0 ? want : 1;
		c.key = key_reaching<true>(r, sm, c.key, want, &before);
		each = mass(r, float_of(c.key));
		c.equal = each ? (want - before + each - 1) / each : ~(u64)0;
	}
	if (o->min_p > 0)
		c.least = __float2ull_ru(__fmul_rn(o->min_p, 0x1p40f));
	return c;
}

/* --- the draw ---- */

/* Four elements of a lane: what each weighs if above the cut, and how many are at it. */
template <class T> static __device__ __forceinline__ int weigh4(const row<T> *r, const struct cut *c,
								int i, u64 w[4], unsigned *at)
{
	int equal = 0;

	*at = 0;
	w[0] = w[1] = w[2] = w[3] = 0;
	if (i >= r->V)
		return 0;
	float4 v = load4(r, i);
	float x[4] = { v.x, v.y, v.z, v.w };

#pragma unroll
	for (int k = 0; k < 4; k++) {
		uint32_t key = key_of(x[k]);
		u64 m = mass(r, x[k]);

		if (m < c->least || key < c->key)
			continue;
		w[k] = m;
		if (key == c->key) {
			equal++;
			*at |= 1u << k;
		}
	}
	return equal;
}

/* Keeps tokens of equal key until `room` of them were kept. Returns the sum. */
static __device__ __forceinline__ u64 trim4(u64 w[4], unsigned at, u64 room)
{
#pragma unroll
	for (int k = 0; k < 4; k++)
		if (at >> k & 1) {
			w[k] = room ? w[k] : 0;
			room -= room ? 1 : 0;
		}
	return w[0] + w[1] + w[2] + w[3];
}

static __device__ __forceinline__ u64 minus(u64 a, u64 b) { return a > b ? a - b : 0; }

/* Sums of the segments: weight above the cut, and how many are at it. */
template <class T> static __device__ void segments(const row<T> *r, const struct cut *c, u64 *above, int *equal)
{
	for (int i = (int)threadIdx.x * 4; i - (int)threadIdx.x % 32 * 4 < r->V; i += STEP) {
		u64 w[4], sum;
		unsigned at;
		int n = weigh4(r, c, i, w, &at);

		sum = trim4(w, at, 0);
		for (int d = 16; d; d /= 2) {
			sum += __shfl_xor_sync(~0u, sum, d);
			n += __shfl_xor_sync(~0u, n, d);
		}
		if (!(threadIdx.x & 31))
			above[i / SEGMENT] = sum, equal[i / SEGMENT] = n;
	}
	__syncthreads();
}

/* found: the segment's place in the sum, the room for equals in it; index: the segment. `each` is the
 * mass of a token at the cut. */
static __device__ void find_segment(struct shared_row *sm, const u64 *above, const int *equal, int n,
				    const struct cut *c, u64 each, uint64_t u)
{
	int per = (n + ROW_THREADS - 1) / ROW_THREADS, from = min((int)threadIdx.x * per, n), to = min(from + per, n);
	u64 count = 0, sum = 0, all, equals, before, target;

	for (int i = from; i < to; i++)
		count += (u64)equal[i];
	equals = block_before(sm, count, &all);
	for (u64 i = (u64)from, e = equals; i < (u64)to; e += (u64)equal[i], i++)
		sum += above[i] + each * min((u64)equal[i], minus(c->equal, e));
	before = block_before(sm, sum, &all);
	target = __umul64hi(u, all);
	if (before > target || before + sum <= target)
		return;
	for (int i = from; i < to; equals += (u64)equal[i], i++) {
		u64 s = above[i] + each * min((u64)equal[i], minus(c->equal, equals));

		if (before + s > target) {
			sm->index = i;
			sm->found[0] = target - before;
			sm->found[1] = minus(c->equal, equals);
			return;
		}
		before += s;
	}
}

/* The token of the segment at which the sum passes sm->found[0]. One warp. */
template <class T> static __device__ void find_token(const row<T> *r, struct shared_row *sm, const struct cut *c)
{
	int i = sm->index * SEGMENT + (int)threadIdx.x * 4;
	u64 w[4], all, before, target = sm->found[0], room = sm->found[1], sum;
	unsigned at;
	u64 equals = warp_before((u64)weigh4(r, c, i, w, &at), &all);

	sum = trim4(w, at, minus(room, equals));
	before = warp_before(sum, &all);
	__syncwarp();
	if (before > target || before + sum <= target)
		return;
	for (int k = 0; k < 4; k++) {
		if (before + w[k] > target) {
			sm->index = i + k;
			return;
		}
		before += w[k];
	}
}

/* Draw `n` of struct rng's stream: 64 bits, the upper 53 are the uniform number. */
static __device__ uint64_t uniform(uint64_t key, uint32_t n)
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32), c0 = n / 2, c1 = 0, c2 = 0, c3 = 0;

	for (int i = 0; i < 10; i++) {
		uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
		uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;

		c0 = n0, c1 = (uint32_t)b, c2 = n2, c3 = (uint32_t)a;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return (n & 1 ? (uint64_t)c2 << 32 | c3 : (uint64_t)c0 << 32 | c1) >> 11 << 11;
}

/* The largest logit as it is drawn from. */
template <class T> static __device__ float largest(const row<T> *r, struct shared_row *sm)
{
	uint32_t most = 0;

	__syncthreads();
	if (!threadIdx.x)
		sm->most = 0;
	__syncthreads();
	for (int i = (int)threadIdx.x * 4; i < r->V; i += STEP) {
		float4 v = load4(r, i);

		most = max(max(most, max(key_of(v.x), key_of(v.y))), max(key_of(v.z), key_of(v.w)));
	}
	atomicMax(&sm->most, most);
	__syncthreads();
	return float_of(sm->most);
}

/* The first id that has the largest logit. */
template <class T> static __device__ void find_largest(const row<T> *r, struct shared_row *sm)
{
	__syncthreads();
	if (!threadIdx.x)
		sm->index = r->V - 1;
	__syncthreads();
	for (int i = (int)threadIdx.x * 4; i < r->V; i += STEP) {
		float4 v = load4(r, i);
		float x[4] = { v.x, v.y, v.z, v.w };

		for (int k = 0; k < 4; k++)
			if (x[k] == r->max) {
				atomicMin(&sm->index, i + k);
				break;
			}
	}
}

template <class T> static __global__ void __launch_bounds__(ROW_THREADS,
					2) sample_kernel(const __grid_constant__ struct cuda_sample a)
{
	extern __shared__ u64 above[];                 /* weight above the cut per segment, then counts */
	__shared__ struct shared_row sm;
	int n = (a.V + SEGMENT - 1) / SEGMENT, i = blockIdx.x;
	struct sample_opts o = a.row[i].o;
	row<T> r = { (const T *)a.logits + (size_t)(a.from ? a.from[i] : i) * a.V, a.V, 0,
		     o.temperature > 0 ? (float)M_LOG2E / o.temperature : 0,
		     a.seen && o.repetition > 0 && o.repetition != 1 ? a.seen + (size_t)i * ((a.V + 31) / 32) :
			     NULL, o.repetition };
	struct row_stats stats = row_stats_of(r.x, r.V);

	r.max = r.seen ? largest(&r, &sm) : stats.max;
	if (o.temperature <= 0) {
		find_largest(&r, &sm);
	} else {
		struct cut c = cut_of(&r, &sm, &o);

		segments(&r, &c, above, (int *)(above + n));
		find_segment(&sm, above, (int *)(above + n), n, &c, c.key ? mass(&r, float_of(c.key)) : 0,
			     uniform(a.row[i].key, (uint32_t)a.drawn[i]));
		__syncthreads();
		if (threadIdx.x < 32)
			find_token(&r, &sm, &c);
	}
	__syncthreads();
	if (!threadIdx.x) {
		a.token[i] = sm.index;
		if (r.seen)
			r.seen[sm.index / 32] |= 1u << sm.index % 32;
		a.logprob[i] = __fadd_rn((float)r.x[sm.index], -row_lse(stats));
	}
	for (int k = threadIdx.x; k < a.stops; k += ROW_THREADS)
		if (a.stop[k] == sm.index)
			a.done[i] = 1;
}

int cuda_sample(struct cuda *c, const struct cuda_sample *s)
{
	size_t n = (size_t)(s->V + SEGMENT - 1) / SEGMENT, bytes = n * (sizeof(u64) + sizeof(int));

	if (s->V % 4 || s->V < 4)
		return CUDA_OWN_SHAPE;
	if (s->rows < 1)
		return 0;
	if (s->logits_dt == DT_F32) {
		CUDA_TRY(cudaFuncSetAttribute(sample_kernel<float>, cudaFuncAttributeMaxDynamicSharedMemorySize,
					      (int)bytes));
		sample_kernel<float><<<s->rows, ROW_THREADS, bytes, c->stream>>>(*s);
	} else {
		CUDA_TRY(cudaFuncSetAttribute(sample_kernel<__nv_bfloat16>,
					      cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
		sample_kernel<__nv_bfloat16><<<s->rows, ROW_THREADS, bytes, c->stream>>>(*s);
	}
	return cuda_launched();
}

/* --- the next step ---- */

static __global__ void advance_kernel(const __grid_constant__ struct cuda_advance a)
{
	int i = threadIdx.x, step = *a.step;

	a.tokens[(size_t)step * a.rows + i] = a.next[i] = a.token[i];
	a.logprobs[(size_t)step * a.rows + i] = a.logprob[i];
	a.pos[i]++;
	a.length[i]++;
	a.drawn[i]++;
	__syncthreads();
	if (!i)
		*a.step = step + 1;
}

int cuda_advance(struct cuda *c, const struct cuda_advance *a)
{
	if (a->rows < 1 || a->rows > 1024)
		return CUDA_OWN_SHAPE;
	advance_kernel<<<1, a->rows, 0, c->stream>>>(*a);
	return cuda_launched();
}
