/* An HTTP server over libmicrohttpd: whole requests in, answers out from any thread.
 *
 * A route's function is called on the server's thread once the request has arrived with all of its
 * body; it must not wait. It answers at once or later, from any thread, in one piece or as a
 * stream. A call belongs to its answerer until httpd_reply or httpd_end. If the client disconnects
 * meanwhile, httpd_gone returns 1 and further output is dropped.
 *
 * Before a route sees a request: size and number of connections are limited, slow clients are
 * dropped, a request with two lengths gets 400, and if a token is set, a request without it gets 401. */
#ifndef NET_HTTPD_H
#define NET_HTTPD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct httpd;
struct httpd_call;

typedef void httpd_fn(void *ctx, struct httpd_call *c);

struct httpd_route {
	const char *method;           /* NULL ends the list */
	/* "/v1/verify"; "/v1/verdicts/" with a slash at the end takes what follows as well */
	const char *path;
	httpd_fn *fn;
};

struct httpd_options {
	const char *host;             /* NULL: 127.0.0.1 */
	int port;                     /* 0: any */
	const char *token;            /* NULL: nobody asks */
	/* Only requests to this machine by name or number (Host), and only from its own pages (Origin): a page of
	 * another site that has its name point to 127.0.0.1 gets 403. */
	int local;
	size_t body_most;             /* 0: 16 MiB */
	int connections;              /* 0: 512 */
	int seconds;                  /* a connection may be silent so long; 0: 60 */
	const struct httpd_route *routes;
	void *ctx;
};

struct httpd *httpd_open(const struct httpd_options *o, struct err *e);
int httpd_port(const struct httpd *h);
/* From now on new requests get 503. */
void httpd_drain(struct httpd *h);
/* Takes no new requests, waits at most `seconds` until the present ones are answered, and ends. */
void httpd_close(struct httpd *h, double seconds);

struct httpd_stats { int64_t requests, open, refused; };
struct httpd_stats httpd_stats(const struct httpd *h);

/* --- a request ---------------------------------------------------------------------------- */

struct str httpd_rest(const struct httpd_call *c);       /* after the route's path */
struct str httpd_body(const struct httpd_call *c);
/* NULL: not there. */
const char *httpd_header(const struct httpd_call *c, const char *name);
/* The client's address as a number, for fairness. */
uint64_t httpd_client(const struct httpd_call *c);
/* The client has gone. */
int httpd_gone(const struct httpd_call *c);

/* --- answers ------------------------------------------------------------------------------ */

/* The whole answer. `extra` is a header line ("Retry-After: 1") or NULL. */
void httpd_reply(struct httpd_call *c, int status, const char *type, struct str body, const char *extra);
/* {"error": {"message": ..., "type": ...}}, as OpenAI's clients read it. */
void httpd_error(struct httpd_call *c, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* An answer in pieces, each sent as it comes. */
void httpd_begin(struct httpd_call *c, const char *type);
void httpd_add(struct httpd_call *c, struct str piece);
void httpd_end(struct httpd_call *c);

#endif
