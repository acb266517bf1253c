/* Launch plans: see plan_order.h. */
#include "verify/funnel/plan_order.h"

#include "base/mem.h"
#include "verify/funnel/size_model.h"
#include "verify/task/dump.h"

/* Configurations of an autotuned kernel that are measured. */
enum { CONFIGS_MOST = 8 };

/* Orders a dry run at full size that records the plan of the config-th configuration. */
static void order(struct funnel *f, int config)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .plan = 1, .config = config, .marks = f->marks,
			       .transposed = f->transposed };

	size_model_full(f->t, o.size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

/* Passes the i-th plan of the batch on. The length is the runner's claim. */
static int pass_on(struct funnel *f, int i)
{
	const struct judge_watcher *w = judge_watcher(f->j);
	const struct run_order *o = &f->orders.v[i];
	struct results none;
	int rc = shmem_report(f->link->shmem, &f->orders, i, &f->report, &none, f->e);

	if (rc < 0)
		return -1;
	if (rc || f->report.state != RUN_GAVE || !f->report.plan_n || f->report.plan_n > o->room)
		return 0;
	return w->plan(w->ctx, (struct str){ .p = (const char *)f->link->shmem + o->at, .n = f->report.plan_n }, f->e);
}

/* A lost runner leaves the candidate without a plan; everything that decides has been done. */
enum step plan_order(struct funnel *f)
{
	const struct judge_watcher *w = judge_watcher(f->j);
	struct trial_result dropped = TRIAL_RESULT_INIT;
	int configs = MAX(1, MIN(f->v->configs, CONFIGS_MOST));
	enum step step;

	if (!w || !w->plan || !f->v->correct)
		return STEP_PASSED;
	step = funnel_switch_task(f, f->base);
	f->orders.n = 0;
	for (int i = 0; i < configs && step == STEP_PASSED; i++)
		order(f, i);
	if (step == STEP_PASSED)
		step = attempt_ask(f, &dropped);
	if (step == STEP_FAILED)
		f->lost = LOST_NOT;
	for (int i = 0; i < f->orders.n && step == STEP_PASSED; i++)
		step = pass_on(f, i) ? STEP_BROKE : STEP_PASSED;
	return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
}
