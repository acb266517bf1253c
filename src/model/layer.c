/* One transformer layer, forward and backward side by side.
 *
 *   n1 = rmsnorm(x);  q, k, v = W n1 + b;  rope(norm(q)), rope(norm(k));  a = attention
 *   mid = x + W_o a;  n2 = rmsnorm(mid);  out = mid + W_down (silu(W_gate n2) (W_up n2))
 *
 * with LoRA on any projection: W x + s B A drop(x). Projections that read the same rows share one
 * dropout mask. Normed rows and silu(g) u are not kept: backward computes them again. */
#include "base/mem.h"
#include "model/model_impl.h"

/* A packed weight and the projections that are stacked in it. */
struct proj {
	const struct weight *w;
	const float *bias;
	enum site site;
	int parts;
	struct {
		int lora;              /* index of its LoRA target */
		enum layer_tensor weight, bias;
		int n;                 /* rows of the weight */
	} part[3];
};

/* The projection that reads the rows of a site. */
static struct proj proj_of(const struct model *m, int l, enum site s)
{
	const struct layer *y = &m->layer[l];
	const struct model_config *c = &m->c;
	int q = c->H * c->D, kv = c->HKV * c->D;

	switch (s) {
	case SITE_ATTN:
		return (struct proj){ .w = &y->qkv, .bias = y->qkv_bias, .site = s, .parts = 3,
			.part = { { 0, LT_Q, LT_QB, q }, { 1, LT_K, LT_KB, kv }, { 2, LT_V, LT_VB, kv } } };
	case SITE_O:
		return (struct proj){ .w = &y->o, .bias = y->o_bias, .site = s, .parts = 1,
				      .part = { { 3, LT_O, LT_OB, c->C } } };
	case SITE_MLP:
		return (struct proj){ .w = &y->gu, .bias = y->gu_bias, .site = s, .parts = 2,
			.part = { { 4, LT_GATE, LT_GATEB, c->F }, { 5, LT_UP, LT_UPB, c->F } } };
	default:
		return (struct proj){ .w = &y->down, .bias = y->down_bias, .site = s, .parts = 1,
				      .part = { { 6, LT_DOWN, LT_DOWNB, c->C } } };
	}
}

/* The adapter of a target, NULL: it has none. */
static const struct lora *lora_of(const struct model_pass *p, int l, int target)
{
	const struct lora *a = p->a ? &p->a->layer[l][target] : NULL;

	return a && a->a.n ? a : NULL;
}

static int has_lora(const struct model_pass *p, int l, const struct proj *j)
{
	for (int i = 0; i < j->parts; i++)
		if (lora_of(p, l, j->part[i].lora))
			return 1;
	return 0;
}

/* Every layer and site has a mask of its own; forward and backward draw the same one. */
static struct dropout drop_of(const struct model_pass *p, int l, enum site s)
{
	return (struct dropout){ .seed = p->seed, .place = (uint64_t)l * SITES + s, .p = p->dropout };
}

static float lora_scale(const struct adapter *a)
{
	return a->o.alpha / (float)a->o.r;
}

/* The rows that LoRA reads: x, or x with dropout (in p->drop). */
static const act *dropped(const struct model_pass *p, int l, enum site s, const act *x, int k)
{
	struct dropout o = drop_of(p, l, s);

	if (p->dropout <= 0)
		return x;
	p->m->ops->dropout(p->m->dev, p->drop, x, (size_t)p->T * (size_t)k, &o);
	return p->drop;
}

/* The adapters of a projection whose output (or its gradient) is y[T, n]; residual rows if f32. */
static struct lora_pass lora_pass_of(const struct model_pass *p, int l, const struct proj *j, const act *x,
				     const void *y, int f32, act *u)
{
	const struct dev *d = p->m->dev;
	struct lora_pass lp = { .M = p->T, .x = x, .ldx = (size_t)j->w->k, .ldy = (size_t)j->w->n,
				.f32 = f32, .scale = lora_scale(p->a), .u = u };
	size_t at = 0;

	for (int i = 0; i < j->parts; at += (size_t)j->part[i++].n) {
		const struct lora *a = lora_of(p, l, j->part[i].lora);

		if (!a)
			continue;
		lp.part[lp.parts++] = (struct lora_part){ .a = &a->a, .b = &a->b, .at = lp.ldu, .y = f32 ?
							  (float *)(uintptr_t)y + at : act_at(d, y, at) };
		lp.ldu += (size_t)a->a.n;
	}
	return lp;
}

/* y[T, n] = x W^T + bias (+ add), then y += s B A drop(x) if there is an adapter. With `add`, y
 * is residual rows, else activations. */
static void proj_forward(const struct model_pass *p, int l, enum site s, const act *x, void *y,
			 const float *add, struct layer_buf *b)
{
	const struct model *m = p->m;
	struct proj j = proj_of(m, l, s);
	size_t n = (size_t)j.w->n, k = (size_t)j.w->k;
	struct lora_pass lp;

	m->ops->linear(m->dev, j.w, &(struct linear){ .M = p->T, .x = x, .ldx = k, .y = y, .ldy = n,
						      .f32 = add != NULL, .bias = j.bias,
						      .add = add, .ldadd = n });
	if (!has_lora(p, l, &j))
		return;
	lp = lora_pass_of(p, l, &j, dropped(p, l, s, x, j.w->k), y, add != NULL, b->u[s]);
	lp.later = s == SITE_MLP;
	m->ops->lora(m->dev, &lp);
}

/* Whether the gradients of the stacked parts are neighbours in memory; one product then computes
 * them all. */
static int adjacent(const struct model_pass *p, const struct raw *raw, const struct proj *j)
{
	for (int i = 0; i + 1 < j->parts; i++) {
		const struct raw *a = &raw[j->part[i].weight], *b = &raw[j->part[i + 1].weight];

		if (slab_f32(p->grads, a->param) + (size_t)a->rows * (size_t)a->cols != slab_f32(p->grads, b->param))
			return 0;
	}
	return 1;
}

/* Weight and bias gradients of one part, for full training. */
static void part_grad(const struct model_pass *p, const struct raw *w, const struct raw *bias, const act *dy,
		      size_t lddy, const act *x)
{
	const struct model *m = p->m;

	m->ops->linear_dw(m->dev, slab_f32(p->grads, w->param), w->rows, w->cols, dy, lddy, x,
			  (size_t)w->cols, p->T, m->fast);
	if (bias->rows)
		m->ops->bias_grad(m->dev, slab_f32(p->grads, bias->param), dy, lddy, p->T, bias->rows);
}

/* Gradients of the adapters of a projection. dx (NULL: not wanted) is added to. */
static void lora_backward(const struct model_pass *p, int l, const struct proj *j, const act *x,
			  const act *dy, act *dx, struct layer_buf *b)
{
	const struct model *m = p->m;
	size_t n = (size_t)p->T * (size_t)j->w->k;
	struct dropout o = drop_of(p, l, j->site);
	int direct = p->dropout <= 0;
	struct lora_pass lp = lora_pass_of(p, l, j, dropped(p, l, j->site, x, j->w->k), dy, 0, b->u[j->site]);

	for (int i = 0, k = 0; i < j->parts; i++) {
		const struct lora *a = lora_of(p, l, j->part[i].lora);

		if (a)
			lp.part[k].da = slab_f32(p->grads, a->pa), lp.part[k++].db = slab_f32(p->grads, a->pb);
	}
	lp.du = p->du;
	lp.dx = !dx || direct ? dx : act_at(m->dev, p->drop, n);
	lp.add = direct;
	lp.later = direct && j->site == SITE_DOWN;
	m->ops->lora_grad(m->dev, &lp);
	if (dx && !direct)
		m->ops->dropout_grad(m->dev, dx, lp.dx, n, &o);
}

/* From dy[T, n]: parameter gradients, and dx[T, k] (NULL: not wanted). */
static void proj_backward(const struct model_pass *p, int l, enum site s, const act *x, const act *dy,
			  act *dx, struct layer_buf *b)
{
	const struct model *m = p->m;
	const struct raw *raw = m->layer[l].raw;
	struct proj j = proj_of(m, l, s);
	size_t n = (size_t)j.w->n, k = (size_t)j.w->k, at = 0;

	if (dx)
		m->ops->linear_dx(m->dev, j.w, &(struct linear){ .M = p->T, .x = dy, .ldx = n, .y = dx, .ldy = k });
	if (!p->a && j.parts > 1 && adjacent(p, raw, &j))
		m->ops->linear_dw(m->dev, slab_f32(p->grads, raw[j.part[0].weight].param), j.w->n, j.w->k,
				  dy, n, x, k, p->T, m->fast);
	else if (!p->a)
		for (int i = 0; i < j.parts; at += (size_t)j.part[i++].n)
			part_grad(p, &raw[j.part[i].weight], &raw[j.part[i].bias], act_at(m->dev, dy, at), n, x);
	else if (has_lora(p, l, &j))
		lora_backward(p, l, &j, x, dy, dx, b);
}

/* --- attention ---------------------------------------------------------------------------- */

/* Query and key rows for RoPE and, in Qwen3, their norms and the norms' gradients. */
static struct qk qk_of(const struct model_pass *p, int l, struct layer_buf *b)
{
	const struct model *m = p->m;
	const struct layer *y = &m->layer[l];
	struct qk a = { .T = p->T, .H = m->c.H, .HKV = m->c.HKV, .D = m->c.D, .qkv = b->qkv, .eps = m->c.eps,
			.cos = p->cos, .sin = p->sin, .pos = p->pos };

	if (m->c.qk_norm)
		a.qw = y->qn, a.kw = y->kn, a.raw = b->qk_raw, a.rstd = b->qk_rstd;
	if (p->grads && !p->a && m->c.qk_norm)
		a.dqw = slab_f32(p->grads, y->raw[LT_QN].param), a.dkw = slab_f32(p->grads, y->raw[LT_KN].param);
	return a;
}

/* Over the cache when sampling, over the pack when training. */
static void attend(const struct model_pass *p, int l, struct layer_buf *b)
{
	const struct model *m = p->m;
	const struct model_config *c = &m->c;

	if (p->cached) {
		struct attention_cached a = *p->cached;

		a.qkv = b->qkv;
		a.out = b->att;
		a.kv += (size_t)l * a.layer;
		m->ops->attention_cached(m->dev, &a);
	} else
		m->ops->attention(m->dev, &(struct attention){ .H = c->H, .HKV = c->HKV, .D = c->D,
							       .fast = m->fast, .T = p->T,
				.sequences = p->sequences, .longest = p->longest, .start = p->start,
				.prefix = p->prefix, .qkv = b->qkv,
				.out = b->att, .lse = b->lse });
}

/* --- feed-forward ----------------------------------------------------------------------- */

/* The adapters of a site as its own op got them: swiglu adds their product itself. NULL: none. */
static const struct lora_pass *later(const struct model_pass *p, int l, enum site s, const act *y,
				     struct layer_buf *b, struct lora_pass *room)
{
	struct proj j = proj_of(p->m, l, s);

	if (!has_lora(p, l, &j))
		return NULL;
	*room = lora_pass_of(p, l, &j, NULL, y, 0, b->u[s]);
	room->later = 1;
	return room;
}

static void swiglu(const struct model_pass *p, int l, struct layer_buf *b)
{
	struct lora_pass room;

	p->m->ops->swiglu(p->m->dev, &(struct swiglu){ .T = p->T, .F = p->m->c.F, .gu = b->gu, .h = p->h,
						       .lora = later(p, l, SITE_MLP, b->gu, b, &room) });
}

/* The gradient takes the memory of gate and up. */
static void swiglu_grad(const struct model_pass *p, int l, struct layer_buf *b)
{
	struct lora_pass mlp, down;
	struct swiglu s = { .T = p->T, .F = p->m->c.F, .gu = b->gu, .dh = p->dh, .dgu = b->gu,
			    .lora = later(p, l, SITE_MLP, b->gu, b, &mlp) };

	if (p->dropout <= 0 && later(p, l, SITE_DOWN, p->dxa, b, &down)) {
		down.du = p->du, down.dx = p->dh;
		s.down = &down;
	}
	p->m->ops->swiglu_grad(p->m->dev, &s);
}

void layer_forward(const struct model_pass *p, int l, struct layer_buf *b, float *out)
{
	const struct model *m = p->m;
	const struct layer *y = &m->layer[l];
	struct qk qk = qk_of(p, l, b);

	m->ops->rmsnorm(m->dev, p->xn, b->rstd1, b->x, y->norm1, p->T, m->c.C, m->c.eps);
	proj_forward(p, l, SITE_ATTN, p->xn, b->qkv, NULL, b);
	m->ops->qk_rope(m->dev, &qk);
	attend(p, l, b);
	proj_forward(p, l, SITE_O, b->att, b->mid, b->x, b);
	m->ops->rmsnorm(m->dev, p->xn, b->rstd2, b->mid, y->norm2, p->T, m->c.C, m->c.eps);
	proj_forward(p, l, SITE_MLP, p->xn, b->gu, NULL, b);
	swiglu(p, l, b);
	proj_forward(p, l, SITE_DOWN, p->h, out, b->mid, b);
}

/* The gradient of a norm's weight, NULL if an adapter is trained. */
static float *norm_grad_of(const struct model_pass *p, int l, enum layer_tensor t)
{
	return p->a ? NULL : slab_f32(p->grads, p->m->layer[l].raw[t].param);
}

/* Computes silu(g) u and the normed rows again, then goes back through down, swiglu, gate and up,
 * and the norm. */
static void mlp_backward(const struct model_pass *p, int l, struct layer_buf *b)
{
	const struct model *m = p->m;
	const struct layer *y = &m->layer[l];

	swiglu(p, l, b);
	proj_backward(p, l, SITE_DOWN, p->h, p->dxa, p->dh, b);
	swiglu_grad(p, l, b);
	m->ops->rmsnorm(m->dev, p->xn, NULL, b->mid, y->norm2, p->T, m->c.C, m->c.eps);
	proj_backward(p, l, SITE_MLP, p->xn, b->gu, p->dxn, b);
	m->ops->rmsnorm_grad(m->dev, p->dx, p->dxa, norm_grad_of(p, l, LT_NORM2), p->dxn, b->mid, b->rstd2,
			     y->norm2, p->T, m->c.C);
}

void layer_backward(const struct model_pass *p, int l, struct layer_buf *b, int want_dx)
{
	const struct model *m = p->m;
	const struct model_config *c = &m->c;
	const struct layer *y = &m->layer[l];
	struct qk qk = qk_of(p, l, b);

	mlp_backward(p, l, b);
	proj_backward(p, l, SITE_O, b->att, p->dxa, p->datt, b);
	m->ops->attention_grad(m->dev, &(struct attention){ .H = c->H, .HKV = c->HKV, .D = c->D,
							    .fast = m->fast, .T = p->T,
			.sequences = p->sequences, .longest = p->longest, .start = p->start,
			.prefix = p->prefix, .qkv = b->qkv,
			.out = b->att, .lse = b->lse, .dout = p->datt, .dqkv = p->dwide });
	m->ops->qk_rope_grad(m->dev, &qk, p->dwide);
	m->ops->rmsnorm(m->dev, p->xn, NULL, b->x, y->norm1, p->T, c->C, c->eps);
	proj_backward(p, l, SITE_ATTN, p->xn, p->dwide, want_dx ? p->dxn : NULL, b);
	if (want_dx)
		m->ops->rmsnorm_grad(m->dev, p->dx, p->dxa, norm_grad_of(p, l, LT_NORM1), p->dxn, b->x,
				     b->rstd1, y->norm1, p->T, c->C);
}
