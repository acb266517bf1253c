/* Where each instruction of the kernel is done. */
#ifndef TILE_MACHINE_DECODE_ROLE_H
#define TILE_MACHINE_DECODE_ROLE_H

#include "tile/machine/decode.h"

enum { ROLE_KEEP = -1, ROLE_PROLOGUE = -2 };   /* else: index of the store it is fused into */

/* Fills role[] (one per instruction of the kernel) from the first decoding of its instructions. */
int decode_roles(const struct tile_code *c, const struct decoded_insn *p, int *role, struct err *e);
/* After the lives of registers are known: which loads may leave their lanes in memory. */
int decode_may_borrow(const struct tile_code *c, int at, int first, int last);

#endif
