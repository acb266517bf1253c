/* Progress of long work: a bar with rate and time left on a terminal, a line now and then
 * otherwise, JSON lines with --json, nothing with --quiet; always on stderr, so that stdout
 * holds results only. One thread at a time may use a struct progress. The first
 * Ctrl-C asks long work to finish cleanly, the second one stops it. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdint.h>

enum progress_mode { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_LINES, PROGRESS_JSON, PROGRESS_QUIET };

struct progress {
	const char *what;          /* "verify", "sft" */
	const char *unit;          /* "candidates", "steps" */
	int64_t total;             /* 0: unknown */
	int64_t done;
	int64_t started_ns, shown_ns;
	int64_t done_at_start;     /* of a resumed run, for an honest rate */
	char note[160];            /* shown behind the bar: "loss 0.31" */
	int shown;
};

void progress_set_mode(enum progress_mode mode);
void progress_begin(struct progress *p, const char *what, const char *unit, int64_t total);
void progress_add(struct progress *p, int64_t more);
void progress_note(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void progress_end(struct progress *p);

/* Installs handlers for SIGINT and SIGTERM; stop_requested() is true after the first. Only for
 * commands that test it; for others Ctrl-C keeps its usual meaning. */
void stop_install(void);
int stop_requested(void);

/* Why the program stops. All reasons except a signal come from a thread that watches the machine. */
enum stop_reason { STOP_NOT, STOP_SIGNAL, STOP_MACHINE, STOP_BUDGET };
void stop_request(enum stop_reason why);       /* the first one counts */
enum stop_reason stop_reason(void);

#endif
