/* Random numbers: Philox against the values of its paper's library, streams, exact saving,
 * ranges and shuffles. */
#include "check.h"

#include <math.h>

#include "base/rng.h"

static void test_philox(void **state)
{
	static const struct {
		uint32_t key[2], counter[4], want[4];
	} rows[] = {
		{ { 0, 0 }, { 0, 0, 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ { 0xffffffff, 0xffffffff },
		  { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ { 0xa4093822, 0x299f31d0 },
		  { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};
	uint32_t got[4];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		rng_philox(rows[i].key, rows[i].counter, got);
		assert_memory_equal(got, rows[i].want, sizeof got);
	}
}

/* These bits are what saved runs depend on: they never change. */
static void test_known_stream(void **state)
{
	struct rng r;
	uint32_t first;

	(void)state;
	rng_init(&r, 42, "test");
	first = rng_u32(&r);
	rng_init(&r, 42, "test");
	assert_int_equal(rng_u32(&r), first);
	assert_int_equal(first, 0x9119dc92);
}

static void test_streams_differ(void **state)
{
	struct rng a, b, c, d;
	uint64_t x;

	(void)state;
	rng_init(&a, 1, "sample"), rng_init(&b, 1, "shuffle"), rng_init(&c, 2, "sample");
	d = a;
	x = rng_u64(&a);
	assert_true(x != rng_u64(&b));
	assert_true(x != rng_u64(&c));
	rng_fork(&b, &d, 7), rng_fork(&c, &d, 8), rng_fork(&a, &d, 7);
	x = rng_u64(&a);
	assert_true(x == rng_u64(&b));
	assert_true(x != rng_u64(&c));
}

/* Saved at every point of a block, the rest is drawn alike. */
static void test_save_and_restore(void **state)
{
	unsigned char saved[RNG_STATE_BYTES];
	struct rng r, q;

	(void)state;
	for (int skip = 0; skip < 9; skip++) {
		rng_init(&r, 5, "s");
		for (int i = 0; i < skip; i++)
			rng_u32(&r);
		rng_save(&r, saved);
		memset(&q, 0xA5, sizeof q);
		rng_load(&q, saved);
		for (int i = 0; i < 50; i++) {
			assert_int_equal(rng_u32(&r), rng_u32(&q));
			assert_true(rng_normal(&r) == rng_normal(&q));
		}
	}
}

static void test_ranges(void **state)
{
	int seen[7] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 0, "ranges");
	for (int i = 0; i < 70000; i++) {
		double d = rng_f64(&r);
		float f = rng_f32(&r);
		int64_t v = rng_between(&r, -3, 3);

		assert_true(d >= 0 && d < 1 && f >= 0 && f < 1);
		assert_true(v >= -3 && v <= 3);
		seen[v + 3]++;
	}
	for (int i = 0; i < 7; i++)
		assert_in_range(seen[i], 9500, 10500);   /* 5 standard deviations */
	assert_int_equal(rng_below(&r, 1), 0);
	rng_between(&r, INT64_MIN, INT64_MAX - 1);
}

static void test_normal(void **state)
{
	double sum = 0, squares = 0;
	struct rng r;
	int n = 100000;

	(void)state;
	rng_init(&r, 3, "normal");
	for (int i = 0; i < n; i++) {
		double v = rng_normal(&r);

		assert_true(isfinite(v));
		sum += v;
		squares += v * v;
	}
	assert_true(fabs(sum / n) < 0.016);
	assert_true(fabs(squares / n - 1) < 0.03);
}

static void test_shuffle(void **state)
{
	struct {
		int id;
		char filler[300];                        /* larger than the swap buffer */
	} v[64];
	int seen[64] = { 0 }, moved = 0;
	struct rng r;

	(void)state;
	for (int i = 0; i < 64; i++) {
		v[i].id = i;
		memset(v[i].filler, i, sizeof v[i].filler);
	}
	rng_init(&r, 9, "shuffle");
	rng_shuffle(&r, v, 64, sizeof *v);
	for (int i = 0; i < 64; i++) {
		seen[v[i].id]++;
		moved += v[i].id != i;
		assert_int_equal(v[i].filler[299], v[i].id);
	}
	for (int i = 0; i < 64; i++)
		assert_int_equal(seen[i], 1);
	assert_true(moved > 50);
	rng_shuffle(&r, v, 0, sizeof *v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_philox), cmocka_unit_test(test_known_stream),
		cmocka_unit_test(test_streams_differ), cmocka_unit_test(test_save_and_restore),
		cmocka_unit_test(test_ranges), cmocka_unit_test(test_normal),
		cmocka_unit_test(test_shuffle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
