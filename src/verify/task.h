/* Inside the judge: a task made ready, as task.c builds it and funnel.c uses it. */
#ifndef VERIFY_TASK_H
#define VERIFY_TASK_H

#include "verify/trial.h"

enum { TASK_OPS = 64 };

struct task {
	struct judge *judge;
	char *source, *name;
	struct py_module module;
	int parsed;
	struct diag problem;
	struct program reference;
	struct weights set[WEIGHT_SETS];
	struct host *vault;                 /* holds the trials' inputs; runs nothing, only read once the task is ready */
	struct world own, oracle;           /* the reference, while the task is made ready */
	struct trial trial[TRIALS_MOST];
	int n_trials;
	struct buf notes;                   /* what task_describe shows */
	/* Compute operations of the reference at the original trial, by name. */
	struct { const char *name; int64_t count; } op[TASK_OPS];
	int n_ops;
	double seconds;                     /* of the reference's operators run eagerly, by the roofline model */
};

/* Runs the reference for a trial in one mode. 0, 1: it fails there, -1. */
int task_run_reference(struct task *t, const struct trial *tr, enum run_mode mode, struct results *out, struct err *e);
/* Draws the trials: sizes from the task's own constants. */
int task_draw_trials(struct task *t, struct err *e);
/* Controls: the task can tell right from wrong, else `problem` is set. */
int task_check_controls(struct task *t, struct err *e);

/* Roofline seconds of a host's operators, each a launch of its own that reads and writes memory. */
double ops_seconds(struct host_ops ops, const char *gpu);

#endif
