/* tritonrl eval: sample answers for every task, judge them, report. */
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/judge_args.h"
#include "cmd/sample_args.h"
#include "rl/eval.h"
#include "store/store.h"
#include "train/checkpoint.h"

struct args {
	const char *model, *adapter, *tasks, *out, *device, *weights, *run, *name;
	struct opt_list compare, k;
	int64_t seed, threads;
	int json, per_op;
	struct sample_args sample;
	struct judge_args judge;
};

static const struct opt opts[] = {
	OPT_STR(struct args, model, "model", "DIR", NULL, "Hugging Face folder"),
	OPT_STR(struct args, adapter, "adapter", "DIR", NULL, "LoRA adapter on it; a training checkpoint must be complete"),
	OPT_LIST(struct args, compare, "compare", "DIR", 0, "another adapter or model to evaluate on the same tasks; may be repeated"),
	OPT_STR(struct args, tasks, "tasks", "FILE_OR_FOLDER", NULL, "JSON lines with task, or a folder of .py tasks"),
	OPT_LIST(struct args, k, "k", "1,10", 1, "k of pass@k (default 1 and the number of samples)"),
	OPT_STR(struct args, out, "out", "FILE", NULL, "write the result as JSON"),
	OPT_STR(struct args, run, "run", "DIR", NULL, "keep the result in this run folder, for its report"),
	OPT_STR(struct args, name, "name", "NAME", "eval", "under this name: outputs/eval_NAME.json"),
	OPT_CHOICE(struct args, device, "device", "auto|cpu", "auto", "where the model runs"),
	OPT_CHOICE(struct args, weights, "weights", MODEL_STORE_CHOICES, "f32", "how weights are kept"),
	OPT_INT(struct args, threads, "threads", 0, 1024, 0, "threads of the model; 0: one a core"),
	OPT_INT(struct args, seed, "seed", 0, 9e15, 1, "same seed, same samples"),
	OPT_FLAG(struct args, json, "json", 0, "print the JSON instead of a table"),
	OPT_FLAG(struct args, per_op, "per-op", 0, "a row per operator in the table"),
	OPT_INCLUDE(struct args, sample, sample_args_table, "Sampling"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Evaluate a model: share of valid, compiled, correct and fast answers, pass@k with confidence intervals, per level and "
		 "operator. With --compare the same for other models or adapters, with a paired test.",
	.opts = opts,
};

struct bench {
	const struct args *a;
	struct dev *dev;
	struct judge_pool *pool;
	struct judge_options judge;
	struct taskset tasks;
	struct eval_opts o;
	struct progress bar;
	size_t shown;
};

static void tick(void *ctx, size_t sampled, size_t judged)
{
	struct bench *b = ctx;

	progress_note(&b->bar, "%zu judged", judged);
	progress_add(&b->bar, (int64_t)(sampled - b->shown));
	b->shown = sampled;
}

static int is_adapter(const char *dir)
{
	struct buf path = BUF_INIT;
	int yes = path_join(&path, dir, "adapter_config.json") && file_exists(path.p);

	buf_release(&path);
	return yes;
}

/* A folder that training wrote has a manifest; one that claims to and is broken is refused. */
static int check_folder(const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	int has = path_join(&path, dir, "MANIFEST") && file_exists(path.p);
	int ours = strstr(dir, "/checkpoints/") != NULL;

	buf_release(&path);
	return has || ours ? checkpoint_verify(dir, NULL, e) : 0;
}

static int eval_one(struct bench *b, const char *model, const char *adapter, struct eval *ev, struct err *e)
{
	struct model_opts mo = { .store = STORE_F32 };
	struct infer_opts io = { .slots = (int)b->a->sample.slots, .length = b->o.rollout.max_new_tokens + 1024 };
	struct model *m = NULL;
	struct adapter *ad = NULL;
	struct tok *tok = NULL;
	struct infer *inf = NULL;
	int rc = -1;

	b->o.model_path = adapter ? adapter : model;
	if (model_store_parse(str_of(b->a->weights), &mo.store, e) || check_folder(model, e) || (adapter && check_folder(adapter, e)))
		goto out;
	if (!(tok = tok_open(model, e)) || !(m = model_open(b->dev, model, &mo, e)) || (adapter && !(ad = adapter_open(m, adapter, e))))
		goto out;
	if (!(inf = infer_new(m, ad, tok, &io, e)))
		goto out;
	struct rollout_env env = { .infer = inf, .tok = tok, .pool = b->pool, .judge = b->judge, .tick = tick, .tick_ctx = b };

	b->shown = 0;
	progress_begin(&b->bar, "eval", "samples", (int64_t)b->tasks.rows.n * b->o.rollout.n);
	rc = eval_run(ev, &env, &b->tasks, &b->o, e);
	progress_end(&b->bar);
out:
	infer_free(inf);
	adapter_free(ad);
	model_free(m);
	tok_free(tok);
	return rc;
}

/* Into the run folder: outputs/eval_NAME.json and the store. */
static int keep(const struct args *a, size_t number, struct str json, struct err *e)
{
	struct buf path = BUF_INIT, name = BUF_INIT;
	struct store *s = NULL;
	int rc;

	buf_adds(&name, a->name);
	if (number)
		buf_addf(&name, "_%zu", number);
	buf_addf(&path, "%s/outputs", a->run);
	rc = file_mkdirs(buf_cstr(&path), e);
	buf_addf(&path, "/eval_%s.json", buf_cstr(&name));
	if (!rc)
		rc = file_replace(buf_cstr(&path), json, e);
	path_join(&path, a->run, "run.db");
	if (!rc)
		rc = store_open(&s, buf_cstr(&path), e) || store_put_eval(s, buf_cstr(&name), json, e) ? -1 : 0;
	store_close(s);
	buf_release(&path);
	buf_release(&name);
	return rc;
}

static int report(struct bench *b, const struct eval *ev, size_t number, struct err *e)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	int rc = 0;

	eval_json(ev, &b->o, &text);
	if (b->a->out) {
		buf_adds(&path, b->a->out);
		if (number)
			buf_addf(&path, ".%zu", number);
		rc = file_replace(buf_cstr(&path), buf_str(&text), e);
	}
	if (!rc && b->a->run)
		rc = keep(b->a, number, buf_str(&text), e);
	if (!b->a->json) {
		buf_clear(&text);
		buf_addf(&text, "%s\n", b->o.model_path);
		eval_table(ev, &b->o, b->a->per_op, &text);
	}
	fputs(buf_cstr(&text), stdout);
	buf_release(&text);
	buf_release(&path);
	return rc;
}

static int eval_all(struct bench *b, struct err *e)
{
	struct eval first, other;
	double d, p;
	int rc = eval_one(b, b->a->model, b->a->adapter, &first, e);

	if (rc)
		return -1;
	rc = report(b, &first, 0, e);
	for (size_t i = 0; i < b->a->compare.n && !rc; i++) {
		const char *dir = b->a->compare.v[i];

		rc = is_adapter(dir) ? eval_one(b, b->a->model, dir, &other, e) : eval_one(b, dir, NULL, &other, e);
		if (rc)
			break;
		rc = report(b, &other, i + 1, e);
		eval_compare(&first, &other, &d, &p);
		if (!b->a->json)
			printf("%+.1f points correct against the first, p = %.4f (paired sign-flip test)\n", d, p);
		eval_release(&other);
	}
	eval_release(&first);
	return rc;
}

static int parse_ks(struct bench *b, struct err *e)
{
	for (size_t i = 0; i < b->a->k.n && b->o.n_k < EVAL_KS; i++) {
		int64_t v;

		if (str_to_i64(str_of(b->a->k.v[i]), &v) || v < 1 || v > b->o.rollout.n)
			return err_set(e, ERR_USAGE, "--k wants numbers from 1 to the %d samples, not '%s'", b->o.rollout.n, b->a->k.v[i]);
		b->o.k[b->o.n_k++] = (int)v;
	}
	if (!b->o.n_k) {
		b->o.k[b->o.n_k++] = 1;
		if (b->o.rollout.n > 1)
			b->o.k[b->o.n_k++] = b->o.rollout.n;
	}
	return 0;
}

static int run(const struct args *a, struct err *e)
{
	struct bench b = { .a = a, .o = { .fast = { 1.0, 2.0 }, .n_fast = 2 } };
	struct judge_pool_options po;
	int rc = -1;

	if (!a->model || !a->tasks)
		return err_set(e, ERR_USAGE, "say --model DIR and --tasks FILE_OR_FOLDER");
	if (judge_args_options(&a->judge, &b.judge, &po, e))
		return -1;
	sample_args_options(&a->sample, b.judge.track == TRACK_STRICT, (uint64_t)a->seed, &b.o.rollout);
	if (parse_ks(&b, e) || taskset_open(&b.tasks, a->tasks, e))
		return -1;
	b.pool = judge_pool_open(&b.judge, &po, e);
	b.dev = b.pool ? dev_open(a->device, (int)a->threads, e) : NULL;
	if (b.dev)
		rc = eval_all(&b, e);
	dev_close(b.dev);
	judge_pool_close(b.pool);
	taskset_close(&b.tasks);
	return rc;
}

int cmd_eval(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = run(&a, &e);
	opt_release(&p);
	return rc ? cmd_fail("eval", &e) : CMD_OK;
}
