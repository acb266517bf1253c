/* The sandbox of judging workers, from inside. Everything that a worker must not do is tried in a
 * process that entered the sandbox as a worker does. An attempt is refused if it fails or ends the
 * process. An attempt that can work at all must work outside, so that none is refused for another
 * reason. A part of the sandbox that cannot be set up must keep the judge from judging. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "verify/pool/pool.h"
#include "verify/pool/sandbox.h"

/* --- attempts ------------------------------------------------------------------------------ */

static char scratch[64];      /* a folder that anyone may write to */
static int spare = -1;        /* a descriptor that was open before the sandbox */
static int tcp_port;          /* where the parent listens */
static char abstract[32];     /* where it listens as well */

static const char *in(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", scratch, name);
	return path;
}

static long connect_tcp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)tcp_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof a);
}

static long bind_tcp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return bind(fd, (struct sockaddr *)&a, sizeof a) ? -1 : listen(fd, 1);
}

static long connect_abstract(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	memcpy(a.sun_path + 1, abstract, sizeof abstract);
	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof a);
}

static long fork_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid;
}

static long raw_clone(long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long clone_3(void)
{
	uint64_t args[8] = { [4] = SIGCHLD };
	long pid = syscall(SYS_clone3, args, sizeof args);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long run_program(void)
{
	char *argv[] = { "/bin/true", NULL }, *env[] = { NULL };

	return execve(argv[0], argv, env);     /* does not return on success: exit code 0 */
}

static long run_program_at(void)
{
	char *argv[] = { "/bin/true", NULL }, *env[] = { NULL };

	return syscall(SYS_execveat, AT_FDCWD, argv[0], argv, env, 0);
}

static long peek(int writing)
{
	static char mine[8], theirs[8];
	struct iovec a = { .iov_base = mine, .iov_len = 8 }, b = { .iov_base = theirs, .iov_len = 8 };

	return writing ? process_vm_writev(getppid(), &a, 1, &b, 1, 0) : process_vm_readv(getppid(), &a, 1, &b, 1, 0);
}

static long trace_parent(void) { return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL); }

static long lift_limit(void)
{
	struct rlimit l = { .rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY };

	return setrlimit(RLIMIT_FSIZE, &l);
}

static long set_filter(void)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);

	return c ? seccomp_load(c) : -1;
}

static long pass_descriptor(void)
{
	char byte = 1;
	struct iovec io = { .iov_base = &byte, .iov_len = 1 };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))] = { 0 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof (int));
	memcpy(CMSG_DATA(c), &(int){ 2 }, sizeof (int));
	return sendmsg(3, &m, MSG_NOSIGNAL);
}

/* Creates the object and removes it again. */
static long ipc(long call)
{
	long id = call == SYS_msgget ? syscall(call, IPC_PRIVATE, IPC_CREAT | 0600) : syscall(call, IPC_PRIVATE, 1, IPC_CREAT | 0600);

	if (id >= 0)
		syscall(call == SYS_shmget ? SYS_shmctl : call == SYS_msgget ? SYS_msgctl : SYS_semctl, id, call == SYS_semget ? 0 : IPC_RMID,
			call == SYS_semget ? IPC_RMID : 0, 0);
	return id;
}

static long watch_parent(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof a, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1 };

	return syscall(SYS_perf_event_open, &a, getppid(), -1, -1, 0);
}

static long map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static long take_memory(void)
{
	return mmap(NULL, (size_t)16 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long old_calls(void)
{
	long r = -1;

#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");      /* getpid of the 32-bit table */
#endif
	return r;
}

/* What the attempt does outside of the sandbox: WORKS must succeed there, MAYBE depends on the machine. */
enum outside { MAYBE, WORKS };

#define ATTEMPTS(X) \
	X(open_to_read, WORKS, open("/etc/passwd", O_RDONLY)) \
	X(open_to_write, WORKS, open(in("w"), O_WRONLY | O_CREAT, 0666)) \
	X(open_at_2, MAYBE, syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &(uint64_t[3]){ 0 }, 24)) \
	X(create_file, WORKS, creat(in("c"), 0666)) \
	X(open_own_memory, WORKS, open("/proc/self/mem", O_RDWR)) \
	X(open_folder, WORKS, open("/", O_RDONLY | O_DIRECTORY)) \
	X(unnamed_file, MAYBE, open(scratch, O_TMPFILE | O_RDWR, 0600)) \
	X(look_at_file, WORKS, access("/etc/passwd", R_OK)) \
	X(state_of_file, WORKS, stat("/etc/passwd", &(struct stat){ 0 })) \
	X(make_folder, WORKS, mkdir(in("d"), 0777)) \
	X(remove_file, WORKS, unlink(in("victim"))) \
	X(rename_file, WORKS, rename(in("victim"), in("moved"))) \
	X(link_file, WORKS, symlink("/etc/passwd", in("s"))) \
	X(change_mode, WORKS, chmod(in("victim"), 0600)) \
	X(cut_file, WORKS, truncate(in("victim"), 0)) \
	X(change_folder, WORKS, chdir("/")) \
	X(change_root, MAYBE, chroot(scratch)) \
	X(special_file, MAYBE, mknod(in("n"), S_IFIFO | 0600, 0)) \
	X(use_older_descriptor, WORKS, write(spare, "x", 1)) \
	X(copy_descriptor, WORKS, dup(2)) \
	X(pass_a_descriptor, MAYBE, pass_descriptor()) \
	X(control_descriptor, WORKS, fcntl(2, F_GETFL)) \
	X(control_device, MAYBE, ioctl(2, FIONREAD, &(int){ 0 })) \
	X(pipe, WORKS, pipe((int[2]){ 0 })) \
	X(event_descriptor, WORKS, eventfd(0, 0)) \
	X(watch_files, WORKS, inotify_init1(0)) \
	X(watch_all_files, MAYBE, syscall(SYS_fanotify_init, 0, 0)) \
	X(memory_file, WORKS, syscall(SYS_memfd_create, "m", 0)) \
	X(socket_tcp, WORKS, socket(AF_INET, SOCK_STREAM, 0)) \
	X(socket_udp, WORKS, socket(AF_INET, SOCK_DGRAM, 0)) \
	X(socket_unix, WORKS, socket(AF_UNIX, SOCK_STREAM, 0)) \
	X(socket_netlink, MAYBE, socket(AF_NETLINK, SOCK_RAW, 0)) \
	X(socket_raw, MAYBE, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)) \
	X(socket_pair, WORKS, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){ 0 })) \
	X(connect_to_tcp, WORKS, connect_tcp()) \
	X(connect_to_abstract, WORKS, connect_abstract()) \
	X(listen_on_tcp, WORKS, bind_tcp()) \
	X(fork, WORKS, fork_child()) \
	X(vfork, WORKS, raw_clone(CLONE_VFORK)) \
	X(clone, WORKS, raw_clone(0)) \
	X(clone_3, WORKS, clone_3()) \
	X(clone_as_the_zygote_does, WORKS, raw_clone(CLONE_PARENT)) \
	X(new_user_namespace, MAYBE, raw_clone(CLONE_NEWUSER)) \
	X(run_a_program, WORKS, run_program()) \
	X(run_a_program_at, WORKS, run_program_at()) \
	X(trace_the_parent, WORKS, trace_parent()) \
	X(be_traced, WORKS, ptrace(PTRACE_TRACEME, 0, NULL, NULL)) \
	X(read_the_parent, MAYBE, peek(0)) \
	X(write_the_parent, MAYBE, peek(1)) \
	X(signal_the_parent, WORKS, kill(getppid(), SIGCONT)) \
	X(kill_the_parent, MAYBE, getppid() > 1 ? kill(getppid(), SIGURG) : -1) \
	X(signal_everyone, MAYBE, kill(-1, 0)) \
	X(signal_a_thread, WORKS, syscall(SYS_tgkill, getppid(), getppid(), SIGCONT)) \
	X(handle_of_the_parent, WORKS, syscall(SYS_pidfd_open, getppid(), 0)) \
	X(become_root, MAYBE, setuid(0)) \
	X(become_another, MAYBE, setresuid(1, 1, 1)) \
	X(take_capabilities, MAYBE, syscall(SYS_capset, &(uint32_t[2]){ 0x20080522 }, &(uint32_t[6]){ ~0u, ~0u })) \
	X(be_dumpable_again, WORKS, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) \
	X(outlive_the_parent, WORKS, prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)) \
	X(let_anyone_trace, MAYBE, prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0)) \
	X(another_filter, MAYBE, set_filter()) \
	X(another_ruleset, MAYBE, syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)) \
	X(mount, MAYBE, mount("none", scratch, "tmpfs", 0, NULL)) \
	X(unmount, MAYBE, umount2("/proc", MNT_DETACH | MNT_EXPIRE)) \
	X(move_the_root, MAYBE, syscall(SYS_pivot_root, scratch, scratch)) \
	X(leave_namespaces, MAYBE, unshare(CLONE_NEWNET)) \
	X(enter_a_namespace, MAYBE, setns(spare, 0)) \
	X(open_a_tree, MAYBE, syscall(SYS_open_tree, AT_FDCWD, "/", 0)) \
	X(bpf, MAYBE, syscall(SYS_bpf, 0, &(char[128]){ 0 }, 128)) \
	X(watch_performance, MAYBE, watch_parent()) \
	X(handle_own_faults, MAYBE, syscall(SYS_userfaultfd, 1)) \
	X(uring, MAYBE, syscall(SYS_io_uring_setup, 4, &(char[256]){ 0 })) \
	X(old_async_io, MAYBE, syscall(SYS_io_setup, 4, &(long){ 0 })) \
	X(add_a_key, MAYBE, syscall(SYS_add_key, "user", "k", "x", 1, -3)) \
	X(ask_for_a_key, MAYBE, syscall(SYS_keyctl, 0, -3, 1)) \
	X(shared_memory, WORKS, ipc(SYS_shmget)) \
	X(semaphores, WORKS, ipc(SYS_semget)) \
	X(messages, WORKS, ipc(SYS_msgget)) \
	X(message_queue, MAYBE, mq_open("/tritonrl-none", O_RDWR)) \
	X(lift_a_limit, MAYBE, lift_limit()) \
	X(limit_the_parent, MAYBE, prlimit(getppid(), RLIMIT_CORE, &(struct rlimit){ 0, 0 }, NULL)) \
	X(own_priority, WORKS, setpriority(PRIO_PROCESS, 0, 19)) \
	X(own_processors, WORKS, sched_setaffinity(0, 8, &(cpu_set_t){ .__bits = { 1 } })) \
	X(own_personality, MAYBE, syscall(SYS_personality, 0x0040000)) \
	X(timer, WORKS, syscall(SYS_timer_create, CLOCK_REALTIME, NULL, &(int){ 0 })) \
	X(alarm, WORKS, setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_sec = 100 }, NULL)) \
	X(signal_handler, WORKS, sigaction(SIGSYS, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL)) \
	X(set_the_clock, MAYBE, settimeofday(NULL, &(struct timezone){ 0 })) \
	X(name_the_machine, MAYBE, sethostname("", 0)) \
	X(kernel_log, MAYBE, syscall(SYS_syslog, 10, NULL, 0)) \
	X(kernel_module, MAYBE, syscall(SYS_finit_module, spare, "", 0)) \
	X(other_kernel, MAYBE, syscall(SYS_kexec_load, 0, 0, NULL, 0)) \
	X(swap, MAYBE, syscall(SYS_swapon, scratch, 0)) \
	X(restart_the_machine, MAYBE, syscall(SYS_reboot, 0, 0, 0, NULL)) \
	X(executable_memory, WORKS, map_code()) \
	X(memory_made_executable, WORKS, make_code()) \
	X(more_memory_than_allowed, WORKS, take_memory()) \
	X(calls_of_32_bits, MAYBE, old_calls())

struct attempt {
	const char *name;
	enum outside outside;
	long (*run)(void);
};

#define X(id, out, expression) static long try_##id(void) { return (expression); }
ATTEMPTS(X)
#undef X

static const struct attempt attempts[] = {
#define X(id, out, expression) { #id, out, try_##id },
	ATTEMPTS(X)
#undef X
};

/* --- processes ------------------------------------------------------------------------------- */

enum { REFUSED = 7, NO_SANDBOX = 9 };

/* Confined like a runner: the deciding process's sandbox, the zygote's, and its own limits. */
static int enter(int without_filter)
{
	struct sandbox_options o = { .keep_fd = 3, .address_space = (size_t)8 << 30 };
	struct err e = ERR_INIT;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (!sandbox_enter(&o, &e) && !sandbox_confine(SANDBOX_RUNNER, 3, !without_filter, &e) && !sandbox_limit_runner(20.0))
		return 0;
	fprintf(stderr, "sandbox_enter: %s\n", e.text);
	return -1;
}

/* Runs one attempt in a process of its own and returns its status as waitpid gives it. `how`: 0 outside, 1 in the
 * sandbox, 2 in the sandbox without its seccomp filter. */
static int attempt_in(long (*run)(void), int how)
{
	int status, pair[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(pair[1], 3);
		setpgid(0, 0);
		if (how && enter(how == 2))
			_exit(NO_SANDBOX);
		_exit(run() < 0 ? REFUSED : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(pair[0]);
	close(pair[1]);
	return status;
}

static int listen_somewhere(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un u = { .sun_family = AF_UNIX };
	socklen_t n = sizeof a;
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), un = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(abstract, sizeof abstract, "tritonrl-test-%d", (int)getpid());
	memcpy(u.sun_path + 1, abstract, sizeof abstract);
	if (bind(tcp, (struct sockaddr *)&a, sizeof a) || listen(tcp, 64) || getsockname(tcp, (struct sockaddr *)&a, &n) ||
	    bind(un, (struct sockaddr *)&u, sizeof u) || listen(un, 64))
		return -1;
	tcp_port = ntohs(a.sin_port);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	snprintf(scratch, sizeof scratch, "/tmp/test_sandbox.XXXXXX");
	if (!mkdtemp(scratch) || chmod(scratch, 0777))
		return -1;
	signal(SIGCONT, SIG_IGN);
	spare = open(in("spare"), O_RDWR | O_CREAT, 0666);
	spare = spare < 0 ? -1 : dup2(spare, 40);
	return spare < 0 ? -1 : listen_somewhere();
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", scratch);
	return system(command) == -1;
}

static void make_victim(void)
{
	FILE *f = fopen(in("victim"), "w");

	assert_non_null(f);
	fputs("untouched", f);
	fclose(f);
	chmod(in("victim"), 0666);
}

static void refused(void **state)
{
	const struct attempt *a = *state;
	struct stat st;
	int status;

	make_victim();
	if (a->outside == WORKS) {
		status = attempt_in(a->run, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			fail_msg("%s does not work outside either (status %#x): the test shows nothing", a->name, (unsigned)status);
		make_victim();
	}
	status = attempt_in(a->run, 1);
	if (WIFEXITED(status) && WEXITSTATUS(status) != REFUSED)
		fail_msg("%s: %s", a->name, WEXITSTATUS(status) == NO_SANDBOX ? "no sandbox" : "went through");
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGSYS && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGSEGV)
		fail_msg("%s: ended by signal %d", a->name, WTERMSIG(status));
	assert_int_equal(stat(in("victim"), &st), 0);
	assert_int_equal(st.st_size, 9);
}

/* Attempts that must fail without the seccomp filter, too: each layer must hold by itself. */
static void refused_beneath(void **state)
{
	const struct attempt *a = *state;
	int status = attempt_in(a->run, 2);

	if (!WIFEXITED(status) || WEXITSTATUS(status) != REFUSED)
		fail_msg("%s went through without the filter (status %#x)", a->name, (unsigned)status);
}

/* --- a worker can still work -------------------------------------------------------------------------- */

static long compute_and_answer(void)
{
	struct timespec now;
	char *p = malloc(1 << 20), byte = 'k';

	if (!p || clock_gettime(CLOCK_MONOTONIC, &now))
		return -1;
	memset(p, 1, 1 << 20);
	free(p);
	return write(3, &byte, 1) == 1 ? 0 : -1;
}

static void work_goes_on(void **state)
{
	int status = attempt_in(compute_and_answer, 1);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- fails closed ------------------------------------------------------------------------------------- */

/* A system call that sandbox_enter needs. `arg` >= 0: only with this first argument. */
struct needed {
	const char *name;
	int call, arg;
};

static const struct needed needed[] = {
	{ "without close_range", SCMP_SYS(close_range), -1 }, { "without prlimit", SCMP_SYS(prlimit64), -1 },
	{ "without no_new_privs", SCMP_SYS(prctl), PR_SET_NO_NEW_PRIVS }, { "without dumpable", SCMP_SYS(prctl), PR_SET_DUMPABLE },
	{ "without pdeathsig", SCMP_SYS(prctl), PR_SET_PDEATHSIG },
	{ "without landlock", SCMP_SYS(landlock_create_ruleset), -1 },
	{ "without entering landlock", SCMP_SYS(landlock_restrict_self), -1 },
};

/* Takes the call away from this process and its children. */
static int take_away(const struct needed *n)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	int rc = n->arg < 0 ? seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), n->call, 0) :
			      seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), n->call, 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)n->arg, 0));

	/* Loading a filter needs NO_NEW_PRIVS or root. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!rc)
		rc = seccomp_load(c);
	seccomp_release(c);
	return rc;
}

static const char task_text[] =
	"import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n        return x + 1.0\n"
	"n = 64\ndef get_inputs():\n    return [torch.rand(n)]\ndef get_init_inputs():\n    return []\n";

/* Returns 1 if the pool gave a verdict, 0 if it refused to judge. */
static int judged_anyway(int no_sandbox)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct judge_pool_options p = JUDGE_POOL_DEFAULTS;
	struct err e = ERR_INIT;
	struct judged j;
	struct judge_pool *pool;
	int rc;

	p.workers = 1;
	p.no_sandbox = no_sandbox;
	pool = judge_pool_open(&o, &p, &e);
	if (!pool)
		return 0;
	rc = judge_pool_submit(pool, 1, STR(task_text), STR("x = 1\n"), &e);
	if (!rc)
		rc = judge_pool_next(pool, 1, &j, &e);
	judge_pool_close(pool);
	return rc == 1;
}

static void fails_closed(void **state)
{
	const struct needed *n = *state;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (take_away(n))
			_exit(NO_SANDBOX);
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(NO_SANDBOX);
		_exit(judged_anyway(0) ? 1 : !judged_anyway(1) ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("%s: %s", n->name, WIFEXITED(status) && WEXITSTATUS(status) == 1 ? "judged all the same" :
			 WIFEXITED(status) && WEXITSTATUS(status) == 2 ? "does not judge even when told to" : "the test failed");
}

static void judges_with_all_parts(void **state)
{
	(void)state;
	assert_int_equal(judged_anyway(0), 1);
}

/* --- the list ------------------------------------------------------------------------------------------- */

static int is_layered(const char *name)
{
	static const char *const names[] = {
		"open_to_read", "open_to_write", "create_file", "make_folder", "remove_file", "rename_file", "link_file", "cut_file",
		"use_older_descriptor", "run_a_program", "trace_the_parent", "signal_the_parent", "connect_to_tcp", "listen_on_tcp",
		"connect_to_abstract", "become_root", "lift_a_limit", "fork", "clone_as_the_zygote_does", "more_memory_than_allowed", "open_own_memory",
	};

	/* Two of them need a process that was root and gave it up. */
	if (geteuid() && (!strcmp(name, "fork") || !strcmp(name, "trace_the_parent")))
		return 0;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

int main(void)
{
	struct CMUnitTest tests[2 * COUNT_OF(attempts) + COUNT_OF(needed) + 2];
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(attempts); i++)
		tests[n++] = (struct CMUnitTest){ .name = attempts[i].name, .test_func = refused, .initial_state = (void *)&attempts[i] };
	for (size_t i = 0; i < COUNT_OF(attempts); i++)
		if (is_layered(attempts[i].name))
			tests[n++] = (struct CMUnitTest){ .name = attempts[i].name, .test_func = refused_beneath, .initial_state = (void *)&attempts[i] };
	for (size_t i = 0; i < COUNT_OF(needed); i++)
		tests[n++] = (struct CMUnitTest){ .name = needed[i].name, .test_func = fails_closed, .initial_state = (void *)&needed[i] };
	tests[n++] = (struct CMUnitTest){ .name = "work goes on", .test_func = work_goes_on };
	tests[n++] = (struct CMUnitTest){ .name = "judges with all parts", .test_func = judges_with_all_parts };
	return _cmocka_run_group_tests("sandbox", tests, n, setup, teardown);
}
