/* The log, the progress display and what Ctrl-C does. Output to stderr is caught in a file. */
#include "check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/progress.h"

static char path[64];
static int real_stderr;

static void catch_stderr(void)
{
	int fd;

	snprintf(path, sizeof path, "/tmp/test_progress.XXXXXX");
	fd = mkstemp(path);
	fflush(stderr);
	real_stderr = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

static void caught(struct buf *out)
{
	fflush(stderr);
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	assert_int_equal(file_read(path, 0, out, NULL), 0);
	unlink(path);
}

static void work(enum progress_mode mode, struct buf *out)
{
	struct progress p;

	catch_stderr();
	progress_set_mode(mode);
	progress_begin(&p, "verify", "candidates", 200);
	for (int i = 0; i < 200; i++) {
		p.shown_ns -= 60000000;                  /* as if time passed */
		progress_note(&p, "loss %.2f", 0.31);
		progress_add(&p, 1);
		if (i == 100)
			log_warn("in between");
	}
	progress_end(&p);
	caught(out);
}

static void test_bar(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	work(PROGRESS_BAR, &b);
	assert_contains(b.p, "verify [#");
	assert_contains(b.p, " 50%");
	assert_contains(b.p, "loss 0.31");
	assert_contains(b.p, "\r\033[Kwarning: in between\nverify [");   /* above the bar */
	assert_contains(b.p, "\r\033[Kverify: 200/200 candidates");
	assert_true(str_ends(buf_str(&b), "taken  loss 0.31\n"));
	buf_release(&b);
}

static void test_lines(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	work(PROGRESS_LINES, &b);
	assert_null(strchr(b.p, '\r'));
	assert_contains(b.p, "verify: 200/200 candidates");
	buf_release(&b);
	work(PROGRESS_QUIET, &b);
	assert_string_equal(b.p, "warning: in between\n");
	buf_release(&b);
}

static void test_json(void **state)
{
	struct buf b = BUF_INIT;
	struct str rest, line, last = { .p = "" };
	struct json *j;

	(void)state;
	work(PROGRESS_JSON, &b);
	for (rest = buf_str(&b); rest.n;) {
		line = str_cut(&rest, '\n');
		last = str_starts(line, "{") ? line : last;
	}
	j = json_parse(last, NULL);
	assert_int_equal(json_int(json_get(j, "done"), 0), 200);
	assert_int_equal(json_bool(json_get(j, "ended"), 0), 1);
	assert_true(str_is(json_str(json_get(j, "progress"), ""), "verify"));
	json_free(j);
	buf_release(&b);
}

static void sink(void *ctx, enum log_level level, const char *text)
{
	buf_addf(ctx, "%d:%s;", (int)level, text);
}

static void test_log(void **state)
{
	struct buf b = BUF_INIT;
	uint64_t debug = log_count(LOG_DEBUG), warn = log_count(LOG_WARN);

	(void)state;
	log_set_sink(sink, &b);
	log_debug("hidden");
	log_warn("skipped %d", 3);
	log_set_level(LOG_DEBUG);
	log_debug("shown");
	log_set_level(LOG_INFO);
	log_set_sink(NULL, NULL);
	assert_string_equal(b.p, "2:skipped 3;0:shown;");
	assert_int_equal(log_count(LOG_DEBUG) - debug, 2);
	assert_int_equal(log_count(LOG_WARN) - warn, 1);
	assert_true(clock_ns() > 0 && clock_wall_us() > 1600000000000000);
	buf_release(&b);
}

/* The first signal asks, the second ends: in a child, whose end the parent sees. */
static void test_stop(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		stop_install();
		if (stop_requested())
			_exit(1);
		raise(SIGINT);
		if (!stop_requested())
			_exit(2);
		raise(SIGTERM);
		_exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bar), cmocka_unit_test(test_lines), cmocka_unit_test(test_json),
		cmocka_unit_test(test_log), cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
