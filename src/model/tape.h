/* Training: forward and backward over a pack of sequences.
 *
 * A tape owns the activations and the gradients of what is trained: an adapter, or all parameters
 * of a model opened as trainable. Gradients add up until tape_zero_grads, so that accumulation
 * means calling forward and backward several times.
 *
 *     tape_forward(t, &b, coef, logp, NULL, e);   // coef[i] = dLoss/dlogp[i]
 *     tape_backward(t, NULL, e);
 * or, if the coefficients depend on the log-probabilities (GRPO):
 *     tape_forward(t, &b, NULL, logp, entropy, e);
 *     ... coef from logp ...
 *     tape_backward(t, coef, e);                  // computes the head's logits once more */
#ifndef MODEL_TAPE_H
#define MODEL_TAPE_H

#include "model/model.h"

struct tape;

struct tape_opts {
	int max_tokens;            /* T of the largest pack */
	/* keep only the input of each layer and compute the rest again in backward */
	int recompute;
	uint64_t seed;             /* of dropout */
};

/* A pack: sequences one behind the other. Token i of sequence s has position i - start[s] and
 * sees only its own sequence. logp[i] is log p(target[i] | tokens up to i). Target -1 means none:
 * logp[i] is 0 and the head is not computed for the row. */
struct model_batch {
	int T;
	const int32_t *tokens;     /* [T] */
	const int32_t *target;     /* [T]; usually the next token */
	int sequences;
	const int32_t *start;      /* [sequences + 1], start[0] = 0, start[sequences] = T */
	/* [sequences] or NULL: the sequence that this one continues, or -1; see struct attention */
	const int32_t *prefix;
};

/* Trains `a`, or the model itself if `a` is NULL. */
struct tape *tape_new(struct model *m, struct adapter *a, const struct tape_opts *o, struct err *e);
void tape_free(struct tape *t);
/* Bytes of activations that tape_new would allocate, without a model; 0 on error. `lora` NULL:
 * full training. `rows` is the dtype of activations (dev.act). */
size_t tape_measure(const struct model_config *c, const struct adapter_opts *lora, const struct tape_opts *o,
		    enum dtype rows, struct err *e);

/* logp and entropy are [T] or NULL. */
int tape_forward(struct tape *t, const struct model_batch *b, const float *coef,
		 float *logp, float *entropy, struct err *e);
/* Adds dLoss/dparameter to the gradients. `coef` is NULL if tape_forward had it. */
int tape_backward(struct tape *t, const float *coef, struct err *e);

/* 0 switches dropout off, so that the numbers are those of sampling. 1 at first. */
void tape_set_training(struct tape *t, int training);
/* The dropout masks of the next forward depend on (seed, step, layer, position). */
void tape_set_step(struct tape *t, uint64_t step);

struct slab *tape_params(struct tape *t);
struct slab *tape_grads(struct tape *t);
void tape_zero_grads(struct tape *t);
double tape_grad_norm(const struct tape *t);
void tape_updated(struct tape *t);          /* call after the parameters were changed */
struct model *tape_model(const struct tape *t);
void tape_table(const struct tape *t, struct buf *out);

#endif
