/* Files: whole reads, atomic replacement, folders, maps, lines. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sys.h"

static char dir[64];

static const char *in(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/test_file.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	sys = *sys_real();
	return file_remove_tree(dir, NULL);
}

static void expect_content(const char *path, struct str want)
{
	struct buf b = BUF_INIT;

	assert_int_equal(file_read(path, 0, &b, NULL), 0);
	assert_true(str_eq(buf_str(&b), want));
	buf_release(&b);
}

static size_t files_in_dir(void)
{
	struct file_list l;
	size_t n;

	assert_int_equal(file_list_open(&l, dir, NULL), 0);
	n = l.n;
	file_list_close(&l);
	return n;
}

static void test_replace(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(file_replace(in("a"), STR("one\0two"), &e), 0);
	expect_content(in("a"), STR("one\0two"));
	assert_int_equal(file_replace(in("a"), STR(""), &e), 0);
	assert_int_equal(file_size(in("a"), &e), 0);
	assert_int_equal(file_append(in("a"), STR("x"), 0, &e), 0);
	assert_int_equal(file_append(in("a"), STR("y"), 1, &e), 0);
	expect_content(in("a"), STR("xy"));
	assert_int_equal(files_in_dir(), 1);
	assert_int_equal(file_replace("/nonexistent/a", STR(""), &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
}

static int calls_until_failure;

static int fail_fsync(int fd)
{
	if (calls_until_failure-- == 0) {
		errno = EIO;
		return -1;
	}
	return fsync(fd);
}

static ssize_t short_write(int fd, const void *p, size_t n)
{
	if (calls_until_failure-- == 0) {
		errno = ENOSPC;
		return -1;
	}
	return write(fd, p, n > 3 ? 3 : n);
}

/* Where the new content could not be made durable, the old one stays and nothing is left. */
static void test_replace_failure(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(file_replace(in("a"), STR("old content"), &e), 0);
	sys.fsync = fail_fsync;
	calls_until_failure = 0;
	assert_int_equal(file_replace(in("a"), STR("new"), &e), -1);
	assert_contains(e.text, "cannot sync");
	sys = *sys_real();
	expect_content(in("a"), STR("old content"));
	for (int k = 0; k < 4; k++) {
		err_clear(&e);
		sys.write = short_write;
		calls_until_failure = k;
		assert_int_equal(file_replace(in("a"), STR("0123456789abcdef"), &e), -1);
		assert_contains(e.text, "No space left");
		sys = *sys_real();
		expect_content(in("a"), STR("old content"));
	}
	sys.write = short_write;
	calls_until_failure = 1000;
	assert_int_equal(file_replace(in("a"), STR("0123456789abcdef"), &e), 0);   /* short writes go on */
	sys = *sys_real();
	expect_content(in("a"), STR("0123456789abcdef"));
	assert_int_equal(files_in_dir(), 1);
}

static void test_pieces(void **state)
{
	struct err e = ERR_INIT;
	struct file_out o;

	(void)state;
	assert_int_equal(file_out_open(&o, in("p"), &e), 0);
	assert_int_equal(file_out_write(&o, "ab", 2, &e), 0);
	assert_false(file_exists(in("p")));
	assert_int_equal(file_out_write(&o, "cd", 2, &e), 0);
	assert_int_equal(file_out_commit(&o, &e), 0);
	expect_content(in("p"), STR("abcd"));
	assert_int_equal(file_out_open(&o, in("p"), &e), 0);
	assert_int_equal(file_out_write(&o, "zz", 2, &e), 0);
	file_out_abort(&o);
	expect_content(in("p"), STR("abcd"));
	assert_int_equal(files_in_dir(), 1);
}

static void test_limits(void **state)
{
	struct err e = ERR_INIT;
	struct buf b = BUF_INIT;

	(void)state;
	file_replace(in("a"), STR("0123456789"), NULL);
	assert_int_equal(file_read(in("a"), 10, &b, &e), 0);
	assert_int_equal(file_read(in("a"), 9, &b, &e), -1);
	assert_int_equal(e.code, ERR_RANGE);
	err_clear(&e);
	assert_int_equal(file_read(in("none"), 0, &b, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_contains(e.text, in("none"));
	err_clear(&e);
	assert_true(file_size(in("none"), &e) == -1);
	buf_release(&b);
}

static void test_folders(void **state)
{
	struct err e = ERR_INIT;
	struct file_list l;
	char path[256];

	(void)state;
	snprintf(path, sizeof path, "%s/x/y/z", dir);
	assert_int_equal(file_mkdirs(path, &e), 0);
	assert_int_equal(file_mkdirs(path, &e), 0);
	assert_true(file_is_dir(path));
	file_replace(in("x/b"), STR("1"), NULL);
	file_replace(in("x/a"), STR("1"), NULL);
	assert_int_equal(file_list_open(&l, in("x"), &e), 0);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.v[0], "a");
	assert_string_equal(l.v[2], "y");
	file_list_close(&l);
	assert_int_equal(file_mkdirs(in("x/a"), &e), -1);
	assert_contains(e.text, "not a folder");
	assert_int_equal(symlink("/etc", in("x/link")), 0);
	err_clear(&e);
	assert_int_equal(file_remove_tree(in("x"), &e), 0);
	assert_false(file_exists(in("x")));
	assert_true(file_exists("/etc/passwd"));         /* links are not followed */
	assert_int_equal(file_remove_tree(in("x"), &e), 0);
	assert_int_equal(file_list_open(&l, in("x"), &e), -1);
}

static void test_map(void **state)
{
	struct err e = ERR_INIT;
	struct file_map m;

	(void)state;
	file_replace(in("m"), STR("mapped"), NULL);
	assert_int_equal(file_map_open(&m, in("m"), &e), 0);
	assert_true(str_eq((struct str){ .p = m.p, .n = m.n }, STR("mapped")));
	file_map_close(&m);
	file_replace(in("m"), STR(""), NULL);
	assert_int_equal(file_map_open(&m, in("m"), &e), 0);
	assert_int_equal(m.n, 0);
	file_map_close(&m);
	assert_int_equal(file_map_open(&m, dir, &e), -1);
	assert_contains(e.text, "not a regular file");
}

static void test_lines(void **state)
{
	struct line_reader r;
	struct buf b = BUF_INIT;
	struct str line;

	(void)state;
	buf_adds(&b, "first\n\r\n");
	buf_pad(&b, 'x', 600000);                        /* longer than the reader's block */
	buf_adds(&b, "\r\nlast");
	file_replace(in("l"), buf_str(&b), NULL);
	assert_int_equal(lines_open(&r, in("l"), NULL), 0);
	assert_int_equal(lines_next(&r, &line, NULL), 1);
	assert_true(str_is(line, "first"));
	assert_int_equal(r.offset, 6);
	assert_int_equal(lines_next(&r, &line, NULL), 1);
	assert_int_equal(line.n, 0);
	assert_int_equal(lines_next(&r, &line, NULL), 1);
	assert_int_equal(line.n, 600000);
	assert_int_equal(lines_next(&r, &line, NULL), 1);
	assert_true(str_is(line, "last"));
	assert_int_equal(r.number, 4);
	assert_int_equal(r.offset, b.n);
	assert_int_equal(lines_next(&r, &line, NULL), 0);
	assert_int_equal(lines_next(&r, &line, NULL), 0);
	lines_close(&r);
	buf_release(&b);
}

static void test_paths(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_string_equal(path_join(&b, "a", "b"), "a/b");
	assert_string_equal(path_join(&b, "a/", "b"), "a/b");
	assert_string_equal(path_join(&b, "", "b"), "b");
	assert_true(str_is(path_base("/x/y.py"), "y.py"));
	assert_true(str_is(path_base("y.py"), "y.py"));
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replace_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_map, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
