/* Pieces of HTML: escaping, charts as inline SVG, Python source with colours. Everything is in
 * the page itself; nothing is fetched. Colours are classes (c0..c4), so that the page's style
 * decides them for light and dark. */
#ifndef WEB_HTML_H
#define WEB_HTML_H

#include "base/str.h"

void html_text(struct buf *out, struct str s);              /* escaped */
/* <pre> with spans and line numbers; `mark` is a line to point at, 0: none. */
void html_python(struct buf *out, struct str source, int mark);

enum { HTML_COLOURS = 5 };

struct series { const char *name; const double *x, *y; size_t n; };
/* Lines over a common x axis; NaN breaks a line. `top` is the least upper end of the y axis, NaN: as
 * the values have it. */
void html_lines(struct buf *out, const char *title, const struct series *s, size_t n, double top);

/* Horizontal bars. `part` of `value` is drawn in the second colour (0: none). */
struct bar { const char *name; double value, part; const char *note; };
void html_bars(struct buf *out, const char *title, const struct bar *b, size_t n);

/* Vertical bars over equal steps from `low` to `high`. */
void html_histogram(struct buf *out, const char *title, const double *count, size_t n, double low, double high);

/* Groups of bars with intervals, in percent: value[g * n_series + s]. */
struct interval { double value, low, high; };
void html_groups(struct buf *out, const char *title, const char *const *groups, size_t n_groups, const char *const *series,
		 size_t n_series, const struct interval *value);

extern const char html_head[];                              /* doctype, style, up to <body> */
extern const char html_script[];                            /* filtering of candidates */

#endif
