/* Training steps over sequences: packing, loss, accumulation, update.
 *
 * A trainer owns a tape and an optimizer. Sequences are packed into micro-batches of at most
 * max_tokens (micro.h). The position of the cuts changes a result only by the order of
 * floating-point sums, and the cuts depend only on the lengths and on which prompts are shared.
 * Several processes share the micro-batches of a step (gradsum.h): all are given all sequences, and
 * all end with the same parameters. A step that fails leaves the trainer as it was before it.
 *
 * Neighbouring sequences that begin with the same prompt can share it: all but its last token are
 * then computed once, forward and backward, and each sequence continues from there. */
#ifndef TRAIN_STEP_H
#define TRAIN_STEP_H

#include "par/par.h"
#include "train/optim.h"

/* weight[i] is the loss weight of predicting tokens[i] from those before it; 0 masks the token, and
 * weight[0] is never used. NULL means 1 everywhere. The first `prompt` tokens have coefficient 0,
 * even if their weight is not 0: shared prompts are not predicted at all. */
struct train_seq {
	const int32_t *tokens;
	const float *weight;
	int n, prompt;
};

enum trainer_share {
	/* on a GPU; the CPU computes each sequence whole, so that its sums keep their order */
	TRAINER_SHARE_GPU,
	TRAINER_SHARE_ALWAYS,
	TRAINER_SHARE_NEVER
};

struct train_report {
	struct optim_report optim;
	double loss;               /* -sum(weight logp) / sum(weight) */
	double weight;             /* sum of weights: the number of trained tokens where they are 1 */
	int64_t tokens;            /* all tokens computed */
	int micro;                 /* micro-batches */
};

struct trainer;

struct trainer_opts {
	struct tape_opts tape;     /* max_tokens: of a micro-batch */
	struct optim_opts optim;
	int apart;                 /* each sequence is a micro-batch of its own */
	struct par *par;           /* borrowed; NULL: one process */
	struct nccl *nccl;         /* borrowed; NULL: gradients of GPUs pass through host memory */
	enum trainer_share share;  /* prompts of neighbouring sequences */
};

struct trainer *trainer_new(struct model *m, struct adapter *a, const struct trainer_opts *o, struct err *e);
void trainer_free(struct trainer *t);

/* Supervised: one optimizer step on all `n` sequences. A step without any weight is ERR_RANGE. */
int trainer_step(struct trainer *t, const struct train_seq *seq, size_t n, struct train_report *r, struct err *e);

/* Parts of a step, for other objectives. `coef` receives dLoss/dlogp for the tokens of sequence
 * `i`: coef[k] belongs to tokens[k], logp[k] is its log-probability now (0 if the weight is 0, and
 * at k = 0). Sequences whose weights are all 0 are skipped. The function returns the sequence's
 * loss, which is added to *loss. With several processes each calls it for its part of the
 * sequences. */
typedef double trainer_coef_fn(void *ctx, size_t i, const struct train_seq *seq, const float *logp,
			       const float *entropy, float *coef);
int trainer_accumulate(struct trainer *t, const struct train_seq *seq, size_t n, trainer_coef_fn *fn,
		       void *ctx, double *loss,
		       struct err *e);
void trainer_apply(struct trainer *t, struct optim_report *r);

/* Log-probabilities without gradients or dropout: logp[i][k] for each sequence (caller's
 * arrays of seq[i].n); entropy may be NULL. */
int trainer_logprobs(struct trainer *t, const struct train_seq *seq, size_t n, float *const *logp,
		     float *const *entropy, struct err *e);

/* Exact state apart from the parameters: moments, step, dropout position. */
int trainer_save(const struct trainer *t, const char *path, struct err *e);
int trainer_load(struct trainer *t, const char *path, struct err *e);

/* Registers a reader of parameters and optimizer state that works during training. `done` is called
 * before either changes and returns when the reading is over. NULL: no reader. */
void trainer_set_reader(struct trainer *t, void (*done)(void *ctx), void *ctx);
/* Waits for the reader. Code that changes parameters other than by a step calls this first. */
void trainer_wait_reader(struct trainer *t);

struct tape *trainer_tape(struct trainer *t);
struct optim *trainer_optim(struct trainer *t);
/* The memory table: weights, parameters, gradients, optimizer state, activations. */
void trainer_table(const struct trainer *t, struct buf *out);

#endif
