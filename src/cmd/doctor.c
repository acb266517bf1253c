/* tritonrl doctor: tests every part of the machine that the program uses and prints how to repair
 * it. doctor.def lists the parts. Each test does a small piece of real work, because an installed
 * library or an enabled kernel feature may still not work. */
#include "cmd/doctor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"

struct args {
	int json;
	const char *driver, *cupti;
};

static const struct opt opts[] = {
	OPT_FLAG(struct args, json, "json", 0, "print JSON"),
	OPT_STR(struct args, driver, "gpu-driver", "FILE", NULL, "driver of the GPU judge in place of libcuda.so.1"),
	OPT_STR(struct args, cupti, "gpu-cupti", "FILE", NULL,
		"NVIDIA's profiling library; otherwise the one that PyTorch brings, or the system's"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Test every part of this machine that tritonrl uses. Each part is ok, or the "
		 "output says what is missing and which command installs it. Parts marked "
		 "'absent' are needed by some commands only. Exit code 1: a required part is "
		 "missing.",
	.opts = opts,
};

/* The parts in the order of doctor.def. */
static const struct {
	const char *name;
	doctor_fn *fn;
} parts[] = {
#define DOCTOR_PART(name, fn) { name, doctor_##fn },
#include "cmd/doctor.def"
#undef DOCTOR_PART
};

static const char *const status_name[] = {
	[DOCTOR_OK] = "ok", [DOCTOR_ABSENT] = "absent", [DOCTOR_MISSING] = "missing",
};

void doctor_say(struct doctor_part *p, enum doctor_status status, const char *fmt, ...)
{
	va_list ap;

	p->status = status;
	va_start(ap, fmt);
	buf_vaddf(&p->detail, fmt, ap);
	va_end(ap);
}

/* --- children -------------------------------------------------------------------------- */

/* Reads from `fd` until end of file or the deadline. Returns 0 at the end of file, -1 after the
 * deadline. */
static int read_until(int fd, int64_t deadline_ns, struct buf *out)
{
	for (;;) {
		struct pollfd pf = { .fd = fd, .events = POLLIN };
		int64_t left = (deadline_ns - clock_ns()) / 1000000;
		char chunk[4096];
		ssize_t k;

		if (left <= 0 || poll(&pf, 1, (int)left) == 0)
			return -1;
		k = read(fd, chunk, sizeof chunk);
		if (k <= 0)
			return 0;
		buf_add(out, chunk, (size_t)k);
	}
}

/* The child gets its own process group, so that a hung test can be killed with its children. stdio
 * buffers are flushed first; otherwise the child would print them a second time. */
int doctor_in_child(doctor_child_fn *fn, void *ctx, int seconds, struct buf *out)
{
	int fd[2], status, late;
	pid_t pid;

	fflush(NULL);                       /* else the child would print our buffers again */
	if (pipe2(fd, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		_exit(fn(ctx, fd[1]));
	}
	close(fd[1]);
	late = pid < 0 || read_until(fd[0], clock_ns() + seconds * 1000000000LL, out);
	close(fd[0]);
	if (pid < 0)
		return -1;
	/* The group, and the child itself in case it did not get to setpgid. */
	if (late)
		kill(-pid, SIGKILL), kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		;
	return late || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

/* stdin is /dev/null: a program that waits for input must not hang the test. 127 is the shell's
 * code for a program that was not found. */
static int exec_child(void *ctx, int out_fd)
{
	char *const *argv = ctx;
	int null = open("/dev/null", O_RDONLY);

	dup2(null, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
	dup2(out_fd, STDERR_FILENO);
	execvp(argv[0], argv);
	return 127;
}

int doctor_run(char *const *argv, int seconds, struct buf *out)
{
	return doctor_in_child(exec_child, (void *)argv, seconds, out);
}

/* --- the report ------------------------------------------------------------------------ */

/* One line per part, and a second line with the command that repairs it. The output is flushed
 * because the next test may take seconds. */
static void print_part(const struct doctor_part *p)
{
	printf("%-8s %-16s %s\n", status_name[p->status], p->name, buf_cstr(&p->detail));
	if (p->fix.n)
		printf("%-8s %-16s   -> %s\n", "", "", buf_cstr(&p->fix));
	fflush(stdout);
}

static void write_part(struct jw *w, const struct doctor_part *p)
{
	jw_begin(w, '{');
	jw_key(w, "name"), jw_cstr(w, p->name);
	jw_key(w, "status"), jw_cstr(w, status_name[p->status]);
	jw_key(w, "detail"), jw_str(w, buf_str(&p->detail));
	jw_key(w, "fix"), jw_cstr(w, p->fix.n ? p->fix.p : NULL);
	jw_end(w, '}');
}

/* Parts that are only absent do not count as a failure. */
static void print_end(const size_t count[3])
{
	printf("\n%zu ok, %zu absent, %zu missing: %s\n", count[DOCTOR_OK], count[DOCTOR_ABSENT], count[DOCTOR_MISSING],
	       count[DOCTOR_MISSING] ? "see '->' above" : "every required part works");
}

/* Text is printed while the tests run; JSON is printed at the end as one object. */
int cmd_doctor(int argc, char **argv)
{
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b, .indent = 2 };
	size_t count[3] = { 0 };
	struct opt_parsed p;
	struct args a;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	jw_begin(&w, '{');
	jw_key(&w, "parts"), jw_begin(&w, '[');
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		struct doctor_part part = { .name = parts[i].name, .driver = a.driver, .cupti = a.cupti };

		parts[i].fn(&part);
		count[part.status]++;
		if (a.json)
			write_part(&w, &part);
		else
			print_part(&part);
		buf_release(&part.detail);
		buf_release(&part.fix);
	}
	jw_end(&w, ']');
	jw_key(&w, "ok"), jw_bool(&w, count[DOCTOR_MISSING] == 0);
	jw_end(&w, '}');
	if (a.json)
		puts(buf_cstr(&b));
	else
		print_end(count);
	buf_release(&b);
	opt_release(&p);
	return count[DOCTOR_MISSING] ? CMD_NO : CMD_OK;
}
