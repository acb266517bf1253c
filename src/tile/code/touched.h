/* Which tensors of a launch a kernel may read and write, worked out from its code. */
#ifndef TILE_CODE_TOUCHED_H
#define TILE_CODE_TOUCHED_H

#include "tile/code/ir.h"

/* Which launch arguments a run may write and read through: bit i of words[i / 64], all of them where
 * a pointer is loaded or made of an integer. A tensor that no launch writes was never computed.
 * `again`: more than one instruction writes it, or one in a loop. */
enum { TOUCHED_MOST = 128 };
struct touched { uint64_t written[2], read[2], again[2]; };
int resource_touched(const struct tile_code *code, struct touched *out, struct err *e);

#endif
