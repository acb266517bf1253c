/* Reads of all instances, compared between sizes: see address_check.h. */
#include "verify/funnel/address_check.h"

#include <stdio.h>

#include "verify/funnel/constant_test.h"
#include "verify/funnel/full_size_batch.h"
#include "verify/task/sized_tasks.h"

/* Orders a dry run at the judged sizes whose report counts the reads of every instance. The counts at full size
 * mean nothing by themselves: only a tensor that is read whole at small sizes must be read whole. */
void address_check_order(struct funnel *f)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .addresses = 1 };

	constant_test_judged_sizes(f, o.size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

/* A kernel that sums 4096 of 65536 columns reads a sixteenth of its input at full size and all of it at smaller
 * sizes: the share in the message is 0.0625. */
static enum step fail_unread(struct funnel *f, int what, double share)
{
	char name[32] = "a tensor";

	if (what < READS_INPUTS)
		snprintf(name, sizeof name, "input %d", what);
	return funnel_failf(f, STAGE_full, REASON_unread,
			    "at full size the launches read %.4g times the elements of %s; at smaller sizes each of "
			    "them reads all of it", share, name);
}

/* Compares the reads at full size with those at small sizes. An access that the slice does not decide leaves the
 * question open, and the candidate passes this check. */
enum step address_check_judge(struct funnel *f, int full, int small)
{
	double least = sized_tasks_least_read(f->base->sized_tasks);
	struct run_reads reads;
	int missing;

	if (full_size_take(f, full) != STEP_PASSED)
		return STEP_BROKE;
	f->v->full_size_reads = CONSTANT_ANSWER_call_failed;
	if (f->report.state != RUN_GAVE)
		return STEP_PASSED;
	f->v->addresses_decided = f->report.addresses.launches && !f->report.addresses.open;
	f->v->addresses_rounded = f->report.addresses.rounded;
	reads = f->report.reads;
	if (full_size_take(f, small) != STEP_PASSED)
		return STEP_BROKE;
	if (f->report.state != RUN_GAVE)
		return STEP_PASSED;
	f->v->full_size_reads = reads_answer(&reads, &f->report.reads, least);
	missing = reads_missing(&reads, &f->report.reads, least);
	return missing < 0 ? STEP_PASSED : fail_unread(f, reads.v[missing].what, reads.v[missing].share);
}
