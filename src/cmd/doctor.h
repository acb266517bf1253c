/* The parts of `tritonrl doctor`: each tries one thing for real and says how it went. */
#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

#include "base/err.h"
#include "base/str.h"

enum doctor_status {
	DOCTOR_OK,
	DOCTOR_ABSENT,               /* not there, and only some commands want it */
	DOCTOR_MISSING               /* not there, and the judge or the trainer needs it */
};

struct doctor_part {
	const char *name;
	enum doctor_status status;
	struct buf detail;           /* what was found, or what is wrong */
	struct buf fix;              /* the command that helps; empty where ok */
};

typedef void doctor_fn(struct doctor_part *p);
/* Sets the status and adds to the detail. */
void doctor_say(struct doctor_part *p, enum doctor_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Runs fn in a child process that may change itself for good, and adds what it printed to
 * `out`. Returns the child's exit code, or -1 when it crashed or took more than `seconds`. */
typedef int doctor_child_fn(void *ctx, int out_fd);
int doctor_in_child(doctor_child_fn *fn, void *ctx, int seconds, struct buf *out);
/* Runs a program with its output (stdout and stderr) added to `out`, as above; 127: not found. */
int doctor_run(char *const *argv, int seconds, struct buf *out);

#define DOCTOR_PART(name, fn) doctor_fn doctor_##fn;
#include "cmd/doctor.def"
#undef DOCTOR_PART

#endif
