/* Verification over HTTP.
 *
 * Candidates of all requests wait here; their number is bounded. Each combination of judge options
 * has a service pool: a pool of judging processes and the thread that feeds it. Pools that nobody
 * uses are closed when others are needed. Inside a pool the clients are served in turn, candidate
 * by candidate, so that a client with a thousand candidates does not delay a client with one.
 *
 * Verdicts are kept by content: the same candidate under the same options is answered at once.
 * Waiting candidates of a client that has disconnected are dropped. */
#ifndef SERVE_VERIFY_SERVICE_H
#define SERVE_VERIFY_SERVICE_H

#include "net/httpd.h"
#include "verify/pool/judge_args.h"

struct verify_service;

struct verify_service_options {
	struct judge_args judge;      /* defaults for the options of a request */
	int64_t waiting;              /* candidates of all requests that may wait; 0: 4096 */
	int pools;                    /* combinations of options served at the same time; 0: 4 */
};

/* Opens the pool of the default options at once, so that a sandbox that cannot be set up is reported now. */
struct verify_service *verify_service_open(const struct verify_service_options *o, struct err *e);
/* Finishes the candidates being judged, and answers those that wait with an error. */
void verify_service_close(struct verify_service *d);

/* POST /v1/verify. The body is {"task": SOURCE, "candidate": SOURCE, "id": ...}, or {"candidates": [...]} with a
 * list of such objects and a "task" for those without one. "options": {"track": "hybrid", ...} are options of
 * the command `verify`; "answers": true means that candidates are answers of a model, with prose around the
 * code. The reply has one verdict on each line, in the order in which they are ready. */
void verify_service_verify(struct verify_service *d, struct httpd_call *c);
/* GET /v1/verdicts/KEY: an earlier verdict, by the `key` in its line. */
void verify_service_verdict(struct verify_service *d, struct httpd_call *c);

struct verify_service_stats {
	int64_t waiting, judging, pools;
	/* answered since the start, in all and by outcome */
	int64_t candidates, correct, wrong, unsupported, unjudged;
	int64_t cached;                                    /* answered from earlier verdicts */
	int64_t dropped;                                   /* candidates of clients that disconnected */
	int64_t refused;                                   /* requests answered with status 429 */
	double seconds;                                    /* from arrival to verdict, summed over `candidates` */
};
struct verify_service_stats verify_service_stats(struct verify_service *d);

#endif
