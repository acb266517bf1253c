/* Which programs are looked at where a task has its own sizes: nobody can know who does not know seed and text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verify/funnel/full_size_batch.h"

static void test_draw(void **state)
{
	struct str text = STR("if pid == 7:"), other = STR("if pid == 8:");
	uint64_t draw = full_size_draw(29810, text, 0);

	(void)state;
	assert_true(draw == full_size_draw(29810, text, 0));
	assert_true(draw != full_size_draw(29810, other, 0));
	assert_true(draw != full_size_draw(29811, text, 0));
	assert_true(draw != full_size_draw(29810, text, 1));
}

static void test_never_none(void **state)
{
	(void)state;
	for (int i = 0; i < 64; i++)
		assert_true(full_size_draw((uint64_t)i, STR(""), i) != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_draw), cmocka_unit_test(test_never_none) };

	return cmocka_run_group_tests_name("own", tests, NULL, NULL);
}
