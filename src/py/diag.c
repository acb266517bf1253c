/* Diagnostics: see diag.h. The codes, classes and texts come from reason.def. */
#include "py/diag.h"

#include <stdio.h>

/* The rows of reason.def, by enum reason. */
static const struct {
	const char *code, *class, *text;
} reasons[] = {
#define REASON(code, class, text) { #code, #class, text },
#include "py/reason.def"
#undef REASON
};

const char *reason_code(enum reason r) { return reasons[r].code; }
const char *reason_class(enum reason r) { return reasons[r].class; }
const char *reason_text(enum reason r) { return reasons[r].text; }

int reason_by_code(struct str code)
{
	for (int i = 0; i < REASONS; i++)
		if (str_is(code, reasons[i].code))
			return i;
	return -1;
}

/* The text is cut to the size of the field. d may be NULL. */
int diag_set(struct diag *d, enum reason r, int line, int col, const char *fmt, ...)
{
	va_list ap;

	if (!d || d->reason != REASON_ok)
		return -1;
	d->reason = r;
	d->line = line;
	d->col = col;
	va_start(ap, fmt);
	vsnprintf(d->text, sizeof d->text, fmt, ap);
	va_end(ap);
	return -1;
}

/* The first hint wins, as the first diagnostic does. */
void diag_hint(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	if (!d || d->hint[0])
		return;
	va_start(ap, fmt);
	vsnprintf(d->hint, sizeof d->hint, fmt, ap);
	va_end(ap);
}
