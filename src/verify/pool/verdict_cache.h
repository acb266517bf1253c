/* Verdicts by content. The same candidate for the same task under the same options, judged by the
 * same build of this program, gets the verdict that it got before. Times are not kept. A verdict
 * that depends on the machine (a time limit, a worker that died) is not kept either. */
#ifndef VERIFY_POOL_VERDICT_CACHE_H
#define VERIFY_POOL_VERDICT_CACHE_H

#include "store/store.h"
#include "verify/config/key.h"
#include "verify/verdict/verdict.h"

/* Returns 1 and *v if the verdict is stored, 0 if it is not, -1 on our own failure (*e). */
int verdict_cache_get(struct store *s, const char *key, struct verdict *v, struct err *e);
int verdict_cache_put(struct store *s, const char *key, const struct verdict *v, struct err *e);

/* Clears all times, so that a repeated run gives the same bytes. */
void verdict_forget_times(struct verdict *v);

#endif
