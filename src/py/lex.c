/* The lexer: layout (lines, indentation, brackets), names, operators. lex_literal.c scans
 * literals. Invariant: p->lx.at never passes the zero byte that ends the text. */
#include "py/parse.h"

#include "py/unicode.h"

/* Classes of characters: the first byte of a token decides how it is scanned. */
enum class { C_BAD, C_SPACE, C_NAME, C_DIGIT, C_QUOTE, C_OP, C_NEWLINE, C_HASH, C_BACKSLASH, C_END };

static const uint8_t classes[256] = {
	[0] = C_END, [' '] = C_SPACE, ['\t'] = C_SPACE, ['\f'] = C_SPACE, ['\n'] = C_NEWLINE,
	['#'] = C_HASH, ['\\'] = C_BACKSLASH, ['"'] = C_QUOTE, ['\''] = C_QUOTE,
	['0' ... '9'] = C_DIGIT, ['a' ... 'z'] = C_NAME, ['A' ... 'Z'] = C_NAME, ['_'] = C_NAME,
	[128 ... 255] = C_NAME,
	['('] = C_OP, [')'] = C_OP, ['['] = C_OP, [']'] = C_OP, ['{'] = C_OP, ['}'] = C_OP,
	[':'] = C_OP, [','] = C_OP, [';'] = C_OP, ['.'] = C_OP, ['='] = C_OP, ['~'] = C_OP,
	['*'] = C_OP, ['|'] = C_OP, ['^'] = C_OP, ['&'] = C_OP, ['<'] = C_OP, ['>'] = C_OP,
	['+'] = C_OP, ['-'] = C_OP, ['/'] = C_OP, ['%'] = C_OP, ['@'] = C_OP, ['!'] = C_OP,
};

static inline enum class class_of(char c) { return classes[(unsigned char)c]; }

/* The position of `s`, which must be on the current line. */
static inline struct pos here(const struct parser *p, const char *s)
{
	return (struct pos){ .line = p->lx.line, .col = (int)(s - p->lx.line_start) };
}

/* --- names -------------------------------------------------------------------------- */

/* Hashes eight bytes at a time. Reading past the name is safe because the text is padded. */
static uint32_t name_hash(const char *s, size_t n)
{
	uint64_t h = n * 0x9E3779B97F4A7C15u, w;

	for (; n > 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0xD6E8FEB86659FD93u;
		h ^= h >> 32;
	}
	memcpy(&w, s, 8);
	w &= ~(uint64_t)0 >> (64 - 8 * n);
	h = (h ^ w) * 0xD6E8FEB86659FD93u;
	return (uint32_t)(h ^ h >> 32);
}

/* Compares names of equal length. Both have eight readable bytes after them, so a name of up to
 * eight bytes is one comparison. */
static inline int same_name(const char *a, const char *b, size_t n)
{
	uint64_t x, y;

	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	if (n > 8)
		return x == y && !memcmp(a + 8, b + 8, n - 8);
	return !((x ^ y) << (64 - 8 * n));
}

/* Doubles the table. The old one stays in the arena until the tree is freed. */
static void names_grow(struct parser *p)
{
	uint32_t size = p->names.v ? (p->names.mask + 1) * 2 : 256;
	struct name_slot *v = arena_array(p->arena, size, sizeof *v);

	for (uint32_t i = 0; p->names.v && i <= p->names.mask; i++) {
		struct name_slot *s = &p->names.v[i];
		uint32_t j = s->hash;

		if (!s->p)
			continue;
		while (v[j & (size - 1)].p)
			j++;
		v[j & (size - 1)] = *s;
	}
	p->names.v = v;
	p->names.mask = size - 1;
}

/* The table entry of a name, added if it is new. `s` must have eight readable bytes after it
 * and live as long as the arena. */
struct name_slot *py_intern(struct parser *p, const char *s, size_t n)
{
	uint32_t h = name_hash(s, n);
	struct name_slot *slot;

	for (uint32_t i = h;; i++) {
		slot = &p->names.v[i & p->names.mask];
		if (!slot->p)
			break;
		if (slot->hash == h && slot->n == n && same_name(slot->p, s, n))
			return slot;
	}
	if (p->names.n * 2 > p->names.mask) {
		names_grow(p);
		return py_intern(p, s, n);
	}
	p->names.n++;
	*slot = (struct name_slot){ .p = s, .n = (uint32_t)n, .hash = h, .kind = T_NAME };
	return slot;
}

/* Interns a word of ours with the padding that same_name needs. */
static const char *intern_padded(struct parser *p, const char *s, enum py_tok kind)
{
	char *copy = arena_zalloc(p->arena, 24);
	struct name_slot *slot;

	memcpy(copy, s, strlen(s));
	slot = py_intern(p, copy, strlen(s));
	slot->kind = kind;
	return slot->p;
}

/* Enters all keywords, and the names that the grammar asks about. */
void py_names_init(struct parser *p)
{
	names_grow(p);
	for (int k = 0; k < TOKS; k++)
		if (py_tokens[k].is_kw)
			intern_padded(p, py_tokens[k].text, (enum py_tok)k);
	p->id_match = intern_padded(p, "match", T_NAME);
	p->id_case = intern_padded(p, "case", T_NAME);
	p->id_under = intern_padded(p, "_", T_NAME);
	p->id_print = intern_padded(p, "print", T_NAME);
	p->id_exec = intern_padded(p, "exec", T_NAME);
}

/* Is it a string prefix: r, b, u, f, rb, br, rf, fr in any case? */
static int is_prefix(const char *s, size_t n)
{
	char a = s[0] | 32, b = n > 1 ? s[1] | 32 : 0;

	if (n == 1)
		return a == 'r' || a == 'b' || a == 'u' || a == 'f';
	return n == 2 && ((a == 'r' && (b == 'b' || b == 'f')) || (b == 'r' && (a == 'b' || a == 'f')));
}

/* A name, a keyword, or the prefix of a string. */
static void lex_name(struct parser *p, const char *s)
{
	const char *start = s;
	unsigned char any = 0;
	struct name_slot *slot;

	while (class_of(*s) == C_NAME || class_of(*s) == C_DIGIT)
		any |= (unsigned char)*s++;
	if (class_of(*s) == C_QUOTE && is_prefix(start, (size_t)(s - start))) {
		p->tok.kind = T_STRING;
		p->lx.at = py_lex_string(p, s);
		p->tok.n = (size_t)(p->lx.at - start);
		return;
	}
	if (any & 128) {
		struct str id = py_uni_identifier(p, start, (size_t)(s - start));

		slot = py_intern(p, id.p, id.n);
	} else {
		slot = py_intern(p, start, (size_t)(s - start));
	}
	p->tok.kind = slot->kind;
	p->tok.p = slot->p;
	p->tok.n = slot->n;
	p->lx.at = s;
}

/* --- layout ------------------------------------------------------------------------- */

/* After a backslash the rest of the line must be empty. Returns the start of the next line. */
static const char *continue_line(struct parser *p, const char *s)
{
	if (s[1] != '\n')
		py_fail_layout(p, here(p, s + 1), "unexpected character after line continuation character");
	if (!s[2])
		py_fail_layout(p, here(p, s + 1), "unexpected EOF while parsing");
	p->lx.line++;
	p->lx.line_start = s + 2;
	return s + 2;
}

struct indentation { int col, alt; }; /* columns with tab stops of 8 and of 1 */

/* Measures white space at the start of a line twice: with tabs at multiples of 8 and with tabs
 * as one column. A mixture whose meaning depends on the tab size shows as a contradiction. */
static const char *measure(struct parser *p, const char *s, struct indentation *out)
{
	int col = 0, alt = 0, first = 0;

	for (;; s++) {
		if (*s == ' ')
			col++, alt++;
		else if (*s == '\t')
			col = (col / 8 + 1) * 8, alt++;
		else if (*s == '\f')
			col = alt = 0;
		else if (*s == '\\') {
			first = first ? first : col;
			s = continue_line(p, s) - 1;
		} else
			break;
	}
	out->col = first ? first : col;
	out->alt = first ? first : alt;
	return s;
}

/* Compares the indentation with the open blocks: equal, one more, or several fewer. lx->dents
 * counts the tokens to hand out. */
static void indent_to(struct parser *p, const char *s, struct indentation in)
{
	struct lexer *lx = &p->lx;
	int n = lx->indents;
	int col = n ? p->indents[n - 1].col : 0, alt = n ? p->indents[n - 1].alt : 0;

	if (in.col == col) {
		if (in.alt != alt)
			py_fail_layout(p, here(p, s), "inconsistent use of tabs and spaces in indentation");
	} else if (in.col > col) {
		if (n + 1 >= PY_MAX_INDENTS)
			py_fail_layout(p, here(p, s), "too many levels of indentation");
		if (in.alt <= alt)
			py_fail_layout(p, here(p, s), "inconsistent use of tabs and spaces in indentation");
		p->indents[n].col = in.col;
		p->indents[n].alt = in.alt;
		lx->indents++;
		lx->dents = 1;
	} else {
		while (n && in.col < p->indents[n - 1].col)
			n--, lx->dents--;
		if (in.col != (n ? p->indents[n - 1].col : 0))
			py_fail_layout(p, here(p, s), "unindent does not match any outer indentation level");
		if (in.alt != (n ? p->indents[n - 1].alt : 0))
			py_fail_layout(p, here(p, s), "inconsistent use of tabs and spaces in indentation");
		lx->indents = n;
	}
}

/* Passes empty and comment lines, then compares the indentation with the open blocks. */
static void begin_line(struct parser *p)
{
	struct lexer *lx = &p->lx;
	struct indentation in;
	const char *s = lx->at;

	for (;;) {
		s = measure(p, s, &in);
		if (*s == '#')
			s = strchr(s, '\n');
		if (*s != '\n')
			break;
		lx->line++;
		lx->line_start = ++s;
	}
	lx->bol = 0;
	lx->at = s;
	if (*s)
		indent_to(p, s, in);
	else
		lx->dents = -lx->indents, lx->indents = 0;
}

/* Hands out one INDENT or DEDENT. Returns 0 if none is pending. */
static int hand_out_dent(struct parser *p)
{
	struct lexer *lx = &p->lx;

	if (!lx->dents)
		return 0;
	p->tok.kind = lx->dents > 0 ? T_INDENT : T_DEDENT;
	lx->dents += lx->dents > 0 ? -1 : 1;
	p->tok.p = lx->at;
	p->tok.n = 0;
	p->tok.start = p->tok.end = here(p, lx->at);
	return 1;
}

/* The end of the text: an open bracket is an error, except in an f-string. */
static void lex_end(struct parser *p)
{
	if (p->lx.depth && !p->lx.fragment)
		py_fail_layout(p, p->parens[p->lx.depth - 1].at, "'%c' was never closed",
			p->parens[p->lx.depth - 1].open);
	p->tok.kind = T_END;
}

/* --- brackets and operators ----------------------------------------------------------- */

/* Remembers the bracket and its position for messages. */
static enum py_tok open_bracket(struct parser *p, char c, enum py_tok kind)
{
	if (p->lx.depth >= PY_MAX_PARENS)
		py_fail_lex(p, p->tok.start, "too many nested parentheses");
	p->parens[p->lx.depth].open = c;
	p->parens[p->lx.depth].at = p->tok.start;
	p->lx.depth++;
	return kind;
}

/* The closing bracket must fit the last open one. */
static enum py_tok close_bracket(struct parser *p, char c, char open, enum py_tok kind)
{
	int d = p->lx.depth;

	if (!d)
		py_fail_lex(p, p->tok.start, "unmatched '%c'", c);
	if (p->parens[d - 1].open != open) {
		if (p->parens[d - 1].at.line != p->tok.start.line)
			py_fail_lex(p, p->tok.start,
				    "closing parenthesis '%c' does not match opening parenthesis '%c' on line %d",
				c, p->parens[d - 1].open, p->parens[d - 1].at.line);
		py_fail_lex(p, p->tok.start, "closing parenthesis '%c' does not match opening parenthesis '%c'",
			c, p->parens[d - 1].open);
	}
	p->lx.depth--;
	return kind;
}

/* `plain`, or `equal` if a '=' follows, which is passed. */
static enum py_tok with_equal(const char **s, enum py_tok plain, enum py_tok equal)
{
	if (**s != '=')
		return plain;
	++*s;
	return equal;
}

/* Operators that can be doubled: x, x=, xx, xx=. */
static enum py_tok doubled(const char **s, char c, const enum py_tok kinds[4])
{
	int twice = **s == c;

	*s += twice;
	return with_equal(s, kinds[2 * twice], kinds[2 * twice + 1]);
}

/* The token that begins with c; *s is after c and is moved after the token. */
static enum py_tok lex_punctuation(struct parser *p, char c, const char **s)
{
	static const enum py_tok stars[] = { T_STAR, T_STAR_EQ, T_POW, T_POW_EQ };
	static const enum py_tok slashes[] = { T_SLASH, T_SLASH_EQ, T_DSLASH, T_DSLASH_EQ };
	static const enum py_tok less[] = { T_LT, T_LE, T_LSHIFT, T_LSHIFT_EQ };
	static const enum py_tok more[] = { T_GT, T_GE, T_RSHIFT, T_RSHIFT_EQ };

	switch (c) {
	case '(': return open_bracket(p, c, T_LPAR);
	case '[': return open_bracket(p, c, T_LSQB);
	case '{': return open_bracket(p, c, T_LBRACE);
	case ')': return close_bracket(p, c, '(', T_RPAR);
	case ']': return close_bracket(p, c, '[', T_RSQB);
	case '}': return close_bracket(p, c, '{', T_RBRACE);
	case ',': return T_COMMA;
	case ';': return T_SEMI;
	case '~': return T_TILDE;
	case '.':
		if ((*s)[0] != '.' || (*s)[1] != '.')
			return T_DOT;
		*s += 2;
		return T_ELLIPSIS;
	case ':': return with_equal(s, T_COLON, T_WALRUS);
	case '=': return with_equal(s, T_ASSIGN, T_EQ);
	case '!': return with_equal(s, T_OTHER, T_NE);
	case '+': return with_equal(s, T_PLUS, T_PLUS_EQ);
	case '%': return with_equal(s, T_PERCENT, T_PERCENT_EQ);
	case '@': return with_equal(s, T_AT, T_AT_EQ);
	case '&': return with_equal(s, T_AMP, T_AMP_EQ);
	case '|': return with_equal(s, T_BAR, T_BAR_EQ);
	case '^': return with_equal(s, T_CARET, T_CARET_EQ);
	case '-':
		if (**s != '>')
			return with_equal(s, T_MINUS, T_MINUS_EQ);
		++*s;
		return T_ARROW;
	case '*': return doubled(s, c, stars);
	case '/': return doubled(s, c, slashes);
	case '<': return doubled(s, c, less);
	default: return doubled(s, c, more);
	}
}

/* An operator or bracket; ".5" is a number. */
static void lex_operator(struct parser *p, const char *s)
{
	if (*s == '.' && class_of(s[1]) == C_DIGIT) {
		p->tok.kind = T_NUMBER;
		p->lx.at = py_lex_number(p, s);
		return;
	}
	p->lx.at = s + 1;
	p->tok.kind = lex_punctuation(p, *s, &p->lx.at);
	if (p->tok.kind == T_OTHER)
		py_fail_lex(p, p->tok.start, "invalid syntax");
}

/* --- the next token ------------------------------------------------------------------- */

/* Passes white space, comments, continued lines and, in brackets, newlines. */
static const char *skip_blank(struct parser *p)
{
	const char *s = p->lx.at;

	for (;;) {
		switch (class_of(*s)) {
		case C_SPACE:
			s++;
			break;
		case C_HASH:
			s = strchr(s, '\n');
			break;
		case C_BACKSLASH:
			s = continue_line(p, s);
			break;
		case C_NEWLINE:
			if (!p->lx.depth)
				return s;
			p->lx.line++;
			p->lx.line_start = ++s;
			break;
		default:
			return s;
		}
	}
}

/* Puts the next token into p->tok. */
void py_lex(struct parser *p)
{
	const char *s;

	if (p->lx.bol)
		begin_line(p);
	/* One line may close several blocks: the DEDENTs that begin_line counted come out one
	 * at a time. */
	if (p->lx.dents && hand_out_dent(p))
		return;
	s = skip_blank(p);
	p->tok.p = s;
	p->tok.start = here(p, s);
	p->lx.at = s;
	switch (class_of(*s)) {
	case C_NAME:
		lex_name(p, s);
		p->tok.end = here(p, p->lx.at);
		return;
	case C_OP:
		lex_operator(p, s);
		break;
	case C_DIGIT:
		p->tok.kind = T_NUMBER;
		p->lx.at = py_lex_number(p, s);
		break;
	case C_QUOTE:
		p->tok.kind = T_STRING;
		p->lx.at = py_lex_string(p, s);
		break;
	case C_NEWLINE:
		p->tok.kind = T_NEWLINE;
		p->tok.end = (struct pos){ .line = p->lx.line, .col = p->tok.start.col + 1 };
		p->lx.at = s + 1;
		p->lx.line++;
		p->lx.line_start = s + 1;
		p->lx.bol = 1;
		return;
	case C_END:
		lex_end(p);
		break;
	default:
		py_fail_lex(p, p->tok.start, (unsigned char)*s < 32 || *s == 127 ?
			"invalid non-printable character U+%04X" : "invalid syntax", (unsigned char)*s);
	}
	p->tok.end = here(p, p->lx.at);
	p->tok.n = (size_t)(p->lx.at - s);
}
