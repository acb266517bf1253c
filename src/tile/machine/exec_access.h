/* The lanes of a load, store or atomic as rows of memory. */
#ifndef TILE_MACHINE_EXEC_ACCESS_H
#define TILE_MACHINE_EXEC_ACCESS_H

#include "tile/machine/machine.h"

/* `count` lanes from lane `lane` on, the first at `addr`, `step` bytes apart. */
struct access_row {
	int64_t lane, count;
	char *addr;
	int64_t step;
	const struct allocation *al;
};

struct access {
	struct machine *m;
	const struct tile_insn *in;
	struct mval *ptr, *mask;     /* mask NULL: all lanes */
	int esize;
	const char *verb;           /* "load", for reports */
	/* by access_open */
	int boxed;                  /* lanes are box lo..hi of an affine pointer */
	int32_t lo[TILE_DIMS], hi[TILE_DIMS], at[TILE_DIMS];
	int done;
	int64_t next, stop;         /* lanes, when not boxed: the next one; none is on from there */
	int64_t active;             /* lanes that are on, when boxed */
	const struct allocation *al;/* of all lanes, NULL: look up each */
	const struct replay_footprint *footprint;/* in a replay: the lanes */
	int64_t min, max;           /* byte addresses that were checked */
};

/* What access_open needs; the rest of *a is not cleared, which would cost as much as the checks. */
static inline void access_init(struct access *a, struct machine *m, const struct tile_insn *in, int mask,
			       int esize, const char *verb)
{
	a->m = m;
	a->in = in;
	a->ptr = mval_src(m, in, 0);
	a->mask = in->n_src > mask ? mval_src(m, in, mask) : NULL;
	a->esize = esize;
	a->verb = verb;
}

/* Checks poison of mask and address, alignment and bounds. 0, or -1 after a fault. */
int access_open(struct access *a);
/* The next row; 0: no more. */
int access_next(struct access *a, struct access_row *r);
/* Nonzero if every lane is on. */
int access_full(const struct access *a);

/* Nonzero if every lane is on and they lie in memory as in a register. */
int access_contiguous(const struct access *a);

/* Writes the element at byte `off` of an allocation as "x_ptr[7]", for messages. */
void access_where(const struct allocation *al, int64_t off, char *out, size_t n);

#endif
