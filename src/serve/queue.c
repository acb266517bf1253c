/* A queue that one thread answers: see queue.h. Invariant: `last` points to the NULL pointer at the
 * end of the list. */
#include "serve/queue.h"

/* Waits for a request. Returns NULL when the queue is closed and empty. */
static struct queued *take(struct queue *q)
{
	struct queued *a;

	pthread_mutex_lock(&q->lock);
	while (!q->first && !q->closing)
		pthread_cond_wait(&q->come, &q->lock);
	a = q->first;
	if (a) {
		q->first = a->next;
		q->last = q->first ? q->last : &q->first;
		q->waiting--;
	}
	pthread_mutex_unlock(&q->lock);
	return a;
}

/* The thread. */
static void *answer_all(void *ctx)
{
	struct queue *q = ctx;
	struct queued *a;

	while ((a = take(q)))
		q->answer(q->ctx, a);
	return NULL;
}

/* Starts the thread. The caller's struct must stay where it is until queue_stop. */
int queue_start(struct queue *q, int most, queue_fn *answer, void *ctx, struct err *e)
{
	*q = (struct queue){ .answer = answer, .ctx = ctx, .most = most };
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->come, NULL);
	q->started = !pthread_create(&q->thread, NULL, answer_all, q);
	if (q->started)
		return 0;
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->come);
	return err_set(e, ERR_IO, "cannot start a thread");
}

/* Waits for the thread, which answers everything that is queued. */
void queue_stop(struct queue *q)
{
	if (!q->started)
		return;
	pthread_mutex_lock(&q->lock);
	q->closing = 1;
	pthread_cond_signal(&q->come);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->come);
	q->started = 0;
}

/* The length is bounded, so that a flood of requests is refused instead of filling the memory. */
int queue_enter(struct queue *q, struct queued *a)
{
	int room;

	pthread_mutex_lock(&q->lock);
	room = q->waiting < q->most && !q->closing;
	if (room) {
		a->next = NULL;
		*q->last = a;
		q->last = &a->next;
		q->waiting++;
		pthread_cond_signal(&q->come);
	}
	pthread_mutex_unlock(&q->lock);
	return room;
}
