/* A lane: a pool of judging processes and the thread that feeds it. See desk.h. */
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/desk_impl.h"
#include "verify/pool/verdict_cache.h"

/* Candidates handed to the pool beyond one a worker, so that none is idle while we choose. */
enum { AHEAD = 2 };

/* Waiting candidates of one client, and how many of them had their turn. */
struct waiting {
	uint64_t client;
	int64_t served;
	struct desk_item *first, **last;
};

struct desk_lane {
	struct desk *desk;
	char *name;
	struct judge_options o;
	struct judge_pool *pool;
	pthread_t thread;
	int wake;                     /* an eventfd */
	int users;                    /* guarded by the desk's lock, as is `used` */
	int64_t used;                 /* when the last one left */
	atomic_int busy;              /* candidates that wait or are in the pool */
	pthread_mutex_t lock;         /* of what follows */
	struct { struct waiting **v; size_t n, cap; } clients;
	int closing;
	/* The thread's own: candidates in the pool by their number. */
	struct { struct desk_item **v; size_t n, cap; } inside;
};

const struct judge_options *lane_options(const struct desk_lane *l)
{
	return &l->o;
}

static void ring(struct desk_lane *l)
{
	uint64_t one = 1;

	if (write(l->wake, &one, sizeof one) < 0)
		log_debug("a lane was not woken");
}

/* --- who is next ------------------------------------------------------------------------------------ */

static struct waiting *client_of(struct desk_lane *l, uint64_t client)
{
	struct waiting *w;
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < l->clients.n; i++) {
		if (l->clients.v[i]->client == client)
			return l->clients.v[i];
		least = MIN(least, l->clients.v[i]->served);
	}
	w = mem_zalloc(sizeof *w);
	if (!w || vec_push(&l->clients, w))
		BUG("no memory for a client");
	/* Who comes later starts where the others are, not with all the turns they had. */
	*w = (struct waiting){ .client = client, .served = least == INT64_MAX ? 0 : least };
	w->last = &w->first;
	return w;
}

void lane_add(struct desk_lane *l, struct desk_item *it)
{
	struct waiting *w;

	pthread_mutex_lock(&l->lock);
	w = client_of(l, it->job->client);
	it->next = NULL;
	*w->last = it;
	w->last = &it->next;
	pthread_mutex_unlock(&l->lock);
	atomic_fetch_add(&l->busy, 1);
	ring(l);
}

/* The next candidate of the client that had the fewest turns. Call with the lock held. */
static struct desk_item *take(struct desk_lane *l)
{
	size_t best = 0;
	struct desk_item *it;
	struct waiting *w;

	if (!l->clients.n)
		return NULL;
	for (size_t i = 1; i < l->clients.n; i++)
		if (l->clients.v[i]->served < l->clients.v[best]->served)
			best = i;
	w = l->clients.v[best];
	it = w->first;
	w->first = it->next;
	w->served++;
	if (!w->first) {
		mem_free(w);
		l->clients.v[best] = l->clients.v[--l->clients.n];
	} else if (!w->first->next) {
		w->last = &w->first->next;
	}
	return it;
}

/* --- the thread ------------------------------------------------------------------------------------------ */

static void give_up(struct desk_lane *l, struct desk_item *it, const char *why, int dropped)
{
	struct verdict v = { .stage = STAGE_ast, .track = l->o.track };

	diag_set(&v.diag, REASON_internal, 0, 0, "%s", why);
	atomic_fetch_sub(&l->busy, 1);
	desk_unreserve(l->desk, 1, dropped);
	desk_answer(it, &v, 1);
}

/* Hands candidates to the pool while it has room. */
static int feed(struct desk_lane *l, struct err *e)
{
	while (judge_pool_pending(l->pool) < (size_t)judge_pool_workers(l->pool) + AHEAD) {
		struct desk_item *it;
		size_t number = 0;

		pthread_mutex_lock(&l->lock);
		it = l->closing ? NULL : take(l);
		pthread_mutex_unlock(&l->lock);
		if (!it)
			return 0;
		if (httpd_gone(it->job->call)) {
			give_up(l, it, "the client has gone", 1);
			continue;
		}
		while (number < l->inside.n && l->inside.v[number])
			number++;
		if (number == l->inside.n && vec_push(&l->inside, NULL))
			BUG("no memory for a candidate");
		l->inside.v[number] = it;
		if (judge_pool_submit(l->pool, number, (struct str){ .p = it->task, .n = it->task_n },
				      (struct str){ .p = it->candidate, .n = it->candidate_n }, e)) {
			l->inside.v[number] = NULL;
			give_up(l, it, e->text, 0);
			return -1;
		}
		pthread_mutex_lock(&l->desk->lock);
		l->desk->st.judging++;
		pthread_mutex_unlock(&l->desk->lock);
	}
	return 0;
}

static void deliver(struct desk_lane *l, struct judged *j)
{
	struct desk_item *it = l->inside.v[j->id];

	l->inside.v[j->id] = NULL;
	atomic_fetch_sub(&l->busy, 1);
	if (!j->rc)
		memo_put(l->desk->memo, it->key, &j->verdict);
	else if (j->verdict.diag.reason == REASON_ok)
		diag_set(&j->verdict.diag, REASON_bad_task, 0, 0, "%s", j->err.text);
	pthread_mutex_lock(&l->desk->lock);
	l->desk->st.judging--;
	pthread_mutex_unlock(&l->desk->lock);
	desk_unreserve(l->desk, 1, 0);
	desk_answer(it, &j->verdict, j->rc != 0);
}

static void sleep_until_rung(struct desk_lane *l)
{
	uint64_t n;

	if (read(l->wake, &n, sizeof n) < 0)
		log_debug("a lane woke without a reason");
}

static int is_over(struct desk_lane *l)
{
	int over;

	pthread_mutex_lock(&l->lock);
	over = l->closing;
	pthread_mutex_unlock(&l->lock);
	return over && !judge_pool_pending(l->pool);
}

static void *keep_judging(void *ctx)
{
	struct desk_lane *l = ctx;
	struct err e = ERR_INIT;
	struct judged j;
	int rc = 0;

	while (!is_over(l) && rc >= 0) {
		rc = feed(l, &e);
		if (!rc && !judge_pool_pending(l->pool)) {
			sleep_until_rung(l);
			continue;
		}
		if (!rc)
			rc = judge_pool_next(l->pool, 1, &j, &e);
		if (rc > 0)
			deliver(l, &j);
	}
	if (rc < 0)
		log_warn("judging with these options has ended: %s", e.text);
	/* What is left is answered, never silently lost. */
	pthread_mutex_lock(&l->lock);
	l->closing = 1;
	for (struct desk_item *it; (it = take(l)); )
		give_up(l, it, rc < 0 ? e.text : "the server is stopping", 0);
	pthread_mutex_unlock(&l->lock);
	for (size_t i = 0; i < l->inside.n; i++)
		if (l->inside.v[i])
			give_up(l, l->inside.v[i], e.text, 0);
	return NULL;
}

/* --- life ---------------------------------------------------------------------------------------------------- */

static void lane_free(struct desk_lane *l)
{
	judge_pool_close(l->pool);
	if (l->wake >= 0)
		close(l->wake);
	pthread_mutex_destroy(&l->lock);
	vec_free(&l->clients);
	vec_free(&l->inside);
	mem_free(l->name);
	mem_free(l);
}

static struct desk_lane *lane_open(struct desk *d, const struct judge_args *a, const char *name, struct err *e)
{
	struct desk_lane *l = mem_zalloc(sizeof *l);
	struct judge_pool_options po;

	if (!l) {
		err_nomem(e);
		return NULL;
	}
	l->desk = d;
	pthread_mutex_init(&l->lock, NULL);
	l->name = mem_strdup(name);
	l->wake = eventfd(0, EFD_CLOEXEC);
	if (!l->name || l->wake < 0) {
		err_errno(e, "cannot open a lane");
	} else if (!judge_args_options(a, &l->o, &po, e)) {
		po.wake_fd = l->wake;
		l->pool = judge_pool_open(&l->o, &po, e);
		if (l->pool && !pthread_create(&l->thread, NULL, keep_judging, l))
			return l;
		err_set(e, ERR_IO, "cannot start a thread");
	}
	lane_free(l);
	return NULL;
}

void lane_close(struct desk_lane *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->closing = 1;
	pthread_mutex_unlock(&l->lock);
	ring(l);
	pthread_join(l->thread, NULL);
	lane_free(l);
}

/* A place for another lane: a free one, or that of the lane which nobody used for longest. -1: all are in use. */
static int find_place(struct desk *d)
{
	int oldest = -1;

	for (int i = 0; i < d->o.lanes; i++) {
		struct desk_lane *l = d->lane[i];

		if (!l)
			return i;
		if (!l->users && !atomic_load(&l->busy) && (oldest < 0 || l->used < d->lane[oldest]->used))
			oldest = i;
	}
	return oldest;
}

struct desk_lane *desk_lane(struct desk *d, const struct judge_args *a, const char *name, struct err *e)
{
	struct desk_lane *l = NULL, *old = NULL;
	int place;

	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < d->o.lanes && !l; i++)
		if (d->lane[i] && !strcmp(d->lane[i]->name, name))
			l = d->lane[i];
	place = l ? 0 : find_place(d);
	if (place < 0) {
		err_set(e, ERR_IO, "%d other combinations of options are in use", d->o.lanes);
	} else if (!l) {
		old = d->lane[place];
		l = d->lane[place] = lane_open(d, a, name, e);
		d->st.lanes += l && !old;
	}
	if (l)
		l->users++;
	pthread_mutex_unlock(&d->lock);
	lane_close(old);
	return l;
}

void lane_leave(struct desk_lane *l)
{
	pthread_mutex_lock(&l->desk->lock);
	l->users--;
	l->used = clock_ns();
	pthread_mutex_unlock(&l->desk->lock);
}
