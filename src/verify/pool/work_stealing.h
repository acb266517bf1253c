/* Work stealing: the judging processes of all MPI ranks, if every rank has candidates of its own. A
 * rank without work asks the others for queued candidates. So a slow judge delays only the
 * candidates that its workers have started; other ranks take those that still wait.
 *
 * Protocol: a rank that wants work asks each other rank once. A rank with waiting candidates sends
 * it one. The verdict goes back, and the rank may ask again. A rank whose candidates are all judged
 * says DONE and continues to help. When all have said DONE, all say BYE, so that no message is left
 * behind. Verdicts do not depend on the rank that gave them. */
#ifndef VERIFY_POOL_WORK_STEALING_H
#define VERIFY_POOL_WORK_STEALING_H

#include "par/par.h"
#include "verify/pool/pool.h"

struct work_stealing {
	struct judge_pool *pool;      /* borrowed: this rank's */
	struct par *par;              /* borrowed */
	struct steal_rank *rank;      /* [ranks]: state of each other rank */
	/* this rank's candidates that were not sent to any rank yet; entries before `at` are
	 * gone */
	struct { struct steal_job *v; size_t n, cap, at; } waiting;
	size_t own;                   /* this rank's candidates without a verdict */
	int64_t given;                /* this rank's candidates that others judged */
	/* receives messages of steal_tell; NULL: they are ignored */
	int (*heard)(void *ctx, struct str data, struct err *e);
	void *heard_ctx;
	struct buf letter;            /* the message being sent or read */
};

int steal_init(struct work_stealing *r, struct judge_pool *pool, struct par *par, struct err *e);
void steal_release(struct work_stealing *r);

/* The contracts of judge_pool_submit and judge_pool_next apply to the candidates of this rank.
 * Candidates of other ranks are judged in between. An id has at most 48 bits. */
int steal_submit(struct work_stealing *r, uint64_t id, struct str task, struct str candidate, struct err *e);
int steal_next(struct work_stealing *r, int wait, struct judged *out, struct err *e);
/* Sends data to another rank, which receives it before its steal_finish returns. */
int steal_tell(struct work_stealing *r, int to, struct str data, struct err *e);
/* Call when all candidates of this rank are judged: helps until those of all ranks are. Every rank
 * calls it, as its last call. */
int steal_finish(struct work_stealing *r, struct err *e);

#endif
