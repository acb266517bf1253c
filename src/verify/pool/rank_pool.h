/* The judging processes of all MPI ranks as one pool (pool.h). The first rank sends each candidate
 * to the rank with the fewest pending ones, and collects the verdicts; the other ranks judge. A
 * slow candidate delays its own worker only. With one process it is the pool itself. */
#ifndef VERIFY_POOL_RANK_POOL_H
#define VERIFY_POOL_RANK_POOL_H

#include "par/par.h"
#include "verify/pool/pool.h"

struct rank_pool {
	struct judge_pool *pool;      /* borrowed: this rank's */
	struct par *par;              /* borrowed; NULL: one process */
	size_t *away;                 /* [ranks]: candidates sent to each rank and not answered yet */
	struct buf letter;            /* the message being sent or read */
};

int rank_pool_init(struct rank_pool *c, struct judge_pool *pool, struct par *par, struct err *e);
void rank_pool_release(struct rank_pool *c);

/* For the first rank. Contracts as judge_pool_submit, judge_pool_pending, judge_pool_next. */
int rank_pool_submit(struct rank_pool *c, uint64_t id, struct str task, struct str candidate, struct err *e);
size_t rank_pool_pending(const struct rank_pool *c);
int rank_pool_workers(const struct rank_pool *c);
int rank_pool_next(struct rank_pool *c, int wait, struct judged *out, struct err *e);
/* Tells the other ranks that no more candidates come. */
int rank_pool_dismiss(struct rank_pool *c, struct err *e);

/* For the other ranks: judges candidates until rank_pool_dismiss. */
int rank_pool_serve(struct rank_pool *c, struct err *e);

#endif
