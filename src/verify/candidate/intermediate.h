/* Reference intermediates: the tensors that operators inside the reference produce.
 *
 * At full size nothing is computed as a whole; only sampled instances of kernels are run, over the
 * inputs and weights of a reduced task (task_open_reduced). A candidate may leave the first steps
 * of the reference to torch, or compute them in a kernel of its own. Then its later kernels read
 * tensors that were never computed. The reduced task's reference has computed the same steps, so
 * its intermediates fill these tensors, in two ways.
 * - The candidate calls the same operator on the same tensors: the result gets the contents of the
 *   intermediate (intermediate_give).
 * - One of the candidate's launches computes the step. A run at smaller sizes shows which argument
 *   of the launch holds the intermediate. At full size the elements that sampled instances of that
 *   launch wrote are reported and compared. Then the whole tensor gets the contents of the
 *   intermediate, for the launches that follow.
 *
 * The deciding process holds the intermediates and makes all comparisons (struct expectation,
 * funnel/reports.c). A runner gets only the data that it needs to continue:
 * - at smaller sizes, the shapes of intermediates: the runner reports the tensors of these shapes
 *   that launches wrote (intermediate_note);
 * - at full size, the contents of intermediates that the candidate's own kernels were seen to
 *   compute;
 * - on the hybrid track at full size, all intermediates of the reduced task, since the candidate's
 *   operators may ask for any of them. */
#ifndef VERIFY_CANDIDATE_INTERMEDIATE_H
#define VERIFY_CANDIDATE_INTERMEDIATE_H

#include "tile/tile.h"
#include "verify/candidate/shmem.h"

/* Offsets of tensor numbers: inputs are counted from the first constant, weights from the second.
 * The result of a call has the name of the call as its number. */
enum { INTERMEDIATE_OF_INPUTS = 1 << 10, INTERMEDIATE_OF_WEIGHTS = 1 << 20 };

/* Returns the number of a tensor, or 0 if the tensor has none. */
typedef uint64_t intermediate_which_fn(void *ctx, const struct tensor *t);

/* Returns the name of a call: a hash of the operator, of its arguments that are not tensors, and of
 * the numbers of its tensors. Returns 0 if the call has no name: then it cannot be recognised. */
uint64_t intermediate_name(const struct host_op_call *c, intermediate_which_fn *which, void *ctx);

/* Do two dense fp32 tensors hold the same, up to rounding? */
int intermediates_are_same(const struct tensor *a, const struct tensor *b);

/* The intermediate of the call of this name, or NULL. */
const struct intermediate *intermediate_find(const struct intermediates *m, uint64_t how);
void intermediates_release(struct intermediates *m);

/* Records what launches of a call wrote, in the memory of the order. */
struct step_recorder {
	const struct run_order *o;
	struct shmem *a;
	struct run_report *r;         /* gets the number of launches and of records */
	uint64_t at;                  /* offset of the next record */
	uint64_t launch_at;           /* `at` and r->n_records before the last launch */
	int launch_records;
};

/* For order i of the shared memory. */
void step_recorder_init(struct step_recorder *s, struct shmem *a, int i);
/* After a launch that was run on a trial: records each argument that the kernel writes and that has
 * the shape of a step, as long as there is room. Returns 0 on success, -1 on failure (*e). */
int intermediate_note(struct step_recorder *s, const struct tile_code *code, const struct tile_launch *l,
		      struct err *e);

/* Returns the first cache line after `bytes` bytes at an offset. Both sides lay out records with
 * it. */
static inline uint64_t step_align(uint64_t at, uint64_t bytes)
{
	return (at + bytes + SHMEM_ALIGN - 1) / SHMEM_ALIGN * SHMEM_ALIGN;
}

/* Identifies the kernel of a launch by its name, which is the same at all sizes. */
uint64_t intermediate_kernel(const struct tile_launch *l);

/* The data that intermediate_give needs to recognise tensors and to fill in contents. */
struct intermediate_giver {
	const struct trial *tr;
	const struct sparse_map *map; /* from indices at full size to those of the reduced task */
	const struct tensor *input;   /* the trial's inputs, in order */
	int n_inputs;
	int failed;                   /* memory ended */
};

/* For host_set_called: gives the result of an operator that the candidate calls its contents, if
 * the reference makes the same call. */
void intermediate_give(void *giver, const struct host_op_call *c);

#endif
