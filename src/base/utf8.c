/* UTF-8: see utf8.h. The ranges of the second byte are those of table 3-7 of the Unicode standard.
 * They are sufficient to exclude overlong forms, surrogates and values above U+10FFFF. */
#include "base/utf8.h"

/* `used` is the length of the longest valid prefix, at least 1: one replacement per maximal
 * subpart, as Python and Rust do it. */
static size_t invalid(size_t used, uint32_t *cp, int *bad)
{
	*cp = UTF8_BAD;
	if (bad)
		*bad = 1;
	return used;
}

/* Only the second byte has special ranges: E0 must not be overlong, ED no surrogate, F0 not
 * overlong, F4 not above U+10FFFF. All later bytes are 80 to BF. */
size_t utf8_decode(const char *text, size_t n, uint32_t *cp, int *bad)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned char lo = 0x80, hi = 0xBF;
	size_t more;
	uint32_t v;

	if (bad)
		*bad = 0;
	if (p[0] < 0x80) {
		*cp = p[0];
		return 1;
	}
	if (p[0] < 0xC2 || p[0] > 0xF4)
		return invalid(1, cp, bad);
	more = p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
	v = p[0] & (0x3Fu >> more);
	if (p[0] == 0xE0)
		lo = 0xA0;
	else if (p[0] == 0xED)
		hi = 0x9F;
	else if (p[0] == 0xF0)
		lo = 0x90;
	else if (p[0] == 0xF4)
		hi = 0x8F;
	for (size_t i = 1; i <= more; i++) {
		if (i >= n || p[i] < lo || p[i] > hi)
			return invalid(i, cp, bad);
		v = v << 6 | (p[i] & 0x3F);
		lo = 0x80, hi = 0xBF;
	}
	*cp = v;
	return more + 1;
}

/* A value that is not a character becomes U+FFFD, so the output is always valid. */
size_t utf8_encode(uint32_t cp, char out[4])
{
	static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	if (cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000))
		return utf8_encode(UTF8_BAD, out);
	for (size_t i = n; i > 1; cp >>= 6)
		out[--i] = (char)(0x80 | (cp & 0x3F));
	out[0] = (char)(lead[n] | cp);
	return n;
}
