/* The sandbox of judging processes. After sandbox_enter and sandbox_confine a process can compute,
 * use the descriptors it has, and make the few system calls that its role needs. The sandbox fails
 * closed: a part that cannot be set up is an error, not a warning.
 *
 * The deciding process enters, forks the zygote, and confines itself. The zygote confines itself as
 * well, in a landlock domain of its own, so that it can signal nobody. Beyond a runner's needs it
 * may only fork; a runner gives that up. */
#ifndef VERIFY_POOL_SANDBOX_H
#define VERIFY_POOL_SANDBOX_H

#include <stddef.h>

#include "base/err.h"

enum sandbox_role { SANDBOX_RUNNER, SANDBOX_DECIDER };

struct sandbox_options {
	int keep_fd;               /* a descriptor that stays open; standard error stays open too */
	int also_fd;               /* another one; 0: none */
	size_t address_space;      /* bytes beyond those inherited by the fork; 0: no limit */
};

/* The part of the sandbox that both roles share; forking is still possible afterwards. */
int sandbox_enter(const struct sandbox_options *o, struct err *e);
/* The final part, for one role. Descriptors above `files` cannot be opened. `filter` 0 leaves
 * seccomp out: only tests of the other layers do that. */
int sandbox_confine(enum sandbox_role role, int files, int filter, struct err *e);
/* Limits of a runner: it cannot start a process, and may use this many CPU seconds. */
int sandbox_limit_runner(double seconds);

#endif
