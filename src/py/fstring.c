/* f-strings by the rules of CPython 3.11. The tokenizer sees one string. The expressions in it
 * are found by matching brackets and quotes and are parsed in place, so that their positions
 * are those of the source. */
#include "py/parse.h"

enum { MAX_LEVEL = 2 }; /* nesting of replacement fields in format specifications */

/* The scan of one f-string part. */
struct fscan {
	struct parser *p;
	struct fbuild *b; /* the literal under construction */
	const char *s, *end;                                       /* next character; end of the part */
	const struct string_part *part;
	struct { const char *s, *line_start; int line; } located;   /* the last position that was computed */
};

/* All errors are reported at the start of the string, as CPython 3.11 does. */
static _Noreturn void fail(struct fscan *f, const char *text)
{
	py_fail(f->p, f->part->start, "f-string: %s", text);
}

/* Turns the literal collected so far into a Constant, if there is any. */
void py_fstring_flush(struct parser *p, struct fbuild *b)
{
	struct py_node *n;

	if (b->w == b->lit)
		return;
	n = py_node(p, PY_Constant, b->start);
	n->u.Constant.value = (struct py_const){ .kind = PY_C_STR, .s = { .p = b->lit, .n = (size_t)(b->w - b->lit) } };
	if (b->u)
		n->u.Constant.kind = STR("u");
	n->end_line = b->end.line;
	n->end_col = b->end.col;
	py_push(p, n);
	b->lit = b->w;
}

/* Copies literal text, with escapes decoded unless the string is raw. */
static void add_literal(struct fscan *f, const char *from, const char *to)
{
	if (f->part->raw) {
		memcpy(f->b->w, from, (size_t)(to - from));
		f->b->w += to - from;
	} else {
		f->b->w = py_unescape(f->p, from, to, 0, f->part->start, f->b->w);
	}
}

/* Starts after a backslash; passes \N{...} whole, so that its brace opens nothing. Returns 1
 * if the escaped character is itself a brace. */
static int skip_escape(struct fscan *f)
{
	char c = *f->s++;

	if (c != 'N')
		return c == '{' || c == '}';
	if (f->s < f->end && *f->s++ == '{')
		while (f->s < f->end && *f->s++ != '}')
			continue;
	return 0;
}

/* Literal text up to a brace that opens or closes an expression. A doubled brace means one
 * brace, but only at the top level. */
static void scan_literal(struct fscan *f, int level)
{
	const char *from = f->s;

	while (f->s < f->end) {
		char c = *f->s++;

		if (c == '\\' && !f->part->raw && f->s < f->end) {
			if (!skip_escape(f))
				continue;
			c = f->s[-1];
		}
		if (c != '{' && c != '}')
			continue;
		if (level == 0 && f->s < f->end && *f->s == c) {
			add_literal(f, from, f->s++);
			from = f->s;
			continue;
		}
		if (level == 0 && c == '}')
			fail(f, "single '}' is not allowed");
		f->s--;
		break;
	}
	add_literal(f, from, f->s);
}

/* --- expressions -------------------------------------------------------------------- */

/* Passes a string inside an expression. */
static void skip_string(struct fscan *f)
{
	char q = *f->s;
	int triple = f->s + 2 < f->end && f->s[1] == q && f->s[2] == q;

	for (f->s += triple ? 3 : 1; f->s < f->end; f->s++) {
		if (*f->s == '\\')
			fail(f, "expression part cannot include a backslash");
		if (*f->s != q)
			continue;
		if (!triple) {
			f->s++;
			return;
		}
		if (f->s + 2 < f->end && f->s[1] == q && f->s[2] == q) {
			f->s += 3;
			return;
		}
	}
	fail(f, "unterminated string");
}

/* Does the character end the expression? Passes ==, !=, <=, >=, < and >. */
static int ends_expression(struct fscan *f)
{
	char c = *f->s;

	if (c != '!' && c != ':' && c != '}' && c != '=' && c != '<' && c != '>')
		return 0;
	if (f->s + 1 < f->end && f->s[1] == '=' && (c == '!' || c == '=' || c == '<' || c == '>')) {
		f->s++;
		return 0;
	}
	return c != '<' && c != '>';
}

/* Keeps the stack of open brackets. */
static void match_bracket(struct fscan *f, char *open, int *depth)
{
	char c = *f->s;

	if (c == '(' || c == '[' || c == '{') {
		if (*depth >= PY_MAX_PARENS)
			fail(f, "too many nested parenthesis");
		open[(*depth)++] = c;
	} else if (c == ')' || c == ']' || c == '}') {
		if (!*depth)
			py_fail(f->p, f->part->start, "f-string: unmatched '%c'", c);
		--*depth;
		if (open[*depth] != (c == ')' ? '(' : c == ']' ? '[' : '{'))
			py_fail(f->p, f->part->start,
				"f-string: closing parenthesis '%c' does not match opening parenthesis '%c'",
				c, open[*depth]);
	}
}

/* Leaves f->s at the character after the expression: '}', '!', ':' or '='. */
static void scan_expression(struct fscan *f)
{
	char open[PY_MAX_PARENS];
	int depth = 0;

	while (f->s < f->end) {
		if (*f->s == '\'' || *f->s == '"') {
			skip_string(f);
			continue;
		}
		if (*f->s == '\\')
			fail(f, "expression part cannot include a backslash");
		if (*f->s == '#')
			fail(f, "expression part cannot include '#'");
		if (!depth && ends_expression(f))
			break;
		match_bracket(f, open, &depth);
		f->s++;
	}
	if (depth)
		py_fail(f->p, f->part->start, "f-string: '%c' was never closed", open[depth - 1]);
	if (f->s >= f->end)
		fail(f, "expecting '}'");
}

/* Computes the line of `s`. Called with rising `s`, so a part is walked only once. */
static void locate(struct fscan *f, const char *s, struct lexer *lx)
{
	for (; f->located.s < s; f->located.s++)
		if (*f->located.s == '\n') {
			f->located.line++;
			f->located.line_start = f->located.s + 1;
		}
	lx->line = f->located.line;
	lx->line_start = f->located.line_start;
}

/* Parses [from, to) as if in parentheses. The text is the parser's own copy, so a zero byte can
 * be put after the expression while it is lexed. */
static struct py_node *sub_expression(struct fscan *f, const char *from, const char *to)
{
	struct parser *p = f->p;
	struct py_saved outer = py_save(p);
	struct py_node *n;
	char behind = *to;

	if (from + strspn(from, " \t\n\f\r") >= to)
		fail(f, "empty expression not allowed");
	if (p->lx.depth >= PY_MAX_PARENS)
		fail(f, "too many nested parenthesis");
	locate(f, from, &p->lx);
	p->lx.at = from;
	p->lx.fragment = 1;
	p->lx.dents = p->lx.bol = 0;
	p->parens[p->lx.depth].open = '(';
	p->parens[p->lx.depth++].at = f->part->start;
	*(char *)to = 0;
	py_nest(p);
	py_lex(p);
	n = py_paren_content(p, p->tok.start, T_END);
	py_unnest(p);
	*(char *)to = behind;
	py_restore(p, &outer);
	return n;
}

static void scan_parts(struct fscan *f, int level);

/* The specification after ':', which may hold replacement fields itself: f"{x:{w}}". */
static struct py_node *format_spec(struct fscan *f, int level)
{
	struct py_node *spec = py_node(f->p, PY_JoinedStr, f->b->start);
	size_t base = f->p->stack.n;

	if (f->s >= f->end)
		fail(f, "expecting '}'");
	scan_parts(f, level + 1);
	py_fstring_flush(f->p, f->b);
	spec->u.JoinedStr.values = py_list_end(f->p, base);
	spec->end_line = f->b->end.line;
	spec->end_col = f->b->end.col;
	return spec;
}

/* !s, !r or !a; -1 without. */
static int conversion(struct fscan *f)
{
	if (f->s >= f->end || *f->s != '!')
		return -1;
	if (++f->s >= f->end)
		fail(f, "expecting '}'");
	if (*f->s != 's' && *f->s != 'r' && *f->s != 'a')
		fail(f, "invalid conversion character: expected 's', 'r', or 'a'");
	return *f->s++;
}

/* One replacement field, at its '{'. f"{x=}" shows its own text and uses repr by default. */
static void scan_replacement(struct fscan *f, int level)
{
	struct py_node *n = py_node(f->p, PY_FormattedValue, f->b->start);
	const char *from = ++f->s;
	int shows_itself;

	if (level >= MAX_LEVEL)
		fail(f, "expressions nested too deeply");
	scan_expression(f);
	n->u.FormattedValue.value = sub_expression(f, from, f->s);
	shows_itself = *f->s == '=';
	if (shows_itself) {
		f->s++;
		while (f->s < f->end && strchr(" \t\n\r\f\v", *f->s))
			f->s++;
		memcpy(f->b->w, from, (size_t)(f->s - from));
		f->b->w += f->s - from;
	}
	py_fstring_flush(f->p, f->b);
	n->u.FormattedValue.conversion = conversion(f);
	if (f->s < f->end && *f->s == ':') {
		f->s++;
		n->u.FormattedValue.format_spec = format_spec(f, level);
	} else if (shows_itself && n->u.FormattedValue.conversion < 0) {
		n->u.FormattedValue.conversion = 'r';
	}
	if (f->s >= f->end || *f->s != '}')
		fail(f, "expecting '}'");
	f->s++;
	n->end_line = f->b->end.line;
	n->end_col = f->b->end.col;
	py_push(f->p, n);
}

/* Literal text and fields in turn, up to the end or a closing brace. */
static void scan_parts(struct fscan *f, int level)
{
	while (f->s < f->end) {
		scan_literal(f, level);
		if (f->s >= f->end || *f->s == '}')
			break;
		scan_replacement(f, level);
	}
}

/* Scans one f-string token of a concatenation. */
void py_fstring_part(struct parser *p, const struct string_part *part, struct fbuild *b)
{
	struct fscan f = { .p = p, .b = b, .s = part->p, .end = part->p + part->n, .part = part,
			   .located = { .s = part->token, .line = part->start.line,
				       .line_start = part->token - part->start.col } };

	scan_parts(&f, 0);
}
