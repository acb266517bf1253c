/* The table of stages and the short ones: ast, compile, timing. Stages tiny and full have files of
 * their own.
 *
 * A candidate goes through the stages in order and stops at the first that it fails. */
#include "verify/funnel/funnel.h"

#include <stdio.h>

#include "base/log.h"
#include "verify/funnel/test_sizes.h"
#include "verify/task/sized_tasks.h"

/* The runner parses the candidate and checks its rules before it runs any code of it. An empty
 * batch is enough to get that report. */
enum step stage_ast(struct funnel *f)
{
	struct start_report start;
	enum step step;

	f->orders.n = 0;
	step = funnel_ask(f);
	if (step != STEP_PASSED)
		return step;
	if (shmem_start(f->link->shmem, &start))
		return funnel_failf(f, STAGE_ast, REASON_worker_crashed, "%s", reason_text(REASON_worker_crashed));
	f->v->stages[STAGE_ast] = (struct verdict_stage){ .ran = 1, .passed = !start.failed };
	return start.failed ? funnel_fail(f, STAGE_ast, &start.diag) : STEP_PASSED;
}

/* The finding of a checked run about undefined lanes does not hold at other sizes, so it is
 * reset. */
enum step funnel_use_sizes(struct funnel *f, const struct test_sizes *c)
{
	f->judged = c->t;
	f->defined = 0;
	f->v->size = c->kind;
	return funnel_switch_task(f, c->t);
}

/* Binds and compiles every launch in dry runs at full size, and finds the test sizes by them.
 * Kernels that depend on contents compile only in the runs of the next stages. So the stage counts
 * as passed when a run of those stages got through its launches (trial_result.compiled). */
enum step stage_compile(struct funnel *f)
{
	enum step step = STEP_PASSED;

	if (!f->sizes.t)
		step = test_sizes_find(f, &f->sizes);
	return step == STEP_PASSED ? funnel_use_sizes(f, &f->sizes) : step;
}

/* The speed-up at full size if a dry run there gave an estimate, else at the test sizes. */
enum step stage_timing(struct funnel *f)
{
	struct verdict *v = f->v;
	double reference = sized_tasks_seconds(f->base->sized_tasks);
	int at_full_size = reference > 0.0 && f->full_size_seconds > 0.0;

	v->reference_seconds = at_full_size ? reference : v->reference_seconds;
	v->seconds = at_full_size ? f->full_size_seconds : v->seconds;
	if (at_full_size)
		v->kernels = f->full_size_kernels;
	if (v->seconds <= 0.0 || v->reference_seconds <= 0.0)
		return STEP_PASSED;
	v->speedup = v->reference_seconds / v->seconds;
	snprintf(v->timed, sizeof v->timed, "model");
	snprintf(v->estimate_gpu, sizeof v->estimate_gpu, "%s", f->o->gpu);
	return STEP_PASSED;
}

/* --- the table ---------------------------------------------------------------------------- */

static enum step (*const stages[STAGES])(struct funnel *f) = {
	[STAGE_ast] = stage_ast, [STAGE_compile] = stage_compile, [STAGE_tiny] = stage_tiny,
	[STAGE_full] = stage_full, [STAGE_timing] = stage_timing,
};

/* Kernels compile in a run, so the result of stage compile depends on stage tiny. Without the
 * funnel extension stage tiny is left out if stage full follows. */
static int is_asked_for(const struct judge_options *o, enum judge_stage s)
{
	if (s != STAGE_tiny)
		return s <= o->last;
	return o->last >= STAGE_compile && (o->last <= STAGE_tiny || ext_on(o, EXT_funnel));
}

/* Runs a stage and notes its time, without the time for preparing the task at other sizes. The time
 * of stage ast is the start of a runner and its front end. */
static enum step run_stage(struct funnel *f, enum judge_stage s)
{
	struct verdict_stage *out = &f->v->stages[s];
	double prepared = f->v->prepare_ms;
	int64_t start = clock_ns();
	enum step step = stages[s](f);

	out->ms = MAX((double)(clock_ns() - start) / 1e6 - (f->v->prepare_ms - prepared), 0.0);
	if (s == STAGE_ast)             /* it has noted itself whether it ran and passed */
		return step;
	out->ran = 1;
	if (step == STEP_PASSED && s != STAGE_compile)
		out->passed = 1;
	return step;
}

enum step funnel_run_stages(struct funnel *f, enum judge_stage first, enum judge_stage last)
{
	enum step step = STEP_PASSED;

	for (int s = first; s <= (int)last && step == STEP_PASSED; s++)
		if (is_asked_for(f->o, (enum judge_stage)s))
			step = run_stage(f, (enum judge_stage)s);
	/* A kernel that does not compile may show only in a run of a later stage: that stage did
	 * not run then. */
	if (step != STEP_PASSED && f->v->stage <= STAGE_compile)
		f->v->stages[STAGE_tiny].ran = f->v->stages[STAGE_full].ran = 0;
	return step;
}
