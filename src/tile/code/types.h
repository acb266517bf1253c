/* The front end's types, as triton.language has them: scalars, pointers, blocks.
 *
 * A type is immutable and lives in the arena it was made in (scalars are static); two types
 * are the same when ty_eq says so, never by address. A block pointer is a pointer to a
 * block. Tuples, descriptors and constexprs are values without a type here. */
#ifndef TILE_CODE_TYPES_H
#define TILE_CODE_TYPES_H

#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"

enum sc {
#define SCALAR(id, name, sig, module, bits, class, mantissa) SC_##id,
#include "tile/code/types.def"
#undef SCALAR
	SCALARS
};

enum sc_class { SCC_VOID, SCC_BOOL, SCC_SINT, SCC_UINT, SCC_FLOAT };

/* A scalar type: its three spellings (types.def), width in bits, class and mantissa bits. */
struct sc_info {
	const char *name, *sig, *module;
	int bits;
	enum sc_class class;
	int mantissa;
};

extern const struct sc_info sc_table[SCALARS];

enum ty_kind { TY_SCALAR, TY_PTR, TY_BLOCK };
enum { TY_MAX_RANK = 24, TY_MAX_NUMEL = 1048576 };

struct ty {
	enum ty_kind kind;
	enum sc sc;                /* SCALAR */
	int is_const;              /* PTR to constant data */
	const struct ty *elem;     /* PTR, BLOCK */
	int rank;                  /* BLOCK; else 0 */
	int64_t numel;             /* BLOCK; else 1 */
	int64_t shape[];
};

const struct ty *ty_sc(enum sc sc);
/* A pointer to elements of type `elem` (a block: a block pointer). `is_const`: the data is read
 * only. */
const struct ty *ty_ptr(struct arena *a, const struct ty *elem, int is_const);
/* `rank` is at least 1. The dimensions are not checked; callers validate them. */
const struct ty *ty_block(struct arena *a, const struct ty *elem, int rank, const int64_t *shape);
/* The same shape with another element type (a scalar stays a scalar). */
const struct ty *ty_with(struct arena *a, const struct ty *t, const struct ty *elem);
int ty_eq(const struct ty *a, const struct ty *b);

static inline int ty_is_block(const struct ty *t) { return t->kind == TY_BLOCK; }
/* The element of a block, else the type itself. */
static inline const struct ty *ty_scalar(const struct ty *t) { return t->kind == TY_BLOCK ? t->elem : t; }
static inline int ty_is_block_ptr(const struct ty *t) { return t->kind == TY_PTR && t->elem->kind == TY_BLOCK; }

/* Tests of a scalar type. For a pointer only ty_is_ptr is true. */
static inline int ty_is_ptr(const struct ty *t) { return t->kind == TY_PTR; }
static inline int ty_is(const struct ty *t, enum sc sc) { return t->kind == TY_SCALAR && t->sc == sc; }
static inline enum sc_class ty_class(const struct ty *t)
{
	return t->kind == TY_SCALAR ? sc_table[t->sc].class : SCC_VOID;
}

static inline int ty_is_float(const struct ty *t) { return ty_class(t) == SCC_FLOAT; }
static inline int ty_is_signed(const struct ty *t) { return ty_class(t) == SCC_SINT; }
static inline int ty_is_unsigned(const struct ty *t) { return ty_class(t) == SCC_UINT || ty_class(t) == SCC_BOOL; }
static inline int ty_is_int(const struct ty *t) { return ty_is_signed(t) || ty_is_unsigned(t); }
static inline int ty_is_bool(const struct ty *t) { return ty_is(t, SC_INT1); }
static inline int ty_bits(const struct ty *t) { return t->kind == TY_SCALAR ? sc_table[t->sc].bits : 64; }
int ty_is_fp8(const struct ty *t);
int ty_is_std_float(const struct ty *t);     /* fp16, bf16, fp32, fp64 */

int sc_by_name(struct str name);             /* "int32", "fp32" */
int sc_by_sig(struct str name);              /* "i32", "fp32", "u1" */
int sc_by_module(struct str name);           /* "int32", "float32" */
/* Every spelling a signature or an annotation may use: "int", "float32", "bool", ... */
int sc_by_alias(struct str name);

/* str() of a type as Triton prints it: "fp32", "pointer<fp32>", "<['128'], fp32>". */
void ty_str(const struct ty *t, struct buf *out);
/* repr(): "triton.language.float32" for a scalar, else as ty_str. */
void ty_repr(const struct ty *t, struct buf *out);
/* As MLIR prints it: "f32", "tensor<128x!tt.ptr<f32>>". */
void ty_mlir(const struct ty *t, struct buf *out);

#endif
