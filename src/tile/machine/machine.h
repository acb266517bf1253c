/* The tile machine's internals: values, one machine per thread, and what the exec_ files share.
 *
 * The value of a register has one of seven forms. The first three are a few words, so that the
 * offsets, masks and constants of a typical kernel are never written out. The other four use the
 * register's slot in the slab (decode_slot.c). Examples for a tile of shape [4, 8]:
 *
 *   UNIFORM  one element in every lane; every scalar is this. tl.full((4, 8), 3.0) is { u = 3.0 }.
 *   AFFINE   integers and pointers: base + sum(stride[d] * index[d]), without wrap-around.
 *            rows[:, None] * 100 + cols[None, :] is { base = 0, stride = { 100, 1 } }.
 *   BOX      bool: true exactly where lo[d] <= index[d] < hi[d] for all d.
 *            cols[None, :] < 5 is { lo = { 0, 0 }, hi = { 4, 5 } }.
 *   DENSE    32 row-major elements in `data`.
 *   ROW      floats of two dimensions whose rows are all alike: the first 8 elements of `data`.
 *   COLUMN   floats of two dimensions with one element for each row: the last 4 elements of
 *            `data`, so that they lie behind the rows that mval_dense writes before reading them.
 *   NEAR     pointers: base plus a 32-bit count of elements for each lane. The counts are the
 *            first half of `data`, since an address takes twice as many bytes.
 *
 * mval_dense writes the lanes of UNIFORM, AFFINE and BOX out and leaves their form as it is. It
 * turns ROW, COLUMN and NEAR into DENSE, because the lanes overwrite them. An exec_ function
 * reads its sources in any form that it has a short cut for and writes its results. It returns 0,
 * or -1 after it has set m->fault.
 *
 * Poison (checked mode only): bits per lane that say why a value must not matter. A lane that a
 * mask switched off has a value, but a kernel whose result depends on that value is wrong. */
#ifndef TILE_MACHINE_MACHINE_H
#define TILE_MACHINE_MACHINE_H

#include "py/diag.h"
#include "tile/machine/decode.h"
#include "tile/tile.h"

/* Forms of a value; all after MVAL_DENSE use the slot in another layout than row-major lanes. */
enum mval_form { MVAL_UNIFORM, MVAL_AFFINE, MVAL_BOX, MVAL_DENSE, MVAL_ROW, MVAL_COLUMN, MVAL_NEAR };

/* Reasons why the value of a lane must not matter. */
enum poison_bit {
	POISON_MASKED = 1,      /* lane of a load that was masked off without `other` */
	POISON_MEMORY = 2,      /* memory that was never written */
	POISON_WRAP = 4,        /* a 32-bit sum or product that wrapped around on its way to an address */
	POISON_DIV = 8,         /* integer division by zero */
	/* a scalar that one thread stored and that the other threads may not see yet */
	POISON_STALE = 16,
};

/* The value of one register. Type, shape and home never change; the form changes with each write. */
struct mval {
	uint8_t kind;               /* enum mval_form */
	uint8_t esize;              /* bytes of an element */
	uint8_t ndim;
	/* 0: none; else the bits of every lane, or the union of `pmap` if pmap_on */
	uint8_t poison;
	uint8_t pmap_on;            /* `pmap` holds the poison of each lane */
	/* `data` holds the lanes too, although the form is UNIFORM, AFFINE or BOX */
	uint8_t written;
	uint8_t dt, ptr;            /* enum dtype; ptr: a pointer to elements of that dtype */
	/* provenance of pointers: index of the parameter they were computed from, or -1 */
	int16_t prov;
	uint8_t ranged;             /* DENSE: `span` holds the least and the greatest lane */
	int32_t n;                  /* lanes */
	int32_t shape[TILE_DIMS];
	/* the element of UNIFORM, the base of AFFINE and NEAR */
	union { int64_t i; uint64_t u64; double f64; float f32; unsigned char raw[8]; } u;
	union {
		int64_t stride[TILE_DIMS];
		struct { int32_t lo[TILE_DIMS], hi[TILE_DIMS]; } box;
		/* NEAR, and DENSE if `ranged`: least and greatest number */
		struct { int32_t lo, hi; } span;
	};
	void *data; /* the lanes, where the form has any: `home`, or memory that a load borrows */
	void *home;                 /* the register's slot in the slab; of scalars &u */
	/* poison of each lane, in the checker's arena; NULL until it is first needed */
	unsigned char *pmap;
	int32_t poison_at;          /* instruction (index into code->locs) where the poison began */
};

/* The memory that a kernel may touch through one pointer parameter. Borrowed from the launch. */
struct allocation {
	char *base;                 /* first byte of the storage */
	size_t bytes;
	struct storage *st;
	struct str name;            /* name of the parameter, for messages */
	int64_t view;               /* byte offset of the parameter's element 0 in the storage */
	enum dtype dt;
	int shadow;                 /* index of the storage's shadow (checked mode) */
};

struct checker;                     /* check.h: shadow memory, checked mode only */
struct replay;
struct replay_event;
struct replay_record;

/* One machine runs program instances one after another. It owns vals and slab and borrows the
 * rest. */
struct machine {
	const struct tile_code *code;
	const struct tile_decoded *decoded;
	/* by parameter; base is NULL where the parameter is no pointer */
	const struct allocation *allocs;
	struct mval *vals;                  /* by register */
	unsigned char *slab;                /* slots, then scratch, then combine */
	int ready;                          /* machine_prologue has run */
	/* program instance, grid, and the instance's number in the grid */
	int64_t pid[3], grid[3], linear;
	unsigned char poison_byte;          /* fill byte of undefined lanes */
	int zero_off;                       /* as in tile_run_options */
	struct checker *check;              /* NULL: fast mode */
	struct tile_cost cost;              /* of the instances so far */
	struct diag *fault;                 /* target of fault_at; the caller's */
	int trust_hints;                    /* as in tile_run_options */
	int sampled;                        /* only some instances of the grid run (known_memory.h) */
	const struct tile_run_options *o;
	/* record of this launch that is being made, NULL: none (replay.h) */
	struct replay_record *record;
	const struct replay *replay;        /* record that this launch repeats, NULL: the code runs */
	const struct replay_event *event;   /* current step of that record */
	/* enum unknown_read: what this instance has read of unknown memory; set by the last load */
	unsigned char unsure, guess;
	int64_t fuel;                       /* operations that this thread may still do */
	int64_t *fuel_pool;                 /* shared pool that refuel takes from; NULL: no limit */
	unsigned char *scratch[4];          /* decoded->scratch_bytes each; valid within one instruction */
	unsigned char *combine;             /* decoded->combine_bytes, handed out by combine_room */
	size_t combine_used;                /* bytes of `combine` in use */
	struct buf *prints;                 /* output of device_print, NULL: dropped */
};

/* Executes one instruction. Returns 0, or -1 after a fault. */
typedef int exec_fn(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p);

/* The value of result k and of source k of an instruction. */
static inline struct mval *mval_dst(struct machine *m, const struct tile_insn *in, int k)
{
	return &m->vals[tile_dst(in, k)];
}
static inline struct mval *mval_src(struct machine *m, const struct tile_insn *in, int k)
{
	return &m->vals[tile_src(in, k)];
}

/* Writes the lanes out unless they already are and returns `data`. ROW, COLUMN and NEAR become
 * DENSE; the other forms stay. */
void *mval_dense(struct mval *v);
/* The element of a COLUMN's first row. */
static inline char *mval_column(const struct mval *v)
{
	return (char *)v->data + (size_t)(v->n - v->shape[0]) * v->esize;
}
/* Makes v a DENSE result (UNIFORM for a scalar) without poison; returns where to write the lanes. */
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
/* Makes v UNIFORM with the integer x. */
void mval_set_int(struct mval *v, int64_t x);
/* The operand of an elementwise kernel: the one element of UNIFORM, the lanes of DENSE. */
static inline const void *mval_lanes(const struct mval *v)
{
	return v->kind == MVAL_UNIFORM ? (const void *)&v->u : v->data;
}
/* Forgets what was cached about the old value; called before each write. */
static inline void mval_renew(struct mval *v) { v->written = 0; v->ranged = 0; }
/* Least and greatest lane of an integer that is UNIFORM, AFFINE, or DENSE of type int32. Returns
 * 0, or -1 for any other form. */
int mval_range(struct mval *v, int64_t *lo, int64_t *hi);
/* dst = src of the same type, lanes included. Poison is the caller's business. */
void mval_copy(struct mval *dst, struct mval *src);

/* Fills m->fault with the reason, the kernel, the line of `loc` and the program instance, and
 * returns -1. The text becomes "TEXT in program instance (6,0,0)", followed by "; HINT" where
 * fault_hint is given one. A hint says what to do: "is a mask missing?". fault_text takes the
 * text as it is, for messages that name the instances themselves. */
int fault_at(struct machine *m, int32_t loc, enum reason r, const char *fmt, ...) PRINTF_LIKE(4, 5);
int fault_hint(struct machine *m, int32_t loc, enum reason r, const char *hint, const char *fmt, ...) PRINTF_LIKE(5, 6);
int fault_text(struct machine *m, int32_t loc, enum reason r, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* --- poison, checked mode only (check_poison.c) --------------------------------------- */
/* Spreads v->poison over v->pmap if it is not per lane yet. Returns 0, or -1 when out of memory. */
int poison_map(struct machine *m, struct mval *v);
/* v->pmap with room for all lanes and undefined contents; NULL (and a fault) when out of memory. */
unsigned char *poison_room(struct machine *m, struct mval *v);
/* Gives every lane of every result the union of all source lanes. Always returns 0. */
int poison_all(struct machine *m, const struct tile_insn *in);
static inline int poisoned(const struct mval *v) { return v->poison; }
static inline int any_poison(struct machine *m, const struct tile_insn *in)
{
	for (int k = 0; k < in->n_src; k++)
		if (mval_src(m, in, k)->poison)
			return 1;
	return 0;
}
/* Reports that the poison of v in `lane` decided something. `what` is it: "a branch", "an
 * address". */
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

/* Integer and pointer arithmetic in the short forms (exec_lazy.c). Returns 1 if d is done, 0 if
 * there is no short cut; then nothing has changed. */
int lazy_binary(const struct tile_insn *in, struct mval *d, struct mval *a, struct mval *b);
int lazy_cast(struct mval *d, const struct mval *a);

/* Calls a combine or map function over n lanes. Arguments and results are dense arrays. */
int call_func(struct machine *m, const struct tile_insn *in, int func, int n, unsigned char *const *args,
	      unsigned char *const *results);
/* Runs the instructions whose results are the same in every program instance, once per machine. */
int machine_prologue(struct machine *m);
/* Runs function `func` from its first instruction to its end. Returns 0, or -1 after a fault. */
int machine_exec(struct machine *m, int func);

#endif
