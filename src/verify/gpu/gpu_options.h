/* The options of the GPU judge: which GPU, with which tools, how timing is done. */
#ifndef VERIFY_GPU_GPU_OPTIONS_H
#define VERIFY_GPU_GPU_OPTIONS_H

#include "verify/config/terms.h"

struct gpu_options {
	int on;                     /* measure on a GPU; 0: do not */
	int ordinal;                /* number of the GPU */
	const char *driver;         /* file in place of libcuda.so.1, or NULL */
	const char *python;         /* of Triton and PyTorch; NULL: python3 */
	const char *compiler;       /* program in place of the Triton worker, or NULL */
	const char *cupti;          /* file in place of libcupti, or NULL */
	const char *torch_device;   /* of PyTorch, which runs references: "cuda:0"; "none": no PyTorch */
	int compilers;              /* compiling processes; 0: one for each core */
	int benches;                /* candidates that are checked at the same time; 0: by cores and memory */
	int warmups, trials;        /* calls before timing; timed calls */
	double trim;                /* share of the samples that the mean leaves out at each end */
	double precision;           /* relative half-width of the interval at which timing ends */
	double tuning;              /* seconds that all configurations of a candidate may be tried for */
	double seconds;             /* that one run of a candidate's kernels may take */
	unsigned baselines;         /* a bit for each enum baseline that is measured */
	enum baseline baseline;     /* the one that the speed-up is against */
	int counters;               /* read the profiler's counters of each candidate that was timed */
	int no_sandbox;
};

#define GPU_DEFAULTS { .torch_device = "cuda:0", .warmups = 10, .trials = 50, .trim = 0.1, .precision = 0.005, \
	.tuning = 10.0, .seconds = 10.0, .baselines = 1u << BASELINE_eager }

#endif
