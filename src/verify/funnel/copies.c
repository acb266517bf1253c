/* Do the kernels only pass on what operators of the host computed?
 *
 * The candidate is run with kernels that copy: each launch copies one tensor that it reads into
 * each tensor that it writes. If the result is still correct on every input set, the host does the
 * work. */
#include "verify/funnel/funnel.h"

/* A launch may read several tensors. This many of them are tried as the source of the copies, one
 * after another. */
enum { SOURCES_TRIED = 3 };

/* Runs the number-th trial with kernels that copy their source-th tensor. Fails if the result is
 * correct. A run that fails or loses its runner counts as passed: the kernels matter. */
static enum step copies_differ(struct funnel *f, int number, int source)
{
	const struct trial *tr = &f->t->image.trial[number];
	struct run_order how = full_order(f, tr, number, 0);
	struct trial_result dropped = TRIAL_RESULT_INIT;
	struct attempt a;
	enum step step;
	int right;

	how.copy = source;
	how.estimate = 0;
	f->orders.n = 0;
	attempt_order(f, tr, &how);
	if (attempt_ask(f, &dropped) == STEP_BROKE)
		return STEP_BROKE;
	step = f->lost == LOST_NOT ? attempt_take(f, 0, &a, &dropped) : STEP_FAILED;
	if (f->lost != LOST_NOT) {
		f->lost = LOST_NOT;
		f->link->end(f->link);
		return funnel_start(f);
	}
	if (step != STEP_PASSED)
		return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
	right = f->report.out.sources >= source && results_match(&task_expectation(f->t, tr)->expected, &a.got);
	results_release(&a.got);
	return right ? STEP_FAILED : STEP_PASSED;
}

/* Fails if the result is correct on every input set of the task. */
static enum step copies_differ_once(struct funnel *f, int source)
{
	enum step step = STEP_PASSED;

	for (int i = 1; i < f->t->image.n_trials; i++) {
		if (!trial_wanted(f, &f->t->image.trial[i], CONTRACT_TASK))
			continue;
		step = copies_differ(f, i, source);
		if (step != STEP_FAILED)
			break;
	}
	return step;
}

/* The first source is always tried. Further ones are tried only if some launch reads that many
 * tensors, as the run with the source before it has counted. */
enum step judge_copies(struct funnel *f)
{
	struct host_work host = f->report.out.host;
	enum step step = STEP_PASSED;

	/* A candidate whose host operators compute and copy nothing cannot hide work in them. */
	if (f->o->identity || !ext_on(f->o, EXT_ablate_kernels) || !rule_on(f->o, RULE_work_share) ||
	    !(host.flops | host.copied))
		return STEP_PASSED;
	for (int source = 1; source <= SOURCES_TRIED && step == STEP_PASSED; source++) {
		if (source > 1 && f->report.out.sources < source)
			break;
		step = copies_differ_once(f, source);
	}
	return step != STEP_FAILED ? step :
		funnel_failf(f, STAGE_full, REASON_fig_leaf,
			     "the result is the same when the kernels only copy: the host does the work");
}
