/* The GPU as src/dev sees it: functions of libtritonrl_cuda.so, found when it is loaded.
 *
 * Plain C on both sides: the .cu files define what cuda.def lists, the program calls it through
 * `struct cuda_dev`. ops/cuda/cuda.h does the same for the numeric launchers. */
#ifndef DEV_CUDA_H
#define DEV_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include "tensor/dtype.h"
#define CUDA_EXPORT extern "C" __attribute__((visibility("default")))
#else
#include "tensor/tensor.h"
#define CUDA_EXPORT
#endif

struct cuda;                   /* one GPU: its stream, workspace, library handles */

struct cuda_info {
	char name[256];
	int major, minor;          /* compute capability */
	int sms;
	int driver, runtime;       /* 13000 is 13.0 */
	size_t memory;
};

#ifdef __cplusplus
#define CUDA_FN(name, params) CUDA_EXPORT int name params;
#include "dev/cuda.def"
#undef CUDA_FN
#else
struct cuda_dev {
#define CUDA_FN(name, params) int (*name) params;
#include "dev/cuda.def"
#undef CUDA_FN
};
#endif

#endif
