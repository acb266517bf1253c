/* A task while it is prepared: the data that is needed only until then.
 *
 * Preparation parses the task, runs its reference in several ways for every trial, and checks that
 * the trials tell correct from wrong results. The struct and all that it owns are freed when
 * preparation ends. */
#ifndef VERIFY_TASK_TASK_BUILD_H
#define VERIFY_TASK_TASK_BUILD_H

#include "verify/task/task.h"

struct task_build {
	struct task *t;                     /* the task that is prepared; the caller owns it */
	struct world own, oracle;           /* the reference in its own dtypes, and in fp64 */
	/* trials [due_first, due_end) of the list are not prepared yet: only checks of the task may
	 * need them (task_expect_next). has_due: there may be some, or the relations were not
	 * looked for */
	int has_due, due_first, due_end;
	int64_t least[TRIAL_SIZES];         /* the first n_sizes: the sizes at which relations are found */
	/* the reference's results at the original trial, until they become part of its
	 * expectation */
	struct results surveyed;
	struct py_module mutable;           /* a tree to make mutants of; lives as long as `own` does */
	int has_mutable;
	/* with products as the options allow them, no result can be told from another */
	int drowned;
	int is_whole;                       /* the checks of the task were made with its outline: not again */
	int64_t part;                       /* as task_open_reduced has it */
	const double *rare;                 /* as task_open_rare has them; borrowed */
	int n_rare;
};

/* Marks the task as one that cannot be judged, with the reason. Returns 1. */
int task_note_problem(struct task *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Runs the reference for a trial in one mode. Returns 0 on success, 1 if it fails there, -1 on our
 * own failure (*e). */
int task_run_reference(struct task_build *b, const struct trial *tr, enum run_mode mode, struct results *out,
		       struct err *e);
/* The same in two steps: everything except for the call, and the call on the model in its current
 * state. */
int task_prepare_reference(struct task_build *b, const struct trial *tr, enum run_mode mode, struct err *e);
int task_call_reference(struct task_build *b, const struct trial *tr, struct results *out, struct err *e);

/* Runs the reference once at its original trial, and notes what it does there: its work, its time
 * on a GPU, whether it draws random numbers, which buffers it changes. */
int task_survey(struct task_build *b, struct err *e);
/* The trial with the inputs that get_inputs draws, at the sizes used in place of the task's. */
struct trial *task_original(struct task *t);
/* Is it a trial that a task must have: its inputs as get_inputs draws them? */
int trial_is_essential(const struct trial *tr);
/* The reference's products (enum num_products) that are computed in tf32 in a mode. */
unsigned task_tf32_products(const struct task *t, enum run_mode mode);

/* Draws the trials: sizes from the task's own constants. */
int task_draw_trials(struct task_build *b, struct err *e);
/* Makes the sizes of a model smaller that is too large to be run several times: fills in model_ov
 * and check.model_shrunk. */
int task_shrink_model(struct task *t, struct err *e);
/* Puts the trial's inputs into the vault, where candidates get them from. Returns 1 if they cannot
 * be drawn. */
int task_store_inputs(struct task_build *b, struct trial *tr, struct err *e);
/* Prepares a trial: inputs, expected results, tolerance. Returns 0 on success, 1 if the reference
 * does not run there or gives nothing to compare with, -1 on our own failure (*e). */
int task_expect(struct task_build *b, struct trial *tr, struct expectation *x, struct err *e);
/* Prepares all trials of the list that candidates need; the others become due. Returns 0 on
 * success, -1 on failure (*e). */
int task_expect_all(struct task_build *b, struct err *e);
/* Are trials of the general contract prepared only where a check of the task needs them? */
int task_is_lean(const struct judge_options *o);
/* Prepares the next trial that is due, if the reference runs on it. After the last one it looks for
 * relations, and nothing is due any more. Returns 0 on success, -1 on failure (*e). */
int task_expect_next(struct task_build *b, struct err *e);
/* Keeps reference intermediates of the trial in *out, up to a limit of bytes. Returns 1 if the
 * reference does not run. */
int task_keep_intermediates(struct task_build *b, const struct trial *tr, struct intermediates *out, struct err *e);

/* Adds a trial like another one, after all fp32 trials. Returns NULL if there is no room. */
struct trial *task_insert_trial(struct task *t, const struct trial *like, enum trial_kind kind, enum ext ext);
void task_remove_trial(struct task *t, struct trial *tr);
/* The expectation of one of its trials, to be filled in. */
struct expectation *task_expectation_of(struct task *t, const struct trial *tr);
void expectation_release(struct expectation *x);

/* Adds a trial for each metamorphic relation that the reference satisfies. */
int task_find_relations(struct task_build *b, struct err *e);
/* Controls: sets `problem` if the task cannot tell a wrong result from the correct one. */
int task_check_controls(struct task_build *b, struct err *e);
/* Do mutants of the reference fail? Adds stronger trials where they do not. */
int task_check_mutants(struct task_build *b, struct err *e);

#endif
