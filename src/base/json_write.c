/* Writing JSON: see json.h. Invariant: the appended text is valid JSON up to the brackets that are
 * still open, for any bytes in the strings. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

/* Only with an indent: rows of a JSON lines file must stay on one line. */
static void new_line(struct jw *w)
{
	if (w->indent) {
		buf_addc(w->out, '\n');
		buf_pad(w->out, ' ', (size_t)(w->indent * w->depth));
	}
}

/* One bit per open bracket: does it already have a member, so that a comma is needed? */
static int has_member(const struct jw *w)
{
	return w->has[w->depth / 8] >> w->depth % 8 & 1;
}

static void set_member(struct jw *w, int has)
{
	unsigned char bit = (unsigned char)(1u << w->depth % 8);

	w->has[w->depth / 8] = (unsigned char)(has ? w->has[w->depth / 8] | bit : w->has[w->depth / 8] & ~bit);
}

/* Writes the text before a value or key: nothing after a key, else a comma and a line break. */
static void separate(struct jw *w)
{
	if (w->after_key) {
		w->after_key = 0;
		return;
	}
	if (w->depth == 0)        /* values of a JSON lines file; the caller writes the newlines */
		return;
	if (has_member(w))
		buf_addc(w->out, ',');
	new_line(w);
	set_member(w, 1);
}

/* The depth is limited by the bits in `has`; our own writers never reach it. */
void jw_begin(struct jw *w, char bracket)
{
	separate(w);
	buf_addc(w->out, bracket);
	if (++w->depth >= (int)sizeof w->has * 8)
		BUG("JSON written deeper than %d levels", w->depth);
	set_member(w, 0);
}

/* An empty bracket is closed on the same line: [] and {}. */
void jw_end(struct jw *w, char bracket)
{
	int had = has_member(w);

	if (w->depth == 0 || w->after_key)
		BUG("JSON '%c' without its beginning or after a key", bracket);
	w->depth--;
	if (had)
		new_line(w);
	buf_addc(w->out, bracket);
}

/* JSON allows no raw control characters; those without a short form become \u00XX. */
static void add_escape(struct buf *b, unsigned char c)
{
	static const char *const name[32] = { ['\b'] = "\\b", ['\f'] = "\\f", ['\n'] = "\\n",
					      ['\r'] = "\\r", ['\t'] = "\\t" };

	if (c == '"' || c == '\\') {
		buf_addc(b, '\\');
		buf_addc(b, (char)c);
	} else if (name[c]) {
		buf_adds(b, name[c]);
	} else {
		buf_addf(b, "\\u%04x", c);
	}
}

/* Copies runs of plain ASCII at once. Bytes that are not UTF-8 become U+FFFD, because a reader
 * would refuse the whole file otherwise. */
static void add_quoted(struct buf *b, struct str s)
{
	buf_addc(b, '"');
	for (size_t i = 0; i < s.n;) {
		size_t run = i;
		uint32_t cp;
		int bad;

		while (run < s.n && (unsigned char)s.p[run] >= ' ' && (unsigned char)s.p[run] < 0x80 &&
		       s.p[run] != '"' && s.p[run] != '\\')
			run++;
		buf_add(b, s.p + i, run - i);
		i = run;
		if (i == s.n)
			break;
		if ((unsigned char)s.p[i] < 0x80) {
			add_escape(b, (unsigned char)s.p[i++]);
			continue;
		}
		run = utf8_decode(s.p + i, s.n - i, &cp, &bad);
		buf_addstr(b, bad ? STR("\xEF\xBF\xBD") : (struct str){ .p = s.p + i, .n = run });
		i += run;
	}
	buf_addc(b, '"');
}

void jw_keystr(struct jw *w, struct str key)
{
	separate(w);
	add_quoted(w->out, key);
	buf_adds(w->out, w->indent ? ": " : ":");
	w->after_key = 1;
}

void jw_key(struct jw *w, const char *key)
{
	jw_keystr(w, str_of(key));
}

void jw_raw(struct jw *w, struct str json_text)
{
	separate(w);
	buf_addstr(w->out, json_text);
}

void jw_str(struct jw *w, struct str s)
{
	separate(w);
	add_quoted(w->out, s);
}

void jw_cstr(struct jw *w, const char *s)
{
	if (s)
		jw_str(w, str_of(s));
	else
		jw_null(w);
}

void jw_int(struct jw *w, int64_t v)
{
	separate(w);
	buf_addf(w->out, "%lld", (long long)v);
}

/* The shortest of 15 to 17 digits that reads back to the same double: 0.1 stays 0.1. JSON has no
 * NaN and no infinity; they become null. */
void jw_real(struct jw *w, double v)
{
	char text[40];

	if (!isfinite(v)) {
		jw_null(w);
		return;
	}
	for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	separate(w);
	buf_adds(w->out, text);
	if (!strpbrk(text, ".e"))
		buf_adds(w->out, ".0");   /* 1 would read back as an integer */
}

void jw_bool(struct jw *w, int v)
{
	jw_raw(w, v ? STR("true") : STR("false"));
}

void jw_null(struct jw *w)
{
	jw_raw(w, STR("null"));
}

static void write_members(struct jw *w, const struct json *j)
{
	const char *key;

	for (size_t i = 0; i < json_count(j); i++) {
		const struct json *member = json_member(j, i, &key);

		jw_key(w, key);
		jw_json(w, member);
	}
}

/* Copies a parsed tree, for example a row with one member added. */
void jw_json(struct jw *w, const struct json *j)
{
	switch (json_kind(j)) {
	case JSON_NULL: jw_null(w); break;
	case JSON_BOOL: jw_bool(w, json_bool(j, 0)); break;
	case JSON_INT: jw_int(w, json_int(j, 0)); break;
	case JSON_REAL: jw_real(w, json_real(j, 0)); break;
	case JSON_STRING: jw_str(w, json_str(j, "")); break;
	case JSON_ARRAY:
		jw_begin(w, '[');
		for (size_t i = 0; i < json_count(j); i++)
			jw_json(w, json_at(j, i));
		jw_end(w, ']');
		break;
	case JSON_OBJECT:
		jw_begin(w, '{');
		write_members(w, j);
		jw_end(w, '}');
		break;
	}
}
