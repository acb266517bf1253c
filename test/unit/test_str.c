/* Slices, numbers, distances, buffers, maps, UTF-8. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

static void test_slices(void **state)
{
	struct str s = STR("a,bc,,d"), one;
	char dotted[6];

	(void)state;
	one = str_cut(&s, ','), assert_true(str_is(one, "a"));
	one = str_cut(&s, ','), assert_true(str_is(one, "bc"));
	one = str_cut(&s, ','), assert_true(str_is(one, ""));
	one = str_cut(&s, ','), assert_true(str_is(one, "d"));
	assert_int_equal(s.n, 0);
	one = str_cut(&s, ','), assert_int_equal(one.n, 0);
	assert_true(str_is(str_trim(STR(" \t x y\n")), "x y"));
	assert_true(str_is(str_trim(STR("  ")), ""));
	assert_true(str_starts(STR("abc"), "ab") && !str_starts(STR("a"), "ab"));
	assert_true(str_starts(STR("ab"), "ab") && str_starts(STR("ab"), "") && !str_starts(STR("xb"), "ab"));
	assert_true(str_ends(STR("abc"), "bc") && !str_ends(STR("c"), "bc"));
	assert_int_equal(str_find(STR("hello"), STR("lo")), 3);
	assert_int_equal(str_find(STR("hello"), STR("lx")), -1);
	assert_int_equal(str_find(STR("x"), STR("xy")), -1);
	assert_int_equal(str_dotted(dotted, sizeof dotted, STR("ab"), STR("cd")), 5);
	assert_string_equal(dotted, "ab.cd");
	assert_int_equal(str_dotted(dotted, sizeof dotted, STR("ab"), STR("cde")), -1);
	assert_int_equal(str_dotted(dotted, sizeof dotted, STR("abcdefgh"), STR("")), -1);
}

static void test_numbers(void **state)
{
	static const char *const bad[] = { "", " 1", "1 ", "x", "1x", "0x10", "--1", "9223372036854775808", "1.0" };
	int64_t i;
	double d;

	(void)state;
	assert_int_equal(str_to_i64(STR("-9223372036854775808"), &i), 0);
	assert_true(i == INT64_MIN);
	for (size_t k = 0; k < COUNT_OF(bad); k++)
		assert_int_not_equal(str_to_i64(str_of(bad[k]), &i), 0);
	assert_int_equal(str_to_i64((struct str){ .p = "123456", .n = 3 }, &i), 0);
	assert_int_equal(i, 123);
	assert_int_equal(str_to_f64(STR("1e-3"), &d), 0);
	assert_true(d == 1e-3);
	assert_int_equal(str_to_f64(STR("inf"), &d), 0);
	assert_true(isinf(d));
	assert_int_not_equal(str_to_f64(STR("1e"), &d), 0);
	assert_int_not_equal(str_to_f64(STR(""), &d), 0);
}

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(str_distance(STR("kitten"), STR("sitting")), 3);
	assert_int_equal(str_distance(STR("wrokers"), STR("workers")), 1);   /* a swap is one step */
	assert_int_equal(str_distance(STR(""), STR("abc")), 3);
	assert_int_equal(str_distance(STR("same"), STR("same")), 0);
}

static void test_buffer(void **state)
{
	struct buf b = BUF_INIT;
	char *taken;

	(void)state;
	assert_string_equal(buf_cstr(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_addf(&b, "%d,", i);
	assert_int_equal(b.n, 10 * 2 + 90 * 3 + 900 * 4);
	assert_int_equal(strlen(b.p), b.n);
	buf_clear(&b);
	buf_adds(&b, "x"), buf_addc(&b, 0), buf_addstr(&b, STR("y")), buf_pad(&b, '-', 3);
	assert_true(str_eq(buf_str(&b), STR("x\0y---")));
	assert_int_equal(buf_check(&b, NULL), 0);
	taken = buf_take(&b);
	assert_int_equal(taken[5], '-');
	assert_null(b.p);
	mem_free(taken);
	taken = buf_take(&b);
	assert_string_equal(taken, "");
	mem_free(taken);
}

/* Asking for the impossible is remembered, and later additions do nothing. */
static void test_buffer_failure(void **state)
{
	struct err e = ERR_INIT;
	struct buf b = BUF_INIT;

	(void)state;
	buf_adds(&b, "kept");
	assert_int_not_equal(buf_reserve(&b, SIZE_MAX - 2), 0);
	buf_adds(&b, "lost");
	assert_string_equal(b.p, "kept");
	assert_int_equal(buf_check(&b, &e), -1);
	assert_int_equal(e.code, ERR_NOMEM);
	assert_null(buf_take(&b));
}

static void test_map(void **state)
{
	struct map m = MAP_INIT;
	char key[16];

	(void)state;
	assert_null(map_get(&m, STR("a")));
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof key, "key%d", i % 2500);
		map_put(&m, str_of(key))->val.i64 += i;
	}
	assert_int_equal(m.n, 2500);
	for (int i = 0; i < 2500; i++) {
		snprintf(key, sizeof key, "key%d", i);
		assert_int_equal(map_get(&m, str_of(key))->val.i64, i + i + 2500);
		assert_true(str_is(m.e[i].key, key));        /* insertion order */
	}
	assert_null(map_get(&m, STR("key2500")));
	assert_non_null(map_put(&m, STR("")));
	assert_non_null(map_get(&m, STR("")));
	map_release(&m);
}

static void test_utf8_round_trip(void **state)
{
	char out[4];
	uint32_t got;
	int bad;

	(void)state;
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
		size_t n = utf8_encode(cp, out);
		int surrogate = cp >= 0xD800 && cp < 0xE000;

		assert_int_equal(utf8_decode(out, n, &got, &bad), n);
		if (got != (surrogate ? UTF8_BAD : cp) || bad)
			fail_msg("U+%04X became U+%04X", cp, got);
	}
}

static void test_utf8_invalid(void **state)
{
	static const struct {
		const char *bytes;
		size_t used;
	} rows[] = {
		{ "\x80", 1 }, { "\xBF", 1 }, { "\xC0\xAF", 1 }, { "\xC1\x80", 1 }, { "\xE0\x80\x80", 1 },
		{ "\xED\xA0\x80", 1 }, { "\xF0\x80\x80\x80", 1 }, { "\xF4\x90\x80\x80", 1 }, { "\xF5\x80", 1 },
		{ "\xFF", 1 }, { "\xC3", 1 }, { "\xE2\x82", 2 }, { "\xE2\x82" "A", 2 }, { "\xF0\x9F\x98", 3 },
	};
	uint32_t cp;
	int bad;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(utf8_decode(rows[i].bytes, strlen(rows[i].bytes), &cp, &bad), rows[i].used);
		assert_int_equal(cp, UTF8_BAD);
		assert_true(bad);
	}
	assert_int_equal(utf8_decode("\xEF\xBF\xBD", 3, &cp, &bad), 3);
	assert_false(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices), cmocka_unit_test(test_numbers), cmocka_unit_test(test_distance),
		cmocka_unit_test(test_buffer), cmocka_unit_test(test_buffer_failure), cmocka_unit_test(test_map),
		cmocka_unit_test(test_utf8_round_trip), cmocka_unit_test(test_utf8_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
