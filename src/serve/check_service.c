/* Checks over HTTP: see check_service.h.
 *
 * Three processes take part: the server (a queue and one thread), the forking process, and a child
 * for each text. Invariant: the forking process parses nothing, so no text can harm it. */
#include "serve/check_service.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "num/num.h"
#include "serve/queue.h"
#include "tile/estimate/gpu.h"
#include "verify/lint/check_json.h"
#include "verify/pool/sandbox.h"

/* Waiting requests, CPU seconds for a check, bytes of an answer and of a text. */
enum { WAITING = 256, SECONDS = 10, ANSWER_MOST = 8 << 20, TEXT_MOST = 16 << 20 };

/* The reply of the forking process; the answer follows. 0 bytes: the child crashed or took too long. */
struct reply { uint32_t bytes; };

/* A request in the queue. */
struct asking {
	struct queued queued;
	struct httpd_call *call;
	struct check_request r;
	struct buf texts;
};

struct check_service {
	int fd;                       /* socket to the forking process */
	pid_t pid;
	struct queue queue;
};

/* --- the child that checks one text ---------------------------------------------------------------------- */

/* The answer being written, and the number of errors in it so far. */
struct checking { struct jw w; int64_t errors; };

/* Callback of check_file: writes one diagnostic. */
static void report(void *ctx, enum severity how, const struct diag *d)
{
	struct checking *c = ctx;

	c->errors += how == SEVERITY_ERROR;
	check_json_diag(&c->w, "source", how, d);
}

/* Checks a text into `out`. A syntax error is a diagnostic; -1 means that the check itself failed. */
static int check(const struct check_request *r, struct str source, struct str task, struct buf *out, struct err *e)
{
	const struct tile_gpu *gpu = tile_gpu_find(str_of(r->gpu));
	struct tile_options to = { .triton_version = (int)r->triton_version, .capability = gpu->capability };
	struct checking c = { .w = { .out = out } };
	struct check_options o = { .engine = tile_engine_new(&to, e), .gpu = gpu, .report = report, .ctx = &c };
	struct check_count count = { .kernels = 0 };
	struct py_module m, t;
	struct err bad = ERR_INIT;
	int rc = !o.engine || (task.n && py_parse(&t, task, "task", 0, e)) ? -1 : 0;

	o.task = !rc && task.n ? &t : NULL;
	check_json_begin(&c.w);
	if (!rc && py_parse(&m, source, "source", 0, &bad)) {
		struct diag d = { .reason = REASON_syntax_error, .line = bad.line, .col = bad.column };

		snprintf(d.text, sizeof d.text, "%s", bad.text);
		report(&c, SEVERITY_ERROR, &d);
	} else if (!rc) {
		rc = check_file(&m, &o, &count, e);
	}
	check_json_end(&c.w, 1, c.errors, &count);
	return rc ? rc : buf_check(out, e);
}

/* The child: enters the sandbox, checks, writes, ends. It releases nothing, because its end does. */
static _Noreturn void check_main(int fd, const struct check_request *r, struct str texts)
{
	struct sandbox_options so = { .keep_fd = fd, .address_space = (size_t)2 << 30 };
	struct str source = { .p = texts.p, .n = r->source }, task = { .p = texts.p + r->source, .n = r->task };
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	struct jw w = { .out = &out };

	/* the BLAS initialises itself again after a fork, which the sandbox would forbid */
	num_init();
	if (sandbox_enter(&so, &e) || sandbox_confine(SANDBOX_RUNNER, fd + 1, 1, &e) ||
	    sandbox_limit_runner(SECONDS) || check(r, source, task, &out, &e)) {
		buf_clear(&out);
		jw_begin(&w, '{');
		jw_key(&w, "failed"), jw_cstr(&w, e.text);
		jw_end(&w, '}');
	}
	file_write_all(fd, out.p, out.n, NULL);
	_exit(0);
}

/* --- the forking process ------------------------------------------------------------------------------------ */

/* Reads what the child writes, until it ends or its time is over. An incomplete answer is
 * discarded. */
static void collect(int fd, struct buf *out)
{
	int64_t until = clock_ns() + (SECONDS + 2) * 1000000000LL;
	ssize_t n = 1;

	while (n > 0 && out->n < ANSWER_MOST) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = (until - clock_ns()) / 1000000;

		if (left <= 0 || poll(&p, 1, (int)left) <= 0 || buf_reserve(out, 65536))
			break;
		n = read(fd, out->p + out->n, 65536);
		out->n += n > 0 ? (size_t)n : 0;
	}
	if (n)
		buf_clear(out);                /* too long, too late or incomplete */
}

/* Forks a child for one text and collects its answer. The child is killed in any case. */
static int check_one(const struct check_request *r, struct str texts, struct buf *out)
{
	int pipe_fd[2], status = 0;
	pid_t child;

	if (pipe(pipe_fd))
		return -1;
	child = fork();
	if (child == 0) {
		close(pipe_fd[0]);
		check_main(pipe_fd[1], r, texts);
	}
	close(pipe_fd[1]);
	if (child > 0)
		collect(pipe_fd[0], out);
	close(pipe_fd[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	return child > 0 ? 0 : -1;
}

/* The loop of the forking process. It ignores interrupts of the terminal: the server ends it by
 * closing the socket. */
static _Noreturn void fork_main(int fd)
{
	struct check_request r;
	struct buf texts = BUF_INIT, out = BUF_INIT;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while (!file_read_all(fd, &r, sizeof r, NULL)) {
		struct reply reply;

		buf_clear(&texts);
		buf_clear(&out);
		if (r.source > TEXT_MOST || r.task > TEXT_MOST || buf_reserve(&texts, (size_t)r.source + r.task + 1))
			break;
		texts.n = (size_t)r.source + r.task;
		if (file_read_all(fd, texts.p, texts.n, NULL) || check_one(&r, buf_str(&texts), &out))
			break;
		reply.bytes = (uint32_t)out.n;
		if (file_write_all(fd, &reply, sizeof reply, NULL) || file_write_all(fd, out.p, out.n, NULL))
			break;
	}
	_exit(0);
}

/* --- the server's side ----------------------------------------------------------------------------------------- */

/* Sends a text to the forking process and receives the answer. */
static int exchange(struct check_service *c, const struct asking *a, struct buf *out, struct err *e)
{
	struct reply reply = { .bytes = 0 };

	if (file_write_all(c->fd, &a->r, sizeof a->r, e) || file_write_all(c->fd, a->texts.p, a->texts.n, e) ||
	    file_read_all(c->fd, &reply, sizeof reply, e))
		return -1;
	if (reply.bytes && (buf_reserve(out, reply.bytes) ? err_nomem(e) :
			    file_read_all(c->fd, out->p, reply.bytes, e)))
		return -1;
	out->n = reply.bytes;
	return 0;
}

/* Answers one request. Called by the queue's thread. */
static void answer(void *ctx, struct queued *queued)
{
	struct check_service *c = ctx;
	struct asking *a = (struct asking *)queued;
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;

	if (exchange(c, a, &out, &e)) {
		/* The rest of a half-read answer must not become the answer to the next request. */
		shutdown(c->fd, SHUT_RDWR);
		httpd_error(a->call, 500, "the checking process has ended: %s", e.text);
	} else if (!out.n) {
		httpd_error(a->call, 422,
			    "the check of this text took more than %d seconds or crashed", SECONDS);
	} else {
		httpd_reply(a->call, str_starts(buf_str(&out), "{\"failed\"") ? 422 : 200, "application/json",
			    buf_str(&out), NULL);
	}
	buf_release(&out);
	buf_release(&a->texts);
	mem_free(a);
}

/* Checks every field: the forking process trusts the lengths. */
int check_request_read(struct check_request *r, struct buf *texts, struct str body, struct err *e)
{
	struct json *j = json_parse(body, e);
	struct str source = STR(""), task, gpu, version;
	int rc = !j || json_need_str(j, "source", &source, e) ? -1 : 0;

	task = json_str(json_get(j, "task"), "");
	gpu = json_str(json_get(j, "gpu"), TILE_GPU_DEFAULT);
	version = json_str(json_get(j, "triton_version"), "3.6");
	if (!rc && !tile_gpu_find(gpu))
		rc = err_set(e, ERR_USAGE, "gpu: '%.*s' is not a known GPU", STR_ARG(gpu));
	if (!rc && !(version.n == 3 && str_starts(version, "3.") && version.p[2] >= '2' && version.p[2] <= '8'))
		rc = err_set(e, ERR_USAGE, "triton_version: '%.*s' is not one of 3.2 to 3.8", STR_ARG(version));
	if (!rc && (source.n > TEXT_MOST || task.n > TEXT_MOST))
		rc = err_set(e, ERR_RANGE, "source or task has more than %d bytes", TEXT_MOST);
	if (!rc) {
		*r = (struct check_request){ .source = (uint32_t)source.n, .task = (uint32_t)task.n,
						.triton_version = 300 + (uint32_t)(version.p[2] - '0') };
		snprintf(r->gpu, sizeof r->gpu, "%.*s", STR_ARG(gpu));
		buf_addstr(texts, source);
		buf_addstr(texts, task);
		rc = buf_check(texts, e);
	}
	json_free(j);
	return rc;
}

/* Queues a request, or answers it at once if it is invalid or too many wait. */
void check_service_check(struct check_service *c, struct httpd_call *call)
{
	struct asking *a = mem_zalloc(sizeof *a);
	struct err e = ERR_INIT;

	if (a)
		a->call = call;
	if (!a)
		httpd_error(call, 500, "out of memory");
	else if (check_request_read(&a->r, &a->texts, httpd_body(call), &e))
		httpd_error(call, 400, "%s", e.text);
	else if (!queue_enter(&c->queue, &a->queued))
		httpd_error(call, 429, "too many checks are waiting");
	else
		return;
	if (a)
		buf_release(&a->texts);
	mem_free(a);
}

/* --- opening and closing ------------------------------------------------------------ */

/* Forks the forking process first, then starts the queue's thread. */
struct check_service *check_service_open(struct err *e)
{
	struct check_service *c = mem_zalloc(sizeof *c);
	int pair[2];

	if (!c || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		err_errno(e, "cannot start the process that checks");
		mem_free(c);
		return NULL;
	}
	c->fd = pair[0];
	c->pid = fork();
	if (c->pid == 0) {
		close(pair[0]);
		fork_main(pair[1]);
	}
	close(pair[1]);
	if (c->pid < 0)
		err_errno(e, "cannot start the process that checks");
	else if (!queue_start(&c->queue, WAITING, answer, c, e))
		return c;
	check_service_close(c);
	return NULL;
}

/* Answers what waits, then closes the socket, which ends the forking process. */
void check_service_close(struct check_service *c)
{
	if (!c)
		return;
	queue_stop(&c->queue);
	close(c->fd);
	if (c->pid > 0)
		waitpid(c->pid, NULL, 0);
	mem_free(c);
}
