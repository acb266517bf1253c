/* A queue of bounded length whose requests one thread answers, one after the other. */
#ifndef SERVE_QUEUE_H
#define SERVE_QUEUE_H

#include <pthread.h>

#include "base/err.h"

/* The first member of each struct that waits in a queue. */
struct queued { struct queued *next; };

/* Answers a request and frees it. Only the queue's thread calls it. */
typedef void queue_fn(void *ctx, struct queued *q);

struct queue {
	queue_fn *answer;
	void *ctx;
	int most;                     /* requests that may wait */
	pthread_t thread;
	int started;
	pthread_mutex_t lock;         /* guards everything below */
	pthread_cond_t come;          /* a request came, or the queue closes */
	struct queued *first, **last;
	int waiting, closing;
};

int queue_start(struct queue *q, int most, queue_fn *answer, void *ctx, struct err *e);
/* Answers all waiting requests, then ends the thread. A queue of zeros, which was never started, is allowed. */
void queue_stop(struct queue *q);
/* Returns 1 if the request was queued, 0 if too many wait or the queue closes. */
int queue_enter(struct queue *q, struct queued *a);

#endif
