/* Verdicts by content, the newest so many of them. Thread-safe. */
#ifndef SERVE_RECENT_VERDICTS_H
#define SERVE_RECENT_VERDICTS_H

#include "verify/verdict/verdict.h"

struct recent_verdicts;

struct recent_verdicts *recent_verdicts_new(size_t most, struct err *e);
void recent_verdicts_free(struct recent_verdicts *m);
/* 1 and *v; 0: not there. */
int recent_verdicts_get(struct recent_verdicts *m, const char *key, struct verdict *v);
void recent_verdicts_put(struct recent_verdicts *m, const char *key, const struct verdict *v);

#endif
