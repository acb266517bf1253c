/* Verdicts by content: the same candidate for the same task under the same options, judged by
 * the same build of this program, gets the verdict it got before. What a verdict was is kept,
 * not how long it took; a verdict that depends on the machine (a time limit, a worker that
 * died) is not kept. */
#ifndef VERIFY_POOL_VERDICT_CACHE_H
#define VERIFY_POOL_VERDICT_CACHE_H

#include "store/store.h"
#include "verify/config/key.h"
#include "verify/verdict/verdict.h"

/* 1 and *v, 0: absent, -1. */
int verdict_cache_get(struct store *s, const char *key, struct verdict *v, struct err *e);
int verdict_cache_put(struct store *s, const char *key, const struct verdict *v, struct err *e);

/* Forgets the times, so that a run and its repetition keep the same. */
void verdict_forget_times(struct verdict *v);

#endif
