/* From the bytes of a file to the text that is lexed: byte order mark, encoding cookie,
 * newlines, validity. The result is the parser's own copy; m->source is that copy. */
#include "py/parse.h"

#include <ctype.h>
#include <strings.h>

#include "py/unicode.h"


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

/* The second line counts only if the first is empty or a comment. */
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

enum encoding { ENC_UTF8, ENC_ASCII, ENC_LATIN1, ENC_LATIN9, ENC_CP1252, ENC_UNKNOWN };

static const struct { const char *name; enum encoding enc; } encodings[] = {
	{ "utf-8", ENC_UTF8 }, { "utf8", ENC_UTF8 }, { "utf-8-sig", ENC_UTF8 }, { "u8", ENC_UTF8 },
	{ "utf", ENC_UTF8 }, { "cp65001", ENC_UTF8 },
	{ "ascii", ENC_ASCII }, { "us-ascii", ENC_ASCII }, { "646", ENC_ASCII },
	{ "latin-1", ENC_LATIN1 }, { "latin1", ENC_LATIN1 }, { "iso-8859-1", ENC_LATIN1 },
	{ "iso8859-1", ENC_LATIN1 }, { "iso-latin-1", ENC_LATIN1 }, { "l1", ENC_LATIN1 },
	{ "8859", ENC_LATIN1 }, { "cp819", ENC_LATIN1 },
	{ "iso-8859-15", ENC_LATIN9 }, { "iso8859-15", ENC_LATIN9 }, { "latin-9", ENC_LATIN9 }, { "latin9", ENC_LATIN9 },
	{ "cp1252", ENC_CP1252 }, { "windows-1252", ENC_CP1252 }, { "1252", ENC_CP1252 },
};

static enum encoding encoding_by_name(struct str name)
{
	char text[16];

	if (name.n >= sizeof text) {
		/* "latin-1-unix" and "utf-8-unix", as editors write them */
		if (!strncasecmp(name.p, "utf-8-", 6))
			return ENC_UTF8;
		if (!strncasecmp(name.p, "latin-1-", 8))
			return ENC_LATIN1;
		return ENC_UNKNOWN;
	}
	for (size_t i = 0; i < name.n; i++)
		text[i] = name.p[i] == '_' ? '-' : (char)tolower((unsigned char)name.p[i]);
	text[name.n] = 0;
	for (size_t i = 0; i < COUNT_OF(encodings); i++)
		if (!strcmp(text, encodings[i].name))
			return encodings[i].enc;
	if (!strncmp(text, "utf-8-", 6))
		return ENC_UTF8;
	if (!strncmp(text, "latin-1-", 8) || !strncmp(text, "iso-8859-1-", 11) || !strncmp(text, "iso-latin-1-", 12))
		return ENC_LATIN1;
	return ENC_UNKNOWN;
}

/* --- the copy ------------------------------------------------------------------------ */

static int line_of(const char *start, const char *s)
{
	int line = 1;

	for (; start < s; start++)
		line += *start == '\n';
	return line;
}

/* Length of the valid UTF-8 character at `s`, 0 if it is none. */
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

/* The text is padded with zeros, so reading a whole word at its end is safe. */
static void check_utf8(struct parser *p, const char *text, size_t n, enum encoding enc)
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
		k = enc == ENC_ASCII ? 0 : utf8_length((const unsigned char *)s);
		if (!k)
			py_fail(p, (struct pos){ .line = line_of(text, s) },
				"(unicode error) '%s' codec can't decode byte 0x%02x in position %zu",
				enc == ENC_ASCII ? "ascii" : "utf-8", (unsigned char)*s, (size_t)(s - text));
		s += k;
	}
}

/* \r\n and \r become \n. */
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

static uint32_t byte_to_char(unsigned char c, enum encoding enc)
{
	static const uint16_t cp1252[32] = {
		0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
		0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
		0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
	};
	static const struct { uint8_t byte; uint16_t c; } latin9[] = {
		{ 0xA4, 0x20AC }, { 0xA6, 0x160 }, { 0xA8, 0x161 }, { 0xB4, 0x17D }, { 0xB8, 0x17E },
		{ 0xBC, 0x152 }, { 0xBD, 0x153 }, { 0xBE, 0x178 },
	};

	if (enc == ENC_CP1252 && c >= 0x80 && c < 0xA0)
		return cp1252[c - 0x80];
	for (size_t i = 0; enc == ENC_LATIN9 && i < COUNT_OF(latin9); i++)
		if (latin9[i].byte == c)
			return latin9[i].c;
	return c;
}

static size_t widen(char *w, struct str b, enum encoding enc)
{
	char *start = w;

	for (size_t i = 0; i < b.n; i++)
		w = uni_encode(w, byte_to_char((unsigned char)b.p[i], enc));
	return (size_t)(w - start);
}

void py_source_load(struct parser *p, struct str b)
{
	struct pos top = { .line = 1 };
	struct str cookie;
	enum encoding enc = ENC_UTF8;
	int bom = str_starts(b, "\xEF\xBB\xBF"), narrow;
	char *text;
	size_t n;

	if (bom)
		b.p += 3, b.n -= 3;
	cookie = cookie_of(b);
	if (cookie.p)
		enc = encoding_by_name(cookie);
	if (enc == ENC_UNKNOWN)
		py_fail(p, top, "unknown encoding: %.*s", (int)MIN(cookie.n, (size_t)60), cookie.p);
	if (bom && enc != ENC_UTF8)
		py_fail(p, top, "encoding problem: %.*s with BOM", STR_ARG(cookie));
	if (b.n && memchr(b.p, 0, b.n))
		py_fail(p, top, "source code cannot contain null bytes");
	narrow = enc == ENC_UTF8 || enc == ENC_ASCII;
	text = arena_alloc(p->arena, (narrow ? b.n : b.n * 3) + 1 + PY_PAD);
	if (narrow)
		memcpy(text, b.n ? b.p : "", n = b.n);
	else
		n = widen(text, b, enc);
	n = fold_newlines(text, n);
	if (!n || text[n - 1] != '\n')
		text[n++] = '\n';
	memset(text + n, 0, PY_PAD);
	check_utf8(p, text, n, enc);
	p->m->source = (struct str){ .p = text, .n = n };
	p->lx = (struct lexer){ .at = text, .line_start = text, .line = 1, .bol = 1 };
}
