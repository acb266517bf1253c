/* The planner: a graph cut into kernels.
 *
 * Maps are folded into their consumers. The other live values become passes of kernels. A kernel has
 * one iteration space X; each pass runs over X and over variables R of its own. A reduction pass
 * leaves one number for each x; a map pass stores elements. A value joins the kernel that it reads
 * from if it reads results at its own x only: softmax is three passes of one kernel. */
#ifndef SOLVE_CUT_H
#define SOLVE_CUT_H

#include "base/err.h"
#include "solve/graph.h"

enum { CUT_PASSES = 32 };

struct pass {
	int value;
	int n_r;                       /* variables n_x .. n_x + n_r - 1 */
	int64_t r[GRAPH_RANK];
	int is_reduce;
	int is_scan;                   /* the only pass of its kernel: R is what it runs along */
	int store;                     /* the element goes to memory, at `at` */
	const struct sx *body;
	const struct ix *at;           /* of reductions: over X */
	const struct sx *only;         /* the store is done where this holds; NULL: everywhere */
};

struct kernel {
	int n_x;
	int64_t x[GRAPH_RANK];
	struct pass pass[CUT_PASSES];
	int n_passes;
	const char *name;
};

struct cut {
	struct graph *g;
	struct { struct kernel *v; size_t n, cap; } kernels;
	const struct sx **full;        /* [values]: bodies with their maps folded in */
	const char **title;            /* [values]: words for the names of kernels */
};

void cut_make(struct cut *p, struct graph *g);
void cut_release(struct cut *p);

#endif
