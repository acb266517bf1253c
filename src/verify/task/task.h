/* Inside the judge: a task made ready, as task.c builds it and funnel.c uses it. */
#ifndef VERIFY_TASK_TASK_H
#define VERIFY_TASK_TASK_H

#include "verify/candidate/trial.h"

/* The fewest that stand for all of what a task only counts: so many where a run is much work. */
enum { TASK_REDUCED_LEAST = 2 };

/* A size of the task that may be changed. */
struct task_size {
	struct str name;
	int64_t own;
	int of_model;                       /* get_init_inputs reads it */
};

struct task {
	struct judge *judge;
	uint64_t id;                        /* of those that this judge made ready */
	char *source, *name;
	struct py_module module;
	int parsed;
	struct diag problem;
	struct program reference;
	int has_choices;                   /* some inputs hold integers, truth values, or are masks */
	int asks_for_places;                /* the reference says where its largest or smallest values are */
	int keeps_state;                    /* forward of the reference changes its buffers */
	struct host_override model_ov[TASK_SIZES];   /* where the model is too large as it is */
	struct task_size size[TASK_SIZES];
	size_t n_all;
	size_t n_sizes;                     /* constants that belong to the inputs alone */
	/* every trial of the task's contract has the sizes that the task gives */
	int at_full_size;
	struct task_weights set[WEIGHT_SETS];
	/* holds the trials' inputs; runs nothing, only read once the task is ready */
	struct host *vault;
	struct world own, oracle;           /* the reference, while the task is made ready */
	struct trial trial[TRIALS_MOST];
	int n_trials;
	int has_due, due_first, due_end;    /* while it is made ready: trials that are listed there and not ready */
	/* while it is made ready: of its first n_sizes, what relations are found at */
	int64_t least[TRIAL_SIZES];
	/* while it is made ready: of the reference at the original trial, until that is expected */
	struct results surveyed;
	struct buf notes;                   /* what task_describe shows */
	struct host_work work;              /* of the reference at the original trial */
	unsigned products;                  /* that the reference forms: enum num_products */
	struct py_module mutable;           /* a tree to make mutants of; lives as long as `own` does */
	int has_mutable;
	struct verdict_task check;          /* what the mutation check found */
	int large;                          /* a run is, even at the smallest size: fewer trials */
	int exact;                          /* its products may not be rounded, whatever the options say */
	/* with products as the options allow them nothing tells its results apart */
	int drowned;
	int is_fixed;                       /* it is made ready at sizes that were chosen for it */
	int64_t fixed[TASK_SIZES];
	int is_whole;                       /* for candidates only: the checks of the task were made with its outline */
	/* candidates are judged at other sizes, as a rule: of its sets only the first is left,
	 * for those that are not there is the whole of it (task_open_whole) */
	int is_outline;
	/* its sizes are its own, but for those that only count, which are this (rows.c); 0: not so */
	int64_t reduced;
	/* and its weights are made of so many along each dimension; 0: they are as they are */
	int64_t part;
	struct sized_tasks *sized_tasks;       /* the task at other sizes: choice.h */
	double seconds;                     /* of the reference on a GPU at the original trial, estimated */
	/* the bytes that it was taken from, which its inputs and weights lie in; or NULL */
	char *kept;
};

/* Runs the reference for a trial in one mode. 0, 1: it fails there, -1. */
int task_run_reference(struct task *t, const struct trial *tr, enum run_mode mode, struct results *out, struct err *e);
/* The same in two steps: everything but the call, and the call on the model as it is then. */
int task_prepare_reference(struct task *t, const struct trial *tr, enum run_mode mode, struct err *e);
int task_call_reference(struct task *t, const struct trial *tr, struct results *out, struct err *e);
/* Do mutants of the reference fail? Stronger input sets where they do not. */
int task_check_mutants(struct task *t, struct err *e);
/* Puts the trial's inputs where candidates get them from. 0, 1: they cannot be drawn, -1. */
int task_store_inputs(struct task *t, struct trial *tr, struct err *e);
/* All that a trial needs: inputs, expected results, tolerance. 0: ready. 1: the reference does
 * not run there, or gives nothing to compare with. */
int task_expect(struct task *t, struct trial *tr, struct err *e);
/* Sets that no candidate is run on are due until a check of the task needs them. Makes the next one
 * ready, if the reference runs on it; behind the last one finds the relations, and none is due any
 * more. 0, -1. */
int task_expect_next(struct task *t, struct err *e);
/* Adds a trial for each relation that the reference satisfies. */
int task_find_relations(struct task *t, struct err *e);
/* A trial like another one, at the end of those that are run before the dtype changes. */
struct trial *task_insert_trial(struct task *t, const struct trial *like, enum trial_kind kind, enum ext ext);
void task_remove_trial(struct task *t, struct trial *tr);
/* The same task made ready at other sizes (one for each of base->size), for the contract of the task and
 * value sets of the general one; `large`: with few input sets. As task_open. */
struct task *task_open_at(const struct task *base, const int64_t *size, int large, struct err *e);
/* The same at its own sizes, but for those of the bits of `axes`, which are `few`; with weights
 * that are made of `part` along each dimension, where that is not 0, for it is them that are large. */
struct task *task_open_reduced(const struct task *base, unsigned axes, int64_t reduced, int64_t part, struct err *e);
/* All of what is here in outline only. */
struct task *task_open_whole(const struct task *base, struct err *e);
/* Which of its sizes, those of the bits of `among`, only count: found at these small sizes. */
int task_find_axes(const struct task *t, const int64_t *small, unsigned among, unsigned *axes, struct err *e);
/* The sizes of a model that is too large as it is: fills in model_ov and what says so in `check`, if any are smaller. */
int task_shrink_model(struct task *t, struct err *e);
/* Draws the trials: sizes from the task's own constants. */
int task_draw_trials(struct task *t, struct err *e);
/* Controls: the task can tell right from wrong, else `problem` is set. */
int task_check_controls(struct task *t, struct err *e);

/* The sizes that candidates are run at. */
enum size_kind task_size(const struct task *t);

#endif
