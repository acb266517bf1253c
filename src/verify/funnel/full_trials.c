/* The input sets of the task's contract, run in fast mode and judged.
 *
 * Runs are ordered in batches, as many as shared memory has room for results. */
#include "verify/funnel/funnel.h"

#include "base/mem.h"
#include "verify/funnel/work_share.h"
#include "verify/task/dump.h"

/* The cost of the run on the original input set is the candidate's cost. */
static void note_cost(struct funnel *f, const struct outcome *o)
{
	f->v->cost = o->cost;
	f->v->seconds = o->seconds;
	f->v->kernels = o->kernels;
	f->v->reference_seconds = f->t->seconds;
}

/* Does the candidate refuse a dtype other than fp32? A refusal is no fault, because the task asks
 * for fp32. A candidate that accepts the dtype and computes a wrong result is wrong. */
static int refuses_dtype(const struct funnel *f, const struct trial_result *r)
{
	switch (r->diag.reason) {
	case REASON_assertion_failed: case REASON_raised: case REASON_value_error: case REASON_type_error:
		return 1;
	default:
		return f->report.refused;
	}
}

/* Only the original input set has a cost and a work share, because the reference's work was counted
 * there. */
enum step judge_full(struct funnel *f, int i, struct trial_result *r)
{
	const struct trial *tr = &f->t->image.trial[f->orders.v[i].trial];
	struct attempt a;
	enum step step = attempt_take(f, i, &a, r);

	if (step == STEP_FAILED && tr->dt != DT_F32 && refuses_dtype(f, r)) {
		r->step = STEP_PASSED;
		r->compiled = 1;
		trial_result_skip(r, f, tr, "the candidate takes fp32 only");
		return STEP_PASSED;
	}
	if (step == STEP_FAILED && judge_seen(f->j, f->t, tr, NULL, f->e))
		return r->step = STEP_BROKE;
	if (step != STEP_PASSED)
		return step;
	if (tr->is_original)
		note_cost(f, &a.cost);
	step = attempt_launched(f, STAGE_full, &a.cost, r);
	if (step == STEP_PASSED)
		step = attempt_judge(f, tr, &a.got, r);
	if (step == STEP_PASSED && tr->is_original)
		step = work_share_judge(f, &a.cost, &task_expectation(f->t, tr)->expected, &a.got, r);
	results_release(&a.got);
	return step;
}

/* If the smallest input set is the original one, the checked run of stage tiny also counts as the
 * run on the original set. */
static enum step judge_original(struct funnel *f)
{
	struct trial_result r = TRIAL_RESULT_INIT;

	if (!f->original.got.n)
		return STEP_PASSED;
	note_cost(f, &f->original.cost);
	work_share_judge(f, &f->original.cost, &f->t->expect[0].expected, &f->original.got, &r);
	results_release(&f->original.got);
	return funnel_commit(f, &r);
}

/* Runs every trial of the task's contract once; adds the number that pass to *passed. */
static enum step full_round(struct funnel *f, int round, int *passed)
{
	enum step step = STEP_PASSED;
	int next = 1;

	while (step == STEP_PASSED && next < f->t->image.n_trials) {
		f->orders.n = 0;
		next = order_full(f, CONTRACT_TASK, next, round);
		step = funnel_ask(f);
		for (int i = 0; i < f->orders.n && step == STEP_PASSED; i++) {
			struct trial_result r = TRIAL_RESULT_INIT;

			step = judge_full(f, i, &r);
			/* Later rounds repeat input sets that the verdict has already. */
			r.has_input &= !round || step != STEP_PASSED;
			funnel_commit(f, &r);
			*passed += step == STEP_PASSED;
		}
	}
	return step;
}

/* A kernel with 4 configurations has 4 rounds: in each round every input set has another
 * configuration. The share of passed runs gives partial credit; the + 1 keeps it below 1. */
enum step full_task_contract(struct funnel *f)
{
	int rounds = MAX(f->v->configs_run, 1), passed = 0;
	enum step step = judge_original(f);

	for (int round = 0; round < rounds && step == STEP_PASSED; round++)
		step = full_round(f, round, &passed);
	if (step == STEP_FAILED && f->v->stage == STAGE_full)
		f->v->stages[STAGE_full].share = (double)passed /
			(double)(rounds * trials_wanted(f, CONTRACT_TASK) + 1);
	return step;
}
