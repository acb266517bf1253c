/* The judging processes of all ranks as one pool (pool.h): the first rank hands candidates out, each to
 * whoever has the least to do, and gets the verdicts; the others judge. A slow candidate holds up its own
 * worker and nobody else. Alone, it is the pool. */
#ifndef VERIFY_CREW_H
#define VERIFY_CREW_H

#include "par/par.h"
#include "verify/pool.h"

struct crew {
	struct judge_pool *pool;      /* borrowed: this rank's */
	struct par *par;              /* borrowed; NULL: alone */
	size_t *away;                 /* [ranks]: candidates that each has and has not answered */
	struct buf letter;
};

int crew_init(struct crew *c, struct judge_pool *pool, struct par *par, struct err *e);
void crew_release(struct crew *c);

/* The first rank's: as judge_pool_submit, judge_pool_pending, judge_pool_next. */
int crew_submit(struct crew *c, uint64_t id, struct str task, struct str candidate, struct err *e);
size_t crew_pending(const struct crew *c);
int crew_workers(const struct crew *c);
int crew_next(struct crew *c, int wait, struct judged *out, struct err *e);
/* No more candidates will come. */
int crew_dismiss(struct crew *c, struct err *e);

/* The other ranks': judges until it is dismissed. */
int crew_serve(struct crew *c, struct err *e);

#endif
