/* A pool of threads that work together on one thing at a time.
 *
 * Deterministic by construction: work is divided by index, not by free threads, and reductions
 * add partial results in index order, so the result depends on the cut, never on timing.
 * Threads spin briefly and then sleep, so that a region per layer is cheap. A process that
 * forks must not use the parent's pool in the child: make a new one there. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stddef.h>

#include "base/err.h"

struct pool;

struct pool *pool_new(int threads, struct err *e);     /* 0: one per usable core */
void pool_free(struct pool *p);
int pool_size(const struct pool *p);

/* Runs fn(ctx, me, count) on all threads, the caller being number 0; returns when all did. */
typedef void pool_fn(void *ctx, int me, int count);
void pool_run(struct pool *p, pool_fn *fn, void *ctx);
/* Inside pool_run: waits for all threads of the region. */
void pool_barrier(struct pool *p);

/* A pool that ignores the work of pool_for: for callers that need the shape of a result, not its
 * contents. */
struct pool *pool_idle(void);
/* fn(ctx, begin, end) over [0, n) in chunks of at least `grain`, statically cut. A NULL pool
 * or a small n runs on the caller. */
typedef void pool_range_fn(void *ctx, size_t begin, size_t end);
void pool_for(struct pool *p, size_t n, size_t grain, pool_range_fn *fn, void *ctx);
/* The same, but threads take the next chunk when free: for work of uneven size whose result
 * does not depend on order. */
void pool_for_dynamic(struct pool *p, size_t n, size_t grain, pool_range_fn *fn, void *ctx);

#endif
