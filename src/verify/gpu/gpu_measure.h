/* One candidate on a GPU: compile its kernels, run the launch plan at full size, compare, time.
 *
 * This is the deciding side: it holds the expected results. The outcome is the `gpu` part of a
 * verdict, and a failure if the GPU contradicts the CPU judge. */
#ifndef VERIFY_GPU_GPU_MEASURE_H
#define VERIFY_GPU_GPU_MEASURE_H

#include "verify/gpu/full_task.h"
#include "verify/gpu/gpu_options.h"
#include "verify/gpu/gpu_quiet.h"
#include "verify/gpu/gpu_slot.h"
#include "verify/gpu/torch_process.h"

struct baselines;

/* The means to measure one candidate with. Several benches share the GPU, and what has a pointer here. */
struct gpu_bench {
	struct gpu_options o;
	struct gpu_quiet *quiet;
	struct gpu_slot slot;
	struct gpu_slot torch_slot; /* runs plans with operators; spawner -1: there is no PyTorch */
	struct gpu_slot *runner;    /* the one of these two that runs the current candidate */
	struct gpu_slot *counting;  /* counts calls by CUPTI, which slows down the process that uses it */
	struct gpu_info info;
	struct torch_process torch;
	struct baselines *baselines;
	struct judge *judge;
};

/* The answer for one candidate. */
struct gpu_outcome {
	int failed;                 /* the candidate fails on the GPU: */
	enum judge_stage stage;
	struct diag diag;
	struct verdict_gpu gpu;
};

/* The kernels of plans, compiled: the part that needs no GPU. */
struct gpu_program {
	struct gpu_plan plan;
	struct str text;            /* of the plan; borrowed */
	const struct compiled_kernel **kernels;      /* owned array */
	int n_kernels;
};

/* Parses and compiles one plan. Returns 0 on success, 1 if the outcome says why there is nothing to
 * run, -1 on our own failure (*e). Release it in each case. Threads may do this at the same time. */
int gpu_program_open(struct gpu_program *p, struct kernel_compiler *c, struct str plan, struct gpu_outcome *out,
		     struct err *e);
void gpu_program_release(struct gpu_program *p);
/* Runs, compares and times the programs of a candidate: one, or one for each configuration of an
 * autotuned kernel. The caller has entered b->quiet; one thread at a time uses a bench.
 * Returns 0 on success, -1 on our own failure (*e). */
int gpu_measure(struct gpu_bench *b, struct gpu_program *p, int n, const struct full_task *t, struct gpu_outcome *out,
		struct err *e);

#endif
