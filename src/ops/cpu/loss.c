/* Cross-entropy of rows of logits: log-probability of the target, entropy, gradient. */
#include <math.h>

#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"
#include "ops/cpu/row.h"

/* One row: logp = l[target] - lse, entropy = lse - sum(p l), and with a coefficient the gradient
 * coef (onehot - p), in place of the logits. */
static void xent_row(const struct xent *x, const struct row_kernels *k, size_t i)
{
	float *l = x->logits + i * (size_t)x->V;
	struct row_stats s = k->exp_stats(l, x->V);
	float lse = s.max + logf(s.sum);

	x->logp[i] = l[x->target[i]] - lse;
	if (x->entropy)
		x->entropy[i] = lse - s.weighted / s.sum;
	if (!x->coef)
		return;
	k->xent_grad(l, x->V, lse, x->coef[i]);
	l[x->target[i]] += x->coef[i];
}

static void xent_rows(void *ctx, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		xent_row(ctx, row_cpu(), i);
}

void cpu_xent(struct dev *d, const struct xent *x)
{
	struct xent c = *x;

	pool_for(d->pool, (size_t)x->rows, (size_t)MAX(1, 4096 / x->V), xent_rows, &c);
}
