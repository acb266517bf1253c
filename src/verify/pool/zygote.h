/* A runner link whose candidates run in processes of their own.
 *
 * zygote_open forks the zygote, the process from which runners are forked, before any task is
 * prepared. The zygote holds the bindings, the prelude and the tile engine, all warm, and no task.
 * For each candidate it forks one runner as a child of the deciding process. The runner maps the
 * task's image, gets the candidate's text through shared memory, and is killed at the end in any
 * case.
 *
 * So nothing of one candidate reaches the next. A candidate that takes over its runner can only
 * choose the results that it reports; it finds no expected result there. */
#ifndef VERIFY_POOL_ZYGOTE_H
#define VERIFY_POOL_ZYGOTE_H

#include <sys/types.h>

#include "verify/candidate/runner_link.h"

enum { ZYGOTE_IMAGES = 32 };

struct zygote {
	struct runner_link link;
	struct judge *judge;
	int fd;                       /* socket to the zygote */
	int run_fd;                   /* socket to the current runner; all runners inherit its other end */
	int shmem_fd;                 /* memory shared with the runners */
	double seconds;               /* CPU seconds that a runner may take */
	uint64_t sequence;            /* sequence number of the next question to a runner */
	int starting;                 /* a runner was requested and its pid not read yet */
	pid_t pid;                    /* of the runner; 0: none */
	int pidfd;                    /* of the runner; -1: none */
	/* images of tasks in memory, the least recently used one is replaced */
	struct { uint64_t task, used, bytes; int fd; } image[ZYGOTE_IMAGES];
	uint64_t clock;               /* counts uses of images */
};

/* Forks the zygote. With `sandbox` 0 its processes are not confined. *files gets the highest
 * descriptor that the deciding process needs from now on. */
int zygote_open(struct zygote *z, struct judge *j, double seconds, int sandbox, int *files, struct err *e);
/* Discards every message that waits in a packet socket, also those without bytes. */
void zygote_drain(int fd);

#endif
