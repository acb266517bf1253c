/* The parts of `tritonrl doctor`. Each part tries one thing for real and reports the result in a
 * struct doctor_part. A part never ends the program: risky tests run in a child process. */
#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

#include "base/err.h"
#include "base/str.h"

enum doctor_status {
	DOCTOR_OK,
	DOCTOR_ABSENT,               /* missing, but only some commands need it */
	DOCTOR_MISSING               /* missing, and the judge or the trainer needs it */
};

struct doctor_part {
	const char *name;
	const char *driver, *cupti;  /* files in place of the system's, of --gpu-driver and --gpu-cupti; or NULL */
	enum doctor_status status;
	struct buf detail;           /* the version or the error */
	struct buf fix;              /* the command that helps; empty if there is nothing to do */
};

typedef void doctor_fn(struct doctor_part *p);
/* Sets the status and adds to the detail. */
void doctor_say(struct doctor_part *p, enum doctor_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Runs fn in a child process, which may restrict itself permanently, and appends its output to
 * `out`. Returns the child's exit code, or -1 if it crashed or took more than `seconds`. */
typedef int doctor_child_fn(void *ctx, int out_fd);
int doctor_in_child(doctor_child_fn *fn, void *ctx, int seconds, struct buf *out);
/* Runs a program in the same way and appends its stdout and stderr. Returns 127 if it is not found. */
int doctor_run(char *const *argv, int seconds, struct buf *out);

#define DOCTOR_PART(name, fn) doctor_fn doctor_##fn;
#include "cmd/doctor.def"
#undef DOCTOR_PART

#endif
