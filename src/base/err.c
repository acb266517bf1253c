/* Errors and bugs: see err.h. Invariant: the first error wins. A later err_set on the same struct
 * changes nothing, so the root cause survives clean-up code that fails as well. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int err_vset(struct err *e, enum err_code code, const char *fmt, va_list ap)
{
	if (!e || e->code != ERR_NONE)
		return -1;
	e->code = code;
	e->line = e->column = 0;
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	return -1;
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(e, code, fmt, ap);
	va_end(ap);
	return -1;
}

/* The position belongs to the first error too: it is set only together with the text. */
int err_set_at(struct err *e, enum err_code code, int line, int column, const char *fmt, ...)
{
	va_list ap;
	int fresh = e && e->code == ERR_NONE;

	va_start(ap, fmt);
	err_vset(e, code, fmt, ap);
	va_end(ap);
	if (fresh) {
		e->line = line;
		e->column = column;
	}
	return -1;
}

/* errno is saved first, because formatting may change it, and restored for the caller. The code
 * follows from errno, so callers can tell a missing file from a forbidden one. */
int err_errno(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t n;

	if (!e || e->code != ERR_NONE)
		return -1;
	va_start(ap, fmt);
	err_vset(e, saved == ENOMEM ? ERR_NOMEM : saved == ENOENT ? ERR_NOT_FOUND :
		 saved == EACCES || saved == EPERM ? ERR_DENIED : ERR_IO, fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof e->text - n, ": %s", strerror(saved));
	errno = saved;
	return -1;
}

int err_nomem(struct err *e)
{
	return err_set(e, ERR_NOMEM, "out of memory");
}

/* Puts the place in front: "line 3: key 'id' is missing" becomes "'rows.jsonl': line 3: key ...".
 * Both parts are cut, so that the text never exceeds the struct. */
int err_wrap(struct err *e, const char *fmt, ...)
{
	char where[240], old[sizeof ((struct err *)0)->text];
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	vsnprintf(where, sizeof where, fmt, ap);
	va_end(ap);
	memcpy(old, e->text, sizeof old);
	snprintf(e->text, sizeof e->text, "%s: %.230s", where, old);
	return -1;
}

void err_clear(struct err *e)
{
	if (e)
		*e = (struct err)ERR_INIT;
}

/* abort() leaves a core file with the stack; exit() would run handlers in a broken state. */
void bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: bug: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
