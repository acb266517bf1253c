/* The end of the model: final norm, output projection, log-probabilities and their gradients. It
 * works on one chunk of rows at a time, so that all logits never exist at once: 4096 rows of a
 * vocabulary of 151936 would be 2.5 GB. Only rows with a target are computed. */
#ifndef MODEL_HEAD_H
#define MODEL_HEAD_H

#include "model/model_impl.h"

/* Buffers of the head; all borrowed from the tape. */
struct head {
	int chunk;                 /* rows of logits computed at a time */
	int n, T;                  /* rows with a target; all rows */
	/* [n] for the rows with a target: row, target, coefficient and results, on device and host */
	struct head_rows {
		int32_t *row, *target;
		float *coef, *logp, *entropy;
	} dev, host;
	float *rstd;               /* [T] reciprocal standard deviations of the final norm */
	act *normed;               /* [T, C] */
	act *x;                    /* [chunk, C] gathered rows, later their gradient */
	float *logits;             /* [chunk, V] */
};

/* Finds the rows that have a target and sends their indices to the device. */
void head_select(const struct model_pass *p, struct head *h, const int32_t *target, int T);
/* Normalises the output of the last layer. */
void head_norm(const struct model_pass *p, struct head *h, const float *last);
/* Computes logp and entropy ([T] or NULL). With coef [T], adds the gradient of the output
 * projection and sets p->dxn to the gradient of the normed rows. */
int head_run(const struct model_pass *p, struct head *h, const float *coef, float *logp, float *entropy, struct err *e);
/* p->dx from p->dxn: back through the final norm. */
void head_norm_grad(const struct model_pass *p, struct head *h, const float *last);

#endif
