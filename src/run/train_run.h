/* A training run of its own: the stages of `train` in one folder, with safeguards around them. The
 * folder keeps the resolved options, so that `resume` can continue it without any of them. */
#ifndef RUN_TRAIN_RUN_H
#define RUN_TRAIN_RUN_H

#include "run/safeguard.h"
#include "run/run.h"

struct train_run_args {
	struct train_args train;
	struct safeguard_args keep;         /* bucket, spot notices, budget */
};
extern const struct opt train_run_opts[];
/* The sections of a configuration that `train` reads, and the option that selects one of them. */
#define TRAIN_RUN_SECTIONS "sft|rl|keep"
#define TRAIN_RUN_SELECT "stage"

/* Reports errors in the options before the folder is touched. */
int train_run_check(const struct train_args *a, const struct opt_parsed *p, struct err *e);
/* Trains in the folder a->out, with the safeguards open already. A stage whose final checkpoint is
 * complete is not repeated. *done is 0 if the training was stopped on request. */
int train_run(const struct train_args *a, const struct opt_parsed *p, struct par *par, int *done, struct err *e);

/* Tells whether `train` wrote the configuration in this folder, and not `run`. */
int train_run_owns(const char *out);
/* Continues each training of the folder with the options that the folder keeps. */
int train_run_resume(const char *out, struct par *par, int *done, struct err *e);

#endif
