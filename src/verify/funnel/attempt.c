/* One attempt of a candidate at a trial, as the side that decides sees it: see funnel.h. */
#include "verify/funnel/funnel.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/task/dump.h"

/* An error that an approximation makes, not another function: this much of the worst value. */
static const double near_share = 0.03;

void attempt_order(struct funnel *f, const struct trial *tr, const struct run_order *how)
{
	struct run_order *o;

	BUG_ON(f->orders.n == SHMEM_ORDERS);
	o = &f->orders.v[f->orders.n++];
	*o = *how;
	o->run.trust_hints = !ext_on(f->o, EXT_sanitize);
	o->trial = (int)(tr - f->t->image.trial);
}

static int runner_lost(struct funnel *f, enum lost how)
{
	f->lost = how;
	return funnel_failf(f, STAGE_tiny, how == LOST_LATE ? REASON_worker_timeout : REASON_worker_crashed, "%s",
			    reason_text(how == LOST_LATE ? REASON_worker_timeout : REASON_worker_crashed));
}

int attempt_ask(struct funnel *f)
{
	enum lost how = LOST_NOT;
	int rc = shmem_set_orders(f->link->shmem, &f->orders, f->t, f->e);

	if (!rc)
		rc = f->link->ask(f->link, &how, f->e);
	return rc > 0 ? runner_lost(f, how) : rc;
}

int attempt_take(struct funnel *f, int i, struct attempt *out)
{
	int rc = shmem_report(f->link->shmem, &f->orders, i, &f->report, &out->got, f->e);

	if (rc)
		return rc > 0 ? runner_lost(f, LOST_CRASHED) : -1;
	if (f->report.weights[0])
		memcpy(f->v->weights, f->report.weights, sizeof f->v->weights);
	if (f->report.transposed.known)
		f->transposed = f->report.transposed;
	if (f->report.matches.n)
		f->matches = f->report.matches;
	if (!rule_on(f->o, RULE_form))
		memcpy(out->got.form, f->t->expect[f->orders.v[i].trial].expected.form, sizeof out->got.form);
	out->cost = f->report.out;
	switch (f->report.state) {
	case RUN_GAVE: return 0;
	case RUN_FAILED: return funnel_fail(f, (enum judge_stage)f->report.stage, &f->report.diag);
	case RUN_BROKE:
		return err_set(f->e, f->report.err.code ? f->report.err.code : ERR_STATE, "%s", f->report.err.text);
	default:
		return funnel_failf(f, f->t->image.trial[f->orders.v[i].trial].stage, REASON_kernel_timeout,
				    "%s", "an earlier run reached a limit");
	}
}

static struct verdict_input *note_input(struct funnel *f, const struct trial *tr, const struct comparison *c)
{
	struct verdict_input *in;

	if (f->v->n_inputs == VERDICT_INPUTS)
		return NULL;
	in = &f->v->inputs[f->v->n_inputs++];
	snprintf(in->kind, sizeof in->kind, "%s", trial_name(tr->kind));
	trial_shape_text(tr, in->shape, sizeof in->shape);
	in->passed = c->reason == REASON_ok;
	in->max_error = c->max_error;
	in->tolerance = c->reason == REASON_ok && c->allowed == 0.0 ? task_expectation(f->t, tr)->expected.r[0].rel :
		c->allowed;
	return in;
}

void attempt_skip(struct funnel *f, const struct trial *tr, const char *why)
{
	struct comparison c = { .reason = REASON_ok };
	struct verdict_input *in = note_input(f, tr, &c);

	if (in)
		snprintf(in->skipped, sizeof in->skipped, "%s", why);
}

/* Right values that stayed in fp32 where the inputs came in half precision: the program is made
 * for fp32, which is what the task asks for. */
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

/* With their rules off, integers may be as far off as floats, and nobody looks at what forward leaves in buffers. */
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

/* Does the program leave the products to torch? On a GPU they are then rounded as the reference's
 * are, and nothing of that shows. */
static int leaves_products(const struct funnel *f)
{
	const struct host_work *ref = &f->t->work, *host = &f->report.out.host;

	return ref->flops > ref->plain && host->flops - host->plain >= ref->flops - ref->plain;
}

/* Where the reference leaves something in buffers: does the candidate? It leaves them as they were
 * in every call or in none: one that does so in some has asked how often it was called. 1: in some. */
static int note_buffers(struct funnel *f, const struct results *expected, const struct results *got)
{
	const struct result *g = expected->n && expected->r[expected->n - 1].state && got->n == expected->n ?
		&got->r[got->n - 1] : NULL;
	uint64_t which = 0;
	int left = 0, other;

	if (!g || !g->v)
		return 0;
	for (int64_t i = 0; i < g->n; i++) {
		left |= isnan(g->v[i]);
		which = (which + (isnan(g->v[i]) ? 2 : 1)) * 0x100000001b3u;
	}
	f->v->buffers_left += left;
	f->v->buffers_kept += !left;
	other = f->left_in == f->t && f->left != which;
	f->left_in = f->t;
	f->left = which;
	return other && rule_on(f->o, RULE_state);
}

int attempt_judge(struct funnel *f, const struct trial *tr, const struct results *got)
{
	const struct expectation *x = task_expectation(f->t, tr);
	struct comparison c;
	char shape[96];
	int some;

	if (judge_seen(f->j, f->t, tr, got, f->e))
		return -1;
	/* Of several configurations the first that is run says it. */
	if (x->torch.n && (tr->stage == STAGE_full || f->orders.v[0].note_tests))
		f->v->kernelbench = results_allclose(leaves_products(f) ? &x->expected : &x->torch, got);
	some = note_buffers(f, &x->expected, got);
	compare(f, tr, got, &c);
	if (c.reason == REASON_wrong_dtype && stayed_wide(f, tr, got)) {
		attempt_skip(f, tr, "the result stays in fp32");
		return 0;
	}
	note_input(f, tr, &c);
	if (c.reason == REASON_ok && some)
		return funnel_failf(f, tr->stage, REASON_wrong_value,
				    RESULT_STATE ": a call leaves some as they were that another one wrote");
	if (c.reason == REASON_ok)
		return 0;
	f->unexplained = !comparison_is_tf32(&x->expected, &c);
	f->near = fabs(c.got - c.expected) <= near_share * fabs(c.expected);
	trial_shape_text(tr, shape, sizeof shape);
	snprintf(f->v->explain, sizeof f->v->explain, "input set '%s' (%s): %s", trial_name(tr->kind), shape, c.text);
	f->v->n_elements = c.n_shown;
	memcpy(f->v->pattern, c.pattern, sizeof f->v->pattern);
	memcpy(f->v->elements, c.shown, (size_t)c.n_shown * sizeof *c.shown);
	funnel_failf(f, tr->stage, c.reason, "%s", c.text);
	if (c.reason == REASON_precision && f->has_dot)
		diag_hint(&f->v->diag, "tl.dot multiplies fp32 in tf32 by default: say input_precision=\"ieee\"");
	return 1;
}
