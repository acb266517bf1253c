/* One run of the candidate, as the deciding process sees it: order it, have it run, take its
 * report, compare its results. See funnel.h.
 *
 * This file does not decide which runs a candidate needs. The stages do that. */
#include "verify/funnel/funnel.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/task/dump.h"

/* A worst value within this share of the expected one looks like an approximation, not like another
 * function. */
static const double near_share = 0.03;

/* The link takes the text from shared memory. The runner parses it while this process continues. */
enum step funnel_start(struct funnel *f)
{
	shmem_set_text(f->link->shmem, f->source);
	return f->link->start(f->link, &f->t->image, f->e) ? STEP_BROKE : STEP_PASSED;
}

/* A runner has the image of one task only, so another task needs another runner. Nothing that the
 * candidate kept in its process survives that. */
enum step funnel_switch_task(struct funnel *f, const struct task *t)
{
	if (f->t == t)
		return STEP_PASSED;
	f->t = t;
	f->link->end(f->link);
	return funnel_start(f);
}

/* The number of the trial is its index in the task of the runner, so `tr` must belong to f->t.
 * Without the sanitize extension kernels may trust hints such as tl.multiple_of. */
void attempt_order(struct funnel *f, const struct trial *tr, const struct run_order *how)
{
	struct run_order *o;

	BUG_ON(f->orders.n == SHMEM_ORDERS);
	o = &f->orders.v[f->orders.n++];
	*o = *how;
	o->run.trust_hints = !ext_on(f->o, EXT_sanitize);
	o->skip_asserts = f->skip_asserts;
	o->trial = (int)(tr - f->t->image.trial);
}

/* A lost runner is the candidate's failure until another try shows that the machine was at fault
 * (f->lost). */
static enum step runner_lost(struct funnel *f, enum lost how, struct trial_result *r)
{
	enum reason why = how == LOST_LATE ? REASON_worker_timeout : REASON_worker_crashed;

	f->lost = how;
	return trial_result_failf(r, f, STAGE_tiny, why, "%s", reason_text(why));
}

/* One batch is one round trip to the runner. Stages order as many runs at once as they can, because
 * a round trip costs more than a small run. */
enum step attempt_ask(struct funnel *f, struct trial_result *r)
{
	enum lost how = LOST_NOT;
	int rc = shmem_set_orders(f->link->shmem, &f->orders, f->t, f->e);

	if (!rc)
		rc = f->link->ask(f->link, &how, f->e);
	if (rc > 0)
		return runner_lost(f, how, r);
	return r->step = rc ? STEP_BROKE : STEP_PASSED;
}

enum step funnel_ask(struct funnel *f)
{
	struct trial_result r = TRIAL_RESULT_INIT;

	attempt_ask(f, &r);
	return funnel_commit(f, &r);
}

/* Keeps what the report says about weights and launches, for later runs at other sizes. */
static void note_matches(struct funnel *f, struct trial_result *r)
{
	if (f->report.weights[0])
		memcpy(r->weights, f->report.weights, sizeof r->weights);
	if (f->report.transposed.known)
		f->transposed = f->report.transposed;
	if (f->report.matches.n)
		f->matches = f->report.matches;
}

/* A report that is malformed counts as a crash: only a candidate that broke out of the interpreter
 * can write one. With RULE_form off, every structure of the returned value is accepted. */
enum step attempt_take(struct funnel *f, int i, struct attempt *out, struct trial_result *r)
{
	const struct trial *tr = &f->t->image.trial[f->orders.v[i].trial];
	int rc = shmem_report(f->link->shmem, &f->orders, i, &f->report, &out->got, f->e);

	if (rc > 0)
		return runner_lost(f, LOST_CRASHED, r);
	if (rc)
		return r->step = STEP_BROKE;
	note_matches(f, r);
	if (!rule_on(f->o, RULE_form))
		memcpy(out->got.form, task_expectation(f->t, tr)->expected.form, sizeof out->got.form);
	out->cost = f->report.out;
	switch (f->report.state) {
	case RUN_GAVE:
		return STEP_PASSED;
	case RUN_FAILED:
		r->compiled |= f->report.compiled && f->report.stage > STAGE_compile;
		return trial_result_fail(r, f, (enum judge_stage)f->report.stage, &f->report.diag);
	case RUN_BROKE:
		err_set(f->e, f->report.err.code ? f->report.err.code : ERR_STATE, "%s", f->report.err.text);
		return r->step = STEP_BROKE;
	default:
		return trial_result_failf(r, f, tr->stage, REASON_kernel_timeout,
					  "this run was not started: an earlier run of the candidate reached a limit");
	}
}

/* A run that came to its end has compiled all kernels that it launched. */
enum step attempt_launched(const struct funnel *f, enum judge_stage s, const struct outcome *o,
			   struct trial_result *r)
{
	r->compiled = 1;
	if (o->launches || f->o->identity || !rule_on(f->o, RULE_kernel))
		return STEP_PASSED;
	return trial_result_failf(r, f, s, REASON_kernel_not_launched, "forward launched no kernel");
}

/* --- comparing ---------------------------------------------------------------------------- */

/* Are the values correct in fp32, although the inputs are in half precision? Then the candidate is
 * written for fp32, and the task asks for fp32. */
static int stayed_wide(const struct funnel *f, const struct trial *tr, const struct results *got)
{
	struct results wide = *got;

	if (tr->dt == DT_F32)
		return 0;
	for (int i = 0; i < wide.n; i++)
		if (wide.r[i].dt == DT_F32)
			wide.r[i].dt = tr->dt;
	return results_match(&task_expectation(f->t, tr)->expected, &wide);
}

/* Compares, with two rules that tests can switch off: integers are compared exactly, and buffers
 * that forward changes are compared. */
static void compare(const struct funnel *f, const struct trial *tr, const struct results *got, struct comparison *c)
{
	struct results expected = task_expectation(f->t, tr)->expected, seen = *got;

	for (int i = 0; i < expected.n && !rule_on(f->o, RULE_exact); i++)
		expected.r[i].inexact = 1;
	while (!rule_on(f->o, RULE_state) && expected.n && expected.r[expected.n - 1].state) {
		expected.n--;
		seen.n = MIN(seen.n, expected.n);
	}
	results_compare(&expected, &seen, c);
}

/* Does torch compute all products of the candidate? On a GPU torch then rounds them as it does for
 * the reference, so KernelBench's rule sees no difference from that rounding. */
static int leaves_products(const struct funnel *f)
{
	const struct host_work *ref = &f->t->work, *host = &f->report.out.host;

	return ref->flops > ref->plain && host->flops - host->plain >= ref->flops - ref->plain;
}

/* Counts whether the candidate changes the buffers that the reference changes. A candidate may
 * leave buffers unchanged in every call or in none. Returns 1 if it left other buffers unchanged
 * than in an earlier run of the same task: then the candidate depends on how often it was
 * called. */
static int note_buffers(struct funnel *f, const struct results *expected, const struct results *got,
			struct trial_result *r)
{
	const struct result *g = expected->n && expected->r[expected->n - 1].state && got->n == expected->n ?
		&got->r[got->n - 1] : NULL;
	uint64_t which = 0;
	int left = 0, other;

	if (!g || !g->v)
		return 0;
	for (int64_t i = 0; i < g->n; i++) {
		left |= isnan(g->v[i]);         /* NaN marks an unchanged element: weights_kept */
		which = (which + (isnan(g->v[i]) ? 2 : 1)) * 0x100000001b3u;
	}
	r->buffers_left += left;
	r->buffers_kept += !left;
	other = f->buffers_task == f->t && f->buffers_unchanged != which;
	f->buffers_task = f->t;
	f->buffers_unchanged = which;
	return other && rule_on(f->o, RULE_state);
}

/* The comparison found a difference: the result gets all that the feedback needs. */
static enum step fail_comparison(struct funnel *f, const struct trial *tr, const struct comparison *c,
				 struct trial_result *r)
{
	char shape[96];

	f->unexplained = !comparison_is_tf32(&task_expectation(f->t, tr)->expected, c);
	f->near = fabs(c->got - c->expected) <= near_share * fabs(c->expected);
	trial_shape_text(tr, shape, sizeof shape);
	snprintf(r->explain, sizeof r->explain, "input set '%s' (%s): %s", trial_name(tr->kind), shape, c->text);
	r->compared = 1;
	r->n_elements = c->n_shown;
	memcpy(r->elements, c->shown, (size_t)c->n_shown * sizeof *c->shown);
	memcpy(r->pattern, c->pattern, sizeof r->pattern);
	trial_result_failf(r, f, tr->stage, c->reason, "%s", c->text);
	if (c->reason == REASON_precision && f->has_dot)
		diag_hint(&r->diag, "tl.dot multiplies fp32 in tf32 by default: say input_precision=\"ieee\"");
	return STEP_FAILED;
}

/* The order matters: the watcher sees every result, KernelBench's rule is asked before ours, and
 * buffers are noted even if the comparison fails. */
enum step attempt_judge(struct funnel *f, const struct trial *tr, const struct results *got, struct trial_result *r)
{
	const struct expectation *x = task_expectation(f->t, tr);
	struct comparison c;
	int inconstant;

	if (judge_seen(f->j, f->t, tr, got, f->e))
		return r->step = STEP_BROKE;
	/* An autotuned kernel has several configurations. The first one decides KernelBench's
	 * rule. */
	if (x->torch.n && (tr->stage == STAGE_full || f->orders.v[0].note_tests))
		r->kernelbench = results_allclose(leaves_products(f) ? &x->expected : &x->torch, got);
	inconstant = note_buffers(f, &x->expected, got, r);
	compare(f, tr, got, &c);
	if (c.reason == REASON_wrong_dtype && stayed_wide(f, tr, got)) {
		trial_result_skip(r, f, tr, "the result stays in fp32");
		return STEP_PASSED;
	}
	trial_result_input(r, f, tr, &c);
	if (c.reason != REASON_ok)
		return fail_comparison(f, tr, &c, r);
	if (inconstant)
		return trial_result_failf(r, f, tr->stage, REASON_wrong_value, RESULT_STATE
					  ": this call leaves buffers unchanged that another call changed");
	return STEP_PASSED;
}
