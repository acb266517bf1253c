/* CUDA's driver API, loaded at run time.
 *
 * The program links no CUDA library. This header declares the few functions and constants that the
 * GPU judge needs; cuda_driver_load finds them in libcuda.so.1 or in another file of the same
 * interface (test/standin). Structures have the layout of cuda.h. */
#ifndef VERIFY_GPU_CUDA_DRIVER_H
#define VERIFY_GPU_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { CU_ATTRIBUTE_BYTES = 64, CU_ATTRIBUTES_MOST = 4 };

/* An attribute of a launch (CUlaunchAttribute). */
struct cu_attribute {
	int id, pad;
	union {
		char bytes[CU_ATTRIBUTE_BYTES];
		struct { unsigned x, y, z; } cluster;
		int number;
	} value;
};

/* CUlaunchConfig. */
struct cu_launch {
	unsigned grid[3], block[3];
	unsigned shared_bytes;
	void *stream;
	struct cu_attribute *attrs;
	unsigned n_attrs;
};

/* Numbers of cuda.h: launch attributes, attributes of functions and devices, a limit, errors. */
enum { CU_COOPERATIVE = 2, CU_CLUSTER_DIMENSION = 4, CU_PROGRAMMATIC = 6 };
enum { CU_FUNCTION_STATIC_SHARED = 1, CU_FUNCTION_DYNAMIC_SHARED = 8, CU_FUNCTION_LARGE_CLUSTER = 14 };
enum { CU_DEVICE_MULTIPROCESSORS = 16, CU_DEVICE_L2_BYTES = 38, CU_DEVICE_MAJOR = 75, CU_DEVICE_MINOR = 76,
       CU_DEVICE_SHARED_OPT_IN = 97 };
enum { CU_LIMIT_PERSISTING_L2 = 6 };
enum { CU_OK = 0, CU_OUT_OF_MEMORY = 2, CU_ILLEGAL_ADDRESS = 700, CU_OUT_OF_RESOURCES = 701, CU_LAUNCH_TIMEOUT = 702,
       CU_STICKY_FIRST = 700, CU_STICKY_LAST = 720, CU_UNKNOWN = 999 };

struct cuda_driver {
	void *library;
#define CU(name, symbol, params) int (*name) params;
#include "verify/gpu/cuda_driver.def"
#undef CU
};

/* Loads the driver from `path`; NULL: libcuda.so.1. Returns 0 on success, -1 on failure (*e). */
int cuda_driver_load(struct cuda_driver *d, const char *path, struct err *e);
/* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *cuda_driver_error(const struct cuda_driver *d, int code);
/* Does the error destroy the context? Then nothing works any more in the process that met it. */
int cuda_driver_is_sticky(int code);

#endif
