/* The funnel: one candidate from its text to its verdict.
 *
 * Owns the order of the large parts: the first stages, the stages at the test sizes, the retries at
 * other sizes, the checks at full size. The parts have files of their own. */
#include "verify/funnel/funnel.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "verify/funnel/full_size.h"
#include "verify/funnel/judgement.h"
#include "verify/funnel/plan_order.h"
#include "verify/funnel/retry.h"
#include "verify/funnel/size_branch.h"
#include "verify/funnel/test_sizes.h"
#include "verify/verdict/reward.h"

/* Should the candidate be judged again after a lost runner? If the candidate crashed its runner, it
 * does so again; if the machine was at fault, it mostly does not. A killed runner says least about
 * the candidate, because the system kills processes when memory is short. */
static int try_again(enum lost how, int tries[])
{
	static const int most[] = { [LOST_NOT] = 0, [LOST_CRASHED] = 2, [LOST_LATE] = 2, [LOST_KILLED] = 8 };

	return how != LOST_NOT && ++tries[how] < most[how];
}

/* A candidate may be judged several times (try_again). Each time starts with a clean verdict and
 * without what the last one learned, except for transposed weights and reference intermediates,
 * which every run reports again. */
static void begin_verdict(struct funnel *f)
{
	const struct task *t = f->base;

	*f->v = (struct verdict){ .track = f->o->track, .contract = f->o->contract,
				  .precision = f->o->precision, .size = task_size(t), .kernelbench = -1,
				  .kernel_share = -1.0, .eval_mode = t->image.reference.eval_mode, .task = t->check };
	snprintf(f->v->judge, sizeof f->v->judge, "%s", judge_fingerprint(f->j));
	f->lost = LOST_NOT;
	f->full_size_seconds = 0.0;
	f->compares_integers = f->slow = f->skip_asserts = 0;
	f->compared.n = 0;
	f->fuel = FUEL_FIRST;
	f->report.chosen[0] = 0;
}

/* Starts the runner and, while it starts, settles the test sizes if they depend only on the task.
 * The first two stages need no contents, so a judgement that ends there skips this. */
static enum step begin(struct funnel *f)
{
	enum step step;

	begin_verdict(f);
	f->t = f->base;
	f->sizes = (struct test_sizes){ .t = f->base, .kind = SIZE_FULL };
	step = funnel_start(f);
	if (step == STEP_PASSED && f->o->last > STAGE_compile)
		step = test_sizes_begin(f, &f->sizes);
	return step == STEP_PASSED && f->sizes.t ? funnel_use_sizes(f, &f->sizes) : step;
}

/* The checks at full size. Their time belongs to stage full, without the time for preparing
 * tasks. */
static enum step judge_full_size(struct funnel *f)
{
	int64_t start = clock_ns();
	double prepared = f->v->prepare_ms;
	enum step step;

	f->skip_asserts = 0;
	step = full_size_judge(f);

	if (step == STEP_PASSED)
		step = size_branch_judge(f);
	f->v->stages[STAGE_full].ms += MAX((double)(clock_ns() - start) / 1e6 - (f->v->prepare_ms - prepared), 0.0);
	return step;
}

/* Retries come before the checks at full size, which need a candidate that passed at some sizes. */
static enum step judge_stages(struct funnel *f)
{
	enum step step = begin(f);

	if (step == STEP_PASSED)
		step = funnel_run_stages(f, STAGE_ast, STAGE_compile);
	if (step != STEP_PASSED)
		return step;
	step = funnel_run_stages(f, STAGE_tiny, STAGE_timing);
	f->fuel = FUEL_CHECKED;
	if (step == STEP_FAILED)
		step = funnel_retry(f);
	if (step == STEP_PASSED && f->o->last >= STAGE_full)
		step = judge_full_size(f);
	return step == STEP_PASSED && f->o->plan ? plan_order(f) : step;
}

/* Judges the candidate once, with a reward. Returns 0, or -1 if judging failed (*f->e). */
static int judge_once(struct funnel *f)
{
	struct verdict *v = f->v;
	enum step step = judge_stages(f);

	f->link->end(f->link);
	if (step == STEP_PASSED)
		v->stage = f->o->last;
	v->reward = v->correct || ext_on(f->o, EXT_funnel) ? reward_of(v, f->o->reward) : 0.0;
	return step == STEP_BROKE ? -1 : 0;
}

/* Copies the line that the message is about into the verdict, for the feedback. */
static void note_line(struct verdict *v, struct str source)
{
	struct str line = STR("");

	for (int i = 0; i < v->diag.line && source.n; i++)
		line = str_cut(&source, '\n');
	line = str_trim(line);
	if (v->diag.line > 0 && line.n && line.n < sizeof v->source_line)
		snprintf(v->source_line, sizeof v->source_line, "%.*s", STR_ARG(line));
}

/* The funnel is on the heap, because it holds a whole batch of orders and a report. */
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
		/* The machine may be at fault when judging itself fails: it is tried once more. */
		again = rc ? !ours++ : try_again(f->lost, tries);
		if (rc && again)
			err_clear(e);
	}
	note_line(v, source);
	results_release(&f->original.got);
	mem_free(f);
	return rc;
}
