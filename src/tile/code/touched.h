/* An analysis of code: the tensors of a launch that a kernel may read and write. */
#ifndef TILE_CODE_TOUCHED_H
#define TILE_CODE_TOUCHED_H

#include "tile/code/ir.h"

/* Arguments that can be told apart. A later one counts as read and written. */
enum { TOUCHED_MOST = 128 };
/* Bit i % 64 of word i / 64 represents argument i of the launch. All bits are set if a pointer is
 * loaded from memory or made from an integer. `again`: more than one instruction writes the tensor,
 * or one inside a loop. A tensor that no launch writes was never computed. */
struct touched { uint64_t written[2], read[2], again[2]; };
/* Returns 0, or -1 when memory runs out. */
int resource_touched(const struct tile_code *code, struct touched *out, struct err *e);

#endif
