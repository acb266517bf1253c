/* The desk: verification over HTTP.
 *
 * Candidates of all requests wait here, a bounded number of them. Each combination of judge options
 * has a lane: a pool of judging processes and the thread that feeds it; lanes that nobody uses are
 * closed when others are wanted. Inside a lane the clients take turns, candidate by candidate, so that
 * one with a thousand does not hold up one with a single one. Verdicts are kept by content: the same
 * candidate under the same options is answered at once. What a client that went away still had
 * waiting is dropped. */
#ifndef SERVE_VERIFY_SERVICE_H
#define SERVE_VERIFY_SERVICE_H

#include "net/httpd.h"
#include "verify/pool/judge_args.h"

struct verify_service;

struct verify_service_options {
	struct judge_args judge;      /* where a request does not say otherwise */
	int64_t waiting;              /* candidates that may wait, of all requests; 0: 4096 */
	int pools;                    /* 0: 4 */
};

/* The lane of the default options is opened at once: a sandbox that cannot be set up is found now. */
struct verify_service *verify_service_open(const struct verify_service_options *o, struct err *e);
/* What waits is answered 503; what is being judged is finished first. */
void verify_service_close(struct verify_service *d);

/* POST /v1/verify. The body: {"task": SOURCE, "candidate": SOURCE, "id": ...}, or {"candidates": [...]} of such
 * objects, with a "task" for those that have none; "options": {"track": "hybrid", ...} as of the command, and
 * "answers": true for answers of a model. The answer: a verdict a line, as they are ready. */
void verify_service_verify(struct verify_service *d, struct httpd_call *c);
/* GET /v1/verdicts/KEY: a verdict by the `key` that it was answered with. */
void verify_service_verdict(struct verify_service *d, struct httpd_call *c);

struct verify_service_stats {
	int64_t waiting, judging, pools;
	int64_t candidates, correct, wrong, unjudged;      /* answered, since the start */
	int64_t cached, dropped, refused;                  /* from the cache; of clients that went; with 429 */
	double seconds;                                    /* from arrival to verdict, summed over `candidates` */
};
struct verify_service_stats verify_service_stats(struct verify_service *d);

#endif
