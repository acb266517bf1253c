/* Scans number and string literals up to their end. number.c and string.c give them values. */
#include "py/parse.h"

#include "py/unicode.h"

/* The position of `s`, which must be on the current line. */
static struct pos here(const struct parser *p, const char *s)
{
	return (struct pos){ .line = p->lx.line, .col = (int)(s - p->lx.line_start) };
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || (c & 128); }

/* --- numbers ------------------------------------------------------------------------ */

/* The value of a hexadecimal digit, 99 for other characters. */
static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* A number may touch one of these keywords ("1if x else 2") but no other name. */
static void check_number_end(struct parser *p, const char *s, const char *what)
{
	static const char *const may_follow[] = { "and", "else", "for", "if", "in", "is", "or", "not" };

	if (!is_letter(*s))
		return;
	for (size_t i = 0; i < COUNT_OF(may_follow); i++)
		if (!strncmp(s, may_follow[i], strlen(may_follow[i])))
			return;
	if (*s & 128)
		py_uni_identifier(p, s, strcspn(s, " \t\n"));
	py_fail_lex(p, here(p, s), "invalid %s literal", what);
}

/* Digits with single underscores between them. */
static const char *scan_digits(struct parser *p, const char *s, const char *what)
{
	for (;;) {
		while (is_digit(*s))
			s++;
		if (*s != '_')
			return s;
		if (!is_digit(*++s))
			py_fail_lex(p, here(p, s), "invalid %s literal", what);
	}
}

/* Digits after 0x, 0o or 0b. */
static const char *scan_radix(struct parser *p, const char *s, int radix, const char *what)
{
	do {
		if (*s == '_')
			s++;
		if (is_digit(*s) && digit_value(*s) >= radix)
			py_fail_lex(p, here(p, s), "invalid digit '%c' in %s literal", *s, what);
		if (digit_value(*s) >= radix)
			py_fail_lex(p, here(p, s), "invalid %s literal", what);
		while (digit_value(*s) < radix)
			s++;
	} while (*s == '_');
	if (is_digit(*s))
		py_fail_lex(p, here(p, s), "invalid digit '%c' in %s literal", *s, what);
	check_number_end(p, s, what);
	return s;
}

/* "e5" or "e-5". "1else" has no exponent, so a lone 'e' is left. */
static const char *scan_exponent(struct parser *p, const char *s)
{
	const char *digits = s + 1;

	if ((*s | 32) != 'e')
		return s;
	if (*digits == '+' || *digits == '-')
		digits++;
	if (is_digit(*digits))
		return scan_digits(p, digits, "decimal");
	if (digits != s + 1)
		py_fail_lex(p, here(p, digits), "invalid decimal literal");
	return s;
}

/* Scans a number and returns its end. "012" is refused, "00" and "012.5" are not. */
const char *py_lex_number(struct parser *p, const char *s)
{
	const char *start = s;
	int is_float = 0;

	if (*s == '0' && (s[1] | 32) == 'x')
		return scan_radix(p, s + 2, 16, "hexadecimal");
	if (*s == '0' && (s[1] | 32) == 'o')
		return scan_radix(p, s + 2, 8, "octal");
	if (*s == '0' && (s[1] | 32) == 'b')
		return scan_radix(p, s + 2, 2, "binary");
	if (*s != '.')
		s = scan_digits(p, s, "decimal");
	if (*s == '.') {
		is_float = 1;
		s = is_digit(s[1]) ? scan_digits(p, s + 1, "decimal") : s + 1;
	}
	if ((*s | 32) == 'e') {
		const char *e = scan_exponent(p, s);

		is_float |= e != s;
		s = e;
	}
	if ((*s | 32) == 'j') {
		check_number_end(p, s + 1, "imaginary");
		return s + 1;
	}
	if (!is_float && *start == '0' && start[strspn(start, "0_")] >= '1' && start[strspn(start, "0_")] <= '9')
		py_fail_lex(p, p->tok.start, "leading zeros in decimal integer literals are not permitted; "
			"use an 0o prefix for octal integers");
	check_number_end(p, s, "decimal");
	return s;
}

/* --- strings ------------------------------------------------------------------------ */

/* A string in triple quotes may span lines. */
static const char *scan_triple(struct parser *p, const char *s, char q)
{
	struct lexer *lx = &p->lx;
	struct pos start = p->tok.start;

	for (;; s++) {
		if (*s == q && s[1] == q && s[2] == q)
			return s + 3;
		if (*s == '\\' && s[1])
			s++;
		if (*s == '\n') {
			lx->line++;
			lx->line_start = s + 1;
		}
		if (!*s)
			py_fail_lex(p, start, "unterminated triple-quoted string literal (detected at line %d)",
				lx->line > 1 && s == lx->line_start ? lx->line - 1 : lx->line);
	}
}

/* Scans a string from its opening quote and returns its end. */
const char *py_lex_string(struct parser *p, const char *quote)
{
	struct lexer *lx = &p->lx;
	const char *s = quote + 1;
	char q = *quote;

	if (s[0] == q && s[1] == q)
		return scan_triple(p, s + 2, q);
	for (; *s != q; s++) {
		if (*s == '\\' && s[1]) {
			s++;
			if (*s == '\n') {
				lx->line++;
				lx->line_start = s + 1;
			}
		} else if (*s == '\n' || !*s) {
			py_fail_lex(p, p->tok.start, "unterminated string literal (detected at line %d)", lx->line);
		}
	}
	return s + 1;
}
