/* AWS credentials: environment, shared files, profiles that name another source (cred_profile.c), the
 * instance's role, in this order. aws.h is the manual. Credentials that expire are renewed five minutes
 * before. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/cred_impl.h"
#include "net/imds.h"

/* Seconds before expiry at which credentials are looked up again. */
enum { RENEW_SECONDS = 300 };

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

/* --- environment -------------------------------------------------------------------------- */

/* AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Every source returns 1 if it found credentials, 0
 * if it has none, -1 on failure. */
static int from_environment(struct aws *a, struct aws_cred *c, struct err *e)
{
	struct str key = cred_env("AWS_ACCESS_KEY_ID"), secret = cred_env("AWS_SECRET_ACCESS_KEY");

	(void)a;
	if (!key.n && !secret.n)
		return 0;
	if (!key.n || !secret.n)
		return err_set(e, ERR_USAGE,
			       "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: only one is set, set both");
	return cred_fill(c, key, secret, cred_env("AWS_SESSION_TOKEN"), e);
}

/* --- shared files ------------------------------------------------------------------------- */

/* The section of a profile in ~/.aws/credentials. */
static int keys_of(const char *profile, struct aws_cred *c, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc = cred_read_shared("AWS_SHARED_CREDENTIALS_FILE", "credentials", &text, e);

	if (rc > 0) {
		struct str key = cred_ini(buf_str(&text), profile, "aws_access_key_id"),
			secret = cred_ini(buf_str(&text), profile, "aws_secret_access_key");
		struct str token = cred_ini(buf_str(&text), profile, "aws_session_token");

		rc = key.p && secret.p ? cred_fill(c, key, secret, token.p ? token : STR(""), e) : 0;
	}
	buf_release(&text);
	return rc;
}

/* The region of the environment, else of the profile in ~/.aws/config, else "". The config file
 * calls its sections "profile NAME", except "default". */
void aws_region(const struct aws *a, char *out, size_t n)
{
	struct str r = cred_env("AWS_REGION");
	struct buf text = BUF_INIT, section = BUF_INIT;

	if (!r.n)
		r = cred_env("AWS_DEFAULT_REGION");
	if (!r.n && cred_read_shared("AWS_CONFIG_FILE", "config", &text, NULL) > 0) {
		buf_addf(&section, strcmp(a->profile, "default") ? "profile %s" : "%s", a->profile);
		r = cred_ini(buf_str(&text), buf_cstr(&section), "region");
	}
	snprintf(out, n, "%.*s", (int)r.n, r.p ? r.p : "");
	buf_release(&text);
	buf_release(&section);
}

/* --- the instance's role ------------------------------------------------------------------ */

/* Reads the JSON that the metadata service returns for a role. */
static int read_role(struct str body, struct aws_cred *c, struct err *e)
{
	struct json *j = json_parse(body, e);
	struct str key, secret, token, until;
	int rc = -1;

	if (j && !json_need_str(j, "AccessKeyId", &key, e) && !json_need_str(j, "SecretAccessKey", &secret,
			e) && !json_need_str(j, "Token", &token, e) &&
	    !json_need_str(j, "Expiration", &until, e))
		rc = cred_fill(c, key, secret, token, e);
	if (rc > 0)
		c->expires = cred_stamp(until);
	json_free(j);
	return rc;
}

/* Reads the credentials of the instance's role from its metadata service. A machine outside the
 * cloud has no such service: that means "nothing found", not a failure. */
static int from_role(struct aws *a, struct aws_cred *c, struct err *e)
{
	struct str off = cred_env("AWS_EC2_METADATA_DISABLED");
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

/* --- profiles ----------------------------------------------------------------------------- */

/* How many profiles may name each other in a row. */
enum { CHAIN_MOST = 4 };

/* A look-up that follows profiles. */
struct chain {
	struct aws *a;
	int depth;
};

/* The credentials of a profile: the role or session that it names, else its keys. NULL is the instance. */
static int of_profile(void *ctx, const char *profile, struct aws_cred *c, struct err *e)
{
	struct chain *x = ctx;
	char region[64];
	int rc;

	if (!profile)
		return from_role(x->a, c, e);
	if (x->depth++ == CHAIN_MOST)
		return err_set(e, ERR_FORMAT, "profiles of ~/.aws/config name each other in a circle ('%s')", profile);
	rc = keys_of(profile, c, e);
	aws_region(x->a, region, sizeof region);
	return rc ? rc : cred_profile(profile, region, of_profile, x, c, e);
}

static int from_files(struct aws *a, struct aws_cred *c, struct err *e)
{
	struct chain x = { .a = a };

	return of_profile(&x, a->profile, c, e);
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
			       "~/.aws has none (keys, role_arn, sso_session, credential_process), and this "
			       "machine has no instance role",
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
