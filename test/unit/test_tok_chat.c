/* Templates: goldens of small ones, limits on hostile ones. (That renderings equal
 * transformers' is test/agree/agree_chat.py.) */
#include "check.h"

#include "base/json.h"
#include "base/mem.h"
#include "jinja/jinja.h"

static void variables(struct jinja *j, void *ctx)
{
	jinja_set(j, STR("messages"), jv_from_json(j, ctx));
}

static int render(const char *template, struct buf *out, struct err *e)
{
	struct json *messages = json_parse(STR("[{\"role\": \"system\", \"content\": \"S\"}, {\"role\": \"user\", \"content\": \" hi \"}]"), e);
	int rc = jinja_render(str_of(template), variables, messages, out, e);

	json_free(messages);
	return rc;
}

static void test_goldens(void **state)
{
	static const struct { const char *template, *want; } cases[] = {
		{ "{% for m in messages %}<{{ m.role }}>{{ m['content'] | trim }}\n{% endfor %}", "<system>S\n<user>hi\n" },
		{ "{%- if messages[0].role == 'system' %}\n  {{- 'yes' }}\n{%- endif %}\n", "yes" },
		{ "a\n{% if true %}\nb\n  {% endif %}\nc\n", "a\nb\nc" },
		{ "{{ {'a': [1, 'x'], 'b': none} | tojson }}", "{\"a\": [1, \"x\"], \"b\": null}" },
		{ "{% set ns = namespace(n=1) %}{% for i in range(3) %}{% set ns.n = ns.n * 2 %}{% endfor %}{{ ns.n }}", "8" },
		{ "{{ messages[::-1][0].role }} {{ messages|length - 1 }}", "user 1" },
		{ "{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(1) }}{{ m('a') }}", "[1][a]" },
		{ "{{ 'a</think>b'.split('</think>')[-1].lstrip('\\n') }}", "b" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf b = BUF_INIT;
		struct err e = ERR_INIT;

		if (render(cases[i].template, &b, &e))
			fail_msg("%s: %s", cases[i].template, e.text);
		assert_string_equal(buf_cstr(&b), cases[i].want);
		buf_release(&b);
	}
}

static void test_errors_say_where(void **state)
{
	static const struct { const char *template, *why; } cases[] = {
		{ "a\nb {{ x.y }}", "line 2: 'x' is undefined" },
		{ "{{ raise_exception('roles must alternate') }}", "roles must alternate" },
		{ "{% if x %}", "'elif' is missing" },
		{ "{{ 'a", "unterminated string" },
		{ "{{ 1 | nothing }}", "unknown filter 'nothing'" },
		{ "{% include 'x' %}", "unknown tag 'include'" },
		{ "{{ [1,2] + 'a' }}", "'+' cannot be applied to 'list' and 'str'" },
		{ "{% for i in range(100000) %}{% for k in range(100000) %}{{ i }}{% endfor %}{% endfor %}", "too many steps" },
		{ "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "too deeply" },
		{ "{% set ns = namespace(x=1) %}{% for i in range(999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}", "too deeply" },
		{ "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me }}", "too deeply" },
		{ "{{ ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
		  "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1", "too deeply" },
		{ "{% set ns = namespace(s='aaaaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", "emory" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf b = BUF_INIT;
		struct err e = ERR_INIT;

		assert_int_equal(render(cases[i].template, &b, &e), -1);
		assert_contains(e.text, cases[i].why);
		assert_int_equal(b.n, 0);
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_errors_say_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
