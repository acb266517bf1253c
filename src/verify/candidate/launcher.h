/* Kernel launches of a candidate: compiled, checked, and then run, noted, sampled or replaced.
 *
 * The runner sets the fields before a call of forward; the host calls launcher_kernel for each
 * launch. The launcher owns no memory but the tile engine's code, which launcher_close drops. */
#ifndef VERIFY_CANDIDATE_LAUNCHER_H
#define VERIFY_CANDIDATE_LAUNCHER_H

#include "verify/candidate/shmem.h"

enum { LAUNCHER_MARKS = 16 };

struct launcher {
	struct tile_engine *engine;    /* borrowed from the judge */
	const struct tile_gpu *gpu;    /* every launch must fit on it */
	uint64_t sealed;               /* storages up to this id outlive the call: no kernel may change them */
	int may_keep;                  /* kernels may change them all the same, since the reference does */
	/* kernels may compute with addresses; they need not fit the GPU (tests switch the rules
	 * off) */
	int may_vary, may_exceed;
	struct tile_run_options run;
	int watch;                     /* kernels that read memory which they write run in checked mode */
	int idle;                      /* compile launches, but do not run them */
	/* in place of running, copy what a kernel reads to what it writes: the copy-th likely
	 * source; 0: run */
	int copy;
	int sources;                   /* the most likely sources that one launch had, counted up to copy + 1 */
	int config, tune;              /* of autotuned kernels, as in host_options */
	int skip_asserts;              /* of host code, as in host_options */
	int refused, faulted;          /* the last run ended because a launch did not compile, or faulted */
	int compiled;                  /* a launch of this runner compiled and fits the GPU */
	struct tile_cost cost;
	struct diag diag;              /* why */
	struct host_path *path;        /* a dry run: launches become marks of this path; NULL: they are run */
	enum path_marks marks;
	/* marks of kernels, by the address of their code: printing a long kernel takes long */
	struct { const struct tile_code *code; uint64_t mark; } marked[LAUNCHER_MARKS];
	unsigned next_mark;
	struct estimate *estimate;     /* the time of launches is added to it; NULL: it is not asked for */
	struct host_path *tests;       /* gets a mark if a launch compares integers; NULL: it is not asked for */
	struct compared *compared;     /* gets the constants of comparisons; NULL: they are not asked for */
	struct sampler *sample;        /* a dry run with sampled instances; NULL: no instance is run */
	struct launch_plan *plan;      /* gets the launches of a dry run; NULL: it is not asked for */
	struct addresses *addresses;   /* gets every access of launches; NULL: it is not asked for */
	struct step_recorder *steps;   /* records what launches wrote; NULL: it is not asked for */
};

/* The judge's engine for one candidate. */
void launcher_open(struct launcher *c, struct judge *j);
/* Drops the compiled code: the engine's cache knows functions by their address, which the next
 * candidate may use again. */
void launcher_close(struct launcher *c);
/* For host_options: one launch. Returns 0 on success, 1 if it fails (*d), -1 on our own failure
 * (*e). */
int launcher_kernel(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e);

#endif
