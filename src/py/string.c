/* String literals: prefixes, escapes, implicit concatenation. fstring.c handles f-strings. */
#include "py/parse.h"

#include "py/unicode.h"

/* --- escapes ------------------------------------------------------------------------ */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `digits` hexadecimal digits at *s, or a failure in CPython's words. */
static uint32_t hex_escape(struct parser *p, const char **s, const char *end, int digits, const char *form,
			   int bytes, struct pos at)
{
	uint32_t v = 0;

	for (int i = 0; i < digits; i++, ++*s) {
		int d = *s < end ? hex_value(**s) : -1;

		if (d < 0 && bytes)
			py_fail(p, at, "(value error) invalid \\x escape");
		if (d < 0)
			py_fail(p, at,
				"(unicode error) 'unicodeescape' codec can't decode bytes: truncated %s escape", form);
		v = v << 4 | (uint32_t)d;
	}
	if (v > 0x10FFFF)
		py_fail(p, at, "(unicode error) 'unicodeescape' codec can't decode bytes: illegal Unicode character");
	return v;
}

/* \N{LATIN SMALL LETTER A}, after the N. */
static uint32_t name_escape(struct parser *p, const char **s, const char *end, struct pos at)
{
	const char *name = *s + 1, *close;
	int32_t c;

	if (*s >= end || **s != '{' || !(close = memchr(name, '}', (size_t)(end - name))) || close == name)
		py_fail(p, at, "(unicode error) 'unicodeescape' codec can't decode bytes: malformed \\N "
			       "character escape");
	c = py_uni_by_name((struct str){ .p = name, .n = (size_t)(close - name) });
	if (c < 0)
		py_fail(p, at, "(unicode error) 'unicodeescape' codec can't decode bytes: unknown Unicode "
			       "character name");
	*s = close + 1;
	return (uint32_t)c;
}

/* Reads up to three octal digits. The caller has read the first one, `first`. */
static uint32_t octal_escape(const char **s, const char *end, char first)
{
	uint32_t v = (uint32_t)(first - '0');

	for (int i = 0; i < 2 && *s < end && **s >= '0' && **s <= '7'; i++, ++*s)
		v = v * 8 + (uint32_t)(**s - '0');
	return v;
}

/* Escapes of one letter; 0: none. */
static const char simple_escapes[128] = {
	['\\'] = '\\', ['\''] = '\'', ['"'] = '"', ['a'] = '\a', ['b'] = '\b', ['f'] = '\f',
	['n'] = '\n', ['r'] = '\r', ['t'] = '\t', ['v'] = '\v',
};

/* Decodes one escape; *s is after the backslash. An unknown escape keeps its backslash. */
static char *unescape_one(struct parser *p, const char **s, const char *end, int bytes, struct pos at, char *w)
{
	char c = *(*s)++;
	uint32_t v;

	if (!(c & 128) && simple_escapes[(int)c]) {
		*w++ = simple_escapes[(int)c];
		return w;
	}
	if (c == '\n')
		return w;
	if (c >= '0' && c <= '7')
		v = octal_escape(s, end, c);
	else if (c == 'x')
		v = hex_escape(p, s, end, 2, "\\xXX", bytes, at);
	else if (c == 'u' && !bytes)
		v = hex_escape(p, s, end, 4, "\\uXXXX", bytes, at);
	else if (c == 'U' && !bytes)
		v = hex_escape(p, s, end, 8, "\\UXXXXXXXX", bytes, at);
	else if (c == 'N' && !bytes)
		v = name_escape(p, s, end, at);
	else {
		*w++ = '\\';
		--*s;
		return w;
	}
	if (bytes)
		*w++ = (char)v;
	else
		w = py_uni_encode(w, v);
	return w;
}

/* Copies runs without backslash at once. */
char *py_unescape(struct parser *p, const char *s, const char *end, int bytes, struct pos at, char *w)
{
	while (s < end) {
		const char *b = memchr(s, '\\', (size_t)(end - s));
		size_t n = (size_t)((b ? b : end) - s);

		memmove(w, s, n);
		w += n;
		s += n;
		if (!b)
			break;
		s++;
		if (s == end) {
			*w++ = '\\';
			break;
		}
		w = unescape_one(p, &s, end, bytes, at, w);
	}
	return w;
}

/* --- concatenation ------------------------------------------------------------------ */

/* The current STRING token as a part, with prefix and quotes removed. */
static struct string_part part_of(const struct token *t)
{
	struct string_part s = { .start = t->start, .token = t->p, .u = t->p[0] == 'u' };
	const char *q = t->p;
	size_t quotes;

	for (; *q != '"' && *q != '\''; q++) {
		s.raw |= (*q | 32) == 'r';
		s.bytes |= (*q | 32) == 'b';
		s.fmt |= (*q | 32) == 'f';
	}
	quotes = t->p + t->n - q >= 6 && q[1] == q[0] && q[2] == q[0] ? 3 : 1;
	s.p = q + quotes;
	s.n = (size_t)(t->p + t->n - s.p) - quotes;
	return s;
}

/* b"..." may hold only ASCII characters. */
static void check_ascii(struct parser *p, const struct string_part *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->p[i] & 128)
			py_fail(p, s->start, "bytes can only contain ASCII literal characters");
}

/* Appends the decoded text of one part to w and returns the new end. */
static char *append_part(struct parser *p, const struct string_part *s, char *w)
{
	if (s->raw) {
		memcpy(w, s->p, s->n);
		return w + s->n;
	}
	return py_unescape(p, s->p, s->p + s->n, s->bytes, s->start, w);
}

/* An upper bound of the decoded length: escapes only shrink. */
static size_t total_length(const struct string_part *parts, size_t n)
{
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += parts[i].n;
	return total;
}

/* The value of strings without f. A single one without escapes points into the source. */
static void plain_value(struct parser *p, const struct string_part *parts, size_t n, struct py_const *out)
{
	char *text, *w;

	out->kind = parts[0].bytes ? PY_C_BYTES : PY_C_STR;
	if (n == 1 && (parts[0].raw || !memchr(parts[0].p, '\\', parts[0].n))) {
		out->s = (struct str){ .p = parts[0].p, .n = parts[0].n };
		return;
	}
	text = w = arena_alloc(p->arena, total_length(parts, n) + 1);
	for (size_t i = 0; i < n; i++)
		w = append_part(p, &parts[i], w);
	out->s = (struct str){ .p = text, .n = (size_t)(w - text) };
}

/* Builds the node of a concatenation with f-strings. The parts are copied out of p->parts
 * first, because expressions inside them may hold strings of their own and move that array. */
static struct py_node *joined(struct parser *p, size_t first, size_t n, struct pos start)
{
	struct string_part *parts = arena_alloc(p->arena, n * sizeof *parts);
	struct py_node *node = py_node(p, PY_JoinedStr, start);
	size_t base = p->stack.n;
	struct fbuild b = { .start = start, .end = p->end };

	memcpy(parts, p->parts.v + first, n * sizeof *parts);
	b.w = b.lit = arena_alloc(p->arena, total_length(parts, n) + 1);
	b.u = parts[0].u;
	for (size_t i = 0; i < n; i++) {
		if (parts[i].fmt)
			py_fstring_part(p, &parts[i], &b);
		else
			b.w = append_part(p, &parts[i], b.w);
	}
	py_fstring_flush(p, &b);
	node->u.JoinedStr.values = py_list_end(p, base);
	return py_done(p, node);
}

/* One or more adjacent string tokens: 'a' "b" is one literal. */
struct py_node *py_parse_strings(struct parser *p)
{
	struct pos start = p->tok.start;
	size_t first = p->parts.n, n;
	struct py_node *node;
	int fmt = 0;

	while (py_at(p, T_STRING)) {
		struct string_part s = part_of(&p->tok);

		if (p->parts.n > first && s.bytes != p->parts.v[first].bytes)
			py_fail(p, start, "cannot mix bytes and nonbytes literals");
		if (s.bytes)
			check_ascii(p, &s);
		fmt |= s.fmt;
		if (vec_push(&p->parts, s))
			py_fail_nomem(p);
		py_next(p);
	}
	n = p->parts.n - first;
	if (fmt) {
		node = joined(p, first, n, start);
	} else {
		node = py_node(p, PY_Constant, start);
		plain_value(p, p->parts.v + first, n, &node->u.Constant.value);
		if (p->parts.v[first].u)
			node->u.Constant.kind = STR("u");
		py_done(p, node);
	}
	p->parts.n = first;
	return node;
}
