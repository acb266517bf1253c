/* Counters of one call of a launch plan, by CUPTI (NVIDIA's profiling library, loaded at run time).
 *
 * One untimed call is counted as one range, again for each pass that the counters need; one more records
 * which kernels ran. CUPTI slows the process that uses it down, so a process that times calls never does
 * (gpu_measure.c has a slot of its own for counting). */
#ifndef VERIFY_GPU_GPU_PROFILER_H
#define VERIFY_GPU_GPU_PROFILER_H

#include "verify/gpu/cupti_abi.h"
#include "verify/gpu/gpu_call.h"
#include "verify/verdict/verdict.h"

/* CUPTI asks for a buffer, and gives it back with records. */
typedef void (*cupti_give_fn)(uint8_t **buffer, size_t *bytes, size_t *records_most);
typedef void (*cupti_take_fn)(void *ctx, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used);

struct cupti {
	void *library;
#define CUPTI(name, symbol, params) int (*name) params;
#include "verify/gpu/cupti.def"
#undef CUPTI
};

struct gpu_profiler {
	int tried;                  /* it was opened; `why` says whether it can be used */
	char why[160];              /* why nothing can be counted; "": it can */
	struct cupti lib;
	const char *metrics[VERDICT_COUNTERS];      /* those that this GPU has */
	int of[VERDICT_COUNTERS];           /* the counter of each */
	size_t n;
	void *host, *range;
	uint8_t *image, *data;      /* the list of counters, and their counts */
	size_t image_bytes, data_bytes;
};

/* Counts one call in a place. `path`: the library, "" for the usual ones. Returns 0 and *out (read: 0 and
 * why if nothing could be counted), or 1 if the candidate's kernels failed (*f). */
int gpu_profiler_count(struct gpu_profiler *p, const char *path, struct gpu_call *c, int place,
		       struct verdict_counters *out, struct gpu_fault *f);

/* Tries whether counters can be read, without a call: out->read and a value of 0 for each counter that this GPU
 * has, or out->why. */
void gpu_profiler_try(struct gpu_profiler *p, const char *path, struct gpu_device *g, struct verdict_counters *out);

#endif
