/* The sandbox of a judging process: after sandbox_enter it can compute, talk through the
 * descriptors it already has, and nothing else. Fails closed: any part that cannot be set up
 * is an error, not a warning. */
#ifndef VERIFY_SANDBOX_H
#define VERIFY_SANDBOX_H

#include <stddef.h>

#include "base/err.h"

struct sandbox_options {
	int keep_fd;               /* the one descriptor that stays open, beside standard error */
	size_t address_space;      /* bytes; 0: no limit */
	int without_filter;        /* no seccomp: for tests of what lies beneath it, never else */
};

int sandbox_enter(const struct sandbox_options *o, struct err *e);

#endif
