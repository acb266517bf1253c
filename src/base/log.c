/* The log and the clocks: see log.h. The log is the only global state of the program. Invariant:
 * lines of several threads never mix, and a progress bar stays below the last line. */
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
	enum log_level level;     /* messages below it are counted but not shown */
	log_sink *sink;           /* NULL: stderr */
	void *ctx;                /* of the sink */
	_Atomic uint64_t count[LOG_OFF];   /* messages by level */
	pthread_mutex_t lock;     /* keeps lines whole and `status` below them */
	char status[256];         /* the bar on the terminal, "" if none */
	int copy;                 /* descriptor of the file that gets a copy; -1: none */
} the_log = { .level = LOG_INFO, .lock = PTHREAD_MUTEX_INITIALIZER, .copy = -1 };

static const char *const level_name[] = { "debug: ", "", "warning: ", "error: " };

void log_set_level(enum log_level level)
{
	the_log.level = level;
}

void log_set_sink(log_sink *sink, void *ctx)
{
	the_log.sink = sink;
	the_log.ctx = ctx;
}

/* The status line (a progress bar) is erased, the message printed, and the bar drawn again below
 * it. */
static void to_stderr(enum log_level level, const char *text)
{
	const char *erase = the_log.status[0] ? "\r\033[K" : "";

	fprintf(stderr, "%s%s%s\n%s", erase, level_name[level], text, the_log.status);
	fflush(stderr);
}

/* One write per line: lines of several processes do not mix. */
static void to_copy(enum log_level level, const char *text)
{
	char line[2200], day[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	int n;

	if (gmtime_r(&now, &tm))
		strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%SZ", &tm);
	n = snprintf(line, sizeof line, "%s %s%s\n", day, level_name[level], text);
	if (n > 0 && write(the_log.copy, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0)
		return;                  /* a full disk must not end the run; the stages report it themselves */
}

int log_copy(const char *path, struct err *e)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1, was;

	if (path && fd < 0)
		return err_errno(e, "cannot open '%s'", path);
	pthread_mutex_lock(&the_log.lock);
	was = the_log.copy;
	the_log.copy = fd;
	pthread_mutex_unlock(&the_log.lock);
	if (was >= 0)
		close(was);
	return 0;
}

int log_copy_fd(void)
{
	return the_log.copy;
}

void log_note(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&the_log.lock);
	if (the_log.copy >= 0)
		to_copy(LOG_INFO, text);
	pthread_mutex_unlock(&the_log.lock);
}

/* "" removes the bar. The cursor stays behind the bar, where the next message erases it. */
void log_status(const char *text)
{
	pthread_mutex_lock(&the_log.lock);
	if (text[0] || the_log.status[0])
		fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	snprintf(the_log.status, sizeof the_log.status, "%s", text);
	pthread_mutex_unlock(&the_log.lock);
}

/* Messages are counted even if the level hides them: tests compare the number of warnings. */
void log_at(enum log_level level, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	if (level >= LOG_OFF)
		return;
	atomic_fetch_add(&the_log.count[level], 1);
	if (level < the_log.level && (level < LOG_INFO || the_log.copy < 0))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&the_log.lock);
	if (the_log.copy >= 0 && level >= LOG_INFO)
		to_copy(level, text);
	if (level < the_log.level)
		;                        /* only the copy has it */
	else if (the_log.sink)
		the_log.sink(the_log.ctx, level, text);
	else
		to_stderr(level, text);
	pthread_mutex_unlock(&the_log.lock);
}

uint64_t log_count(enum log_level level)
{
	return level < LOG_OFF ? atomic_load(&the_log.count[level]) : 0;
}

static int64_t read_clock(clockid_t id, int64_t per_second)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * per_second + t.tv_nsec / (1000000000 / per_second);
}

int64_t clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC, 1000000000);
}

int64_t clock_wall_us(void)
{
	return read_clock(CLOCK_REALTIME, 1000000);
}
