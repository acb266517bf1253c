/* Unicode properties and UTF-8: see unicode.h. The tables are sorted ranges, searched by
 * bisection. */
#include "py/unicode.h"

#include "py/parse.h"

struct range { uint32_t from, to; };

#define R(a, b) { a, b },
static const struct range starts[] = {
#include "py/uni_start.def"
};
static const struct range continues[] = {
#include "py/uni_continue.def"
};
static const struct range printables[] = {
#include "py/uni_print.def"
};
#undef R

/* Is c in one of n sorted ranges? */
static int in_ranges(const struct range *r, size_t n, uint32_t c)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c > r[mid].to)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && c >= r[lo].from;
}

/* A letter of ASCII, the underscore included. */
static int is_ascii_letter(uint32_t c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_'; }

int py_uni_is_printable(uint32_t c)
{
	return c < 128 ? c >= 32 && c != 127 : in_ranges(printables, COUNT_OF(printables), c);
}

int py_uni_is_id_start(uint32_t c)
{
	return c < 128 ? is_ascii_letter(c) : in_ranges(starts, COUNT_OF(starts), c);
}

int py_uni_is_id_continue(uint32_t c)
{
	return c < 128 ? is_ascii_letter(c) || (c >= '0' && c <= '9') : in_ranges(continues, COUNT_OF(continues), c);
}

uint32_t py_uni_decode(const char **s)
{
	const unsigned char *u = (const unsigned char *)*s;

	if (u[0] < 0x80) {
		*s += 1;
		return u[0];
	}
	if (u[0] < 0xE0) {
		*s += 2;
		return (u[0] & 0x1Fu) << 6 | (u[1] & 0x3Fu);
	}
	if (u[0] < 0xF0) {
		*s += 3;
		return (u[0] & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu);
	}
	*s += 4;
	return (u[0] & 0x07u) << 18 | (u[1] & 0x3Fu) << 12 | (u[2] & 0x3Fu) << 6 | (u[3] & 0x3Fu);
}

/* UTF-8 of c, without a check of its range. */
char *py_uni_encode(char *w, uint32_t c)
{
	if (c < 0x80) {
		*w++ = (char)c;
	} else if (c < 0x800) {
		*w++ = (char)(0xC0 | c >> 6);
		*w++ = (char)(0x80 | (c & 0x3F));
	} else if (c < 0x10000) {
		*w++ = (char)(0xE0 | c >> 12);
		*w++ = (char)(0x80 | (c >> 6 & 0x3F));
		*w++ = (char)(0x80 | (c & 0x3F));
	} else {
		*w++ = (char)(0xF0 | c >> 18);
		*w++ = (char)(0x80 | (c >> 12 & 0x3F));
		*w++ = (char)(0x80 | (c >> 6 & 0x3F));
		*w++ = (char)(0x80 | (c & 0x3F));
	}
	return w;
}
