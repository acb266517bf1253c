/* How accesses of a program fall on memory: see probe.h. Private to the probe. */
#ifndef TILE_ESTIMATE_PROBE_MEMORY_H
#define TILE_ESTIMATE_PROBE_MEMORY_H

#include "tile/machine/machine.h"
#include "tile/estimate/probe.h"
#include "tile/estimate/probe_axis.h"

/* Sectors that were touched: in this program, and lately. */
struct probe_cache {
	uint64_t *seen;             /* open addressing; each entry a sector and the program it was seen in */
	uint64_t *recent;           /* direct-mapped, what a first-level cache holds */
	uint32_t program;
};

int probe_cache_init(struct probe_cache *c, struct err *e);
void probe_cache_release(struct probe_cache *c);
/* Another program begins: nothing was touched. */
void probe_cache_next(struct probe_cache *c);

enum probe_access { PROBE_LOAD, PROBE_STORE, PROBE_ATOMIC };

/* One load, store or atomic that stands for `weight` of them. `ptr` and `mask` are written out. Gives the
 * dimension along which threads take neighbours. */
struct probe_target {
	enum probe_access kind;
	struct mval *ptr, *mask;            /* `mask` may be NULL */
	const struct axis_info *axis;       /* of the pointers */
	double weight;
};
int probe_access(struct probe *p, struct probe_cache *c, const struct machine *m, const struct probe_target *t);

#endif
