/* Verdicts by content: the same candidate for the same task under the same options, judged by
 * the same build of this program, gets the verdict it got before. What a verdict was is kept,
 * not how long it took; a verdict that depends on the machine (a time limit, a worker that
 * died) is not kept. */
#ifndef VERIFY_POOL_VERDICT_CACHE_H
#define VERIFY_POOL_VERDICT_CACHE_H

#include "store/store.h"
#include "verify/candidate/judge.h"

/* sha256 of candidate, task, the program's build and every option that a verdict depends on. */
void verdict_key(const struct judge_options *o, struct str task, struct str candidate, char hex[65]);
/* The part of it that is the same for all candidates: build and options. */
void verdict_fingerprint(const struct judge_options *o, char out[17]);

/* 1 and *v, 0: absent, -1. */
int verdict_cache_get(struct store *s, const char *key, struct verdict *v, struct err *e);
int verdict_cache_put(struct store *s, const char *key, const struct verdict *v, struct err *e);

/* Forgets the times, so that a run and its repetition keep the same. */
void verdict_forget_times(struct verdict *v);

#endif
