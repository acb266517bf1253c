/* Errors and bugs.
 *
 * Three kinds of failure and no fourth:
 *   1. our bug:           BUG("...") aborts with file:line in every build;
 *   2. the world failed:  a function returns 0 or -1 and fills `struct err *e`, its last
 *      parameter. On success `e` is untouched, so calls chain:
 *          if (a(x, e) || b(y, e)) goto out;
 *   3. the candidate failed: a verdict, never a `struct err`.
 *
 * The text says what failed and quotes the subject. `e` may be NULL if the caller does
 * not need the text. The first error wins: err_set on an `e` that already holds one is a no-op. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

enum err_code {
	ERR_NONE = 0,
	ERR_NOMEM,       /* an allocation failed or a memory limit was reached */
	ERR_IO,          /* a system call failed */
	ERR_NOT_FOUND,   /* a file, key or name does not exist */
	ERR_FORMAT,      /* input that does not follow its format */
	ERR_RANGE,       /* a number or size outside its limits */
	ERR_UNSUPPORTED, /* well-formed, but not something this program does */
	ERR_USAGE,       /* the command line or a configuration is wrong */
	ERR_INTERRUPTED, /* stopped by a signal or a time limit */
	ERR_DENIED,      /* permission or sandbox */
	ERR_STATE        /* an object is not in the state the call needs */
};

struct err {
	enum err_code code;
	int line, column;  /* position in the subject, 1-based line; 0: none */
	char text[480];
};

#define ERR_INIT { .code = ERR_NONE }

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Each sets `e` (if not NULL and still empty) and returns -1, so that
 * `return err_set(e, ERR_IO, "...")` reads as one thought. */
int err_set(struct err *e, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int err_set_at(struct err *e, enum err_code code, int line, int column, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
int err_vset(struct err *e, enum err_code code, const char *fmt, va_list ap);
/* For a failed system call: appends strerror(errno). */
int err_errno(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
int err_nomem(struct err *e);
/* Prefixes the text already in `e` with where it happened: "reading 'x': ...". Returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
void err_clear(struct err *e);

_Noreturn void bug_at(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond) do { if (cond) BUG("%s", #cond); } while (0)

#endif
