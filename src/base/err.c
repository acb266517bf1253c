/* Errors and bugs: see err.h. */
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
