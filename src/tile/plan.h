/* What the machine works out about verified code before it runs it: jump targets, slots of
 * registers, where pointers come from. Private to src/tile. */
#ifndef TILE_PLAN_H
#define TILE_PLAN_H

#include "tile/ir.h"

int tile_plan_make(struct tile_code *code, struct err *e);

#endif
