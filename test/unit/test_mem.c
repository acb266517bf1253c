/* Heap, arenas, growable arrays, checked arithmetic; errors. */
#include "check.h"

#include <errno.h>

#include "base/mem.h"

static void test_heap(void **state)
{
	char *z = mem_zalloc(100), *p = mem_alloc(0);

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(z[i], 0);
	assert_non_null(p);
	assert_null(mem_array(SIZE_MAX / 2, 3));
	assert_null(mem_strndup("x", SIZE_MAX));
	mem_free(p), mem_free(z), mem_free(NULL);
	for (size_t align = 8; align <= 4096; align *= 2) {
		p = mem_alloc_aligned(10, align);
		assert_int_equal((uintptr_t)p % align, 0);
		memset(p, 1, 10);
		mem_free_aligned(p);
	}
	assert_null(mem_alloc_aligned(SIZE_MAX - 8, 64));
	mem_free_aligned(NULL);
}

static void test_checked(void **state)
{
	int64_t i;
	size_t n;

	(void)state;
	assert_false(ck_add(1, 2, &n));
	assert_int_equal(n, 3);
	assert_true(ck_add(SIZE_MAX, 1, &n));
	assert_true(ck_mul(SIZE_MAX / 2, 3, &n));
	assert_true(ck_mul64(INT64_MIN, -1, &i));
	assert_true(ck_sub64(INT64_MIN, 1, &i));
	assert_true(ck_add64(INT64_MAX, 1, &i));
	assert_false(ck_mul64(-3, 4, &i));
	assert_true(i == -12);
}

static void test_arena(void **state)
{
	struct arena a = ARENA_INIT;
	char *first = arena_strdup(&a, "first");
	struct arena_mark mark;
	char *again;

	(void)state;
	mark = arena_mark(&a);
	for (int i = 1; i < 2000; i++) {
		unsigned char *p = arena_alloc(&a, (size_t)i);

		assert_int_equal((uintptr_t)p % 16, 0);
		memset(p, i, (size_t)i);
	}
	assert_string_equal(first, "first");
	arena_reset(&a, mark);
	again = arena_printf(&a, "%s-%d", "x", 7);
	assert_string_equal(again, "x-7");
	assert_ptr_equal(again, first + 16);             /* the space behind the mark is used again */
	assert_null(arena_array(&a, SIZE_MAX, 2));
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_strndup(&a, "x", SIZE_MAX));
	arena_clear(&a);
	assert_int_equal(a.used, 0);
	assert_non_null(arena_alloc(&a, 1));
	arena_release(&a);
	assert_int_equal(a.held, 0);
	arena_release(&a);
}

static void test_arena_limit(void **state)
{
	struct arena a = { .limit = 100000 };
	size_t got = 0;
	jmp_buf trap;

	(void)state;
	while (arena_alloc(&a, 1000))
		got += 1000;
	assert_in_range(got, 50000, 100000);
	assert_true(a.held <= a.limit);
	a.trap = &trap;
	if (setjmp(trap) == 0) {
		arena_alloc(&a, 1000000);
		fail_msg("the trap was not taken");
	}
	arena_release(&a);
}

static void test_vec(void **state)
{
	struct {
		int *v;
		size_t n, cap;
	} xs = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(vec_push(&xs, i * i), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(xs.v[i], i * i);
	assert_int_not_equal(vec_grow(&xs, SIZE_MAX / 2), 0);
	assert_int_equal(xs.v[999], 999 * 999);          /* a failed growth keeps what was there */
	vec_free(&xs);
	assert_null(xs.v);
}

static void test_errors(void **state)
{
	struct err e = ERR_INIT;
	char longer[2000];

	(void)state;
	assert_int_equal(err_set_at(&e, ERR_FORMAT, 3, 4, "bad '%s'", "x"), -1);
	assert_int_equal(e.line, 3);
	err_set(&e, ERR_IO, "second");
	assert_string_equal(e.text, "bad 'x'");          /* the first error wins */
	assert_int_equal(e.code, ERR_FORMAT);
	err_wrap(&e, "reading '%s'", "f");
	assert_string_equal(e.text, "reading 'f': bad 'x'");
	err_clear(&e);
	errno = ENOENT;
	err_errno(&e, "cannot open '%s'", "f");
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_string_equal(e.text, "cannot open 'f': No such file or directory");
	err_clear(&e);
	errno = EACCES;
	err_errno(&e, "x");
	assert_int_equal(e.code, ERR_DENIED);
	assert_int_equal(err_set(NULL, ERR_IO, "nobody cares"), -1);
	memset(longer, 'y', sizeof longer - 1);
	longer[sizeof longer - 1] = 0;
	err_clear(&e);
	err_set(&e, ERR_IO, "%s", longer);
	err_wrap(&e, "%s", longer);
	assert_true(strlen(e.text) < sizeof e.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap), cmocka_unit_test(test_checked), cmocka_unit_test(test_arena),
		cmocka_unit_test(test_arena_limit), cmocka_unit_test(test_vec), cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
