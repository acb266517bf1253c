/* Triton's semantics over typed registers: what triton/language/semantic.py decides. It chooses the
 * types an operation computes in, refuses what Triton refuses, and emits the tile code. Example: `x
 * + 1` with x of type <['64'], fp16> is
 *
 *     sem_binary       asks sem_unify for operands of one type and shape
 *     sem_unify        promotes: the constant 1 becomes fp16, then a tile of 64 by splat
 *     emit             %7:fp16[64] = add %5, %6
 *
 * A `struct tv` is a run-time value: a front-end type and a register. Every function returns a
 * value or leaves through front_fail. */
#ifndef TILE_FRONT_SEM_H
#define TILE_FRONT_SEM_H

#include "tile/front/front.h"

/* A run-time value. */
struct tv { const struct ty *ty; tile_reg id; };

static inline struct lang_val lang_of(struct tv t) { return lang_tensor(t.ty, (int)t.id); }
static inline struct tv tv_of(const struct lang_val *v) { return (struct tv){ v->u.t.ty, (tile_reg)v->u.t.id }; }

/* --- emission (sem_emit.c): nothing is written while f->mute ---------------------------- */

/* The machine's type for a front-end type. A type that the machine cannot hold is recorded as
 * unsupported. */
struct tile_type emit_type(struct front *f, const struct ty *t);
/* Emits an operation with one result of type t; the n sources follow as registers. */
struct tv emit(struct front *f, enum tile_op op, const struct ty *t, int n, ...);     /* tile_reg sources */
struct tv emit_imm(struct front *f, enum tile_op op, const struct ty *t, int64_t imm, int n, ...);
void emit_do(struct front *f, enum tile_op op, int n, ...);
struct tile_insn *emit_insn(struct front *f, enum tile_op op, int n_dst, const tile_reg *dst, int n_src,
			    const tile_reg *src);
struct tile_insn *emit_last(struct front *f);
/* Memory order and scope of an atomic: enum tile_sem, enum tile_scope. */
struct tile_order { int sem, scope; };      /* enum tile_sem, enum tile_scope */
/* Sets the order of the atomic that was emitted last. */
void emit_order(struct front *f, struct tile_order order);
/* Fails for arithmetic and comparisons of fp8: Triton's front end accepts them and its back end
 * fails. */
void emit_refuse_fp8(struct front *f, const struct ty *t);
tile_reg emit_reg(struct front *f, const struct ty *t);
void emit_mov(struct front *f, tile_reg dst, tile_reg src);
void emit_if(struct front *f, tile_reg cond);
void emit_else(struct front *f);
void emit_loop(struct front *f);
void emit_block(struct front *f);
void emit_end(struct front *f);
void emit_br(struct front *f, int depth);
void emit_br_if(struct front *f, tile_reg cond, int depth);
/* Sets the source location of the following instructions to the node that is being visited. */
void emit_here(struct front *f);
struct tv emit_int(struct front *f, const struct ty *t, int64_t v);
struct tv emit_float(struct front *f, const struct ty *t, double v);

/* --- constants and casts (sem_cast.c) ----------------------------------------------------- */

/* A number or bool as a scalar tensor, by Triton's rules: the smallest of i32, u32, i64, u64;
 * floats are fp32 unless they need fp64. A tensor stays as it is. */
struct tv sem_to_tensor(struct front *f, struct lang_val v);
struct tv sem_constant(struct front *f, const struct lang_val *number, const struct ty *dtype);
struct tv sem_cast(struct front *f, struct tv x, const struct ty *dtype);
struct tv sem_cast_rounded(struct front *f, struct tv x, const struct ty *dtype, const char *rounding);
struct tv sem_bitcast(struct front *f, struct tv x, const struct ty *dtype);
struct tv sem_bf16_to_fp32(struct front *f, struct tv x);
/* The integer v cut to the width of the type, as the machine stores it. */
int64_t sem_int_bits(const struct lang_val *v, const struct ty *t);
/* Fails for the fp8 formats that the target GPU does not have. */
void sem_check_fp8(struct front *f, const struct ty *t);
/* A constant or a scalar tensor, converted to the given type. */
struct tv sem_make_scalar(struct front *f, struct lang_val v, const struct ty *dtype);

/* --- binary and unary operators (sem_binary.c) ------------------------------------------- */

/* LHS_PTR, RHS_PTR: this operand may be a pointer. NO_ARITH: keep the types, only broadcast. DIV:
 * the operator is a division. */
enum sem_flag { SEM_LHS_PTR = 1, SEM_RHS_PTR = 2, SEM_NO_ARITH = 4, SEM_DIV = 8 };
const struct ty *sem_int_promote(const struct ty *a, const struct ty *b);
/* Converts two operands (tensors or numbers) to one type and one shape. */
void sem_unify(struct front *f, struct lang_val a, struct lang_val b, int flags, struct tv *x, struct tv *y);
/* + - * / // % & | ^ << >> */
struct tv sem_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct tv sem_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct tv sem_logical(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);    /* and, or */
struct tv sem_neg(struct front *f, struct tv x);
struct tv sem_invert(struct front *f, struct tv x);
struct tv sem_not(struct front *f, struct tv x);
struct tv sem_minmax(struct front *f, int is_max, int propagate_nan, struct lang_val a, struct lang_val b);
struct tv sem_where(struct front *f, struct tv cond, struct lang_val x, struct lang_val y);
struct tv sem_clamp(struct front *f, struct tv x, struct tv lo, struct tv hi, int propagate_nan);

/* --- shapes (sem_shape.c) ------------------------------------------------------------------- */

/* The type of a block; fails where Triton's validate_block_shape does (not a power of two, too
 * large). */
const struct ty *sem_block_ty(struct front *f, const struct ty *elem, int rank, const int64_t *shape);
void sem_broadcast(struct front *f, struct tv *a, struct tv *b);
struct tv sem_broadcast_to(struct front *f, struct tv x, int rank, const int64_t *shape);
struct tv sem_splat(struct front *f, struct tv x, int rank, const int64_t *shape);
struct tv sem_reshape(struct front *f, struct tv x, int rank, const int64_t *shape);
struct tv sem_expand_dims(struct front *f, struct tv x, int axis);
struct tv sem_permute(struct front *f, struct tv x, int n, const int64_t *dims);
struct tv sem_cat_along(struct front *f, struct tv a, struct tv b, int64_t dim);
struct tv sem_join(struct front *f, struct tv a, struct tv b);
void sem_split(struct front *f, struct tv x, struct tv *a, struct tv *b);
struct tv sem_cat(struct front *f, struct tv a, struct tv b);
struct tv sem_unsplat(struct front *f, struct tv x);
struct tv sem_arange(struct front *f, int64_t start, int64_t end);
int sem_wrap_axis(struct front *f, int64_t axis, int rank);

/* --- memory (sem_memory.c, sem_block.c) --------------------------------------- */

/* The optional operands of a load or store. */
struct sem_access {
	struct lang_val mask, other;         /* NONE: absent; else tensors */
	struct lang_val boundary;  /* block pointers: dimensions to check, a tuple of ints, or NONE */
	struct str padding;
};
struct tv sem_load(struct front *f, struct tv ptr, const struct sem_access *a);
void sem_store(struct front *f, struct tv ptr, struct tv value, const struct sem_access *a);
struct tv sem_atomic(struct front *f, enum tile_rmw rmw, const char *name, struct lang_val ptr,
		     struct lang_val value, struct lang_val mask);
struct tv sem_cas(struct front *f, struct lang_val ptr, struct tv cmp, struct tv value, struct tile_order order);
struct tv sem_make_block_ptr(struct front *f, struct tv base, struct lang_val shape, struct lang_val strides,
			     struct lang_val offsets, struct lang_val block_shape, struct lang_val order);
struct tv sem_advance(struct front *f, struct tv ptr, struct lang_val offsets);
struct tv sem_load_block(struct front *f, struct tv ptr, const struct sem_access *a);
void sem_store_block(struct front *f, struct tv ptr, struct tv value, const struct sem_access *a);
struct lang_val sem_make_desc(struct front *f, struct tv base, struct lang_val shape, struct lang_val strides,
			 struct lang_val block_shape, struct str padding);
struct tv sem_desc_load(struct front *f, const struct lang_val *desc, struct lang_val offsets);
void sem_desc_store(struct front *f, const struct lang_val *desc, struct lang_val offsets, struct tv value);
void sem_desc_atomic(struct front *f, enum tile_rmw rmw, const struct lang_val *desc, struct lang_val offsets,
		     struct tv value);
struct tv sem_desc_gather(struct front *f, const struct lang_val *desc, struct tv rows, struct lang_val col);
void sem_desc_scatter(struct front *f, const struct lang_val *desc, struct tv value, struct tv rows,
		      struct lang_val col);
/* Tells the trace of tests about a stored value ("store") or an operand of a dot ("dot"). */
void sem_trace(struct front *f, const char *what, const struct ty *ty);

/* --- whole-tile operations (sem_dot.c, sem_reduce.c) ------------------------------------------ */

/* The operands of tl.dot. */
struct sem_dot {
	struct tv a, b;
	struct lang_val acc;                 /* NONE: absent */
	struct str precision;
	const struct ty *out;
	struct lang_val max_imprecise;
};
struct tv sem_dot(struct front *f, const struct sem_dot *d);
struct lang_val sem_reduce(struct front *f, struct lang_val input, struct lang_val axis,
			   const struct tile_fn *combine, int keep_dims, int *single);
struct lang_val sem_scan(struct front *f, struct lang_val input, int64_t axis, const struct tile_fn *combine,
			 int reverse);
struct lang_val sem_map(struct front *f, const struct tile_fn *fn, size_t n, const struct lang_val *args, int64_t pack);
struct tv sem_gather(struct front *f, struct tv src, struct tv index, int64_t axis);
struct tv sem_histogram(struct front *f, struct tv x, int64_t bins, struct lang_val mask);

#endif
