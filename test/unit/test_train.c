/* Training: schedules, steps that repeat bit for bit, resume, independence of threads. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/step.h"

static char tmp[64];

static const struct model_config tiny = {
	.arch = ARCH_QWEN3, .V = 61, .C = 32, .L = 2, .H = 4, .HKV = 2, .D = 8, .F = 48, .max_position = 512, .eps = 1e-6f,
	.rope_theta = 10000, .rope_factor = 1, .tied = 1, .qk_norm = 1, .bos = -1, .eos = 3,
};

#define OK(x) do { struct err e_ = ERR_INIT, *e = &e_; if (x) fail_msg("%s: %s", #x, e_.text); } while (0)

static const char *in_tmp(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", tmp, name);
	return path;
}

/* A model, an adapter or none, a trainer. */
struct rig {
	struct dev *d;
	struct model *m;
	struct adapter *a;
	struct trainer *t;
};

static struct rig rig_with(int lora, int threads, int max_tokens, int apart, enum trainer_share share)
{
	struct trainer_opts o = { .apart = apart, .share = share, .tape = { .max_tokens = max_tokens, .seed = 7 }, .optim = OPTIM_DEFAULTS };
	struct rig r = { .d = NULL };

	o.optim.lr = 1e-2, o.optim.warmup = 2, o.optim.total = 20, o.optim.decay = 0.1f;
	OK(!(r.d = dev_open("cpu", threads, e)));
	OK(!(r.m = model_new(r.d, &tiny, &(struct model_opts){ .trainable = !lora, .seed = 3 }, e)));
	if (lora)
		OK(!(r.a = adapter_new(r.m, &(struct adapter_opts){ .r = 4, .alpha = 8, .dropout = 0.1f, .targets = LORA_ALL, .seed = 2 }, e)));
	OK(!(r.t = trainer_new(r.m, r.a, &o, e)));
	return r;
}

static struct rig rig_of(int lora, int threads, int max_tokens, int apart)
{
	return rig_with(lora, threads, max_tokens, apart, TRAINER_SHARE_GPU);
}

static struct rig rig(int lora, int threads, int max_tokens)
{
	return rig_of(lora, threads, max_tokens, 0);
}

static void rig_free(struct rig *r)
{
	trainer_free(r->t);
	adapter_free(r->a);
	model_free(r->m);
	dev_close(r->d);
}

static struct train_report step_report(struct rig *r, int i)
{
	int32_t tokens[3][40];
	float weight[40];
	struct train_seq s[3];
	struct train_report out;
	struct rng g;

	rng_init(&g, (uint64_t)i % 4, "data");
	for (int q = 0; q < 3; q++) {
		s[q] = (struct train_seq){ .tokens = tokens[q], .weight = q == 1 ? weight : NULL, .n = 40 - 9 * q };
		for (int k = 0; k < 40; k++) {
			tokens[q][k] = (int32_t)rng_below(&g, 61);
			weight[k] = (float)(k % 3) / 2;
		}
	}
	OK(trainer_step(r->t, s, 3, &out, e));
	assert_int_equal(out.optim.step, i + 1);
	return out;
}

static double step(struct rig *r, int i)
{
	return step_report(r, i).loss;
}

static void assert_same(struct rig *a, struct rig *b)
{
	struct slab *x = tape_params(trainer_tape(a->t)), *y = tape_params(trainer_tape(b->t));

	assert_int_equal(x->bytes, y->bytes);
	assert_memory_equal(x->data, y->data, x->bytes);
	x = (struct slab *)optim_slab(trainer_optim(a->t)), y = (struct slab *)optim_slab(trainer_optim(b->t));
	assert_memory_equal(x->data, y->data, x->bytes);
}

/* The same run twice, the second time with other threads: the same bits. And it learns. */
static void test_repeats(void **state)
{
	(void)state;
	for (int lora = 0; lora < 2; lora++) {
		struct rig a = rig(lora, 1, 80), b = rig(lora, 3, 80);
		double first = 0, last = 0;

		for (int i = 0; i < 12; i++) {
			last = step(&a, i);
			first = i < 4 ? last : first;      /* the data comes round every four steps */
			assert_true(step(&b, i) == last);
		}
		assert_same(&a, &b);
		assert_true(last < first - 0.02);
		rig_free(&a);
		rig_free(&b);
	}
}

/* Saved after three steps, loaded elsewhere, three more: as six without a break. */
static void test_resume(void **state)
{
	(void)state;
	for (int lora = 0; lora < 2; lora++) {
		struct rig a = rig(lora, 2, 80), b = rig(lora, 2, 80);

		for (int i = 0; i < 3; i++)
			step(&a, i);
		OK(slab_save(tape_params(trainer_tape(a.t)), in_tmp("params"), "", e));
		OK(trainer_save(a.t, in_tmp("state"), e));
		OK(slab_load(tape_params(trainer_tape(b.t)), in_tmp("params"), "", e));
		OK(trainer_load(b.t, in_tmp("state"), e));
		tape_updated(trainer_tape(b.t));
		for (int i = 3; i < 6; i++)
			assert_true(step(&a, i) == step(&b, i));
		assert_same(&a, &b);
		rig_free(&a);
		rig_free(&b);
	}
}

/* Where micro-batches are cut changes only rounding. */
static void test_accumulation(void **state)
{
	struct rig a = rig(0, 2, 200), b = rig(0, 2, 39);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(fabs(step(&a, i) - step(&b, i)) < 1e-5);
	rig_free(&a);
	rig_free(&b);
}

/* Sequences kept apart are computed one at a time, and teach the same. */
static void test_apart(void **state)
{
	struct rig a = rig_of(0, 2, 200, 0), b = rig_of(0, 2, 200, 1);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct train_report together = step_report(&a, i), apart = step_report(&b, i);

		assert_int_equal(together.micro, 1);
		assert_int_equal(apart.micro, 3);
		assert_true(fabs(together.loss - apart.loss) < 1e-5);
	}
	rig_free(&a);
	rig_free(&b);
}

static double sft_coef(void *ctx, size_t i, const struct train_seq *s, const float *logp, const float *entropy, float *coef)
{
	double sum = 0;

	(void)ctx;
	(void)i;
	(void)entropy;
	for (int k = 1; k < s->n; k++) {
		sum += (double)logp[k];
		coef[k] = -1.0f / 29;
	}
	return sum;
}

/* The objective by callback, with the coefficients of supervised training, is that training. */
static void test_callback(void **state)
{
	struct rig a = rig(0, 2, 80), b = rig(0, 2, 80);
	int32_t tokens[30];
	struct train_seq s = { .tokens = tokens, .n = 30 };
	struct train_report r;
	struct optim_report o;
	double sum = 0;
	float logp[30], *at = logp;

	(void)state;
	for (int i = 0; i < 30; i++)
		tokens[i] = i * 7 % 61;
	OK(trainer_logprobs(a.t, &s, 1, &at, NULL, e));
	OK(trainer_step(a.t, &s, 1, &r, e));
	OK(trainer_accumulate(b.t, &s, 1, sft_coef, NULL, &sum, e));
	trainer_apply(b.t, &o);
	assert_true(logp[0] == 0);
	for (int i = 1; i < 30; i++)
		sum -= (double)logp[i];
	assert_true(fabs(sum) < 1e-9);
	assert_true(o.grad_norm == r.optim.grad_norm);
	assert_same(&a, &b);
	rig_free(&a);
	rig_free(&b);
}

/* Coefficients of their own for the tokens behind the prompt; the log-probabilities are kept. */
struct noted { float logp[6][64]; };

static double answer_coef(void *ctx, size_t i, const struct train_seq *s, const float *logp, const float *entropy, float *coef)
{
	struct noted *n = ctx;

	(void)entropy;
	for (int k = s->prompt; k < s->n; k++) {
		n->logp[i][k] = logp[k];
		coef[k] = 0.01f * (float)((int)i - 2) * (float)(1 + k % 3);
	}
	return 0;
}

/* Samples of two prompts, one that is alone and one without any prompt. */
static size_t samples(struct train_seq *s, int32_t tokens[6][64])
{
	static const int prompt[6] = { 20, 20, 20, 33, 9, 9 }, n[6] = { 30, 25, 21, 50, 40, 10 };

	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < n[i]; k++)
			tokens[i][k] = k < prompt[i] ? (prompt[i] + k * 5) % 61 : (i * 11 + k * 7) % 61;
		s[i] = (struct train_seq){ .tokens = tokens[i], .n = n[i], .prompt = prompt[i] };
	}
	s[4].prompt = s[5].prompt = 9;
	return 6;
}

/* Prompts that are shared change the log-probabilities in no bit and the gradients by rounding alone,
 * wherever the packs are cut. */
static void test_share(void **state)
{
	static const int max[] = { 400, 100, 64 };
	static struct noted all[2];
	double loss;
	int32_t tokens[6][64];
	struct train_seq s[6];

	(void)state;
	for (size_t c = 0; c < COUNT_OF(max); c++) {
		struct rig r[2] = { rig_with(0, 2, max[c], 0, TRAINER_SHARE_NEVER), rig_with(0, 2, max[c], 0, TRAINER_SHARE_ALWAYS) };
		const struct slab *a = tape_grads(trainer_tape(r[0].t)), *b = tape_grads(trainer_tape(r[1].t));

		for (int i = 0; i < 2; i++)
			OK(trainer_accumulate(r[i].t, s, samples(s, tokens), answer_coef, &all[i], &loss, e));
		assert_memory_equal(&all[0], &all[1], sizeof all[0]);
		assert_true(tape_grad_norm(trainer_tape(r[0].t)) > 0.1);
		for (size_t i = 0; i < a->n; i++) {
			for (size_t k = 0; k < a->v[i].numel; k++)
				assert_true(fabsf(slab_f32(a, (int)i)[k] - slab_f32(b, (int)i)[k]) < 2e-6f);
		}
		rig_free(&r[0]);
		rig_free(&r[1]);
	}
}

static void test_schedules(void **state)
{
	struct optim_opts o = { .lr = 2, .schedule = SCHEDULE_COSINE, .warmup = 4, .total = 14, .floor = 0.1 };
	static const char words[] =
#define SCHEDULE(id, name, factor) "|" name
#include "train/schedule.def"
#undef SCHEDULE
	;

	(void)state;
	assert_string_equal(words + 1, SCHEDULE_CHOICES);
	assert_true(schedule_lr(&o, 0) == 0.5 && schedule_lr(&o, 3) == 2 && schedule_lr(&o, 4) == 2);
	assert_true(fabs(schedule_lr(&o, 9) - 1.1) < 1e-12 && fabs(schedule_lr(&o, 14) - 0.2) < 1e-12 && fabs(schedule_lr(&o, 99) - 0.2) < 1e-12);
	o.schedule = SCHEDULE_LINEAR;
	assert_true(fabs(schedule_lr(&o, 9) - 1.1) < 1e-12 && fabs(schedule_lr(&o, 5) - 1.82) < 1e-12);
	o.schedule = SCHEDULE_CONSTANT;
	assert_true(schedule_lr(&o, 99) == 2);
}

static void test_refusals(void **state)
{
	struct rig a = rig(0, 1, 20);
	int32_t tokens[30] = { 0 };
	float none[30] = { 0 };
	struct train_report r;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(trainer_step(a.t, &(struct train_seq){ .tokens = tokens, .weight = none, .n = 20 }, 1, &r, &e), -1);
	assert_contains(e.text, "no token");
	err_clear(&e);
	assert_int_equal(trainer_step(a.t, &(struct train_seq){ .tokens = tokens, .n = 30 }, 1, &r, &e), -1);
	assert_contains(e.text, "holds 20");
	rig_free(&a);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(tmp, sizeof tmp, "/tmp/test_train.XXXXXX");
	return mkdtemp(tmp) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	return file_remove_tree(tmp, &e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeats), cmocka_unit_test(test_resume), cmocka_unit_test(test_accumulation), cmocka_unit_test(test_apart),
		cmocka_unit_test(test_callback), cmocka_unit_test(test_share), cmocka_unit_test(test_schedules), cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
