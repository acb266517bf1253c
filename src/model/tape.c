/* Tapes: activations, gradients, and the walk through the layers. See tape.h.
 *
 * All memory is listed and allocated once in tape_new; forward and backward allocate nothing. */
#include "model/tape.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/head.h"
#include "model/model_impl.h"

/* Owned, except m and a. */
struct tape {
	struct model *m;
	struct adapter *a;
	struct tape_opts o;
	int training;                  /* dropout is on */
	uint64_t step;
	struct slab slab, grads;       /* activations; gradients of what is trained */
	struct layer_buf *layer;       /* [L]; with recompute all buffers but x are shared */
	float *last;                   /* [T, C] output of the last layer */
	float *again;                  /* [T, C] recompute: an output that nobody reads */
	float *cos, *sin;
	struct tape_rows {
		int32_t *pos, *tokens, *start, *prefix;
	} dev, host;                   /* the pack, on the device and on the host */
	char *host_memory;             /* memory of all host arrays */
	size_t host_bytes;
	struct head head;
	struct model_pass pass;
	enum dtype act;                /* dtype of activations */
	int T, sequences, longest;
	int shares;                    /* some sequence continues another one */
	int ran, head_done;            /* forward ran; it had coefficients */
	int next;                      /* second walk: next entry of `slab` */
};

/* --- memory ----------------------------------------------------------------------------- */

/* First walk (no memory yet): adds an entry. Second walk: gives its address. */
static int take(struct tape *t, void *to, enum dtype dt, int64_t rows, int64_t cols, int l, const char *what,
		struct err *e)
{
	int64_t shape[2] = { rows, cols };

	if (t->slab.data) {
		void *p = slab_at(&t->slab, t->next++);

		memcpy(to, &p, sizeof p);
		return 0;
	}
	return l < 0 ? slab_add(&t->slab, dt, 2, shape, e, "%s", what) < 0
		     : slab_add(&t->slab, dt, 2, shape, e, "layer.%d.%s", l, what) < 0;
}

/* A buffer of max_tokens rows; none if cols is 0. */
static int rows_f32(struct tape *t, float **to, int64_t cols, int l, const char *what, struct err *e)
{
	return cols ? take(t, to, DT_F32, t->o.max_tokens, cols, l, what, e) : 0;
}

/* The same in the dtype of activations. */
static int rows_act(struct tape *t, act **to, int64_t cols, int l, const char *what, struct err *e)
{
	return cols ? take(t, to, t->act, t->o.max_tokens, cols, l, what, e) : 0;
}

/* Reserves the buffers that a layer saves for backward, all except its input. */
static int take_layer(struct tape *t, struct layer_buf *b, int l, struct err *e)
{
	const struct model_config *c = &t->m->c;
	int heads = c->qk_norm ? c->H + c->HKV : 0;

	if (rows_f32(t, &b->mid, c->C, l, "mid", e) || rows_f32(t, &b->rstd1, 1, l, "rstd1", e) ||
	    rows_f32(t, &b->rstd2, 1, l, "rstd2", e) || rows_act(t, &b->qkv, (c->H + 2 * c->HKV) * c->D, l, "qkv", e) ||
	    rows_act(t, &b->qk_raw, heads * c->D, l, "qk_raw", e) || rows_f32(t, &b->qk_rstd, heads, l, "qk_rstd", e) ||
	    rows_act(t, &b->att, c->H * c->D, l, "att", e) || rows_f32(t, &b->lse, c->H, l, "lse", e) ||
	    rows_act(t, &b->gu, 2 * c->F, l, "gate_up", e))
		return -1;
	for (int s = 0; s < SITES; s++)
		if (rows_act(t, &b->u[s], lora_site_rank(t->a, MAX(l, 0), (enum site)s), l, "lora_u", e))
			return -1;
	return 0;
}

/* Buffers that all layers share, gradients of rows included. */
static int take_work(struct tape *t, struct err *e)
{
	const struct model_config *c = &t->m->c;
	struct model_pass *p = &t->pass;
	int qkv = (c->H + 2 * c->HKV) * c->D, widest = MAX(MAX(c->C, c->F), c->H * c->D);
	int drop = t->a && t->a->o.dropout > 0 ? 2 * widest : 0;

	return rows_f32(t, &t->last, c->C, -1, "last", e) || rows_f32(t, &t->again, t->o.recompute ? c->C :
								      0, -1, "again", e) ||
	       take(t, &t->cos, DT_F32, t->o.max_tokens, c->D / 2, -1, "cos", e) ||
	       take(t, &t->sin, DT_F32, t->o.max_tokens, c->D / 2, -1, "sin", e) ||
	       take(t, &t->dev.pos, DT_I32, t->o.max_tokens, 1, -1, "pos", e) ||
	       take(t, &t->dev.tokens, DT_I32, t->o.max_tokens, 1, -1, "tokens", e) ||
	       take(t, &t->dev.start, DT_I32, t->o.max_tokens + 1, 1, -1, "start", e) ||
	       take(t, &t->dev.prefix, DT_I32, t->o.max_tokens, 1, -1, "prefix", e) ||
	       rows_act(t, &p->xn, c->C, -1, "normed", e) || rows_act(t, &p->h, c->F, -1, "h", e) ||
	       rows_act(t, &p->drop, drop, -1, "dropped", e) || rows_f32(t, &p->dx, c->C, -1, "dx", e) ||
	       rows_act(t, &p->dxa, t->act == DT_F32 ? 0 : c->C, -1, "dx as activations", e) ||
	       rows_act(t, &p->dxn, c->C, -1, "dnormed", e) || rows_act(t, &p->dwide, qkv, -1, "dqkv", e) ||
	       rows_act(t, &p->datt, c->H * c->D, -1, "datt", e) || rows_act(t, &p->dh, c->F, -1, "dh", e) ||
	       rows_act(t, &p->du, t->a ? LORA_PARTS * t->a->o.r : 0, -1, "du", e);
}

/* Buffers of the head; logits for one chunk of rows only. */
static int take_head(struct tape *t, struct err *e)
{
	const struct model_config *c = &t->m->c;
	struct head *h = &t->head;
	int64_t n = MIN(model_head_rows(t->m), t->o.max_tokens), T = t->o.max_tokens;

	h->chunk = (int)n;
	return take(t, &h->rstd, DT_F32, T, 1, -1, "head.rstd", e) || take(t, &h->dev.row, DT_I32, T, 1,
			-1, "head.row", e) ||
	       take(t, &h->dev.target, DT_I32, T, 1, -1, "head.target", e) || take(t, &h->dev.coef, DT_F32,
			       T, 1, -1, "head.coef", e) ||
	       take(t, &h->dev.logp, DT_F32, T, 1, -1, "head.logp", e) || take(t, &h->dev.entropy, DT_F32,
			       T, 1, -1, "head.entropy", e) ||
	       take(t, &h->x, t->act, n, c->C, -1, "head.x", e) || take(t, &h->logits, DT_F32, n, c->V,
									-1, "head.logits", e) ||
	       take(t, &h->normed, t->act, T, c->C, -1, "head.normed", e);
}

/* With recompute only the inputs of the layers are kept; one set of buffers serves all layers. */
static int take_all(struct tape *t, struct err *e)
{
	for (int l = 0; l < t->m->c.L; l++) {
		if (rows_f32(t, &t->layer[l].x, t->m->c.C, l, "x", e) ||
		    (!t->o.recompute && take_layer(t, &t->layer[l], l, e)))
			return -1;
	}
	if (t->o.recompute && take_layer(t, &t->layer[0], -1, e))
		return -1;
	return take_work(t, e) || take_head(t, e) ? -1 : 0;
}

/* Arrays of 4-byte values that the host fills or reads, from one block. */
static int take_host(struct tape *t, struct err *e)
{
	struct head_rows *h = &t->head.host;
	void *to[] = { &t->host.pos, &t->host.tokens, &t->host.start, &t->host.prefix, &h->row, &h->target,
		       &h->coef, &h->logp, &h->entropy };
	size_t each = ((size_t)t->o.max_tokens + 1) * 4;

	t->host_bytes = COUNT_OF(to) * each;
	if (!(t->host_memory = dev_host_alloc(t->m->dev, t->host_bytes, e)))
		return -1;
	for (size_t i = 0; i < COUNT_OF(to); i++) {
		void *p = t->host_memory + i * each;

		memcpy(to[i], &p, sizeof p);
	}
	return 0;
}

/* All layers take the buffers of layer 0 but keep their own input. */
static void share_layer(struct tape *t)
{
	for (int l = 1; l < t->m->c.L; l++) {
		float *x = t->layer[l].x;

		t->layer[l] = t->layer[0];
		t->layer[l].x = x;
	}
}

/* Lists everything. If the device has no room for it, switches to recompute and lists again. */
static int list_all(struct tape *t, struct err *e)
{
	size_t room = dev_available(t->m->dev), want;

	if (take_all(t, e))
		return -1;
	want = t->slab.bytes;
	if (t->o.recompute || want <= room)
		return 0;
	log_info("activations of %d tokens take %.1f GiB and %.1f are free: layers are computed again in backward",
		 t->o.max_tokens, (double)want / (1 << 30), (double)room / (1 << 30));
	slab_release(&t->slab);
	slab_init(&t->slab, t->m->dev, "activations");
	t->o.recompute = 1;
	return take_all(t, e);
}

struct tape *tape_new(struct model *m, struct adapter *a, const struct tape_opts *o, struct err *e)
{
	struct tape *t;

	if (!a && !m->o.trainable) {
		err_set(e, ERR_USAGE, "without an adapter only a model opened as trainable can be trained");
		return NULL;
	}
	if (o->max_tokens < 1 || o->max_tokens > 1 << 26) {
		err_set(e, ERR_RANGE, "a pack cannot have %d tokens", o->max_tokens);
		return NULL;
	}
	if (!(t = mem_zalloc(sizeof *t)) || !(t->layer = mem_array((size_t)m->c.L, sizeof *t->layer))) {
		mem_free(t);
		err_nomem(e);
		return NULL;
	}
	t->m = m, t->a = a, t->o = *o, t->training = 1;
	t->act = m->dev->act;
	slab_init(&t->slab, m->dev, "activations");
	if (list_all(t, e) || slab_alloc(&t->slab, e) || take_all(t, e) || take_host(t, e) ||
	    slab_like(&t->grads, tape_params(t), DT_F32, "gradients", e) ||
	    model_reserve(m, o->max_tokens, o->max_tokens, 0, a ? LORA_PARTS * a->o.r : 0, e) ||
	    model_put_rope(m, t->cos, t->sin, o->max_tokens, e)) {
		tape_free(t);
		return NULL;
	}
	if (t->act == DT_F32)
		t->pass.dxa = t->pass.dx;
	if (t->o.recompute)
		share_layer(t);
	return t;
}

/* Walks the list with a model and an adapter that have only sizes. */
size_t tape_measure(const struct model_config *c, const struct adapter_opts *lora, const struct tape_opts *o,
		    enum dtype rows, struct err *e)
{
	struct dev d = { .kind = rows == DT_F32 ? DEV_CPU : DEV_CUDA, .act = rows };
	struct model m = { .c = *c, .dev = &d };
	struct adapter a = { .m = &m };
	struct tape t = { .m = &m, .o = *o, .act = rows };
	size_t bytes = 0;

	t.layer = mem_array((size_t)c->L, sizeof *t.layer);
	a.layer = mem_array((size_t)c->L, sizeof *a.layer);
	slab_init(&t.slab, NULL, "activations");
	if (lora) {
		t.a = &a;
		a.o = *lora;
	}
	for (int l = 0; a.layer && lora && l < c->L; l++)
		for (int i = 0; i < LORA_TARGETS; i++)
			a.layer[l][i].a.n = lora->targets & (1u << i) ? lora->r : 0;
	if (!t.layer || !a.layer)
		err_nomem(e);
	else if (!take_all(&t, e))
		bytes = t.slab.bytes;
	slab_release(&t.slab);
	mem_free(t.layer);
	mem_free(a.layer);
	return bytes;
}

void tape_free(struct tape *t)
{
	if (!t)
		return;
	dev_host_free(t->m->dev, t->host_memory, t->host_bytes);
	slab_release(&t->slab);
	slab_release(&t->grads);
	mem_free(t->layer);
	mem_free(t);
}

/* --- the walk ------------------------------------------------------------------------------ */

/* Rows in front of sequence s that belong to the sequence it continues. */
static int rows_before(const struct model_batch *b, int s)
{
	int p = b->prefix ? b->prefix[s] : -1;

	return p < 0 ? 0 : b->start[p + 1] - b->start[p];
}

/* Sequences that continue another one follow it directly, and that one continues none. */
static int check_prefix(const struct model_batch *b, int s, struct err *e)
{
	int p = b->prefix ? b->prefix[s] : -1;

	if (p >= s || p < -1 || (p >= 0 && (b->prefix[p] >= 0 || (s - 1 != p && b->prefix[s - 1] != p))))
		return err_set(e, ERR_RANGE, "sequence %d of a pack cannot continue sequence %d", s, p);
	return 0;
}

/* Everything a caller could get wrong about a pack, before any kernel sees it. */
static int check_batch(const struct tape *t, const struct model_batch *b, struct err *e)
{
	if (b->T < 1 || b->T > t->o.max_tokens)
		return err_set(e, ERR_RANGE, "a pack of %d tokens, the tape holds %d", b->T, t->o.max_tokens);
	if (b->sequences < 1 || b->start[0] != 0 || b->start[b->sequences] != b->T)
		return err_set(e, ERR_RANGE, "the sequences of a pack do not cover it");
	for (int s = 0; s < b->sequences; s++) {
		if (b->start[s + 1] <= b->start[s] || b->start[s + 1] > b->T)
			return err_set(e, ERR_RANGE, "sequence %d of a pack is empty", s);
		if (check_prefix(b, s, e))
			return -1;
		if (rows_before(b, s) + b->start[s + 1] - b->start[s] > t->m->c.max_position)
			return err_set(e, ERR_RANGE, "a sequence of %d tokens, the model has %d positions",
				       rows_before(b, s) + b->start[s + 1] - b->start[s], t->m->c.max_position);
	}
	for (int i = 0; i < b->T; i++)
		if (b->tokens[i] < 0 || b->tokens[i] >= t->m->c.V || b->target[i] >= t->m->c.V)
			return err_set(e, ERR_RANGE, "token %d or target %d is outside the vocabulary of %d",
				       b->tokens[i], b->target[i], t->m->c.V);
	return 0;
}

/* Sends tokens, positions and sequence starts to the device. A sequence that continues another
 * one starts at that one's length: 100 rows after a prompt of 40 have the positions 40 to 139. */
static void copy_batch(struct tape *t, const struct model_batch *b)
{
	struct dev *d = t->m->dev;
	size_t rows = (size_t)b->T * sizeof(int32_t), starts = ((size_t)b->sequences + 1) * sizeof(int32_t);

	t->longest = t->shares = 0;
	for (int s = 0; s < b->sequences; s++) {
		int before = rows_before(b, s);

		t->longest = MAX(t->longest, before + b->start[s + 1] - b->start[s]);
		for (int i = b->start[s]; i < b->start[s + 1]; i++)
			t->host.pos[i] = before + i - b->start[s];
		t->host.prefix[s] = b->prefix ? b->prefix[s] : -1;
		t->shares |= before > 0;
	}
	memcpy(t->host.tokens, b->tokens, rows);
	memcpy(t->host.start, b->start, starts);
	dev_put(d, t->dev.pos, t->host.pos, rows);
	dev_put(d, t->dev.tokens, t->host.tokens, rows);
	dev_put(d, t->dev.start, t->host.start, starts);
	if (t->shares)
		dev_put(d, t->dev.prefix, t->host.prefix, starts - sizeof(int32_t));
	t->T = b->T;
	t->sequences = b->sequences;
}

/* The seed of the dropout masks mixes the tape's seed and the step. */
static void set_pass(struct tape *t)
{
	struct model_pass *p = &t->pass;

	p->m = t->m, p->a = t->a;
	p->T = t->T, p->pos = t->dev.pos, p->cos = t->cos, p->sin = t->sin;
	p->sequences = t->sequences, p->longest = t->longest, p->start = t->dev.start;
	p->prefix = t->shares ? t->dev.prefix : NULL;
	p->dropout = t->training && t->a ? t->a->o.dropout : 0;
	p->seed = t->o.seed * 0x9E3779B97F4A7C15u + t->step;
	p->grads = &t->grads;
}

/* Layer l writes the input of the next one. */
static float *output_of(struct tape *t, int l)
{
	return l + 1 < t->m->c.L ? t->layer[l + 1].x : t->last;
}

/* Any error leaves the tape without a forward, so that tape_backward refuses. */
int tape_forward(struct tape *t, const struct model_batch *b, const float *coef, float *logp, float *entropy,
		 struct err *e)
{
	struct model *m = t->m;

	t->ran = 0;
	if (check_batch(t, b, e))
		return -1;
	copy_batch(t, b);
	set_pass(t);
	m->ops->embed(m->dev, t->layer[0].x, m->embed, m->raw[MT_EMBED].dt, m->c.C, t->dev.tokens, t->T);
	for (int l = 0; l < m->c.L; l++)
		layer_forward(&t->pass, l, &t->layer[l], output_of(t, l));
	head_select(&t->pass, &t->head, b->target, t->T);
	head_norm(&t->pass, &t->head, t->last);
	if (head_run(&t->pass, &t->head, coef, logp, entropy, e))
		return -1;
	t->ran = 1;
	t->head_done = coef != NULL;
	return 0;
}

/* From the head back to the embedding. The first layer's input needs no gradient if only an
 * adapter is trained. */
int tape_backward(struct tape *t, const float *coef, struct err *e)
{
	struct model *m = t->m;
	struct model_pass *p = &t->pass;

	if (!t->ran || !coef == !t->head_done)
		return err_set(e, ERR_STATE,
			       "tape_backward needs a forward and coefficients from one of the two calls");
	if (coef && head_run(p, &t->head, coef, NULL, NULL, e))
		return -1;
	head_norm_grad(p, &t->head, t->last);
	for (int l = m->c.L - 1; l >= 0; l--) {
		if (t->o.recompute)
			layer_forward(p, l, &t->layer[l], t->again);
		layer_backward(p, l, &t->layer[l], l > 0 || !t->a);
	}
	if (!t->a)
		m->ops->embed_grad(m->dev, slab_f32(&t->grads, m->raw[MT_EMBED].param), p->dx, m->c.C,
				   t->host.tokens, t->T);
	t->ran = 0;
	return 0;
}

/* --- small things ---------------------------------------------------------------------------- */

void tape_set_training(struct tape *t, int training) { t->training = training; }
void tape_set_step(struct tape *t, uint64_t step) { t->step = step; }
struct slab *tape_params(struct tape *t) { return t->a ? &t->a->params : &t->m->params; }
struct slab *tape_grads(struct tape *t) { return &t->grads; }
void tape_zero_grads(struct tape *t) { slab_zero(&t->grads); }
struct model *tape_model(const struct tape *t) { return t->m; }

/* The Euclidean norm over all parameters, summed on the device. */
double tape_grad_norm(const struct tape *t)
{
	double s;

	/* The padding between entries is zero, so the whole slab can be summed. */
	t->m->ops->sumsq(t->m->dev, &s, (const float *)(const void *)t->grads.data, t->grads.bytes / sizeof(float));
	return sqrt(s);
}

void tape_updated(struct tape *t)
{
	if (t->a)
		adapter_updated(t->a);
	else
		model_updated(t->m);
}

void tape_table(const struct tape *t, struct buf *out)
{
	const struct slab *all[] = { t->a ? &t->a->params : &t->m->params, &t->grads, &t->slab };

	model_table(t->m, out);
	slab_table(out, all, COUNT_OF(all));
}
