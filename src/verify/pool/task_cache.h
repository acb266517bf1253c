/* Tasks made ready (prepared.h), on disk: $XDG_CACHE_HOME/tritonrl/tasks, or ~/.cache/tritonrl/tasks.
 * Every worker and every run takes them from there.
 *
 * A worker may not touch files, so each has a small process beside it, forked before its sandbox, that
 * does nothing but hand out the bytes of a key and keep others. A file is written beside its place and
 * renamed, so that readers see all of it or nothing, whoever else writes; the oldest go when they
 * take more than they may. That a file cannot be read or written costs only the time it would have
 * saved. */
#ifndef VERIFY_POOL_TASK_CACHE_H
#define VERIFY_POOL_TASK_CACHE_H

#include "verify/task/prepared.h"

struct task_cache {
	int fd;                       /* to that process; -1: there is none */
	struct prepared_store store;
};

/* `most`: bytes that the files may take; 0: nothing is kept. The descriptor must not reach runners. */
int task_cache_open(struct task_cache *s, size_t most, struct err *e);

#endif
