/* Batches of runs at full size: the seed that draws instances, and how reports are taken. */
#ifndef VERIFY_FUNNEL_FULL_SIZE_BATCH_H
#define VERIFY_FUNNEL_FULL_SIZE_BATCH_H

#include "verify/funnel/funnel.h"

/* The seed that draws the instances and spreads the rows of a trial; never 0. It depends on the
 * text of the candidate: a candidate that tests for an instance number changes which instances are
 * drawn. */
uint64_t full_size_draw(uint64_t seed, struct str source, int trial);
/* Runs the batch. Fails if the runner crashed. A runner that took too long sets *late and passes:
 * time at full size says nothing about a candidate that was correct in every comparison. */
enum step full_size_ask(struct funnel *f, int *late);
/* Takes the i-th report of the batch into f->report. Fails if the report is malformed. */
enum step full_size_take(struct funnel *f, int i);
/* The candidate fails because its report is malformed. */
enum step full_size_malformed(struct funnel *f);

#endif
