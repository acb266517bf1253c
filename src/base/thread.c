/* The thread pool: see thread.h.
 *
 * A region is announced by raising `epoch`; a thread that sees a new epoch runs the function
 * and lowers `running`. Waiting is a short spin, then a condition variable. */
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/cpu.h"
#include "base/mem.h"

enum { SPINS = 4000 };

struct worker {
	struct pool *pool;
	int me;
	pthread_t thread;
};

struct pool {
	int threads;
	struct worker *worker;          /* [threads], 0 is the caller */
	int started;
	pool_fn *fn;
	void *ctx;
	_Atomic unsigned epoch;
	_Atomic int running;
	_Atomic int quit;
	_Atomic unsigned barrier_epoch;
	_Atomic int barrier_waiting;
	pthread_mutex_t lock;
	pthread_cond_t wake;            /* a new epoch, a barrier passed, or running == 0 */
};

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* Waits until *word differs from `old`; spins first. */
static void wait_change(struct pool *p, _Atomic unsigned *word, unsigned old)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(word, memory_order_acquire) != old)
			return;
		relax();
	}
	pthread_mutex_lock(&p->lock);
	while (atomic_load(word) == old)
		pthread_cond_wait(&p->wake, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void raise_word(struct pool *p, _Atomic unsigned *word)
{
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(word, 1);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

static void finish(struct pool *p)
{
	if (atomic_fetch_sub(&p->running, 1) != 1)
		return;
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	unsigned seen = 0;

	for (;;) {
		wait_change(p, &p->epoch, seen);
		seen = atomic_load(&p->epoch);
		if (atomic_load(&p->quit))
			return NULL;
		p->fn(p->ctx, w->me, p->threads);
		finish(p);
	}
}

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
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
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

void pool_free(struct pool *p)
{
	if (!p)
		return;
	atomic_store(&p->quit, 1);
	raise_word(p, &p->epoch);
	for (int i = 1; i <= p->started; i++)
		pthread_join(p->worker[i].thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wake);
	mem_free(p->worker);
	mem_free(p);
}

int pool_size(const struct pool *p)
{
	return p ? p->threads : 1;
}

void pool_run(struct pool *p, pool_fn *fn, void *ctx)
{
	if (!p || p->threads == 1) {
		fn(ctx, 0, 1);
		return;
	}
	p->fn = fn;
	p->ctx = ctx;
	atomic_store(&p->running, p->threads);
	raise_word(p, &p->epoch);
	fn(ctx, 0, p->threads);
	atomic_fetch_sub(&p->running, 1);
	for (int i = 0; i < SPINS && atomic_load(&p->running); i++)
		relax();
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->running))
		pthread_cond_wait(&p->wake, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void pool_barrier(struct pool *p)
{
	unsigned now;

	if (!p || p->threads == 1)
		return;
	now = atomic_load(&p->barrier_epoch);
	if (atomic_fetch_add(&p->barrier_waiting, 1) + 1 == p->threads) {
		atomic_store(&p->barrier_waiting, 0);
		raise_word(p, &p->barrier_epoch);
	} else {
		wait_change(p, &p->barrier_epoch, now);
	}
}

struct range_job {
	size_t n, grain;
	pool_range_fn *fn;
	void *ctx;
	_Atomic size_t next;
};

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

static void run_ranges(struct pool *p, pool_fn *how, struct range_job *job)
{
	if (job->n == 0)
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
