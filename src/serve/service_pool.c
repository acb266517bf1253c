/* A service pool: a pool of judging processes for one combination of options, and the thread that
 * feeds it. See verify_service.h.
 *
 * Only the thread uses the judge pool; other threads only add candidates to the waiting lists and
 * wake it. Invariant: every candidate that was added is answered, also when the pool fails or
 * closes. */
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/verify_service_impl.h"
#include "verify/pool/verdict_cache.h"

/* Candidates given to the judge pool beyond one for each worker, so that no worker idles. */
enum { AHEAD = 2 };

/* The waiting candidates of one client, and how many of its candidates were taken so far. */
struct waiting {
	uint64_t client;
	int64_t served;
	struct verify_item *first, **last;
};

struct service_pool {
	struct verify_service *verify;
	char *name;                   /* canonical text of the options */
	struct judge_options o;
	struct judge_pool *pool;
	pthread_t thread;
	int wake;                     /* an eventfd that ends a wait of the thread */
	int users;                    /* requests that use it; guarded by the service's lock, as is `used` */
	int64_t used;                 /* when the last request left, in nanoseconds */
	atomic_int busy;              /* candidates that wait or are being judged */
	pthread_mutex_t lock;         /* guards `clients` and `closing` */
	struct { struct waiting **v; size_t n, cap; } clients;
	int closing;
	/* used only by the thread: candidates being judged, by their id in the judge pool */
	struct { struct verify_item **v; size_t n, cap; } inside;
};

const struct judge_options *service_pool_options(const struct service_pool *p)
{
	return &p->o;
}

/* Wakes the thread. */
static void ring(struct service_pool *p)
{
	uint64_t one = 1;

	if (write(p->wake, &one, sizeof one) < 0)
		log_debug("the thread of a judging pool was not woken");
}

/* --- scheduling -------------------------------------------------------------------------------------- */

/* Returns the waiting list of a client. A new client starts with the smallest count of the others.
 * With 0 only the new client would be served until it has caught up. */
static struct waiting *client_of(struct service_pool *p, uint64_t client)
{
	struct waiting *w;
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < p->clients.n; i++) {
		if (p->clients.v[i]->client == client)
			return p->clients.v[i];
		least = MIN(least, p->clients.v[i]->served);
	}
	w = mem_zalloc(sizeof *w);
	if (!w || vec_push(&p->clients, w))
		BUG("no memory for a client");
	*w = (struct waiting){ .client = client, .served = least == INT64_MAX ? 0 : least };
	w->last = &w->first;
	return w;
}

/* Adds the candidate to its client's list and wakes the thread. `busy` keeps the pool from being
 * closed. */
void service_pool_add(struct service_pool *p, struct verify_item *it)
{
	struct waiting *w;

	pthread_mutex_lock(&p->lock);
	w = client_of(p, it->job->client);
	it->next = NULL;
	*w->last = it;
	w->last = &it->next;
	pthread_mutex_unlock(&p->lock);
	atomic_fetch_add(&p->busy, 1);
	ring(p);
}

/* Removes the next candidate of the client that was served least. Call it with the lock held. */
static struct verify_item *take(struct service_pool *p)
{
	size_t best = 0;
	struct verify_item *it;
	struct waiting *w;

	if (!p->clients.n)
		return NULL;
	for (size_t i = 1; i < p->clients.n; i++)
		if (p->clients.v[i]->served < p->clients.v[best]->served)
			best = i;
	w = p->clients.v[best];
	it = w->first;
	w->first = it->next;
	w->served++;
	if (!w->first) {
		mem_free(w);
		p->clients.v[best] = p->clients.v[--p->clients.n];
	} else if (!w->first->next) {
		w->last = &w->first->next;
	}
	return it;
}

/* --- the thread ------------------------------------------------------------------------------------------ */

/* Answers a candidate that will not be judged, with a reason. */
static void give_up(struct service_pool *p, struct verify_item *it, const char *why, int dropped)
{
	struct verdict v = { .stage = STAGE_ast, .track = p->o.track };

	diag_set(&v.diag, REASON_internal, 0, 0, "%s", why);
	atomic_fetch_sub(&p->busy, 1);
	verify_service_unreserve(p->verify, 1, dropped);
	verify_item_answer(it, &v, 1);
}

/* Gives candidates to the judge pool while it has room. Candidates of disconnected clients are
 * dropped. */
static int feed(struct service_pool *p, struct err *e)
{
	while (judge_pool_pending(p->pool) < (size_t)judge_pool_workers(p->pool) + AHEAD) {
		struct verify_item *it;
		size_t number = 0;

		pthread_mutex_lock(&p->lock);
		it = p->closing ? NULL : take(p);
		pthread_mutex_unlock(&p->lock);
		if (!it)
			return 0;
		if (httpd_gone(it->job->call)) {
			give_up(p, it, "the client has gone", 1);
			continue;
		}
		while (number < p->inside.n && p->inside.v[number])
			number++;
		if (number == p->inside.n && vec_push(&p->inside, NULL))
			BUG("no memory for a candidate");
		p->inside.v[number] = it;
		if (judge_pool_submit(p->pool, number, (struct str){ .p = it->task, .n = it->task_n },
				      (struct str){ .p = it->candidate, .n = it->candidate_n }, e)) {
			p->inside.v[number] = NULL;
			give_up(p, it, e->text, 0);
			return -1;
		}
		pthread_mutex_lock(&p->verify->lock);
		p->verify->st.judging++;
		pthread_mutex_unlock(&p->verify->lock);
	}
	return 0;
}

/* Answers a judged candidate and keeps its verdict. */
static void deliver(struct service_pool *p, struct judged *j)
{
	struct verify_item *it = p->inside.v[j->id];

	p->inside.v[j->id] = NULL;
	atomic_fetch_sub(&p->busy, 1);
	if (!j->rc)
		recent_verdicts_put(p->verify->recent, it->key, &j->verdict);
	else if (j->verdict.diag.reason == REASON_ok)
		diag_set(&j->verdict.diag, REASON_bad_task, 0, 0, "%s", j->err.text);
	pthread_mutex_lock(&p->verify->lock);
	p->verify->st.judging--;
	pthread_mutex_unlock(&p->verify->lock);
	verify_service_unreserve(p->verify, 1, 0);
	verify_item_answer(it, &j->verdict, j->rc != 0);
}

/* Waits until somebody wakes the thread. */
static void sleep_until_rung(struct service_pool *p)
{
	uint64_t n;

	if (read(p->wake, &n, sizeof n) < 0)
		log_debug("the thread of a judging pool woke without a reason");
}

/* Tells whether the thread may end: the pool closes and no candidate is being judged. */
static int is_over(struct service_pool *p)
{
	int over;

	pthread_mutex_lock(&p->lock);
	over = p->closing;
	pthread_mutex_unlock(&p->lock);
	return over && !judge_pool_pending(p->pool);
}

/* The thread: gives candidates to the judge pool and delivers verdicts. */
static void *keep_judging(void *ctx)
{
	struct service_pool *p = ctx;
	struct err e = ERR_INIT;
	struct judged j;
	int rc = 0;

	while (!is_over(p) && rc >= 0) {
		rc = feed(p, &e);
		if (!rc && !judge_pool_pending(p->pool)) {
			sleep_until_rung(p);
			continue;
		}
		if (!rc)
			rc = judge_pool_next(p->pool, 1, &j, &e);
		if (rc > 0)
			deliver(p, &j);
	}
	if (rc < 0)
		log_warn("one judging pool has failed and is closed: %s", e.text);
	/* Every remaining candidate gets an answer. */
	pthread_mutex_lock(&p->lock);
	p->closing = 1;
	for (struct verify_item *it; (it = take(p)); )
		give_up(p, it, rc < 0 ? e.text : "the server is stopping", 0);
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < p->inside.n; i++)
		if (p->inside.v[i])
			give_up(p, p->inside.v[i], e.text, 0);
	return NULL;
}

/* --- opening and closing ------------------------------------------------------------ */

/* Releases everything but the candidates, which the thread has answered. */
static void free_pool(struct service_pool *p)
{
	judge_pool_close(p->pool);
	if (p->wake >= 0)
		close(p->wake);
	pthread_mutex_destroy(&p->lock);
	vec_free(&p->clients);
	vec_free(&p->inside);
	mem_free(p->name);
	mem_free(p);
}

/* Opens the judge pool of these options and starts its thread. */
static struct service_pool *open_pool(struct verify_service *d, const struct judge_args *a, const char *name,
				      struct err *e)
{
	struct service_pool *p = mem_zalloc(sizeof *p);
	struct judge_pool_options po;

	if (!p) {
		err_nomem(e);
		return NULL;
	}
	p->verify = d;
	pthread_mutex_init(&p->lock, NULL);
	p->name = mem_strdup(name);
	p->wake = eventfd(0, EFD_CLOEXEC);
	if (!p->name || p->wake < 0) {
		err_errno(e, "cannot open a judging pool");
	} else if (!judge_args_options(a, &p->o, &po, e)) {
		po.wake_fd = p->wake;
		/* The tasks of requests are not trusted: no real Python may run them. */
		po.gpu.torch_device = "none";
		p->pool = judge_pool_open(&p->o, &po, e);
		if (p->pool && !pthread_create(&p->thread, NULL, keep_judging, p))
			return p;
		err_set(e, ERR_IO, "cannot start a thread");
	}
	free_pool(p);
	return NULL;
}

/* The thread finishes the candidates being judged and answers the others. */
void service_pool_close(struct service_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = 1;
	pthread_mutex_unlock(&p->lock);
	ring(p);
	pthread_join(p->thread, NULL);
	free_pool(p);
}

/* Returns the index for another pool: a free one, or that of the pool that was unused for longest. Returns -1 if
 * all are in use. */
static int find_slot(struct verify_service *d)
{
	int oldest = -1;

	for (int i = 0; i < d->o.pools; i++) {
		struct service_pool *p = d->pool[i];

		if (!p)
			return i;
		if (!p->users && !atomic_load(&p->busy) && (oldest < 0 || p->used < d->pool[oldest]->used))
			oldest = i;
	}
	return oldest;
}

/* A pool that is replaced is closed after the lock was released: its last candidates may take long. */
struct service_pool *service_pool_get(struct verify_service *d, const struct judge_args *a, const char *name,
				      struct err *e)
{
	struct service_pool *p = NULL, *old = NULL;
	int slot;

	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < d->o.pools && !p; i++)
		if (d->pool[i] && !strcmp(d->pool[i]->name, name))
			p = d->pool[i];
	slot = p ? 0 : find_slot(d);
	if (slot < 0) {
		err_set(e, ERR_IO, "%d other combinations of options are in use; try again later", d->o.pools);
	} else if (!p) {
		old = d->pool[slot];
		p = d->pool[slot] = open_pool(d, a, name, e);
		d->st.pools += p && !old;
	}
	if (p)
		p->users++;
	pthread_mutex_unlock(&d->lock);
	service_pool_close(old);
	return p;
}

/* The time of the last use decides which pool is closed when another one is needed. */
void service_pool_leave(struct service_pool *p)
{
	pthread_mutex_lock(&p->verify->lock);
	p->users--;
	p->used = clock_ns();
	pthread_mutex_unlock(&p->verify->lock);
}
