/* Sampled instances at full size, judged: see full_size.h.
 *
 * Owns the comparison of the parts that sampled instances wrote. Results that cannot be compared
 * that way go to the constant-tensor test (constant_test.h). */
#include "verify/funnel/full_size.h"

#include <stdio.h>

#include "base/mem.h"
#include "tensor/sparse.h"
#include "verify/candidate/intermediate.h"
#include "verify/funnel/address_check.h"
#include "verify/funnel/constant_test.h"
#include "verify/funnel/full_size_batch.h"
#include "verify/funnel/sized_cache.h"

/* A result may keep zeros that no kernel wrote if the reference has at least this share of constant
 * zeros at the test sizes, */
#define LEAST_ZEROS 0.2
/* and the unwritten share is at most this multiple of it: the share was measured on a smaller
 * result. */
#define MOST_LEFT 1.25
/* The last instance always runs. It must reach the last element that is not a constant zero, up to
 * this share of the result. */
#define END_LEFT 0.03

/* The relative tolerance of a reference intermediate: it is no result, so a candidate may round it
 * as it likes. */
static const double intermediate_tolerance = 1e-2;

/* The runner fills tensors of full size from the rows of the reduced task, in an order that the
 * seed decides. It gets what was found at the test sizes: transposed weights and reference
 * intermediates. */
static void order_reduced(struct funnel *f, int trial)
{
	uint64_t drawn = full_size_draw(f->o->seed, f->source, trial);
	const struct task_reduction *r = &f->t->reduced;
	struct run_order o = { .dry_run = DRY_RUN_CANDIDATE, .sample = drawn, .launches = f->v->cost.launches,
			       .map = { .few = r->indices, .periods = r->periods,
					.seed = r->is_symmetric ? r->inputs.seed : drawn },
			       .transposed = f->transposed, .matches = f->matches, .addresses = trial == 0 };

	for (size_t i = 0; i < f->t->image.n_all; i++)
		o.size[i] = f->t->image.size[i].full;
	attempt_order(f, &f->t->image.trial[trial], &o);
}

/* --- parts of results --------------------------------------------------------------------- */

/* The element of the expected result that belongs to an element of the part. The expected result is
 * reduced along independent axes. Example: with 16 rows for 4096, row 1000 has the contents of one
 * of the 16 rows. */
static int64_t reduced_index(const struct sparse_map *map, const struct result *want, const struct run_part *p,
			     int64_t index)
{
	int64_t at = 0, step = 1;

	for (int d = p->ndim - 1; d >= 0; d--) {
		int64_t i = index % p->shape[d];

		index /= p->shape[d];
		at += sparse_map_index(map, i, p->shape[d], want->shape[d]) * step;
		step *= want->shape[d];
	}
	return at;
}

/* Gathers what is expected at the indices of the part into a result of one dimension. Returns 0 on
 * success, -1 on failure (*e). */
static int gather(const struct sparse_map *map, const struct result *want, const struct run_part *p,
		  const int64_t *index, struct results *expected, struct err *e)
{
	struct result *r = &expected->r[0];

	*expected = (struct results){ .n = 1 };
	*r = (struct result){ .dt = want->dt, .ndim = 1, .shape = { p->n }, .n = p->n, .rms = want->rms,
			      .rel = want->rel, .rel_close = want->rel_close, .abs = want->abs,
			      .inexact = want->inexact };
	r->v = mem_array((size_t)p->n + 1, sizeof *r->v);
	r->over = want->over ? mem_array((size_t)p->n + 1, 1) : NULL;
	if (!r->v || (want->over && !r->over)) {
		results_release(expected);
		return err_nomem(e);
	}
	for (int64_t i = 0; i < p->n; i++) {
		int64_t from = reduced_index(map, want, p, index[i]);

		r->v[i] = want->v[from];
		if (r->over)
			r->over[i] = want->over[from];
	}
	return 0;
}

/* Is the part one of the expected result, only longer along independent axes, with all indices
 * inside? The report comes from the runner, so nothing in it is trusted. */
static int has_form(const struct sparse_map *map, const struct result *want, const struct run_part *p,
		    const int64_t *index)
{
	int64_t n = 1;

	if (p->ndim != want->ndim || (enum dtype)p->dt != want->dt || want->whole || !want->v)
		return 0;
	for (int i = 0; i < p->ndim; i++)
		if (p->shape[i] < 1 || !sparse_map_fits(map, p->shape[i], want->shape[i]) ||
		    ck_mul64(n, p->shape[i], &n))
			return 0;
	for (int64_t i = 0; i < p->n; i++)
		if (index[i] < 0 || index[i] >= n)
			return 0;
	return 1;
}

/* There is no row of an input set for full size, so the message names the shape. */
static enum step fail_part(struct funnel *f, const struct run_part *p, const struct comparison *c, int64_t index)
{
	struct trial_result r = TRIAL_RESULT_INIT;
	char shape[96] = "";
	size_t at = 0;

	for (int i = 0; i < p->ndim && at < sizeof shape; i++)
		at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%lld", i ? "x" : "", (long long)p->shape[i]);
	snprintf(r.explain, sizeof r.explain, "sampled instances at full size (%s): %s", shape, c->text);
	trial_result_failf(&r, f, STAGE_full, c->reason, "at full size (%s), element %lld: expected %g, got %g", shape,
			   (long long)index, c->expected, c->got);
	return funnel_commit(f, &r);
}

/* Is the error one of tf32 products, with weights that are not the task's own? KernelBench's rule,
 * which decides whether tf32 shows, knows the task's own weights only. With drawn weights precision
 * is judged at the test sizes. */
static int is_of_drawn_weights(const struct funnel *f, const struct run_order *o, const struct results *expected,
			       const struct comparison *c)
{
	return f->t->image.trial[o->trial].set != WEIGHTS_BUILT && comparison_is_tf32(expected, c);
}

/* Compares the values of a part with the expected values at its indices. */
static enum step compare_part(struct funnel *f, const struct run_order *o, const struct run_part *p,
			      const struct result *want, const int64_t *index, const void *value)
{
	struct results expected, got = { .n = 1 };
	struct comparison c;
	enum step step = STEP_PASSED;

	got.r[0] = (struct result){ .dt = (enum dtype)p->dt, .ndim = 1, .shape = { p->n }, .n = p->n };
	if (result_fill(&got.r[0], value, f->e) || gather(&o->map, want, p, index, &expected, f->e)) {
		results_release(&got);
		return STEP_BROKE;
	}
	results_compare(&expected, &got, &c);
	f->v->full_size_elements += p->n;
	if (c.reason != REASON_ok && !is_of_drawn_weights(f, o, &expected, &c))
		step = fail_part(f, p, &c, index[MIN(MAX(c.element, 0), p->n - 1)]);
	results_release(&expected);
	results_release(&got);
	return step;
}

/* Judges the k-th part of f->report, the i-th report of the batch. `want` is NULL if the expected
 * values are not known; the part is not compared then. */
static enum step judge_part(struct funnel *f, int i, int k, const struct result *want)
{
	const struct run_order *o = &f->orders.v[i];
	const struct run_part *p = &f->report.part[k];
	enum step step = STEP_PASSED;
	const int64_t *borrowed;
	const void *value;
	int64_t *index;

	if (shmem_part(f->link->shmem, o, &f->report, k, &borrowed, &value))
		return full_size_malformed(f);
	/* The runner may change shared memory at any time: the indices are checked and used in a
	 * copy. */
	index = mem_array((size_t)p->n + 1, sizeof *index);
	if (!index)
		return (enum step)err_nomem(f->e);
	memcpy(index, borrowed, (size_t)p->n * sizeof *index);
	if (p->n && want && has_form(&o->map, want, p, index))
		step = compare_part(f, o, p, want, index, value);
	mem_free(index);
	return step;
}

/* Judges a part that is a reference intermediate. */
static enum step judge_intermediate(struct funnel *f, int i, int k)
{
	const struct trial *tr = &f->t->image.trial[f->orders.v[i].trial];
	const struct expectation *x = task_expectation(f->t, tr);
	const struct intermediate *m = intermediate_find(&x->intermediates, f->report.part[k].call);
	struct result want = { .rel = MAX(intermediate_tolerance, 2.0 * x->expected.r[0].rel) };
	enum step step;

	if (!m)
		return STEP_PASSED;
	want.dt = m->t.dt;
	want.ndim = m->t.ndim;
	memcpy(want.shape, m->t.shape, sizeof want.shape);
	want.n = tensor_numel(&m->t);
	if (result_fill(&want, tensor_data(&m->t), f->e))
		return STEP_BROKE;
	step = judge_part(f, i, k, &want);
	mem_free(want.v);
	return step;
}

/* --- elements that no kernel wrote -------------------------------------------------------- */

/* Constant zeros of a result: elements that are zero on every input set. */
struct zeros {
	double share;                 /* of all elements */
	double last;                  /* the end of the other elements, as a share of the result */
};

/* Uses the input sets whose result has the size of the first one. */
static struct zeros find_zeros(const struct task *t, int k)
{
	const struct result *first = k < t->expect[0].expected.n ? &t->expect[0].expected.r[k] : NULL;
	int64_t n = first && first->v ? first->n : 0, zeros = 0, last = 0;

	for (int64_t i = 0; i < n; i++) {
		int zero = 1;

		for (int j = 0; j < t->image.n_trials && zero; j++) {
			const struct results *x = &t->expect[j].expected;

			zero = k >= x->n || x->r[k].n != n || !x->r[k].v || x->r[k].v[i] == 0.0;
		}
		zeros += zero;
		last = zero ? last : i + 1;
	}
	return n ? (struct zeros){ .share = (double)zeros / (double)n, .last = (double)last / (double)n } :
		(struct zeros){ .share = 1.0 };
}

/* A result that began as zeros may keep some where the reference has constant zeros (a triangular
 * matrix). A kernel that does not cover the whole result leaves more zeros than the reference has
 * at the test sizes. */
static enum step judge_unwritten(struct funnel *f, int k, int result)
{
	const struct run_part *p = &f->report.part[k];
	struct zeros z;
	double n = 1.0;

	if (!p->blank)
		return STEP_PASSED;
	z = find_zeros(f->judged, result);
	for (int d = 0; d < p->ndim; d++)
		n *= (double)p->shape[d];
	if (z.share >= LEAST_ZEROS && (double)p->blank <= MOST_LEFT * z.share * n &&
	    (double)p->reached >= (z.last - END_LEFT) * n)
		return STEP_PASSED;
	return funnel_failf(f, STAGE_full, REASON_uninitialised,
			    "at full size the kernels write at most %.0f of the result's %.0f elements, and more "
			    "of them are not zero", n - (double)p->blank, n);
}

/* --- all of it ---------------------------------------------------------------------------- */

/* Judges all parts of f->report, the i-th report of the batch. Clears the bit of each result that
 * was compared in *left. Intermediates count only if the candidate made as many launches as at the
 * test sizes: otherwise the launches do not correspond. */
static enum step judge_parts(struct funnel *f, int i, unsigned *left)
{
	const struct results *expected = &f->t->expect[f->orders.v[i].trial].expected;
	int same_launches = f->orders.v[i].matches.launches == f->report.matches.launches, intermediates = 0;
	enum step step = STEP_PASSED;

	for (int k = 0; k < f->report.n_parts && step == STEP_PASSED; k++) {
		int result = k - intermediates, is_intermediate = f->report.part[k].call != 0;
		int64_t compared = f->v->full_size_elements;

		intermediates += is_intermediate;
		if (!is_intermediate)
			step = judge_unwritten(f, k, result);
		if (step != STEP_PASSED || !f->t->reduced.indices || (intermediates && !same_launches))
			continue;
		if (is_intermediate)
			step = judge_intermediate(f, i, k);
		else
			step = judge_part(f, i, k, result < expected->n ? &expected->r[result] : NULL);
		if (!is_intermediate && f->v->full_size_elements > compared)
			*left &= ~(1u << result);
	}
	return step;
}

/* Judges the i-th report. A candidate that cannot do a dry run at full size, or needs more memory
 * than there is here, is not judged by it. */
static enum step judge_sample(struct funnel *f, int i, unsigned *left)
{
	enum step step = full_size_take(f, i);

	if (step != STEP_PASSED)
		return step;
	f->v->full_size_instances += f->report.programs;
	if (f->report.state == RUN_FAILED && (enum judge_stage)f->report.stage == STAGE_full)
		return funnel_fail(f, STAGE_full, &f->report.diag);
	return f->report.state == RUN_GAVE ? judge_parts(f, i, left) : STEP_PASSED;
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

/* The samples, then the constant-tensor test for results that no sample compared. */
static enum step judge_samples(struct funnel *f, const struct task *reduced)
{
	int late, trials = reduced ? MIN(reduced->image.n_trials, 2) : 1;
	unsigned left = all_results(f->judged);
	enum step step;

	f->orders.n = 0;
	for (int i = 0; i < trials; i++)
		order_reduced(f, i);
	address_check_order(f);
	step = full_size_ask(f, &late);
	if (late) {
		f->v->full_size_reads = f->v->full_size_values = CONSTANT_ANSWER_late;
		return STEP_PASSED;
	}
	for (int i = 0; i < trials && step == STEP_PASSED; i++)
		step = judge_sample(f, i, &left);
	if (step == STEP_PASSED)
		step = address_check_judge(f, 0, trials);
	return step == STEP_PASSED && left ? constant_test(f, left) : step;
}

/* Nothing to do if the test sizes are full size. A failure to prepare the reduced task skips the
 * checks: the candidate is not at fault. */
enum step full_size_judge(struct funnel *f)
{
	const struct task *reduced;
	enum step step;

	if (f->v->size == SIZE_FULL || f->o->identity || !ext_on(f->o, EXT_full_size) || !f->base->sized_tasks ||
	    sized_cache_reduced(f, &reduced) == STEP_BROKE)
		return STEP_PASSED;
	step = funnel_switch_task(f, reduced ? reduced : f->base);
	if (step == STEP_PASSED)
		step = judge_samples(f, reduced);
	if (step == STEP_FAILED)
		funnel_revoke(f);
	return step;
}
