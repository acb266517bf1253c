/* Tensors of one value at the task's own sizes: see flat.h. */
#include "verify/funnel/constant_test.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/funnel/test_sizes.h"
#include "verify/funnel/full_size.h"
#include "verify/task/sized_tasks.h"

/* How near the smaller sizes must be to a power of a size, and the task's own to what follows from that. */
#define LAW_NEAR 1e-3
#define VALUE_NEAR 1e-2
/* Powers that sums, means and norms have: halves up to this. */
#define POWER_MOST 2.0

/* Where it is called: the task's own sizes, those at which values were compared, and others; from
 * AT_ALONE on only one of them is another. */
enum { AT_FULL_SIZE, AT_JUDGED, AT_OTHER, AT_ALONE, PLACES = AT_ALONE + TASK_SIZES };

struct places {
	int64_t size[PLACES][TASK_SIZES];
	int changed[PLACES];          /* from AT_ALONE on: which size */
	int n;
	int gave[PLACES];             /* the call came to its end there */
	struct run_reads reads[PLACES];
	struct run_constant constant[PLACES];
};

static void order(struct funnel *f, enum constant flat, const int64_t *size)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .sample = full_size_draw(f->o->seed, f->source, 0),
			       .constant = flat };

	memcpy(o.size, size, f->base->image.n_all * sizeof *size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

static void put_overrides(const struct task *base, const struct host_override *ov, size_t n, int64_t *size)
{
	for (size_t i = 0; i < base->image.n_all; i++)
		for (size_t k = 0; k < n; k++)
			if (str_eq(ov[k].name, base->image.size[i].name))
				size[i] = ov[k].value;
}

/* The sizes at which values were compared. */
static void judged_sizes(const struct funnel *f, int64_t *size)
{
	const struct task *t = f->judged;
	const struct trial *tr = &t->image.trial[0];

	for (int i = 0; i < t->image.n_trials && !tr->is_original; i++)
		tr = t->image.trial[i].is_original ? &t->image.trial[i] : tr;
	for (size_t i = 0; i < f->base->image.n_all; i++)
		size[i] = t->is_fixed ? t->fixed[i] : f->base->image.size[i].full;
	if (!t->is_fixed)
		put_overrides(f->base, t->image.reference.ov, t->image.reference.n_ov, size);
	put_overrides(f->base, tr->ov, tr->n_ov, size);
}

/* What the i-th of the batch came to; nothing, if it did not come to an end. */
static int take(struct funnel *f, int i, struct places *p)
{
	int rc = full_size_take(f, i);

	p->gave[i] = f->report.state == RUN_GAVE;
	p->reads[i] = f->report.reads;
	p->constant[i] = f->report.constant;
	if (!p->gave[i])
		p->reads[i].n = p->constant[i].n = 0;
	return rc;
}

static int fail_unread(struct funnel *f, int what, double share)
{
	char name[32] = "a tensor";

	if (what < READS_INPUTS)
		snprintf(name, sizeof name, "input %d", what);
	return funnel_failf(f, STAGE_full, REASON_unread,
			    "at the task's own sizes kernels read no more than %.4g times what there is in "
			    "%s, of which they read all at smaller sizes, each time",
			    share, name);
}

/* The power of its size that a result goes by, from one size to another; NaN: none that sums, means and norms have. */
static double power_of(double a, double b, int64_t from, int64_t to)
{
	double power = log(b / a) / log((double)to / (double)from), near = round(2.0 * power) / 2.0;

	return fabs(power - near) <= LAW_NEAR && fabs(near) <= POWER_MOST ? near : NAN;
}

/* What an element is at other sizes, by what each size does to it alone. */
static double element_at(const struct places *p, const double *v, int place)
{
	double want = v[AT_JUDGED];

	for (int i = AT_ALONE; i < p->n; i++) {
		int k = p->changed[i];
		int64_t from = p->size[AT_JUDGED][k];

		want *= pow((double)p->size[place][k] / (double)from, power_of(v[AT_JUDGED], v[i], from,
				p->size[i][k]));
	}
	return want;
}

/* Can an element be compared, as it is at each place? */
static enum constant_answer element_answer(const struct places *p, const double *v)
{
	double other = element_at(p, v, AT_OTHER);

	for (int k = 0; k < p->n; k++) {
		if (!p->gave[k])
			return CONSTANT_ANSWER_call_failed;
		if (isnan(v[k]))
			return p->reads[k].left ? (enum constant_answer)p->reads[k].left : CONSTANT_ANSWER_unknown;
	}
	return isfinite(element_at(p, v, AT_FULL_SIZE)) && fabs(v[AT_OTHER] - other) <= LAW_NEAR * fabs(other) ?
		CONSTANT_ANSWER_compared : CONSTANT_ANSWER_no_power;
}

/* An element of the i-th result, which can be compared. */
static int judge_element(struct funnel *f, const struct places *p, int i, const double *v)
{
	double want = element_at(p, v, AT_FULL_SIZE);

	if (fabs(v[AT_FULL_SIZE] - want) <= VALUE_NEAR * fabs(want))
		return 0;
	return funnel_failf(f, STAGE_full, isfinite(v[AT_FULL_SIZE]) ? REASON_wrong_value : REASON_not_finite,
			    "at the task's own sizes, where each input has one value throughout, result %d "
			    "is %g: by what it is at smaller sizes it should be %g", i,
			    v[AT_FULL_SIZE], want);
}

/* The ends of the i-th result: one of them that is compared is enough for *said. */
static int judge_result(struct funnel *f, const struct places *p, int i, enum constant_answer *said)
{
	double end[2][PLACES];
	int rc = 0;

	for (int k = 0; k < p->n; k++) {
		end[0][k] = i < p->constant[k].n ? p->constant[k].v[i].first : NAN;
		end[1][k] = i < p->constant[k].n ? p->constant[k].v[i].last : NAN;
	}
	*said = CONSTANT_ANSWER_unknown;
	for (int k = 0; k < 2 && !rc; k++) {
		enum constant_answer a = element_answer(p, end[k]);

		*said = *said == CONSTANT_ANSWER_compared ? *said : a;
		rc = a == CONSTANT_ANSWER_compared ? judge_element(f, p, i, end[k]) : 0;
	}
	return rc;
}

/* The verdict says why of the first result that cannot be compared. */
static int judge_values(struct funnel *f, const struct places *p, unsigned results)
{
	enum constant_answer said;
	int rc = 0;

	f->v->full_size_values = CONSTANT_ANSWER_compared;
	for (int i = 0; i < RESULTS_MOST && !rc; i++) {
		if (!(results >> i & 1))
			continue;
		rc = judge_result(f, p, i, &said);
		if (f->v->full_size_values == CONSTANT_ANSWER_compared)
			f->v->full_size_values = said;
	}
	return rc;
}

static int judge_reads(struct funnel *f, const struct places *p)
{
	const struct run_reads *own = &p->reads[AT_FULL_SIZE], *small = &p->reads[AT_JUDGED];
	double least = sized_tasks_least_read(f->base->sized_tasks);
	int missing = reads_missing(own, small, least);

	f->v->full_size_reads = p->gave[AT_FULL_SIZE] && p->gave[AT_JUDGED] ? reads_answer(own, small, least) :
		CONSTANT_ANSWER_call_failed;
	return missing < 0 ? 0 : fail_unread(f, own->v[missing].what, own->v[missing].share);
}

/* Twice as large, or half as large where that would be the task's own, which are to be told apart from all others. */
static int64_t another_size(int64_t judged, int64_t own)
{
	return judged < own / 2 || judged < 2 ? MIN(2 * judged, own) : judged / 2;
}

static void choose_places(const struct funnel *f, struct places *p)
{
	int64_t *judged = p->size[AT_JUDGED];

	judged_sizes(f, judged);
	memcpy(p->size[AT_OTHER], judged, sizeof p->size[0]);
	p->n = AT_ALONE;
	for (size_t i = 0; i < f->base->image.n_all; i++) {
		int64_t own = f->base->image.size[i].full;

		p->size[AT_FULL_SIZE][i] = own;
		if (judged[i] == own)
			continue;
		memcpy(p->size[p->n], judged, sizeof p->size[0]);
		p->size[p->n][i] = p->size[AT_OTHER][i] = another_size(judged[i], own);
		p->changed[p->n++] = (int)i;
	}
}

static int judge_places(struct funnel *f, struct places *p, unsigned results)
{
	int rc = funnel_switch_task(f, f->base);

	choose_places(f, p);
	f->orders.n = 0;
	for (int i = 0; i < p->n; i++)
		order(f, i == AT_FULL_SIZE ? CONSTANT_SOME : CONSTANT_ALL, p->size[i]);
	rc = rc ? rc : full_size_ask(f);
	for (int i = 0; i < p->n && !rc; i++)
		rc = take(f, i, p);
	if (rc == 2)
		f->v->full_size_reads = f->v->full_size_values = CONSTANT_ANSWER_late;
	if (rc)
		return rc == 2 ? 0 : rc;
	rc = judge_reads(f, p);
	return rc ? rc : judge_values(f, p, results);
}

int constant_test(struct funnel *f, unsigned results)
{
	struct places *p = mem_zalloc(sizeof *p);
	int rc = p ? judge_places(f, p, results) : err_nomem(f->e);

	mem_free(p);
	return rc;
}
