/* The protocol between the pool and its processes: frames on the sockets, and the entry points of
 * worker and spawner. */
#ifndef VERIFY_POOL_WORKER_H
#define VERIFY_POOL_WORKER_H

#include <sys/types.h>

#include "verify/pool/pool.h"

enum { FRAME_JOB = 0x4a4f4231, FRAME_REPLY = 0x52504c31, FRAME_READY = 0x52445931, FRAME_DUMP = 0x444d5031,
       FRAME_PLAN = 0x504c4e31,
       FRAME_MOST = 4 << 20, DUMP_MOST = 1 << 30 };

/* From pool to worker. The sources of task and candidate follow. */
struct job_frame {
	uint32_t magic, task_n, candidate_n, pad;
	uint64_t id;
};

/* From worker to pool. After a FRAME_DUMP tensors_n and then task_n bytes follow, and the job
 * continues; after a FRAME_PLAN tensors_n bytes, a launch plan. */
struct reply_frame {
	uint32_t magic;
	int32_t rc;
	uint64_t id;
	uint32_t task_n, tensors_n;
	char kind[24];
	struct verdict verdict;
	struct err err;
};

/* Main functions of the two processes. */
_Noreturn void worker_main(int fd, const struct judge_options *o, const struct judge_pool_options *p);
_Noreturn void spawner_main(int fd, pid_t parent, const struct judge_options *o, const struct judge_pool_options *p);

/* A worker as the pool knows it: a socket, a descriptor to signal it by, its pid. */
struct worker_handle { int fd, pidfd; pid_t pid; };

/* Asks the spawner to fork a worker. */
int spawner_start(int spawner, struct worker_handle *w, struct err *e);
/* Waits for a worker's end and gives its status as waitpid does. Call it once for each worker,
 * after the worker was killed or its socket closed. Returns 0, or -1 if the spawner has died. */
int spawner_status(int spawner, pid_t pid, int *status);

#endif
