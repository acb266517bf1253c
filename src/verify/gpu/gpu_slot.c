/* Slots: see gpu_slot.h. This file owns the life of runners, seen from outside: start, questions
 * with a time limit, replacement. */
#include "verify/gpu/gpu_slot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "verify/gpu/slot_frame.h"

/* Seconds for the start of a runner with PyTorch. */
static const double torch_start_seconds = 120.0;

__asm__(".pushsection .rodata\n"
	".globl gpu_torch_runner\n"
	"gpu_torch_runner:\n"
	".incbin \"python/tritonrl/torch_runner.py\"\n"
	".byte 0\n"
	".popsection\n");
extern const char gpu_torch_runner[];

/* --- descriptors over a socket -------------------------------------------------------------- */

/* Sends a number with a descriptor. */
static int send_fd(int to, int32_t number, int fd, size_t bytes)
{
	struct iovec io = { .iov_base = &number, .iov_len = bytes };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))] = { 0 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof (int));
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -1;
}

/* Receives the pid of a runner and the socket to it. */
static int take_runner(struct gpu_slot *s)
{
	int32_t pid = 0;
	struct iovec io = { .iov_base = &pid, .iov_len = sizeof pid };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))];
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c;

	if (recvmsg(s->spawner, &m, MSG_CMSG_CLOEXEC) != sizeof pid || !(c = CMSG_FIRSTHDR(&m)) ||
	    c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&s->fd, CMSG_DATA(c), sizeof s->fd);
	s->pid = pid;
	return 0;
}

/* --- the spawner ---------------------------------------------------------------------------- */

/* Starts this program again as a runner, with its two descriptors and nothing else open. They are
 * moved to high numbers first, so that neither overwrites the other. */
static _Noreturn void become_runner(const struct gpu_slot *s, int fd)
{
	char number[16];
	int link = fcntl(fd, F_DUPFD, 16), memory = fcntl(s->memory_fd, F_DUPFD, 16);

	snprintf(number, sizeof number, "%d", s->ordinal);
	if (link < 0 || memory < 0 || dup2(link, SLOT_LINK_FD) < 0 || dup2(memory, SLOT_MEMORY_FD) < 0)
		_exit(2);
	syscall(SYS_close_range, SLOT_MEMORY_FD + 1, ~0u, 0);
	if (s->python) {
		int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
			_exit(2);
		execlp(s->python, s->python, "-I", "-c", gpu_torch_runner, s->torch_device, (char *)NULL);
		_exit(127);
	}
	execl("/proc/self/exe", "tritonrl", GPU_SLOT_RUNNER, s->driver ? s->driver : "", number, (char *)NULL);
	_exit(2);
}

static void spawn_runner(const struct gpu_slot *s, int link)
{
	int pair[2];
	pid_t pid, self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		_exit(2);
	pid = fork();
	if (pid < 0)
		_exit(2);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(2);
		become_runner(s, pair[1]);
	}
	close(pair[1]);
	if (send_fd(link, pid, pair[0], sizeof (int32_t)))
		_exit(2);
	close(pair[0]);
}

/* A number asks for a runner (0), or names one that is to be killed and waited for. */
static _Noreturn void spawner(const struct gpu_slot *s, int link)
{
	int32_t asked;

	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	while (read(link, &asked, sizeof asked) == sizeof asked) {
		if (!asked) {
			spawn_runner(s, link);
			continue;
		}
		kill(asked, SIGKILL);
		waitpid(asked, NULL, 0);
		if (write(link, &asked, sizeof asked) != sizeof asked)
			break;
	}
	_exit(0);
}

static int start_spawner(struct gpu_slot *s, struct err *e)
{
	int pair[2];
	pid_t self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "socketpair");
	s->spawner_pid = fork();
	if (s->spawner_pid < 0)
		return err_errno(e, "fork");
	if (!s->spawner_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(2);
		/* Of another slot's socket it must hold no copy: the other spawner would never see the end. */
		file_close_others(pair[1], s->memory_fd);
		spawner(s, pair[1]);
	}
	close(pair[1]);
	s->spawner = pair[0];
	return 0;
}

static int open_slot(struct gpu_slot *s, struct err *e)
{
	s->spawner = s->fd = -1;
	s->memory_n = SLOT_MEMORY;
	s->memory_fd = memfd_create("tritonrl-results", MFD_CLOEXEC);
	if (s->memory_fd < 0 || ftruncate(s->memory_fd, (off_t)SLOT_MEMORY))
		return err_errno(e, "cannot make memory for results");
	s->memory = mmap(NULL, SLOT_MEMORY, PROT_READ, MAP_SHARED | MAP_NORESERVE, s->memory_fd, 0);
	if (s->memory == MAP_FAILED) {
		s->memory = NULL;
		return err_errno(e, "cannot map memory for results");
	}
	return start_spawner(s, e);
}

int gpu_slot_open(struct gpu_slot *s, const char *driver, int ordinal, double seconds, struct err *e)
{
	*s = (struct gpu_slot){ .driver = driver, .ordinal = ordinal, .seconds = seconds };
	return open_slot(s, e);
}

int gpu_slot_open_torch(struct gpu_slot *s, const char *python, const char *device, double seconds, struct err *e)
{
	*s = (struct gpu_slot){ .python = python ? python : "python3", .torch_device = device, .seconds = seconds };
	return open_slot(s, e);
}

/* Kills the runner. The spawner waits for its end, so that the GPU is free afterwards. */
static void end_runner(struct gpu_slot *s)
{
	int32_t pid = s->pid;

	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	if (send(s->spawner, &pid, sizeof pid, MSG_NOSIGNAL) == sizeof pid)
		(void)!recv(s->spawner, &pid, sizeof pid, MSG_WAITALL);
}

void gpu_slot_close(struct gpu_slot *s)
{
	end_runner(s);
	if (s->spawner >= 0) {
		close(s->spawner);
		waitpid(s->spawner_pid, NULL, 0);
	}
	if (s->memory)
		munmap(s->memory, s->memory_n);
	if (s->memory_fd > 0)
		close(s->memory_fd);
	s->spawner = -1;
	s->memory = NULL;
	s->memory_fd = 0;
}

/* --- questions ------------------------------------------------------------------------------ */

/* Starts a runner if none is running. */
static int need_runner(struct gpu_slot *s)
{
	int32_t none = 0;

	if (s->fd >= 0)
		return 0;
	s->fresh = 1;
	return send(s->spawner, &none, sizeof none, MSG_NOSIGNAL) == sizeof none ? take_runner(s) : -1;
}

/* Reads the answer within the time limit. */
static enum slot_end read_answer(struct gpu_slot *s, struct slot_answer *a)
{
	double seconds = s->seconds + (s->fresh && s->python ? torch_start_seconds : 0.0);
	int64_t deadline = clock_ns() + (int64_t)(seconds * 1e9);

	s->fresh = 0;
	for (size_t got = 0; got < sizeof *a;) {
		struct pollfd w = { .fd = s->fd, .events = POLLIN };
		int64_t left = (deadline - clock_ns()) / 1000000;
		ssize_t k;

		if (left <= 0 || poll(&w, 1, (int)left) == 0)
			return SLOT_HANG;
		k = recv(s->fd, (char *)a + got, sizeof *a - got, 0);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return SLOT_DIED;
		got += (size_t)k;
	}
	return a->magic == SLOT_ANSWER && a->end >= SLOT_OK && a->end <= SLOT_BROKE && a->n >= 0 &&
	       a->n <= SLOT_SAMPLES && a->n_differing >= 0 && a->n_differing <= a->n ? (enum slot_end)a->end :
		SLOT_DIED;
}

/* Ends a question. A runner that hangs, died, failed or met a sticky error is replaced with the next
 * question. A runner that died at its first question ran no kernel: that is our failure. A failure within
 * PyTorch is an exception there, after which its runner continues; a new one would take seconds to start. */
static enum slot_end finish(struct gpu_slot *s, struct slot_answer *a)
{
	int first = s->fresh;
	enum slot_end end = s->fd < 0 ? SLOT_DIED : read_answer(s, a);

	if (end == SLOT_HANG || end == SLOT_DIED) {
		*a = (struct slot_answer){ .end = (int)end };
		if (end == SLOT_DIED && first)
			end = SLOT_BROKE;
		a->end = (int)end;
		snprintf(a->text, sizeof a->text, end == SLOT_HANG ? "the kernels did not end within %g seconds" :
			 end == SLOT_BROKE ? "the process that runs kernels ended when it started" :
			 "the process that ran the kernels died", s->seconds);
		end_runner(s);
		s->replaced++;
	} else if ((end == SLOT_BROKE && !s->python) || (end == SLOT_FAULT && cuda_driver_is_sticky(a->code))) {
		end_runner(s);
		s->replaced++;
	}
	return end;
}

static enum slot_end ask(struct gpu_slot *s, struct slot_order o, struct slot_answer *a)
{
	o.magic = SLOT_ORDER;
	if (need_runner(s) || file_write_all(s->fd, &o, sizeof o, NULL))
		end_runner(s);
	return finish(s, a);
}

enum slot_end gpu_slot_info(struct gpu_slot *s, struct slot_answer *a)
{
	return ask(s, (struct slot_order){ .what = SLOT_INFO }, a);
}

enum slot_end gpu_slot_run(struct gpu_slot *s, int place, struct slot_answer *a)
{
	return ask(s, (struct slot_order){ .what = SLOT_RUN, .place = place }, a);
}

enum slot_end gpu_slot_time(struct gpu_slot *s, int first, int trials, struct slot_answer *a)
{
	return ask(s, (struct slot_order){ .what = SLOT_TIME, .place = first, .trials = trials }, a);
}

/* The counters come through the memory for results: the answer of a runner with PyTorch has no room for them. */
enum slot_end gpu_slot_count(struct gpu_slot *s, const char *cupti, struct verdict_counters *out, struct slot_answer *a)
{
	struct str path = str_of(cupti ? cupti : "");
	struct slot_order o = { .magic = SLOT_ORDER, .what = SLOT_COUNT, .text_n = (uint32_t)path.n };
	enum slot_end end;

	if (need_runner(s) || file_write_all(s->fd, &o, sizeof o, NULL) || file_write_all(s->fd, path.p, path.n, NULL))
		end_runner(s);
	end = finish(s, a);
	*out = (struct verdict_counters){ .read = 0 };
	if (end != SLOT_OK)
		return end;
	memcpy(out, s->memory, sizeof *out);
	out->why[sizeof out->why - 1] = out->stranger[sizeof out->stranger - 1] = 0;
	return end;
}

enum slot_end gpu_slot_drop(struct gpu_slot *s, struct slot_answer *a)
{
	if (s->fd < 0)
		return SLOT_OK;
	return ask(s, (struct slot_order){ .what = SLOT_DROP }, a);
}

/* Sends plan, descriptor and machine code. */
static int send_load(struct gpu_slot *s, struct str plan, const struct compiled_kernel *const *kernels, int n,
		     int data_fd, int sets)
{
	struct slot_order o = { .magic = SLOT_ORDER, .what = SLOT_LOAD, .text_n = (uint32_t)plan.n, .n_kernels = n,
				.sets = sets };

	if (file_write_all(s->fd, &o, sizeof o, NULL) || file_write_all(s->fd, plan.p, plan.n, NULL) ||
	    send_fd(s->fd, 0, data_fd, 1))
		return -1;
	for (int i = 0; i < n; i++) {
		struct slot_code code = { .meta = kernels[i]->meta, .n = kernels[i]->code.n };

		if (file_write_all(s->fd, &code, sizeof code, NULL) ||
		    file_write_all(s->fd, kernels[i]->code.p, kernels[i]->code.n, NULL))
			return -1;
	}
	return 0;
}

enum slot_end gpu_slot_load(struct gpu_slot *s, struct str plan, const struct compiled_kernel *const *kernels,
			    int n_kernels, int data_fd, int sets, struct slot_answer *a)
{
	if (need_runner(s) || send_load(s, plan, kernels, n_kernels, data_fd, sets))
		end_runner(s);
	return finish(s, a);
}
