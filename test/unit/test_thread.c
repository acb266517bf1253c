/* The thread pool: every index once, results that do not depend on timing, barriers. */
#include "check.h"

#include <stdatomic.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "base/thread.h"

enum { N = 10007 };

struct job {
	struct pool *pool;
	_Atomic int hits[N];
	double in[N], partial[64];
	_Atomic int phase[64];
	int wrong;
};

static void mark(void *ctx, size_t begin, size_t end)
{
	struct job *j = ctx;

	for (size_t i = begin; i < end; i++)
		atomic_fetch_add(&j->hits[i], 1);
}

static void each_once(struct job *j)
{
	for (int i = 0; i < N; i++)
		assert_int_equal(atomic_exchange(&j->hits[i], 0), 1);
}

static void test_covers(void **state)
{
	static struct job j;

	(void)state;
	for (int threads = 1; threads <= 5; threads++) {
		struct pool *p = pool_new(threads, NULL);

		assert_int_equal(pool_size(p), threads);
		for (size_t grain = 0; grain < 12000; grain = grain * 3 + 1) {
			pool_for(p, N, grain, mark, &j);
			each_once(&j);
			pool_for_dynamic(p, N, grain, mark, &j);
			each_once(&j);
		}
		pool_for(p, 0, 1, mark, &j);
		pool_free(p);
	}
	pool_for(NULL, N, 1, mark, &j);
	each_once(&j);
	assert_int_equal(pool_size(NULL), 1);
	pool_free(NULL);
}

static void partial_sum(void *ctx, int me, int count)
{
	struct job *j = ctx;
	double s = 0;

	for (int i = N * me / count; i < N * (me + 1) / count; i++)
		s += j->in[i];
	j->partial[me] = s;
}

/* The same cut gives the same bits, run after run. */
static void test_deterministic(void **state)
{
	static struct job j;
	struct pool *p = pool_new(4, NULL);
	double first = 0;

	(void)state;
	for (int i = 0; i < N; i++)
		j.in[i] = 1.0 / (i + 1);
	for (int run = 0; run < 300; run++) {
		double s = 0;

		pool_run(p, partial_sum, &j);
		for (int i = 0; i < 4; i++)
			s += j.partial[i];
		if (run == 0)
			first = s;
		assert_true(s == first);
	}
	pool_free(p);
}

/* Nobody enters a phase before all have left the one before. */
static void phases(void *ctx, int me, int count)
{
	struct job *j = ctx;

	for (int phase = 0; phase < 50; phase++) {
		atomic_store(&j->phase[me], phase);
		pool_barrier(j->pool);
		for (int i = 0; i < count; i++)
			if (atomic_load(&j->phase[i]) != phase)
				j->wrong = 1;
		pool_barrier(j->pool);
	}
}

static void test_barrier(void **state)
{
	static struct job j;

	(void)state;
	j.pool = pool_new(3, NULL);
	for (int run = 0; run < 20; run++)
		pool_run(j.pool, phases, &j);
	assert_int_equal(j.wrong, 0);
	pool_free(j.pool);
}

static void test_default_size(void **state)
{
	struct pool *p = pool_new(0, NULL);

	(void)state;
	assert_int_equal(pool_size(p), cpu_info()->cores);
	pool_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_covers), cmocka_unit_test(test_deterministic), cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_default_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
