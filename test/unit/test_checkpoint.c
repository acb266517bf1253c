/* Checkpoints: complete or absent, whatever is missing or changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/checkpoint.h"

struct box { char dir[64]; };

static int set_up(void **state)
{
	static struct box b;

	snprintf(b.dir, sizeof b.dir, "/tmp/test_checkpoint_XXXXXX");
	*state = &b;
	return mkdtemp(b.dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	return file_remove_tree(((struct box *)*state)->dir, NULL);
}

static void make(const char *parent, const char *name, const char *text)
{
	struct buf path = BUF_INIT;
	char *dir;

	assert_int_equal(checkpoint_begin(parent, name, &dir, NULL), 0);
	path_join(&path, dir, "weights");
	assert_int_equal(file_replace(path.p, str_of(text), NULL), 0);
	assert_int_equal(checkpoint_commit(parent, name, dir, STR("{\"step\": 7}"), NULL), 0);
	buf_release(&path);
	mem_free(dir);
}

static void spoil(const char *parent, const char *file, const char *text)
{
	struct buf path = BUF_INIT;

	path_join(&path, parent, file);
	assert_int_equal(file_replace(path.p, str_of(text), NULL), 0);
	buf_release(&path);
}

static void test_latest(void **state)
{
	struct box *b = *state;
	struct buf found = BUF_INIT, state_text = BUF_INIT;

	assert_int_equal(checkpoint_latest(b->dir, "sft", &found, NULL), 0);
	make(b->dir, "sft-000010", "a");
	make(b->dir, "sft-000020", "b");
	make(b->dir, "rl-000030", "c");
	assert_int_equal(checkpoint_latest(b->dir, "sft", &found, NULL), 1);
	assert_true(str_ends(buf_str(&found), "sft-000020"));
	assert_int_equal(checkpoint_verify(buf_cstr(&found), &state_text, NULL), 0);
	assert_non_null(strstr(buf_cstr(&state_text), "7"));
	spoil(b->dir, "sft-000020/weights", "x");     /* same length, other bytes */
	assert_int_equal(checkpoint_latest(b->dir, "sft", &found, NULL), 1);
	assert_true(str_ends(buf_str(&found), "sft-000010"));
	spoil(b->dir, "sft-000010/MANIFEST", "{}\n");
	assert_int_equal(checkpoint_latest(b->dir, "sft", &found, NULL), 0);
	buf_release(&found);
	buf_release(&state_text);
}

static void test_unfinished(void **state)
{
	struct box *b = *state;
	struct buf found = BUF_INIT;
	char *dir;

	assert_int_equal(checkpoint_begin(b->dir, "sft-000001", &dir, NULL), 0);
	assert_int_equal(checkpoint_latest(b->dir, "sft", &found, NULL), 0);
	assert_false(file_exists(dir));               /* leftovers are swept */
	mem_free(dir);
	buf_release(&found);
}

static void test_replace_and_prune(void **state)
{
	struct box *b = *state;
	struct buf path = BUF_INIT, text = BUF_INIT;

	make(b->dir, "sft_final", "old");
	make(b->dir, "sft_final", "new");
	path_join(&path, b->dir, "sft_final/weights");
	assert_int_equal(file_read(path.p, 0, &text, NULL), 0);
	assert_string_equal(text.p, "new");
	make(b->dir, "sft-000001", "1");
	make(b->dir, "sft-000002", "2");
	make(b->dir, "sft-000003", "3");
	assert_int_equal(checkpoint_prune(b->dir, "sft", 2, NULL), 0);
	path_join(&path, b->dir, "sft-000001");
	assert_false(file_exists(path.p));
	path_join(&path, b->dir, "sft-000002");
	assert_true(file_exists(path.p));
	buf_release(&path);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_latest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unfinished, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_replace_and_prune, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
