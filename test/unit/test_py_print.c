/* The printer: what is printed parses to the same tree, and reads as people write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "py/ast.h"

/* Source and what it is printed as; NULL: as it stands. */
static const struct { const char *source, *printed; } cases[] = {
	{ "x = 1\n", NULL },
	{ "a, b = b, a\n", NULL },
	{ "(a, b) = [(c, d)]", "a, b = [(c, d)]\n" },
	{ "x: int = 3\n", NULL },
	{ "(x): int\n", NULL },
	{ "def f():\n    x += yield\n", NULL },
	{ "def f():\n    return_ = (yield x)\n", "def f():\n    return_ = yield x\n" },
	{ "def f():\n    return (yield x)\n", NULL },
	{ "(a + b) * c - (d - e)\n", NULL },
	{ "(-a) ** -b ** c\n", NULL },
	{ "-(a ** b)", "-a ** b\n" },
	{ "(await_ or b) and not (c and d)\n", NULL },
	{ "(a < b) < c\n", NULL },
	{ "(a if b else c) if d else (e if f else g)", "(a if b else c) if d else e if f else g\n" },
	{ "(lambda: a)()\n", NULL },
	{ "lambda a, /, b=1, *c, d, e=2, **f: (a, b)\n", NULL },
	{ "f((x for x in y), *a, b=(c := 1), **d)\n", NULL },
	{ "a[1:2, ::3], a[()], a[b,], a[*c], a[(d := 1)]", "a[1:2, ::3], a[()], a[b,], a[*c,], a[(d := 1)]\n" },
	{ "1 .real + 1.0.imag + (-1).real\n", NULL },
	{ "{**a, 'b': c}, {d, *e}, {f: g for f, g in h if i if j}\n", NULL },
	{ "with (a, b): pass", "with a, b:\n    pass\n" },
	{ "with ((a, b)): pass", "with ((a, b)):\n    pass\n" },
	{ "with (a, b) as (c, d), e:\n    pass\n", NULL },
	{ "del (a, b), c\n", NULL },
	{ "if a: b\nelif c: d\nelse: e", "if a:\n    b\nelif c:\n    d\nelse:\n    e\n" },
	{ "try: a\nexcept* (B, C) as d: e\nfinally: f", "try:\n    a\nexcept* (B, C) as d:\n    e\nfinally:\n    f\n" },
	{ "from .a import (b as c, d)", "from .a import b as c, d\n" },
	{ "@d\nasync def f(a: int = 1, *, b) -> c: await x", "@d\nasync def f(a: int = 1, *, b) -> c:\n    await x\n" },
	{ "class A(B, k=1):\n    x = 1\n\n    def f(self):\n        pass\n", NULL },
	{ "def f():\n    '''Doc.\n    More.'''", "def f():\n    \"\"\"Doc.\n    More.\"\"\"\n" },
	{ "'it\\'s', \"a\", b'\\x00', u'b'", "\"it's\", 'a', b'\\x00', u'b'\n" },
	{ "f'{a!r:>{b}}{{c}}'\n", NULL },
	{ "f\"{a['b']}\"", "f'{a[\"b\"]}'\n" },
	{ "f'''{a[\"b\"]}{c['d']}it's'''", "f'{a[\"b\"]}{c[\"d\"]}it\\'s'\n" },
	{ "f'{ {1: 2}[1] }{(lambda: 1)}{x:\\x7b}'", "f'{ {1: 2}[1]}{(lambda: 1)}{x:\\x7b}'\n" },
	{ "f\"{'''it's'''}\" f'{\"\"\"say \"x\".\"\"\"}'", "f'''{\"it's\"}{'say \"x\".'}'''\n" },
	{ "u'a' f'{b}'", "u'' f'a{b}'\n" },
	{ "match x:\n    case [1, -2.5, 3 + 4j, *rest] | {'k': A.b | None, **rest} if y:\n        pass\n", NULL },
	{ "match a, *b:\n case C(d, e=_): pass", "match (a, *b):\n    case C(d, e=_):\n        pass\n" },
	{ "1e309, 1e16, 0xFFFFFFFFFFFFFFFFFF, 1_0j", "1e309, 1e+16, 0xFFFFFFFFFFFFFFFFFF, 10j\n" },
};

static void test_print(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct py_module m, again;
		struct buf b = BUF_INIT;
		struct err e = ERR_INIT;

		if (py_parse(&m, str_of(cases[i].source), "test", 0, &e))
			fail_msg("%s: %s", cases[i].source, e.text);
		py_print(m.root, &b);
		if (py_parse(&again, buf_str(&b), "printed", 0, &e))
			fail_msg("%s: printed as %s: %s", cases[i].source, buf_cstr(&b), e.text);
		assert_true(py_equal(m.root, again.root));
		assert_string_equal(buf_cstr(&b), cases[i].printed ? cases[i].printed : cases[i].source);
		buf_release(&b);
		py_release(&m);
		py_release(&again);
	}
}

/* Anything that differs, differs. */
static void test_equal_tells_apart(void **state)
{
	static const struct { const char *a, *b; } pairs[] = {
		{ "a", "b" }, { "a + b", "a - b" }, { "1", "1.0" }, { "0.0", "-0.0" }, { "'a'", "b'a'" }, { "'a'", "u'a'" },
		{ "a < b", "a > b" }, { "f(a)", "f(a, b)" }, { "f(a=b)", "f(**b)" }, { "global a", "global b" },
		{ "from a import b", "from .a import b" }, { "x: int", "(x): int" }, { "f'{a}'", "f'{a!s}'" },
		{ "a[b]", "a[b:]" }, { "lambda a: 1", "lambda *a: 1" }, { "a\nb", "a" }, { "True", "False" }, { "{}", "{**a}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		struct py_module a, b;
		struct err e = ERR_INIT;

		assert_int_equal(py_parse(&a, str_of(pairs[i].a), "a", 0, &e), 0);
		assert_int_equal(py_parse(&b, str_of(pairs[i].b), "b", 0, &e), 0);
		if (py_equal(a.root, b.root))
			fail_msg("%s and %s", pairs[i].a, pairs[i].b);
		assert_true(py_equal(a.root, a.root));
		py_release(&a);
		py_release(&b);
	}
}

static void count(void *ctx, struct py_node *n)
{
	++*(int *)ctx;
	py_children(n, count, ctx);
}

static void test_children(void **state)
{
	struct py_module m;
	struct err e = ERR_INIT;
	int n = 0;

	(void)state;
	assert_int_equal(py_parse(&m, STR("{**a, b: c}\ndef f(*, x, y=1): pass\n"), "test", 0, &e), 0);
	py_children(m.root, count, &n);
	assert_int_equal(n, 11);       /* Expr Dict a b c, FunctionDef arguments x y 1 Pass */
	py_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print), cmocka_unit_test(test_equal_tells_apart), cmocka_unit_test(test_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
