/* Stage full: every input set of the task's contract (full_trials.c), the question who does the
 * work (copies.c), rare values (rare_values.c), and the input sets of the general contract (general.c). */
#include "verify/funnel/funnel.h"

/* The general contract comes last, because it may move the runner to another task. */
enum step stage_full(struct funnel *f)
{
	enum step step = full_task_contract(f);

	if (step == STEP_PASSED)
		step = judge_copies(f);
	if (step == STEP_PASSED)
		step = judge_rare_values(f);
	if (step == STEP_PASSED && !(f->o->skip_general && f->o->contract == CONTRACT_TASK))
		step = judge_general(f);
	if (step == STEP_PASSED)
		f->v->correct = 1;
	return step;
}

/* The general contract is left out: it belongs to the sizes of the task. */
enum step funnel_right_at(struct funnel *f, const struct task *t, struct verdict *out)
{
	struct verdict *candidate = f->v;
	enum step step;

	*out = *candidate;
	f->v = out;
	step = funnel_switch_task(f, t);
	if (step == STEP_PASSED)
		step = stage_tiny(f);
	if (step == STEP_PASSED)
		step = full_task_contract(f);
	f->v = candidate;
	return step;
}
