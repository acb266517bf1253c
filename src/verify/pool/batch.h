/* Candidates before the judge, whoever asks: each is answered by the cache, by an equal one of the batch,
 * or by a worker. Answers come as they are ready; who wants them in order has the ids. */
#ifndef VERIFY_POOL_BATCH_H
#define VERIFY_POOL_BATCH_H

#include "store/store.h"
#include "verify/pool/rank_pool.h"
#include "verify/pool/work_stealing.h"

struct judge_batch {
	struct rank_pool rank_pool;
	struct work_stealing stealing;                    /* in place of the crew, where every rank has a batch */
	const struct judge_options *options;     /* borrowed: part of what makes candidates equal; NULL: none are */
	struct store *cache;                     /* borrowed: verdicts by content; NULL: none */
	int always;                              /* every one is judged; the cache only gets its verdict */
	int64_t hits, kept;                      /* verdicts that the cache had, and got */
	struct { struct batch_job *v; size_t n, cap; } jobs;
	struct judged said;                      /* the last worker's answer, for those that wait for the same */
	size_t telling;                          /* 1 + the next of them; 0: none */
	size_t waiting;                          /* jobs that wait for an equal one */
};

/* With `options` equal candidates are judged once; without, each. */
int judge_batch_init(struct judge_batch *b, struct judge_pool *pool, struct par *par,
		     const struct judge_options *options, struct store *cache,
		     struct err *e);
void judge_batch_release(struct judge_batch *b);
/* Every rank has a batch, and who has nothing to judge helps the others (relief.h); nothing changes
 * where `par` is NULL. Called before the first candidate; judge_batch_finish is called after the
 * last verdict, by all. */
int judge_batch_steal(struct judge_batch *b, struct par *par, struct err *e);
int judge_batch_finish(struct judge_batch *b, struct err *e);

/* 1 and *now: the answer is known; 0: judge_batch_next will give it; -1. */
int judge_batch_ask(struct judge_batch *b, uint64_t id, struct str task, struct str candidate,
		    struct judged *now, struct err *e);
/* As judge_pool_next. */
int judge_batch_next(struct judge_batch *b, int wait, struct judged *out, struct err *e);
/* Asked and not yet answered. */
size_t judge_batch_pending(const struct judge_batch *b);
/* Are there enough of them to keep all workers busy? */
int judge_batch_full(const struct judge_batch *b);

/* Where candidates come from, and who wants to know. Nonzero from `told` ends it. */
struct batch_source {
	int (*next)(void *ctx, uint64_t *id, struct str *task, struct str *candidate);     /* 0: no more */
	int (*told)(void *ctx, const struct judged *j, struct err *e);
	void *ctx;
};
/* All of a source, a few ahead of the workers. ERR_INTERRUPTED: a stop was asked for. */
int judge_batch_run(struct judge_batch *b, const struct batch_source *s, struct err *e);
/* The same with a pool alone, where no two candidates are equal. */
int judge_pool_run(struct judge_pool *pool, const struct batch_source *s, struct err *e);

#endif
