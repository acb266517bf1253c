/* Running a pipeline: see pipeline.h.
 *
 * Invariant: a stage counts as done only by its complete result. For prepare these are the digests
 * of its files in the store, for sft and rl the manifest of their checkpoint, for an evaluation its
 * row in the store. A stage that is not done is started again and continues from its own
 * checkpoints. So it does not matter at which moment a run was killed. */
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "run/requirements.h"
#include "run/pipeline.h"
#include "run/plan_adopt.h"
#include "train/checkpoint.h"

/* A run in progress. */
struct running {
	struct pipeline *p;
	struct run_env v;
	int done;                      /* 0: stopped on request */
	struct err *e;
};

/* Logs that a stage is skipped, because its complete result is there. */
static void say_done(enum pipeline_stage s)
{
	log_info("%s: already done", pipeline_stage_name(s));
}

/* --- prepare ----------------------------------------------------------------------------------------- */

static const char prepared_key[] = "stage.prepare";

/* Returns 1 if the data folder holds exactly the files that the store recorded, else 0; -1 on
 * failure. */
static int is_prepared(struct running *r)
{
	struct buf want = BUF_INIT, have = BUF_INIT;
	int rc = store_get_meta(r->v.store, prepared_key, &want, r->e);

	if (rc > 0)
		rc = file_is_dir(r->p->prepare.out) && !checkpoint_digest(r->p->prepare.out, &have, NULL) &&
			str_eq(buf_str(&want), buf_str(&have));
	buf_release(&want);
	buf_release(&have);
	return rc;
}

/* An evaluation of tasks that prepare holds back needs some, and must not fail for it after the training. */
static int check_held_out(const struct running *r, const struct prep_report *rep)
{
	static const enum prep_file made[] = { PREP_OUT_tasks_validation, PREP_OUT_tasks_test };
	const char *tasks = r->p->eval.eval.tasks;

	if (!pipeline_has(r->p, PIPELINE_eval) || !tasks || !str_starts(str_of(tasks), r->p->prepare.out))
		return 0;
	for (size_t i = 0; i < COUNT_OF(made); i++)
		if (str_is(path_base(tasks), prep_file_name(made[i])) && !rep->rows[made[i]])
			return err_set(r->e, ERR_FORMAT, "prepare held no task back for the evaluation: give it more "
				       "rows or a larger share (prepare.validation, prepare.test), or set eval.tasks");
	return 0;
}

/* Runs stage prepare and prints its table. */
static int prepare(struct running *r)
{
	struct buf table = BUF_INIT;
	struct prep_report rep;
	int rc = prepare_args_run(&r->p->prepare, &rep, r->e);

	if (!rc) {
		prep_table(&rep, &table);
		fputs(buf_cstr(&table), stdout);
		rc = check_held_out(r, &rep);
	}
	buf_release(&table);
	return rc;
}

/* Prepares the data unless they are there, and records the digests. */
static int prepare_once(struct running *r)
{
	struct buf have = BUF_INIT;
	int rc = is_prepared(r);

	if (rc) {
		say_done(PIPELINE_prepare);
		return rc < 0 ? -1 : 0;
	}
	rc = prepare(r) || checkpoint_digest(r->p->prepare.out, &have, r->e) ||
	     store_put_meta(r->v.store, prepared_key, buf_str(&have), r->e) || store_sync(r->v.store, r->e) ? -1 : 0;
	buf_release(&have);
	return rc;
}

/* Only the first process prepares; the others wait for it. */
static int do_prepare(struct running *r)
{
	return (par_first(r->v.par) && prepare_once(r)) || par_barrier(r->v.par, r->e) ? -1 : 0;
}

/* --- training ------------------------------------------------------------------------------------------ */

/* After a stage's final checkpoint is complete, older checkpoints and pending samples are deleted.
 * This also happens in the next run, if this one is killed in between. */
static int tidy(struct running *r, const char *stage)
{
	struct buf path = BUF_INIT;
	int rc;

	if (!par_first(r->v.par))
		return 0;
	path_join(&path, r->p->out, "checkpoints");
	rc = checkpoint_prune(buf_cstr(&path), stage, 1, r->e) || store_drop_pending(r->v.store, stage,
			INT64_MAX, r->e) ? -1 : 0;
	buf_release(&path);
	return rc;
}

/* Trains unless the result is there, then tidies up. */
static int do_sft(struct running *r)
{
	int rc = run_is_trained(&r->v, "sft", r->e);

	if (!rc)
		rc = run_sft(&r->v, &r->p->sft, &r->done, r->e);
	return rc < 0 || !r->done ? rc : tidy(r, "sft");
}

/* Trains against the judge, from the result of stage sft if that is part of the run. */
static int do_rl(struct running *r)
{
	struct train_args *t = &r->p->rl;
	struct run_rl_args a = { .policy = &t->policy, .sft = &t->sft, .rl = &t->rl, .sample = &t->sample,
				 .judge = &t->judge, .look = &t->look,
				   .sft_run = pipeline_has(r->p, PIPELINE_sft) ? r->p->out : r->p->sft_run };
	int rc = run_is_trained(&r->v, "rl", r->e);

	if (!rc)
		rc = run_rl(&r->v, &a, &r->done, r->e);
	return rc < 0 || !r->done ? rc : tidy(r, "rl");
}

/* --- evaluation ----------------------------------------------------------------------------------------- */

enum { SUBJECTS = 3 };

/* A model to evaluate: the base model, or the result of a stage. `open` says that `ev` must be
 * released. */
struct subject {
	const char *name, *model, *adapter;
	struct eval ev;
	int open;
};

/* The result of a stage as a subject: a whole model, or an adapter on the base model. */
static struct subject trained(struct running *r, const char *name, const char *checkpoint)
{
	const struct policy_opts *o = &r->p->sft.policy;
	const char *path = arena_printf(&r->p->arena, "%s/checkpoints/%s", r->p->out, checkpoint);

	if (!path)
		BUG("no memory for a name");
	return (struct subject){ .name = name, .model = o->full ? path : o->model, .adapter = o->full ? NULL : path };
}

/* Lists the models to evaluate, in the order of training. Returns their number. */
static size_t list_subjects(struct running *r, struct subject *s)
{
	size_t n = 0;

	if (!r->p->sft_run && r->p->sft.policy.model)
		s[n++] = (struct subject){ .name = "base", .model = r->p->sft.policy.model,
					   .adapter = r->p->sft.policy.adapter };
	if (pipeline_has(r->p, PIPELINE_sft))
		s[n++] = trained(r, "sft", "sft_final");
	if (pipeline_has(r->p, PIPELINE_rl))
		s[n++] = trained(r, "rl", "rl_final");
	return n;
}

/* Evaluates a model unless the store has its result. Only the first process needs loaded results:
 * it prints the tables. */
static int eval_subject(struct running *r, struct eval_bench *b, struct subject *s)
{
	int64_t there = par_first(r->v.par) ? eval_bench_load(b, s->name, &s->ev, r->e) : 0;
	int rc = there < 0 || par_agree(r->v.par, &there, r->e) ? -1 : 0;

	if (!rc && there) {
		log_info("eval %s: already done", s->name);
	} else if (!rc) {
		rc = eval_bench_run(b, s->name, s->model, s->adapter, &s->ev, r->e);
		if (!rc && par_first(r->v.par) && eval_bench_keep(b, &s->ev, r->p->out, r->v.store, s->name, r->e)) {
			eval_release(&s->ev);
			rc = -1;
		}
	}
	s->open = !rc && (!there || par_first(r->v.par));
	return rc;
}

/* Compares each model with the one before it. */
static void json_compare(const struct subject *s, size_t n, struct buf *out)
{
	struct jw w = { .out = out, .indent = 1 };

	jw_begin(&w, '[');
	for (size_t i = 1; i < n; i++)
		eval_compare_json(&w, s[i - 1].name, &s[i - 1].ev, s[i].name, &s[i].ev);
	jw_end(&w, ']');
	buf_addc(out, '\n');
}

/* Writes the table that a reader needs first: the rate of correct answers, models side by side. All
 * were evaluated on the same tasks, so their groups are the same. */
static void overview(const struct subject *s, size_t n, struct buf *out)
{
	buf_addf(out, "\n%-16s%8s", "correct", "tasks");
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%10s", s[i].name);
	buf_addc(out, '\n');
	for (size_t g = 0; g < s[0].ev.groups.n; g++) {
		const struct eval_group *row = &s[0].ev.groups.v[g];

		if (!str_starts(str_of(row->name), "all") && !str_starts(str_of(row->name), "level"))
			continue;
		buf_addf(out, "%-16s%8zu", row->name, row->tasks);
		for (size_t i = 0; i < n; i++)
			buf_addf(out, "%9.1f%%", s[i].ev.groups.v[g].correct.value);
		buf_addc(out, '\n');
	}
}

/* Writes all tables to the terminal and to outputs/, and the comparison to the store. */
static int summarise(struct running *r, struct eval_bench *b, const struct subject *s, size_t n)
{
	struct buf text = BUF_INIT, json = BUF_INIT, path = BUF_INIT;
	int rc;

	for (size_t i = 0; i < n; i++) {
		buf_addf(&text, "%s%s\n", i ? "\n" : "", s[i].name);
		eval_table(&s[i].ev, eval_bench_opts(b), r->p->eval.eval.per_op, &text);
		if (i) {
			buf_addf(&text, "against %s:\n", s[i - 1].name);
			eval_compare_table(&s[i - 1].ev, &s[i].ev, &text);
		}
	}
	if (n > 1)
		overview(s, n, &text);
	json_compare(s, n, &json);
	fputs(buf_cstr(&text), stdout);
	buf_addf(&path, "%s/outputs/summary.txt", r->p->out);
	rc = buf_check(&text, r->e) || buf_check(&json, r->e) || file_replace(buf_cstr(&path),
			buf_str(&text), r->e) ? -1 : 0;
	buf_clear(&path);
	buf_addf(&path, "%s/outputs/compare.json", r->p->out);
	if (!rc)
		rc = file_replace(buf_cstr(&path), buf_str(&json), r->e) || store_put_meta(r->v.store,
				"compare", buf_str(&json), r->e) ? -1 : 0;
	buf_release(&text);
	buf_release(&json);
	buf_release(&path);
	return rc;
}

/* Evaluates all subjects with one set of tasks and one judge. */
static int do_eval(struct running *r)
{
	const struct eval_cmd_args *a = &r->p->eval;
	struct eval_bench_args ba = { .eval = &a->eval, .sample = &a->sample, .judge = &a->judge,
				      .store = a->store, .seed = r->v.seed,
				      .par = r->v.par };
	struct eval_bench *b = eval_bench_open(&ba, r->v.dev, r->v.store, r->e);
	struct subject s[SUBJECTS] = { { .name = NULL } };
	size_t n = list_subjects(r, s);
	int rc = b ? 0 : -1;

	for (size_t i = 0; i < n && !rc; i++)
		rc = eval_subject(r, b, &s[i]);
	if (!rc && par_first(r->v.par))
		rc = summarise(r, b, s, n);
	for (size_t i = 0; i < n; i++)
		if (s[i].open)
			eval_release(&s[i].ev);
	eval_bench_close(b);
	return rc;
}

/* --- all of it -------------------------------------------------------------------------------------------- */

/* Writes the page of the run. */
static int do_report(struct running *r)
{
	struct buf path = BUF_INIT;
	int rc;

	if (!par_first(r->v.par))
		return 0;
	rc = run_report(&(struct report_run){ .dir = r->p->out, .store = r->v.store }, 1, &r->p->report.report,
			r->p->report.out, &path, r->e);

	if (!rc)
		printf("report: %s\n", buf_cstr(&path));
	buf_release(&path);
	return rc;
}

/* Writes the resolved configuration to the folder, or compares it with the one already in the
 * folder. */
static int keep_config(struct running *r)
{
	struct buf is = BUF_INIT, kept = BUF_INIT;
	int rc;

	if (!par_first(r->v.par))
		return 0;
	rc = pipeline_config(r->p, &is, r->e) || run_keep_config(r->p->out, "config.yaml", buf_str(&is), &kept, r->e) ||
	     store_put_meta(r->v.store, "config", buf_str(&kept), r->e) ? -1 : 0;

	buf_release(&is);
	buf_release(&kept);
	return rc;
}

/* Reports everything missing at once, before the first stage takes hours. */
static int check_needs(const struct running *r)
{
	struct buf text = BUF_INIT;
	struct str rest;
	int missing = requirements_missing(r->p, &text), rc = buf_check(&text, r->e);

	for (rest = buf_str(&text); rest.n && !rc;) {
		struct str line = str_cut(&rest, '\n');

		log_error("%.*s", STR_ARG(line));
	}
	buf_release(&text);
	return rc || !missing ? rc : err_set(r->e, ERR_NOT_FOUND,
					     "this run cannot start here: %d thing%s that it needs %s missing", missing,
					     missing == 1 ? "" : "s", missing == 1 ? "is" : "are");
}

/* Runs the stages in order. A stop on request ends the loop without an error. A stop during the
 * last stage, the report, changes nothing: everything is done then. */
int pipeline_run(struct pipeline *p, struct par *par, int *done, struct err *e)
{
	static int (*const run[])(struct running *r) = {
#define S(id) do_##id,
		PIPELINE_STAGES(S)
#undef S
	};
	struct running r = { .p = p, .v = RUN_ENV_INIT, .done = 1, .e = e };
	int rc = check_needs(&r) || run_open(&r.v, par, p->out, (uint64_t)p->sft.seed, &p->sft.policy, e) ||
		plan_adopt(p, &r.v, e) || keep_config(&r) ? -1 : 0;

	for (int s = 0; s < PIPELINE_COUNT && !rc && r.done; s++) {
		if (!pipeline_has(r.p, s))
			continue;
		rc = run[s](&r);
		if (rc && e->code == ERR_INTERRUPTED) {
			err_clear(e);
			rc = r.done = 0;
		}
		if (par_stopping(par) && s < PIPELINE_COUNT - 1)
			r.done = 0;
		if (!r.done)
			log_info("stopped in stage %s", pipeline_stage_name(s));
	}
	run_close(&r.v);
	*done = r.done;
	return rc;
}
