/* The constant-tensor test: see constant_test.h. */
#include "verify/funnel/constant_test.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/funnel/full_size_batch.h"

/* How near a power must be to one that sums have, and the values at other sizes to that power
 * (relative). */
#define LAW_NEAR 1e-3
/* How near the value at full size must be to the predicted one (relative). */
#define VALUE_NEAR 1e-2
/* Sums, means and norms have powers that are multiples of 1/2, up to this. */
#define POWER_MOST 2.0

/* The calls of the test. From AT_ALONE on each call has one size changed against AT_JUDGED. */
enum {
	AT_FULL_SIZE,
	AT_JUDGED,                    /* the sizes where results were compared */
	AT_OTHER,                     /* every size changed: the law is checked here */
	AT_ALONE,
	CALLS = AT_ALONE + TASK_SIZES
};

struct calls {
	int64_t size[CALLS][TASK_SIZES];
	int changed[CALLS];           /* from AT_ALONE on: the size that is changed */
	int n;
	int gave[CALLS];              /* the call came to its end */
	struct run_constant constant[CALLS];
};

/* All calls of the test draw the same instances: the seed has no trial number. */
static void order(struct funnel *f, enum constant constant, const int64_t *size)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .sample = full_size_draw(f->o->seed, f->source, 0),
			       .constant = constant };

	memcpy(o.size, size, f->base->image.n_all * sizeof *size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

/* --- sizes -------------------------------------------------------------------------------- */

/* Replaces the sizes that a list of overrides names. */
static void put_overrides(const struct task *base, const struct host_override *ov, size_t n, int64_t *size)
{
	for (size_t i = 0; i < base->image.n_all; i++)
		for (size_t k = 0; k < n; k++)
			if (str_eq(ov[k].name, base->image.size[i].name))
				size[i] = ov[k].value;
}

/* The sizes of the original input set of f->judged. */
void constant_test_judged_sizes(const struct funnel *f, int64_t *size)
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

/* Another value for a size: twice as large, or half if that would come near full size. A change
 * from 256 with full size 4096 is 512, with full size 512 it is 128. */
static int64_t another_size(int64_t judged, int64_t full)
{
	return judged < full / 2 || judged < 2 ? MIN(2 * judged, full) : judged / 2;
}

/* With sizes M and N there are five calls: full size, the judged sizes, both changed, M changed, N
 * changed. A size that is at full size already is never changed. */
static void choose_sizes(const struct funnel *f, struct calls *c)
{
	int64_t *judged = c->size[AT_JUDGED];

	constant_test_judged_sizes(f, judged);
	memcpy(c->size[AT_OTHER], judged, sizeof c->size[0]);
	c->n = AT_ALONE;
	for (size_t i = 0; i < f->base->image.n_all; i++) {
		int64_t full = f->base->image.size[i].full;

		c->size[AT_FULL_SIZE][i] = full;
		if (judged[i] == full)
			continue;
		memcpy(c->size[c->n], judged, sizeof c->size[0]);
		c->size[c->n][i] = c->size[AT_OTHER][i] = another_size(judged[i], full);
		c->changed[c->n++] = (int)i;
	}
}

/* --- the law of an element ---------------------------------------------------------------- */

/* The power of its size that an element grows with, from one size to another. NaN if it is none of
 * the powers that sums have. */
static double power_of(double a, double b, int64_t from, int64_t to)
{
	double power = log(b / a) / log((double)to / (double)from), near = round(2.0 * power) / 2.0;

	return fabs(power - near) <= LAW_NEAR && fabs(near) <= POWER_MOST ? near : NAN;
}

/* Predicts an element at the sizes of another call: the product of the powers of the sizes. */
static double predict(const struct calls *c, const double *v, int call)
{
	double want = v[AT_JUDGED];

	for (int i = AT_ALONE; i < c->n; i++) {
		int k = c->changed[i];
		int64_t from = c->size[AT_JUDGED][k];
		double power = power_of(v[AT_JUDGED], v[i], from, c->size[i][k]);

		want *= pow((double)c->size[call][k] / (double)from, power);
	}
	return want;
}

/* Can an element be compared? v[] has its value in each call. */
static enum constant_answer element_answer(const struct calls *c, const double *v)
{
	double other = predict(c, v, AT_OTHER);

	for (int k = 0; k < c->n; k++) {
		if (!c->gave[k])
			return CONSTANT_ANSWER_call_failed;
		if (isnan(v[k]))
			return c->constant[k].left ? (enum constant_answer)c->constant[k].left :
				CONSTANT_ANSWER_unknown;
	}
	return isfinite(predict(c, v, AT_FULL_SIZE)) && fabs(v[AT_OTHER] - other) <= LAW_NEAR * fabs(other) ?
		CONSTANT_ANSWER_compared : CONSTANT_ANSWER_no_power;
}

/* --- judging ------------------------------------------------------------------------------ */

/* Compares an element of the i-th result at full size with the predicted value. */
static enum step judge_element(struct funnel *f, const struct calls *c, int i, const double *v)
{
	double want = predict(c, v, AT_FULL_SIZE);

	if (fabs(v[AT_FULL_SIZE] - want) <= VALUE_NEAR * fabs(want))
		return STEP_PASSED;
	return funnel_failf(f, STAGE_full, isfinite(v[AT_FULL_SIZE]) ? REASON_wrong_value : REASON_not_finite,
			    "at full size, with every input filled with one value, result %d is %g; from its values at "
			    "smaller sizes it should be %g", i, v[AT_FULL_SIZE], want);
}

/* Judges the first and the last element of the i-th result. One that can be compared is enough for
 * *said. */
static enum step judge_result(struct funnel *f, const struct calls *c, int i, enum constant_answer *said)
{
	double end[2][CALLS];
	enum step step = STEP_PASSED;

	for (int k = 0; k < c->n; k++) {
		end[0][k] = i < c->constant[k].n ? c->constant[k].v[i].first : NAN;
		end[1][k] = i < c->constant[k].n ? c->constant[k].v[i].last : NAN;
	}
	*said = CONSTANT_ANSWER_unknown;
	for (int k = 0; k < 2 && step == STEP_PASSED; k++) {
		enum constant_answer a = element_answer(c, end[k]);

		*said = *said == CONSTANT_ANSWER_compared ? *said : a;
		if (a == CONSTANT_ANSWER_compared)
			step = judge_element(f, c, i, end[k]);
	}
	return step;
}

/* The verdict gets the answer of the first result that could not be compared. */
static enum step judge_values(struct funnel *f, const struct calls *c, unsigned results)
{
	enum step step = STEP_PASSED;
	enum constant_answer said;

	f->v->full_size_values = CONSTANT_ANSWER_compared;
	for (int i = 0; i < RESULTS_MOST && step == STEP_PASSED; i++) {
		if (!(results >> i & 1))
			continue;
		step = judge_result(f, c, i, &said);
		if (f->v->full_size_values == CONSTANT_ANSWER_compared)
			f->v->full_size_values = said;
	}
	return step;
}

/* Takes the i-th call of the batch. A call that did not come to its end has no reads and no
 * values. */
static enum step take(struct funnel *f, int i, struct calls *c)
{
	enum step step = full_size_take(f, i);

	c->gave[i] = f->report.state == RUN_GAVE;
	c->constant[i] = f->report.constant;
	if (!c->gave[i])
		c->constant[i].n = 0;
	return step;
}

static enum step judge_calls(struct funnel *f, struct calls *c, unsigned results)
{
	enum step step = funnel_switch_task(f, f->base);
	int late = 0;

	choose_sizes(f, c);
	f->orders.n = 0;
	for (int i = 0; i < c->n; i++)
		order(f, i == AT_FULL_SIZE ? CONSTANT_SOME : CONSTANT_ALL, c->size[i]);
	if (step == STEP_PASSED)
		step = full_size_ask(f, &late);
	if (late) {
		f->v->full_size_values = CONSTANT_ANSWER_late;
		return STEP_PASSED;
	}
	for (int i = 0; i < c->n && step == STEP_PASSED; i++)
		step = take(f, i, c);
	return step == STEP_PASSED ? judge_values(f, c, results) : step;
}

/* The calls of the test are too large for the stack. */
enum step constant_test(struct funnel *f, unsigned results)
{
	struct calls *c = mem_zalloc(sizeof *c);
	enum step step = c ? judge_calls(f, c, results) : (enum step)err_nomem(f->e);

	mem_free(c);
	return step;
}
