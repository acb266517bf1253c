/* Checked mode: poison, shadow memory and their reports. Program instances run one after another
 * in it, so nothing here is shared between threads.
 *
 * Shadow memory keeps, for each element of a storage, which instance wrote it last and which read
 * it, each with its line. Two instances of a grid are unordered. If one writes an element and
 * another touches it, that is a race, unless atomics order the two: the first instance does a
 * release atomic after its access, the second an acquire atomic on the same address before its
 * own. A second store of the very same bytes is counted (`benign`), not reported.
 *
 * Lanes of one instance are unordered as well: Triton orders them for what it keeps in shared
 * memory, never for global memory. Once a lane has stored an element, another lane may touch that
 * element only after a barrier: tl.debug_barrier, or the one inside an operation that exchanges
 * values between warps. A lane is identified by its position in its tile, because tiles of one
 * size have one layout. A scalar is stored by the first thread and loaded by all, so without a
 * barrier a stored scalar may only be used for another scalar store. */
#ifndef TILE_MACHINE_CHECK_H
#define TILE_MACHINE_CHECK_H

#include "tile/machine/check_row.h"
#include "tile/machine/exec_access.h"
#include "tile/machine/execute.h"
#include "tile/machine/machine.h"

/* A lane mark has the lane in its low bits and the logarithm of the tile's size above them. Lane
 * 3 of a tile of 256 is 8 << 20 | 3. */
enum { LANE_BITS = 20 };
#define LANE_MANY UINT32_MAX        /* several lanes of the instance */

/* The lane of the instance that touched an element, and the number of barriers before that. */
struct lane_mark { uint32_t lane, barrier; };

/* Shadow of one storage. Each array has one entry per granule; all are borrowed from the
 * shadow_pool. */
struct shadow {
	struct storage *st;
	/* bytes of the smallest element that looks at the storage, and their logarithm */
	int granule, shift;
	/* Number of the instance: base + instance + 1; a number up to base is of an earlier run.
	 * SHADOW_FLAG on a writer: by an atomic; on a reader: several instances read it.
	 * NULL: the kernel does not write this storage, so no race is possible. */
	uint32_t *writer, *reader;
	uint16_t *wloc, *rloc;      /* code->locs index of the access; 0 where it is above 65535 */
	/* Atomics that the instance had done before the access; NULL: the kernel has no atomics. */
	uint32_t *wepoch, *repoch;
	struct lane_mark *wlane, *rlane;    /* NULL: no element of this storage is touched twice */
	int reads, writes;          /* how many parameters and instructions read and write it */
};

/* One scalar atomic of an instance. Acquire orders the accesses after it, release those before it,
 * as other instances see them. */
struct sync_done {
	uint64_t addr;
	uint32_t barrier;           /* value of checker.barrier when it was done */
	int acquire, release;
};
/* The scalar atomics of one instance, in order. */
struct sync_log {
	struct { struct sync_done *v; size_t n, cap; } done;
};

/* State of one checked run; owned by tile_execute. */
struct checker {
	struct shadow *shadows;
	int n_shadows;
	uint32_t base;              /* instance i has the number base + i + 1 */
	struct sync_log *sync;      /* by instance; NULL: the kernel has no atomics */
	int64_t programs;           /* instances of the launch */
	uint32_t barrier;           /* barriers so far, of all instances */
	int one_warp; /* the launch has one warp, so no operation exchanges values between warps */
	int stale; /* the current scalar load reads what one thread stored since the last barrier */
	int64_t benign;             /* stores of bytes that another instance had already stored */
	struct arena mem;           /* poison maps */
	unsigned char *pending;     /* poison of the current operation, room for the largest tile */
};

/* Sizes the shadows for the storages that the kernel writes. Call checker_release in any case. */
int checker_init(struct checker *c, struct shadow_pool *pool, const struct tile_code *code,
		 struct allocation *allocs, int num_warps,
		 int64_t programs, struct err *e);
void checker_release(struct checker *c);

/* Executes one instruction in checked mode: source poison, the operation, result poison,
 * barriers. */
int check_exec(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p);

/* Checks and marks the lanes of one row of a load. Returns 0, or -1 after a fault. */
int check_load(const struct access *a, const struct access_row *r);
/* The same for a store, before memory changes. `value` holds the bytes to be stored, `vstep`
 * bytes apart. */
int check_store(const struct access *a, const struct access_row *r, const char *value, int64_t vstep);
/* The same for one lane of an atomic at byte `off` of the allocation. */
int check_atomic(const struct access *a, int64_t lane, const struct allocation *al, int64_t off);
/* Faults if two lanes of one store write different values to one element. `vstep` 0 means one
 * value for all lanes, which is always fine. */
int check_lanes(const struct access *opened, const char *value, int64_t vstep);

#endif
