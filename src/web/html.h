/* Pieces of HTML: escaping, charts as inline SVG, Python source with colours. Everything is in
 * the page itself; nothing is fetched. */
#ifndef WEB_HTML_H
#define WEB_HTML_H

#include "base/str.h"

void html_text(struct buf *out, struct str s);              /* escaped */
void html_python(struct buf *out, struct str source);       /* <pre> with spans and line numbers */

struct series { const char *name, *colour; const double *x, *y; size_t n; };
/* Lines over a common x axis; NaN breaks a line. */
void html_lines(struct buf *out, const char *title, const struct series *s, size_t n);

struct bar { const char *name; double value; const char *note; };
void html_bars(struct buf *out, const char *title, const struct bar *b, size_t n, const char *colour);

extern const char html_head[];                              /* doctype, style, up to <body> */

#endif
