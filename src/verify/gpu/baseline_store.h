/* Times of references, measured once for each task, GPU and version of PyTorch. */
#ifndef VERIFY_GPU_BASELINE_STORE_H
#define VERIFY_GPU_BASELINE_STORE_H

#include "verify/gpu/gpu_measure.h"

/* Opens the store under $XDG_CACHE_HOME/tritonrl. *out is NULL if there is no such folder: baselines
 * are measured again then. Returns 0 on success, -1 on failure (*e). */
int baselines_open(struct store **out, struct err *e);
/* Fills in the baselines of the options that have no time yet: from the store, or by measuring them
 * if PyTorch holds the task. Times that are given are kept in the store. Returns 0 on success, -1 on
 * failure (*e). */
int baselines_complete(struct gpu_bench *b, const struct full_task *t, struct verdict_time out[BASELINES],
		       struct err *e);

#endif
