/* Pieces of HTML: see html.h. */
#include "web/html.h"

#include <ctype.h>

#include "base/mem.h"

void html_text(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		switch (s.p[i]) {
		case '&': buf_adds(out, "&amp;"); break;
		case '<': buf_adds(out, "&lt;"); break;
		case '>': buf_adds(out, "&gt;"); break;
		case '"': buf_adds(out, "&quot;"); break;
		default: buf_addc(out, s.p[i]);
		}
	}
}

/* --- source ------------------------------------------------------------------------------------ */

static int is_keyword(struct str w)
{
	static const char *const words[] = { "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except",
					     "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "None", "not", "or",
					     "pass", "raise", "return", "True", "False", "try", "while", "with", "yield" };

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (str_is(w, words[i]))
			return 1;
	return 0;
}

static size_t string_end(struct str s, size_t at)
{
	char q = s.p[at];
	size_t triple = at + 2 < s.n && s.p[at + 1] == q && s.p[at + 2] == q ? 3 : 1, i = at + triple;

	for (; i < s.n; i++) {
		if (s.p[i] == '\\') {
			i++;
			continue;
		}
		if (triple == 1 && s.p[i] == '\n')
			return i;
		if (s.p[i] == q && (triple == 1 || (i + 2 < s.n && s.p[i + 1] == q && s.p[i + 2] == q)))
			return MIN(i + triple, s.n);
	}
	return s.n;
}

static int word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* One token at `at`: its class (0: none), and where the next begins. */
static char token_at(struct str s, size_t at, size_t *next)
{
	size_t end = at + 1;
	char class = 0;

	if (s.p[at] == '#') {
		while (end < s.n && s.p[end] != '\n')
			end++;
		class = 'c';
	} else if (s.p[at] == '"' || s.p[at] == '\'') {
		end = string_end(s, at);
		class = 's';
	} else if (word_char(s.p[at]) || s.p[at] == '@') {
		while (end < s.n && (word_char(s.p[end]) || (s.p[at] == '@' && s.p[end] == '.') ||
				     (isdigit((unsigned char)s.p[at]) && s.p[end] == '.')))
			end++;
		class = s.p[at] == '@' ? 'd' : isdigit((unsigned char)s.p[at]) ? 'n' :
			is_keyword((struct str){ .p = s.p + at, .n = end - at }) ? 'k' : 0;
	}
	*next = end;
	return class;
}

struct listing {
	struct buf *out;
	int line, mark, fresh;         /* number, the one to point at, at its beginning */
};

static void piece(struct listing *l, char class, struct str s)
{
	if (l->fresh) {
		l->line++;
		buf_addf(l->out, "%s<span class=\"l\">%3d  </span>", l->line == l->mark ? "<mark>" : "", l->line);
		l->fresh = 0;
	}
	if (class && s.n)
		buf_addf(l->out, "<span class=\"%c\">", class);
	html_text(l->out, s);
	if (class && s.n)
		buf_adds(l->out, "</span>");
}

static void end_line(struct listing *l)
{
	piece(l, 0, STR(""));
	buf_adds(l->out, l->line == l->mark ? "</mark>\n" : "\n");
	l->fresh = 1;
}

void html_python(struct buf *out, struct str source, int mark)
{
	struct listing l = { .out = out, .mark = mark, .fresh = 1 };

	buf_adds(out, "<pre>");
	for (size_t at = 0, next; at < source.n; at = next) {
		char class = token_at(source, at, &next);
		struct str rest = { .p = source.p + at, .n = next - at };

		while (memchr(rest.p, '\n', rest.n)) {
			struct str one = str_cut(&rest, '\n');

			piece(&l, class, one);
			end_line(&l);
		}
		if (rest.n)
			piece(&l, class, rest);
	}
	if (!l.fresh)
		end_line(&l);
	buf_adds(out, "</pre>\n");
}
