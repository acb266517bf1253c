/* Checks at full size, for a candidate that is right at smaller test sizes.
 *
 * A few instances of each kernel are run at full size: the first, the last and drawn ones (sample.h). They
 * must stay within their tensors. Their results must be right where the reduced task (full size except for
 * independent axes) says what is right. So a size branch cannot hide that the candidate is wrong at full size. */
#ifndef VERIFY_FUNNEL_FULL_SIZE_H
#define VERIFY_FUNNEL_FULL_SIZE_H

#include "verify/funnel/funnel.h"

/* The seed that draws the instances and spreads the rows of a trial; never 0. It depends on the text of the
 * candidate: a candidate that tests for an instance number changes which instances are drawn. */
uint64_t full_size_draw(uint64_t seed, struct str source, int trial);
/* Runs the batch. Failed: the runner crashed. A runner that took too long sets *late and passes: time at
 * full size says nothing about a candidate that was right wherever it was compared. */
enum step full_size_ask(struct funnel *f, int *late);
/* Takes the i-th report of the batch into f->report. Failed: the report is malformed. */
enum step full_size_take(struct funnel *f, int i);
/* All checks at full size. Failed: the candidate is wrong there. */
enum step full_size_judge(struct funnel *f);

#endif
