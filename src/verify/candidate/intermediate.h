/* What torch's operators make of a task's inputs and weights, where there are but a few of what the
 * task counts (rows.c).
 *
 * A candidate may leave the first steps of a task to torch and go on with kernels. At the task's
 * own sizes nothing is computed, so that its kernels would find unknown values. But the reference
 * takes the same steps on the few: what its operators make is kept, and where a candidate calls the
 * same operator on the same tensors, its result is made of the kept one, as inputs are.
 *
 * Or its kernels take these steps, one after another, or the first ones. At smaller sizes, where
 * all of it is run, it shows which argument of which launch is the result of which step. At the
 * task's own sizes what some programs of that launch write is then compared with it, and all the
 * others are taken to have written it, for whatever comes next. */
#ifndef VERIFY_CANDIDATE_INTERMEDIATE_H
#define VERIFY_CANDIDATE_INTERMEDIATE_H

#include "tile/tile.h"
#include "verify/candidate/trial.h"

/* Numbers of tensors: the inputs count from the first, the weights from the second. The result of a
 * call has the name of the call as its number. */
enum { INTERMEDIATE_OF_INPUTS = 1 << 10, INTERMEDIATE_OF_WEIGHTS = 1 << 20 };

/* The number of a tensor; 0: it has none. */
typedef uint64_t intermediate_which_fn(void *ctx, const struct tensor *t);

/* The name of a call: a hash of the operator, of its arguments that are no tensors, and of the
 * numbers of its tensors. 0: the call has no name, so that it cannot be recognised. */
uint64_t intermediate_name(const struct host_op_call *c, intermediate_which_fn *which, void *ctx);

/* Do two dense fp32 tensors hold the same, up to rounding? */
int intermediates_are_same(const struct tensor *a, const struct tensor *b);

/* On the side that runs candidates. After a launch that was run on the trial: which of its
 * arguments are what operators of the reference make? 0, -1. */
int intermediate_note(const struct trial *tr, const struct tile_code *code, const struct tile_launch *l,
		      struct intermediate_matches *out, struct err *e);
/* The one of this call, or NULL. */
const struct intermediate *intermediate_find(const struct trial *tr, uint64_t how);
uint64_t intermediate_kernel(const struct tile_launch *l);

struct intermediate_giver {
	const struct trial *tr;
	int64_t reduced;
	uint64_t seed;
	const struct tensor *input;   /* the trial's, in order */
	int n_inputs;
	int failed;                   /* no memory */
};

/* For host_set_called: the result of a call of the candidate gets its contents, if it is known. */
void intermediate_give(void *giver, const struct host_op_call *c);

#endif
