/* Rewards: every row of the funnel's table and every boundary between rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "verify/verdict/reward.h"

/* A verdict that passed everything up to and without `failed` (STAGES: everything). */
static struct verdict at(int failed)
{
	struct verdict v = { .stage = failed < STAGES ? failed : STAGE_timing };

	for (int i = 0; i < STAGES && i <= failed; i++)
		v.stages[i] = (struct verdict_stage){ .ran = 1, .passed = i < failed };
	v.correct = failed > STAGE_full;
	return v;
}

static int near(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

static void test_rows(void **state)
{
	struct verdict v;

	(void)state;
	v = at(STAGE_ast);
	assert_true(near(reward_of(&v, REWARD_funnel), 0.0));
	v = at(STAGE_compile);
	assert_true(near(reward_of(&v, REWARD_funnel), 0.0));
	v = at(STAGE_tiny);
	assert_true(near(reward_of(&v, REWARD_funnel), 0.3));
	v = at(STAGE_full);
	assert_true(near(reward_of(&v, REWARD_funnel), 0.5));
	v = at(STAGE_timing);
	assert_true(near(reward_of(&v, REWARD_funnel), 0.7));
}

static void test_speed(void **state)
{
	static const double cases[][2] = { { 0.0, 0.7 }, { 1.0, 0.85 }, { 2.0, 1.0 }, { 50.0, 1.0 }, { -3.0, 0.7 }, { NAN, 0.7 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict v = at(STAGES);

		v.speedup = cases[i][0];
		assert_true(near(reward_of(&v, REWARD_funnel), cases[i][1]));
	}
}

static void test_partial_credit(void **state)
{
	struct verdict v = at(STAGE_full);

	(void)state;
	v.stages[STAGE_full].share = 0.5;
	assert_true(near(reward_of(&v, REWARD_funnel), 0.6));
	v.stages[STAGE_full].share = 1.0;         /* never reaches the next row */
	assert_true(reward_of(&v, REWARD_funnel) < 0.7);
	v.stages[STAGE_full].share = NAN;
	assert_true(near(reward_of(&v, REWARD_funnel), 0.5));
}

static void test_other_forms(void **state)
{
	struct verdict v = at(STAGES);
	double plan, code;

	(void)state;
	v.speedup = 3.0;
	assert_true(near(reward_of(&v, REWARD_reinforce), 1.0));
	assert_true(near(reward_of(&v, REWARD_rank), 1.3));
	assert_true(near(reward_of(&v, REWARD_speed), 2.0));
	reward_classes(&v, &plan, &code);
	assert_true(near(plan, 2.0) && near(code, 1.0));
	assert_true(near(reward_uniform(&v, 0.25), 0.25 + 0.75 * 2.0));
	v = at(STAGE_full);
	v.speedup = 3.0;                          /* fast and wrong earns nothing */
	assert_true(near(reward_of(&v, REWARD_reinforce), 0.0) && near(reward_of(&v, REWARD_rank), 0.0) &&
		    near(reward_of(&v, REWARD_speed), 0.0) && near(reward_of(&v, REWARD_correct), 0.0));
}

static void test_rank(void **state)
{
	struct verdict a = at(STAGES), b = at(STAGES), c = at(STAGES), wrong = at(STAGE_full);
	const struct verdict *v[] = { &a, &b, &c, &wrong };
	double out[4];

	(void)state;
	a.speedup = 1.0;
	b.speedup = 1.01;
	c.speedup = 2.0;
	wrong.speedup = 99.0;
	reward_rank_speed(v, 4, 0.05, out);
	assert_true(near(out[0], out[1]));        /* within noise: equal */
	assert_true(out[2] > out[0] && near(out[3], 0.0));
	reward_rank_speed(v, 4, 0.001, out);
	assert_true(out[1] > out[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_speed), cmocka_unit_test(test_partial_credit),
		cmocka_unit_test(test_other_forms), cmocka_unit_test(test_rank),
	};

	return cmocka_run_group_tests_name("reward", tests, NULL, NULL);
}
