/* The server: see httpd.h.
 *
 * A call is shared by two sides, the connection (libmicrohttpd's thread) and the answerer. Each
 * holds one reference; `lock` guards the members that both touch. While there is nothing to send
 * the connection is suspended. A thread that adds something to send resumes it. */
#include "net/httpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

/* Defaults: bytes of a request, open connections, seconds without traffic. */
enum { BODY_MOST = 16 << 20, CONNECTIONS = 512, SECONDS = 60 };

/* A server. */
struct httpd {
	struct httpd_options o;
	struct MHD_Daemon *daemon;
	int port;
	atomic_int closing;
	atomic_llong requests, refused, open;
	unsigned char token[32];      /* its digest, so that comparing takes the same time for all */
};

/* One request and its answer. */
struct httpd_call {
	struct httpd *h;
	struct MHD_Connection *conn;
	const struct httpd_route *route;
	char *path;
	uint64_t client;
	struct buf body;
	int too_large;
	int whole;                    /* all of the request is there */
	pthread_mutex_t lock;
	int refs;
	int gone;                     /* the client is */
	int suspended;
	int begun, ended;             /* the answer */
	int queued;                   /* handed to libmicrohttpd */
	int streaming;
	int status;
	char *type, *extra;
	struct buf out;               /* bytes that wait to be sent */
	size_t sent;
};

/* --- references --------------------------------------------------------------------------- */

/* Drops one reference; the last one frees the call. */
static void release(struct httpd_call *c)
{
	int left;

	pthread_mutex_lock(&c->lock);
	left = --c->refs;
	pthread_mutex_unlock(&c->lock);
	if (left)
		return;
	atomic_fetch_sub(&c->h->open, c->whole);
	pthread_mutex_destroy(&c->lock);
	buf_release(&c->body);
	buf_release(&c->out);
	mem_free(c->path);
	mem_free(c->type);
	mem_free(c->extra);
	mem_free(c);
}

/* Resumes the connection if it waits. Call with the lock held. */
static void wake(struct httpd_call *c)
{
	if (c->suspended && !c->gone) {
		c->suspended = 0;
		MHD_resume_connection(c->conn);
	}
}

/* --- sending ------------------------------------------------------------------------------ */

/* libmicrohttpd asks for more of a streamed answer; nothing there suspends the connection. */
static ssize_t on_pull(void *ctx, uint64_t at, char *to, size_t most)
{
	struct httpd_call *c = ctx;
	ssize_t n;

	(void)at;
	pthread_mutex_lock(&c->lock);
	n = (ssize_t)MIN(c->out.n - c->sent, most);
	if (n > 0) {
		memcpy(to, c->out.p + c->sent, (size_t)n);
		c->sent += (size_t)n;
		if (c->sent == c->out.n) {
			buf_clear(&c->out);
			c->sent = 0;
		}
	} else if (c->ended) {
		n = MHD_CONTENT_READER_END_OF_STREAM;
	} else {
		c->suspended = 1;
		MHD_suspend_connection(c->conn);
	}
	pthread_mutex_unlock(&c->lock);
	return n;
}

/* Hands the answer to libmicrohttpd: as it is, or as a stream. */
static enum MHD_Result queue(struct httpd_call *c)
{
	struct MHD_Response *r;
	enum MHD_Result rc;

	c->queued = 1;
	if (c->streaming)
		r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1 << 16, on_pull, c, NULL);
	else
		r = MHD_create_response_from_buffer(c->out.n, (void *)buf_cstr(&c->out), MHD_RESPMEM_PERSISTENT);
	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, c->type ? c->type : "application/json");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (c->extra) {
		struct str value = str_of(c->extra), name = str_cut(&value, ':');
		char key[64];

		snprintf(key, sizeof key, "%.*s", STR_ARG(name));
		value = str_trim(value);
		MHD_add_response_header(r, key, value.p);
	}
	rc = MHD_queue_response(c->conn, (unsigned)c->status, r);
	MHD_destroy_response(r);
	return rc;
}

/* --- receiving ---------------------------------------------------------------------------- */

/* A hash of the client's address, for limits by client. */
static uint64_t address_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *i = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = i ? i->client_addr : NULL;

	if (a && a->sa_family == AF_INET)
		return hash_xxh64(&((const struct sockaddr_in *)a)->sin_addr, sizeof (struct in_addr), 0);
	if (a && a->sa_family == AF_INET6)
		return hash_xxh64(&((const struct sockaddr_in6 *)a)->sin6_addr, sizeof (struct in6_addr), 0);
	return 0;
}

/* The longest path that fits; *known: the path is there, but not with this method. */
static const struct httpd_route *find_route(const struct httpd *h, const char *method, struct str path, int *known)
{
	const struct httpd_route *best = NULL;

	*known = 0;
	for (const struct httpd_route *r = h->o.routes; r->method; r++) {
		size_t n = strlen(r->path);
		int fits = r->path[n - 1] == '/' && n > 1 ? str_starts(path, r->path) : str_is(path, r->path);

		*known |= fits;
		if (fits && !strcmp(r->method, method) && (!best || n > strlen(best->path)))
			best = r;
	}
	return best;
}

/* A call for a new request, with one reference. */
static struct httpd_call *new_call(struct httpd *h, struct MHD_Connection *conn, const char *url)
{
	struct httpd_call *c = mem_zalloc(sizeof *c);

	if (!c || !(c->path = mem_strdup(url))) {
		mem_free(c);
		return NULL;
	}
	c->h = h;
	c->conn = conn;
	c->client = address_of(conn);
	c->refs = 1;
	c->status = 200;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/* Does the request carry the server's token? Digests are compared in constant time. */
static int has_token(const struct httpd_call *c)
{
	const char *given = httpd_header(c, "Authorization");
	unsigned char digest[32];
	struct sha256 s;
	int same = 0;

	if (!c->h->o.token)
		return 1;
	if (!given || strncmp(given, "Bearer ", 7))
		return 0;
	sha256_init(&s);
	sha256_add(&s, given + 7, strlen(given + 7));
	sha256_end(&s, digest);
	for (size_t i = 0; i < sizeof digest; i++)
		same |= digest[i] ^ c->h->token[i];
	return !same;
}

/* Is this "HOST" or "HOST:PORT" of a loopback address? */
static int is_local(struct str host)
{
	int v6 = str_starts(host, "[");
	ptrdiff_t colon = str_find(host, v6 ? STR("]:") : STR(":"));

	if (colon >= 0)
		host.n = (size_t)colon + (size_t)v6;
	return str_is_any_case(host, "localhost") || str_is(host, "[::1]") || str_starts(host, "127.");
}

/* Tells whether a request may reach a server that listens to this machine only and has no token. A
 * browser always sends Host, and Origin with every request that another site's page makes. Programs
 * that send neither are no browsers. */
static int is_own(const struct httpd_call *c)
{
	const char *host = httpd_header(c, "Host"), *origin = httpd_header(c, "Origin");

	if (!c->h->o.local)
		return 1;
	if (host && !is_local(str_of(host)))
		return 0;
	return !origin || (host && str_starts(str_of(origin), "http://") && !strcmp(origin + 7, host));
}

/* The answer that needs no route, if there is one. */
static void refuse(struct httpd_call *c, const char *method)
{
	int known;

	if (c->too_large) {
		httpd_error(c, 413, "the request is larger than %zu bytes", c->h->o.body_most);
	} else if (atomic_load(&c->h->closing)) {
		httpd_error(c, 503, "the server is stopping");
	} else if (!is_own(c)) {
		httpd_error(c, 403, "this server answers to localhost and 127.0.0.1 only, and to no page of another "
			    "site; to open it to others, set a token (--token-file)");
	} else if (!has_token(c)) {
		httpd_error(c, 401, "this server wants a token: Authorization: Bearer TOKEN");
	} else if (!(c->route = find_route(c->h, method, str_of(c->path), &known))) {
		httpd_error(c, known ? 405 : 404, known ? "%s is not for '%s'" : "%s: there is no '%s'",
			    method, c->path);
	} else {
		return;
	}
	atomic_fetch_add(&c->h->refused, 1);
}

/* A whole request: the route has it, and the answer or a wait follows. */
static enum MHD_Result dispatch(struct httpd_call *c, const char *method)
{
	int answered;

	c->refs++;                       /* the answerer's */
	c->whole = 1;
	atomic_fetch_add(&c->h->open, 1);
	atomic_fetch_add(&c->h->requests, 1);
	refuse(c, method);
	if (c->route)
		c->route->fn(c->h->o.ctx, c);
	pthread_mutex_lock(&c->lock);
	answered = c->begun;
	if (!answered) {
		c->suspended = 1;
		MHD_suspend_connection(c->conn);
	}
	pthread_mutex_unlock(&c->lock);
	return answered ? queue(c) : MHD_YES;
}

/* Counts a header that decides where the request ends. */
static enum MHD_Result count_length(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind, (void)value;
	*(int *)ctx += str_is_any_case(str_of(name), MHD_HTTP_HEADER_CONTENT_LENGTH) ||
		str_is_any_case(str_of(name), MHD_HTTP_HEADER_TRANSFER_ENCODING);
	return MHD_YES;
}

/* Two lengths, or a length and a transfer coding: a proxy may read another end of the request than this
 * server does. The request is answered before its body, and the connection is closed. */
static int refuse_lengths(struct httpd_call *c)
{
	int lengths = 0;

	MHD_get_connection_values(c->conn, MHD_HEADER_KIND, count_length, &lengths);
	if (lengths < 2)
		return 0;
	c->refs++;                       /* httpd_error gives up the answerer's */
	c->whole = 1;
	atomic_fetch_add(&c->h->open, 1);
	atomic_fetch_add(&c->h->requests, 1);
	atomic_fetch_add(&c->h->refused, 1);
	httpd_error(c, 400, "the request has two lengths; send one Content-Length header");
	return 1;
}

/* libmicrohttpd's callback: first for the headers, then for parts of the body, then for the end,
 * and again after each wait. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *conn, const char *url, const char *method,
				  const char *version, const char *data,
				  size_t *n, void **state)
{
	struct httpd *h = ctx;
	struct httpd_call *c = *state;
	int waiting;

	(void)version;
	if (!c) {
		*state = c = new_call(h, conn, url);
		if (c && refuse_lengths(c))
			return queue(c);
		return c ? MHD_YES : MHD_NO;
	}
	if (*n) {
		c->too_large |= c->body.n + *n > h->o.body_most;
		if (!c->too_large)
			buf_add(&c->body, data, *n);
		*n = 0;
		return c->body.failed ? MHD_NO : MHD_YES;
	}
	/* Called again after a wait: the answer has begun. */
	pthread_mutex_lock(&c->lock);
	waiting = c->begun && !c->queued;
	pthread_mutex_unlock(&c->lock);
	if (waiting)
		return queue(c);
	return c->route ? MHD_YES : dispatch(c, method);
}

/* The connection is done with the request; the answerer may still hold it. */
static void on_completed(void *ctx, struct MHD_Connection *conn, void **state, enum MHD_RequestTerminationCode why)
{
	struct httpd_call *c = *state;

	(void)ctx, (void)conn, (void)why;
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->gone = 1;
	pthread_mutex_unlock(&c->lock);
	release(c);
	*state = NULL;
}

/* --- a request, asked --------------------------------------------------------------------- */

struct str httpd_rest(const struct httpd_call *c) { return str_of(c->path + strlen(c->route->path)); }
struct str httpd_body(const struct httpd_call *c) { return buf_str(&c->body); }
uint64_t httpd_client(const struct httpd_call *c) { return c->client; }

/* A header of the request, or NULL. Valid until the call ends. */
const char *httpd_header(const struct httpd_call *c, const char *name)
{
	return MHD_lookup_connection_value(c->conn, MHD_HEADER_KIND, name);
}

/* Has the client closed the connection? libmicrohttpd does not poll a suspended connection, so the
 * socket is tested here. */
int httpd_gone(const struct httpd_call *c)
{
	struct httpd_call *w = (struct httpd_call *)c;
	int gone;

	/* libmicrohttpd does not poll a suspended connection. */
	pthread_mutex_lock(&w->lock);
	if (!w->gone && w->suspended) {
		const union MHD_ConnectionInfo *i = MHD_get_connection_info(w->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
		char byte;

		gone = i && recv(i->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
	} else {
		gone = w->gone;
	}
	pthread_mutex_unlock(&w->lock);
	return gone;
}

/* --- answers ------------------------------------------------------------------------------ */

/* Answers in one piece and ends the call; `c` is invalid afterwards. `extra` is one more header
 * line, or NULL. */
void httpd_reply(struct httpd_call *c, int status, const char *type, struct str body, const char *extra)
{
	pthread_mutex_lock(&c->lock);
	c->status = status;
	c->type = type ? mem_strdup(type) : NULL;
	c->extra = extra ? mem_strdup(extra) : NULL;
	buf_addstr(&c->out, body);
	c->begun = c->ended = 1;
	wake(c);
	pthread_mutex_unlock(&c->lock);
	release(c);
}

/* Answers with an error in the JSON form of OpenAI's API, which clients of that API show to their
 * users. 429 and 503 ask the client to retry after a second. */
void httpd_error(struct httpd_call *c, int status, const char *fmt, ...)
{
	struct buf text = BUF_INIT, message = BUF_INIT;
	struct jw w = { .out = &text };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&message, fmt, ap);
	va_end(ap);
	jw_begin(&w, '{');
	jw_key(&w, "error"), jw_begin(&w, '{');
	jw_key(&w, "message"), jw_str(&w, buf_str(&message));
	jw_key(&w, "type"), jw_cstr(&w, status == 429 ? "rate_limit_exceeded" : status < 500 ?
				    "invalid_request_error" : "server_error");
	jw_end(&w, '}');
	jw_end(&w, '}');
	buf_addc(&text, '\n');
	httpd_reply(c, status, "application/json", buf_str(&text), status == 429 || status == 503 ?
		    "Retry-After: 1" : status == 401 ? "WWW-Authenticate: Bearer" : NULL);
	buf_release(&text);
	buf_release(&message);
}

/* Begins a streamed answer of status 200; httpd_add and httpd_end follow. */
void httpd_begin(struct httpd_call *c, const char *type)
{
	pthread_mutex_lock(&c->lock);
	c->type = mem_strdup(type);
	c->begun = c->streaming = 1;
	wake(c);
	pthread_mutex_unlock(&c->lock);
}

/* Adds a piece to a streamed answer. It never waits for the client: the pieces are kept in
 * memory. */
void httpd_add(struct httpd_call *c, struct str piece)
{
	pthread_mutex_lock(&c->lock);
	if (!c->gone)
		buf_addstr(&c->out, piece);
	wake(c);
	pthread_mutex_unlock(&c->lock);
}

/* Ends a streamed answer and gives up the caller's reference. */
void httpd_end(struct httpd_call *c)
{
	pthread_mutex_lock(&c->lock);
	c->ended = 1;
	wake(c);
	pthread_mutex_unlock(&c->lock);
	release(c);
}

/* --- life --------------------------------------------------------------------------------- */

/* Parses the address to listen on. Only numbers and "localhost" are accepted: any other name would
 * need a look-up. */
static int read_address(const struct httpd_options *o, struct sockaddr_storage *out, socklen_t *n, struct err *e)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM }, *found = NULL;
	const char *host = !o->host || !strcmp(o->host, "localhost") ? "127.0.0.1" : o->host;
	char port[16];

	snprintf(port, sizeof port, "%d", o->port);
	if (getaddrinfo(host, port, &hints, &found))
		return err_set(e, ERR_USAGE, "'%s' is not an address to listen on", host);
	memcpy(out, found->ai_addr, found->ai_addrlen);
	*n = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

/* libmicrohttpd's log goes nowhere: its messages are about clients, not about us. */
static void quiet(void *ctx, const char *fmt, va_list ap)
{
	(void)ctx, (void)fmt, (void)ap;
}

/* Starts the server with one epoll thread. The token is kept as its digest only: comparing digests
 * takes the same time for every wrong token. Port 0 picks a free port (httpd_port). */
struct httpd *httpd_open(const struct httpd_options *o, struct err *e)
{
	struct httpd *h = mem_zalloc(sizeof *h);
	struct sockaddr_storage a;
	socklen_t n;
	const union MHD_DaemonInfo *info;
	struct sha256 s;
	int in_use;

	if (!h || read_address(o, &a, &n, e)) {
		if (!h)
			err_nomem(e);
		mem_free(h);
		return NULL;
	}
	h->o = *o;
	h->o.body_most = o->body_most ? o->body_most : BODY_MOST;
	if (o->token) {
		sha256_init(&s);
		sha256_add(&s, o->token, strlen(o->token));
		sha256_end(&s, h->token);
	}
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
				     (a.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0), (uint16_t)o->port, NULL,
				     NULL, on_request, h,
				     MHD_OPTION_SOCK_ADDR, &a, MHD_OPTION_EXTERNAL_LOGGER, quiet, NULL,
				     MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
				     MHD_OPTION_CONNECTION_LIMIT,
				     (unsigned)(o->connections ? o->connections : CONNECTIONS),
				     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(o->seconds ? o->seconds : SECONDS),
				     MHD_OPTION_END);
	in_use = !h->daemon && errno == EADDRINUSE;
	info = h->daemon ? MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	if (!info) {
		if (in_use)
			err_set(e, ERR_IO,
				"port %d of %s is taken: another server listens there; choose another port, or 0: any",
				o->port, o->host ? o->host : "127.0.0.1");
		else
			err_errno(e, "cannot listen on %s, port %d", o->host ? o->host : "127.0.0.1", o->port);
		mem_free(h);
		return NULL;
	}
	h->port = info->port;
	return h;
}

int httpd_port(const struct httpd *h)
{
	return h->port;
}

/* Refuses new requests; those in progress are answered. */
void httpd_drain(struct httpd *h)
{
	atomic_store(&h->closing, 1);
}

/* Drains the server for at most `seconds`, then stops it and closes the connections that are left. */
void httpd_close(struct httpd *h, double seconds)
{
	if (!h)
		return;
	httpd_drain(h);
	for (double left = seconds; left > 0 && atomic_load(&h->open); left -= 0.02)
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	MHD_stop_daemon(h->daemon);
	mem_free(h);
}

struct httpd_stats httpd_stats(const struct httpd *h)
{
	struct httpd *w = (struct httpd *)h;

	return (struct httpd_stats){ .requests = atomic_load(&w->requests), .open = atomic_load(&w->open),
				     .refused = atomic_load(&w->refused) };
}
