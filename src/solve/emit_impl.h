/* Shared by the files that print kernels. A printer collects statements by loop level: level 0 is
 * before all loops of a pass, level n inside n loops. An expression is printed at the lowest level at
 * which its variables are known, so what a loop does not change is before the loop. */
#ifndef SOLVE_EMIT_IMPL_H
#define SOLVE_EMIT_IMPL_H

#include "solve/emit.h"

enum { EMIT_LEVELS = GRAPH_RANK + 2 };

/* Precedence of Python's operators, loosest first. */
enum tight { TIGHT_COMPARE = 1, TIGHT_OR, TIGHT_XOR, TIGHT_AND, TIGHT_SUM, TIGHT_PRODUCT, TIGHT_UNARY, TIGHT_ATOM };

struct text { const char *s; enum tight tight; };

struct spelled { const void *of; const char *name; int level; };

struct emitter {
	struct cut *cut;
	const struct kernel *k;
	struct sched s;
	struct graph *g;
	struct expr_pool *p;
	struct arena *a;
	struct emitted *to;
	struct buf level[EMIT_LEVELS];
	struct buf out;
	struct { struct spelled *v; size_t n, cap; } names;   /* expressions that have a name */
	struct { struct spelled *v; size_t n, cap; } counts;  /* level: how often an expression is used */
	const char *var[GRAPH_VARS];      /* variables as text */
	int var_level[GRAPH_VARS];
	const char *mask[GRAPH_VARS];     /* condition that a variable is inside; NULL: always */
	const char *reduced[CUT_PASSES]; /* names of the results of reduction passes */
	uint64_t tile;                    /* bits: variables that vary over the tile of an address */
	int indent;                       /* of level 0 */
	int n_names;
};

void emitter_line(struct emitter *pr, int level, const char *fmt, ...) PRINTF_LIKE(3, 4);
const char *emitter_name(struct emitter *pr, const char *word);
/* Forgets what was named inside loops. */
void emitter_leave(struct emitter *pr);
/* Counts how often the parts of an expression are used, so that shared ones get a name. */
void emitter_count(struct emitter *pr, const struct sx *x);
struct text emit_ix(struct emitter *pr, const struct ix *x);
struct text emit_sx(struct emitter *pr, const struct sx *x);
/* The text, in parentheses if it binds less than `tight`. */
const char *emit_in(struct emitter *pr, struct text t, enum tight tight);
int emit_level(const struct emitter *pr, const struct sx *x);
/* Conditions that the variables of an expression are inside, joined by &; NULL: none needed. */
const char *emit_mask(struct emitter *pr, uint64_t vars, const struct sx *more);
/* The parameter of a value's memory. */
const char *emit_pointer(struct emitter *pr, int value);
const char *emit_dtype(enum dtype dt);
const char *emit_num(struct emitter *pr, double v, enum dtype dt);
void emit_store(struct emitter *pr, const struct pass *s, const struct ix *at, const char *value, int level);

/* The element of X and R as flat variables: to[] for sx_rebuild. Variable `first` is the flat one. */
void flatten_vars(struct emitter *pr, int first, int n, const int64_t *size, int flat, const struct ix **to);

/* Reductions: how a schedule starts, adds to and ends one. */
const char *reduce_neutral(enum combine how, enum dtype dt);
void reduce_serial(struct emitter *pr, const struct pass *s, const char *acc, const char *term, const char *index,
		   int level);

/* The iteration space of the products of a kernel: rows, columns and batch of X, and K. */
struct dot_axes {
	int64_t m, n, batch, k;
	int side[GRAPH_RANK];             /* of each variable of X */
	int products;                     /* the first passes */
	int swap;                         /* the second factor has the rows */
};
/* Returns 1 if a kernel can be computed by tl.dot. */
int dot_split(const struct kernel *k, struct dot_axes *d);
const char *reduce_tile(enum combine how);

int emit_flat(struct emitter *pr);
int emit_rows(struct emitter *pr);
int emit_dot(struct emitter *pr);

#endif
