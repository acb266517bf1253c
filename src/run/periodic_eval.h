/* Looking at a policy while it is trained (--eval-every): a few tasks, one answer each, judged. */
#ifndef RUN_PERIODIC_EVAL_H
#define RUN_PERIODIC_EVAL_H

#include "data/taskset.h"
#include "rl/rollout.h"
#include "train/policy.h"
#include "verify/pool/judge_args.h"

struct periodic_eval_args {
	int64_t every, limit;
	const char *tasks;
};
extern const struct opt periodic_eval_args_table[];

/* Answers are kept in the store as they come: a look that was cut short goes on where it was. */
struct periodic_eval {
	struct store *store;            /* borrowed */
	struct judge_pool *pool;
	struct judge_options judge;
	struct taskset tasks;
	struct rollout_opts o;
};

/* Opens tasks and judge, and sets *t; nothing where `every` is 0. `sample` says how answers are drawn. */
int periodic_eval_open(struct periodic_eval *l, struct store *store, const struct periodic_eval_args *a, const struct judge_args *j,
	      const struct rollout_opts *sample,
	      struct train_look *t, struct err *e);
/* `done`: the stage is over, and nothing that was kept will be wanted. */
int periodic_eval_close(struct periodic_eval *l, int done, struct err *e);

#endif
