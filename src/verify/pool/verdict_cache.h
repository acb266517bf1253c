/* Verdicts by content. The same candidate for the same task under the same options, judged by the
 * same build of this program, gets the verdict that it got before. Times are not kept. A verdict
 * that depends on the machine (a time limit, a worker that died) is not kept either. */
#ifndef VERIFY_POOL_VERDICT_CACHE_H
#define VERIFY_POOL_VERDICT_CACHE_H

#include "store/store.h"
#include "verify/candidate/judge.h"

/* The key: sha256 of candidate, task, the program's build and every option that a verdict depends on. */
void verdict_key(const struct judge_options *o, struct str task, struct str candidate, char hex[65]);
/* A short key of build and options alone, the same for all candidates. */
void verdict_fingerprint(const struct judge_options *o, char out[17]);

/* Returns 1 and *v, 0 if there is none, -1 on our own failure (*e). */
int verdict_cache_get(struct store *s, const char *key, struct verdict *v, struct err *e);
int verdict_cache_put(struct store *s, const char *key, const struct verdict *v, struct err *e);

/* Clears all times, so that a repeated run gives the same bytes. */
void verdict_forget_times(struct verdict *v);

#endif
