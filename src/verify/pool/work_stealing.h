/* The judging processes of all ranks, where every rank has candidates of its own: who has nothing
 * to judge asks the others for some of theirs. A slow judge holds up what its workers have in hand,
 * and what waits behind that goes to others.
 *
 * A rank that wants work asks each other rank once; one with candidates that wait sends it one; the
 * verdict goes back, and it may ask again. A rank whose candidates are all judged says so and goes
 * on helping. When all have said so, all say good-bye: no letter is left behind. Verdicts do not
 * depend on who gave them. */
#ifndef VERIFY_POOL_WORK_STEALING_H
#define VERIFY_POOL_WORK_STEALING_H

#include "par/par.h"
#include "verify/pool/pool.h"

struct work_stealing {
	struct judge_pool *pool;      /* borrowed: this rank's */
	struct par *par;              /* borrowed */
	struct steal_rank *rank;     /* [ranks]: what is known of each other */
	/* own candidates from `at` on that nobody has yet */
	struct { struct steal_job *v; size_t n, cap, at; } waiting;
	size_t own;                   /* own candidates without a verdict */
	int64_t given;                /* own candidates that others judged */
	/* what others tell this rank; NULL: nothing is done with it */
	int (*heard)(void *ctx, struct str data, struct err *e);
	void *heard_ctx;
	struct buf letter;
};

int steal_init(struct work_stealing *r, struct judge_pool *pool, struct par *par, struct err *e);
void steal_release(struct work_stealing *r);

/* As judge_pool_submit and judge_pool_next, for own candidates; others' are judged by the way. An
 * id has at most 48 bits. */
int steal_submit(struct work_stealing *r, uint64_t id, struct str task, struct str candidate, struct err *e);
int steal_next(struct work_stealing *r, int wait, struct judged *out, struct err *e);
/* Something for another rank to know, whenever it next looks: before steal_finish returns there. */
int steal_tell(struct work_stealing *r, int to, struct str data, struct err *e);
/* Once all own candidates are judged: helps until everyone's are. Every rank calls it, and nothing after it. */
int steal_finish(struct work_stealing *r, struct err *e);

#endif
