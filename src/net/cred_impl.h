/* Private to the credentials: the shared files, and the profiles that name another source. */
#ifndef NET_CRED_IMPL_H
#define NET_CRED_IMPL_H

#include "net/aws.h"

/* An environment variable, or the empty string. */
struct str cred_env(const char *name);
/* Fills *c. Returns 1 like a source that has found something, -1 on failure. */
int cred_fill(struct aws_cred *c, struct str key, struct str secret, struct str token, struct err *e);
/* Reads "~/.aws/NAME", or the file that the variable names. Returns 1 if it was read, 0 if it is missing. */
int cred_read_shared(const char *variable, const char *name, struct buf *out, struct err *e);
/* The value of a key in a section of an ini file; .p is NULL if the section has no such key. */
struct str cred_ini(struct str text, const char *section, const char *key);
/* Parses a time such as "2026-01-01T00:00:00Z"; 0 if it has another form. */
time_t cred_stamp(struct str s);

/* A profile of ~/.aws/config that names its source, as Amazon's own tools read it: role_arn with source_profile
 * or credential_source, sso_session or sso_start_url (after `aws sso login`), or credential_process. Returns 1 if
 * it found credentials, 0 if the profile names no source, -1 on failure. `others` finds the credentials of another
 * profile, or with NULL those of the instance. */
typedef int cred_others(void *ctx, const char *profile, struct aws_cred *c, struct err *e);
int cred_profile(const char *profile, const char *region, cred_others *others, void *ctx, struct aws_cred *c,
		 struct err *e);

#endif
