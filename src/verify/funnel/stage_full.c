/* Stage full: every input set of the task's contract, in fast mode; then two questions about who does
 * the work (copies.c, work_share.c) and the input sets of the general contract (general.c).
 *
 * Runs are ordered in batches, as many as shared memory has room for results. */
#include "verify/funnel/funnel.h"

#include "base/mem.h"
#include "verify/funnel/work_share.h"
#include "verify/task/dump.h"

int trial_wanted(const struct funnel *f, const struct trial *tr, enum contract c)
{
	if (trial_contract(tr->kind) != c || tr->stage != STAGE_full)
		return 0;
	if (tr->set == WEIGHTS_MOVED && !ext_on(f->o, EXT_reweight))
		return 0;
	/* "seed": no weight of the candidate was matched, so drawn weights would not reach it. */
	if (tr->set == WEIGHTS_DRAWN && (!ext_on(f->o, EXT_reweight) || !strcmp(f->v->weights, "seed")))
		return 0;
	return tr->ext == EXTS || ext_on(f->o, (enum ext)tr->ext);
}

static int count_wanted(const struct funnel *f, enum contract c)
{
	int n = 0;

	for (int i = 1; i < f->t->image.n_trials; i++)
		n += trial_wanted(f, &f->t->image.trial[i], c);
	return n;
}

/* Each trial has another order of instances, another poison and another configuration, so that together
 * they show what is right by luck. The smallest size may have a single instance: whether instances
 * disturb each other shows here. The original trial has the order 0 and the first configuration, and each
 * further round moves every trial to its next configuration. */
struct run_order full_order(const struct funnel *f, const struct trial *tr, int number, int round)
{
	return (struct run_order) {
		.run = { .mode = TILE_FAST, .fuel = f->slow ? FUEL_CHECKED : FUEL_FAST,
			 .order_seed = tr->is_original ? 0 : (uint64_t)number,
			 .poison = (unsigned char)trial_poison(f, number), .zero_off = 1,
			 .check_new = ext_on(f->o, EXT_sanitize) && trial_contract(tr->kind) == CONTRACT_TASK },
		.watch = ext_on(f->o, EXT_sanitize) && (tr->is_original || tr->kind == TRIAL_shape),
		.config = (number - 1 + round) % MAX(f->v->configs_run, 1),
		.estimate = tr->is_original && f->full_size_seconds <= 0.0,
	};
}

int order_full(struct funnel *f, enum contract c, int number, int round)
{
	int fresh = number == 1 && !f->orders.n && !round && (c == CONTRACT_TASK || !count_wanted(f, CONTRACT_TASK));

	for (; number < f->t->image.n_trials; number++) {
		struct run_order how = full_order(f, &f->t->image.trial[number], number, round);

		if (!trial_wanted(f, &f->t->image.trial[number], c))
			continue;
		if (f->orders.n && !shmem_has_room(&f->orders, f->t, number))
			break;
		/* The very first run gets a model that no earlier stage has called. All others go on
		 * with that model. */
		how.fresh = fresh && !f->orders.n;
		attempt_order(f, &f->t->image.trial[number], &how);
	}
	return number;
}

/* --- judging ---------------------------------------------------------------------------------------------- */

/* The cost of the run on the original input set is the candidate's cost. */
static void note_cost(struct funnel *f, const struct outcome *o)
{
	f->v->cost = o->cost;
	f->v->seconds = o->seconds;
	f->v->reference_seconds = f->t->seconds;
}

/* Does the candidate refuse a dtype other than fp32? That is no fault, for the task asks for fp32. A
 * candidate that accepts the dtype and computes a wrong result is wrong. */
static int refuses_dtype(const struct funnel *f, const struct trial_result *r)
{
	switch (r->diag.reason) {
	case REASON_assertion_failed: case REASON_raised: case REASON_value_error: case REASON_type_error:
		return 1;
	default:
		return f->report.refused;
	}
}

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

/* Where the smallest input set is the original one, the checked run of stage tiny answers for it. */
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

enum step full_task_contract(struct funnel *f)
{
	int rounds = MAX(f->v->configs_run, 1), passed = 0;
	enum step step = judge_original(f);

	for (int round = 0; round < rounds && step == STEP_PASSED; round++)
		step = full_round(f, round, &passed);
	if (step == STEP_FAILED && f->v->stage == STAGE_full)
		f->v->stages[STAGE_full].share = (double)passed /
			(double)(rounds * count_wanted(f, CONTRACT_TASK) + 1);
	return step;
}

enum step stage_full(struct funnel *f)
{
	enum step step = full_task_contract(f);

	if (step == STEP_PASSED)
		step = judge_copies(f);
	if (step == STEP_PASSED && !(f->o->skip_general && f->o->contract == CONTRACT_TASK))
		step = judge_general(f);
	if (step == STEP_PASSED)
		f->v->correct = 1;
	return step;
}

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
