/* A launch plan on a device: memory, one call, its results, its time.
 *
 * Each input set has a place: memory of its own for every storage of the plan, with red zones
 * before and after each, at other addresses than in the other places. Storages without contents are
 * poisoned before every call. Only a runner process uses this. */
#ifndef VERIFY_GPU_GPU_CALL_H
#define VERIFY_GPU_GPU_CALL_H

#include "tensor/safetensors.h"
#include "verify/gpu/gpu_device.h"
#include "verify/gpu/gpu_plan.h"
#include "verify/gpu/timing_stats.h"

enum { GPU_PLACES = 3 };

struct gpu_place {
	uint64_t slab;              /* device memory of the place; 0: none */
	uint64_t *at;               /* address of each storage; owned */
};

struct gpu_call {
	struct gpu_device *g;
	const struct gpu_plan *plan;
	struct gpu_kernel *kernels; /* those of the plan, then one for each copy, then the digest; owned */
	int n_kernels;
	struct gpu_place place[GPU_PLACES];
	int places;
	uint64_t digest;            /* device memory for one number */
	unsigned char poison;       /* of the next call; it changes with each */
};

/* A fault of a call. */
struct gpu_fault {
	int code;                   /* CUresult; 0: no fault of the driver */
	const char *doing;          /* "a launch of kernel 'add'" */
	char kernel[128];
	int red_zone;               /* 1 + the storage whose red zone was written; 0: none */
};

/* Prepares as many places as fit into the device's memory, at most `sets`, and loads contents:
 * tensors input.SET.NAME and weight.NAME of `data`. `kernels` belong to the call from now on.
 * Returns 0, 1 for a fault, -1 if plan and data do not agree (*e). Close it in each case. */
int gpu_call_open(struct gpu_call *c, struct gpu_device *g, const struct gpu_plan *p, struct gpu_kernel *kernels,
		  int n_kernels, const struct st_file *data, int sets, struct gpu_fault *f, struct err *e);
void gpu_call_close(struct gpu_call *c);
/* The parts of one call: what it must not see is overwritten; its launches are queued; they end. */
int gpu_call_prepare(struct gpu_call *c, int place, struct gpu_fault *f);
int gpu_call_start(struct gpu_call *c, int place, struct gpu_fault *f);
int gpu_call_wait(struct gpu_call *c, struct gpu_fault *f);
/* The names of the kernels that the launches of a call start, in order; room for every step of the
 * plan. Returns their number. */
int gpu_call_kernels(const struct gpu_call *c, const char **names);
/* Makes one call in a place and waits for its end: the three parts. */
int gpu_call_run(struct gpu_call *c, int place, struct gpu_fault *f);
/* Are the red zones of a place untouched? Returns 1 and *f if not. */
int gpu_call_check(struct gpu_call *c, int place, struct gpu_fault *f);
/* Bytes that the results take, dense, one after another. */
int64_t gpu_call_result_bytes(const struct gpu_call *c);
int gpu_call_results(struct gpu_call *c, int place, void *out, struct gpu_fault *f);
/* A number that depends on every bit of the results. */
int gpu_call_digest(struct gpu_call *c, int place, uint64_t *out, struct gpu_fault *f);
/* Makes one call after a flush of the cache and times it. */
int gpu_call_time(struct gpu_call *c, int place, struct timing_sample *out, struct gpu_fault *f);

#endif
