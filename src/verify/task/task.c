/* A task made ready: parsed, run in three ways for every trial, checked by controls. */
#include "verify/task/task.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "host/shrink.h"
#include "num/num.h"
#include "interp/bind.h"
#include "verify/candidate/input_change.h"
#include "verify/task/sized_tasks.h"
#include "verify/candidate/estimate.h"
#include "verify/candidate/intermediate.h"
#include "verify/task/prepared.h"
#include "verify/rules/call_graph.h"

/* Bytes of a model that is judged at smaller sizes of its own, where all of them may be others. */
enum { LARGE_MODEL = 48 << 20 };

static int note_problem(struct task *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

static int note_problem(struct task *t, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_set(&t->problem, REASON_bad_task, 0, 0, "%s", text);
	return 1;
}

static void add_sizes(struct task *t, const struct shrink_const *c, size_t n, int of_model)
{
	for (size_t i = 0; i < MIN(n, (size_t)TRIAL_SIZES) && t->n_all < TASK_SIZES; i++)
		t->size[t->n_all++] = (struct task_size){ .name = c[i].name, .own = c[i].value, .of_model = of_model };
}

/* Sizes of the inputs, then of the model. */
static void find_sizes(struct task *t)
{
	struct shrink_const c[TRIAL_SIZES];

	add_sizes(t, c, shrink_find(&t->module, c, TRIAL_SIZES), 0);
	add_sizes(t, c, shrink_find_model(&t->module, c, TRIAL_SIZES), 1);
}

/* Sizes that the task writes as numbers get names. 0, -1. */
static int name_literals(struct task *t, struct err *e)
{
	struct buf named = BUF_INIT;
	int rc = shrink_name_literals(&t->module, &named) ? buf_check(&named, e) : 1;
	char *text = rc ? NULL : mem_strndup(named.p, named.n);

	buf_release(&named);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (!text)
		return err_nomem(e);
	py_release(&t->module);
	mem_free(t->source);
	t->source = text;
	return py_parse(&t->module, str_of(t->source), t->name, 64u << 20, e);
}

static int parse_task(struct task *t, struct err *e)
{
	struct err pe = ERR_INIT;

	if (py_parse(&t->module, str_of(t->source), t->name, 64u << 20, &pe)) {
		if (pe.code == ERR_NOMEM)
			return err_set(e, pe.code, "%s", pe.text);
		note_problem(t, "it is no Python: line %d: %.300s", pe.line, pe.text);
		return 0;
	}
	if (name_literals(t, e))
		return -1;
	t->parsed = 1;
	if (!call_graph_class(&t->module, "Model"))
		note_problem(t, "the task defines no class Model");
	find_sizes(t);
	t->reference = (struct program){ .task = &t->module, .source = &t->module, .class_name = "Model" };
	return 0;
}

/* --- running the reference ------------------------------------------------------------------- */

/* The reference keeps its parameters: only buffers need to be put back between runs. */
static int put_weights(struct world *w, const struct trial *tr, struct err *e)
{
	char how[16];
	int rc = w->set == tr->set ? weights_restore(tr->weights, tr->state, w->h, w->model, e) :
		 weights_put(tr->weights, tr->state, w->h, w->model, how, e);

	w->set = tr->set;
	return rc ? rc : world_round_state(w);
}

static struct world *world_of(struct task *t, enum run_mode mode)
{
	return mode == RUN_ORACLE ? &t->oracle : &t->own;
}

int task_prepare_reference(struct task *t, const struct trial *tr, enum run_mode mode, struct err *e)
{
	struct world *w = world_of(t, mode);
	int rc = world_renew(w, tr, mode, e);

	return rc ? rc : put_weights(w, tr, e);
}

/* What forward leaves in the buffers it changes is part of its result. */
static int add_state(struct world *w, const struct trial *tr, struct results *out, struct err *e)
{
	struct census_may of = { .n = 0 };
	struct tensor flat, unit;
	int rc = weights_kept(tr->weights, w->h, w->model, &(struct weights_left){ .may = 0 }, &flat, &of, e);

	if (!rc && !(rc = weights_units(tr->weights, &flat, &unit, e))) {
		rc = results_add_state(out, &flat, &unit, e);
		tensor_release(&unit);
	}
	if (!rc)
		tensor_release(&flat);
	vec_free(&of);
	return rc;
}

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

int task_call_reference(struct task *t, const struct trial *tr, struct results *out, struct err *e)
{
	return call_in(&t->own, tr, out, e);
}

int task_run_reference(struct task *t, const struct trial *tr, enum run_mode mode, struct results *out, struct err *e)
{
	int rc = task_prepare_reference(t, tr, mode, e);

	*out = (struct results){ .n = 0 };
	return rc ? rc : call_in(world_of(t, mode), tr, out, e);
}

/* --- inputs ---------------------------------------------------------------------------------- */

/* The shape of the first input; ends the walk. */
static int note_shape(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct trial *tr = ctx;

	(void)name;
	tr->ndim = obj->t.ndim;
	memcpy(tr->shape, obj->t.shape, sizeof tr->shape);
	return 1;
}

/* Inputs of one seed, drawn by the task's own code and put where candidates cannot reach them. */
static int store_inputs(struct task *t, struct trial *tr, uint64_t seed, struct val *out, struct err *e)
{
	struct val drawn;
	int rc = world_draw(&t->own, tr, seed, &drawn, e);

	if (rc)
		return rc;
	rc = host_import(t->vault, drawn, out, e);
	host_tensors(t->own.h, drawn, note_shape, tr);
	world_drop(&t->own, drawn);
	if (rc > 0)
		*out = (struct val){ .kind = V_UNSET };
	return rc < 0 ? -1 : 0;
}

int task_store_inputs(struct task *t, struct trial *tr, struct err *e)
{
	int rc;

	tr->weights = &t->set[tr->set];
	rc = world_renew(&t->own, tr, RUN_OWN, e);
	if (!rc)
		rc = store_inputs(t, tr, tr->seed, &tr->inputs, e);
	if (!rc && tr->repeat)
		rc = store_inputs(t, tr, tr->seed + 1, &tr->others, e);
	return rc;
}

/* --- what is learned from the first run ---------------------------------------------------- */

static void note_ops(struct task *t, struct host *h)
{
	struct host_ops ops = host_ops(h);

	t->work = host_work(ops);
	for (size_t i = 0; i < ops.n; i++)
		if (ops.v[i].sum)
			t->products |= strstr(ops.v[i].name, "conv") ? NUM_TF32_CONV : NUM_TF32_MATMUL;
}

static int draws_random(struct host *h)
{
	struct host_ops ops = host_ops(h);

	for (size_t i = 0; i < ops.n; i++)
		if (ops.v[i].flags & BIND_RANDOM)
			return 1;
	return 0;
}

static int same_values(const struct tensor *a, const struct tensor *b)
{
	return tensor_numel(a) == tensor_numel(b) && !memcmp(tensor_data(a), tensor_data(b),
							     (size_t)tensor_numel(a) * (size_t)dtype_size(a->dt));
}

/* The sets a task cannot do without: as it makes them itself. */
static int is_essential(const struct trial *tr)
{
	return tr->kind == TRIAL_tiny || tr->kind == TRIAL_original;
}

/* A program that keeps state may tell calls apart by it. So every set but those that are as the
 * task makes them begins with another. What is looked at at the task's own sizes is not compared
 * with what forward leaves. */
static void draw_states(struct task *t)
{
	for (int i = 0; i < t->n_trials && t->keeps_state && !t->reduced; i++)
		if (!is_essential(&t->trial[i]) && t->trial[i].dt == DT_F32)
			t->trial[i].state = (t->trial[i].seed + 1) * WEIGHTS_STATES + (uint64_t)i % WEIGHTS_STATES;
}

/* Did the run leave other weights behind than it was given? Which? */
static int note_state(struct task *t, const struct task_weights *given, struct err *e)
{
	struct task_weights now;
	int counts = !host_has_read(t->own.h);        /* who goes by a count has read it */

	/* Weights that are made of a part are too large to be looked at again, and no such task keeps any (choice.c). */
	if (given->spread)
		return 0;
	if (weights_take(&now, t->own.h, t->own.model, e))
		return -1;
	t->keeps_state = now.n != given->n;
	for (size_t i = 0; i < now.n && now.n == given->n; i++) {
		enum weight_kept kept = same_values(&now.v[i].t, &given->v[i].t) ? KEPT_NOT : counts &&
			weights_is_count(&now.v[i]) ? KEPT_COUNT : KEPT_VALUES;

		t->keeps_state |= kept != KEPT_NOT;
		for (int k = 0; k < WEIGHT_SETS; k++)
			t->set[k].v[i].kept = kept;
	}
	weights_release(&now);
	return 0;
}

/* Runs it, and notes how long that would take on a GPU. */
static int time_reference(struct task *t, const struct trial *tr, struct results *out, struct err *e)
{
	const struct judge_options *o = judge_options(t->judge);
	struct estimate estimate;
	int rc;

	estimate_begin(&estimate, tile_gpu_find(str_of(o->gpu)), o->precision == PRECISION_TF32 ?
		       NUM_TF32_MATMUL : 0, 0);
	host_set_called(t->own.h, estimate.gpu ? estimate_call : NULL, &estimate);
	rc = task_run_reference(t, tr, RUN_OWN, out, e);
	host_set_called(t->own.h, NULL, NULL);
	t->seconds = estimate.gpu ? estimate_seconds(&estimate) : 0.0;
	return rc;
}

static struct trial *original_of(struct task *t)
{
	int i = 0;

	while (!t->trial[i].is_original)
		i++;
	return &t->trial[i];
}

/* Runs the reference once at its original trial: does it run, does it draw, what does it do? */
static int survey(struct task *t, struct err *e)
{
	struct trial *tr = original_of(t);
	int rc;

	tr->weights = &t->set[tr->set];
	results_release(&t->surveyed);
	rc = time_reference(t, tr, &t->surveyed, e);
	if (!rc && draws_random(t->own.h) && !t->reference.eval_mode) {
		t->reference.eval_mode = 1;
		buf_adds(&t->notes, "forward draws random numbers: judged in eval mode\n");
		return host_eval_mode(t->own.h, t->own.model, e) ? -1 : survey(t, e);
	}
	if (!rc) {
		note_ops(t, t->own.h);
		rc = note_state(t, tr->weights, e);
		draw_states(t);
	} else if (rc > 0)
		note_problem(t, "the reference fails: line %d: %s", host_diag(t->own.h)->line,
			     host_diag(t->own.h)->text);
	return rc < 0 ? -1 : 0;
}

/* --- expected results -------------------------------------------------------------------------- */

/* Other sums than those of products are formed in blocks, however plain the program. */
enum { SUM_BLOCK = 64 };

/* The longest sum that the reference's last run formed: of products exactly, of others as many
 * terms as the first input has elements for each of the result's first index. */
static int64_t longest_sum(const struct task *t, const struct trial *tr, const struct results *own)
{
	struct host_ops ops = host_ops(t->own.h);
	int64_t most = 1, row = 1;

	for (size_t i = 0; i < ops.n; i++)
		most = MAX(most, ops.v[i].sum);
	for (int i = own->n && own->r[0].n == 1 ? 0 : 1; i < tr->ndim; i++)
		row *= tr->shape[i];
	return MAX(most, row / SUM_BLOCK);
}

/* 0: all finite, 1: infinities, 2: NaN. */
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

/* The oracle's results under the dtypes of the own run. */
static void adopt_types(struct results *oracle, const struct results *own)
{
	for (int i = 0; i < MIN(oracle->n, own->n); i++)
		oracle->r[i].dt = own->r[i].dt;
}

/* The reference in its own dtype, and moved by an ulp, must pass its own test. */
static int check_own(struct task *t, const struct trial *tr, const struct results *own, const struct results *noisy)
{
	const struct { const struct results *r; const char *what; } run[] = {
		{ own, "the reference itself" }, { noisy, "the reference with one ulp of noise" } };

	for (size_t i = 0; i < COUNT_OF(run); i++) {
		struct comparison c;

		if (results_match(&tr->expected, run[i].r))
			continue;
		results_compare(&tr->expected, run[i].r, &c);
		if (c.reason != REASON_ok)
			return note_problem(t, "%s fails on input set '%s': %s", run[i].what,
					    trial_name(tr->kind), c.text);
	}
	return 0;
}

/* The reference's products that are in tf32 in a mode, where any are. */
static unsigned tf32_products(const struct task *t, enum run_mode mode)
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

/* A run with products in tf32, as the precision allows them, as PyTorch forms them or as KernelBench's rule lets
 * them pass. 0, 1, -1. */
static int run_products(struct task *t, const struct trial *tr, enum run_mode mode, struct results *out, struct err *e)
{
	return tr->dt == DT_F32 && tf32_products(t, mode) ? task_run_reference(t, tr, mode, out, e) : 0;
}

/* Where every result is fp64, the reference computes in it, whatever the other tasks do. */
static enum dtype rounded_to(const struct trial *tr, const struct results *own)
{
	for (int i = 0; i < own->n; i++)
		if (own->r[i].dt != DT_F64)
			return tr->dt;
	return own->n ? DT_F64 : tr->dt;
}

/* The runs of the reference for a trial, beside the oracle's. */
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

/* The original was run already: that run is taken, unless what forward leaves in buffers was not
 * known then to belong to it. */
static int run_own(struct task *t, struct trial *tr, struct results *out, struct err *e)
{
	if (!tr->is_original || !t->surveyed.n || t->keeps_state)
		return task_run_reference(t, tr, RUN_OWN, out, e);
	*out = t->surveyed;
	t->surveyed = (struct results){ .n = 0 };
	return 0;
}

/* The oracle's run comes last. */
static int run_all(struct task *t, struct trial *tr, struct reference_runs *r, struct err *e)
{
	int rc = run_own(t, tr, &r->own, e);

	if (!rc)
		rc = task_run_reference(t, tr, RUN_NOISY, &r->noisy, e);
	if (!rc)
		rc = run_products(t, tr, RUN_ALLOWED, &r->allowed, e);
	if (!rc)
		rc = run_products(t, tr, RUN_CLOSE, &r->close, e);
	return rc ? rc : task_run_reference(t, tr, RUN_ORACLE, &tr->expected, e);
}

static double distance_of(const struct results *run, const struct results *expected, enum distance of)
{
	return run->n ? results_distance(run, expected, of) : 0.0;
}

/* What rounding does to the results, or to what is left in buffers. */
static struct rounding rounding_of(const struct task *t, const struct trial *tr, const struct reference_runs *r,
				   enum distance of)
{
	const struct results *x = &tr->expected;

	return (struct rounding){ .dt = rounded_to(tr, &r->own), .plain = MAX(distance_of(&r->own, x, of),
			distance_of(&r->noisy, x, of)),
				  .products = distance_of(&r->allowed, x, of), .close = distance_of(&r->close, x, of),
				  .sum = longest_sum(t, tr, &r->own) };
}

static int is_finite_rounding(const struct rounding *r)
{
	return isfinite(r->plain) && isfinite(r->products) && isfinite(r->close);
}

static int set_expected(struct task *t, struct trial *tr, const struct reference_runs *r, struct err *e)
{
	const struct results *own = &r->own, *noisy = &r->noisy;
	const struct judge_options *o = judge_options(t->judge);
	struct rounding by, state;

	if (results_note_overflow(&tr->expected, own, e) || results_note_overflow(&tr->expected, noisy, e))
		return -1;
	results_note_inexact(&tr->expected, own);
	results_note_inexact(&tr->expected, noisy);
	results_allow_zero(&tr->expected, own);
	results_allow_zero(&tr->expected, noisy);
	by = rounding_of(t, tr, r, DISTANCE_RESULTS);
	state = rounding_of(t, tr, r, DISTANCE_STATE);
	tr->rounding = by.plain;
	results_set_tolerance(&tr->expected, &by, &state);
	adopt_types(&tr->expected, own);
	if (worst_value(&tr->expected) > (is_essential(tr) ? 1 : 0))
		return is_essential(tr) ? note_problem(t, "the reference gives NaN on input set '%s'",
						       trial_name(tr->kind)) : 1;
	if (!is_finite_rounding(&by) || !is_finite_rounding(&state))
		return is_essential(tr) ?
			note_problem(t, "rounding decides whether the reference is finite on input set '%s'",
				     trial_name(tr->kind)) : 1;
	if (!own->n || own->too_many)
		return note_problem(t, "the reference returns %d tensors", own->n);
	return o->ext_off >> EXT_controls & 1 ? 0 : check_own(t, tr, own, noisy);
}

/* What PyTorch gives on a GPU; *own is taken where that is it. */
static int keep_torch(struct task *t, struct trial *tr, struct results *own, struct err *e)
{
	int rc = run_products(t, tr, RUN_TORCH, &tr->torch, e);

	if (!rc && !tr->torch.n) {
		tr->torch = *own;
		*own = (struct results){ .n = 0 };
	}
	return rc;
}

static int expect(struct task *t, struct trial *tr, struct err *e)
{
	struct reference_runs r = { .own = { .n = 0 } };
	int rc = task_store_inputs(t, tr, e);

	if (!rc)
		rc = run_all(t, tr, &r, e);
	if (!rc)
		rc = set_expected(t, tr, &r, e);
	if (!rc && tr->is_original && !t->reduced)
		rc = keep_torch(t, tr, &r.own, e);
	/* The first run that a candidate is asked for at smaller sizes, and all of those at the task's own. */
	if (!rc && (t->reduced || (t->is_fixed && tr->kind == TRIAL_tiny)))
		rc = intermediate_keep(t, tr, e);
	runs_release(&r);
	return rc;
}

/* A reference that cannot go on from a state that was drawn (an index) begins as it is constructed. */
int task_expect(struct task *t, struct trial *tr, struct err *e)
{
	struct diag before = t->problem;
	int rc = expect(t, tr, e);

	if (rc <= 0 || !tr->state)
		return rc;
	buf_addf(&t->notes, "input set '%s': the reference does not go on from other buffers\n", trial_name(tr->kind));
	t->problem = before;
	trial_release(tr);
	tr->state = 0;
	return expect(t, tr, e);
}

struct trial *task_insert_trial(struct task *t, const struct trial *like, enum trial_kind kind, enum ext ext)
{
	int at = t->n_trials;
	struct trial *tr;

	if (t->n_trials == TRIALS_MOST)
		return NULL;
	while (at && t->trial[at - 1].dt != DT_F32)
		at--;
	memmove(&t->trial[at + 1], &t->trial[at], (size_t)(t->n_trials++ - at) * sizeof *tr);
	tr = &t->trial[at];
	*tr = (struct trial){ .kind = kind, .stage = STAGE_full, .ext = (int)ext, .n_ov = like->n_ov,
			      .seed = like->seed, .set = like->set,
			      .state = like->state, .dt = like->dt };
	memcpy(tr->ov, like->ov, sizeof tr->ov);
	return tr;
}

void task_remove_trial(struct task *t, struct trial *tr)
{
	size_t after = (size_t)(&t->trial[t->n_trials--] - (tr + 1));

	trial_release(tr);
	memmove(tr, tr + 1, after * sizeof *tr);
	t->trial[t->n_trials] = (struct trial){ .n_ov = 0 };
}

/* Does what rounding does to the reference there hide what the set is to show? */
static int is_drowned(const struct trial *tr)
{
	static const double most = 1e-3;

	return tr->change == CHANGE_ENDS && tr->rounding > most;
}

/* Makes a trial ready, with a milder change where the one that it has gives nothing to compare with. As task_expect. */
static int expect_milder(struct task *t, struct trial *tr, struct err *e)
{
	int rc = task_expect(t, tr, e);

	while ((rc > 0 || (!rc && is_drowned(tr))) && change_milder(tr->change) != CHANGE_NONE) {
		struct trial milder = { .kind = tr->kind, .stage = tr->stage, .ext = tr->ext,
					.n_ov = tr->n_ov, .seed = tr->seed, .set = tr->set,
					.state = tr->state, .change = change_milder(tr->change), .dt = tr->dt };

		memcpy(milder.ov, tr->ov, sizeof milder.ov);
		trial_release(tr);
		*tr = milder;
		t->problem = (struct diag){ .reason = REASON_ok };           /* of this input set, not of the task */
		rc = task_expect(t, tr, e);
	}
	if (rc > 0 && trial_contract(tr->kind) == CONTRACT_GENERAL)
		t->problem = (struct diag){ .reason = REASON_ok };
	return rc;
}

/* Makes the listed trials from `first` to before `end` ready; those that the reference runs on
 * follow the ones that are ready. */
static int expect_listed(struct task *t, int first, int end, struct err *e)
{
	char shape[96];

	for (int i = first; i < end; i++) {
		struct trial *tr = &t->trial[i];
		int rc = expect_milder(t, tr, e);

		if (rc < 0 || t->problem.reason != REASON_ok)
			return rc < 0 ? -1 : 0;
		if (rc > 0) {
			buf_addf(&t->notes, "input set '%s' left out: the reference does not run on it\n",
				 trial_name(tr->kind));
			trial_release(tr);
			continue;
		}
		trial_shape_text(tr, shape, sizeof shape);
		buf_addf(&t->notes, "input set '%s' %s: relative tolerance %.2g\n", trial_name(tr->kind),
			 shape, tr->expected.r[0].rel);
		if (t->n_trials != i) {
			t->trial[t->n_trials] = *tr;
			*tr = (struct trial){ .n_ov = 0 };
		}
		t->n_trials++;
	}
	return 0;
}

/* The sets of the general contract are not made ready where no candidate is run on them. */
static int is_lean(const struct judge_options *o)
{
	return o->skip_general && o->contract == CONTRACT_TASK;
}

int task_expect_next(struct task *t, struct err *e)
{
	int i = t->due_first++;

	if (i < t->due_end)
		return expect_listed(t, i, i + 1, e);
	t->has_due = 0;
	return t->problem.reason == REASON_ok ? task_find_relations(t, e) : 0;
}

/* Sizes for a candidate are chosen with it, and these are others. */
static int needs_outline(const struct task *t)
{
	const struct judge_options *o = judge_options(t->judge);

	return is_lean(o) && !t->is_whole && !t->is_fixed && !t->at_full_size && !t->large && t->n_all &&
		!(o->ext_off >> EXT_full_size & 1);
}

/* The original is the largest of all: the checks of the task seldom need it where it comes last but for half precision. */
static void put_original_last(struct task *t)
{
	struct trial *at = original_of(t),
		*last = &t->trial[t->n_trials - 1 - (t->trial[t->n_trials - 1].dt != DT_F32)];
	struct trial original = *at;

	if (at == t->trial)
		return;
	memmove(at, at + 1, (size_t)(last - at) * sizeof original);
	*last = original;
}

/* The task's own sets come first in the list. */
static int list_due(struct task *t)
{
	int own = 0;

	while (own < t->n_trials && trial_contract(t->trial[own].kind) == CONTRACT_TASK)
		own++;
	for (int i = own; i < t->n_trials; i++)
		BUG_ON(trial_contract(t->trial[i].kind) == CONTRACT_TASK);
	t->is_outline = needs_outline(t);
	if (t->is_outline)
		put_original_last(t);
	t->has_due = 1;
	t->due_first = t->is_outline ? 1 : own;
	t->due_end = t->n_trials;
	t->n_trials = 0;
	return t->due_first;
}

static int expect_all(struct task *t, struct err *e)
{
	int rc = expect_listed(t, 0, list_due(t), e);

	while (!rc && t->has_due && t->problem.reason == REASON_ok && !is_lean(judge_options(t->judge)))
		rc = task_expect_next(t, e);
	return rc;
}

/* --- life ------------------------------------------------------------------------------------------ */

/* The weights that every run gets: as constructed, and drawn anew. */
static int take_sets(struct task *t, struct err *e)
{
	uint64_t spread = judge_options(t->judge)->seed * 7919u + 3;

	if (weights_take_part(&t->set[WEIGHTS_BUILT], t->part ? t->part : INT64_MAX, t->part ? spread | 1 :
			      0, t->own.h, t->own.model, e) ||
	    weights_copy(&t->set[WEIGHTS_DRAWN], &t->set[WEIGHTS_BUILT], e) ||
	    weights_move(&t->set[WEIGHTS_MOVED], &t->set[WEIGHTS_BUILT], judge_options(t->judge)->seed * 7919u + 2, e))
		return -1;
	return weights_redraw(&t->set[WEIGHTS_DRAWN], judge_options(t->judge)->seed * 7919u + 1, e);
}

/* Everything that is loaded of the task has the chosen sizes. */
static void fix_sizes(struct task *t)
{
	for (size_t i = 0; i < t->n_all; i++)
		t->model_ov[i] = (struct host_override){ .name = t->size[i].name, .value = t->fixed[i] };
	t->reference.ov = t->model_ov;
	t->reference.n_ov = t->n_all;
}

static int build_own(struct task *t, struct err *e)
{
	size_t limit = MIN(judge_options(t->judge)->memory / 4, (size_t)LARGE_MODEL);
	int rc, too_large;

	if (t->is_fixed)
		fix_sizes(t);
	rc = world_open(&t->own, t->judge, &t->reference, 0, NULL, e);
	too_large = rc > 0 ? host_diag(t->own.h)->reason == REASON_out_of_memory : !rc &&
		host_usage(t->own.h).bytes > limit;
	if (!too_large || t->is_fixed)
		return rc;
	if (task_shrink_model(t, e))
		return -1;
	if (!t->check.model_shrunk)
		return rc;
	buf_adds(&t->notes, "the model is too large to be judged as it is: its own sizes are shrunk as well\n");
	world_close(&t->own);
	return world_open(&t->own, t->judge, &t->reference, 0, NULL, e);
}

static int build_reference(struct task *t, struct err *e)
{
	struct host_options o = { .lib = judge_lib(t->judge), .memory = judge_options(t->judge)->memory };
	int rc = build_own(t, e);

	if (rc > 0)
		note_problem(t, "the reference does not run: %.300s", host_diag(t->own.h)->text);
	if (rc)
		return rc < 0 ? -1 : 0;
	t->vault = host_new(&o, e);
	return t->vault ? take_sets(t, e) : -1;
}

static int build_oracle(struct task *t, struct err *e)
{
	int rc = world_open(&t->oracle, t->judge, &t->reference, 1, NULL, e);

	if (rc > 0)
		note_problem(t, "the reference does not run in fp64: %.300s", host_diag(t->oracle.h)->text);
	return rc < 0 ? -1 : 0;
}

/* What only checks of the task needed is not for candidates. */
static void drop_checked(struct task *t)
{
	while (t->n_trials && (t->is_outline ? t->n_trials > 1 :
			       trial_contract(t->trial[t->n_trials - 1].kind) == CONTRACT_GENERAL))
		task_remove_trial(t, &t->trial[t->n_trials - 1]);
}

/* Each step only while the task is still good. */
static int prepare(struct task *t, struct err *e)
{
	static int (*const steps[])(struct task *t, struct err *e) = {
		parse_task, build_reference, task_draw_trials, survey, build_oracle, expect_all };

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		if (steps[i](t, e))
			return -1;
		if (t->problem.reason != REASON_ok)
			return 0;
	}
	/* A few of what a task counts can tell what the task can. */
	if (!t->reduced && !(judge_options(t->judge)->ext_off >> EXT_controls & 1) && task_check_controls(t, e))
		return -1;
	t->drowned = t->problem.reason != REASON_ok && tf32_products(t, RUN_ALLOWED);
	return t->problem.reason == REASON_ok && !t->is_fixed && !t->is_whole ? task_check_mutants(t, e) : 0;
}

/* Of weights that there are but a few of: their shapes at the task's own sizes, by which candidates are given them. */
static int note_own_shapes(struct task *t, struct err *e)
{
	struct program own = t->reference;
	struct host_override ov[TASK_SIZES];
	struct world w;
	int rc;

	for (size_t i = 0; i < t->n_all; i++)
		ov[i] = (struct host_override){ .name = t->size[i].name, .value = t->size[i].own };
	own.ov = ov;
	own.hollow = 1;
	rc = world_open(&w, t->judge, &own, 0, NULL, e);
	for (int i = 0; i < WEIGHT_SETS && !rc; i++)
		rc = weights_note_own(&t->set[i], w.h, w.model);
	world_close(&w);
	return rc > 0 ? note_problem(t, "the model cannot be built at the task's own sizes") - 1 : rc;
}

/* How a task is opened at sizes that were chosen for it. */
struct opening {
	const int64_t *size;
	int large, exact, whole, places, sized_tasks;
	int64_t reduced, part;
};

static struct task *build_task(struct judge *j, struct str source, const char *name, const struct opening *o,
			       struct err *e)
{
	struct task *t = mem_zalloc(sizeof *t);
	const int64_t *size = o->size;
	int rc;

	if (!t || (!size && !(t->sized_tasks = sized_tasks_new())) ||
	    !(t->source = mem_strndup(source.p, source.n)) || !(t->name = mem_strdup(name))) {
		err_nomem(e);
		task_free(t);
		return NULL;
	}
	t->judge = j;
	t->id = judge_next_task(j);
	t->is_fixed = size != NULL;
	t->large = o->large;
	t->exact = o->exact;
	t->is_whole = o->whole;
	t->asks_for_places = o->places;
	t->has_choices = o->sized_tasks;
	t->reduced = o->reduced;
	t->part = o->part;
	if (size)
		memcpy(t->fixed, size, sizeof t->fixed);
	rc = prepare(t, e);
	if (!rc && t->reduced && t->problem.reason == REASON_ok)
		rc = note_own_shapes(t, e);
	if (is_lean(judge_options(j)))
		drop_checked(t);
	world_close(&t->own);
	world_close(&t->oracle);
	results_release(&t->surveyed);
	if (t->has_mutable)
		py_release(&t->mutable);
	if (rc) {
		task_free(t);
		return NULL;
	}
	return t;
}

/* Some networks turn the rounding of their products into anything: a norm over two values that are
 * nearly the same. What such rounding is allowed there tells nothing from anything, so that
 * products have to be as they are in fp32. */
static struct task *make_task(struct judge *j, struct str source, const char *name, const struct opening *o,
			      struct err *e)
{
	struct task *t = build_task(j, source, name, o, e);
	struct opening exact = *o;

	if (!t || !t->drowned)
		return t;
	task_free(t);
	exact.exact = 1;
	t = build_task(j, source, name, &exact, e);
	if (t)
		buf_adds(&t->notes, "products in tf32 leave nothing of the result: they are fp32 here\n");
	return t;
}

/* What is made ready faster than it is read is not kept. */
enum { KEPT_FROM_MS = 10 };

static void keep_task(const struct prepared_store *s, const char *key, const struct task *t)
{
	struct buf bytes = BUF_INIT;
	struct err ignored = ERR_INIT;

	if (t->parsed && !prepared_pack(t, &bytes, &ignored))
		s->put(s->ctx, key, buf_str(&bytes));
	buf_release(&bytes);
}

/* Taken from where tasks are kept, or made ready and kept there. */
static struct task *open_task(struct judge *j, struct str source, const char *name, const struct opening *o,
			      struct err *e)
{
	const struct prepared_store *s = judge_store(j);
	int64_t start = clock_ns();
	char key[PREPARED_KEY], *bytes;
	struct task *t = NULL;
	size_t n;

	if (!s)
		return make_task(j, source, name, o, e);
	prepared_key(judge_options(j), source, o->size, o->large + 2 * is_lean(judge_options(j)) + 4 *
		     o->whole + 8 * (int)o->reduced + (int)o->part, key);
	if (!s->get(s->ctx, key, &bytes, &n))
		t = prepared_open(j, bytes, n, name);
	if (t)
		return t;
	t = make_task(j, source, name, o, e);
	if (t && clock_ns() - start > KEPT_FROM_MS * 1000000)
		keep_task(s, key, t);
	return t;
}

struct task *task_open(struct judge *j, struct str source, const char *name, struct err *e)
{
	return open_task(j, source, name, &(struct opening){ .size = NULL }, e);
}

/* The others have the text as the parser has it, which is what there is of a task that was kept: so
 * they are found again. */
struct task *task_open_whole(const struct task *base, struct err *e)
{
	return open_task(base->judge, base->module.source, base->name, &(struct opening){ .whole = 1 }, e);
}

struct task *task_open_at(const struct task *base, const int64_t *size, int large, struct err *e)
{
	return open_task(base->judge, base->module.source, base->name,
			 &(struct opening){ .size = size, .large = large, .places = base->asks_for_places, .sized_tasks = base->has_choices }, e);
}

struct task *task_open_reduced(const struct task *base, unsigned axes, int64_t reduced, int64_t part, struct err *e)
{
	int64_t size[TASK_SIZES] = { 0 };

	for (size_t i = 0; i < base->n_all; i++)
		size[i] = axes >> i & 1 ? reduced : base->size[i].own;
	return open_task(base->judge, base->module.source, base->name,
			 &(struct opening){ .size = size, .large = 1, .places = base->asks_for_places, .reduced = reduced, .part = part }, e);
}

void task_free(struct task *t)
{
	if (!t)
		return;
	sized_tasks_free(t->sized_tasks);
	for (int i = 0; i < TRIALS_MOST; i++)
		trial_release(&t->trial[i]);
	for (int i = 0; i < WEIGHT_SETS; i++)
		weights_release(&t->set[i]);
	host_free(t->vault);
	if (t->parsed)
		py_release(&t->module);
	buf_release(&t->notes);
	if (t->kept)
		mem_free_aligned(t->kept);
	mem_free(t->source);
	mem_free(t->name);
	mem_free(t);
}

enum size_kind task_size(const struct task *t)
{
	return t->at_full_size && !t->check.model_shrunk ? SIZE_FULL : SIZE_SAMPLED;
}

size_t task_bytes(const struct task *t)
{
	size_t n = sizeof *t + sized_tasks_bytes(t->sized_tasks) + (t->vault ? host_usage(t->vault).bytes : 0);

	for (int i = 0; i < WEIGHT_SETS; i++)
		n += weights_bytes(&t->set[i]);
	for (int i = 0; i < t->n_trials; i++)
		for (int k = 0; k < t->trial[i].expected.n; k++)
			n += (size_t)t->trial[i].expected.r[k].n * sizeof (double);
	return n;
}

const struct diag *task_problem(const struct task *t)
{
	return &t->problem;
}

void task_describe(const struct task *t, struct buf *out)
{
	buf_addstr(out, buf_str(&t->notes));
	if (t->problem.reason != REASON_ok)
		buf_addf(out, "rejected: %s\n", t->problem.text);
}
