/* Statistics of timed trials, on synthetic samples: an A/A comparison shows nothing, a planted
 * slowdown of 3 % is seen, throttled samples do not count, and outliers move nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verify/gpu/timing_stats.h"

enum { TRIALS = 50 };

/* Uniform numbers in [0, 1), the same in every run. */
static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) * 0x1p-53;
}

/* Normal noise of relative size `noise` around `mean`, with one long outlier in twenty. */
static void draw(struct timing_sample *v, int n, double mean, double noise, uint64_t *state)
{
	for (int i = 0; i < n; i++) {
		double sum = 0.0;

		for (int k = 0; k < 12; k++)
			sum += uniform(state);
		v[i] = (struct timing_sample){ .seconds = mean * (1.0 + noise * (sum - 6.0)), .clock_mhz = 1980 };
		if (i % 20 == 7)
			v[i].seconds *= 3.0;
		v[i].wall = v[i].seconds + 1e-5;
	}
}

static struct timing_interval summary(double mean, uint64_t *state)
{
	struct timing_sample v[TRIALS];

	draw(v, TRIALS, mean, 0.01, state);
	return timing_summary(v, TRIALS, 0.1);
}

static void test_student(void **state)
{
	static const struct { double df, t; } known[] = { { 1, 12.706 }, { 4, 2.776 }, { 5, 2.571 }, { 10, 2.228 },
							  { 30, 2.042 }, { 120, 1.980 } };

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		assert_true(fabs(timing_student(known[i].df) / known[i].t - 1.0) < 0.005);
}

/* The same program twice: the speed-up is exactly 1 in nearly all of 400 comparisons. */
static void test_equal(void **state)
{
	uint64_t seed = 1;
	int apart = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct timing_interval a = summary(1e-4, &seed), b = summary(1e-4, &seed);

		apart += timing_speedup(&a, &b) != 1.0;
	}
	assert_true(apart <= 4);
}

/* 3 % slower is seen in nearly all comparisons, and on the right side. */
static void test_planted(void **state)
{
	uint64_t seed = 2;
	int seen = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct timing_interval a = summary(1e-4, &seed), b = summary(1.03e-4, &seed);
		double s = timing_speedup(&a, &b);

		assert_true(s <= 1.0);
		seen += s < 1.0;
	}
	assert_true(seen >= 396);
}

/* The interval holds the true mean about 95 times in 100. */
static void test_coverage(void **state)
{
	struct timing_sample v[TRIALS];
	uint64_t seed = 3;
	int held = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct timing_interval t;

		for (int k = 0; k < TRIALS; k++) {
			double sum = 0.0;

			for (int m = 0; m < 12; m++)
				sum += uniform(&seed);
			v[k] = (struct timing_sample){ .seconds = 1.0 + 0.02 * (sum - 6.0) };
		}
		t = timing_summary(v, TRIALS, 0.1);
		held += t.low <= 1.0 && 1.0 <= t.high;
	}
	assert_true(held >= 920 && held <= 980);
}

/* The five highest and the five lowest of 50 samples do not count at all. */
static void test_trim(void **state)
{
	struct timing_sample v[TRIALS];

	(void)state;
	for (int i = 0; i < TRIALS; i++)
		v[i] = (struct timing_sample){ .seconds = i < 5 ? 1e6 : i < 10 ? 0.0 : 1.0 };
	assert_true(timing_summary(v, TRIALS, 0.1).mean == 1.0);
	assert_true(timing_summary(v, TRIALS, 0.0).mean > 1.0);
	assert_true(timing_is_precise(&(struct timing_interval){ .mean = 1.0, .low = 0.99, .high = 1.01 }, 0.02));
	assert_false(timing_is_precise(&(struct timing_interval){ .mean = 1.0, .low = 0.99, .high = 1.01 }, 0.005));
}

static void test_throttled(void **state)
{
	struct timing_sample v[10];
	size_t n;

	(void)state;
	for (int i = 0; i < 10; i++)
		v[i] = (struct timing_sample){ .seconds = i % 5 == 2 ? 2.0 : 1.0, .clock_mhz = i % 5 == 2 ? 1200 : 1980 };
	n = timing_drop_throttled(v, 10);
	assert_int_equal(n, 8);
	for (size_t i = 0; i < n; i++)
		assert_true(v[i].seconds == 1.0);
	/* Without a steady clock, and without any clock, all samples count. */
	for (int i = 0; i < 10; i++)
		v[i].clock_mhz = 1000.0 + 100.0 * i;
	assert_int_equal(timing_drop_throttled(v, 10), 10);
	for (int i = 0; i < 10; i++)
		v[i].clock_mhz = 0.0;
	assert_int_equal(timing_drop_throttled(v, 10), 10);
}

/* Work that the events do not see makes the wall clock longer. */
static void test_clocks(void **state)
{
	struct timing_sample v[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		v[i] = (struct timing_sample){ .seconds = 1e-3, .wall = 1.05e-3 };
	assert_true(timing_clocks_agree(v, 8, 3e-4));
	for (int i = 0; i < 6; i++)
		v[i].wall = 4e-3;
	assert_false(timing_clocks_agree(v, 8, 3e-4));
	for (int i = 0; i < 8; i++)
		v[i].wall = 1e-5;
	assert_false(timing_clocks_agree(v, 8, 3e-4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student), cmocka_unit_test(test_equal), cmocka_unit_test(test_planted),
		cmocka_unit_test(test_coverage), cmocka_unit_test(test_trim), cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
