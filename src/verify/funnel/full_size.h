/* Checks at full size, for a candidate that passed at smaller test sizes.
 *
 * A few instances of each kernel are run at full size: the first, the last and drawn ones
 * (sample.h). They must stay within their tensors. Their results must match those of the reduced
 * task (full size except for independent axes), if the task has one. So a size branch cannot hide
 * that the candidate is wrong at full size. */
#ifndef VERIFY_FUNNEL_FULL_SIZE_H
#define VERIFY_FUNNEL_FULL_SIZE_H

#include "verify/funnel/funnel.h"

/* All checks at full size. Fails if the candidate is wrong there. */
enum step full_size_judge(struct funnel *f);

#endif
