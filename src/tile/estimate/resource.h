/* What a launch needs of a GPU, estimated from tile code: the checks beyond Triton's own that
 * a machine without a GPU can make before a run on one.
 *
 * Shared memory counts what Triton puts there in practice: operands of tl.dot, those loaded
 * inside an innermost `for` loop once for each buffer of its pipeline, and where there is less of
 * that, the room in which warps exchange values. test/agree/agree_tile_resources.py compares it
 * with the real one. What it does not see only makes it smaller: a refusal is certain, a pass is not. */
#ifndef TILE_ESTIMATE_RESOURCE_H
#define TILE_ESTIMATE_RESOURCE_H

#include "tile/estimate/gpu.h"
#include "tile/code/ir.h"
#include "tile/code/touched.h"
#include "tile/tile.h"

struct resources {
	int64_t shared_bytes;
	int64_t register_bytes;     /* tiles that live across a loop, and the largest one beside them */
	int registers;              /* of one thread, for the launch's number of warps */
};

void resource_estimate(const struct tile_code *code, const struct tile_launch *l, int capability,
		       struct resources *out);

/* Grid and block within what CUDA allows, shared memory within the GPU's. 0, or 1 and *d. */
int resource_check(const struct tile_code *code, const struct tile_launch *l, const struct tile_gpu *gpu,
		   struct diag *d);

/* Refused for what makes Triton's autotuner leave a configuration out instead of failing: it does
 * not fit the GPU, or a tl.static_assert says no. */
/* Does it compare integers, but for those that end its loops? */
int resource_tests(const struct tile_code *code);
int resource_left_out(const struct diag *d);

#endif
