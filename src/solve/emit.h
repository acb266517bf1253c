/* Printing kernels: a kernel of the cut as a Triton function, by a schedule.
 *
 * A schedule binds the iteration space X and the variables R of each pass to tiles. `flat`: a tile of X,
 * loops over single R. `rows`: one row or a tile of rows, a tile of R, in a loop where R is larger.
 * `dot`: tiles of rows and columns, tl.dot over K. emit_kernel writes one function; its arguments are
 * values, in order. */
#ifndef SOLVE_EMIT_H
#define SOLVE_EMIT_H

#include "base/str.h"
#include "solve/cut.h"

enum sched_kind { SCHED_FLAT, SCHED_ROWS, SCHED_DOT };

struct sched {
	enum sched_kind kind;
	int xb, rb;              /* tile of X and of R; rows: xb rows of an instance */
	int bm, bn, bk;          /* dot */
	const char *precision;   /* of tl.dot: "tf32", "tf32x3", "ieee" */
	int general;             /* sizes of X and R may vary: always masked; 2: columns and K of products, too */
};

enum { EMIT_ARGS = 96 };

struct emitted {
	char fn[80];             /* name of the function */
	int arg[EMIT_ARGS];     /* values, in the order of the parameters */
	int n_args;
	char grid[128];          /* as Python code: "(triton.cdiv(256, 128),)" */
	char consts[160];        /* keyword arguments of the launch: ", BLOCK=128" */
};

/* The name of a value, unique in the solution. The parameter of its memory is NAME_ptr. */
const char *emit_value_name(struct cut *p, int value);
/* The schedules of one solution, in the order of its kernels. Another solution for other sizes of the inputs
 * follows them, so that the two differ in numbers only. */
struct sched_list { struct sched *v; size_t n, cap; };
/* Wishes for schedules: `draw` varies them, 0 gives the usual ones. */
struct sched_wish { uint64_t draw; int tf32, ieee, general; };
/* The schedule that suits a kernel. */
struct sched sched_choose(const struct cut *p, const struct kernel *k, const struct sched_wish *w);
/* Appends the function. Returns 0, or 1 if the schedule cannot express the kernel. */
int emit_kernel(struct cut *p, const struct kernel *k, const struct sched *s, struct buf *out, struct emitted *to);

#endif
