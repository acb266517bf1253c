/* Progress and stopping: see progress.h. Invariants: a bar is erased before anything else is
 * printed on the terminal (log_status does it), and the end of the work is always reported. */
#include "base/progress.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

enum { BAR_EVERY_MS = 100, LINE_EVERY_MS = 10000 };

static enum progress_mode the_mode = PROGRESS_AUTO;

void progress_set_mode(enum progress_mode mode)
{
	the_mode = mode;
}

/* A bar on a terminal; lines every ten seconds in a log file. */
static enum progress_mode mode_now(void)
{
	if (the_mode != PROGRESS_AUTO)
		return the_mode;
	return isatty(STDERR_FILENO) ? PROGRESS_BAR : PROGRESS_LINES;
}

static double seconds_since(int64_t ns)
{
	return (double)(clock_ns() - ns) / 1e9;
}

/* Counts only what this process did: a resumed run starts at done_at_start. */
static double rate(const struct progress *p)
{
	double t = seconds_since(p->started_ns);

	return t > 0 ? (double)(p->done - p->done_at_start) / t : 0;
}

/* Returns the expected seconds until the end, or -1 if they are unknown. */
static double time_left(const struct progress *p)
{
	double r = rate(p);

	return p->total > 0 && r > 0 && p->done <= p->total ? (double)(p->total - p->done) / r : -1;
}

/* 1:05, 1:02:03 or 2d 03h. */
static void format_time(char *out, size_t cap, double s)
{
	long t = s < 0 ? 0 : lround(fmin(s, 1e9));

	if (t >= 86400)
		snprintf(out, cap, "%ldd %02ldh", t / 86400, t / 3600 % 24);
	else if (t >= 3600)
		snprintf(out, cap, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
	else
		snprintf(out, cap, "%ld:%02ld", t / 60, t % 60);
}

static int columns(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20 ? w.ws_col : 80;
}

/* The text of a bar or line: "320/1000 candidates 41.2/s 0:16 left note". */
static void describe(const struct progress *p, int ended, char *out, size_t cap)
{
	char left[32], count[64];
	double t = ended ? seconds_since(p->started_ns) : time_left(p);

	if (p->total > 0)
		snprintf(count, sizeof count, "%lld/%lld", (long long)p->done, (long long)p->total);
	else
		snprintf(count, sizeof count, "%lld", (long long)p->done);
	format_time(left, sizeof left, t);
	snprintf(out, cap, "%s %s  %.*f/s  %s%s%s%s", count, p->unit, rate(p) < 10 ? 2 : 0, rate(p),
		 t >= 0 ? left : "", t < 0 ? "" : ended ? " taken" : " left", p->note[0] ? "  " : "", p->note);
}

/* Cut to the width of the terminal: a bar that wraps could not be erased. */
static void show_bar(const struct progress *p)
{
	char bar[24], text[320], line[512];
	int width = (int)sizeof bar - 1, full;

	describe(p, 0, text, sizeof text);
	if (p->total <= 0) {
		snprintf(line, sizeof line, "%s  %s", p->what, text);
	} else {
		full = (int)((double)width * (double)MIN(MAX(p->done, 0), p->total) / (double)p->total);
		memset(bar, '-', (size_t)width);
		memset(bar, '#', (size_t)full);
		bar[width] = 0;
		snprintf(line, sizeof line, "%s [%s] %3d%%  %s", p->what, bar,
			 (int)(100.0 * (double)p->done / (double)p->total), text);
	}
	line[MIN((int)sizeof line, columns()) - 1] = 0;
	log_status(line);
}

/* For programs that watch the run: one object per line on stderr. */
static void show_json(const struct progress *p, int ended)
{
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b };

	jw_begin(&w, '{');
	jw_key(&w, "progress"), jw_cstr(&w, p->what);
	jw_key(&w, "unit"), jw_cstr(&w, p->unit);
	jw_key(&w, "done"), jw_int(&w, p->done);
	jw_key(&w, "total");
	if (p->total > 0)
		jw_int(&w, p->total);
	else
		jw_null(&w);
	jw_key(&w, "seconds"), jw_real(&w, seconds_since(p->started_ns));
	jw_key(&w, "rate"), jw_real(&w, rate(p));
	jw_key(&w, "left"), jw_real(&w, ended ? 0 : time_left(p) < 0 ? NAN : time_left(p));
	jw_key(&w, "note"), jw_cstr(&w, p->note);
	jw_key(&w, "ended"), jw_bool(&w, ended);
	jw_end(&w, '}');
	if (!b.failed)
		fprintf(stderr, "%s\n", b.p);
	buf_release(&b);
}

/* At the end a bar is replaced by a line that stays. */
static void show(struct progress *p, int ended)
{
	char text[320];

	p->shown_ns = clock_ns();
	p->shown = 1;
	switch (mode_now()) {
	case PROGRESS_BAR:
		if (!ended) {
			show_bar(p);
			return;
		}
		log_status("");
		/* fall through */
	case PROGRESS_LINES:
		describe(p, ended, text, sizeof text);
		log_info("%s: %s", p->what, text);
		return;
	case PROGRESS_JSON:
		show_json(p, ended);
		return;
	case PROGRESS_AUTO:
	case PROGRESS_QUIET:
		return;
	}
}

/* A bar moves every 100 ms; a log file gets a line every ten seconds. */
static void show_if_due(struct progress *p)
{
	int64_t every = mode_now() == PROGRESS_BAR ? BAR_EVERY_MS : LINE_EVERY_MS;

	if (clock_ns() - p->shown_ns >= every * 1000000)
		show(p, 0);
}

void progress_begin(struct progress *p, const char *what, const char *unit, int64_t total)
{
	*p = (struct progress){ .what = what, .unit = unit, .total = total, .started_ns = clock_ns() };
	p->shown_ns = p->started_ns;
}

void progress_add(struct progress *p, int64_t more)
{
	p->done += more;
	show_if_due(p);
}

void progress_note(struct progress *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->note, sizeof p->note, fmt, ap);
	va_end(ap);
	show_if_due(p);
}

void progress_end(struct progress *p)
{
	if (p->what)                     /* progress_begin was called */
		show(p, 1);
}

/* --- stopping ------------------------------------------------------------------------- */

static atomic_int stop_flag;

/* The handler restores the default action, so that a second signal of either kind ends the program
 * at once. */
static void on_stop(int signal_number)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };

	(void)signal_number;
	stop_request(STOP_SIGNAL);
	sigaction(SIGINT, &usual, NULL);
	sigaction(SIGTERM, &usual, NULL);
}

/* SA_RESTART: system calls continue, and the work notices the flag at its next safe point. */
void stop_install(void)
{
	struct sigaction act = { .sa_handler = on_stop, .sa_flags = SA_RESTART };

	atomic_store(&stop_flag, STOP_NOT);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

int stop_requested(void)
{
	return atomic_load(&stop_flag);
}

/* The first reason wins: a run that is stopping for its budget keeps that exit code after
 * Ctrl-C. */
void stop_request(enum stop_reason why)
{
	int not_yet = STOP_NOT;

	atomic_compare_exchange_strong(&stop_flag, &not_yet, why);
}

enum stop_reason stop_reason(void)
{
	return atomic_load(&stop_flag);
}
