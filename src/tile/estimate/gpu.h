/* The GPUs that we have numbers for. This one table (gpu.def) serves the estimate of time, the
 * check of resources, the capability that kernels are compiled for, plan, doctor and every --gpu. */
#ifndef TILE_ESTIMATE_GPU_H
#define TILE_ESTIMATE_GPU_H

#include <stdint.h>

#include "base/str.h"

struct tile_gpu {
	const char *name, *text;                    /* as an option takes it; in words */
	int capability;                             /* 90 for sm_90 */
	double gib;                                 /* memory */
	int64_t shared_bytes;                       /* of one block */
	int registers;                              /* of one thread */
	double memory, l2;                          /* GB/s */
	double f64, f32;                            /* tera-operations a second */
	double tf32, dot_f16, dot_f8, dot_int8, dot_f64; /* tensor cores, the same unit */
	double launch_us;                           /* overhead of a launch */
	int processors;                             /* multiprocessors */
	double price, spot_price;                   /* of an hour, approximately, in US dollars */
};

extern const struct tile_gpu tile_gpus[];           /* ended by a row without a name */
/* The names as choices of an option: "A10G|L40S|...". */
extern const char tile_gpu_names[];                 /* with a bar before the first */
#define TILE_GPU_CHOICES (tile_gpu_names + 1)
#define TILE_GPU_DEFAULT "H100"

const struct tile_gpu *tile_gpu_find(struct str name);                      /* in any case; NULL: unknown */
/* The row for a GPU as its driver names it ("NVIDIA A100-SXM4-40GB"), by its memory if several
 * fit. */
const struct tile_gpu *tile_gpu_of_device(struct str device, double gib);   /* NULL: none */

#endif
