/* Values that get_inputs draws so seldom that no input set holds them.
 *
 * torch.rand draws multiples of 2^-24: a kernel that is wrong for one of them is wrong for about
 * one element of 16 million, which small input sets do not hold and inputs at full size do. The
 * kernel names this value in a comparison. So the constants of comparisons become values of input
 * sets, one for each constant, which are prepared for this candidate. The runner reports the
 * constants; a wrong report only leads to other input sets. */
#include "verify/funnel/funnel.h"

#include <math.h>

#include "base/log.h"
#include "base/mem.h"

/* The constants of the report that are numbers. Returns how many. */
static int take_constants(const struct compared *c, double *v)
{
	int n = 0;

	for (int i = 0; i < MIN(c->n, (int)COMPARED_MOST); i++)
		if (isfinite(c->v[i]))
			v[n++] = c->v[i];
	return n;
}

/* Runs the candidate on the input sets of f->t with rare values. */
static enum step run_rare(struct funnel *f)
{
	enum step step = STEP_PASSED;

	for (int i = 1; i < f->t->image.n_trials && step == STEP_PASSED; i++) {
		const struct trial *tr = &f->t->image.trial[i];
		struct run_order how = full_order(f, tr, i, 0);
		struct trial_result r = TRIAL_RESULT_INIT;

		if (tr->kind != TRIAL_rare)
			continue;
		how.estimate = 0;
		how.config = 0;
		f->orders.n = 0;
		attempt_order(f, tr, &how);
		step = attempt_ask(f, &r);
		if (step == STEP_PASSED)
			step = judge_full(f, 0, &r);
		r.has_input &= step != STEP_PASSED;
		funnel_commit(f, &r);
	}
	return step;
}

/* The runner moves to a task of its own, and back for the stages that follow. */
enum step judge_rare_values(struct funnel *f)
{
	const struct task *judged = f->t;
	double v[COMPARED_MOST];
	int n = take_constants(&f->compared, v);
	int64_t start = clock_ns();
	struct task *t;
	enum step step;

	if (!n || f->o->identity || !ext_on(f->o, EXT_rare_values))
		return STEP_PASSED;
	t = task_open_rare(judged, v, n, f->e);
	if (!t)
		return STEP_BROKE;
	f->v->prepare_ms += (double)(clock_ns() - start) / 1e6;
	step = STEP_PASSED;
	if (task_problem(t)->reason == REASON_ok && t->image.n_trials > 1) {
		step = funnel_switch_task(f, t);
		if (step == STEP_PASSED)
			step = run_rare(f);
		if (step == STEP_BROKE)
			f->t = judged;
		else if (funnel_switch_task(f, judged) != STEP_PASSED)
			step = STEP_BROKE;
	}
	f->buffers_task = NULL;
	task_free(t);
	return step;
}
