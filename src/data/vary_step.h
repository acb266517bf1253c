/* Other steps in a module's `forward`: steps that are added behind an assignment or around the returned value,
 * and steps that are left out. The text need not run afterwards. */
#ifndef DATA_VARY_STEP_H
#define DATA_VARY_STEP_H

#include "base/rng.h"
#include "base/str.h"

/* Appends the source; each place where a step could be added gets one with probability `add`, and each
 * step that only changes its own variable is left out with probability `drop`. */
void vary_steps(struct str source, double add, double drop, struct buf *out, struct rng *rng);

#endif
