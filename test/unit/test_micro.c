/* Micro-batches: every unit in one, none too long, equally long, as many as ranks can share. */
#include "check.h"

#include "base/mem.h"
#include "base/rng.h"
#include "train/micro.h"

enum { UNITS = 40, MAX_ROWS = 512 };

static void fill(struct micro_unit *u, size_t n, uint64_t seed)
{
	struct rng r;

	rng_init(&r, seed, "lengths");
	for (size_t i = 0; i < n; i++) {
		int rows = 20 + (int)rng_below(&r, MAX_ROWS - 20);

		u[i] = (struct micro_unit){ .first = i, .n = 1, .rows = rows, .cost = rows };
	}
}

static size_t divide(struct micro_unit *u, size_t n, struct micro_opts o)
{
	struct err e = ERR_INIT;

	o.max = MAX_ROWS;
	assert_int_equal(micro_divide(u, n, &o, &e), 0);
	return u[n - 1].micro + 1;
}

/* The rows of each micro-batch. Units come by micro-batch, and by number in it. */
static void rows_of(const struct micro_unit *u, size_t n, int *rows)
{
	for (size_t i = 0; i < n; i++) {
		rows[u[i].micro] += u[i].rows;
		assert_true(i == 0 || u[i].micro == u[i - 1].micro + 1 || (u[i].micro == u[i - 1].micro && u[i].first > u[i - 1].first));
	}
}

static void test_shares(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		size_t n = 8 + (size_t)seed % (UNITS - 8), count, seen = 0;
		struct micro_unit u[UNITS];
		int rows[UNITS] = { 0 };

		fill(u, n, seed);
		count = divide(u, n, (struct micro_opts){ .max = 0 });
		assert_true(count % 4 == 0 || count == n);
		rows_of(u, n, rows);
		for (size_t k = 0; k < count; k++) {
			assert_in_range(rows[k], 1, MAX_ROWS);
			assert_true(k == 0 || rows[k] <= rows[k - 1]);
		}
		for (size_t i = 0; i < n; i++)
			seen |= (size_t)1 << u[i].first;
		assert_int_equal(seen, ((size_t)1 << n) - 1);
	}
}

/* What fits is computed together, in the order it came. */
static void test_one(void **state)
{
	struct micro_unit u[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		u[i] = (struct micro_unit){ .first = i, .n = 1, .rows = 100 + (int)i, .cost = (double)i };
	assert_int_equal(divide(u, 4, (struct micro_opts){ .max = 0 }), 1);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(u[i].first, i);
	assert_int_equal(divide(u, 4, (struct micro_opts){ .apart = 1 }), 4);
}

/* A process alone takes no more than it needs. */
static void test_alone(void **state)
{
	struct micro_unit u[5];

	(void)state;
	for (size_t i = 0; i < 5; i++)
		u[i] = (struct micro_unit){ .first = i, .n = 1, .rows = 256, .cost = 256 };
	assert_int_equal(divide(u, 5, (struct micro_opts){ .alone = 1 }), 3);
	assert_int_equal(divide(u, 5, (struct micro_opts){ .alone = 0 }), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares), cmocka_unit_test(test_one), cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
