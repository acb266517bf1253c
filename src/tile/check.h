/* Checked mode: poison, shadow memory, reports. Programs run one after another in it, so
 * nothing here is shared between threads.
 *
 * Shadow memory keeps, per element of a storage, who wrote it last and who read it, with the
 * line. Two programs of a grid are unordered, so any touch by one of what another wrote, or
 * a write of what another read, is a race, unless an atomic on a common address lies between
 * (the first program's after its access, the second's before). A second store of the very
 * same bytes is counted, not reported. */
#ifndef TILE_CHECK_H
#define TILE_CHECK_H

#include "tile/check_row.h"
#include "tile/execute.h"
#include "tile/machine.h"

/* One entry of each array per granule. */
struct shadow {
	struct storage *st;
	int granule;                /* bytes */
	uint32_t *writer, *reader;  /* base + program + 1, none if not above base; SHADOW_FLAG: atomic / several readers */
	uint16_t *wloc, *rloc;      /* places, 0 where there are too many to number */
	uint32_t *wepoch, *repoch;  /* atomics that program had done by then; NULL: the kernel has none */
};

/* Scalar atomics a program has done, in order. */
struct sync_log {
	struct { uint64_t *v; size_t n, cap; } addr;
};

struct checker {
	struct shadow *shadows;
	int n_shadows;
	uint32_t base;
	struct sync_log *sync;      /* by linear program id */
	int64_t programs;
	int64_t unique;             /* bytes touched at least once */
	int64_t benign;             /* stores of bytes that another program had stored already */
	struct arena mem;           /* poison maps */
	unsigned char *pending;     /* poison of the operation under way, largest tile */
};

int checker_init(struct checker *c, struct shadow_pool *pool, const struct tile_decoded *decoded, struct allocation *allocs, int n,
		 int64_t programs, struct err *e);
void checker_release(struct checker *c);

/* An instruction in checked mode: poison before, the operation, poison after. */
int check_exec(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p);

/* `count` elements of `esize` bytes, `step` bytes apart from `off` in the storage. 0, or -1 after a fault. */
int check_load(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int64_t step, int64_t count, int esize);
/* `value`: the bytes about to be stored (before they are), `vstep` bytes apart. */
/* No two lanes of an opened store write different values to one element; vstep 0: one value. */
struct access;
int check_lanes(const struct access *opened, const char *value, int64_t vstep);
int check_store(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int64_t step, int64_t count, int esize,
		const char *value, int64_t vstep);
int check_atomic(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int esize, int scalar);

#endif
