/* One program in a host of its own: see world.h. The names and texts of trials are here, too.
 *
 * This file owns how inputs come to be: drawn by the task's get_inputs at the trial's sizes, moved
 * to the GPU's side, cast, changed. A candidate gets copies from the vault; the reference draws
 * them. Both ways give the same values, since every draw is a function of seed, sizes and changes.
 *
 * Invariant: a world whose host hit a limit is never used again. world_renew opens a new one, and
 * `rebuilt` tells holders of old values that these are gone. */
#include "verify/candidate/world.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "num/num.h"
#include "verify/candidate/input_change.h"
#include "verify/candidate/intermediate.h"
#include "verify/candidate/launcher.h"

/* --- inputs of a trial -------------------------------------------------------------------- */

/* Adds one tensor to the list. */
static int list_tensor(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct world_tensors *s = ctx;

	(void)name;
	if (s->n < RESULTS_MOST)
		s->v[s->n++] = obj->t;
	return 0;
}

int world_tensors(struct world *w, struct val v, struct world_tensors *out)
{
	*out = (struct world_tensors){ .n = 0 };
	return host_tensors(w->h, v, list_tensor, out);
}

/* A list of tensors on a walk over the tensors of another value, position by position. */
struct beside {
	struct world_tensors list;
	int at;
	struct err *e;
};

/* Adds one to the input at the same position, in the input's dtype, as PyTorch would. */
static int add_more(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct beside *s = ctx;
	const struct tensor *m = s->at < s->list.n ? &s->list.v[s->at++] : NULL;
	size_t size = (size_t)dtype_size(obj->t.dt);

	(void)name;
	if (!m || m->dt != obj->t.dt || !dtype_is_float(m->dt) || !tensor_same_shape(m, &obj->t) ||
	    !tensor_is_contiguous(m) ||
	    !tensor_is_contiguous(&obj->t))
		return 0;
	for (int64_t i = 0, n = tensor_numel(m); i < n; i++) {
		char *p = (char *)tensor_data(&obj->t) + (size_t)i * size;

		dtype_store(m->dt, p, dtype_load(m->dt, p) + dtype_load(m->dt,
									(char *)tensor_data(m) + (size_t)i * size));
	}
	return 0;
}

/* Rounds an fp64 tensor of the oracle to values that the dtype can hold: the oracle computes in
 * fp64, but on the same inputs and weights. */
static int round_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	enum dtype dt = *(enum dtype *)ctx;
	double *v = tensor_data(&obj->t);
	int64_t n = tensor_numel(&obj->t);
	uint64_t cell;

	(void)name;
	for (int64_t i = 0; obj->t.dt == DT_F64 && tensor_is_contiguous(&obj->t) && i < n; i++) {
		dtype_store(dt, &cell, v[i]);
		v[i] = dtype_load(dt, &cell);
	}
	return 0;
}

/* Adds the inputs of the next seed to these, for the relation f(x + y) = f(x) + f(y). */
static int add_inputs(struct world *w, struct val ns, const struct trial *t, uint64_t seed, struct val inputs,
		      struct err *e)
{
	struct beside s = { .at = 0 };
	struct val more;
	int rc = host_inputs(w->h, ns, seed + 1, 0, &more, e);

	if (!rc && t->dt != DT_F32 && !w->opts.oracle)
		rc = host_to_dtype(w->h, more, t->dt, e);
	if (rc)
		return rc;
	rc = world_tensors(w, more, &s.list) || host_tensors(w->h, inputs, add_more, &s) ? -1 : 0;
	val_drop(w->h, more);
	return rc;
}

/* Calls get_inputs, moves the result to the GPU's side and changes it as the trial says. The
 * oracle's inputs are rounded after each step that could leave the dtype. */
static int draw_inputs(struct world *w, struct val ns, const struct trial *t, uint64_t seed,
		       struct val *inputs, struct err *e)
{
	enum dtype dt = t->dt;
	int rc = host_inputs(w->h, ns, seed, change_draws_ends(t->change), inputs, e);

	if (!rc)
		rc = host_to_device(w->h, *inputs, HOST_CUDA, e);
	if (!rc && t->dt != DT_F32)
		rc = w->opts.oracle ? host_tensors(w->h, *inputs, round_input, &dt) : host_to_dtype(w->h,
				*inputs, dt, e);
	if (!rc && t->change == CHANGE_ADD)
		rc = add_inputs(w, ns, t, seed, *inputs, e);
	if (!rc)
		rc = change_inputs(w->h, t, *inputs, e);
	return !rc && w->opts.oracle && t->change != CHANGE_NONE ? host_tensors(w->h, *inputs, round_input, &dt) : rc;
}

/* A trial with sizes of its own loads the task's module again with these constants; the model
 * stays. */
int world_draw(struct world *w, const struct trial *t, uint64_t seed, struct val *inputs, struct err *e)
{
	struct val ns = w->task_ns;
	int rc = t->n_ov ? host_load(w->h, w->p->task, t->ov, t->n_ov, &ns, e) : 0;

	if (rc)
		return rc;
	rc = draw_inputs(w, ns, t, seed, inputs, e);
	if (!rc && w->p->axes)
		rc = input_axes_apply(w->p->axes, w->h, *inputs, e);
	if (t->n_ov)
		val_drop(w->h, ns);
	return rc;
}

/* Inputs of an image are unpacked, inputs of a task are imported from its vault. */
int world_inputs(struct world *w, const struct trial *t, int others, struct val *inputs, struct err *e)
{
	struct val from = others ? t->others : t->inputs;

	if (t->packed[others].n)
		return host_unpack(w->h, t->packed[others], inputs, e);
	return from.kind == V_UNSET ? world_draw(w, t, t->seed + (uint64_t)others, inputs, e) :
		host_import(w->h, from, inputs, e);
}

void world_drop(struct world *w, struct val v)
{
	val_drop(w->h, v);
}

/* --- opening ------------------------------------------------------------------------------ */

/* Builds the model under the seed that every model gets. */
static int build(struct world *w, struct val ns, struct err *e)
{
	int rc = host_build(w->h, w->task_ns, ns, w->p->class_name, WEIGHTS_SEED, &w->model, e);

	if (!rc)
		rc = host_to_device(w->h, w->model, HOST_CUDA, e);
	return !rc && w->p->eval_mode ? host_eval_mode(w->h, w->model, e) : rc;
}

/* The rules that tests may switch off become options of the host. A reference is a user's code, which
 * may be written for the CPU: its tensors may be on two devices. */
int world_open(struct world *w, struct judge *j, const struct program *p, int oracle, struct launcher *launch,
	       struct err *e)
{
	const struct judge_options *o = judge_options(j);
	struct val ns;
	int rc;

	*w = (struct world){ .judge = j, .p = p, .launch = launch, .dt = DT_F32, .set = WEIGHT_SETS };
	w->opts = (struct host_options){ .lib = judge_lib(j), .fuel = o->fuel, .memory = o->memory,
					 .oracle = oracle, .gpu = o->gpu, .hollow = p->hollow };
	w->opts.is_reference = o->identity || p->source == p->task;
	w->opts.may_vary = !rule_on(o, RULE_stable);
	w->opts.catch_sure = !w->opts.may_vary && !w->opts.is_reference;
	w->opts.may_mix = w->opts.is_reference || !rule_on(o, RULE_devices);
	w->opts.may_misuse = !rule_on(o, RULE_misuse);
	if (launch) {
		w->opts.skip_asserts = launch->skip_asserts;
		w->opts.launch = launcher_kernel;
		w->opts.launch_ctx = launch;
		/* Empty tensors in a constructor are parameters that get values later: poison is
		 * enough there. */
		w->opts.poison = launch->run.poison;
	}
	w->h = host_new(&w->opts, e);
	if (!w->h)
		return -1;
	rc = host_load(w->h, p->task, p->ov, p->n_ov, &w->task_ns, e);
	ns = w->task_ns;
	if (p->source != p->task)
		host_set_judged(w->h, JUDGED_BUILT);
	if (!rc && p->source != p->task)
		rc = host_load(w->h, p->source, NULL, 0, &ns, e);
	if (!rc)
		rc = build(w, ns, e);
	host_set_judged(w->h, JUDGED_NOT);
	if (!rc && launch) {
		host_seal(w->h);
		launch->sealed = host_sealed_storage(w->h);
	}
	return rc;
}

/* Values of the host (inputs, the model) go with it. */
void world_close(struct world *w)
{
	host_free(w->h);
	w->h = NULL;
}

/* Opens the world again after a limit ended its host. All values of the old host are gone. */
static int reopen(struct world *w, struct err *e)
{
	struct world old = *w;
	int rc;

	world_close(w);
	rc = world_open(w, old.judge, old.p, old.opts.oracle, old.launch, e);
	w->rebuilt = old.rebuilt + 1;
	return rc;
}

/* The products (enum num_products) that are computed in tf32 in a mode. */
static unsigned products_of(enum run_mode mode, enum precision p)
{
	if (mode == RUN_TORCH || mode == RUN_CLOSE)
		p = mode == RUN_TORCH ? PRECISION_TORCH : PRECISION_TF32;
	else if (mode != RUN_ALLOWED)
		p = PRECISION_IEEE;
	return p == PRECISION_TF32 ? NUM_TF32_CONV | NUM_TF32_MATMUL : p == PRECISION_TORCH ? NUM_TF32_CONV : 0;
}

/* The GPU that torch.cuda names to the program. Under the general contract a program must also be
 * correct on another GPU than the one of the options. */
static const char *gpu_of(const struct trial *t, const char *gpu)
{
	if (trial_contract(t->kind) != CONTRACT_GENERAL)
		return gpu;
	return strcmp(gpu, "L40S") ? "L40S" : "A100";
}

/* Options that a launcher has (checked mode, poison, configurations) go to the host, too, since
 * host code allocates memory and chooses configurations. A change of the dtype forgets the weights
 * that were put. */
int world_renew(struct world *w, const struct trial *t, enum run_mode mode, struct err *e)
{
	int rc = !w->h || host_is_lost(w->h) ? reopen(w, e) : 0;

	if (rc)
		return rc;
	w->opts.nominal = t->dt;
	w->opts.noise_seed = mode == RUN_NOISY ? t->seed | 1 : 0;
	w->opts.tf32 = products_of(mode, judge_options(w->judge)->precision);
	w->opts.gpu = gpu_of(t, judge_options(w->judge)->gpu);
	w->opts.track_undef = w->launch && w->launch->run.mode == TILE_CHECKED;
	w->opts.poison = w->launch ? w->launch->run.poison : 0;
	w->opts.config = w->launch ? w->launch->config : 0;
	w->opts.tune = w->launch ? w->launch->tune : 0;
	w->opts.skip_asserts = w->launch ? w->launch->skip_asserts : 0;
	host_renew(w->h, &w->opts);
	if (w->dt == t->dt)
		return 0;
	w->dt = t->dt;
	w->set = WEIGHT_SETS;
	return w->opts.oracle ? 0 : host_to_dtype(w->h, w->model, t->dt, e);
}

/* Does nothing for worlds that compute in the dtype itself. */
int world_round_state(struct world *w)
{
	return w->opts.oracle && w->dt != DT_F32 ? host_state(w->h, w->model, round_input, &w->dt) : 0;
}

/* --- other contents in the same tensors --------------------------------------------------- */

/* Overwrites one input in place. */
static int refill_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct beside *f = ctx;

	(void)name;
	return f->at < f->list.n ? tensor_copy(&obj->t, &f->list.v[f->at++], f->e) : 0;
}

/* Used before tensors of an earlier call are filled with new contents: the forms must agree. */
int world_alike(struct world *w, struct val a, struct val b)
{
	struct world_tensors x, y;
	int same = !world_tensors(w, a, &x) && !world_tensors(w, b, &y) && x.n == y.n;

	for (int i = 0; i < x.n && same; i++)
		same = x.v[i].dt == y.v[i].dt && tensor_same_shape(&x.v[i], &y.v[i]);
	return same;
}

int world_refill(struct world *w, struct val inputs, struct val with, struct err *e)
{
	struct beside f = { .e = e };

	return world_tensors(w, with, &f.list) || host_tensors(w->h, inputs, refill_input, &f) ? -1 : 0;
}

/* The rows of trial.def. */
static const struct {
	const char *name;
	enum contract contract;
} kinds[] = {
#define TRIAL(id, name, contract, text) { name, CONTRACT_##contract },
#include "verify/candidate/trial.def"
#undef TRIAL
};

const char *trial_name(enum trial_kind k) { return kinds[k].name; }
enum contract trial_contract(enum trial_kind k) { return kinds[k].contract; }

/* Text that does not fit is cut off. */
void trial_shape_text(const struct trial *t, char *out, size_t n)
{
	size_t at = 0;

	out[0] = 0;
	for (int i = 0; i < t->ndim && at < n; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%lld", i ? "x" : "", (long long)t->shape[i]);
}

/* Inputs and weights belong to the task, not to the trial. */
void trial_release(struct trial *t)
{
	intermediates_release(&t->intermediates);
}
