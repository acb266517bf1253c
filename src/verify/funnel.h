/* Inside the funnel: a candidate on its way, and what it takes to run it on a trial. */
#ifndef VERIFY_FUNNEL_H
#define VERIFY_FUNNEL_H

#include "verify/task.h"

struct funnel {
	struct judge *j;
	const struct task *t;
	const struct judge_options *o;
	struct verdict *v;
	struct program p;
	struct world w;                     /* the candidate, once it was built */
	struct py_module module;
	struct launcher launch;
	struct err *e;
};

static inline int ext_on(const struct funnel *f, enum ext x)
{
	return !(f->o->ext_off >> x & 1);
}

/* The candidate stops here: both return 1. */
int funnel_fail(struct funnel *f, enum judge_stage s, const struct diag *d);
int funnel_failf(struct funnel *f, enum judge_stage s, enum reason why, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* What a run of the candidate gave. */
struct outcome {
	struct results got;
	struct tile_cost cost;
	double host_seconds;
	int launches;
	int covers;               /* the host ran every operator of the reference */
};

/* Builds the candidate if it is not, gives it the trial's weights and inputs, calls it.
 * 0: *out; 1: it failed, the verdict says why; -1. */
int attempt_run(struct funnel *f, const struct trial *tr, struct outcome *out);
/* Compares. 0: as expected. 1: not, the verdict says why. -1: we failed. */
int attempt_judge(struct funnel *f, const struct trial *tr, const struct results *got);
/* The verdict says that the trial was not held against the candidate, and why. */
void attempt_skip(struct funnel *f, const struct trial *tr, const char *why);

#endif
