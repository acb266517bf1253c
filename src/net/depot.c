/* A folder kept in a bucket: objects by digest, manifests by writer and number. depot.h is the
 * manual and has the layout.
 *
 * Invariant: a manifest is written after all its objects and removed before any of them, so every
 * existing manifest can be restored. */
#include "net/depot.h"

#include <stdio.h>
#include <time.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

/* The largest manifest; bytes of a name; tries to become the writer. */
enum { MANIFEST_MOST = 64 << 20, NAME = 40, CLAIMS_MOST = 100 };

/* A depot as one process sees it. */
struct depot {
	struct s3 *s3;
	int64_t epoch;                /* 0: not a writer */
	int64_t number;               /* of the state written last */
	struct map known;             /* digests that are surely up; value 1 */
};

/* A depot over an open bucket. The caller keeps `s` open until depot_close. */
struct depot *depot_open(struct s3 *s, struct err *e)
{
	struct depot *d = mem_zalloc(sizeof *d);

	if (!d)
		err_nomem(e);
	else
		d->s3 = s;
	return d;
}

void depot_close(struct depot *d)
{
	if (!d)
		return;
	map_release(&d->known);
	mem_free(d);
}

/* --- writers ------------------------------------------------------------------------------ */

/* Keeps the highest number of the keys "epochs/NUMBER". */
static int take_epoch(void *ctx, struct str key, int64_t bytes)
{
	int64_t *most = ctx, v;
	struct str n = { .p = key.p + 7, .n = key.n - 7 };

	(void)bytes;
	if (key.n > 7 && !str_to_i64(n, &v))
		*most = MAX(*most, v);
	return 0;
}

/* The number of the newest writer. */
static int highest_epoch(struct depot *d, int64_t *out, struct err *e)
{
	*out = 0;
	return s3_list(d->s3, "epochs/", take_epoch, out, e);
}

/* Keeps the highest number of the keys "manifests/EPOCH-NUMBER". */
static int take_number(void *ctx, struct str key, int64_t bytes)
{
	int64_t *most = ctx, number;
	struct str rest = key;

	(void)bytes;
	str_cut(&rest, '-');
	if (!str_to_i64(rest, &number))
		*most = MAX(*most, number);
	return 0;
}

/* Becomes the writer: creates the next epoch's object, which only one process can do. A writer
 * that was faster makes this one try the number after it. */
int depot_claim(struct depot *d, const char *who, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc = S3_EXISTS;

	buf_addf(&text, "{\"who\": \"%s\", \"time\": %lld}\n", who, (long long)time(NULL));
	for (int i = 0; i < CLAIMS_MOST && rc == S3_EXISTS; i++) {
		char key[NAME];

		if (highest_epoch(d, &d->epoch, e)) {
			rc = -1;
			break;
		}
		snprintf(key, sizeof key, "epochs/%08lld", (long long)++d->epoch);
		rc = s3_put(d->s3, key, buf_str(&text), S3_IF_ABSENT, e);
	}
	buf_release(&text);
	d->number = 0;
	if (!rc)
		rc = s3_list(d->s3, "manifests/", take_number, &d->number, e);
	if (rc)
		d->epoch = 0;
	return rc == S3_EXISTS ? err_set(e, ERR_IO, "cannot claim the bucket: other writers are faster") : rc;
}

/* Fails if another machine has become the writer since. */
static int still_writer(struct depot *d, struct err *e)
{
	int64_t now;

	if (!d->epoch)
		BUG("a depot is written to without a claim");
	if (highest_epoch(d, &now, e))
		return -1;
	return now == d->epoch ? 0 : err_set(e, ERR_STATE,
					"another machine has taken over this run (writer %lld, this one is "
						"%lld)", (long long)now,
					     (long long)d->epoch);
}

/* --- up ----------------------------------------------------------------------------------- */

/* Uploads one object, unless it is there already. Its key is its digest, so equal files are stored
 * once. */
static int push_object(struct depot *d, const char *path, const char *hex, int64_t bytes,
		       struct depot_pushed *out, struct err *e)
{
	char key[80];
	struct map_entry *known = map_put(&d->known, str_of(hex));
	struct s3_object there;
	int rc;

	if (!known)
		return err_nomem(e);
	if (known->val.i64)
		return 0;
	snprintf(key, sizeof key, "objects/%s", hex);
	rc = s3_head(d->s3, key, &there, e);
	if (!rc && there.bytes != bytes)
		return err_set(e, ERR_FORMAT, "object '%s' of the bucket has %lld bytes instead of %lld",
			       key, (long long)there.bytes, (long long)bytes);
	if (rc == S3_ABSENT) {
		rc = s3_put_file(d->s3, key, path, hex, S3_IF_ABSENT, e);
		out->files_sent += rc >= 0;
		out->bytes_sent += rc >= 0 ? bytes : 0;
	}
	if (rc >= 0)
		known->val.i64 = 1;
	return rc < 0 ? -1 : 0;
}

/* Uploads one file and adds its line to the manifest. */
static int push_file(struct depot *d, const char *folder, const char *name, struct jw *w,
		     struct depot_pushed *out, struct err *e)
{
	struct buf path = BUF_INIT;
	char hex[65];
	int64_t bytes = 0;
	int rc = path_join(&path, folder, name) ? file_sha256(path.p, hex, &bytes, e) : err_nomem(e);

	if (!rc)
		rc = push_object(d, path.p, hex, bytes, out, e);
	if (!rc) {
		jw_begin(w, '{');
		jw_key(w, "path"), jw_cstr(w, name);
		jw_key(w, "bytes"), jw_int(w, bytes);
		jw_key(w, "sha256"), jw_cstr(w, hex);
		jw_end(w, '}');
		out->files++;
		out->bytes += bytes;
	}
	buf_release(&path);
	return rc;
}

/* Writes the manifest, which ends with a digest of itself, if this process is still the writer. */
static int put_manifest(struct depot *d, struct buf *text, struct err *e)
{
	char key[NAME], hex[65];
	int rc;

	buf_addc(text, '\n');
	if (buf_check(text, e))
		return -1;
	sha256_hex(text->p, text->n, hex);
	buf_addf(text, "%s\n", hex);
	if (buf_check(text, e) || still_writer(d, e))
		return -1;
	snprintf(key, sizeof key, "manifests/%08lld-%010lld", (long long)d->epoch, (long long)d->number + 1);
	rc = s3_put(d->s3, key, buf_str(text), S3_IF_ABSENT, e);
	if (rc == S3_EXISTS)
		return err_set(e, ERR_STATE, "'%s' exists already: another process writes with this one's claim", key);
	d->number += !rc;
	return rc;
}

/* Uploads the files that the bucket does not have yet and then the manifest of all of them. A crash
 * in between leaves objects that no manifest names; depot_prune removes them. */
int depot_push(struct depot *d, const char *folder, const struct depot_files *files, struct depot_pushed *out,
	       struct err *e)
{
	struct buf text = BUF_INIT;
	struct jw w = { .out = &text };
	int rc = 0;

	*out = (struct depot_pushed){ .files = 0 };
	jw_begin(&w, '{');
	jw_key(&w, "version"), jw_int(&w, 1);
	jw_key(&w, "time"), jw_int(&w, time(NULL));
	jw_key(&w, "files"), jw_begin(&w, '[');
	for (size_t i = 0; i < files->n && !rc; i++)
		rc = push_file(d, folder, files->v[i].path, &w, out, e);
	jw_end(&w, ']');
	jw_end(&w, '}');
	if (!rc)
		rc = put_manifest(d, &text, e);
	buf_release(&text);
	return rc;
}

/* --- down --------------------------------------------------------------------------------- */

/* The keys of all manifests. */
struct states { char (*v)[NAME]; size_t n, cap; };

/* Collects one key. */
static int add_state(void *ctx, struct str key, int64_t bytes)
{
	struct states *s = ctx;

	(void)bytes;
	if (key.n >= NAME)
		return 0;
	if (vec_grow(s, 1))
		return -1;
	snprintf(s->v[s->n++], NAME, "%.*s", STR_ARG(key));
	return 0;
}

/* Lists the manifests. Keys come in byte order, which is the order of epoch and number. */
static int list_states(struct depot *d, struct states *s, struct err *e)
{
	*s = (struct states){ .v = NULL };
	if (s3_list(d->s3, "manifests/", add_state, s, e)) {
		vec_free(s);
		return -1;
	}
	return 0;
}

/* Reads a manifest and checks its digest. NULL: *e. */
static struct json *read_state(struct depot *d, const char *key, struct err *e)
{
	struct buf text = BUF_INIT;
	struct json *j = NULL;
	char hex[65];
	int rc = s3_get(d->s3, key, MANIFEST_MOST, &text, e);

	if (rc == S3_ABSENT)
		err_set(e, ERR_NOT_FOUND, "'%s' has disappeared from the bucket", key);
	if (!rc && text.n > 66) {
		size_t n = text.n - 65;

		sha256_hex(text.p, n, hex);
		if (!memcmp(hex, text.p + n, 64))
			j = json_parse((struct str){ .p = text.p, .n = n }, e);
	}
	if (!rc && !j)
		err_set(e, ERR_FORMAT, "'%s' is damaged", key);
	buf_release(&text);
	return j;
}

/* Does a manifest's path stay inside the folder? The bucket may hold manifests of unknown
 * writers. */
static int is_inside(struct str path)
{
	if (!path.n || path.p[0] == '/')
		return 0;
	while (path.n) {
		struct str part = str_cut(&path, '/');

		if (!part.n || str_is(part, "..") || str_is(part, "."))
			return 0;
	}
	return 1;
}

/* Is the file on disk already the one that the manifest names? */
static int same_file(const char *path, int64_t bytes, const char *hex)
{
	char have[65];
	int64_t n;

	return file_exists(path) && file_size(path, NULL) == bytes && !file_sha256(path, have, &n, NULL) &&
		!strcmp(have, hex);
}

/* Downloads one object to its path. */
static int fetch(struct depot *d, const char *path, int64_t bytes, const char *hex, struct err *e)
{
	struct buf parent = BUF_INIT;
	struct str base = path_base(path);
	char key[80];
	int rc;

	buf_add(&parent, path, (size_t)(base.p - path));
	snprintf(key, sizeof key, "objects/%s", hex);
	rc = buf_check(&parent, e) || file_mkdirs(buf_cstr(&parent), e) ? -1 : s3_get_file(d->s3, key,
			path, bytes, hex, e);
	buf_release(&parent);
	return rc == S3_ABSENT ? err_set(e, ERR_NOT_FOUND, "'%s' is missing in the bucket", key) : rc;
}

/* Restores one file of a manifest, unless the folder has it already. */
static int pull_file(struct depot *d, const char *folder, const struct json *f, struct depot_pulled *out, struct err *e)
{
	struct str name, sha;
	struct buf path = BUF_INIT;
	int64_t bytes;
	char hex[65];
	int rc;

	if (json_need_str(f, "path", &name, e) || json_need_str(f, "sha256", &sha, e) ||
	    json_need_int(f, "bytes", &bytes, e))
		return -1;
	if (!is_inside(name) || sha.n != 64 || bytes < 0)
		return err_set(e, ERR_FORMAT, "a manifest names the invalid path '%.*s'", STR_ARG(name));
	snprintf(hex, sizeof hex, "%.*s", STR_ARG(sha));
	buf_addf(&path, "%s/%.*s", folder, STR_ARG(name));
	rc = buf_check(&path, e);
	if (!rc && !same_file(path.p, bytes, hex)) {
		rc = fetch(d, path.p, bytes, hex, e);
		out->files_fetched += !rc;
		out->bytes_fetched += rc ? 0 : bytes;
	}
	out->files += !rc;
	out->bytes += rc ? 0 : bytes;
	buf_release(&path);
	return rc;
}

/* Restores all files of a manifest. */
static int pull_state(struct depot *d, const char *key, const char *folder, struct depot_pulled *out, struct err *e)
{
	struct json *j = read_state(d, key, e);
	const struct json *files = j ? json_get(j, "files") : NULL;
	int rc = j ? 0 : -1;

	for (size_t i = 0; i < json_count(files) && !rc; i++)
		rc = pull_file(d, folder, json_at(files, i), out, e);
	json_free(j);
	return rc;
}

/* Restores the newest manifest that is complete. Only a damaged or missing object makes an older
 * one worth a try; a refused connection would fail for every manifest. */
int depot_pull(struct depot *d, const char *folder, struct depot_pulled *out, struct err *e)
{
	struct states s;
	int rc = -1;
	int64_t passed = 0;

	if (list_states(d, &s, e) || file_mkdirs(folder, e))
		return -1;
	for (size_t i = s.n; i-- > 0 && rc; ) {
		struct err why = ERR_INIT;

		*out = (struct depot_pulled){ .passed_over = passed };
		rc = pull_state(d, s.v[i], folder, out, &why);
		snprintf(out->state, sizeof out->state, "%s", s.v[i] + strlen("manifests/"));
		if (!rc)
			break;
		/* Only a missing or damaged object makes an older state worth a try. */
		if (why.code != ERR_NOT_FOUND && why.code != ERR_FORMAT) {
			vec_free(&s);
			return err_set(e, why.code, "%s", why.text);
		}
		log_warn("state %s of the bucket is incomplete: %s", out->state, why.text);
		passed++;
	}
	if (rc)
		rc = s.n ? err_set(e, ERR_FORMAT, "none of the %zu states in the bucket is complete", s.n) : S3_ABSENT;
	vec_free(&s);
	return rc;
}

/* --- cleaning up -------------------------------------------------------------------------- */

/* Notes the objects that a manifest needs. */
static int keep_objects(struct depot *d, const char *key, struct map *needed, struct err *e)
{
	struct json *j = read_state(d, key, e);
	const struct json *files = j ? json_get(j, "files") : NULL;
	int rc = j ? 0 : -1;

	for (size_t i = 0; i < json_count(files) && !rc; i++)
		rc = map_put(needed, json_str(json_get(json_at(files, i), "sha256"), "")) ? 0 : err_nomem(e);
	json_free(j);
	return rc;
}

/* The objects that are needed, and the keys of those that are not. */
struct sweep { const struct map *needed; struct keys { char (*v)[80]; size_t n, cap; } gone; };

/* Collects the keys of objects that no manifest needs. */
static int find_unneeded(void *ctx, struct str key, int64_t bytes)
{
	struct sweep *w = ctx;
	struct str hex = { .p = key.p + 8, .n = key.n - 8 };

	(void)bytes;
	if (key.n <= 8 || key.n >= sizeof *w->gone.v || map_get(w->needed, hex))
		return 0;
	if (vec_grow(&w->gone, 1))
		return -1;
	snprintf(w->gone.v[w->gone.n++], sizeof *w->gone.v, "%.*s", STR_ARG(key));
	return 0;
}

/* Deletes old manifests, then the objects that no manifest needs any more. */
static int sweep_out(struct depot *d, const struct states *s, size_t old, const struct sweep *w,
		     int64_t *removed, struct err *e)
{
	int rc = still_writer(d, e);

	for (size_t i = 0; i < old && !rc; i++)
		rc = s3_delete(d->s3, s->v[i], e);
	for (size_t i = 0; i < w->gone.n && !rc; i++) {
		rc = s3_delete(d->s3, w->gone.v[i], e);
		*removed += !rc;
	}
	map_release(&d->known);
	d->known = (struct map)MAP_INIT;
	return rc;
}

/* Removes all but the newest `keep` states, then the objects that no remaining state names. With
 * nothing to remove it reads only the list of states. */
int depot_prune(struct depot *d, int keep, int64_t *removed, struct err *e)
{
	struct states s;
	struct map needed = MAP_INIT;
	struct sweep w = { .needed = &needed };
	int rc = list_states(d, &s, e);
	size_t old = !rc && s.n > (size_t)keep ? s.n - (size_t)keep : 0;

	*removed = 0;
	for (size_t i = old; old && i < s.n && !rc; i++)
		rc = keep_objects(d, s.v[i], &needed, e);
	if (!rc && old)
		rc = s3_list(d->s3, "objects/", find_unneeded, &w, e) || sweep_out(d, &s, old, &w, removed, e) ? -1 : 0;
	map_release(&needed);
	vec_free(&w.gone);
	vec_free(&s);
	return rc;
}
