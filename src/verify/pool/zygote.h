/* A lane whose candidates run in processes of their own.
 *
 * zygote_open forks, before any task was made ready, the process that runners are forked from: it
 * has the bindings, the prelude and the tile engine, warm, and nothing of any task. For each
 * candidate it makes one runner, a child of this process, by copying itself; the runner maps the
 * task's image, gets the candidate's text through the area, and is killed at the end, whatever it
 * was doing. So nothing of one candidate reaches the next, and one that took its process over could
 * only say what its results are. */
#ifndef VERIFY_POOL_ZYGOTE_H
#define VERIFY_POOL_ZYGOTE_H

#include <sys/types.h>

#include "verify/candidate/runner_link.h"

enum { ZYGOTE_IMAGES = 32 };

struct zygote {
	struct runner_link link;
	struct judge *judge;
	int fd;                       /* to the zygote */
	int run_fd;                   /* to the runner, whichever it is */
	int shmem_fd;
	double seconds;               /* of processor time that a runner may take */
	uint64_t turn;                /* of the next question to a runner */
	int starting;                 /* a runner was asked for and its pid not read yet */
	pid_t pid;                    /* of the runner; 0: none */
	int pidfd;
	struct { uint64_t task, used, bytes; int fd; } image[ZYGOTE_IMAGES];
	uint64_t clock;
};

/* `sandbox` 0: its processes are not confined. The highest descriptor that this process needs from
 * now on is *files. */
int zygote_open(struct zygote *z, struct judge *j, double seconds, int sandbox, int *files, struct err *e);
/* Takes every message that waits in a socket of packets, also those of no bytes. */
void zygote_drain(int fd);

#endif
