/* Prepared tasks on disk: see task_cache.h.
 *
 * This file holds the code of two processes: the keeper, which has the files, and the worker's
 * side, which only sends messages and descriptors. Invariant: the keeper accepts only keys of
 * hexadecimal digits, so no request names a path. */
#include "verify/pool/task_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/mem.h"

/* One file may take 1/PART_MOST of the limit. The sizes of all files are added up after every
 * WRITES_BETWEEN writes. */
enum { PART_MOST = 8, WRITES_BETWEEN = 32 };

/* A message in both directions. With n == 0 it asks for the bytes of a key; the answer has the same
 * form, with the file's descriptor if it exists. With n > 0 it brings n bytes to keep, as a memory
 * descriptor. */
struct request {
	char key[PREPARED_KEY];
	uint64_t n;
};

/* --- messages with a descriptor ----------------------------------------------------------- */

/* Sends a message with a descriptor; -1: without one. */
static int send_with(int to, const struct request *r, int fd)
{
	struct iovec io = { .iov_base = (void *)r, .iov_len = sizeof *r };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))] = { 0 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fd >= 0) {
		m.msg_control = space;
		m.msg_controllen = sizeof space;
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
						       .cmsg_len = CMSG_LEN(sizeof (int)) };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof fd);
	}
	return sendmsg(to, &m, MSG_NOSIGNAL) == sizeof *r ? 0 : -1;
}

/* Receives a message. *fd is -1 if no descriptor came with it. */
static int recv_with(int from, struct request *r, int *fd)
{
	struct iovec io = { .iov_base = r, .iov_len = sizeof *r };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))];
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c;
	ssize_t k;

	*fd = -1;
	while ((k = recvmsg(from, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	if (k != sizeof *r)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof (int)))
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return 0;
}

/* --- the process that has the files ------------------------------------------------------- */

/* The keeper's state. */
struct keeper {
	struct buf folder;
	size_t most;                   /* limit in bytes for all files */
	int writes;                    /* since the start */
};

/* Tells whether a key has the right length and only hexadecimal digits. */
static int is_key(const char *key)
{
	return strspn(key, "0123456789abcdef") == PREPARED_KEY - 1 && !key[PREPARED_KEY - 1];
}

/* Finds the cache's folder and creates it if it is missing. */
static int find_folder(struct buf *out)
{
	struct err ignored = ERR_INIT;

	if (cache_folder(out))
		return -1;
	buf_adds(out, "/tasks");
	return buf_check(out, &ignored) || file_mkdirs(buf_cstr(out), &ignored) ? -1 : 0;
}

/* A file of the cache with its size and the time of its last use. */
struct found {
	char *name;
	size_t bytes;
	struct timespec used;
};

/* Orders files by the time of their last use, the oldest first. */
static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct found *)a)->used, *y = &((const struct found *)b)->used;

	return x->tv_sec != y->tv_sec ? (x->tv_sec < y->tv_sec ? -1 : 1) : x->tv_nsec < y->tv_nsec ? -1 :
		x->tv_nsec > y->tv_nsec;
}

/* Deletes the least recently used files until a quarter of the limit is free. */
static void make_room(const struct keeper *k)
{
	struct file_list l;
	struct err ignored = ERR_INIT;
	struct found *f;
	struct buf path = BUF_INIT;
	size_t sum = 0, n = 0;

	if (file_list_open(&l, buf_cstr(&k->folder), &ignored))
		return;
	f = mem_array(l.n + 1, sizeof *f);
	for (size_t i = 0; f && i < l.n; i++) {
		struct stat st;

		if (stat(path_join(&path, buf_cstr(&k->folder), l.v[i]), &st))
			continue;
		f[n++] = (struct found){ .name = l.v[i], .bytes = (size_t)st.st_size, .used = st.st_mtim };
		sum += (size_t)st.st_size;
	}
	if (n && sum > k->most)
		qsort(f, n, sizeof *f, by_use);
	for (size_t i = 0, limit = sum > k->most ? k->most / 4 * 3 : sum; i < n && sum > limit; sum -= f[i++].bytes)
		unlink(path_join(&path, buf_cstr(&k->folder), f[i].name));
	buf_release(&path);
	mem_free(f);
	file_list_close(&l);
}

/* Sends the file of a key. Its modification time becomes now, which marks it as used. */
static void hand_out(const struct keeper *k, int to, struct request *r)
{
	struct buf path = BUF_INIT;
	struct stat st;
	int fd = r->key[0] ? open(path_join(&path, buf_cstr(&k->folder), r->key), O_RDONLY | O_CLOEXEC) : -1;

	buf_release(&path);
	if (fd >= 0 && (fstat(fd, &st) || (size_t)st.st_size > k->most / PART_MOST)) {
		close(fd);
		fd = -1;
	}
	r->n = fd >= 0 ? (uint64_t)st.st_size : 0;
	if (fd >= 0)
		futimens(fd, NULL);
	if (send_with(to, r, fd))
		_exit(0);
	if (fd >= 0)
		close(fd);
}

/* Writes the bytes of `from` under a temporary name, then renames the file to its key. */
static void keep(struct keeper *k, const struct request *r, int from)
{
	struct buf path = BUF_INIT, tmp = BUF_INIT;
	struct err ignored = ERR_INIT;
	const char *p = r->n <= k->most / PART_MOST ? mmap(NULL, r->n, PROT_READ, MAP_SHARED, from, 0) : MAP_FAILED;
	int fd = -1, rc = -1;

	path_join(&path, buf_cstr(&k->folder), r->key);
	buf_addf(&tmp, "%s.%d", buf_cstr(&path), (int)getpid());
	if (p != MAP_FAILED && (fd = open(buf_cstr(&tmp), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) >= 0)
		rc = file_write_all(fd, p, r->n, &ignored);
	if (fd >= 0)
		rc |= close(fd);
	if (fd >= 0 && (rc || rename(buf_cstr(&tmp), buf_cstr(&path))))
		unlink(buf_cstr(&tmp));
	if (p != MAP_FAILED)
		munmap((void *)p, r->n);
	if (k->writes++ % WRITES_BETWEEN == 0)
		make_room(k);
	buf_release(&path);
	buf_release(&tmp);
}

/* The keeper's loop. It ends when the worker's end of the socket is closed. */
static _Noreturn void keeper_main(int fd, size_t most)
{
	struct keeper k = { .most = most };
	struct request r;
	int ready = !find_folder(&k.folder), came;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while (!recv_with(fd, &r, &came)) {
		struct stat st;

		if (!is_key(r.key) || !ready)
			r.key[0] = 0;
		if (!r.n)
			hand_out(&k, fd, &r);
		else if (came >= 0 && r.key[0] && !fstat(came, &st) && (uint64_t)st.st_size == r.n)
			keep(&k, &r, came);
		if (came >= 0)
			close(came);
	}
	_exit(0);
}

/* --- the worker's side -------------------------------------------------------------------- */

/* Asks the keeper for a prepared task. Returns 0 and the bytes, or 1 if the keeper does not have
 * it. */
static int task_cache_get(void *ctx, const char *key, char **bytes, size_t *n)
{
	struct task_cache *s = ctx;
	struct request r = { .n = 0 };
	struct err ignored = ERR_INIT;
	int fd = -1, rc;

	memcpy(r.key, key, sizeof r.key);
	rc = send_with(s->fd, &r, -1) || recv_with(s->fd, &r, &fd) || fd < 0;
	*n = rc ? 0 : r.n;
	*bytes = rc ? NULL : mem_alloc_aligned(*n, PREPARED_ALIGN);
	rc = !*bytes || file_read_all(fd, *bytes, *n, &ignored);
	if (rc && *bytes)
		mem_free_aligned(*bytes);
	if (fd >= 0)
		close(fd);
	return rc ? 1 : 0;
}

/* Sends a prepared task to the keeper. Does not wait for it to be written. */
static void task_cache_put(void *ctx, const char *key, struct str bytes)
{
	struct task_cache *s = ctx;
	struct request r = { .n = bytes.n };
	struct err ignored = ERR_INIT;
	int fd = (int)syscall(SYS_memfd_create, "prepared", MFD_CLOEXEC);

	memcpy(r.key, key, sizeof r.key);
	if (fd < 0)
		return;
	if (!file_write_all(fd, bytes.p, bytes.n, &ignored))
		send_with(s->fd, &r, fd);
	close(fd);
}

/* Forks the keeper. It closes every descriptor but its socket, which becomes number 3. */
int task_cache_open(struct task_cache *s, size_t most, struct err *e)
{
	int pair[2];
	pid_t pid;

	*s = (struct task_cache){ .fd = -1 };
	if (!most)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "socketpair");
	pid = fork();
	if (pid < 0)
		return err_errno(e, "fork");
	if (pid == 0) {
		dup2(pair[1], 3);
		syscall(SYS_close_range, 4, ~0u, 0);
		keeper_main(3, most);
	}
	close(pair[1]);
	s->fd = pair[0];
	s->store = (struct prepared_store){ .get = task_cache_get, .put = task_cache_put, .ctx = s };
	return 0;
}
