/* Text that is moved to pages of the process's own lies where it lay, and nothing else does; forks have what they call. */
#include "check.h"

#include <cblas.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "verify/pool/pages.h"

/* Bytes that are mapped with these rights. */
static size_t mapped(const char *rights)
{
	static char text[1 << 18];
	size_t n = 0, sum = 0;
	ssize_t got;
	int fd = open("/proc/self/maps", O_RDONLY);

	assert_true(fd >= 0);
	while ((got = read(fd, text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = 0;
	for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		unsigned long start, end;
		char is[8];

		assert_int_equal(sscanf(line, "%lx-%lx %7s", &start, &end, is), 3);
		sum += strcmp(is, rights) ? 0 : end - start;
	}
	return sum;
}

static void text_stays_where_it_was(void **state)
{
	size_t text = mapped("r-xp"), constants = mapped("r--p");
	volatile double x = 2.0;
	double before = exp(x);

	(void)state;
	pages_move_text();
	assert_int_equal(mapped("r-xp"), text);
	assert_int_equal(mapped("r--p"), constants);
	assert_true(exp(x) == before);
}

static int is_there(uintptr_t function)
{
	unsigned char in_memory;

	return !mincore((void *)(function / 4096 * 4096), 1, &in_memory);
}

/* Large enough that it calls other functions of the library and of others, which are looked up at their first call, in every library. */
static int multiplies(void)
{
	enum { N = 300 };
	static double a[N * N], b[N * N], c[N * N];

	for (int i = 0; i < N; i++)
		a[i * N + i] = b[i * N + i] = i;
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, N, N, 1.0, a, N, b, N, 0.0, c, N);
	return c[1] == 0.0 && c[2 * N + 2] == 4.0 && exp(c[N + 1]) > 2.7;
}

/* In a fork of a process that left libraries out: 0, or which of its expectations failed. */
static int look_around(void)
{
	if (is_there((uintptr_t)sqlite3_open))
		return 1;
	if (!is_there((uintptr_t)cblas_dgemm) || !is_there((uintptr_t)malloc) || !is_there((uintptr_t)look_around))
		return 2;
	return multiplies() && malloc(100) ? 0 : 3;
}

static int exit_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static void forks_have_the_libraries_they_call(void **state)
{
	pid_t pid;

	(void)state;
	if (MEM_WATCHED)
		skip();
	assert_true(is_there((uintptr_t)sqlite3_open));
	pid = fork();
	if (pid == 0) {
		pages_leave_libraries();
		pid = fork();
		_exit(pid ? exit_of(pid) : look_around());
	}
	assert_int_equal(exit_of(pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(text_stays_where_it_was), cmocka_unit_test(forks_have_the_libraries_they_call) };

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
