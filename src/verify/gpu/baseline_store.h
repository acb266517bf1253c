/* Times of references, measured once for each task, GPU and version of PyTorch. */
#ifndef VERIFY_GPU_BASELINE_STORE_H
#define VERIFY_GPU_BASELINE_STORE_H

#include "verify/gpu/gpu_measure.h"

/* Baselines by task, GPU and version, kept on disk. Threads may share them. */
struct baselines;

/* Opens the store under $XDG_CACHE_HOME/tritonrl. If there is no cache folder, they are measured again. Returns
 * NULL on failure (*e). */
struct baselines *baselines_open(struct err *e);
void baselines_close(struct baselines *x);
/* Lets PyTorch compile the baselines that need it and have no time yet: it takes seconds, and other candidates
 * may be checked meanwhile. Returns 0 on success, -1 on failure (*e). */
int baselines_compile(struct gpu_bench *b, const struct full_task *t, struct err *e);
/* Fills in the baselines of the options that have no time yet: from the store, or by measuring them
 * if PyTorch holds the task. Times that are given are kept in the store. Returns 0 on success, -1 on
 * failure (*e). */
int baselines_complete(struct gpu_bench *b, const struct full_task *t, struct verdict_time out[BASELINES],
		       struct err *e);

#endif
