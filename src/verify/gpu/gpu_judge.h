/* The GPU judge: a process next to the pool that measures correct candidates on a real GPU.
 *
 * The pool sends it tasks and launch plans, and continues to judge on the CPU meanwhile. The process
 * compiles with many threads and runs on one GPU, one candidate at a time. It is forked when it is
 * opened, before its caller has threads or a CUDA context of its own. */
#ifndef VERIFY_GPU_GPU_JUDGE_H
#define VERIFY_GPU_GPU_JUDGE_H

#include "verify/gpu/gpu_measure.h"

enum { GPU_PLANS = 8 };

struct gpu_judge;

/* Starts the process and waits until it has found GPU and driver. Returns NULL if the GPU cannot be
 * used (*e says why). */
struct gpu_judge *gpu_judge_open(const struct gpu_options *o, const struct judge_options *judge, struct err *e);
void gpu_judge_close(struct gpu_judge *g);
/* "NVIDIA H200, driver 13.0, Triton by python3, PyTorch 2.11" */
const char *gpu_judge_text(const struct gpu_judge *g);

/* Sends a candidate: the source of its task and n plans, one for each configuration. Returns 0 on
 * success, -1 on failure (*e). */
int gpu_judge_submit(struct gpu_judge *g, uint64_t id, struct str task, int eval_mode, const struct buf *plans, int n,
		     struct err *e);
/* The descriptor that becomes readable when an outcome is there. */
int gpu_judge_fd(const struct gpu_judge *g);
/* Reads the next outcome. Returns 1, 0 if none is there, -1 if the process is lost (*e). */
int gpu_judge_next(struct gpu_judge *g, uint64_t *id, struct gpu_outcome *out, struct err *e);

/* Writes an outcome into the verdict of the CPU judge: measured times replace the estimate. */
void gpu_judge_apply(const struct gpu_outcome *outcome, enum baseline baseline, const struct judge_options *o,
		     struct verdict *v);

#endif
