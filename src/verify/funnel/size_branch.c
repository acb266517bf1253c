/* Tests on sizes and what lies behind them: see gate.h. */
#include "verify/funnel/size_branch.h"

#include <stdio.h>

#include "base/mem.h"
#include "verify/funnel/test_sizes.h"

/* How much larger each size is tried; sizes that the candidate is run at for what it does behind a test. */
static const int64_t factors[] = { 4, 16, 64, 256 };
enum { RUNS_MOST = 3, BEYOND_MOST = SHMEM_ORDERS - 1 };

struct beyond {
	int64_t size[BEYOND_MOST][TASK_SIZES];
	int n;
};

static int is_test(uint64_t mark)
{
	return (mark & 0xff) == PATH_HOST_TEST || (mark & 0xff) == PATH_KERNEL_TEST;
}

int size_branch_any(const struct host_path *p)
{
	for (int i = 0; i < MIN(p->n, HOST_PATH); i++)
		if (is_test(p->mark[i]))
			return 1;
	return 0;
}

static uint64_t place_of(uint64_t mark)
{
	return mark & ~(uint64_t)0xff00;
}

/* Was this test made before, and did it go this way? */
static int knows(const struct host_path *p, uint64_t mark, int *here)
{
	int same = 0;

	*here = 0;
	for (int i = 0; i < MIN(p->n, HOST_PATH); i++) {
		*here |= place_of(p->mark[i]) == place_of(mark);
		same |= p->mark[i] == mark;
	}
	return same;
}

/* Tests that went another way than any that is known; they are known from here on. */
static int learn_turns(struct host_path *known, const struct host_path *p)
{
	int n = 0;

	for (int i = 0; i < MIN(p->n, HOST_PATH); i++) {
		int here, same = knows(known, p->mark[i], &here);

		if (!is_test(p->mark[i]) || same || !here)
			continue;
		host_path_mark(known, p->mark[i]);
		n++;
	}
	return n;
}

static void order(struct funnel *f, const int64_t *size)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .sample = f->o->seed | 1 };

	memcpy(o.size, size, f->t->image.n_all * sizeof *size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

/* The task's own sizes, then each of them larger, by ever more. */
static void ask_beyond(struct funnel *f, struct beyond *b)
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

			if (!ck_mul64(was, factors[k], &size[i]) && test_sizes_are_near(f, size)) {
				memcpy(b->size[b->n++], size, sizeof size);
				order(f, size);
			}
			size[i] = was;
		}
}

/* What the candidate says itself: it does not take such sizes. */
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

static int accuse(struct funnel *f, const struct verdict *before, const int64_t *size)
{
	char text[sizeof f->v->diag.text], sizes[160] = "";
	struct verdict now = *f->v;
	size_t at = 0;

	for (size_t i = 0; i < f->base->image.n_all && at < sizeof sizes; i++)
		if (size[i] != f->base->image.size[i].full)
			at += (size_t)snprintf(sizes + at, sizeof sizes - at, "%s%.*s = %lld", at ? ", " :
					       "", STR_ARG(f->base->image.size[i].name), (long long)size[i]);
	*f->v = *before;
	f->v->correct = 0;
	f->v->speedup = 0.0;
	f->v->stages[STAGE_timing] = (struct verdict_stage){ .ran = 0 };
	snprintf(text, sizeof text, "behind a test on sizes (%s): %.300s", sizes, now.diag.text);
	now.diag.text[0] = 0;
	snprintf(now.diag.text, sizeof now.diag.text, "%s", text);
	memcpy(f->v->explain, now.explain, sizeof f->v->explain);
	return funnel_fail(f, STAGE_full, &now.diag);
}

/* It does not compile or fit where a test goes another way, or some programs there are wrong. */
static int judge_refused(struct funnel *f, const int64_t *size)
{
	struct verdict before = *f->v;
	struct diag why = f->report.diag;
	int rc = test_sizes_are_legal(f, size);

	*f->v = before;
	if (rc <= 0)
		return rc;
	f->v->diag = why;
	return accuse(f, &before, size);
}

static int judge_run(struct funnel *f, const int64_t *size)
{
	struct verdict before = *f->v;
	const struct task *t;
	int rc = test_sizes_at(f, size, &t);

	if (rc || !t)
		return rc;
	rc = funnel_right_at(f, t);
	if (rc > 0 && f->lost == LOST_NOT && !is_refusal(&f->v->diag))
		return accuse(f, &before, size);
	f->lost = LOST_NOT;
	before.prepare_ms = f->v->prepare_ms;
	*f->v = before;
	return rc < 0 ? -1 : 0;
}

/* Which of the larger sizes turn a test that no smaller one has turned: *turn[] gets their numbers. */
static int find_turns(struct funnel *f, const struct beyond *b, int *turn, struct run_report *reports, int *n)
{
	struct host_path known;
	struct results none;
	int rc = shmem_report(f->link->shmem, &f->orders, 0, &f->report, &none, f->e);

	*n = 0;
	if (rc || f->report.state != RUN_GAVE)
		return rc < 0 ? -1 : 0;
	known = f->report.path;
	for (int i = 0; i < b->n && *n < RUNS_MOST; i++) {
		rc = shmem_report(f->link->shmem, &f->orders, i + 1, &f->report, &none, f->e);
		if (rc < 0)
			return -1;
		if (rc || !learn_turns(&known, &f->report.path))
			continue;
		reports[*n] = f->report;
		turn[(*n)++] = i;
	}
	return 0;
}

int size_branch_judge(struct funnel *f)
{
	struct beyond *b;
	struct run_report *reports;
	struct verdict before = *f->v;
	int turn[RUNS_MOST], n = 0, rc;

	if (!f->tests || f->o->identity || !ext_on(f->o, EXT_full_size) || !f->base->sized_tasks)
		return 0;
	rc = funnel_switch_task(f, f->base);
	rc = rc ? rc : test_sizes_learn(f);
	if (rc || f->base->sized_tasks == NULL)
		return rc;
	b = mem_zalloc(sizeof *b);
	reports = mem_array(RUNS_MOST, sizeof *reports);
	if (!b || !reports)
		rc = err_nomem(f->e);
	if (!rc)
		ask_beyond(f, b);
	if (!rc && b->n)
		rc = attempt_ask(f) < 0 ? -1 : 0;
	if (!rc && b->n && f->lost == LOST_NOT)
		rc = find_turns(f, b, turn, reports, &n);
	f->lost = LOST_NOT;
	*f->v = before;
	for (int i = 0; i < n && !rc; i++) {
		f->report = reports[i];
		if (f->report.state == RUN_GAVE)
			rc = judge_run(f, b->size[turn[i]]);
		else if (f->report.state == RUN_FAILED &&
			 (f->report.refused || (enum judge_stage)f->report.stage == STAGE_full))
			rc = funnel_switch_task(f, f->base) ? -1 : judge_refused(f, b->size[turn[i]]);
	}
	mem_free(reports);
	mem_free(b);
	return rc;
}
