/* The changes that trials make to the inputs that get_inputs draws. */
#ifndef VERIFY_CANDIDATE_INPUT_CHANGE_H
#define VERIFY_CANDIDATE_INPUT_CHANGE_H

#include "host/host.h"
#include "verify/candidate/trial.h"

/* Changes inputs in place, as the trial says. Returns 0 on success, -1 on failure (*e). */
int change_inputs(struct host *h, const struct trial *tr, struct val inputs, struct err *e);
/* Must integers that get_inputs draws from a range include both ends of the range? */
int change_draws_ends(enum trial_change what);
/* A milder change, for a reference that rejects this one or is not finite with it. Returns
 * CHANGE_NONE if no milder change exists. */
enum trial_change change_milder(enum trial_change what);
/* Does the tensor choose (integers, truth values, a mask of floats), so that other choices can be
 * made? */
int change_can_choose(const struct tensor *t);

#endif
