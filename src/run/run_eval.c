/* Evaluations of one or several models on the same tasks: see run.h.
 *
 * Owns the loading of a model for evaluation and the storage of results; src/eval computes them.
 * Invariant: a result is stored in one transaction, so that an evaluation is complete or absent. */
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "run/run.h"
#include "train/checkpoint.h"

struct eval_bench {
	struct dev *dev;
	struct store *store;
	struct par *par;
	struct judge_pool *pool, *other_pool;     /* the other track's pool; NULL: one track */
	struct judge_options judge, other;
	struct taskset tasks;
	struct eval_opts o;
	enum prompt_style style;         /* as requested; the model's own may replace it */
	struct model_opts model;
	struct progress bar;
	size_t shown;                    /* samples that the progress bar counts */
	int64_t started_ns;
};

/* Sets the options of sampling for all models. */
static void set_sampling(struct eval_bench *b, const struct eval_bench_args *a)
{
	b->o.rollout = *a->sample;
	b->style = a->sample->style;
	b->o.rollout.strict = b->judge.track == TRACK_STRICT;
	b->o.rollout.tf32 = b->judge.precision == PRECISION_TF32;
	b->o.rollout.seed = a->seed;
}

/* Opens everything once for all models. Tasks that the judge rejects are left out for all of them,
 * so that the models are compared on the same tasks. */
struct eval_bench *eval_bench_open(const struct eval_bench_args *a, struct dev *dev, struct store *store, struct err *e)
{
	struct eval_bench *b = mem_zalloc(sizeof *b);
	struct judge_pool_options po;
	int rc;

	if (!b) {
		err_nomem(e);
		return NULL;
	}
	b->dev = dev;
	b->store = store;
	b->par = a->par;
	b->model.store = a->store;
	rc = a->eval->tasks ? judge_args_options(a->judge, &b->judge, &po, e) :
	     err_set(e, ERR_USAGE, "no tasks to evaluate on; use --tasks FILE_OR_FOLDER");
	if (!rc)
		set_sampling(b, a);
	if (!rc)
		rc = eval_args_options(a->eval, &b->o, e) || taskset_open(&b->tasks, a->eval->tasks, e) ? -1 : 0;
	if (!rc && a->eval->limit)
		taskset_cut(&b->tasks, (size_t)a->eval->limit);
	if (!rc) {
		b->pool = judge_pool_open(&b->judge, &po, e);
		rc = b->pool ? taskset_keep_good(&b->tasks, b->pool, b->par, e) : -1;
	}
	if (!rc && a->eval->both_tracks) {
		b->other = b->judge;
		b->other.track = b->judge.track == TRACK_STRICT ? TRACK_HYBRID : TRACK_STRICT;
		b->o.other_track = track_name(b->other.track);
		b->other_pool = judge_pool_open(&b->other, &po, e);
		rc = b->other_pool ? 0 : -1;
	}
	if (rc) {
		eval_bench_close(b);
		b = NULL;
	}
	return b;
}

void eval_bench_close(struct eval_bench *b)
{
	if (!b)
		return;
	judge_pool_close(b->pool);
	judge_pool_close(b->other_pool);
	taskset_close(&b->tasks);
	mem_free(b);
}

const struct eval_opts *eval_bench_opts(const struct eval_bench *b)
{
	return &b->o;
}

/* Called after each sample and verdict: updates the progress bar. */
static void tick(void *ctx, size_t sampled, size_t judged)
{
	struct eval_bench *b = ctx;

	progress_note(&b->bar, "%zu judged, %.1f candidates/s", judged,
		      (double)judged / MAX((double)(clock_ns() - b->started_ns) / 1e9, 1e-9));
	progress_add(&b->bar, (int64_t)(sampled - b->shown));
	b->shown = sampled;
}

/* Verifies a folder that training wrote: an incomplete checkpoint is refused. *tag becomes a hash
 * of the folder's content, which tells pending samples of different models apart. */
static int check_folder(const char *dir, uint64_t *tag, struct err *e)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int has = path_join(&path, dir, "MANIFEST") && file_exists(path.p), rc;

	rc = has || strstr(dir, "/checkpoints/") ? checkpoint_verify(dir, NULL, e) : 0;
	if (!rc && has)
		rc = file_read(path.p, 64u << 20, &text, e);
	*tag = hash_xxh64(text.p, text.n, hash_xxh64(dir, strlen(dir), *tag));
	buf_release(&path);
	buf_release(&text);
	return rc;
}

/* Samples and judges all answers, with a progress bar. */
static int sample_all(struct eval_bench *b, struct rollout_env *env, const char *name, struct eval *ev, struct err *e)
{
	struct rollout_env other = { .pool = b->other_pool, .judge = b->other, .cache = b->store, .par = b->par };
	struct buf stage = BUF_INIT;
	int rc;

	buf_addf(&stage, "eval_%s", name);
	env->stage = buf_cstr(&stage);
	b->shown = 0;
	b->started_ns = clock_ns();
	progress_begin(&b->bar, env->stage, "samples", (int64_t)b->tasks.rows.n * b->o.rollout.n);
	rc = buf_check(&stage, e) || eval_run(ev, env, b->other_pool ? &other : NULL, &b->tasks, &b->o, e) ? -1 : 0;
	progress_end(&b->bar);
	buf_release(&stage);
	return rc;
}

/* Loads a model and evaluates it. The prompt style is that of the adapter or model if it was not
 * requested. */
int eval_bench_run(struct eval_bench *b, const char *name, const char *model, const char *adapter,
		   struct eval *ev, struct err *e)
{
	struct infer_opts io = { .slots = b->o.rollout.slots, .length = b->o.rollout.max_new_tokens + 1024,
				 .kv8 = b->o.rollout.kv8 };
	struct rollout_env env = { .pool = b->pool, .judge = b->judge, .cache = b->store, .pending = b->store,
				   .par = b->par, .tick = tick, .tick_ctx = b };
	struct model *m = NULL;
	struct adapter *ad = NULL;
	struct tok *tok = NULL;
	int rc = -1;

	b->o.model_path = adapter ? adapter : model;
	b->o.rollout.style = prompt_style_choose(b->style, adapter, model);
	if (check_folder(model, &env.policy, e) || (adapter && check_folder(adapter, &env.policy, e)))
		goto out;
	if (!(env.tok = tok = tok_open(model, e)) || !(m = model_open(b->dev, model, &b->model, e)) ||
	    (adapter && !(ad = adapter_open(m, adapter, e))))
		goto out;
	env.infer = infer_new(m, ad, tok, &io, e);
	rc = env.infer ? sample_all(b, &env, name, ev, e) : -1;
out:
	infer_free(env.infer);
	adapter_free(ad);
	model_free(m);
	tok_free(tok);
	return rc;
}

/* An evaluation in the store that does not belong to these tasks or options is an error, not a
 * missing one. */
int eval_bench_load(struct eval_bench *b, const char *name, struct eval *ev, struct err *e)
{
	struct buf text = BUF_INIT;
	struct json *j = NULL;
	int rc = store_get_eval(b->store, name, &text, e);

	if (rc > 0 && ((j = json_parse(buf_str(&text), e)) == NULL || eval_load(ev, &b->tasks, j, &b->o, e)))
		rc = err_wrap(e, "evaluation '%s' in the store", name);
	json_free(j);
	buf_release(&text);
	return rc;
}

void eval_bench_json(const struct eval_bench *b, const struct eval *ev, struct buf *out)
{
	eval_json(ev, &b->o, out);
}

/* Stores the row and the samples, and ends what was pending, in one transaction. */
static int keep_rows(const struct eval *ev, const struct eval_bench *b, struct store *s, const char *stage,
		     const char *name, struct str json,
		     struct err *e)
{
	if (store_begin(s, e))
		return -1;
	if (store_rewind(s, stage, -1, e) || rollout_store(&ev->rollout, s, &b->tasks, stage, 0,
							   ROLLOUT_ALL, e) || store_put_eval(s, name, json, e) ||
	    store_drop_pending(s, stage, 0, e) || store_commit(s, e)) {
		store_rollback(s);
		return -1;
	}
	return store_sync(s, e);
}

/* Writes the JSON file first and the store last: the row in the store marks the evaluation as done. */
int eval_bench_keep(const struct eval_bench *b, const struct eval *ev, const char *out, struct store *s,
		    const char *name, struct err *e)
{
	struct buf path = BUF_INIT, json = BUF_INIT, stage = BUF_INIT;
	int rc;

	eval_bench_json(b, ev, &json);
	buf_addf(&stage, "eval_%s", name);
	buf_addf(&path, "%s/outputs", out);
	rc = buf_check(&json, e) || buf_check(&stage, e) || file_mkdirs(buf_cstr(&path), e) ? -1 : 0;
	buf_addf(&path, "/%s.json", buf_cstr(&stage));
	if (!rc)
		rc = file_replace(buf_cstr(&path), buf_str(&json), e) || keep_rows(ev, b, s, buf_cstr(&stage),
				name, buf_str(&json), e) ? -1 : 0;
	buf_release(&path);
	buf_release(&json);
	buf_release(&stage);
	return rc;
}
