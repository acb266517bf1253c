/* The side that runs a candidate: parses it, checks its rules, builds its model, calls it on
 * trials. It knows no expected result and decides nothing: what happened goes into the area. */
#ifndef VERIFY_CANDIDATE_RUNNER_H
#define VERIFY_CANDIDATE_RUNNER_H

#include "verify/candidate/shmem.h"
#include "verify/candidate/task_image.h"

struct runner;

/* The candidate's text is taken from the area; what its syntax and rules give goes there. */
struct runner *runner_new(struct judge *j, const struct task_image *t, struct shmem *a, struct err *e);
void runner_free(struct runner *r);
/* Runs what the area's orders say. */
void runner_serve(struct runner *r);

#endif
