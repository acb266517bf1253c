/* YAML: the tree, positions, refusals. (What options make of it is in test_opt.c.) */
#include "check.h"

#include "base/yaml.h"

static void refuse(const char *text, const char *why, int line)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;

	assert_null(yaml_parse(str_of(text), &a, &e));
	assert_contains(e.text, why);
	assert_int_equal(e.line, line);
	arena_release(&a);
}

static void test_tree(void **state)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct yaml *y = yaml_parse(STR("a: 1\nb:\n  - x\n  - {c: \"~\"}\n  -\n'q r': |\n  two\n  lines\n"), &a, &e);
	const struct yaml *b;

	(void)state;
	assert_non_null(y);
	assert_int_equal(y->kind, YAML_MAPPING);
	assert_int_equal(y->n, 3);
	assert_true(str_is(yaml_get(y, "a")->text, "1"));
	b = yaml_get(y, "b");
	assert_int_equal(b->kind, YAML_SEQUENCE);
	assert_int_equal(b->n, 3);
	assert_int_equal(b->child->line, 3);
	assert_int_equal(b->child->column, 5);
	assert_false(yaml_is_null(yaml_get(b->child->next, "c")));       /* quoted: a word */
	assert_true(yaml_is_null(b->last));
	assert_true(str_is(yaml_get(y, "q r")->text, "two\nlines\n"));
	assert_null(yaml_get(y, "absent"));
	arena_release(&a);
}

static void test_empty(void **state)
{
	static const char *const texts[] = { "", "# only a comment\n", "---\n", "~" };
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct yaml *y = yaml_parse(str_of(texts[i]), &a, NULL);

		assert_non_null(y);
		assert_int_equal(y->kind, YAML_MAPPING);
		assert_int_equal(y->n, 0);
	}
	arena_release(&a);
}

static void test_refused(void **state)
{
	struct arena a = ARENA_INIT;
	struct buf deep = BUF_INIT;

	(void)state;
	refuse("a: 1\nb: [1, 2\n", "YAML", 3);
	refuse("a: 1\na: 2\n", "second time", 2);
	refuse("a: &x [1]\nb: *x\n", "aliases", 2);
	refuse("a: 1\n---\nb: 2\n", "more than one document", 2);
	refuse("[1]: 2\n", "plain word", 1);
	refuse("a: \"\\0\"\n", "NUL", 1);
	refuse("a: \xff\n", "", 1);
	buf_pad(&deep, '[', 10000);
	assert_null(yaml_parse(buf_str(&deep), &a, NULL));
	arena_release(&a);
	buf_release(&deep);
}

static void test_bool(void **state)
{
	struct yaml y = { .kind = YAML_SCALAR };
	int v = 7;

	(void)state;
	y.text = STR("yes");
	assert_int_equal(yaml_bool(&y, &v), 0);
	assert_int_equal(v, 1);
	y.text = STR("False");
	assert_int_equal(yaml_bool(&y, &v), 0);
	assert_int_equal(v, 0);
	y.text = STR("maybe");
	assert_int_not_equal(yaml_bool(&y, &v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree), cmocka_unit_test(test_empty), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
