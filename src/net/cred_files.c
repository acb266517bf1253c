/* Pieces that all sources of credentials use, and the shared files: see cred_impl.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "net/cred_impl.h"

/* The largest shared file that is read. */
enum { FILE_MOST = 1 << 20 };

/* Copies a credential into its fixed field; one that does not fit is refused. */
static int copy(char *to, size_t n, struct str from, const char *what, struct err *e)
{
	if (from.n >= n)
		return err_set(e, ERR_FORMAT, "%s is too long", what);
	memcpy(to, from.p, from.n);
	to[from.n] = '\0';
	return 0;
}

/* An environment variable, or the empty string. */
struct str cred_env(const char *name)
{
	const char *v = getenv(name);

	return str_of(v ? v : "");
}

/* Fills *c. Returns 1 like a source that has found something, -1 on failure. */
int cred_fill(struct aws_cred *c, struct str key, struct str secret, struct str token, struct err *e)
{
	*c = (struct aws_cred){ .expires = 0 };
	return copy(c->key, sizeof c->key, key, "the access key", e) || copy(c->secret, sizeof c->secret,
			secret, "the secret key", e) ||
	       copy(c->token, sizeof c->token, token, "the session token", e) ? -1 : 1;
}

/* Reads "~/.aws/NAME", or the file that the variable names. Returns 1 if it was read, 0 if there
 * is no such file. */
int cred_read_shared(const char *variable, const char *name, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT;
	struct str given = cred_env(variable), home = cred_env("HOME");
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
struct str cred_ini(struct str text, const char *section, const char *key)
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

/* Parses a time such as "2026-01-01T00:00:00Z"; 0 if it has another form. */
time_t cred_stamp(struct str s)
{
	char text[32];
	struct tm tm = { .tm_sec = 0 };

	snprintf(text, sizeof text, "%.*s", (int)MIN(s.n, sizeof text - 1), s.p);
	return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) ? timegm(&tm) : 0;
}
