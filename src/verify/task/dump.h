/* What a candidate was run on, written down for others to repeat: the task as it was run and
 * the tensors in and out. Made in the worker as bytes, since a worker opens no files; written
 * by the parent, which believes nothing in them. */
#ifndef VERIFY_TASK_DUMP_H
#define VERIFY_TASK_DUMP_H

#include "verify/candidate/trial.h"

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
