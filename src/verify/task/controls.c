/* Controls: results that a task must reject before it judges candidates. The reference passes
 * (expect.c ensures that); zeros, ones, a constant and shifted values must not. A task that accepts
 * one of them is rejected with the reason, since it would pass programs that compute nothing. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/task/task_build.h"

/* A result of the same form, filled with other values. Returns 0 on success, -1 on failure (*e). */
static int fake(struct results *out, const struct results *like, void (*fill)(struct result *r,
		const double *v), struct err *e)
{
	if (results_alike(out, like, e))
		return -1;
	for (int i = 0; i < like->n; i++)
		if (out->r[i].n)
			fill(&out->r[i], like->r[i].v);
	return 0;
}

/* One value everywhere. */
static void fill_with(struct result *r, double x)
{
	for (int64_t k = 0; k < r->n; k++)
		r->v[k] = x;
}

/* The controls: each fills a result from the expected values v. */
static void zeros(struct result *r, const double *v) { (void)v; fill_with(r, 0.0); }
static void ones(struct result *r, const double *v) { (void)v; fill_with(r, 1.0); }
static void first(struct result *r, const double *v) { fill_with(r, v[0]); }

/* A constant: the mean of the expected values. */
static void mean(struct result *r, const double *v)
{
	double sum = 0.0;

	for (int64_t k = 0; k < r->n; k++)
		sum += v[k];
	fill_with(r, sum / (double)r->n);
}

/* The correct numbers at the wrong positions. */
static void shifted(struct result *r, const double *v)
{
	for (int64_t k = 0; k < r->n; k++)
		r->v[k] = v[(k + 1) % r->n];
}

/* The controls. The last three need more than one element. */
static const struct {
	const char *name;
	void (*fill)(struct result *r, const double *v);
} controls[] = {
	{ "all zeros", zeros }, { "all ones", ones }, { "its first value everywhere", first },
	{ "its mean everywhere", mean }, { "its values moved by one", shifted },
};

/* Is there more than one element? For a single number the last three controls equal the
 * reference. */
static int total(const struct results *r)
{
	int64_t n = 0;

	for (int i = 0; i < r->n; i++)
		n += r->r[i].n;
	return n > 1;
}

/* Does a control pass on every trial? Then nothing distinguishes it from the reference. Due trials
 * are prepared only as long as no trial has rejected the control. */
static int control_passes(struct task_build *b, size_t which, int *passes, struct err *e)
{
	struct task *t = b->t;
	*passes = 1;
	for (int i = 0; *passes; i++) {
		struct results r;

		while (i == t->image.n_trials && b->has_due && t->problem.reason == REASON_ok)
			if (task_expect_next(b, e))
				return -1;
		if (i == t->image.n_trials || t->problem.reason != REASON_ok)
			return 0;
		if (which >= 2 && !total(&t->expect[i].expected))
			continue;
		if (fake(&r, &t->expect[i].expected, controls[which].fill, e))
			return -1;
		*passes = results_match(&t->expect[i].expected, &r);
		results_release(&r);
	}
	return 0;
}

/* Are all results zero? */
static int is_zero(const struct results *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->r[i].rms != 0.0)
			return 0;
	return 1;
}

/* Are the results with the task's own weights not zero, but no larger than rounding (the mean of a
 * norm's result)? Then any program is as good as any other there. The error of products in tf32
 * does not count: a program without tf32 can still be distinguished. */
static int is_noise(const struct task *t)
{
	int noise = 0;

	for (int i = 0; i < t->image.n_trials; i++) {
		const struct trial *tr = &t->image.trial[i];
		const struct expectation *x = &t->expect[i];

		if (tr->set != WEIGHTS_BUILT || trial_contract(tr->kind) != CONTRACT_TASK || is_zero(&x->expected))
			continue;
		if (x->rounding < 1.0)
			return 0;
		noise = 1;
	}
	return noise;
}

/* Does any trial have more than a single number to compare? A loss is a single number: its mean and
 * its first value are the correct answer. */
static int any_values(const struct task *t)
{
	for (int i = 0; i < t->image.n_trials; i++)
		if (total(&t->expect[i].expected))
			return 1;
	return 0;
}

/* Rejects the task. If the reference itself is the candidate (option identity), the only question
 * is whether it passes its own test. Then the reason is noted and the task stays in use. */
static void note_unfit(struct task *t, const char *what, const char *when)
{
	if (judge_options(t->judge)->identity)
		snprintf(t->check.unfit, sizeof t->check.unfit,
			 "a result of %s cannot be told from the reference's%s", what, when);
	else
		diag_set(&t->problem, REASON_bad_task, 0, 0,
			 "a result of %s cannot be told from the reference's%s", what, when);
}

/* The first control that passes on all trials rejects the task. */
int task_check_controls(struct task_build *b, struct err *e)
{
	struct task *t = b->t;

	for (size_t i = 0; i < COUNT_OF(controls) && t->problem.reason == REASON_ok; i++) {
		int passes;

		if (i >= 2 && !any_values(t))
			break;
		if (control_passes(b, i, &passes, e))
			return -1;
		if (passes && t->problem.reason == REASON_ok)
			note_unfit(t, controls[i].name, "");
	}
	if (t->problem.reason == REASON_ok && is_noise(t))
		note_unfit(t, "all zeros", " (rounding, with the task's weights)");
	return 0;
}
