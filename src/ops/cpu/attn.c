/* Attention forward: over a pack, and over cached keys and values.
 *
 *   s = q k^T / sqrt(D),  out = softmax(s) v,  causal inside a sequence
 *
 * Tiles of up to ATTN_ROWS query rows meet blocks of 64 keys, counted from the start of the
 * sequence, in order, with the running maximum and sum of the flash scheme. Both forms run
 * the same `attend`, so a row has the same bits in a pack, in a prefill and in a decode step.
 * Memory: scratch linear in the longest sequence; scores exist one tile at a time. */
#include "ops/cpu/attn.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"

/* A tile of query rows and its running softmax. */
struct tile {
	struct attn_format f;
	int R;
	float *q;              /* [R][D], scaled */
	float *left;           /* the left operand made of q */
	float *acc;            /* [R][dp] */
	float *s, *p;          /* scores [R][64], and as a left operand */
	float m[ATTN_ROWS], l[ATTN_ROWS];
	int32_t seen[ATTN_ROWS];   /* keys row i sees, from the start of its sequence */
};

/* Floats of scratch that a tile needs. */
static size_t tile_floats(size_t dp)
{
	return ATTN_ROWS * (3 * dp + 2 * KV_BLOCK);
}

/* Divides scratch memory into the buffers of a tile. */
static void tile_carve(struct tile *t, const struct attn_format *f, float *scratch)
{
	t->f = *f;
	t->q = scratch;
	t->left = t->q + ATTN_ROWS * f->dp;
	t->acc = t->left + ATTN_ROWS * f->dp;
	t->s = t->acc + ATTN_ROWS * f->dp;
	t->p = t->s + ATTN_ROWS * KV_BLOCK;
}

/* Row i of the tile: the query, scaled, with an empty running softmax. */
static void tile_row(struct tile *t, int i, const float *q, int32_t seen)
{
	int D = t->f.D;
	float scale = 1.0f / sqrtf((float)D), *to = t->q + i * D;

	for (int d = 0; d < D; d++)
		to[d] = q[d] * scale;
	t->m[i] = -INFINITY;
	t->l[i] = 0;
	t->seen[i] = seen;
	memset(t->acc + (size_t)i * t->f.dp, 0, t->f.dp * sizeof(float));
}

/* Makes the left operand of rows [i0, i0 + n). */
static void tile_left(struct tile *t, int i0, int n)
{
	attn_left(&t->f, t->left, t->q + i0 * t->f.D, (size_t)t->f.D, (size_t)n, (size_t)t->f.D);
}

/* Scores rows [i0, i0 + n) against key block b of their sequence; their left operand is packed
 * already. Keys past the last one that any of these rows sees are skipped. */
static void attend(struct tile *t, const float *block, int b, int i0, int n)
{
	const struct attn_format *f = &t->f;
	size_t rows = (size_t)n, D = (size_t)f->D, keys = 0;
	float *s = t->s + (size_t)i0 * KV_BLOCK, *acc = t->acc + (size_t)i0 * f->dp;
	int32_t valid[ATTN_ROWS];

	for (int i = 0; i < n; i++) {
		valid[i] = t->seen[i0 + i] - b * KV_BLOCK;
		if (valid[i] > 0)
			keys = MAX(keys, (size_t)MIN(valid[i], KV_BLOCK));
	}
	attn_mul(f, &(struct attn_mul){ .k = D, .rows = rows, .cols = keys, .a = t->left, .as = rows,
					.b = block, .bs = f->nr,
					.panel = attn_depth(f, D) * f->nr, .c = s, .ldc = KV_BLOCK });
	attn_cpu()->softmax(s, n, valid, t->m + i0, t->l + i0, acc, (int)f->dp);
	attn_left(f, t->p, s, KV_BLOCK, rows, keys);
	attn_mul(f, &(struct attn_mul){ .k = keys, .rows = rows, .cols = f->dp, .a = t->p, .as = rows,
					.b = block + attn_across(f), .bs = f->nr,
					.panel = attn_depth(f, KV_BLOCK) * f->nr, .c = acc, .ldc = f->dp, .load = 1 });
}

/* The result of row i: its accumulated values, divided by the sum of weights. */
static void tile_out(const struct tile *t, int i, float *out)
{
	float inv = 1.0f / t->l[i];

	for (int d = 0; d < t->f.D; d++)
		out[d] = t->acc[(size_t)i * t->f.dp + (size_t)d] * inv;
}

/* --- over a pack ------------------------------------------------------------------------ */

/* Attention over a pack: the threads take tasks by number. */
struct pack_job {
	struct dev *d;
	const struct attention *a;
	_Atomic int next;
};

/* Floats of the key and value blocks of the longest sequence. */
static size_t pack_floats(const struct attn_format *f, int longest)
{
	return ((size_t)longest + KV_BLOCK - 1) / KV_BLOCK * attn_block(f);
}

/* Bytes of scratch per thread: the larger of forward and backward, because both use the same
 * memory. */
size_t attention_scratch(const struct ops_sizes *s)
{
	struct attn_format f = attn_format(s->D, 0);
	size_t forward = (pack_floats(&f, s->longest) + tile_floats(f.dp)) * sizeof(float);

	return MAX(forward, attention_grad_scratch(s->longest, s->D));
}

/* Loads rows that are not contiguous (a shared prefix), one at a time, into the same blocks. */
static void load_rows(const struct attention *a, const struct attn_format *f, const struct attn_seq *s,
		      const float *heads, float *blocks)
{
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	int n = s->before + s->n;

	memset(blocks, 0, pack_floats(f, n) * sizeof *blocks);
	for (int i = 0; i < n; i++) {
		float *b = blocks + (size_t)(i / KV_BLOCK) * attn_block(f);
		const float *k = heads + attn_row(s, i) * ld;

		attn_put_across(f, b, i % KV_BLOCK, k);
		attn_put_along(f, b + attn_across(f), i % KV_BLOCK, k + (size_t)a->HKV * D);
	}
}

/* Loads keys and values of one key head of a sequence into blocks. */
static void load_blocks(const struct attention *a, const struct attn_format *f, const struct attn_seq *s,
			int hk, float *blocks)
{
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	const float *qkv = a->qkv, *heads = qkv + (size_t)(a->H + hk) * D, *k = heads + (size_t)s->first * ld;

	if (s->before) {
		load_rows(a, f, s, heads, blocks);
		return;
	}
	for (int i = 0; i < s->n; i += KV_BLOCK, k += KV_BLOCK * ld, blocks += attn_block(f)) {
		attn_load_across(f, blocks, k, ld, MIN(KV_BLOCK, s->n - i));
		attn_load_along(f, blocks + attn_across(f), k + (size_t)a->HKV * D, ld, MIN(KV_BLOCK, s->n - i));
	}
}

/* One tile of query rows against all blocks that it may see. */
static void pack_tile(const struct attention *a, struct tile *t, const struct attn_seq *s, int q0, int h,
		      const float *blocks)
{
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	const float *qkv = a->qkv;
	float *out = a->out;

	for (int i = 0; i < t->R; i++)
		tile_row(t, i, qkv + (size_t)(s->first + q0 + i) * ld + (size_t)h * D, s->before + q0 + i + 1);
	tile_left(t, 0, t->R);
	for (int b = 0; b * KV_BLOCK < s->before + q0 + t->R; b++)
		attend(t, blocks + (size_t)b * attn_block(&t->f), b, 0, t->R);
	for (int i = 0; i < t->R; i++) {
		size_t row = (size_t)(s->first + q0 + i);

		tile_out(t, i, out + (row * (size_t)a->H + (size_t)h) * D);
		if (a->lse)
			a->lse[row * (size_t)a->H + (size_t)h] = t->m[i] + logf(t->l[i]);
	}
}

/* A thread: takes tasks until none is left. A task is one query head of one sequence. */
static void pack_worker(void *ctx, int me, int count)
{
	struct pack_job *j = ctx;
	const struct attention *a = j->a;
	struct attn_format f = attn_format(a->D, a->fast);
	struct tile t;
	int task;

	(void)count;
	while ((task = atomic_fetch_add(&j->next, 1)) < a->sequences * a->H) {
		struct attn_seq s = attn_seq(a, task / a->H);
		int h = task % a->H;
		size_t blocks = pack_floats(&f, s.before + s.n);
		float *scratch = dev_scratch(j->d, me, (blocks + tile_floats(f.dp)) * sizeof(float));

		load_blocks(a, &f, &s, h / (a->H / a->HKV), scratch);
		tile_carve(&t, &f, scratch + blocks);
		for (int q0 = 0; q0 < s.n; q0 += ATTN_ROWS) {
			t.R = MIN(ATTN_ROWS, s.n - q0);
			pack_tile(a, &t, &s, q0, h, scratch);
		}
	}
}

void cpu_attention(struct dev *d, const struct attention *a)
{
	struct pack_job j = { .d = d, .a = a };

	pool_run(d->pool, pack_worker, &j);
}

/* --- over cached blocks ------------------------------------------------------------------- */

/* New rows of one cached sequence. */
struct kv_run {
	int row, rows;         /* in qkv and out */
	int length;            /* positions before the first of these rows */
	const int32_t *block;
};

/* Run i of the call. */
static struct kv_run run_of(const struct attention_cached *a, int i)
{
	return (struct kv_run){ .row = a->row[i], .rows = a->row[i + 1] - a->row[i], .length = a->length[i],
				.block = a->block + (size_t)i * (size_t)a->block_ld };
}

/* Attention over cached keys and values. Runs that share their first blocks form a bundle. */
struct cached_job {
	struct dev *d;
	const struct attention_cached *a;
	int32_t *first;        /* [bundles + 1] first run of each */
	int bundles;
	int tiles;             /* row tiles of the longest run */
	_Atomic int next;
};

/* Block b of key head hk of a run. */
static float *cached_block(const struct attention_cached *a, const struct attn_format *f,
			   const struct kv_run *r, int b, int hk)
{
	return (float *)(void *)(a->kv + (size_t)r->block[b] * a->stride) + (size_t)hk * attn_block(f);
}

/* Writes the new rows' keys and values into the cache. */
static void append(const struct attention_cached *a, const struct attn_format *f, const struct kv_run *r, int hk)
{
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	const float *qkv = a->qkv, *k = qkv + (size_t)r->row * ld + (size_t)(a->H + hk) * D;

	for (int i = 0; i < r->rows; i++, k += ld) {
		int at = r->length + i;
		float *b = cached_block(a, f, r, at / KV_BLOCK, hk);

		attn_put_across(f, b, at % KV_BLOCK, k);
		attn_put_along(f, b + attn_across(f), at % KV_BLOCK, k + (size_t)a->HKV * D);
	}
}

/* Loads query rows of a run into the tile: position i, then head g of the group. */
static void rows_in(const struct attention_cached *a, struct tile *t, int at, const struct kv_run *r,
		    int hk, int i0, int n)
{
	int G = a->H / a->HKV;
	size_t D = (size_t)a->D, ld = (size_t)(a->H + 2 * a->HKV) * D;
	const float *qkv = a->qkv;

	for (int i = 0; i < n * G; i++)
		tile_row(t, at + i, qkv + (size_t)(r->row + i0 + i / G) * ld + (size_t)(hk * G + i % G) * D,
			 r->length + i0 + i / G + 1);
}

/* Writes the results of these rows. */
static void rows_out(const struct attention_cached *a, const struct tile *t, int at, const struct kv_run *r,
		     int hk, int i0, int n)
{
	int G = a->H / a->HKV;
	float *out = a->out;

	for (int i = 0; i < n * G; i++)
		tile_out(t, at + i, out + ((size_t)(r->row + i0 + i / G) * (size_t)a->H +
					   (size_t)(hk * G + i % G)) * (size_t)a->D);
}

/* Rows [i0, i0 + n) of one run, all query heads of key head hk. */
static void run_tile(const struct attention_cached *a, struct tile *t, const struct kv_run *r, int hk, int i0, int n)
{
	t->R = n * (a->H / a->HKV);
	rows_in(a, t, 0, r, hk, i0, n);
	tile_left(t, 0, t->R);
	for (int b = 0; b * KV_BLOCK < r->length + i0 + n; b++)
		attend(t, cached_block(a, &t->f, r, b, hk), b, 0, t->R);
	rows_out(a, t, 0, r, hk, i0, n);
}

/* The number of full blocks that all runs have in common from the start. */
static int shared_blocks(const struct attention_cached *a, int first, int n)
{
	const int32_t *of_first = run_of(a, first).block;
	int b = 0;

	for (;; b++)
		for (int i = first; i < first + n; i++) {
			struct kv_run r = run_of(a, i);

			if ((b + 1) * KV_BLOCK > r.length || r.block[b] != of_first[b])
				return b;
		}
}

/* Handles runs of one row each that begin with the same blocks. Their rows are scored against the
 * common blocks together; after those each run is handled separately. 16 samples of one prompt read
 * its keys once, not 16 times. */
static void bundle_tile(const struct attention_cached *a, struct tile *t, int first, int n, int hk)
{
	int G = a->H / a->HKV, shared = shared_blocks(a, first, n);
	struct kv_run r = run_of(a, first);

	t->R = n * G;
	for (int i = 0; i < n; i++) {
		struct kv_run each = run_of(a, first + i);

		rows_in(a, t, i * G, &each, hk, 0, 1);
	}
	tile_left(t, 0, t->R);
	for (int b = 0; b < shared; b++)
		attend(t, cached_block(a, &t->f, &r, b, hk), b, 0, t->R);
	for (int i = 0; i < n; i++) {
		r = run_of(a, first + i);
		tile_left(t, i * G, G);
		for (int b = shared; b * KV_BLOCK <= r.length; b++)
			attend(t, cached_block(a, &t->f, &r, b, hk), b, i * G, G);
		rows_out(a, t, i * G, &r, hk, 0, 1);
	}
}

/* Positions of a tile: each takes a row for every query head of the group. */
static int tile_positions(const struct attention_cached *a)
{
	return MAX(1, ATTN_ROWS / (a->H / a->HKV));
}

/* One task: a tile of a run, or a bundle. */
static void cached_task(const struct cached_job *j, struct tile *t, int bundle, int hk, int tile)
{
	const struct attention_cached *a = j->a;
	int first = j->first[bundle], n = j->first[bundle + 1] - first, step = tile_positions(a), i0 = tile * step;
	struct kv_run r = run_of(a, first);

	if (n > 1 && tile == 0)
		bundle_tile(a, t, first, n, hk);
	else if (n == 1 && i0 < r.rows)
		run_tile(a, t, &r, hk, i0, MIN(step, r.rows - i0));
}

/* A thread: appends its share of keys and values, waits for the others, then takes tasks. */
static void cached_worker(void *ctx, int me, int count)
{
	struct cached_job *j = ctx;
	const struct attention_cached *a = j->a;
	struct attn_format f = attn_format(a->D, a->fast);
	size_t begin, end;
	struct tile t;
	int task;

	cpu_cut((size_t)(a->runs * a->HKV), 1, me, count, &begin, &end);
	for (size_t i = begin; i < end; i++) {
		struct kv_run r = run_of(a, (int)(i / (size_t)a->HKV));

		append(a, &f, &r, (int)(i % (size_t)a->HKV));
	}
	pool_barrier(j->d->pool);
	tile_carve(&t, &f, dev_scratch(j->d, me, tile_floats(f.dp) * sizeof(float)));
	while ((task = atomic_fetch_add(&j->next, 1)) < j->bundles * a->HKV * j->tiles)
		cached_task(j, &t, task / j->tiles / a->HKV, task / j->tiles % a->HKV, task % j->tiles);
}

/* Can run i be bundled with runs whose first block is `block`? -1 means any block. */
static int bundles(const struct attention_cached *a, int i, int32_t block)
{
	struct kv_run r = run_of(a, i);

	return r.rows == 1 && r.length >= KV_BLOCK && (block < 0 || r.block[0] == block);
}

/* Bundles neighbouring runs that share their first block, but leaves work for every thread. */
static void make_bundles(struct cached_job *j)
{
	const struct attention_cached *a = j->a;
	int most = MIN(tile_positions(a), MAX(1, a->runs * a->HKV / (2 * j->d->threads)));

	j->first = dev_shared(j->d, ((size_t)a->runs + 1) * sizeof *j->first);
	for (int i = 0; i < a->runs; j->bundles++) {
		int n = 1;

		while (i + n < a->runs && n < most && bundles(a, i, -1) && bundles(a, i + n, run_of(a, i).block[0]))
			n++;
		j->first[j->bundles] = i;
		i += n;
	}
	j->first[j->bundles] = a->runs;
}

/* Appends the rows' keys and values to their blocks, then attends. */
void cpu_attention_cached(struct dev *d, const struct attention_cached *a)
{
	struct cached_job j = { .d = d, .a = a, .tiles = 1 };
	int step = tile_positions(a);

	if (a->H / a->HKV > ATTN_ROWS)
		BUG("more than %d query heads for a key head", ATTN_ROWS);
	for (int i = 0; i < a->runs; i++)
		j.tiles = MAX(j.tiles, (run_of(a, i).rows + step - 1) / step);
	make_bundles(&j);
	pool_run(d->pool, cached_worker, &j);
}
