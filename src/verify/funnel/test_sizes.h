/* At which sizes a candidate is run: the task's own where they are small, else smaller ones on the same
 * path. A path is a set of marks, found by following (follow.h) the candidate without contents: one for each
 * outcome of a comparison of sizes, one for each kernel as it is compiled. Every mark of the own sizes must be
 * met at the smaller ones. Sizes keep their remainders by powers of two. This is the decider's side. */
#ifndef VERIFY_FUNNEL_TEST_SIZES_H
#define VERIFY_FUNNEL_TEST_SIZES_H

#include "verify/funnel/funnel.h"

struct test_sizes {
	const struct task *t;         /* the task at the sizes */
	enum size_kind kind;
	int64_t size[TASK_SIZES];
	struct host_path own;         /* what the candidate meets at the task's own sizes; empty: not known */
};

/* The first run is asked for here: what the front end says is taken, too. 0, 1: the candidate fails,
 * the verdict says why; -1. */
int test_sizes_find(struct funnel *f, struct test_sizes *out);
/* Other sizes for a candidate that fails at those of *c: smaller ones at which it meets the same;
 * these; larger ones; some at which every launch has as many programs as at the task's own sizes;
 * some at which the loops and grids that have several turns there have several, too, whatever
 * constants the kernels are compiled with; some at which what the candidate has as a number is as
 * the task has it, every such size or, with i > 0, only the one before the i-th; the same, but for
 * one size, the i-th, which is as the task has it. */
enum test_sizes_change { TEST_SIZES_SMALLER, TEST_SIZES_SAME, TEST_SIZES_LARGER, TEST_SIZES_SAME_GRID,
			 TEST_SIZES_SAME_TRIPS, TEST_SIZES_NAMED, TEST_SIZES_FULL_SIZE };
/* 0 and *out; 1: there are none, or they are too much work; -1. */
int test_sizes_other(struct funnel *f, const struct test_sizes *c, enum test_sizes_change change, size_t i,
		     struct test_sizes *out);
/* The task at its own sizes, but for those that only count (task_open_reduced); NULL: there are none, or it is
 * too large even so. 0, -1. */
int test_sizes_reduced(struct funnel *f, const struct task **out);
/* Finds out how the task's work grows with its sizes, the first time. 0, -1. */
int test_sizes_learn(struct funnel *f);
/* The task at other sizes that the reference runs at, if a run there is not too much. 0 and *out, or NULL; -1. */
int test_sizes_at(struct funnel *f, const int64_t *size, const struct task **out);
/* Would a run of the reference at these sizes be small enough? */
int test_sizes_are_near(struct funnel *f, const int64_t *size);
/* Does the reference run at them? 1: yes, -1. */
int test_sizes_are_legal(struct funnel *f, const int64_t *size);

#endif
