/* Checked mode: poison, shadow memory, reports. Programs run one after another in it, so
 * nothing here is shared between threads.
 *
 * Shadow memory keeps, per element of a storage, who wrote it last and who read it, with the
 * line. Two programs of a grid are unordered, so any touch by one of what another wrote, or
 * a write of what another read, is a race, unless an atomic on a common address lies between
 * (the first program's after its access, the second's before, with the semantics and the scope
 * that such an order needs). A second store of the very same bytes is counted, not reported.
 *
 * Lanes of one program are unordered as well: Triton orders them for what it keeps in shared
 * memory, never for global memory. What one lane stored, another may touch only after a
 * barrier: tl.debug_barrier, or the one inside an operation that exchanges values between
 * warps. A lane is known by its place in its tile: tiles of one size have one layout. Scalars
 * are stored by the first thread and loaded by all: what it stored is good for another scalar
 * store, for nothing else. */
#ifndef TILE_MACHINE_CHECK_H
#define TILE_MACHINE_CHECK_H

#include "tile/machine/check_row.h"
#include "tile/machine/exec_access.h"
#include "tile/machine/execute.h"
#include "tile/machine/machine.h"

enum { LANE_BITS = 20 };            /* lanes of the largest tile; above them, its size as a power of two */
#define LANE_MANY UINT32_MAX        /* several lanes */

/* Who touched an element within its program, and after how many barriers. */
struct lane_mark { uint32_t lane, barrier; };

/* One entry of each array per granule. */
struct shadow {
	struct storage *st;
	int granule, shift;         /* bytes, and their logarithm */
	/* base + program + 1, none if not above base; SHADOW_FLAG: atomic / several readers;
	 * NULL: the kernel does not write here, and nobody can meet anybody */
	uint32_t *writer, *reader;
	uint16_t *wloc, *rloc;      /* places, 0 where there are too many to number */
	/* atomics that program had done by then; NULL: the kernel has none, or does not write here */
	uint32_t *wepoch, *repoch;
	struct lane_mark *wlane, *rlane;    /* NULL: no lane can meet another's element here */
	int reads, writes;          /* of how many parameters and places */
};

/* Scalar atomics a program has done, in order. */
struct sync_done {
	uint64_t addr;
	uint32_t barrier;           /* barriers that lay before it */
	int acquire, release;       /* orders what comes after it, what came before it, as other programs see them */
};
struct sync_log {
	struct { struct sync_done *v; size_t n, cap; } done;
};

struct checker {
	struct shadow *shadows;
	int n_shadows;
	uint32_t base;
	struct sync_log *sync;      /* by linear program id */
	int64_t programs;
	uint32_t barrier;           /* barriers so far, of all programs */
	int one_warp;               /* no operation needs to exchange values between warps */
	int stale;                  /* the scalar load under way reads what one thread stored without a barrier */
	int64_t benign;             /* stores of bytes that another program had stored already */
	struct arena mem;           /* poison maps */
	unsigned char *pending;     /* poison of the operation under way, largest tile */
};

int checker_init(struct checker *c, struct shadow_pool *pool, const struct tile_code *code,
		 struct allocation *allocs, int num_warps,
		 int64_t programs, struct err *e);
void checker_release(struct checker *c);

/* An instruction in checked mode: poison before, the operation, poison after. */
int check_exec(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p);

/* Lanes of an opened access, a row at a time. 0, or -1 after a fault. */
int check_load(const struct access *a, const struct access_row *r);
/* `value`: the bytes about to be stored (before they are), `vstep` bytes apart. */
int check_store(const struct access *a, const struct access_row *r, const char *value, int64_t vstep);
int check_atomic(const struct access *a, int64_t lane, const struct allocation *al, int64_t off);
/* No two lanes of an opened store write different values to one element; vstep 0: one value. */
int check_lanes(const struct access *opened, const char *value, int64_t vstep);

#endif
