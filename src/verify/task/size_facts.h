/* What was found out about the sizes of a task (choice.h), kept where the task itself is
 * (prepared.h): it follows from the same source, options and build. */
#ifndef VERIFY_TASK_SIZE_FACTS_H
#define VERIFY_TASK_SIZE_FACTS_H

#include "verify/task/task.h"

/* Without gaps: it is hashed as it lies. */
struct size_facts {
	/* 1: the sizes below are there; -1: the reference cannot be followed; 0: not known yet */
	int known;
	int reduced_known;                /* the last three as well */
	double full_size_work, degree[TASK_SIZES];
	double full_size_seconds;           /* of the reference on a GPU, estimated; 0: not known */
	double least_read;            /* of its inputs: reads_least */
	int64_t first[TASK_SIZES], larger[TASK_SIZES];
	int64_t reduced;                  /* how many stand for all of what only counts; 0: nothing does */
	int64_t axes;                 /* a bit for each size that only counts */
	int64_t part;                 /* weights are made of so many along each dimension; 0: they are as they are */
};

/* 0: *out was kept. */
int size_facts_get(const struct task *t, struct size_facts *out);
void size_facts_put(const struct task *t, const struct size_facts *k);
/* Does a program have this number, not as a part of a name or another number? */
int size_facts_named(struct str source, int64_t number);

#endif
