/* The funnel: a candidate through the stages, stopping at the first that it fails. */
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "host/bind.h"
#include "verify/task.h"

/* Tile operations that the kernels of one run may take. */
enum { TINY_FUEL = 4000000, FULL_FUEL = 400000000 };
/* Bytes of parameters above which they are copied when other ones are due, not before each run. */
enum { LARGE_WEIGHTS = 32 << 20 };

struct funnel {
	struct judge *j;
	const struct task *t;
	const struct judge_options *o;
	struct verdict *v;
	struct program p;
	struct world w;                     /* the candidate, once it was built */
	struct py_module module;
	struct launch_ctx launch;
	struct err *e;
};

static int ext_on(const struct funnel *f, enum ext x)
{
	return !(f->o->ext_off >> x & 1);
}

/* The candidate stops here. */
static int fail_at(struct funnel *f, enum stage s, const struct diag *d)
{
	f->v->stage = s;
	f->v->diag = *d;
	f->v->stages[s].ran = 1;
	f->v->stages[s].passed = 0;
	return 1;
}

static int fail_with(struct funnel *f, enum stage s, enum reason why, const char *fmt, ...) PRINTF_LIKE(4, 5);

static int fail_with(struct funnel *f, enum stage s, enum reason why, const char *fmt, ...)
{
	struct diag d = { .reason = REASON_ok };
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_set(&d, why, 0, 0, "%s", text);
	return fail_at(f, s, &d);
}

/* --- ast ---------------------------------------------------------------------------------- */

static int name_flags(void *ctx, const char *dotted)
{
	return host_lib_flags(ctx, dotted);
}

static int stage_ast(struct funnel *f, struct str source)
{
	struct err pe = ERR_INIT;
	struct diag d = { .reason = REASON_ok };
	struct rules_options ro = { .track = f->o->track, .off = f->o->rules_off, .identity = f->o->identity,
				    .class_name = f->p.class_name, .flags = name_flags, .ctx = judge_lib(f->j) };

	if (!str_trim(source).n)
		return fail_with(f, STAGE_ast, REASON_no_code, "there is no code");
	if (py_parse(&f->module, source, "candidate", 64u << 20, &pe)) {
		if (pe.code == ERR_NOMEM)
			return fail_with(f, STAGE_ast, REASON_out_of_memory, "parsing took too much memory");
		diag_set(&d, REASON_syntax_error, pe.line, pe.column, "%s", pe.text);
		return fail_at(f, STAGE_ast, &d);
	}
	f->p.source = &f->module;
	return rules_check(&f->module, &f->t->module, &ro, &d) ? fail_at(f, STAGE_ast, &d) : 0;
}

/* --- one trial ------------------------------------------------------------------------------ */

/* Failures of the host code that are decided before any number is: the wrong name, the wrong
 * call. They count as not compiling. */
static int is_front_end(enum reason r)
{
	return r == REASON_name_error || r == REASON_forbidden_name || r == REASON_unsupported || r == REASON_import_error ||
	       r == REASON_torch_compute || r == REASON_attribute_error || r == REASON_type_error || r == REASON_key_error;
}

static int run_failed(struct funnel *f, enum stage s)
{
	const struct diag *d = f->launch.refused || f->launch.faulted ? &f->launch.diag : host_diag(f->w.h);
	enum stage at = f->launch.refused || (!f->launch.faulted && s == STAGE_tiny && is_front_end(d->reason)) ? STAGE_compile : s;

	return fail_at(f, at, d);
}

static int refuse_compute(void *ctx, const char *name, int line, struct diag *d)
{
	(void)ctx;
	diag_set(d, REASON_torch_compute, line, 0, "%s computes on the host", name);
	return 1;
}

struct outcome {
	struct results got;
	struct tile_cost cost;
	double host_seconds;
	int launches;
	int covers;               /* the host ran every operator of the reference */
};

/* Does the host do everything the reference does, and launch a kernel on the side? */
static int covers_reference(const struct task *t, struct host *h)
{
	struct host_ops ops = host_ops(h);
	int covered = t->n_ops > 0;

	for (int i = 0; i < t->n_ops && covered; i++) {
		int64_t n = 0;

		for (size_t k = 0; k < ops.n; k++)
			n += strcmp(ops.v[k].name, t->op[i].name) ? 0 : ops.v[k].count;
		covered = n >= t->op[i].count;
	}
	return covered;
}

struct pristine {
	struct tensor copy[RESULTS_MOST];
	int n, at, changed;
	struct err *e;
};

static int copy_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct pristine *k = ctx;

	(void)name;
	if (k->n == RESULTS_MOST)
		return 0;
	if (tensor_to(&k->copy[k->n], &obj->t, obj->t.dt, k->e))
		return -1;
	k->n++;
	return 0;
}

static int compare_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct pristine *k = ctx;
	struct tensor now;

	(void)name;
	if (k->at >= k->n || tensor_contiguous(&now, &obj->t, k->e))
		return 0;
	if (tensor_numel(&now) != tensor_numel(&k->copy[k->at]) ||
	    memcmp(tensor_data(&now), tensor_data(&k->copy[k->at]), (size_t)(tensor_numel(&now) * dtype_size(now.dt))))
		k->changed = 1;
	k->at++;
	tensor_release(&now);
	return 0;
}

static void drop_pristine(struct pristine *k)
{
	for (int i = 0; i < k->n; i++)
		tensor_release(&k->copy[i]);
}

static int is_strict(const struct funnel *f)
{
	return f->o->track == TRACK_STRICT && !f->o->identity && !(f->o->rules_off >> RULE_compute & 1);
}

/* Only forward is watched: the task's own get_inputs may compute what it likes. */
static int call_forward(struct funnel *f, struct val inputs, struct val *result)
{
	int rc;

	f->launch.cost = (struct tile_cost){ .launches = 0 };
	host_launches_clear(f->w.h);
	host_ops_clear(f->w.h);
	host_set_compute(f->w.h, is_strict(f) ? refuse_compute : NULL, f);
	rc = host_forward(f->w.h, f->w.model, inputs, result, f->e);
	host_set_compute(f->w.h, NULL, NULL);
	return rc;
}

/* Calls forward on inputs that are watched: a candidate that writes to them fails. */
static int call_watched(struct funnel *f, struct val inputs, const struct trial *tr, struct outcome *out)
{
	struct pristine k = { .e = f->e };
	struct host *h = f->w.h;
	struct val result;
	int rc = host_tensors(h, inputs, copy_input, &k) ? -1 : call_forward(f, inputs, &result);

	if (rc > 0) {
		run_failed(f, tr->stage);
	} else if (!rc) {
		rc = results_take(&out->got, h, result, f->e);
		world_drop(&f->w, result);
	}
	if (!rc) {
		out->cost = f->launch.cost;
		out->host_seconds = ops_seconds(host_ops(h), f->o->gpu);
		out->launches = (int)host_launches(h).n;
		out->covers = covers_reference(f->t, h);
		host_tensors(h, inputs, compare_input, &k);
		if (k.changed)
			rc = fail_with(f, tr->stage, REASON_input_modified, "forward changed one of its inputs");
		if (rc)
			results_release(&out->got);
	}
	drop_pristine(&k);
	return rc;
}

/* Once on other contents, then the trial's own in the same tensors: what was kept shows. */
static int call_repeated(struct funnel *f, const struct trial *tr, struct outcome *out)
{
	struct outcome first;
	struct val inputs, own;
	int rc = world_inputs(&f->w, tr, 1, &inputs, f->e);

	if (rc)
		return rc > 0 ? run_failed(f, tr->stage) : -1;
	rc = call_watched(f, inputs, tr, &first);
	if (!rc) {
		results_release(&first.got);
		rc = world_inputs(&f->w, tr, 0, &own, f->e);
	}
	if (!rc) {
		rc = world_refill(&f->w, inputs, own, f->e);
		world_drop(&f->w, own);
	}
	if (!rc)
		rc = call_watched(f, inputs, tr, out);
	world_drop(&f->w, inputs);
	return rc;
}

/* The candidate built and given the trial's weights. One that does not take the reference's
 * weights is built again for every trial: what it starts with is all that is known of it. */
static int make_ready(struct funnel *f, const struct trial *tr)
{
	int rc;

	if (f->w.h && !strcmp(f->v->weights, "seed"))
		world_close(&f->w);
	rc = f->w.h ? 0 : world_open(&f->w, f->j, &f->p, 0, &f->launch, f->e);
	if (!rc)
		rc = world_renew(&f->w, tr, RUN_OWN, f->e);
	if (rc)
		return rc;
	if (f->w.set == tr->set && weights_bytes(tr->weights) > LARGE_WEIGHTS)
		return weights_restore(tr->weights, f->w.h, f->w.model, f->e);
	f->w.set = tr->set;
	return weights_put(tr->weights, f->w.h, f->w.model, f->v->weights, f->e);
}

static int run_trial(struct funnel *f, const struct trial *tr, struct outcome *out)
{
	struct val inputs;
	int rc;

	*out = (struct outcome){ .launches = 0 };
	f->launch.refused = f->launch.faulted = 0;
	rc = make_ready(f, tr);
	if (!rc && tr->repeat)
		return call_repeated(f, tr, out);
	if (!rc)
		rc = world_inputs(&f->w, tr, 0, &inputs, f->e);
	if (rc)
		return rc > 0 ? run_failed(f, tr->stage) : -1;
	rc = call_watched(f, inputs, tr, out);
	world_drop(&f->w, inputs);
	return rc;
}

static struct verdict_input *note_input(struct funnel *f, const struct trial *tr, const struct comparison *c)
{
	struct verdict_input *in;

	if (f->v->n_inputs == VERDICT_INPUTS)
		return NULL;
	in = &f->v->inputs[f->v->n_inputs++];
	snprintf(in->kind, sizeof in->kind, "%s", tr->kind);
	snprintf(in->shape, sizeof in->shape, "%s", tr->shape);
	in->passed = c->reason == REASON_ok;
	in->max_error = c->max_error;
	in->tolerance = c->reason == REASON_ok && c->allowed == 0.0 ? tr->expected.r[0].rel : c->allowed;
	return in;
}

/* 0: as expected. 1: not, the verdict says why. -1: we failed. */
static int judge_results(struct funnel *f, const struct trial *tr, const struct results *got)
{
	struct comparison c;

	if (judge_seen(f->j, f->t, tr, got, f->e))
		return -1;
	results_compare(&tr->expected, got, &c);
	note_input(f, tr, &c);
	if (c.reason == REASON_ok)
		return 0;
	snprintf(f->v->explain, sizeof f->v->explain, "input set '%s' (%s): %s", tr->kind, tr->shape, c.text);
	f->v->n_elements = c.n_shown;
	memcpy(f->v->elements, c.shown, (size_t)c.n_shown * sizeof *c.shown);
	fail_with(f, tr->stage, c.reason, "%s", c.text);
	if (c.reason == REASON_precision)
		diag_hint(&f->v->diag, "tl.dot multiplies fp32 in tf32 by default: say input_precision=\"ieee\"");
	return 1;
}

/* --- tiny -------------------------------------------------------------------------------------- */

static int check_launched(struct funnel *f, const struct outcome *o)
{
	if (o->launches || f->o->identity || f->o->rules_off >> RULE_kernel & 1)
		return 0;
	return fail_with(f, STAGE_tiny, REASON_kernel_not_launched, "forward launched no kernel");
}

/* With kernels that do nothing the result must be wrong, or the kernels are a decoy. */
static int check_ablation(struct funnel *f, const struct trial *tr)
{
	struct outcome o;
	struct comparison c;
	int rc;

	if (f->o->identity || !ext_on(f, EXT_ablate_kernels))
		return 0;
	f->launch.idle = 1;
	rc = run_trial(f, tr, &o);
	f->launch.idle = 0;
	if (rc) {
		/* It fails without its kernels: they matter. */
		f->v->diag = (struct diag){ .reason = REASON_ok };
		f->v->stages[STAGE_tiny] = (struct verdict_stage){ .ran = 1 };
		f->v->stages[STAGE_compile].passed = 1;
		return rc < 0 ? -1 : 0;
	}
	results_compare(&tr->expected, &o.got, &c);
	results_release(&o.got);
	return c.reason != REASON_ok ? 0 :
		fail_with(f, STAGE_tiny, REASON_decoy_kernel, "the result is the same when the kernels do nothing");
}

static int stage_tiny(struct funnel *f)
{
	/* What races, or reads what was never written, shows in the first; that nothing but luck
	 * was right in it, in the second. */
	static const struct tile_run_options passes[] = {
		{ .mode = TILE_CHECKED, .poison = 0xff },
		{ .mode = TILE_FAST, .poison = 0x7b, .order_seed = 0x9e37 },
	};
	const struct trial *tr = &f->t->trial[0];
	int rc = 0, covers = 0;

	f->launch.fuel_left = TINY_FUEL;

	for (size_t i = ext_on(f, EXT_sanitize) ? 0 : 1; i < COUNT_OF(passes) && !rc; i++) {
		struct outcome o;

		f->launch.run = passes[i];
		rc = run_trial(f, tr, &o);
		if (rc > 0 && judge_seen(f->j, f->t, tr, NULL, f->e))
			rc = -1;
		if (rc)
			break;
		f->v->stages[STAGE_compile].passed = 1;
		rc = check_launched(f, &o);
		if (!rc)
			rc = judge_results(f, tr, &o.got);
		covers = o.covers;
		results_release(&o.got);
	}
	if (!rc)
		rc = check_ablation(f, tr);
	if (!rc && covers && f->o->track == TRACK_HYBRID && !f->o->identity)
		rc = fail_with(f, STAGE_tiny, REASON_fig_leaf, "the host runs every operator of the reference");
	f->launch.fuel_left = FULL_FUEL;
	f->launch.run = (struct tile_run_options){ .mode = TILE_FAST, .poison = 0xff };
	return rc;
}

/* --- full --------------------------------------------------------------------------------------- */

static int wanted(const struct funnel *f, const struct trial *tr)
{
	if (tr->set == WEIGHTS_DRAWN && (!ext_on(f, EXT_reweight) || !strcmp(f->v->weights, "seed")))
		return 0;
	return !strcmp(tr->kind, "original") || ext_on(f, EXT_multi_input);
}

/* A candidate that refuses another dtype is not wrong: the task asked for fp32. One that
 * accepts it and gets it wrong is. Forgets the refusal. */
static int only_fp32(struct funnel *f)
{
	enum reason r = f->v->diag.reason;

	if (!f->launch.refused && r != REASON_assertion_failed && r != REASON_raised && r != REASON_value_error && r != REASON_type_error)
		return 0;
	f->v->diag = (struct diag){ .reason = REASON_ok };
	f->v->stages[STAGE_compile].passed = 1;
	return 1;
}

static int stage_full(struct funnel *f)
{
	int passed = 0, total = 0, rc = 0;

	for (int i = 1; i < f->t->n_trials && !rc; i++) {
		const struct trial *tr = &f->t->trial[i];
		struct outcome o;

		if (tr->stage != STAGE_full || !wanted(f, tr))
			continue;
		total++;
		rc = run_trial(f, tr, &o);
		if (rc > 0 && tr->dt != DT_F32 && only_fp32(f)) {
			rc = 0;
			continue;
		}
		if (rc > 0 && judge_seen(f->j, f->t, tr, NULL, f->e))
			rc = -1;
		if (rc)
			break;
		if (!strcmp(tr->kind, "original")) {
			f->v->cost = o.cost;
			f->v->seconds = tile_cost_seconds(&o.cost, f->o->gpu) + o.host_seconds;
		}
		rc = judge_results(f, tr, &o.got);
		results_release(&o.got);
		passed += !rc;
	}
	if (rc > 0 && f->v->stage == STAGE_full)
		f->v->stages[STAGE_full].share = total ? (double)passed / (double)(total + 1) : 0.0;
	return rc;
}

/* --- timing --------------------------------------------------------------------------------------- */

static int stage_timing(struct funnel *f)
{
	struct verdict *v = f->v;

	v->reference_seconds = f->t->seconds;
	if (v->seconds <= 0.0 || v->reference_seconds <= 0.0)
		return 0;
	v->speedup = v->reference_seconds / v->seconds;
	snprintf(v->timed, sizeof v->timed, "model");
	return 0;
}

/* --- all of it --------------------------------------------------------------------------------------- */

static int timed_stage(struct funnel *f, enum stage s, int (*run)(struct funnel *f))
{
	int64_t start = clock_ns();
	int rc = run(f);

	f->v->stages[s].ran = 1;
	f->v->stages[s].ms = (double)(clock_ns() - start) / 1e6;
	if (!rc)
		f->v->stages[s].passed = 1;
	return rc;
}

static int run_stages(struct funnel *f, struct str source)
{
	int64_t start = clock_ns();
	int rc = stage_ast(f, source);

	f->v->stages[STAGE_ast] = (struct verdict_stage){ .ran = 1, .passed = !rc, .ms = (double)(clock_ns() - start) / 1e6 };
	if (rc || f->o->last == STAGE_ast)
		return rc;
	f->v->stages[STAGE_compile].ran = 1;
	if ((rc = timed_stage(f, STAGE_tiny, stage_tiny))) {
		if (f->v->stage == STAGE_compile)
			f->v->stages[STAGE_tiny].ran = 0;
		return rc;
	}
	if (f->o->last <= STAGE_tiny || (rc = timed_stage(f, STAGE_full, stage_full)))
		return rc;
	f->v->correct = 1;
	return f->o->last == STAGE_full ? 0 : timed_stage(f, STAGE_timing, stage_timing);
}

int judge_candidate(struct judge *j, const struct task *t, struct str source, struct verdict *v, struct err *e)
{
	struct funnel f = { .j = j, .t = t, .o = judge_options(j), .v = v, .e = e };
	int rc;

	*v = (struct verdict){ .track = f.o->track, .eval_mode = t->reference.eval_mode };
	if (t->problem.reason != REASON_ok)
		return err_set(e, ERR_STATE, "the task cannot be judged: %s", t->problem.text);
	f.p = (struct program){ .task = &t->module, .class_name = f.o->identity ? "Model" : "ModelNew", .eval_mode = t->reference.eval_mode };
	launch_open(&f.launch, j);
	rc = run_stages(&f, source);
	if (!rc)
		v->stage = f.o->last;
	v->reward = reward_of(v, f.o->reward);
	world_close(&f.w);
	launch_close(&f.launch);
	if (f.p.source)
		py_release(&f.module);
	return rc < 0 ? -1 : 0;
}
