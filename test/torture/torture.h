/* The torture harness: runs a piece of work again and again while the k-th allocation, or the
 * k-th system call, fails: once, and from k on, for every k that the work reaches. After each
 * run nothing may be left (memory, descriptors, maps), a failure must have been told in the
 * error, and the same work must succeed when nothing fails any more.
 *
 * A work function returns 0 when it succeeded and its result was right, -1 with `e` filled
 * when it failed; it calls TORTURE_WRONG where a result is wrong, which ends the program. */
#ifndef TORTURE_H
#define TORTURE_H

#include <stddef.h>

#include "base/err.h"

struct torture_case {
	const char *name;
	int (*work)(struct err *e);
	/* The work may succeed, or fail without a word in `e`, when a call fails (a log line that
	 * could not be built is dropped). */
	int tolerant;
	/* At most about so many values of k, spread over all there are; 0: every one. For work that
	 * makes very many calls. */
	long most;
};

/* A folder of this program's own, removed at the end. */
const char *torture_dir(void);

_Noreturn void torture_wrong(const char *file, int line, const char *what);
#define TORTURE_WRONG(what) torture_wrong(__FILE__, __LINE__, what)
#define TORTURE_NEED(cond) do { if (!(cond)) TORTURE_WRONG(#cond); } while (0)

/* Runs all cases, prints a line for each and a sum; the exit code for main. */
int torture_main(const struct torture_case *cases, size_t n);

#endif
