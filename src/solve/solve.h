/* The solver: a Triton solution for a module by rule.
 *
 * The module is run on tensors without contents; its operators are recorded as a graph (trace.h,
 * graph.h), cut into kernels (cut.h) and printed (emit.h). The solution is the module's own source
 * with kernels and a new `forward`. Nothing here judges: the caller verifies each solution. */
#ifndef SOLVE_SOLVE_H
#define SOLVE_SOLVE_H

#include "host/host.h"

struct solve_options {
	struct host_lib *lib;    /* or NULL */
	uint64_t draw;           /* 0: the usual schedules; other numbers draw other ones */
	int tf32;                /* every product may be tf32 (--precision tf32) */
	int ieee;                /* none may */
	int64_t fuel;            /* most steps of the program; 0: 20 million */
	size_t memory;           /* most bytes of expressions; 0: 256 MiB */
	int small;               /* leave modules unsolved that need a solution for any sizes */
	int any_size;            /* prefer a solution for any sizes of the inputs, for small modules, too */
	int outline;             /* write the outline of the module as well (outline.h) */
};

struct solve_answer {
	struct buf solution;     /* empty if the module is not solved */
	char op[96];             /* operator that stopped the solver, or "" */
	char why[320];           /* why there is no solution, or "" */
	int ops, kernels;        /* operators recorded, kernels written */
	struct buf outline;      /* if asked for; empty if the module does not run */
};

/* Returns 0 with the answer, solved or not; -1 on our own failure. */
int solve_module(const struct solve_options *o, struct str source, struct solve_answer *out, struct err *e);
void solve_answer_release(struct solve_answer *a);
/* Appends the outline of a module without solving it; nothing if the module does not run. */
int solve_outline(struct host_lib *lib, struct str source, struct buf *out, struct err *e);

#endif
