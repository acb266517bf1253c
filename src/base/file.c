/* Files: see file.h. Invariants: no function leaves a half-written file under its final name, and
 * every system call goes through the table of sys.h, so that torture tests can make each one
 * fail. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sys.h"

void file_close_others(int a, int b)
{
	int low = MAX(MIN(a, b), 2), high = MAX(MAX(a, b), 2);

	if (low > 3)
		syscall(SYS_close_range, 3, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0u, 0);
}

/* write() may write less than asked and may be interrupted by a signal; both are repeated. */
int file_write_all(int fd, const void *data, size_t n, struct err *e)
{
	const char *p = data;

	while (n) {
		ssize_t k = sys.write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return err_errno(e, "write");
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* The end of the file before n bytes is an error of the format, not of the system. */
int file_read_all(int fd, void *data, size_t n, struct err *e)
{
	char *p = data;

	while (n) {
		ssize_t k = sys.read(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_errno(e, "read");
		if (k == 0)
			return err_set(e, ERR_FORMAT, "unexpected end of data");
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* The size is not asked for in advance: a pipe and /proc have none. The limit stops a file that
 * never ends. */
static int read_to_end(int fd, const char *path, size_t limit, struct buf *out, struct err *e)
{
	size_t start = out->n;

	for (;;) {
		ssize_t k;

		if (buf_reserve(out, 1 << 16))
			return err_nomem(e);
		k = sys.read(fd, out->p + out->n, out->cap - out->n - 1);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_errno(e, "cannot read '%s'", path);
		if (k == 0)
			break;
		out->n += (size_t)k;
		if (limit && out->n - start > limit)
			return err_set(e, ERR_RANGE, "'%s' is larger than %zu bytes", path, limit);
	}
	out->p[out->n] = 0;
	return 0;
}

/* Appends to `out`, so that several files can be joined; on failure `out` may hold a part. */
int file_read(const char *path, size_t limit, struct buf *out, struct err *e)
{
	int fd = sys.open(path, O_RDONLY, 0), rc;

	if (fd < 0)
		return err_errno(e, "cannot open '%s'", path);
	rc = read_to_end(fd, path, limit, out, e);
	sys.close(fd);
	return rc;
}

/* A rename is durable only after its folder is synced. */
int file_sync_dir(const char *path, struct err *e)
{
	int fd = sys.open(path, O_RDONLY | O_DIRECTORY, 0), rc = 0;

	if (fd < 0)
		return err_errno(e, "cannot open folder '%s'", path);
	if (sys.fsync(fd))
		rc = err_errno(e, "cannot sync folder '%s'", path);
	sys.close(fd);
	return rc;
}

/* The folder of "name" is ".", that of "/name" is "/". */
static int sync_parent(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");
	int rc;

	if (!dir)
		return err_nomem(e);
	rc = file_sync_dir(dir, e);
	mem_free(dir);
	return rc;
}

/* close() is checked too: NFS reports a full disk only there. */
static int write_synced(const char *path, int flags, struct str data, int sync, struct err *e)
{
	int fd = sys.open(path, O_WRONLY | O_CREAT | flags, 0644), rc = 0;

	if (fd < 0)
		return err_errno(e, "cannot create '%s'", path);
	if (file_write_all(fd, data.p, data.n, e))
		rc = err_wrap(e, "'%s'", path);
	else if (sync && sys.fsync(fd))
		rc = err_errno(e, "cannot sync '%s'", path);
	if (sys.close(fd) && !rc)
		rc = err_errno(e, "cannot close '%s'", path);
	return rc;
}

/* Frees the names; the descriptor is closed by its caller. */
static void out_release(struct file_out *o)
{
	mem_free(o->path);
	mem_free(o->tmp);
	*o = (struct file_out){ .fd = -1 };
}

/* The temporary name ends in the process id. file_sweep removes it if that process has died. */
int file_out_open(struct file_out *o, const char *path, struct err *e)
{
	struct buf tmp = BUF_INIT;

	buf_addf(&tmp, "%s.tmp-%ld", path, (long)getpid());
	*o = (struct file_out){ .path = mem_strdup(path), .tmp = tmp.failed ? NULL : buf_take(&tmp), .fd = -1 };
	buf_release(&tmp);
	if (!o->path || !o->tmp) {
		out_release(o);
		return err_nomem(e);
	}
	o->fd = sys.open(o->tmp, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (o->fd < 0) {
		err_errno(e, "cannot create '%s'", o->tmp);
		out_release(o);
		return -1;
	}
	return 0;
}

int file_out_write(struct file_out *o, const void *p, size_t n, struct err *e)
{
	return file_write_all(o->fd, p, n, e) ? err_wrap(e, "'%s'", o->path) : 0;
}

void file_out_abort(struct file_out *o)
{
	if (o->fd >= 0)
		sys.close(o->fd);
	if (o->tmp)
		sys.unlink(o->tmp);
	out_release(o);
}

/* sync, close, rename, sync the folder: after a power failure either the old or the new file
 * exists, complete. */
int file_out_commit(struct file_out *o, struct err *e)
{
	int rc = sys.fsync(o->fd) ? err_errno(e, "cannot sync '%s'", o->path) : 0, fd = o->fd;

	o->fd = -1;
	if (sys.close(fd) && !rc)
		rc = err_errno(e, "cannot close '%s'", o->path);
	if (!rc && sys.rename(o->tmp, o->path))
		rc = err_errno(e, "cannot rename '%s' to '%s'", o->tmp, o->path);
	if (rc) {
		file_out_abort(o);
		return -1;
	}
	rc = sync_parent(o->path, e);
	out_release(o);
	return rc;
}

/* Small contents in one call; larger ones use file_out piece by piece. */
int file_replace(const char *path, struct str data, struct err *e)
{
	struct file_out o;

	if (file_out_open(&o, path, e))
		return -1;
	if (file_out_write(&o, data.p, data.n, e)) {
		file_out_abort(&o);
		return -1;
	}
	return file_out_commit(&o, e);
}

int file_append(const char *path, struct str data, int sync, struct err *e)
{
	return write_synced(path, O_APPEND, data, sync, e);
}

/* A process that was killed may leave half a line at the end of a JSON lines file. It is removed
 * before more lines are appended. */
int file_cut_line(const char *path, struct err *e)
{
	struct file_map m;
	size_t n, all;
	int fd, rc;

	if (file_map_open(&m, path, e))
		return -1;
	for (n = all = m.n; n && m.p[n - 1] != '\n'; n--)
		;
	file_map_close(&m);
	if (n == all)
		return 0;
	fd = sys.open(path, O_WRONLY, 0);
	if (fd < 0)
		return err_errno(e, "cannot open '%s'", path);
	rc = sys.ftruncate(fd, (off_t)n) || sys.fsync(fd) ? err_errno(e, "cannot cut '%s'", path) : 0;
	sys.close(fd);
	return rc;
}

int file_exists(const char *path)
{
	struct stat st;

	return sys.stat(path, &st) == 0;
}

int file_is_dir(const char *path)
{
	struct stat st;

	return sys.stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int64_t file_size(const char *path, struct err *e)
{
	struct stat st;

	return sys.stat(path, &st) ? err_errno(e, "cannot stat '%s'", path) : (int64_t)st.st_size;
}

/* Folders that exist are kept, also if another process creates one at the same moment. */
int file_mkdirs(const char *path, struct err *e)
{
	char *p = mem_strdup(path);
	int rc = 0;

	if (!p)
		return err_nomem(e);
	/* Each prefix that ends before a slash or at the end is a folder to create. */
	for (char *at = p + (*p == '/'); !rc; at++) {
		char c = *at;

		if (c && c != '/')
			continue;
		*at = 0;
		if (*p && sys.mkdir(p, 0755) && errno != EEXIST)
			rc = err_errno(e, "cannot create folder '%s'", p);
		*at = c;
		if (!c)
			break;
	}
	if (!rc && !file_is_dir(path))
		rc = err_set(e, ERR_IO, "'%s' exists and is not a folder", path);
	mem_free(p);
	return rc;
}

int file_mkdirs_for(const char *path, struct err *e)
{
	struct str name = path_base(path);
	char *dir = mem_strndup(path, (size_t)(name.p - path));
	int rc = !dir ? err_nomem(e) : *dir ? file_mkdirs(dir, e) : 0;

	mem_free(dir);
	return rc;
}

/* Devices and pipes are not opened here: that may wait for a reader. */
int file_check_output(const char *path, struct err *e)
{
	struct stat st;
	int is_new = sys.stat(path, &st) != 0, fd;

	if (file_is_dir(path))
		return err_set(e, ERR_IO, "cannot write '%s': it is a folder; name a file in it", path);
	if (!is_new && !S_ISREG(st.st_mode))
		return 0;
	if (file_mkdirs_for(path, e))
		return -1;
	fd = sys.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_errno(e, "cannot write '%s'", path);
	sys.close(fd);
	return is_new && sys.unlink(path) ? err_errno(e, "cannot remove '%s'", path) : 0;
}

/* lstat, not stat: a symbolic link is removed, and what it points to stays. */
int file_remove_tree(const char *path, struct err *e)
{
	struct file_list names = { .v = NULL };
	struct buf p = BUF_INIT;
	struct stat st;
	int rc = 0;

	if (sys.lstat(path, &st))
		return errno == ENOENT ? 0 : err_errno(e, "cannot stat '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return sys.unlink(path) ? err_errno(e, "cannot remove '%s'", path) : 0;
	if (file_list_open(&names, path, e))
		return -1;
	for (size_t i = 0; i < names.n && !rc; i++)
		rc = path_join(&p, path, names.v[i]) ? file_remove_tree(p.p, e) : err_nomem(e);
	if (!rc && sys.rmdir(path))
		rc = err_errno(e, "cannot remove folder '%s'", path);
	buf_release(&p);
	file_list_close(&names);
	return rc;
}

/* Is this the temporary file "NAME.tmp-PID" of a process that has ended? The last ".tmp-" counts,
 * because NAME itself may contain one. */
static int is_leftover(const char *name)
{
	const char *tmp = strstr(name, ".tmp-");
	int64_t pid;

	while (tmp && strstr(tmp + 1, ".tmp-"))
		tmp = strstr(tmp + 1, ".tmp-");
	return tmp && tmp != name && !str_to_i64(str_of(tmp + 5), &pid) && pid > 0 && kill((pid_t)pid, 0) &&
		errno == ESRCH;
}

/* A file that vanishes during the walk belongs to a running process and is skipped. */
int file_sweep(const char *dir, struct err *e)
{
	struct file_list names;
	struct buf p = BUF_INIT;
	struct stat st;
	int rc = 0;

	if (file_list_open(&names, dir, e))
		return -1;
	for (size_t i = 0; i < names.n && !rc; i++) {
		if (!path_join(&p, dir, names.v[i]))
			rc = err_nomem(e);
		else if (sys.lstat(p.p, &st))
			continue;
		else if (S_ISDIR(st.st_mode))
			rc = file_sweep(p.p, e);
		else if (is_leftover(names.v[i]) && sys.unlink(p.p))
			rc = err_errno(e, "cannot remove '%s'", p.p);
	}
	buf_release(&p);
	file_list_close(&names);
	return rc;
}

/* An empty file cannot be mapped; its contents are the empty string. MAP_SHARED does not copy
 * pages. */
int file_map_open(struct file_map *m, const char *path, struct err *e)
{
	int fd = sys.open(path, O_RDONLY, 0), rc = 0;
	struct stat st;
	void *p = NULL;

	*m = (struct file_map){ .p = NULL };
	if (fd < 0)
		return err_errno(e, "cannot open '%s'", path);
	if (sys.fstat(fd, &st))
		rc = err_errno(e, "cannot stat '%s'", path);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, ERR_FORMAT, "'%s' is not a regular file", path);
	else if (st.st_size && (p = sys.mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
		rc = err_errno(e, "cannot map '%s'", path);
	else
		*m = (struct file_map){ .p = p ? p : "", .n = (size_t)st.st_size };
	sys.close(fd);
	return rc;
}

void file_map_close(struct file_map *m)
{
	if (m->n)
		sys.munmap((void *)m->p, m->n);
	*m = (struct file_map){ .p = NULL };
}

/* Maps the file, so that one of gigabytes needs no buffer. */
int file_sha256(const char *path, char hex[65], int64_t *bytes, struct err *e)
{
	struct file_map m;

	if (file_map_open(&m, path, e))
		return -1;
	sha256_hex(m.p, m.n, hex);
	*bytes = (int64_t)m.n;
	file_map_close(&m);
	return 0;
}

/* The copy appears under its name only when it is complete. */
int file_copy(const char *from, const char *to, struct err *e)
{
	struct file_map m;
	int rc = file_map_open(&m, from, e);

	if (!rc) {
		rc = file_replace(to, (struct str){ .p = m.p, .n = m.n }, e);
		file_map_close(&m);
	}
	return rc;
}

/* Sorted names make runs repeatable: readdir returns them in any order. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* errno tells the end of the folder from an error of readdir, so it is cleared before each call. */
int file_list_open(struct file_list *l, const char *dir, struct err *e)
{
	DIR *d = sys.opendir(dir);
	struct dirent *ent;
	int rc = 0;

	*l = (struct file_list){ .v = NULL };
	if (!d)
		return err_errno(e, "cannot open folder '%s'", dir);
	while (!rc && (errno = 0, ent = sys.readdir(d))) {
		char *name;

		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		name = mem_strdup(ent->d_name);
		if (!name || vec_push(l, name)) {
			mem_free(name);
			rc = err_nomem(e);
		}
	}
	if (!rc && errno)
		rc = err_errno(e, "cannot read folder '%s'", dir);
	sys.closedir(d);
	if (rc)
		file_list_close(l);
	else if (l->n)
		qsort(l->v, l->n, sizeof *l->v, by_name);
	return rc;
}

void file_list_close(struct file_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->v[i]);
	vec_free(l);
}

/* Returns the joined path in `out`, or NULL if memory ended. A slash at the end of `dir` is not
 * doubled. */
const char *path_join(struct buf *out, const char *dir, const char *name)
{
	buf_clear(out);
	buf_adds(out, dir);
	if (out->n && out->p[out->n - 1] != '/')
		buf_addc(out, '/');
	buf_adds(out, name);
	return out->failed ? NULL : out->p;
}

struct str path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return str_of(slash ? slash + 1 : path);
}

int lines_open(struct line_reader *r, const char *path, struct err *e)
{
	*r = (struct line_reader){ .fd = strcmp(path, "-") ? sys.open(path, O_RDONLY, 0) : 0 };
	if (r->fd < 0)
		return err_errno(e, "cannot open '%s'", path);
	if (!r->fd || !file_is_dir(path))
		return 0;
	lines_close(r);
	return err_set(e, ERR_IO, "cannot read '%s': it is a folder; name a file in it", path);
}

/* Drops the byte order mark that some editors put at the start of a file. */
static void skip_mark(struct line_reader *r, struct str *line)
{
	if (r->number == 1 && str_starts(*line, "\xef\xbb\xbf")) {
		line->p += 3;
		line->n -= 3;
	}
}

/* The buffer holds the line that is being read and what follows it. Searching resumes where it
 * ended (`seen`), so a line of a gigabyte costs linear time. The last line may lack its newline. */
int lines_next(struct line_reader *r, struct str *line, struct err *e)
{
	for (size_t seen = 0;;) {
		char *nl = r->buf.n > r->at + seen ?
			memchr(r->buf.p + r->at + seen, '\n', r->buf.n - r->at - seen) : NULL;
		size_t n = nl ? (size_t)(nl - (r->buf.p + r->at)) : r->buf.n - r->at;
		ssize_t k;

		if (nl || (r->eof && n)) {
			*line = (struct str){ .p = r->buf.p + r->at, .n = n };
			r->at += n + (nl != NULL);
			r->offset += (int64_t)n + (nl != NULL);
			r->number++;
			if (line->n && line->p[line->n - 1] == '\r')   /* files of Windows */
				line->n--;
			skip_mark(r, line);
			return 1;
		}
		if (r->eof)
			return 0;
		if (r->at) {                        /* room for more: drop the lines already returned */
			memmove(r->buf.p, r->buf.p + r->at, n);
			r->buf.n = n;
			r->at = 0;
		}
		seen = n;
		if (buf_reserve(&r->buf, 1 << 18))
			return err_nomem(e);
		k = sys.read(r->fd, r->buf.p + r->buf.n, r->buf.cap - r->buf.n - 1);
		if (k < 0 && errno != EINTR)
			return err_errno(e, "read");
		r->eof = k == 0;
		r->buf.n += k > 0 ? (size_t)k : 0;
	}
}

/* Can lines_next return without waiting? A caller that reads a pipe does other work first if
 * not. */
int lines_ready(const struct line_reader *r)
{
	return r->eof || (r->buf.n > r->at && memchr(r->buf.p + r->at, '\n', r->buf.n - r->at));
}

void lines_close(struct line_reader *r)
{
	if (r->fd > 0)
		sys.close(r->fd);
	buf_release(&r->buf);
	r->fd = -1;
}
