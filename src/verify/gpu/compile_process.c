/* Compiling processes: see compile_process.h.
 *
 * The sandbox: no core files, limits of address space and file size, no new privileges, landlock
 * (files can be read everywhere, written only in the process's own folder, so no device of a GPU
 * can be opened), and seccomp against sockets, tracing and signals to others. It fails closed. */
#include "verify/gpu/compile_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

enum { FRAME_REQUEST = 0x54525131, FRAME_ANSWER = 0x54525231, META_MOST = 1 << 16, CODE_MOST = 64 << 20 };
/* The descriptor of the socket in the new process, and seconds for its start: importing Triton and
 * compiling the first kernel. */
enum { LINK_FD = 3, START_SECONDS = 120, FILE_MOST = 256 << 20 };

__asm__(".pushsection .rodata\n"
	".globl gpu_compile_worker\n"
	"gpu_compile_worker:\n"
	".incbin \"python/tritonrl/compile_worker.py\"\n"
	".byte 0\n"
	".popsection\n");
extern const char gpu_compile_worker[];

/* --- the sandbox ---------------------------------------------------------------------------- */

static int limit(int what, rlim_t most)
{
	return setrlimit(what, &(struct rlimit){ .rlim_cur = most, .rlim_max = most });
}

/* Allows a set of rights below a folder. */
static int allow_below(int rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr a = { .allowed_access = rights, .parent_fd = open(path, O_PATH | O_CLOEXEC) };
	int rc = a.parent_fd < 0 ? -1 : (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0);

	if (a.parent_fd >= 0)
		close(a.parent_fd);
	return rc;
}

/* Reading and executing everywhere, writing only in the folder and to /dev/null. Triton renames files
 * from one folder to another, which landlock allows from its second version on. */
static int confine_files(const char *folder)
{
	const uint64_t refer = (uint64_t)1 << 13;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	const uint64_t all = ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) | (abi >= 2 ? refer : 0);
	const uint64_t look = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
	struct landlock_ruleset_attr r = { .handled_access_fs = all };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &r, sizeof r.handled_access_fs, 0);
	int rc = rules < 0 || allow_below(rules, "/", look) || allow_below(rules, folder, all) ||
		 allow_below(rules, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE) ||
		 syscall(SYS_landlock_restrict_self, rules, 0) ? -1 : 0;

	if (rules >= 0)
		close(rules);
	return rc;
}

/* System calls that no compiler needs fail with EPERM. */
static int forbid_calls(void)
{
	static const int calls[] = { SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept4),
				     SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
				     SCMP_SYS(mount), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
				     SCMP_SYS(keyctl), SCMP_SYS(io_uring_setup), SCMP_SYS(unshare), SCMP_SYS(setns) };
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc = ctx ? 0 : -1;

	for (size_t i = 0; i < COUNT_OF(calls) && !rc; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
	rc = rc ? rc : seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 0);
	rc = rc ? rc : seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	return rc;
}

/* Finds a program by the PATH of this process. Python finds its packages by the path that it was
 * started with, and the compiler gets another PATH. */
static const char *find_program(const char *name, char *path, size_t n)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/'))
		return name;
	for (size_t len; at && *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		snprintf(path, n, "%.*s/%s", (int)len, at, name);
		if (!access(path, X_OK))
			return path;
	}
	return name;
}

/* Confines the new process and replaces it by the compiler. Only its exit code tells of a failure:
 * 125 for the sandbox, 127 if the program cannot be started. */
static _Noreturn void become_compiler(const struct kernel_compiler_options *o, const char *folder, int fd)
{
	char number[3][16], home[80], cache[96], temp[80];
	char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *env[] = { path, home, cache, temp, NULL };
	char found[512];
	const char *program = find_program(o->command ? o->command : o->python ? o->python : "python3", found,
					   sizeof found);
	char *plain[] = { (char *)program, number[0], number[1], (char *)folder, number[2], NULL };
	char *python[] = { (char *)program, "-I", "-c", (char *)gpu_compile_worker, number[0], number[1],
			   (char *)folder, number[2], NULL };
	int null = open("/dev/null", O_RDWR);

	snprintf(number[0], 16, "%d", LINK_FD);
	snprintf(number[1], 16, "%d", o->capability);
	snprintf(number[2], 16, "%d", (int)o->seconds + 1);
	snprintf(home, sizeof home, "HOME=%s", folder);
	snprintf(cache, sizeof cache, "TRITON_CACHE_DIR=%s/cache", folder);
	snprintf(temp, sizeof temp, "TMPDIR=%s", folder);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(fd, LINK_FD) < 0)
		_exit(125);
	syscall(SYS_close_range, LINK_FD + 1, ~0u, 0);
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || limit(RLIMIT_CORE, 0) || limit(RLIMIT_AS, o->memory) ||
	    limit(RLIMIT_FSIZE, FILE_MOST))
		_exit(125);
	if (!o->no_sandbox && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || confine_files(folder) || forbid_calls()))
		_exit(125);
	execvpe(program, o->command ? plain : python, env);
	_exit(127);
}

/* --- frames --------------------------------------------------------------------------------- */

/* Reads exactly n bytes before the deadline. */
static int read_until(int fd, void *p, size_t n, int64_t deadline, struct err *e)
{
	for (size_t got = 0; got < n;) {
		struct pollfd w = { .fd = fd, .events = POLLIN };
		int64_t left = (deadline - clock_ns()) / 1000000;
		ssize_t k;

		if (left <= 0 || poll(&w, 1, (int)left) == 0)
			return err_set(e, ERR_RANGE, "compiling the kernel took too long");
		k = recv(fd, (char *)p + got, n - got, 0);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return err_set(e, ERR_IO, "the compiling process ended");
		got += (size_t)k;
	}
	return 0;
}

/* Reads one answer. Lengths are checked before memory is taken for them. */
static int read_answer(int fd, double seconds, struct compile_answer *a, struct err *e)
{
	int64_t deadline = clock_ns() + (int64_t)(seconds * 1e9);
	uint32_t head[4];

	if (read_until(fd, head, sizeof head, deadline, e))
		return -1;
	if (head[0] != FRAME_ANSWER || head[1] > COMPILED_UNAVAILABLE || head[2] > META_MOST || head[3] > CODE_MOST)
		return err_set(e, ERR_FORMAT, "the compiling process gave a malformed answer");
	a->status = (int)head[1];
	buf_pad(&a->meta, 0, head[2]);
	buf_pad(&a->code, 0, head[3]);
	if (buf_check(&a->meta, e) || buf_check(&a->code, e))
		return -1;
	return read_until(fd, a->meta.p, head[2], deadline, e) ||
	       read_until(fd, a->code.p, head[3], deadline, e) ? -1 : 0;
}

/* A process has one second more than it allows its own child: its answer says more than a kill. */
int compile_process_ask(struct compile_process *p, struct str request, double seconds, struct compile_answer *a,
			struct err *e)
{
	uint32_t head[2] = { FRAME_REQUEST, (uint32_t)request.n };

	if (send(p->fd, head, sizeof head, MSG_NOSIGNAL | MSG_MORE) != sizeof head)
		return err_set(e, ERR_IO, "the compiling process ended");
	for (size_t at = 0; at < request.n;) {
		ssize_t k = send(p->fd, request.p + at, request.n - at, MSG_NOSIGNAL);

		if (k <= 0 && errno != EINTR)
			return err_set(e, ERR_IO, "the compiling process ended");
		at += k > 0 ? (size_t)k : 0;
	}
	return read_answer(p->fd, 3.0 * seconds + 3.0, a, e);
}

/* --- life ----------------------------------------------------------------------------------- */

/* Why a process ended before it was ready. */
static int explain_end(struct compile_process *p, struct err *e)
{
	int status = 0;

	waitpid(p->pid, &status, 0);
	p->pid = 0;
	err_clear(e);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 125)
		return err_set(e, ERR_DENIED, "the sandbox of the kernel compiler cannot be set up");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(e, ERR_NOT_FOUND, "the kernel compiler cannot be started: there is no Python");
	return err_set(e, ERR_STATE, "the kernel compiler ended when it started");
}

/* The first answer says whether Triton can be used, and its version. */
static int greet(struct compile_process *p, char *version, size_t n, struct err *e)
{
	struct compile_answer a = { .status = 0 };
	struct json *j = NULL;
	int rc = read_answer(p->fd, START_SECONDS, &a, e);

	if (rc) {
		kill(-p->pid, SIGKILL);
		explain_end(p, e);
	} else {
		j = json_parse(buf_str(&a.meta), NULL);
		snprintf(version, n, "%.*s", STR_ARG(json_str(json_get(j, "triton"), "")));
	}
	if (!rc && a.status != COMPILED_OK)
		rc = err_set(e, ERR_UNSUPPORTED, "Triton cannot be used: %.*s",
			     STR_ARG(json_str(json_get(j, "message"), "no reason was given")));
	json_free(j);
	buf_release(&a.meta);
	buf_release(&a.code);
	return rc;
}

int compile_process_open(struct compile_process *p, const struct kernel_compiler_options *o, char *version, size_t n,
			 struct err *e)
{
	int pair[2], rc;

	*p = (struct compile_process){ .fd = -1 };
	snprintf(p->folder, sizeof p->folder, "/tmp/tritonrl-compile-XXXXXX");
	if (!mkdtemp(p->folder))
		return err_errno(e, "cannot make a folder for the kernel compiler");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "socketpair");
	p->pid = fork();
	if (!p->pid)
		become_compiler(o, p->folder, pair[1]);
	close(pair[1]);
	p->fd = pair[0];
	rc = p->pid < 0 ? err_errno(e, "fork") : greet(p, version, n, e);
	if (rc)
		compile_process_close(p);
	return rc;
}

void compile_process_close(struct compile_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->pid > 0) {
		kill(-p->pid, SIGKILL);
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	if (p->folder[0])
		file_remove_tree(p->folder, NULL);
	*p = (struct compile_process){ .fd = -1 };
}
