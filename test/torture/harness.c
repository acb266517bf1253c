/* The torture harness: see torture.h. It replaces the table of base/sys.h by calls that count,
 * fail on demand, and keep account of what was taken and not given back. */
#include "torture.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sys.h"

enum kind { K_ALLOC, K_SYSTEM, KINDS };
static const char *const kind_name[] = { "allocation", "system call" };

/* How the k-th call fails. */
struct mode {
	const char *name;
	enum kind kind;
	int error;
	int keep_on;                 /* all calls from the k-th fail */
	int trickle;                 /* reads and writes move one byte: no failure at all */
};

static const struct mode modes[] = {
	{ "no memory, once", K_ALLOC, ENOMEM, 0, 0 },
	{ "no memory, from then on", K_ALLOC, ENOMEM, 1, 0 },
	{ "I/O error, once", K_SYSTEM, EIO, 0, 0 },
	{ "disk full, from then on", K_SYSTEM, ENOSPC, 1, 0 },
	{ "interrupted, once", K_SYSTEM, EINTR, 0, 0 },
	{ "one byte at a time", K_SYSTEM, 0, 0, 1 },
};

static struct {
	const struct mode *mode;     /* NULL: nothing fails */
	long fail_at;                /* the k of now */
	_Atomic long calls[KINDS];
	_Atomic long live;           /* allocations, descriptors, folders, maps not given back */
	_Atomic long failed;         /* calls that were made to fail in this run */
	char dir[64];
} t;

static int fails(enum kind kind)
{
	long k = atomic_fetch_add(&t.calls[kind], 1) + 1;

	if (!t.mode || t.mode->trickle || t.mode->kind != kind || !(t.mode->keep_on ? k >= t.fail_at : k == t.fail_at))
		return 0;
	atomic_fetch_add(&t.failed, 1);
	errno = t.mode->error;
	return 1;
}

/* Counts what a call took, if it did. */
static void take(int got) { atomic_fetch_add(&t.live, got ? 1 : 0); }
static void give(void) { atomic_fetch_sub(&t.live, 1); }

static void *t_alloc(size_t n)
{
	void *p = fails(K_ALLOC) ? NULL : malloc(n);

	take(p != NULL);
	return p;
}

static void *t_resize(void *old, size_t n)
{
	void *p = fails(K_ALLOC) ? NULL : realloc(old, n);

	take(p && !old);
	return p;
}

static void t_release(void *p)
{
	give();
	free(p);
}

static int t_open(const char *path, int flags, mode_t mode)
{
	int fd = fails(K_SYSTEM) ? -1 : sys_real()->open(path, flags, mode);

	take(fd >= 0);
	return fd;
}

/* Linux closes the descriptor whatever close says. */
static int t_close(int fd)
{
	int failed = fails(K_SYSTEM), error = errno;

	give();
	close(fd);
	errno = error;
	return failed ? -1 : 0;
}

static ssize_t t_read(int fd, void *p, size_t n)
{
	return fails(K_SYSTEM) ? -1 : read(fd, p, t.mode && t.mode->trickle && n ? 1 : n);
}

static ssize_t t_write(int fd, const void *p, size_t n)
{
	return fails(K_SYSTEM) ? -1 : write(fd, p, t.mode && t.mode->trickle && n ? 1 : n);
}

static int t_fsync(int fd) { return fails(K_SYSTEM) ? -1 : fsync(fd); }
static int t_fstat(int fd, struct stat *st) { return fails(K_SYSTEM) ? -1 : fstat(fd, st); }
static int t_stat(const char *path, struct stat *st) { return fails(K_SYSTEM) ? -1 : stat(path, st); }
static int t_lstat(const char *path, struct stat *st) { return fails(K_SYSTEM) ? -1 : lstat(path, st); }
static int t_rename(const char *a, const char *b) { return fails(K_SYSTEM) ? -1 : rename(a, b); }
static int t_unlink(const char *path) { return fails(K_SYSTEM) ? -1 : unlink(path); }
static int t_mkdir(const char *path, mode_t mode) { return fails(K_SYSTEM) ? -1 : mkdir(path, mode); }
static int t_rmdir(const char *path) { return fails(K_SYSTEM) ? -1 : rmdir(path); }
static int t_ftruncate(int fd, off_t n) { return fails(K_SYSTEM) ? -1 : ftruncate(fd, n); }

static DIR *t_opendir(const char *path)
{
	DIR *d = fails(K_SYSTEM) ? NULL : opendir(path);

	take(d != NULL);
	return d;
}

static struct dirent *t_readdir(DIR *d) { return fails(K_SYSTEM) ? NULL : readdir(d); }

static int t_closedir(DIR *d)
{
	give();
	return closedir(d);
}

static void *t_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	void *p = fails(K_SYSTEM) ? MAP_FAILED : mmap(at, n, prot, flags, fd, off);

	take(p != MAP_FAILED);
	return p;
}

static int t_munmap(void *p, size_t n)
{
	give();
	return munmap(p, n);
}

static const struct sys_table torture_table = {
	.alloc = t_alloc, .resize = t_resize, .release = t_release, .open = t_open, .close = t_close,
	.read = t_read, .write = t_write, .fsync = t_fsync, .fstat = t_fstat, .stat = t_stat,
	.lstat = t_lstat, .opendir = t_opendir, .readdir = t_readdir, .closedir = t_closedir,
	.rename = t_rename, .unlink = t_unlink, .mkdir = t_mkdir, .rmdir = t_rmdir,
	.ftruncate = t_ftruncate, .mmap = t_mmap, .munmap = t_munmap,
};

const char *torture_dir(void) { return t.dir; }

void torture_wrong(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: wrong: %s", file, line, what);
	if (t.mode)
		fprintf(stderr, " (%s number %ld: %s)", kind_name[t.mode->kind], t.fail_at, t.mode->name);
	fputc('\n', stderr);
	abort();
}

/* One run of the work; counts of its calls are in t.calls afterwards. */
static int run(const struct torture_case *c, const struct mode *mode, long k)
{
	struct err e = ERR_INIT;
	long before = atomic_load(&t.live);
	int rc;

	t.mode = mode;
	t.fail_at = k;
	for (int i = 0; i < KINDS; i++)
		atomic_store(&t.calls[i], 0);
	atomic_store(&t.failed, 0);
	rc = c->work(&e);
	if (atomic_load(&t.live) != before)
		TORTURE_WRONG("something was not given back");
	if (rc && (!mode || mode->trickle))
		torture_wrong(c->name, 0, e.text);
	if (rc && !c->tolerant && (e.code == ERR_NONE || !e.text[0]))
		TORTURE_WRONG("it failed without saying why");
	if (!rc && e.code != ERR_NONE)
		TORTURE_WRONG("it succeeded and left an error");
	if (rc && !c->tolerant && mode && mode->kind == K_ALLOC && e.code != ERR_NOMEM)
		torture_wrong(c->name, 0, e.text);
	t.mode = NULL;
	return rc;
}

struct sum {
	long runs, told, reached[KINDS];
};

static void torture_case(const struct torture_case *c, struct sum *all)
{
	struct sum s = { 0 };

	run(c, NULL, 0);
	for (int i = 0; i < KINDS; i++)
		s.reached[i] = atomic_load(&t.calls[i]);
	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
		/* A failure may open a longer way, so the count is not known before. */
		long step = c->most ? s.reached[modes[m].kind] / c->most + 1 : 1;

		for (long k = 1;; k += step) {
			int rc = run(c, &modes[m], k);
			long failed = atomic_load(&t.failed);

			s.runs++;
			s.told += rc != 0;
			if (run(c, NULL, 0))
				TORTURE_WRONG("it does not recover");
			if (failed == 0)
				break;
		}
	}
	printf("ok     %-18s %4ld allocations, %3ld system calls: %5ld runs, %5ld told their failure\n", c->name,
	       s.reached[K_ALLOC], s.reached[K_SYSTEM], s.runs, s.told);
	all->runs += s.runs;
	all->told += s.told;
	for (int i = 0; i < KINDS; i++)
		all->reached[i] += s.reached[i];
}

int torture_main(const struct torture_case *cases, size_t n)
{
	struct sum all = { 0 };

	snprintf(t.dir, sizeof t.dir, "/tmp/torture.XXXXXX");
	if (!mkdtemp(t.dir)) {
		perror("torture: cannot make a folder");
		return 2;
	}
	sys = torture_table;
	for (size_t i = 0; i < n; i++)
		torture_case(&cases[i], &all);
	sys = *sys_real();
	file_remove_tree(t.dir, NULL);
	printf("torture: %zu pieces of work, %ld allocations and %ld system calls failed one by one, %ld runs: "
	       "%ld told their failure, none crashed, leaked or broke\n",
	       n, all.reached[K_ALLOC], all.reached[K_SYSTEM], all.runs, all.told);
	return 0;
}
