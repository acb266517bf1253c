/* The kinds of numbers that a kernel computes from the sizes of a launch: is a quotient zero, which
 * operand of a minimum is the smaller, can a comparison hold? A kernel that behaves alike at two
 * sizes computes the same kinds at both, so a difference tells the judge that smaller sizes would
 * not test everything.
 *
 * Nothing is run: the cost is about that of reading the code. A value that depends on memory is
 * unknown. A value that depends on the program id or the lane is known as a range. */
#ifndef TILE_CODE_VALUE_KINDS_H
#define TILE_CODE_VALUE_KINDS_H

#include "tile/tile.h"

/* Calls `tell` for each kind: the index of the instruction that computes the value, and the kind.
 * Returns 0, or -1 when memory runs out. */
int tile_value_kinds(const struct tile_code *code, const struct tile_launch *l,
		     void (*tell)(void *ctx, int index, int kind), void *ctx, struct err *e);

#endif
