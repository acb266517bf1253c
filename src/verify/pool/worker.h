/* Inside the pool: the frames that travel between parent and worker, and the two processes. */
#ifndef VERIFY_POOL_WORKER_H
#define VERIFY_POOL_WORKER_H

#include <sys/types.h>

#include "verify/pool/pool.h"

enum { FRAME_JOB = 0x4a4f4231, FRAME_REPLY = 0x52504c31, FRAME_READY = 0x52445931, FRAME_DUMP = 0x444d5031,
       FRAME_MOST = 4 << 20, DUMP_MOST = 1 << 30 };

struct job_frame {
	uint32_t magic, task_n, candidate_n, pad;
	uint64_t id;
};

/* With FRAME_DUMP tensors_n and then task_n bytes follow, and the job goes on. */
struct reply_frame {
	uint32_t magic;
	int32_t rc;
	uint64_t id;
	uint32_t task_n, tensors_n;
	char kind[24];
	struct verdict verdict;
	struct err err;
};

/* Both never return. */
_Noreturn void worker_main(int fd, const struct judge_options *o, const struct judge_pool_options *p);
_Noreturn void spawner_main(int fd, pid_t parent, const struct judge_options *o, const struct judge_pool_options *p);

struct worker_handle { int fd, pidfd; pid_t pid; };

/* Asks the spawner for a worker. */
int spawner_start(int spawner, struct worker_handle *w, struct err *e);
/* How a worker ended, as waitpid gives it; waits for it. Each is to be asked for once, after it
 * was killed or its socket closed. 0 or -1: the spawner itself is gone. */
int spawner_status(int spawner, pid_t pid, int *status);

#endif
