/* A task at full size with contents: inputs and weights for the GPU, expected results for the
 * comparison.
 *
 * Two files' worth of tensors. `inputs` goes to runners: input.SET.NAME and weight.NAME. Expected
 * results stay in this process. They come from the trusted PyTorch process if there is one
 * (torch_process.h), else from our own engine, as long as the reference is small enough for it. */
#ifndef VERIFY_GPU_FULL_TASK_H
#define VERIFY_GPU_FULL_TASK_H

#include "verify/candidate/judge.h"
#include "verify/verdict/compare.h"

enum { FULL_TASK_SETS = 3 };

struct torch_process;

struct full_task {
	uint64_t hash;              /* of the source and the mode */
	int sets;
	int inputs_fd;              /* a safetensors file in memory; -1: none */
	struct results expected[FULL_TASK_SETS];     /* in fp64, with tolerances */
	char source[16];            /* "torch" or "engine" */
	char why[240];              /* why the task cannot be prepared; "": it can */
	double flops;               /* operations of the reference's products, two per multiply-add; 0: not known */
	int64_t bytes;              /* that any program must move: what the reference reads at the least, and results */
};

/* Identifies a task and its mode. */
uint64_t full_task_hash(struct str source, int eval_mode);
/* Sets the tolerances of expected results from two other runs of the reference: in its own dtypes,
 * and with the products in tf32 that may be. `close`: a run with all products in tf32, whose errors pass
 * if KernelBench's rule does not see them (task_tf32_products); without results it is left out. `sum`: terms of
 * its longest sum. */
void full_task_tolerate(struct results *expected, const struct results *own, const struct results *products,
			const struct results *close, int64_t sum);

/* Prepares a task. Returns 0 on success, also if the task cannot be prepared (t->why); -1 on our own
 * failure (*e). Release it in each case. */
int full_task_open(struct full_task *t, struct judge *j, struct torch_process *torch, struct str source, int eval_mode,
		   struct err *e);
void full_task_release(struct full_task *t);

#endif
