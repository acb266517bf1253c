/* The task cache: prepared tasks (prepared.h) on disk, in $XDG_CACHE_HOME/tritonrl/tasks or
 * ~/.cache/tritonrl/tasks. All workers and later runs use it.
 *
 * A worker may not use files. A small process, the keeper, is forked before the worker enters its
 * sandbox; it only reads and writes files of the cache. A file is written under a temporary name
 * and renamed, so that readers see a whole file or none. When the files exceed their limit, the
 * least recently used ones are deleted. A failure to read or write costs only the time that the
 * cache would have saved. */
#ifndef VERIFY_POOL_TASK_CACHE_H
#define VERIFY_POOL_TASK_CACHE_H

#include "verify/task/prepared.h"

struct task_cache {
	int fd;                       /* socket to the keeper; -1: no keeper */
	struct prepared_store store;
};

/* `most` is the limit in bytes for all files; 0: no cache. The descriptor must not reach runners: a
 * candidate could replace prepared tasks by its own. */
int task_cache_open(struct task_cache *s, size_t most, struct err *e);

#endif
