/* The head: see head.h.
 *
 * Formula: logits = norm(x) W^T, logp = logits[target] - logsumexp(logits); with coefficients c =
 * dLoss/dlogp, dlogits = c (onehot(target) - softmax(logits)). */
#include "model/head.h"

#include <string.h>

#include "base/mem.h"
#include "ops/ops.h"

void head_select(const struct model_pass *p, struct head *h, const int32_t *target, int T)
{
	struct dev *d = p->m->dev;

	h->n = 0;
	h->T = T;
	for (int i = 0; i < T; i++)
		if (target[i] >= 0) {
			h->host.row[h->n] = i;
			h->host.target[h->n++] = target[i];
		}
	dev_put(d, h->dev.row, h->host.row, (size_t)h->n * sizeof *h->dev.row);
	dev_put(d, h->dev.target, h->host.target, (size_t)h->n * sizeof *h->dev.target);
}

void head_norm(const struct model_pass *p, struct head *h, const float *last)
{
	const struct model *m = p->m;

	m->ops->rmsnorm(m->dev, h->normed, h->rstd, last, m->norm, p->T, m->c.C, m->c.eps);
}

/* The gradient of the output projection, which is the embedding's if they are tied. NULL: an
 * adapter is trained. */
static float *head_grad(const struct model_pass *p)
{
	const struct model *m = p->m;

	return p->a ? NULL : slab_f32(p->grads, m->raw[m->c.tied ? MT_EMBED : MT_HEAD].param);
}

/* Rows [at, at + n) of those with a target. If every row has one, they already lie in order. */
static act *chunk_rows(const struct model_pass *p, const struct head *h, int at, int n)
{
	const struct model *m = p->m;

	if (h->n == h->T)
		return act_at(m->dev, h->normed, (size_t)at * (size_t)m->c.C);
	m->ops->gather(m->dev, h->x, h->normed, h->dev.row + at, n, m->c.C);
	return h->x;
}

/* dW += dlogits^T x and dx = dlogits W, scattered into the rows of p->dxn. */
static void chunk_grad(const struct model_pass *p, struct head *h, const act *x, int at, int n)
{
	const struct model *m = p->m;
	size_t C = (size_t)m->c.C, ld = act_in_logits(m->dev, (size_t)m->c.V);
	act *dx = h->n == h->T ? act_at(m->dev, p->dxn, (size_t)at * C) : h->x;
	float *dw = head_grad(p);

	if (dw)
		m->ops->linear_dw(m->dev, dw, m->c.V, m->c.C, h->logits, ld, x, C, n, m->fast);
	m->ops->linear_dx(m->dev, &m->head, &(struct linear){ .M = n, .x = h->logits, .ldx = ld, .y = dx, .ldy = C });
	if (h->n < h->T)
		m->ops->scatter(m->dev, p->dxn, h->x, h->dev.row + at, n, m->c.C);
}

/* to[T] from the n rows that have a value; the others are 0. */
static int scatter(const struct model_pass *p, const struct head *h, float *to, const float *from,
		   float *host, struct err *e)
{
	if (dev_get(p->m->dev, host, from, (size_t)h->n * sizeof *host, e))
		return -1;
	memset(to, 0, (size_t)h->T * sizeof *to);
	for (int i = 0; i < h->n; i++)
		to[h->host.row[i]] = host[i];
	return 0;
}

/* Sends the coefficients of the selected rows to the device. Rows without a target have no
 * gradient. */
static void put_coef(const struct model_pass *p, struct head *h, const float *coef)
{
	for (int i = 0; i < h->n; i++)
		h->host.coef[i] = coef[h->host.row[i]];
	dev_put(p->m->dev, h->dev.coef, h->host.coef, (size_t)h->n * sizeof *coef);
	if (h->n < h->T)
		dev_zero(p->m->dev, p->dxn, (size_t)p->T * (size_t)p->m->c.C * (size_t)dtype_size(p->m->dev->act));
}

int head_run(const struct model_pass *p, struct head *h, const float *coef, float *logp, float *entropy, struct err *e)
{
	const struct model *m = p->m;
	const struct head_rows *r = &h->dev;
	size_t C = (size_t)m->c.C, V = (size_t)m->c.V;

	if (coef)
		put_coef(p, h, coef);
	for (int at = 0; at < h->n; at += h->chunk) {
		int n = MIN(h->chunk, h->n - at);
		act *x = chunk_rows(p, h, at, n);

		m->ops->linear(m->dev, &m->head, &(struct linear){ .M = n, .x = x, .ldx = C, .y = h->logits,
								   .ldy = V, .f32 = 1 });
		m->ops->xent(m->dev, &(struct xent){ .rows = n, .V = m->c.V, .logits = h->logits,
						     .target = r->target + at, .coef = coef ? r->coef + at : NULL,
						     .logp = r->logp + at,
						     .entropy = entropy ? r->entropy + at : NULL });
		if (coef)
			chunk_grad(p, h, x, at, n);
	}
	if ((logp && scatter(p, h, logp, r->logp, h->host.logp, e)) ||
	    (entropy && scatter(p, h, entropy, r->entropy, h->host.entropy, e)))
		return -1;
	/* Waiting lets the caller fill the host's arrays again. */
	return logp ? 0 : dev_check(m->dev, e);
}

void head_norm_grad(const struct model_pass *p, struct head *h, const float *last)
{
	const struct model *m = p->m;

	dev_zero(m->dev, p->dx, (size_t)p->T * (size_t)m->c.C * sizeof(float));
	m->ops->rmsnorm_grad(m->dev, p->dx, p->dxa, p->a ? NULL : slab_f32(p->grads, m->raw[MT_NORM].param),
			     p->dxn, last,
			     h->rstd, m->norm, p->T, m->c.C);
}
