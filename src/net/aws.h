/* Credentials and signatures for Amazon's services and compatible ones.
 *
 * Credentials come from the usual sources, in this order: AWS_ACCESS_KEY_ID and the related variables, the
 * shared files (~/.aws/credentials and ~/.aws/config, one section per profile: keys, a role to assume, an SSO
 * session, a program), the role of the instance by its metadata service. Credentials that expire are renewed.
 *
 * Signatures are version 4. libcurl can sign, too, but Debian's 7.88 does not sort the query
 * and leaves `x-amz-content-sha256` out, so multipart calls fail. */
#ifndef NET_AWS_H
#define NET_AWS_H

#include <pthread.h>
#include <time.h>

#include "net/http.h"

struct aws_cred {
	char key[128], secret[128];
	char token[4096];             /* of temporary ones; "" */
	time_t expires;               /* 0: never */
};

struct aws_options {
	const char *profile;          /* NULL: AWS_PROFILE, else "default" */
	/* base address of the metadata service; NULL: AWS_EC2_METADATA_SERVICE_ENDPOINT, else
	 * Amazon's */
	const char *metadata;
};

/* The state that calls share. Thread-safe. */
struct aws;
struct aws *aws_open(const struct aws_options *o, struct err *e);
void aws_close(struct aws *a);
/* Returns credentials that are valid for the next minutes. ERR_NOT_FOUND: no source has any, and
 * the message lists the sources tried. */
int aws_credentials(struct aws *a, struct aws_cred *out, struct err *e);
/* Call this after the credentials were refused: the next call asks the sources again. */
void aws_forget(struct aws *a);
/* The region of the environment or the profile, or "". */
void aws_region(const struct aws *a, char *out, size_t n);

/* A request to sign. `query` is sorted by name and encoded already: "a=1&b=", "" for none. */
struct aws_request {
	const char *method, *host;
	const char *path;             /* encoded, from the first '/' on */
	const char *query;
	const char *region, *service;
	const char *body_sha256;      /* 64 hex digits, or "UNSIGNED-PAYLOAD" */
	time_t now;
};

/* Adds x-amz-date, x-amz-content-sha256, x-amz-security-token and Authorization; signs those, the
 * host and every header already there. */
int aws_sign(const struct aws_request *q, const struct aws_cred *c, struct http_headers *headers, struct err *e);

#endif
