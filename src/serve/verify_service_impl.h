/* Inside of the desk: a candidate on its way, the request it came with, the lane that judges it. */
#ifndef SERVE_VERIFY_SERVICE_IMPL_H
#define SERVE_VERIFY_SERVICE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "base/progress.h"
#include "serve/verify_service.h"
#include "serve/recent_verdicts.h"

enum { SERVICE_POOLS_MOST = 16 };

/* A request. Its answer ends when its last candidate was answered. */
struct verify_job {
	struct verify_service *verify;
	struct httpd_call *call;
	uint64_t client;
	int64_t start_ns;
	atomic_int left;
};

struct verify_item {
	struct verify_job *job;
	char *id, *task, *candidate;
	size_t task_n, candidate_n;
	char key[65];
	struct verify_item *next;
};

struct verify_service {
	struct verify_service_options o;
	pthread_mutex_t lock;         /* of lanes, statistics and `closing` */
	struct service_pool *pool[SERVICE_POOLS_MOST];
	struct recent_verdicts *recent;
	int closing;
	struct verify_service_stats st;
};

/* Writes the line, and frees the item. */
void verify_item_answer(struct verify_item *it, const struct verdict *v, int failed);
void verify_job_drop(struct verify_job *j);
void verify_service_unreserve(struct verify_service *d, int64_t n, int dropped);

/* --- requests (desk_read.c) ---------------------------------------------------------------------------- */

struct verify_request {
	struct judge_args args;       /* its strings are in `words`, or the server's */
	char *name;                   /* of these options, for service_pool */
	struct verify_item **items;     /* n of them */
	size_t n;
	struct arena words;
};

/* What the body asks for, with the server's own options where it does not say otherwise. Release it
 * whatever it returns. */
int verify_request_read(struct verify_request *r, struct str body, const struct judge_args *own, struct err *e);
void verify_request_release(struct verify_request *r);
void verify_item_free(struct verify_item *it);

/* --- lanes (service_pool.c) ------------------------------------------------------------------------------- */

/* The lane of these options, opened if need be; `name` tells options apart. It stays open until service_pool_leave. */
struct service_pool *service_pool_get(struct verify_service *d, const struct judge_args *a, const char *name, struct err *e);
void service_pool_leave(struct service_pool *l);
const struct judge_options *service_pool_options(const struct service_pool *l);
void service_pool_add(struct service_pool *l, struct verify_item *it);
/* Finishes what is being judged, answers what waits, ends the thread. NULL is fine. */
void service_pool_close(struct service_pool *l);

#endif
