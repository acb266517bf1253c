/* Lowering: torch operators to values of the graph.
 *
 * One function per operator, `int lower_NAME(struct lower *l)`, listed in lower.def. It reads its
 * arguments from the call, builds the element of each result as an expression, and stores it with
 * lower_map or lower_reduce. It returns 0, or 1 if it cannot express the call (l->why may say why).
 * Elementwise operators are formulas in point.def and need no function. */
#ifndef SOLVE_LOWER_H
#define SOLVE_LOWER_H

#include "interp/program.h"
#include "solve/graph.h"

struct trace;

struct lower {
	struct trace *t;
	struct graph *g;
	struct expr_pool *p;
	const struct host_op_call *c;
	const char *name;        /* of the operator, without module, underscores and reflection */
	int reflected;           /* __radd__: operands are exchanged */
	int param;               /* of its row in lower.def */
	const char *why;
};

typedef int lower_fn(struct lower *l);

/* --- arguments by slot ---------------------------------------------------------------- */

/* A numpy array becomes its tensor (numpy/__init__.py of the prelude); other values stay. */
struct val lower_unwrap(struct val v);
int lower_given(const struct lower *l, size_t i);
/* A tensor, or a number as a view without a value. */
int lower_view(struct lower *l, struct val v, struct view *out);
int lower_arg(struct lower *l, size_t i, struct view *out);
int64_t lower_int(const struct lower *l, size_t i, int64_t otherwise);
double lower_float(const struct lower *l, size_t i, double otherwise);
int lower_flag(const struct lower *l, size_t i);
struct str lower_text(const struct lower *l, size_t i, const char *otherwise);
/* One int for all, or a sequence of `want` ints. Returns 1 if it is neither. */
int lower_ints(const struct lower *l, size_t i, int want, int64_t otherwise, int64_t *out);
/* Dimensions as a bit mask; None and () are all. Returns 1 for anything else. */
int lower_dims(const struct lower *l, size_t i, int rank, unsigned *mask);
/* A dimension in [0, rank); -1: not one. */
int lower_dim(const struct lower *l, size_t i, int64_t otherwise, int rank);

/* --- elements ---------------------------------------------------------------------------- */

/* The element of a view at coordinates; `mask` NULL or where it may be read (else `otherwise`). */
const struct sx *lower_load(struct lower *l, const struct view *v, const struct ix *const *i);
const struct sx *lower_masked(struct lower *l, const struct view *v, const struct ix *const *i,
			      const struct sx *mask, double otherwise);
/* The view broadcast to a shape. Returns 1 if it does not fit. */
int lower_expand(const struct view *v, int rank, const int64_t *size, struct view *out);
/* Variables 0 .. rank - 1 as coordinates. */
void lower_coords(struct lower *l, int rank, const int64_t *size, const struct ix **i);
const struct sx *lower_num(struct lower *l, double v, enum dtype dt);

/* Coordinates of a tensor. The dimensions in `mask` (bits) are reduced. */
struct axes {
	int rank, kept, n_red;
	unsigned mask;
	int64_t size[GRAPH_RANK], red[GRAPH_REDUCED];     /* kept and reduced sizes, in order */
	const struct ix *i[GRAPH_RANK];                   /* of every dimension, as variables */
	int64_t count;                                    /* reduced elements */
};
int lower_axes(struct lower *l, int rank, const int64_t *size, unsigned mask, struct axes *a);
/* The element of a dense value over the kept dimensions, at coordinates of the whole tensor. */
const struct sx *lower_stat(struct lower *l, int value, const struct axes *a, const struct ix *const *i);

/* An element of an index tensor that counts n elements; negative ones count from the end. */
const struct sx *lower_index(struct lower *l, const struct view *v, const struct ix *const *i, int64_t n);
/* The same as a coordinate of n elements. */
const struct ix *lower_index_at(struct lower *l, const struct sx *x, int64_t n);

/* --- results ------------------------------------------------------------------------------ */

/* A value of our own, dense, that no tensor of the program holds. Returns its number. */
int lower_temp(struct lower *l, int rank, const int64_t *size, enum dtype dt, const struct sx *body);
int lower_temp_reduce(struct lower *l, const struct axes *a, enum combine how, enum dtype dt,
		      const struct sx *body);
void lower_temp_view(struct lower *l, int value, struct view *out);
/* A tensor of at most 64 known numbers, in row-major order. */
int lower_table(struct lower *l, const double *v, int rank, const int64_t *size, enum dtype dt, struct view *out);
/* out = formula($0: the value of a reduction, $1: n). The reduced dimensions are gone, or of size 1. */
int lower_reduced(struct lower *l, struct val out, int value, const struct axes *a, const char *formula, double n);
/* A product of few tiles becomes the sum of its parts: `v` is changed, and a value before it is added. */
int lower_split_product(struct lower *l, struct value *v);
/* The tensor `out` of the program gets the element `body`, over its coordinates. If `out` is a view of
 * memory that exists, its elements are replaced: an operator in place. */
int lower_map(struct lower *l, struct val out, const struct sx *body);
/* The same with other loop sizes: `v` has rank, size, stride, and the body. Its memory must be new. */
int lower_result(struct lower *l, struct val out, const struct value *v);
/* out = another view, element by element. */
int lower_copy(struct lower *l, struct val out, const struct view *from);

/* How a written element is combined with the old one. */
enum lower_write { LOWER_SET, LOWER_SUM, LOWER_PROD, LOWER_MAX, LOWER_MIN };
/* `out` is argument 0 after sources are written into it. The loops are those of argument 0 (kept) and of the
 * sources (red); `hit` says whether a source is for an element, `src` is what it writes. */
int lower_scatter_into(struct lower *l, struct val out, const struct axes *a, enum lower_write how,
		       const struct sx *hit, const struct sx *src);

/* --- the table ----------------------------------------------------------------------------- */

/* Lowers one call. Returns 0, or 1 if the operator is not supported. */
int lower_call(struct lower *l);
/* Whether the operator's operands may have no elements: a sum over nothing is zero. */
int lower_takes_nothing(const struct lower *l);
/* Notes results without elements. */
void lower_nothing(struct lower *l, struct val out);
/* Builds a formula of point.def over operands. */
const struct sx *formula_build(struct lower *l, const char *text, const struct sx *const *arg, int n, enum dtype dt);
const char *point_formula(const char *name);
/* Elementwise operators: formula over broadcast operands in slots 0, 1, .... */
int lower_point(struct lower *l, const char *formula);

/* The rows of loss.def. */
enum {
#define LOSS(name, formula, third, param, how, weight) LOSS_##name,
#include "solve/loss.def"
#undef LOSS
	LOSSES
};

#define LOWER(name, fn, param) lower_fn lower_##fn;
#include "solve/lower.def"
#undef LOWER

#endif
