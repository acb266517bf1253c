/* tritonrl plan: memory, time, GPU-hours and cost of a run before it starts. run/plan.h computes;
 * this file opens the pipeline as `run` does and prints one machine or all of them. */
#include <stdio.h>

#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/safeguard.h"
#include "run/requirements.h"
#include "run/plan_args.h"
#include "run/sections.h"
#include "tile/estimate/gpu.h"

static const struct cmd_usage usage = {
	.args = "[CONFIG]",
	.about = "Estimate what a run needs before it starts: memory of each stage, time, "
		 "GPU-hours and cost, and the batch size, accumulation, weight format and "
		 "sequence length that fit. No weights are needed. Exit code 1: the run does not "
		 "fit.",
	.shown = "model gpu count set stages dry-run price-per-hour spot-price-per-hour rows eval-tasks run json",
	.opts = plan_opts,
	.sections = "machine",
};

/* Opens the pipeline as `run` would. --model on the command line becomes an option of all stages. */
static int open_pipeline(struct pipeline *p, const struct plan_args *a, const char *config, struct opt_list *set,
			 struct buf *text, struct err *e)
{
	struct pipeline_source src = { .config = config, .set = set, .stages = &a->stages,
				       .out = a->run ? a->run : "runs/plan" };

	set->v = mem_array(a->set.n + 1, sizeof *set->v);
	if (!set->v)
		return err_nomem(e);
	if (a->model) {
		buf_addf(text, "model=%s", a->model);
		set->v[set->n++] = buf_cstr(text);
	}
	for (size_t i = 0; i < a->set.n; i++)
		set->v[set->n++] = a->set.v[i];
	if (buf_check(text, e) || pipeline_open(p, &src, e))
		return -1;
	if (a->dry_run)
		pipeline_shrink(p);
	return 0;
}

/* --- the command ------------------------------------------------------------------------------------------ */

/* Plans the job on `count` GPUs of one kind. A price or a number of judging cores from the command
 * line replaces the usual one. */
static int plan_on(struct run_plan *p, const struct plan_job *j, const struct plan_args *a, const char *gpu,
		   int count, struct err *e)
{
	struct plan_machine m;

	if (plan_machine_find(&m, gpu, count))
		return err_set(e, ERR_USAGE, "no figures are known for GPU '%s'", gpu);
	if (a->price > 0 || a->spot_price > 0)
		m.usual_price = 0;
	m.price = a->price > 0 ? a->price : m.price;
	m.spot_price = a->spot_price > 0 ? a->spot_price : m.spot_price;
	if (a->judge_cores)
		m.cores = (int)a->judge_cores;
	return plan_make(p, j, &m, e);
}

/* Lists what is missing on this machine to run the configuration, and how long its CPU would
 * take. */
static int show_here(const struct plan_job *j, const struct plan_args *a, const struct pipeline *s,
		     struct buf *out, struct err *e)
{
	struct buf missing = BUF_INIT;
	int count = requirements_missing(s, &missing), rc = 0;
	struct run_plan p;

	buf_adds(out, "\non this machine\n");
	for (struct str rest = buf_str(&missing); rest.n;) {
		struct str line = str_cut(&rest, '\n');

		buf_addf(out, "  %.*s\n", STR_ARG(line));
	}
	if (strcmp(a->gpu, "cpu")) {
		rc = plan_on(&p, j, a, "cpu", 1, e);
		if (!rc && p.choice.fits)
			buf_addf(out, "  the CPU would take %.1f hours (details: --gpu cpu)\n", p.hours);
		else if (!rc)
			buf_adds(out, "  the memory is too small for the model and its training "
				      "(details: --gpu cpu)\n");
	} else if (!count) {
		buf_adds(out, "  everything that the run needs is available\n");
	}
	buf_release(&missing);
	return rc;
}

/* One machine: the whole table. *fits says whether the run fits. */
static int show_one(const struct plan_job *j, const struct plan_args *a, const struct pipeline *s,
		    const char *command, int *fits, struct buf *out, struct err *e)
{
	struct run_plan p;

	if (plan_on(&p, j, a, a->gpu, (int)a->count, e))
		return -1;
	if (a->json)
		plan_json(&p, out);
	else
		plan_table(&p, command, out);
	*fits = p.choice.fits;
	return a->json ? 0 : show_here(j, a, s, out, e);
}

/* Every kind of GPU, one of it and --count of it (8 unless --count says more). *fits is 1 if the
 * run fits on any of them. */
static int show_all(const struct plan_job *j, const struct plan_args *a, int *fits, struct buf *out, struct err *e)
{
	int counts[] = { 1, a->count > 1 ? (int)a->count : 8 };
	struct plan_args each = *a;
	struct run_plan p;

	each.price = each.spot_price = 0;        /* a given price belongs to one kind of GPU only */
	*fits = 0;
	if (!a->json)
		plan_row(NULL, out);
	for (const struct tile_gpu *g = tile_gpus; g->name; g++)
		for (size_t k = 0; k < COUNT_OF(counts); k++) {
			if (plan_on(&p, j, &each, g->name, counts[k], e))
				return -1;
			*fits |= p.choice.fits;
			if (a->json)
				plan_json(&p, out);
			else
				plan_row(&p, out);
		}
	return 0;
}

/* Prints what a run folder has spent so far, against the budget of section `keep`. */
static int show_spent(const struct plan_args *a, const char *config, struct buf *out, struct err *e)
{
	struct watch_spent s;
	struct safeguard_args k;
	struct opt_parsed p;
	struct opt_scope scope = { .own = "keep", .all = run_sections };
	const char *words[] = { "--config", config };

	if (opt_parse_in(safeguard_args_table, &scope, &k, config ? 2 : 0, (char *const *)words, &p, e))
		return -1;
	opt_release(&p);
	if (watch_spent_read(a->run, &s, e))
		return -1;
	if (a->json) {
		buf_addf(out, "{\"spent_hours\": %.4f, \"spent_money\": %.4f}\n", s.hours, s.money);
		return 0;
	}
	buf_addf(out, "\nspent in '%s'\n  %.2f hours, cost %.2f\n", a->run, s.hours, s.money);
	if (k.watch.budget_hours > 0)
		buf_addf(out, "  %.2f of %.2f hours are left\n", MAX(k.watch.budget_hours - s.hours, 0.0),
			 k.watch.budget_hours);
	if (k.watch.budget_money > 0)
		buf_addf(out, "  %.2f of the budget of %.2f are left\n", MAX(k.watch.budget_money - s.money, 0.0),
			 k.watch.budget_money);
	return 0;
}

/* Writes the command that runs what was planned. */
static void add_command(const struct plan_args *a, const char *config, struct buf *out)
{
	buf_addf(out, "tritonrl run%s%s", config ? " " : "", config ? config : "");
	if (a->model)
		buf_addf(out, " --set model=%s", a->model);
	for (size_t i = 0; i < a->set.n; i++)
		buf_addf(out, " --set %s", a->set.v[i]);
	for (size_t i = 0; i < a->stages.n; i++)
		buf_addf(out, "%s%s", i ? "," : " --stages ", a->stages.v[i]);
	if (a->dry_run)
		buf_adds(out, " --dry-run");
	if (a->run)
		buf_addf(out, " --out %s", a->run);
}

/* The stages are read even for --gpu all: the amounts of work depend on them. */
static int run(const struct plan_args *a, const char *config, int *fits, struct buf *out, struct err *e)
{
	struct opt_list set = { .v = NULL };
	struct buf text = BUF_INIT, command = BUF_INIT;
	struct pipeline p;
	struct plan_job j;
	int opened = !open_pipeline(&p, a, config, &set, &text, e);
	int rc = opened ? plan_job_of(&j, a, &p, e) : -1;

	add_command(a, config, &command);
	if (!rc)
		rc = !strcmp(a->gpu, "all") ? show_all(&j, a, fits, out, e) :
					      show_one(&j, a, &p, buf_cstr(&command), fits, out, e);
	if (!rc && a->run)
		rc = show_spent(a, config, out, e);
	if (opened)
		pipeline_close(&p);
	buf_release(&text);
	buf_release(&command);
	mem_free(set.v);
	return rc;
}

/* As cmd_parse, except that the argument is the configuration: it becomes --config FILE. */
static int parse(struct plan_args *a, int argc, char **argv, struct opt_parsed *p)
{
	char **words;
	int rc = cmd_parse(&usage, a, argc, argv, p), n = 0;

	if (rc >= 0 || !p->n)
		return rc;
	words = mem_array((size_t)argc + 2, sizeof *words);
	if (!words)
		BUG("no memory for %d words", argc);
	for (int i = 0; i < argc; i++) {
		int is_config = argv[i] == p->args[0];

		if (is_config)
			words[n++] = "--config";
		words[n++] = argv[i];
	}
	opt_release(p);
	rc = cmd_parse(&usage, a, n, words, p);
	mem_free(words);
	return rc;
}

/* Exit code 1 means that the run does not fit, so that scripts can test for it. */
int cmd_plan(int argc, char **argv)
{
	struct opt_parsed p;
	struct plan_args a;
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	int fits = 0, rc = parse(&a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	progress_set_mode(PROGRESS_QUIET);      /* judge-ms may run the judge for a moment */
	if (opt_was_given(&p, "model") < 2)
		a.model = NULL;                 /* the stages read the configuration's own model */
	rc = p.n ? err_set(&e, ERR_USAGE, "name at most one configuration") : run(&a, p.config, &fits, &out, &e);
	if (!rc)
		fputs(buf_cstr(&out), stdout);
	buf_release(&out);
	opt_release(&p);
	return rc ? cmd_fail("plan", &e) : fits ? CMD_OK : CMD_NO;
}
