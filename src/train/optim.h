/* AdamW with decoupled decay, clipping by global norm, and learning-rate schedules.
 *
 * The state is one slab: a first and a second moment for every parameter and the counters. It
 * is saved and restored exactly, so that a resumed run has the same bits. */
#ifndef TRAIN_OPTIM_H
#define TRAIN_OPTIM_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "model/tape.h"

enum schedule_kind {
#define SCHEDULE(id, name, factor) SCHEDULE_##id,
#include "train/schedule.def"
#undef SCHEDULE
	SCHEDULES
};
#define SCHEDULE_CHOICES "constant|linear|cosine"     /* in the order of schedule.def */

struct optim_opts {
	double lr;
	float beta1, beta2, eps;
	float decay;               /* of matrices; norms and biases do not decay */
	double clip;               /* largest gradient norm; 0: none */
	enum schedule_kind schedule;
	int64_t warmup;            /* steps: the s-th (from 1) of them has lr s / warmup */
	int64_t total;             /* steps of the whole run, for linear and cosine */
	double floor;              /* lowest share of lr at the end */
};

#define OPTIM_DEFAULTS { .lr = 1e-5, .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .clip = 1.0, \
			 .schedule = SCHEDULE_COSINE }

/* The learning rate of step `step`, from 0. */
double schedule_lr(const struct optim_opts *o, int64_t step);

struct optim;

struct optim_report {
	int64_t step;              /* from 1 */
	double lr, grad_norm;
	int skipped;               /* the gradient was not finite: nothing was changed but the count */
};

struct optim *optim_new(struct tape *t, const struct optim_opts *o, struct err *e);
void optim_free(struct optim *o);
/* One step with the tape's gradients, which are then zeroed. */
void optim_step(struct optim *o, struct optim_report *r);
/* Four counters of the caller's that are saved with the state (micro-steps, data position). */
int64_t *optim_counters(struct optim *o);
/* Copies the present counters into the slab. */
void optim_put_counters(const struct optim *o);
int optim_save(const struct optim *o, const char *path, struct err *e);
int optim_load(struct optim *o, const char *path, struct err *e);
const struct slab *optim_slab(const struct optim *o);

#endif
