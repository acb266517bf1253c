/* A diagnostic about a source: reason code, position, text, hint. A mistake of a candidate is a
 * `struct diag`; a failure of ours is a `struct err`. */
#ifndef PY_DIAG_H
#define PY_DIAG_H

#include "base/err.h"
#include "base/str.h"

enum reason {
#define REASON(code, class, text) REASON_##code,
#include "py/reason.def"
#undef REASON
	REASONS
};

const char *reason_code(enum reason r);      /* "syntax_error" */
const char *reason_class(enum reason r);     /* "syntax" */
const char *reason_text(enum reason r);      /* the explanation */
int reason_by_code(struct str code);         /* enum reason or -1 */

struct diag {
	enum reason reason;        /* REASON_ok: none */
	int line, col;             /* from 1; 0: unknown */
	char text[600];            /* description of the error */
	char hint[200];            /* suggested replacement, or empty */
	char kernel[80];           /* kernel in which it happened, or empty */
};

/* Sets `d` unless it is set already: the first diagnostic wins. Returns -1. */
int diag_set(struct diag *d, enum reason r, int line, int col, const char *fmt, ...) PRINTF_LIKE(5, 6);
void diag_hint(struct diag *d, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
