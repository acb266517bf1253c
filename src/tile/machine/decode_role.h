/* The role of each instruction: it runs in the kernel, in the prologue, or as part of a store. */
#ifndef TILE_MACHINE_DECODE_ROLE_H
#define TILE_MACHINE_DECODE_ROLE_H

#include "tile/machine/decode.h"

/* Role of an instruction. A role of 0 or more is the index of the store that it is fused into. */
enum { ROLE_KEEP = -1, ROLE_PROLOGUE = -2 };

/* Fills role[], one entry per instruction of the kernel, from the decoded instructions p. */
int decode_roles(const struct tile_code *c, const struct decoded_insn *p, int *role, struct err *e);
/* Nonzero if the load at `at`, whose register lives from `first` to `last`, may leave its lanes
 * in the tensor: nothing writes memory while they are in use. */
int decode_may_borrow(const struct tile_code *c, int at, int first, int last);

#endif
