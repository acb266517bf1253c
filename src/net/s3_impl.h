/* Inside of the S3 client: a call with its retries, as the files of objects, transfers and
 * buckets use it. */
#ifndef NET_S3_IMPL_H
#define NET_S3_IMPL_H

#include "net/aws.h"
#include "net/s3.h"

enum { S3_IDLE = 32 };

struct s3 {
	struct s3_options o;
	struct aws *aws;
	char *bucket, *prefix;        /* prefix: "" or "a/b/" */
	char *scheme, *host;          /* of the endpoint */
	char region[64];
	int path_style;
	_Atomic uint64_t dice;        /* of the pauses */
	pthread_mutex_t lock;         /* of the idle connections */
	struct http *idle[S3_IDLE];
	int n_idle;
};

/* A call, described once and tried several times. `query` has the form of aws_request. The key is
 * NULL for a call on the bucket. `headers` are extra lines, NULL-terminated; the body is sent
 * unchanged. */
struct s3_call {
	const char *method;
	const char *key;
	const char *query;
	const char *const *headers;
	struct str body;
	const char *body_sha256;      /* NULL: computed */
	int body_checked;             /* send the digest as x-amz-checksum-sha256 as well */
	size_t most;                  /* of the answer's body */
	int (*sink)(void *ctx, const void *p, size_t n);
	int (*rewind)(void *ctx);     /* before each attempt: the sink starts again */
	void *sink_ctx;
};

/* The end of a call. s3_do returns 0 with a reply of status 2xx, or of a status that the caller may
 * handle (404, 409, 412); else -1. `lost`: an earlier attempt ended without an answer and may have
 * worked. */
struct s3_answer {
	struct http_reply r;
	int lost;
	char code[64];                /* of S3's error document, "" */
};

int s3_do(struct s3 *s, const struct s3_call *c, struct s3_answer *a, struct err *e);
void s3_answer_release(struct s3_answer *a);
/* An error for a status that the caller has no use for. */
int s3_refused(const struct s3_call *c, const struct s3_answer *a, struct err *e);

#endif
