/* Launches that went through a run in checked mode.
 *
 * Checked mode costs several times a fast run, so the judge uses it once and runs other contents in
 * fast mode. One checked run is enough for a launch whose path, addresses and masks are the same
 * for all contents. Every other launch is checked whenever it comes. Examples: a kernel that takes
 * a racing path for negative values, or a host that launches another kernel for them. */
#ifndef TILE_MACHINE_CHECKED_LAUNCHES_H
#define TILE_MACHINE_CHECKED_LAUNCHES_H

#include "tile/machine/machine.h"
#include "tile/machine/replay.h"

/* A set of 64-bit marks with open addressing. An entry of 0 is free. */
struct checked_launches {
	uint64_t *v;
	size_t n, cap;
};
void checked_launches_release(struct checked_launches *s);

/* Hash of the code. Equal code has an equal mark. */
uint64_t checked_code_hash(const struct tile_code *c);

/* Hash of code, grid, warps, scalar arguments, and tensors without contents and addresses. Never
 * 0. */
uint64_t checked_launch_hash(const struct replay_launch *l, int num_warps);

int checked_launches_has(const struct checked_launches *s, uint64_t mark);
/* Adds a mark. When out of memory or full, it drops the mark, and the launch is checked again. */
void checked_launches_add(struct checked_launches *s, uint64_t mark);

#endif
