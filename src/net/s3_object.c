/* Objects in one call each, and lists of them: see s3.h. */
#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/s3_impl.h"
#include "net/xml.h"

enum { ANSWER_MOST = 4 << 20 };

/* Is the stored object the one that we meant to write? After a lost answer only looking helps. */
static int is_ours(struct s3 *s, const char *key, struct str data, struct err *e)
{
	struct buf there = BUF_INIT;
	int rc = s3_get(s, key, data.n + 1, &there, e), same = !rc && there.n == data.n &&
		!memcmp(buf_cstr(&there), data.p, data.n);

	buf_release(&there);
	return rc < 0 ? -1 : same;
}

/* Writes an object, under the condition if there is one. A conflict after a lost answer may be our
 * own write. */
int s3_put(struct s3 *s, const char *key, struct str data, enum s3_if cond, struct err *e)
{
	const char *const absent[] = { "If-None-Match: *", NULL };
	struct s3_call c = { .method = "PUT", .key = key, .headers = cond == S3_IF_ABSENT ? absent : NULL,
			     .body = data, .body_checked = 1 };
	struct s3_answer a;
	int rc = s3_do(s, &c, &a, e), conflict = !rc && (a.r.status == 412 || a.r.status == 409), lost = a.lost;

	if (!rc && !conflict && a.r.status >= 300)
		rc = s3_refused(&c, &a, e);
	s3_answer_release(&a);
	if (!conflict)
		return rc;
	if (!lost)
		return S3_EXISTS;
	rc = is_ours(s, key, data, e);
	return rc < 0 ? -1 : rc ? 0 : S3_EXISTS;
}

/* Reads a small object of at most `most` bytes. */
int s3_get(struct s3 *s, const char *key, size_t most, struct buf *out, struct err *e)
{
	struct s3_call c = { .method = "GET", .key = key, .most = most };
	struct s3_answer a;
	int rc = s3_do(s, &c, &a, e);

	if (!rc && a.r.status == 404)
		rc = S3_ABSENT;
	else if (!rc && a.r.status != 200)
		rc = s3_refused(&c, &a, e);
	if (!rc) {
		buf_addstr(out, buf_str(&a.r.body));
		rc = buf_check(out, e);
	}
	s3_answer_release(&a);
	return rc;
}

/* Reads the length of an object, and its SHA-256 if we uploaded it (x-amz-meta-sha256). */
int s3_head(struct s3 *s, const char *key, struct s3_object *out, struct err *e)
{
	static const char *const headers[] = { "x-amz-checksum-mode: ENABLED", NULL };
	struct s3_call c = { .method = "HEAD", .key = key, .headers = headers };
	struct s3_answer a;
	struct str n;
	int rc = s3_do(s, &c, &a, e);

	if (!rc && a.r.status == 404)
		rc = S3_ABSENT;
	else if (!rc && a.r.status != 200)
		rc = s3_refused(&c, &a, e);
	if (!rc) {
		n = http_header(&a.r.headers, "Content-Length");
		*out = (struct s3_object){ .bytes = 0 };
		if (!n.p || str_to_i64(n, &out->bytes))
			rc = err_set(e, ERR_FORMAT, "S3 does not report the length of '%s'", key);
		n = http_header(&a.r.headers, "x-amz-meta-sha256");
		if (n.n == 64)
			snprintf(out->sha256, sizeof out->sha256, "%.*s", STR_ARG(n));
	}
	s3_answer_release(&a);
	return rc;
}

/* Deletes an object. An absent object counts as deleted, so that a repeated attempt succeeds. */
int s3_delete(struct s3 *s, const char *key, struct err *e)
{
	struct s3_call c = { .method = "DELETE", .key = key };
	struct s3_answer a;
	int rc = s3_do(s, &c, &a, e);

	if (!rc && a.r.status >= 300 && a.r.status != 404)
		rc = s3_refused(&c, &a, e);
	s3_answer_release(&a);
	return rc;
}

/* --- lists -------------------------------------------------------------------------------- */

/* The state while a list is read. */
struct listing {
	struct s3 *s;
	s3_list_fn *fn;
	void *ctx;
	struct buf key, next;
	int64_t bytes;
	int stop, more;
};

/* One element of the list's XML. */
static int on_element(void *ctx, struct str path, struct str text)
{
	struct listing *l = ctx;
	size_t skip = strlen(l->s->prefix);

	if (str_is(path, "Contents/Key")) {
		buf_clear(&l->key);
		buf_addstr(&l->key, text);
	} else if (str_is(path, "Contents/Size")) {
		str_to_i64(str_trim(text), &l->bytes);
	} else if (str_is(path, "Contents")) {
		if (l->key.n >= skip)
			l->stop = l->fn(l->ctx, (struct str){ .p = l->key.p + skip, .n = l->key.n - skip }, l->bytes);
	} else if (str_is(path, "IsTruncated")) {
		l->more = str_is(str_trim(text), "true");
	} else if (str_is(path, "NextContinuationToken")) {
		buf_clear(&l->next);
		buf_addstr(&l->next, str_trim(text));
	}
	return l->stop;
}

/* One page of the list, from the token in `next` on. */
static int list_page(struct listing *l, const char *prefix, struct err *e)
{
	struct buf query = BUF_INIT, whole = BUF_INIT;
	struct s3_call c = { .method = "GET", .most = ANSWER_MOST };
	struct s3_answer a = { .lost = 0 };
	int rc;

	buf_addf(&whole, "%s%s", l->s->prefix, prefix);
	if (l->next.n) {
		buf_adds(&query, "continuation-token=");
		http_encode(&query, buf_str(&l->next), 0);
		buf_addc(&query, '&');
	}
	buf_adds(&query, "list-type=2&prefix=");
	http_encode(&query, buf_str(&whole), 0);
	c.query = buf_cstr(&query);
	rc = buf_check(&query, e) ? -1 : s3_do(l->s, &c, &a, e);
	if (!rc && a.r.status != 200)
		rc = s3_refused(&c, &a, e);
	l->more = 0;
	if (!rc)
		rc = xml_read(buf_str(&a.r.body), on_element, l, e);
	s3_answer_release(&a);
	buf_release(&query);
	buf_release(&whole);
	return rc;
}

/* Calls fn for every object under the prefix, page by page (S3 lists at most 1000 at a time). Keys
 * come without the bucket's own prefix. A nonzero result of fn ends the list and is returned. */
int s3_list(struct s3 *s, const char *prefix, s3_list_fn *fn, void *ctx, struct err *e)
{
	struct listing l = { .s = s, .fn = fn, .ctx = ctx };
	int rc;

	do
		rc = list_page(&l, prefix, e);
	while (!rc && !l.stop && l.more && l.next.n);
	buf_release(&l.key);
	buf_release(&l.next);
	return rc ? rc : l.stop;
}
