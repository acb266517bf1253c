/* The parser: trees, positions, values of literals, errors, limits. The whole grammar is
 * compared with CPython's in test/agree/agree_py.py; here is a case of each thing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/sys.h"
#include "py/ast.h"
#include "py/caret.h"
#include "py/repr.h"

/* Removes ", lineno=..., end_col_offset=N" from a dump. */
static void drop_positions(struct buf *b)
{
	char *w = b->p, *s = b->p;

	while (*s) {
		if (!strncmp(s, ", lineno=", 9) || !strncmp(s, "lineno=", 7)) {
			s = strstr(s, "end_col_offset=") + 15;
			s += strspn(s, "0123456789");
		} else {
			*w++ = *s++;
		}
	}
	*w = 0;
	b->n = (size_t)(w - b->p);
}

static struct py_module parse(const char *source)
{
	struct py_module m;
	struct err e = ERR_INIT;

	if (py_parse(&m, str_of(source), "test", 0, &e))
		fail_msg("%s\n%d:%d: %s", source, e.line, e.column, e.text);
	return m;
}

/* --- trees -------------------------------------------------------------------------------- */

/* One statement and the dump of it without positions. */
static const struct { const char *source, *dump; } trees[] = {
	{ "x = 1", "Assign(targets=[Name(id='x', ctx=Store())], value=Constant(value=1))" },
	{ "a = b = *c, d",
	  "Assign(targets=[Name(id='a', ctx=Store()), Name(id='b', ctx=Store())], "
	  "value=Tuple(elts=[Starred(value=Name(id='c', ctx=Load()), ctx=Load()), Name(id='d', ctx=Load())], "
	  "ctx=Load()))" },
	{ "x: int = 3",
	  "AnnAssign(target=Name(id='x', ctx=Store()), annotation=Name(id='int', ctx=Load()), value=Constant(value=3), "
	  "simple=1)" },
	{ "(x): int", "AnnAssign(target=Name(id='x', ctx=Store()), annotation=Name(id='int', ctx=Load()), simple=0)" },
	{ "x @= y", "AugAssign(target=Name(id='x', ctx=Store()), op=MatMult(), value=Name(id='y', ctx=Load()))" },
	{ "-a ** -b",
	  "Expr(value=UnaryOp(op=USub(), operand=BinOp(left=Name(id='a', ctx=Load()), op=Pow(), "
	  "right=UnaryOp(op=USub(), operand=Name(id='b', ctx=Load())))))" },
	{ "a < b is not c not in d",
	  "Expr(value=Compare(left=Name(id='a', ctx=Load()), ops=[Lt(), IsNot(), NotIn()], comparators=[Name(id='b', "
	  "ctx=Load()), Name(id='c', ctx=Load()), Name(id='d', ctx=Load())]))" },
	{ "a or b and not c",
	  "Expr(value=BoolOp(op=Or(), values=[Name(id='a', ctx=Load()), BoolOp(op=And(), values=[Name(id='b', "
	  "ctx=Load()), UnaryOp(op=Not(), operand=Name(id='c', ctx=Load()))])]))" },
	{ "f(a, *b, c=1, **d)",
	  "Expr(value=Call(func=Name(id='f', ctx=Load()), args=[Name(id='a', ctx=Load()), Starred(value=Name(id='b', "
	  "ctx=Load()), ctx=Load())], keywords=[keyword(arg='c', value=Constant(value=1)), keyword(value=Name(id='d', "
	  "ctx=Load()))]))" },
	{ "f(x for x in y)",
	  "Expr(value=Call(func=Name(id='f', ctx=Load()), args=[GeneratorExp(elt=Name(id='x', ctx=Load()), "
	  "generators=[comprehension(target=Name(id='x', ctx=Store()), iter=Name(id='y', ctx=Load()), ifs=[], "
	  "is_async=0)])], keywords=[]))" },
	{ "a[1:2, ::3, None]",
	  "Expr(value=Subscript(value=Name(id='a', ctx=Load()), slice=Tuple(elts=[Slice(lower=Constant(value=1), "
	  "upper=Constant(value=2)), Slice(step=Constant(value=3)), Constant(value=None)], ctx=Load()), ctx=Load()))" },
	{ "a[*b]",
	  "Expr(value=Subscript(value=Name(id='a', ctx=Load()), slice=Tuple(elts=[Starred(value=Name(id='b', "
	  "ctx=Load()), ctx=Load())], ctx=Load()), ctx=Load()))" },
	{ "{**a, 'b': c}",
	  "Expr(value=Dict(keys=[None, Constant(value='b')], values=[Name(id='a', ctx=Load()), Name(id='c', "
	  "ctx=Load())]))" },
	{ "lambda a, /, b=1, *, c: a",
	  "Expr(value=Lambda(args=arguments(posonlyargs=[arg(arg='a')], args=[arg(arg='b')], "
	  "kwonlyargs=[arg(arg='c')], kw_defaults=[None], defaults=[Constant(value=1)]), body=Name(id='a', "
	  "ctx=Load())))" },
	{ "def f(*a: *b): pass",
	  "FunctionDef(name='f', args=arguments(posonlyargs=[], args=[], vararg=arg(arg='a', "
	  "annotation=Starred(value=Name(id='b', ctx=Load()), ctx=Load())), kwonlyargs=[], kw_defaults=[], "
	  "defaults=[]), body=[Pass()], decorator_list=[])" },
	{ "@d\nclass A(B, k=1): pass",
	  "ClassDef(name='A', bases=[Name(id='B', ctx=Load())], keywords=[keyword(arg='k', value=Constant(value=1))], "
	  "body=[Pass()], decorator_list=[Name(id='d', ctx=Load())])" },
	{ "with (a as b, c): pass",
	  "With(items=[withitem(context_expr=Name(id='a', ctx=Load()), optional_vars=Name(id='b', ctx=Store())), "
	  "withitem(context_expr=Name(id='c', ctx=Load()))], body=[Pass()])" },
	{ "with (a, b) as c: pass",
	  "With(items=[withitem(context_expr=Tuple(elts=[Name(id='a', ctx=Load()), Name(id='b', ctx=Load())], "
	  "ctx=Load()), optional_vars=Name(id='c', ctx=Store()))], body=[Pass()])" },
	{ "if a: b\nelif c: d\nelse: e",
	  "If(test=Name(id='a', ctx=Load()), body=[Expr(value=Name(id='b', ctx=Load()))], orelse=[If(test=Name(id='c', "
	  "ctx=Load()), body=[Expr(value=Name(id='d', ctx=Load()))], orelse=[Expr(value=Name(id='e', ctx=Load()))])])" },
	{ "try: a\nexcept* B as c: d",
	  "TryStar(body=[Expr(value=Name(id='a', ctx=Load()))], handlers=[ExceptHandler(type=Name(id='B', ctx=Load()), "
	  "name='c', body=[Expr(value=Name(id='d', ctx=Load()))])], orelse=[], finalbody=[])" },
	{ "for x, in *a, b: break",
	  "For(target=Tuple(elts=[Name(id='x', ctx=Store())], ctx=Store()), "
	  "iter=Tuple(elts=[Starred(value=Name(id='a', ctx=Load()), ctx=Load()), Name(id='b', ctx=Load())], "
	  "ctx=Load()), body=[Break()], orelse=[])" },
	{ "async def f(): await x",
	  "AsyncFunctionDef(name='f', args=arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], "
	  "defaults=[]), body=[Expr(value=Await(value=Name(id='x', ctx=Load())))], decorator_list=[])" },
	{ "from ..a.b import (c as d, e,)",
	  "ImportFrom(module='a.b', names=[alias(name='c', asname='d'), alias(name='e')], level=2)" },
	{ "from ... import *", "ImportFrom(names=[alias(name='*')], level=3)" },
	{ "if (n := 1): pass",
	  "If(test=NamedExpr(target=Name(id='n', ctx=Store()), value=Constant(value=1)), body=[Pass()], orelse=[])" },
	{ "del a, (b, c)",
	  "Delete(targets=[Name(id='a', ctx=Del()), Tuple(elts=[Name(id='b', ctx=Del()), Name(id='c', ctx=Del())], "
	  "ctx=Del())])" },
	{ "match x:\n case {'a': 1, **r} | [A.b(c=_), *r] as d if e: pass",
	  "Match(subject=Name(id='x', ctx=Load()), "
	  "cases=[match_case(pattern=MatchAs(pattern=MatchOr(patterns=[MatchMapping(keys=[Constant(value='a')], "
	  "patterns=[MatchValue(value=Constant(value=1))], rest='r'), "
	  "MatchSequence(patterns=[MatchClass(cls=Attribute(value=Name(id='A', ctx=Load()), attr='b', ctx=Load()), "
	  "patterns=[], kwd_attrs=['c'], kwd_patterns=[MatchAs()]), MatchStar(name='r')])]), name='d'), guard=Name(id='e', "
	  "ctx=Load()), body=[Pass()])])" },
	{ "match = case", "Assign(targets=[Name(id='match', ctx=Store())], value=Name(id='case', ctx=Load()))" },
	{ "match[x]", "Expr(value=Subscript(value=Name(id='match', ctx=Load()), slice=Name(id='x', ctx=Load()), ctx=Load()))" },
	{ "f'a{b!r:>{c}}{d=}' 'e'",
	  "Expr(value=JoinedStr(values=[Constant(value='a'), FormattedValue(value=Name(id='b', ctx=Load()), "
	  "conversion=114, format_spec=JoinedStr(values=[Constant(value='>'), FormattedValue(value=Name(id='c', "
	  "ctx=Load()), conversion=-1)])), Constant(value='d='), FormattedValue(value=Name(id='d', ctx=Load()), "
	  "conversion=114), Constant(value='e')]))" },
	{ "f'{{{a}}}'",
	  "Expr(value=JoinedStr(values=[Constant(value='{'), FormattedValue(value=Name(id='a', ctx=Load()), "
	  "conversion=-1), Constant(value='}')]))" },
	{ "lambda: (yield)",
	  "Expr(value=Lambda(args=arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), body=Yield()))" },
	{ "lambda: (yield from a)",
	  "Expr(value=Lambda(args=arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), "
	  "body=YieldFrom(value=Name(id='a', ctx=Load()))))" },
	{ "a if b else c",
	  "Expr(value=IfExp(test=Name(id='b', ctx=Load()), body=Name(id='a', ctx=Load()), orelse=Name(id='c', "
	  "ctx=Load())))" },
	{ "global a, b", "Global(names=['a', 'b'])" },
	{ "raise a from b", "Raise(exc=Name(id='a', ctx=Load()), cause=Name(id='b', ctx=Load()))" },
};

static void test_trees(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(trees); i++) {
		struct py_module m = parse(trees[i].source);
		struct buf b = BUF_INIT;

		assert_int_equal(m.root->u.Module.body.n, 1);
		py_dump(m.root->u.Module.body.v[0], &b);
		drop_positions(&b);
		assert_string_equal(buf_cstr(&b), trees[i].dump);
		buf_release(&b);
		py_release(&m);
	}
}

static void test_positions(void **state)
{
	struct py_module m = parse("\xEF\xBB\xBFx = (a +\n  b)\nif c:\n\td; \n");
	struct buf b = BUF_INIT;

	(void)state;
	py_dump(m.root, &b);
	assert_string_equal(buf_cstr(&b),
		"Module(body=[Assign(targets=[Name(id='x', ctx=Store(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)], "
		"value=BinOp(left=Name(id='a', ctx=Load(), lineno=1, col_offset=5, end_lineno=1, end_col_offset=6), op=Add(), "
		"right=Name(id='b', ctx=Load(), lineno=2, col_offset=2, end_lineno=2, end_col_offset=3), "
		"lineno=1, col_offset=5, end_lineno=2, end_col_offset=3), lineno=1, col_offset=0, end_lineno=2, end_col_offset=4), "
		"If(test=Name(id='c', ctx=Load(), lineno=3, col_offset=3, end_lineno=3, end_col_offset=4), "
		"body=[Expr(value=Name(id='d', ctx=Load(), lineno=4, col_offset=1, end_lineno=4, end_col_offset=2), "
		"lineno=4, col_offset=1, end_lineno=4, end_col_offset=2)], orelse=[], "
		"lineno=3, col_offset=0, end_lineno=4, end_col_offset=3)], type_ignores=[])");
	assert_true(str_is(py_line(&m, 3), "if c:"));
	buf_release(&b);
	py_release(&m);
}

/* Expressions in an f-string have the place where they stand. */
static void test_fstring_positions(void **state)
{
	struct py_module m = parse("x = f'''a\n {b.c}'''\n");
	const struct py_node *s = m.root->u.Module.body.v[0]->u.Assign.value;
	const struct py_node *v = s->u.JoinedStr.values.v[1]->u.FormattedValue.value;

	(void)state;
	assert_int_equal(v->kind, PY_Attribute);
	assert_int_equal(v->line, 2);
	assert_int_equal(v->col, 2);
	assert_int_equal(v->end_col, 5);
	py_release(&m);
}

/* --- literals ------------------------------------------------------------------------------- */

static const struct { const char *source, *repr; } literals[] = {
	{ "0", "0" }, { "1_000", "1000" }, { "0xFF_ff", "65535" }, { "0o17", "15" }, { "0b101", "5" }, { "00", "0" },
	{ "9223372036854775807", "9223372036854775807" }, { "9223372036854775808", "9223372036854775808" },
	{ "0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175" },
	{ "1.", "1.0" }, { ".5", "0.5" }, { "1e16", "1e+16" }, { "1e15", "1000000000000000.0" }, { "1e-5", "1e-05" },
	{ "0.0001", "0.0001" }, { "5e-324", "5e-324" }, { "1.7976931348623157e308", "1.7976931348623157e+308" },
	{ "0.1", "0.1" }, { "3.141592653589793", "3.141592653589793" }, { "1e23", "1e+23" }, { "09.5", "9.5" },
	{ "2j", "2j" }, { "1.5e3J", "1500j" }, { "1if 1 else 2", "1" },
	{ "'a' \"b\"", "'ab'" }, { "'\\x41\\u00e9\\101\\n\\'\\\"'", "'A\xC3\xA9" "A\\n\\'\"'" },
	{ "r'\\n'", "'\\\\n'" }, { "'\\q'", "'\\\\q'" }, { "'a\\\nb'", "'ab'" }, { "'''a\nb'''", "'a\\nb'" },
	{ "b'\\xff\\377a' b'b'", "b'\\xff\\xffab'" }, { "Rb'\\x'", "b'\\\\x'" }, { "'\\ud800'", "'\\ud800'" },
	{ "'\\N{GREEK SMALL LETTER ALPHA}\\N{latin small letter a}\\N{HANGUL SYLLABLE GAG}\\N{CJK UNIFIED IDEOGRAPH-4E00}'",
	  "'\xCE\xB1" "a\xEA\xB0\x81\xE4\xB8\x80'" },
	{ "'\\U0001F600'", "'\xF0\x9F\x98\x80'" }, { "'\\x7f\\x80'", "'\\x7f\\x80'" },
	{ "None", "None" }, { "...", "Ellipsis" }, { "True", "True" },
};

static void test_literals(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(literals); i++) {
		struct py_module m = parse(literals[i].source);
		const struct py_node *n = m.root->u.Module.body.v[0]->u.Expr.value;
		struct buf b = BUF_INIT;

		if (n->kind == PY_IfExp)
			n = n->u.IfExp.body;
		assert_int_equal(n->kind, PY_Constant);
		py_repr_const(&n->u.Constant.value, &b);
		assert_string_equal(buf_cstr(&b), literals[i].repr);
		buf_release(&b);
		py_release(&m);
	}
}

static void check_id(const char *source, const char *id)
{
	struct py_module m = parse(source);
	struct str got = m.root->u.Module.body.v[0]->u.Expr.value->u.Name.id;

	if (!str_is(got, id))
		fail_msg("'%.*s' is not '%s'", STR_ARG(got), id);
	py_release(&m);
}

static void test_identifiers(void **state)
{
	(void)state;
	check_id("\xEF\xBD\x97", "w");                           /* full width */
	check_id("e\xCC\x81", "\xC3\xA9");                       /* composed */
	check_id("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81");  /* Hangul */
	check_id("\xEF\xAC\x81x", "fix");                        /* ligature */
	check_id("# -*- coding: latin-1 -*-\n\xE9", "\xC3\xA9");
	check_id("# vim: set fileencoding=koi8-r :\n\xC1", "\xD0\xB0");
	check_id("\n# coding: cp1251\n\xE0", "\xD0\xB0");
	check_id("\xEF\xBB\xBF# coding: utf-8\nabc", "abc");
	check_id("# coding: utf_8-unix\r\nabc\r\n", "abc");
}

/* Within a module the same name has the same address. */
static void test_interned(void **state)
{
	struct py_module m = parse("import alpha.beta\nlonger_than_eight = longer_than_eight\nalpha . beta");
	const struct py_list *body = &m.root->u.Module.body;

	(void)state;
	assert_ptr_equal(body->v[1]->u.Assign.targets.v[0]->u.Name.id.p, body->v[1]->u.Assign.value->u.Name.id.p);
	assert_true(str_is(body->v[0]->u.Import.names.v[0]->u.alias.name, "alpha.beta"));
	py_release(&m);
}

/* --- errors ------------------------------------------------------------------------------------ */

static const struct { const char *source; int line, column; const char *text; } errors[] = {
	{ "x = (1,\ny = 3\n", 1, 5, "'(' was never closed" },
	{ "x = )", 1, 5, "unmatched ')'" },
	{ "x = (]", 1, 6, "closing parenthesis ']' does not match opening parenthesis '('" },
	{ "a b", 1, 3, "invalid syntax" },
	{ "f(a b)", 1, 3, "invalid syntax. Perhaps you forgot a comma?" },
	{ "if x\n  pass", 1, 5, "expected ':'" },
	{ "if x:\npass", 2, 1, "expected an indented block after 'if' statement on line 1" },
	{ "def f():\nx", 2, 1, "expected an indented block after function definition on line 1" },
	{ "  x", 1, 3, "unexpected indent" },
	{ "if x:\n    a\n  b", 3, 3, "unindent does not match any outer indentation level" },
	{ "if x:\n\ta\n        b", 3, 9, "inconsistent use of tabs and spaces in indentation" },
	{ "x = 'a", 1, 5, "unterminated string literal (detected at line 1)" },
	{ "x = '''a\nb", 1, 5, "unterminated triple-quoted string literal (detected at line 2)" },
	{ "1 = x", 1, 1, "cannot assign to literal here. Maybe you meant '==' instead of '='?" },
	{ "f() = x", 1, 1, "cannot assign to function call here. Maybe you meant '==' instead of '='?" },
	{ "(a, 1) = x", 1, 5, "cannot assign to literal" },
	{ "None = 1", 1, 1, "cannot assign to None" },
	{ "del f()", 1, 5, "cannot delete function call" },
	{ "a, b += 1", 1, 1, "'tuple' is an illegal expression for augmented assignment" },
	{ "a, b: int", 1, 1, "only single target (not tuple) can be annotated" },
	{ "if x = 1: pass", 1, 4, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?" },
	{ "f(a=1, b)", 1, 8, "positional argument follows keyword argument" },
	{ "f(**a, *b)", 1, 8, "iterable argument unpacking follows keyword argument unpacking" },
	{ "f(a for a in b, c)", 1, 3, "Generator expression must be parenthesized" },
	{ "f(a.b=1)", 1, 3, "expression cannot contain assignment, perhaps you meant \"==\"?" },
	{ "def f(a=1, b): pass", 1, 12, "non-default argument follows default argument" },
	{ "def f(*): pass", 1, 7, "named arguments must follow bare *" },
	{ "print x", 1, 1, "Missing parentheses in call to 'print'. Did you mean print(...)?" },
	{ "try: a\nb", 2, 1, "expected 'except' or 'finally' block" },
	{ "try: a\nexcept B, C: d", 2, 8, "multiple exception types must be parenthesized" },
	{ "from a import b,", 1, 17, "trailing comma not allowed without surrounding parentheses" },
	{ "09", 1, 1, "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers" },
	{ "0b12", 1, 4, "invalid digit '2' in binary literal" },
	{ "1_", 1, 3, "invalid decimal literal" },
	{ "x = 1abc", 1, 6, "invalid decimal literal" },
	{ "b'\xC3\xA9'", 1, 1, "bytes can only contain ASCII literal characters" },
	{ "'a' b'b'", 1, 1, "cannot mix bytes and nonbytes literals" },
	{ "f'{}'", 1, 1, "f-string: empty expression not allowed" },
	{ "f'{a'", 1, 1, "f-string: expecting '}'" },
	{ "f'}'", 1, 1, "f-string: single '}' is not allowed" },
	{ "f'{a!x}'", 1, 1, "f-string: invalid conversion character: expected 's', 'r', or 'a'" },
	{ "f'{a:{b:{c}}}'", 1, 1, "f-string: expressions nested too deeply" },
	{ "(*a)", 1, 2, "cannot use starred expression here" },
	{ "[*a for a in b]", 1, 2, "iterable unpacking cannot be used in comprehension" },
	{ "{**a for a in b}", 1, 6, "dict unpacking cannot be used in dict comprehension" },
	{ "x = a if b", 1, 5, "expected 'else' after 'if' expression" },
	{ "x \\ y", 1, 4, "unexpected character after line continuation character" },
	{ "x = $", 1, 5, "invalid syntax" },
	{ "\xE2\x80\x9C" "a\xE2\x80\x9D", 1, 1, "invalid character '\xE2\x80\x9C' (U+201C)" },
	{ "x\xC2\xA0= 1", 1, 2, "invalid non-printable character U+00A0" },
	{ "# coding: nothing\n", 1, 1, "unknown encoding: nothing" },
	{ "\xEF\xBB\xBF# coding: latin-1\n", 1, 1, "encoding problem: latin-1 with BOM" },
	{ "'\\N{no such name}'", 1, 1, "(unicode error) 'unicodeescape' codec can't decode bytes: unknown Unicode character name" },
	{ "match x:\n case _ as _: pass", 2, 12, "cannot use '_' as a target" },
	{ "class A(x for x in y): pass", 1, 9, "invalid syntax" },
	{ "x = yield = 1", 1, 5, "assignment to yield expression not possible" },
	/* what only CPython's symbol table refuses */
	{ "def f(a, b, *a): pass", 1, 14, "duplicate argument 'a' in function definition" },
	{ "lambda a, a: 1", 1, 11, "duplicate argument 'a' in function definition" },
	{ "def f(a):\n global a", 2, 2, "name 'a' is parameter and global" },
	{ "def f():\n a\n global a", 3, 2, "name 'a' is used prior to global declaration" },
	{ "def f():\n a = 1\n global a", 3, 2, "name 'a' is assigned to before global declaration" },
	{ "def f():\n a: int\n global a", 3, 2, "annotated name 'a' can't be global" },
	{ "def f():\n global a\n a: int", 3, 2, "annotated name 'a' can't be global" },
	{ "nonlocal a", 1, 1, "nonlocal declaration not allowed at module level" },
	{ "a = 1\ndef f():\n nonlocal a", 3, 2, "no binding for nonlocal 'a' found" },
	{ "def f():\n a = 1\n def g():\n  global a\n  def h():\n   nonlocal a", 6, 4, "no binding for nonlocal 'a' found" },
	{ "def f():\n a = 1\n def g():\n  global a; nonlocal a", 4, 3, "name 'a' is nonlocal and global" },
	{ "def f():\n from a import *", 2, 16, "import * only allowed at module level" },
	{ "[x for x in (y := z)]", 1, 14, "assignment expression cannot be used in a comprehension iterable expression" },
	{ "[x for x in [lambda: (y := z)]]", 1, 23, "assignment expression cannot be used in a comprehension iterable expression" },
	{ "[x := 1 for x in y]", 1, 2, "assignment expression cannot rebind comprehension iteration variable 'x'" },
	{ "class A: [y := 1 for x in z]", 1, 11, "assignment expression within a comprehension cannot be used in a class body" },
	{ "[x for y in z if (x := y) for x in w]", 1, 31, "comprehension inner loop cannot rebind assignment expression target 'x'" },
	{ "def f(): [(yield) for x in y]", 1, 12, "'yield' inside list comprehension" },
	{ "from __future__ import annotations\nx: (y := 1)", 2, 5, "'named expression' can not be used within an annotation" },
	/* what only its compiler refuses */
	{ "return", 1, 1, "'return' outside function" },
	{ "class A: return 1", 1, 10, "'return' outside function" },
	{ "yield x", 1, 1, "'yield' outside function" },
	{ "await x", 1, 1, "'await' outside function" },
	{ "def f(): await x", 1, 10, "'await' outside async function" },
	{ "def f():\n async for x in y: pass", 2, 2, "'async for' outside async function" },
	{ "def f(): [x async for x in y]", 1, 10, "asynchronous comprehension outside of an asynchronous function" },
	{ "async def f():\n yield 1\n return 2", 3, 2, "'return' with value in async generator" },
	{ "async def f(): yield from x", 1, 16, "'yield from' inside async function" },
	{ "break", 1, 1, "'break' outside loop" },
	{ "for x in y:\n def f(): continue", 2, 11, "'continue' not properly in loop" },
	{ "for x in y: pass\nelse: break", 2, 7, "'break' outside loop" },
	{ "try: pass\nexcept: pass\nexcept A: pass", 2, 1, "default 'except:' must be last" },
	{ "for x in y:\n try: pass\n except* A: break", 3, 13,
	  "'break', 'continue' and 'return' cannot appear in an except* block" },
	{ "f(a=1, b=2, a=3)", 1, 13, "keyword argument repeated: a" },
	{ "class A(a=1, a=2): pass", 1, 14, "keyword argument repeated: a" },
	{ "*a, *b = c", 1, 1, "multiple starred expressions in assignment" },
	{ "*a = c", 1, 1, "starred assignment target must be in a list or tuple" },
	{ "a = *b", 1, 5, "can't use starred expression here" },
	{ "a.__debug__ = 1", 1, 1, "cannot assign to __debug__" },
	{ "x = 1\nfrom __future__ import annotations", 2, 1, "from __future__ imports must occur at the beginning of the file" },
	{ "'a'\n'b'\nfrom __future__ import annotations", 3, 1, "from __future__ imports must occur at the beginning of the file" },
	{ "from __future__ import braces", 1, 1, "not a chance" },
	{ "from __future__ import a", 1, 1, "future feature a is not defined" },
	{ "match x:\n case a: pass\n case 1: pass", 2, 7, "name capture 'a' makes remaining patterns unreachable" },
	{ "match x:\n case _ | 1: pass", 2, 7, "wildcard makes remaining patterns unreachable" },
	{ "match x:\n case [a, a]: pass", 2, 11, "multiple assignments to name 'a' in pattern" },
	{ "match x:\n case [a] | [b]: pass", 2, 13, "alternative patterns bind different names" },
	{ "match x:\n case {1: a, True: b}: pass", 2, 7, "mapping pattern checks duplicate key (True)" },
	{ "match x:\n case A(b=1, b=2): pass", 2, 16, "attribute name repeated in class pattern: b" },
	{ "match x:\n case [*a, *b]: pass", 2, 7, "multiple starred names in sequence pattern" },
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		struct py_module m;
		struct err e = ERR_INIT;

		if (!py_parse(&m, str_of(errors[i].source), "test", 0, &e))
			fail_msg("accepted: %s", errors[i].source);
		if (e.code != ERR_FORMAT || e.line != errors[i].line || e.column != errors[i].column || strcmp(e.text, errors[i].text))
			fail_msg("%s\ngot %d:%d: %s\nnot %d:%d: %s", errors[i].source, e.line, e.column, e.text,
				 errors[i].line, errors[i].column, errors[i].text);
	}
}

static void test_nul_and_bad_utf8(void **state)
{
	struct py_module m;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(py_parse(&m, STR("a\0b"), "test", 0, &e), -1);
	assert_string_equal(e.text, "source code cannot contain null bytes");
	err_clear(&e);
	assert_int_equal(py_parse(&m, STR("a\n'\xFF'"), "test", 0, &e), -1);
	assert_int_equal(e.line, 2);
	err_clear(&e);
	assert_int_equal(py_parse(&m, STR("'\xED\xA0\x80'"), "test", 0, &e), -1);
}

static void test_caret(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	py_caret(STR("a\n\tx = \xC3\xA9 $\nb"), 2, 9, &b);
	assert_string_equal(buf_cstr(&b), "    \tx = \xC3\xA9 $\n    \t      ^\n");
	buf_clear(&b);
	py_caret(STR("a"), 7, 1, &b);
	assert_int_equal(b.n, 0);
	buf_release(&b);
}

/* --- limits --------------------------------------------------------------------------------------- */

/* `before` times, then "x", then `after` times. */
static int parse_repeated(const char *before, const char *after, int times, struct err *e)
{
	struct buf b = BUF_INIT;
	struct py_module m;
	int rc;

	for (int i = 0; i < times; i++)
		buf_adds(&b, before);
	buf_adds(&b, "x");
	for (int i = 0; i < times; i++)
		buf_adds(&b, after);
	err_clear(e);
	rc = py_parse(&m, buf_str(&b), "test", 0, e);
	if (!rc)
		py_release(&m);
	buf_release(&b);
	return rc;
}

static void test_depth(void **state)
{
	static const struct { const char *before, *after; int good, bad; } cases[] = {
		{ "(", ")", 190, 201 }, { "[", "]", 190, 201 }, { "f(", ")", 190, 201 }, { "", "[0]", 1000, 5000 },
		{ "not ", "", 900, 100000 }, { "-", "", 900, 100000 }, { "lambda:", "", 400, 100000 },
		{ "", "+x", 2000, 5000 }, { "", ".x", 2000, 100000 }, { "x if x else ", "", 400, 100000 },
		{ "", "\nif x: x\nelse:\n x", 20, 0 }, { "if x: x\nel", "", 0, 0 }, { "", "**x", 400, 100000 },
		{ "await ", "", 0, 2 }, { "{x:", "}", 190, 201 }, { "[*", "]", 190, 201 },
	};
	struct err e = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		if (cases[i].good && parse_repeated(cases[i].before, cases[i].after, cases[i].good, &e))
			fail_msg("%s %d times: %s", cases[i].before, cases[i].good, e.text);
		if (cases[i].bad && !parse_repeated(cases[i].before, cases[i].after, cases[i].bad, &e))
			fail_msg("%s %d times: accepted", cases[i].before, cases[i].bad);
		if (cases[i].bad)
			assert_int_equal(e.code, ERR_FORMAT);
	}
}

static void test_memory_limit(void **state)
{
	struct buf b = BUF_INIT;
	struct py_module m;
	struct err e = ERR_INIT;

	(void)state;
	for (int i = 0; i < 10000; i++)
		buf_adds(&b, "x = f(a, b)\n");
	assert_int_equal(py_parse(&m, buf_str(&b), "test", 1 << 20, &e), -1);
	assert_int_equal(e.code, ERR_NOMEM);
	buf_release(&b);
}

static int calls_left;

static void *failing_alloc(size_t n) { return calls_left-- > 0 ? sys_real()->alloc(n) : NULL; }
static void *failing_resize(void *p, size_t n) { return calls_left-- > 0 ? sys_real()->resize(p, n) : NULL; }

/* Every allocation in turn is made to fail: an error, no leak, no crash. */
static void test_failing_allocations(void **state)
{
	const char *source = "@d\ndef f(a, *, b=1):\n return [f'{x:{y}}' 'z' for x in h(1, k=2)]\nmatch x:\n case A(b=c): global e, g\n";
	struct py_module m;
	int k, rc = -1;

	(void)state;
	for (k = 0; k < 1000 && rc; k++) {
		struct err e = ERR_INIT;

		calls_left = k;
		sys.alloc = failing_alloc;
		sys.resize = failing_resize;
		rc = py_parse(&m, str_of(source), "test", 0, &e);
		sys.alloc = sys_real()->alloc;
		sys.resize = sys_real()->resize;
		if (rc)
			assert_int_equal(e.code, ERR_NOMEM);
	}
	assert_int_equal(rc, 0);
	assert_true(k > 3);
	py_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees), cmocka_unit_test(test_positions), cmocka_unit_test(test_fstring_positions),
		cmocka_unit_test(test_literals), cmocka_unit_test(test_identifiers), cmocka_unit_test(test_interned),
		cmocka_unit_test(test_errors), cmocka_unit_test(test_nul_and_bad_utf8), cmocka_unit_test(test_caret),
		cmocka_unit_test(test_depth), cmocka_unit_test(test_memory_limit), cmocka_unit_test(test_failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
