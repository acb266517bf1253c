/* The device a model lives on: memory and the threads or streams that work on it.
 *
 * This is the only place that chooses between CPU and CUDA; everything above passes a
 * `struct dev *` along and calls the ops bound to it (ops/ops.h). A device outlives every
 * object made on it. Device memory is 64-byte aligned and, for large sizes, on huge pages. */
#ifndef DEV_DEV_H
#define DEV_DEV_H

#include <stddef.h>

#include "base/err.h"
#include "base/thread.h"

enum dev_kind { DEV_CPU, DEV_CUDA };

struct dev {
	enum dev_kind kind;
	struct pool *pool;      /* the CPU's threads */
	int threads;
	size_t held;            /* bytes handed out by dev_alloc and not returned */
	char *scratch;          /* [threads] blocks of scratch_each, then scratch_shared */
	size_t scratch_each, scratch_shared;
};

/* `name` is "cpu" or "auto"; `threads` 0 means one per usable core. */
struct dev *dev_open(const char *name, int threads, struct err *e);
void dev_close(struct dev *d);

/* Zeroed memory of the device; NULL and ERR_NOMEM when there is none. `n` goes back with it. */
void *dev_alloc(struct dev *d, size_t n, struct err *e);
void dev_free(struct dev *d, void *p, size_t n);

/* Working memory of the ops. Whoever makes something that runs ops reserves the most it will
 * need; an op that finds less is a bug. One caller runs ops on a device at a time. */
int dev_reserve(struct dev *d, size_t each, size_t shared, struct err *e);
void *dev_scratch(const struct dev *d, int thread, size_t need);
void *dev_shared(const struct dev *d, size_t need);

#endif
