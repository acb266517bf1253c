/* The launch plan of a candidate: what one call of forward does on a GPU, as data.
 *
 * A dry run at full size records memory, launches, copies and results. A plan is JSON:
 *   {"kernels":  [request, ...]                    kernel_request.h, each once
 *    "storages": [{"bytes": n, "from": ...}, ...]  an input, a weight, bytes, one value, or nothing
 *    "steps":    [{"kernel": k, "grid": [x, y, z], "args": [...]}, {"copy": [to, from]},
 *                 {"operator": "torch.matmul", "args": [...], "kwargs": {...}, "out": [view, ...]}, ...]
 *    "results":  [view, ...]}
 * or {"unavailable": why} if the call does something that a plan cannot express, such as random numbers.
 * Operators are those of PyTorch, with their arguments by value; the storages "from": "operator" are
 * made by one. The process that executes a plan (verify/gpu) treats it as hostile.
 *
 * The recorder borrows everything; it lives for one dry run. */
#ifndef VERIFY_CANDIDATE_LAUNCH_PLAN_H
#define VERIFY_CANDIDATE_LAUNCH_PLAN_H

#include "host/host.h"
#include "verify/candidate/kernel_request.h"
#include "verify/candidate/weights.h"

struct plan_storage { uint64_t id; };

struct launch_plan {
	struct { struct plan_storage *v; size_t n, cap; } storages;
	struct map kernels;                 /* request -> its number */
	struct buf storage_rows, kernel_rows, step_rows, result_rows;     /* JSON, separated by commas */
	char why[KERNEL_REQUEST_WHY];       /* why there is no plan; "": there is one */
	int failed;                         /* memory ended */
};

/* Notes the inputs and the weights of a call before it is made. Returns 0 on success, -1 on failure
 * (*e). */
int launch_plan_begin(struct launch_plan *p, struct host *h, struct val inputs, struct val model,
		      const struct task_weights *w, const struct weights_reduced *reduced, struct err *e);
void launch_plan_release(struct launch_plan *p);
/* Adds a launch, in the order of the call. */
void launch_plan_launch(struct launch_plan *p, const struct tile_launch *l);
/* Adds a torch operator: for host_set_called, with the plan as its context. */
void launch_plan_operator(void *plan, const struct host_op_call *c);
/* Notes the results of the call and appends the plan. Returns 0 on success, -1 on failure (*e). */
int launch_plan_end(struct launch_plan *p, struct host *h, struct val result, struct buf *out, struct err *e);

#endif
