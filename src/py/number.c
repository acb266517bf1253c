/* Values of number literals: exact integers, correctly rounded floats. */
#include "py/parse.h"

#include <limits.h>
#include <stdlib.h>

enum { MAX_DECIMAL_DIGITS = 4300 };      /* CPython's limit for decimal integers */

/* `text` without underscores, NUL-terminated, in `small` or in the arena. */
static char *plain_digits(struct parser *p, struct str text, char *small, size_t cap, size_t *n)
{
	char *out = text.n < cap ? small : arena_alloc(p->arena, text.n + 1);

	*n = 0;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '_')
			out[(*n)++] = text.p[i];
	out[*n] = 0;
	return out;
}

/* 16, 8, 2 or 10, by the prefix of the literal. */
static int radix_of(const char *s)
{
	char c = s[0] == '0' ? s[1] | 32 : 0;

	return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
}

static int digit_value(char c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* An int64, or the digits of a larger integer. CPython limits decimal literals only. */
static void integer_value(struct parser *p, const char *s, size_t n, struct pos at, struct py_const *out)
{
	int radix = radix_of(s);
	int64_t v = 0;

	for (const char *d = radix == 10 ? s : s + 2; *d; d++) {
		if (!ck_mul64(v, radix, &v) && !ck_add64(v, digit_value(*d), &v))
			continue;
		if (radix == 10 && n > MAX_DECIMAL_DIGITS)
			py_fail(p, at,
				"Exceeds the limit (%d digits) for integer string conversion: value has %zu digits; "
				"use sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal "
				"for huge integer literals to avoid decimal conversion limits.", MAX_DECIMAL_DIGITS, n);
		out->kind = PY_C_BIGINT;
		out->s = (struct str){ .p = arena_strndup(p->arena, s, n), .n = n };
		return;
	}
	out->kind = PY_C_INT;
	out->i = v;
}

/* At most 15 digits and a power of ten up to 10^15: both are exact doubles, so one division
 * rounds correctly. Returns -1 for other numbers. */
static int float_fast(const char *s, double *out)
{
	static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
				       1e13, 1e14, 1e15 };
	int64_t m = 0;
	int digits = 0, after = 0, point = 0;

	for (; *s; s++) {
		if (*s == '.') {
			point = 1;
			continue;
		}
		if (*s < '0' || *s > '9' || ++digits > 15)
			return -1;
		m = m * 10 + (*s - '0');
		after += point;
	}
	*out = (double)m / tens[after];
	return 0;
}

/* The value of a literal that py_lex_number accepted. */
void py_number_value(struct parser *p, struct str text, struct pos at, struct py_const *out)
{
	char small[64];
	size_t n;
	char *s = plain_digits(p, text, small, sizeof small, &n);
	int imaginary = (s[n - 1] | 32) == 'j' && radix_of(s) == 10;

	if (!imaginary && (radix_of(s) != 10 || !s[strcspn(s, ".eE")])) {
		integer_value(p, s, n, at, out);
		return;
	}
	if (imaginary)
		s[n - 1] = 0;
	out->kind = imaginary ? PY_C_IMAG : PY_C_FLOAT;
	if (float_fast(s, &out->f))
		out->f = strtod(s, NULL);
}
