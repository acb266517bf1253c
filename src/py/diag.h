/* A diagnostic about a source: reason code, place, text, hint. What a candidate did wrong is
 * a `struct diag`; what went wrong for us is a `struct err`. */
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
const char *reason_text(enum reason r);      /* the sentence */
int reason_by_code(struct str code);         /* enum reason or -1 */

struct diag {
	enum reason reason;        /* REASON_ok: none */
	int line, col;             /* line from 1, column from 1; 0: unknown */
	char text[600];
	char hint[200];            /* what to write instead, or empty */
	char kernel[80];           /* the kernel it happened in, or empty */
};

/* Sets `d` if it is still empty (the first one wins); returns -1. */
int diag_set(struct diag *d, enum reason r, int line, int col, const char *fmt, ...) PRINTF_LIKE(5, 6);
void diag_hint(struct diag *d, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
