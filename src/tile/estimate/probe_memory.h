/* How the accesses of an instance fall on memory: see probe.h. Private to the probe. */
#ifndef TILE_ESTIMATE_PROBE_MEMORY_H
#define TILE_ESTIMATE_PROBE_MEMORY_H

#include "tile/machine/machine.h"
#include "tile/estimate/probe.h"
#include "tile/estimate/probe_axis.h"

/* Sectors that were touched: by this instance, and shortly before. Tables are owned. */
struct probe_cache {
	/* open addressing; an entry is a sector and the instance that touched it */
	uint64_t *seen;
	uint64_t *recent;           /* direct-mapped, like a first-level cache */
	uint32_t program;           /* number of the instance */
};

int probe_cache_init(struct probe_cache *c, struct err *e);
void probe_cache_release(struct probe_cache *c);
/* Another instance begins: it has touched nothing. */
void probe_cache_next(struct probe_cache *c);

enum probe_access { PROBE_LOAD, PROBE_STORE, PROBE_ATOMIC };

/* One load, store or atomic that represents `weight` of them. probe_access writes `ptr` and `mask`
 * out and returns the dimension along which threads take neighbours. */
struct probe_target {
	enum probe_access kind;
	struct mval *ptr, *mask;            /* `mask` may be NULL */
	const struct axis_info *axis;       /* the compiler's knowledge about the pointer */
	double weight;
};
int probe_access(struct probe *p, struct probe_cache *c, const struct machine *m, const struct probe_target *t);

#endif
