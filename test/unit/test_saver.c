/* Checkpoints beside training: they hold the moment of the save, and training hardly waits for them. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/saver.h"

enum { SEQS = 8, LENGTH = 128 };

static char tmp[] = "/tmp/test_saver.XXXXXX";

#define OK(x) do { struct err e_ = ERR_INIT, *e = &e_; if (x) fail_msg("%s: %s", #x, e_.text); } while (0)

/* All of the embedded model is trained: 12 MB of parameters and twice as much of optimizer state. */
static void open_policy(struct policy *p, struct dev *d, const char *resume)
{
	struct policy_opts o = { .model = "models/base", .full = 1, .trainer = { .tape = { .max_tokens = SEQS * LENGTH }, .optim = OPTIM_DEFAULTS } };

	o.trainer.optim.total = 100;
	OK(policy_open(p, d, &o, resume, e));
}

static void train_step(struct policy *p, int number)
{
	int32_t tokens[SEQS][LENGTH];
	struct train_seq seq[SEQS];
	struct train_report r;

	for (int s = 0; s < SEQS; s++) {
		for (int i = 0; i < LENGTH; i++)
			tokens[s][i] = (number * 31 + s * 7 + i * 13) % 500;
		seq[s] = (struct train_seq){ .tokens = tokens[s], .n = LENGTH };
	}
	OK(trainer_step(p->trainer, seq, SEQS, &r, e));
}

static void *bytes_of(const struct slab *s)
{
	void *p = mem_alloc(s->bytes);

	assert_non_null(p);
	return memcpy(p, s->data, s->bytes);
}

/* The update of a next step comes at once, and is not in the checkpoint. */
static void test_moment(void **state)
{
	struct policy p, q;
	struct dev *d = NULL;
	struct saver *s = NULL;

	(void)state;
	OK(!(d = dev_open("cpu", 1, e)));
	open_policy(&p, d, NULL);
	OK(!(s = saver_new(&(struct saver_opts){ .policy = &p, .parent = tmp, .prefix = "moment", .keep = 1 }, e)));
	for (int i = 0; i < 3; i++) {
		char path[128];
		const struct slab *params = tape_params(trainer_tape(p.trainer)), *moments = optim_slab(trainer_optim(p.trainer));
		void *want, *want_moments;

		train_step(&p, i);
		OK(saver_save(s, i, STR("{}"), e));
		want = bytes_of(params), want_moments = bytes_of(moments);
		train_step(&p, i + 100);
		assert_memory_not_equal(want, params->data, params->bytes);
		OK(saver_wait(s, e));
		snprintf(path, sizeof path, "%s/moment-%06d", tmp, i);
		open_policy(&q, d, path);
		assert_memory_equal(want, tape_params(trainer_tape(q.trainer))->data, params->bytes);
		assert_memory_equal(want_moments, optim_slab(trainer_optim(q.trainer))->data, moments->bytes);
		policy_close(&q);
		mem_free(want), mem_free(want_moments);
	}
	saver_free(s);
	policy_close(&p);
	dev_close(d);
}

static double seconds_of_step(struct policy *p, int number)
{
	int64_t start = clock_ns();

	train_step(p, number);
	return (double)(clock_ns() - start) / 1e9;
}

/* Less than a hundredth of a step. Other programs hold up both, so the shortest of several is taken of each. */
static void test_stall(void **state)
{
	struct policy p;
	struct dev *d = NULL;
	struct saver *s = NULL;
	double step = 1e9, stall = 1e9;

	(void)state;
	OK(!(d = dev_open("cpu", 1, e)));
	open_policy(&p, d, NULL);
	OK(!(s = saver_new(&(struct saver_opts){ .policy = &p, .parent = tmp, .prefix = "stall", .keep = 1 }, e)));
	for (int i = 0; i < 6; i++) {
		double before = saver_stats(s).seconds, took;

		OK(saver_save(s, i, STR("{}"), e));
		took = seconds_of_step(&p, i);
		step = MIN(step, took);
		stall = MIN(stall, saver_stats(s).seconds - before);
		OK(saver_wait(s, e));
	}
	print_message("a save holds training up for %.3f ms, %.3f %% of a step of %.1f ms\n", 1e3 * stall, 100 * stall / step, 1e3 * step);
	assert_true(stall < 0.01 * step);
	saver_free(s);
	policy_close(&p);
	dev_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_moment), cmocka_unit_test(test_stall) };
	int rc;

	if (!mkdtemp(tmp))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(tmp, NULL);
	return rc;
}
