/* The head: see head.h. */
#include "model/head.h"

#include <string.h>

#include "base/mem.h"
#include "ops/ops.h"

void head_select(struct head *h, const int32_t *target, int T)
{
	h->n = 0;
	h->T = T;
	for (int i = 0; i < T; i++)
		if (target[i] >= 0) {
			h->row[h->n] = i;
			h->target[h->n++] = target[i];
		}
}

void head_norm(const struct model_pass *p, struct head *h, const float *last)
{
	const struct model *m = p->m;

	m->ops->rmsnorm(m->dev, h->normed, h->rstd, last, m->norm, p->T, m->c.C, m->c.eps);
}

static void gather(const struct head *h, int at, int n, size_t C)
{
	for (int i = 0; i < n; i++)
		memcpy(h->x + (size_t)i * C, h->normed + (size_t)h->row[at + i] * C, C * sizeof(float));
}

static float *head_grad(const struct model_pass *p)
{
	const struct model *m = p->m;

	return p->a ? NULL : slab_f32(p->grads, m->raw[m->c.tied ? MT_EMBED : MT_HEAD].param);
}

/* dW += dlogits^T x;  dx = dlogits W into the rows of p->dxn. */
static void chunk_grad(const struct model_pass *p, struct head *h, int at, int n)
{
	const struct model *m = p->m;
	size_t C = (size_t)m->c.C, V = (size_t)m->c.V;
	float *dw = head_grad(p);

	if (dw)
		m->ops->linear_dw(m->dev, dw, m->c.V, m->c.C, h->logits, V, h->x, C, n, m->fast);
	m->ops->linear_dx(m->dev, &m->head, &(struct linear){ .M = n, .x = h->logits, .ldx = V, .y = h->x, .ldy = C });
	for (int i = 0; i < n; i++)
		memcpy(p->dxn + (size_t)h->row[at + i] * C, h->x + (size_t)i * C, C * sizeof(float));
}

static void scatter(const struct head *h, float *to, const float *from)
{
	if (!to)
		return;
	memset(to, 0, (size_t)h->T * sizeof *to);
	for (int i = 0; i < h->n; i++)
		to[h->row[i]] = from[i];
}

void head_run(const struct model_pass *p, struct head *h, const float *coef, float *logp, float *entropy)
{
	const struct model *m = p->m;
	size_t C = (size_t)m->c.C, V = (size_t)m->c.V;

	if (coef)
		memset(p->dxn, 0, (size_t)p->T * C * sizeof(float));
	for (int i = 0; coef && i < h->n; i++)
		h->coef[i] = coef[h->row[i]];
	for (int at = 0; at < h->n; at += h->chunk) {
		int n = MIN(h->chunk, h->n - at);

		gather(h, at, n, C);
		m->ops->linear(m->dev, &m->head, &(struct linear){ .M = n, .x = h->x, .ldx = C, .y = h->logits, .ldy = V });
		m->ops->xent(m->dev, &(struct xent){ .rows = n, .V = m->c.V, .logits = h->logits, .target = h->target + at,
				.coef = coef ? h->coef + at : NULL, .logp = h->logp + at, .entropy = entropy ? h->entropy + at : NULL });
		if (coef)
			chunk_grad(p, h, at, n);
	}
	scatter(h, logp, h->logp);
	scatter(h, entropy, h->entropy);
}

void head_norm_grad(const struct model_pass *p, struct head *h, const float *last)
{
	const struct model *m = p->m;

	memset(p->dx, 0, (size_t)p->T * (size_t)m->c.C * sizeof(float));
	m->ops->rmsnorm_grad(m->dev, p->dx, p->a ? NULL : slab_f32(p->grads, m->raw[MT_NORM].param), p->dxn, last,
			     h->rstd, m->norm, p->T, m->c.C);
}
