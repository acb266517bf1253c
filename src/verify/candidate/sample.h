/* Sampled instances: a few instances of each launch, run at full size on the runner's side.
 *
 * The candidate is called in a dry run (dry_run.h) over hollow tensors. Inputs and weights have
 * contents where kernels touch them: those of a reduced task's trial, repeated along independent
 * axes. If no reduced task exists, they have no contents, and only the addresses that instances
 * touch are checked. The elements that instances wrote from known values are reported with their
 * positions in the result. */
#ifndef VERIFY_CANDIDATE_SAMPLE_H
#define VERIFY_CANDIDATE_SAMPLE_H

#include "verify/candidate/shmem.h"

struct sampler {
	uint64_t seed;                /* of the choice of instances */
	const struct sparse_map *map; /* from indices at full size to those of the reduced task */
	const struct trial *tr;       /* its inputs have the contents */
	const struct intermediate_matches *matches;   /* launches that take steps of the reference */
	int launched;                 /* launches so far, */
	int64_t expected;             /* and how many a run at the test sizes makes */
	struct shmem *a;              /* reports go to its report i, */
	int i;
	uint64_t at;                  /* offset of the next bytes in the shared memory */
	int launches;                 /* how many more launches may be sampled */
	enum constant constant;       /* it is a constant-tensor test */
	const struct slice_call *slice;    /* the accesses and classes of the launch that is sampled; NULL: not known */
	enum constant_answer left;    /* why the test does not know some value; 0: it knows all */
	int64_t work;                 /* its instances may still do, in about nanoseconds */
	int64_t programs;             /* instances that were run */
	struct host_path *path;       /* gets a mark for each comparison of integers that an instance makes */
};

/* For order i of the shared memory, on a trial of the task. */
void sample_open(struct sampler *s, const struct trial *tr, struct shmem *a, int i, struct host_path *path);
/* Runs some instances of a launch. Returns 0 on success, 1 if an instance faults (*d), -1 on our
 * own failure (*e). */
int sample_launch(struct sampler *s, struct tile_engine *engine, const struct tile_code *code,
		  const struct tile_launch *l, struct diag *d, struct err *e);

/* After a launch: reports and fills in each argument that holds a step of the reference. */
int sample_take_steps(struct sampler *s, const struct tile_launch *l, struct err *e);

/* Gives each hollow input and weight one value throughout. Returns 0 on success, -1 on failure
 * (*e). */
int sample_make_constant(struct world *w, struct val inputs, struct err *e);
/* Reports the first and last element of each result, if they are known. Reports no element if all
 * instances were to be run and some were not. */
int sample_tell_constant(struct sampler *s, struct host *h, struct val result, struct err *e);
/* Gives the hollow inputs the contents of the trial's inputs, which go into *held and must outlive
 * the call of forward. Returns 0 on success, 1 if the program fails, -1 on our own failure (*e). */
int sample_inputs(const struct sampler *s, struct world *w, struct val inputs, struct world_tensors *held,
		  struct err *e);
/* Reports the elements of the result that are known. Returns 0 on success, -1 on failure (*e). */
int sample_give(struct sampler *s, struct host *h, struct val result, struct err *e);

#endif
