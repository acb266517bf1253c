/* The most recent verdicts by content. Thread-safe. */
#ifndef SERVE_RECENT_VERDICTS_H
#define SERVE_RECENT_VERDICTS_H

#include "verify/verdict/verdict.h"

struct recent_verdicts;

/* Keeps at most `most` verdicts; a new one replaces the oldest. */
struct recent_verdicts *recent_verdicts_new(size_t most, struct err *e);
void recent_verdicts_free(struct recent_verdicts *m);
/* Returns 1 and *v, or 0 if the key is unknown. */
int recent_verdicts_get(struct recent_verdicts *m, const char *key, struct verdict *v);
void recent_verdicts_put(struct recent_verdicts *m, const char *key, const struct verdict *v);

#endif
