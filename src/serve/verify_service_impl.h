/* Inside the verification service: a candidate, the request that it came with, and the pool that
 * judges it. */
#ifndef SERVE_VERIFY_SERVICE_IMPL_H
#define SERVE_VERIFY_SERVICE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/progress.h"
#include "serve/verify_service.h"
#include "serve/recent_verdicts.h"

enum { SERVICE_POOLS_MOST = 16 };

/* A request that is being answered. The reply ends when its last candidate was answered. */
struct verify_job {
	struct verify_service *verify;
	struct httpd_call *call;
	uint64_t client;              /* the client's address as a number, for fair scheduling */
	int64_t start_ns;
	atomic_int left;              /* candidates without an answer; one more while they are submitted */
};

/* A candidate. Owned by the list that it is in. */
struct verify_item {
	struct verify_job *job;
	char *id, *task, *candidate;
	size_t task_n, candidate_n;   /* the sources may contain zero bytes */
	char key[65];                 /* of its verdict: see verdict_key */
	struct verify_item *next;
};

struct verify_service {
	struct verify_service_options o;
	pthread_mutex_t lock;         /* guards pools, statistics and `closing` */
	struct service_pool *pool[SERVICE_POOLS_MOST];
	struct recent_verdicts *recent;
	int closing;
	struct verify_service_stats st;
};

/* Writes the candidate's line and frees the item. */
void verify_item_answer(struct verify_item *it, const struct verdict *v, int failed);
/* One answer less is missing; the last one ends the reply and frees the job. */
void verify_job_drop(struct verify_job *j);
/* n candidates wait no more, because they were answered or `dropped`. */
void verify_service_unreserve(struct verify_service *d, int64_t n, int dropped);

/* Converts the "options" of a request to at most `most` words of a command line. Options that belong to the
 * server are refused. */
int request_words(const struct json *options, struct arena *a, char **words, int most, int *n, struct err *e);

/* --- requests (verify_request.c) ----------------------------------------------------------------------- */

struct verify_request {
	struct judge_args args;       /* its strings are in `words`, or the server's own */
	char *name;                   /* canonical text of these options, for service_pool_get */
	struct verify_item **items;   /* n of them */
	size_t n;
	struct arena words;
};

/* Reads a body. `own` are the server's options, used for those that the request leaves out. Release *r in any
 * case. */
int verify_request_read(struct verify_request *r, struct str body, const struct judge_args *own, struct err *e);
void verify_request_release(struct verify_request *r);
void verify_item_free(struct verify_item *it);

/* --- pools (service_pool.c) -------------------------------------------------------------------------------- */

/* Returns the pool of these options, opened if necessary. Equal options have equal names. The pool stays open
 * until service_pool_leave. */
struct service_pool *service_pool_get(struct verify_service *d, const struct judge_args *a, const char *name,
				      struct err *e);
void service_pool_leave(struct service_pool *l);
const struct judge_options *service_pool_options(const struct service_pool *l);
/* Queues a candidate. Takes the item over. */
void service_pool_add(struct service_pool *l, struct verify_item *it);
/* Finishes the candidates being judged, answers those that wait, and ends the thread. NULL is allowed. */
void service_pool_close(struct service_pool *l);

#endif
