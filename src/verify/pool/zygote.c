/* Runners in processes of their own: see zygote.h.
 *
 * This file holds code for three processes. The deciding process owns the images and starts, asks
 * and ends runners. The zygote forks runners. A runner interprets one candidate
 * (candidate/runner.c). Invariant: a runner inherits no descriptor of the deciding process except
 * its own socket and the shared memory. */
#include "verify/pool/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "verify/candidate/task_image.h"
#include "verify/pool/pages.h"
#include "verify/candidate/runner.h"
#include "verify/pool/sandbox.h"

/* Bytes of shared memory that stay allocated between candidates. */
enum { SHMEM_KEPT = 16 << 20 };
/* How often the deciding process checks the runner that it waits for. The checks use CPU time, so
 * that a deciding process without CPU time must hang itself: see pool.c. */
enum { LOOK_MS = 250 };

/* A request from the deciding process to the zygote; the descriptor of an image comes with it. The
 * answer is the runner's pid, or a negative errno. */
struct request {
	uint64_t image_bytes;
	double seconds;                /* CPU limit of the runner */
	/* sequence number of the first question to this runner; lower ones were meant for its
	 * predecessor */
	uint64_t sequence;
};

/* The zygote's first message. The deciding process waits for it, so that no candidate is judged
 * with a sandbox that could not be set up. */
struct ready {
	int32_t rc;
	struct err err;
};

/* --- the runner --------------------------------------------------------------------------- */

/* Exit status of a runner that failed for our reasons, not for the candidate's. */
enum { EXIT_OURS = 4 };

/* The runner: maps the image, then answers questions until it is killed. A question with a lower
 * sequence number is left over from an earlier runner on the same socket, and is skipped. */
static _Noreturn void runner_main(struct judge *j, struct shmem *a, int run_fd, int image_fd, const struct request *r)
{
	void *image = mmap(NULL, r->image_bytes, PROT_READ, MAP_PRIVATE, image_fd, 0);
	struct err e = ERR_INIT;
	struct task_image *t = mem_zalloc(sizeof *t);
	struct runner *runner;
	uint64_t sequence;

	close(image_fd);
	pages_fetch();
	runner = NULL;
	if (t && image != MAP_FAILED && !task_image_open(t, (struct str){ .p = image, .n = r->image_bytes }, &e))
		runner = runner_new(j, t, a, &e);
	if (!runner)
		_exit(EXIT_OURS);
	while (recv(run_fd, &sequence, sizeof sequence, 0) == sizeof sequence) {
		if (sequence < r->sequence)
			continue;
		runner_serve(runner);
		if (send(run_fd, &sequence, sizeof sequence, MSG_NOSIGNAL) != sizeof sequence)
			break;
	}
	_exit(0);
}

/* --- the zygote --------------------------------------------------------------------------- */

/* Receives a request and the image's descriptor. */
static int take_request(int fd, struct request *r, int *image_fd)
{
	struct iovec io = { .iov_base = r, .iov_len = sizeof *r };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))];
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c;

	if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) != sizeof *r)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof (int)))
		return -1;
	memcpy(image_fd, CMSG_DATA(c), sizeof *image_fd);
	return 0;
}

/* Makes this process die with the deciding process, also if that has died already. */
static void die_with(pid_t decider)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != decider)
		_exit(EXIT_OURS);
}

/* The zygote's loop. CLONE_PARENT makes a runner the child of the deciding process, so that only
 * the deciding process can wait for it and kill it. */
static _Noreturn void zygote_main(const struct zygote *z, int fd, int run_fd, pid_t decider)
{
	struct request r;
	int image_fd;

	while (!take_request(fd, &r, &image_fd)) {
		int32_t pid = (int32_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

		if (pid == 0) {
			close(fd);
			die_with(decider);
			if (sandbox_limit_runner(r.seconds))
				_exit(EXIT_OURS);
			runner_main(z->judge, z->link.shmem, run_fd, image_fd, &r);
		}
		close(image_fd);
		pid = pid < 0 ? -errno : pid;
		if (send(fd, &pid, sizeof pid, MSG_NOSIGNAL) != sizeof pid)
			break;
	}
	_exit(0);
}

/* --- deciding process: images ------------------------------------------------------------- */

/* Writes the image of a task into sealed memory: no runner can change what the next one maps.
 * Returns the descriptor or -1. */
static int image_make(const struct task_image *t, uint64_t *bytes, struct err *e)
{
	struct buf b = BUF_INIT;
	int fd = -1, rc = task_image_write(t, &b, e);

	if (!rc && (fd = (int)syscall(SYS_memfd_create, "task", MFD_CLOEXEC | MFD_ALLOW_SEALING)) < 0)
		rc = err_errno(e, "cannot make memory for the image of a task");
	if (!rc)
		rc = file_write_all(fd, b.p, b.n, e);
	if (!rc && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		rc = err_errno(e, "cannot seal the image of a task");
	*bytes = b.n;
	buf_release(&b);
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Returns the index of the task's image in z->image, which is made if it is missing. Returns -1 on
 * our own failure (*e). */
static int image_of(struct zygote *z, const struct task_image *t, struct err *e)
{
	int oldest = 0;

	for (int i = 0; i < ZYGOTE_IMAGES; i++) {
		if (z->image[i].fd >= 0 && z->image[i].task == t->id) {
			z->image[i].used = ++z->clock;
			return i;
		}
		if (z->image[i].used < z->image[oldest].used)
			oldest = i;
	}
	if (z->image[oldest].fd >= 0)
		close(z->image[oldest].fd);
	z->image[oldest].fd = image_make(t, &z->image[oldest].bytes, e);
	z->image[oldest].task = t->id;
	z->image[oldest].used = z->image[oldest].fd >= 0 ? ++z->clock : 0;
	return z->image[oldest].fd >= 0 ? oldest : -1;
}

/* --- deciding process: runners ------------------------------------------------------------ */

/* Sends a request together with the image's descriptor. */
static int send_request(int to, const struct request *r, int image_fd)
{
	struct iovec io = { .iov_base = (void *)r, .iov_len = sizeof *r };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))] = { 0 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof (int));
	memcpy(CMSG_DATA(c), &image_fd, sizeof (int));
	return sendmsg(to, &m, MSG_NOSIGNAL) == sizeof *r ? 0 : -1;
}

/* Starts a runner for a task. Does not wait for it. */
static int zygote_start(struct runner_link *l, const struct task_image *t, struct err *e)
{
	struct zygote *z = (struct zygote *)l;
	int i = image_of(z, t, e);
	struct request r = { .seconds = z->seconds, .sequence = z->sequence };

	if (i < 0)
		return -1;
	r.image_bytes = z->image[i].bytes;
	if (send_request(z->fd, &r, z->image[i].fd))
		return err_errno(e, "the process that forks runners has ended");
	z->starting = 1;
	return 0;
}

/* Reads the pid of the runner that was started. It is read as late as possible: the runner works
 * meanwhile. */
static int meet_runner(struct zygote *z, struct err *e)
{
	int32_t pid;

	if (!z->starting)
		return 0;
	z->starting = 0;
	if (recv(z->fd, &pid, sizeof pid, 0) != sizeof pid)
		return err_errno(e, "the process that forks runners has ended");
	if (pid < 0) {
		errno = -pid;
		return err_errno(e, "cannot start a runner");
	}
	z->pid = pid;
	z->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return z->pidfd >= 0 ? 0 : err_errno(e, "cannot watch a runner");
}

/* Closes the runner's pidfd. Call it when the runner was waited for. */
static void forget_runner(struct zygote *z)
{
	if (z->pidfd >= 0)
		close(z->pidfd);
	z->pidfd = -1;
	z->pid = 0;
}

/* Finds out how a runner ended that was not killed by us. Returns 1 and *how, or -1 if the failure
 * was ours. */
static int reap(struct zygote *z, enum lost *how, struct err *e)
{
	int status = 0;

	if (wait4(z->pid, &status, 0, NULL) != z->pid)
		return err_errno(e, "cannot wait for a runner");
	forget_runner(z);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OURS)
		return err_set(e, ERR_STATE, "the process that runs a candidate could not be set up");
	*how = !WIFSIGNALED(status) ? LOST_CRASHED : WTERMSIG(status) == SIGXCPU ? LOST_LATE :
		WTERMSIG(status) == SIGKILL ? LOST_KILLED : LOST_CRASHED;
	return 1;
}

/* CPU time of the runner in nanoseconds; -1 if unknown. */
static int64_t runner_cpu_ns(const struct zygote *z)
{
	clockid_t id;
	struct timespec t;

	if (clock_getcpuclockid(z->pid, &id) || clock_gettime(id, &t))
		return -1;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits until the runner answers or ends. The kernel ends a runner that has used its CPU time. A
 * runner that uses no CPU time will never finish: it is given as many wall-clock seconds as it
 * might compute. A busy machine makes a runner slow, but not idle.
 *
 * Returns 0 if a descriptor is readable, 1 if the runner hangs, -1 on our own failure (*e). */
static int watch_runner(const struct zygote *z, struct pollfd fds[2], struct err *e)
{
	int64_t used = -1, moved_ns = clock_ns();

	for (;;) {
		int n = poll(fds, 2, LOOK_MS);
		int64_t now = clock_ns(), cpu;

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_errno(e, "poll");
		cpu = runner_cpu_ns(z);
		if (cpu != used)
			moved_ns = now;
		used = cpu;
		if ((double)(now - moved_ns) > (z->seconds + 1.0) * 1e9)
			return 1;
	}
}

/* Sends a question to the runner and waits for the answer. Returns 0 with an answer in shared
 * memory, 1 if the runner was lost (*how), -1 on our own failure. */
static int zygote_ask(struct runner_link *l, enum lost *how, struct err *e)
{
	struct zygote *z = (struct zygote *)l;
	struct pollfd fds[2] = { { .fd = z->run_fd, .events = POLLIN }, { .events = POLLIN } };
	uint64_t sequence = z->sequence++;
	int still;

	if (send(z->run_fd, &sequence, sizeof sequence, MSG_NOSIGNAL) != sizeof sequence)
		return err_errno(e, "cannot reach a runner");
	if (meet_runner(z, e))
		return -1;
	fds[1].fd = z->pidfd;
	still = watch_runner(z, fds, e);
	if (still < 0)
		return -1;
	if (still) {
		*how = LOST_LATE;
		return 1;
	}
	if (!(fds[0].revents & POLLIN))
		return reap(z, how, e);
	if (recv(z->run_fd, &sequence, sizeof sequence, 0) == sizeof sequence)
		return 0;
	/* A message of another size cannot come from our own code: the candidate has taken over the
	 * runner. */
	*how = LOST_CRASHED;
	return 1;
}

void zygote_drain(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char rest[64];

	/* recv returns 0 for an empty message and for a closed socket; poll tells them apart. */
	while (poll(&p, 1, 0) > 0 && p.revents == POLLIN && recv(fd, rest, sizeof rest, MSG_DONTWAIT) >= 0)
		;
}

/* Removes what a runner left: messages in the socket, and results in shared memory if they take
 * much. The candidate's text stays, because the next runner may judge the same candidate. */
static void clear_traces(struct zygote *z)
{
	struct stat st;

	zygote_drain(z->run_fd);
	if (!fstat(z->shmem_fd, &st) && st.st_blocks > SHMEM_KEPT / 512)
		fallocate(z->shmem_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, SHMEM_DATA,
			  SHMEM_BYTES - SHMEM_DATA);
}

/* Kills the runner, also in the middle of a run. */
static void zygote_end(struct runner_link *l)
{
	struct zygote *z = (struct zygote *)l;
	struct err ignored = ERR_INIT;

	if (z->starting && meet_runner(z, &ignored) && !z->pid)
		return;
	if (z->pid) {
		kill(z->pid, SIGKILL);
		wait4(z->pid, NULL, 0, NULL);
		forget_runner(z);
	}
	clear_traces(z);
}

/* --- deciding process: setup -------------------------------------------------------------- */

/* Makes the memory that deciding process and runners share. Seals keep a runner from changing its
 * size. */
static int make_shmem(struct zygote *z, struct err *e)
{
	void *p;

	z->shmem_fd = (int)syscall(SYS_memfd_create, "shmem", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (z->shmem_fd < 0 || ftruncate(z->shmem_fd, SHMEM_BYTES) ||
	    fcntl(z->shmem_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return err_errno(e, "cannot make memory for results");
	p = mmap(NULL, SHMEM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, z->shmem_fd, 0);
	if (p == MAP_FAILED)
		return err_errno(e, "cannot map memory for results");
	z->link.shmem = p;
	return 0;
}

/* The beginning of the zygote after the fork: confines itself, then arranges its memory so that
 * forks are cheap (pages.h). */
static _Noreturn void zygote_begin(const struct zygote *z, int fd, int run_fd, int sandbox, pid_t decider)
{
	struct ready ready = { .rc = 0 };

	die_with(decider);
	/* A runner that could write to the deciding process's socket could answer in its place. */
	file_close_others(fd, run_fd);
	if (sandbox)
		ready.rc = sandbox_confine(SANDBOX_RUNNER, MAX(fd, run_fd) + 1, 1, &ready.err);
	pages_leave_libraries();
	pages_use_up();
	pages_join();
	pages_grow_huge();
	if (send(fd, &ready, sizeof ready, MSG_NOSIGNAL) != sizeof ready || ready.rc)
		_exit(EXIT_OURS);
	zygote_main(z, fd, run_fd, decider);
}

/* The sockets keep message boundaries (SOCK_SEQPACKET): a runner cannot merge its answer with
 * another message. The limit of descriptors leaves room for all images and a few more. */
int zygote_open(struct zygote *z, struct judge *j, double seconds, int sandbox, int *files, struct err *e)
{
	int zygote[2], run[2];
	pid_t pid, self = getpid();
	struct ready ready;

	*z = (struct zygote){ .link = { .start = zygote_start, .ask = zygote_ask, .end = zygote_end },
			      .judge = j, .seconds = seconds, .sequence = 1, .pidfd = -1 };
	for (int i = 0; i < ZYGOTE_IMAGES; i++)
		z->image[i].fd = -1;
	if (make_shmem(z, e))
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, zygote) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, run))
		return err_errno(e, "socketpair");
	z->fd = zygote[0];
	z->run_fd = run[0];
	pid = fork();
	if (pid < 0)
		return err_errno(e, "fork");
	if (pid == 0)
		zygote_begin(z, zygote[1], run[1], sandbox, self);
	close(zygote[1]);
	close(run[1]);
	if (recv(z->fd, &ready, sizeof ready, 0) != sizeof ready)
		return err_set(e, ERR_DENIED, "the process that forks runners did not start");
	if (ready.rc)
		return err_set(e, ready.err.code, "%s", ready.err.text);
	*files = MAX(MAX(z->fd, z->run_fd), z->shmem_fd) + ZYGOTE_IMAGES + 4;
	return 0;
}
