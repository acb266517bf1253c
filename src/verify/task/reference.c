/* Running a task's reference while the task is prepared: see task_build.h.
 *
 * The reference is the only definition of a correct result. It runs in its own dtypes and in fp64,
 * each in a world of its own that is kept from run to run, since building a large model is slow.
 * This file owns these runs, the inputs in the vault, and the survey: one run that tells how the
 * task must be judged. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "interp/bind.h"
#include "num/num.h"
#include "host/estimate.h"
#include "verify/task/task_build.h"

/* Users see the first problem only; a task with a problem judges no candidate. */
int task_note_problem(struct task *t, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_set(&t->problem, REASON_bad_task, 0, 0, "%s", text);
	return 1;
}

/* Puts the trial's weights into the model. The reference never changes its parameters, so that
 * only buffers are put again if the set is the same as before. */
static int put_weights(struct world *w, const struct trial *tr, struct err *e)
{
	char how[16];
	int rc = w->set == tr->set ? weights_restore(tr->weights, tr->state, w->h, w->model, e) :
		 weights_put(tr->weights, tr->state, w->h, w->model, how, e);

	w->set = tr->set;
	return rc ? rc : world_round_state(w);
}

/* The world that a mode runs in. */
static struct world *world_of(struct task_build *b, enum run_mode mode)
{
	return mode == RUN_ORACLE ? &b->oracle : &b->own;
}

/* Buffers are put back before each run, so that runs do not depend on their order. */
int task_prepare_reference(struct task_build *b, const struct trial *tr, enum run_mode mode, struct err *e)
{
	struct world *w = world_of(b, mode);
	int rc = world_renew(w, tr, mode, e);

	return rc ? rc : put_weights(w, tr, e);
}

/* The unit of each element of the buffers' row, by which its error is measured: the root mean
 * square of its own buffer, or RESULT_EXACT for integers. Buffers have nothing in common with each
 * other. */
static int state_units(const struct task_weights *w, const struct tensor *row, struct tensor *unit, struct err *e)
{
	const double *v = tensor_data(row);
	double *u;

	if (tensor_new(unit, DT_F64, 1, row->shape, e))
		return -1;
	u = tensor_data(unit);
	for (size_t i = 0; i < w->n; i++) {
		int64_t n = w->v[i].kept ? tensor_numel(&w->v[i].t) : 0;
		double sum = 0.0;

		for (int64_t k = 0; k < n; k++)
			sum += v[k] * v[k];
		for (int64_t k = 0; k < n; k++)
			*u++ = dtype_is_float(w->v[i].t.dt) ? sqrt(sum / (double)n) : RESULT_EXACT;
		v += n;
	}
	return 0;
}

/* Adds the buffers that forward changes to its results: what it leaves there is part of what it
 * does. */
static int add_state(struct world *w, const struct trial *tr, struct results *out, struct err *e)
{
	struct census_may of = { .n = 0 };
	struct tensor row, unit;
	int rc = weights_kept(tr->weights, w->h, w->model, &(struct weights_left){ .may = 0 }, &row, &of, e);

	if (!rc && !(rc = state_units(tr->weights, &row, &unit, e))) {
		rc = results_add_state(out, &row, &unit, e);
		tensor_release(&unit);
	}
	if (!rc)
		tensor_release(&row);
	vec_free(&of);
	return rc;
}

/* Calls forward on the trial's inputs and takes the results. */
static int call_in(struct world *w, const struct trial *tr, struct results *out, struct err *e)
{
	struct val inputs, result;
	int rc = world_inputs(w, tr, 0, &inputs, e);

	if (rc)
		return rc;
	host_ops_clear(w->h);
	rc = host_forward(w->h, w->model, inputs, &result, e);
	if (!rc) {
		rc = results_take(out, w->h, result, inputs, e);
		if (!rc && weights_are_kept(tr->weights, tr->dt))
			rc = add_state(w, tr, out, e);
		world_drop(w, result);
	}
	world_drop(w, inputs);
	return rc;
}

/* For mutants, which change the model between preparation and call. */
int task_call_reference(struct task_build *b, const struct trial *tr, struct results *out, struct err *e)
{
	return call_in(&b->own, tr, out, e);
}

/* *out is empty if the run fails. */
int task_run_reference(struct task_build *b, const struct trial *tr, enum run_mode mode, struct results *out,
		       struct err *e)
{
	int rc = task_prepare_reference(b, tr, mode, e);

	*out = (struct results){ .n = 0 };
	return rc ? rc : call_in(world_of(b, mode), tr, out, e);
}

/* --- inputs ------------------------------------------------------------------------------- */

/* Notes the shape of the first input, and ends the walk over the inputs. */
static int note_shape(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct trial *tr = ctx;

	(void)name;
	tr->ndim = obj->t.ndim;
	memcpy(tr->shape, obj->t.shape, sizeof tr->shape);
	return 1;
}

/* Draws the inputs of one seed with the task's own code, and copies them to the vault, where
 * candidates cannot reach them. *out is V_UNSET if they cannot leave the host that drew them. */
static int store_inputs(struct task_build *b, struct trial *tr, uint64_t seed, struct val *out, struct err *e)
{
	struct task *t = b->t;
	struct val drawn;
	int rc = world_draw(&b->own, tr, seed, &drawn, e);

	if (rc)
		return rc;
	rc = host_import(t->image.vault, drawn, out, e);
	host_tensors(b->own.h, drawn, note_shape, tr);
	world_drop(&b->own, drawn);
	if (rc > 0)
		*out = (struct val){ .kind = V_UNSET };
	return rc < 0 ? -1 : 0;
}

/* With `repeat` a second set of inputs is drawn, for the call that comes before. */
int task_store_inputs(struct task_build *b, struct trial *tr, struct err *e)
{
	struct task *t = b->t;
	int rc;

	tr->weights = &t->image.set[tr->set];
	rc = world_renew(&b->own, tr, RUN_OWN, e);
	if (!rc)
		rc = store_inputs(b, tr, tr->seed, &tr->inputs, e);
	if (!rc && tr->repeat)
		rc = store_inputs(b, tr, tr->seed + 1, &tr->others, e);
	return rc;
}

/* --- what is learned from the first run --------------------------------------------------- */

/* Notes the work of the reference, and which kinds of products it forms. */
static void note_ops(struct task *t, struct host *h)
{
	struct host_ops ops = host_ops(h);

	t->work = host_work(ops);
	work_kinds_note(&t->kinds, ops);
	for (size_t i = 0; i < ops.n; i++)
		if (ops.v[i].sum)
			t->products |= strstr(ops.v[i].name, "conv") ? NUM_TF32_CONV : NUM_TF32_MATMUL;
}

/* Did the reference draw random numbers in its last run? Then two runs of it differ, and it has no
 * result to compare with. */
static int draws_random(struct host *h)
{
	struct host_ops ops = host_ops(h);

	for (size_t i = 0; i < ops.n; i++)
		if (ops.v[i].flags & BIND_RANDOM)
			return 1;
	return 0;
}

/* Are two tensors of the same dtype equal, bit by bit? */
static int same_values(const struct tensor *a, const struct tensor *b)
{
	return tensor_numel(a) == tensor_numel(b) && !memcmp(tensor_data(a), tensor_data(b),
							     (size_t)tensor_numel(a) * (size_t)dtype_size(a->dt));
}

/* A task must run on the inputs as it draws them itself; on all others it need not. */
int trial_is_essential(const struct trial *tr)
{
	return tr->kind == TRIAL_tiny || tr->kind == TRIAL_original;
}

/* Gives every fp32 trial, except for the essential ones, its own state of the buffers. A program
 * that keeps state may recognise the first call by its buffers, and be correct for that call only.
 * A reduced task is not compared by its buffers. */
static void draw_states(struct task *t)
{
	for (int i = 0; i < t->image.n_trials && t->image.keeps_state && !t->reduced.indices; i++) {
		struct trial *tr = &t->image.trial[i];

		if (!trial_is_essential(tr) && tr->dt == DT_F32)
			tr->state = (tr->seed + 1) * WEIGHTS_STATES + (uint64_t)i % WEIGHTS_STATES;
	}
}

/* Finds out which buffers the run changed, and whether any of them is a count that nothing depends
 * on: a program that depends on a count has read it. */
static int note_state(struct task_build *b, const struct task_weights *given, struct err *e)
{
	struct task *t = b->t;
	struct task_weights now;
	int counts = !host_has_read(b->own.h);

	/* Spread weights are too large to be taken again; a task with state never has them
	 * (test_sizes.c). */
	if (given->spread)
		return 0;
	if (weights_take(&now, b->own.h, b->own.model, e))
		return -1;
	t->image.keeps_state = now.n != given->n;
	for (size_t i = 0; i < now.n && now.n == given->n; i++) {
		enum weight_kept kept = same_values(&now.v[i].t, &given->v[i].t) ? KEPT_NOT : counts &&
			weights_is_count(&now.v[i]) ? KEPT_COUNT : KEPT_VALUES;

		t->image.keeps_state |= kept != KEPT_NOT;
		for (int k = 0; k < WEIGHT_SETS; k++)
			t->image.set[k].v[i].kept = kept;
	}
	weights_release(&now);
	return 0;
}

/* Runs the reference and notes how long the run would take on a GPU. */
static int time_reference(struct task_build *b, const struct trial *tr, struct results *out, struct err *e)
{
	struct task *t = b->t;
	const struct judge_options *o = judge_options(t->judge);
	struct estimate estimate;
	int rc;

	estimate_begin(&estimate, tile_gpu_find(str_of(o->gpu)), o->precision == PRECISION_TF32 ?
		       NUM_TF32_MATMUL : 0, 0);
	host_set_called(b->own.h, estimate.gpu ? estimate_call : NULL, &estimate);
	rc = task_run_reference(b, tr, RUN_OWN, out, e);
	host_set_called(b->own.h, NULL, NULL);
	t->seconds = estimate.gpu ? estimate_seconds(&estimate) : 0.0;
	return rc;
}

/* Every list of trials has one: add_original sees to that. */
struct trial *task_original(struct task *t)
{
	int i = 0;

	while (!t->image.trial[i].is_original)
		i++;
	return &t->image.trial[i];
}

/* A reference that draws random numbers (dropout) is surveyed again in eval mode, in which it must
 * not. */
int task_survey(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	struct trial *tr = task_original(t);
	int rc;

	tr->weights = &t->image.set[tr->set];
	results_release(&b->surveyed);
	rc = time_reference(b, tr, &b->surveyed, e);
	if (!rc && draws_random(b->own.h) && !t->image.reference.eval_mode) {
		t->image.reference.eval_mode = 1;
		buf_adds(&t->notes, "forward draws random numbers: judged in eval mode\n");
		return host_eval_mode(b->own.h, b->own.model, e) ? -1 : task_survey(b, e);
	}
	if (!rc) {
		note_ops(t, b->own.h);
		rc = note_state(b, tr->weights, e);
		draw_states(t);
	} else if (rc > 0)
		task_note_problem(t, "the reference fails: line %d: %s", host_diag(b->own.h)->line,
			     host_diag(b->own.h)->text);
	return rc < 0 ? -1 : 0;
}
