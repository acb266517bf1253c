/* Reads of all instances, compared between sizes: see address_check.h. */
#include "verify/funnel/address_check.h"

#include <stdio.h>

#include "verify/funnel/constant_test.h"
#include "verify/funnel/full_size_batch.h"
#include "verify/task/sized_tasks.h"

void address_check_order(struct funnel *f)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .addresses = 1 };

	constant_test_judged_sizes(f, o.size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

static enum step fail_unread(struct funnel *f, int what, double share)
{
	char name[32] = "a tensor";

	if (what < READS_INPUTS)
		snprintf(name, sizeof name, "input %d", what);
	return funnel_failf(f, STAGE_full, REASON_unread,
			    "at full size the launches read %.4g times the elements of %s; at smaller sizes each of "
			    "them reads all of it", share, name);
}

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
	reads = f->report.reads;
	if (full_size_take(f, small) != STEP_PASSED)
		return STEP_BROKE;
	if (f->report.state != RUN_GAVE)
		return STEP_PASSED;
	f->v->full_size_reads = reads_answer(&reads, &f->report.reads, least);
	missing = reads_missing(&reads, &f->report.reads, least);
	return missing < 0 ? STEP_PASSED : fail_unread(f, reads.v[missing].what, reads.v[missing].share);
}
