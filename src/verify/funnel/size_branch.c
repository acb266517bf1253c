/* Size branches and the candidate's results at sizes that take the other branch: see
 * size_branch.h. */
#include "verify/funnel/size_branch.h"

#include <stdio.h>

#include "base/mem.h"
#include "verify/funnel/path_marks.h"
#include "verify/funnel/size_learn.h"
#include "verify/funnel/sized_cache.h"

/* Each size is tried this many times larger. */
static const int64_t factors[] = { 4, 16, 64, 256 };
/* RUNS_MOST: sizes at which the candidate is run or refuted. BEYOND_MOST: sizes of dry runs. */
enum { RUNS_MOST = 3, BEYOND_MOST = SHMEM_ORDERS - 1 };

/* Sizes beyond full size, one for each dry run of the batch after the first. */
struct beyond {
	int64_t size[BEYOND_MOST][TASK_SIZES];
	int n;
};

/* Dry runs in which a comparison went another way than in any before. */
struct branches {
	int at[RUNS_MOST];                    /* index into struct beyond */
	struct run_report report[RUNS_MOST];
	int n;
};

/* --- dry runs beyond full size ------------------------------------------------------------ */

/* Some instances run as well, drawn by the seed of the options: they may be wrong or out of
 * bounds. */
static void order(struct funnel *f, const int64_t *size)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .sample = f->o->seed | 1 };

	memcpy(o.size, size, f->t->image.n_all * sizeof *size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

/* Orders dry runs at full size, then with one size larger at a time, by growing factors. */
static void order_beyond(struct funnel *f, struct beyond *b)
{
	const struct task *t = f->base;
	int64_t size[TASK_SIZES] = { 0 };

	for (size_t i = 0; i < t->image.n_all; i++)
		size[i] = t->image.size[i].full;
	f->orders.n = 0;
	order(f, size);
	for (size_t k = 0; k < COUNT_OF(factors); k++)
		for (size_t i = 0; i < t->image.n_all && b->n < BEYOND_MOST; i++) {
			int64_t was = size[i];

			if (!ck_mul64(was, factors[k], &size[i]) && sized_cache_is_affordable(f, size)) {
				memcpy(b->size[b->n++], size, sizeof size);
				order(f, size);
			}
			size[i] = was;
		}
}

/* Finds the dry runs that take a branch which no earlier one took. Nothing if the one at full size
 * failed. */
static enum step find_branches(struct funnel *f, const struct beyond *b, struct branches *out)
{
	struct host_path known;
	struct results none;
	int rc = shmem_report(f->link->shmem, &f->orders, 0, &f->report, &none, f->e);

	if (rc || f->report.state != RUN_GAVE)
		return rc < 0 ? STEP_BROKE : STEP_PASSED;
	known = f->report.path;
	for (int i = 0; i < b->n && out->n < RUNS_MOST; i++) {
		rc = shmem_report(f->link->shmem, &f->orders, i + 1, &f->report, &none, f->e);
		if (rc < 0)
			return STEP_BROKE;
		if (rc || !path_learn_outcomes(&known, &f->report.path))
			continue;
		out->report[out->n] = f->report;
		out->at[out->n++] = i;
	}
	return STEP_PASSED;
}

/* --- behind a branch ---------------------------------------------------------------------- */

/* Does the candidate itself refuse such sizes? A limit that it reaches there counts as a
 * refusal. */
static int is_refusal(const struct diag *d)
{
	switch (d->reason) {
	case REASON_assertion_failed: case REASON_raised: case REASON_value_error: case REASON_type_error:
	case REASON_bad_task:
		return 1;
	default:
		return !strcmp(reason_class(d->reason), "limit");
	}
}

/* The candidate fails for what it does at these sizes. */
static enum step fail_behind(struct funnel *f, const int64_t *size, const struct diag *why, const char *explain)
{
	struct trial_result r = TRIAL_RESULT_INIT;
	struct diag d = *why;
	char sizes[160] = "";
	size_t at = 0;

	for (size_t i = 0; i < f->base->image.n_all && at < sizeof sizes; i++)
		if (size[i] != f->base->image.size[i].full)
			at += (size_t)snprintf(sizes + at, sizeof sizes - at, "%s%.*s = %lld", at ? ", " : "",
					       STR_ARG(f->base->image.size[i].name), (long long)size[i]);
	snprintf(d.text, sizeof d.text, "behind a size branch (%s): %.300s", sizes, why->text);
	snprintf(r.explain, sizeof r.explain, "%s", explain);
	trial_result_fail(&r, f, STAGE_full, &d);
	funnel_revoke(f);
	return funnel_commit(f, &r);
}

/* The dry run failed: a kernel does not compile or fit, or sampled instances are wrong. That counts
 * if the reference runs at these sizes. */
static enum step judge_failed(struct funnel *f, const int64_t *size)
{
	struct diag why = f->report.diag;
	enum step step = size_learn_runs_at(f, size);

	if (step != STEP_PASSED)
		return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
	return fail_behind(f, size, &why, f->v->explain);
}

/* The dry run passed: the candidate is run there with contents, into a verdict of its own. */
static enum step judge_run(struct funnel *f, const int64_t *size)
{
	struct verdict there;
	const struct task *t;
	enum step step = sized_cache_at(f, size, &t);

	if (step != STEP_PASSED)
		return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
	f->t = NULL;
	step = funnel_right_at(f, t, &there);
	if (step == STEP_FAILED && f->lost == LOST_NOT && !is_refusal(&there.diag))
		return fail_behind(f, size, &there.diag, there.explain);
	f->lost = LOST_NOT;
	return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
}

/* At most RUNS_MOST branches are judged. The loop ends at the first branch at which the candidate
 * is wrong. */
static enum step judge_branches(struct funnel *f, const struct beyond *b, const struct branches *found)
{
	enum step step = STEP_PASSED;

	for (int i = 0; i < found->n && step == STEP_PASSED; i++) {
		const int64_t *size = b->size[found->at[i]];

		f->report = found->report[i];
		if (f->report.state == RUN_GAVE)
			step = judge_run(f, size);
		else if (f->report.state == RUN_FAILED &&
			 (f->report.refused || (enum judge_stage)f->report.stage == STAGE_full)) {
			step = funnel_switch_task(f, f->base);
			step = step == STEP_PASSED ? judge_failed(f, size) : step;
		}
	}
	return step;
}

/* A runner that is lost in the dry runs leaves no branches to judge. Sizes beyond full size may be
 * too much for it. */
static enum step search_branches(struct funnel *f, struct beyond *b, struct branches *found)
{
	struct trial_result dropped = TRIAL_RESULT_INIT;
	enum step step = STEP_PASSED;

	order_beyond(f, b);
	if (b->n)
		step = attempt_ask(f, &dropped);
	if (b->n && step == STEP_PASSED)
		step = find_branches(f, b, found);
	f->lost = LOST_NOT;
	return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
}

/* Most candidates compare no integers and end here at once. */
enum step size_branch_judge(struct funnel *f)
{
	struct beyond *b;
	struct branches *found;
	enum step step;

	if (!f->compares_integers || f->o->identity || !ext_on(f->o, EXT_full_size) || !f->base->sized_tasks)
		return STEP_PASSED;
	step = funnel_switch_task(f, f->base);
	if (step == STEP_PASSED)
		step = size_learn(f);
	if (step != STEP_PASSED)
		return step;
	b = mem_zalloc(sizeof *b);
	found = mem_zalloc(sizeof *found);
	step = b && found ? search_branches(f, b, found) : (enum step)err_nomem(f->e);
	if (step == STEP_PASSED)
		step = judge_branches(f, b, found);
	mem_free(found);
	mem_free(b);
	return step;
}
