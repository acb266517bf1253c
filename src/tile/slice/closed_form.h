/* Values of registers in closed form, for many program instances at once.
 *
 * A batch is n program instances. An integer or pointer is
 *
 *     base[i] + coef[0] * v0 + coef[1] * v1 + ...        for instance i
 *
 * over variables that each count from 0: the dimensions of the tile, the iterations of the loops
 * around it, quotients, and (in a batch that represents the whole grid) the program ids. Coefficients are the
 * same in all instances. Example: pid * 64 + tl.arange(0, 64) over a batch of instances is
 * base = { 0, 64, 128, ... }, coef of dimension 0 = 1; over the whole grid it is base = 0, coef of
 * program id 0 = 64, coef of dimension 0 = 1.
 *
 * A bool is a conjunction of conditions "form < 0". A value that has no such form is NONE; `why` says
 * whether tensor contents decide it, or whether it is only not representable. An integer that lies
 * within known bounds is `loose`: a variable of its own covers at least its values. A quotient of a tile is
 * exact: q = x / 196 is a variable with the conditions 196 * q <= x and x < 196 * q + 196, and the remainder is
 * x - 196 * q. A float has the same form, if
 * its type holds all values, or bounds (float_op.h). */
#ifndef TILE_SLICE_CLOSED_FORM_H
#define TILE_SLICE_CLOSED_FORM_H

#include "base/mem.h"
#include "tile/code/ir.h"

enum {
	FORM_LOOP = TILE_DIMS,      /* the first variable of loops, */
	FORM_LOOPS = 4,
	FORM_PID = FORM_LOOP + FORM_LOOPS,      /* of program ids, */
	FORM_LOOSE = FORM_PID + 3,  /* of loose values and quotients */
	FORM_VARS = FORM_LOOSE + 16,
	FORM_CONDS = 8              /* conditions of one bool */
};

enum form_kind { FORM_NONE, FORM_INT, FORM_FLOAT, FORM_BOOL };
/* Why a value has no form: tensor contents decide it; or this evaluation cannot represent it. */
enum form_why { FORM_CONTENTS, FORM_UNDECIDED };

struct form {
	uint8_t kind;               /* enum form_kind */
	uint8_t why;                /* NONE: enum form_why */
	uint8_t loose;              /* INT: a superset of the values; FLOAT: f[0] and f[1] are bounds */
	uint8_t digits;             /* loose FLOAT: binary digits that a whole number of it has at most */
	uint8_t rounded;            /* NONE: it was computed from floats that were rounded */
	uint8_t many;               /* the base has a value for each instance, else one for all */
	uint8_t n_conds;            /* BOOL */
	int16_t memory;             /* of a pointer: the parameter that it comes from; else -1 */
	const int64_t *base;        /* INT; of a pointer: bytes from the start of the storage */
	const double *f;            /* FLOAT: the base, or the bounds */
	int64_t over;               /* FLOAT: the value is a quotient by this number, rounded; 0: it is none */
	const struct form *cond;    /* BOOL: each of these is below 0 */
	int64_t coef[FORM_VARS];    /* INT, FLOAT */
};

/* The batch that forms are evaluated in. */
struct form_batch {
	struct arena *mem;          /* arrays of forms; lives as long as the batch */
	int n;                      /* instances */
	int64_t extent[FORM_VARS];  /* each variable counts from 0 to below this */
	int n_loose;                /* variables of loose values and quotients so far */
	int64_t first[FORM_VARS];   /* of them: the value where the variable is 0 */
	uint8_t digits[FORM_VARS];  /* the binary digits of a loose value that a float was rounded to; 0: any integer */
	/* of a quotient: the dividend and the divisor, and the two forms that are below 0; else NULL */
	const struct form *of[FORM_VARS], *limits[FORM_VARS];
	int64_t by[FORM_VARS];
};

/* From now on the variables of dimensions count through the lanes of this type. */
void form_lanes(struct form_batch *b, struct tile_type t);

static inline int64_t form_base(const struct form *f, int i) { return f->base[f->many ? i : 0]; }
static inline double form_float(const struct form *f, int i) { return f->f[f->many ? i : 0]; }

struct form form_none(enum form_why why);
struct form form_const(struct form_batch *b, int64_t v);
struct form form_const_float(struct form_batch *b, double v);
/* An integer between lo and hi, both included. */
struct form form_between(struct form_batch *b, int64_t lo, int64_t hi);
/* The same of a float that was rounded to this number of binary digits. */
struct form form_between_rounded(struct form_batch *b, int64_t lo, int64_t hi, int digits);
/* The quotient of an integer that is not negative by a number above zero. */
struct form form_divide(struct form_batch *b, const struct form *x, int64_t by);
/* The same form with the value of one of its variables of loose values or quotients in the place of the variable. */
struct form form_replace(struct form_batch *b, const struct form *x, int var, const struct form *value);
/* The number of different values of a variable of loose values from lo to below hi, at most. Example: 24 digits
 * hold 2^24 + 2^23 whole numbers from 0 to below 2^25. */
int64_t form_count_loose(const struct form_batch *b, int var, int64_t lo, int64_t hi);
/* Whether the value was computed from floats whose type does not hold them. */
int form_is_rounded(const struct form_batch *b, const struct form *f);
/* Whether all coefficients are zero, and whether the form is a single number in all instances. */
int form_is_plain(const struct form *f);
int form_is_number(const struct form *f, int64_t *v);
/* Whether variables of loose values or quotients are in the form. */
int form_has_quotients(const struct form *f);
int form_same(const struct form_batch *b, const struct form *x, const struct form *y);
/* The least and the greatest value over all instances and variables. Returns -1 on overflow. */
int form_range(const struct form_batch *b, const struct form *f, int64_t *lo, int64_t *hi);
/* The same for instance i only. The range must not overflow. */
void form_range_at(const struct form_batch *b, const struct form *f, int i, int64_t *lo, int64_t *hi);

/* x + y * times, without wrap-around. */
struct form form_add(struct form_batch *b, const struct form *x, const struct form *y, int64_t times);
struct form form_scale(struct form_batch *b, const struct form *x, int64_t times);
/* The value as it wraps around in an integer type. */
struct form form_wrap(struct form_batch *b, const struct form *x, enum dtype dt);

/* A bool of one condition; of n; the conjunction; the negation. */
struct form form_below_zero(struct form_batch *b, const struct form *x);
struct form form_and(struct form_batch *b, const struct form *x, const struct form *y);
struct form form_not(struct form_batch *b, const struct form *x);
/* Whether the conditions hold in instance i. Only for conditions without variables. */
int form_holds(const struct form *x, int i);
/* Whether a bool depends on the instance only. */
int form_is_plain_bool(const struct form *x);
/* Returns 1 if it holds everywhere, 0 if it holds nowhere, -1 if neither is known. */
int form_always(const struct form_batch *b, const struct form *x);
/* The bool that has a value 0 or 1 in each instance. */
struct form form_bool(struct form_batch *b, const int64_t *v, int many);

#endif
