/* An HTTP client: one request, one reply, over libcurl.
 *
 * A `struct http` is one connection's worth of state and belongs to one thread; it keeps its
 * connection open between calls. A call returns 0 when the server answered, with any status: the
 * caller decides what a status means. It returns -1 when there was no complete answer; `sent` then
 * tells whether the server may have acted on the request anyway. Redirects are not followed.
 * Nothing is retried here. */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct http;

struct http_options {
	double connect_seconds;       /* 0: 10 */
	double stall_seconds;         /* a transfer slower than a kilobyte a second for so long fails; 0: 30 */
	int64_t bytes_per_second;     /* cap on this connection, each way; 0: none */
	const atomic_int *stop;       /* nonzero ends a call in flight; NULL: never */
	const char *ca_file;          /* certificates to trust instead of the system's; NULL: the system's */
};

struct http *http_open(const struct http_options *o, struct err *e);
void http_close(struct http *h);

/* A growable list of "Name: value" lines. */
struct http_headers {
	char **v;
	size_t n, cap;
};
int http_header_add(struct http_headers *h, struct err *e, const char *fmt, ...) PRINTF_LIKE(3, 4);
void http_headers_release(struct http_headers *h);
/* The value of the first header of that name, ignoring case; .p is NULL if there is no such
 * header. */
struct str http_header(const struct http_headers *h, const char *name);

struct http_request {
	const char *method;           /* "GET", "PUT", ... */
	const char *url;
	const struct http_headers *headers;
	struct str body;              /* borrowed for the call */
	double seconds;               /* for the whole call; 0: only stalls end it */
	size_t body_most;             /* bytes of an answer's body kept in `body`; 0: 16 MiB; more is an error */
	/* If not NULL, receives the body of answers with status 200 or 206 piece by piece. */
	int (*sink)(void *ctx, const void *p, size_t n);
	void *sink_ctx;
};

struct http_reply {
	int status;
	struct http_headers headers;
	struct buf body;
	int sent;                     /* on failure: the request had left whole */
};

int http_call(struct http *h, const struct http_request *q, struct http_reply *r, struct err *e);
void http_reply_release(struct http_reply *r);

/* Appends `s` percent-encoded as RFC 3986 asks; '/' stays where `slash` is nonzero. */
void http_encode(struct buf *out, struct str s, int slash);

#endif
