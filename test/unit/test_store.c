/* The run store: what is put comes back, groups are all or nothing, rewinding forgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store.h"

struct box { char dir[64], path[96]; struct store *s; };

static int set_up(void **state)
{
	static struct box b;
	struct err e = ERR_INIT;

	snprintf(b.dir, sizeof b.dir, "/tmp/test_store_XXXXXX");
	if (!mkdtemp(b.dir))
		return -1;
	snprintf(b.path, sizeof b.path, "%s/run.db", b.dir);
	*state = &b;
	return store_open(&b.s, b.path, &e);
}

static int tear_down(void **state)
{
	struct box *b = *state;

	store_close(b->s);
	return file_remove_tree(b->dir, NULL);
}

static int count_step(void *ctx, const struct store_step *t)
{
	*(int64_t *)ctx = *(int64_t *)ctx * 10 + t->step;
	return 0;
}

static void put_steps(struct store *s, int64_t from, int64_t to)
{
	for (int64_t i = from; i <= to; i++) {
		struct store_step t = { .stage = "sft", .step = i, .loss = 1.5, .lr = 1e-3, .tokens = 10 };

		assert_int_equal(store_put_step(s, &t, NULL), 0);
	}
}

static void test_steps(void **state)
{
	struct box *b = *state;
	int64_t seen = 0;

	put_steps(b->s, 1, 5);
	assert_int_equal(store_rewind(b->s, "sft", 3, NULL), 0);
	assert_int_equal(store_each_step(b->s, count_step, &seen, NULL), 0);
	assert_int_equal(seen, 123);
}

static void test_groups(void **state)
{
	struct box *b = *state;
	int64_t seen = 0;

	assert_int_equal(store_begin(b->s, NULL), 0);
	put_steps(b->s, 1, 2);
	store_rollback(b->s);
	assert_int_equal(store_each_step(b->s, count_step, &seen, NULL), 0);
	assert_int_equal(seen, 0);
}

static int check_sample(void *ctx, const struct store_sample *t)
{
	++*(int *)ctx;
	assert_true(str_is(t->task, "t1"));
	assert_true(str_eq(t->answer, STR("a\0b")));
	assert_int_equal(t->judged, 1);
	assert_string_equal(t->reason, "wrong_value");
	assert_true(t->reward == 0.5);
	return 0;
}

static void test_samples(void **state)
{
	struct box *b = *state;
	struct store_sample t = { .stage = "rl", .step = 2, .task = STR("t1"), .answer = STR("a\0b"), .code = STR("c"), .tokens = 3,
				  .finish = "stop", .judged = 1, .reached = "tiny", .reason = "wrong_value", .reward = 0.5, .verdict = STR("{}") };
	int n = 0;

	assert_int_equal(store_put_sample(b->s, &t, NULL), 0);
	assert_int_equal(store_each_sample(b->s, "rl", check_sample, &n, NULL), 0);
	assert_int_equal(store_each_sample(b->s, NULL, check_sample, &n, NULL), 0);
	assert_int_equal(store_each_sample(b->s, "sft", check_sample, &n, NULL), 0);
	assert_int_equal(n, 2);
}

static void test_meta_and_cache(void **state)
{
	struct box *b = *state;
	struct buf out = BUF_INIT;
	int v = 7;

	assert_int_equal(store_get_meta(b->s, "x", &out, NULL), 0);
	assert_int_equal(store_put_meta(b->s, "x", STR("1"), NULL), 0);
	assert_int_equal(store_put_meta(b->s, "x", STR("2"), NULL), 0);
	assert_int_equal(store_get_meta(b->s, "x", &out, NULL), 1);
	assert_string_equal(out.p, "2");
	buf_clear(&out);
	assert_int_equal(store_cache_get(b->s, STR("k"), &out, NULL), 0);
	assert_int_equal(store_cache_put(b->s, STR("k"), &v, sizeof v, NULL), 0);
	assert_int_equal(store_cache_get(b->s, STR("k"), &out, NULL), 1);
	assert_int_equal(out.n, sizeof v);
	assert_memory_equal(out.p, &v, sizeof v);
	buf_release(&out);
}

static int64_t synced_size(const struct box *b)
{
	struct stat st;

	assert_int_equal(store_sync(b->s, NULL), 0);
	assert_int_equal(stat(b->path, &st), 0);
	return st.st_size;
}

/* Samples of steps that are over leave the file as well, and what stays is the same. */
static void test_compact(void **state)
{
	struct box *b = *state;
	static char sample[20000];
	int64_t full, seen = 0;

	put_steps(b->s, 1, 3);
	for (int64_t i = 0; i < 100; i++) {
		struct store_pending at = { .stage = "rl", .step = i / 10, .number = i };

		assert_int_equal(store_put_pending(b->s, &at, (struct str){ .p = sample, .n = sizeof sample }, NULL), 0);
	}
	full = synced_size(b);
	assert_true(full > 2000000);
	assert_int_equal(store_compact(b->s, NULL), 0);
	assert_int_equal(synced_size(b), full);
	assert_int_equal(store_drop_pending(b->s, "rl", 9, NULL), 0);
	assert_int_equal(store_compact(b->s, NULL), 0);
	assert_true(synced_size(b) < 200000);
	assert_int_equal(store_each_step(b->s, count_step, &seen, NULL), 0);
	assert_int_equal(seen, 123);
}

static void test_bad_file(void **state)
{
	struct box *b = *state;
	struct store *s;
	struct err e = ERR_INIT;
	char path[96];

	snprintf(path, sizeof path, "%s/text", b->dir);
	assert_int_equal(file_replace(path, STR("this is not a database, it only pretends to be a file of some length"), &e), 0);
	assert_int_equal(store_open(&s, path, &e), -1);
	assert_non_null(strstr(e.text, "text"));
	assert_null(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_groups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_samples, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_meta_and_cache, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_compact, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_file, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
