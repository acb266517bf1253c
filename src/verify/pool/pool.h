/* A pool of judging processes.
 *
 * Workers are forked by a small process of their own that is started with the pool (before
 * the caller has threads or much memory), enter the sandbox, and only then read a byte of a
 * candidate. A worker judges one candidate at a time. One that crashes or outlives its time
 * limit costs that candidate a verdict, after a retry on a fresh worker: what a candidate
 * does to its worker it does again, what the machine did once it does not. Replies are
 * checked like input from anyone. Verdicts do not depend on which worker gave them. */
#ifndef VERIFY_POOL_POOL_H
#define VERIFY_POOL_POOL_H

#include "base/err.h"
#include "base/str.h"
#include "verify/config/options.h"
#include "verify/verdict/verdict.h"

struct judge_pool;

struct judge_pool_options {
	int workers;              /* 0: one a core */
	/* Processor time a candidate may take; its worker six times that, and by the clock thirty
	 * times. A process of the two that uses none for so long hangs. */
	double seconds;
	size_t memory;            /* address space of a worker */
	size_t kept;              /* bytes of tasks made ready that may lie on disk: shelf.h; 0: none */
	int no_sandbox;           /* told to go without: logged, and said in every report */
	/* Gets what dump.h describes, for each input set that a job ran on; nonzero stops the pool.
	 * The bytes are a worker's word, not checked. NULL: nothing is dumped. */
	int (*dump)(void *ctx, uint64_t id, const char *kind, struct str task_py, struct str tensors, struct err *e);
	void *dump_ctx;
	/* A wait in judge_pool_next ends with 0 once this says so. NULL: never. */
	int (*stopped)(void);
	/* An eventfd that ends a wait in judge_pool_next, which then returns 0; it is emptied. 0: none. */
	int wake_fd;
};

#define JUDGE_POOL_DEFAULTS { .seconds = 20.0, .memory = (size_t)6 << 30 }

struct judge_pool *judge_pool_open(const struct judge_options *o, const struct judge_pool_options *p, struct err *e);
void judge_pool_close(struct judge_pool *p);
int judge_pool_workers(const struct judge_pool *p);

struct judged {
	uint64_t id;              /* as submitted */
	int rc;                   /* 0: verdict holds; -1: could not judge, `err` says why */
	struct verdict verdict;
	struct err err;
};

/* Copies both sources. Jobs wait inside while all workers are busy. */
int judge_pool_submit(struct judge_pool *p, uint64_t id, struct str task, struct str candidate, struct err *e);
/* Jobs submitted and not yet returned. */
size_t judge_pool_pending(const struct judge_pool *p);
/* The next finished job, in order of completion: 1 and *out; 0 if none is finished and !wait,
 * none is pending, or the wait was ended by wake_fd or `stopped`; -1 on an error of the pool itself. */
int judge_pool_next(struct judge_pool *p, int wait, struct judged *out, struct err *e);

/* How many workers died or were stopped, for reports. */
struct judge_pool_stats { int64_t judged, crashed, timed_out, replaced; };
struct judge_pool_stats judge_pool_stats(const struct judge_pool *p);

#endif
