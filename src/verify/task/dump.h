/* What a candidate was run on, written down for others to repeat: the task as it was run and
 * the tensors in and out. Made in the worker as bytes, since a worker opens no files; written
 * by the parent, which believes nothing in them. */
#ifndef VERIFY_TASK_DUMP_H
#define VERIFY_TASK_DUMP_H

#include "verify/task/task.h"

/* A watcher is told of each trial that a candidate was run on, with the results; `got` is NULL where
 * the run gave none. It returns nonzero (*e) on our own failure. */
struct judge_watcher {
	int (*seen)(void *ctx, const struct task *t, const struct trial *tr, const struct results *got, struct err *e);
	void *ctx;
};

/* Tells the watcher of the judge, if there is one (judge_set_watcher). Returns 0, or -1 (*e). */
int judge_seen(struct judge *j, const struct task *t, const struct trial *tr, const struct results *got, struct err *e);

/* task_py: source that defines Model, get_inputs, get_init_inputs at the size, dtype and mode
 * of the trial. tensors: a safetensors file with input.N, state.NAME, expected.N, got.N. Both
 * are appended to. `got` NULL: the candidate gave nothing. */
int dump_make(const struct task *t, const struct trial *tr, const struct results *got, struct buf *task_py,
	      struct buf *tensors, struct err *e);

/* Writes DIR/CANDIDATE/KIND/{task.py,tensors.safetensors}; `candidate` and `kind` may be any
 * text, what cannot stand in a file name becomes '_'. Bytes that are not a safetensors file
 * are refused. */
int dump_write(const char *dir, const char *candidate, const char *kind, struct str task_py,
	       struct str tensors, struct err *e);

#endif
