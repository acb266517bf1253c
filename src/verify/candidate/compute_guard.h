/* The rule of the strict track that torch computes nothing, applied to what a program really calls.
 *
 * Every run of forward is guarded: runs on trials and dry runs, which follow host code at full size.
 * A torch operator in a branch that no run takes, such as a fallback for CPU tensors, is no
 * fault. */
#ifndef VERIFY_CANDIDATE_COMPUTE_GUARD_H
#define VERIFY_CANDIDATE_COMPUTE_GUARD_H

#include "host/host.h"
#include "verify/config/options.h"

/* From here on a torch operator that computes ends the program, if the options ask for that. */
void compute_guard_set(struct host *h, const struct judge_options *o);
/* From here on torch may compute: the task's own get_inputs may compute anything. */
void compute_guard_clear(struct host *h);

#endif
