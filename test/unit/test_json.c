/* JSON: what is read and refused, access, the writer. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"

static struct json *parse(const char *text)
{
	struct err e = ERR_INIT;
	struct json *j = json_parse(str_of(text), &e);

	if (!j)
		fail_msg("'%s': %s", text, e.text);
	return j;
}

static void refuse(const char *text, const char *why)
{
	struct err e = ERR_INIT;

	assert_null(json_parse(str_of(text), &e));
	assert_int_not_equal(e.code, ERR_NONE);
	assert_contains(e.text, why);
}

static void test_values(void **state)
{
	struct json *j = parse("{\"s\": \"a\\u00e9\\u0000b\", \"i\": -9223372036854775808, \"r\": 2.5e3, \"t\": true,"
			       " \"f\": false, \"n\": null, \"a\": [1, [], {}]}");

	(void)state;
	assert_int_equal(json_kind(j), JSON_OBJECT);
	assert_int_equal(json_count(j), 7);
	assert_true(str_eq(json_str(json_get(j, "s"), ""), STR("a\xC3\xA9\0b")));
	assert_true(json_int(json_get(j, "i"), 0) == INT64_MIN);
	assert_true(json_real(json_get(j, "r"), 0) == 2500.0);
	assert_int_equal(json_int(json_get(j, "r"), 0), 2500);
	assert_int_equal(json_bool(json_get(j, "t"), 0), 1);
	assert_int_equal(json_bool(json_get(j, "f"), 1), 0);
	assert_int_equal(json_kind(json_get(j, "n")), JSON_NULL);
	assert_int_equal(json_count(json_get(j, "a")), 3);
	assert_int_equal(json_int(json_at(json_get(j, "a"), 0), 7), 1);
	assert_null(json_at(json_get(j, "a"), 3));
	assert_null(json_get(j, "absent"));
	assert_int_equal(json_int(json_get(j, "s"), 42), 42);
	assert_true(str_is(json_str(NULL, "d"), "d"));
	json_free(j);
}

static void test_order_and_lookup(void **state)
{
	struct buf b = BUF_INIT;
	struct json *j;
	const char *key;

	(void)state;
	buf_addc(&b, '{');
	for (int i = 0; i < 1000; i++)
		buf_addf(&b, "%s\"k%d\":%d", i ? "," : "", (i * 7919) % 1000, i);
	buf_addc(&b, '}');
	j = parse(b.p);
	for (int i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof name, "k%d", (i * 7919) % 1000);
		assert_int_equal(json_int(json_get(j, name), -1), i);
		assert_int_equal(json_int(json_member(j, (size_t)i, &key), -1), i);
		assert_string_equal(key, name);
	}
	assert_null(json_get(j, "k1000"));
	assert_null(json_member(j, 1000, &key));
	assert_string_equal(key, "");
	json_free(j);
	buf_release(&b);
}

static void test_refused(void **state)
{
	struct err e = ERR_INIT;
	struct buf deep = BUF_INIT;

	(void)state;
	refuse("", "JSON");
	refuse("{\"a\": 1,}", "line 1");
	refuse("{\"a\": 1, \"a\": 2}", "duplicate");
	refuse("[NaN]", "JSON");
	refuse("[1] x", "line 1");
	refuse("\"\xff\"", "decode byte 0xff");
	refuse("[1e999]", "overflow");
	assert_null(json_parse(STR("{\n  \"a\": ]\n}"), &e));
	assert_int_equal(e.line, 2);
	assert_true(e.column > 0);
	err_clear(&e);
	buf_pad(&deep, '[', 100000);
	assert_null(json_parse(buf_str(&deep), &e));
	buf_clear(&deep);
	buf_pad(&deep, '[', JSON_DEPTH_MOST + 1);
	buf_pad(&deep, ']', JSON_DEPTH_MOST + 1);
	err_clear(&e);
	assert_null(json_parse(buf_str(&deep), &e));
	assert_contains(e.text, "deeper");
	buf_release(&deep);
	err_clear(&e);
	assert_null(json_parse_file("/nonexistent/x.json", &e));
	assert_int_equal(e.code, ERR_NOT_FOUND);
}

/* Hugging Face writes such a number for "no limit". */
static void test_huge_integer(void **state)
{
	struct json *j = parse("{\"a\": 1000000000000000019884624838656, \"s\": \"1000000000000000019884624838656\","
			       " \"b\": -7, \"c\": 12345678901234567, \"q\": \"\\\"999999999999999999999\"}");

	(void)state;
	assert_true(json_real(json_get(j, "a"), 0) == 1000000000000000019884624838656.0);
	assert_int_equal(json_int(json_get(j, "a"), -1), -1);
	assert_true(str_is(json_str(json_get(j, "s"), ""), "1000000000000000019884624838656"));
	assert_int_equal(json_kind(json_get(j, "b")), JSON_INT);
	assert_true(json_int(json_get(j, "c"), 0) == 12345678901234567);
	assert_true(str_is(json_str(json_get(j, "q"), ""), "\"999999999999999999999"));
	json_free(j);
}

static void test_needed(void **state)
{
	struct json *j = parse("{\"s\": \"x\", \"i\": 3, \"r\": 1.5}");
	struct err e = ERR_INIT;
	struct str s;
	int64_t i;
	double r;

	(void)state;
	assert_int_equal(json_need_str(j, "s", &s, &e), 0);
	assert_int_equal(json_need_int(j, "i", &i, &e), 0);
	assert_int_equal(i, 3);
	assert_int_equal(json_need_real(j, "i", &r, &e), 0);
	assert_true(r == 3.0);
	assert_int_equal(json_need_int(j, "r", &i, &e), -1);
	assert_contains(e.text, "'r'");
	assert_contains(e.text, "integer");
	err_clear(&e);
	assert_int_equal(json_need_str(j, "q", &s, &e), -1);
	assert_contains(e.text, "missing");
	json_free(j);
}

static void test_writer(void **state)
{
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b };

	(void)state;
	jw_begin(&w, '{');
	jw_key(&w, "a"), jw_begin(&w, '['), jw_int(&w, INT64_MIN), jw_real(&w, 0.1), jw_real(&w, 3),
	jw_real(&w, NAN), jw_end(&w, ']');
	jw_key(&w, "e"), jw_begin(&w, '{'), jw_end(&w, '}');
	jw_key(&w, "s"), jw_str(&w, STR("q\"\\\n\x01\xff\xC3\xA9\xED\xA0\x80"));
	jw_key(&w, "z"), jw_cstr(&w, NULL), jw_key(&w, "t"), jw_bool(&w, 1), jw_key(&w, "r"), jw_raw(&w, STR("[1]"));
	jw_end(&w, '}');
	assert_string_equal(b.p, "{\"a\":[-9223372036854775808,0.1,3.0,null],\"e\":{},"
				 "\"s\":\"q\\\"\\\\\\n\\u0001\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\","
				 "\"z\":null,\"t\":true,\"r\":[1]}");
	buf_release(&b);
}

/* Writing a tree and reading it again gives the same text; reals keep every bit. */
static void test_round_trip(void **state)
{
	static const char text[] = "{\"a\":[1,-2.5,1e-300,0.1,1.7976931348623157e+308,5e-324],\"b\":{\"c\":[null,true,"
				   "\"\\u0000x\"]}}";
	struct json *j = parse(text);
	struct buf b = BUF_INIT, c = BUF_INIT;
	struct jw w = { .out = &b }, pretty = { .out = &c, .indent = 2 };

	(void)state;
	jw_json(&w, j);
	assert_string_equal(b.p, text);
	jw_json(&pretty, j);
	assert_contains(c.p, "{\n  \"a\": [\n    1,");
	json_free(j);
	j = parse(c.p);
	buf_clear(&b);
	w = (struct jw){ .out = &b };
	jw_json(&w, j);
	assert_string_equal(b.p, text);
	json_free(j);
	buf_release(&b);
	buf_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_order_and_lookup),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_huge_integer),
		cmocka_unit_test(test_needed), cmocka_unit_test(test_writer), cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
