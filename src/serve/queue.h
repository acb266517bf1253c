/* Requests that one thread answers, one after the other: a line of bounded length. */
#ifndef SERVE_QUEUE_H
#define SERVE_QUEUE_H

#include <pthread.h>

#include "base/err.h"

/* First member of what waits. */
struct queued { struct queued *next; };

/* Answers, and frees what waited. Called by the queue's thread alone. */
typedef void queue_fn(void *ctx, struct queued *q);

struct queue {
	queue_fn *answer;
	void *ctx;
	int most;                     /* that may wait */
	pthread_t thread;
	int started;
	pthread_mutex_t lock;         /* of what follows */
	pthread_cond_t come;
	struct queued *first, **last;
	int waiting, closing;
};

int queue_start(struct queue *q, int most, queue_fn *answer, void *ctx, struct err *e);
/* Whoever waits is answered first. A queue of zeros, which never started, may be stopped, too. */
void queue_stop(struct queue *q);
/* 1: it waits now; 0: too many do, or the queue closes. */
int queue_enter(struct queue *q, struct queued *a);

#endif
