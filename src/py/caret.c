/* Carets: see caret.h. */
#include "py/caret.h"

#include "base/mem.h"
#include "py/ast.h"

enum { MOST_SHOWN = 160 }; /* bytes of a long line that are shown */

/* A "\r" at the end is dropped, too. */
struct str py_source_line(struct str source, int line)
{
	struct str rest = source, l = { .p = "", .n = 0 };

	for (int i = 0; i < line; i++) {
		if (!rest.n)
			return (struct str){ .p = "", .n = 0 };
		l = str_cut(&rest, '\n');
	}
	if (l.n && l.p[l.n - 1] == '\r')
		l.n--;
	return l;
}

struct str py_line(const struct py_module *m, int line)
{
	return py_source_line(m->source, line);
}

static int is_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; } /* of a UTF-8 character */

/* Long lines are cut around the caret, never inside a character. Tabs in front of the caret are
 * kept, so that it is in the right column. */
void py_caret(struct str source, int line, int column, struct buf *out)
{
	struct str l = line > 0 ? py_source_line(source, line) : (struct str){ .p = "", .n = 0 };
	size_t at = column > 0 ? (size_t)column - 1 : 0, from = 0, to;

	if (!l.n)
		return;
	at = MIN(at, l.n);
	if (at > MOST_SHOWN / 2 && l.n > MOST_SHOWN)
		from = at - MOST_SHOWN / 2;
	while (from < at && is_continuation(l.p[from]))
		from++;
	to = MIN(l.n, from + MOST_SHOWN);
	while (to < l.n && is_continuation(l.p[to]))
		to++;
	buf_adds(out, "    ");
	buf_add(out, l.p + from, to - from);
	buf_adds(out, "\n    ");
	for (size_t i = from; i < at; i++)
		if (!is_continuation(l.p[i]))
			buf_addc(out, l.p[i] == '\t' ? '\t' : ' ');
	buf_adds(out, "^\n");
}
