/* The GPU resources that a launch needs, estimated from tile code. These are the checks beyond
 * Triton's own that a machine without a GPU can make.
 *
 * Shared memory counts what Triton puts there in practice: operands of tl.dot, once for each
 * pipeline buffer if they are loaded inside an innermost `for` loop. If that is less, it counts the
 * memory in which warps exchange values. test/agree/agree_tile_resources.py compares the estimate
 * with the real compiler. Memory that the estimate does not see only makes it smaller: a refusal is
 * certain, a pass is not. */
#ifndef TILE_ESTIMATE_RESOURCE_H
#define TILE_ESTIMATE_RESOURCE_H

#include "tile/estimate/gpu.h"
#include "tile/code/ir.h"
#include "tile/code/touched.h"
#include "tile/tile.h"

/* Estimated needs of one instance. */
struct resources {
	int64_t shared_bytes;
	int64_t register_bytes;     /* tiles that live across a loop, and the largest other tile */
	int registers;              /* of one thread, for the launch's number of warps */
};

void resource_estimate(const struct tile_code *code, const struct tile_launch *l, int capability,
		       struct resources *out);

/* Checks the grid and the block against CUDA's limits and shared memory against the GPU's.
 * Returns 0, or 1 and *d. */
int resource_check(const struct tile_code *code, const struct tile_launch *l, const struct tile_gpu *gpu,
		   struct diag *d);

/* Whether the kernel compares scalar integers other than to end its loops: a possible size branch. */
int resource_tests(const struct tile_code *code);
/* Whether a launch was refused for a reason that makes Triton's autotuner skip a configuration
 * instead of failing: it does not fit the GPU, or a tl.static_assert fails. */
int resource_left_out(const struct diag *d);

#endif
