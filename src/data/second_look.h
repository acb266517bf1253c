/* A second look at wrong values: which nearby task does the candidate solve?
 *
 * The reference is changed in one place at a time, as people get it wrong: another axis, N for N - 1, no eps,
 * lanes beyond the end filled with 0. A candidate that is correct for a changed reference has made exactly that
 * mistake. Each change costs one judgement, so only `verify --explain` does it, not training. */
#ifndef DATA_SECOND_LOOK_H
#define DATA_SECOND_LOOK_H

#include "base/err.h"
#include "base/str.h"
#include "verify/pool/pool.h"

enum { SECOND_LOOKS = 24 };

/* One changed reference. */
struct second_task {
	char *task;
	char what[160];            /* the mistake that it represents, as the end of "the candidate ..." */
};

/* Writes the changed references of a task; returns their number, or -1 on failure (*e). second_tasks_release
 * frees them. A task that does not parse has none. */
int second_tasks(struct str task, struct second_task *out, struct err *e);
void second_tasks_release(struct second_task *v, int n);

/* Judges the candidate for each of them and appends one sentence if one fits, else nothing. */
int second_look(struct judge_pool *pool, struct str task, struct str candidate, struct buf *out, struct err *e);

#endif
