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
struct vetted {
	uint64_t *v;
	size_t n, cap;
};
void vetted_release(struct vetted *s);

/* What code is told by: two that are the same have the same mark. */
uint64_t vetted_code(const struct tile_code *c);

/* Code, grid, warps, numbers, and tensors without their contents and addresses. Never 0. */
uint64_t vetted_launch(const struct replay_launch *l, int num_warps);

int vetted_has(const struct vetted *s, uint64_t mark);
/* Where memory ends, or too many are known, it is not kept, and the launch is checked again. */
void vetted_add(struct vetted *s, uint64_t mark);

#endif
