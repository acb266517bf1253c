/* The HTTP client, over libcurl. http.h is the manual. */
#include "net/http.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <strings.h>

#include "base/mem.h"

/* The largest answer that is kept in memory unless the caller sets another limit; headers that are
 * kept. */
enum { BODY_MOST = 16 << 20, HEADERS_MOST = 200 };

/* A connection that can be used again. */
struct http {
	CURL *curl;
	struct http_options o;
};

/* The state of one call, which libcurl's callbacks fill. */
struct flight {
	const struct http_request *q;
	struct http_reply *r;
	size_t most;
	size_t at;                /* of the request's body: bytes handed to libcurl */
	int stopped, too_large, sink_failed;
	const atomic_int *stop;
	CURL *curl;
};

/* libcurl must be initialised once for each process. */
static void start_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Opens a client. No connection is made before the first call. */
struct http *http_open(const struct http_options *o, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct http *h = mem_zalloc(sizeof *h);

	pthread_once(&once, start_curl);
	if (h)
		h->curl = curl_easy_init();
	if (!h || !h->curl) {
		mem_free(h);
		err_nomem(e);
		return NULL;
	}
	if (o)
		h->o = *o;
	return h;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	curl_easy_cleanup(h->curl);
	mem_free(h);
}

/* --- headers ------------------------------------------------------------------------------ */

/* Adds one header line, "Name: value", formatted as by printf. */
int http_header_add(struct http_headers *h, struct err *e, const char *fmt, ...)
{
	struct buf line = BUF_INIT;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	buf_vaddf(&line, fmt, ap);
	va_end(ap);
	text = buf_take(&line);
	if (!text || vec_push(h, text)) {
		mem_free(text);
		return err_nomem(e);
	}
	return 0;
}

void http_headers_release(struct http_headers *h)
{
	for (size_t i = 0; i < h->n; i++)
		mem_free(h->v[i]);
	vec_free(h);
}

struct str http_header(const struct http_headers *h, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < h->n; i++)
		if (!strncasecmp(h->v[i], name, n) && h->v[i][n] == ':')
			return str_trim(str_of(h->v[i] + n + 1));
	return (struct str){ .p = NULL };
}

void http_reply_release(struct http_reply *r)
{
	http_headers_release(&r->headers);
	buf_release(&r->body);
	*r = (struct http_reply){ .status = 0 };
}

/* Percent-encodes all but the unreserved characters of RFC 3986: "a b" becomes "a%20b". `slash`
 * keeps slashes, for paths. */
void http_encode(struct buf *out, struct str s, int slash)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		    (c && strchr("-._~", c)) || (slash && c == '/'))
			buf_addc(out, (char)c);
		else
			buf_addf(out, "%%%02X", c);
	}
}

/* --- what libcurl calls ------------------------------------------------------------------- */

/* Keeps a header. A status line begins another answer: after 100 Continue the real one follows. */
static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct flight *f = ctx;
	struct str line = str_trim((struct str){ .p = p, .n = size * n });

	/* A status line begins another answer: after 100 Continue the real one follows. */
	if (str_starts(line, "HTTP/")) {
		http_headers_release(&f->r->headers);
		return size * n;
	}
	if (!line.n || f->r->headers.n == HEADERS_MOST)
		return size * n;
	return http_header_add(&f->r->headers, NULL, "%.*s", STR_ARG(line)) ? 0 : size * n;
}

/* Takes a part of the body: to the caller's sink if the call succeeded, else to memory, within the
 * limit. Returning less than n makes libcurl stop. */
static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct flight *f = ctx;
	long status = 0;

	n *= size;
	curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
	if (f->q->sink && (status == 200 || status == 206)) {
		f->sink_failed = f->q->sink(f->q->sink_ctx, p, n);
		return f->sink_failed ? 0 : n;
	}
	if (f->r->body.n + n > f->most) {
		f->too_large = 1;
		return 0;
	}
	buf_add(&f->r->body, p, n);
	return f->r->body.failed ? 0 : n;
}

/* Hands libcurl the next part of the request's body. */
static size_t on_send(char *p, size_t size, size_t n, void *ctx)
{
	struct flight *f = ctx;

	n = MIN(size * n, f->q->body.n - f->at);
	memcpy(p, f->q->body.p + f->at, n);
	f->at += n;
	return n;
}

/* libcurl repeats a body after a lost connection or a redirect. */
static int on_rewind(void *ctx, curl_off_t offset, int origin)
{
	struct flight *f = ctx;

	if (origin != SEEK_SET || offset < 0 || (size_t)offset > f->q->body.n)
		return CURL_SEEKFUNC_CANTSEEK;
	f->at = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* libcurl calls this all the time. A requested stop ends the call. */
static int on_progress(void *ctx, curl_off_t dt, curl_off_t dn, curl_off_t ut, curl_off_t un)
{
	struct flight *f = ctx;

	(void)dt, (void)dn, (void)ut, (void)un;
	f->stopped = f->stop && atomic_load_explicit(f->stop, memory_order_relaxed);
	return f->stopped;
}

/* --- a call ------------------------------------------------------------------------------- */

/* Timeouts and rates. A transfer that moves less than 1 KiB/s for a while counts as stalled. */
static void set_limits(const struct http *h, const struct http_request *q)
{
	CURL *c = h->curl;

	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS,
			 (long)(1000 * (h->o.connect_seconds > 0 ? h->o.connect_seconds : 10)));
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1024L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)(h->o.stall_seconds > 0 ? h->o.stall_seconds : 30));
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(1000 * q->seconds));
	curl_easy_setopt(c, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)h->o.bytes_per_second);
	curl_easy_setopt(c, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)h->o.bytes_per_second);
	curl_easy_setopt(c, CURLOPT_UPLOAD_BUFFERSIZE, 1L << 20);
	curl_easy_setopt(c, CURLOPT_BUFFERSIZE, 1L << 19);
	if (h->o.ca_file)
		curl_easy_setopt(c, CURLOPT_CAINFO, h->o.ca_file);
}

/* Method, address and body. */
static void set_method(CURL *c, const struct http_request *q)
{
	curl_easy_setopt(c, CURLOPT_URL, q->url);
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, q->method);
	if (!strcmp(q->method, "HEAD"))
		curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
	else if (q->body.n || !strcmp(q->method, "PUT") || !strcmp(q->method, "POST")) {
		curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->body.n);
	}
}

/* Connects libcurl to our callbacks. NOSIGNAL keeps libcurl from using SIGALRM, which is unsafe
 * with threads. */
static void set_callbacks(CURL *c, struct flight *f)
{
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, f);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, f);
	curl_easy_setopt(c, CURLOPT_READFUNCTION, on_send);
	curl_easy_setopt(c, CURLOPT_READDATA, f);
	curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_rewind);
	curl_easy_setopt(c, CURLOPT_SEEKDATA, f);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, f);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
}

/* The headers as libcurl's list, without "Expect", which costs a round trip and which some servers
 * never answer. */
static struct curl_slist *list_headers(const struct http_headers *h)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; list && h && i < h->n; i++) {
		struct curl_slist *more = curl_slist_append(list, h->v[i]);

		if (!more)
			curl_slist_free_all(list);
		list = more;
	}
	return list;
}

/* Turns libcurl's result into an error message. */
static int explain(const struct flight *f, CURLcode rc, const char *detail, struct err *e)
{
	if (f->stopped)
		return err_set(e, ERR_INTERRUPTED, "stopped");
	if (f->sink_failed)
		return err_set(e, ERR_IO, "cannot store the answer of '%s'", f->q->url);
	if (f->too_large)
		return err_set(e, ERR_RANGE, "'%s' answered with more than %zu bytes", f->q->url, f->most);
	return err_set(e, ERR_IO, "%s '%s': %s", f->q->method, f->q->url, *detail ? detail : curl_easy_strerror(rc));
}

/* Runs one request. `sent` is 1 if all of the body left this machine: the server may then have
 * acted on it, and a caller must not repeat it blindly. */
int http_call(struct http *h, const struct http_request *q, struct http_reply *r, struct err *e)
{
	struct flight f = { .q = q, .r = r, .most = q->body_most ? q->body_most : BODY_MOST,
			    .stop = h->o.stop, .curl = h->curl };
	struct curl_slist *headers = list_headers(q->headers);
	char detail[CURL_ERROR_SIZE] = "";
	long status = 0;
	CURLcode rc;

	*r = (struct http_reply){ .status = 0 };
	if (!headers)
		return err_nomem(e);
	curl_easy_reset(h->curl);
	set_limits(h, q);
	set_method(h->curl, q);
	set_callbacks(h->curl, &f);
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, detail);
	rc = curl_easy_perform(h->curl);
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	r->status = (int)status;
	r->sent = f.at == q->body.n && rc != CURLE_COULDNT_CONNECT && rc != CURLE_COULDNT_RESOLVE_HOST;
	if (rc == CURLE_OK)
		return 0;
	return explain(&f, rc, detail, e);
}
