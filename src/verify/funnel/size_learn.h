/* Learning the facts about the sizes of a task (size_facts.h) by dry runs of its reference.
 *
 * Only the deciding process does this: no candidate has a part in it, and the facts are the same
 * for all candidates of a task. They are kept in the task cache. */
#ifndef VERIFY_FUNNEL_SIZE_LEARN_H
#define VERIFY_FUNNEL_SIZE_LEARN_H

#include "verify/funnel/funnel.h"

/* Learns how the work of the reference grows with each size, and the first and the larger sizes,
 * unless they are known. Returns STEP_PASSED or STEP_BROKE; facts.known says whether it worked. */
enum step size_learn(struct funnel *f);
/* Learns the independent axes and how small they can be, unless that is known. Returns STEP_PASSED
 * or STEP_BROKE. */
enum step size_learn_reduced(struct funnel *f);
/* Passes if the reference runs at these sizes, fails if it does not. */
enum step size_learn_runs_at(struct funnel *f, const int64_t *size);

#endif
