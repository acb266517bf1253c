/* The judge inside one process: what a task finds out about itself, and that candidates do not
 * see each other. */
#include "check.h"

#include <stdio.h>

#include "num/num.h"
#include "verify/funnel/judgement.h"
#include "verify/task/mutant.h"
#include "verify/task/task.h"
#include "verify/pool/warm.h"

#define HEAD "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
#define TAIL "rows = 16\ncols = 40\n" \
	"def get_inputs():\n    return [torch.RANDOM(rows, cols)]\ndef get_init_inputs():\n    return []\n"

/* A task whose forward is `body` over inputs of torch.rand or torch.randn. */
static struct task *open_task(struct judge *j, const char *body, const char *draw)
{
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	const char *tail = TAIL, *at = strstr(tail, "RANDOM");
	struct task *t;

	buf_addf(&b, "%sclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n%s", HEAD, body);
	buf_add(&b, tail, (size_t)(at - tail));
	buf_addf(&b, "%s%s", draw, at + strlen("RANDOM"));
	t = task_open(j, buf_str(&b), "task", &e);
	buf_release(&b);
	assert_non_null(t);
	return t;
}

static struct judge *open_judge(unsigned off)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge *j;

	o.ext_off = off;
	j = judge_new(&o, &e);
	assert_non_null(j);
	return j;
}

/* A pointwise candidate: `value` of x, `before` in forward. */
static struct verdict judge_value(struct judge *j, const struct task *t, const char *value, const char *before)
{
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	struct verdict v;

	buf_addf(&b, "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n@triton.jit\n"
		     "def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
		     "    mask = offs < n\n    x = tl.load(x_ptr + offs, mask=mask, other=0.0)\n    tl.store(out_ptr + offs, %s, mask=mask)\n\n"
		     "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n%s"
		     "        out = torch.empty_like(x)\n        n = x.numel()\n"
		     "        kernel[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)\n        return out\n", value, before);
	assert_int_equal(judge_candidate(j, t, buf_str(&b), &v, &e), 0);
	buf_release(&b);
	return v;
}

static const struct verdict_input *input(const struct verdict *v, const char *kind)
{
	for (int i = 0; i < v->n_inputs; i++)
		if (!strcmp(v->inputs[i].kind, kind))
			return &v->inputs[i];
	return NULL;
}

static int has_trial(const struct task *t, const char *kind)
{
	for (int i = 0; i < t->image.n_trials; i++)
		if (!strcmp(trial_name(t->image.trial[i].kind), kind))
			return 1;
	return 0;
}

static const char relu[] = "        x = torch.relu(x)\n        return x * 2.0\n";

/* --- candidates do not see each other --------------------------------------------------------- */

static void strip_times(struct verdict *v)
{
	for (int i = 0; i < STAGES; i++)
		v->stages[i].ms = 0.0;
	v->prepare_ms = 0.0;
}

static void test_order_does_not_matter(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, relu, "randn");
	static const char *const values[] = { "tl.maximum(x, 0.0) * 2.0", "x * 2.0", "tl.maximum(x, 0.0) / 0.0" };
	struct verdict first[3], again;

	(void)state;
	for (int i = 0; i < 3; i++)
		first[i] = judge_value(j, t, values[i], "");
	assert_true(first[0].correct);
	assert_false(first[1].correct);
	for (int i = 2; i >= 0; i--) {
		again = judge_value(j, t, values[i], "");
		strip_times(&again);
		strip_times(&first[i]);
		assert_memory_equal(&again, &first[i], sizeof again);
	}
	task_free(t);
	judge_free(j);
}

/* Inputs, weights and expected results belong to the task: a candidate gets copies. */
static void test_inputs_are_the_tasks(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, relu, "randn");
	struct verdict v = judge_value(j, t, "tl.maximum(x, 0.0) * 2.0", "        x.zero_()\n");

	(void)state;
	assert_false(v.correct);
	assert_true(judge_value(j, t, "tl.maximum(x, 0.0) * 2.0", "").correct);
	task_free(t);
	judge_free(j);
}

/* --- relations ----------------------------------------------------------------------------------- */

static void test_relations(void **state)
{
	struct judge *j = open_judge(0), *off = open_judge(1u << EXT_metamorphic);
	struct task *soft = open_task(j, "        return torch.softmax(x, dim=1)\n", "randn");
	struct task *cube = open_task(j, "        return x * x * x\n", "randn");
	struct task *sum = open_task(j, "        return x.sum(dim=0)\n", "randn");
	struct task *none = open_task(off, "        return torch.softmax(x, dim=1)\n", "randn");

	(void)state;
	assert_true(has_trial(soft, "meta.shift") && has_trial(soft, "meta.slice") && has_trial(soft, "meta.permute"));
	assert_false(has_trial(soft, "meta.negate") || has_trial(soft, "meta.scale") || has_trial(soft, "meta.add"));
	assert_true(has_trial(cube, "meta.negate") && has_trial(cube, "meta.scale"));
	assert_false(has_trial(cube, "meta.add") || has_trial(cube, "meta.shift"));
	assert_true(has_trial(sum, "meta.add") && has_trial(sum, "meta.permute"));
	assert_false(has_trial(none, "meta.shift"));
	assert_int_equal(soft->image.trial[soft->image.n_trials - 1].dt, DT_F16);        /* it stays the last */
	task_free(soft);
	task_free(cube);
	task_free(sum);
	task_free(none);
	judge_free(j);
	judge_free(off);
}

/* --- without the general contract ----------------------------------------------------------------- */

static struct judge *open_lean_judge(void)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge *j;

	o.skip_general = 1;
	j = judge_new(&o, &e);
	assert_non_null(j);
	return j;
}

/* The sets that nobody runs are not there, and the mutants that only they tell apart are not named for it. */
static void test_lean_task(void **state)
{
	static const char clamped[] = "        return torch.clamp(x, -8.0, 8.0) * torch.relu(x)\n";
	struct judge *j = open_judge(0), *lean = open_lean_judge();
	const char *const body[] = { relu, clamped };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct task *whole = open_task(j, body[i], "randn"), *own = open_task(lean, body[i], "randn");

		for (int k = 0; k < own->image.n_trials; k++) {
			assert_int_equal(trial_contract(own->image.trial[k].kind), CONTRACT_TASK);
			assert_int_equal(own->image.trial[k].kind, whole->image.trial[k].kind);
			assert_true(own->expect[k].expected.r[0].rel == whole->expect[k].expected.r[0].rel);
		}
		assert_true(own->image.n_trials < whole->image.n_trials);
		assert_memory_equal(&own->check, &whole->check, sizeof own->check);
		assert_true(judge_value(lean, own, i ? "tl.minimum(tl.maximum(x, -8.0), 8.0) * tl.maximum(x, 0.0)" : "tl.maximum(x, 0.0) * 2.0", "").correct);
		task_free(whole);
		task_free(own);
	}
	judge_free(j);
	judge_free(lean);
}

static struct task *open_large(struct judge *j)
{
	struct err e = ERR_INIT;
	struct task *t = task_open(j, STR(HEAD "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n"
					       "        x = torch.relu(x)\n        return x * 2.0\n"
					       "rows = 4096\ncols = 4096\ndef get_inputs():\n    return [torch.randn(rows, cols)]\n"
					       "def get_init_inputs():\n    return []\n"), "task", &e);

	assert_non_null(t);
	return t;
}

/* A task that candidates are judged by at other sizes has but its first set; its mutants are told apart all the same. The whole has
 * what the task has under the other judge. */
static void test_outline(void **state)
{
	struct judge *j = open_judge(0), *lean = open_lean_judge();
	struct task *t = open_large(j), *outline = open_large(lean), *whole;
	struct err e = ERR_INIT;
	struct verdict v;

	(void)state;
	assert_false(t->is_outline);
	assert_true(outline->is_outline);
	assert_int_equal(outline->image.n_trials, 1);
	assert_true(outline->check.mutants > 0);
	assert_memory_equal(&outline->check, &t->check, sizeof t->check);
	v = judge_value(lean, outline, "tl.maximum(x, 0.0) * 2.0", "");
	assert_true(v.correct && v.size == SIZE_SHRUNK && v.n_inputs > 3);
	assert_false(judge_value(lean, outline, "tl.maximum(x, 0.0) * 2.01", "").correct);
	whole = task_open_whole(outline, &e);
	assert_non_null(whole);
	assert_true(whole->image.n_trials > 3 && whole->image.n_trials < t->image.n_trials);
	for (int k = 0; k < whole->image.n_trials; k++)
		assert_int_equal(whole->image.trial[k].kind, t->image.trial[k].kind);
	task_free(whole);
	task_free(outline);
	task_free(t);
	judge_free(j);
	judge_free(lean);
}

/* --- mutants ------------------------------------------------------------------------------------- */

static void test_mutants_of_a_tree(void **state)
{
	static const char source[] = "class Model:\n    def forward(self, x):\n        x = torch.relu(self.conv(x))\n"
				     "        x = x.contiguous() * 0.5\n        return x.sum(dim=-1)\n";
	struct py_module m;
	struct err e = ERR_INIT;
	struct mutant x[MUTANTS_MOST];
	struct buf before = BUF_INIT, text = BUF_INIT;
	int n;

	(void)state;
	assert_int_equal(py_parse(&m, str_of(source), "task", 0, &e), 0);
	py_print(m.root, &before);
	n = mutants_find(&m, x, MUTANTS_MOST);
	assert_int_equal(n, 6);          /* relu, conv, half of *, sum, its axis, the first two lines swapped */
	for (int i = 0; i < n; i++) {
		buf_clear(&text);
		mutant_apply(&x[i]);
		py_print(m.root, &text);
		assert_string_not_equal(buf_cstr(&text), buf_cstr(&before));
		buf_clear(&text);
		mutant_undo(&x[i]);
		py_print(m.root, &text);
		assert_string_equal(buf_cstr(&text), buf_cstr(&before));
	}
	assert_int_equal(mutants_find(&m, x, 2), 2);
	buf_release(&before);
	buf_release(&text);
	py_release(&m);
}

/* A ReLU over torch.rand shows where signs change, which the contract of the task asks for. */
static void test_signs_are_the_tasks(void **state)
{
	struct judge *j = open_judge(0), *off = open_judge(1u << EXT_multi_input);
	struct task *t = open_task(j, relu, "rand"), *weak = open_task(off, relu, "rand");

	(void)state;
	assert_true(has_trial(t, "signed"));
	assert_false(judge_value(j, t, "x * 2.0", "").correct);
	assert_true(judge_value(j, t, "tl.maximum(x, 0.0) * 2.0", "").correct);
	assert_true(judge_value(off, weak, "x * 2.0", "").correct);
	task_free(t);
	task_free(weak);
	judge_free(j);
	judge_free(off);
}

/* A limit that no draw of the task reaches: a stronger set is added, which is general's alone. */
static void test_stronger_inputs(void **state)
{
	/* Between -40 and -20 only `wide` has values. */
	static const char limit[] = "        x = torch.where(x < -40.0, x, F.hardtanh(x, -20.0, 1e6))\n        return x * 2.0\n";
	struct judge *j = open_judge(0), *off = open_judge(1u << EXT_mutation);
	struct task *t = open_task(j, limit, "rand"), *weak = open_task(off, limit, "rand");
	struct verdict v = judge_value(j, t, "x * 2.0", "");

	(void)state;
	assert_true(has_trial(t, "wide"));
	assert_false(has_trial(weak, "wide"));
	assert_true(v.correct && v.general.ran && !v.general.correct);
	assert_int_equal(v.task.survivors, 0);
	assert_true(v.task.mutants > 1);
	v = judge_value(j, t, "tl.where(x < -40.0, x, tl.minimum(tl.maximum(x, -20.0), 1e6)) * 2.0", "");
	assert_true(v.correct && v.general.correct);
	task_free(t);
	task_free(weak);
	judge_free(j);
	judge_free(off);
}

static void test_survivors_are_named(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, "        x = torch.relu(x)\n        x = torch.abs(x)\n        return x + 1.0\n", "randn");
	struct verdict v = judge_value(j, t, "tl.maximum(x, 0.0) + 1.0", "");
	struct buf b = BUF_INIT;

	(void)state;
	assert_true(v.correct);
	assert_int_equal(v.task.survivors, 1);
	assert_contains(v.task.survivor, "abs dropped");
	task_describe(t, &b);
	assert_contains(buf_cstr(&b), "abs dropped");
	buf_release(&b);
	task_free(t);
	judge_free(j);
}

/* --- dtypes, stages -------------------------------------------------------------------------------- */

static void test_skipped_dtype_is_said(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, relu, "randn");
	struct verdict v = judge_value(j, t, "tl.maximum(x, 0.0) * 2.0", "        assert x.dtype == torch.float32\n");
	struct verdict both = judge_value(j, t, "tl.maximum(x, 0.0) * 2.0", "");
	const struct verdict_input *refused = input(&v, "dtype"), *taken = input(&both, "dtype");

	(void)state;
	assert_true(v.correct && both.correct);
	assert_non_null(refused);
	assert_non_null(taken);
	assert_string_equal(refused->skipped, "the candidate takes fp32 only");
	assert_string_equal(taken->skipped, "");
	task_free(t);
	judge_free(j);
}

/* A model that does not fit is judged smaller, and the verdict says so. */
static void test_model_too_large(void **state)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct str source = STR(HEAD "width = 8192\nrows = 8\nclass Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
				"        self.lin = nn.Linear(n, n)\n    def forward(self, x):\n        return self.lin(x)\n"
				"def get_inputs():\n    return [torch.randn(rows, width)]\ndef get_init_inputs():\n    return [width]\n");
	struct judge *j;
	struct task *t;
	struct verdict v;

	(void)state;
	o.memory = (size_t)64 << 20;
	o.identity = 1;
	o.track = TRACK_HYBRID;
	j = judge_new(&o, &e);
	t = task_open(j, source, "task", &e);
	assert_non_null(t);
	assert_int_equal(task_problem(t)->reason, REASON_ok);
	assert_int_equal(judge_candidate(j, t, source, &v, &e), 0);
	assert_true(v.correct && v.task.model_shrunk && v.size == SIZE_SHRUNK);
	assert_string_equal(v.inputs[0].shape, "8x256");
	task_free(t);
	judge_free(j);
}

/* One whose constructor gets the batch is too large for that alone: the batch goes down until a run is not. */
static void test_batch_of_the_model(void **state)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct str source = STR(HEAD "batch = 2048\nwidth = 128\nclass Model(nn.Module):\n    def __init__(self, b, n):\n        super().__init__()\n"
				"        self.w = nn.Parameter(torch.randn(b, n, n))\n    def forward(self, x):\n        return torch.bmm(self.w, x)\n"
				"def get_inputs():\n    return [torch.randn(batch, width, width)]\ndef get_init_inputs():\n    return [batch, width]\n");
	struct judge *j = judge_new(&o, &e);
	struct task *t = task_open(j, source, "task", &e);

	(void)state;
	assert_non_null(t);
	assert_int_equal(task_problem(t)->reason, REASON_ok);
	assert_true(t->check.model_shrunk && t->image.trial[1].shape[0] < 1024 && t->image.trial[1].shape[1] == 128);
	task_free(t);
	judge_free(j);
}

/* A result of zeros: the reference passes its own test, nobody else is judged by it. */
static void test_unfit_task(void **state)
{
	static const char body[] = "        return torch.relu(-torch.abs(x))\n";
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge *j = open_judge(0), *own;
	struct task *t = open_task(j, body, "randn"), *s;
	struct verdict v;

	(void)state;
	assert_int_equal(task_problem(t)->reason, REASON_bad_task);
	o.identity = 1;
	o.track = TRACK_HYBRID;
	own = judge_new(&o, &e);
	s = open_task(own, body, "randn");
	assert_int_equal(task_problem(s)->reason, REASON_ok);
	assert_int_equal(judge_candidate(own, s, str_of(s->image.source), &v, &e), 0);
	assert_true(v.correct);
	assert_contains(v.task.unfit, "cannot be told");
	task_free(t);
	task_free(s);
	judge_free(j);
	judge_free(own);
}

#define NORMED "class Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.norm = nn.LayerNorm(n)\n" \
	       "        self.scale = nn.Parameter(torch.zeros(n))\n    def forward(self, x):\n"
#define NORMED_DRAW "def get_inputs():\n    return [torch.randn(16, 64)]\ndef get_init_inputs():\n    return [64]\n"

/* Is the first result that is not zero less than what rounding does to it? */
static int is_rounded_away(const struct task *t)
{
	for (int i = 0; i < t->image.n_trials; i++)
		if (t->expect[i].expected.r[0].rms > 0.0)
			return t->expect[i].rounding >= 1.0;
	return 0;
}

/* The mean of what a norm made is rounding with the weights that it starts with, and no two programs round alike; one that is zero with them,
 * to the last bit, judges by others. */
static void test_noise_for_a_result(void **state)
{
	static const struct { struct str source; enum reason reason; } c[] = {
		{ STR(HEAD NORMED "        return self.norm(x).mean(dim=1)\n" NORMED_DRAW), REASON_bad_task },
		{ STR(HEAD NORMED "        return (self.norm(x) * (self.scale + 1.0)).mean(dim=1)\n" NORMED_DRAW), REASON_bad_task },
		{ STR(HEAD NORMED "        return self.norm(x).amax(dim=1)\n" NORMED_DRAW), REASON_ok },
		{ STR(HEAD NORMED "        return (self.norm(x) * self.scale).mean(dim=1)\n" NORMED_DRAW), REASON_ok },
	};
	struct judge *j = open_judge(0);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(c); i++) {
		struct err e = ERR_INIT;
		struct task *t = task_open(j, c[i].source, "task", &e);

		assert_non_null(t);
		assert_int_equal(task_problem(t)->reason, c[i].reason);
		assert_true(is_rounded_away(t) == (c[i].reason != REASON_ok));
		task_free(t);
	}
	judge_free(j);
}

/* KernelBench compares with what PyTorch gives on a GPU, convolutions in tf32. A candidate that leaves them to PyTorch has the same there; one
 * that says 1e-3 more has not. */
static void test_products_left_to_torch(void **state)
{
	static const char task[] = HEAD "class Model(nn.Module):\n    def __init__(self, c):\n        super().__init__()\n        self.conv = nn.Conv2d(c, 32, 3)\n"
		"    def forward(self, x):\n        return torch.relu(self.conv(x))\n"
		"def get_inputs():\n    return [torch.randn(2, 32, 16, 16)]\ndef get_init_inputs():\n    return [32]\n";
	static const char *const more[] = { "0.0", "0.001" };
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge *j;
	struct task *t;

	(void)state;
	o.track = TRACK_HYBRID;
	j = judge_new(&o, &e);
	t = task_open(j, str_of(task), "task", &e);
	assert_non_null(t);
	for (size_t i = 0; i < COUNT_OF(more); i++) {
		struct buf b = BUF_INIT;
		struct verdict v;

		buf_addf(&b, HEAD "import triton\nimport triton.language as tl\n@triton.jit\ndef relu(x_ptr, n, BLOCK: tl.constexpr):\n"
			 "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    x = tl.load(x_ptr + i, mask=i < n, other=0.0)\n"
			 "    tl.store(x_ptr + i, tl.maximum(x, 0.0) + %s, mask=i < n)\nclass ModelNew(nn.Module):\n    def __init__(self, c):\n"
			 "        super().__init__()\n        self.conv = nn.Conv2d(c, 32, 3)\n    def forward(self, x):\n        y = self.conv(x)\n"
			 "        relu[(triton.cdiv(y.numel(), 1024),)](y, y.numel(), BLOCK=1024)\n        return y\n", more[i]);
		assert_int_equal(judge_candidate(j, t, buf_str(&b), &v, &e), 0);
		assert_int_equal(v.kernelbench, !i);
		buf_release(&b);
	}
	task_free(t);
	judge_free(j);
}

static void test_without_funnel(void **state)
{
	struct judge *j = open_judge(1u << EXT_funnel);
	struct task *t = open_task(j, relu, "randn");
	struct verdict good = judge_value(j, t, "tl.maximum(x, 0.0) * 2.0", ""), bad = judge_value(j, t, "x * 2.0", "");

	(void)state;
	assert_true(good.correct && good.reward >= 0.7);
	assert_null(input(&good, "tiny"));
	assert_int_equal(bad.stage, STAGE_full);
	assert_true(bad.reward == 0.0);
	task_free(t);
	judge_free(j);
}

/* --- fuel ------------------------------------------------------------------------------------------ */

/* More than the first run is given: there are no smaller sizes, so it has more time at these. */
static void test_long_loop(void **state)
{
	static const char source[] =
		"import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n@triton.jit\n"
		"def kernel(x_ptr, out_ptr, n, turns, BLOCK: tl.constexpr):\n    offs = tl.arange(0, BLOCK)\n    mask = offs < n\n"
		"    x = tl.load(x_ptr + offs, mask=mask, other=0.0)\n    k = 0\n    for i in range(turns):\n        k = k ^ i\n"
		"    k = k & 0\n    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 2.0 + k, mask=mask)\n\n"
		"class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n"
		"        out = torch.empty_like(x)\n        kernel[(1,)](x, out, x.numel(), 2500000, BLOCK=1024)\n        return out\n";
	struct judge *j = open_lean_judge();
	struct task *t = open_task(j, relu, "randn");
	struct err e = ERR_INIT;
	struct verdict v;

	(void)state;
	assert_int_equal(judge_candidate(j, t, str_of(source), &v, &e), 0);
	assert_true(v.correct);
	assert_non_null(input(&v, "reseeded"));
	task_free(t);
	judge_free(j);
}

/* --- tolerance ---------------------------------------------------------------------------------- */

/* Functions that a kernel makes of exp and log lose digits near zero that torch's do not: that is
 * rounding. Another function, even one so close, is not. */
static void test_kernels_own_rounding(void **state)
{
	static const struct { const char *body, *good, *bad; } c[] = {
		{ "        return torch.tanh(x * 0.001)\n", "2.0 * tl.sigmoid(2.0 * (x * 0.001)) - 1.0", "x * 0.00102" },
		{ "        return F.elu(x * 0.001)\n", "tl.where(x > 0.0, x * 0.001, tl.exp(x * 0.001) - 1.0)", "x * 0.00102" },
		{ "        return F.logsigmoid(8.0 + 0.1 * x)\n", "-tl.log(1.0 + tl.exp(-(8.0 + 0.1 * x)))", "-tl.exp(-(8.0 + 0.12 * x))" },
	};
	struct judge *j = open_judge(0);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(c); i++) {
		struct task *t = open_task(j, c[i].body, "randn");
		struct verdict good = judge_value(j, t, c[i].good, ""), bad = judge_value(j, t, c[i].bad, "");

		assert_int_equal(task_problem(t)->reason, REASON_ok);
		assert_true(good.correct);
		assert_false(bad.correct);
		task_free(t);
	}
	judge_free(j);
}

/* Where rounding is larger than the result, the task is at fault, not who is judged by it. */
static void test_ill_conditioned_task(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, "        return F.tanhshrink(x * 1e-6)\n", "rand");

	(void)state;
	assert_int_equal(task_problem(t)->reason, REASON_bad_task);
	task_free(t);
	judge_free(j);
}

/* Where products in tf32 leave nothing of the result, the task is judged by products in fp32. */
static void test_drowned_products(void **state)
{
	static const char body[] = "        p = torch.matmul(x / x.abs().max() * 1e-4 + 1.0, torch.ones(x.shape[1], 8, device=x.device) / x.shape[1])\n"
				   "        return (p - p.mean(0)) / (p.std(0) + 1e-7)\n";
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge *j;
	struct task *t;

	(void)state;
	o.precision = PRECISION_TF32;
	j = judge_new(&o, &e);
	t = open_task(j, body, "rand");
	assert_int_equal(task_problem(t)->reason, REASON_ok);
	assert_true(t->exact);
	task_free(t);
	t = open_task(j, "        return torch.matmul(x, x.t())\n", "rand");
	assert_false(t->exact);
	task_free(t);
	judge_free(j);
}

/* Small inputs whose results are large are shrunk until those can be held several times over. */
static void test_large_results(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, "        return x[:, :, None, None] * torch.ones(1, 1, 256, 256, device=x.device)\n", "rand");

	(void)state;
	assert_int_equal(task_problem(t)->reason, REASON_ok);
	for (int i = 0; i < t->image.n_trials; i++)
		assert_true(t->expect[i].expected.r[0].n <= (int64_t)1 << 23);
	task_free(t);
	judge_free(j);
}

/* A size only counts where neither the first nor the last of its rows sees any other. */
static void test_sizes_that_count(void **state)
{
	static const struct { const char *body; unsigned axes; } tasks[] = {
		{ "        return x * 2.0\n", 3 },
		{ "        return torch.softmax(x, 1)\n", 1 },
		{ "        return torch.cumsum(x, 0) / torch.arange(1, x.shape[0] + 1, device=x.device).unsqueeze(1)\n", 2 },
		{ "        return (torch.cumsum(x.flip(0), 0) / torch.arange(1, x.shape[0] + 1, device=x.device).unsqueeze(1)).flip(0)\n", 2 },
		{ "        return x / x.shape[0]\n", 2 },
	};
	static const int64_t small[TASK_SIZES] = { 4, 5 };
	struct judge *j = open_judge(0);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tasks); i++) {
		struct task *t = open_task(j, tasks[i].body, "rand");
		struct err e = ERR_INIT;
		unsigned axes;

		assert_int_equal(task_find_axes(t, small, 3, &axes, &e), 0);
		assert_int_equal(axes, tasks[i].axes);
		task_free(t);
	}
	judge_free(j);
}

/* So do sizes of the model: what a product or a convolution gives, unless something is done across it. */
static void test_sizes_of_the_model_that_count(void **state)
{
	static const struct { const char *made, *body; unsigned axes; } tasks[] = {
		{ "nn.Linear(inner, outer)", "torch.relu(self.m(x))", 5 },
		{ "nn.Linear(inner, outer)", "torch.softmax(self.m(x), 1)", 1 },
		{ "nn.Linear(inner, outer)", "self.m(x) / self.m.out_features", 1 },
		{ "nn.Conv1d(1, outer, 3)", "self.m(x.unsqueeze(1))", 5 },
	};
	static const int64_t small[TASK_SIZES] = { 4, 6, 5 };
	struct judge *j = open_judge(0);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tasks); i++) {
		struct err e = ERR_INIT;
		char source[600];
		unsigned axes;
		struct task *t;

		snprintf(source, sizeof source, "import torch\nimport torch.nn as nn\n"
			 "class Model(nn.Module):\n"
			 "    def __init__(self, inner, outer):\n        super().__init__()\n        self.m = %s\n"
			 "    def forward(self, x):\n        return %s\n"
			 "batch = 64\ninner = 96\nouter = 80\n"
			 "def get_inputs():\n    return [torch.randn(batch, inner)]\n"
			 "def get_init_inputs():\n    return [inner, outer]\n", tasks[i].made, tasks[i].body);
		t = task_open(j, str_of(source), "task", &e);
		assert_non_null(t);
		assert_int_equal(t->image.n_all, 3);
		assert_int_equal(task_find_axes(t, small, 7, &axes, &e), 0);
		assert_int_equal(axes, tasks[i].axes);
		task_free(t);
	}
	judge_free(j);
}

/* One constant is several axes: each position of it is an axis of its own. */
static void test_axes_by_position(void **state)
{
	static const struct { const char *body, *inputs; int axes, symmetric; unsigned cut[3]; } tasks[] = {
		/* rows of A, columns of B */
		{ "a @ b", "torch.rand(n, n), torch.rand(n, n), torch.rand(n, n)", 2, 0, { 1, 2, 0 } },
		/* columns of A and rows of B, if both are transposed */
		{ "a.T @ b.T", "torch.rand(n, n), torch.rand(n, n), torch.rand(n, n)", 2, 0, { 2, 1, 0 } },
		/* rows of A and C are one axis, columns of B and C another one */
		{ "a @ b + c", "torch.rand(n, n), torch.rand(n, n), torch.rand(n, n)", 2, 0, { 1, 2, 3 } },
		/* queries are independent, keys and values are not */
		{ "torch.softmax(a @ b.T, -1) @ c", "torch.rand(n, 8), torch.rand(n, 8), torch.rand(n, 8)", 1, 0,
		  { 1, 0, 0 } },
		/* each column of a softmax over rows depends on all of its rows */
		{ "torch.softmax(a, 0) @ b", "torch.rand(n, n), torch.rand(n, n), torch.rand(n, n)", 1, 0, { 0, 2, 0 } },
		/* a row that depends on its number is no axis */
		{ "torch.triu(a @ b)", "torch.rand(n, n), torch.rand(n, n), torch.rand(n, n)", 0, 0, { 0, 0, 0 } },
		{ "a @ b", "(lambda x: x + x.T)(torch.rand(n, n)), torch.rand(n, n), torch.rand(n, n)", 2, 1, { 1, 2, 0 } },
		/* the zeros of a triangle would be lost where rows repeat others */
		{ "a @ b", "torch.tril(torch.rand(n, n)), torch.rand(n, n), torch.rand(n, n)", 0, 0, { 0, 0, 0 } },
	};
	static const int64_t small[TASK_SIZES] = { 6 };
	struct judge *j = open_judge(0);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tasks); i++) {
		struct err e = ERR_INIT;
		struct axis_positions at;
		char source[600];
		unsigned whole;
		struct task *t;

		snprintf(source, sizeof source, "import torch\nimport torch.nn as nn\n"
			 "class Model(nn.Module):\n    def forward(self, a, b, c):\n        return %s\n"
			 "n = 96\ndef get_inputs():\n    return [%s]\ndef get_init_inputs():\n    return []\n",
			 tasks[i].body, tasks[i].inputs);
		t = task_open(j, str_of(source), "task", &e);
		assert_non_null(t);
		assert_int_equal(task_find_axes(t, small, 1, &whole, &e), 0);
		assert_int_equal(whole, 0);
		assert_int_equal(task_find_positions(t, small, 0, &at, &e), 0);
		assert_int_equal(at.axes, tasks[i].axes);
		assert_int_equal(at.is_symmetric, tasks[i].symmetric);
		for (int k = 0; k < 3; k++)
			assert_int_equal(at.cut[k], tasks[i].cut[k]);
		task_free(t);
	}
	judge_free(j);
}

/* Along a local axis results have the period of the inputs, away from its ends. */
static void test_local_axes(void **state)
{
	static const struct { const char *made, *body; int period, size, local; } tasks[] = {
		{ "nn.Conv1d(2, 3, 5, padding=2)", "self.m(x)", 4, 24, 1 },
		{ "nn.Conv1d(2, 3, 5, stride=2)", "torch.relu(self.m(x))", 4, 25, 1 },
		{ "nn.ConvTranspose1d(2, 3, 4, stride=2)", "self.m(x)", 4, 24, 1 },
		/* a stride that does not divide the period */
		{ "nn.Conv1d(2, 3, 5, stride=3)", "self.m(x)", 4, 24, 0 },
		/* a window that does not fit between the ends and the middle */
		{ "nn.Conv1d(2, 3, 5, dilation=4)", "self.m(x)", 4, 20, 0 },
		/* a mean over the axis, also where it hardly shows, and a position in the result */
		{ "nn.Conv1d(2, 3, 5, padding=2)", "self.m(x).mean(2)", 4, 24, 0 },
		{ "nn.Conv1d(2, 3, 5, padding=2)", "self.m(x) + 1000 * torch.sigmoid(self.m(x).mean(2, True))", 4, 24, 0 },
		{ "nn.Conv1d(2, 3, 5)", "self.m(x) + torch.arange(x.shape[2] - 4, device=x.device)", 4, 24, 0 },
		{ "nn.MaxPool1d(2)", "torch.argmax(self.m(x), 2)", 4, 24, 1 },
		{ "nn.MaxPool1d(2)", "self.m(x).amax(2)", 4, 24, 1 },
	};
	static const int64_t small[TASK_SIZES] = { 3, 24 };
	struct judge *j = open_judge(0);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tasks); i++) {
		struct err e = ERR_INIT;
		struct axis_positions at;
		char source[700];
		struct task *t;

		snprintf(source, sizeof source, "import torch\nimport torch.nn as nn\n"
			 "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = %s\n"
			 "    def forward(self, x):\n        return %s\n"
			 "batch = 16\nlength = 512\ndef get_inputs():\n    return [torch.rand(batch, 2, length)]\n"
			 "def get_init_inputs():\n    return []\n", tasks[i].made, tasks[i].body);
		t = task_open(j, str_of(source), "task", &e);
		assert_non_null(t);
		assert_int_equal(task_is_local(t, small, 1, tasks[i].period, tasks[i].size, &at, &e), tasks[i].local);
		assert_int_equal(at.all[0], 4);
		task_free(t);
	}
	judge_free(j);
}

/* What fp16 does not hold says nothing; what it holds must still be right. */
static void test_overflow_hides_nothing(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, "        return x * 300000.0\n", "randn");
	struct verdict good = judge_value(j, t, "x.to(tl.float32) * 300000.0", "");
	struct verdict bad = judge_value(j, t, "x.to(tl.float32) * (300000.0 if x_ptr.dtype.element_ty == tl.float32 else 250000.0)", "");

	(void)state;
	assert_true(good.correct && input(&good, "dtype")->passed);
	assert_true(bad.correct && !bad.general.correct);
	assert_false(input(&bad, "dtype")->passed);
	task_free(t);
	judge_free(j);
}

/* An infinite element must be just that, and allows the finite ones nothing. */
static void test_infinite_elements(void **state)
{
	struct judge *j = open_judge(0);
	struct task *t = open_task(j, "        return torch.where(x > 0, x, float('-inf'))\n", "randn");

	(void)state;
	assert_int_equal(task_problem(t)->reason, REASON_ok);
	assert_true(judge_value(j, t, "tl.where(x > 0, x, float('-inf'))", "").correct);
	assert_false(judge_value(j, t, "tl.where(x > 0, x * 1.01, float('-inf'))", "").correct);
	assert_false(judge_value(j, t, "tl.where(x > 0, x, -3e38)", "").correct);
	assert_false(judge_value(j, t, "tl.where(x > 0, x, float('inf'))", "").correct);
	task_free(t);
	judge_free(j);
}

/* Every spelling of a product is one: its operands may be a sequence. */
static void test_products_are_found(void **state)
{
	static const struct { const char *body; unsigned products; } tasks[] = {
		{ "        return torch.matmul(x, x.t())\n", NUM_TF32_MATMUL },
		{ "        return torch.einsum('ij,kj->ik', x, x)\n", NUM_TF32_MATMUL },
		{ "        return torch.cat([x, x]) + 1.0\n", 0 },
	};
	struct judge *j = open_judge(0);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tasks); i++) {
		struct task *t = open_task(j, tasks[i].body, "rand");

		assert_int_equal(t->products, tasks[i].products);
		task_free(t);
	}
	judge_free(j);
}

/* The task that workers warm up on is judged to its end. */
static void warm_up_is_correct(void **state)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct verdict v;
	struct judge *j = judge_new(&o, &e);

	(void)state;
	assert_non_null(j);
	if (judge_warm_up(j, &v, &e) || !v.correct)
		fail_msg("%s%s", e.text, v.diag.text);
	judge_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_products_are_found), cmocka_unit_test(test_drowned_products),
		cmocka_unit_test(test_large_results), cmocka_unit_test(test_sizes_that_count), cmocka_unit_test(test_sizes_of_the_model_that_count),
		cmocka_unit_test(test_axes_by_position), cmocka_unit_test(test_local_axes),
		cmocka_unit_test(warm_up_is_correct),
		cmocka_unit_test(test_order_does_not_matter), cmocka_unit_test(test_inputs_are_the_tasks), cmocka_unit_test(test_relations),
		cmocka_unit_test(test_lean_task), cmocka_unit_test(test_outline), cmocka_unit_test(test_long_loop),
		cmocka_unit_test(test_mutants_of_a_tree), cmocka_unit_test(test_signs_are_the_tasks),
		cmocka_unit_test(test_stronger_inputs), cmocka_unit_test(test_survivors_are_named),
		cmocka_unit_test(test_skipped_dtype_is_said), cmocka_unit_test(test_without_funnel),
		cmocka_unit_test(test_model_too_large), cmocka_unit_test(test_batch_of_the_model), cmocka_unit_test(test_unfit_task),
		cmocka_unit_test(test_noise_for_a_result), cmocka_unit_test(test_products_left_to_torch),
		cmocka_unit_test(test_kernels_own_rounding), cmocka_unit_test(test_ill_conditioned_task), cmocka_unit_test(test_overflow_hides_nothing),
		cmocka_unit_test(test_infinite_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
