/* The trusted PyTorch process: expected results of a task at full size, and times of its reference.
 * It runs tasks, never candidates (python/tritonrl/torch_worker.py). One thread at a time uses it. */
#ifndef VERIFY_GPU_TORCH_PROCESS_H
#define VERIFY_GPU_TORCH_PROCESS_H

#include <sys/types.h>

#include "verify/gpu/full_task.h"
#include "verify/gpu/timing_stats.h"

struct torch_process {
	int fd;                     /* -1: not running */
	pid_t pid;
	char folder[64];            /* for the files that it writes */
	char device[96], version[32];
	char cupti[256];            /* the profiling library that came with it; "": none */
	struct buf in;              /* bytes received beyond the last line */
	uint64_t prepared;          /* hash of the task that it holds; 0: none */
};

/* Starts the process. `device`: "cuda:0" or "cpu". Importing PyTorch takes seconds: several processes can be started
 * before one is waited for. Returns 0 on success, -1 on failure (*e). Close it in each case. */
int torch_process_start(struct torch_process *p, const char *python, const char *device, struct err *e);
/* Waits until the process can be used, at once if it was. Returns 0 on success, -1 if PyTorch cannot be used (*e says
 * why). */
int torch_process_wait(struct torch_process *p, struct err *e);
void torch_process_close(struct torch_process *p);
int torch_process_is_there(const struct torch_process *p);
/* Prepares a task: fills inputs, expected results and tolerances. Returns as full_task_open. */
int torch_process_prepare(struct torch_process *p, struct full_task *t, struct str source, int eval_mode,
			  const struct judge_options *o, struct err *e);
/* Times `trials` calls of the reference of the task that was prepared last, after `warm` others.
 * Returns the number of samples, or -1 (*e). */
int torch_process_time(struct torch_process *p, enum baseline mode, int warm, int trials,
		       struct timing_sample *out, struct err *e);

#endif
