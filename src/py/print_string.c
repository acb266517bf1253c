/* Printing string literals and f-strings.
 *
 * Outside of f-strings a literal is repr(). Inside the braces of an f-string CPython 3.11 allows
 * no backslash and none of the quotes of the surrounding f-strings, so a value that needs an
 * escape may have no spelling at all; p->failed says so. */
#include "py/print.h"

#include "py/repr.h"
#include "py/unicode.h"

static const char *const delimiters[] = { "'", "\"", "'''", "\"\"\"" }; /* tried in this order */
enum { DELIMITERS = 4 };

static int contains(struct str s, const char *what)
{
	return str_find(s, str_of(what)) >= 0;
}

/* Can `text` be inside an f-string with delimiter `d`, where nothing can be escaped? */
static int fits_inside(struct str text, int d)
{
	return !contains(text, delimiters[d]) && (d >= 2 || !contains(text, "\n"));
}

/* --- strings inside the braces of an f-string ------------------------------------------------- */

/* Can the value be written with delimiter d without any escape? */
static int raw_spelling_works(struct str value, int d)
{
	if (contains(value, "\\") || contains(value, "\r") || !fits_inside(value, d))
		return 0;
	return d < 2 || !value.n || value.p[value.n - 1] != delimiters[d][0];
}

/* The value itself between quotes, without escapes, in the first delimiter that all surrounding
 * f-strings allow. */
static void print_raw(struct py_printer *p, struct str value, const char *prefix)
{
	struct buf text = BUF_INIT;
	int done = 0;

	for (int d = 0; d < DELIMITERS && !done; d++) {
		if (!raw_spelling_works(value, d))
			continue;
		buf_clear(&text);
		buf_addf(&text, "%s%s%.*s%s", prefix, delimiters[d], STR_ARG(value), delimiters[d]);
		done = 1;
		for (int b = 0; b < DELIMITERS; b++)
			if (p->banned & 1u << b && !fits_inside(buf_str(&text), b))
				done = 0;
	}
	if (text.failed)
		p->out->failed = 1;
	p->failed |= !done;
	buf_addstr(p->out, buf_str(&text));
	buf_release(&text);
}

/* A string or bytes literal; `kind` is "u" if the source had that prefix. */
void py_print_string(struct py_printer *p, const struct py_const *c, struct str kind)
{
	if (p->depth) {
		print_raw(p, c->s, c->kind == PY_C_BYTES ? "b" : kind.p ? "u" : "");
		return;
	}
	if (kind.p)
		buf_addstr(p->out, kind);
	py_repr_const(c, p->out);
}

/* --- literal text with escapes ------------------------------------------------------------------ */

/* How text is written. quote is escaped; triple: newlines stay; braces: 0 unchanged, 1 doubled, 2
 * escaped. */
struct spelling { char quote; int triple; int braces; };

/* One character, escaped as the spelling requires. Unprintable ones become \x, \u or \U. */
static void add_char(struct buf *out, const char *from, size_t n, uint32_t c, struct spelling s)
{
	if (c == '\\' || (c == (uint32_t)s.quote))
		buf_addf(out, "\\%c", (int)c);
	else if (c == '\n' && s.triple)
		buf_addc(out, '\n');
	else if (c == '\n')
		buf_adds(out, "\\n");
	else if (c == '\t')
		buf_adds(out, "\\t");
	else if (c == '\r')
		buf_adds(out, "\\r");
	else if ((c == '{' || c == '}') && s.braces == 1)
		buf_addf(out, "%c%c", (int)c, (int)c);
	else if ((c == '{' || c == '}') && s.braces == 2)
		buf_addf(out, "\\x%02x", c);
	else if (py_uni_is_printable(c))
		buf_add(out, from, n);
	else
		buf_addf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

/* All characters of a text. */
static void add_text(struct buf *out, struct str text, struct spelling s)
{
	const char *at = text.p, *end = text.p + text.n;

	while (at < end) {
		const char *from = at;
		uint32_t c = py_uni_decode(&at);

		add_char(out, from, (size_t)(at - from), c, s);
	}
}

/* A text of several lines in triple quotes, as people write it. */
void py_print_docstring(struct py_printer *p, const struct py_const *c)
{
	buf_adds(p->out, "\"\"\"");
	add_text(p->out, c->s, (struct spelling){ .quote = '"', .triple = 1 });
	buf_adds(p->out, "\"\"\"");
}

/* --- f-strings ------------------------------------------------------------------------------------- */

static void print_values(struct py_printer *p, const struct py_list *values, int d, int spec);

/* {expression!r:spec}. A dictionary needs a space, so that its brace is not doubled. An
 * expression with a colon of its own needs parentheses, which the precedence P_OR gives it. */
static void print_replacement(struct py_printer *p, const struct py_FormattedValue *v, int d)
{
	struct buf text = BUF_INIT;
	struct py_printer inner = { .out = &text, .depth = p->depth + 1, .banned = p->banned | 1u << d };

	py_print_expr(&inner, v->value, P_OR);
	p->failed |= inner.failed || text.failed || !fits_inside(buf_str(&text), d) || contains(buf_str(&text), "\\");
	buf_adds(p->out, text.n && text.p[0] == '{' ? "{ " : "{");
	buf_addstr(p->out, buf_str(&text));
	if (v->conversion >= 0)
		buf_addf(p->out, "!%c", v->conversion);
	if (v->format_spec) {
		buf_addc(p->out, ':');
		print_values(p, &v->format_spec->u.JoinedStr.values, d, 1);
	}
	buf_addc(p->out, '}');
	buf_release(&text);
}

/* The parts of an f-string, or (spec) of a format specification. */
static void print_values(struct py_printer *p, const struct py_list *values, int d, int spec)
{
	struct spelling s = { .quote = delimiters[d][0], .braces = spec ? 2 : 1 };

	for (size_t i = 0; i < values->n; i++) {
		const struct py_node *v = values->v[i];

		if (v->kind == PY_FormattedValue)
			print_replacement(p, &v->u.FormattedValue, d);
		else if (v->kind == PY_Constant)
			add_text(p->out, v->u.Constant.value.s, s);
		else
			BUG("%s in an f-string", py_kind_info(v->kind)->name);
	}
}

/* Inside another f-string nothing may be escaped, and its delimiters may not appear. */
static int allowed(const struct py_printer *p, struct str text)
{
	if (p->depth && (contains(text, "\\") || contains(text, "\r")))
		return 0;
	for (int b = 0; b < DELIMITERS; b++)
		if (p->banned & 1u << b && !fits_inside(text, b))
			return 0;
	return 1;
}

/* Prints the values as one f-string with the first delimiter that works. Returns 0 if none
 * does. */
static int print_whole(struct py_printer *p, const struct py_list *values)
{
	struct buf text = BUF_INIT;
	int done = 0;

	for (int d = 0; d < DELIMITERS && !done; d++) {
		struct py_printer inner = { .out = &text, .depth = p->depth, .banned = p->banned };

		if (p->banned & 1u << d)
			continue;
		buf_clear(&text);
		buf_addf(&text, "f%s", delimiters[d]);
		print_values(&inner, values, d, 0);
		buf_adds(&text, delimiters[d]);
		done = !inner.failed && allowed(p, buf_str(&text));
	}
	if (text.failed)
		p->out->failed = 1;
	if (done)
		buf_addstr(p->out, buf_str(&text));
	buf_release(&text);
	return done;
}

/* Prints one string if possible, else one string per value: adjacent strings concatenate. A "u"
 * prefix of the source is kept by an empty u'' in front. */
void py_print_joined(struct py_printer *p, const struct py_node *n)
{
	const struct py_list *values = &n->u.JoinedStr.values;

	for (size_t i = 0; i < values->n; i++)
		if (values->v[i]->kind == PY_Constant && values->v[i]->u.Constant.kind.p) {
			print_raw(p, STR(""), "u");
			buf_addc(p->out, ' ');
			break;
		}
	if (print_whole(p, values))
		return;
	for (size_t i = 0; i < values->n; i++) {
		struct py_list one = { .v = values->v + i, .n = 1 };

		if (i)
			buf_addc(p->out, ' ');
		p->failed |= !print_whole(p, &one);
	}
}
