/* Slots: which bytes of the slab each register's lanes occupy. */
#ifndef TILE_MACHINE_DECODE_SLOT_H
#define TILE_MACHINE_DECODE_SLOT_H

#include "tile/machine/decode.h"

/* Fills owner, slot, slab_bytes, scratch_bytes, func_regs of *decoded, and which loads borrow. */
int decode_slots(struct tile_code *c, struct tile_decoded *decoded, const int *role, struct err *e);

#endif
