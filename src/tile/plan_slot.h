/* Slots: which bytes of the slab each register's lanes occupy. */
#ifndef TILE_PLAN_SLOT_H
#define TILE_PLAN_SLOT_H

#include "tile/plan.h"

/* Fills owner, slot, slab_bytes, scratch_bytes, func_regs of the plan, and which loads borrow. */
int plan_slots(struct tile_code *c, struct tile_plan *plan, const int *role, struct err *e);

#endif
