/* The end of the model: final norm, output projection, log-probabilities, and their
 * gradients, a chunk of rows at a time so that all logits never exist. Only rows that have a
 * target are computed. */
#ifndef MODEL_HEAD_H
#define MODEL_HEAD_H

#include "model/model_impl.h"

struct head {
	int chunk;                 /* rows of logits at a time */
	int n, T;                  /* rows with a target, all rows */
	int32_t *row, *target;     /* [n] which row, its target */
	float *coef, *logp, *entropy;   /* [n] gathered */
	float *rstd;               /* [T] of the final norm */
	float *normed;             /* [T, C] */
	float *x;                  /* [chunk, C] gathered rows; then their gradient */
	float *logits;             /* [chunk, V] */
};

void head_select(struct head *h, const int32_t *target, int T);
void head_norm(const struct model_pass *p, struct head *h, const float *last);
/* logp, entropy [T] or NULL. With coef [T]: the head's own gradient is added and p->dxn set
 * to the gradient of the normed rows. */
void head_run(const struct model_pass *p, struct head *h, const float *coef, float *logp, float *entropy);
/* p->dx from p->dxn. */
void head_norm_grad(const struct model_pass *p, struct head *h, const float *last);

#endif
