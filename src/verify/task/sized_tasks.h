/* A task at other sizes: the same reference, prepared at the sizes at which candidates are run.
 *
 * The funnel decides the sizes (funnel/test_sizes.h) and fills this in; the task owns it, so that
 * the next candidate of the same task finds it prepared. */
#ifndef VERIFY_TASK_SIZED_TASKS_H
#define VERIFY_TASK_SIZED_TASKS_H

#include "verify/task/size_facts.h"

enum { SIZED_TASKS_MOST = 12 };

struct sized_tasks {
	struct size_facts k;
	struct { int64_t size[TASK_SIZES]; struct task *t; } at[SIZED_TASKS_MOST];   /* owned */
	int n;
	int reduced_task;                   /* a reduced task was looked for */
	/* only for an outline: the task with all of its trials, for candidates that are judged by
	 * none of the above; owned; NULL until it is needed */
	struct task *whole;
	struct task *reduced;               /* the reduced task; owned; NULL: none */
};

struct sized_tasks *sized_tasks_new(void);
void sized_tasks_free(struct sized_tasks *c);
/* Seconds of the reference on a GPU at full size, estimated; 0: not known. */
double sized_tasks_seconds(const struct sized_tasks *c);
/* The part of each input that the reference reads at the least; 0: not known. */
double sized_tasks_least_read(const struct sized_tasks *c);
size_t sized_tasks_bytes(const struct sized_tasks *c);

#endif
