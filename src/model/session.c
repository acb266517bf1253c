/* Sampling state: slots of cached keys and values, prefill and decode. See model.h.
 *
 * Keys and values of 64 positions of all layers make one block. A block is held by one or
 * more slots; only a block held once is ever written (fork copies the last, partly filled
 * one). A fresh block is zeroed, so that what a row does not see is finite. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/model_impl.h"
#include "ops/cpu/row.h"

struct slot {
	int length;
	int32_t *v;                /* blocks */
	size_t n, cap;
};

struct model_session {
	const struct model *m;
	const struct adapter *a;
	struct model_session_opts o;
	int rows;                  /* most rows of one pass */
	int positions;             /* most tokens of a slot */
	struct slot *slot;
	size_t stride;             /* floats of a block */
	int32_t blocks, nfree;
	int32_t *free, *held;      /* stack of free blocks; holders of each */
	struct kv_run *run;        /* [slots] */
	struct slab slab;
	float *kv;
	struct layer_buf buf;
	float *other;              /* [rows, C]: the next layer's input */
	float *cos, *sin;
	int32_t *pos, *tokens;
	float *logits;             /* [head rows, V] for log-probabilities */
	float *logp;
	struct model_pass pass;
};

/* --- memory ------------------------------------------------------------------------------- */

static int entry(struct model_session *s, int *next, void *to, enum dtype dt, int64_t rows, int64_t cols, const char *what, struct err *e)
{
	int64_t shape[2] = { rows, cols };
	void *p;

	if (!s->slab.data)
		return slab_add(&s->slab, dt, 2, shape, e, "%s", what) < 0;
	p = slab_at(&s->slab, (*next)++);
	memcpy(to, &p, sizeof p);
	return 0;
}

/* Walked twice: first to list, then to point. */
static int carve(struct model_session *s, struct err *e)
{
	const struct model_config *c = &s->m->c;
	struct layer_buf *b = &s->buf;
	int64_t R = s->rows, qkv = (c->H + 2 * c->HKV) * c->D;
	int i = 0;

	if (entry(s, &i, &s->kv, DT_F32, s->blocks, (int64_t)s->stride, "keys and values", e) ||
	    entry(s, &i, &b->x, DT_F32, R, c->C, "x", e) || entry(s, &i, &b->mid, DT_F32, R, c->C, "mid", e) ||
	    entry(s, &i, &s->other, DT_F32, R, c->C, "out", e) || entry(s, &i, &b->qkv, DT_F32, R, qkv, "qkv", e) ||
	    entry(s, &i, &b->att, DT_F32, R, c->H * c->D, "att", e) || entry(s, &i, &b->gu, DT_F32, R, 2 * c->F, "gate_up", e) ||
	    entry(s, &i, &s->pass.xn, DT_F32, R, c->C, "normed", e) || entry(s, &i, &s->pass.h, DT_F32, R, c->F, "h", e) ||
	    entry(s, &i, &s->cos, DT_F32, s->positions, c->D / 2, "cos", e) ||
	    entry(s, &i, &s->sin, DT_F32, s->positions, c->D / 2, "sin", e) ||
	    entry(s, &i, &s->pos, DT_I32, R, 1, "pos", e) || entry(s, &i, &s->tokens, DT_I32, R, 1, "tokens", e) ||
	    entry(s, &i, &s->logp, DT_F32, R, 1, "logp", e) ||
	    entry(s, &i, &s->logits, DT_F32, MIN(R, model_head_rows(s->m)), c->V, "logits", e))
		return -1;
	return 0;
}

static int carve_all(struct model_session *s, struct err *e)
{
	if (carve(s, e) || slab_alloc(&s->slab, e) || carve(s, e))
		return -1;
	model_rope_table(&s->m->c, s->cos, s->sin, s->positions);
	return model_reserve(s->m, s->rows, 1, e);
}

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
		err_set(e, ERR_RANGE, "a session of %d slots and %lld positions", o->slots, (long long)o->kv_tokens);
		return NULL;
	}
	if (!(s = mem_zalloc(sizeof *s))) {
		err_nomem(e);
		return NULL;
	}
	s->m = m, s->o = *o;
	s->blocks = (int32_t)blocks;
	s->rows = MAX(o->chunk ? o->chunk : 256, o->slots);
	s->positions = (int)MIN((int64_t)m->c.max_position, blocks * KV_BLOCK);
	s->stride = (size_t)m->c.L * kv_floats(m->c.HKV, m->c.D, m->fast);
	slab_init(&s->slab, m->dev, "session");
	s->slot = mem_array((size_t)o->slots, sizeof *s->slot);
	s->run = mem_array((size_t)o->slots, sizeof *s->run);
	s->free = mem_array((size_t)blocks, sizeof *s->free);
	s->held = mem_array((size_t)blocks, sizeof *s->held);
	if (!s->slot || !s->run || !s->free || !s->held)
		err_nomem(e);
	else if (!carve_all(s, e) && !model_session_adapter(s, a, e)) {
		make_free_list(s);
		return s;
	}
	model_session_free(s);
	return NULL;
}

/* Room for the adapter's rank-r rows comes with the adapter, since ranks differ. */
static void free_u(struct model_session *s)
{
	size_t n = s->a ? (size_t)s->rows * (size_t)s->a->o.r * sizeof(float) : 0;

	if (s->buf.u[0])
		dev_free(s->m->dev, s->buf.u[0], n);
	memset(s->buf.u, 0, sizeof s->buf.u);
}

int model_session_adapter(struct model_session *s, const struct adapter *a, struct err *e)
{
	float *u = NULL;

	if (a && !(u = dev_alloc(s->m->dev, (size_t)s->rows * (size_t)a->o.r * sizeof(float), e)))
		return -1;
	free_u(s);
	s->a = a;
	for (int i = 0; i < LORA_TARGETS; i++)
		s->buf.u[i] = u;
	return 0;
}

void model_session_free(struct model_session *s)
{
	if (!s)
		return;
	free_u(s);
	for (int i = 0; s->slot && i < s->o.slots; i++)
		vec_free(&s->slot[i]);
	slab_release(&s->slab);
	mem_free(s->slot);
	mem_free(s->run);
	mem_free(s->free);
	mem_free(s->held);
	mem_free(s);
}

/* --- blocks --------------------------------------------------------------------------------- */

static struct slot *get_slot(const struct model_session *s, int slot)
{
	if (slot < 0 || slot >= s->o.slots)
		BUG("slot %d of %d", slot, s->o.slots);
	return &s->slot[slot];
}

static int more_blocks(struct model_session *s, struct slot *t, int n, struct err *e)
{
	if (n > s->nfree)
		return err_set(e, ERR_NOMEM, "the cache of %d x %d positions is full", s->blocks, KV_BLOCK);
	if (vec_grow(t, (size_t)n))
		return err_nomem(e);
	while (n--) {
		int32_t b = s->free[--s->nfree];

		memset(s->kv + (size_t)b * s->stride, 0, s->stride * sizeof(float));
		s->held[b] = 1;
		t->v[t->n++] = b;
	}
	return 0;
}

static void less_blocks(struct model_session *s, struct slot *t, size_t keep)
{
	while (t->n > keep) {
		int32_t b = t->v[--t->n];

		if (!--s->held[b])
			s->free[s->nfree++] = b;
	}
}

static int blocks_for(int length) { return (length + KV_BLOCK - 1) / KV_BLOCK; }

/* Blocks for `n` more positions. */
static int extend(struct model_session *s, struct slot *t, int n, struct err *e)
{
	if (n > s->positions - t->length)
		return err_set(e, ERR_RANGE, "%d tokens after %d: a sequence holds at most %d", n, t->length, s->positions);
	return more_blocks(s, t, blocks_for(t->length + n) - (int)t->n, e);
}

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
		memcpy(s->kv + (size_t)b->v[full] * s->stride, s->kv + (size_t)a->v[full] * s->stride, s->stride * sizeof(float));
	}
	b->length = a->length;
	return 0;
}

void model_drop(struct model_session *s, int slot)
{
	model_trim(s, slot, 0);
}

/* A shared block is never written, so a slot cannot be cut inside one. */
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

/* s->tokens, s->pos and `runs` runs of s->run through all layers; the normed rows are left in
 * pass.xn. */
static void run_rows(struct model_session *s, int rows, int runs)
{
	const struct model *m = s->m;
	const struct raw *embed = &m->raw[MT_EMBED];
	struct attention_cached c = { .H = m->c.H, .HKV = m->c.HKV, .D = m->c.D, .fast = m->fast, .runs = runs, .run = s->run,
				      .kv = s->kv, .stride = s->stride };
	struct model_pass *p = &s->pass;

	p->m = m, p->a = s->a, p->T = rows, p->pos = s->pos, p->cos = s->cos, p->sin = s->sin, p->cached = &c;
	m->ops->embed(m->dev, s->buf.x, embed->data, embed->dt, m->c.C, s->tokens, rows);
	for (int l = 0; l < m->c.L; l++) {
		float *out = s->other;

		layer_forward(p, l, &s->buf, out);
		s->other = s->buf.x;
		s->buf.x = out;
	}
	p->cached = NULL;
	m->ops->rmsnorm(m->dev, p->xn, NULL, s->buf.x, m->norm, rows, m->c.C, m->c.eps);
}

static void head(const struct model_session *s, const float *x, int rows, float *logits)
{
	const struct model *m = s->m;

	m->ops->linear(m->dev, &m->head, &(struct linear){ .M = rows, .x = x, .ldx = (size_t)m->c.C, .y = logits, .ldy = (size_t)m->c.V });
}

/* logp[i] = log p(next[i] | row i) for the rows of the last pass. */
static void row_logprobs(struct model_session *s, const int32_t *next, int rows, float *logp)
{
	const struct model *m = s->m;
	int chunk = MIN(s->rows, model_head_rows(m));

	for (int at = 0; at < rows; at += chunk) {
		int n = MIN(chunk, rows - at);

		head(s, s->pass.xn + (size_t)at * (size_t)m->c.C, n, s->logits);
		m->ops->xent(m->dev, &(struct xent){ .rows = n, .V = m->c.V, .logits = s->logits, .target = next + at, .logp = logp + at });
	}
}

static int check_tokens(const struct model_session *s, const int32_t *tokens, int n, struct err *e)
{
	for (int i = 0; i < n; i++)
		if (tokens[i] < 0 || tokens[i] >= s->m->c.V)
			return err_set(e, ERR_RANGE, "token %d of a vocabulary of %d", tokens[i], s->m->c.V);
	return 0;
}

struct session_batch { int rows, runs; };

/* `n` more tokens of a slot, which has the blocks for them, as rows of the next pass. */
static void add_run(struct model_session *s, struct session_batch *b, struct slot *t, const int32_t *tokens, int n)
{
	for (int i = 0; i < n; i++) {
		s->tokens[b->rows + i] = tokens[i];
		s->pos[b->rows + i] = t->length + i;
	}
	s->run[b->runs++] = (struct kv_run){ .row = b->rows, .rows = n, .length = t->length, .block = t->v };
	b->rows += n;
	t->length += n;
}

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
		run_rows(s, b.rows, b.runs);
		if (logprobs && known)
			row_logprobs(s, tokens + at + 1, known, logprobs + at + 1);
		if (logits && at + rows == n)
			head(s, s->pass.xn + (size_t)(rows - 1) * (size_t)s->m->c.C, 1, logits);
	}
	return 0;
}

/* Blocks for all of them, or for none. */
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

/* The logits after the last row of each run of the last pass. */
static void run_heads(struct model_session *s, int runs, float *logits)
{
	size_t C = (size_t)s->m->c.C;

	for (int i = 0; i < runs; i++)
		memcpy(s->other + (size_t)i * C, s->pass.xn + (size_t)(s->run[i].row + s->run[i].rows - 1) * C, C * sizeof *s->other);
	head(s, s->other, runs, logits);
}

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
			if (model_prefill(s, p[i].slot, p[i].tokens, p[i].n, logits + (size_t)i * (size_t)s->m->c.V, NULL, e))
				return -1;
			i++;
			continue;
		}
		for (; i < n && b.rows + p[i].n <= s->rows; i++)
			add_run(s, &b, get_slot(s, p[i].slot), p[i].tokens, p[i].n);
		run_rows(s, b.rows, b.runs);
		run_heads(s, b.runs, logits + (size_t)first * (size_t)s->m->c.V);
	}
	return 0;
}

int model_decode(struct model_session *s, const int32_t *tokens, const int *slots, int n, float *logits, struct err *e)
{
	struct session_batch b = { 0 };

	if (n < 1 || n > s->o.slots)
		BUG("decode of %d of %d slots", n, s->o.slots);
	if (check_tokens(s, tokens, n, e))
		return -1;
	for (int i = 0; i < n; i++)
		if (extend(s, get_slot(s, slots[i]), 1, e))
			return -1;
	for (int i = 0; i < n; i++)
		add_run(s, &b, get_slot(s, slots[i]), tokens + i, 1);
	run_rows(s, b.rows, b.runs);
	head(s, s->pass.xn, n, logits);
	return 0;
}

float model_logsumexp(const float *x, int V)
{
	struct row_stats r = row_cpu()->exp_stats(x, V);

	return r.max + logf(r.sum);
}
