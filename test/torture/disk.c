/* The disk of crash tests: see disk.h. A disk is the list of its changes; what it looks like is what is left
 * when some of them are played. */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/sys.h"

enum { NODES = 256, ENTRIES = 512, CHANGES = 4096, FDS = 64, NAME = 80 };

enum kind { CREATE, UNLINK, RENAME, WRITE, CUT, SYNC };
/* How much of a write arrived; entries are there or not. */
enum share { NONE, ALL, HALF, ZEROS, SHARES };

struct change {
	enum kind kind;
	int dir, to_dir;               /* nodes: of the entry; RENAME: of the new one */
	char name[NAME], to[NAME];
	int node;                      /* CREATE, WRITE, CUT, SYNC */
	size_t at, n;                  /* WRITE: place and bytes; CUT: length */
	char *bytes;
};

struct node { int is_dir; struct buf data; };
struct entry { int dir, node; char name[NAME]; };

/* What a process sees. */
struct view {
	struct node node[NODES];
	struct entry entry[ENTRIES];
	int entries;
};

struct disk {
	struct view v;
	struct change change[CHANGES];
	int changes, nodes;
	struct { int node; size_t at; } fd[FDS];
};

static struct disk *now;

/* --- playing changes -------------------------------------------------------------------------- */

static int find(const struct view *v, int dir, const char *name)
{
	for (int i = 0; i < v->entries; i++)
		if (v->entry[i].dir == dir && !strcmp(v->entry[i].name, name))
			return i;
	return -1;
}

static void put_entry(struct view *v, int dir, const char *name, int node)
{
	int i = find(v, dir, name);

	if (i < 0)
		i = v->entries++;
	if (i >= ENTRIES)
		abort();
	v->entry[i] = (struct entry){ .dir = dir, .node = node };
	snprintf(v->entry[i].name, NAME, "%s", name);
}

static void take_entry(struct view *v, int i)
{
	v->entry[i] = v->entry[--v->entries];
}

static void write_bytes(struct buf *b, const struct change *c, enum share s)
{
	size_t n = s == HALF ? c->n / 2 : c->n;

	while (b->n < c->at + n)
		buf_addc(b, 0);
	if (s == ZEROS)
		memset(b->p + c->at, 0, n);
	else if (n)
		memcpy(b->p + c->at, c->bytes, n);
}

static void cut(struct buf *b, size_t n)
{
	while (b->n < n)
		buf_addc(b, 0);
	b->n = n;
}

static void play(struct view *v, const struct change *c, enum share s)
{
	int i = c->kind <= RENAME ? find(v, c->dir, c->name) : -1;

	if (s == NONE)
		return;
	switch (c->kind) {
	case CREATE:
		put_entry(v, c->dir, c->name, c->node);
		break;
	case UNLINK:
		if (i >= 0)
			take_entry(v, i);
		break;
	case RENAME:
		if (i >= 0) {
			put_entry(v, c->to_dir, c->to, v->entry[i].node);
			take_entry(v, find(v, c->dir, c->name));
		}
		break;
	case WRITE:
		write_bytes(&v->node[c->node].data, c, s);
		break;
	case CUT:
		cut(&v->node[c->node].data, c->n);
		break;
	case SYNC:
		break;
	}
}

/* --- the process's calls -------------------------------------------------------------------------- */

static int fail(int error)
{
	errno = error;
	return -1;
}

static struct change *note(enum kind k)
{
	struct change *c = &now->change[now->changes++];

	if (now->changes >= CHANGES)
		abort();
	*c = (struct change){ .kind = k };
	return c;
}

static void done(const struct change *c)
{
	play(&now->v, c, ALL);
}

/* The folder of a path and its last name; the folder's node, or -1. */
static int parent_of(const char *path, char name[NAME])
{
	int dir = 0;

	for (const char *p = path + strspn(path, "/");;) {
		size_t n = strcspn(p, "/");
		int i;

		if (n >= NAME)
			return fail(ENAMETOOLONG);
		memcpy(name, p, n);
		name[n] = 0;
		p += n;
		p += strspn(p, "/");
		if (!*p)
			return dir;
		i = find(&now->v, dir, name);
		if (i < 0 || !now->v.node[now->v.entry[i].node].is_dir)
			return fail(ENOENT);
		dir = now->v.entry[i].node;
	}
}

/* The node of a path; -1: there is none. */
static int node_of(const char *path)
{
	char name[NAME];
	int dir = parent_of(path, name), i;

	if (dir < 0)
		return -1;
	if (!name[0])
		return dir;
	i = find(&now->v, dir, name);
	return i < 0 ? fail(ENOENT) : now->v.entry[i].node;
}

static int make(const char *path, int is_dir)
{
	struct change *c;
	char name[NAME];
	int dir = parent_of(path, name);

	if (dir < 0)
		return -1;
	if (!name[0] || find(&now->v, dir, name) >= 0)
		return fail(EEXIST);
	if (now->nodes >= NODES)
		abort();
	c = note(CREATE);
	c->dir = dir;
	c->node = now->nodes++;
	now->v.node[c->node].is_dir = is_dir;
	snprintf(c->name, NAME, "%s", name);
	done(c);
	return c->node;
}

static int d_open(const char *path, int flags, mode_t mode)
{
	int node = node_of(path), fd;

	(void)mode;
	if (node < 0 && flags & O_CREAT)
		node = make(path, 0);
	if (node < 0)
		return -1;
	for (fd = 0; now->fd[fd].node; fd++)
		if (fd == FDS - 1)
			abort();
	if (flags & O_TRUNC && now->v.node[node].data.n) {
		struct change *c = note(CUT);

		c->node = node;
		done(c);
	}
	now->fd[fd].node = node + 1;
	now->fd[fd].at = flags & O_APPEND ? now->v.node[node].data.n : 0;
	return fd;
}

static int d_close(int fd)
{
	now->fd[fd].node = 0;
	return 0;
}

static struct buf *data_of(int fd)
{
	return &now->v.node[now->fd[fd].node - 1].data;
}

static ssize_t d_read(int fd, void *p, size_t n)
{
	struct buf *b = data_of(fd);
	size_t left = b->n - MIN(now->fd[fd].at, b->n);

	n = MIN(n, left);
	if (n)
		memcpy(p, b->p + now->fd[fd].at, n);
	now->fd[fd].at += n;
	return (ssize_t)n;
}

static ssize_t d_write(int fd, const void *p, size_t n)
{
	struct change *c = note(WRITE);

	c->node = now->fd[fd].node - 1;
	c->at = now->fd[fd].at;
	c->n = n;
	c->bytes = malloc(n + 1);
	if (!c->bytes)
		abort();
	memcpy(c->bytes, p, n);
	done(c);
	now->fd[fd].at += n;
	return (ssize_t)n;
}

static int d_fsync(int fd)
{
	note(SYNC)->node = now->fd[fd].node - 1;
	return 0;
}

static int stat_node(int node, struct stat *st)
{
	if (node < 0)
		return -1;
	*st = (struct stat){ .st_mode = now->v.node[node].is_dir ? S_IFDIR : S_IFREG, .st_size = (off_t)now->v.node[node].data.n };
	return 0;
}

static int d_fstat(int fd, struct stat *st) { return stat_node(now->fd[fd].node - 1, st); }
static int d_stat(const char *path, struct stat *st) { return stat_node(node_of(path), st); }

static int d_rename(const char *from, const char *to)
{
	char name[NAME], target[NAME];
	int dir = parent_of(from, name), to_dir = parent_of(to, target), there;
	struct change *c;

	if (dir < 0 || to_dir < 0 || find(&now->v, dir, name) < 0)
		return fail(ENOENT);
	there = find(&now->v, to_dir, target);
	if (there >= 0 && now->v.node[now->v.entry[there].node].is_dir)
		return fail(ENOTEMPTY);
	c = note(RENAME);
	c->dir = dir, c->to_dir = to_dir;
	snprintf(c->name, NAME, "%s", name);
	snprintf(c->to, NAME, "%s", target);
	done(c);
	return 0;
}

static int d_unlink(const char *path)
{
	char name[NAME];
	int dir = parent_of(path, name);
	struct change *c;

	if (dir < 0 || find(&now->v, dir, name) < 0)
		return fail(ENOENT);
	c = note(UNLINK);
	c->dir = dir;
	snprintf(c->name, NAME, "%s", name);
	done(c);
	return 0;
}

static int d_rmdir(const char *path)
{
	int node = node_of(path);

	for (int i = 0; node >= 0 && i < now->v.entries; i++)
		if (now->v.entry[i].dir == node)
			return fail(ENOTEMPTY);
	return node < 0 ? -1 : d_unlink(path);
}

static int d_mkdir(const char *path, mode_t mode)
{
	(void)mode;
	return make(path, 1) < 0 ? -1 : 0;
}

static int d_ftruncate(int fd, off_t n)
{
	struct change *c = note(CUT);

	c->node = now->fd[fd].node - 1;
	c->n = (size_t)n;
	done(c);
	return 0;
}

/* A folder being read: the names as they were when it was opened. */
struct reading { int n, at; struct dirent entry; char name[ENTRIES][NAME]; };

static DIR *d_opendir(const char *path)
{
	struct reading *r = calloc(1, sizeof *r);
	int node = node_of(path);

	if (!r || node < 0 || !now->v.node[node].is_dir) {
		free(r);
		errno = ENOENT;
		return NULL;
	}
	for (int i = 0; i < now->v.entries; i++)
		if (now->v.entry[i].dir == node)
			snprintf(r->name[r->n++], NAME, "%s", now->v.entry[i].name);
	return (DIR *)(void *)r;
}

static struct dirent *d_readdir(DIR *d)
{
	struct reading *r = (struct reading *)(void *)d;

	errno = 0;
	if (r->at == r->n)
		return NULL;
	snprintf(r->entry.d_name, sizeof r->entry.d_name, "%s", r->name[r->at++]);
	return &r->entry;
}

static int d_closedir(DIR *d)
{
	free(d);
	return 0;
}

static void *d_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	char *p = malloc(n);

	(void)at, (void)prot, (void)flags, (void)off;
	if (p)
		memcpy(p, data_of(fd)->p, n);
	return p ? p : MAP_FAILED;
}

static int d_munmap(void *p, size_t n)
{
	(void)n;
	free(p);
	return 0;
}

/* --- disks ------------------------------------------------------------------------------------------- */

struct disk *disk_new(void)
{
	struct disk *d = calloc(1, sizeof *d);

	if (!d)
		abort();
	d->v.node[0].is_dir = 1;
	d->nodes = 1;
	return d;
}

void disk_free(struct disk *d)
{
	for (int i = 0; i < d->changes; i++)
		free(d->change[i].bytes);
	for (int i = 0; i < d->nodes; i++)
		buf_release(&d->v.node[i].data);
	free(d);
}

void disk_use(struct disk *d)
{
	now = d;
	sys = *sys_real();
	if (!d)
		return;
	sys.open = d_open, sys.close = d_close, sys.read = d_read, sys.write = d_write, sys.fsync = d_fsync;
	sys.fstat = d_fstat, sys.stat = d_stat, sys.lstat = d_stat, sys.rename = d_rename, sys.unlink = d_unlink;
	sys.mkdir = d_mkdir, sys.rmdir = d_rmdir, sys.ftruncate = d_ftruncate;
	sys.opendir = d_opendir, sys.readdir = d_readdir, sys.closedir = d_closedir, sys.mmap = d_mmap, sys.munmap = d_munmap;
}

int disk_changes(const struct disk *d) { return d->changes; }

/* --- after a crash -------------------------------------------------------------------------------------- */

/* What must be synced for the change to be safe. A renamed entry is safe with its new folder. */
static int guard_of(const struct change *c)
{
	return c->kind == RENAME ? c->to_dir : c->kind <= UNLINK ? c->dir : c->node;
}

static int is_safe(const struct disk *d, int i, int n)
{
	for (int k = i + 1; k < n; k++)
		if (d->change[k].kind == SYNC && d->change[k].node == guard_of(&d->change[i]))
			return 1;
	return d->change[i].kind == SYNC;
}

static int ways(const struct change *c)
{
	return c->kind == WRITE && c->n ? SHARES : 2;
}

long disk_outcomes(const struct disk *d, int n, long most)
{
	long all = 1;

	for (int i = 0; i < n && all < most; i++)
		if (!is_safe(d, i, n))
			all *= ways(&d->change[i]);
	return MIN(all, most);
}

struct disk *disk_outcome(const struct disk *d, int n, long which, long most)
{
	struct disk *out = disk_new();
	int drawn = disk_outcomes(d, n, most + 1) > most;
	struct rng r;

	rng_init(&r, (uint64_t)which * 7919 + (uint64_t)n, "crash");
	out->nodes = d->nodes;
	for (int i = 0; i < d->nodes; i++)
		out->v.node[i].is_dir = d->v.node[i].is_dir;
	for (int i = 0; i < n; i++) {
		enum share s = ALL;

		if (!is_safe(d, i, n)) {
			int w = ways(&d->change[i]);

			s = drawn ? (enum share)rng_below(&r, (uint64_t)w) : (enum share)(which % w);
			which /= drawn ? 1 : w;
		}
		play(&out->v, &d->change[i], s);
	}
	/* What is there is the past of this disk: nothing of it can be lost any more. */
	for (int i = 0; i < out->v.entries; i++) {
		struct change *c = &out->change[out->changes++];

		*c = (struct change){ .kind = CREATE, .dir = out->v.entry[i].dir, .node = out->v.entry[i].node };
		snprintf(c->name, NAME, "%s", out->v.entry[i].name);
	}
	for (int i = 0; i < out->nodes; i++) {
		struct buf *b = &out->v.node[i].data;

		if (b->n) {
			struct change *c = &out->change[out->changes++];

			*c = (struct change){ .kind = WRITE, .node = i, .n = b->n, .bytes = malloc(b->n) };
			memcpy(c->bytes, b->p, b->n);
		}
	}
	for (int i = 0; i < out->nodes; i++)
		out->change[out->changes++] = (struct change){ .kind = SYNC, .node = i };
	return out;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const struct disk *d, int dir, struct buf *out)
{
	const char *names[ENTRIES];
	int n = 0;

	for (int i = 0; i < d->v.entries; i++)
		if (d->v.entry[i].dir == dir)
			names[n++] = d->v.entry[i].name;
	qsort(names, (size_t)n, sizeof *names, by_name);
	for (int i = 0; i < n; i++) {
		int node = d->v.entry[find(&d->v, dir, names[i])].node;

		buf_addf(out, "%s%c%zu:", names[i], d->v.node[node].is_dir ? '/' : ' ', d->v.node[node].data.n);
		buf_add(out, d->v.node[node].data.p, d->v.node[node].data.n);
		if (d->v.node[node].is_dir)
			list(d, node, out);
	}
	buf_addc(out, '.');
}

uint64_t disk_hash(const struct disk *d)
{
	struct buf b = BUF_INIT;
	uint64_t h;

	list(d, 0, &b);
	h = hash_xxh64(b.p, b.n, 0);
	buf_release(&b);
	return h;
}
