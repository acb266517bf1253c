/* Sharing the GPU: see gpu_quiet.h.
 *
 * Invariant: timing is 0 or users is 0. */
#include "verify/gpu/gpu_quiet.h"

#include "base/log.h"

void gpu_quiet_init(struct gpu_quiet *q)
{
	*q = (struct gpu_quiet){ .since = clock_ns() };
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
}

/* Adds the time since the last change to the sum that it belongs to. The lock is held. */
static void account(struct gpu_quiet *q)
{
	int64_t now = clock_ns();

	if (q->timing)
		q->timing_ns += now - q->since;
	else if (!q->users)
		q->idle_ns += now - q->since;
	q->since = now;
}

/* A bench that waits to time would never start if new uses went before it. */
void gpu_quiet_enter(struct gpu_quiet *q)
{
	pthread_mutex_lock(&q->lock);
	while (q->timing || q->waiting)
		pthread_cond_wait(&q->changed, &q->lock);
	account(q);
	q->users++;
	pthread_mutex_unlock(&q->lock);
}

void gpu_quiet_leave(struct gpu_quiet *q)
{
	pthread_mutex_lock(&q->lock);
	account(q);
	q->users--;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

void gpu_quiet_begin(struct gpu_quiet *q)
{
	int64_t begin = clock_ns();

	/* The own use ends first: two benches that want to time would wait for each other. */
	pthread_mutex_lock(&q->lock);
	account(q);
	q->users--;
	q->waiting++;
	pthread_cond_broadcast(&q->changed);
	while (q->timing || q->users)
		pthread_cond_wait(&q->changed, &q->lock);
	account(q);
	q->waiting--;
	q->timing = 1;
	q->waiting_ns += clock_ns() - begin;
	pthread_mutex_unlock(&q->lock);
}

void gpu_quiet_end(struct gpu_quiet *q)
{
	pthread_mutex_lock(&q->lock);
	account(q);
	q->timing = 0;
	q->users++;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}
