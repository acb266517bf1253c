/* Values of templates: Python's rules for truth, equality, order, length, indexing, printing. */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/utf8.h"
#include "jinja/jinja.h"

static const char *const kind_names[] = {
	[JV_UNDEFINED] = "undefined", [JV_NONE] = "NoneType", [JV_BOOL] = "bool", [JV_INT] = "int", [JV_REAL] = "float",
	[JV_STR] = "str", [JV_LIST] = "list", [JV_DICT] = "dict", [JV_LOOP] = "loop", [JV_FUNC] = "function",
	[JV_MACRO] = "macro",
};

/* Python's name of a kind, for messages. */
const char *jv_kind_name(enum jv_kind k)
{
	return kind_names[k];
}

static int scalars_equal(struct jv a, struct jv b);

/* --- making ------------------------------------------------------------------------------- */

/* A string, copied into the arena. */
struct jv jv_str(struct jinja *j, struct str s)
{
	return JV(JV_STR, s, ((struct str){ .p = arena_strndup(&j->arena, s.p, s.n), .n = s.n }));
}

/* A buffer's text as a string; the buffer is empty afterwards. */
struct jv jv_take(struct jinja *j, struct buf *b)
{
	struct jv v;
	char *p;

	if (b->failed)
		jinja_fail(j, ERR_NOMEM, "out of memory");
	p = arena_alloc(&j->arena, b->n + 1);
	if (b->n)
		memcpy(p, b->p, b->n);
	v = JV(JV_STR, s, ((struct str){ .p = p, .n = b->n }));
	buf_release(b);
	return v;
}

/* A list of n undefined items, which the caller fills. Lists never grow: callers count first. */
struct jv jv_new_list(struct jinja *j, size_t n)
{
	struct jv_list *l = arena_zalloc(&j->arena, sizeof *l);

	l->v = arena_array(&j->arena, n ? n : 1, sizeof *l->v);
	l->n = n;
	return JV(JV_LIST, list, l);
}

/* An empty dict; jv_put makes room. */
struct jv jv_new_dict(struct jinja *j)
{
	return JV(JV_DICT, dict, arena_zalloc(&j->arena, sizeof(struct jv_dict)));
}

/* Sets a member of a dict. Templates have small dicts, so a linear search is enough. */
void jv_put(struct jinja *j, struct jv_dict *d, struct jv key, struct jv value)
{
	struct jv *old = (struct jv *)jv_get(d, key);

	if (old) {
		*old = value;
		return;
	}
	if (d->n == d->cap) {
		size_t cap = d->cap ? d->cap * 2 : 8;
		struct jv_pair *v = arena_array(&j->arena, cap, sizeof *v);

		if (d->n)
			memcpy(v, d->v, d->n * sizeof *v);
		d->v = v;
		d->cap = cap;
	}
	d->v[d->n++] = (struct jv_pair){ .key = key, .value = value };
}

/* The value of a key, or NULL if the dict has no such key. Keys 1, 1.0 and true are the same key,
 * as in Python. */
const struct jv *jv_get(const struct jv_dict *d, struct jv key)
{
	for (size_t i = 0; i < d->n; i++)
		if (scalars_equal(d->v[i].key, key))
			return &d->v[i].value;
	return NULL;
}

/* A JSON object as a dict. */
static struct jv from_object(struct jinja *j, const struct json *json)
{
	struct jv v = jv_new_dict(j);

	for (size_t i = 0; i < json_count(json); i++) {
		const char *key;
		const struct json *m = json_member(json, i, &key);

		jv_put(j, v.dict, jv_str(j, str_of(key)), jv_from_json(j, m));
	}
	return v;
}

/* Converts the messages and tools of a request. Strings are copied, so the JSON may be freed before
 * the rendering. */
struct jv jv_from_json(struct jinja *j, const struct json *json)
{
	struct jv v = JV_NIL;

	switch (json ? json_kind(json) : JSON_NULL) {
	case JSON_NULL:
		return JV_NIL;
	case JSON_BOOL:
		return JV(JV_BOOL, i, json_bool(json, 0));
	case JSON_INT:
		return JV(JV_INT, i, json_int(json, 0));
	case JSON_REAL:
		return JV(JV_REAL, f, json_real(json, 0));
	case JSON_STRING:
		return jv_str(j, json_str(json, ""));
	case JSON_ARRAY:
		v = jv_new_list(j, json_count(json));
		for (size_t i = 0; i < v.list->n; i++)
			v.list->v[i] = jv_from_json(j, json_at(json, i));
		return v;
	case JSON_OBJECT:
		return from_object(j, json);
	}
	return v;
}

/* --- asking ------------------------------------------------------------------------------- */

/* Python's truth: empty and zero are false, a namespace is always true. */
int jv_truth(struct jv v)
{
	switch (v.kind) {
	case JV_UNDEFINED:
	case JV_NONE:
		return 0;
	case JV_BOOL:
	case JV_INT:
		return v.i != 0;
	case JV_REAL:
		return v.f != 0;
	case JV_STR:
		return v.s.n != 0;
	case JV_LIST:
		return v.list->n != 0;
	case JV_DICT:
		return v.dict->is_namespace || v.dict->n != 0;
	default:
		return 1;
	}
}

/* Is it a number? Truth values count as 0 and 1, as in Python. */
static int is_number(struct jv v)
{
	return v.kind == JV_BOOL || v.kind == JV_INT || v.kind == JV_REAL;
}

/* A number as a double. */
static double as_real(struct jv v)
{
	return v.kind == JV_REAL ? v.f : (double)v.i;
}

/* Equal in length and in every item. */
static int lists_equal(struct jinja *j, const struct jv_list *a, const struct jv_list *b)
{
	if (a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++)
		if (!jv_equal(j, a->v[i], b->v[i]))
			return 0;
	return 1;
}

/* Equal if they have the same members, in any order. */
static int dicts_equal(struct jinja *j, const struct jv_dict *a, const struct jv_dict *b)
{
	if (a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct jv *v = jv_get(b, a->v[i].key);

		if (!v || !jv_equal(j, a->v[i].value, *v))
			return 0;
	}
	return 1;
}

/* Equality of values without parts: 1 == 1.0 == true, as in Python. */
static int scalars_equal(struct jv a, struct jv b)
{
	if (is_number(a) && is_number(b))
		return a.kind == JV_REAL || b.kind == JV_REAL ? as_real(a) == as_real(b) : a.i == b.i;
	if (a.kind != b.kind)
		return 0;
	return a.kind == JV_STR ? str_eq(a.s, b.s) : a.kind < JV_BOOL || a.list == b.list;
}

/* Python's ==. Lists and dicts are compared deeply; each level counts against the limit on nesting,
 * so deep values end in an error, not in a stack overflow. */
int jv_equal(struct jinja *j, struct jv a, struct jv b)
{
	int same;

	if (a.kind != b.kind || (a.kind != JV_LIST && a.kind != JV_DICT))
		return scalars_equal(a, b);
	jinja_enter(j);
	same = a.kind == JV_LIST ? lists_equal(j, a.list, b.list) : dicts_equal(j, a.dict, b.dict);
	jinja_leave(j);
	return same;
}

/* Compares items of lists, one level deeper. */
static int compare_inside(struct jinja *j, struct jv a, struct jv b)
{
	int c;

	jinja_enter(j);
	c = jv_compare(j, a, b);
	jinja_leave(j);
	return c;
}

/* Python's order of numbers, strings and lists; anything else has none. */
int jv_compare(struct jinja *j, struct jv a, struct jv b)
{
	if (is_number(a) && is_number(b)) {
		if (a.kind != JV_REAL && b.kind != JV_REAL)
			return (a.i > b.i) - (a.i < b.i);
		return (as_real(a) > as_real(b)) - (as_real(a) < as_real(b));
	}
	if (a.kind == JV_STR && b.kind == JV_STR) {
		size_t n = MIN(a.s.n, b.s.n);
		int c = n ? memcmp(a.s.p, b.s.p, n) : 0;

		return c ? c : (a.s.n > b.s.n) - (a.s.n < b.s.n);
	}
	if (a.kind == JV_LIST && b.kind == JV_LIST) {
		for (size_t i = 0; i < a.list->n && i < b.list->n; i++)
			if (!jv_equal(j, a.list->v[i], b.list->v[i]))
				return compare_inside(j, a.list->v[i], b.list->v[i]);
		return (a.list->n > b.list->n) - (a.list->n < b.list->n);
	}
	jinja_fail(j, ERR_FORMAT, "cannot compare '%s' with '%s'", jv_kind_name(a.kind), jv_kind_name(b.kind));
}

/* Python's `what in where`: a substring, a key of a dict, or an item of a list. */
int jv_contains(struct jinja *j, struct jv where, struct jv what)
{
	if (where.kind == JV_STR && what.kind == JV_STR)
		return str_find(where.s, what.s) >= 0;
	if (where.kind == JV_DICT)
		return jv_get(where.dict, what) != NULL;
	if (where.kind != JV_LIST)
		jinja_fail(j, ERR_FORMAT, "'in' needs a string, list or dict on the right, not '%s'",
			   jv_kind_name(where.kind));
	for (size_t i = 0; i < where.list->n; i++)
		if (jv_equal(j, where.list->v[i], what))
			return 1;
	return 0;
}

/* The number of code points of a UTF-8 string. */
static size_t characters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

/* Python's len(): a string counts code points, not bytes. */
size_t jv_length(struct jinja *j, struct jv v)
{
	if (v.kind == JV_STR)
		return characters(v.s);
	if (v.kind == JV_LIST)
		return v.list->n;
	if (v.kind == JV_DICT)
		return v.dict->n;
	if (v.kind == JV_UNDEFINED)
		return 0;
	jinja_fail(j, ERR_FORMAT, "'%s' has no length", jv_kind_name(v.kind));
}

/* The values of a for loop: items of a list, characters of a string, keys of a dict, nothing if
 * undefined. A list is returned itself, not copied: callers must not change it. */
struct jv_list *jv_iterate(struct jinja *j, struct jv v)
{
	struct jv l;

	if (v.kind == JV_LIST)
		return v.list;
	if (v.kind != JV_STR && v.kind != JV_DICT && v.kind != JV_UNDEFINED)
		jinja_fail(j, ERR_FORMAT, "'%s' cannot be looped over", jv_kind_name(v.kind));
	l = jv_new_list(j, jv_length(j, v));
	for (size_t i = 0, at = 0; i < l.list->n; i++) {
		uint32_t cp;
		size_t k;

		if (v.kind == JV_DICT) {
			l.list->v[i] = v.dict->v[i].key;
			continue;
		}
		k = utf8_decode(v.s.p + at, v.s.n - at, &cp, NULL);
		l.list->v[i] = JV(JV_STR, s, ((struct str){ .p = v.s.p + at, .n = k }));
		at += k;
	}
	return l.list;
}

/* --- parts -------------------------------------------------------------------------------- */

/* value[key]: undefined if there is no such item. */
struct jv jv_item(struct jinja *j, struct jv v, struct jv key)
{
	if (v.kind == JV_UNDEFINED)
		jinja_fail(j, ERR_FORMAT, "'%.*s' is undefined", STR_ARG(v.s));
	if (v.kind == JV_DICT) {
		const struct jv *found = jv_get(v.dict, key);

		return found ? *found : JV(JV_UNDEFINED, s, key.kind == JV_STR ? key.s : STR("item"));
	}
	if ((v.kind == JV_LIST || v.kind == JV_STR) && (key.kind == JV_INT || key.kind == JV_BOOL)) {
		struct jv_list *l = jv_iterate(j, v);
		int64_t i = key.i < 0 ? key.i + (int64_t)l->n : key.i;

		if (i >= 0 && (size_t)i < l->n)
			return l->v[i];
	}
	return JV(JV_UNDEFINED, s, key.kind == JV_STR ? key.s : STR("item"));
}

/* Python's slice.indices: where to start, where to stop, by which step. */
static void slice_range(struct jinja *j, const struct jv b[3], int64_t n, int64_t *start, int64_t *stop, int64_t *step)
{
	int64_t lo, hi, *bound[2] = { start, stop };

	*step = b[2].kind == JV_INT ? b[2].i : 1;
	if (*step == 0 || *step > INT32_MAX || *step < -INT32_MAX)
		jinja_fail(j, ERR_FORMAT, "invalid slice step %lld", (long long)*step);
	lo = *step < 0 ? -1 : 0;
	hi = *step < 0 ? n - 1 : n;
	*start = *step < 0 ? hi : lo;
	*stop = *step < 0 ? lo : hi;
	for (int k = 0; k < 2; k++) {
		int64_t at = b[k].i;

		if (b[k].kind == JV_NONE || b[k].kind == JV_UNDEFINED)
			continue;
		if (b[k].kind != JV_INT)
			jinja_fail(j, ERR_FORMAT, "slice indices must be whole numbers");
		if (at < 0)
			at = at < -n ? lo : at + n;
		*bound[k] = MAX(lo, MIN(at, hi));
	}
}

/* value[start:stop:step] of a list or a string. [0, 1, 2, 3][::-2] is [3, 1]: start 3, stop -1,
 * step -2 gives two items. */
struct jv jv_slice(struct jinja *j, struct jv v, const struct jv bounds[3])
{
	struct jv_list *l;
	struct jv out;
	struct buf *text = jinja_text(j);
	int64_t start, stop, step, n;

	if (v.kind != JV_LIST && v.kind != JV_STR)
		jinja_fail(j, ERR_FORMAT, "'%s' cannot be sliced", jv_kind_name(v.kind));
	l = jv_iterate(j, v);
	slice_range(j, bounds, (int64_t)l->n, &start, &stop, &step);
	n = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
	out = jv_new_list(j, n > 0 ? (size_t)n : 0);
	for (size_t i = 0; i < out.list->n; i++)
		out.list->v[i] = l->v[start + (int64_t)i * step];
	if (v.kind == JV_LIST)
		return out;
	for (size_t i = 0; i < out.list->n; i++)
		buf_addstr(text, out.list->v[i].s);
	return jv_take(j, text);
}

/* --- printing ----------------------------------------------------------------------------- */

/* Prints a float as Python does: the fewest digits that read back as the same number, at least one
 * after the point. 0.1 + 0.2 prints 0.30000000000000004, and 3.0 prints 3.0. */
static void print_real(double f, struct buf *out)
{
	char text[40];

	if (isnan(f) || isinf(f)) {
		buf_adds(out, isnan(f) ? "nan" : f > 0 ? "inf" : "-inf");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		double back;

		snprintf(text, sizeof text, "%.*g", digits, f);
		if (!str_to_f64(str_of(text), &back) && back == f)
			break;
	}
	if (fabs(f) >= 1e-4 && fabs(f) < 1e16 && strchr(text, 'e'))
		snprintf(text, sizeof text, "%.0f", f);
	buf_adds(out, text);
	if (!strpbrk(text, ".e"))
		buf_adds(out, ".0");
}

/* A string as Python's repr writes it. */
static void repr_string(struct str s, struct buf *out)
{
	static const char from[] = "\n\t\r\\", to[] = "ntr\\";
	char quote = memchr(s.p, '\'', s.n) && !memchr(s.p, '"', s.n) ? '"' : '\'';

	buf_addc(out, quote);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		const char *special = c ? strchr(from, c) : NULL;

		if (special)
			buf_addf(out, "\\%c", to[special - from]);
		else if (c == (unsigned char)quote)
			buf_addf(out, "\\%c", quote);
		else if (c < ' ' || c == 127)
			buf_addf(out, "\\x%02x", c);
		else
			buf_addc(out, (char)c);
	}
	buf_addc(out, quote);
}

/* Python's repr(): strings are quoted, other scalars are printed as str() does. */
void jv_repr(struct jinja *j, struct jv v, struct buf *out)
{
	if (v.kind == JV_STR) {
		repr_string(v.s, out);
		return;
	}
	if (v.kind != JV_LIST && v.kind != JV_DICT) {
		jv_print(j, v, out);
		return;
	}
	jinja_enter(j);
	buf_addc(out, v.kind == JV_LIST ? '[' : '{');
	for (size_t i = 0; v.kind == JV_LIST && i < v.list->n; i++) {
		buf_adds(out, i ? ", " : "");
		jv_repr(j, v.list->v[i], out);
	}
	for (size_t i = 0; v.kind == JV_DICT && i < v.dict->n; i++) {
		buf_adds(out, i ? ", " : "");
		jv_repr(j, v.dict->v[i].key, out);
		buf_adds(out, ": ");
		jv_repr(j, v.dict->v[i].value, out);
	}
	buf_addc(out, v.kind == JV_LIST ? ']' : '}');
	jinja_leave(j);
}

/* Python's str(). An undefined value prints nothing, as in Jinja's default environment. */
void jv_print(struct jinja *j, struct jv v, struct buf *out)
{
	switch (v.kind) {
	case JV_UNDEFINED:
		break;
	case JV_NONE:
		buf_adds(out, "None");
		break;
	case JV_BOOL:
		buf_adds(out, v.i ? "True" : "False");
		break;
	case JV_INT:
		buf_addf(out, "%lld", (long long)v.i);
		break;
	case JV_REAL:
		print_real(v.f, out);
		break;
	case JV_STR:
		buf_addstr(out, v.s);
		break;
	case JV_LIST:
	case JV_DICT:
		jv_repr(j, v, out);
		break;
	default:
		jinja_fail(j, ERR_FORMAT, "'%s' cannot be printed", jv_kind_name(v.kind));
	}
}

/* --- JSON --------------------------------------------------------------------------------- */

/* A string in JSON's quotes. */
static void json_string(struct str s, struct buf *out)
{
	struct jw w = { .out = out };

	jw_str(&w, s);
}

/* A new line of indented JSON; nothing if the JSON is on one line. */
static void json_break(int indent, int level, struct buf *out)
{
	if (indent < 0)
		return;
	buf_addc(out, '\n');
	buf_pad(out, ' ', (size_t)(indent * level));
}

/* A key as a JSON string; numbers and others are printed first. */
static void json_key(struct jinja *j, struct jv key, struct buf *out)
{
	struct buf *text = jinja_text(j);

	if (key.kind == JV_STR)
		buf_addstr(text, key.s);
	else
		jv_tojson(j, key, -1, 0, text);
	json_string(jv_take(j, text).s, out);
}

/* The members of a list or dict. */
static void json_members(struct jinja *j, struct jv v, int indent, int level, struct buf *out)
{
	size_t n = v.kind == JV_LIST ? v.list->n : v.dict->n;

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_adds(out, indent < 0 ? ", " : ",");
		json_break(indent, level + 1, out);
		if (v.kind == JV_DICT) {
			json_key(j, v.dict->v[i].key, out);
			buf_adds(out, ": ");
		}
		jv_tojson(j, v.kind == JV_LIST ? v.list->v[i] : v.dict->v[i].value, indent, level + 1, out);
	}
	if (n)
		json_break(indent, level, out);
}

/* json.dumps(v, ensure_ascii=False, indent=indent); indent < 0: one line. */
void jv_tojson(struct jinja *j, struct jv v, int indent, int level, struct buf *out)
{
	switch (v.kind) {
	case JV_NONE:
		buf_adds(out, "null");
		break;
	case JV_BOOL:
		buf_adds(out, v.i ? "true" : "false");
		break;
	case JV_INT:
	case JV_REAL:
		jv_print(j, v, out);
		break;
	case JV_STR:
		json_string(v.s, out);
		break;
	case JV_LIST:
	case JV_DICT:
		jinja_enter(j);
		buf_addc(out, v.kind == JV_LIST ? '[' : '{');
		json_members(j, v, indent, level, out);
		buf_addc(out, v.kind == JV_LIST ? ']' : '}');
		jinja_leave(j);
		break;
	default:
		jinja_fail(j, ERR_FORMAT, "'%s' cannot be written as JSON", jv_kind_name(v.kind));
	}
}
