/* Advantages: every method on groups whose answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "rl/advantage.h"

static struct rl_scored group[] = {
	{ .reward = 0.0, .speed = 0.0, .plan = 0.0, .code = 0.0 },
	{ .reward = 1.0, .speed = 1.3, .plan = 2.0, .code = 1.0 },
	{ .reward = 0.5, .speed = 0.0, .plan = 0.0, .code = 0.0 },
	{ .reward = 0.9, .speed = 1.2, .plan = 1.0, .code = 1.0 },
};

static int near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void test_best_of_n(void **state)
{
	struct advantage_opts o = { .method = RL_best_of_n, .keep = 1, .threshold = 0.3 };
	struct advantage a[4];

	(void)state;
	assert_int_equal(advantages(&o, group, 4, a), 1);
	assert_true(a[1].code == 1.0 && a[1].plan == 1.0 && a[3].code == 0.0);
	o.keep = 3;
	assert_int_equal(advantages(&o, group, 4, a), 3);
	assert_true(a[1].code == 1.0 && a[3].code == 1.0 && a[2].code == 1.0 && a[0].code == 0.0);
	o.threshold = 0.6;
	assert_int_equal(advantages(&o, group, 4, a), 2);
}

/* Ten incorrect samples have the same speed of 0: the rewards choose, not the positions. Of equal
 * rewards the faster sample is better. */
static void test_best_of_n_incorrect(void **state)
{
	struct advantage_opts o = { .method = RL_best_of_n, .keep = 3, .threshold = 0.3 };
	struct rl_scored s[10];
	struct advantage a[10];

	(void)state;
	for (int i = 0; i < 10; i++)
		s[i] = (struct rl_scored){ .reward = 0.2 + 0.05 * i };
	assert_int_equal(advantages(&o, s, 10, a), 3);
	for (int i = 0; i < 10; i++)
		assert_true(a[i].code == (i >= 7 ? 1.0 : 0.0));
	for (int i = 0; i < 10; i++)
		s[i] = (struct rl_scored){ .reward = 1.0, .speed = 1 + 0.3 * i };
	advantages(&o, s, 10, a);
	for (int i = 0; i < 10; i++)
		assert_true(a[i].code == (i >= 7 ? 1.0 : 0.0));
}

static void test_reinforce(void **state)
{
	struct advantage_opts o = { .method = RL_reinforce };
	struct advantage a[4];
	double sum = 0.0;

	(void)state;
	assert_int_equal(advantages(&o, group, 4, a), 4);
	assert_true(near(a[0].code, -2.4 / 3.0));
	assert_true(near(a[1].code, 1.0 - 1.4 / 3.0));
	for (int i = 0; i < 4; i++)
		sum += a[i].code;
	assert_true(near(sum, 0.0));
}

static void test_rwsft(void **state)
{
	struct advantage_opts o = { .method = RL_rwsft, .threshold = 0.3 };
	struct advantage a[4];

	(void)state;
	assert_int_equal(advantages(&o, group, 4, a), 3);
	assert_true(near(a[1].code + a[2].code + a[3].code, 3.0));
	assert_true(near(a[1].code / a[2].code, 0.7 / 0.2));
}

static void test_grpo(void **state)
{
	struct advantage_opts o = { .method = RL_grpo, .alpha = 0.1, .classes = 1 };
	struct advantage a[4];

	(void)state;
	assert_int_equal(advantages(&o, group, 4, a), 4);
	assert_true(near(a[1].plan, 0.1 * (2.0 - 0.75)) && near(a[1].code, 0.5) && near(a[0].code, -0.5));
	o.classes = 0;
	advantages(&o, group, 4, a);
	assert_true(near(a[1].plan, 0.4) && near(a[1].code, 0.4));
}

static void test_equal_rewards(void **state)
{
	struct rl_scored same[3] = { { .reward = 0.7, .code = 1.0 }, { .reward = 0.7, .code = 1.0 }, { .reward = 0.7, .code = 1.0 } };
	struct advantage a[3];

	(void)state;
	assert_int_equal(advantages(&(struct advantage_opts){ .method = RL_grpo, .alpha = 0.1, .classes = 1 }, same, 3, a), 0);
	assert_int_equal(advantages(&(struct advantage_opts){ .method = RL_reinforce }, same, 3, a), 0);
}

/* Three equal samples and one other: one gets the sum of the three, the sum over all stays. */
static void test_fold(void **state)
{
	struct advantage a[] = { { 0.5, 1 }, { -1, -3 }, { 0.5, 1 }, { 0.5, 1 } };
	const size_t first[] = { 0, 1, 0, 0 };

	(void)state;
	advantage_fold(a, first, 4);
	assert_true(a[0].plan == 1.5 && a[0].code == 3);
	assert_true(a[1].plan == -1 && a[1].code == -3);
	assert_true(advantage_none(&a[2]) && advantage_none(&a[3]));
}

static void test_curriculum(void **state)
{
	struct curriculum c = CURRICULUM_DEFAULTS;

	(void)state;
	c.window = 10;
	for (int i = 0; i < 10; i++)
		curriculum_note(&c, 1, i < 4);
	assert_true(near(c.share, 0.1));
	for (int i = 0; i < 10; i++)
		curriculum_note(&c, 1, i < 5);
	assert_true(near(c.share, 0.15));
	for (int i = 0; i < 1000; i++) {
		curriculum_note(&c, 2, 0);
		curriculum_note(&c, 1, 1);
	}
	assert_true(near(c.share, 0.5));
}

/* A sample that the judge's engine does not support leaves its group: the advantages of the others are
 * those of a group without it, and its own is 0. */
static void test_absent(void **state)
{
	static const enum rl_method methods[] = { RL_best_of_n, RL_rwsft, RL_reinforce, RL_grpo };

	(void)state;
	for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
		struct advantage_opts o = { .method = methods[m], .keep = 1, .threshold = 0.3, .normalise = 1 };
		struct rl_scored with[6] = { { .absent = 1, .reward = 7.0, .speed = 7.0 }, group[0], group[1],
					     { .absent = 1 }, group[2], group[3] };
		struct advantage a[6], b[4];

		assert_int_equal(advantages(&o, with, 6, a), advantages(&o, group, 4, b));
		assert_true(advantage_none(&a[0]) && advantage_none(&a[3]));
		assert_true(near(a[1].code, b[0].code) && near(a[2].code, b[1].code));
		assert_true(near(a[4].code, b[2].code) && near(a[5].plan, b[3].plan));
	}
}

/* A group with nothing but such samples teaches nothing. */
static void test_all_absent(void **state)
{
	struct advantage_opts o = { .method = RL_grpo };
	struct rl_scored s[2] = { { .absent = 1, .reward = 1.0 }, { .absent = 1 } };
	struct advantage a[2];

	(void)state;
	assert_int_equal(advantages(&o, s, 2, a), 0);
	assert_true(advantage_none(&a[0]) && advantage_none(&a[1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_of_n), cmocka_unit_test(test_best_of_n_incorrect), cmocka_unit_test(test_absent), cmocka_unit_test(test_all_absent),
		cmocka_unit_test(test_reinforce), cmocka_unit_test(test_rwsft),
		cmocka_unit_test(test_grpo), cmocka_unit_test(test_equal_rewards), cmocka_unit_test(test_fold), cmocka_unit_test(test_curriculum),
	};

	return cmocka_run_group_tests_name("advantage", tests, NULL, NULL);
}
