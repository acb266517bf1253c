/* Dumps: a record of a candidate's run that others can repeat. It holds the task as it was run, and
 * the tensors in and out. A worker makes the bytes, since it opens no files. Its parent writes them
 * and trusts nothing in them. */
#ifndef VERIFY_TASK_DUMP_H
#define VERIFY_TASK_DUMP_H

#include "verify/task/task.h"

/* A watcher gets each trial that a candidate was run on, with the results; `got` is NULL if the run
 * gave none. It returns nonzero (*e) on our own failure. */
struct judge_watcher {
	int (*seen)(void *ctx, const struct task *t, const struct trial *tr, const struct results *got, struct err *e);
	/* Gets the launch plan of a correct candidate (candidate/launch_plan.h): text that the
	 * candidate's runner wrote and nobody has checked. NULL: not asked for. */
	int (*plan)(void *ctx, struct str plan, struct err *e);
	void *ctx;
};

/* Tells the watcher of the judge, if there is one (judge_set_watcher). Returns 0 on success, -1 on
 * failure (*e). */
int judge_seen(struct judge *j, const struct task *t, const struct trial *tr, const struct results *got, struct err *e);

/* Appends to task_py a source that defines Model, get_inputs and get_init_inputs at the size, dtype
 * and mode of the trial; to `tensors` a safetensors file with input.N, state.NAME, expected.N,
 * got.N. `got` is NULL if the run gave no result. Returns 0 on success, -1 on failure (*e). */
int dump_make(const struct task *t, const struct trial *tr, const struct results *got, struct buf *task_py,
	      struct buf *tensors, struct err *e);

/* Writes DIR/CANDIDATE/KIND/{task.py,tensors.safetensors}. `candidate` and `kind` may be any text:
 * a character that a file name must not have becomes '_'. Bytes that are no safetensors file are
 * refused. Returns 0 on success, -1 on failure (*e). */
int dump_write(const char *dir, const char *candidate, const char *kind, struct str task_py,
	       struct str tensors, struct err *e);

#endif
