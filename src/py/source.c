/* From the bytes of a file to the text that is lexed: byte order mark, encoding cookie,
 * newlines, validity. The result is the parser's own copy, which m->source points to. */
#include "py/parse.h"

#include <ctype.h>

#include "py/unicode.h"

/* The first two lines: a cookie can only be there. */
static struct str first_lines(struct str b)
{
	size_t n = 0;

	for (int lines = 0; n < b.n && lines < 2; n++)
		lines += b.p[n] == '\n' || (b.p[n] == '\r' && !(n + 1 < b.n && b.p[n + 1] == '\n'));
	return (struct str){ .p = b.p, .n = n };
}

/* PEP 263: a comment line that has "coding", then ':' or '=', then the name. */
static struct str cookie_in(struct str line)
{
	struct str none = { .p = NULL }, name;
	ptrdiff_t at;

	line = str_trim(line);
	if (!line.n || line.p[0] != '#')
		return none;
	while ((at = str_find(line, STR("coding"))) >= 0) {
		line.p += at + 6;
		line.n -= (size_t)at + 6;
		if (!line.n || (line.p[0] != ':' && line.p[0] != '='))
			continue;
		do
			line.p++, line.n--;
		while (line.n && (line.p[0] == ' ' || line.p[0] == '\t'));
		name = line;
		for (name.n = 0; name.n < line.n && (isalnum((unsigned char)line.p[name.n]) ||
						     strchr("-_.", line.p[name.n])); )
			name.n++;
		return name.n ? name : none;
	}
	return none;
}

/* The encoding cookie of the source, .p NULL without one. The second line counts only if the
 * first is empty or a comment. */
static struct str cookie_of(struct str b)
{
	struct str head = first_lines(b), line, cookie;

	for (size_t i = 0; i < 2 && head.n; i++) {
		size_t n = 0;

		while (n < head.n && head.p[n] != '\n' && head.p[n] != '\r')
			n++;
		line = (struct str){ .p = head.p, .n = n };
		cookie = cookie_in(line);
		if (cookie.p)
			return cookie;
		line = str_trim(line);
		if (line.n && line.p[0] != '#')
			break;
		n += n < head.n && head.p[n] == '\r' && n + 1 < head.n && head.p[n + 1] == '\n';
		n += n < head.n;
		head.p += n;
		head.n -= n;
	}
	return (struct str){ .p = NULL };
}

/* --- encodings ------------------------------------------------------------------------ */

/* Single-byte encodings: the characters of bytes 128 to 255. */
static const struct byte_encoding { const char *name; uint16_t upper[128]; } byte_encodings[] = {
#define E(name, ...) { name, { __VA_ARGS__ } },
#include "py/encoding.def"
#undef E
};

/* Other names of encodings, after '_' became '-' and upper case became lower case. */
static const struct { const char *alias, *name; } aliases[] = {
	{ "utf8", "utf-8" }, { "utf-8-sig", "utf-8" }, { "u8", "utf-8" }, { "cp65001", "utf-8" },
	{ "us-ascii", "ascii" }, { "646", "ascii" }, { "ansi-x3.4-1968", "ascii" },
	{ "latin-1", "iso-8859-1" }, { "latin1", "iso-8859-1" }, { "iso8859-1", "iso-8859-1" },
	{ "iso-latin-1", "iso-8859-1" }, { "l1", "iso-8859-1" }, { "8859", "iso-8859-1" }, { "cp819", "iso-8859-1" },
	{ "latin-2", "iso-8859-2" }, { "latin2", "iso-8859-2" }, { "iso8859-2", "iso-8859-2" },
	{ "cyrillic", "iso-8859-5" }, { "iso8859-5", "iso-8859-5" }, { "iso8859-7", "iso-8859-7" },
	{ "latin-5", "iso-8859-9" }, { "latin5", "iso-8859-9" }, { "iso8859-9", "iso-8859-9" },
	{ "latin-9", "iso-8859-15" }, { "latin9", "iso-8859-15" }, { "iso8859-15", "iso-8859-15" },
	{ "windows-1250", "cp1250" }, { "windows-1251", "cp1251" }, { "windows-1252", "cp1252" },
	{ "windows-1253", "cp1253" }, { "windows-1254", "cp1254" }, { "windows-1255", "cp1255" },
	{ "windows-1256", "cp1256" }, { "windows-1257", "cp1257" }, { "windows-1258", "cp1258" },
	{ "macroman", "mac-roman" }, { "macintosh", "mac-roman" }, { "koi8r", "koi8-r" }, { "koi8u", "koi8-u" },
};

/* The encoding of a source. */
struct encoding {
	const struct byte_encoding *bytes;     /* NULL: UTF-8 or ASCII */
	int ascii;
	int plain_utf8;                        /* named utf-8; only this goes with a BOM */
};

/* Normalises the name of a cookie. "utf-8-unix" and "latin-1-dos", as editors write them, are
 * the encoding before the suffix. */
static const char *encoding_name(struct str cookie, char *text, size_t cap)
{
	size_t n = MIN(cookie.n, cap - 1);

	for (size_t i = 0; i < n; i++)
		text[i] = cookie.p[i] == '_' ? '-' : (char)tolower((unsigned char)cookie.p[i]);
	text[n] = 0;
	if (!strncmp(text, "utf-8-", 6) && strcmp(text, "utf-8-sig"))
		return "utf-8";
	if (!strncmp(text, "latin-1-", 8) || !strncmp(text, "iso-8859-1-", 11) || !strncmp(text, "iso-latin-1-", 12))
		return "iso-8859-1";
	return text;
}

/* The encoding that a cookie names; an unknown one is a syntax error. */
static struct encoding find_encoding(struct parser *p, struct str cookie)
{
	struct encoding enc = { .bytes = NULL };
	char text[32];
	const char *name = encoding_name(cookie, text, sizeof text);

	enc.plain_utf8 = !strcmp(name, "utf-8");
	for (size_t i = 0; i < COUNT_OF(aliases); i++)
		if (!strcmp(name, aliases[i].alias))
			name = aliases[i].name;
	enc.ascii = !strcmp(name, "ascii");
	if (enc.ascii || !strcmp(name, "utf-8"))
		return enc;
	for (size_t i = 0; i < COUNT_OF(byte_encodings); i++)
		if (!strcmp(name, byte_encodings[i].name))
			enc.bytes = &byte_encodings[i];
	if (!enc.bytes)
		py_fail(p, (struct pos){ .line = 1 }, "unknown encoding: %.*s", (int)MIN(cookie.n, (size_t)60),
			cookie.p);
	return enc;
}

/* --- the copy ------------------------------------------------------------------------ */

/* The line of `s`, for messages. */
static int line_of(const char *start, const char *s)
{
	int line = 1;

	for (; start < s; start++)
		line += *start == '\n';
	return line;
}

/* Length of the valid UTF-8 character at `s`, 0 if it is invalid: overlong forms, surrogates
 * and values above U+10FFFF are. */
static int utf8_length(const unsigned char *s)
{
	if (s[0] < 0xC2)
		return 0;
	if ((s[1] & 0xC0) != 0x80)
		return 0;
	if (s[0] < 0xE0)
		return 2;
	if ((s[2] & 0xC0) != 0x80)
		return 0;
	if (s[0] < 0xF0)
		return (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0) ? 0 : 3;
	if ((s[3] & 0xC0) != 0x80 || s[0] > 0xF4)
		return 0;
	return (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90) ? 0 : 4;
}

/* Checks that the text is valid UTF-8 (or ASCII). Eight bytes at a time are passed if they are
 * ASCII; the text is padded with zeros, so reading a whole word at its end is safe. */
static void check_utf8(struct parser *p, const char *text, size_t n, int ascii)
{
	const char *s = text, *end = text + n;

	while (s < end) {
		uint64_t w;
		int k;

		memcpy(&w, s, 8);
		if (!(w & 0x8080808080808080u)) {
			s += 8;
			continue;
		}
		while (s < end && !(*s & 128))
			s++;
		if (s >= end)
			break;
		k = ascii ? 0 : utf8_length((const unsigned char *)s);
		if (!k)
			py_fail(p, (struct pos){ .line = line_of(text, s) },
				"(unicode error) '%s' codec can't decode byte 0x%02x in position %zu",
				ascii ? "ascii" : "utf-8", (unsigned char)*s, (size_t)(s - text));
		s += k;
	}
}

/* Turns \r\n and \r into \n, in place. Returns the new length. */
static size_t fold_newlines(char *text, size_t n)
{
	char *w = memchr(text, '\r', n), *end = text + n;

	if (!w)
		return n;
	for (char *s = w; s < end; s++) {
		if (*s == '\r') {
			*w++ = '\n';
			s += s + 1 < end && s[1] == '\n';
		} else {
			*w++ = *s;
		}
	}
	return (size_t)(w - text);
}

/* Converts a single-byte encoding to UTF-8; at most three bytes per character. */
static size_t widen(struct parser *p, char *w, struct str b, const struct byte_encoding *enc)
{
	char *start = w;

	for (size_t i = 0; i < b.n; i++) {
		unsigned char byte = (unsigned char)b.p[i];
		uint32_t c = byte < 128 ? byte : enc->upper[byte - 128];

		if (!c)
			py_fail(p, (struct pos){ .line = line_of(start, w) },
				"'%s' codec can't decode byte 0x%02x in position %zu",
				enc->name, byte, i);
		w = py_uni_encode(w, c);
	}
	return (size_t)(w - start);
}

/* Loads the source and starts the lexer at its beginning. See parse.h for the form of the text. */
void py_source_load(struct parser *p, struct str b)
{
	struct pos top = { .line = 1 };
	struct str cookie;
	struct encoding enc = { .plain_utf8 = 1 };
	int bom = str_starts(b, "\xEF\xBB\xBF");
	char *text;
	size_t n;

	if (bom)
		b.p += 3, b.n -= 3;
	if (b.n && memchr(b.p, 0, b.n))
		py_fail(p, top, "source code cannot contain null bytes");
	cookie = cookie_of(b);
	if (cookie.p)
		enc = find_encoding(p, cookie);
	if (bom && !enc.plain_utf8)
		py_fail(p, top, "encoding problem: %.*s with BOM", (int)MIN(cookie.n, (size_t)60), cookie.p);
	text = arena_alloc(p->arena, (enc.bytes ? b.n * 3 : b.n) + 1 + PY_PAD);
	n = enc.bytes ? widen(p, text, b, enc.bytes) : b.n;
	if (!enc.bytes && n)
		memcpy(text, b.p, n);
	n = fold_newlines(text, n);
	if (!n || text[n - 1] != '\n')
		text[n++] = '\n';
	memset(text + n, 0, PY_PAD);
	check_utf8(p, text, n, enc.ascii);
	p->m->source = (struct str){ .p = text, .n = n };
	p->lx = (struct lexer){ .at = text, .line_start = text, .line = 1, .bol = 1 };
}
