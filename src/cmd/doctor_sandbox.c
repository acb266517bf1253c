/* doctor: the kernel features that the sandbox of the judge needs. Each is enabled in a child
 * process and then attacked: a file or system call that worked before must be refused. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/doctor.h"

#define REFUSES "the judge refuses to work without it"

/* Runs a test in a child. `bad` is the status of a failure, `without` its consequence, `fix` the
 * command that helps. */
static void report(struct doctor_part *p, doctor_child_fn *fn, enum doctor_status bad, const char *without,
		   const char *good, const char *fix)
{
	struct buf out = BUF_INIT;
	int rc = doctor_in_child(fn, NULL, 10, &out);

	if (rc == 0) {
		doctor_say(p, DOCTOR_OK, "%s%s", good, buf_cstr(&out));
	} else {
		doctor_say(p, bad, "%s; %s", out.n ? out.p : "the test crashed", without);
		buf_adds(&p->fix, fix);
	}
	buf_release(&out);
}

/* Namespaces take the network away from a worker. */
static int try_userns(void *ctx, int fd)
{
	(void)ctx;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0)
		return 0;
	dprintf(fd, "cannot create user and network namespaces: %s", strerror(errno));
	return 1;
}

/* Three different settings can forbid unprivileged namespaces; the advice names the one that this
 * kernel has. */
void doctor_userns(struct doctor_part *p)
{
	const char *fix = file_exists("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") ?
		"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" :
		file_exists("/proc/sys/kernel/unprivileged_userns_clone") ?
		"sudo sysctl -w kernel.unprivileged_userns_clone=1" :
		"sudo sysctl -w user.max_user_namespaces=10000   "
		"(in a container: allow unshare in its seccomp profile)";

	report(p, try_userns, DOCTOR_ABSENT,
	       "the sandbox then uses seccomp and Landlock only (always so in a chroot)",
	       "user, network and IPC namespaces work", fix);
}

/* After the restriction, a file that could be opened before must be refused. */
static int try_landlock(void *ctx, int fd)
{
	const struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	long set;

	(void)ctx;
	if (abi < 1) {
		dprintf(fd, "the kernel has no Landlock: %s", strerror(errno));
		return 1;
	}
	set = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	if (set < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, set, 0)) {
		dprintf(fd, "Landlock cannot be switched on: %s", strerror(errno));
		return 1;
	}
	if (open("/proc/self/status", O_RDONLY) >= 0 || errno != EACCES) {
		dprintf(fd, "Landlock is on but does not refuse files");
		return 1;
	}
	dprintf(fd, " (ABI %ld)", abi);
	return 0;
}

void doctor_landlock(struct doctor_part *p)
{
	report(p, try_landlock, DOCTOR_MISSING, REFUSES, "files are refused",
	       "boot kernel 5.13 or later with lsm=landlock,... on its command line");
}

/* The filter forbids socket() with an unusual error (ENOTTY), which only the filter can cause. */
static int try_seccomp(void *ctx, int fd)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	(void)ctx;
	if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(socket), 0) || seccomp_load(filter)) {
		dprintf(fd, "a seccomp filter cannot be loaded");
		return 1;
	}
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != ENOTTY) {
		dprintf(fd, "a seccomp filter is loaded but does not refuse");
		return 1;
	}
	return 0;
}

void doctor_seccomp(struct doctor_part *p)
{
	const struct scmp_version *v = seccomp_version();

	report(p, try_seccomp, DOCTOR_MISSING, REFUSES, "system calls are refused",
	       "use a kernel with CONFIG_SECCOMP_FILTER (in a container: allow seccomp)");
	if (p->status == DOCTOR_OK)
		doctor_say(p, DOCTOR_OK, " (libseccomp %u.%u.%u)", v->major, v->minor, v->micro);
}
