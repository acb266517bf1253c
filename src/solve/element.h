/* Expressions of the solver: integer index expressions and element expressions.
 *
 * A node of the graph (graph.h) gives the element at a position as an expression over loop variables.
 * An index expression (struct ix) is a sum of constants times variables, quotients and remainders.
 * All sizes are known, so quotients and remainders simplify by range: with 0 <= w < 8,
 * (8 * h + w) / 8 is h. In this way views fold into addresses. An element expression (struct sx) is
 * a number, an index, a load from a value, or an operator of element_op.def.
 *
 * Expressions are immutable and unique within their pool: equal expressions are the same pointer.
 * They live in the pool's arena, whose trap takes failed allocations; nothing here returns errors. */
#ifndef SOLVE_ELEMENT_H
#define SOLVE_ELEMENT_H

#include <stdint.h>

#include "base/mem.h"
#include "tensor/tensor.h"

struct sx;
struct ix;

enum ix_kind {
	IX_VAR,          /* loop variable `var`, 0 <= var < by */
	IX_DIV, IX_MOD,  /* `of` divided by `by`, rounded down; the remainder */
	IX_WITHIN,       /* `of`, where 0 <= of < by is known from a mask */
	IX_VALUE         /* the integer element `value`: an index that is read from memory */
};

struct ix_term {
	int64_t c;               /* factor, not 0 */
	enum ix_kind kind;
	int var;
	int64_t by;
	const struct ix *of;
	const struct sx *value;
};

struct ix {
	uint64_t hash;
	int64_t c0, lo, hi;      /* constant part; smallest and largest value */
	int n;
	struct ix_term t[];      /* in a fixed order, no two alike */
};

enum sx_op {
	SX_NUM,          /* the number `num` */
	SX_INDEX,        /* the integer `at` */
	SX_LOAD,         /* element `at` of value `value`; where a[0] (if not NULL) is false: `num` */
	SX_CAST,         /* a[0] converted to dt */
#define EXPR_OP(id, arity, type, triton) SX_##id,
#include "solve/element_op.def"
#undef EXPR_OP
	SX_OPS
};

enum { SX_ARGS = 3 };

struct sx {
	uint64_t hash;
	enum sx_op op;
	enum dtype dt;           /* BOOL, I32, I64, F32 or F64: what the kernel computes in */
	int value;               /* LOAD: the value's number */
	int size;                /* operators and loads in it */
	double num;
	const struct ix *at;
	const struct sx *a[SX_ARGS];
};

struct expr_pool {
	struct arena arena;
	struct { const void **slot; size_t n, cap; } ixs, sxs;     /* hash tables of unique expressions */
	int apart;                   /* quotients and remainders are not joined: sizes vary and may not fit */
	int any_size;                /* sizes vary: no condition is left out because of them */
};

void expr_pool_init(struct expr_pool *p, jmp_buf *trap);
void expr_pool_release(struct expr_pool *p);

/* --- index expressions -------------------------------------------------------------- */

const struct ix *ix_num(struct expr_pool *p, int64_t c);
const struct ix *ix_var(struct expr_pool *p, int var, int64_t size);
/* `a` with the promise that 0 <= a < by wherever the result is used: a padded window reads its input
 * under a mask, and behind the mask the coordinate is inside. */
const struct ix *ix_within(struct expr_pool *p, const struct ix *a, int64_t by);
const struct ix *ix_value(struct expr_pool *p, const struct sx *v, int64_t lo, int64_t hi);
const struct ix *ix_add(struct expr_pool *p, const struct ix *a, const struct ix *b);
const struct ix *ix_addc(struct expr_pool *p, const struct ix *a, int64_t c);
const struct ix *ix_mul(struct expr_pool *p, const struct ix *a, int64_t c);
const struct ix *ix_div(struct expr_pool *p, const struct ix *a, int64_t by);
const struct ix *ix_mod(struct expr_pool *p, const struct ix *a, int64_t by);
/* Constants of an address that are not added up where sizes vary: each is a product of sizes, their sum is none. */
enum { IX_PARTS = 12 };
struct ix_parts { int64_t c[IX_PARTS]; int n; };
/* `a` as the address of an access whose mask keeps the promises: their terms join the sum. Row and column of a padded
 * image, 10 * within(h - 1) + within(w - 1), are h * 10 + w - 11, which a compiler sees to be contiguous. */
const struct ix *ix_address(struct expr_pool *p, const struct ix *a, struct ix_parts *parts);
/* Variable i becomes to[i]; values inside indices too. */
const struct ix *ix_replace(struct expr_pool *p, const struct ix *a, const struct ix *const *to);
/* The smallest and largest value without the promises of ix_within. */
void ix_bounds(const struct ix *a, int64_t *lo, int64_t *hi);
/* Bit i: variable i occurs. */
uint64_t ix_vars(const struct ix *a);

/* --- element expressions ------------------------------------------------------------- */

const struct sx *sx_num(struct expr_pool *p, double v, enum dtype dt);
/* Whether a number is whole and fits in 64 bits; *n is it then. */
int sx_is_whole(double v, int64_t *n);
const struct sx *sx_index(struct expr_pool *p, const struct ix *at);
const struct sx *sx_load(struct expr_pool *p, int value, enum dtype dt, const struct ix *at,
			 const struct sx *mask, double otherwise);
const struct sx *sx_cast(struct expr_pool *p, const struct sx *a, enum dtype dt);
/* An operator of one to three operands. Operands must have one dtype where the operator computes;
 * the result has it, or is BOOL for comparisons. */
const struct sx *sx_op1(struct expr_pool *p, enum sx_op op, const struct sx *a);
const struct sx *sx_op2(struct expr_pool *p, enum sx_op op, const struct sx *a, const struct sx *b);
const struct sx *sx_where(struct expr_pool *p, const struct sx *c, const struct sx *a, const struct sx *b);
/* lo <= at < hi, as a condition; NULL if it always holds. */
const struct sx *sx_inside(struct expr_pool *p, const struct ix *at, int64_t lo, int64_t hi);
/* Both conditions; NULL is a condition that always holds. */
const struct sx *sx_both(struct expr_pool *p, const struct sx *a, const struct sx *b);
uint64_t sx_vars(const struct sx *a);
/* The dtype in which a kernel computes with elements of `dt`: F32 for the narrow floats. */
enum dtype sx_dtype(enum dtype dt);

/* Rebuilds an expression: variables are replaced by to[], and each load is given to `load` (if not
 * NULL) with its new index and mask; NULL from it keeps the load. */
struct sx_rewrite {
	const struct ix *const *to;
	const struct sx *(*load)(void *ctx, const struct sx *old, const struct ix *at, const struct sx *mask);
	void *ctx;
};
const struct sx *sx_rebuild(struct expr_pool *p, const struct sx *a, const struct sx_rewrite *r);
/* Calls fn for each load, also for those inside indices. A nonzero result stops and is returned. */
int sx_loads(const struct sx *a, int (*fn)(void *ctx, const struct sx *load), void *ctx);

/* Triton's text of an operator: $0, $1, $2 are its operands. */
const char *sx_op_text(enum sx_op op);

#endif
