/* Attention backward over a pack.
 *
 *   p = exp(s - lse),  dv += p^T do,  dp = do v^T,  ds = p (dp - delta),  delta = do . out
 *   dq = ds k / sqrt(D),  dk += ds^T q / sqrt(D)
 *
 * A task is one key head of one sequence together with the sequences that continue it (prefix). It
 * walks these sequences, their query heads and their tiles in order. No other task adds to the same
 * dk and dv, so there is one order of summation. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "ops/cpu/attn.h"
#include "ops/cpu/cpu_ops.h"

/* The buffers of one task. */
struct work {
	struct attn_format f;
	struct attn_seq seq;
	int n;                 /* keys: rows of the sequence and of its prefix */
	/* of the sequence, a block after the other */
	float *kt, *vt;        /* keys and values across: for q k^T and do v^T */
	float *ka;             /* keys along: for ds k */
	float *dk, *dv;        /* [blocks * 64][dp] */
	/* of the tile */
	float *q, *dor;        /* rows [R][dp], q scaled */
	float *ql, *dol;       /* the same as left operands */
	float *qr, *dorr;      /* and as right operands; floats: q and dor themselves */
	float *dq;             /* [R][dp] */
	float *s, *ds;         /* [R][64]: probabilities, gradient of the scores */
	float *left;           /* room for a left operand made of them */
	float lse[ATTN_ROWS], delta[ATTN_ROWS];
	int R;
};

enum { TILE_ROWS = 7, TILE_SCORES = 3 };   /* buffers of R x dp and of R x 64 */

size_t attention_grad_scratch(int longest, int D)
{
	struct attn_format f = attn_format(D, 0);
	size_t rows = ((size_t)longest + KV_BLOCK - 1) / KV_BLOCK * KV_BLOCK;

	return (rows * (2 * (size_t)D + 3 * f.dp) + ATTN_ROWS * (TILE_ROWS * f.dp + TILE_SCORES * KV_BLOCK)) *
		sizeof(float);
}

/* The next n floats of the scratch memory. */
static float *take(float **at, size_t n)
{
	float *p = *at;

	*at += n;
	return p;
}

/* Divides scratch memory into the buffers of a task and clears those that are summed into. */
static void carve(struct work *w, const struct attn_format *f, const struct attn_seq *s, float *at)
{
	int n = s->before + s->n;
	size_t blocks = ((size_t)n + KV_BLOCK - 1) / KV_BLOCK, tile = ATTN_ROWS * f->dp;

	*w = (struct work){ .f = *f, .seq = *s, .n = n };
	w->kt = take(&at, blocks * attn_across(f));
	w->vt = take(&at, blocks * attn_across(f));
	w->ka = take(&at, blocks * attn_along(f));
	w->dk = take(&at, blocks * KV_BLOCK * f->dp);
	w->dv = take(&at, blocks * KV_BLOCK * f->dp);
	memset(w->dk, 0, (size_t)(at - w->dk) * sizeof *at);
	w->q = take(&at, tile);
	w->dor = take(&at, tile);
	w->dq = take(&at, tile);
	memset(w->q, 0, (size_t)(at - w->q) * sizeof *at);
	w->ql = take(&at, tile);
	w->dol = take(&at, tile);
	w->qr = f->fast ? take(&at, tile) : w->q;
	w->dorr = f->fast ? take(&at, tile) : w->dor;
	w->s = take(&at, ATTN_ROWS * KV_BLOCK);
	w->ds = take(&at, ATTN_ROWS * KV_BLOCK);
	w->left = take(&at, ATTN_ROWS * KV_BLOCK);
}

/* Loads rows that are not contiguous (a shared prefix), one at a time. */
static void load_rows(struct work *w, const struct attention *a, const float *heads)
{
	const struct attn_format *f = &w->f;
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;

	memset(w->kt, 0, (size_t)(w->dk - w->kt) * sizeof *w->kt);
	for (int i = 0; i < w->n; i++) {
		const float *k = heads + attn_row(&w->seq, i) * ld;
		size_t b = (size_t)(i / KV_BLOCK);

		attn_put_across(f, w->kt + b * attn_across(f), i % KV_BLOCK, k);
		attn_put_across(f, w->vt + b * attn_across(f), i % KV_BLOCK, k + (size_t)a->HKV * D);
		attn_put_along(f, w->ka + b * attn_along(f), i % KV_BLOCK, k);
	}
}

/* Loads the keys and values of one key head in the three forms that the products need. */
static void load_keys(struct work *w, const struct attention *a, int hk)
{
	const struct attn_format *f = &w->f;
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	const float *qkv = a->qkv, *heads = qkv + (size_t)(a->H + hk) * D, *k = heads + (size_t)w->seq.first * ld;

	if (w->seq.before) {
		load_rows(w, a, heads);
		return;
	}
	for (int i = 0, b = 0; i < w->n; i += KV_BLOCK, b++, k += KV_BLOCK * ld) {
		int n = MIN(KV_BLOCK, w->n - i);

		attn_load_across(f, w->kt + (size_t)b * attn_across(f), k, ld, n);
		attn_load_across(f, w->vt + (size_t)b * attn_across(f), k + (size_t)a->HKV * D, ld, n);
		attn_load_along(f, w->ka + (size_t)b * attn_along(f), k, ld, n);
	}
}

/* Loads rows [row, row + R) of query head h with their output gradients, and computes delta. */
static void load_queries(struct work *w, const struct attention *a, size_t row, int h)
{
	const struct attn_format *f = &w->f;
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D, R = (size_t)w->R, dp = f->dp;
	const float *qkv = a->qkv, *dout = a->dout, *out = a->out;
	float scale = 1.0f / sqrtf((float)a->D);

	memset(w->dq, 0, R * dp * sizeof(float));
	for (size_t i = 0; i < R; i++) {
		const float *q = qkv + (row + i) * ld + (size_t)h * D;
		size_t at = ((row + i) * (size_t)a->H + (size_t)h) * D;
		float delta = 0;

		for (size_t d = 0; d < D; d++) {
			w->q[i * dp + d] = q[d] * scale;
			w->dor[i * dp + d] = dout[at + d];
			delta += dout[at + d] * out[at + d];
		}
		w->delta[i] = delta;
		w->lse[i] = a->lse[(row + i) * (size_t)a->H + (size_t)h];
	}
	attn_left(f, w->ql, w->q, dp, R, D);
	attn_left(f, w->dol, w->dor, dp, R, D);
	if (f->fast) {
		attn_right_lines(f, w->qr, w->q, R);
		attn_right_lines(f, w->dorr, w->dor, R);
	}
}

/* to[keys][dp] += x^T[keys][R] right[R][dp]. */
static void add_transposed(struct work *w, float *to, const float *x, const float *right, size_t keys)
{
	const struct attn_format *f = &w->f;
	size_t R = (size_t)w->R;
	struct attn_mul m = { .k = R, .rows = keys, .cols = f->dp, .a = x, .as = KV_BLOCK, .b = right, .bs = f->dp,
			      .panel = f->fast ? attn_depth(f, R) * f->nr : f->nr, .c = to, .ldc = f->dp, .load = 1 };

	if (f->fast) {
		attn_left_lines(f, w->left, x, KV_BLOCK, keys, R);
		m.a = w->left;
	}
	attn_mul(f, &m);
}

/* Key block b against the tile whose first row is at position q0. */
static void step(struct work *w, int q0, size_t b)
{
	const struct attn_format *f = &w->f;
	size_t R = (size_t)w->R, D = (size_t)f->D, key = b * KV_BLOCK;
	size_t keys = MIN((size_t)KV_BLOCK, (size_t)q0 + R - key);   /* that any row sees */
	int32_t valid[ATTN_ROWS];
	struct attn_mul score = { .k = D, .rows = R, .cols = keys, .as = R, .bs = f->nr,
				  .panel = attn_depth(f, D) * f->nr, .ldc = KV_BLOCK };

	for (int i = 0; i < w->R; i++)
		valid[i] = q0 + i + 1 - (int32_t)key;
	score.a = w->ql, score.b = w->kt + b * attn_across(f), score.c = w->s;
	attn_mul(f, &score);
	attn_cpu()->prob(w->s, w->R, valid, w->lse);
	score.a = w->dol, score.b = w->vt + b * attn_across(f), score.c = w->ds;
	attn_mul(f, &score);
	attn_cpu()->dscore(w->ds, w->s, w->R, w->delta);
	add_transposed(w, w->dv + key * f->dp, w->s, w->dorr, keys);
	add_transposed(w, w->dk + key * f->dp, w->ds, w->qr, keys);
	attn_left(f, w->left, w->ds, KV_BLOCK, R, keys);
	attn_mul(f, &(struct attn_mul){ .k = keys, .rows = R, .cols = f->dp, .a = w->left, .as = R,
					.b = w->ka + b * attn_along(f), .bs = f->nr,
					.panel = attn_depth(f, KV_BLOCK) * f->nr, .c = w->dq, .ldc = f->dp,
						.load = 1 });
}

/* Writes the gradient of the queries. */
static void store_dq(const struct work *w, const struct attention *a, size_t row, int h)
{
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	float scale = 1.0f / sqrtf((float)a->D), *dqkv = a->dqkv;

	for (size_t i = 0; i < (size_t)w->R; i++)
		for (size_t d = 0; d < D; d++)
			dqkv[(row + i) * ld + (size_t)h * D + d] = w->dq[i * w->f.dp + d] * scale;
}

/* Writes the gradients of keys and values. Rows of a prefix have gradients already, to which these
 * are added. */
static void store_dkv(const struct work *w, const struct attention *a, int hk)
{
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	float *dqkv = a->dqkv;

	for (int i = 0; i < w->n; i++) {
		float *o = dqkv + attn_row(&w->seq, i) * ld + (size_t)(a->H + hk) * D, *v = o + (size_t)a->HKV * D;
		const float *dk = w->dk + (size_t)i * w->f.dp, *dv = w->dv + (size_t)i * w->f.dp;

		for (size_t d = 0; d < D && i < w->seq.before; d++)
			o[d] += dk[d], v[d] += dv[d];
		if (i < w->seq.before)
			continue;
		memcpy(o, dk, D * sizeof *o);
		memcpy(v, dv, D * sizeof *v);
	}
}

/* One key head of one sequence. */
static void grad_seq(struct work *w, const struct attention *a, int hk)
{
	const struct attn_seq *s = &w->seq;
	int G = a->H / a->HKV;

	load_keys(w, a, hk);
	for (int h = hk * G; h < (hk + 1) * G; h++)
		for (int q0 = 0; q0 < s->n; q0 += ATTN_ROWS) {
			int at = s->before + q0;

			w->R = MIN(ATTN_ROWS, s->n - q0);
			load_queries(w, a, (size_t)(s->first + q0), h);
			for (size_t b = 0; (int)b * KV_BLOCK < at + w->R; b++)
				step(w, at, b);
			store_dq(w, a, (size_t)(s->first + q0), h);
		}
	store_dkv(w, a, hk);
}

/* The threads take tasks by number. */
struct grad_job {
	struct dev *d;
	const struct attention *a;
	_Atomic int next;
};

/* A thread: a task is one key head of a sequence and of all sequences that continue it, in
 * order. */
static void grad_worker(void *ctx, int me, int count)
{
	struct grad_job *j = ctx;
	const struct attention *a = j->a;
	struct attn_format f = attn_format(a->D, a->fast);
	struct work w;
	int task;

	(void)count;
	while ((task = atomic_fetch_add(&j->next, 1)) < a->sequences * a->HKV) {
		int own = task / a->HKV, s = own;

		/* a sequence that continues another one comes after it in the pack */
		for (; s < a->sequences && (a->prefix ? a->prefix[s] : -1) == (s == own ? -1 : own); s++) {
			struct attn_seq q = attn_seq(a, s);

			carve(&w, &f, &q, dev_scratch(j->d, me, attention_grad_scratch(q.before + q.n, a->D)));
			grad_seq(&w, a, task % a->HKV);
		}
	}
}

void cpu_attention_grad(struct dev *d, const struct attention *a)
{
	struct grad_job j = { .d = d, .a = a };

	pool_run(d->pool, grad_worker, &j);
}
