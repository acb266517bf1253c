/* Sampling state: slots of cached keys and values, prefill and decode. See model.h.
 *
 * Keys and values of 64 positions of all layers make one block. A block is held by one or more
 * slots. Invariant: only a block held once is ever written; fork copies the last, partly filled
 * one. A fresh block is zeroed, so that what a row does not see is finite. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/model_impl.h"
#include "ops/cpu/row.h"

/* Blocks of `length` positions: 65 positions take 2. */
static int blocks_for(int length) { return (length + KV_BLOCK - 1) / KV_BLOCK; }

/* One sequence: its length and the blocks that hold its keys and values. */
struct slot {
	int length;
	int32_t *v;                /* blocks */
	size_t n, cap;
};

/* Facts about the rows of a pass: see struct attention_cached. Host and device have one block of
 * memory each, so that one copy transfers everything. `block` is last because its used part varies
 * most. */
struct session_rows {
	int32_t *tokens, *pos, *next;         /* [rows]; next: tokens to get log-probabilities of */
	int32_t *row, *length, *group, *group_blocks;   /* [runs + 1] */
	int32_t *block;                       /* [runs][block_ld] */
};

/* Device memory of rows that tokens are drawn for: see struct sample and struct advance. */
struct session_draws {
	struct sample_row *row;    /* [runs] */
	int32_t *drawn, *from;     /* [runs] */
	int32_t *step;             /* [1] */
	int32_t *token;            /* [runs] */
	float *logprob;
	int32_t *tokens;           /* [MODEL_BURST, runs] tokens of a burst */
	float *logprobs;
	uint32_t *seen;            /* [runs, V / 32] bits of tokens that were seen */
	float *logits;             /* [runs, V] */
};

/* The results of a decoding pass: logits, and drawn tokens if `draw` is set. */
struct decoded {
	float *logits;
	int draw, seen;             /* draw tokens; some row has a penalty */
};

/* A decoding pass that a GPU has recorded as a graph, and what identifies it. */
struct recorded {
	int rows, longest, groups;
	struct decoded what;
	void *graph;               /* NULL: it ran once without recording and is recorded the next time */
};

/* Owned, except m, a and the memory of the adapter's rows. */
struct model_session {
	const struct model *m;
	const struct adapter *a;
	struct model_session_opts o;
	int rows, runs;            /* most rows and most sequences of one pass */
	int positions;             /* most tokens of a slot */
	int block_ld;              /* blocks of that many tokens */
	struct slot *slot;
	size_t layer, stride;      /* bytes of a block: of one layer, of all layers */
	int32_t blocks, nfree;
	int32_t *free, *held;      /* stack of free blocks; number of slots that hold each block */
	struct slab slab;
	char *kv;
	struct layer_buf buf;
	float *other;              /* [rows, C] input of the next layer */
	act *last;                 /* [runs, C] rows whose logits to compute */
	float *cos, *sin;
	struct session_rows host, dev;
	struct session_draws draws;
	struct sample_row *host_row;          /* [runs] */
	struct { int32_t *tokens; float *logprobs; } drawn;   /* [MODEL_BURST, runs], on the host */
	int32_t *host_memory, *dev_memory;
	float *logits;             /* [head rows, V] for log-probabilities */
	float *logp;
	struct model_pass pass;
	struct { struct recorded *v; size_t n, cap; } graphs;
	const char *scratch;       /* the device's scratch when the graphs were recorded */
};

/* --- memory ------------------------------------------------------------------------------- */

/* First walk (no memory yet): lists an entry. Second walk: gives its address. */
static int entry(struct model_session *s, int *next, void *to, enum dtype dt, int64_t rows, int64_t cols,
		 const char *what, struct err *e)
{
	int64_t shape[2] = { rows, cols };
	void *p;

	if (!s->slab.data)
		return slab_add(&s->slab, dt, 2, shape, e, "%s", what) < 0;
	p = slab_at(&s->slab, (*next)++);
	memcpy(to, &p, sizeof p);
	return 0;
}

/* Rows and sequences that are in the next pass so far. */
struct session_batch { int rows, runs; };

/* A GPU decodes these numbers of rows, so that few graphs are recorded: 50 rows run as 64. The
 * extra rows work on a block that nobody owns. */
int model_decode_rows(const struct model *m, int n)
{
	static const int steps[] = { 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256 };

	if (m->dev->kind == DEV_CPU)
		return n;
	for (size_t i = 0; i < COUNT_OF(steps); i++)
		if (n <= steps[i])
			return steps[i];
	return (n + 127) & ~127;
}

/* The block of the extra rows, behind all others. */
static int spare_blocks(const struct model_session *s) { return s->m->dev->kind == DEV_CPU ? 0 : 1; }

/* 4-byte words of the arrays of struct session_rows; each begins at a multiple of 16 bytes. */
static size_t row_words(const struct model_session *s) { return ((size_t)s->rows + 3) & ~(size_t)3; }
static size_t run_words(const struct model_session *s) { return ((size_t)s->runs + 4) & ~(size_t)3; }

static size_t rows_words(const struct model_session *s)
{
	return 3 * row_words(s) + 4 * run_words(s) + (size_t)s->runs * (size_t)s->block_ld;
}

/* Divides the memory at `at` into the arrays. */
static void cut_rows(const struct model_session *s, struct session_rows *r, int32_t *at)
{
	size_t rows = row_words(s), runs = run_words(s);

	r->tokens = at, r->pos = at + rows, r->next = at + 2 * rows;
	at += 3 * rows;
	r->row = at, r->length = at + runs, r->group = at + 2 * runs, r->group_blocks = at + 3 * runs;
	r->block = at + 4 * runs;
}

static size_t seen_words(const struct model_session *s) { return ((size_t)s->m->c.V + 31) / 32; }

/* Lists all device memory, then assigns it: see entry. */
static int carve(struct model_session *s, struct err *e)
{
	const struct model_config *c = &s->m->c;
	struct layer_buf *b = &s->buf;
	struct session_draws *w = &s->draws;
	int64_t R = s->rows, N = s->runs, qkv = (c->H + 2 * c->HKV) * c->D, positions = s->positions + MODEL_BURST;
	int i = 0;

	enum dtype a = s->m->dev->act;

	/* RoPE tables reach past the last position by a burst. */
	if (entry(s, &i, &s->kv, DT_U8, s->blocks + spare_blocks(s), (int64_t)s->stride, "keys and values", e) ||
	    entry(s, &i, &b->x, DT_F32, R, c->C, "x", e) || entry(s, &i, &b->mid, DT_F32, R, c->C, "mid", e) ||
	    entry(s, &i, &s->other, DT_F32, R, c->C, "out", e) || entry(s, &i, &b->qkv, a, R, qkv, "qkv", e) ||
	    entry(s, &i, &b->att, a, R, c->H * c->D, "att", e) || entry(s, &i, &b->gu, a, R, 2 * c->F, "gate_up", e) ||
	    entry(s, &i, &s->pass.xn, a, R, c->C, "normed", e) || entry(s, &i, &s->pass.h, a, R, c->F, "h", e) ||
	    entry(s, &i, &s->last, a, s->runs, c->C, "last rows", e) ||
	    entry(s, &i, &s->cos, DT_F32, positions, c->D / 2, "cos", e) || entry(s, &i, &s->sin, DT_F32,
			    positions, c->D / 2, "sin", e) ||
	    entry(s, &i, &w->row, DT_U8, N, sizeof *w->row, "options", e) || entry(s, &i, &w->drawn,
			    DT_I32, N, 1, "drawn", e) ||
	    entry(s, &i, &w->from, DT_I32, N, 1, "from", e) || entry(s, &i, &w->step, DT_I32, 1, 1, "step", e) ||
	    entry(s, &i, &w->token, DT_I32, N, 1, "token", e) || entry(s, &i, &w->logprob, DT_F32, N, 1,
								       "logprob", e) ||
	    entry(s, &i, &w->tokens, DT_I32, MODEL_BURST, N, "tokens", e) || entry(s, &i, &w->logprobs,
			    DT_F32, MODEL_BURST, N, "logprobs", e) ||
	    entry(s, &i, &w->seen, DT_I32, N, (int64_t)seen_words(s), "seen", e) ||
	    entry(s, &i, &w->logits, DT_F32, N, c->V, "drawn from", e) ||
	    entry(s, &i, &s->dev_memory, DT_I32, 1, (int64_t)rows_words(s), "rows", e) ||
	    entry(s, &i, &s->logp, DT_F32, R, 1, "logp", e) ||
	    entry(s, &i, &s->logits, DT_F32, MIN(R, model_head_rows(s->m)), c->V, "logits", e))
		return -1;
	return 0;
}

static int carve_all(struct model_session *s, struct err *e)
{
	if (carve(s, e) || slab_alloc(&s->slab, e) || carve(s, e))
		return -1;
	s->host_memory = mem_array(rows_words(s), sizeof *s->host_memory);
	s->host_row = mem_array((size_t)s->runs, sizeof *s->host_row);
	s->drawn.tokens = mem_array((size_t)s->runs * MODEL_BURST, sizeof *s->drawn.tokens);
	s->drawn.logprobs = mem_array((size_t)s->runs * MODEL_BURST, sizeof *s->drawn.logprobs);
	if (!s->host_memory || !s->host_row || !s->drawn.tokens || !s->drawn.logprobs)
		return err_nomem(e);
	cut_rows(s, &s->host, s->host_memory);
	cut_rows(s, &s->dev, s->dev_memory);
	return model_put_rope(s->m, s->cos, s->sin, s->positions + MODEL_BURST, e) || model_reserve(s->m,
			s->rows, 1, s->positions, 0, e) ? -1 : 0;
}

/* Block 0 is taken first. */
static void make_free_list(struct model_session *s)
{
	s->nfree = s->blocks;
	for (int32_t i = 0; i < s->blocks; i++)
		s->free[i] = s->blocks - 1 - i;
}

struct model_session *model_session_new(const struct model *m, const struct adapter *a,
					const struct model_session_opts *o, struct err *e)
{
	struct model_session *s;
	int64_t blocks = (o->kv_tokens + KV_BLOCK - 1) / KV_BLOCK;

	if (o->slots < 1 || o->slots > 1 << 20 || blocks < 1 || blocks > 1 << 30 || o->chunk < 0) {
		err_set(e, ERR_RANGE, "a session cannot have %d slots and %lld positions", o->slots,
			(long long)o->kv_tokens);
		return NULL;
	}
	if (o->kv8 && (m->dev->kind == DEV_CPU || m->c.D < 64)) {
		err_set(e, ERR_UNSUPPORTED, "keys and values of 8 bits need a GPU and heads of 64 or 128");
		return NULL;
	}
	if (!(s = mem_zalloc(sizeof *s))) {
		err_nomem(e);
		return NULL;
	}
	s->m = m, s->o = *o;
	s->blocks = (int32_t)blocks;
	s->runs = model_decode_rows(m, o->slots);
	s->rows = MAX(o->chunk ? o->chunk : m->dev->kind == DEV_CPU ? 256 : 4096, s->runs);
	s->positions = (int)MIN((int64_t)m->c.max_position, blocks * KV_BLOCK);
	/* A burst runs on the device before the host looks, so it may pass the end by its steps. */
	s->block_ld = blocks_for(s->positions + MODEL_BURST);
	s->layer = kv_bytes(m->dev, m->c.HKV, m->c.D, m->fast, o->kv8);
	s->stride = (size_t)m->c.L * s->layer;
	slab_init(&s->slab, m->dev, "session");
	s->slot = mem_array((size_t)o->slots, sizeof *s->slot);
	s->free = mem_array((size_t)blocks, sizeof *s->free);
	s->held = mem_array((size_t)blocks, sizeof *s->held);
	if (!s->slot || !s->free || !s->held)
		err_nomem(e);
	else if (!carve_all(s, e) && !model_session_adapter(s, a, e)) {
		make_free_list(s);
		return s;
	}
	model_session_free(s);
	return NULL;
}

/* Rank-r rows of the adapters of one site, for all rows of a pass. */
static size_t u_bytes(const struct model_session *s, const struct adapter *a)
{
	return (size_t)s->rows * LORA_PARTS * (size_t)a->o.r * (size_t)dtype_size(s->m->dev->act);
}

/* Graphs contain addresses that may not be valid any more. */
static void forget_recorded(struct model_session *s)
{
	for (size_t i = 0; i < s->graphs.n; i++)
		dev_graph_free(s->m->dev, s->graphs.v[i].graph);
	vec_free(&s->graphs);
}

/* The memory of the rank-r rows comes with the adapter, since ranks differ. */
static void free_u(struct model_session *s)
{
	if (s->buf.u[0])
		dev_free(s->m->dev, s->buf.u[0], u_bytes(s, s->a));
	memset(s->buf.u, 0, sizeof s->buf.u);
}

int model_session_adapter(struct model_session *s, const struct adapter *a, struct err *e)
{
	act *u = NULL;

	if (a == s->a && s->buf.u[0])
		return 0;
	if (a && !(u = dev_alloc(s->m->dev, u_bytes(s, a), e)))
		return -1;
	forget_recorded(s);
	free_u(s);
	s->a = a;
	for (int i = 0; i < SITES; i++)
		s->buf.u[i] = u;
	return 0;
}

void model_session_free(struct model_session *s)
{
	if (!s)
		return;
	forget_recorded(s);
	free_u(s);
	for (int i = 0; s->slot && i < s->o.slots; i++)
		vec_free(&s->slot[i]);
	slab_release(&s->slab);
	mem_free(s->slot);
	mem_free(s->host_memory);
	mem_free(s->host_row);
	mem_free(s->drawn.tokens);
	mem_free(s->drawn.logprobs);
	mem_free(s->free);
	mem_free(s->held);
	mem_free(s);
}

/* --- blocks --------------------------------------------------------------------------------- */

/* A wrong slot number is a bug of the caller. */
static struct slot *get_slot(const struct model_session *s, int slot)
{
	if (slot < 0 || slot >= s->o.slots)
		BUG("slot %d of %d", slot, s->o.slots);
	return &s->slot[slot];
}

/* Takes n free blocks for the slot, zeroed, or none of them. */
static int more_blocks(struct model_session *s, struct slot *t, int n, struct err *e)
{
	if (n > s->nfree)
		return err_set(e, ERR_NOMEM, "the cache of %d x %d positions is full", s->blocks, KV_BLOCK);
	if (vec_grow(t, (size_t)n))
		return err_nomem(e);
	while (n--) {
		int32_t b = s->free[--s->nfree];

		dev_zero(s->m->dev, s->kv + (size_t)b * s->stride, s->stride);
		s->held[b] = 1;
		t->v[t->n++] = b;
	}
	return 0;
}

/* Gives blocks back until `keep` are left; a block is free once no slot holds it. */
static void less_blocks(struct model_session *s, struct slot *t, size_t keep)
{
	while (t->n > keep) {
		int32_t b = t->v[--t->n];

		if (!--s->held[b])
			s->free[s->nfree++] = b;
	}
}

/* Makes room for `n` more positions. */
static int extend(struct model_session *s, struct slot *t, int n, struct err *e)
{
	if (n > s->positions - t->length)
		return err_set(e, ERR_RANGE, "%d tokens after %d: a sequence holds at most %d", n,
			       t->length, s->positions);
	return more_blocks(s, t, blocks_for(t->length + n) - (int)t->n, e);
}

/* Full blocks are shared. A partly filled last block is copied, because both slots will write to
 * it. */
int model_fork(struct model_session *s, int from, int to, struct err *e)
{
	struct slot *a = get_slot(s, from), *b = get_slot(s, to);
	size_t full = (size_t)(a->length / KV_BLOCK);

	if (b->length)
		BUG("fork into slot %d that holds %d tokens", to, b->length);
	if (vec_grow(b, a->n + 1))
		return err_nomem(e);
	for (size_t i = 0; i < full; i++) {
		s->held[a->v[i]]++;
		b->v[b->n++] = a->v[i];
	}
	if (a->length % KV_BLOCK) {
		if (more_blocks(s, b, 1, e)) {
			less_blocks(s, b, 0);
			return -1;
		}
		dev_copy(s->m->dev, s->kv + (size_t)b->v[full] * s->stride,
			 s->kv + (size_t)a->v[full] * s->stride, s->stride);
	}
	b->length = a->length;
	return 0;
}

void model_drop(struct model_session *s, int slot)
{
	model_trim(s, slot, 0);
}

/* A shared block is never written, so a slot must not be cut inside one. */
void model_trim(struct model_session *s, int slot, int length)
{
	struct slot *t = get_slot(s, slot);

	if (length >= t->length)
		return;
	less_blocks(s, t, (size_t)blocks_for(length));
	if (length % KV_BLOCK && s->held[t->v[t->n - 1]] > 1)
		BUG("slot %d cut inside a shared block", slot);
	t->length = length;
}

int model_length(const struct model_session *s, int slot) { return get_slot(s, slot)->length; }
int64_t model_kv_free(const struct model_session *s) { return (int64_t)s->nfree * KV_BLOCK; }

/* --- passes ----------------------------------------------------------------------------------- */

/* Finds neighbouring sequences of one row each that begin with the same blocks (the groups of
 * struct attention_cached), so that attention reads a shared prompt once. 16 samples of a prompt
 * of 640 tokens share 10 blocks. Unused groups are empty, so that there are always as many as
 * sequences. Returns whether any blocks are shared. */
static int find_groups(struct model_session *s, const struct session_batch *b)
{
	struct session_rows *h = &s->host;
	int g = 0, any = 0;

	for (int i = 0, n; i < b->runs; i += n, g++) {
		const int32_t *first = h->block + (size_t)i * (size_t)s->block_ld;
		int shared = h->length[i] / KV_BLOCK;

		for (n = 1; shared && i + n < b->runs && first[(size_t)n * (size_t)s->block_ld] == first[0] &&
		     h->length[i + n] >= KV_BLOCK; n++) {
			const int32_t *other = first + (size_t)n * (size_t)s->block_ld;
			int same = 0, most = MIN(shared, h->length[i + n] / KV_BLOCK);

			while (same < most && other[same] == first[same])
				same++;
			shared = same;
		}
		h->group[g] = i;
		h->group_blocks[g] = n > 1 ? shared : 0;
		any |= n > 1;
	}
	for (; g <= b->runs; g++)
		h->group[g] = b->runs, h->group_blocks[g] = 0;
	return any;
}

/* Sends what the host knows of the rows to the device and describes the attention. */
static struct attention_cached put_rows(struct model_session *s, const struct session_batch *b)
{
	const struct model *m = s->m;
	struct session_rows *h = &s->host, *d = &s->dev;
	struct attention_cached c = { .H = m->c.H, .HKV = m->c.HKV, .D = m->c.D, .fast = m->fast,
				      .e4m3 = s->o.kv8, .runs = b->runs, .rows = b->rows,
				      .row = d->row, .length = d->length, .block = d->block,
				      .block_ld = s->block_ld, .group = d->group,
				      .group_blocks = d->group_blocks, .kv = s->kv, .stride = s->stride,
				      .layer = s->layer };
	size_t words = (size_t)(h->block - s->host_memory) + (size_t)b->runs * (size_t)s->block_ld;

	h->row[b->runs] = b->rows;
	for (int i = 0; i < b->runs; i++) {
		c.longest_rows = MAX(c.longest_rows, h->row[i + 1] - h->row[i]);
		c.longest = MAX(c.longest, h->length[i] + h->row[i + 1] - h->row[i]);
	}
	if (c.longest_rows == 1 && find_groups(s, b))
		c.groups = b->runs;
	dev_put(m->dev, s->dev_memory, s->host_memory, words * sizeof *s->host_memory);
	return c;
}

/* Runs the rows of `c` through all layers and leaves the normed rows in pass.xn. Input and output
 * of a layer swap their buffers. */
static void run_rows(struct model_session *s, const struct attention_cached *c)
{
	const struct model *m = s->m;
	struct model_pass *p = &s->pass;

	p->m = m, p->a = s->a, p->T = c->rows, p->pos = s->dev.pos, p->cos = s->cos, p->sin = s->sin, p->cached = c;
	m->ops->embed(m->dev, s->buf.x, m->embed, m->raw[MT_EMBED].dt, m->c.C, s->dev.tokens, c->rows);
	for (int l = 0; l < m->c.L; l++) {
		float *out = s->other;

		layer_forward(p, l, &s->buf, out);
		s->other = s->buf.x;
		s->buf.x = out;
	}
	p->cached = NULL;
	m->ops->rmsnorm(m->dev, p->xn, NULL, s->buf.x, m->norm, c->rows, m->c.C, m->c.eps);
}

static void run_batch(struct model_session *s, const struct session_batch *b)
{
	struct attention_cached c = put_rows(s, b);

	run_rows(s, &c);
}

/* Logits of `rows` normed rows. */
static void head(const struct model_session *s, const act *x, int rows, float *logits)
{
	const struct model *m = s->m;

	m->ops->linear(m->dev, &m->head, &(struct linear){ .M = rows, .x = x, .ldx = (size_t)m->c.C,
							   .y = logits, .ldy = (size_t)m->c.V, .f32 = 1 });
}

/* logp[i] = log p(next[i] | row i) for the rows of the last pass. */
static int row_logprobs(struct model_session *s, const int32_t *next, int rows, float *logp, struct err *e)
{
	const struct model *m = s->m;
	int chunk = MIN(s->rows, model_head_rows(m));

	dev_put(m->dev, s->dev.next, next, (size_t)rows * sizeof *next);
	for (int at = 0; at < rows; at += chunk) {
		int n = MIN(chunk, rows - at);

		head(s, act_at(m->dev, s->pass.xn, (size_t)at * (size_t)m->c.C), n, s->logits);
		m->ops->xent(m->dev, &(struct xent){ .rows = n, .V = m->c.V, .logits = s->logits,
						     .target = s->dev.next + at, .logp = s->logp + at });
	}
	return dev_get(m->dev, logp, s->logp, (size_t)rows * sizeof *logp, e);
}

static int check_tokens(const struct model_session *s, const int32_t *tokens, int n, struct err *e)
{
	for (int i = 0; i < n; i++)
		if (tokens[i] < 0 || tokens[i] >= s->m->c.V)
			return err_set(e, ERR_RANGE, "token %d is outside the vocabulary of %d", tokens[i], s->m->c.V);
	return 0;
}

/* Adds `n` more tokens of a slot, which has the blocks for them, as rows of the next pass. */
static void add_run(struct model_session *s, struct session_batch *b, struct slot *t, const int32_t *tokens, int n)
{
	for (int i = 0; i < n; i++) {
		s->host.tokens[b->rows + i] = tokens[i];
		s->host.pos[b->rows + i] = t->length + i;
	}
	s->host.row[b->runs] = b->rows;
	s->host.length[b->runs] = t->length;
	memcpy(s->host.block + (size_t)b->runs * (size_t)s->block_ld, t->v, t->n * sizeof *t->v);
	b->runs++;
	b->rows += n;
	t->length += n;
}

/* Long prompts go through in chunks of s->rows. The log-probability of a chunk's last token comes
 * with the next chunk. */
int model_prefill(struct model_session *s, int slot, const int32_t *tokens, int n,
		  float *logits, float *logprobs, struct err *e)
{
	struct slot *t = get_slot(s, slot);

	if (n < 1)
		BUG("prefill of %d tokens", n);
	if (check_tokens(s, tokens, n, e) || extend(s, t, n, e))
		return -1;
	if (logprobs)
		logprobs[0] = 0;
	for (int at = 0; at < n; at += s->rows) {
		int rows = MIN(s->rows, n - at), known = MIN(rows, n - at - 1);
		struct session_batch b = { 0 };

		add_run(s, &b, t, tokens + at, rows);
		run_batch(s, &b);
		if (logprobs && known && row_logprobs(s, tokens + at + 1, known, logprobs + at + 1, e))
			return -1;
		if (logits && at + rows == n)
			head(s, act_at(s->m->dev, s->pass.xn, (size_t)(rows - 1) * (size_t)s->m->c.C), 1, logits);
	}
	return 0;
}

/* Makes room for all prompts or for none. */
static int extend_all(struct model_session *s, const struct model_prompt *p, int n, struct err *e)
{
	for (int i = 0; i < n; i++) {
		if (p[i].n < 1)
			BUG("prefill of %d tokens", p[i].n);
		if (!check_tokens(s, p[i].tokens, p[i].n, e) && !extend(s, get_slot(s, p[i].slot), p[i].n, e))
			continue;
		while (i--) {
			struct slot *t = get_slot(s, p[i].slot);

			less_blocks(s, t, (size_t)blocks_for(t->length));
		}
		return -1;
	}
	return 0;
}

/* The logits after the last row of each sequence of the last pass. */
static void run_heads(struct model_session *s, int runs, float *logits)
{
	const struct model *m = s->m;

	for (int i = 0; i < runs; i++)
		s->host.next[i] = s->host.row[i + 1] - 1;
	dev_put(m->dev, s->dev.next, s->host.next, (size_t)runs * sizeof *s->host.next);
	m->ops->gather(m->dev, s->last, s->pass.xn, s->dev.next, runs, m->c.C);
	head(s, s->last, runs, logits);
}

/* Packs as many prompts into a pass as fit; a prompt longer than a pass gets passes of its own. */
int model_prefill_all(struct model_session *s, const struct model_prompt *p, int n, float *logits, struct err *e)
{
	if (n > s->o.slots)
		BUG("prefill of %d of %d slots", n, s->o.slots);
	if (extend_all(s, p, n, e))
		return -1;
	for (int i = 0; i < n;) {
		struct session_batch b = { 0 };
		int first = i;

		if (p[i].n > s->rows) {
			if (model_prefill(s, p[i].slot, p[i].tokens, p[i].n,
					  logits + (size_t)i * (size_t)s->m->c.V, NULL, e))
				return -1;
			i++;
			continue;
		}
		for (; i < n && b.rows + p[i].n <= s->rows; i++)
			add_run(s, &b, get_slot(s, p[i].slot), p[i].tokens, p[i].n);
		run_batch(s, &b);
		run_heads(s, b.runs, logits + (size_t)first * (size_t)s->m->c.V);
	}
	return 0;
}

/* --- decoding ---------------------------------------------------------------------------------- */

/* Adds rows up to the next number of model_decode_rows, each a sequence of one token in the spare
 * block. */
static void pad(struct model_session *s, struct session_batch *b)
{
	for (int n = model_decode_rows(s->m, b->rows); b->rows < n; b->rows++, b->runs++) {
		s->host.tokens[b->rows] = s->host.pos[b->rows] = 0;
		s->host.row[b->runs] = b->rows;
		s->host.length[b->runs] = 0;
		s->host.block[(size_t)b->runs * (size_t)s->block_ld] = s->blocks;
	}
}

/* Draws a token for each row; `from` maps rows to logits, NULL: row i has logits i. */
static void draw(struct model_session *s, const float *logits, const int32_t *from, int rows, int seen)
{
	const struct model *m = s->m;
	struct session_draws *w = &s->draws;

	m->ops->sample(m->dev, &(struct sample){ .rows = rows, .V = m->c.V, .logits = logits, .from = from,
						 .row = w->row, .drawn = w->drawn,
						 .seen = seen ? w->seen : NULL, .token = w->token,
						 .logprob = w->logprob });
}

/* One token per row. With `draw` the next tokens are drawn and everything moves one position on,
 * all on the device. */
static void decode_pass(struct model_session *s, const struct attention_cached *c, const struct decoded *what)
{
	const struct model *m = s->m;
	struct session_draws *w = &s->draws;

	run_rows(s, c);
	head(s, s->pass.xn, c->rows, what->logits);
	if (!what->draw)
		return;
	draw(s, what->logits, NULL, c->rows, what->seen);
	m->ops->advance(m->dev, &(struct advance){ .rows = c->rows, .token = w->token, .logprob = w->logprob,
						   .next = s->dev.tokens,
						   .pos = s->dev.pos, .length = s->dev.length,
						   .drawn = w->drawn, .step = w->step,
						   .tokens = w->tokens, .logprobs = w->logprobs });
}

/* Returns the recorded entry of a pass of this shape, added if it is new (*fresh), or NULL if the
 * device does not record. */
static struct recorded *find_recorded(struct model_session *s, const struct attention_cached *c,
				      const struct decoded *what, int *fresh)
{
	struct recorded want = { .rows = c->rows, .longest = c->longest, .groups = c->groups, .what = *what };

	*fresh = 0;
	if (!dev_records(s->m->dev))
		return NULL;
	if (s->scratch != s->m->dev->scratch)
		forget_recorded(s);
	s->scratch = s->m->dev->scratch;
	for (size_t i = 0; i < s->graphs.n; i++) {
		struct recorded *r = &s->graphs.v[i];

		if (r->rows == want.rows && r->longest == want.longest && r->groups == want.groups &&
		    r->what.logits == what->logits &&
		    r->what.draw == what->draw && r->what.seen == what->seen)
			return r;
	}
	*fresh = 1;
	return vec_push(&s->graphs, want) ? NULL : &s->graphs.v[s->graphs.n - 1];
}

/* The first pass of its kind runs normally, so that every op has chosen its algorithm. The second
 * is recorded, later ones replay the graph. `longest` is rounded up to a power of two, so that a
 * graph serves many lengths. */
static void decode(struct model_session *s, struct attention_cached *c, const struct decoded *what)
{
	struct dev *d = s->m->dev;
	struct recorded *r;
	int fresh, bound = KV_BLOCK;

	while (bound < c->longest)
		bound *= 2;
	if (dev_records(d))
		c->longest = MIN(bound, s->positions);
	r = find_recorded(s, c, what, &fresh);
	if (!r || fresh) {
		decode_pass(s, c, what);
		return;
	}
	if (!r->graph) {
		dev_graph_begin(d);
		decode_pass(s, c, what);
		r->graph = dev_graph_end(d);
	}
	dev_graph_run(d, r->graph);
}

int model_decode(struct model_session *s, const int32_t *tokens, const int *slots, int n, float *logits, struct err *e)
{
	struct session_batch b = { 0 };
	struct attention_cached c;

	if (n < 1 || n > s->o.slots)
		BUG("decode of %d of %d slots", n, s->o.slots);
	if (check_tokens(s, tokens, n, e))
		return -1;
	for (int i = 0; i < n; i++)
		if (extend(s, get_slot(s, slots[i]), 1, e))
			return -1;
	for (int i = 0; i < n; i++)
		add_run(s, &b, get_slot(s, slots[i]), tokens + i, 1);
	pad(s, &b);
	c = put_rows(s, &b);
	decode(s, &c, &(struct decoded){ .logits = logits });
	return 0;
}

/* --- drawing ------------------------------------------------------------------------------------ */

int model_burst_steps(const struct model *m) { return m->dev->kind == DEV_CPU ? 1 : MODEL_BURST; }

/* Sends the sampling options and random-stream positions of the rows. Returns whether any row has
 * a penalty. */
static int put_draws(struct model_session *s, const struct model_draw *d, int n, int rows)
{
	struct dev *dev = s->m->dev;
	struct session_draws *w = &s->draws;
	int seen = 0;

	memset(s->host_row, 0, (size_t)rows * sizeof *s->host_row);
	memset(s->host.next, 0, (size_t)rows * sizeof *s->host.next);
	for (int i = 0; i < n; i++) {
		s->host_row[i] = d[i].sample;
		s->host.next[i] = d[i].drawn;
		if (d[i].seen)
			dev_put(dev, w->seen + (size_t)i * seen_words(s), d[i].seen,
				seen_words(s) * sizeof *w->seen), seen = 1;
	}
	dev_put(dev, w->row, s->host_row, (size_t)rows * sizeof *s->host_row);
	dev_put(dev, w->drawn, s->host.next, (size_t)rows * sizeof *s->host.next);
	dev_zero(dev, w->step, sizeof *w->step);
	return seen;
}

int model_draw_from(struct model_session *s, const float *logits, const struct model_draw *d, int n,
		    int32_t *tokens, float *logprobs,
		    struct err *e)
{
	struct session_draws *w = &s->draws;
	int seen;

	if (n < 1 || n > s->runs)
		BUG("%d draws of %d", n, s->runs);
	seen = put_draws(s, d, n, n);
	for (int i = 0; i < n; i++)
		s->host.next[i] = d[i].from;
	dev_put(s->m->dev, w->from, s->host.next, (size_t)n * sizeof *w->from);
	draw(s, logits, w->from, n, seen);
	return dev_get(s->m->dev, tokens, w->token, (size_t)n * sizeof *tokens, e) ||
	       dev_get(s->m->dev, logprobs, w->logprob, (size_t)n * sizeof *logprobs, e) ? -1 : 0;
}

/* Adds the row's token and blocks for `steps` positions. Positions beyond those that the row
 * still wants go to the spare block. */
static void add_draw(struct model_session *s, struct session_batch *b, const struct model_draw *d, int steps)
{
	struct slot *t = get_slot(s, d->slot);
	int32_t *block = s->host.block + (size_t)b->runs * (size_t)s->block_ld;
	int last = blocks_for(t->length + steps);

	add_run(s, b, t, &d->token, 1);
	for (int i = (int)t->n; i < last; i++)
		block[i] = s->blocks;
	t->length += MIN(steps, d->most) - 1;
}

/* Room for what each row still wants, at most `steps`. */
static int extend_draws(struct model_session *s, const struct model_draw *d, int n, int steps, struct err *e)
{
	for (int i = 0; i < n; i++)
		if (check_tokens(s, &d[i].token, 1, e) || extend(s, get_slot(s, d[i].slot), MIN(steps, d[i].most), e))
			return -1;
	return 0;
}

/* Copies the first n of `rows` columns of each step to the caller. */
static int take_drawn(struct model_session *s, int rows, int n, int steps, int32_t *tokens, float *logprobs,
		      struct err *e)
{
	const struct session_draws *w = &s->draws;
	size_t all = (size_t)rows * (size_t)steps;

	if (dev_get(s->m->dev, s->drawn.tokens, w->tokens, all * sizeof *tokens, e) ||
	    dev_get(s->m->dev, s->drawn.logprobs, w->logprobs, all * sizeof *logprobs, e))
		return -1;
	for (int i = 0; i < steps; i++) {
		memcpy(tokens + (size_t)i * (size_t)n, s->drawn.tokens + (size_t)i * (size_t)rows,
		       (size_t)n * sizeof *tokens);
		memcpy(logprobs + (size_t)i * (size_t)n, s->drawn.logprobs + (size_t)i * (size_t)rows,
		       (size_t)n * sizeof *logprobs);
	}
	return 0;
}

int model_burst(struct model_session *s, const struct model_draw *d, int n, int steps, int32_t *tokens,
		float *logprobs, struct err *e)
{
	struct session_batch b = { 0 };
	struct decoded what = { .logits = s->draws.logits, .draw = 1 };
	struct attention_cached c;

	if (n < 1 || n > s->o.slots || steps < 1 || steps > model_burst_steps(s->m))
		BUG("%d steps of %d of %d slots", steps, n, s->o.slots);
	if (extend_draws(s, d, n, steps, e))
		return -1;
	for (int i = 0; i < n; i++)
		add_draw(s, &b, &d[i], steps);
	pad(s, &b);
	what.seen = put_draws(s, d, n, b.rows);
	c = put_rows(s, &b);
	c.longest += steps - 1;
	for (int i = 0; i < steps; i++)
		decode(s, &c, &what);
	return take_drawn(s, b.rows, n, steps, tokens, logprobs, e);
}
