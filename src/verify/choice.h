/* At which sizes a candidate is run: the task's own where they are small, else smaller ones on the same
 * path. A path is a set of marks, found by following (follow.h) the candidate without contents: one for each
 * outcome of a comparison of sizes, one for each kernel as it is compiled. Every mark of the own sizes must be
 * met at the smaller ones. Sizes keep their remainders by powers of two. This is the decider's side. */
#ifndef VERIFY_CHOICE_H
#define VERIFY_CHOICE_H

#include "verify/funnel.h"

struct choice {
	const struct task *t;         /* the task at the sizes */
	enum size_kind kind;
	int64_t size[TASK_SIZES];
	struct host_path own;         /* what the candidate meets at the task's own sizes; empty: not known */
};

/* The first run is asked for here: what the front end says is taken, too. 0, 1: the candidate fails,
 * the verdict says why; -1. */
int choice_find(struct funnel *f, struct choice *out);
/* Other sizes for a candidate that fails at those of *c: smaller ones at which it meets the same; these; larger ones; some at which every
 * launch has as many programs as at the task's own sizes; some at which the loops and grids that have several turns there have several, too,
 * whatever constants the kernels are compiled with; some at which what the candidate has as a number is as the task has it, every
 * such size or, with i > 0, only the one before the i-th; the same, but for one size, the i-th, which is as the task has it. */
enum choice_change { CHOICE_SMALLER, CHOICE_SAME, CHOICE_LARGER, CHOICE_SAME_GRID, CHOICE_SAME_TURNS, CHOICE_NAMED, CHOICE_OWN_SIZE };
/* 0 and *out; 1: there are none, or they are too much work; -1. */
int choice_other(struct funnel *f, const struct choice *c, enum choice_change change, size_t i, struct choice *out);
/* The task at its own sizes, but for those that only count (task_open_few); NULL: there are none, or it is
 * too large even so. 0, -1. */
int choice_few(struct funnel *f, const struct task **out);
/* Finds out how the task's work grows with its sizes, the first time. 0, -1. */
int choice_learn(struct funnel *f);
/* The task at other sizes that the reference runs at, if a run there is not too much. 0 and *out, or NULL; -1. */
int choice_at(struct funnel *f, const int64_t *size, const struct task **out);
/* Would a run of the reference at these sizes be small enough? */
int choice_is_near(struct funnel *f, const int64_t *size);
/* Does the reference run at them? 1: yes, -1. */
int choice_is_legal(struct funnel *f, const int64_t *size);
struct task_choices *choices_new(void);
void choices_free(struct task_choices *c);
/* Of the reference on a GPU at its own sizes, estimated; 0: not known. */
double choices_seconds(const struct task_choices *c);
/* What of its inputs the reference reads at the least; 0: not known. */
double choices_least_read(const struct task_choices *c);
size_t choices_bytes(const struct task_choices *c);

#endif
