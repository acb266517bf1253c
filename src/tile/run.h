/* Running tile code over a grid. tile_run (tile.h) is this with the engine's pool. */
#ifndef TILE_RUN_H
#define TILE_RUN_H

#include "tile/tile.h"

/* `prints`: where device_print goes, in program order (then programs run on one thread); may be
 * NULL. `cost`: added to; may be NULL. Result as tile_run. */
int tile_execute(struct pool *pool, const struct tile_code *code, const struct tile_launch *l, const struct tile_run_options *o,
		 struct tile_cost *cost, struct buf *prints, struct diag *d, struct err *e);

#endif
