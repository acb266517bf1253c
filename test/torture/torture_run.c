/* Torture of a run's parts: the store, checkpoints and metrics, a training step, sampling, the judge. */
#include "torture.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "infer/infer.h"
#include "store/store.h"
#include "train/checkpoint.h"
#include "train/metrics.h"
#include "train/step.h"
#include "verify/pool/verdict_cache.h"
#include "verify/funnel/judgement.h"

static const char *in(const char *name)
{
	static char path[4][128];
	static int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof *path, "%s/%s", torture_dir(), name);
	return p;
}

/* --- the store ------------------------------------------------------------------------------- */

static int put_all(struct store *s, struct err *e)
{
	struct store_sample sample = { .stage = "rl", .step = 1, .task = STR("t"), .answer = STR("answer"), .code = STR("code"),
				       .finish = "stop", .judged = 1, .reached = "full", .reason = "ok", .verdict = STR("{}") };
	struct store_step step = { .stage = "rl", .step = 1, .loss = 2.5, .extra = STR("{}") };
	struct verdict v = { .correct = 1 };

	return store_begin(s, e) || store_put_meta(s, "key", STR("value"), e) || store_put_sample(s, &sample, e) ||
	       store_put_step(s, &step, e) || verdict_cache_put(s, "0123", &v, e) || store_commit(s, e) ? -1 : 0;
}

static int work_store(struct err *e)
{
	struct store *s = NULL;
	struct buf b = BUF_INIT;
	struct verdict v;
	int rc = store_open(&s, in("run.db"), e);

	if (!rc)
		rc = put_all(s, e);
	if (rc && s)
		store_rollback(s);
	if (!rc)
		rc = store_get_meta(s, "key", &b, e) == 1 && !b.failed ? 0 : err_nomem(e);
	if (!rc)
		TORTURE_NEED(str_eq(buf_str(&b), STR("value")));
	if (!rc)
		rc = verdict_cache_get(s, "0123", &v, e) == 1 ? 0 : -1;
	if (!rc)
		TORTURE_NEED(v.correct == 1);
	buf_release(&b);
	store_close(s);
	return rc;
}

/* --- what training leaves behind ------------------------------------------------------------- */

/* A checkpoint is complete or absent, whatever fails. */
static int work_checkpoint(struct err *e)
{
	struct buf path = BUF_INIT, state = BUF_INIT;
	struct err why = ERR_INIT;
	char *dir = NULL;
	int rc = checkpoint_begin(torture_dir(), "c-1", &dir, e);

	if (!rc) {
		buf_addf(&path, "%s/weights", dir);
		rc = buf_check(&path, e) || file_replace(path.p, STR("0123456789"), e) ||
		     checkpoint_commit(torture_dir(), "c-1", dir, STR("{\"step\": 1}"), e) ? -1 : 0;
	}
	if (!rc)
		rc = checkpoint_verify(in("c-1"), &state, e) || buf_check(&state, e) ? -1 : 0;
	if (!rc)
		TORTURE_NEED(strstr(state.p, "step"));
	if (rc && dir)
		file_remove_tree(dir, &why);
	mem_free(dir);
	buf_release(&path);
	buf_release(&state);
	return rc;
}

static int work_metrics(struct err *e)
{
	struct store_step step = { .stage = "sft", .step = 1, .loss = 1.5, .lr = 1e-4 };
	struct metric extra = { .name = "x", .value = 2 };
	struct metrics m;
	int rc;

	if (metrics_open(&m, torture_dir(), NULL, "sft", 0, e))
		return -1;
	rc = metrics_step(&m, &step, &extra, 1, e);
	metrics_close(&m);
	return rc;
}

/* --- the model --------------------------------------------------------------------------------- */

static const struct model_config tiny = {
	.arch = ARCH_QWEN2, .V = 61, .C = 16, .L = 1, .H = 2, .HKV = 1, .D = 8, .F = 24, .max_position = 64,
	.eps = 1e-6f, .rope_theta = 10000, .tied = 1, .qkv_bias = 1, .bos = -1, .eos = 5,
};
static const int32_t tokens[] = { 1, 2, 3, 50, 60, 7, 8, 9 };

static int train_on(struct model *m, struct err *e)
{
	struct trainer_opts o = { .tape = { .max_tokens = 16, .seed = 7 }, .optim = OPTIM_DEFAULTS };
	struct train_seq seq = { .tokens = tokens, .n = COUNT_OF(tokens) };
	struct train_report r;
	struct adapter *a = adapter_new(m, &(struct adapter_opts){ .r = 2, .alpha = 4, .targets = LORA_ALL, .seed = 2 }, e);
	struct trainer *t = a ? trainer_new(m, a, &o, e) : NULL;
	int rc = t ? trainer_step(t, &seq, 1, &r, e) : -1;

	if (!rc)
		TORTURE_NEED(r.loss > 3 && r.loss < 6 && r.optim.step == 1);
	trainer_free(t);
	adapter_free(a);
	return rc;
}

static void done(void *ctx, const struct infer_result *r)
{
	*(int *)ctx += r->n;
}

static int sample_from(struct model *m, struct err *e)
{
	struct infer_request q = { .prompt = tokens, .prompt_n = COUNT_OF(tokens), .n = 2, .seed = 3, .sample = { .temperature = 1 },
				   .max_new_tokens = 4 };
	struct infer_stats st;
	int drawn = 0;
	struct infer *x = infer_new(m, NULL, NULL, &(struct infer_opts){ .slots = 2, .length = 32 }, e);
	int rc = x ? infer_run_list(x, &q, 1, &(struct infer_calls){ .done = done, .ctx = &drawn }, &st, e) : -1;

	if (!rc)
		TORTURE_NEED(drawn == 8);
	infer_free(x);
	return rc;
}

static int with_model(int (*work)(struct model *m, struct err *e), struct err *e)
{
	struct dev *d = dev_open("cpu", 1, e);
	struct model *m = d ? model_new(d, &tiny, &(struct model_opts){ .seed = 1, .init_std = 0.02f }, e) : NULL;
	int rc = m ? work(m, e) : -1;

	model_free(m);
	dev_close(d);
	return rc;
}

static int work_train(struct err *e) { return with_model(train_on, e); }
static int work_infer(struct err *e) { return with_model(sample_from, e); }

/* --- the judge ------------------------------------------------------------------------------------ */

static const char task[] =
	"import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
	"    def forward(self, x):\n        return torch.relu(x) * 2\nn = 40\n"
	"def get_inputs():\n    return [torch.randn(4, n)]\ndef get_init_inputs():\n    return []\n";

/* Twice what relu gives would be right; this adds one. */
static const char wrong[] =
	"import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n@triton.jit\n"
	"def k(x_ptr, y_ptr, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
	"    x = tl.load(x_ptr + i, mask=i < n)\n    tl.store(y_ptr + i, tl.maximum(x, 0.0) * 2 + 1, mask=i < n)\n"
	"class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n"
	"        y = torch.empty_like(x)\n        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64)\n        return y\n";

/* Whatever fails, a wrong candidate does not become a correct one. */
static int work_judge(struct err *e)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct verdict v = { .correct = 0 };
	struct judge *j = judge_new(&o, e);
	struct task *t = j ? task_open(j, str_of(task), "task", e) : NULL;
	int rc = t ? judge_candidate(j, t, str_of(wrong), &v, e) : -1;

	TORTURE_NEED(!v.correct);
	task_free(t);
	judge_free(j);
	return rc;
}

int main(void)
{
	static const struct torture_case cases[] = {
		{ .name = "store", .work = work_store, .tolerant = 1 },
		{ .name = "checkpoint", .work = work_checkpoint },
		{ .name = "metrics", .work = work_metrics },
		{ .name = "training step", .work = work_train },
		{ .name = "sampling", .work = work_infer },
		{ .name = "judge", .work = work_judge, .tolerant = 1, .most = 1000 },
	};

	log_set_level(LOG_OFF);
	return torture_main(cases, COUNT_OF(cases));
}
