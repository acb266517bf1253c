/* Shared by solve.c and solve_sizes.c: one run of a module at given sizes. */
#ifndef SOLVE_SOLVE_AT_H
#define SOLVE_SOLVE_AT_H

#include "solve/solve.h"
#include "solve/write.h"

/* How a module is run and written, and what that showed. */
struct mode {
	int eval;                        /* in evaluation mode */
	const struct host_override *ov;  /* sizes that are replaced */
	size_t n_ov;
	const struct size_vars *sizes;   /* written for any sizes; else NULL */
	int apart;                       /* index terms are not joined */
	char (*size_code)[SIZE_CODE];
	struct sched_list *scheds;
	int split;                       /* products of few tiles are summed in parts */
	int may_split;                   /* the module has such products */
	int model_sizes;                 /* sizes of the model may vary, too: weights are checked */
	int with_model;                  /* they do vary: columns and terms of products may end in a tile, too */
	struct graph_choices *choices;
	int random;                      /* the module drew random numbers */
	int64_t work;                    /* of the reference, in about nanoseconds */
};

/* Solves a module at the sizes of its mode. Returns 0, 1 if it is not solved (out->why), -1 on failure. */
int solve_at(const struct solve_options *o, struct str source, struct mode *mode, struct solve_answer *out,
	     struct err *e);
/* Replaces the solution in *out by one for any sizes, if there is one. Returns 0, or -1 on failure. */
int solve_any_size(const struct solve_options *o, struct str source, const struct mode *mode,
		   struct solve_answer *out, struct err *e);

#endif
