/* One run of a program for a trial: the host, the model, the weights, the inputs. */
#include "base/mem.h"
#include "verify/trial.h"

static void set_options(struct run *r, struct judge *j, const struct trial *t, enum run_mode mode, struct launch_ctx *launch)
{
	const struct judge_options *o = judge_options(j);

	r->opts = (struct host_options){ .lib = judge_lib(j), .fuel = o->fuel, .memory = o->memory };
	r->opts.oracle = mode == RUN_ORACLE;
	r->opts.nominal = t->dt;
	r->opts.noise_seed = mode == RUN_NOISY ? t->seed | 1 : 0;
	if (launch) {
		r->opts.launch = launch_kernel;
		r->opts.launch_ctx = launch;
		r->opts.track_undef = launch->run.mode == TILE_CHECKED;
	}
}

/* --- what a trial does to its inputs -------------------------------------------------------- */

struct change {
	enum trial_change what;
	struct err *e;
	int64_t batch;         /* of the first input; -1: not seen yet */
};

static double changed(enum trial_change what, double x, int64_t i)
{
	switch (what) {
	case CHANGE_SCALE: return 2.0 * x;
	case CHANGE_NEGATE: return -x;
	case CHANGE_SHIFT: return x + 1.0;
	case CHANGE_SPREAD: return i % 7 == 3 ? 96.0 + 4.0 * x : i % 11 == 5 ? x + 8.0 : x;
	default: return x;
	}
}

static void change_values(const struct tensor *t, enum trial_change what)
{
	int64_t n = tensor_numel(t);
	char *p = tensor_data(t);
	size_t size = (size_t)dtype_size(t->dt);

	for (int64_t i = 0; i < n; i++, p += size)
		dtype_store(t->dt, p, changed(what, dtype_load(t->dt, p), i));
}

static int reverse_batch(const struct tensor *t, struct err *e)
{
	struct tensor copy, from, to;
	int rc = tensor_contiguous(&copy, t, e);

	if (rc)
		return -1;
	if (copy.st == t->st) {
		tensor_release(&copy);
		if (tensor_to(&copy, t, t->dt, e))
			return -1;
	}
	for (int64_t i = 0; i < t->shape[0] && !rc; i++) {
		if (tensor_select(&from, &copy, 0, i, e)) {
			rc = -1;
			break;
		}
		rc = tensor_select(&to, t, 0, t->shape[0] - 1 - i, e);
		if (!rc) {
			rc = tensor_copy(&to, &from, e);
			tensor_release(&to);
		}
		tensor_release(&from);
	}
	tensor_release(&copy);
	return rc;
}

static int change_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct change *c = ctx;

	(void)name;
	if (obj->t.ndim == 0 || tensor_numel(&obj->t) == 0)
		return 0;
	if (c->what == CHANGE_REVERSE_BATCH)
		return reverse_batch(&obj->t, c->e);
	if (c->what == CHANGE_FIRST_ROW) {
		struct tensor row;

		if (tensor_slice(&row, &obj->t, 0, 0, 1, 1, c->e))
			return -1;
		tensor_release(&obj->t);
		obj->t = row;
		return 0;
	}
	if (dtype_is_float(obj->t.dt) && tensor_is_contiguous(&obj->t))
		change_values(&obj->t, c->what);
	return 0;
}

/* The oracle keeps fp64, but its inputs must be the values the dtype can hold. */
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

static int change_inputs(struct run *r, const struct trial *t, struct val inputs, struct err *e)
{
	struct change c = { .what = t->change, .e = e, .batch = -1 };

	return t->change == CHANGE_NONE ? 0 : host_tensors(r->h, inputs, change_input, &c);
}

static int draw_inputs(struct run *r, struct val task_ns, const struct trial *t, uint64_t seed, struct val *inputs, struct err *e)
{
	int rc = host_inputs(r->h, task_ns, seed, inputs, e);

	if (!rc)
		rc = host_to_device(r->h, *inputs, HOST_CUDA, e);
	if (rc)
		return rc;
	if (t->dt != DT_F32) {
		enum dtype dt = t->dt;

		rc = r->opts.oracle ? host_tensors(r->h, *inputs, round_input, &dt) : host_to_dtype(r->h, *inputs, dt, e);
		if (rc)
			return rc;
	}
	rc = change_inputs(r, t, *inputs, e);
	if (!rc && r->opts.oracle && t->change != CHANGE_NONE) {
		enum dtype dt = t->dt;

		rc = host_tensors(r->h, *inputs, round_input, &dt);
	}
	return rc;
}

/* --- opening --------------------------------------------------------------------------------- */

static int load_sources(struct run *r, const struct program *p, const struct trial *t, struct val *task_ns, struct val *ns, struct err *e)
{
	int rc = host_load(r->h, p->task, t->ov, t->n_ov, task_ns, e);

	if (rc || p->source == p->task) {
		*ns = *task_ns;
		return rc;
	}
	return host_load(r->h, p->source, NULL, 0, ns, e);
}

static int build(struct run *r, const struct program *p, const struct trial *t, struct val task_ns, struct val ns, struct err *e)
{
	int rc = host_build(r->h, task_ns, ns, p->class_name, WEIGHTS_SEED, &r->model, e);

	if (!rc)
		rc = host_to_device(r->h, r->model, HOST_CUDA, e);
	if (!rc && p->eval_mode)
		rc = host_eval_mode(r->h, r->model, e);
	if (!rc && t->dt != DT_F32 && !r->opts.oracle)
		rc = host_to_dtype(r->h, r->model, t->dt, e);
	return rc;
}

int run_open(struct run *r, struct judge *j, const struct program *p, const struct trial *t, enum run_mode mode,
	     struct launch_ctx *launch, struct err *e)
{
	struct val task_ns, ns;
	int rc;

	*r = (struct run){ .h = NULL };
	set_options(r, j, t, mode, launch);
	r->h = host_new(&r->opts, e);
	if (!r->h)
		return -1;
	rc = load_sources(r, p, t, &task_ns, &ns, e);
	if (!rc)
		rc = build(r, p, t, task_ns, ns, e);
	if (!rc)
		rc = draw_inputs(r, task_ns, t, t->seed, &r->inputs, e);
	return rc;
}

void run_close(struct run *r)
{
	host_free(r->h);
	r->h = NULL;
}

/* --- other contents in the same tensors --------------------------------------------------------- */

struct refill {
	struct tensor from[RESULTS_MOST];
	int n, at;
	struct err *e;
};

static int collect_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct refill *f = ctx;

	(void)name;
	if (f->n < RESULTS_MOST)
		f->from[f->n++] = obj->t;
	return 0;
}

static int refill_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct refill *f = ctx;

	(void)name;
	return f->at < f->n ? tensor_copy(&obj->t, &f->from[f->at++], f->e) : 0;
}

int run_refill(struct run *r, const struct program *p, const struct trial *t, uint64_t seed, struct err *e)
{
	struct refill f = { .e = e };
	struct val ns, fresh;
	int rc = host_load(r->h, p->task, t->ov, t->n_ov, &ns, e);

	if (!rc)
		rc = draw_inputs(r, ns, t, seed, &fresh, e);
	if (!rc)
		rc = host_tensors(r->h, fresh, collect_input, &f) || host_tensors(r->h, r->inputs, refill_input, &f) ? -1 : 0;
	return rc;
}

void trial_release(struct trial *t)
{
	results_release(&t->expected);
	weights_release(&t->weights);
}
