/* The sandbox of judging processes: after sandbox_enter and sandbox_confine a process can compute,
 * talk through the descriptors it has, and do the little that its role needs. Fails closed: any
 * part that cannot be set up is an error, not a warning.
 *
 * The process that decides enters, starts the one that runners are forked from, and confines
 * itself; that one confines itself as well, in a domain of its own, so that it can signal
 * nobody. What is left to it beyond a runner's needs is forking: a runner gives that up. */
#ifndef VERIFY_POOL_SANDBOX_H
#define VERIFY_POOL_SANDBOX_H

#include <stddef.h>

#include "base/err.h"

enum sandbox_role { SANDBOX_RUNNER, SANDBOX_DECIDER };

struct sandbox_options {
	int keep_fd;               /* the one descriptor that stays open, beside standard error */
	int also_fd;               /* and this one; 0: none */
	size_t address_space;      /* bytes beside those that came with the fork; 0: no limit */
};

int sandbox_enter(const struct sandbox_options *o, struct err *e);
/* No descriptor above `files`. With `filter` 0 no seccomp: for tests of what lies beneath it, never else. */
int sandbox_confine(enum sandbox_role role, int files, int filter, struct err *e);
/* A runner's own limits: no process of its own, and so much processor time. */
int sandbox_limit_runner(double seconds);

#endif
