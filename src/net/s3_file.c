/* Files to and from S3, in parts that travel side by side: see s3.h.
 *
 * An upload of parts is invisible until it is completed, and completing carries the condition. A
 * part is hashed as it is sent; the digest of the whole goes into the object's metadata, because
 * S3's own checksum of a multipart object is one of checksums. A download asks for ranges, writes
 * each to its place, and is hashed whole, in order while others arrive, before it gets its name. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/thread.h"
#include "net/s3_impl.h"
#include "net/xml.h"

/* S3's limit on parts; bytes of an ETag. */
enum { PARTS_MOST = 10000, ETAG = 80 };

/* The size of a part: doubled until the file has fewer parts than the limit. */
static int64_t part_size(const struct s3 *s, int64_t bytes)
{
	int64_t size = s->o.part_bytes;

	while (bytes / size >= PARTS_MOST)
		size *= 2;
	return size;
}

/* --- up ----------------------------------------------------------------------------------- */

/* An upload in parts. `lock` guards the first error. */
struct upload {
	struct s3 *s;
	const char *key;
	struct file_map file;
	int64_t part;
	size_t parts;
	struct buf id;                /* of the upload, encoded */
	char (*etag)[ETAG];
	const char *sha;              /* of the whole file */
	_Atomic int failed;
	struct err e;
	pthread_mutex_t lock;
};

/* Keeps the first failure; the others stop. */
static void note_failure(struct upload *u, const struct err *e)
{
	pthread_mutex_lock(&u->lock);
	if (!atomic_exchange(&u->failed, 1))
		u->e = *e;
	pthread_mutex_unlock(&u->lock);
}

/* Sends part i and keeps its ETag, which completing needs. */
static int send_part(struct upload *u, size_t i, struct err *e)
{
	size_t at = i * (size_t)u->part, n = MIN((size_t)u->part, u->file.n - at);
	struct s3_call c = { .method = "PUT", .key = u->key, .body = { .p = u->file.p + at, .n = n },
			     .body_checked = 1 };
	struct buf query = BUF_INIT;
	struct s3_answer a = { .lost = 0 };
	struct str tag;
	int rc;

	buf_addf(&query, "partNumber=%zu&uploadId=%s", i + 1, buf_cstr(&u->id));
	c.query = buf_cstr(&query);
	rc = buf_check(&query, e) ? -1 : s3_do(u->s, &c, &a, e);
	if (!rc && a.r.status != 200)
		rc = s3_refused(&c, &a, e);
	tag = http_header(&a.r.headers, "ETag");
	if (!rc && (!tag.n || tag.n >= ETAG))
		rc = err_set(e, ERR_FORMAT, "S3 accepted part %zu of '%s' without returning an ETag", i + 1, u->key);
	if (!rc)
		snprintf(u->etag[i], ETAG, "%.*s", STR_ARG(tag));
	s3_answer_release(&a);
	buf_release(&query);
	return rc;
}

/* A thread's share of the parts. */
static void send_parts(void *ctx, size_t begin, size_t end)
{
	struct upload *u = ctx;
	struct err e = ERR_INIT;

	for (size_t i = begin; i < end && !atomic_load(&u->failed); i++)
		if (send_part(u, i, &e))
			note_failure(u, &e);
}

/* Begins a multipart upload; the digest of the whole file goes into the metadata. */
static int begin_upload(struct upload *u, struct err *e)
{
	struct buf meta = BUF_INIT, id = BUF_INIT;
	const char *headers[] = { NULL, "x-amz-checksum-algorithm: SHA256", NULL };
	struct s3_call c = { .method = "POST", .key = u->key, .query = "uploads=", .headers = headers };
	struct s3_answer a = { .lost = 0 };
	int rc;

	buf_addf(&meta, "x-amz-meta-sha256: %s", u->sha);
	headers[0] = buf_cstr(&meta);
	rc = buf_check(&meta, e) ? -1 : s3_do(u->s, &c, &a, e);
	if (!rc && a.r.status != 200)
		rc = s3_refused(&c, &a, e);
	if (!rc) {
		xml_find(buf_str(&a.r.body), "UploadId", &id);
		http_encode(&u->id, buf_str(&id), 0);
		rc = u->id.n ? buf_check(&u->id, e) :
			err_set(e, ERR_FORMAT, "S3 began an upload of '%s' without returning its id", u->key);
	}
	s3_answer_release(&a);
	buf_release(&meta);
	buf_release(&id);
	return rc;
}

/* Aborts an upload, so that its parts are not stored for ever. */
static void abort_upload(struct upload *u)
{
	struct buf query = BUF_INIT;
	struct s3_call c = { .method = "DELETE", .key = u->key };
	struct s3_answer a;

	if (!u->id.n)
		return;
	buf_addf(&query, "uploadId=%s", buf_cstr(&u->id));
	c.query = buf_cstr(&query);
	s3_do(u->s, &c, &a, NULL);
	s3_answer_release(&a);
	buf_release(&query);
}

/* Does the object exist, and is it ours? This recognises a completion whose answer was lost. */
static int is_complete(struct upload *u, struct err *e)
{
	struct s3_object o;
	int rc = s3_head(u->s, u->key, &o, e);

	return rc < 0 ? -1 : !rc && o.bytes == (int64_t)u->file.n && !strcmp(o.sha256, u->sha);
}

/* The document that completes an upload. */
static void list_parts(const struct upload *u, struct buf *body)
{
	buf_adds(body, "<CompleteMultipartUpload>");
	for (size_t i = 0; i < u->parts; i++)
		buf_addf(body, "<Part><PartNumber>%zu</PartNumber><ETag>%s</ETag></Part>", i + 1, u->etag[i]);
	buf_adds(body, "</CompleteMultipartUpload>");
}

/* Completes the upload, under the condition if there is one. */
static int end_upload(struct upload *u, enum s3_if cond, struct err *e)
{
	const char *const absent[] = { "If-None-Match: *", NULL };
	struct buf body = BUF_INIT, query = BUF_INIT;
	struct s3_call c = { .method = "POST", .key = u->key, .headers = cond == S3_IF_ABSENT ? absent : NULL };
	struct s3_answer a = { .lost = 0 };
	int rc, status;

	list_parts(u, &body);
	buf_addf(&query, "uploadId=%s", buf_cstr(&u->id));
	c.body = buf_str(&body);
	c.query = buf_cstr(&query);
	rc = buf_check(&body, e) || buf_check(&query, e) ? -1 : s3_do(u->s, &c, &a, e);
	status = a.r.status;
	if (!rc && status >= 300) {
		rc = a.lost || status == 412 || status == 409 ? is_complete(u, e) : 0;
		rc = rc < 0 ? -1 : rc ? 0 : status == 412 || status == 409 ? S3_EXISTS : s3_refused(&c, &a, e);
	}
	s3_answer_release(&a);
	buf_release(&body);
	buf_release(&query);
	return rc;
}

/* All parts, on several threads. */
static int send_all(struct upload *u, enum s3_if cond, struct err *e)
{
	struct pool *threads = pool_new((int)MIN((size_t)u->s->o.parallel, u->parts), e);
	int rc = -1;

	u->etag = mem_array(u->parts, ETAG);
	if (!u->etag)
		err_nomem(e);
	else if (threads && !begin_upload(u, e)) {
		pool_for_dynamic(threads, u->parts, 1, send_parts, u);
		rc = atomic_load(&u->failed) ? err_set(e, u->e.code, "%s", u->e.text) : end_upload(u, cond, e);
		if (rc)
			abort_upload(u);
	}
	pool_free(threads);
	mem_free(u->etag);
	buf_release(&u->id);
	return rc;
}

/* A file of one part, in one call. */
static int send_small(struct upload *u, enum s3_if cond, struct err *e)
{
	struct buf meta = BUF_INIT;
	const char *headers[] = { NULL, cond == S3_IF_ABSENT ? "If-None-Match: *" : NULL, NULL };
	struct s3_call c = { .method = "PUT", .key = u->key, .headers = headers, .body = { .p = u->file.p,
			.n = u->file.n }, .body_sha256 = u->sha, .body_checked = 1 };
	struct s3_answer a = { .lost = 0 };
	int rc, conflict;

	buf_addf(&meta, "x-amz-meta-sha256: %s", u->sha);
	headers[0] = buf_cstr(&meta);
	rc = buf_check(&meta, e) ? -1 : s3_do(u->s, &c, &a, e);
	conflict = !rc && (a.r.status == 412 || a.r.status == 409);
	if (!rc && !conflict && a.r.status >= 300)
		rc = s3_refused(&c, &a, e);
	if (conflict) {
		rc = is_complete(u, e);
		rc = rc < 0 ? -1 : rc && a.lost ? 0 : S3_EXISTS;
	}
	s3_answer_release(&a);
	buf_release(&meta);
	return rc;
}

/* Uploads a file: in one request if it has one part, else as a multipart upload with several parts
 * at a time. A file of 100 MiB with parts of 16 MiB has 7 parts. */
int s3_put_file(struct s3 *s, const char *key, const char *path, const char *sha256, enum s3_if cond, struct err *e)
{
	struct upload u = { .s = s, .key = key, .sha = sha256, .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc;

	if (file_map_open(&u.file, path, e))
		return -1;
	u.part = part_size(s, (int64_t)u.file.n);
	u.parts = (u.file.n + (size_t)u.part - 1) / (size_t)u.part;
	rc = u.parts > 1 ? send_all(&u, cond, e) : send_small(&u, cond, e);
	file_map_close(&u.file);
	return rc < 0 ? err_wrap(e, "uploading '%s'", path) : rc;
}

/* --- down --------------------------------------------------------------------------------- */

/* A download in ranges. */
struct download {
	struct s3 *s;
	const char *key;
	int fd;
	int64_t bytes, part;
	_Atomic int failed, absent;
	struct err e;
	/* The digest, of parts in their order. The lock guards these members; the hashing itself
	 * runs outside the lock, in one thread at a time. */
	pthread_mutex_t lock;
	char *arrived;                /* of each part: whether it is in the file */
	size_t parts, hashed;
	int hashing;
	struct sha256 sha;
};

/* A range that is being written to its position in the file. */
struct range { struct download *d; int64_t from, n, at; };

/* A repeated attempt starts at the beginning of its range. */
static int rewind_range(void *ctx)
{
	struct range *r = ctx;

	r->at = 0;
	return 0;
}

/* Writes a part of the answer to its position in the file. */
static int store_range(void *ctx, const void *p, size_t n)
{
	struct range *r = ctx;
	const char *at = p;

	if ((int64_t)n > r->n - r->at)
		return -1;
	while (n) {
		ssize_t k = pwrite(r->d->fd, at, n, r->from + r->at);

		if (k <= 0)
			return -1;
		at += k;
		n -= (size_t)k;
		r->at += k;
	}
	return 0;
}

/* Hashes a part by reading it back, while it is still in the page cache. */
static int hash_part(struct download *d, size_t i, struct err *e)
{
	enum { PIECE = 1 << 18 };
	char *piece = mem_alloc(PIECE);
	int64_t at = (int64_t)i * d->part, end = MIN(at + d->part, d->bytes);
	int rc = piece ? 0 : err_nomem(e);

	while (!rc && at < end) {
		ssize_t n = pread(d->fd, piece, (size_t)MIN(end - at, (int64_t)PIECE), at);

		if (n <= 0)
			rc = err_errno(e, "cannot read back the downloaded part");
		else
			sha256_add(&d->sha, piece, (size_t)n);
		at += n;
	}
	mem_free(piece);
	return rc;
}

/* Part i has arrived: adds it and the later parts that waited for it to the digest, unless another
 * thread is doing that already. A digest needs the parts in order, and they arrive in any order: if
 * parts 2, 1, 0 arrive, the arrival of part 0 hashes all three. */
static int hash_arrived(struct download *d, size_t i, struct err *e)
{
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	d->arrived[i] = 1;
	if (!d->hashing) {
		d->hashing = 1;
		while (!rc && d->hashed < d->parts && d->arrived[d->hashed]) {
			pthread_mutex_unlock(&d->lock);
			rc = hash_part(d, d->hashed, e);
			pthread_mutex_lock(&d->lock);
			d->hashed += !rc;
		}
		d->hashing = 0;
	}
	pthread_mutex_unlock(&d->lock);
	return rc;
}

/* Downloads one range. */
static int take_range(struct download *d, size_t i, struct err *e)
{
	struct range r = { .d = d, .from = (int64_t)i * d->part };
	char header[80];
	const char *const headers[] = { header, NULL };
	struct s3_call c = { .method = "GET", .key = d->key, .headers = headers, .sink = store_range,
			     .rewind = rewind_range, .sink_ctx = &r };
	struct s3_answer a;
	int rc;

	r.n = MIN(d->part, d->bytes - r.from);
	snprintf(header, sizeof header, "Range: bytes=%lld-%lld", (long long)r.from, (long long)(r.from + r.n - 1));
	rc = s3_do(d->s, &c, &a, e);
	if (!rc && a.r.status == 404) {
		atomic_store(&d->absent, 1);
		rc = err_set(e, ERR_NOT_FOUND, "no such object");
	} else if (!rc && a.r.status != 206 && a.r.status != 200) {
		rc = s3_refused(&c, &a, e);
	} else if (!rc && r.at != r.n) {
		rc = err_set(e, ERR_FORMAT, "'%s' gave %lld bytes where %lld were asked for", d->key,
			     (long long)r.at, (long long)r.n);
	}
	if (!rc && d->s->o.moved)
		atomic_fetch_add(d->s->o.moved, (long long)r.n);
	s3_answer_release(&a);
	return rc;
}

/* A thread's share of the ranges. */
static void take_ranges(void *ctx, size_t begin, size_t end)
{
	struct download *d = ctx;

	for (size_t i = begin; i < end && !atomic_load(&d->failed); i++) {
		struct err e = ERR_INIT;

		if (!take_range(d, i, &e) && !hash_arrived(d, i, &e))
			continue;
		pthread_mutex_lock(&d->lock);
		if (!atomic_exchange(&d->failed, 1))
			d->e = e;
		pthread_mutex_unlock(&d->lock);
	}
}

/* All ranges, on several threads. */
static int take_all(struct download *d, struct err *e)
{
	struct pool *threads = d->parts > 1 ? pool_new((int)MIN((size_t)d->s->o.parallel, d->parts), e) : NULL;

	if (d->parts > 1 && !threads)
		return -1;
	pool_for_dynamic(threads, d->parts, 1, take_ranges, d);
	pool_free(threads);
	if (!atomic_load(&d->failed))
		return 0;
	return atomic_load(&d->absent) ? S3_ABSENT : err_set(e, d->e.code, "%s", d->e.text);
}

/* Compares the digest of what arrived with the one that is expected. */
static int check_digest(struct download *d, const char *want, struct err *e)
{
	unsigned char digest[32];
	char have[65];

	sha256_end(&d->sha, digest);
	hash_hex(digest, sizeof digest, have);
	return strcmp(have, want) ? err_set(e, ERR_FORMAT,
					    "the download is damaged: its SHA-256 differs") : 0;
}

/* Downloads into a temporary file in ranges, checks the digest, and renames it. A damaged download
 * never gets the name `path`. */
int s3_get_file(struct s3 *s, const char *key, const char *path, int64_t bytes, const char *sha256, struct err *e)
{
	struct download d = { .s = s, .key = key, .bytes = bytes, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct file_out out;
	int rc;

	if (file_out_open(&out, path, e))
		return -1;
	d.fd = out.fd;
	d.part = part_size(s, bytes);
	d.parts = (size_t)((bytes + d.part - 1) / d.part);
	d.arrived = mem_zalloc(d.parts + 1);
	sha256_init(&d.sha);
	rc = d.arrived ? take_all(&d, e) : err_nomem(e);
	if (!rc)
		rc = check_digest(&d, sha256, e);
	mem_free(d.arrived);
	if (rc)
		file_out_abort(&out);
	else
		rc = file_out_commit(&out, e);
	return rc < 0 ? err_wrap(e, "downloading '%s'", key) : rc;
}
