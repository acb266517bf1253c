/* The metadata service of a cloud machine, version 2: every request carries a token that was
 * fetched first. imds.h is the manual. */
#include "net/imds.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"

enum { TOKEN_SECONDS = 21600 };
static const char amazon[] = "http://169.254.169.254";

/* A metadata service, with the token in use. */
struct imds {
	struct http *http;
	char *base;
	struct buf token;         /* empty: ask for one */
};

/* Prepares a client with time limits of one second: outside the cloud nothing answers at the
 * link-local address, and a start must not wait for it. */
struct imds *imds_open(const char *base, struct err *e)
{
	struct http_options o = { .connect_seconds = 1, .stall_seconds = 1 };
	struct imds *m = mem_zalloc(sizeof *m);
	const char *env = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	size_t n;

	if (!m) {
		err_nomem(e);
		return NULL;
	}
	m->base = mem_strdup(base && *base ? base : env && *env ? env : amazon);
	m->http = m->base ? http_open(&o, e) : NULL;
	if (!m->http) {
		imds_close(m);
		err_nomem(e);
		return NULL;
	}
	n = strlen(m->base);
	while (n && m->base[n - 1] == '/')
		m->base[--n] = '\0';
	return m;
}

void imds_close(struct imds *m)
{
	if (!m)
		return;
	http_close(m->http);
	buf_release(&m->token);
	mem_free(m->base);
	mem_free(m);
}

/* One request, of at most a second: outside the cloud nothing answers. */
static int call(struct imds *m, const char *method, const char *path, const char *header, struct http_reply *r,
		struct err *e)
{
	struct buf url = BUF_INIT;
	struct http_headers h = { .v = NULL };
	int rc = -1;

	buf_addf(&url, "%s%s", m->base, path);
	if (!buf_check(&url, e) && !http_header_add(&h, e, "%s", header))
		rc = http_call(m->http, &(struct http_request){ .method = method, .url = url.p,
					.headers = &h, .seconds = 1, .body_most = 1 << 20 }, r, e);
	http_headers_release(&h);
	buf_release(&url);
	return rc;
}

/* Asks for a token. */
static int take_token(struct imds *m, struct err *e)
{
	struct http_reply r;
	char ttl[80];
	int rc;

	snprintf(ttl, sizeof ttl, "X-aws-ec2-metadata-token-ttl-seconds: %d", TOKEN_SECONDS);
	rc = call(m, "PUT", "/latest/api/token", ttl, &r, e);
	buf_clear(&m->token);
	if (!rc && r.status == 200)
		buf_addstr(&m->token, str_trim(buf_str(&r.body)));
	else if (!rc)
		rc = err_set(e, ERR_IO, "the metadata service answered %d when asked for a token", r.status);
	http_reply_release(&r);
	return rc;
}

/* One GET with the token in hand. Status 401 means that the token has expired. */
static int get_once(struct imds *m, const char *path, struct http_reply *r, struct err *e)
{
	struct buf url = BUF_INIT, header = BUF_INIT;
	int rc = !m->token.n && take_token(m, e) ? -1 : 0;

	buf_addf(&url, "/latest/meta-data/%s", path);
	buf_addf(&header, "X-aws-ec2-metadata-token: %s", buf_cstr(&m->token));
	if (!rc)
		rc = buf_check(&url, e) || buf_check(&header, e) ? -1 : call(m, "GET", url.p, header.p, r, e);
	buf_release(&url);
	buf_release(&header);
	return rc;
}

/* Reads one path of the metadata. Returns 1 and its text, 0 if the path does not exist (404), -1 if
 * the service did not answer. An expired token (401) is renewed once. */
int imds_get(struct imds *m, const char *path, struct buf *out, struct err *e)
{
	struct http_reply r = { .status = 0 };
	int rc = get_once(m, path, &r, e);

	if (!rc && r.status == 401) {
		http_reply_release(&r);
		buf_clear(&m->token);
		rc = get_once(m, path, &r, e);
	}
	if (!rc && r.status == 200) {
		buf_addstr(out, buf_str(&r.body));
		rc = buf_check(out, e) ? -1 : 1;
	} else if (!rc && r.status != 404) {
		rc = err_set(e, ERR_IO, "the metadata service answered %d to '%s'", r.status, path);
	}
	http_reply_release(&r);
	return rc;
}

/* The time in a notice's JSON, or "". */
static void read_time(struct str body, const char *key, char when[32])
{
	struct json *j = json_parse(body, NULL);
	struct str t = j ? json_str(json_get(j, key), "") : STR("");

	snprintf(when, 32, "%.*s", (int)MIN(t.n, (size_t)31), t.p);
	json_free(j);
}

/* See imds.h. A spot interruption comes two minutes before the end; a rebalance recommendation is
 * only a forecast. */
int imds_notice(struct imds *m, enum imds_notice *out, char when[32], struct err *e)
{
	struct buf body = BUF_INIT;
	int rc = imds_get(m, "spot/instance-action", &body, e);

	*out = IMDS_NONE;
	when[0] = '\0';
	if (rc > 0) {
		*out = IMDS_STOP;
		read_time(buf_str(&body), "time", when);
	} else if (!rc) {
		rc = imds_get(m, "events/recommendations/rebalance", &body, e);
		if (rc > 0) {
			*out = IMDS_REBALANCE;
			read_time(buf_str(&body), "noticeTime", when);
		}
	}
	buf_release(&body);
	return rc < 0 ? -1 : 0;
}
