/* The thread pool: see thread.h.
 *
 * Threads wait at gates. A gate is a counter that is raised when the event they wait for has
 * happened. A region begins at `begin`; the last thread to leave it opens `done`. A wait first
 * spins and then sleeps. The length of the spin is learned: it shrinks if it ends in sleep anyway
 * (the other thread has no core at the moment) and grows if it pays. */
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/cpu.h"
#include "base/mem.h"

enum {
	SPINS_LEAST = 64, SPINS_MOST = 4000,   /* limits of the learned length */
	PROBE = 64,             /* one in 64 failed short spins is followed by a long one */
	LINE = 64               /* bytes between words that different threads write */
};

struct worker {
	struct pool *pool;
	int me;                         /* its number, passed to the work */
	pthread_t thread;
};

/* An event that happens many times. `apart` keeps the words of different gates on different cache
 * lines. */
struct gate {
	_Atomic unsigned word;          /* how often the event has happened */
	_Atomic int sleepers;           /* threads that wait at `moved` */
	pthread_cond_t moved;
	char apart[LINE];
};

/* Words that different threads write are a cache line apart; otherwise each write would take the
 * line away from the others. */
struct pool {
	int threads;
	struct worker *worker;          /* [threads], 0 is the caller */
	int started;                    /* highest number of a running thread */
	pool_fn *fn;                    /* the work of the current region */
	void *ctx;
	_Atomic int quit;               /* workers end at the next region */
	_Atomic int spins;              /* current length of a spin */
	_Atomic unsigned failed;        /* spins that ended in sleep */
	pthread_mutex_t lock;           /* of the gates' conditions */
	char apart[LINE];
	struct gate begin, done, barrier;
	_Atomic int running;            /* threads still in the region */
	char apart_running[LINE];
	_Atomic int arrived;            /* threads at the barrier */
};

/* Tells the processor that this is a spin, which saves power and helps the other hyper-thread. */
static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static unsigned gate_now(struct gate *g)
{
	return atomic_load_explicit(&g->word, memory_order_acquire);
}

/* Spins until the gate moves from `old`. Returns 1 if it moved, 0 if the spin took too long. */
static int gate_spin(struct pool *p, struct gate *g, unsigned old)
{
	int most = atomic_load_explicit(&p->spins, memory_order_relaxed);

	for (int i = 0; i < most; i++) {
		if (gate_now(g) != old) {
			if (most < SPINS_MOST)
				atomic_store_explicit(&p->spins, MIN(most + most / 2, SPINS_MOST),
						      memory_order_relaxed);
			return 1;
		}
		relax();
	}
	most = atomic_fetch_add_explicit(&p->failed, 1, memory_order_relaxed) % PROBE ?
		MAX(most / 4, SPINS_LEAST) : SPINS_MOST;
	atomic_store_explicit(&p->spins, most, memory_order_relaxed);
	return 0;
}

/* Waits until the gate moves from `old`. A sleeper is counted before it reads the word for the last
 * time, and the word moves before sleepers are looked for. So one of the two sees the other, and no
 * wake-up is lost. */
static void gate_wait(struct pool *p, struct gate *g, unsigned old)
{
	if (gate_spin(p, g, old))
		return;
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&g->sleepers, 1);
	while (atomic_load(&g->word) == old)
		pthread_cond_wait(&g->moved, &p->lock);
	atomic_fetch_sub(&g->sleepers, 1);
	pthread_mutex_unlock(&p->lock);
}

/* The usual case, in which all threads spin, needs no lock. */
static void gate_open(struct pool *p, struct gate *g)
{
	atomic_fetch_add(&g->word, 1);
	if (!atomic_load(&g->sleepers))
		return;
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&g->moved);
	pthread_mutex_unlock(&p->lock);
}

/* The last thread of a region opens `done`, for which the caller waits. */
static void finish(struct pool *p)
{
	if (atomic_fetch_sub(&p->running, 1) == 1)
		gate_open(p, &p->done);
}

/* `seen` counts the regions this thread has taken part in, so a fast second region is not
 * missed. */
static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	unsigned seen = 0;

	for (;;) {
		gate_wait(p, &p->begin, seen++);
		if (atomic_load(&p->quit))
			return NULL;
		p->fn(p->ctx, w->me, p->threads);
		finish(p);
	}
}

/* The calling thread is number 0 and works too, so a pool of one starts no thread. */
struct pool *pool_new(int threads, struct err *e)
{
	struct pool *p = mem_zalloc(sizeof *p);

	if (threads <= 0)
		threads = cpu_info()->cores;
	if (!p || !(p->worker = mem_array((size_t)threads, sizeof *p->worker))) {
		mem_free(p);
		err_nomem(e);
		return NULL;
	}
	p->threads = threads;
	atomic_store(&p->spins, SPINS_MOST);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->begin.moved, NULL);
	pthread_cond_init(&p->done.moved, NULL);
	pthread_cond_init(&p->barrier.moved, NULL);
	for (int i = 1; i < threads; i++) {
		p->worker[i] = (struct worker){ .pool = p, .me = i };
		if (pthread_create(&p->worker[i].thread, NULL, worker_main, &p->worker[i])) {
			err_set(e, ERR_IO, "cannot start thread %d of %d", i + 1, threads);
			pool_free(p);
			return NULL;
		}
		p->started = i;
	}
	return p;
}

/* Opens the gate a last time with `quit` set, which ends every worker. */
void pool_free(struct pool *p)
{
	if (!p)
		return;
	atomic_store(&p->quit, 1);
	gate_open(p, &p->begin);
	for (int i = 1; i <= p->started; i++)
		pthread_join(p->worker[i].thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->begin.moved);
	pthread_cond_destroy(&p->done.moved);
	pthread_cond_destroy(&p->barrier.moved);
	mem_free(p->worker);
	mem_free(p);
}

int pool_size(const struct pool *p)
{
	return p ? p->threads : 1;
}

/* Every thread calls fn once with its number. The caller returns when all have finished. */
void pool_run(struct pool *p, pool_fn *fn, void *ctx)
{
	unsigned before;

	if (!p || p->threads == 1) {
		fn(ctx, 0, 1);
		return;
	}
	p->fn = fn;
	p->ctx = ctx;
	before = gate_now(&p->done);
	atomic_store(&p->running, p->threads);
	gate_open(p, &p->begin);
	fn(ctx, 0, p->threads);
	finish(p);
	gate_wait(p, &p->done, before);
}

/* The last thread to arrive resets the counter before it opens the gate, so the next barrier can
 * begin. */
void pool_barrier(struct pool *p)
{
	unsigned before;

	if (!p || p->threads == 1)
		return;
	before = gate_now(&p->barrier);
	if (atomic_fetch_add(&p->arrived, 1) + 1 == p->threads) {
		atomic_store(&p->arrived, 0);
		gate_open(p, &p->barrier);
	} else {
		gate_wait(p, &p->barrier, before);
	}
}

struct range_job {
	size_t n, grain;
	pool_range_fn *fn;
	void *ctx;
	_Atomic size_t next;
};

/* Thread `me` gets a fixed part of the chunks. The division depends only on n, grain and the number
 * of threads, never on timing. */
static void run_static(void *arg, int me, int count)
{
	struct range_job *j = arg;
	size_t chunks = (j->n + j->grain - 1) / j->grain;
	size_t lo = chunks * (size_t)me / (size_t)count * j->grain;
	size_t hi = chunks * ((size_t)me + 1) / (size_t)count * j->grain;

	hi = MIN(hi, j->n);
	if (lo < hi)
		j->fn(j->ctx, lo, hi);
}

/* Threads take the next chunk when they are free: for work of uneven length whose result does not
 * depend on the thread. */
static void run_dynamic(void *arg, int me, int count)
{
	struct range_job *j = arg;

	(void)me, (void)count;
	for (;;) {
		size_t lo = atomic_fetch_add(&j->next, j->grain);

		if (lo >= j->n)
			return;
		j->fn(j->ctx, lo, MIN(lo + j->grain, j->n));
	}
}

/* A pool that does nothing: callers that need only the shape of a result pass it. */
struct pool *pool_idle(void)
{
	static struct pool idle = { .threads = 1 };

	return &idle;
}

/* Small work runs on the caller: waking threads would cost more than it saves. */
static void run_ranges(struct pool *p, pool_fn *how, struct range_job *job)
{
	if (job->n == 0 || p == pool_idle())
		return;
	if (job->grain == 0)
		job->grain = 1;
	if (!p || p->threads == 1 || job->n <= job->grain)
		job->fn(job->ctx, 0, job->n);
	else
		pool_run(p, how, job);
}

void pool_for(struct pool *p, size_t n, size_t grain, pool_range_fn *fn, void *ctx)
{
	run_ranges(p, run_static, &(struct range_job){ .n = n, .grain = grain, .fn = fn, .ctx = ctx });
}

void pool_for_dynamic(struct pool *p, size_t n, size_t grain, pool_range_fn *fn, void *ctx)
{
	run_ranges(p, run_dynamic, &(struct range_job){ .n = n, .grain = grain, .fn = fn, .ctx = ctx });
}
