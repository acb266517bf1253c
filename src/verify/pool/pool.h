/* A pool of judging processes (workers).
 *
 * A small process, the spawner, forks the workers. It is started with the pool, before the caller
 * has threads or much memory. A worker enters the sandbox first and reads a candidate afterwards.
 * It judges one candidate at a time.
 *
 * When a worker crashes or exceeds its time limit, its candidate is judged again by a fresh worker.
 * The same failure twice is the candidate's verdict; a failure of the machine rarely happens twice.
 * The pool checks replies of workers like any untrusted input. Verdicts do not depend on which
 * worker gave them. */
#ifndef VERIFY_POOL_POOL_H
#define VERIFY_POOL_POOL_H

#include "base/err.h"
#include "base/str.h"
#include "verify/config/options.h"
#include "verify/gpu/gpu_options.h"
#include "verify/verdict/verdict.h"

struct judge_pool;

struct judge_pool_options {
	int workers;              /* 0: one for each core */
	/* CPU seconds that a candidate may take. Its worker may take six times as much CPU time and
	 * thirty times as much wall-clock time. A worker or runner that uses no CPU time for this
	 * long hangs. */
	double seconds;
	size_t memory;            /* bytes of address space of a worker */
	size_t kept;              /* bytes that the task cache may take on disk (task_cache.h); 0: no cache */
	int no_sandbox;           /* judge without a sandbox; the log says so */
	/* Called with a dump (dump.h) of each input set that a job ran on; a nonzero result stops
	 * the pool. The bytes come from a worker and are not checked. NULL: nothing is dumped. */
	int (*dump)(void *ctx, uint64_t id, const char *kind, struct str task_py, struct str tensors, struct err *e);
	void *dump_ctx;
	/* With gpu.on, candidates that the CPU judge finds correct are measured on a GPU before
	 * judge_pool_next returns them. */
	struct gpu_options gpu;
	/* A waiting judge_pool_next returns 0 as soon as this function returns nonzero. NULL:
	 * never. */
	int (*stopped)(void);
	/* An eventfd that ends the wait in judge_pool_next, which then resets it and returns 0. The
	 * value 0 means that no eventfd is used. */
	int wake_fd;
};

#define JUDGE_POOL_DEFAULTS { .seconds = 20.0, .memory = (size_t)6 << 30, .gpu = GPU_DEFAULTS }

struct judge_pool *judge_pool_open(const struct judge_options *o, const struct judge_pool_options *p, struct err *e);
void judge_pool_close(struct judge_pool *p);
int judge_pool_workers(const struct judge_pool *p);

struct judged {
	uint64_t id;              /* as submitted */
	int rc;                   /* 0 if the verdict is valid, -1 if judging failed (`err` says why) */
	struct verdict verdict;
	struct err err;
};

/* Adds a job. Copies both sources. The job waits in the pool while all workers are busy. */
int judge_pool_submit(struct judge_pool *p, uint64_t id, struct str task, struct str candidate, struct err *e);
/* The number of jobs that were submitted and not yet returned by judge_pool_next. */
size_t judge_pool_pending(const struct judge_pool *p);
/* Gives the next finished job, in order of completion. Returns 1 and *out if there is one. Returns
 * 0 if none is finished and `wait` is 0, if no job is pending, or if wake_fd or `stopped` ended the
 * wait. Returns -1 if the pool itself failed. */
int judge_pool_next(struct judge_pool *p, int wait, struct judged *out, struct err *e);

/* Counts for reports: jobs judged, workers that crashed, exceeded their time, and were replaced. */
struct judge_pool_stats { int64_t judged, crashed, timed_out, replaced; };
struct judge_pool_stats judge_pool_stats(const struct judge_pool *p);

#endif
