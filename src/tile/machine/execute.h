/* Runs tile code over a grid. tile_run (tile.h) calls this with the engine's thread pool. */
#ifndef TILE_MACHINE_EXECUTE_H
#define TILE_MACHINE_EXECUTE_H

#include "tile/tile.h"

/* Shadow memory of checked mode, kept from run to run. Instances are numbered across runs: after a
 * run of 64 instances the next one starts at 65. So marks of earlier runs have lower numbers and
 * need not be cleared. One run at a time. */
struct lane_mark;
struct shadow_pool {
	uint32_t *ids;              /* two per element: numbers of writer and reader */
	uint16_t *locs;             /* two per element: instructions of writer and reader */
	uint32_t *epochs;           /* two per element, for kernels with atomics */
	struct lane_mark *lanes;    /* two per element of storages where lanes may meet */
	size_t n_ids, n_locs, n_epochs, n_lanes; /* entries of each array */
	uint32_t base;              /* numbers up to this one belong to earlier runs */
};
void shadow_pool_release(struct shadow_pool *p);

struct replay_store;
struct checked_launches;
/* Resources of a run; all borrowed. Fields may be NULL. */
struct tile_runner {
	struct pool *pool;              /* NULL: one thread */
	struct shadow_pool *shadows;    /* NULL: made for the run and freed after it */
	struct replay_store *replays;   /* records of launches, made and used (replay.h); NULL: none */
	struct checked_launches *checked;   /* launches that were checked; NULL: nobody asks */
	/* Output of device_print, in the order of the instances (the run then takes one thread). */
	struct buf *prints;
};

/* Runs one launch. `runner` may be NULL. The cost is added to *cost, which may be NULL. The
 * result is that of tile_run. */
int tile_execute(const struct tile_runner *runner, const struct tile_code *code, const struct tile_launch *l,
		 const struct tile_run_options *o, struct tile_cost *cost, struct diag *d, struct err *e);

/* A machine with the arguments of a launch bound, for a caller that walks through the instances
 * in its own way (estimate/probe.c). Its tensors need no contents. */
struct machine;
struct allocation;
struct mval;
struct bare_machine {
	struct machine *m;
	struct allocation *allocs;      /* by parameter; owned */
	struct mval *bound;             /* by parameter: its scalar or address; owned */
	struct diag fault;
};
/* Call bare_machine_close in any case. */
int bare_machine_open(struct bare_machine *b, const struct tile_code *code, const struct tile_launch *l,
		      struct err *e);
void bare_machine_close(struct bare_machine *b);
/* Makes the machine the id-th instance of the grid, before its first instruction. */
void bare_machine_enter(struct bare_machine *b, int64_t id);

#endif
