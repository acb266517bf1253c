/* The result of one trial, and how it gets into the verdict: see funnel.h.
 *
 * This file is the only one that writes the failure of a candidate into the verdict. */
#include "verify/funnel/funnel.h"

#include <stdio.h>

/* Appends the chosen configuration of an autotuned kernel: the failure may be one of that
 * configuration. */
static void name_config(const struct funnel *f, struct diag *d)
{
	size_t n = strlen(d->text);

	if (f->report.chosen[0])
		snprintf(d->text + n, sizeof d->text - n, " (autotuned: %s)", f->report.chosen);
}

/* A later failure of the same trial replaces an earlier one. */
enum step trial_result_fail(struct trial_result *r, const struct funnel *f, enum judge_stage s, const struct diag *d)
{
	r->step = STEP_FAILED;
	r->stage = s;
	r->diag = *d;
	name_config(f, &r->diag);
	return STEP_FAILED;
}

static void set_diag(struct diag *d, enum reason why, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void set_diag(struct diag *d, enum reason why, const char *fmt, va_list ap)
{
	char text[500];

	*d = (struct diag){ .reason = REASON_ok };
	vsnprintf(text, sizeof text, fmt, ap);
	diag_set(d, why, 0, 0, "%s", text);
}

enum step trial_result_failf(struct trial_result *r, const struct funnel *f, enum judge_stage s, enum reason why,
			     const char *fmt, ...)
{
	struct diag d;
	va_list ap;

	va_start(ap, fmt);
	set_diag(&d, why, fmt, ap);
	va_end(ap);
	return trial_result_fail(r, f, s, &d);
}

/* Every run on an input set gets a row, whether it passes or not. */
void trial_result_input(struct trial_result *r, const struct funnel *f, const struct trial *tr,
			const struct comparison *c)
{
	double rel = task_expectation(f->t, tr)->expected.r[0].rel;
	struct verdict_input *in = &r->input;

	r->has_input = 1;
	*in = (struct verdict_input){ .passed = c->reason == REASON_ok, .max_error = c->max_error };
	snprintf(in->kind, sizeof in->kind, "%s", trial_name(tr->kind));
	trial_shape_text(tr, in->shape, sizeof in->shape);
	/* Equal results have no worst element: the tolerance of the first result is reported
	 * instead. */
	in->tolerance = c->reason == REASON_ok && c->allowed == 0.0 ? rel : c->allowed;
}

/* A skipped input set counts as passed. */
void trial_result_skip(struct trial_result *r, const struct funnel *f, const struct trial *tr, const char *why)
{
	struct comparison c = { .reason = REASON_ok };

	trial_result_input(r, f, tr, &c);
	snprintf(r->input.skipped, sizeof r->input.skipped, "%s", why);
}

/* The list has VERDICT_INPUTS rows; further ones are left out. */
void funnel_commit_input(struct funnel *f, const struct trial_result *r)
{
	if (r->has_input && f->v->n_inputs < VERDICT_INPUTS)
		f->v->inputs[f->v->n_inputs++] = r->input;
}

/* A failure without a comparison does not change the elements and the pattern of the verdict. */
static void commit_failure(struct verdict *v, const struct trial_result *r)
{
	v->stage = r->stage;
	v->diag = r->diag;
	v->stages[r->stage].ran = 1;
	v->stages[r->stage].passed = 0;
	if (r->explain[0])
		memcpy(v->explain, r->explain, sizeof v->explain);
	if (!r->compared)
		return;
	v->n_elements = r->n_elements;
	memcpy(v->elements, r->elements, (size_t)r->n_elements * sizeof *r->elements);
	memcpy(v->pattern, r->pattern, sizeof v->pattern);
}

/* The facts about weights, launches and buffers count for a failed trial too. */
enum step funnel_commit(struct funnel *f, const struct trial_result *r)
{
	struct verdict *v = f->v;

	if (r->step == STEP_BROKE)
		return STEP_BROKE;
	if (r->weights[0])
		memcpy(v->weights, r->weights, sizeof v->weights);
	if (r->compiled)
		v->stages[STAGE_compile].passed = 1;
	if (r->kernelbench >= 0)
		v->kernelbench = r->kernelbench;
	v->buffers_kept += r->buffers_kept;
	v->buffers_left += r->buffers_left;
	funnel_commit_input(f, r);
	if (r->step == STEP_FAILED)
		commit_failure(v, r);
	return r->step;
}

enum step funnel_fail(struct funnel *f, enum judge_stage s, const struct diag *d)
{
	struct trial_result r = TRIAL_RESULT_INIT;

	trial_result_fail(&r, f, s, d);
	return funnel_commit(f, &r);
}

enum step funnel_failf(struct funnel *f, enum judge_stage s, enum reason why, const char *fmt, ...)
{
	struct diag d;
	va_list ap;

	va_start(ap, fmt);
	set_diag(&d, why, fmt, ap);
	va_end(ap);
	return funnel_fail(f, s, &d);
}

/* The candidate was correct at the test sizes, so stage timing has run already. */
void funnel_revoke(struct funnel *f)
{
	f->v->correct = 0;
	f->v->speedup = 0.0;
	f->v->stages[STAGE_timing] = (struct verdict_stage){ .ran = 0 };
}
