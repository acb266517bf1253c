/* Changes of a source text by byte ranges, collected in any order and applied in one pass. edit.h
 * is the manual. */
#include "data/edit.h"

#include <stdlib.h>

#include "base/mem.h"

/* Notes where each line begins, so that line and column become an offset. */
void edits_init(struct edits *x, const struct py_module *m)
{
	struct str s = m->source;

	*x = (struct edits){ .m = m };
	x->failed |= vec_push(&x->lines, 0);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\n')
			x->failed |= vec_push(&x->lines, i + 1);
}

/* The byte offset of a line (from 1) and column (from 0), limited to the end of the source. */
size_t edit_offset(const struct edits *x, int line, int col)
{
	size_t at = (size_t)line <= x->lines.n ? x->lines.v[line - 1] + (size_t)col : x->m->source.n;

	return MIN(at, x->m->source.n);
}

/* The source text of a node, borrowed from the module. */
struct str edit_text(const struct edits *x, const struct py_node *n)
{
	size_t begin = edit_offset(x, n->line, n->col), end = edit_offset(x, n->end_line, n->end_col);

	return (struct str){ .p = x->m->source.p + begin, .n = end > begin ? end - begin : 0 };
}

/* Replaces bytes [begin, end) by `text` when the edits are applied. `text` must live until then. */
void edit_change(struct edits *x, size_t begin, size_t end, const char *text, size_t n)
{
	struct edit one = { .begin = begin, .end = end, .text = text, .n = n };

	x->failed |= vec_push(&x->list, one);
}

/* Orders edits by their beginnings. */
static int by_place(const void *a, const void *b)
{
	const struct edit *p = a, *q = b;

	return p->begin < q->begin ? -1 : p->begin > q->begin;
}

/* Writes the changed text. Of two edits that overlap the later one is left out. */
void edits_apply(struct edits *x, struct buf *out)
{
	size_t at = 0;

	if (x->list.n)
		qsort(x->list.v, x->list.n, sizeof *x->list.v, by_place);
	for (size_t i = 0; i < x->list.n; i++) {
		const struct edit *d = &x->list.v[i];

		if (d->begin < at)
			continue;
		buf_add(out, x->m->source.p + at, d->begin - at);
		buf_add(out, d->text, d->n);
		at = d->end;
	}
	buf_add(out, x->m->source.p + at, x->m->source.n - at);
}

/* Is the node the only text on its lines, apart from blanks? */
int edit_is_alone(const struct edits *x, const struct py_node *n)
{
	struct str s = x->m->source;
	size_t begin = edit_offset(x, n->line, n->col), end = edit_offset(x, n->end_line, n->end_col);

	while (begin && (s.p[begin - 1] == ' ' || s.p[begin - 1] == '\t'))
		begin--;
	while (end < s.n && (s.p[end] == ' ' || s.p[end] == '\t'))
		end++;
	return (!begin || s.p[begin - 1] == '\n') && (end == s.n || s.p[end] == '\n');
}

/* Deletes the lines of a statement. Returns 0 and changes nothing if other text shares these lines
 * ("import a; x = 1") or the statement is on the last line. */
int edit_drop_lines(struct edits *x, const struct py_node *n)
{
	if (!edit_is_alone(x, n) || (size_t)n->end_line >= x->lines.n)
		return 0;
	edit_change(x, x->lines.v[n->line - 1], x->lines.v[n->end_line], "", 0);
	return 1;
}

void edits_release(struct edits *x)
{
	vec_free(&x->list);
	vec_free(&x->lines);
}
