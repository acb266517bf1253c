/* Sharing a GPU (verify/gpu/gpu_quiet.h): a thread that times is alone; all threads make progress. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "verify/gpu/gpu_quiet.h"

enum { THREADS = 6, ROUNDS = 60 };

struct shared {
	struct gpu_quiet q;
	int users, timing;          /* of the GPU now */
	int wrong, together;        /* times that were not alone; the most users at once */
};

static int add(int *at, int n)
{
	return __atomic_add_fetch(at, n, __ATOMIC_SEQ_CST);
}

static void *work(void *ctx)
{
	struct shared *s = ctx;

	for (int i = 0; i < ROUNDS; i++) {
		int now;

		gpu_quiet_enter(&s->q);
		now = add(&s->users, 1);
		if (now > s->together)
			s->together = now;
		add(&s->wrong, __atomic_load_n(&s->timing, __ATOMIC_SEQ_CST));
		usleep(50);
		add(&s->users, -1);
		gpu_quiet_begin(&s->q);
		add(&s->wrong, add(&s->timing, 1) != 1 || __atomic_load_n(&s->users, __ATOMIC_SEQ_CST));
		usleep(20);
		add(&s->timing, -1);
		gpu_quiet_end(&s->q);
		gpu_quiet_leave(&s->q);
	}
	return NULL;
}

static void test_alone(void **state)
{
	struct shared s = { .users = 0 };
	pthread_t thread[THREADS];

	(void)state;
	gpu_quiet_init(&s.q);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, &s), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(s.wrong, 0);
	assert_true(s.together > 1);
	assert_int_equal(s.q.users + s.q.timing + s.q.waiting, 0);
	assert_true(s.q.timing_ns > (int64_t)THREADS * ROUNDS * 20000 && s.q.waiting_ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_alone) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
