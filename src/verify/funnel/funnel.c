/* The funnel: a candidate through the stages, stopping at the first that it fails. */
#include "verify/funnel/funnel.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "verify/funnel/judgement.h"
#include "verify/funnel/test_sizes.h"
#include "verify/funnel/size_branch.h"
#include "verify/funnel/full_size.h"
#include "verify/funnel/work_share.h"
#include "verify/task/dump.h"
#include "verify/task/sized_tasks.h"
#include "verify/verdict/reward.h"

/* Tile operations that each kernel of a run may take: in the checked run at the first sizes, where
 * smaller ones may do as well; in any checked run, or where a checked run took too many; in others. */
enum { FIRST_FUEL = 4000000, TINY_FUEL = 32000000, FULL_FUEL = 400000000 };
/* Programs of an autotuned kernel: triton.Autotuner takes no more (torch/prelude/triton.py). */
enum { CONFIGS_MOST = 1000 };

/* Which configuration it was, where there was a choice. */
static void name_config(const struct funnel *f, struct diag *d)
{
	size_t n = strlen(d->text);

	if (f->report.chosen[0])
		snprintf(d->text + n, sizeof d->text - n, " (autotuned: %s)", f->report.chosen);
}

int funnel_fail(struct funnel *f, enum judge_stage s, const struct diag *d)
{
	f->v->stage = s;
	f->v->diag = *d;
	name_config(f, &f->v->diag);
	f->v->stages[s].ran = 1;
	f->v->stages[s].passed = 0;
	return 1;
}

int funnel_failf(struct funnel *f, enum judge_stage s, enum reason why, const char *fmt, ...)
{
	struct diag d = { .reason = REASON_ok };
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_set(&d, why, 0, 0, "%s", text);
	return funnel_fail(f, s, &d);
}

/* --- ast ---------------------------------------------------------------------------------- */

/* What the runner's front end said, which no code of the candidate ran before. */
int funnel_take_ast(struct funnel *f)
{
	struct start_report start;
	struct verdict_stage *s = &f->v->stages[STAGE_ast];

	if (s->ran)
		return 0;
	if (shmem_start(f->link->shmem, &start))
		return funnel_failf(f, STAGE_ast, REASON_worker_crashed, "%s", reason_text(REASON_worker_crashed));
	*s = (struct verdict_stage){ .ran = 1, .passed = !start.failed, .ms = start.ms };
	return start.failed ? funnel_fail(f, STAGE_ast, &start.diag) : 0;
}

/* --- input sets ------------------------------------------------------------------------------ */

/* Is the trial one of the contract, and asked for? */
static int wanted(const struct funnel *f, const struct trial *tr, enum contract c)
{
	if (trial_contract(tr->kind) != c || tr->stage != STAGE_full || (tr->set == WEIGHTS_MOVED &&
			!ext_on(f->o, EXT_reweight)))
		return 0;
	if (tr->set == WEIGHTS_DRAWN && (!ext_on(f->o, EXT_reweight) || !strcmp(f->v->weights, "seed")))
		return 0;
	return tr->ext == EXTS || ext_on(f->o, (enum ext)tr->ext);
}

/* --- tiny -------------------------------------------------------------------------------------- */

static int check_launched(struct funnel *f, enum judge_stage s, const struct outcome *o)
{
	f->v->stages[STAGE_compile].passed = 1;
	if (o->launches || f->o->identity || !rule_on(f->o, RULE_kernel))
		return 0;
	return funnel_failf(f, s, REASON_kernel_not_launched, "forward launched no kernel");
}

/* One run at the smallest size, the i-th of the batch. */
static int judge_tiny(struct funnel *f, int i)
{
	const struct trial *tr = &f->t->image.trial[0];
	struct attempt a;
	int rc = attempt_take(f, i, &a);

	if (rc > 0 && judge_seen(f->j, f->t, tr, NULL, f->e))
		return -1;
	if (rc)
		return rc;
	rc = check_launched(f, STAGE_tiny, &a.cost);
	if (!rc)
		rc = attempt_judge(f, tr, &a.got);
	if (!rc && tr->is_original && f->orders.v[i].note_tests)
		f->original = a;
	else
		results_release(&a.got);
	return rc;
}

/* With kernels that do nothing the result must be wrong, or the kernels are a decoy. The i-th run
 * of the batch was so. */
static int judge_ablation(struct funnel *f, int i)
{
	struct verdict before = *f->v;
	struct attempt a;
	int same, rc = attempt_take(f, i, &a);

	if (rc) {
		/* It fails without its kernels: they matter. */
		*f->v = before;
		return rc < 0 ? -1 : 0;
	}
	same = results_match(&f->t->expect[0].expected, &a.got);
	results_release(&a.got);
	return !same ? 0 : funnel_failf(f, STAGE_tiny, REASON_decoy_kernel,
					"the result is the same when the kernels do nothing");
}

/* What an autotuner may choose must be right, whatever it chooses: every other configuration
 * that is another program. */
static int run_configs(struct funnel *f, const struct tile_run_options *run)
{
	int rc = 0;

	f->v->configs_run = f->v->configs > 0;
	if (!rule_on(f->o, RULE_configs))
		return 0;
	if (f->v->configs > CONFIGS_MOST)
		return funnel_failf(f, STAGE_tiny, REASON_out_of_fuel,
				    "%d configurations are more than are run", f->v->configs);
	while (!rc && f->v->configs_run < f->v->configs) {
		int first = f->v->configs_run;

		f->orders.n = 0;
		while (f->v->configs_run < f->v->configs && (!f->orders.n || shmem_has_room(&f->orders, f->t, 0))) {
			attempt_order(f, &f->t->image.trial[0], &(struct run_order){ .run = *run, .tune = 1,
					.config = f->v->configs_run, .after = f->orders.n > 0 });
			f->v->configs_run++;
		}
		rc = attempt_ask(f);
		for (int i = 0; i < f->orders.n && !rc; i++) {
			rc = judge_tiny(f, i);
			f->v->n_inputs -= !rc;          /* the same input set, once more */
			if (rc)
				f->v->configs_run = first + i + 1;
		}
	}
	return rc;
}

/* What races, or reads what was never written, shows in the first; that nothing but luck was
 * right in it, in the second. */
enum { PASS_CHECKED, PASS_FAST };

static struct tile_run_options tiny_pass(const struct funnel *f, size_t which)
{
	struct tile_run_options run = { .mode = TILE_CHECKED, .poison = 0xff, .zero_off = 1, .fuel = f->fuel };

	if (which == PASS_FAST) {
		run.mode = TILE_FAST;
		run.poison = 0x7b;
		run.order_seed = 0x9e37;
	}
	return run;
}

static int same_sizes(const struct trial *a, const struct trial *b)
{
	if (a->n_ov != b->n_ov)
		return 0;
	for (size_t i = 0; i < a->n_ov; i++)
		if (a->ov[i].value != b->ov[i].value || !str_eq(a->ov[i].name, b->ov[i].name))
			return 0;
	return 1;
}

/* Every other set has the second pass's poison, beginning with the one behind the original. */
static int has_second_poison(const struct funnel *f, int number)
{
	return number % 2 == f->t->image.trial[0].is_original;
}

/* Is there an input set of these sizes that has another order and the second pass's poison? Then
 * that pass would find nothing that the set does not. */
static int second_is_covered(const struct funnel *f)
{
	for (int i = 1; i < f->t->image.n_trials && f->o->last > STAGE_tiny; i++) {
		const struct trial *tr = &f->t->image.trial[i];

		if (has_second_poison(f, i) && wanted(f, tr, CONTRACT_TASK) && same_sizes(tr, &f->t->image.trial[0]) &&
		    (tr->set == WEIGHTS_BUILT || !tr->weights->n))
			return 1;
	}
	return 0;
}

/* Those passes, and one with idle kernels. */
static int ask_tiny(struct funnel *f, size_t first, size_t passes, int *ablation)
{
	f->orders.n = 0;
	for (size_t i = first; i < first + passes; i++)
		attempt_order(f, &f->t->image.trial[0],
			      &(struct run_order){ .run = tiny_pass(f, i), .tune = i == first,
						   .note_tests = i == first, .after = i > first,
						   .estimate = i == first && f->t->image.trial[0].is_original && f->full_size_seconds <= 0.0 });
	*ablation = -1;
	if (!f->o->identity && ext_on(f->o, EXT_ablate_kernels)) {
		*ablation = f->orders.n;
		attempt_order(f, &f->t->image.trial[0], &(struct run_order){ .run = tiny_pass(f, PASS_FAST),
								       .idle = 1, .after = 1 });
	}
	return attempt_ask(f);
}

/* Is the worst element one that nobody wrote? */
static int shows_poison(const struct verdict *v, int poison)
{
	float unwritten;

	memset(&unwritten, poison, sizeof unwritten);
	return v->n_elements && v->elements[0].got == (double)unwritten;
}

/* Most of what was wrong at other sizes is wrong again, and a fast run is enough to see it. What
 * was left unwritten is for the checked run to name. 0: it is not, or that; 1; -1. */
static int fails_fast(struct funnel *f)
{
	struct verdict before = *f->v;
	struct tile_run_options run = tiny_pass(f, PASS_FAST);
	int rc;

	f->orders.n = 0;
	attempt_order(f, &f->t->image.trial[0], &(struct run_order){ .run = run, .tune = 1 });
	rc = attempt_ask(f);
	rc = rc ? rc : judge_tiny(f, 0);
	if (rc > 0 && f->lost == LOST_NOT && shows_poison(f->v, run.poison))
		rc = 0;
	if (!rc)
		*f->v = before;         /* the same input set comes again */
	return rc;
}

static int stage_tiny(struct funnel *f)
{
	size_t first = ext_on(f->o, EXT_sanitize) ? PASS_CHECKED : PASS_FAST;
	struct tile_run_options run = tiny_pass(f, first);
	size_t passes = first || second_is_covered(f) ? 1 : 2;
	int ablation, rc = f->again ? fails_fast(f) : 0;

	results_release(&f->original.got);
	rc = rc ? rc : ask_tiny(f, first, passes, &ablation);
	if (!rc)
		rc = funnel_take_ast(f);
	for (int i = 0; i < (int)passes && !rc; i++) {
		rc = judge_tiny(f, i);
		if (i)
			continue;
		f->v->configs = f->report.configs;
		f->defined = !first && !rc && !f->report.out.cost.undefined;
		f->tests |= size_branch_any(&f->report.path);
	}
	if (!rc && ablation >= 0)
		rc = judge_ablation(f, ablation);
	if (!rc)
		rc = run_configs(f, &run);
	return rc;
}

/* --- full --------------------------------------------------------------------------------------- */

/* A candidate that refuses another dtype is not wrong: the task asked for fp32. One that
 * accepts it and gets it wrong is. Forgets the refusal. */
static int only_fp32(struct funnel *f)
{
	enum reason r = f->v->diag.reason;

	if (!f->report.refused && r != REASON_assertion_failed && r != REASON_raised &&
	    r != REASON_value_error && r != REASON_type_error)
		return 0;
	f->v->diag = (struct diag){ .reason = REASON_ok };
	f->v->stages[STAGE_compile].passed = 1;
	return 1;
}

/* How the number-th trial is run. The smallest size may be a single program: whether several
 * disturb each other shows here. A kernel that only writes is run with its programs in another
 * order. Each trial has another configuration, beginning with the first for the original, and the
 * next one in each further round. */
static struct run_order full_order(const struct funnel *f, const struct trial *tr, int number, int round)
{
	return (struct run_order) {
		.run = { .mode = TILE_FAST, .fuel = f->slow ? TINY_FUEL : FULL_FUEL,
			 .order_seed = tr->is_original ? 0 : (uint64_t)number,
			 .poison = has_second_poison(f, number) ? 0x7b : 0xff, .zero_off = 1,
			 .check_new = ext_on(f->o, EXT_sanitize) && trial_contract(tr->kind) == CONTRACT_TASK },
		.watch = ext_on(f->o, EXT_sanitize) && (tr->is_original || tr->kind == TRIAL_shape),
		.config = (number - 1 + round) % MAX(f->v->configs_run, 1),
		.estimate = tr->is_original && f->full_size_seconds <= 0.0,
	};
}

static int count_wanted(const struct funnel *f, enum contract c)
{
	int n = 0;

	for (int i = 1; i < f->t->image.n_trials; i++)
		n += wanted(f, &f->t->image.trial[i], c);
	return n;
}

/* The trials of a contract from the number-th on, behind what the batch has already, as far as
 * there is room for their results; the number of the first that is left. */
static int order_full(struct funnel *f, enum contract c, int number, int round)
{
	int fresh = number == 1 && !f->orders.n && !round && (c == CONTRACT_TASK || !count_wanted(f, CONTRACT_TASK));

	for (; number < f->t->image.n_trials; number++) {
		struct run_order how = full_order(f, &f->t->image.trial[number], number, round);

		if (!wanted(f, &f->t->image.trial[number], c))
			continue;
		if (f->orders.n && !shmem_has_room(&f->orders, f->t, number))
			break;
		/* The first has a model that no earlier stage has called; the sets of the general
		 * contract go on with it, as they do behind a run with undefined lanes. */
		how.fresh = fresh && !f->orders.n;
		attempt_order(f, &f->t->image.trial[number], &how);
	}
	return number;
}

static void note_cost(struct funnel *f, const struct outcome *o)
{
	f->v->cost = o->cost;
	f->v->seconds = o->seconds;
	f->v->reference_seconds = f->t->seconds;
}

/* The checked run stands for the original as well. */
static int judge_original(struct funnel *f)
{
	int rc;

	if (!f->original.got.n)
		return 0;
	note_cost(f, &f->original.cost);
	rc = work_share_judge(f, &f->original.cost, &f->t->expect[0].expected, &f->original.got);
	results_release(&f->original.got);
	return rc;
}

/* The i-th run of the batch against what its trial expects. */
static int judge_full(struct funnel *f, int i)
{
	const struct trial *tr = &f->t->image.trial[f->orders.v[i].trial];
	struct attempt a;
	int rc = attempt_take(f, i, &a);

	if (rc > 0 && tr->dt != DT_F32 && only_fp32(f)) {
		attempt_skip(f, tr, "the candidate takes fp32 only");
		return 0;
	}
	if (rc > 0 && judge_seen(f->j, f->t, tr, NULL, f->e))
		return -1;
	if (rc)
		return rc;
	if (tr->is_original)
		note_cost(f, &a.cost);
	rc = check_launched(f, STAGE_full, &a.cost);
	if (!rc)
		rc = attempt_judge(f, tr, &a.got);
	if (!rc && tr->is_original)
		rc = work_share_judge(f, &a.cost, &task_expectation(f->t, tr)->expected, &a.got);
	results_release(&a.got);
	return rc;
}

/* Every trial of the task's contract; *passed counts them. */
static int full_round(struct funnel *f, int round, int *passed)
{
	int next = 1, rc = 0;

	while (!rc && next < f->t->image.n_trials) {
		f->orders.n = 0;
		next = order_full(f, CONTRACT_TASK, next, round);
		rc = attempt_ask(f);
		if (!rc)
			rc = funnel_take_ast(f);
		for (int i = 0; i < f->orders.n && !rc; i++) {
			rc = judge_full(f, i);
			*passed += !rc;
			f->v->n_inputs -= round && !rc;         /* the same input set, once more */
		}
	}
	return rc;
}

/* As many rounds as an autotuner has configurations: each must be right for each input set. */
static int stage_full(struct funnel *f)
{
	int rounds = MAX(f->v->configs_run, 1), passed = 0, rc = judge_original(f);

	for (int round = 0; round < rounds && !rc; round++)
		rc = full_round(f, round, &passed);
	if (rc > 0 && f->v->stage == STAGE_full)
		f->v->stages[STAGE_full].share = (double)passed / (double)(rounds * count_wanted(f, CONTRACT_TASK) + 1);
	return rc;
}

/* --- the general contract ------------------------------------------------------------------------ */

static void note_failed(struct verdict *v, enum trial_kind kind)
{
	struct verdict_general *g = &v->general;

	g->correct = 0;
	for (int i = 0; i < g->n_failed; i++)
		if (!strcmp(g->failed[i], trial_name(kind)))
			return;
	if (g->n_failed < VERDICT_GENERAL)
		snprintf(g->failed[g->n_failed++], sizeof g->failed[0], "%s", trial_name(kind));
}

/* Takes back what a failure said of the candidate, but not which input sets were run. */
static void forgive(struct verdict *v, const struct verdict *before)
{
	struct verdict now = *v;

	*v = *before;
	memcpy(v->inputs, now.inputs, sizeof v->inputs);
	v->n_inputs = now.n_inputs;
}

/* Triton leaves lanes undefined that are masked off without a value; GPUs load zeros. The first
 * run of the batch had them undefined: nothing of it is compared, it must only get through. */
static int judge_undefined(struct funnel *f)
{
	struct attempt a;
	int rc = attempt_take(f, 0, &a);

	if (!rc)
		results_release(&a.got);
	return rc;
}

/* The next batch of the general sets, from *next on; with `strict` a run with undefined lanes comes first. */
static int ask_general(struct funnel *f, int strict, int *next)
{
	struct tile_run_options run = tiny_pass(f, PASS_CHECKED);

	f->orders.n = 0;
	run.zero_off = 0;
	if (strict)
		attempt_order(f, &f->t->image.trial[0], &(struct run_order){ .run = run });
	*next = order_full(f, CONTRACT_GENERAL, *next, 0);
	return f->orders.n ? attempt_ask(f) : 0;
}

/* Who is lost here was not within the contract of the task. */
static void general_lost(struct funnel *f, const struct verdict *before, struct verdict *first)
{
	if (f->v->general.correct)
		*first = *f->v;
	forgive(f->v, before);
	f->v->general.correct = 0;
	f->lost = f->o->contract == CONTRACT_TASK ? LOST_NOT : f->lost;
}

/* A batch of the general sets, all of it whatever it finds. 0, 1: the runner was lost, -1. */
static int run_batch(struct funnel *f, int strict, int *next, struct verdict *first)
{
	struct verdict *v = f->v, before = *v;
	int rc = ask_general(f, strict, next);

	if (rc > 0)
		general_lost(f, &before, first);
	for (int i = 0; i < f->orders.n && !rc; i++) {
		int undefined = strict && !i;

		before = *v;
		rc = undefined ? judge_undefined(f) : judge_full(f, i);
		if (rc <= 0)
			continue;
		if (v->general.correct)
			*first = *v;
		forgive(v, &before);
		note_failed(v, undefined ? TRIAL_undefined : f->t->image.trial[f->orders.v[i].trial].kind);
		rc = 0;
	}
	return rc;
}

/* The general sets of f->t; *first is the verdict of the first that failed. With `strict`, undefined lanes as well. */
static int run_general(struct funnel *f, int strict, struct verdict *first)
{
	int next = 1, rc;

	do {
		rc = run_batch(f, strict, &next, first);
		strict = 0;
	} while (!rc && next < f->t->image.n_trials);
	return rc < 0 ? -1 : 0;
}

static int start_runner(struct funnel *f)
{
	shmem_set_text(f->link->shmem, f->source);
	return f->link->start(f->link, &f->t->image, f->e);
}

int funnel_switch_task(struct funnel *f, const struct task *t)
{
	if (f->t == t)
		return 0;
	f->t = t;
	f->link->end(f->link);
	return start_runner(f);
}

/* Beyond the task's own contract: at the sizes that the candidate was run at, then at those that the
 * task was made ready at. Under the general contract the first failure is the verdict. 0, 1: it is, -1. */
static int judge_general(struct funnel *f)
{
	struct verdict *v = f->v, first = *v;
	int rc;

	v->general = (struct verdict_general){ .ran = 1, .correct = 1 };
	f->fuel = TINY_FUEL;
	rc = run_general(f, ext_on(f->o, EXT_sanitize) && !f->defined, &first);
	if (!rc && f->t != f->base) {
		rc = funnel_switch_task(f, f->base);
		rc = rc ? rc : run_general(f, 0, &first);
	}
	if (rc < 0 || v->general.correct || f->o->contract == CONTRACT_TASK)
		return rc < 0 ? -1 : 0;
	first.general = v->general;
	forgive(v, &first);
	return 1;
}

/* --- who does the work ------------------------------------------------------------------------------ */

/* The number-th trial with kernels that only copy, from the rank-th that they read to what they
 * write. 1: the result is right even so; 0, -1. */
static int right_by_copies(struct funnel *f, int number, int rank)
{
	const struct trial *tr = &f->t->image.trial[number];
	struct run_order how = full_order(f, tr, number, 0);
	struct verdict before = *f->v;
	struct attempt a;
	int rc;

	how.copy = rank;
	how.estimate = 0;
	f->orders.n = 0;
	attempt_order(f, tr, &how);
	if (attempt_ask(f) < 0)
		return -1;
	rc = f->lost == LOST_NOT ? attempt_take(f, 0, &a) : 1;
	*f->v = before;
	if (f->lost != LOST_NOT) {
		f->lost = LOST_NOT;
		f->link->end(f->link);
		return start_runner(f);
	}
	if (rc)
		return MIN(rc, 0);
	rc = f->report.out.sources >= rank && results_match(&task_expectation(f->t, tr)->expected, &a.got);
	results_release(&a.got);
	return rc;
}

/* The same on every input set of the task. */
static int always_right_by_copies(struct funnel *f, int rank)
{
	int rc = 0;

	for (int i = 1; i < f->t->image.n_trials; i++)
		if (wanted(f, &f->t->image.trial[i], CONTRACT_TASK) && (rc = right_by_copies(f, i, rank)) <= 0)
			break;
	return rc;
}

/* Operators of the host can be right by themselves, and the kernels hand on what they made. Then a
 * kernel may as well copy: on one input set at least the result must be another. Which of several
 * tensors it hands on is tried. */
static int judge_copies(struct funnel *f)
{
	enum { RANKS = 3 };
	struct host_work host = f->report.out.host;
	int rc = 0;

	if (f->o->identity || !ext_on(f->o, EXT_ablate_kernels) || !rule_on(f->o, RULE_work_share) ||
	    !(host.flops | host.copied))
		return 0;
	for (int rank = 1; rank <= RANKS && !rc && (rank == 1 || f->report.out.sources >= rank); rank++)
		rc = always_right_by_copies(f, rank);
	if (rc <= 0)
		return rc;
	return funnel_failf(f, STAGE_full, REASON_fig_leaf,
			    "the result is the same when the kernels only copy: the host does the work");
}

static int stage_full_general(struct funnel *f)
{
	int rc = stage_full(f);

	if (!rc)
		rc = judge_copies(f);
	return rc || (f->o->skip_general && f->o->contract == CONTRACT_TASK) ? rc : judge_general(f);
}

/* --- timing --------------------------------------------------------------------------------------- */

/* At the task's own sizes where it could be followed there, else at those that it was run at. */
static int stage_timing(struct funnel *f)
{
	struct verdict *v = f->v;
	double own = sized_tasks_seconds(f->base->sized_tasks);
	int at_full_size = own > 0.0 && f->full_size_seconds > 0.0;

	v->reference_seconds = at_full_size ? own : v->reference_seconds;
	v->seconds = at_full_size ? f->full_size_seconds : v->seconds;
	if (v->seconds <= 0.0 || v->reference_seconds <= 0.0)
		return 0;
	v->speedup = v->reference_seconds / v->seconds;
	snprintf(v->timed, sizeof v->timed, "model");
	return 0;
}

int funnel_right_at(struct funnel *f, const struct task *t)
{
	int rc = funnel_switch_task(f, t);

	if (!rc)
		rc = stage_tiny(f);
	return rc ? rc : stage_full(f);
}

/* --- all of it --------------------------------------------------------------------------------------- */

static int timed_stage(struct funnel *f, enum judge_stage s, int (*run)(struct funnel *f))
{
	int64_t start = clock_ns();
	int rc = run(f);

	f->v->stages[s].ran = 1;
	f->v->stages[s].ms = (double)(clock_ns() - start) / 1e6;
	if (!rc)
		f->v->stages[s].passed = 1;
	return rc;
}

static int run_stages(struct funnel *f)
{
	int rc = 0;

	if (f->o->last == STAGE_ast) {
		f->orders.n = 0;
		rc = attempt_ask(f);
		return rc ? rc : funnel_take_ast(f);
	}
	f->v->stages[STAGE_compile].ran = 1;
	if (ext_on(f->o, EXT_funnel) || f->o->last <= STAGE_tiny)
		rc = timed_stage(f, STAGE_tiny, stage_tiny);
	if (!rc && f->o->last > STAGE_tiny)
		rc = timed_stage(f, STAGE_full, stage_full_general);
	if (rc && f->v->stage <= STAGE_compile)
		f->v->stages[STAGE_tiny].ran = f->v->stages[STAGE_full].ran = 0;
	if (rc && f->v->stage == STAGE_ast)
		f->v->stages[STAGE_compile].ran = 0;
	if (rc || f->o->last <= STAGE_tiny)
		return rc;
	f->v->correct = 1;
	return f->o->last == STAGE_full ? 0 : timed_stage(f, STAGE_timing, stage_timing);
}

/* A runner that was lost is tried again: what a candidate does to it it does again, what the
 * machine did once it does not. One that was killed says least about its candidate. */
static int try_again(enum lost how, int tries[])
{
	static const int most[] = { [LOST_NOT] = 0, [LOST_CRASHED] = 2, [LOST_LATE] = 2, [LOST_KILLED] = 8 };

	return how != LOST_NOT && ++tries[how] < most[how];
}

static void begin_verdict(struct funnel *f)
{
	const struct task *t = f->base;

	*f->v = (struct verdict){ .track = f->o->track, .contract = f->o->contract,
				  .precision = f->o->precision, .size = task_size(t), .kernelbench = -1,
				  .kernel_share = -1.0, .eval_mode = t->image.reference.eval_mode, .task = t->check };
	snprintf(f->v->judge, sizeof f->v->judge, "%s", judge_fingerprint(f->j));
	f->lost = LOST_NOT;
	f->full_size_seconds = 0.0;
	f->tests = f->slow = 0;
	f->fuel = FIRST_FUEL;
	f->report.chosen[0] = 0;
}

/* Chooses the sizes; counts as compiling. */
static int choose(struct funnel *f, struct test_sizes *c)
{
	int64_t start = clock_ns();
	int rc = test_sizes_find(f, c);

	f->v->stages[STAGE_compile].ran = 1;
	f->v->stages[STAGE_compile].ms = MAX((double)(clock_ns() - start) / 1e6 - f->v->prepare_ms, 0.0);
	if (rc > 0 && f->v->stage == STAGE_ast)
		f->v->stages[STAGE_compile].ran = 0;
	return rc;
}

static int judge_at(struct funnel *f, const struct test_sizes *c)
{
	int rc = funnel_switch_task(f, c->t);

	f->judged = c->t;
	f->defined = 0;
	f->v->size = c->kind;
	return rc ? rc : run_stages(f);
}

/* Judges at other sizes what failed at the first ones. */
static int judge_again(struct funnel *f, const struct test_sizes *c)
{
	struct verdict before = *f->v;
	int rc;

	f->v->diag = (struct diag){ .reason = REASON_ok };
	f->v->n_inputs = f->v->n_elements = 0;
	f->v->explain[0] = 0;
	f->t = NULL;
	f->again = before.diag.reason == REASON_wrong_value || before.diag.reason == REASON_precision;
	rc = judge_at(f, c);
	f->again = 0;
	for (int s = STAGE_tiny; s <= STAGE_full; s++)
		f->v->stages[s].ms += before.stages[s].ms;
	/* That it is too much there says nothing: what was found before stands. */
	if (rc > 0 && !strcmp(reason_class(f->v->diag.reason), "limit"))
		*f->v = before;
	return rc;
}

/* --- other sizes for what failed ----------------------------------------------------------------------- */

static int took_too_long(struct funnel *f)
{
	return f->v->diag.reason == REASON_kernel_timeout;
}

static int failed_at_all(struct funnel *f)
{
	return f->v->stage > STAGE_ast;
}

/* At its first sizes it met another path, for none within reach have the same. */
static int took_another_path(struct funnel *f)
{
	return f->v->stage > STAGE_ast && f->v->size == SIZE_SAMPLED;
}

static int left_unwritten(struct funnel *f)
{
	return f->v->stage > STAGE_compile && f->v->diag.reason == REASON_uninitialised;
}

static int is_a_little_off(struct funnel *f)
{
	enum reason why = f->v->diag.reason;

	return f->v->stage > STAGE_compile && ((why == REASON_precision && f->unexplained) ||
					       (why == REASON_wrong_value && f->near));
}

/* What is changed, and when, in this order, as long as the candidate fails:
 * - what takes too long is run at sizes that are smaller still, or has more time where there are none;
 * - what fails at small sizes fails only if it does at larger ones, too: a kernel may be made for
 *   multiples of its blocks;
 * - which program writes which part may follow from how many there are, so what some leave
 *   unwritten is run with the grids of the
 *   task's own sizes;
 * - where sizes are constants of kernels no smaller ones have the same kernels: then loops and
 *   grids of several turns have several;
 * - a kernel that is made for the task's sizes has them as numbers: these are as the task has them,
 *   together and one by one;
 * - an approximation may be good for the values that there are at the task's own sizes (a sum over
 *   thousands, behind which an
 *   activation is flat) and for no others: each size in turn is as the task has it. */
static const struct retry {
	int (*when)(struct funnel *f);
	enum test_sizes_change change;
} retries[] = {
	{ took_too_long, TEST_SIZES_SMALLER }, { took_too_long, TEST_SIZES_SAME },
	{ failed_at_all, TEST_SIZES_LARGER }, { left_unwritten, TEST_SIZES_SAME_GRID },
	{ took_another_path, TEST_SIZES_SAME_TRIPS },
	{ failed_at_all, TEST_SIZES_NAMED },
	{ is_a_little_off, TEST_SIZES_FULL_SIZE },
};

/* 0: it is right at the other sizes; 1: it is not, or there are none; -1. */
static int judge_changed(struct funnel *f, const struct test_sizes *c, enum test_sizes_change change, size_t i)
{
	struct test_sizes other;
	int rc = funnel_switch_task(f, f->base);

	/* At the same sizes once more, it has what it would have had at once. */
	f->slow = change == TEST_SIZES_SMALLER || (f->slow && change != TEST_SIZES_SAME);
	rc = rc ? -1 : test_sizes_other(f, c, change, i, &other);
	if (rc)
		return rc < 0 ? -1 : 1;
	/* It was judged by the task as it was made ready, if it could be by nothing else. */
	return !other.t->is_fixed && change >= TEST_SIZES_SAME_GRID ? 1 : judge_again(f, &other);
}

static int judge_elsewhere(struct funnel *f, const struct test_sizes *c)
{
	int rc = 1;

	for (size_t k = 0; k < COUNT_OF(retries); k++) {
		size_t times = retries[k].change == TEST_SIZES_FULL_SIZE ? f->base->image.n_all :
			retries[k].change == TEST_SIZES_NAMED ? f->base->image.n_all + 1 : 1;

		for (size_t i = 0; i < times && rc > 0 && f->lost == LOST_NOT && retries[k].when(f); i++)
			rc = judge_changed(f, c, retries[k].change, i);
	}
	return rc;
}

/* What is compared at the task's own sizes; part of the last stage, but for making the task ready there. */
static int judge_full_size(struct funnel *f)
{
	int64_t start = clock_ns();
	double ready = f->v->prepare_ms;
	int rc = full_size_judge(f);

	if (!rc)
		rc = size_branch_judge(f);
	f->v->stages[STAGE_full].ms += MAX((double)(clock_ns() - start) / 1e6 - (f->v->prepare_ms - ready), 0.0);
	return rc;
}

static int judge_once(struct funnel *f)
{
	struct verdict *v = f->v;
	struct test_sizes c = { .t = f->base };
	int rc;

	begin_verdict(f);
	f->t = f->base;
	rc = start_runner(f);
	if (!rc && f->o->last > STAGE_compile)
		rc = choose(f, &c);
	if (!rc) {
		rc = judge_at(f, &c);
		f->fuel = TINY_FUEL;
		if (rc > 0)
			rc = judge_elsewhere(f, &c);
		if (!rc && f->o->last >= STAGE_full)
			rc = judge_full_size(f);
	}
	f->link->end(f->link);
	if (!rc)
		v->stage = f->o->last;
	v->reward = v->correct || ext_on(f->o, EXT_funnel) ? reward_of(v, f->o->reward) : 0.0;
	return rc < 0 ? -1 : 0;
}

/* The line that the message is about, for feedback. */
static void note_line(struct verdict *v, struct str source)
{
	struct str line = STR("");

	for (int i = 0; i < v->diag.line && source.n; i++)
		line = str_cut(&source, '\n');
	line = str_trim(line);
	if (v->diag.line > 0 && line.n && line.n < sizeof v->source_line)
		snprintf(v->source_line, sizeof v->source_line, "%.*s", STR_ARG(line));
}

int judge_candidate(struct judge *j, const struct task *t, struct str source, struct verdict *v, struct err *e)
{
	struct funnel *f;
	int tries[LOST_KILLED + 1] = { 0 }, ours = 0, rc;

	if (t->problem.reason != REASON_ok)
		return err_set(e, ERR_STATE, "the task cannot be judged: %s", t->problem.text);
	f = mem_zalloc(sizeof *f);
	if (!f)
		return err_nomem(e);
	*f = (struct funnel){ .j = j, .t = t, .base = t, .o = judge_options(j), .v = v, .source = source,
			      .link = judge_link(j, e), .has_dot = str_find(source, STR("dot")) >= 0, .e = e };
	rc = f->link ? 0 : -1;
	for (int again = !rc; again;) {
		rc = judge_once(f);
		/* What we failed at may have been the machine's fault: once more. */
		again = rc ? !ours++ : try_again(f->lost, tries);
		if (rc && again)
			err_clear(e);
	}
	note_line(v, source);
	results_release(&f->original.got);
	mem_free(f);
	return rc;
}
