/* tritonrl eval: samples answers for every task, judges them and reports. eval/bench does the work;
 * this file evaluates one model after the other on the same tasks and prints the comparisons. */
#include <stdio.h>

#include "base/file.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/run.h"

static const struct cmd_usage usage = {
	.args = "",
	.about = "Evaluate a model on a set of tasks: share of valid, compiled, correct and fast "
		 "answers, pass@k with confidence intervals, per level and operator. With "
		 "--compare, other models or adapters too, with a paired test.",
	.shown = "model adapter compare tasks k limit out device json n temperature max-new-tokens "
		"track",
	.opts = eval_opts,
	.sections = "eval",
};

/* The state of one call. */
struct session {
	const struct eval_cmd_args *a;
	struct eval_bench *bench;      /* tasks, prompts and judge; serves all models */
	struct store *store;           /* of --run, or NULL */
	int writes;                    /* this process is the first rank, which reports */
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

/* Writes the result to --out and to the run folder of --run, and prints it as a table or as
 * JSON. */
static int report(struct session *s, const struct eval *ev, size_t number, struct err *e)
{
	struct buf text = BUF_INIT, path = BUF_INIT, name = BUF_INIT;
	int rc = 0;

	name_of(s->a, number, &name);
	eval_bench_json(s->bench, ev, &text);
	if (s->a->out) {
		buf_adds(&path, s->a->out);
		if (number)
			buf_addf(&path, ".%zu", number);
		rc = file_replace(buf_cstr(&path), buf_str(&text), e);
	}
	if (!rc && s->store)
		rc = eval_bench_keep(s->bench, ev, s->a->run, s->store, buf_cstr(&name), e);
	if (!s->a->json) {
		buf_clear(&text);
		buf_addf(&text, "%s\n", eval_bench_opts(s->bench)->model_path);
		eval_table(ev, eval_bench_opts(s->bench), s->a->eval.per_op, &text);
	}
	fputs(buf_cstr(&text), stdout);
	buf_release(&text);
	buf_release(&path);
	buf_release(&name);
	return rc;
}

/* Evaluates one model. On success *ev holds the result, which the caller releases. */
static int eval_one(struct session *s, size_t number, const char *model, const char *adapter,
		    struct eval *ev, struct err *e)
{
	struct buf name = BUF_INIT;
	int rc;

	name_of(s->a, number, &name);
	rc = eval_bench_run(s->bench, buf_cstr(&name), model, adapter, ev, e);
	buf_release(&name);
	if (!rc && s->writes && report(s, ev, number, e)) {
		eval_release(ev);
		rc = -1;
	}
	return rc;
}

/* The same paired test that the table shows, as one JSON object. */
static void compare_json(const struct eval_cmd_args *a, const struct eval *first, const char *dir,
			 const struct eval *other, struct buf *out)
{
	struct jw w = { .out = out, .indent = 1 };

	jw_begin(&w, '{');
	jw_key(&w, "compare"), jw_begin(&w, '[');
	eval_compare_json(&w, a->adapter ? a->adapter : a->model, first, dir, other);
	jw_end(&w, ']');
	jw_end(&w, '}');
	buf_addc(out, '\n');
}

/* The first model is compared with each of the others. Every model gets the same tasks and seeds,
 * so the test can be paired. */
static int eval_all(struct session *s, struct err *e)
{
	const struct eval_cmd_args *a = s->a;
	struct eval first, other;
	int rc = eval_one(s, 0, a->model, a->adapter, &first, e);

	if (rc)
		return -1;
	for (size_t i = 0; i < a->compare.n && !rc; i++) {
		const char *dir = a->compare.v[i];
		struct buf text = BUF_INIT;

		/* An adapter is evaluated on the first model. */
		rc = is_adapter(dir) ? eval_one(s, i + 1, a->model, dir, &other, e) :
			eval_one(s, i + 1, dir, NULL, &other, e);
		if (rc)
			break;
		if (a->json)
			compare_json(a, &first, dir, &other, &text);
		else
			eval_compare_table(&first, &other, &text);
		fputs(buf_cstr(&text), stdout);
		buf_release(&text);
		eval_release(&other);
	}
	eval_release(&first);
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
	/* Create output folders first: an evaluation of hours must not fail at its end. */
	if (a->out && file_mkdirs_for(a->out, e))
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
