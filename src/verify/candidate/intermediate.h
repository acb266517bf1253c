/* Reference intermediates: the tensors that operators inside the reference produce.
 *
 * At full size nothing is computed as a whole; only sampled instances of kernels are run, over the
 * inputs and weights of a reduced task (task_open_reduced). A candidate may leave the first steps of
 * the reference to torch, or take them in a kernel of its own. Then its later kernels read tensors
 * that nobody computed. The reduced task's reference has taken the same steps: so its intermediates
 * stand in for them, in two ways.
 * - The candidate calls the same operator on the same tensors: the result gets the contents of the
 *   intermediate (intermediate_give).
 * - One of its launches takes the step. A run at smaller sizes shows which argument of which launch
 *   holds which intermediate (intermediate_note). At full size the elements that sampled instances
 *   of that launch wrote are reported and compared, and the whole tensor then gets the contents of
 *   the intermediate, for the launches that follow.
 *
 * So a runner holds intermediates, never a result: task/keep_intermediates.c drops the tensors that
 * the reference returns. */
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

/* After a launch that was run on the trial: notes which of its arguments hold intermediates of the
 * trial. Returns 0, or -1 (*e). */
int intermediate_note(const struct trial *tr, const struct tile_code *code, const struct tile_launch *l,
		      struct intermediate_matches *out, struct err *e);
/* The intermediate of the call of this name, or NULL. */
const struct intermediate *intermediate_find(const struct trial *tr, uint64_t how);
/* Identifies the kernel of a launch by its name, which is the same at all sizes. */
uint64_t intermediate_kernel(const struct tile_launch *l);

/* What intermediate_give needs to recognise tensors and to fill in contents. */
struct intermediate_giver {
	const struct trial *tr;
	int64_t reduced;              /* indices that the task keeps of each independent axis */
	uint64_t seed;                /* says which kept index stands for which */
	const struct tensor *input;   /* the trial's inputs, in order */
	int n_inputs;
	int failed;                   /* memory ended */
};

/* For host_set_called: gives the result of an operator that the candidate calls its contents, if the
 * reference makes the same call. */
void intermediate_give(void *giver, const struct host_op_call *c);

#endif
