/* Some programs at the task's own sizes, judged: see own.h. */
#include "verify/funnel/full_size.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tensor/sparse.h"
#include "verify/funnel/test_sizes.h"
#include "verify/funnel/constant_test.h"
#include "verify/candidate/intermediate.h"

/* Zeros that are left belong to the result where so many of the elements are always zero, and no
 * more are left than that and a quarter, for the share is that of a smaller result. */
#define LEAST_ZEROS 0.2
#define MOST_LEFT 1.25
/* The last program, which is always run, gets to where the last such elements are, up to this share of the result. */
#define END_LEFT 0.03

uint64_t full_size_draw(uint64_t seed, struct str source, int trial)
{
	return hash_xxh64(source.p, source.n, seed * 1000003u + (uint64_t)trial) | 1;
}

int full_size_ask(struct funnel *f)
{
	int rc = attempt_ask(f);

	if (rc <= 0 || f->lost == LOST_CRASHED)
		return rc;
	f->lost = LOST_NOT;
	f->v->diag = (struct diag){ .reason = REASON_ok };
	return 2;
}

int full_size_take(struct funnel *f, int i)
{
	struct results none;
	int rc = shmem_report(f->link->shmem, &f->orders, i, &f->report, &none, f->e);

	return rc <= 0 ? rc : funnel_failf(f, STAGE_full, REASON_worker_crashed, "%s",
					   reason_text(REASON_worker_crashed));
}

static void order_reduced(struct funnel *f, int trial)
{
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .reduced = f->t->reduced,
			       .sample = full_size_draw(f->o->seed, f->source, trial),
			       .transposed = f->transposed, .matches = f->matches };

	for (size_t i = 0; i < f->t->image.n_all; i++)
		o.size[i] = f->t->image.size[i].full;
	attempt_order(f, &f->t->image.trial[trial], &o);
}

/* Where the expected result, which has but a few along some axes, has the element of the part at a place. */
static int64_t place_in(const struct task *t, const struct result *want, const struct run_part *p,
			int64_t place, uint64_t seed)
{
	int64_t at = 0, step = 1;

	for (int d = p->ndim - 1; d >= 0; d--) {
		int64_t index = place % p->shape[d];

		place /= p->shape[d];
		at += (p->shape[d] == want->shape[d] ? index : sparse_index(index, t->reduced, seed)) * step;
		step *= want->shape[d];
	}
	return at;
}

/* What is expected at the places of the part, as a result of one dimension. */
static int gather(const struct task *t, const struct result *want, const struct run_part *p,
		  const int64_t *place, uint64_t seed,
		  struct results *expected, struct err *e)
{
	struct result *r = &expected->r[0];

	*expected = (struct results){ .n = 1 };
	*r = (struct result){ .dt = want->dt, .ndim = 1, .shape = { p->n }, .n = p->n, .rms = want->rms,
			      .rel = want->rel,
			      .rel_close = want->rel_close, .abs = want->abs, .inexact = want->inexact };
	r->v = mem_array((size_t)p->n + 1, sizeof *r->v);
	r->over = want->over ? mem_array((size_t)p->n + 1, 1) : NULL;
	if (!r->v || (want->over && !r->over)) {
		results_release(expected);
		return err_nomem(e);
	}
	for (int64_t i = 0; i < p->n; i++) {
		int64_t from = place_in(t, want, p, place[i], seed);

		r->v[i] = want->v[from];
		if (r->over)
			r->over[i] = want->over[from];
	}
	return 0;
}

/* Is it the expected result with more along some axes, and are all places in it? */
static int has_form(const struct task *t, const struct result *want, const struct run_part *p, const int64_t *place)
{
	int64_t n = 1;

	if (p->ndim != want->ndim || (enum dtype)p->dt != want->dt || want->whole || !want->v)
		return 0;
	for (int i = 0; i < p->ndim; i++)
		if (p->shape[i] < 1 || (p->shape[i] != want->shape[i] && want->shape[i] != t->reduced) ||
		    ck_mul64(n, p->shape[i], &n))
			return 0;
	for (int64_t i = 0; i < p->n; i++)
		if (place[i] < 0 || place[i] >= n)
			return 0;
	return 1;
}

static int fail(struct funnel *f, const struct run_part *p, const struct comparison *c, int64_t place)
{
	char shape[96] = "";
	size_t at = 0;

	for (int i = 0; i < p->ndim && at < sizeof shape; i++)
		at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%lld", i ? "x" : "", (long long)p->shape[i]);
	snprintf(f->v->explain, sizeof f->v->explain, "some programs at the task's own sizes (%s): %s", shape, c->text);
	return funnel_failf(f, STAGE_full, c->reason,
			    "at the task's own sizes (%s), element %lld: expected %g, got %g", shape,
			    (long long)place, c->expected,
			    c->got);
}

/* The k-th part of the report that was taken last, the i-th of the batch: some of what is wanted;
 * NULL: that is not known. */
static int judge_part(struct funnel *f, int i, int k, const struct result *want)
{
	const struct run_order *o = &f->orders.v[i];
	const struct run_part *p = &f->report.part[k];
	struct results expected, got = { .n = 1 };
	const int64_t *place;
	const void *value;
	struct comparison c;
	int64_t *copy;
	int rc;

	if (shmem_part(f->link->shmem, o, &f->report, k, &place, &value))
		return funnel_failf(f, STAGE_full, REASON_worker_crashed, "%s", reason_text(REASON_worker_crashed));
	copy = mem_array((size_t)p->n + 1, sizeof *copy);
	if (!copy)
		return err_nomem(f->e);
	memcpy(copy, place, (size_t)p->n * sizeof *copy);
	got.r[0] = (struct result){ .dt = (enum dtype)p->dt, .ndim = 1, .shape = { p->n }, .n = p->n };
	rc = p->n && want && has_form(f->t, want, p, copy) ? 0 : 1;
	if (!rc)
		rc = result_fill(&got.r[0], value, f->e) || gather(f->t, want, p, copy, o->sample,
								   &expected, f->e) ? -1 : 0;
	if (!rc) {
		results_compare(&expected, &got, &c);
		f->v->full_size_elements += p->n;
		rc = c.reason == REASON_ok ? 0 : fail(f, p, &c, copy[MIN(MAX(c.element, 0), p->n - 1)]) + 1;
		results_release(&expected);
	}
	results_release(&got);
	mem_free(copy);
	return rc < 0 ? -1 : rc > 1;
}

/* What a step of the reference makes is no result: a candidate may round it as it likes. */
static const double step_tolerance = 1e-2;

/* The same for what a step of the reference makes. */
static int judge_step(struct funnel *f, int i, int k)
{
	const struct trial *tr = &f->t->image.trial[f->orders.v[i].trial];
	const struct intermediate *m = intermediate_find(&task_expectation(f->t, tr)->intermediates,
								f->report.part[k].call);
	struct result want = { .rel = MAX(step_tolerance, 2.0 * task_expectation(f->t, tr)->expected.r[0].rel) };
	int rc;

	if (!m)
		return 0;
	want.dt = m->t.dt;
	want.ndim = m->t.ndim;
	memcpy(want.shape, m->t.shape, sizeof want.shape);
	want.n = tensor_numel(&m->t);
	if (result_fill(&want, tensor_data(&m->t), f->e))
		return -1;
	rc = judge_part(f, i, k, &want);
	mem_free(want.v);
	return rc;
}

/* What a trial expects as the k-th result, if it is known and has n elements (any number: -1). */
static const struct result *expected_of(const struct expectation *x, int k, int64_t n)
{
	const struct result *r = k < x->expected.n ? &x->expected.r[k] : NULL;

	return r && r->v && (n < 0 || r->n == n) ? r : NULL;
}

static int trials_of(const struct task *t, int k, int64_t n)
{
	int of = 0;

	for (int i = 0; i < t->image.n_trials; i++)
		of += expected_of(&t->expect[i], k, n) != NULL;
	return of;
}

/* Elements of the largest result that several input sets have, or of the largest. */
static int64_t compared_elements(const struct task *t, int k)
{
	int64_t most = 0;
	int several = 0;

	for (int i = 0; i < t->image.n_trials; i++) {
		const struct result *r = expected_of(&t->expect[i], k, -1);
		int more = r && trials_of(t, k, r->n) > 1;

		if (!r || more < several || (more == several && r->n <= most))
			continue;
		several = more;
		most = r->n;
	}
	return most;
}

/* Of a result's elements: the share of those that are zero whatever the inputs are, and how far the
 * last is that is not. */
struct zeros { double share, last; };

static struct zeros find_zeros(const struct task *t, int k)
{
	int64_t n = compared_elements(t, k), zeros = 0, last = 0;

	for (int64_t i = 0; i < n; i++) {
		int zero = 1;

		for (int j = 0; j < t->image.n_trials && zero; j++) {
			const struct result *r = expected_of(&t->expect[j], k, n);

			zero = !r || r->v[i] == 0.0;
		}
		zeros += zero;
		last = zero ? last : i + 1;
	}
	return (struct zeros){ .share = n ? (double)zeros / (double)n : 1.0, .last = n ?
			       (double)last / (double)n : 0.0 };
}

/* Zeros that no kernel wrote over may stand where the reference has some, and no kernel too short
 * for the task hides behind them: there are about as many as at the sizes where values were
 * compared. */
static int judge_blank(struct funnel *f, int k, int result)
{
	const struct run_part *p = &f->report.part[k];
	struct zeros z;
	double n = 1.0;

	if (!p->blank)
		return 0;
	z = find_zeros(f->judged, result);
	for (int d = 0; d < p->ndim; d++)
		n *= (double)p->shape[d];
	if (z.share >= LEAST_ZEROS && (double)p->blank <= MOST_LEFT * z.share * n &&
	    (double)p->reached >= (z.last - END_LEFT) * n)
		return 0;
	return funnel_failf(f, STAGE_full, REASON_uninitialised,
			    "the kernels write at most %.0f of the result's %.0f elements, and more of them "
			    "are not zero",
			    n - (double)p->blank, n);
}

/* *left has a bit for each result that was not compared; what a step makes is none. */
static int judge_parts(struct funnel *f, int i, unsigned *left)
{
	const struct results *expected = &f->t->expect[f->orders.v[i].trial].expected;
	/* Launches that are fewer or more than where steps were found are others. */
	int same = f->orders.v[i].matches.launches == f->report.matches.launches, steps = 0, rc = 0;

	for (int k = 0; k < f->report.n_parts && !rc; k++) {
		int result = k - steps, step = f->report.part[k].call != 0;
		int64_t before = f->v->full_size_elements;

		steps += step;
		if (!step)
			rc = judge_blank(f, k, result);
		if (rc || !f->t->reduced || (steps && !same))
			continue;
		rc = step ? judge_step(f, i, k) : judge_part(f, i, k, result < expected->n ?
							     &expected->r[result] : NULL);
		if (!step && f->v->full_size_elements > before)
			*left &= ~(1u << result);
	}
	return rc;
}

/* --- all of it -------------------------------------------------------------------------------------- */

/* The i-th of the batch. That it cannot be followed, or has not enough memory here, says nothing. */
static int judge_sample(struct funnel *f, int i, unsigned *left)
{
	int rc = full_size_take(f, i);

	if (rc)
		return rc;
	f->v->full_size_instances += f->report.programs;
	if (f->report.state == RUN_FAILED && (enum judge_stage)f->report.stage == STAGE_full)
		return funnel_fail(f, STAGE_full, &f->report.diag);
	return f->report.state == RUN_GAVE ? judge_parts(f, i, left) : 0;
}

/* A bit for each result of a call that has elements. */
static unsigned all_results(const struct task *t)
{
	unsigned all = 0;

	for (int i = 0; i < t->image.n_trials; i++)
		for (int k = 0; k < t->expect[i].expected.n; k++)
			if (t->expect[i].expected.r[k].n && !t->expect[i].expected.r[k].state)
				all |= 1u << k;
	return all;
}

int full_size_judge(struct funnel *f)
{
	const struct task *reduced;
	unsigned left;
	int rc;

	if (f->v->size == SIZE_FULL || f->o->identity || !ext_on(f->o, EXT_full_size) || !f->base->sized_tasks ||
	    test_sizes_reduced(f, &reduced))
		return 0;
	rc = funnel_switch_task(f, reduced ? reduced : f->base);
	if (rc)
		return rc;
	f->orders.n = 0;
	for (int i = 0; i < (reduced ? MIN(reduced->image.n_trials, 2) : 1); i++)
		order_reduced(f, i);
	left = all_results(f->judged);
	rc = full_size_ask(f);
	if (rc == 2) {
		f->v->full_size_reads = f->v->full_size_values = CONSTANT_ANSWER_late;
		return 0;
	}
	for (int i = 0; i < f->orders.n && !rc; i++)
		rc = judge_sample(f, i, &left);
	if (!rc && left)
		rc = constant_test(f, left);
	if (rc > 0) {
		f->v->correct = 0;
		f->v->speedup = 0.0;
		f->v->stages[STAGE_timing] = (struct verdict_stage){ .ran = 0 };
	}
	return rc;
}
