/* The test sizes of a candidate: full size if that is small, else smaller sizes on the same path.
 *
 * A path is a set of marks that a dry run of the candidate collects (dry_run.h): one for each
 * outcome of a comparison of sizes, one for each kernel as it is compiled. The candidate must meet
 * every mark of full size at the test sizes. If no affordable sizes do that, those are taken that
 * meet the most marks, and the verdict says so (SIZE_SAMPLED). */
#ifndef VERIFY_FUNNEL_TEST_SIZES_H
#define VERIFY_FUNNEL_TEST_SIZES_H

#include "verify/funnel/funnel.h"

/* Settles the test sizes if they depend only on the task: it is small, or nothing is known of its
 * sizes. Otherwise out->t is NULL. Returns STEP_PASSED or STEP_BROKE. */
enum step test_sizes_begin(struct funnel *f, struct test_sizes *out);
/* Finds the test sizes by dry runs of the candidate. Fails if the candidate does not compile, does
 * not fit the GPU or raises at full size. */
enum step test_sizes_find(struct funnel *f, struct test_sizes *out);

/* Adds a dry run at these sizes to the batch. */
void test_sizes_order(struct funnel *f, enum dry_run what, const int64_t *size);
/* Takes the i-th dry run of the batch. Fails if the program fails at those sizes (f->report says
 * why). */
enum step test_sizes_take(struct funnel *f, int i);
/* Lowers sizes, beginning at full size, until the work is within the limit. The candidate must
 * still meet every mark of *path, and the reference must run. Sizes whose bit is in `keep` stay.
 * Fails if the work is too much, or if the runner is lost. */
enum step test_sizes_descend(struct funnel *f, const struct host_path *path, unsigned keep, double limit,
			     int64_t least, int64_t *size);
/* The same down to SIZE_WORK_FIRST; no size goes below its floor. */
enum step test_sizes_descend_above(struct funnel *f, const struct host_path *path, const int64_t *floors,
				   int64_t *size);
/* The same with twice the work allowed, if no other sizes were found. */
enum step test_sizes_descend_far(struct funnel *f, const struct host_path *path, int64_t least, int64_t *size);

#endif
