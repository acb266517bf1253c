/* The result of learning a vocabulary, and how it is written. */
#ifndef TOK_TOK_TRAIN_H
#define TOK_TOK_TRAIN_H

#include "base/mem.h"
#include "tok/tok.h"

struct train_merge { int32_t a, b; };

struct train_result {
	struct arena arena;
	struct { struct str *v; size_t n, cap; } tokens;          /* bytes, by id */
	struct { struct train_merge *v; size_t n, cap; } merges;  /* by rank */
};

int tok_train_write(const char *dir, const struct tok_train *job, const struct train_result *r, struct err *e);

#endif
