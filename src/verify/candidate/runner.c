/* Running a candidate: see runner.h.
 *
 * This file owns the life of one candidate in a runner: its source is checked once, its model is
 * built as seldom as possible, and each order of the shared memory becomes one call of forward
 * with a report. It decides nothing: it holds no expected result and cannot include one.
 *
 * Invariant: a model that failed in the middle of a call is closed, so that the next order begins
 * with a model that no failure has touched. */
#include "verify/candidate/runner.h"

#include <stdio.h>

#include "base/mem.h"
#include "host/census.h"
#include "host/rebound.h"
#include "interp/bind.h"
#include "host/estimate.h"
#include "verify/candidate/compute_guard.h"
#include "verify/candidate/dry_run.h"
#include "verify/candidate/intermediate.h"
#include "verify/candidate/launcher.h"
#include "verify/rules/rules.h"

/* Parameters of more bytes than this are copied into the model only when the set of weights
 * changes. Smaller ones are copied before each run, which also undoes what a run did to them. */
enum { LARGE_WEIGHTS = 32 << 20 };

struct runner {
	struct judge *j;
	const struct judge_options *o;
	const struct task_image *t;   /* borrowed */
	struct shmem *a;              /* orders and reports; borrowed */
	struct program p;             /* the candidate as a program */
	struct py_module module;      /* its source, once p.source is set; owned */
	struct world w;               /* its model; its host is NULL until it was built */
	struct val last;              /* inputs of its last call; V_UNSET: there was none */
	struct launcher launch;
	char weights[16];             /* by which sign they were matched */
	struct run_transposed transposed;
	const struct task_weight *differs;    /* a weight whose partner is a guess and has other values; or NULL */
	int compiled;                 /* a run came to its end: names and calls are valid */
	int failed;                   /* syntax or rules do not hold: nothing runs */
	struct census census;         /* of the model before a call */
	struct step_recorder steps;   /* of a call on a trial */
	struct estimate estimate;     /* of a call, where the order asks for one */
	struct host_path *tests;      /* gets the path of a call on a trial; NULL: it is not asked for */
	struct err e;
};

/* --- before any run ----------------------------------------------------------------------- */

/* Parses the candidate and checks the rules that need only its syntax tree. Returns 0, or 1 and
 * *d. */
static int check_source(struct runner *r, struct str source, struct diag *d)
{
	struct err pe = ERR_INIT;
	struct rules_options ro = { .off = r->o->rules_off, .identity = r->o->identity,
				    .class_name = r->p.class_name };

	if (!str_trim(source).n) {
		diag_set(d, REASON_no_code, 0, 0, "there is no code");
		return 1;
	}
	if ((rule_on(r->o, RULE_compiled) ? py_parse : py_parse_tree)(&r->module, source, "candidate",
								      64u << 20, &pe)) {
		if (pe.code == ERR_NOMEM)
			diag_set(d, REASON_out_of_memory, 0, 0, "parsing took too much memory");
		else
			diag_set(d, REASON_syntax_error, pe.line, pe.column, "%s", pe.text);
		return 1;
	}
	r->p.source = &r->module;
	return rules_check(&r->module, &r->t->module, &ro, d) ? 1 : 0;
}

/* Syntax and rules are checked at once, before any order: most bad candidates end here, and cost
 * no run. */
struct runner *runner_new(struct judge *j, const struct task_image *t, struct shmem *a, struct err *e)
{
	struct runner *r = mem_zalloc(sizeof *r);

	if (!r) {
		err_nomem(e);
		return NULL;
	}
	r->j = j;
	r->o = judge_options(j);
	r->t = t;
	r->a = a;
	r->p = (struct program){ .task = &t->module, .class_name = r->o->identity ? "Model" : "ModelNew",
				 .eval_mode = t->reference.eval_mode,
				 .ov = t->reference.ov, .n_ov = t->reference.n_ov };
	launcher_open(&r->launch, j);
	a->start = (struct start_report){ .failed = 0 };
	r->failed = a->start.failed = check_source(r, shmem_text(a), &a->start.diag);
	return r;
}

/* The launcher's code refers to the module's tree, which is released last. */
void runner_free(struct runner *r)
{
	if (!r)
		return;
	world_close(&r->w);
	launcher_close(&r->launch);
	census_release(&r->census);
	if (r->p.source)
		py_release(&r->module);
	mem_free(r);
}

/* --- what ended a run --------------------------------------------------------------------- */

/* Failures of host code that do not depend on any number: a wrong name, a wrong call. They count
 * as failures to compile, as long as no run has come to its end. An error of Python itself counts as
 * one only until a kernel has compiled, because a kernel that compiled stays compiled. */
static int is_front_end(const struct runner *r, enum reason why)
{
	switch (why) {
	case REASON_forbidden_name: case REASON_unsupported: case REASON_unstable: case REASON_import_error:
	case REASON_torch_compute:
		return !r->compiled;
	case REASON_name_error: case REASON_attribute_error: case REASON_type_error: case REASON_key_error:
		return !r->compiled && !r->launch.compiled;
	default:
		return 0;
	}
}

/* Writes why a run failed, and at which stage, to its report. Returns 1. */
static int failed_at(struct run_report *out, enum judge_stage s, const struct diag *d)
{
	out->stage = (int)s;
	out->diag = *d;
	return 1;
}

/* Reports the failure of a run. A kernel's diagnosis goes before the host's, which only says that
 * a launch failed. */
static int run_failed(struct runner *r, enum judge_stage s, struct run_report *out)
{
	const struct diag *d = r->launch.refused || r->launch.faulted ? &r->launch.diag : host_diag(r->w.h);
	int front = r->launch.refused || (!r->launch.faulted && is_front_end(r, d->reason));

	out->refused = r->launch.refused;
	return failed_at(out, front ? STAGE_compile : s, d);
}

/* --- watching ----------------------------------------------------------------------------- */

/* Copies of the inputs before a call, to find out whether the call changed them. */
struct pristine {
	struct tensor *v;
	size_t n, cap, at;
	int changed;
	struct err *e;
};

/* Collects a copy of each input, in order. */
static int copy_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct pristine *k = ctx;

	(void)name;
	if (vec_grow(k, 1))
		return err_nomem(k->e);
	return tensor_to(&k->v[k->n], &obj->t, obj->t.dt, k->e) ? -1 : (k->n++, 0);
}

/* Compares an input with its copy, bit by bit: NaN is equal to itself here. */
static int compare_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct pristine *k = ctx;
	const struct tensor *was = k->at < k->n ? &k->v[k->at++] : NULL;
	struct tensor now;

	(void)name;
	if (!was || was->dt != obj->t.dt || !tensor_same_shape(was, &obj->t)) {
		k->changed = 1;
		return 0;
	}
	if (tensor_contiguous(&now, &obj->t, k->e))
		return -1;
	if (memcmp(tensor_data(&now), tensor_data(was), (size_t)tensor_numel(&now) * (size_t)dtype_size(now.dt)))
		k->changed = 1;
	tensor_release(&now);
	return 0;
}

static void drop_pristine(struct pristine *k)
{
	for (size_t i = 0; i < k->n; i++)
		tensor_release(&k->v[i]);
	vec_free(k);
}

/* Is the state that outlives a call compared before and after it? A candidate may change only what
 * the reference changes: nothing, or values in its buffers. */
static int is_watched(const struct runner *r)
{
	return !r->o->identity && rule_on(r->o, RULE_state);
}

/* Must a call leave everything as it was? Then guards can stop a change where it happens. */
static int is_stateless(const struct runner *r)
{
	return is_watched(r) && !r->t->keeps_state;
}

/* --- calling ------------------------------------------------------------------------------ */

/* Calls forward with the guards, the estimate and the random numbers that belong to it. Only
 * forward is guarded: the task's own get_inputs may compute anything. */
static int call_forward(struct runner *r, const struct trial *tr, struct val inputs, struct val *result)
{
	int rc;

	r->launch.cost = (struct tile_cost){ .launches = 0 };
	host_launches_clear(r->w.h);
	host_tuned_clear(r->w.h);
	host_ops_clear(r->w.h);
	compute_guard_set(r->w.h, r->o);
	r->launch.may_keep = !is_stateless(r);
	host_guard(r->w.h, is_stateless(r));
	host_reset_random(r->w.h, !rule_on(r->o, RULE_stable) ? 0 : tr->seed);
	estimate_begin(&r->estimate, r->launch.gpu, 0, r->launch.tune);
	host_set_called(r->w.h, r->launch.estimate ? estimate_call : NULL, &r->estimate);
	host_dry_run(r->w.h, r->tests);
	host_set_judged(r->w.h, JUDGED_CALLED);
	rc = host_forward(r->w.h, r->w.model, inputs, result, &r->e);
	host_set_judged(r->w.h, JUDGED_NOT);
	host_dry_run(r->w.h, NULL);
	host_guard(r->w.h, 0);
	compute_guard_clear(r->w.h);
	host_set_called(r->w.h, NULL, NULL);
	return rc;
}

/* Collects the cost of the call that has just ended. */
static void note_outcome(struct runner *r, struct outcome *out)
{
	out->cost = r->launch.cost;
	out->seconds = r->launch.estimate ? estimate_seconds(&r->estimate) : 0.0;
	out->kernels = r->estimate.kernels;
	out->launches = (int)host_launches(r->w.h).n;
	out->host = host_work(host_ops(r->w.h));
	work_kinds_note(&out->kinds, host_ops(r->w.h));
	out->floats_read = host_floats_read(r->w.h);
	out->sources = r->launch.sources;
}

/* After a call: are the inputs, and all that outlives the call, as they were? Storages in `may` are
 * excepted. The reference as its own candidate may change its inputs. Returns 0 on success, 1 if
 * something changed (the report says what), -1 on our own failure. */
static int check_unchanged(struct runner *r, struct pristine *k, const struct census_may *may,
			   struct val inputs, const struct trial *tr,
			   struct run_report *out)
{
	struct diag d = { .reason = REASON_ok };
	int rc = host_tensors(r->w.h, inputs, compare_input, k);

	if (!rc && k->changed && !r->o->identity) {
		diag_set(&d, REASON_input_modified, 0, 0, "forward changed one of its inputs");
		rc = 1;
	}
	if (!rc && is_watched(r))
		rc = census_compare(&r->census, r->w.h, may, &d);
	return rc > 0 ? failed_at(out, tr->stage, &d) : rc;
}

/* May the candidate leave buffers as they were that the reference changes? On the hybrid track,
 * whose rule is KernelBench's, an unchanged buffer is as good as a missing one. The strict track
 * and the general contract ask for all of the work, and keeping buffers up to date is part of it.
 * A count that nothing depends on may be left on both tracks. */
static int may_leave_buffers(const struct runner *r)
{
	return r->o->track == TRACK_HYBRID && r->o->contract == CONTRACT_TASK;
}

/* Writes the results of a call to report i if `give` is set. If the reference changes buffers, the
 * candidate's buffers are reported as one more result. Their storages are added to *may, because
 * the candidate may write to them. */
static int give_result(struct runner *r, int i, struct val result, struct val inputs, const struct trial *tr,
		       int give, struct census_may *may)
{
	const struct weights_left left = { .state = tr->state, .may = may_leave_buffers(r),
					   .may_count = r->o->contract == CONTRACT_TASK };
	struct tensor row;
	int rc;

	if (!r->t->keeps_state)
		return give ? shmem_give(r->a, i, r->w.h, result, inputs, NULL, &r->e) : 0;
	if (weights_kept(tr->weights, r->w.h, r->w.model, &left, &row, may, &r->e))
		return -1;
	rc = give ? shmem_give(r->a, i, r->w.h, result, inputs, weights_are_kept(tr->weights, tr->dt) ?
			       &row : NULL, &r->e) : 0;
	tensor_release(&row);
	return rc;
}

/* Calls forward on inputs that are watched, and reports the results if `give` is set. Rebound
 * buffers (self.mean = ...) are settled before anything is compared. Returns 0 on success, 1 if the
 * call failed, -1 on our own failure. */
static int call_watched(struct runner *r, int i, struct val inputs, const struct trial *tr, int give)
{
	struct run_report *out = &r->a->report[i];
	struct pristine k = { .e = &r->e };
	struct census_may may = { .n = 0 };
	struct rebound buffers = { .n = 0 };
	struct val result;
	int rc = host_tensors(r->w.h, inputs, copy_input, &k) ? -1 : is_watched(r) ?
		census_take(&r->census, r->w.h, &r->e) : 0;

	if (!rc && r->t->keeps_state)
		rc = rebound_note(&buffers, r->w.h, r->w.model, &r->e);
	if (!rc) {
		rc = call_forward(r, tr, inputs, &result);
		if (rc > 0)
			run_failed(r, tr->stage, out);
	}
	if (!rc && rebound_settle(&buffers, r->w.h, &r->e))
		rc = -1;
	rebound_release(&buffers, r->w.h);
	if (!rc) {
		note_outcome(r, &out->out);
		rc = give_result(r, i, result, inputs, tr, give, &may);
		world_drop(&r->w, result);
	}
	if (!rc)
		rc = check_unchanged(r, &k, &may, inputs, tr, out);
	vec_free(&may);
	drop_pristine(&k);
	return rc;
}

/* Closes the candidate's world; the inputs of its last call go with it. */
static void close_world(struct runner *r)
{
	world_close(&r->w);
	r->last = (struct val){ .kind = V_UNSET };
}

/* Keeps the inputs of a call for the next one, and drops those that were kept before. */
static void keep_last(struct runner *r, struct val inputs)
{
	if (r->last.kind != V_UNSET)
		world_drop(&r->w, r->last);
	r->last = inputs;
}

/* Forgets the inputs of the last call. */
static void drop_last(struct runner *r)
{
	keep_last(r, (struct val){ .kind = V_UNSET });
}

/* Calls forward on other contents and drops the result. If the candidate keeps something of this
 * call (for example a result by the address of its input), it must not show in the next call. */
static int call_before(struct runner *r, int i, const struct trial *tr)
{
	struct val inputs;
	int rc = world_inputs(&r->w, tr, 1, &inputs, &r->e);

	if (rc)
		return rc > 0 ? run_failed(r, tr->stage, &r->a->report[i]) : -1;
	keep_last(r, inputs);
	rc = call_watched(r, i, inputs, tr, 0);
	return !rc && r->t->keeps_state ? weights_restore(tr->weights, tr->state, r->w.h, r->w.model, &r->e) : rc;
}

/* Moves the contents of *inputs into the tensors of the call before, so that a candidate that
 * remembers results by address gives an old one. If the call before had tensors of another form, a
 * call on other contents is made first. */
static int take_last(struct runner *r, int i, const struct trial *tr, struct val *inputs)
{
	int rc = r->last.kind != V_UNSET && world_alike(&r->w, r->last, *inputs) ? 0 : call_before(r, i, tr);

	if (!rc)
		rc = world_refill(&r->w, r->last, *inputs, &r->e);
	world_drop(&r->w, *inputs);
	*inputs = r->last;
	r->last = (struct val){ .kind = V_UNSET };
	return rc;
}

/* One call of forward on a trial, with report i. */
static int call(struct runner *r, int i, const struct trial *tr)
{
	struct val inputs;
	int rc;

	if (!tr->repeat)
		drop_last(r);
	rc = world_inputs(&r->w, tr, 0, &inputs, &r->e);
	if (rc)
		return rc > 0 ? run_failed(r, tr->stage, &r->a->report[i]) : -1;
	if (tr->repeat)
		rc = take_last(r, i, tr, &inputs);
	if (!rc)
		rc = call_watched(r, i, inputs, tr, 1);
	keep_last(r, inputs);
	return rc;
}

/* --- one order ---------------------------------------------------------------------------- */

/* Builds the candidate's model if it does not exist yet, and puts the trial's weights into it. A
 * candidate whose weights were not all recognised ("seed") is built again for every trial: the
 * values that its constructor draws are all that is known of it. */
static int prepare_model(struct runner *r, const struct run_order *o, const struct trial *tr)
{
	int built, rc;

	if (r->w.h && (o->fresh || host_is_lost(r->w.h) || !strcmp(r->weights, "seed")))
		close_world(r);
	built = !r->w.h;
	rc = r->w.h ? 0 : world_open(&r->w, r->j, &r->p, 0, &r->launch, &r->e);
	if (!rc && built)
		rc = weights_note_transposed(&r->t->set[WEIGHTS_BUILT], r->w.h, r->w.model, &r->transposed.bits, &r->e);
	r->transposed.known |= !rc;
	if (!rc && built && tr->set == WEIGHTS_BUILT)
		rc = weights_differ(tr->weights, r->w.h, r->w.model, &r->differs, &r->e);
	if (!rc)
		rc = world_renew(&r->w, tr, RUN_OWN, &r->e);
	if (rc)
		return rc;
	if (r->w.set == tr->set && weights_bytes(tr->weights) > LARGE_WEIGHTS)
		return weights_restore(tr->weights, tr->state, r->w.h, r->w.model, &r->e);
	r->w.set = tr->set;
	return weights_put(tr->weights, tr->state, r->w.h, r->w.model, r->weights, &r->e);
}

/* Fails a candidate that has no tensor for a weight of the reference: it can be correct for one
 * draw of the weights only. If the match is a guess, the tensor must hold the reference's values
 * under the same seed. Returns 1 if the candidate fails. */
static int lacks_weights(struct runner *r, const struct trial *tr, struct run_report *out)
{
	int asked = ext_on(r->o, EXT_reweight) && !r->o->identity;
	int seed = asked && !strcmp(r->weights, "seed");
	const struct task_weight *w = !seed ? NULL : weights_missing(tr->weights, r->w.h, r->w.model);
	struct diag d = { .reason = REASON_ok };

	if (w)
		diag_set(&d, REASON_weights_ignored, 0, 0,
			 "no tensor of the model matches the reference's '%s', by name or by shape: "
			 "the model cannot take other weights", w->name);
	else if (asked && r->differs)
		diag_set(&d, REASON_weights_differ, 0, 0,
			 "several parameters could be the reference's '%s', by name and by shape, and the one that "
			 "comes next starts with other values under the same seed", r->differs->name);
	return d.reason == REASON_ok ? 0 : failed_at(out, tr->stage, &d);
}

/* Runs order i: sets up the launcher, prepares the model, calls forward. Returns 0 on success, 1 if
 * the candidate fails (the report says why), -1 on our own failure (r->e). */
static int run_order(struct runner *r, int i)
{
	const struct run_order *o = &r->a->order[i];
	const struct trial *tr = &r->t->trial[o->trial];
	struct run_report *out = &r->a->report[i];
	int rc;

	r->launch.steps = NULL;
	r->launch.compared = NULL;
	r->launch.skip_asserts = o->skip_asserts;
	r->launch.idle = o->idle;
	r->launch.copy = o->copy;
	r->tests = r->launch.tests = o->note_tests ? &out->path : NULL;
	if (o->dry_run)
		return dry_run_program(r->j, r->t, &r->p, &r->launch, r->a, i, &r->e);
	r->launch.run = o->run;
	r->launch.watch = o->watch;
	r->launch.sources = 0;
	r->launch.config = o->config;
	r->launch.tune = o->tune;
	r->launch.estimate = o->estimate && r->launch.gpu ? &r->estimate : NULL;
	r->launch.refused = r->launch.faulted = 0;
	r->launch.compared = o->note_tests ? &out->compared : NULL;
	step_recorder_init(&r->steps, r->a, i);
	r->launch.steps = o->n_steps ? &r->steps : NULL;
	rc = prepare_model(r, o, tr);
	if (rc)
		return rc > 0 ? run_failed(r, tr->stage, out) : -1;
	if (lacks_weights(r, tr, out))
		return 1;
	return call(r, i, tr);
}

/* Reports a failure that is not the candidate's. Memory that ended counts as the candidate's
 * limit, since this process runs nothing else. */
static int broke(struct runner *r, const struct trial *tr, struct run_report *out)
{
	struct diag d = { .reason = REASON_ok };

	if (r->e.code != ERR_NOMEM) {
		out->err = r->e;
		return RUN_BROKE;
	}
	diag_set(&d, REASON_out_of_memory, 0, 0, "%s", reason_text(REASON_out_of_memory));
	failed_at(out, tr->stage, &d);
	return RUN_FAILED;
}

/* Reports what also counts after a failed run: whether a kernel compiled, the choices of autotuned
 * kernels, and how weights were matched. */
static void note_facts(struct runner *r, struct run_report *out)
{
	struct host_tuned tuned = r->w.h ? host_tuned(r->w.h) : (struct host_tuned){ .most = 0 };

	out->compiled = r->launch.compiled;
	out->configs = tuned.most;
	snprintf(out->chosen, sizeof out->chosen, "%.*s", STR_ARG(tuned.chosen));
	snprintf(out->weights, sizeof out->weights, "%s", r->weights);
	out->transposed = r->transposed;
}

/* Serves order i and closes a model that failed. A dry run has a world of its own, so its failure
 * does not affect the candidate's model. */
static int serve_one(struct runner *r, int i)
{
	struct run_report *out = &r->a->report[i];
	int rc;

	*out = (struct run_report){ .state = RUN_SKIPPED };
	r->e = (struct err)ERR_INIT;
	rc = run_order(r, i);
	out->state = rc > 0 ? RUN_FAILED : rc ? broke(r, &r->t->trial[r->a->order[i].trial], out) : RUN_GAVE;
	note_facts(r, out);
	if (r->a->order[i].dry_run)
		return rc;
	r->compiled |= !rc;
	if (rc)
		close_world(r);
	return rc;
}

/* A limit of time or memory that one run reached would be reached by the next one, too. */
static int is_limit(const struct run_report *out)
{
	return out->state == RUN_BROKE || (out->state == RUN_FAILED && !strcmp(reason_class(out->diag.reason),
			"limit"));
}

/* Orders are served one after another. An order with `after` is skipped, and all that follow it, if
 * the one before it failed: checked and permuted runs of a trial belong together. */
void runner_serve(struct runner *r)
{
	int last = 0;

	for (int i = 0; i < r->a->n_orders && !r->failed; i++) {
		if (r->a->order[i].after && last)
			break;
		last = serve_one(r, i);
		if (is_limit(&r->a->report[i]))
			break;
	}
}
