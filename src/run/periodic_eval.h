/* Evaluation of a policy while it is trained (--eval-every): a few tasks, one judged answer each. */
#ifndef RUN_PERIODIC_EVAL_H
#define RUN_PERIODIC_EVAL_H

#include "data/taskset.h"
#include "rl/rollout.h"
#include "train/policy.h"
#include "verify/pool/judge_args.h"

struct periodic_eval_args {
	int64_t every;                  /* steps between two evaluations; 0: none */
	int64_t limit;                  /* number of tasks */
	const char *tasks;              /* file or folder; NULL: only the validation loss is computed */
};
extern const struct opt periodic_eval_args_table[];

/* Answers are stored as they come, so that an interrupted evaluation continues where it was. */
struct periodic_eval {
	struct store *store;            /* borrowed */
	struct judge_pool *pool;
	struct judge_options judge;
	struct taskset tasks;
	struct rollout_opts o;
};

/* Opens tasks and judge, and sets *t, the trainer's hook. Does nothing if `every` is 0. `sample` are the options
 * of sampling. */
int periodic_eval_open(struct periodic_eval *l, struct store *store, const struct periodic_eval_args *a,
		       const struct judge_args *j, const struct rollout_opts *sample, struct train_look *t,
		       struct err *e);
/* With `done` the stage is over, and the answers of interrupted evaluations are deleted. */
int periodic_eval_close(struct periodic_eval *l, int done, struct err *e);

#endif
