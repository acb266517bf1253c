/* A call to S3: its address, its signature, its retries. s3.h is the manual, s3_impl.h what the
 * other S3 files use of this one. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/s3_impl.h"
#include "net/xml.h"

/* Defaults: tries of a call, parts in parallel, bytes of a part; the smallest part that S3
 * takes. */
enum { ATTEMPTS = 8, PARALLEL = 4, PART = 16 << 20, PART_LEAST = 5 << 20 };
static const double longest_pause = 20.0;

/* --- opening ------------------------------------------------------------------------------ */

/* Can the bucket be part of the host name? A certificate covers one level, so it must have no
 * dot. */
static int is_host_name(const char *bucket)
{
	return !strchr(bucket, '.') && !strchr(bucket, '_');
}

/* Splits s3://BUCKET/PREFIX. */
static int read_uri(struct s3 *s, const char *uri, struct err *e)
{
	struct str rest = str_of(uri), bucket;
	struct buf prefix = BUF_INIT;

	if (!str_starts(rest, "s3://"))
		return err_set(e, ERR_USAGE, "'%s' is not a bucket: write s3://BUCKET/PREFIX", uri);
	rest = (struct str){ .p = rest.p + 5, .n = rest.n - 5 };
	bucket = str_cut(&rest, '/');
	while (rest.n && rest.p[rest.n - 1] == '/')
		rest.n--;
	if (bucket.n < 3 || bucket.n > 63)
		return err_set(e, ERR_USAGE, "'%s': a bucket's name has 3 to 63 characters", uri);
	if (rest.n) {
		buf_addstr(&prefix, rest);
		buf_addc(&prefix, '/');
	}
	s->bucket = mem_strndup(bucket.p, bucket.n);
	s->prefix = buf_take(&prefix);
	return s->bucket && s->prefix ? 0 : err_nomem(e);
}

/* The endpoint of the options or of the environment; NULL means Amazon's own. */
static const char *given_endpoint(const struct s3_options *o)
{
	const char *of_s3 = getenv("AWS_ENDPOINT_URL_S3"), *of_all = getenv("AWS_ENDPOINT_URL");

	return o->endpoint && *o->endpoint ? o->endpoint : of_s3 && *of_s3 ? of_s3 : of_all && *of_all ? of_all : NULL;
}

/* Scheme and host of the endpoint, and whether the bucket goes into the path or into the host. */
static int read_endpoint(struct s3 *s, struct err *e)
{
	const char *given = given_endpoint(&s->o);
	struct buf amazon = BUF_INIT;
	struct str rest;
	ptrdiff_t at;

	buf_addf(&amazon, "https://s3.%s.amazonaws.com", s->region);
	rest = str_of(given ? given : buf_cstr(&amazon));
	at = str_find(rest, STR("://"));
	if (at < 4) {
		buf_release(&amazon);
		return err_set(e, ERR_USAGE, "the endpoint '%s' is not an address: write https://HOST[:PORT]", given);
	}
	s->scheme = mem_strndup(rest.p, (size_t)at);
	rest = (struct str){ .p = rest.p + at + 3, .n = rest.n - (size_t)at - 3 };
	rest = str_cut(&rest, '/');
	s->host = mem_strndup(rest.p, rest.n);
	s->path_style = s->o.style && !strcmp(s->o.style, "path") ? 1 : s->o.style && !strcmp(s->o.style,
			"virtual") ? 0 : given || !is_host_name(s->bucket);
	buf_release(&amazon);
	return s->scheme && s->host ? 0 : err_nomem(e);
}

/* The region of the options, the environment or the profile, else us-east-1. */
static void find_region(struct s3 *s)
{
	if (s->o.region && *s->o.region)
		snprintf(s->region, sizeof s->region, "%s", s->o.region);
	else
		aws_region(s->aws, s->region, sizeof s->region);
	if (!s->region[0])
		snprintf(s->region, sizeof s->region, "us-east-1");
}

/* Opens s3://BUCKET/PREFIX: fills in defaults, then finds region and endpoint. No request is
 * sent. */
struct s3 *s3_open(const char *uri, const struct s3_options *o, struct err *e)
{
	struct s3 *s = mem_zalloc(sizeof *s);
	struct aws_options ao;

	if (!s) {
		err_nomem(e);
		return NULL;
	}
	if (o)
		s->o = *o;
	s->o.attempts = s->o.attempts > 0 ? s->o.attempts : ATTEMPTS;
	s->o.parallel = s->o.parallel > 0 ? s->o.parallel : PARALLEL;
	s->o.part_bytes = s->o.part_bytes > 0 ? MAX(s->o.part_bytes, PART_LEAST) : PART;
	s->o.pause = s->o.pause > 0 ? s->o.pause : 0.2;
	pthread_mutex_init(&s->lock, NULL);
	s->dice = (uint64_t)time(NULL) ^ (uint64_t)(uintptr_t)s;
	ao = (struct aws_options){ .profile = s->o.profile, .metadata = s->o.metadata };
	s->aws = aws_open(&ao, e);
	if (s->aws)
		find_region(s);
	if (!s->aws || read_uri(s, uri, e) || read_endpoint(s, e)) {
		s3_close(s);
		return NULL;
	}
	return s;
}

void s3_close(struct s3 *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->n_idle; i++)
		http_close(s->idle[i]);
	pthread_mutex_destroy(&s->lock);
	aws_close(s->aws);
	mem_free(s->bucket);
	mem_free(s->prefix);
	mem_free(s->scheme);
	mem_free(s->host);
	mem_free(s);
}

const char *s3_bucket(const struct s3 *s)
{
	return s->bucket;
}

/* --- one attempt -------------------------------------------------------------------------- */

/* The address of a call: host, encoded path, whole URL. */
struct place { struct buf host, path, url; };

static void place_release(struct place *p)
{
	buf_release(&p->host);
	buf_release(&p->path);
	buf_release(&p->url);
}

/* Builds the address of a call. */
static int find_place(const struct s3 *s, const struct s3_call *c, struct place *p, struct err *e)
{
	*p = (struct place){ .host = BUF_INIT };
	if (!s->path_style)
		buf_addf(&p->host, "%s.", s->bucket);
	buf_adds(&p->host, s->host);
	buf_addc(&p->path, '/');
	if (s->path_style)
		buf_addf(&p->path, c->key ? "%s/" : "%s", s->bucket);
	if (c->key) {
		http_encode(&p->path, str_of(s->prefix), 1);
		http_encode(&p->path, str_of(c->key), 1);
	}
	buf_addf(&p->url, "%s://%s%s%s%s", s->scheme, buf_cstr(&p->host), buf_cstr(&p->path), c->query &&
		 *c->query ? "?" : "", c->query ? c->query : "");
	return buf_check(&p->host, e) || buf_check(&p->path, e) || buf_check(&p->url, e) ? -1 : 0;
}

/* The base64 of a digest given in hex. */
static void base64_digest(const char *hex, char out[48])
{
	unsigned char raw[32];

	for (int i = 0; i < 32; i++) {
		unsigned byte = 0;

		sscanf(hex + 2 * i, "%2x", &byte);
		raw[i] = (unsigned char)byte;
	}
	hash_base64(raw, sizeof raw, out);
}

/* The caller's headers, the checksum, and the signature. */
static int make_headers(struct s3 *s, const struct s3_call *c, const struct place *p, const char *sha,
			struct http_headers *h, struct err *e)
{
	struct aws_request q = { .method = c->method, .host = buf_cstr(&p->host), .path = buf_cstr(&p->path),
				 .query = c->query ? c->query : "",
				 .region = s->region, .service = "s3", .body_sha256 = sha, .now = time(NULL) };
	struct aws_cred cred;
	char sum[48];
	int rc = aws_credentials(s->aws, &cred, e);

	for (size_t i = 0; !rc && c->headers && c->headers[i]; i++)
		rc = http_header_add(h, e, "%s", c->headers[i]);
	if (!rc && c->body_checked) {
		base64_digest(sha, sum);
		rc = http_header_add(h, e, "x-amz-checksum-sha256: %s", sum);
	}
	return rc ? -1 : aws_sign(&q, &cred, h, e);
}

/* One attempt: address, signature, call. A sink is rewound first, because an earlier attempt may
 * have written to it. */
static int attempt(struct s3 *s, struct http *http, const struct s3_call *c, const char *sha,
		   struct s3_answer *a, struct err *e)
{
	struct http_headers h = { .v = NULL };
	struct place p;
	int rc = find_place(s, c, &p, e);

	if (!rc)
		rc = make_headers(s, c, &p, sha, &h, e);
	if (!rc && c->rewind && c->rewind(c->sink_ctx))
		rc = err_set(e, ERR_IO, "cannot restart the download of '%s'", c->key);
	if (!rc)
		rc = http_call(http, &(struct http_request){ .method = c->method, .url = buf_cstr(&p.url),
							     .headers = &h, .body = c->body,
					.body_most = c->most, .sink = c->sink, .sink_ctx = c->sink_ctx }, &a->r, e);
	http_headers_release(&h);
	place_release(&p);
	return rc;
}

/* --- retries ------------------------------------------------------------------------------ */

/* Reads S3's error code from the body. CompleteMultipartUpload and copies may answer 200 with an
 * error. */
static void read_code(struct s3_answer *a)
{
	struct buf code = BUF_INIT;
	struct str body = buf_str(&a->r.body);

	a->code[0] = '\0';
	if (a->r.status < 300 && str_find(body, STR("<Error>")) < 0)
		return;
	xml_find(body, "Code", &code);
	snprintf(a->code, sizeof a->code, "%s", code.n ? code.p : a->r.status < 300 ? "InternalError" : "");
	buf_release(&code);
}

/* Is it an error that goes away by itself? */
static int passes(const struct s3_answer *a)
{
	static const char *const codes[] = { "InternalError", "SlowDown", "RequestTimeout",
					     "ServiceUnavailable", "RequestTimeTooSkewed", "OperationAborted",
					"ExpiredToken", "BadDigest", "XAmzContentSHA256Mismatch",
						"ConditionalRequestConflict", "Throttling" };

	if (a->r.status == 429 || a->r.status >= 500)
		return 1;
	for (size_t i = 0; i < COUNT_OF(codes); i++)
		if (!strcmp(a->code, codes[i]))
			return 1;
	return 0;
}

/* Waits before the next try: a random part of a pause that doubles with each, so that many clients
 * do not return at once. Sleeps in short steps, so that a stop is heard. */
static void pause_before(struct s3 *s, int try)
{
	double most = MIN(s->o.pause * (double)(1ull << MIN(try, 16)), longest_pause);
	uint64_t n = atomic_fetch_add(&s->dice, 0x9e3779b97f4a7c15ull);
	double left = most * (0.5 + 0.5 * (double)(hash_xxh64(&n, sizeof n, 0) >> 11) * 0x1p-53);

	while (left > 0 && !(s->o.stop && atomic_load(s->o.stop))) {
		struct timespec t = { .tv_nsec = (long)(MIN(left, 0.1) * 1e9) };

		nanosleep(&t, NULL);
		left -= 0.1;
	}
}

void s3_answer_release(struct s3_answer *a)
{
	http_reply_release(&a->r);
}

/* Turns a refusal into an error with S3's own message. 401 and 403 become ERR_DENIED, so that the
 * caller can point to the credentials. */
int s3_refused(const struct s3_call *c, const struct s3_answer *a, struct err *e)
{
	struct buf text = BUF_INIT;
	enum err_code code = a->r.status == 403 || a->r.status == 401 ? ERR_DENIED : a->r.status == 404 ?
		ERR_NOT_FOUND : ERR_IO;

	xml_find(buf_str(&a->r.body), "Message", &text);
	err_set(e, code, "S3 refuses %s '%s': %d %s%s%.200s", c->method, c->key ? c->key : "(the bucket)",
		a->r.status, a->code, text.n ? ": " : "", buf_cstr(&text));
	buf_release(&text);
	return -1;
}

/* One try. Returns 0 if the call is done, 1 if it is worth another try (*why says what happened),
 * -1 if it has failed for good. */
static int try_once(struct s3 *s, struct http *http, const struct s3_call *c, const char *sha,
		    struct s3_answer *a, struct err *why, struct err *e)
{
	int rc = attempt(s, http, c, sha, a, why);

	if (s->o.stop && atomic_load(s->o.stop))
		return err_set(e, ERR_INTERRUPTED, "stopped");
	if (rc && why->code != ERR_IO && why->code != ERR_INTERRUPTED)
		return err_set(e, why->code, "%s", why->text);
	if (rc) {
		a->lost |= a->r.sent;
		return 1;
	}
	read_code(a);
	if (!strcmp(a->code, "ExpiredToken"))
		aws_forget(s->aws);
	if (passes(a)) {
		a->lost |= a->r.status >= 500 || a->r.status < 300;
		s3_refused(c, a, why);
		return 1;
	}
	if (a->r.status < 300 || a->r.status == 404 || a->r.status == 409 || a->r.status == 412)
		return 0;
	return s3_refused(c, a, e);
}

/* An idle connection, or a new one. */
static struct http *take_http(struct s3 *s, struct err *e)
{
	struct http_options o = { .stop = s->o.stop, .ca_file = s->o.ca_file,
				  .bytes_per_second = s->o.bytes_per_second / s->o.parallel };
	struct http *h = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->n_idle)
		h = s->idle[--s->n_idle];
	pthread_mutex_unlock(&s->lock);
	return h ? h : http_open(&o, e);
}

/* Keeps a connection for the next call, or closes it. */
static void give_http(struct s3 *s, struct http *h)
{
	pthread_mutex_lock(&s->lock);
	if (s->n_idle < S3_IDLE) {
		s->idle[s->n_idle++] = h;
		h = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	http_close(h);
}

/* A call with retries. a->lost says whether an attempt may have succeeded without our hearing of
 * it. */
int s3_do(struct s3 *s, const struct s3_call *c, struct s3_answer *a, struct err *e)
{
	struct http *http = take_http(s, e);
	struct err why = ERR_INIT;
	char sha[65];
	int rc = 1;

	*a = (struct s3_answer){ .lost = 0 };
	if (!http)
		return -1;
	if (c->body_sha256)
		snprintf(sha, sizeof sha, "%s", c->body_sha256);
	else
		sha256_hex(c->body.p ? c->body.p : "", c->body.n, sha);
	for (int i = 0; i < s->o.attempts && rc > 0; i++) {
		if (i) {
			log_debug("S3, try %d: %s", i + 1, why.text);
			pause_before(s, i - 1);
			http_reply_release(&a->r);
			err_clear(&why);
		}
		rc = try_once(s, http, c, sha, a, &why, e);
	}
	give_http(s, http);
	if (!rc && s->o.moved)
		atomic_fetch_add(s->o.moved, (long long)c->body.n);
	return rc > 0 ? err_set(e, why.code, "after %d tries: %s", s->o.attempts, why.text) : rc;
}
