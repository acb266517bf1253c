/* Inside of the desk: a candidate on its way, the request it came with, the lane that judges it. */
#ifndef SERVE_DESK_IMPL_H
#define SERVE_DESK_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "base/progress.h"
#include "serve/desk.h"
#include "serve/memo.h"

enum { DESK_LANES = 16 };

/* A request. Its answer ends when its last candidate was answered. */
struct desk_job {
	struct desk *desk;
	struct httpd_call *call;
	uint64_t client;
	int64_t start_ns;
	atomic_int left;
};

struct desk_item {
	struct desk_job *job;
	char *id, *task, *candidate;
	size_t task_n, candidate_n;
	char key[65];
	struct desk_item *next;
};

struct desk {
	struct desk_options o;
	pthread_mutex_t lock;         /* of lanes, statistics and `closing` */
	struct desk_lane *lane[DESK_LANES];
	struct memo *memo;
	int closing;
	struct desk_stats st;
};

/* Writes the line, and frees the item. */
void desk_answer(struct desk_item *it, const struct verdict *v, int failed);
void desk_job_drop(struct desk_job *j);
void desk_unreserve(struct desk *d, int64_t n, int dropped);

/* --- requests (desk_read.c) ---------------------------------------------------------------------------- */

struct desk_request {
	struct judge_args args;       /* its strings are in `words`, or the server's */
	char *name;                   /* of these options, for desk_lane */
	struct desk_item **items;     /* n of them */
	size_t n;
	struct arena words;
};

/* What the body asks for, with the server's own options where it does not say otherwise. Release it
 * whatever it returns. */
int desk_request_read(struct desk_request *r, struct str body, const struct judge_args *own, struct err *e);
void desk_request_release(struct desk_request *r);
void desk_item_free(struct desk_item *it);

/* --- lanes (desk_lane.c) ------------------------------------------------------------------------------- */

/* The lane of these options, opened if need be; `name` tells options apart. It stays open until lane_leave. */
struct desk_lane *desk_lane(struct desk *d, const struct judge_args *a, const char *name, struct err *e);
void lane_leave(struct desk_lane *l);
const struct judge_options *lane_options(const struct desk_lane *l);
void lane_add(struct desk_lane *l, struct desk_item *it);
/* Finishes what is being judged, answers what waits, ends the thread. NULL is fine. */
void lane_close(struct desk_lane *l);

#endif
