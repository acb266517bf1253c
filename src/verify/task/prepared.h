/* A prepared task as bytes, with which another process of the same build can go on: its image
 * (candidate/task_image.h), and what only the deciding process may know, such as expected results.
 *
 * Preparing a task is a function of its source, its sizes, the options and the build; so the bytes are
 * kept by a key of these. Bytes that are not as they were written are refused. */
#ifndef VERIFY_TASK_PREPARED_H
#define VERIFY_TASK_PREPARED_H

#include "verify/task/task.h"

enum { PREPARED_KEY = 65, PREPARED_ALIGN = 64 };

/* Where prepared tasks are kept: pool/task_cache.h. */
struct prepared_store {
	/* Returns 0 and *bytes, which the caller owns (mem_alloc_aligned with PREPARED_ALIGN), or 1. */
	int (*get)(void *ctx, const char *key, char **bytes, size_t *n);
	/* Keeps a copy. It may fail without a word: the task is prepared again then. */
	void (*put)(void *ctx, const char *key, struct str bytes);
	void *ctx;
};

/* The key of a task at these sizes, TASK_SIZES of them; NULL: as the task has them. `large` is any number
 * that tells ways of opening apart. */
void prepared_key(const struct judge_options *o, struct str source, const int64_t *size, int large,
		  char key[PREPARED_KEY]);
/* Appends the task as bytes. Returns 0, or -1 (*e). */
int prepared_pack(const struct task *t, struct buf *out, struct err *e);
/* Opens a task and takes the bytes over, whatever it returns. NULL: they are not as they were written,
 * or memory ended. */
struct task *prepared_open(struct judge *j, char *bytes, size_t n, const char *name);

#endif
