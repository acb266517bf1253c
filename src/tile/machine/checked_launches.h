/* Launches that went through a run in checked mode.
 *
 * Checked mode costs several times what a fast run does, so the judge uses it once and runs other
 * contents fast. That is enough for a launch that was checked and whose path, addresses and masks
 * are the same for all contents. Everything else is checked whenever it comes: a kernel that turns
 * to a racing path for negative values, or a host that launches another kernel for them. */
#ifndef TILE_MACHINE_CHECKED_LAUNCHES_H
#define TILE_MACHINE_CHECKED_LAUNCHES_H

#include "tile/machine/machine.h"
#include "tile/machine/replay.h"

/* By their marks; open addressing, 0 is a free place. */
struct checked_launches {
	uint64_t *v;
	size_t n, cap;
};
void checked_launches_release(struct checked_launches *s);

/* What code is told by: two that are the same have the same mark. */
uint64_t checked_code_hash(const struct tile_code *c);

/* Code, grid, warps, numbers, and tensors without their contents and addresses. Never 0. */
uint64_t checked_launch_hash(const struct replay_launch *l, int num_warps);

int checked_launches_has(const struct checked_launches *s, uint64_t mark);
/* Where memory ends, or too many are known, it is not kept, and the launch is checked again. */
void checked_launches_add(struct checked_launches *s, uint64_t mark);

#endif
