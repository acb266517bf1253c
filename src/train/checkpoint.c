/* Checkpoints: see checkpoint.h.
 *
 * Invariants: (1) a file is synced before the manifest that names it is written; (2) the
 * manifest is synced before the folder gets its name; (3) the parent folder is synced before
 * anyone is told; (4) an older checkpoint is removed only after the newer one was verified. */
#include "train/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"

static const char manifest_name[] = "MANIFEST";

/* Creates the temporary folder that the caller writes its files into. The name has the process id,
 * so that two runs never share one; leftovers of an earlier try are removed. */
int checkpoint_begin(const char *parent, const char *name, char **dir, struct err *e)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s/.tmp-%s-%ld", parent, name, (long)getpid());
	if (buf_check(&path, e) || file_mkdirs(parent, e) || file_remove_tree(path.p, e) || file_mkdirs(path.p, e)) {
		buf_release(&path);
		return -1;
	}
	*dir = buf_take(&path);
	return *dir ? 0 : err_nomem(e);
}

/* Forces a file to disk. */
static int sync_file(const char *path, struct err *e)
{
	int fd = sys.open(path, O_RDONLY, 0), rc = 0;

	if (fd < 0)
		return err_errno(e, "cannot open '%s'", path);
	if (sys.fsync(fd))
		rc = err_errno(e, "cannot sync '%s'", path);
	sys.close(fd);
	return rc;
}

/* Writes name, size and SHA-256 of every file of the folder, each synced first (invariant 1). */
static int list_files(struct jw *w, const char *dir, struct err *e)
{
	struct file_list names;
	struct buf path = BUF_INIT;
	int rc = 0;

	if (file_list_open(&names, dir, e))
		return -1;
	for (size_t i = 0; i < names.n && !rc; i++) {
		char hex[65] = "";
		int64_t bytes = 0;

		if (!strcmp(names.v[i], manifest_name))
			continue;
		if (!path_join(&path, dir, names.v[i])) {
			rc = err_nomem(e);
			break;
		}
		rc = sync_file(path.p, e) || file_sha256(path.p, hex, &bytes, e) ? -1 : 0;
		jw_begin(w, '{');
		jw_key(w, "name"), jw_cstr(w, names.v[i]);
		jw_key(w, "bytes"), jw_int(w, bytes);
		jw_key(w, "sha256"), jw_cstr(w, hex);
		jw_end(w, '}');
	}
	buf_release(&path);
	file_list_close(&names);
	return rc;
}

/* Writes MANIFEST: one line of JSON with the files and the caller's state, then the SHA-256 of that
 * line. A torn write shows as a wrong digest. */
static int write_manifest(const char *dir, struct str state, struct err *e)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	struct jw w = { .out = &text };
	char hex[65];
	int rc;

	jw_begin(&w, '{');
	jw_key(&w, "version"), jw_int(&w, 1);
	jw_key(&w, "files"), jw_begin(&w, '[');
	rc = list_files(&w, dir, e);
	jw_end(&w, ']');
	jw_key(&w, "state"), jw_raw(&w, state.n ? state : STR("{}"));
	jw_end(&w, '}');
	buf_addc(&text, '\n');
	sha256_hex(text.p, text.n, hex);
	buf_addf(&text, "%s\n", hex);
	if (!rc)
		rc = !path_join(&path, dir, manifest_name) || buf_check(&text, e) ? err_nomem(e) :
			file_replace(path.p, buf_str(&text), e);
	buf_release(&text);
	buf_release(&path);
	return rc;
}

/* Moves the checkpoint that has the name already out of the way. A folder that an earlier failed
 * commit put away is older still, and goes. */
static int put_away(const char *path, const char *old, struct err *e)
{
	if (file_remove_tree(old, e))
		return -1;
	return sys.rename(path, old) ? err_errno(e, "cannot move '%s' away", path) : 0;
}

/* Turns the temporary folder into the checkpoint `name`. The old one of that name is removed only
 * after the new one was read back and verified (invariant 4). */
int checkpoint_commit(const char *parent, const char *name, const char *dir, struct str state, struct err *e)
{
	struct buf path = BUF_INIT, old = BUF_INIT;
	int rc = -1;

	buf_addf(&path, "%s/%s", parent, name);
	buf_addf(&old, "%s/.tmp-old-%s-%ld", parent, name, (long)getpid());
	if (buf_check(&path, e) || buf_check(&old, e) || write_manifest(dir, state, e) || file_sync_dir(dir, e))
		goto out;
	if (file_exists(path.p) && put_away(path.p, old.p, e))
		goto out;
	if (sys.rename(dir, path.p)) {
		err_errno(e, "cannot rename '%s' to '%s'", dir, path.p);
		goto out;
	}
	if (file_sync_dir(parent, e) || checkpoint_verify(path.p, NULL, e))
		goto out;
	rc = file_remove_tree(buf_cstr(&old), e);
out:
	buf_release(&path);
	buf_release(&old);
	return rc;
}

/* --- reading back ------------------------------------------------------------------------- */

/* Compares one file with its entry in the manifest: size and digest. */
static int verify_file(const char *dir, const struct json *f, struct err *e)
{
	struct buf path = BUF_INIT;
	struct str name, want;
	int64_t bytes, have;
	char hex[65];
	int rc = -1;

	if (json_need_str(f, "name", &name, e) || json_need_str(f, "sha256", &want, e) ||
	    json_need_int(f, "bytes", &bytes, e))
		return -1;
	buf_addf(&path, "%s/%.*s", dir, STR_ARG(name));
	if (!buf_check(&path, e) && !file_sha256(path.p, hex, &have, e)) {
		if (have == bytes && str_is(want, hex))
			rc = 0;
		else
			err_set(e, ERR_FORMAT, "'%s' differs from its entry in the manifest", path.p);
	}
	buf_release(&path);
	return rc;
}

/* Reads the manifest and checks its own digest first. Returns NULL on failure (*e). */
static struct json *read_manifest(const char *path, struct err *e)
{
	struct buf file = BUF_INIT, text = BUF_INIT;
	struct json *j = NULL;

	if (!path_join(&file, path, manifest_name)) {
		err_nomem(e);
	} else if (!file_read(file.p, 64u << 20, &text, e)) {
		const char *nl = text.n > 66 ? text.p + text.n - 66 : NULL;
		char hex[65] = "";

		if (nl && *nl == '\n')
			sha256_hex(text.p, (size_t)(nl + 1 - text.p), hex);
		if (hex[0] && !memcmp(hex, nl + 1, 64))
			j = json_parse((struct str){ .p = text.p, .n = (size_t)(nl - text.p) }, e);
		else
			err_set(e, ERR_FORMAT, "'%s' is damaged", file.p);
	}
	buf_release(&file);
	buf_release(&text);
	return j;
}

/* Reads every file back. This is the only test of "complete": a folder without a valid manifest
 * does not count as a checkpoint. */
int checkpoint_verify(const char *path, struct buf *state, struct err *e)
{
	struct json *j = read_manifest(path, e);
	const struct json *files;
	int rc = 0;

	if (!j)
		return err_wrap(e, "'%s' is not a complete checkpoint", path);
	files = json_get(j, "files");
	for (size_t i = 0; i < json_count(files) && !rc; i++)
		rc = verify_file(path, json_at(files, i), e);
	if (!rc && state) {
		struct jw w = { .out = state };

		jw_json(&w, json_get(j, "state"));
	}
	json_free(j);
	return rc ? err_wrap(e, "'%s' is not a complete checkpoint", path) : 0;
}

/* --- folders of checkpoints --------------------------------------------------------------- */

/* The step of "PREFIX-000123"; -1 if the name has another form. */
static int64_t number_of(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	int64_t v;

	if (strncmp(name, prefix, n) || name[n] != '-' || str_to_i64(str_of(name + n + 1), &v) || v < 0)
		return -1;
	return v;
}

/* A checkpoint's step and its folder name, borrowed from a file_list. */
struct numbered { int64_t number; char *name; };

static int newest_first(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return (x->number < y->number) - (x->number > y->number);
}

/* Writes the checkpoints of the prefix to out[], newest first, and returns their number. Temporary
 * folders of a killed run are removed, too. */
static size_t sort_names(const char *parent, const struct file_list *names, const char *prefix, struct numbered *out)
{
	struct buf path = BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		if (str_starts(str_of(names->v[i]), ".tmp-") && path_join(&path, parent, names->v[i]))
			file_remove_tree(path.p, NULL);
		if (number_of(names->v[i], prefix) >= 0)
			out[n++] = (struct numbered){ .number = number_of(names->v[i], prefix), .name = names->v[i] };
	}
	buf_release(&path);
	qsort(out, n, sizeof *out, newest_first);
	return n;
}

/* Finds the newest checkpoint that verifies. A damaged one is reported and the next older one
 * tried. Returns 1 and the path in *out, 0 if no checkpoint is complete, -1 on failure. */
int checkpoint_latest(const char *parent, const char *prefix, struct buf *out, struct err *e)
{
	struct file_list names;
	struct numbered *sorted;
	size_t n;
	int found = 0;

	if (!file_is_dir(parent))
		return 0;
	if (file_list_open(&names, parent, e))
		return -1;
	sorted = mem_array(names.n + 1, sizeof *sorted);
	n = sorted ? sort_names(parent, &names, prefix, sorted) : 0;
	for (size_t i = 0; i < n && !found; i++) {
		struct err why = ERR_INIT;

		path_join(out, parent, sorted[i].name);
		if (!checkpoint_verify(buf_cstr(out), NULL, &why))
			found = 1;
		else
			log_warn("%s", why.text);
	}
	mem_free(sorted);
	file_list_close(&names);
	return sorted ? found : err_nomem(e);
}

/* The same for several ranks: the first one looks, the others get its answer, so that all resume at
 * the same step even if their view of the folder differs for a moment. */
int checkpoint_newest(struct par *p, const char *parent, const char *prefix, struct buf *out, struct err *e)
{
	int64_t found = par_first(p) ? checkpoint_latest(parent, prefix, out, e) : 0;

	return found < 0 || par_agree(p, &found, e) || (found && par_bcast_buf(p, out, e)) ? -1 : (int)found;
}

/* Keeps the newest `keep` checkpoints that verify and removes the others. A damaged one never
 * counts as kept. */
int checkpoint_prune(const char *parent, const char *prefix, int keep, struct err *e)
{
	struct file_list names;
	struct numbered *sorted;
	struct buf path = BUF_INIT;
	int rc = 0;

	if (!file_is_dir(parent))
		return 0;
	if (file_list_open(&names, parent, e))
		return -1;
	sorted = mem_array(names.n + 1, sizeof *sorted);
	if (!sorted)
		rc = err_nomem(e);
	for (size_t i = 0, n = sorted ? sort_names(parent, &names, prefix, sorted) : 0; i < n && !rc; i++) {
		path_join(&path, parent, sorted[i].name);
		if (keep > 0 && !checkpoint_verify(buf_cstr(&path), NULL, NULL))
			keep--;
		else
			rc = file_remove_tree(buf_cstr(&path), e);
	}
	mem_free(sorted);
	buf_release(&path);
	file_list_close(&names);
	return rc;
}

/* Lists size and SHA-256 of the files of a folder, one line each. */
int checkpoint_digest(const char *dir, struct buf *out, struct err *e)
{
	struct file_list names;
	struct buf path = BUF_INIT;
	int rc = 0;

	if (file_list_open(&names, dir, e))
		return -1;
	for (size_t i = 0; i < names.n && !rc; i++) {
		char hex[65];
		int64_t bytes;

		path_join(&path, dir, names.v[i]);
		if (file_is_dir(buf_cstr(&path)))
			continue;
		rc = file_sha256(buf_cstr(&path), hex, &bytes, e);
		if (!rc)
			buf_addf(out, "%s %lld %s\n", names.v[i], (long long)bytes, hex);
	}
	buf_release(&path);
	file_list_close(&names);
	return rc ? -1 : buf_check(out, e);
}
