/* What an input set does to the inputs that get_inputs draws. */
#ifndef VERIFY_CANDIDATE_INPUT_CHANGE_H
#define VERIFY_CANDIDATE_INPUT_CHANGE_H

#include "host/host.h"
#include "verify/candidate/trial.h"

/* Changes inputs in place; with `first` the first of them alone. 0, -1. */
int change_inputs(struct host *h, enum trial_change what, int first, struct val inputs, struct err *e);
/* Are integers that get_inputs draws from a range to have both its ends among them? */
int change_draws_ends(enum trial_change what);
/* A change that asks less, for a reference that is not finite with this one, or does not take it;
 * CHANGE_NONE: there is none. */
enum trial_change change_milder(enum trial_change what);
/* Does a tensor choose (integers, truth values, a mask of floats), so that other choices may be made? */
int change_can_choose(const struct tensor *t);

#endif
