/* Changes of a source text at positions that its tree names: collected, then applied in one pass,
 * so that untouched text keeps its formatting. If two edits overlap, the first one counts. */
#ifndef DATA_EDIT_H
#define DATA_EDIT_H

#include "base/str.h"
#include "py/ast.h"

struct edit {
	size_t begin, end;
	const char *text;            /* borrowed until the edits are applied */
	size_t n;
};

struct edits {
	const struct py_module *m;
	struct { struct edit *v; size_t n, cap; } list;
	struct { size_t *v; size_t n, cap; } lines;      /* offset of each line's begin */
	int failed;                  /* memory ended: nothing may be applied */
};

void edits_init(struct edits *x, const struct py_module *m);
void edits_release(struct edits *x);
size_t edit_offset(const struct edits *x, int line, int col);
struct str edit_text(const struct edits *x, const struct py_node *n);
void edit_change(struct edits *x, size_t begin, size_t end, const char *text, size_t n);
/* Returns whether the statement is the only text on its lines, apart from white space. */
int edit_is_alone(const struct edits *x, const struct py_node *n);
/* Deletes the lines of a statement. Returns 0 if other text shares them. */
int edit_drop_lines(struct edits *x, const struct py_node *n);
void edits_apply(struct edits *x, struct buf *out);

#endif
