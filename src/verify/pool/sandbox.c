/* The sandbox: see sandbox.h.
 *
 * Each step must still be able to do what the next one needs, hence the order: close descriptors,
 * set limits, become another user if we are root, forbid new privileges, become undumpable, then
 * landlock without any rule (no file system at all; no TCP and no signals to others if the kernel
 * supports that). Finally seccomp allows a short list of calls, by role; every other call kills the
 * process. */
#include "verify/pool/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum { NOBODY = 65534 };

/* Closes the descriptors from `from` to `to`; an empty range is allowed. */
static int close_between(int from, int to)
{
	return from <= to ? (int)syscall(SYS_close_range, from, to, 0) : 0;
}

/* Closes all descriptors but the kept ones, and replaces standard input and output by /dev/null.
 * Standard error stays for our own crash messages. */
static int close_others(const struct sandbox_options *o, struct err *e)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), also = o->also_fd > 0 ? o->also_fd : o->keep_fd;
	int low = MIN(o->keep_fd, also), high = MAX(o->keep_fd, also);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return err_errno(e, "cannot open /dev/null");
	if (close_between(3, low - 1) || close_between(low + 1, high - 1) || close_between(high + 1, INT_MAX))
		return err_errno(e, "cannot close descriptors");
	return 0;
}

/* Lowers a resource limit. A limit that is lower already (ulimit) stays. */
static int set_limit(int what, rlim_t most, const char *name, struct err *e)
{
	struct rlimit l;

	if (getrlimit(what, &l))
		return err_errno(e, "cannot read the limit of %s", name);
	l.rlim_cur = l.rlim_max = l.rlim_max < most ? l.rlim_max : most;
	return setrlimit(what, &l) ? err_errno(e, "cannot limit %s", name) : 0;
}

/* Bytes of address space that came with the fork. A process that uses a GPU reserves hundreds of
 * GiB, which must not count against the judge's limit. */
static int inherited(size_t *bytes, struct err *e)
{
	FILE *f = fopen("/proc/self/statm", "re");
	int rc = !f || fscanf(f, "%zu", bytes) != 1 ? err_errno(e, "cannot read /proc/self/statm") : 0;

	if (f)
		fclose(f);
	*bytes *= (size_t)sysconf(_SC_PAGESIZE);
	return rc;
}

/* No core files and no locked memory. The address space is limited to what was inherited and the
 * given amount. */
static int set_limits(const struct sandbox_options *o, struct err *e)
{
	size_t before = 0;

	if (set_limit(RLIMIT_CORE, 0, "core files", e) || set_limit(RLIMIT_MEMLOCK, 0, "locked memory", e))
		return -1;
	if (!o->address_space)
		return 0;
	return inherited(&before, e) || set_limit(RLIMIT_AS, before + o->address_space, "memory", e) ? -1 : 0;
}

/* Becomes the user `nobody` if we are root. */
static int drop_user(struct err *e)
{
	if (getuid() != 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return err_errno(e, "cannot become an unprivileged user");
	return 0;
}

/* Forbids setuid programs, tracing by processes of the same user, and survival of the parent. */
static int drop_privileges(struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return err_errno(e, "cannot give up privileges");
	return 0;
}

/* The kernel's landlock_ruleset_attr as of ABI 6; the installed header may be older. */
struct ruleset {
	uint64_t files, net, scoped;
};

/* Takes away every right that the kernel's landlock knows, and grants none back. */
static int forbid_files(struct err *e)
{
	static const uint64_t fs_bits[] = { 13, 14, 15, 15, 16 };      /* number of file rights in ABI 1 to 5 */
	struct ruleset r = { .files = 0 };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION), fd;
	int rc = 0;

	if (abi < 1)
		return err_errno(e, "landlock is not available (Linux 5.13 or later, CONFIG_SECURITY_LANDLOCK)");
	r.files = (1u << fs_bits[MIN(abi, (long)COUNT_OF(fs_bits)) - 1]) - 1;
	r.net = abi >= 4 ? 3 : 0;             /* bind, connect */
	r.scoped = abi >= 6 ? 3 : 0;          /* abstract sockets, signals */
	fd = syscall(SYS_landlock_create_ruleset, &r, abi >= 6 ? sizeof r : abi >= 4 ? 16 : 8, 0);
	if (fd < 0)
		return err_errno(e, "cannot make a landlock ruleset");
	if (syscall(SYS_landlock_restrict_self, fd, 0))
		rc = err_errno(e, "cannot enter the landlock sandbox");
	close((int)fd);
	return rc;
}

/* System calls that both roles need. */
static const int common_calls[] = {
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(recvfrom),
		SCMP_SYS(sendto), SCMP_SYS(recvmsg),
	SCMP_SYS(close), SCMP_SYS(futex), SCMP_SYS(munmap), SCMP_SYS(mremap),
	SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(clock_gettime), SCMP_SYS(sched_yield), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(getppid),
	SCMP_SYS(restart_syscall), SCMP_SYS(getrandom), SCMP_SYS(sched_getaffinity), SCMP_SYS(sysinfo),
};

/* The deciding process makes images of tasks in memory, passes their descriptors on, and watches
 * and kills runners. */
static const int decider_calls[] = {
	SCMP_SYS(sendmsg), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(pidfd_open), SCMP_SYS(kill),
		SCMP_SYS(wait4), SCMP_SYS(memfd_create),
	SCMP_SYS(fcntl), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(fallocate),
	SCMP_SYS(clock_getres),       /* libc checks by it whether a process has a CPU clock */
};

/* Allows a list of system calls. */
static int allow(scmp_filter_ctx ctx, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
	return rc;
}

/* Allows what both roles need, with conditions on arguments where needed. */
static int allow_common(scmp_filter_ctx ctx)
{
	int rc = allow(ctx, common_calls, COUNT_OF(common_calls));

	/* Memory may be mapped and protected, but never made executable. */
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ,
				PROT_EXEC, 0));
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* OpenBLAS gives a hint about its buffers and continues without an answer. */
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(mbind), 0);
	/* Limits may be read, not set. */
	return rc ? rc : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0, 0));
}

/* Allows the one form of fork that zygote.c uses, dying with the parent, and the limits of a
 * runner, which can only be lowered. */
static int allow_runner(scmp_filter_ctx ctx)
{
	int rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				  SCMP_A0(SCMP_CMP_EQ, CLONE_PARENT | SIGCHLD, 0));

	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 2,
				      SCMP_A0(SCMP_CMP_EQ, PR_SET_PDEATHSIG, 0), SCMP_A1(SCMP_CMP_EQ, SIGKILL, 0));
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0, 0),
				      SCMP_A1(SCMP_CMP_EQ, RLIMIT_NPROC, 0));
	return rc ? rc : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2,
					  SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A1(SCMP_CMP_EQ, RLIMIT_CPU, 0));
}

/* Loads the seccomp filter of a role. Calls that it does not list kill the process. */
static int forbid_calls(enum sandbox_role role, struct err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int rc = ctx ? allow_common(ctx) : -ENOMEM;

	if (!rc)
		rc = role == SANDBOX_DECIDER ? allow(ctx, decider_calls, COUNT_OF(decider_calls)) : allow_runner(ctx);
	if (!rc)
		rc = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	if (rc) {
		errno = -rc;
		return err_errno(e, "cannot load the seccomp filter");
	}
	return 0;
}

/* The order of the steps is explained at the head of the file. */
int sandbox_enter(const struct sandbox_options *o, struct err *e)
{
	return close_others(o, e) || set_limits(o, e) || drop_user(e) || drop_privileges(e) || forbid_files(e) ? -1 : 0;
}

/* Puts runners into a landlock domain below that of the deciding process. The deciding process can
 * signal them; they cannot signal it. */
static int confine_runner(struct err *e)
{
	return set_limit(RLIMIT_FSIZE, 0, "file size", e) || forbid_files(e) ? -1 : 0;
}

/* Deciding processes may start no process any more. Runners are confined further. */
int sandbox_confine(enum sandbox_role role, int files, int filter, struct err *e)
{
	if (role == SANDBOX_RUNNER ? confine_runner(e) : set_limit(RLIMIT_NPROC, 0, "processes", e))
		return -1;
	if (set_limit(RLIMIT_NOFILE, (rlim_t)files + 1, "open files", e))
		return -1;
	return filter ? forbid_calls(role, e) : 0;
}

/* The kernel sends SIGXCPU at the soft limit and SIGKILL a second later. Called after the fork, for
 * each runner. */
int sandbox_limit_runner(double seconds)
{
	struct rlimit none = { .rlim_cur = 0, .rlim_max = 0 }, cpu = { .rlim_cur = (rlim_t)seconds + 1,
								       .rlim_max = (rlim_t)seconds + 2 };

	return setrlimit(RLIMIT_NPROC, &none) || setrlimit(RLIMIT_CPU, &cpu) ? -1 : 0;
}
