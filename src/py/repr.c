/* repr of literal values: floats, integers, strings, bytes. See repr.h. */
#include "py/repr.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "py/unicode.h"

/* --- numbers -------------------------------------------------------------------------------- */

/* The fewest significant digits that read back to the same double; 17 always do. The trailing
 * zeros of a shorter number are dropped. */
static void shortest(double v, char *digits, size_t cap, int *exponent)
{
	char text[40];
	char *e;
	size_t n = 0;

	/* 15 digits always suffice to write a decimal of 15 digits back; subnormal numbers have
	 * fewer digits. */
	for (int prec = v < DBL_MIN ? 0 : 14; prec <= 16; prec++) {
		snprintf(text, sizeof text, "%.*e", prec, v);
		if (strtod(text, NULL) == v)
			break;
	}
	e = strchr(text, 'e');
	*exponent = atoi(e + 1);
	for (char *s = text; s < e && n + 1 < cap; s++)
		if (*s >= '0' && *s <= '9')
			digits[n++] = *s;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = 0;
}

/* Python's notation: an exponent below 1e-4 and from 1e16 on. */
const char *py_float_text(double v, int point, char out[PY_FLOAT_TEXT])
{
	char digits[24];
	const char *sign = signbit(v) ? "-" : "";
	int exp, n, size = PY_FLOAT_TEXT;

	if (isnan(v) || isinf(v)) {
		snprintf(out, (size_t)size, "%s", isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return out;
	}
	shortest(fabs(v), digits, sizeof digits, &exp);
	n = (int)strlen(digits);
	if (exp < -4 || exp >= 16)
		snprintf(out, (size_t)size, "%s%c%s%se%c%02d", sign, digits[0], n > 1 ? "." : "", digits + 1,
			 exp < 0 ? '-' : '+', abs(exp));
	else if (exp < 0)
		snprintf(out, (size_t)size, "%s0.%.*s%s", sign, -exp - 1, "000", digits);
	else if (n <= exp + 1)
		snprintf(out, (size_t)size, "%s%s%.*s%s", sign, digits, exp + 1 - n, "0000000000000000",
			 point ? ".0" : "");
	else
		snprintf(out, (size_t)size, "%s%.*s.%s", sign, exp + 1, digits, digits + exp + 1);
	return out;
}

/* repr(float), as 1.0 or 1e+16. */
void py_repr_float(double v, struct buf *out)
{
	char text[PY_FLOAT_TEXT];

	buf_adds(out, py_float_text(v, 1, text));
}

static int digit_value(char c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* Converts digit by digit into limbs of nine decimal digits. Literals are short, and decimal
 * ones are limited, so the quadratic cost does not matter. */
void py_decimal(struct str s, struct buf *out)
{
	char kind = s.n > 1 && s.p[0] == '0' ? s.p[1] | 32 : 0;
	uint32_t radix = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
	struct { uint32_t *v; size_t n, cap; } limbs = { .n = 0 };

	for (size_t i = radix == 10 ? 0 : 2; i < s.n; i++) {
		uint64_t carry = (uint64_t)digit_value(s.p[i]);

		for (size_t k = 0; k < limbs.n; k++) {
			carry += (uint64_t)limbs.v[k] * radix;
			limbs.v[k] = (uint32_t)(carry % 1000000000);
			carry /= 1000000000;
		}
		if (carry && vec_push(&limbs, (uint32_t)carry))
			out->failed = 1;
	}
	buf_addf(out, "%u", limbs.n ? limbs.v[limbs.n - 1] : 0);
	for (size_t k = limbs.n; k-- > 1; )
		buf_addf(out, "%09u", limbs.v[k - 1]);
	vec_free(&limbs);
}

/* --- strings --------------------------------------------------------------------------------- */

/* Single quotes, unless the text has single quotes and no double quotes. */
static char quote_for(struct str s)
{
	return s.n && memchr(s.p, '\'', s.n) && !memchr(s.p, '"', s.n) ? '"' : '\'';
}

/* The escapes that str and bytes share. Returns 0 if `c` has none. */
static int add_escape(uint32_t c, char quote, struct buf *out)
{
	char letter = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c == '\\' ? '\\' :
		c == (unsigned char)quote ? quote : 0;

	if (!letter)
		return 0;
	buf_addc(out, '\\');
	buf_addc(out, letter);
	return 1;
}

/* Printable characters stay; lone surrogates become \ud800. */
void py_repr_str(struct str s, struct buf *out)
{
	char quote = quote_for(s);
	const char *at = s.p, *end = s.p + s.n;

	buf_addc(out, quote);
	while (at < end) {
		const char *from = at;
		uint32_t c = py_uni_decode(&at);

		if (add_escape(c, quote, out))
			continue;
		if (c < 127 ? c >= 32 : py_uni_is_printable(c))
			buf_add(out, from, (size_t)(at - from));
		else
			buf_addf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	}
	buf_addc(out, quote);
}

/* Bytes beyond ASCII become \xNN. */
void py_repr_bytes(struct str s, struct buf *out)
{
	char quote = quote_for(s);

	buf_addc(out, 'b');
	buf_addc(out, quote);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (add_escape(c, quote, out))
			continue;
		if (c >= 32 && c < 127)
			buf_addc(out, (char)c);
		else
			buf_addf(out, "\\x%02x", c);
	}
	buf_addc(out, quote);
}

/* The repr of any literal; Ellipsis and complex numbers included. */
void py_repr_const(const struct py_const *c, struct buf *out)
{
	char text[PY_FLOAT_TEXT];

	switch (c->kind) {
	case PY_C_NONE: buf_adds(out, "None"); break;
	case PY_C_TRUE: buf_adds(out, "True"); break;
	case PY_C_FALSE: buf_adds(out, "False"); break;
	case PY_C_ELLIPSIS: buf_adds(out, "Ellipsis"); break;
	case PY_C_INT: buf_addf(out, "%lld", (long long)c->i); break;
	case PY_C_BIGINT: py_decimal(c->s, out); break;
	case PY_C_FLOAT: py_repr_float(c->f, out); break;
	case PY_C_IMAG: buf_addf(out, "%sj", py_float_text(c->f, 0, text)); break;
	case PY_C_STR: py_repr_str(c->s, out); break;
	case PY_C_BYTES: py_repr_bytes(c->s, out); break;
	}
}
