/* The end of the model: final norm, output projection, log-probabilities, and their
 * gradients, a chunk of rows at a time so that all logits never exist. Only rows that have a
 * target are computed. */
#ifndef MODEL_HEAD_H
#define MODEL_HEAD_H

#include "model/model_impl.h"

struct head {
	int chunk;                 /* rows of logits at a time */
	int n, T;                  /* rows with a target, all rows */
	/* [n] gathered: which row, its target; in the device's memory, and the same in the host's */
	struct head_rows {
		int32_t *row, *target;
		float *coef, *logp, *entropy;
	} dev, host;
	float *rstd;               /* [T] of the final norm */
	act *normed;               /* [T, C] */
	act *x;                    /* [chunk, C] gathered rows; then their gradient */
	float *logits;             /* [chunk, V] */
};

void head_select(const struct model_pass *p, struct head *h, const int32_t *target, int T);
void head_norm(const struct model_pass *p, struct head *h, const float *last);
/* logp, entropy [T] or NULL. With coef [T]: the head's own gradient is added and p->dxn set
 * to the gradient of the normed rows. */
int head_run(const struct model_pass *p, struct head *h, const float *coef, float *logp, float *entropy, struct err *e);
/* p->dx from p->dxn. */
void head_norm_grad(const struct model_pass *p, struct head *h, const float *last);

#endif
