/* Operations that move lanes: one mover serves the elements and, in checked mode, their poison. */
#ifndef TILE_MACHINE_EXEC_MOVE_H
#define TILE_MACHINE_EXEC_MOVE_H

#include "tile/machine/machine.h"

/* Writes result k of `in` from dense sources with `esize` bytes per lane. */
typedef void move_fn(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src,
		     int esize);

/* Calls the mover once per result, then again for the poison if there is any. Returns 0, or -1
 * when out of memory. */
int run_move(struct machine *m, const struct tile_insn *in, move_fn *move);

move_fn move_same, move_permute, move_broadcast;

#endif
