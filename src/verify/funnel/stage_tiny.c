/* Stage tiny: the first runs with contents, on the smallest input set.
 *
 * The candidate runs in checked mode, which finds races, reads of unwritten memory and accesses out
 * of bounds. Then it runs with kernels that do nothing (a correct result would show that the
 * kernels are a decoy), and once in every other configuration of an autotuned kernel. */
#include "verify/funnel/funnel.h"

#include "base/mem.h"
#include "verify/funnel/path_marks.h"
#include "verify/task/dump.h"

/* An autotuned kernel may have this many configurations: triton.Autotuner accepts no more
 * (torch/prelude/triton.py). */
enum { CONFIGS_MOST = 1000 };

/* Judges the i-th run of the batch, a run on the smallest input set. Keeps its results in
 * f->original if they also answer for the original input set in stage full. */
static enum step judge_tiny(struct funnel *f, int i, struct trial_result *r)
{
	const struct trial *tr = &f->t->image.trial[0];
	struct attempt a;
	enum step step = attempt_take(f, i, &a, r);

	if (step == STEP_FAILED && judge_seen(f->j, f->t, tr, NULL, f->e))
		return r->step = STEP_BROKE;
	if (step != STEP_PASSED)
		return step;
	step = attempt_launched(f, STAGE_tiny, &a.cost, r);
	if (step == STEP_PASSED)
		step = attempt_judge(f, tr, &a.got, r);
	if (step == STEP_PASSED && tr->is_original && f->orders.v[i].note_tests)
		f->original = a;
	else
		results_release(&a.got);
	return step;
}

/* In the i-th run of the batch the kernels did nothing. The result must be wrong then, or the run
 * must fail; otherwise the kernels are a decoy. */
static enum step judge_ablation(struct funnel *f, int i)
{
	struct trial_result r = TRIAL_RESULT_INIT;
	struct attempt a;
	enum step step = attempt_take(f, i, &a, &r);
	int same;

	if (step != STEP_PASSED)
		return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
	same = results_match(&f->t->expect[0].expected, &a.got);
	results_release(&a.got);
	return !same ? STEP_PASSED : funnel_failf(f, STAGE_tiny, REASON_decoy_kernel,
						  "the result is the same when the kernels do nothing");
}

/* --- configurations of autotuned kernels -------------------------------------------------- */

/* Orders runs in the next configurations, until shared memory has no room for more results. */
static void order_configs(struct funnel *f, const struct tile_run_options *run)
{
	f->orders.n = 0;
	while (f->v->configs_run < f->v->configs && (!f->orders.n || shmem_has_room(&f->orders, f->t, 0))) {
		attempt_order(f, &f->t->image.trial[0], &(struct run_order){ .run = *run, .tune = 1,
				.config = f->v->configs_run, .after = f->orders.n > 0 });
		f->v->configs_run++;
	}
}

/* An autotuner may choose any configuration, so each must be correct. Runs all configurations but
 * the first, which the passes have run already. */
static enum step run_configs(struct funnel *f, const struct tile_run_options *run)
{
	enum step step = STEP_PASSED;

	f->v->configs_run = f->v->configs > 0;
	if (!rule_on(f->o, RULE_configs))
		return STEP_PASSED;
	if (f->v->configs > CONFIGS_MOST)
		return funnel_failf(f, STAGE_tiny, REASON_out_of_fuel,
				    "the kernels have %d autotuned configurations; at most %d are run",
				    f->v->configs, CONFIGS_MOST);
	while (step == STEP_PASSED && f->v->configs_run < f->v->configs) {
		int first = f->v->configs_run;

		order_configs(f, run);
		step = funnel_ask(f);
		for (int i = 0; i < f->orders.n && step == STEP_PASSED; i++) {
			struct trial_result r = TRIAL_RESULT_INIT;

			step = judge_tiny(f, i, &r);
			r.has_input &= step != STEP_PASSED;     /* the verdict has this input set already */
			funnel_commit(f, &r);
			if (step != STEP_PASSED)
				f->v->configs_run = first + i + 1;
		}
	}
	return step;
}

/* --- the passes --------------------------------------------------------------------------- */

/* Do two trials override the same sizes with the same values? */
static int same_sizes(const struct trial *a, const struct trial *b)
{
	if (a->n_ov != b->n_ov)
		return 0;
	for (size_t i = 0; i < a->n_ov; i++)
		if (a->ov[i].value != b->ov[i].value || !str_eq(a->ov[i].name, b->ov[i].name))
			return 0;
	return 1;
}

/* Does stage full have an input set of these sizes with the poison and the instance order of the
 * second pass? Then the second pass would find nothing that this input set does not find. */
static int second_is_covered(const struct funnel *f)
{
	for (int i = 1; i < f->t->image.n_trials && f->o->last > STAGE_tiny; i++) {
		const struct trial *tr = &f->t->image.trial[i];

		if (trial_poison(f, i) == POISON_FAST && trial_wanted(f, tr, CONTRACT_TASK) &&
		    same_sizes(tr, &f->t->image.trial[0]) && (tr->set == WEIGHTS_BUILT || !tr->weights->n))
			return 1;
	}
	return 0;
}

/* Runs the passes and, as the last run of the batch, one with idle kernels. *ablation is the index
 * of that run, or -1. */
static enum step ask_passes(struct funnel *f, enum tiny_pass first, int passes, int *ablation)
{
	const struct trial *tr = &f->t->image.trial[0];

	f->orders.n = 0;
	for (int i = 0; i < passes; i++)
		attempt_order(f, tr, &(struct run_order) {
			.run = tiny_options(f, first + (unsigned)i),
			.tune = !i, .note_tests = !i, .after = i > 0,
			.estimate = !i && tr->is_original && f->full_size_seconds <= 0.0 });
	*ablation = -1;
	if (!f->o->identity && ext_on(f->o, EXT_ablate_kernels)) {
		*ablation = f->orders.n;
		attempt_order(f, tr, &(struct run_order){ .run = tiny_options(f, PASS_FAST), .idle = 1, .after = 1 });
	}
	return funnel_ask(f);
}

/* Is the worst element one that no instance wrote? */
static int shows_poison(const struct trial_result *r)
{
	float unwritten;

	memset(&unwritten, POISON_FAST, sizeof unwritten);
	return r->n_elements && r->elements[0].got == (double)unwritten;
}

/* A candidate that was wrong at other sizes is mostly wrong here too, and a fast run is enough to
 * see it. Unwritten memory is left to the checked run, which names the store that is missing.
 * Passes if the checked run has to decide. */
static enum step fails_fast(struct funnel *f)
{
	struct trial_result r = TRIAL_RESULT_INIT;
	enum step step;

	f->orders.n = 0;
	attempt_order(f, &f->t->image.trial[0], &(struct run_order){ .run = tiny_options(f, PASS_FAST), .tune = 1 });
	step = attempt_ask(f, &r);
	if (step == STEP_PASSED)
		step = judge_tiny(f, 0, &r);
	if (step == STEP_FAILED && f->lost == LOST_NOT && shows_poison(&r))
		step = STEP_PASSED;
	return step == STEP_PASSED ? STEP_PASSED : funnel_commit(f, &r);
}

/* Judges the i-th pass. The first one also says how many configurations there are, whether lanes
 * were undefined, and what the candidate compares. */
static enum step judge_pass(struct funnel *f, int i, enum tiny_pass first)
{
	struct trial_result r = TRIAL_RESULT_INIT;
	enum step step = judge_tiny(f, i, &r);

	funnel_commit(f, &r);
	if (i)
		return step;
	f->v->configs = f->report.configs;
	f->defined = first == PASS_CHECKED && step == STEP_PASSED && !f->report.out.cost.undefined;
	f->compares_integers |= path_compares_integers(&f->report.path);
	f->compared = f->report.compared;
	return step;
}

/* Without the sanitize extension there is no checked pass, so the fast pass is the first and only
 * one. */
enum step stage_tiny(struct funnel *f)
{
	enum tiny_pass first = ext_on(f->o, EXT_sanitize) ? PASS_CHECKED : PASS_FAST;
	struct tile_run_options run = tiny_options(f, first);
	int passes = first == PASS_FAST || second_is_covered(f) ? 1 : 2, ablation;
	enum step step = f->again ? fails_fast(f) : STEP_PASSED;

	results_release(&f->original.got);
	if (step == STEP_PASSED)
		step = ask_passes(f, first, passes, &ablation);
	for (int i = 0; i < passes && step == STEP_PASSED; i++)
		step = judge_pass(f, i, first);
	if (step == STEP_PASSED && ablation >= 0)
		step = judge_ablation(f, ablation);
	return step == STEP_PASSED ? run_configs(f, &run) : step;
}
