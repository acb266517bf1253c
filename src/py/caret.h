/* Source lines with a caret, for messages. */
#ifndef PY_CARET_H
#define PY_CARET_H

#include "base/str.h"

/* Line `line` (from 1) without its newline; empty if the source has no such line. */
struct str py_source_line(struct str source, int line);
/* Appends two lines, indented by four: the source line, and a caret under column `column` (from
 * 1, in bytes, as in struct err and struct diag). Appends nothing if the line does not exist. */
void py_caret(struct str source, int line, int column, struct buf *out);

#endif
