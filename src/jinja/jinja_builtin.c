/* Tests, global functions and methods of templates, and the string operations under them. */
#include <time.h>

#include "base/uni.h"
#include "base/utf8.h"
#include "jinja/jinja.h"
#include "jinja/jinja_str.h"

/* --- strings ------------------------------------------------------------------------------ */

/* The upper case of a code point, for Latin, Greek and Cyrillic letters that have one at a fixed
 * distance: 'a' (97) becomes 'A' (65). Other code points are returned unchanged. */
static uint32_t upper_of(uint32_t c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 0xE0 && c <= 0xFE && c != 0xF7) ||
	    (c >= 0x3B1 && c <= 0x3C9 && c != 0x3C2) ||
	    (c >= 0x430 && c <= 0x44F))
		return c - 32;
	return c >= 0x450 && c <= 0x45F ? c - 80 : c;
}

/* The lower case of a code point, by the same rule. */
static uint32_t lower_of(uint32_t c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9) ||
	    (c >= 0x410 && c <= 0x42F))
		return c + 32;
	return c >= 0x400 && c <= 0x40F ? c + 80 : c;
}

/* Changes the case of a string as Python's upper, lower, title or capitalize does. */
struct jv jstr_case(struct jinja *j, struct str s, enum jstr_case how)
{
	struct buf *b = jinja_text(j);
	int start = 1;

	for (size_t i = 0, k; i < s.n; i += k) {
		uint32_t cp;
		char u[4];
		int raise;

		k = utf8_decode(s.p + i, s.n - i, &cp, NULL);
		raise = how == JSTR_UPPER || (how != JSTR_LOWER && start);
		buf_add(b, u, utf8_encode(raise ? upper_of(cp) : lower_of(cp), u));
		start = how == JSTR_TITLE && uni_class(cp) != UNI_LETTER;
	}
	return jv_take(j, b);
}

/* Is the code point in the set to strip? Without a set, is it white space? */
static int strips(struct str chars, uint32_t cp)
{
	if (!chars.p)
		return uni_class(cp) == UNI_SPACE || (cp >= 0x1C && cp <= 0x1F);
	for (size_t i = 0, k; i < chars.n; i += k) {
		uint32_t c;

		k = utf8_decode(chars.p + i, chars.n - i, &c, NULL);
		if (c == cp)
			return 1;
	}
	return 0;
}

/* Python's strip, lstrip or rstrip, by code points. */
struct jv jstr_strip(struct jinja *j, struct jv v, struct jv chars, int left, int right)
{
	struct str s = v.s, set = { .p = NULL };
	uint32_t cp;
	size_t k;

	if (chars.kind != JV_NONE)
		set = jinja_need_str(j, chars, "strip");
	while (left && s.n && (k = utf8_decode(s.p, s.n, &cp, NULL), strips(set, cp))) {
		s.p += k;
		s.n -= k;
	}
	while (right && s.n) {
		for (k = 1; k < s.n && ((unsigned char)s.p[s.n - k] & 0xC0) == 0x80; k++)
			;
		utf8_decode(s.p + s.n - k, k, &cp, NULL);
		if (!strips(set, cp))
			break;
		s.n -= k;
	}
	return JV(JV_STR, s, s);
}

/* Replaces `old` by `with`, at most `most` times; a negative number means all. */
struct jv jstr_replace(struct jinja *j, struct str s, struct str old, struct str with, int64_t most)
{
	struct buf *b = jinja_text(j);

	if (!old.n)
		jinja_fail(j, ERR_UNSUPPORTED, "replace needs a non-empty string to search for");
	for (; most; most--) {
		ptrdiff_t at = str_find(s, old);

		if (at < 0)
			break;
		buf_add(b, s.p, (size_t)at);
		buf_addstr(b, with);
		s.p += (size_t)at + old.n;
		s.n -= (size_t)at + old.n;
	}
	buf_addstr(b, s);
	return jv_take(j, b);
}

/* Cuts the next part off *rest: up to `sep`, or the next word if there is no separator. With
 * `last` all of the rest is one part. Returns 0 at the end. */
static int next_part(struct str *rest, struct str sep, int last, struct str *part)
{
	ptrdiff_t at;

	if (!sep.p) {
		*rest = str_trim(*rest);
		if (!rest->n)
			return 0;
		for (at = 0; (size_t)at < rest->n && !strchr(" \t\n\r\v\f", rest->p[at]); at++)
			;
		at = last || (size_t)at == rest->n ? -1 : at;
	} else {
		at = last ? -1 : str_find(*rest, sep);
	}
	*part = at < 0 ? *rest : (struct str){ .p = rest->p, .n = (size_t)at };
	if (at < 0) {
		*rest = (struct str){ .p = NULL };
	} else {
		rest->p += (size_t)at + (sep.p ? sep.n : 1);
		rest->n -= (size_t)at + (sep.p ? sep.n : 1);
	}
	return 1;
}

/* Python's split: counts the parts first, then fills a list of that length. */
struct jv jstr_split(struct jinja *j, struct str s, struct jv sep, int64_t most)
{
	struct str by = { .p = NULL }, rest = s, part;
	struct jv v;
	size_t n = 0;

	if (sep.kind != JV_NONE) {
		by = jinja_need_str(j, sep, "split");
		if (!by.n)
			jinja_fail(j, ERR_FORMAT, "split needs a non-empty separator");
	}
	while (rest.p && next_part(&rest, by, most >= 0 && (int64_t)n == most, &part))
		n++;
	v = jv_new_list(j, n);
	n = 0;
	for (rest = s; rest.p && next_part(&rest, by, most >= 0 && (int64_t)n == most, &part);)
		v.list->v[n++] = JV(JV_STR, s, part);
	return v;
}

/* --- tests -------------------------------------------------------------------------------- */

/* A truth value, and a test of one expression over v (the value) and a (the arguments). */
#define YES(cond) JV(JV_BOOL, i, (cond) != 0)
#define TEST(name, cond) \
	static struct jv t_##name(struct jinja *j, struct jv v, const struct jinja_args *a) \
	{ \
		(void)j, (void)a, (void)v; \
		return YES(cond); \
	}

TEST(defined, v.kind != JV_UNDEFINED)
TEST(undefined, v.kind == JV_UNDEFINED)
TEST(none, v.kind == JV_NONE)
TEST(string, v.kind == JV_STR)
TEST(mapping, v.kind == JV_DICT && !v.dict->is_namespace)
TEST(iterable, v.kind == JV_STR || v.kind == JV_LIST || v.kind == JV_DICT || v.kind == JV_UNDEFINED)
TEST(sequence, v.kind == JV_STR || v.kind == JV_LIST || v.kind == JV_DICT)
TEST(number, v.kind == JV_INT || v.kind == JV_REAL || v.kind == JV_BOOL)
TEST(integer, v.kind == JV_INT)
TEST(float, v.kind == JV_REAL)
TEST(boolean, v.kind == JV_BOOL)
TEST(true, v.kind == JV_BOOL && v.i)
TEST(false, v.kind == JV_BOOL && !v.i)
TEST(callable, v.kind == JV_FUNC || v.kind == JV_MACRO)
TEST(equal, jv_equal(j, v, a->v[0]))
TEST(different, !jv_equal(j, v, a->v[0]))
TEST(less, jv_compare(j, v, a->v[0]) < 0)
TEST(more, jv_compare(j, v, a->v[0]) > 0)
TEST(less_equal, jv_compare(j, v, a->v[0]) <= 0)
TEST(more_equal, jv_compare(j, v, a->v[0]) >= 0)
TEST(in, jv_contains(j, a->v[0], v))
TEST(odd, jinja_need_int(j, v, "odd") % 2 != 0)
TEST(even, jinja_need_int(j, v, "even") % 2 == 0)
TEST(divisible, jinja_need_int(j, a->v[0], "divisibleby") && jinja_need_int(j, v, "divisibleby") % a->v[0].i == 0)
TEST(upper, jv_equal(j, v, jstr_case(j, jinja_need_str(j, v, "upper"), JSTR_UPPER)))
TEST(lower, jv_equal(j, v, jstr_case(j, jinja_need_str(j, v, "lower"), JSTR_LOWER)))

/* Name, least and most arguments, function. Several names may share a function (eq, equalto). */
static const struct jinja_func tests[] = {
	{ "defined", 0, 0, t_defined }, { "undefined", 0, 0, t_undefined }, { "none", 0, 0, t_none },
	{ "string", 0, 0, t_string }, { "mapping", 0, 0, t_mapping }, { "iterable", 0, 0, t_iterable },
	{ "sequence", 0, 0, t_sequence }, { "number", 0, 0, t_number }, { "integer", 0, 0, t_integer },
	{ "float", 0, 0, t_float }, { "boolean", 0, 0, t_boolean }, { "true", 0, 0, t_true },
	{ "false", 0, 0, t_false },
	{ "callable", 0, 0, t_callable }, { "equalto", 1, 1, t_equal }, { "eq", 1, 1, t_equal },
	{ "sameas", 1, 1, t_equal },
	{ "ne", 1, 1, t_different }, { "lt", 1, 1, t_less }, { "gt", 1, 1, t_more }, { "le", 1, 1, t_less_equal },
	{ "ge", 1, 1, t_more_equal }, { "lessthan", 1, 1, t_less }, { "greaterthan", 1, 1, t_more },
	{ "in", 1, 1, t_in },
	{ "odd", 0, 0, t_odd }, { "even", 0, 0, t_even }, { "divisibleby", 1, 1, t_divisible },
	{ "upper", 0, 0, t_upper }, { "lower", 0, 0, t_lower },
};

/* --- global functions --------------------------------------------------------------------- */

/* raise_exception(message): the template refuses its input. */
static struct jv g_raise(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct buf *b = jinja_text(j);

	(void)self;
	jv_print(j, jinja_arg(a, 0, "message", JV_NIL), b);
	jinja_fail(j, ERR_STATE, "%s", buf_cstr(b));
}

/* namespace(a=1): a dict whose members `set` can change, also from inside a loop. */
static struct jv g_namespace(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv v = jv_new_dict(j);

	(void)self;
	v.dict->is_namespace = 1;
	for (int i = 0; i < a->nkw; i++)
		jv_put(j, v.dict, JV(JV_STR, s, a->kw[i].name), a->kw[i].value);
	return v;
}

/* dict(a=1): an ordinary dict. */
static struct jv g_dict(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv v = g_namespace(j, self, a);

	v.dict->is_namespace = 0;
	return v;
}

/* range(hi), range(lo, hi), range(lo, hi, step), of at most 100,000 items. */
static struct jv g_range(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	int64_t lo = a->n > 1 ? jinja_need_int(j, a->v[0], "range") : 0;
	int64_t hi = jinja_need_int(j, a->v[a->n > 1 ? 1 : 0], "range");
	int64_t step = a->n > 2 ? jinja_need_int(j, a->v[2], "range") : 1, n;
	struct jv v;

	(void)self;
	if (step == 0 || lo > INT32_MAX || lo < -INT32_MAX || hi > INT32_MAX || hi < -INT32_MAX || step > INT32_MAX ||
	    step < -INT32_MAX)
		jinja_fail(j, ERR_RANGE, "invalid arguments of range");
	n = step > 0 ? (hi - lo + step - 1) / step : (lo - hi - step - 1) / -step;
	if (n > 100000)
		jinja_fail(j, ERR_RANGE, "range of %lld items is too long", (long long)n);
	v = jv_new_list(j, n > 0 ? (size_t)n : 0);
	for (size_t i = 0; i < v.list->n; i++)
		v.list->v[i] = JV(JV_INT, i, lo + (int64_t)i * step);
	return v;
}

/* The present date in a given format, as chat templates use it. */
static struct jv g_strftime_now(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	char text[256], format[128];
	struct str f = jinja_need_str(j, jinja_arg(a, 0, "format", JV_NIL), "strftime_now");
	time_t now = time(NULL);
	struct tm tm;

	(void)self;
	if (f.n >= sizeof format || !localtime_r(&now, &tm))
		jinja_fail(j, ERR_RANGE, "the date format is too long");
	memcpy(format, f.p, f.n);
	format[f.n] = 0;
	return jv_str(j, (struct str){ .p = text, .n = strftime(text, sizeof text, format, &tm) });
}

static const struct jinja_func globals[] = {
	{ "raise_exception", 1, 1, g_raise }, { "namespace", 0, JINJA_ARGS, g_namespace }, { "dict", 0, 0, g_dict },
	{ "range", 1, 3, g_range }, { "strftime_now", 1, 1, g_strftime_now },
};

/* --- methods of strings ------------------------------------------------------------------- */

/* s.strip(chars): removes the given characters, or white space, from both ends: " a " becomes "a".
 * lstrip and rstrip do one end only. */
static struct jv m_strip(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	return jstr_strip(j, s, jinja_arg(a, 0, "chars", JV_NIL), 1, 1);
}

static struct jv m_lstrip(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	return jstr_strip(j, s, jinja_arg(a, 0, "chars", JV_NIL), 1, 0);
}

static struct jv m_rstrip(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	return jstr_strip(j, s, jinja_arg(a, 0, "chars", JV_NIL), 0, 1);
}

/* s.split(sep, maxsplit): "a b c".split(" ", 1) is ["a", "b c"]. Without sep it splits at runs of
 * white space, as Python does. */
static struct jv m_split(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	struct jv most = jinja_arg(a, 1, "maxsplit", JV(JV_INT, i, -1));

	return jstr_split(j, s.s, jinja_arg(a, 0, "sep", JV_NIL), jinja_need_int(j, most, "split"));
}

/* The lines of a string; a newline at the end begins no further line. */
static struct jv m_splitlines(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	(void)a;
	if (s.s.n && s.s.p[s.s.n - 1] == '\n')
		s.s.n--;
	else if (!s.s.n)
		return jv_new_list(j, 0);
	return jstr_split(j, s.s, JV(JV_STR, s, STR("\n")), -1);
}

/* startswith and endswith: tests one prefix or suffix, or any in a list. */
static struct jv affix(struct jinja *j, struct jv s, struct jv what, int at_end)
{
	struct jv_list one = { .v = &what, .n = 1 }, *l = what.kind == JV_LIST ? what.list : &one;

	for (size_t i = 0; i < l->n; i++) {
		struct str x = jinja_need_str(j, l->v[i], "startswith");

		if (x.n <= s.s.n && !memcmp(s.s.p + (at_end ? s.s.n - x.n : 0), x.p, x.n))
			return YES(1);
	}
	return YES(0);
}

/* s.startswith(prefix): templates test with it whether a reply begins with "<think>". A list of
 * prefixes is allowed too. */
static struct jv m_startswith(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	return affix(j, s, a->v[0], 0);
}

/* s.endswith(suffix). */
static struct jv m_endswith(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	return affix(j, s, a->v[0], 1);
}

/* s.upper(), lower(), title() and capitalize() share jstr_case, as do the filters of the same
 * names. "hello world" becomes "Hello World" by title and "Hello world" by capitalize. */
static struct jv m_upper(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, s.s, JSTR_UPPER);
}

static struct jv m_lower(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, s.s, JSTR_LOWER);
}

static struct jv m_title(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, s.s, JSTR_TITLE);
}

static struct jv m_capitalize(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, s.s, JSTR_CAPITALIZE);
}

/* s.replace(old, new, count): without count every occurrence is replaced. */
static struct jv m_replace(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	return jstr_replace(j, s.s, jinja_need_str(j, a->v[0], "replace"), jinja_need_str(j, a->v[1], "replace"),
			    a->n > 2 ? jinja_need_int(j, a->v[2], "replace") : -1);
}

/* Python's find: an index in characters, or -1. */
static struct jv m_find(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	ptrdiff_t at = str_find(s.s, jinja_need_str(j, a->v[0], "find"));

	if (at > 0)
		at = (ptrdiff_t)jv_length(j, JV(JV_STR, s, ((struct str){ .p = s.s.p, .n = (size_t)at })));
	return JV(JV_INT, i, at);
}

/* sep.join(list): the filter `join` with its operands exchanged. */
static struct jv m_join(struct jinja *j, struct jv s, const struct jinja_args *a)
{
	struct jinja_args sep = { .v = { s }, .n = 1 };

	return jinja_apply(j, jinja_filter(STR("join")), a->v[0], &sep);
}

/* --- methods of dicts --------------------------------------------------------------------- */

/* A dict's pairs, in the order of insertion. */
static struct jv m_items(struct jinja *j, struct jv d, const struct jinja_args *a)
{
	struct jv v = jv_new_list(j, d.dict->n);

	(void)a;
	for (size_t i = 0; i < v.list->n; i++) {
		struct jv pair = jv_new_list(j, 2);

		pair.list->v[0] = d.dict->v[i].key;
		pair.list->v[1] = d.dict->v[i].value;
		v.list->v[i] = pair;
	}
	return v;
}

/* d.keys(): a list, where Python returns a view. Templates cannot tell the two apart. */
static struct jv m_keys(struct jinja *j, struct jv d, const struct jinja_args *a)
{
	(void)a;
	return JV(JV_LIST, list, jv_iterate(j, d));
}

/* d.values(), in the order of insertion. */
static struct jv m_values(struct jinja *j, struct jv d, const struct jinja_args *a)
{
	struct jv v = jv_new_list(j, d.dict->n);

	(void)a;
	for (size_t i = 0; i < v.list->n; i++)
		v.list->v[i] = d.dict->v[i].value;
	return v;
}

/* d.get(key, default). */
static struct jv m_get(struct jinja *j, struct jv d, const struct jinja_args *a)
{
	const struct jv *v = jv_get(d.dict, a->v[0]);

	(void)j;
	return v ? *v : jinja_arg(a, 1, "default", JV_NIL);
}

/* loop.cycle(a, b): the arguments in turn, by the loop's index. */
static struct jv m_cycle(struct jinja *j, struct jv l, const struct jinja_args *a)
{
	(void)j;
	return a->n ? a->v[l.loop->at % (size_t)a->n] : JV_NIL;
}

static const struct { enum jv_kind kind; struct jinja_func f; } methods[] = {
	{ JV_STR, { "strip", 0, 1, m_strip } }, { JV_STR, { "lstrip", 0, 1, m_lstrip } },
	{ JV_STR, { "rstrip", 0, 1, m_rstrip } }, { JV_STR, { "split", 0, 2, m_split } },
	{ JV_STR, { "splitlines", 0, 0, m_splitlines } }, { JV_STR, { "startswith", 1, 1, m_startswith } },
	{ JV_STR, { "endswith", 1, 1, m_endswith } }, { JV_STR, { "upper", 0, 0, m_upper } },
	{ JV_STR, { "lower", 0, 0, m_lower } }, { JV_STR, { "title", 0, 0, m_title } },
	{ JV_STR, { "capitalize", 0, 0, m_capitalize } }, { JV_STR, { "replace", 2, 3, m_replace } },
	{ JV_STR, { "find", 1, 1, m_find } }, { JV_STR, { "join", 1, 1, m_join } },
	{ JV_DICT, { "items", 0, 0, m_items } }, { JV_DICT, { "keys", 0, 0, m_keys } },
	{ JV_DICT, { "values", 0, 0, m_values } }, { JV_DICT, { "get", 1, 2, m_get } },
	{ JV_LOOP, { "cycle", 1, JINJA_ARGS, m_cycle } },
};

/* --- finding ------------------------------------------------------------------------------ */

/* The test of `x is NAME`, or NULL. The tables are searched linearly: they have about 30 rows, and
 * a template names few of them. */
const struct jinja_func *jinja_test(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(tests); i++)
		if (str_is(name, tests[i].name))
			return &tests[i];
	return NULL;
}

/* The global function of a name, or NULL. Variables of the template hide global functions. */
const struct jinja_func *jinja_global(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(globals); i++)
		if (str_is(name, globals[i].name))
			return &globals[i];
	return NULL;
}

/* The method of a value of this kind, or NULL. Strings, dicts and the loop variable have
 * methods. */
const struct jinja_func *jinja_method(enum jv_kind kind, struct str name)
{
	for (size_t i = 0; i < COUNT_OF(methods); i++)
		if (methods[i].kind == kind && str_is(name, methods[i].f.name))
			return &methods[i].f;
	return NULL;
}
