/* Structures and numbers of CUPTI, NVIDIA's profiling library, with the layout of its headers.
 *
 * Only what gpu_profiler.c needs. Every parameter structure begins with its size, which ends at the last
 * field, and a pointer that stays NULL: CUPTI_PARAMS fills in both. This header is C and C++:
 * test/agree/agree_cupti.py compiles it next to CUPTI's own and compares sizes and offsets. */
#ifndef VERIFY_GPU_CUPTI_ABI_H
#define VERIFY_GPU_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of a structure up to its last field, without padding after it. */
#define CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof ((struct type *)0)->last)
/* The first two fields of an initialiser. */
#define CUPTI_PARAMS(type, last) .size = CUPTI_SIZE(type, last), .priv = NULL

enum { CUPTI_RANGE_PROFILER = 0 };          /* CUpti_ProfilerType */
enum { CUPTI_USER_RANGE = 2 };              /* CUpti_ProfilerRange */
enum { CUPTI_USER_REPLAY = 3 };             /* CUpti_ProfilerReplayMode */
enum { CUPTI_KIND_KERNEL = 10 };            /* CUpti_ActivityKind: concurrent kernels */
enum { CUPTI_OK = 0, CUPTI_DENIED = 35, CUPTI_VIRTUAL_DENIED = 40 };

struct cupti_init { size_t size; void *priv; };
struct cupti_chip { size_t size; void *priv; size_t device; const char *name; };

/* The host side: what to count, and values from counted data. */
struct cupti_host_open {
	size_t size;
	void *priv;
	int type;
	const char *chip;
	const uint8_t *availability;
	void *host;
};
struct cupti_host_close { size_t size; void *priv; void *host; };
struct cupti_host_add { size_t size; void *priv; void *host; const char **metrics; size_t n; };
struct cupti_host_image_size { size_t size; void *priv; void *host; size_t bytes; };
struct cupti_host_image { size_t size; void *priv; void *host; size_t bytes; uint8_t *image; };
struct cupti_host_values {
	size_t size;
	void *priv;
	void *host;
	const uint8_t *data;
	size_t data_bytes, range;
	const char **metrics;
	size_t n;
	double *values;
};

/* The GPU's side: a range of a program is counted, in as many passes as the counters need. */
struct cupti_range_enable { size_t size; void *priv; void *ctx; void *range; };
struct cupti_range { size_t size; void *priv; void *range; };
struct cupti_range_config {
	size_t size;
	void *priv;
	void *range;
	size_t image_bytes;
	const uint8_t *image;
	size_t data_bytes;
	uint8_t *data;
	int kind, replay;
	size_t ranges_most;
	uint16_t nesting_levels, least_level;
	size_t pass;
	uint16_t target_level;
};
struct cupti_range_stop { size_t size; void *priv; void *range; size_t pass, target_level; uint8_t all_passes; };
struct cupti_range_push { size_t size; void *priv; void *range; const char *name; };
struct cupti_range_decode { size_t size; void *priv; void *range; size_t dropped; };
struct cupti_range_data_size {
	size_t size;
	void *priv;
	void *range;
	const char **metrics;
	size_t n, ranges_most;
	uint32_t nodes_most;
	size_t bytes;
};
struct cupti_range_data_init { size_t size; void *priv; void *range; size_t bytes; uint8_t *data; };

/* The first bytes of a record of a kernel that ran: every version since CUDA 9 begins like this. */
struct cupti_kernel_record {
	int kind;
	char before_name[100];
	const char *name;
};

#endif
