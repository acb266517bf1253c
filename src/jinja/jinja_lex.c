/* Cuts a template into tokens, with Jinja's control of white space. `-` at a tag strips all white
 * space on its side. Without it, blanks before a block tag that begins its line and the newline
 * after a block tag are dropped (lstrip_blocks, trim_blocks), unless the tag has `+`. */
#include "jinja/jinja_lex.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/utf8.h"

static int is_blank(char c) { return c == ' ' || c == '\t'; }
static int is_space(char c) { return c && strchr(" \t\n\r\v\f", c); }
static int is_name_start(char c) { return isalpha((unsigned char)c) || c == '_'; }
static int is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The character `ahead` positions from here; 0 beyond the end. */
static char at(const struct jinja_lex *x, size_t ahead)
{
	return x->at + ahead < x->source.n ? x->source.p[x->at + ahead] : 0;
}

/* Counts the newlines of a passed range, for error messages. */
static void count_lines(struct jinja_lex *x, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		x->line += x->source.p[i] == '\n';
	x->j->line = x->line;
}

/* --- text --------------------------------------------------------------------------------- */

/* Offset of the next "{{", "{%" or "{#" at or after `i`, or the end. */
static size_t next_open(const struct jinja_lex *x, size_t i)
{
	for (; i + 1 < x->source.n; i++)
		if (x->source.p[i] == '{' && strchr("{%#", x->source.p[i + 1]) && x->source.p[i + 1])
			return i;
	return x->source.n;
}

/* Trims the text after a tag: '-' strips all white space, '\n' strips one newline (trim_blocks). */
static struct str strip_left(struct str s, int how)
{
	while (how == '-' && s.n && is_space(*s.p))
		s.p++, s.n--;
	if (how == '\n' && s.n && *s.p == '\n')
		s.p++, s.n--;
	return s;
}

/* Trims the text before a tag at `open`. `sign` is the character after the opening bracket: '-'
 * strips all white space, '+' nothing. A block that begins its line loses its indentation
 * (lstrip_blocks). */
static struct str strip_right(const struct jinja_lex *x, struct str s, size_t open)
{
	char kind = open + 1 < x->source.n ? x->source.p[open + 1] : 0;
	char sign = open + 2 < x->source.n ? x->source.p[open + 2] : 0;
	size_t n = s.n;

	if (open >= x->source.n)
		return s;
	if (sign == '-') {
		while (s.n && is_space(s.p[s.n - 1]))
			s.n--;
		return s;
	}
	if (kind == '{' || sign == '+')
		return s;
	while (n && is_blank(s.p[n - 1]))
		n--;
	/* Only if the tag begins its line. s.p[-1] belongs to the tag before, if any. */
	if (n ? s.p[n - 1] == '\n' : (s.p == x->source.p || s.p[-1] == '\n'))
		s.n = n;
	return s;
}

/* Skips a comment; its end trims like a block's. */
static void skip_comment(struct jinja_lex *x)
{
	size_t start = x->at;

	for (x->at += 2; x->at + 1 < x->source.n && !(at(x, 0) == '#' && at(x, 1) == '}'); x->at++)
		;
	if (x->at + 1 >= x->source.n)
		jinja_fail(x->j, ERR_FORMAT, "unterminated comment");
	x->trim_next = x->source.p[x->at - 1] == '-' ? '-' : '\n';
	x->at += 2;
	count_lines(x, start, x->at);
}

/* Begins {{ or {%. */
static void open_tag(struct jinja_lex *x)
{
	int print = at(x, 1) == '{';

	x->kind = print ? LEX_PRINT : LEX_TAG;
	x->in_tag = print ? '}' : '%';
	x->braces = 0;
	x->at += 2;
	if (at(x, 0) == '-' || at(x, 0) == '+')
		x->at++;
}

/* Reads {% raw %} text {% endraw %}. Returns 1 and sets the text if the tag at the present position
 * is raw, else 0 and moves nothing. */
static int raw_text(struct jinja_lex *x)
{
	size_t i = x->at + 2, end;
	struct str rest;

	while (i < x->source.n && (is_space(x->source.p[i]) || x->source.p[i] == '-'))
		i++;
	rest = (struct str){ .p = x->source.p + i, .n = x->source.n - i };
	if (at(x, 1) != '%' || !str_starts(rest, "raw") || (rest.n > 3 && is_name(rest.p[3])))
		return 0;
	while (i + 1 < x->source.n && !(x->source.p[i] == '%' && x->source.p[i + 1] == '}'))
		i++;
	i = MIN(i + 2, x->source.n);
	for (end = next_open(x, i); end < x->source.n; end = next_open(x, end + 1)) {
		size_t k = end + 2;

		while (k < x->source.n && (is_space(x->source.p[k]) || x->source.p[k] == '-'))
			k++;
		if (str_starts((struct str){ .p = x->source.p + k, .n = x->source.n - k }, "endraw"))
			break;
	}
	x->text = strip_left((struct str){ .p = x->source.p + i, .n = end - i }, '\n');
	count_lines(x, x->at, end);
	x->at = end;
	while (x->at + 1 < x->source.n && !(at(x, 0) == '%' && at(x, 1) == '}'))
		x->at++;
	x->at = MIN(x->at + 2, x->source.n);
	x->trim_next = '\n';
	x->kind = LEX_TEXT;
	return 1;
}

/* Reads outside of tags: the next piece of text, or the opening of the next tag. Comments and
 * pieces that trimming leaves empty are skipped. "a {%- if x %}" is the text "a" (the minus sign
 * removes the blank), then the opening of a tag. */
void jinja_lex_text(struct jinja_lex *x)
{
	x->in_tag = 0;
	for (;;) {
		size_t open = next_open(x, x->at);
		struct str text = { .p = x->source.p + x->at, .n = open - x->at };

		text = strip_right(x, strip_left(text, x->trim_next), open);
		x->trim_next = 0;
		count_lines(x, x->at, open);
		x->at = open;
		if (text.n) {
			x->kind = LEX_TEXT;
			x->text = text;
			return;
		}
		if (open >= x->source.n) {
			x->kind = LEX_EOF;
			return;
		}
		if (at(x, 1) == '#') {
			skip_comment(x);
			continue;
		}
		if (!raw_text(x))
			open_tag(x);
		else if (!x->text.n)
			continue;
		return;
	}
}

/* --- inside tags -------------------------------------------------------------------------- */

/* Ends a tag; `sign` is the character before its closing bracket. */
static void end_of_tag(struct jinja_lex *x, int sign)
{
	x->trim_next = sign == '-' ? '-' : x->in_tag == '%' && sign != '+' ? '\n' : 0;
	x->at += sign ? 3 : 2;
	x->kind = LEX_END_TAG;
	x->text = STR("end of tag");
}

/* An escape sequence in a string, as Python reads it; an unknown one is kept with its backslash. */
static void escape(struct jinja_lex *x, char c, struct buf *out)
{
	static const char from[] = "ntrbf\\'\"", to[] = "\n\t\r\b\f\\'\"";
	const char *p = c ? strchr(from, c) : NULL;
	char u[4];

	if (p) {
		buf_addc(out, to[p - from]);
	} else if (c == 'u' || c == 'x') {
		size_t n = c == 'u' ? 4 : 2;
		char hex[5] = "";

		for (size_t i = 0; i < n && isxdigit((unsigned char)at(x, 1 + i)); i++)
			hex[i] = at(x, 1 + i);
		if (strlen(hex) != n)
			jinja_fail(x->j, ERR_FORMAT, "invalid escape in a string");
		buf_add(out, u, utf8_encode((uint32_t)strtoul(hex, NULL, 16), u));
		x->at += n;
	} else {
		buf_addc(out, '\\');
		buf_addc(out, c);
	}
}

/* A string in either kind of quotes. */
static void lex_string(struct jinja_lex *x)
{
	char quote = at(x, 0);
	struct buf *b = jinja_text(x->j);
	size_t start = x->at;

	for (x->at++; x->at < x->source.n && at(x, 0) != quote; x->at++) {
		if (at(x, 0) == '\\' && x->at + 1 < x->source.n) {
			x->at++;
			escape(x, at(x, 0), b);
		} else {
			buf_addc(b, at(x, 0));
		}
	}
	if (x->at >= x->source.n)
		jinja_fail(x->j, ERR_FORMAT, "unterminated string");
	x->at++;
	count_lines(x, start, x->at);
	x->text = jv_take(x->j, b).s;
	x->kind = LEX_STRING;
}

/* An integer or a float. */
static void lex_number(struct jinja_lex *x)
{
	size_t start = x->at;
	int real = 0;

	while (isdigit((unsigned char)at(x, 0)) || at(x, 0) == '_' ||
	       (at(x, 0) == '.' && isdigit((unsigned char)at(x, 1)) && !real)) {
		real |= at(x, 0) == '.';
		x->at++;
	}
	if ((at(x, 0) | 32) == 'e' && isdigit((unsigned char)at(x, at(x, 1) == '+' || at(x, 1) == '-' ? 2 : 1))) {
		real = 1;
		for (x->at += 2; isdigit((unsigned char)at(x, 0)); x->at++)
			;
	}
	x->text = (struct str){ .p = x->source.p + start, .n = x->at - start };
	x->kind = LEX_NUMBER;
	x->number = real ? JV(JV_REAL, f, 0) : JV(JV_INT, i, 0);
	if (real ? str_to_f64(x->text, &x->number.f) : str_to_i64(x->text, &x->number.i))
		jinja_fail(x->j, ERR_FORMAT, "invalid number '%.*s'", STR_ARG(x->text));
}

/* An operator of one or two characters. Braces are counted, so that }} inside a dict does not end
 * the tag. */
static void lex_operator(struct jinja_lex *x)
{
	static const char *const two[] = { "==", "!=", "<=", ">=", "//", "**" };
	size_t n = 1;

	for (size_t i = 0; i < COUNT_OF(two); i++)
		if (at(x, 0) == two[i][0] && at(x, 1) == two[i][1])
			n = 2;
	if (!strchr("=!<>/*+-~%|()[]{},.:", at(x, 0)))
		jinja_fail(x->j, ERR_FORMAT, "unexpected character '%c'", at(x, 0));
	x->braces += (at(x, 0) == '{') - (at(x, 0) == '}');
	x->text = (struct str){ .p = x->source.p + x->at, .n = n };
	x->at += n;
	x->kind = LEX_OP;
}

/* Moves to the next token. */
void jinja_lex_next(struct jinja_lex *x)
{
	char c, d;

	if (!x->in_tag) {
		jinja_lex_text(x);
		return;
	}
	for (size_t start = x->at; is_space(at(x, 0)); start = x->at) {
		x->at++;
		count_lines(x, start, x->at);
	}
	if (x->at >= x->source.n)
		jinja_fail(x->j, ERR_FORMAT, "unterminated tag");
	c = at(x, 0);
	d = at(x, 1);
	if (c == x->in_tag && d == '}' && !x->braces) {
		end_of_tag(x, 0);
	} else if ((c == '-' || c == '+') && d == x->in_tag && at(x, 2) == '}') {
		end_of_tag(x, c);
	} else if (is_name_start(c)) {
		size_t start = x->at;

		while (is_name(at(x, 0)))
			x->at++;
		x->text = (struct str){ .p = x->source.p + start, .n = x->at - start };
		x->kind = LEX_NAME;
	} else if (c == '"' || c == '\'') {
		lex_string(x);
	} else if (isdigit((unsigned char)c)) {
		lex_number(x);
	} else {
		lex_operator(x);
	}
}

/* --- helpers of the parser ---------------------------------------------------------------- */

/* Is the present token this word or operator? A string with the same characters is not. */
int jinja_lex_is(const struct jinja_lex *x, const char *word)
{
	return (x->kind == LEX_NAME || x->kind == LEX_OP) && str_is(x->text, word);
}

/* Consumes the present token if it is this word. Returns whether it was. */
int jinja_lex_take(struct jinja_lex *x, const char *word)
{
	if (!jinja_lex_is(x, word))
		return 0;
	jinja_lex_next(x);
	return 1;
}

/* Consumes a token that the grammar requires here; any other one is an error. */
void jinja_lex_need(struct jinja_lex *x, const char *word)
{
	if (!jinja_lex_is(x, word))
		jinja_fail(x->j, ERR_FORMAT, "expected '%s', found '%.*s'", word, STR_ARG(x->text));
	jinja_lex_next(x);
}

/* Is the next token this name? The present token stays the present one. */
int jinja_lex_peek_is(const struct jinja_lex *x, const char *name)
{
	size_t i = x->at, n = strlen(name);

	while (i < x->source.n && is_space(x->source.p[i]))
		i++;
	return i + n <= x->source.n && !memcmp(x->source.p + i, name, n) &&
		!(i + n < x->source.n && is_name(x->source.p[i + n]));
}

/* Ends the parse with an error that quotes the present token. */
void jinja_lex_unexpected(struct jinja_lex *x)
{
	jinja_fail(x->j, ERR_FORMAT, "unexpected '%.*s'", STR_ARG(x->text));
}
