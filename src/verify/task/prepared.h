/* A task made ready, as bytes that another process of the same build can go on with: its image
 * (image.h) and what only the decider may know, expected results and tolerances among it.
 *
 * Making a task ready is a function of its source, its sizes, the options and the build, so the bytes
 * are kept by a key of these. Bytes that are not as they were written are not taken. */
#ifndef VERIFY_TASK_PREPARED_H
#define VERIFY_TASK_PREPARED_H

#include "verify/task/task.h"

enum { PREPARED_KEY = 65 };

/* Where they are kept: shelf.h. */
struct prepared_store {
	/* 0: *bytes, from mem_alloc_aligned with PREPARED_ALIGN. 1: there are none. */
	int (*get)(void *ctx, const char *key, char **bytes, size_t *n);
	void (*put)(void *ctx, const char *key, struct str bytes);
	void *ctx;
};

enum { PREPARED_ALIGN = 64 };

/* `size` NULL: as the task gives them; else one for each of TASK_SIZES. */
void prepared_key(const struct judge_options *o, struct str source, const int64_t *size, int large,
		  char key[PREPARED_KEY]);
int prepared_pack(const struct task *t, struct buf *out, struct err *e);
/* Takes the bytes over, whatever it returns. NULL: they are not what was written, or memory ended. */
struct task *prepared_open(struct judge *j, char *bytes, size_t n, const char *name);

#endif
