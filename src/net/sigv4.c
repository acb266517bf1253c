/* Signatures, version 4: see aws.h.
 *
 * signature = HMAC(key, "AWS4-HMAC-SHA256\n" time "\n" scope "\n" SHA256(canonical request)), where
 * key = HMAC(HMAC(HMAC(HMAC("AWS4" secret, date), region), service), "aws4_request"). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/aws.h"

enum { DIGEST = 32, HEX = 2 * DIGEST + 1 };

/* Derives the key from the secret, the date, the region and the service. */
static void signing_key(const struct aws_request *q, const struct aws_cred *c, const char *date,
			unsigned char key[DIGEST])
{
	const char *parts[] = { date, q->region, q->service, "aws4_request" };
	char first[sizeof c->secret + 4];
	int n = snprintf(first, sizeof first, "AWS4%s", c->secret);

	hash_hmac(first, (size_t)n, parts[0], strlen(parts[0]), key);
	for (size_t i = 1; i < COUNT_OF(parts); i++)
		hash_hmac(key, DIGEST, parts[i], strlen(parts[i]), key);
}

/* --- the canonical request ---------------------------------------------------------------- */

/* A header for the canonical request. */
struct signed_header { struct str name, value; };

/* Orders headers by name, ignoring case. */
static int by_name(const void *a, const void *b)
{
	const struct signed_header *x = a, *y = b;
	size_t n = MIN(x->name.n, y->name.n);

	for (size_t i = 0; i < n; i++) {
		int d = tolower((unsigned char)x->name.p[i]) - tolower((unsigned char)y->name.p[i]);

		if (d)
			return d;
	}
	return x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

/* Appends a name in lower case, as the canonical form of a request requires. */
static void add_lower(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_addc(out, (char)tolower((unsigned char)s.p[i]));
}

/* All headers and the host in canonical form: sorted, in lower case, one per line; `names` gets the
 * list of their names. */
static int canonical_headers(const struct aws_request *q, const struct http_headers *headers,
			     struct buf *lines, struct buf *names, struct err *e)
{
	size_t n = headers->n + 1;
	struct signed_header *h = mem_array(n, sizeof *h);

	if (!h)
		return err_nomem(e);
	h[0] = (struct signed_header){ .name = STR("host"), .value = str_of(q->host) };
	for (size_t i = 0; i < headers->n; i++) {
		struct str rest = str_of(headers->v[i]);

		h[i + 1].name = str_cut(&rest, ':');
		h[i + 1].value = str_trim(rest);
	}
	qsort(h, n, sizeof *h, by_name);
	for (size_t i = 0; i < n; i++) {
		add_lower(lines, h[i].name);
		buf_addf(lines, ":%.*s\n", STR_ARG(h[i].value));
		if (i)
			buf_addc(names, ';');
		add_lower(names, h[i].name);
	}
	mem_free(h);
	return buf_check(lines, e) || buf_check(names, e) ? -1 : 0;
}

/* Adds the headers that every signed request has. */
static int add_fixed(const struct aws_request *q, const struct aws_cred *c, const char *stamp,
		     struct http_headers *headers, struct err *e)
{
	if (http_header_add(headers, e, "x-amz-date: %s", stamp) || http_header_add(headers, e,
			"x-amz-content-sha256: %s", q->body_sha256))
		return -1;
	return c->token[0] ? http_header_add(headers, e, "x-amz-security-token: %s", c->token) : 0;
}

/* The text whose HMAC is the signature. */
static int text_to_sign(const struct aws_request *q, const struct http_headers *headers, const char *stamp,
			const char *scope, struct buf *names,
			struct buf *out, struct err *e)
{
	struct buf lines = BUF_INIT, request = BUF_INIT;
	char hex[HEX];
	int rc = canonical_headers(q, headers, &lines, names, e);

	if (!rc) {
		buf_addf(&request, "%s\n%s\n%s\n%s\n%s\n%s", q->method, q->path, q->query, buf_cstr(&lines),
			 buf_cstr(names), q->body_sha256);
		rc = buf_check(&request, e);
	}
	if (!rc) {
		sha256_hex(request.p, request.n, hex);
		buf_addf(out, "AWS4-HMAC-SHA256\n%s\n%s\n%s", stamp, scope, hex);
		rc = buf_check(out, e);
	}
	buf_release(&lines);
	buf_release(&request);
	return rc;
}

/* Signs a request: adds the fixed headers, hashes the canonical request, and adds Authorization.
 * All headers present at this point are signed, so callers add theirs before. */
int aws_sign(const struct aws_request *q, const struct aws_cred *c, struct http_headers *headers, struct err *e)
{
	struct buf names = BUF_INIT, text = BUF_INIT;
	unsigned char key[DIGEST], mac[DIGEST];
	char stamp[20], date[12], scope[200], hex[HEX];
	struct tm tm;
	int rc;

	gmtime_r(&q->now, &tm);
	strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
	strftime(date, sizeof date, "%Y%m%d", &tm);
	snprintf(scope, sizeof scope, "%s/%s/%s/aws4_request", date, q->region, q->service);
	rc = add_fixed(q, c, stamp, headers, e) || text_to_sign(q, headers, stamp, scope, &names, &text, e) ? -1 : 0;
	if (!rc) {
		signing_key(q, c, date, key);
		hash_hmac(key, sizeof key, text.p, text.n, mac);
		hash_hex(mac, sizeof mac, hex);
		rc = http_header_add(headers, e,
				     "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, "
					     "Signature=%s", c->key, scope,
				     buf_cstr(&names), hex);
	}
	buf_release(&names);
	buf_release(&text);
	return rc;
}
