/* Prepared copies of the base task at other sizes: made when a candidate needs them first, kept for
 * the next candidates of the same task (task/sized_tasks.h). The time for making them goes to
 * verdict.prepare_ms. */
#ifndef VERIFY_FUNNEL_SIZED_CACHE_H
#define VERIFY_FUNNEL_SIZED_CACHE_H

#include "verify/funnel/funnel.h"

/* Prepares the base task at these sizes. Passes and sets *out, or fails if the task cannot be
 * judged there. */
enum step sized_cache_at(struct funnel *f, const int64_t *size, const struct task **out);
/* The reduced task; *out is NULL if the task has none, or if it is too large. Returns STEP_PASSED
 * or STEP_BROKE. */
enum step sized_cache_reduced(struct funnel *f, const struct task **out);
/* Settles on sizes: the base task prepared there, or the base task itself if that fails. Returns
 * STEP_PASSED or STEP_BROKE. */
enum step sized_cache_settle(struct funnel *f, enum size_kind kind, const int64_t *size, struct test_sizes *out);
/* Settles on the base task with all its input sets. Returns STEP_PASSED or STEP_BROKE. */
enum step sized_cache_settle_base(struct funnel *f, struct test_sizes *out);
/* Would a run of the reference at these sizes be cheap enough for a check of size branches? */
int sized_cache_is_affordable(const struct funnel *f, const int64_t *size);

#endif
