/* Running tile code over a grid. tile_run (tile.h) is this with the engine's pool. */
#ifndef TILE_MACHINE_EXECUTE_H
#define TILE_MACHINE_EXECUTE_H

#include "tile/tile.h"

/* Shadow memory of checked mode, kept from run to run. Programs are numbered on and on, so that
 * what earlier runs left behind is old by its number and need not be cleared. One run at a time. */
struct lane_mark;
struct shadow_pool {
	uint32_t *ids;              /* two per element: writer and reader */
	uint16_t *locs;             /* two per element: their places */
	uint32_t *epochs;           /* two per element, for kernels with atomics */
	struct lane_mark *lanes;    /* two per element of storages where lanes may meet */
	size_t n_ids, n_locs, n_epochs, n_lanes;
	uint32_t base;              /* numbers up to this one are of earlier runs */
};
void shadow_pool_release(struct shadow_pool *p);

struct replay_store;
struct checked_launches;
struct tile_runner {
	struct pool *pool;              /* NULL: one thread */
	struct shadow_pool *shadows;    /* NULL: made for the run and thrown away */
	struct replay_store *replays;   /* records of launches, made and used (replay.h); NULL: none */
	struct checked_launches *checked;   /* launches that were checked; NULL: nobody asks */
	/* where device_print goes, in program order (then on one thread); NULL: nowhere */
	struct buf *prints;
};

/* `runner` may be NULL. `cost`: added to; may be NULL. Result as tile_run. */
int tile_execute(const struct tile_runner *runner, const struct tile_code *code, const struct tile_launch *l,
		 const struct tile_run_options *o, struct tile_cost *cost, struct diag *d, struct err *e);

/* A machine with a launch's arguments, for who walks through programs in another way (probe.c). Its
 * memory is what the tensors say, which need not be there. */
struct machine;
struct allocation;
struct mval;
struct bare_machine {
	struct machine *m;
	struct allocation *allocs;      /* by parameter */
	struct mval *bound;
	struct diag fault;
};
/* bare_machine_close in any case */
int bare_machine_open(struct bare_machine *b, const struct tile_code *code, const struct tile_launch *l, struct err *e);
void bare_machine_close(struct bare_machine *b);
/* Makes it the id-th program of the grid, before its first instruction. */
void bare_machine_enter(struct bare_machine *b, int64_t id);

#endif
