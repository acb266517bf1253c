/* The tile machine, inside: values, one machine per thread, what the exec_ files share.
 *
 * A register's value has one of seven forms. The first three are a few words, so that offsets, masks and
 * constants of a typical kernel are never written out; the others are in its slot:
 *
 *   UNIFORM  one element in every lane (every scalar is this)
 *   AFFINE   integers and pointers: base + sum(stride[d] * index[d]), without wrap-around
 *   BOX      bool: true exactly where lo[d] <= index[d] < hi[d] for all d
 *   DENSE    row-major elements in `data`
 *   ROW      floats of two dimensions, all rows the same one, which is the first of `data`
 * COLUMN   floats of two dimensions, one element in all of a row: they are the last of `data`, as
 * many as there are rows
 *   NEAR     pointers: base + a number of elements, of 32 bits; these numbers are the first half of `data`
 *
 * mval_dense writes the lanes out beside any of the first three forms, and makes the last three,
 * whose places it needs, DENSE. An exec_ function reads its sources in whatever form it has a short
 * cut for, writes its results, and returns 0, or -1 after m->fault was set.
 *
 * Poison (checked mode): bits per lane that say why a value must not matter. */
#ifndef TILE_MACHINE_MACHINE_H
#define TILE_MACHINE_MACHINE_H

#include "py/diag.h"
#include "tile/machine/decode.h"
#include "tile/tile.h"

enum mval_form { MVAL_UNIFORM, MVAL_AFFINE, MVAL_BOX, MVAL_DENSE, MVAL_ROW, MVAL_COLUMN, MVAL_NEAR };

enum poison_bit {
	POISON_MASKED = 1,      /* lane of a load that was masked off without `other` */
	POISON_MEMORY = 2,      /* memory that was never written */
	POISON_WRAP = 4,        /* a 32-bit sum or product that wrapped around */
	POISON_DIV = 8,         /* integer division by zero */
	POISON_STALE = 16,      /* a scalar that one thread stored and the others may not see yet */
};

struct mval {
	uint8_t kind;
	uint8_t esize;              /* bytes of an element */
	uint8_t ndim;
	uint8_t poison;             /* 0: none; else bits of every lane, or of some if pmap_on */
	uint8_t pmap_on;
	uint8_t written;            /* `data` holds the lanes too, whatever the form */
	uint8_t dt, ptr;
	int16_t prov;               /* pointers: parameter they came from, -1: unknown */
	uint8_t ranged;             /* DENSE: `span` is known */
	int32_t n;                  /* lanes */
	int32_t shape[TILE_DIMS];
	/* UNIFORM element, AFFINE and NEAR base */
	union { int64_t i; uint64_t u64; double f64; float f32; unsigned char raw[8]; } u;
	union {
		int64_t stride[TILE_DIMS];
		struct { int32_t lo[TILE_DIMS], hi[TILE_DIMS]; } box;
		struct { int32_t lo, hi; } span;    /* NEAR, and DENSE that is ranged: no number is outside */
	};
	void *data;                 /* where DENSE lanes are: `home`, or memory borrowed by a load */
	void *home;                 /* slot; scalars: &u */
	unsigned char *pmap;        /* per lane poison, made when first needed */
	int32_t poison_at;          /* instruction (loc) that made it */
};

/* Memory a kernel may touch through a parameter. */
struct allocation {
	char *base;
	size_t bytes;
	struct storage *st;
	struct str name;            /* parameter, for reports */
	int64_t view;               /* byte offset of the parameter's element 0 */
	enum dtype dt;
	int shadow;                 /* index of the shadow this storage uses (checked mode) */
};

struct checker;                     /* check.h: shadow memory, checked mode only */
struct replay;
struct replay_event;
struct replay_record;

struct machine {
	const struct tile_code *code;
	const struct tile_decoded *decoded;
	const struct allocation *allocs;    /* by parameter; base NULL where it is no pointer */
	struct mval *vals;
	unsigned char *slab;
	int ready;                          /* the prologue was done */
	int64_t pid[3], grid[3], linear;
	unsigned char poison_byte;
	int zero_off;                       /* as tile_run_options has it */
	struct checker *check;              /* NULL: fast mode */
	struct tile_cost cost;
	struct diag *fault;
	int trust_hints;                    /* as tile_run_options has it */
	int sampled;                        /* only some programs are run: known.h */
	const struct tile_run_options *o;
	struct replay_record *record;       /* of this launch, NULL: none (replay.h) */
	const struct replay *replay;        /* that is done again, NULL: none */
	const struct replay_event *event;   /* of it, under way */
	unsigned char unsure, guess;        /* what this program has read that nobody knows */
	int64_t fuel;                       /* left to this thread */
	int64_t *fuel_pool;                 /* where more comes from; NULL: no limit */
	unsigned char *scratch[4];          /* decoded->scratch_bytes each */
	unsigned char *combine;             /* decoded->combine_bytes, for combine and map functions */
	size_t combine_used;
	struct buf *prints;                 /* device_print output, NULL: dropped */
};

typedef int exec_fn(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p);

static inline struct mval *mval_dst(struct machine *m, const struct tile_insn *in,
				    int k) { return &m->vals[tile_dst(in, k)]; }
static inline struct mval *mval_src(struct machine *m, const struct tile_insn *in,
				    int k) { return &m->vals[tile_src(in, k)]; }

/* Writes the lanes out if they are not; returns data. The form stays, unless it is ROW, COLUMN or NEAR. */
void *mval_dense(struct mval *v);
/* Where a COLUMN has the element of its first row. */
static inline char *mval_column(const struct mval *v) { return (char *)v->data + (size_t)(v->n - v->shape[0]) *
							v->esize; }
/* Makes v a DENSE result (UNIFORM for a scalar) without poison; returns where to write. */
static inline void *mval_result(struct mval *v)
{
	v->kind = v->home == &v->u ? MVAL_UNIFORM : MVAL_DENSE;
	v->poison = 0;
	v->pmap_on = 0;
	return v->data;
}
static inline void mval_clear_poison(struct mval *v) { v->poison = 0; v->pmap_on = 0; }
/* A UNIFORM integer, pointer or bool as i64. */
int64_t mval_int(const struct mval *v);
void mval_set_int(struct mval *v, int64_t x);         /* becomes UNIFORM */
/* Pointer to the data of a UNIFORM or DENSE value for a kernel. */
static inline const void *mval_lanes(const struct mval *v) { return v->kind == MVAL_UNIFORM ?
							     (const void *)&v->u : v->data; }
/* It is about to be given another value. */
static inline void mval_renew(struct mval *v) { v->written = 0; v->ranged = 0; }
/* Least and greatest lane of an UNIFORM or AFFINE integer, or a DENSE one of 32 signed bits; 0 if it is one of those. */
int mval_range(struct mval *v, int64_t *lo, int64_t *hi);
/* dst = src (same type), poison included. */
void mval_copy(struct mval *dst, struct mval *src);

/* Faults: fill m->fault with kernel, line, program; return -1. */
int fault_at(struct machine *m, int32_t loc, enum reason r, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* --- poison, checked mode only (check_poison.c) --------------------------------------- */
int poison_map(struct machine *m, struct mval *v);       /* v->pmap valid, holding all lanes; -1: memory */
unsigned char *poison_room(struct machine *m, struct mval *v);   /* v->pmap with room, contents undefined */
/* Every result lane gets the union of all source lanes. */
int poison_all(struct machine *m, const struct tile_insn *in);
static inline int poisoned(const struct mval *v) { return v->poison; }
static inline int any_poison(struct machine *m, const struct tile_insn *in)
{
	for (int k = 0; k < in->n_src; k++)
		if (mval_src(m, in, k)->poison)
			return 1;
	return 0;
}
/* A poisoned value decided something: `what` ("a branch", "the address of a load"). */
int poison_fault(struct machine *m, int32_t loc, const struct mval *v, int64_t lane, const char *what);

/* --- the op families ---------------------------------------------------------------- */
exec_fn exec_nullary, exec_arange, exec_program, exec_mov;                      /* exec_shape.c */
exec_fn exec_splat, exec_broadcast, exec_expand, exec_reshape, exec_permute;
exec_fn exec_join, exec_split, exec_cat, exec_flip;                             /* exec_move.c */
exec_fn exec_gather, exec_histogram, exec_sort, exec_topk;                      /* exec_sort.c */
exec_fn exec_cast, exec_bitcast;                                                /* exec_cast.c */
exec_fn exec_elem1, exec_elem2, exec_elem3, exec_norm4d, exec_select, exec_float_to_int;   /* exec_elem.c */
exec_fn exec_addptr;                                                            /* exec_lazy.c */
exec_fn exec_load, exec_store, exec_store_fused;                                /* exec_mem.c */
exec_fn exec_aligned, exec_hint, exec_assume, exec_barrier;                     /* exec_hint.c */
exec_fn exec_atomic, exec_cas;                                                  /* exec_atomic.c */
exec_fn exec_dot, exec_dot_scaled;                                              /* exec_dot.c */
exec_fn exec_reduce, exec_scan, exec_map;                                       /* exec_reduce.c, exec_scan.c */
exec_fn exec_assert, exec_print;                                                /* exec_print.c */

/* Integers and pointers in short form; 1: done, 0: no short cut (nothing was changed). */
int lazy_binary(const struct tile_insn *in, struct mval *d, struct mval *a, struct mval *b);
int lazy_cast(struct mval *d, const struct mval *a);

/* A combine or map function over n lanes: parameters and results as dense arrays. */
int call_func(struct machine *m, const struct tile_insn *in, int func, int n, unsigned char *const *args,
	      unsigned char *const *results);
/* What is the same in every program, once. */
int machine_prologue(struct machine *m);
/* Runs function `func` from its first instruction. */
int machine_exec(struct machine *m, int func);

#endif
