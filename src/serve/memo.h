/* Verdicts by content, the newest so many of them. Thread-safe. */
#ifndef SERVE_MEMO_H
#define SERVE_MEMO_H

#include "verify/verdict/verdict.h"

struct memo;

struct memo *memo_new(size_t most, struct err *e);
void memo_free(struct memo *m);
/* 1 and *v; 0: not there. */
int memo_get(struct memo *m, const char *key, struct verdict *v);
void memo_put(struct memo *m, const char *key, const struct verdict *v);

#endif
