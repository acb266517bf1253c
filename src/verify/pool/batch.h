/* A batch of candidates for the judge. The answer for a candidate comes from the verdict cache,
 * from an equal candidate of the batch, or from a worker. Answers come in the order in which they
 * are ready; the ids tell callers which candidate each belongs to. */
#ifndef VERIFY_POOL_BATCH_H
#define VERIFY_POOL_BATCH_H

#include "store/store.h"
#include "verify/pool/rank_pool.h"
#include "verify/pool/work_stealing.h"

struct judge_batch {
	struct rank_pool rank_pool;
	struct work_stealing stealing;           /* replaces rank_pool if every rank has a batch of its own */
	const struct judge_options *options;     /* borrowed: part of the key of a candidate; NULL: none are equal */
	struct store *cache;                     /* borrowed: verdicts by content; NULL: none */
	int always;                              /* judge every candidate; the cache is only written */
	int64_t hits, kept;                      /* verdicts read from the cache, and added to it */
	struct { struct batch_job *v; size_t n, cap; } jobs;
	struct judged said;                      /* the last answer, for the jobs that wait for the same one */
	size_t telling;                          /* 1 + index of the next such job; 0: none */
	size_t waiting;                          /* number of jobs that wait for an equal one */
};

/* With `options` equal candidates are judged once; without, each is judged. */
int judge_batch_init(struct judge_batch *b, struct judge_pool *pool, struct par *par,
		     const struct judge_options *options, struct store *cache,
		     struct err *e);
void judge_batch_release(struct judge_batch *b);
/* For runs in which every rank has a batch: idle ranks help the others (work_stealing.h). Without
 * `par` nothing changes. Call it before the first candidate. All ranks call judge_batch_finish
 * after their last verdict. */
int judge_batch_steal(struct judge_batch *b, struct par *par, struct err *e);
int judge_batch_finish(struct judge_batch *b, struct err *e);

/* Adds a candidate. Returns 1 and *now if the answer is known, 0 if judge_batch_next will give it,
 * -1 on our own failure (*e). */
int judge_batch_ask(struct judge_batch *b, uint64_t id, struct str task, struct str candidate,
		    struct judged *now, struct err *e);
/* Same contract as judge_pool_next. */
int judge_batch_next(struct judge_batch *b, int wait, struct judged *out, struct err *e);
/* Number of candidates that have no answer yet. */
size_t judge_batch_pending(const struct judge_batch *b);
/* Tells whether there are enough candidates to keep all workers busy. */
int judge_batch_full(const struct judge_batch *b);

/* A source of candidates and the receiver of its verdicts. A nonzero result of `told` ends the
 * run. */
struct batch_source {
	int (*next)(void *ctx, uint64_t *id, struct str *task, struct str *candidate);     /* returns 0 at the end */
	int (*told)(void *ctx, const struct judged *j, struct err *e);
	void *ctx;
};
/* Judges all candidates of a source, a few ahead of the workers. ERR_INTERRUPTED if a stop was
 * requested. */
int judge_batch_run(struct judge_batch *b, const struct batch_source *s, struct err *e);
/* The same with only a pool, without a cache: every candidate is judged, also equal ones. */
int judge_pool_run(struct judge_pool *pool, const struct batch_source *s, struct err *e);

#endif
