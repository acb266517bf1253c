/* Some programs of each kernel at the task's own sizes, on the side that runs candidates.
 *
 * The candidate is followed there (follow.h) over hollow tensors. Inputs and weights have contents where
 * they are touched: those of a trial, over and over, where the task was made ready at a few of what it counts (rows.c);
 * else none, and nothing but where programs go is looked at. What they wrote, and who wrote it knew
 * what, is reported with its place in the result. */
#ifndef VERIFY_CANDIDATE_SAMPLE_H
#define VERIFY_CANDIDATE_SAMPLE_H

#include "verify/candidate/shmem.h"

struct sampler {
	uint64_t seed;                /* of the choice of programs, and of rows */
	int64_t reduced;                  /* rows that stand for all */
	const struct trial *tr;       /* what steps of the reference make, where that is known, */
	const struct intermediate_matches *matches;   /* and which launches take these steps */
	int launched;                 /* so far */
	struct shmem *a;               /* reports go to the i-th of it, */
	int i;
	uint64_t at;                  /* bytes from here on */
	int launches;                 /* whose programs may still be run */
	enum constant constant;
	struct reads reads;
	int64_t programs;             /* that were run */
	struct host_path *path;       /* tests that they made are noted here */
};

/* For the i-th order of the area, on a trial of the task. */
void sample_open(struct sampler *s, const struct trial *tr, struct shmem *a, int i, struct host_path *path);
/* Runs some programs of a launch. 0, 1: one faults and *d says how, -1. */
int sample_launch(struct sampler *s, struct tile_engine *engine, const struct tile_code *code,
		  const struct tile_launch *l, struct diag *d, struct err *e);
/* Tensors of a value, in order. */
struct sample_tensors {
	struct tensor v[RESULTS_MOST];
	int n;
};

/* What is read of these tensors is told by their numbers. */
void sample_note_inputs(struct sampler *s, struct world *w, struct val inputs);
/* Gives the hollow inputs and weights one value each. */
int sample_make_constant(struct world *w, struct val inputs, struct err *e);
/* Tells of the results' ends, as far as they are known: of none where all programs were to be run, and some were not. */
int sample_tell_constant(struct sampler *s, struct host *h, struct val result, struct err *e);
/* Gives the hollow inputs the contents of the trial's, *held, of which some axes have but a few. They must
 * outlive the call of forward. 0, 1, -1. */
int sample_inputs(const struct sampler *s, struct world *w, struct val inputs, struct sample_tensors *held,
		  struct err *e);
/* 1 and *d: the kernels cannot have written all of the result. Zeros that they left count only if
 * no report tells of them. */
int sample_gap(struct host *h, struct val result, int told, struct diag *d);
/* Writes the parts of the result that are known to the report. */
int sample_give(struct sampler *s, struct host *h, struct val result, struct err *e);

#endif
