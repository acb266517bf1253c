/* Profiles that name another source of credentials: see cred_impl.h. Addresses of the two services can be replaced
 * as in Amazon's tools: AWS_ENDPOINT_URL_STS and AWS_ENDPOINT_URL_SSO. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/cred_impl.h"
#include "net/xml.h"

/* Bytes of an answer, and seconds that a service may take. */
enum { ANSWER_MOST = 1 << 16, SECONDS = 20 };

/* The section of a profile in ~/.aws/config. */
static void section_of(const char *profile, char out[160])
{
	snprintf(out, 160, strcmp(profile, "default") ? "profile %s" : "%s", profile);
}

/* Copies a value of the file into a text of its own; "" if it has none. */
static void get(struct str config, const char *section, const char *key, char out[512])
{
	struct str v = cred_ini(config, section, key);

	snprintf(out, 512, "%.*s", (int)v.n, v.p ? v.p : "");
}

/* Calls a service and returns its answer if the status is 200. */
static int call(const char *url, const struct http_headers *headers, struct buf *out, struct err *e)
{
	struct http *h = http_open(&(struct http_options){ .connect_seconds = SECONDS }, e);
	struct http_reply r = { .status = 0 };
	int rc = h ? http_call(h, &(struct http_request){ .method = "GET", .url = url, .headers = headers,
							  .seconds = SECONDS, .body_most = ANSWER_MOST }, &r, e) : -1;

	if (!rc && r.status != 200)
		rc = err_set(e, ERR_DENIED, "the service of credentials answers %d: %.200s", r.status,
			     buf_cstr(&r.body));
	if (!rc)
		buf_addstr(out, buf_str(&r.body));
	http_reply_release(&r);
	http_close(h);
	return rc;
}

/* --- credential_process ------------------------------------------------------------------------------ */

/* The JSON that the program prints: Version, AccessKeyId, SecretAccessKey, SessionToken, Expiration. */
static int read_printed(struct str text, struct aws_cred *c, struct err *e)
{
	struct json *j = json_parse(text, e);
	struct str key, secret;
	int rc = -1;

	if (j && !json_need_str(j, "AccessKeyId", &key, e) && !json_need_str(j, "SecretAccessKey", &secret, e))
		rc = cred_fill(c, key, secret, json_str(json_get(j, "SessionToken"), ""), e);
	if (rc > 0)
		c->expires = cred_stamp(json_str(json_get(j, "Expiration"), ""));
	json_free(j);
	return rc;
}

/* Runs the program by the shell, as the file says. */
static int from_process(const char *command, struct aws_cred *c, struct err *e)
{
	char text[ANSWER_MOST];
	FILE *f = popen(command, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	int status = f ? pclose(f) : -1;

	if (!f || status)
		return err_set(e, ERR_DENIED, "credential_process '%s' failed", command);
	return read_printed((struct str){ .p = text, .n = n }, c, e) < 0 ?
		err_wrap(e, "credential_process '%s'", command) : 1;
}

/* --- roles ------------------------------------------------------------------------------------------- */

/* Writes the address of a service: the variable's, else Amazon's for the region. */
static void service_url(const char *variable, const char *amazon, const char *region, struct buf *url)
{
	struct str given = cred_env(variable);

	if (given.n)
		buf_addstr(url, given);
	else
		buf_addf(url, "https://%s.%s.amazonaws.com", amazon, region);
	while (url->n && url->p[url->n - 1] == '/')
		url->p[--url->n] = 0;
}

/* Signs and makes the call to AssumeRole. */
static int assume(const char *arn, const char *session, const char *external, const char *region,
		  const struct aws_cred *as, struct buf *answer, struct err *e)
{
	struct buf url = BUF_INIT, query = BUF_INIT;
	struct http_headers headers = { .v = NULL };
	struct aws_request q = { .method = "GET", .path = "/", .region = region, .service = "sts", .now = time(NULL) };
	char empty[65];
	int rc;

	sha256_hex("", 0, empty);
	service_url("AWS_ENDPOINT_URL_STS", "sts", region, &url);
	/* Sorted by name, as a signature needs it. */
	buf_adds(&query, "Action=AssumeRole");
	if (external[0])
		buf_adds(&query, "&ExternalId="), http_encode(&query, str_of(external), 0);
	buf_adds(&query, "&RoleArn="), http_encode(&query, str_of(arn), 0);
	buf_adds(&query, "&RoleSessionName="), http_encode(&query, str_of(session), 0);
	buf_adds(&query, "&Version=2011-06-15");
	rc = buf_check(&url, e) || buf_check(&query, e) ? -1 : 0;
	if (!rc) {
		q.host = strstr(url.p, "://") ? strstr(url.p, "://") + 3 : url.p;
		q.query = query.p;
		q.body_sha256 = empty;
		rc = aws_sign(&q, as, &headers, e);
	}
	if (!rc) {
		buf_addf(&url, "/?%s", query.p);
		rc = buf_check(&url, e) ? -1 : call(url.p, &headers, answer, e);
	}
	http_headers_release(&headers);
	buf_release(&url);
	buf_release(&query);
	return rc;
}

/* The member of an answer of AssumeRole. */
static void member(struct str answer, const char *name, struct buf *out)
{
	char path[96];

	snprintf(path, sizeof path, "AssumeRoleResult/Credentials/%s", name);
	xml_find(answer, path, out);
}

static int read_assumed(struct str answer, struct aws_cred *c, struct err *e)
{
	struct buf key = BUF_INIT, secret = BUF_INIT, token = BUF_INIT, until = BUF_INIT;
	int rc;

	member(answer, "AccessKeyId", &key);
	member(answer, "SecretAccessKey", &secret);
	member(answer, "SessionToken", &token);
	member(answer, "Expiration", &until);
	rc = key.n && secret.n ? cred_fill(c, buf_str(&key), buf_str(&secret), buf_str(&token), e) :
	     err_set(e, ERR_FORMAT, "the answer of AssumeRole has no credentials");
	if (rc > 0)
		c->expires = cred_stamp(buf_str(&until));
	buf_release(&key);
	buf_release(&secret);
	buf_release(&token);
	buf_release(&until);
	return rc;
}

/* Takes a role with the credentials of another profile, of the environment or of the instance. */
static int from_role_arn(struct str config, const char *section, const char *arn, const char *region,
			 cred_others *others, void *ctx, struct aws_cred *c, struct err *e)
{
	char source[512], kind[512], session[512], external[512];
	struct buf answer = BUF_INIT;
	struct aws_cred as;
	int rc;

	get(config, section, "source_profile", source);
	get(config, section, "credential_source", kind);
	get(config, section, "role_session_name", session);
	get(config, section, "external_id", external);
	if (source[0])
		rc = others(ctx, source, &as, e);
	else if (!strcmp(kind, "Environment"))
		rc = cred_fill(&as, cred_env("AWS_ACCESS_KEY_ID"), cred_env("AWS_SECRET_ACCESS_KEY"),
			       cred_env("AWS_SESSION_TOKEN"), e);
	else
		rc = others(ctx, NULL, &as, e);
	if (!rc)
		return err_set(e, ERR_NOT_FOUND, "no credentials to take role '%s' with (source_profile or "
			       "credential_source)", arn);
	rc = rc < 0 || assume(arn, session[0] ? session : "tritonrl", external, region, &as, &answer, e) ? -1 :
	     read_assumed(buf_str(&answer), c, e);
	buf_release(&answer);
	return rc < 0 ? err_wrap(e, "role '%s'", arn) : rc;
}

/* --- SSO --------------------------------------------------------------------------------------------- */

/* The token that `aws sso login` left for this address, among the files of ~/.aws/sso/cache. */
static int sso_token(const char *start_url, struct buf *out, struct err *e)
{
	struct buf dir = BUF_INIT, path = BUF_INIT, text = BUF_INIT;
	struct file_list l = { .v = NULL };
	int rc;

	buf_addf(&dir, "%.*s/.aws/sso/cache", STR_ARG(cred_env("HOME")));
	rc = buf_check(&dir, e) || !file_exists(dir.p) ? -1 : file_list_open(&l, dir.p, e);
	for (size_t i = 0; !rc && i < l.n && !out->n; i++) {
		struct json *j;

		buf_clear(&text);
		if (!str_ends(str_of(l.v[i]), ".json") || !path_join(&path, dir.p, l.v[i]) ||
		    file_read(path.p, ANSWER_MOST, &text, NULL))
			continue;
		j = json_parse(buf_str(&text), NULL);
		if (j && str_is(json_str(json_get(j, "startUrl"), ""), start_url) &&
		    cred_stamp(json_str(json_get(j, "expiresAt"), "")) > time(NULL))
			buf_addstr(out, json_str(json_get(j, "accessToken"), ""));
		json_free(j);
	}
	file_list_close(&l);
	buf_release(&dir);
	buf_release(&path);
	buf_release(&text);
	return out->n ? 0 : err_set(e, ERR_NOT_FOUND, "the SSO session of '%s' has ended: run `aws sso login`",
				    start_url);
}

/* The answer of the portal; its time is in milliseconds. */
static int read_portal(struct str body, struct aws_cred *c, struct err *e)
{
	struct json *j = json_parse(body, e);
	const struct json *r = j ? json_get(j, "roleCredentials") : NULL;
	struct str key, secret, token;
	int rc = -1;

	if (j && !r)
		err_set(e, ERR_FORMAT, "the SSO portal's answer has no roleCredentials");
	else if (r && !json_need_str(r, "accessKeyId", &key, e) && !json_need_str(r, "secretAccessKey", &secret, e) &&
		 !json_need_str(r, "sessionToken", &token, e))
		rc = cred_fill(c, key, secret, token, e);
	if (rc > 0)
		c->expires = (time_t)(json_int(json_get(r, "expiration"), 0) / 1000);
	json_free(j);
	return rc;
}

/* Asks the portal for the credentials of an account's role. */
static int ask_portal(const char *region, const char *account, const char *role, const char *token,
		      struct aws_cred *c, struct err *e)
{
	struct buf url = BUF_INIT, body = BUF_INIT;
	struct http_headers headers = { .v = NULL };
	int rc;

	service_url("AWS_ENDPOINT_URL_SSO", "portal.sso", region, &url);
	buf_adds(&url, "/federation/credentials?account_id="), http_encode(&url, str_of(account), 0);
	buf_adds(&url, "&role_name="), http_encode(&url, str_of(role), 0);
	rc = buf_check(&url, e) || http_header_add(&headers, e, "x-amz-sso_bearer_token: %s", token) ||
	     call(url.p, &headers, &body, e) ? -1 : read_portal(buf_str(&body), c, e);
	http_headers_release(&headers);
	buf_release(&url);
	buf_release(&body);
	return rc;
}

/* The address and region are in the profile, or in the sso-session that it names. */
static int from_sso(struct str config, const char *section, struct aws_cred *c, struct err *e)
{
	char session[512], start[512], region[512], account[512], role[512], at[600];
	struct buf token = BUF_INIT;
	int rc;

	get(config, section, "sso_session", session);
	snprintf(at, sizeof at, session[0] ? "sso-session %s" : "%s", session[0] ? session : section);
	get(config, at, "sso_start_url", start);
	get(config, at, "sso_region", region);
	get(config, section, "sso_account_id", account);
	get(config, section, "sso_role_name", role);
	if (!start[0] && !session[0])
		return 0;
	if (!start[0] || !region[0] || !account[0] || !role[0])
		return err_set(e, ERR_FORMAT, "section '%s' of ~/.aws/config needs sso_start_url, sso_region, "
			       "sso_account_id and sso_role_name", section);
	rc = sso_token(start, &token, e) ? -1 : ask_portal(region, account, role, buf_cstr(&token), c, e);
	buf_release(&token);
	return rc;
}

/* --- all of them ------------------------------------------------------------------------------------- */

int cred_profile(const char *profile, const char *region, cred_others *others, void *ctx, struct aws_cred *c,
		 struct err *e)
{
	struct buf text = BUF_INIT;
	char section[160], arn[512], process[512];
	int rc = cred_read_shared("AWS_CONFIG_FILE", "config", &text, e);

	section_of(profile, section);
	if (rc > 0) {
		get(buf_str(&text), section, "role_arn", arn);
		get(buf_str(&text), section, "credential_process", process);
		rc = arn[0] ? from_role_arn(buf_str(&text), section, arn, region[0] ? region : "us-east-1", others, ctx,
					    c, e) : from_sso(buf_str(&text), section, c, e);
		if (!rc && process[0])
			rc = from_process(process, c, e);
	}
	buf_release(&text);
	return rc;
}
