/* The judging processes of all ranks as one pool (pool.h): the first rank hands candidates out, each to
 * whoever has the least to do, and gets the verdicts; the others judge. A slow candidate holds up its own
 * worker and nobody else. Alone, it is the pool. */
#ifndef VERIFY_POOL_RANK_POOL_H
#define VERIFY_POOL_RANK_POOL_H

#include "par/par.h"
#include "verify/pool/pool.h"

struct rank_pool {
	struct judge_pool *pool;      /* borrowed: this rank's */
	struct par *par;              /* borrowed; NULL: alone */
	size_t *away;                 /* [ranks]: candidates that each has and has not answered */
	struct buf letter;
};

int rank_pool_init(struct rank_pool *c, struct judge_pool *pool, struct par *par, struct err *e);
void rank_pool_release(struct rank_pool *c);

/* The first rank's: as judge_pool_submit, judge_pool_pending, judge_pool_next. */
int rank_pool_submit(struct rank_pool *c, uint64_t id, struct str task, struct str candidate, struct err *e);
size_t rank_pool_pending(const struct rank_pool *c);
int rank_pool_workers(const struct rank_pool *c);
int rank_pool_next(struct rank_pool *c, int wait, struct judged *out, struct err *e);
/* No more candidates will come. */
int rank_pool_dismiss(struct rank_pool *c, struct err *e);

/* The other ranks': judges until it is dismissed. */
int rank_pool_serve(struct rank_pool *c, struct err *e);

#endif
