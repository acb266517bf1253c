/* tritonrl eval: samples answers for every task, judges them and reports. eval/bench does the work;
 * this file evaluates one model after the other on the same tasks and prints the comparisons. */
#include <stdio.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "run/run.h"

static const struct cmd_usage usage = {
	.args = "",
	.about = "Evaluate a model on a set of tasks: share of valid, compiled, correct and fast "
		 "answers, pass@k with confidence intervals, per level and operator. With "
		 "--compare, other models or adapters too, with a paired test. --model may be an "
		 "adapter folder, which names its base model.",
	.shown = "model adapter compare tasks k limit out device json n temperature max-new-tokens "
		"track",
	.opts = eval_opts,
	.sections = "eval",
};

/* One evaluated model. */
struct subject {
	const char *model, *adapter;   /* adapter NULL: the model by itself */
	const char *label;             /* the folder that the user named */
	struct eval ev;
};

/* The state of one call. */
struct session {
	const struct eval_cmd_args *a;
	struct eval_bench *bench;      /* tasks, prompts and judge; serves all models */
	struct store *store;           /* of --run, or NULL */
	int writes;                    /* this process is the first rank, which reports */
	struct { struct subject *v; size_t n, cap; } done;     /* the first is compared with each of the others */
};

/* --compare takes adapters and models; an adapter folder has adapter_config.json. */
static int is_adapter(const char *dir)
{
	struct buf path = BUF_INIT;
	int yes = path_join(&path, dir, "adapter_config.json") && file_exists(path.p);

	buf_release(&path);
	return yes;
}

/* Results are stored by name. The first model has the name that was asked for, the N-th one it is
 * compared with gets the suffix _N. */
static void name_of(const struct eval_cmd_args *a, size_t number, struct buf *out)
{
	buf_adds(out, a->name);
	if (number)
		buf_addf(out, "_%zu", number);
}

/* Everything so far as one object: the members of the first model's evaluation, "compared" with the
 * evaluations of the others, and "compare" with the paired tests. */
static void session_json(const struct session *s, struct buf *out)
{
	const struct eval_opts *o = eval_bench_opts(s->bench);
	const struct subject *first = &s->done.v[0];
	struct jw w = { .out = out, .indent = 1 };

	jw_begin(&w, '{');
	eval_json_members(&w, &first->ev, o, first->label);
	if (s->a->compare.n) {
		jw_key(&w, "compared"), jw_begin(&w, '[');
		for (size_t i = 1; i < s->done.n; i++) {
			jw_begin(&w, '{');
			eval_json_members(&w, &s->done.v[i].ev, o, s->done.v[i].label);
			jw_end(&w, '}');
		}
		jw_end(&w, ']');
		jw_key(&w, "compare"), jw_begin(&w, '[');
		for (size_t i = 1; i < s->done.n; i++)
			eval_compare_json(&w, first->label, &first->ev, s->done.v[i].label, &s->done.v[i].ev);
		jw_end(&w, ']');
	}
	jw_end(&w, '}');
	buf_addc(out, '\n');
}

/* Prints the table of the newest model, and how it compares with the first. */
static void print_newest(const struct session *s)
{
	const struct subject *t = &s->done.v[s->done.n - 1];
	struct buf text = BUF_INIT;

	buf_addf(&text, "%s\n", t->label);
	eval_table(&t->ev, eval_bench_opts(s->bench), s->a->eval.per_op, &text);
	if (s->done.n > 1)
		eval_compare_table(&s->done.v[0].ev, &t->ev, &text);
	fputs(buf_cstr(&text), stdout);
	buf_release(&text);
}

/* Writes the answers of all models so far to --answers. Those of the N-th model that the first one is compared
 * with have @N behind their ids. */
static int write_answers(const struct session *s, struct err *e)
{
	struct buf lines = BUF_INIT;
	char suffix[24] = "";
	int rc;

	for (size_t i = 0; i < s->done.n; i++) {
		if (i)
			snprintf(suffix, sizeof suffix, "@%zu", i);
		eval_answers(&s->done.v[i].ev, suffix, &lines);
	}
	rc = buf_check(&lines, e) || file_replace(s->a->answers, buf_str(&lines), e) ? -1 : 0;
	buf_release(&lines);
	return rc;
}

/* Writes the results so far to --out, the newest one to the run folder of --run, and prints them. The file
 * is written after each model, so that a failure of the second keeps the first. */
static int report(const struct session *s, struct err *e)
{
	const struct eval_cmd_args *a = s->a;
	struct buf json = BUF_INIT, name = BUF_INIT;
	int rc = 0;

	name_of(a, s->done.n - 1, &name);
	if (a->out || a->json)
		session_json(s, &json);
	rc = buf_check(&json, e) || buf_check(&name, e) ? -1 : 0;
	if (!rc && a->out)
		rc = file_replace(a->out, buf_str(&json), e);
	if (!rc && a->answers)
		rc = write_answers(s, e);
	if (!rc && s->store)
		rc = eval_bench_keep(s->bench, &s->done.v[s->done.n - 1].ev, a->run, s->store, buf_cstr(&name), e);
	if (!a->json)
		print_newest(s);
	else if (s->done.n == a->compare.n + 1)
		fputs(buf_cstr(&json), stdout);
	buf_release(&json);
	buf_release(&name);
	return rc;
}

/* Evaluates one model and adds it to those done. */
static int eval_one(struct session *s, struct subject t, struct err *e)
{
	struct buf name = BUF_INIT;
	int rc;

	name_of(s->a, s->done.n, &name);
	rc = eval_bench_run(s->bench, buf_cstr(&name), t.model, t.adapter, &t.ev, e);
	buf_release(&name);
	if (rc)
		return -1;
	if (vec_push(&s->done, t)) {
		eval_release(&t.ev);
		return err_nomem(e);
	}
	return s->writes ? report(s, e) : 0;
}

/* The first model is compared with each of the others. Every model gets the same tasks and seeds,
 * so the test can be paired. An adapter among the others is evaluated on the first model. */
static int eval_all(struct session *s, struct err *e)
{
	const struct eval_cmd_args *a = s->a;
	struct subject t = { .model = a->model, .adapter = a->adapter, .label = a->adapter ? a->adapter : a->model };
	struct buf base = BUF_INIT;
	int rc = adapter_split(&t.model, &t.adapter, &base, e) || eval_one(s, t, e) ? -1 : 0;

	for (size_t i = 0; i < a->compare.n && !rc; i++) {
		const char *dir = a->compare.v[i];
		int lone = !is_adapter(dir);

		rc = eval_one(s, (struct subject){ .model = lone ? dir : t.model, .adapter = lone ? NULL : dir,
						   .label = dir }, e);
	}
	for (size_t i = 0; i < s->done.n; i++)
		eval_release(&s->done.v[i].ev);
	vec_free(&s->done);
	buf_release(&base);
	return rc;
}

/* Opens everything that can fail cheaply before the model is loaded. */
static int run(const struct eval_cmd_args *a, struct par *par, struct err *e)
{
	struct eval_bench_args ba = { .eval = &a->eval, .sample = &a->sample, .judge = &a->judge, .store = a->store,
				      .seed = (uint64_t)a->seed, .par = par };
	struct session s = { .a = a, .writes = par_first(par) };
	struct buf path = BUF_INIT;
	struct dev *dev = NULL;
	int rc = 0;

	if (!a->model)
		return err_set(e, ERR_USAGE, "say which model: --model DIR");
	/* An evaluation of hours must not fail at its end. */
	if ((a->out && file_check_output(a->out, e)) || (a->answers && file_check_output(a->answers, e)))
		return -1;
	if (a->run && s.writes) {
		path_join(&path, a->run, "run.db");
		rc = file_mkdirs(a->run, e) || store_open(&s.store, buf_cstr(&path), e) ? -1 : 0;
	}
	if (!rc && !(dev = run_device(par, a->device, a->threads, e)))
		rc = -1;
	if (!rc && !(s.bench = eval_bench_open(&ba, dev, s.store, e)))
		rc = -1;
	if (!rc)
		rc = eval_all(&s, e);
	eval_bench_close(s.bench);
	dev_close(dev);
	store_close(s.store);
	buf_release(&path);
	return rc;
}

/* Every rank evaluates its part; the first one reports. */
int cmd_eval(int argc, char **argv)
{
	struct opt_parsed p;
	struct eval_cmd_args a;
	struct par *par = NULL;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = cmd_join(&par, &e) || run(&a, par, &e) ? -1 : 0;
	opt_release(&p);
	return cmd_part(par, "eval", rc, CMD_OK, &e);
}
