/* Attention backward over a pack.
 *
 *   p = exp(s - lse),  dv += p^T do,  dp = do v^T,  ds = p (dp - delta),  delta = do . out
 *   dq = ds k / sqrt(D),  dk += ds^T q / sqrt(D)
 *
 * A task is one key head of one sequence: it walks its query heads and tiles in order and
 * adds dk and dv up alone, so there is one order of summation. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "ops/cpu/attn.h"
#include "ops/cpu/cpu.h"

struct work {
	int n, D;              /* rows of the sequence, head width */
	size_t dp, blocks;
	float *kt, *vt;        /* [blocks][64 / nr][D][nr] */
	float *kr;             /* [blocks * 64][dp] */
	float *dk, *dv;        /* the same */
	float *qt, *dot;       /* [D][R] */
	float *qr, *dor, *dq;  /* [R][dp] */
	float *s, *ds, *dst;   /* [R][64], [R][64], [64][R] */
	float lse[ATTN_ROWS], delta[ATTN_ROWS];
	int R;
};

static float *take(float **at, size_t n)
{
	float *p = *at;

	*at += n;
	return p;
}

static void carve(struct work *w, int n, int D, float *at)
{
	size_t rows;

	*w = (struct work){ .n = n, .D = D, .dp = attn_dp(D), .blocks = ((size_t)n + KV_BLOCK - 1) / KV_BLOCK };
	rows = w->blocks * KV_BLOCK;
	w->kt = take(&at, rows * (size_t)D);
	w->vt = take(&at, rows * (size_t)D);
	w->kr = take(&at, rows * w->dp);
	w->dk = take(&at, rows * w->dp);
	w->dv = take(&at, rows * w->dp);
	memset(w->kt, 0, (size_t)(at - w->kt) * sizeof *at);
	w->qt = take(&at, ATTN_ROWS * w->dp);
	w->dot = take(&at, ATTN_ROWS * w->dp);
	w->qr = take(&at, ATTN_ROWS * w->dp);
	w->dor = take(&at, ATTN_ROWS * w->dp);
	w->dq = take(&at, ATTN_ROWS * w->dp);
	w->s = take(&at, ATTN_ROWS * KV_BLOCK);
	w->ds = take(&at, ATTN_ROWS * KV_BLOCK);
	w->dst = take(&at, ATTN_ROWS * KV_BLOCK);
}

static size_t work_bytes(int n, int D)
{
	size_t rows = ((size_t)n + KV_BLOCK - 1) / KV_BLOCK * KV_BLOCK, dp = attn_dp(D);

	return (rows * (2 * (size_t)D + 3 * dp) + ATTN_ROWS * (5 * dp + 3 * KV_BLOCK)) * sizeof(float);
}

static void load_keys(struct work *w, const struct attention *a, int first, int hk)
{
	size_t D = (size_t)w->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	const float *k = a->qkv + (size_t)first * ld + (size_t)(a->H + hk) * D;

	for (int i = 0; i < w->n; i++, k += ld) {
		size_t block = (size_t)(i / KV_BLOCK) * KV_BLOCK * D;

		attn_put_k(w->kt + block, w->D, i % KV_BLOCK, k);
		attn_put_k(w->vt + block, w->D, i % KV_BLOCK, k + (size_t)a->HKV * D);
		memcpy(w->kr + (size_t)i * w->dp, k, D * sizeof *k);
	}
}

/* Rows [row, row + R) of query head h. */
static void load_queries(struct work *w, const struct attention *a, size_t row, int h)
{
	size_t D = (size_t)w->D, ld = (size_t)(a->H + 2 * a->HKV) * D, R = (size_t)w->R, dp = w->dp;
	float scale = 1.0f / sqrtf((float)w->D);

	memset(w->qr, 0, 3 * ATTN_ROWS * dp * sizeof(float));
	for (size_t i = 0; i < R; i++) {
		const float *q = a->qkv + (row + i) * ld + (size_t)h * D;
		size_t at = ((row + i) * (size_t)a->H + (size_t)h) * D;
		float delta = 0;

		for (size_t d = 0; d < D; d++) {
			w->qr[i * dp + d] = w->qt[d * R + i] = q[d] * scale;
			w->dor[i * dp + d] = w->dot[d * R + i] = a->dout[at + d];
			delta += a->dout[at + d] * a->out[at + d];
		}
		w->delta[i] = delta;
		w->lse[i] = a->lse[(row + i) * (size_t)a->H + (size_t)h];
	}
}

/* Key block b against the tile whose first row is at position q0. */
static void step(struct work *w, const struct gemm_kernels *g, int q0, size_t b)
{
	size_t R = (size_t)w->R, D = (size_t)w->D, nr = (size_t)g->nr, dp = w->dp, key = b * KV_BLOCK;
	int32_t valid[ATTN_ROWS];
	size_t keys = MIN((size_t)KV_BLOCK, (size_t)q0 + R - key);   /* that any row sees */
	struct attn_mul score = { .k = D, .rows = R, .cols = keys, .as = R, .bs = nr, .panel = D * nr, .ldc = KV_BLOCK };
	struct attn_mul sum = { .k = R, .rows = keys, .cols = dp, .as = KV_BLOCK, .bs = dp, .panel = nr, .ldc = dp, .load = 1 };

	for (int i = 0; i < w->R; i++)
		valid[i] = q0 + i + 1 - (int32_t)key;
	score.a = w->qt, score.b = w->kt + key * D, score.c = w->s;
	attn_mul(g, &score);
	attn_cpu()->prob(w->s, w->R, valid, w->lse);
	score.a = w->dot, score.b = w->vt + key * D, score.c = w->ds;
	attn_mul(g, &score);
	attn_cpu()->dscore(w->ds, w->s, w->R, w->delta);
	sum.a = w->s, sum.b = w->dor, sum.c = w->dv + key * dp;
	attn_mul(g, &sum);
	sum.a = w->ds, sum.b = w->qr, sum.c = w->dk + key * dp;
	attn_mul(g, &sum);
	g->transpose(w->dst, R, w->ds, KV_BLOCK, w->R, keys);
	attn_mul(g, &(struct attn_mul){ .k = keys, .rows = R, .cols = dp, .a = w->dst, .as = R, .b = w->kr + key * dp,
					.bs = dp, .panel = nr, .c = w->dq, .ldc = dp, .load = 1 });
}

static void store_dq(const struct work *w, const struct attention *a, size_t row, int h)
{
	size_t D = (size_t)w->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	float scale = 1.0f / sqrtf((float)w->D);

	for (size_t i = 0; i < (size_t)w->R; i++)
		for (size_t d = 0; d < D; d++)
			a->dqkv[(row + i) * ld + (size_t)h * D + d] = w->dq[i * w->dp + d] * scale;
}

static void store_dkv(const struct work *w, const struct attention *a, int first, int hk)
{
	size_t D = (size_t)w->D, ld = (size_t)(a->H + 2 * a->HKV) * D;

	for (int i = 0; i < w->n; i++) {
		float *o = a->dqkv + (size_t)(first + i) * ld + (size_t)(a->H + hk) * D;

		memcpy(o, w->dk + (size_t)i * w->dp, D * sizeof *o);
		memcpy(o + (size_t)a->HKV * D, w->dv + (size_t)i * w->dp, D * sizeof *o);
	}
}

struct grad_job {
	struct dev *d;
	const struct attention *a;
	_Atomic int next;
};

static void grad_worker(void *ctx, int me, int count)
{
	struct grad_job *j = ctx;
	const struct attention *a = j->a;
	const struct gemm_kernels *g = gemm_cpu();
	struct work w;
	int task, G = a->H / a->HKV;

	(void)count;
	while ((task = atomic_fetch_add(&j->next, 1)) < a->sequences * a->HKV) {
		int seq = task / a->HKV, hk = task % a->HKV, first = a->start[seq], n = a->start[seq + 1] - first;

		carve(&w, n, a->D, dev_scratch(j->d, me, work_bytes(n, a->D)));
		load_keys(&w, a, first, hk);
		for (int h = hk * G; h < (hk + 1) * G; h++)
			for (int q0 = 0; q0 < n; q0 += ATTN_ROWS) {
				w.R = MIN(ATTN_ROWS, n - q0);
				load_queries(&w, a, (size_t)(first + q0), h);
				for (size_t b = 0; (int)b * KV_BLOCK < q0 + w.R; b++)
					step(&w, g, q0, b);
				store_dq(&w, a, (size_t)(first + q0), h);
			}
		store_dkv(&w, a, first, hk);
	}
}

void cpu_attention_grad(struct dev *d, const struct attention *a)
{
	struct grad_job j = { .d = d, .a = a };

	pool_run(d->pool, grad_worker, &j);
}
