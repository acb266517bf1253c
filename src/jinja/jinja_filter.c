/* Filters: value | name(arguments). Each row of the table says how many arguments it takes. */
#include <math.h>
#include <stdlib.h>

#include "jinja/jinja.h"
#include "jinja/jinja_str.h"

/* An argument by position or by keyword, or a default. */
struct jv jinja_arg(const struct jinja_args *a, int i, const char *name, struct jv otherwise)
{
	if (i >= 0 && i < a->n)
		return a->v[i];
	for (int k = 0; k < a->nkw; k++)
		if (str_is(a->kw[k].name, name))
			return a->kw[k].value;
	return otherwise;
}

/* The value as a string, or an error that names the function. */
struct str jinja_need_str(struct jinja *j, struct jv v, const char *what)
{
	if (v.kind != JV_STR)
		jinja_fail(j, ERR_FORMAT, "%s needs a string, not '%s'", what, jv_kind_name(v.kind));
	return v.s;
}

/* The value as an integer, or an error that names the function. */
int64_t jinja_need_int(struct jinja *j, struct jv v, const char *what)
{
	if (v.kind != JV_INT && v.kind != JV_BOOL)
		jinja_fail(j, ERR_FORMAT, "%s needs a whole number, not '%s'", what, jv_kind_name(v.kind));
	return v.i;
}

/* The value as text, printed if it is no string. */
static struct jv text_of(struct jinja *j, struct jv v)
{
	struct buf *b;

	if (v.kind == JV_STR)
		return v;
	b = jinja_text(j);
	jv_print(j, v, b);
	return jv_take(j, b);
}

/* --- strings ------------------------------------------------------------------------------ */

/* string: Python's str(). */
static struct jv f_string(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return text_of(j, self);
}

/* trim(chars): like the method strip, but it converts its subject to text first: 5 | trim is
 * "5". */
static struct jv f_trim(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	return jstr_strip(j, text_of(j, self), jinja_arg(a, 0, "chars", JV_NIL), 1, 1);
}

/* upper, lower, title and capitalize: the case filters also convert their subject to text. */
static struct jv f_upper(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, text_of(j, self).s, JSTR_UPPER);
}

static struct jv f_lower(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, text_of(j, self).s, JSTR_LOWER);
}

static struct jv f_title(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, text_of(j, self).s, JSTR_TITLE);
}

static struct jv f_capitalize(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return jstr_case(j, text_of(j, self).s, JSTR_CAPITALIZE);
}

/* replace(old, new, count): without count every occurrence is replaced. */
static struct jv f_replace(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv old = text_of(j, jinja_arg(a, 0, "old", JV_NIL)), new = text_of(j, jinja_arg(a, 1, "new", JV_NIL));
	struct jv count = jinja_arg(a, 2, "count", JV_NIL);

	return jstr_replace(j, text_of(j, self).s, old.s, new.s, count.kind == JV_INT ? count.i : -1);
}

/* indent(width, first, blank): indents each line except the first. `first` includes the first line,
 * `blank` includes empty lines. */
static struct jv f_indent(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv width = jinja_arg(a, 0, "width", JV(JV_INT, i, 4));
	int first = jv_truth(jinja_arg(a, 1, "first", JV(JV_BOOL, i, 0)));
	int blank = jv_truth(jinja_arg(a, 2, "blank", JV(JV_BOOL, i, 0)));
	struct str rest = text_of(j, self).s;
	struct buf *b = jinja_text(j);
	int64_t n = jinja_need_int(j, width, "indent");

	if (n < 0 || n > 1000)
		jinja_fail(j, ERR_RANGE, "indent %lld is out of range", (long long)n);
	for (int i = 0; rest.n || !i; i++) {
		int more = memchr(rest.p, '\n', rest.n) != NULL;
		struct str line = str_cut(&rest, '\n');

		if ((i || first) && (line.n || blank))
			buf_pad(b, ' ', (size_t)n);
		buf_addstr(b, line);
		if (more)
			buf_addc(b, '\n');
	}
	return jv_take(j, b);
}

/* tojson(indent): like json.dumps, without escaping HTML, as transformers has it. */
static struct jv f_tojson(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv indent = jinja_arg(a, 1, "indent", a->n == 1 ? a->v[0] : JV_NIL);
	struct buf *b = jinja_text(j);

	if (indent.kind == JV_INT && (indent.i < 0 || indent.i > 100))
		jinja_fail(j, ERR_RANGE, "indent %lld is out of range", (long long)indent.i);
	jv_tojson(j, self, indent.kind == JV_INT ? (int)indent.i : -1, 0, b);
	return jv_take(j, b);
}

/* --- numbers ------------------------------------------------------------------------------ */

/* int(default): of a string, a float, or the default. */
static struct jv f_int(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	int64_t i;
	double f;

	(void)j;
	if (self.kind == JV_INT || self.kind == JV_BOOL)
		return JV(JV_INT, i, self.i);
	if (self.kind == JV_STR && !str_to_i64(str_trim(self.s), &i))
		return JV(JV_INT, i, i);
	f = self.kind == JV_REAL ? self.f : NAN;
	if (self.kind == JV_STR && str_to_f64(str_trim(self.s), &f))
		f = NAN;
	if (f >= -0x1p63 && f < 0x1p63)
		return JV(JV_INT, i, (int64_t)f);
	return jinja_arg(a, 0, "default", JV(JV_INT, i, 0));
}

/* float(default): the default (0.0 without one) if a string is no number. */
static struct jv f_float(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	double f;

	(void)j;
	if (self.kind == JV_REAL)
		return self;
	if (self.kind == JV_INT || self.kind == JV_BOOL)
		return JV(JV_REAL, f, (double)self.i);
	if (self.kind == JV_STR && !str_to_f64(str_trim(self.s), &f))
		return JV(JV_REAL, f, f);
	return jinja_arg(a, 0, "default", JV(JV_REAL, f, 0));
}

/* abs. INT64_MIN has no positive counterpart and is returned unchanged. */
static struct jv f_abs(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	if (self.kind == JV_REAL)
		return JV(JV_REAL, f, fabs(self.f));
	return jinja_need_int(j, self, "abs") < 0 && self.i != INT64_MIN ? JV(JV_INT, i, -self.i) :
		JV(JV_INT, i, self.i);
}

/* round(precision), halves to even. */
static struct jv f_round(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	double scale = pow(10, (double)jinja_need_int(j, jinja_arg(a, 0, "precision", JV(JV_INT, i, 0)), "round"));
	double f = f_float(j, self, &(struct jinja_args){ .n = 0 }).f;

	return JV(JV_REAL, f, rint(f * scale) / scale);
}

/* --- any value ---------------------------------------------------------------------------- */

/* safe: marks text as HTML in Jinja. Chat templates are rendered without escaping, so it does
 * nothing. */
static struct jv f_same(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)j, (void)a;
	return self;
}

/* default(value, boolean): for undefined values, and with `boolean` for false ones. */
static struct jv f_default(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	int falsy_too = jv_truth(jinja_arg(a, 1, "boolean", JV(JV_BOOL, i, 0)));

	(void)j;
	if (self.kind != JV_UNDEFINED && !(falsy_too && !jv_truth(self)))
		return self;
	return jinja_arg(a, 0, "default_value", JV(JV_STR, s, STR("")));
}

/* length and count: characters of a string, items of a list, members of a dict. An undefined value
 * has length 0. */
static struct jv f_length(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return JV(JV_INT, i, (int64_t)jv_length(j, self));
}

/* first: of an empty list the result is undefined. Printing it yields nothing, and using a member
 * of it is an error that names "the first item of nothing". */
static struct jv f_first(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv_list *l = jv_iterate(j, self);

	(void)a;
	return l->n ? l->v[0] : JV(JV_UNDEFINED, s, STR("the first item of nothing"));
}

/* last, with the same rule for an empty list. */
static struct jv f_last(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv_list *l = jv_iterate(j, self);

	(void)a;
	return l->n ? l->v[l->n - 1] : JV(JV_UNDEFINED, s, STR("the last item of nothing"));
}

/* --- lists -------------------------------------------------------------------------------- */

/* A copy of the value as a list. */
static struct jv f_list(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv_list *l = jv_iterate(j, self);
	struct jv v = jv_new_list(j, l->n);

	(void)a;
	memcpy(v.list->v, l->v, l->n * sizeof *l->v);
	return v;
}

/* The value backwards. */
static struct jv f_reverse(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	const struct jv step[3] = { JV_NIL, JV_NIL, JV(JV_INT, i, -1) };

	(void)a;
	return jv_slice(j, self.kind == JV_STR ? self : f_list(j, self, a), step);
}

/* The pairs of a dict; undefined has none. */
static struct jv f_items(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	if (self.kind == JV_UNDEFINED)
		return jv_new_list(j, 0);
	if (self.kind != JV_DICT)
		jinja_fail(j, ERR_FORMAT, "items needs a dict, not '%s'", jv_kind_name(self.kind));
	return jinja_apply(j, jinja_method(JV_DICT, STR("items")), self, a);
}

/* x.a.b of an item; the name may be an index. */
static struct jv attribute_of(struct jinja *j, struct jv v, struct jv path)
{
	struct str rest;

	if (path.kind != JV_STR)
		return jv_item(j, v, path);
	for (rest = path.s; rest.n;) {
		struct str part = str_cut(&rest, '.');
		int64_t i;

		if (v.kind == JV_UNDEFINED)
			return v;
		v = jv_item(j, v, str_to_i64(part, &i) ? JV(JV_STR, s, part) : JV(JV_INT, i, i));
	}
	return v;
}

/* join(separator, attribute). */
static struct jv f_join(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv sep = text_of(j, jinja_arg(a, 0, "d", JV(JV_STR, s, STR(""))));
	struct jv attribute = jinja_arg(a, 1, "attribute", JV_NIL);
	struct jv_list *l = jv_iterate(j, self);
	struct buf *b = jinja_text(j);

	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_addstr(b, sep.s);
		jv_print(j, attribute.kind == JV_NONE ? l->v[i] : attribute_of(j, l->v[i], attribute), b);
	}
	return jv_take(j, b);
}

/* Insertion sort: stable, and the lists of templates are short. */
static struct jv f_sort(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	int reverse = jv_truth(jinja_arg(a, 0, "reverse", JV(JV_BOOL, i, 0)));
	struct jv attribute = jinja_arg(a, 2, "attribute", JV_NIL), v = f_list(j, self, a);
	struct jv *x = v.list->v;

	for (size_t i = 1; i < v.list->n; i++)
		for (size_t k = i; k; k--) {
			struct jv p = attribute.kind == JV_NONE ? x[k - 1] : attribute_of(j, x[k - 1], attribute);
			struct jv q = attribute.kind == JV_NONE ? x[k] : attribute_of(j, x[k], attribute), swap = x[k];
			int c;

			if (--j->fuel < 0)
				jinja_fail(j, ERR_RANGE, "too many steps");
			c = jv_compare(j, p, q);
			if (reverse ? c >= 0 : c <= 0)
				break;
			x[k] = x[k - 1];
			x[k - 1] = swap;
		}
	return v;
}

/* The value without repetitions; the first of equal items stays. */
static struct jv f_unique(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv v = f_list(j, self, a);
	size_t n = 0;

	for (size_t i = 0; i < v.list->n; i++) {
		size_t k = 0;

		while (k < n && !jv_equal(j, v.list->v[k], v.list->v[i]))
			k++;
		if (k == n)
			v.list->v[n++] = v.list->v[i];
	}
	v.list->n = n;
	return v;
}

/* Arguments from the i-th on. */
static struct jinja_args rest_of(const struct jinja_args *a, int i)
{
	struct jinja_args r = { .n = MAX(a->n - i, 0) };

	memcpy(r.v, a->v + i, (size_t)r.n * sizeof *r.v);
	return r;
}

/* The common part of select and reject (which test the item) and of selectattr and rejectattr
 * (which test its attribute): keeps the items whose test result is `want`. Without a test the truth
 * of the item counts. selectattr("role", "equalto", "user") keeps the user's messages. */
static struct jv pick(struct jinja *j, struct jv self, const struct jinja_args *a, int by_attribute, int want)
{
	struct jv v = f_list(j, self, a);
	const struct jinja_func *test = NULL;
	struct jinja_args rest = rest_of(a, by_attribute + 1);
	size_t n = 0;

	if (a->n > by_attribute) {
		struct str name = jinja_need_str(j, a->v[by_attribute], "a test");

		test = jinja_test(name);
		if (!test)
			jinja_fail(j, ERR_UNSUPPORTED, "unknown test '%.*s'", STR_ARG(name));
	}
	for (size_t i = 0; i < v.list->n; i++) {
		struct jv item = by_attribute ? attribute_of(j, v.list->v[i], a->v[0]) : v.list->v[i];
		struct jv ok = test ? jinja_apply(j, test, item, &rest) : item;

		if (jv_truth(ok) == want)
			v.list->v[n++] = v.list->v[i];
	}
	v.list->n = n;
	return v;
}

/* select(test, arguments...): keeps the items that pass the test. */
static struct jv f_select(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	return pick(j, self, a, 0, 1);
}

/* reject(test, arguments...): drops the items that pass the test. */
static struct jv f_reject(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	return pick(j, self, a, 0, 0);
}

/* selectattr(attribute, test, arguments...): keeps the items whose attribute passes. */
static struct jv f_selectattr(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	return pick(j, self, a, 1, 1);
}

/* rejectattr(attribute, test, arguments...): drops the items whose attribute passes. */
static struct jv f_rejectattr(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	return pick(j, self, a, 1, 0);
}

/* map(attribute="x", default=...) or map("filter", arguments...). */
static struct jv f_map(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	struct jv v = f_list(j, self, a), attribute = jinja_arg(a, -1, "attribute", JV_NIL);
	struct jv otherwise = jinja_arg(a, -1, "default", JV_MISSING);
	const struct jinja_func *f = NULL;
	struct jinja_args rest = rest_of(a, 1);

	if (attribute.kind == JV_NONE) {
		struct str name = jinja_need_str(j, jinja_arg(a, 0, "name", JV_NIL), "map");

		f = jinja_filter(name);
		if (!f)
			jinja_fail(j, ERR_UNSUPPORTED, "unknown filter '%.*s'", STR_ARG(name));
	}
	for (size_t i = 0; i < v.list->n; i++) {
		struct jv item = v.list->v[i];

		item = f ? jinja_apply(j, f, item, &rest) : attribute_of(j, item, attribute);
		v.list->v[i] = item.kind == JV_UNDEFINED && otherwise.kind != JV_UNDEFINED ? otherwise : item;
	}
	return v;
}

/* The largest item for sign 1, the smallest for sign -1. */
static struct jv extreme(struct jinja *j, struct jv self, int sign)
{
	struct jv_list *l = jv_iterate(j, self);
	struct jv best = JV(JV_UNDEFINED, s, STR("an item of nothing"));

	for (size_t i = 0; i < l->n; i++)
		if (!i || jv_compare(j, l->v[i], best) * sign > 0)
			best = l->v[i];
	return best;
}

/* min: undefined for an empty list. */
static struct jv f_min(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return extreme(j, self, -1);
}

/* max: undefined for an empty list. */
static struct jv f_max(struct jinja *j, struct jv self, const struct jinja_args *a)
{
	(void)a;
	return extreme(j, self, 1);
}

/* Name, least and most arguments, function; sorted by name. */
static const struct jinja_func filters[] = {
	{ "abs", 0, 0, f_abs }, { "capitalize", 0, 0, f_capitalize }, { "count", 0, 0, f_length },
	{ "d", 0, 2, f_default }, { "default", 0, 2, f_default }, { "first", 0, 0, f_first },
	{ "float", 0, 1, f_float },
	{ "indent", 0, 3, f_indent }, { "int", 0, 2, f_int }, { "items", 0, 0, f_items }, { "join", 0, 2, f_join },
	{ "last", 0, 0, f_last }, { "length", 0, 0, f_length }, { "list", 0, 0, f_list }, { "lower", 0, 0, f_lower },
	{ "map", 0, JINJA_ARGS, f_map }, { "max", 0, 0, f_max }, { "min", 0, 0, f_min },
	{ "reject", 0, JINJA_ARGS, f_reject }, { "rejectattr", 1, JINJA_ARGS, f_rejectattr },
	{ "replace", 2, 3, f_replace }, { "reverse", 0, 0, f_reverse }, { "round", 0, 1, f_round },
	{ "safe", 0, 0, f_same }, { "select", 0, JINJA_ARGS, f_select }, { "selectattr", 1, JINJA_ARGS, f_selectattr },
	{ "sort", 0, 3, f_sort }, { "string", 0, 0, f_string }, { "title", 0, 0, f_title },
	{ "tojson", 0, 4, f_tojson },
	{ "trim", 0, 1, f_trim }, { "unique", 0, 0, f_unique }, { "upper", 0, 0, f_upper },
};

/* The filter of a name, or NULL. */
const struct jinja_func *jinja_filter(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(filters); i++)
		if (str_is(name, filters[i].name))
			return &filters[i];
	return NULL;
}
