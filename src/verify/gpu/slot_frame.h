/* The frames between a slot and its runner. Both are this program, so structs are sent as bytes;
 * the magic number finds a broken stream. */
#ifndef VERIFY_GPU_SLOT_FRAME_H
#define VERIFY_GPU_SLOT_FRAME_H

#include "verify/gpu/gpu_slot.h"

enum { SLOT_ORDER = 0x474f5231, SLOT_ANSWER = 0x47414e31, SLOT_TEXT_MOST = 8 << 20, SLOT_KERNELS_MOST = 8192,
       SLOT_PATH_MOST = 1000 };

enum slot_what { SLOT_INFO, SLOT_LOAD, SLOT_RUN, SLOT_TIME, SLOT_DROP, SLOT_COUNT };

/* After an order to load come the plan, then for each kernel a struct slot_code and its bytes; after an order to
 * count the path of CUPTI (text_n bytes). */
struct slot_order {
	uint32_t magic;
	int what;                   /* enum slot_what */
	uint32_t text_n;
	int n_kernels, sets;
	int place, trials;
};

struct slot_code {
	struct kernel_meta meta;
	uint64_t n;
};

/* The most bytes of results of one call that are compared: the memory is reserved, not committed. */
#define SLOT_MEMORY ((size_t)1 << 36)

/* Descriptors of a runner: the socket and the shared memory. */
enum { SLOT_LINK_FD = 3, SLOT_MEMORY_FD = 4 };

#endif
