/* The cache folder: see cache_folder.h. Links are not followed. */
#include "base/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static const struct {
	const char *name, *text;
} purposes[] = {
#define CACHE(name, text) { name, text },
#include "base/cache_entry.def"
#undef CACHE
};

int cache_folder(struct buf *out)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct err ignored = ERR_INIT;

	if (cache && cache[0] == '/')
		buf_addf(out, "%s/tritonrl", cache);
	else if (home && home[0] == '/')
		buf_addf(out, "%s/.cache/tritonrl", home);
	return !out->n || buf_check(out, &ignored) ? -1 : 0;
}

/* --- looking ----------------------------------------------------------------------------------------- */

/* Called for each file below a path. */
typedef int file_fn(void *ctx, const char *path, const struct stat *st, struct err *e);

/* Walks through a path. A file that disappears meanwhile is passed over: other processes use the cache. */
static int walk(const char *path, file_fn *fn, void *ctx, struct err *e)
{
	struct buf child = BUF_INIT;
	struct file_list l;
	struct stat st;
	int rc = 0;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : err_errno(e, "cannot read '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return fn(ctx, path, &st, e);
	if (file_list_open(&l, path, e))
		return -1;
	for (size_t i = 0; i < l.n && !rc; i++)
		rc = path_join(&child, path, l.v[i]) ? walk(child.p, fn, ctx, e) : err_nomem(e);
	buf_release(&child);
	file_list_close(&l);
	return rc;
}

/* Adds one file to its entry. */
static int count_file(void *ctx, const char *path, const struct stat *st, struct err *e)
{
	struct cache_entry *x = ctx;

	(void)path, (void)e;
	x->files++;
	x->bytes += (int64_t)st->st_blocks * 512;
	x->used = MAX(x->used, st->st_mtime);
	return 0;
}

static const char *purpose_of(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(purposes); i++)
		if (!strncmp(name, purposes[i].name, strlen(purposes[i].name)))
			return purposes[i].text;
	return "not made by this version";
}

/* A folder that does not exist is empty. */
int cache_read(const char *folder, struct cache_contents *out, struct err *e)
{
	struct buf path = BUF_INIT;
	struct file_list l;
	int rc = 0;

	*out = (struct cache_contents){ .n = 0 };
	if (!file_exists(folder))
		return 0;
	if (file_list_open(&l, folder, e))
		return -1;
	for (size_t i = 0; i < l.n && i < CACHE_ENTRIES && !rc; i++) {
		struct cache_entry *x = &out->v[out->n++];

		strncpy(x->name, l.v[i], sizeof x->name - 1);
		x->text = purpose_of(x->name);
		rc = path_join(&path, folder, l.v[i]) ? walk(path.p, count_file, x, e) : err_nomem(e);
	}
	buf_release(&path);
	file_list_close(&l);
	return rc;
}

/* --- cleaning ---------------------------------------------------------------------------------------- */

/* A file that may be deleted. */
struct victim {
	char *path;
	int64_t bytes;
	struct timespec used;
};

struct victims {
	struct { struct victim *v; size_t n, cap; } list;
	int64_t bytes;
};

static int add_victim(void *ctx, const char *path, const struct stat *st, struct err *e)
{
	struct victims *x = ctx;
	struct victim one = { .path = mem_strdup(path), .bytes = (int64_t)st->st_blocks * 512, .used = st->st_mtim };

	if (one.path && !vec_push(&x->list, one)) {
		x->bytes += one.bytes;
		return 0;
	}
	mem_free(one.path);
	return err_nomem(e);
}

/* The least recently used first. */
static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct victim *)a)->used, *y = &((const struct victim *)b)->used;

	return x->tv_sec != y->tv_sec ? (x->tv_sec < y->tv_sec ? -1 : 1) : x->tv_nsec < y->tv_nsec ? -1 :
		x->tv_nsec > y->tv_nsec;
}

/* Deletes in the order of use until enough is gone. */
static int delete_files(const struct victims *x, const struct cache_clean *c, int64_t *files, int64_t *bytes,
			struct err *e)
{
	int64_t left = x->bytes;

	for (size_t i = 0; i < x->list.n; i++) {
		const struct victim *v = &x->list.v[i];

		if ((c->before && v->used.tv_sec >= c->before) || (c->most >= 0 && left <= c->most))
			break;
		if (unlink(v->path) && errno != ENOENT)
			return err_errno(e, "cannot delete '%s'", v->path);
		left -= v->bytes;
		*bytes += v->bytes;
		++*files;
	}
	return 0;
}

int cache_delete(const char *folder, const struct cache_clean *c, int64_t *files, int64_t *bytes, struct err *e)
{
	struct buf path = BUF_INIT;
	struct victims x = { .bytes = 0 };
	int rc;

	*files = *bytes = 0;
	rc = c->all ? walk(folder, add_victim, &x, e) :
	     path_join(&path, folder, "tasks") ? walk(path.p, add_victim, &x, e) : err_nomem(e);
	if (!rc && x.list.n)
		qsort(x.list.v, x.list.n, sizeof *x.list.v, by_use);
	if (!rc)
		rc = delete_files(&x, c, files, bytes, e);
	/* Without a limit nothing is left but empty folders. */
	if (!rc && c->all && !c->before && c->most < 0 && file_exists(folder))
		rc = file_remove_tree(folder, e);
	for (size_t i = 0; i < x.list.n; i++)
		mem_free(x.list.v[i].path);
	vec_free(&x.list);
	buf_release(&path);
	return rc;
}
