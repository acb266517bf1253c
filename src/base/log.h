/* The log: levels, one sink. Only src/cmd writes to stderr directly; everything else logs.
 * Nothing silent: a skip, a clamp, a fall-back is logged (LOG_WARN) and counted. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

#include "base/err.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

typedef void log_sink(void *ctx, enum log_level level, const char *text);

void log_set_level(enum log_level level);
void log_set_sink(log_sink *sink, void *ctx);     /* NULL: the default, stderr */
void log_at(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
/* Appends every message of the level INFO and above to a file as well, each with the time, also if the shown
 * level is higher. NULL ends it. A file that cannot be opened is an error; later failures to write are not. */
int log_copy(const char *path, struct err *e);
/* The descriptor of that file, which a forked process must keep open; -1: no file. */
int log_copy_fd(void);
/* Writes a line to that file only: for results that are printed on standard output. */
void log_note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A line that stays below the log on a terminal (a progress bar): replaces the one shown
 * before; "" takes it away. Log lines are printed above it. */
void log_status(const char *text);
/* How many lines of `level` were logged since start (also those below the shown level). */
uint64_t log_count(enum log_level level);

/* Monotonic time in nanoseconds; wall-clock time in microseconds since 1970. */
int64_t clock_ns(void);
int64_t clock_wall_us(void);

#endif
