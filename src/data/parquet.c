/* Parquet files: see parquet.h.
 *
 * The converter is found next to the program (a build folder or an installation) or as the installed
 * Python package. Invariant: the temporary file is gone after parquet_close. */
#include "data/parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

/* Parquet files start with these four bytes. */
static int is_parquet(const char *path)
{
	char b[4] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : pread(fd, b, sizeof b, 0);

	if (fd >= 0)
		close(fd);
	return n == 4 && !memcmp(b, "PAR1", 4);
}

/* Finds parquet.py next to the program. Returns 0 if it is missing; the installed package is tried
 * then. */
static int find_script(char out[PATH_MAX])
{
	static const char *const folders[] = { "", "/.." };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	if (n < 0)
		return 0;
	self[n] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	for (size_t i = 0; i < COUNT_OF(folders); i++)
		if (snprintf(out, PATH_MAX, "%s%s/python/tritonrl/parquet.py", self, folders[i]) < PATH_MAX &&
		    file_exists(out))
			return 1;
	return 0;
}

/* The child: python3 with its standard output in `out` and its messages in `told`. */
static void run_python(const char *input, int out, int told)
{
	char script[PATH_MAX];
	char *argv[5] = { (char[]){ "python3" }, (char[]){ "-m" }, (char[]){ "tritonrl.parquet" }, (char *)input };

	if (find_script(script)) {
		argv[1] = script;
		argv[2] = (char *)input;
		argv[3] = NULL;
	}
	dup2(out, STDOUT_FILENO);
	dup2(told, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

/* Reads the child's messages until it closes them, and keeps the first ones. */
static void read_told(int fd, char *text, size_t room)
{
	size_t n = 0;
	ssize_t k;
	char rest[512];

	while ((k = n + 1 < room ? read(fd, text + n, room - 1 - n) : read(fd, rest, sizeof rest)) > 0 ||
	       (k < 0 && errno == EINTR))
		n += k > 0 && n + 1 < room ? (size_t)k : 0;
	text[n] = 0;
	if (strchr(text, '\n'))
		*strchr(text, '\n') = 0;
}

/* Runs the converter and waits for it. */
static int convert(const char *input, int out, struct err *e)
{
	char text[400];
	int fd[2], status = 0;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return err_errno(e, "cannot read '%s'", input);
	pid = fork();
	if (pid == 0)
		run_python(input, out, fd[1]);
	close(fd[1]);
	if (pid > 0)
		read_told(fd[0], text, sizeof text);
	close(fd[0]);
	if (pid < 0)
		return err_errno(e, "cannot start python3");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return err_set(e, ERR_FORMAT, "'%s' is a Parquet file, which Python reads for us: %s", input,
		       WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "there is no python3" : text);
}

int parquet_open(struct parquet *p, const char *input, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	int fd, rc;

	*p = (struct parquet){ .path = NULL };
	if (!is_parquet(input))
		return 0;
	if (file_mkdirs(dir, e))
		return -1;
	path_join(&path, dir, ".parquet-XXXXXX");
	p->path = buf_take(&path);
	if (!p->path)
		return err_nomem(e);
	fd = mkostemp(p->path, O_CLOEXEC);
	if (fd < 0) {
		rc = err_errno(e, "cannot make '%s'", p->path);
		mem_free(p->path);
		p->path = NULL;
		return rc;
	}
	rc = convert(input, fd, e);
	close(fd);
	if (rc)
		parquet_close(p);
	return rc;
}

void parquet_close(struct parquet *p)
{
	if (p->path)
		unlink(p->path);
	mem_free(p->path);
	p->path = NULL;
}
