/* A GPU: context, stream, events, clock, and the kernels that are loaded on it.
 *
 * Only runner processes open a device. All functions return a CUresult: 0 is success. After a
 * sticky error the process must end (cuda_driver_is_sticky). */
#ifndef VERIFY_GPU_GPU_DEVICE_H
#define VERIFY_GPU_GPU_DEVICE_H

#include "verify/gpu/cuda_driver.h"

/* The facts of a compiled kernel that a launch needs, from Triton's metadata. */
struct kernel_meta {
	char name[128];
	int num_warps, num_ctas;
	int shared;                 /* bytes of dynamic shared memory */
	int cooperative, programmatic;
	int scratch_params;         /* pointers after the arguments: global scratch, then profile scratch */
	int64_t scratch_bytes;      /* of global scratch, for each block of the grid */
	int64_t profile_bytes;
};

struct gpu_info {
	char name[96], bus[32];
	int driver, capability;     /* 13000; 90 */
	int multiprocessors, shared_opt_in;
	int64_t memory, l2;
};

struct gpu_device {
	struct cuda_driver d;
	struct gpu_info info;
	int device;
	void *ctx, *stream;
	void *before, *start, *end;         /* events: before the flush of the cache, around a call */
	uint64_t flush;             /* memory that replaces the contents of the L2 cache */
	int64_t flush_bytes;
	int64_t (*wall_ns)(void);   /* the clock of the host; the stand-in for the driver has its own */
	/* NVML: the clock of the multiprocessors; NULL: it cannot be read */
	int (*clock)(void *handle, int kind, unsigned *mhz);
	void *clock_handle;
};

struct gpu_kernel {
	struct kernel_meta meta;
	void *module, *function;
	uint64_t scratch;           /* device memory for both kinds of scratch; 0: none */
	int64_t scratch_held;
	uint64_t scratch_at[2];     /* the two addresses of the last launch */
};

/* Opens device number `ordinal` of the driver at `path` (NULL: the system's). -1: *e. */
int gpu_device_open(struct gpu_device *g, const char *path, int ordinal, struct err *e);
/* The clock in MHz; 0: not known. */
double gpu_device_clock(const struct gpu_device *g);
/* Starts to replace the contents of the L2 cache, and does not wait. */
int gpu_device_flush(struct gpu_device *g);

int gpu_kernel_load(struct gpu_device *g, struct gpu_kernel *k, const struct kernel_meta *meta, const void *code);
void gpu_kernel_unload(struct gpu_device *g, struct gpu_kernel *k);
/* Reserves the scratch memory that a launch over this grid needs. */
int gpu_kernel_reserve(struct gpu_device *g, struct gpu_kernel *k, const int64_t grid[3]);
/* Launches on the device's stream. `params` has room for two more pointers after its n entries. */
int gpu_kernel_launch(struct gpu_device *g, struct gpu_kernel *k, const int64_t grid[3], void **params, int n);

#endif
