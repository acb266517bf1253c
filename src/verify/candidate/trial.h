/* Trials: the input sets that a candidate must get right.
 *
 * A trial fixes sizes (overrides of module constants), the seed of the inputs, the change that is
 * made to them, the dtype and the set of weights. It holds no expected result: that is in struct
 * expectation (task/task.h), which a runner cannot see. */
#ifndef VERIFY_CANDIDATE_TRIAL_H
#define VERIFY_CANDIDATE_TRIAL_H

#include "host/host.h"
#include "verify/candidate/weights.h"
#include "verify/config/terms.h"

/* The kinds of input sets: trial.def. */
enum trial_kind {
#define TRIAL(id, name, contract, text) TRIAL_##id,
#include "verify/candidate/trial.def"
#undef TRIAL
	TRIAL_KINDS
};

const char *trial_name(enum trial_kind k);
enum contract trial_contract(enum trial_kind k);

/* TASK_SIZES: sizes of a task that may be changed, those of its inputs and those of its model.
 * TRIAL_SIZES: of either. WEIGHTS_SEED: the seed under which every model is constructed. */
enum { TASK_SIZES = 16, TRIAL_SIZES = 8, TRIAL_OVERRIDES = 2 * TRIAL_SIZES, TRIALS_MOST = 26, WEIGHTS_SEED = 42 };

/* The changes that are made to inputs: input_change.c says what each does. */
enum trial_change { CHANGE_NONE, CHANGE_SCALE, CHANGE_NEGATE, CHANGE_SHIFT, CHANGE_REVERSE_BATCH,
		    CHANGE_FIRST_ROW, CHANGE_ADD, CHANGE_SPREAD, CHANGE_SIGNED,
		    CHANGE_WIDE, CHANGE_SMALL, CHANGE_LARGE, CHANGE_HALVES_FAINT, CHANGE_HALVES_FAINT_ONLY,
		    CHANGE_FAINT, CHANGE_FAINT_ONLY,
		    CHANGE_HALVES, CHANGE_OFFSET, CHANGE_EQUAL, CHANGE_RARE,
		    CHANGE_INTEGERS, CHANGE_GAPS, CHANGE_ENDS, CHANGE_ENDS_ONLY, CHANGE_ENDS_PLAIN, CHANGE_EMPTY };

/* A reference intermediate: the tensor that a call of an operator gave (intermediate.h). */
struct intermediate {
	uint64_t how;                 /* the name of the call: intermediate_name */
	struct tensor t;              /* fp32, dense */
	int ambiguous;                /* another tensor that the reference computes holds the same values */
};

struct intermediates {
	struct intermediate *v;
	size_t n, cap;
};

/* The arguments of a candidate's launches that hold reference intermediates after the launch. */
enum { INTERMEDIATE_MATCHES = 24 };
struct intermediate_matches {
	int launches;                 /* of the call; a launch that a tuner repeats counts once */
	uint64_t last;                /* identifies the last launch: a hash of its kernel and arguments */
	int n;
	struct { int launch, arg; uint64_t kernel, how; } v[INTERMEDIATE_MATCHES];
};

struct trial {
	enum trial_kind kind;
	enum judge_stage stage;       /* tiny or full */
	int ext;                      /* enum ext that it belongs to; EXTS: it is always run */
	struct host_override ov[TRIAL_OVERRIDES];      /* its sizes; names are borrowed */
	size_t n_ov;
	uint64_t seed;                /* of the inputs */
	enum weight_set set;
	uint64_t state;               /* of the buffers that forward changes: weights_begin */
	enum trial_change change;
	int first;                    /* the change is made to the first input only */
	double rare;                  /* the value that CHANGE_RARE puts into the inputs */
	enum dtype dt;                /* of floating inputs and weights; DT_F32: as the task has them */
	/* its inputs are as get_inputs draws them, at the sizes used in place of the full size: the
	 * cost of a candidate is its cost here */
	int is_original;
	int repeat;                   /* the candidate is called on other contents in the same tensors first */

	const struct task_weights *weights;    /* one of the task's sets */
	/* in the task's vault: the inputs of `seed` and, with `repeat`, those of seed + 1. V_UNSET:
	 * they cannot leave the host that drew them, and each host draws its own */
	struct val inputs, others;
	/* for operators that a candidate calls (intermediate_give); empty where it may call none;
	 * owned */
	struct intermediates intermediates;
	int ndim;                     /* of the first input, for messages */
	int64_t shape[TENSOR_DIMS];
	struct str packed[2];         /* `inputs` and `others` of an image that was opened from bytes */
};

void trial_release(struct trial *t);
/* The shape of its first input as text: "16x64". */
void trial_shape_text(const struct trial *t, char *out, size_t n);

#endif
