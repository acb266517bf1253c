/* A prepared task as bytes, which another process of the same build can open. The bytes hold the
 * task's image (candidate/task_image.h) and the data that only the deciding process may know, such
 * as expected results.
 *
 * Preparing a task is a function of its source, its sizes, the options and the build; so the bytes
 * are stored under a key of these. Bytes that do not match their hash are refused. */
#ifndef VERIFY_TASK_PREPARED_H
#define VERIFY_TASK_PREPARED_H

#include "verify/task/task.h"

enum { PREPARED_KEY = 65, PREPARED_ALIGN = 64 };

/* A store of prepared tasks: pool/task_cache.h. */
struct prepared_store {
	/* Returns 0 and *bytes, which the caller owns (mem_alloc_aligned with PREPARED_ALIGN), or 1
	 * if the store does not have the key. */
	int (*get)(void *ctx, const char *key, char **bytes, size_t *n);
	/* Keeps a copy. A failure is not reported: the task is prepared again then. */
	void (*put)(void *ctx, const char *key, struct str bytes);
	void *ctx;
};

/* The key of a task at these TASK_SIZES sizes; NULL: at the task's own values. `large` is any
 * number that distinguishes ways of opening. */
void prepared_key(const struct judge_options *o, struct str source, const int64_t *size, int large,
		  char key[PREPARED_KEY]);
/* Appends the task as bytes. Returns 0 on success, -1 on failure (*e). */
int prepared_pack(const struct task *t, struct buf *out, struct err *e);
/* Opens a task from bytes. It takes ownership of the bytes, also on failure. Returns NULL if the
 * bytes do not match their hash, or if memory ended. */
struct task *prepared_open(struct judge *j, char *bytes, size_t n, const char *name);

#endif
