/* The funnel: a candidate through the stages, stopping at the first that it fails. */
#include "verify/funnel.h"

#include <stdio.h>

#include "base/log.h"

/* Tile operations that the kernels of one run may take. */
enum { TINY_FUEL = 4000000, FULL_FUEL = 400000000 };
/* Programs of an autotuned kernel that are run; all are compiled. */
enum { CONFIGS_MOST = 64 };

/* Which configuration it was, where there was a choice. */
static void name_config(const struct funnel *f, struct diag *d)
{
	struct str chosen = f->w.h ? host_tuned(f->w.h).chosen : (struct str){ .n = 0 };
	size_t n = strlen(d->text);

	if (chosen.n)
		snprintf(d->text + n, sizeof d->text - n, " (autotuned: %.*s)", STR_ARG(chosen));
}

int funnel_fail(struct funnel *f, enum judge_stage s, const struct diag *d)
{
	f->v->stage = s;
	f->v->diag = *d;
	name_config(f, &f->v->diag);
	f->v->stages[s].ran = 1;
	f->v->stages[s].passed = 0;
	return 1;
}

int funnel_failf(struct funnel *f, enum judge_stage s, enum reason why, const char *fmt, ...)
{
	struct diag d = { .reason = REASON_ok };
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_set(&d, why, 0, 0, "%s", text);
	return funnel_fail(f, s, &d);
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
		return funnel_failf(f, STAGE_ast, REASON_no_code, "there is no code");
	if (py_parse(&f->module, source, "candidate", 64u << 20, &pe)) {
		if (pe.code == ERR_NOMEM)
			return funnel_failf(f, STAGE_ast, REASON_out_of_memory, "parsing took too much memory");
		diag_set(&d, REASON_syntax_error, pe.line, pe.column, "%s", pe.text);
		return funnel_fail(f, STAGE_ast, &d);
	}
	f->p.source = &f->module;
	return rules_check(&f->module, &f->t->module, &ro, &d) ? funnel_fail(f, STAGE_ast, &d) : 0;
}

/* --- tiny -------------------------------------------------------------------------------------- */

static int check_launched(struct funnel *f, enum judge_stage s, const struct outcome *o)
{
	f->v->stages[STAGE_compile].passed = 1;
	if (o->launches || f->o->identity || f->o->rules_off >> RULE_kernel & 1)
		return 0;
	return funnel_failf(f, s, REASON_kernel_not_launched, "forward launched no kernel");
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
	rc = attempt_run(f, tr, &o);
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
		funnel_failf(f, STAGE_tiny, REASON_decoy_kernel, "the result is the same when the kernels do nothing");
}

/* One run at the smallest size. *covers: the host ran every operator of the reference. */
static int run_tiny(struct funnel *f, const struct tile_run_options *run, int *covers)
{
	const struct trial *tr = &f->t->trial[0];
	struct outcome o;
	int rc;

	f->launch.run = *run;
	rc = attempt_run(f, tr, &o);
	if (rc > 0 && judge_seen(f->j, f->t, tr, NULL, f->e))
		return -1;
	if (rc)
		return rc;
	rc = check_launched(f, STAGE_tiny, &o);
	if (!rc)
		rc = attempt_judge(f, tr, &o.got);
	*covers = o.covers;
	results_release(&o.got);
	return rc;
}

/* What an autotuner may choose must be right, whatever it chooses: every other configuration
 * that is another program. */
static int run_configs(struct funnel *f, const struct tile_run_options *run)
{
	int rc = 0, covers;

	f->v->configs_run = f->v->configs > 0;
	f->launch.tune = 1;
	while (!rc && f->v->configs_run < MIN(f->v->configs, CONFIGS_MOST)) {
		f->launch.config = f->v->configs_run++;
		rc = run_tiny(f, run, &covers);
		f->v->n_inputs -= !rc;          /* the same input set, once more */
	}
	f->launch.config = f->launch.tune = 0;
	return rc;
}

static int stage_tiny(struct funnel *f)
{
	/* What races, or reads what was never written, shows in the first; that nothing but luck
	 * was right in it, in the second. */
	static const struct tile_run_options passes[] = {
		{ .mode = TILE_CHECKED, .poison = 0xff },
		{ .mode = TILE_FAST, .poison = 0x7b, .order_seed = 0x9e37 },
	};
	size_t first = ext_on(f, EXT_sanitize) ? 0 : 1;
	int rc = 0, covers = 0;

	f->launch.fuel_left = TINY_FUEL;
	for (size_t i = first; i < COUNT_OF(passes) && !rc; i++) {
		f->launch.tune = i == first;
		rc = run_tiny(f, &passes[i], &covers);
		if (f->launch.tune && f->w.h)
			f->v->configs = host_tuned(f->w.h).most;
	}
	if (!rc)
		rc = run_configs(f, &passes[first]);
	if (!rc)
		rc = check_ablation(f, &f->t->trial[0]);
	if (!rc && covers && !f->o->identity)
		rc = funnel_failf(f, STAGE_tiny, REASON_fig_leaf, "the host runs every operator of the reference");
	return rc;
}

/* --- full --------------------------------------------------------------------------------------- */

static int wanted(const struct funnel *f, const struct trial *tr)
{
	if (tr->set == WEIGHTS_MOVED && !ext_on(f, EXT_reweight))
		return 0;
	if (tr->set == WEIGHTS_DRAWN && (!ext_on(f, EXT_reweight) || !strcmp(f->v->weights, "seed")))
		return 0;
	return tr->ext == EXTS || ext_on(f, (enum ext)tr->ext);
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

/* The smallest size may be a single program: whether several disturb each other shows here.
 * Whose programs only write gets by on another order of them. */
static void set_run(struct funnel *f, const struct trial *tr, int number)
{
	int original = !strcmp(tr->kind, "original");

	f->launch.watch = ext_on(f, EXT_sanitize) && (original || !strcmp(tr->kind, "shape"));
	f->launch.run.order_seed = original ? 0 : (uint64_t)number;
	f->launch.run.poison = number % 2 ? 0xff : 0x7b;
	/* Each has another configuration, beginning with the first for the original. */
	f->launch.config = (number - 1) % MAX(f->v->configs_run, 1);
}

static int stage_full(struct funnel *f)
{
	int passed = 0, total = 0, rc = 0;

	f->launch.fuel_left = FULL_FUEL;
	f->launch.run = (struct tile_run_options){ .mode = TILE_FAST, .poison = 0xff };
	for (int i = 1; i < f->t->n_trials && !rc; i++) {
		const struct trial *tr = &f->t->trial[i];
		struct outcome o;

		if (tr->stage != STAGE_full || !wanted(f, tr))
			continue;
		total++;
		set_run(f, tr, i);
		rc = attempt_run(f, tr, &o);
		if (rc > 0 && tr->dt != DT_F32 && only_fp32(f)) {
			attempt_skip(f, tr, "the candidate takes fp32 only");
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
		rc = check_launched(f, STAGE_full, &o);
		if (!rc)
			rc = attempt_judge(f, tr, &o.got);
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

static int timed_stage(struct funnel *f, enum judge_stage s, int (*run)(struct funnel *f))
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
	if (ext_on(f, EXT_funnel) || f->o->last <= STAGE_tiny)
		rc = timed_stage(f, STAGE_tiny, stage_tiny);
	if (!rc && f->o->last > STAGE_tiny)
		rc = timed_stage(f, STAGE_full, stage_full);
	if (rc && f->v->stage == STAGE_compile)
		f->v->stages[STAGE_tiny].ran = f->v->stages[STAGE_full].ran = 0;
	if (rc || f->o->last <= STAGE_tiny)
		return rc;
	f->v->correct = 1;
	return f->o->last == STAGE_full ? 0 : timed_stage(f, STAGE_timing, stage_timing);
}

int judge_candidate(struct judge *j, const struct task *t, struct str source, struct verdict *v, struct err *e)
{
	struct funnel f = { .j = j, .t = t, .o = judge_options(j), .v = v, .e = e };
	int rc;

	*v = (struct verdict){ .track = f.o->track, .eval_mode = t->reference.eval_mode, .task = t->check };
	if (t->problem.reason != REASON_ok)
		return err_set(e, ERR_STATE, "the task cannot be judged: %s", t->problem.text);
	f.p = (struct program){ .task = &t->module, .class_name = f.o->identity ? "Model" : "ModelNew", .eval_mode = t->reference.eval_mode, .ov = t->reference.ov, .n_ov = t->reference.n_ov };
	launcher_open(&f.launch, j);
	rc = run_stages(&f, source);
	if (!rc)
		v->stage = f.o->last;
	v->reward = v->correct || ext_on(&f, EXT_funnel) ? reward_of(v, f.o->reward) : 0.0;
	world_close(&f.w);
	launcher_close(&f.launch);
	if (f.p.source)
		py_release(&f.module);
	return rc < 0 ? -1 : 0;
}
