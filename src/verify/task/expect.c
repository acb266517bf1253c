/* Expected results and tolerances of trials: see task_build.h.
 *
 * The expected result is the reference's in fp64. The tolerance follows from the reference, too:
 * how far it is off in its own dtypes, as it is, with one ulp of noise after each operation, and
 * with the products in tf32 that are allowed. A candidate may be off by a few times that
 * (verdict/compare.h).
 *
 * This file also owns the list of trials while it grows: which are prepared at once, which are
 * due, and which are left out since the reference does not run on them. */
#include <math.h>

#include "num/num.h"
#include "verify/candidate/input_change.h"
#include "verify/candidate/intermediate.h"
#include "verify/task/task_build.h"

/* Sums that are no products are formed in blocks of about this length, even by plain programs. */
enum { SUM_BLOCK = 64 };

/* The longest sum of the reference's last run. Sums of products are known exactly; of others as
 * many terms are assumed as the first input has elements for each index of the result's first
 * dimension. */
static int64_t longest_sum(const struct task_build *b, const struct trial *tr, const struct results *own)
{
	struct host_ops ops = host_ops(b->own.h);
	int64_t most = 1, row = 1;

	for (size_t i = 0; i < ops.n; i++)
		most = MAX(most, ops.v[i].sum);
	for (int i = own->n && own->r[0].n == 1 ? 0 : 1; i < tr->ndim; i++)
		row *= tr->shape[i];
	return MAX(most, row / SUM_BLOCK);
}

/* Returns 0 if all values are finite, 1 if there are infinities, 2 if there is a NaN. */
static int worst_value(const struct results *r)
{
	int worst = 0;

	for (int i = 0; i < r->n; i++) {
		if (result_is_finite(&r->r[i]))
			continue;
		for (int64_t k = 0; k < r->r[i].n; k++)
			worst = MAX(worst, isnan(r->r[i].v[k]) ? 2 : isinf(r->r[i].v[k]) ? 1 : 0);
	}
	return worst;
}

/* Gives the oracle's results the dtypes that the reference has in its own run. */
static void adopt_types(struct results *oracle, const struct results *own)
{
	for (int i = 0; i < MIN(oracle->n, own->n); i++)
		oracle->r[i].dt = own->r[i].dt;
}

/* The products of the reference that are computed in tf32 in a mode. RUN_CLOSE is for KernelBench's
 * rule: an error that tf32 explains may pass even if the option asks for fewer products in tf32. */
unsigned task_tf32_products(const struct task *t, enum run_mode mode)
{
	enum precision p = judge_options(t->judge)->precision;

	if (t->exact)
		return 0;
	if (mode == RUN_CLOSE)
		return p == PRECISION_TORCH ? t->products & NUM_TF32_MATMUL : 0;
	if (mode == RUN_TORCH)
		p = PRECISION_TORCH;
	return p == PRECISION_TF32 ? t->products : p == PRECISION_TORCH ? t->products & NUM_TF32_CONV : 0;
}

/* Runs the reference with products in tf32, if the mode has any for it and the trial is in fp32. */
static int run_products(struct task_build *b, const struct trial *tr, enum run_mode mode, struct results *out,
			struct err *e)
{
	struct task *t = b->t;

	return tr->dt == DT_F32 && task_tf32_products(t, mode) ? task_run_reference(b, tr, mode, out, e) : 0;
}

/* The dtype whose rounding counts. A reference all of whose results are fp64 computes in fp64. */
static enum dtype rounded_to(const struct trial *tr, const struct results *own)
{
	for (int i = 0; i < own->n; i++)
		if (own->r[i].dt != DT_F64)
			return tr->dt;
	return own->n ? DT_F64 : tr->dt;
}

/* The runs of the reference for a trial, in addition to the oracle's. */
struct reference_runs {
	struct results own, noisy, allowed, close;
};

static void runs_release(struct reference_runs *r)
{
	results_release(&r->own);
	results_release(&r->noisy);
	results_release(&r->allowed);
	results_release(&r->close);
}

/* The reference in its own dtypes, and moved by one ulp, must pass its own test. Else the
 * tolerance is too narrow for any program, and the task has a problem. */
static int check_own(struct task *t, const struct trial *tr, const struct expectation *x,
		     const struct reference_runs *r)
{
	const struct { const struct results *got; const char *what; } run[] = {
		{ &r->own, "the reference itself" }, { &r->noisy, "the reference with one ulp of noise" } };

	for (size_t i = 0; i < COUNT_OF(run); i++) {
		struct comparison c;

		if (results_match(&x->expected, run[i].got))
			continue;
		results_compare(&x->expected, run[i].got, &c);
		if (c.reason != REASON_ok)
			return task_note_problem(t, "%s fails on input set '%s': %s", run[i].what,
					    trial_name(tr->kind), c.text);
	}
	return 0;
}

/* The survey was a run of the original trial, and is taken for it; unless buffers belong to the
 * result, which was not known during the survey. */
static int run_own(struct task_build *b, struct trial *tr, struct results *out, struct err *e)
{
	struct task *t = b->t;

	if (!tr->is_original || !b->surveyed.n || t->image.keeps_state)
		return task_run_reference(b, tr, RUN_OWN, out, e);
	*out = b->surveyed;
	b->surveyed = (struct results){ .n = 0 };
	return 0;
}

/* Runs the reference in all modes that the tolerance needs. The oracle's run comes last: its
 * results become the expected ones. */
static int run_all(struct task_build *b, struct trial *tr, struct expectation *x, struct reference_runs *r,
		   struct err *e)
{
	int rc = run_own(b, tr, &r->own, e);

	if (!rc)
		rc = task_run_reference(b, tr, RUN_NOISY, &r->noisy, e);
	if (!rc)
		rc = run_products(b, tr, RUN_ALLOWED, &r->allowed, e);
	if (!rc)
		rc = run_products(b, tr, RUN_CLOSE, &r->close, e);
	return rc ? rc : task_run_reference(b, tr, RUN_ORACLE, &x->expected, e);
}

/* How far a run is from the expected results; 0 if there was no such run. */
static double distance_of(const struct results *run, const struct results *expected, enum distance of)
{
	return run->n ? results_distance(run, expected, of) : 0.0;
}

/* The error that rounding causes in the results, or in the buffers. */
static struct rounding rounding_of(const struct task_build *b, const struct trial *tr, const struct results *x,
				   const struct reference_runs *r, enum distance of)
{
	return (struct rounding){ .dt = rounded_to(tr, &r->own), .plain = MAX(distance_of(&r->own, x, of),
			distance_of(&r->noisy, x, of)),
				  .products = distance_of(&r->allowed, x, of), .close = distance_of(&r->close, x, of),
				  .sum = longest_sum(b, tr, &r->own) };
}

/* Does every run come near the expected results at all? */
static int is_finite_rounding(const struct rounding *r)
{
	return isfinite(r->plain) && isfinite(r->products) && isfinite(r->close);
}

/* Completes the expected results: elements that overflow, integers that depend on rounding,
 * tolerances. Returns 0 on success, 1 if the trial cannot be used (an essential one is a problem of
 * the task), -1 on our own failure (*e). */
static int set_expected(struct task_build *b, const struct trial *tr, struct expectation *x,
			const struct reference_runs *r, struct err *e)
{
	struct task *t = b->t;
	const struct results *own = &r->own, *noisy = &r->noisy;
	const struct judge_options *o = judge_options(t->judge);
	struct rounding by, state;

	if (results_note_overflow(&x->expected, own, e) || results_note_overflow(&x->expected, noisy, e))
		return -1;
	results_note_inexact(&x->expected, own);
	results_note_inexact(&x->expected, noisy);
	results_allow_zero(&x->expected, own);
	results_allow_zero(&x->expected, noisy);
	by = rounding_of(b, tr, &x->expected, r, DISTANCE_RESULTS);
	state = rounding_of(b, tr, &x->expected, r, DISTANCE_STATE);
	x->rounding = by.plain;
	results_set_tolerance(&x->expected, &by, &state);
	adopt_types(&x->expected, own);
	if (worst_value(&x->expected) > (trial_is_essential(tr) ? 1 : 0))
		return trial_is_essential(tr) ? task_note_problem(t, "the reference gives NaN on input set '%s'",
						       trial_name(tr->kind)) : 1;
	if (!is_finite_rounding(&by) || !is_finite_rounding(&state))
		return trial_is_essential(tr) ?
			task_note_problem(t, "rounding decides whether the reference is finite on input set '%s'",
				     trial_name(tr->kind)) : 1;
	if (!own->n || own->too_many)
		return task_note_problem(t, "the reference returns %d tensors", own->n);
	return !ext_on(o, EXT_controls) ? 0 : check_own(t, tr, x, r);
}

/* Keeps the results as PyTorch computes them on a GPU, for KernelBench's rule. *own is taken for
 * them if PyTorch rounds no product of this reference. */
static int keep_torch(struct task_build *b, const struct trial *tr, struct expectation *x, struct results *own,
		      struct err *e)
{
	int rc = run_products(b, tr, RUN_TORCH, &x->torch, e);

	if (!rc && !x->torch.n) {
		x->torch = *own;
		*own = (struct results){ .n = 0 };
	}
	return rc;
}

/* Prepares a trial. Intermediates are kept for the trials that candidates are matched at: the
 * first one at smaller sizes, and all of a reduced task. */
static int expect(struct task_build *b, struct trial *tr, struct expectation *x, struct err *e)
{
	struct task *t = b->t;
	struct reference_runs r = { .own = { .n = 0 } };
	int rc = task_store_inputs(b, tr, e);

	if (!rc)
		rc = run_all(b, tr, x, &r, e);
	if (!rc)
		rc = set_expected(b, tr, x, &r, e);
	if (!rc && tr->is_original && !t->reduced.indices)
		rc = keep_torch(b, tr, x, &r.own, e);
	if (!rc && (t->reduced.indices || (t->is_fixed && tr->kind == TRIAL_tiny && !b->n_rare)))
		rc = task_keep_intermediates(b, tr, &x->intermediates, e);
	runs_release(&r);
	return rc;
}

/* If the reference cannot continue from a drawn state of its buffers (an index, for example), the
 * trial begins with the buffers as constructed. */
int task_expect(struct task_build *b, struct trial *tr, struct expectation *x, struct err *e)
{
	struct task *t = b->t;
	struct diag before = t->problem;
	int rc = expect(b, tr, x, e);

	if (rc <= 0 || !tr->state)
		return rc;
	buf_addf(&t->notes, "input set '%s': the reference fails if its buffers start with other values\n",
		 trial_name(tr->kind));
	t->problem = before;
	trial_release(tr);
	expectation_release(x);
	tr->state = 0;
	return expect(b, tr, x, e);
}

/* Half precision must stay last: it leaves the model in another dtype. */
struct trial *task_insert_trial(struct task *t, const struct trial *like, enum trial_kind kind, enum ext ext)
{
	int at = t->image.n_trials;
	struct trial *tr;

	if (t->image.n_trials == TRIALS_MOST)
		return NULL;
	while (at && t->image.trial[at - 1].dt != DT_F32)
		at--;
	memmove(&t->image.trial[at + 1], &t->image.trial[at], (size_t)(t->image.n_trials - at) * sizeof *tr);
	memmove(&t->expect[at + 1], &t->expect[at], (size_t)(t->image.n_trials - at) * sizeof t->expect[0]);
	t->image.n_trials++;
	t->expect[at] = (struct expectation){ .rounding = 0.0 };
	tr = &t->image.trial[at];
	*tr = (struct trial){ .kind = kind, .stage = STAGE_full, .ext = (int)ext, .n_ov = like->n_ov,
			      .seed = like->seed, .set = like->set,
			      .state = like->state, .dt = like->dt };
	memcpy(tr->ov, like->ov, sizeof tr->ov);
	return tr;
}

/* Trials and expectations are kept in step: index i of both belongs together. */
void task_remove_trial(struct task *t, struct trial *tr)
{
	struct expectation *x = task_expectation_of(t, tr);
	size_t after = (size_t)(&t->image.trial[t->image.n_trials--] - (tr + 1));

	trial_release(tr);
	expectation_release(x);
	memmove(tr, tr + 1, after * sizeof *tr);
	memmove(x, x + 1, after * sizeof *x);
	t->image.trial[t->image.n_trials] = (struct trial){ .n_ov = 0 };
	t->expect[t->image.n_trials] = (struct expectation){ .rounding = 0.0 };
}

/* An empty expectation can be released, too. */
void expectation_release(struct expectation *x)
{
	results_release(&x->torch);
	results_release(&x->expected);
	intermediates_release(&x->intermediates);
	x->rounding = 0.0;
}

/* Only preparation changes expectations; all others get task_expectation. */
struct expectation *task_expectation_of(struct task *t, const struct trial *tr)
{
	return &t->expect[tr - t->image.trial];
}

const struct expectation *task_expectation(const struct task *t, const struct trial *tr)
{
	return &t->expect[tr - t->image.trial];
}

/* Does rounding on these inputs hide what the trial is to show? */
static int is_drowned(const struct trial *tr, const struct expectation *x)
{
	static const double most = 1e-3;

	return tr->change == CHANGE_ENDS && x->rounding > most;
}

/* Prepares a trial, with milder and milder changes as long as the reference gives nothing to
 * compare with. A trial of the general contract or with rare values that cannot be prepared is no
 * problem of the task. */
static int expect_milder(struct task_build *b, struct trial *tr, struct expectation *x, struct err *e)
{
	struct task *t = b->t;
	int rc = task_expect(b, tr, x, e);

	while ((rc > 0 || (!rc && is_drowned(tr, x))) && change_milder(tr->change) != CHANGE_NONE) {
		struct trial milder = { .kind = tr->kind, .stage = tr->stage, .ext = tr->ext,
					.n_ov = tr->n_ov, .seed = tr->seed, .set = tr->set,
					.state = tr->state, .change = change_milder(tr->change), .dt = tr->dt };

		memcpy(milder.ov, tr->ov, sizeof milder.ov);
		trial_release(tr);
		expectation_release(x);
		*tr = milder;
		t->problem = (struct diag){ .reason = REASON_ok };   /* it was this trial's, not the task's */
		rc = task_expect(b, tr, x, e);
	}
	if (rc > 0 && (trial_contract(tr->kind) == CONTRACT_GENERAL || tr->kind == TRIAL_rare))
		t->problem = (struct diag){ .reason = REASON_ok };
	return rc;
}

/* Prepares the listed trials [first, end). Those that the reference runs on move to the end of the
 * prepared ones; the others are left out. */
static int expect_listed(struct task_build *b, int first, int end, struct err *e)
{
	struct task *t = b->t;
	char shape[96];

	for (int i = first; i < end; i++) {
		struct trial *tr = &t->image.trial[i];
		struct expectation *x = &t->expect[i];
		int rc = expect_milder(b, tr, x, e);

		if (rc < 0 || t->problem.reason != REASON_ok)
			return rc < 0 ? -1 : 0;
		if (rc > 0) {
			buf_addf(&t->notes, "input set '%s' left out: the reference does not run on it\n",
				 trial_name(tr->kind));
			trial_release(tr);
			expectation_release(x);
			continue;
		}
		trial_shape_text(tr, shape, sizeof shape);
		buf_addf(&t->notes, "input set '%s' %s: relative tolerance %.2g\n", trial_name(tr->kind),
			 shape, x->expected.r[0].rel);
		if (t->image.n_trials != i) {
			t->image.trial[t->image.n_trials] = *tr;
			t->expect[t->image.n_trials] = *x;
			*tr = (struct trial){ .n_ov = 0 };
			*x = (struct expectation){ .rounding = 0.0 };
		}
		t->image.n_trials++;
	}
	return 0;
}

/* If no candidate is run on the trials of the general contract, they are not prepared. */
int task_is_lean(const struct judge_options *o)
{
	return o->skip_general && o->contract == CONTRACT_TASK;
}

/* Relations are looked for once all listed trials are prepared: they insert new ones. */
int task_expect_next(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	int i = b->due_first++;

	if (i < b->due_end)
		return expect_listed(b, i, i + 1, e);
	b->has_due = 0;
	return t->problem.reason == REASON_ok ? task_find_relations(b, e) : 0;
}

/* Will candidates be judged at other sizes, which are chosen for each of them? Then the task
 * itself needs only its first trial, and its checks prepare more only if they need them. */
static int needs_outline(const struct task_build *b)
{
	const struct task *t = b->t;
	const struct judge_options *o = judge_options(t->judge);

	return task_is_lean(o) && !b->is_whole && !t->is_fixed && !t->at_full_size && !t->large && t->image.n_all &&
		ext_on(o, EXT_full_size);
}

/* Moves the original after all other fp32 trials. It is the largest of all, and the checks of the
 * task seldom need it if the others come first. */
static void put_original_last(struct task *t)
{
	struct trial *at = task_original(t),
		*last = &t->image.trial[t->image.n_trials - 1 - (t->image.trial[t->image.n_trials - 1].dt != DT_F32)];
	struct trial original = *at;

	if (at == t->image.trial)
		return;
	memmove(at, at + 1, (size_t)(last - at) * sizeof original);
	*last = original;
}

/* Starts the list of prepared trials and returns how many are to be prepared now. Trials of the
 * task's contract come first in the list. */
static int list_due(struct task_build *b)
{
	struct task *t = b->t;
	int own = 0;

	while (own < t->image.n_trials && trial_contract(t->image.trial[own].kind) == CONTRACT_TASK)
		own++;
	for (int i = own; i < t->image.n_trials; i++)
		BUG_ON(trial_contract(t->image.trial[i].kind) == CONTRACT_TASK);
	t->is_outline = needs_outline(b);
	if (t->is_outline)
		put_original_last(t);
	b->has_due = 1;
	b->due_first = t->is_outline ? 1 : own;
	b->due_end = t->image.n_trials;
	t->image.n_trials = 0;
	return b->due_first;
}

/* The reference runs on no input set, although its survey succeeded: it fails when it is run again,
 * or in fp64. */
static void note_no_trial(struct task_build *b)
{
	const char *own = host_diag(b->own.h)->text, *oracle = host_diag(b->oracle.h)->text;

	task_note_problem(b->t, "the reference runs on no input set%s: %.300s", own[0] ? "" : " in fp64",
			  own[0] ? own : oracle);
}

/* Prepares what candidates need, and all other trials too unless these are due only. Everything
 * after preparation relies on at least one trial. */
int task_expect_all(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	int rc = expect_listed(b, 0, list_due(b), e);

	while (!rc && !t->image.n_trials && b->due_first < b->due_end && t->problem.reason == REASON_ok)
		rc = task_expect_next(b, e);
	if (!rc && !t->image.n_trials && t->problem.reason == REASON_ok)
		note_no_trial(b);
	while (!rc && b->has_due && t->problem.reason == REASON_ok && !task_is_lean(judge_options(t->judge)))
		rc = task_expect_next(b, e);
	return rc;
}
