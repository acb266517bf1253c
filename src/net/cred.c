/* AWS credentials: environment, shared files, the instance's role, in this order. aws.h is the
 * manual. Credentials of a role are renewed five minutes before they expire. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/aws.h"
#include "net/imds.h"

/* The largest shared file that is read; seconds before expiry at which a role is asked again. */
enum { FILE_MOST = 1 << 20, RENEW_SECONDS = 300 };

/* Credentials as they were found last. `lock` guards `have` and `known`. */
struct aws {
	char *profile, *metadata;
	pthread_mutex_t lock;
	struct aws_cred have;
	int known;
};

/* Notes the profile: the option, else AWS_PROFILE, else "default". Nothing is looked up before the
 * first aws_credentials. */
struct aws *aws_open(const struct aws_options *o, struct err *e)
{
	struct aws *a = mem_zalloc(sizeof *a);
	const char *env = getenv("AWS_PROFILE"), *profile = o && o->profile && *o->profile ? o->profile :
		env && *env ? env : "default";

	if (a && (!(a->profile = mem_strdup(profile)) ||
		  (o && o->metadata && !(a->metadata = mem_strdup(o->metadata))))) {
		mem_free(a->profile);
		mem_free(a);
		a = NULL;
	}
	if (!a) {
		err_nomem(e);
		return NULL;
	}
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

void aws_close(struct aws *a)
{
	if (!a)
		return;
	pthread_mutex_destroy(&a->lock);
	mem_free(a->profile);
	mem_free(a->metadata);
	mem_free(a);
}

/* Copies a credential into its fixed field; one that does not fit is refused. */
static int copy(char *to, size_t n, struct str from, const char *what, struct err *e)
{
	if (from.n >= n)
		return err_set(e, ERR_FORMAT, "%s is too long", what);
	memcpy(to, from.p, from.n);
	to[from.n] = '\0';
	return 0;
}

/* --- environment -------------------------------------------------------------------------- */

/* An environment variable, or the empty string. */
static struct str env(const char *name)
{
	const char *v = getenv(name);

	return str_of(v ? v : "");
}

/* Fills *c. Returns 1 like a source that has found something, -1 on failure. */
static int fill(struct aws_cred *c, struct str key, struct str secret, struct str token, struct err *e)
{
	*c = (struct aws_cred){ .expires = 0 };
	return copy(c->key, sizeof c->key, key, "the access key", e) || copy(c->secret, sizeof c->secret,
			secret, "the secret key", e) ||
	       copy(c->token, sizeof c->token, token, "the session token", e) ? -1 : 1;
}

/* AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Every source returns 1 if it found credentials, 0
 * if it has none, -1 on failure. */
static int from_environment(struct aws *a, struct aws_cred *c, struct err *e)
{
	struct str key = env("AWS_ACCESS_KEY_ID"), secret = env("AWS_SECRET_ACCESS_KEY");

	(void)a;
	if (!key.n && !secret.n)
		return 0;
	if (!key.n || !secret.n)
		return err_set(e, ERR_USAGE,
			       "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: only one is set, set both");
	return fill(c, key, secret, env("AWS_SESSION_TOKEN"), e);
}

/* --- shared files ------------------------------------------------------------------------- */

/* Reads "~/.aws/NAME", or the file that the variable names. Returns 1 if it was read, 0 if there
 * is no such file. */
static int read_shared(const char *variable, const char *name, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT;
	struct str given = env(variable), home = env("HOME");
	int rc = 0;

	if (given.n)
		buf_addstr(&path, given);
	else
		buf_addf(&path, "%.*s/.aws/%s", STR_ARG(home), name);
	if (buf_check(&path, e))
		rc = -1;
	else if (file_exists(path.p))
		rc = file_read(path.p, FILE_MOST, out, e) ? -1 : 1;
	buf_release(&path);
	return rc;
}

/* The value of a key in a section of an ini file; .p is NULL if the section has no such key. */
static struct str ini_get(struct str text, const char *section, const char *key)
{
	int inside = 0;

	while (text.n) {
		struct str line = str_trim(str_cut(&text, '\n')), name;

		if (!line.n || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[') {
			struct str head = { .p = line.p + 1, .n = line.n - 1 };

			inside = str_is(str_trim(str_cut(&head, ']')), section);
			continue;
		}
		name = str_trim(str_cut(&line, '='));
		if (inside && str_is(name, key))
			return str_trim(line);
	}
	return (struct str){ .p = NULL };
}

/* The profile's section in ~/.aws/credentials. */
static int from_files(struct aws *a, struct aws_cred *c, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc = read_shared("AWS_SHARED_CREDENTIALS_FILE", "credentials", &text, e);

	if (rc > 0) {
		struct str key = ini_get(buf_str(&text), a->profile, "aws_access_key_id"),
			secret = ini_get(buf_str(&text), a->profile, "aws_secret_access_key");
		struct str token = ini_get(buf_str(&text), a->profile, "aws_session_token");

		rc = key.p && secret.p ? fill(c, key, secret, token.p ? token : STR(""), e) : 0;
	}
	buf_release(&text);
	return rc;
}

/* The region of the environment, else of the profile in ~/.aws/config, else "". The config file
 * calls its sections "profile NAME", except "default". */
void aws_region(const struct aws *a, char *out, size_t n)
{
	struct str r = env("AWS_REGION");
	struct buf text = BUF_INIT, section = BUF_INIT;

	if (!r.n)
		r = env("AWS_DEFAULT_REGION");
	if (!r.n && read_shared("AWS_CONFIG_FILE", "config", &text, NULL) > 0) {
		buf_addf(&section, strcmp(a->profile, "default") ? "profile %s" : "%s", a->profile);
		r = ini_get(buf_str(&text), buf_cstr(&section), "region");
	}
	snprintf(out, n, "%.*s", (int)r.n, r.p ? r.p : "");
	buf_release(&text);
	buf_release(&section);
}

/* --- the instance's role ------------------------------------------------------------------ */

/* Parses a time such as "2026-01-01T00:00:00Z"; 0 if it has another form. */
static time_t read_stamp(struct str s)
{
	char text[32];
	struct tm tm = { .tm_sec = 0 };

	snprintf(text, sizeof text, "%.*s", (int)MIN(s.n, sizeof text - 1), s.p);
	return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) ? timegm(&tm) : 0;
}

/* Reads the JSON that the metadata service returns for a role. */
static int read_role(struct str body, struct aws_cred *c, struct err *e)
{
	struct json *j = json_parse(body, e);
	struct str key, secret, token, until;
	int rc = -1;

	if (j && !json_need_str(j, "AccessKeyId", &key, e) && !json_need_str(j, "SecretAccessKey", &secret,
			e) && !json_need_str(j, "Token", &token, e) &&
	    !json_need_str(j, "Expiration", &until, e))
		rc = fill(c, key, secret, token, e);
	if (rc > 0)
		c->expires = read_stamp(until);
	json_free(j);
	return rc;
}

/* Reads the credentials of the instance's role from its metadata service. A machine outside the
 * cloud has no such service: that means "nothing found", not a failure. */
static int from_role(struct aws *a, struct aws_cred *c, struct err *e)
{
	struct str off = env("AWS_EC2_METADATA_DISABLED");
	struct buf role = BUF_INIT, body = BUF_INIT;
	struct err ignored = ERR_INIT;
	struct imds *m = str_is(off, "true") ? NULL : imds_open(a->metadata, e);
	int rc = m ? imds_get(m, "iam/security-credentials/", &role, &ignored) : 0;

	/* No metadata service is the rule off the cloud: nothing found, not a failure. */
	rc = MAX(rc, 0);
	if (rc > 0) {
		struct str rest = buf_str(&role), name = str_trim(str_cut(&rest, '\n'));
		struct buf path = BUF_INIT;

		buf_addf(&path, "iam/security-credentials/%.*s", STR_ARG(name));
		rc = buf_check(&path, e) ? -1 : imds_get(m, path.p, &body, e);
		buf_release(&path);
	}
	if (rc > 0)
		rc = read_role(buf_str(&body), c, e);
	imds_close(m);
	buf_release(&role);
	buf_release(&body);
	return rc;
}

/* --- all of them -------------------------------------------------------------------------- */

/* Asks the sources in order. If none has credentials, the error names all that were tried. */
static int look(struct aws *a, struct aws_cred *c, struct err *e)
{
	static int (*const sources[])(struct aws *a, struct aws_cred *c, struct err *e) = { from_environment,
			from_files, from_role };
	int rc = 0;

	for (size_t i = 0; i < COUNT_OF(sources) && !rc; i++)
		rc = sources[i](a, c, e);
	if (!rc)
		return err_set(e, ERR_NOT_FOUND,
			       "no credentials: AWS_ACCESS_KEY_ID is not set, profile '%s' of "
			       "~/.aws/credentials has none, and this machine has no instance role",
			       a->profile);
	return rc < 0 ? -1 : 0;
}

/* Returns credentials, looked up at the first call and again shortly before they expire. Threads
 * that call meanwhile wait for the look-up instead of starting their own. */
int aws_credentials(struct aws *a, struct aws_cred *out, struct err *e)
{
	int rc = 0;

	pthread_mutex_lock(&a->lock);
	if (!a->known || (a->have.expires && a->have.expires < time(NULL) + RENEW_SECONDS)) {
		rc = look(a, &a->have, e);
		a->known = !rc;
	}
	*out = a->have;
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* Makes the next aws_credentials look again: S3 has refused the present ones. */
void aws_forget(struct aws *a)
{
	pthread_mutex_lock(&a->lock);
	a->known = 0;
	pthread_mutex_unlock(&a->lock);
}
