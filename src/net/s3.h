/* Objects in an S3 bucket.
 *
 * A `struct s3` names a bucket and a key prefix ("s3://bucket/prefix") and may be used by
 * several threads. Calls are tried again, with growing random pauses, for what passes: broken
 * connections, 5xx, SlowDown, a clock that is off, and answers of status 200 whose body is an
 * error. A call returns 0, S3_ABSENT or S3_EXISTS where its comment says so, or -1.
 *
 * Every upload carries the SHA-256 of its bytes twice: signed, and as a checksum that the server
 * verifies. A write whose answer was lost may have happened; it is then looked at, not guessed. */
#ifndef NET_S3_H
#define NET_S3_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct s3;

enum { S3_ABSENT = 1, S3_EXISTS = 2 };

struct s3_options {
	/* "http://127.0.0.1:9000"; NULL: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else Amazon's */
	const char *endpoint;
	const char *region;           /* NULL: environment or profile, else us-east-1 */
	const char *profile;
	const char *metadata;         /* see aws.h */
	const char *style;            /* "path", "virtual", or "auto": path for custom endpoints and names with dots */
	const char *ca_file;
	int attempts;                 /* of a call; 0: 8 */
	int parallel;                 /* parts of one object at once; 0: 4 */
	int64_t part_bytes;           /* 0: 16 MiB; at least 5 MiB, more where 10,000 parts would not do */
	int64_t bytes_per_second;     /* of all transfers together; 0: no cap */
	double pause;                 /* seconds before the first retry, doubled each time; 0: 0.2 */
	const atomic_int *stop;       /* nonzero ends every call */
	atomic_llong *moved;          /* gets the bytes sent and received, for progress; NULL: nobody asks */
};

struct s3 *s3_open(const char *uri, const struct s3_options *o, struct err *e);
void s3_close(struct s3 *s);
const char *s3_bucket(const struct s3 *s);

/* The condition of a write. */
enum s3_if { S3_ALWAYS, S3_IF_ABSENT };

/* Small objects, in one call. S3_EXISTS: the condition failed and nothing was written. */
int s3_put(struct s3 *s, const char *key, struct str data, enum s3_if cond, struct err *e);
/* ERR_RANGE above `most` bytes. S3_ABSENT: no such object. */
int s3_get(struct s3 *s, const char *key, size_t most, struct buf *out, struct err *e);
/* *bytes and, where the server says, sha256 ("" otherwise) of an object. S3_ABSENT. */
struct s3_object { int64_t bytes; char sha256[65]; };
int s3_head(struct s3 *s, const char *key, struct s3_object *out, struct err *e);
/* Absent objects are fine. */
int s3_delete(struct s3 *s, const char *key, struct err *e);
/* Every key below the prefix of `s` that begins with `prefix`, in byte order, without the prefix of
 * `s`. Nonzero from fn stops and is returned. */
typedef int s3_list_fn(void *ctx, struct str key, int64_t bytes);
int s3_list(struct s3 *s, const char *prefix, s3_list_fn *fn, void *ctx, struct err *e);

/* Files of any size: in parts, several at once, where that pays. The whole file's SHA-256, which
 * the caller knows, is kept with the object. */
int s3_put_file(struct s3 *s, const char *key, const char *path, const char *sha256, enum s3_if cond, struct err *e);
/* The file appears under its name only when it is whole, has this SHA-256 (in hex) and is synced.
 * S3_ABSENT. */
int s3_get_file(struct s3 *s, const char *key, const char *path, int64_t bytes, const char *sha256, struct err *e);

/* --- the bucket --------------------------------------------------------------------------- */

struct s3_bucket_options {
	int keep_days;                /* old versions are kept so long; 0: 7 */
	int abort_days;               /* unfinished uploads; 0: 1 */
	const char *kms_key;          /* NULL: the server's own keys */
};

/* Creates the bucket if it does not exist, then sets encryption, versioning and lifecycle rules.
 * Existing settings that fit are kept. `said` gets a line for each: it was changed, it was correct
 * already, or this server does not support it. */
int s3_bucket_create(struct s3 *s, const struct s3_bucket_options *o, struct buf *said, struct err *e);
/* Writes the same lines about a bucket without changing it. Returns S3_ABSENT if it does not
 * exist. */
int s3_bucket_show(struct s3 *s, struct buf *said, struct err *e);

#endif
