/* The lanes of a load, store or atomic as rows of memory. */
#ifndef TILE_MACHINE_EXEC_ACCESS_H
#define TILE_MACHINE_EXEC_ACCESS_H

#include "tile/machine/machine.h"

/* `count` lanes from lane `lane` on. The first is at `addr`, the next ones `step` bytes apart. */
struct access_row {
	int64_t lane, count;
	char *addr;
	int64_t step;
	const struct allocation *al;        /* the tensor that the row lies in */
};

/* One access under way: first what access_init sets, then what access_open finds. */
struct access {
	struct machine *m;
	const struct tile_insn *in;
	struct mval *ptr, *mask;    /* mask NULL: all lanes are on */
	int esize;                  /* bytes of an element */
	const char *verb;           /* "load", "store" or "atomic", for messages */
	/* set by access_open */
	int boxed;                  /* the lanes are a box lo..hi of a pointer that is UNIFORM or AFFINE */
	int32_t lo[TILE_DIMS], hi[TILE_DIMS], at[TILE_DIMS]; /* boxed: the active lanes, and the next row */
	int done;                   /* boxed: all rows were taken */
	/* not boxed: the next lane, and the end of the last active group of eight */
	int64_t next, stop;
	int64_t active;             /* lanes that are on */
	const struct allocation *al;        /* the tensor of all lanes, NULL: look each lane up */
	const struct replay_footprint *footprint; /* in a replay: the recorded lanes; else NULL */
};

/* Sets what access_open needs; `mask` is the index of the mask among the sources. The rest of *a
 * is not cleared, because that would cost as much as the checks. */
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

/* Checks poison of mask and address, alignment and bounds. Returns 0, or -1 after a fault. */
int access_open(struct access *a);
/* Sets *r to the next row of active lanes. Returns 0 after the last row. */
int access_next(struct access *a, struct access_row *r);
/* Nonzero if every lane is on. */
int access_full(const struct access *a);

/* Nonzero if every lane is on and the lanes lie in memory as they would in a register. */
int access_contiguous(const struct access *a);

/* Writes the element at byte `off` of an allocation as "x_ptr[7]", for messages. */
void access_where(const struct allocation *al, int64_t off, char *out, size_t n);

#endif
