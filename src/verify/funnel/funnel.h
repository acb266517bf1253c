/* Inside the funnel: a candidate on its way, and how its runs are asked for and judged. */
#ifndef VERIFY_FUNNEL_FUNNEL_H
#define VERIFY_FUNNEL_FUNNEL_H

#include "verify/candidate/runner_link.h"
#include "verify/funnel/reports.h"
#include "verify/task/task.h"

/* What a run of the candidate gave. */
struct attempt {
	struct results got;
	struct outcome cost;
};

struct funnel {
	struct judge *j;
	const struct task *t;               /* as it is run: at its own sizes, or at others */
	const struct task *base;            /* as it was made ready first, which has the general input sets */
	const struct task *judged;          /* at the sizes where values were compared last */
	const struct judge_options *o;
	struct verdict *v;
	struct str source;                  /* of the candidate */
	int has_dot;                        /* the candidate speaks of products */
	int defined;                        /* the checked run of f->t met no lane that Triton leaves undefined */
	int tests;                          /* its host code or its kernels compare integers */
	enum path_marks marks;              /* what belongs to the path of what is followed */
	int64_t fuel;                       /* tile operations that each kernel of a checked run may take */
	int again;                          /* its values were wrong at other sizes */
	/* its kernels used up their fuel at the first sizes: there is no more of it at smaller ones */
	int slow;
	struct runner_link *link;
	struct orders orders;               /* of the batch that was asked for last */
	/* what the checked run gave, where its input set is the original; else nothing */
	struct attempt original;
	struct run_report report;           /* the one that was taken last */
	enum lost lost;                     /* the runner was, in the end */
	int unexplained;                    /* the last comparison found an error that products in tf32 do not make */
	int near;                           /* and one of few hundredths of the value */
	const struct task *left_in;         /* where runs were compared that left something in buffers, */
	uint64_t left;                      /* and which of them they left as they were */
	struct run_transposed transposed;           /* the last that a run told of, */
	struct intermediate_matches matches;        /* and these */
	/* of the candidate on a GPU at the task's own sizes, estimated; 0: not known */
	double full_size_seconds;
	struct err *e;
};

/* The candidate stops here: both return 1. */
int funnel_fail(struct funnel *f, enum judge_stage s, const struct diag *d);
/* The candidate anew, for the task at other sizes. 0, -1. */
int funnel_switch_task(struct funnel *f, const struct task *t);
/* Is the candidate right at the sizes of another task, in checked mode and on every input set of the
 * contract of the task? 0, 1: no, the verdict says why; -1. */
int funnel_right_at(struct funnel *f, const struct task *t);
int funnel_take_ast(struct funnel *f);
int funnel_failf(struct funnel *f, enum judge_stage s, enum reason why, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Adds a run to the batch: f->orders.n is 0 at its beginning. */
void attempt_order(struct funnel *f, const struct trial *tr, const struct run_order *how);
/* Has the batch run. 0, 1: the runner was lost, the verdict says how; -1. */
int attempt_ask(struct funnel *f);
/* What the i-th run of the batch gave. 0: *out. 1: it failed, the verdict says why. -1: we failed. */
int attempt_take(struct funnel *f, int i, struct attempt *out);
/* Compares. 0: as expected. 1: not, the verdict says why. -1: we failed. */
int attempt_judge(struct funnel *f, const struct trial *tr, const struct results *got);
/* The verdict says that the trial was not held against the candidate, and why. */
void attempt_skip(struct funnel *f, const struct trial *tr, const char *why);

#endif
