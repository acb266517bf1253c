/* The general contract: other shapes, other dtypes, outliers, undefined lanes.
 *
 * All of these input sets are run, also after a failure, so that the verdict lists every kind that
 * fails. Under the task's contract they only inform. Under the general contract the first failure
 * is the verdict. */
#include "verify/funnel/funnel.h"

#include <stdio.h>

/* Adds the kind of a failed input set to the verdict's list, once. */
static void note_failed(struct verdict *v, enum trial_kind kind, enum reason why)
{
	struct verdict_general *g = &v->general;

	g->correct = 0;
	if (!g->n_failed)
		g->why = why;
	for (int i = 0; i < g->n_failed; i++)
		if (!strcmp(g->failed[i], trial_name(kind)))
			return;
	if (g->n_failed < VERDICT_GENERAL)
		snprintf(g->failed[g->n_failed++], sizeof g->failed[0], "%s", trial_name(kind));
}

/* Triton leaves a lane undefined that is masked off without `other`; GPUs load zero there. The
 * first run of the batch had such lanes undefined. Its result is not compared: the run must only
 * get to its end. */
static enum step judge_undefined(struct funnel *f, struct trial_result *r)
{
	struct attempt a;
	enum step step = attempt_take(f, 0, &a, r);

	if (step == STEP_PASSED)
		results_release(&a.got);
	return step;
}

/* Runs the next batch, from the trial *next on. With `undefined` a run with undefined lanes comes
 * first. */
static enum step ask_general(struct funnel *f, int undefined, int *next, struct trial_result *r)
{
	struct tile_run_options run = tiny_options(f, PASS_CHECKED);

	f->orders.n = 0;
	run.zero_off = 0;
	if (undefined)
		attempt_order(f, &f->t->image.trial[0], &(struct run_order){ .run = run });
	*next = order_full(f, CONTRACT_GENERAL, *next, 0);
	return f->orders.n ? attempt_ask(f, r) : STEP_PASSED;
}

/* The runner was lost on input sets beyond the task's contract. Under that contract it does not
 * count. */
static void note_lost(struct funnel *f, const struct trial_result *r, struct trial_result *first)
{
	if (f->v->general.correct)
		*first = *r;
	f->v->general.correct = 0;
	if (f->o->contract == CONTRACT_TASK)
		f->lost = LOST_NOT;
}

/* Judges the i-th run of the batch. A failure is only noted; *first keeps the first one. */
static enum step judge_one(struct funnel *f, int i, int undefined, struct trial_result *first)
{
	struct trial_result r = TRIAL_RESULT_INIT;
	enum step step = undefined ? judge_undefined(f, &r) : judge_full(f, i, &r);

	if (step != STEP_FAILED)
		return funnel_commit(f, &r);
	if (f->v->general.correct)
		*first = r;
	funnel_commit_input(f, &r);
	note_failed(f->v, undefined ? TRIAL_undefined : f->t->image.trial[f->orders.v[i].trial].kind,
		    r.diag.reason);
	return STEP_PASSED;
}

/* One batch of general input sets. Fails if the runner was lost. */
static enum step run_batch(struct funnel *f, int undefined, int *next, struct trial_result *first)
{
	struct trial_result lost = TRIAL_RESULT_INIT;
	enum step step = ask_general(f, undefined, next, &lost);

	if (step == STEP_FAILED)
		note_lost(f, &lost, first);
	for (int i = 0; i < f->orders.n && step == STEP_PASSED; i++)
		step = judge_one(f, i, undefined && !i, first);
	return step;
}

/* All general input sets of f->t. Returns STEP_PASSED or STEP_BROKE; *first is the first failure,
 * if any. */
static enum step run_general(struct funnel *f, int undefined, struct trial_result *first)
{
	enum step step;
	int next = 1;

	do {
		step = run_batch(f, undefined, &next, first);
		undefined = 0;
	} while (step == STEP_PASSED && next < f->t->image.n_trials);
	return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
}

/* Runs at the test sizes first, then at the sizes of the base task, which has input sets of other
 * shapes. */
enum step judge_general(struct funnel *f)
{
	struct trial_result first = TRIAL_RESULT_INIT;
	struct verdict *v = f->v;
	enum step step;

	v->general = (struct verdict_general){ .ran = 1, .correct = 1 };
	f->fuel = FUEL_CHECKED;
	step = run_general(f, ext_on(f->o, EXT_sanitize) && !f->defined, &first);
	if (step == STEP_PASSED && f->t != f->base) {
		step = funnel_switch_task(f, f->base);
		if (step == STEP_PASSED)
			step = run_general(f, 0, &first);
	}
	if (step == STEP_BROKE || v->general.correct || f->o->contract == CONTRACT_TASK)
		return step;
	first.has_input = 0;            /* the verdict has its row already */
	return funnel_commit(f, &first);
}
