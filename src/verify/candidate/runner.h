/* The runner: parses a candidate, checks the rules, builds its model, calls it on trials.
 *
 * It knows no expected result and decides nothing: all that happens goes into reports in shared
 * memory. It interprets hostile code, so it runs in a process of its own (pool/zygote.h). */
#ifndef VERIFY_CANDIDATE_RUNNER_H
#define VERIFY_CANDIDATE_RUNNER_H

#include "verify/candidate/shmem.h"
#include "verify/candidate/task_image.h"

struct runner;

/* Takes the candidate's text from shared memory, and writes there whether syntax and rules hold.
 * Returns NULL on failure (*e). The image must outlive the runner. */
struct runner *runner_new(struct judge *j, const struct task_image *t, struct shmem *a, struct err *e);
void runner_free(struct runner *r);
/* Runs the orders that are in shared memory, and writes a report for each. */
void runner_serve(struct runner *r);

#endif
