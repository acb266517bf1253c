/* Facts about the sizes of a task, found by dry runs (funnel/test_sizes.h). They follow from the
 * same source, options and build as the prepared task, and are kept in the same store
 * (prepared.h). */
#ifndef VERIFY_TASK_SIZE_FACTS_H
#define VERIFY_TASK_SIZE_FACTS_H

#include "verify/task/task.h"

/* The struct has no padding, since the bytes in memory are hashed. */
struct size_facts {
	/* the state of the facts: 1 if they are known, -1 if the reference has no dry run, 0 if
	 * they were not looked for yet */
	int known;
	int reduced_known;            /* `reduced` is known, too */
	double full_size_work;        /* of a run of the reference at full size, in about nanoseconds */
	double degree[TASK_SIZES];    /* the power with which work grows with each size */
	double full_size_seconds;     /* of the reference on a GPU at full size, estimated; 0: not known */
	double least_read;            /* the part of each input that the reference reads: reads_least */
	int64_t first[TASK_SIZES], larger[TASK_SIZES];         /* test sizes: those tried first, and larger ones */
	struct task_reduction reduced;
};

/* Returns 0 if *out was in the store, else 1. */
int size_facts_get(const struct task *t, struct size_facts *out);
void size_facts_put(const struct task *t, const struct size_facts *k);
/* Does the source contain this number, not as a part of a name or of another number? */
int size_facts_named(struct str source, int64_t number);

#endif
