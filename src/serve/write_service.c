/* Kernels over HTTP: see write_service.h.
 *
 * Owns the queue and the child process of the request in work. Invariant: the child ends before its request is
 * answered. */
#include "serve/write_service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "serve/queue.h"
#include "serve/verify_service_impl.h"

extern char **environ;

/* Requests that may wait, words of a command line, bytes of an answer, seconds that a search may take and the
 * seconds that its process gets beyond them. */
enum { WAITING = 64, COMMAND_MOST = 128, ANSWER_MOST = 64 << 20, SECONDS_MOST = 3600, GRACE = 60 };

struct write_service {
	struct write_service_options o;
	struct queue queue;
	atomic_int closing;
};

/* A request in the queue. */
struct writing {
	struct queued queued;
	struct httpd_call *call;
	struct arena words;
	char *command[COMMAND_MOST];
	int n;
	struct str module;            /* in words */
	double seconds;
};

/* --- reading a request ---------------------------------------------------------------------------------- */

static int add_word(struct writing *w, char *word, struct err *e)
{
	if (!word)
		return err_nomem(e);
	if (w->n >= COMMAND_MOST - 1)
		return err_set(e, ERR_USAGE, "too many options");
	w->command[w->n++] = word;
	return 0;
}

/* Adds --NAME=TEXT for each string of a list. */
static int add_list(struct writing *w, const struct json *list, const char *name, struct err *e)
{
	for (size_t i = 0; i < json_count(list); i++)
		if (add_word(w, arena_printf(&w->words, "--%s=%.*s", name, STR_ARG(json_str(json_at(list, i), ""))), e))
			return -1;
	return 0;
}

/* Adds the options of the request. Those of the machine belong to the server. */
static int add_options(struct writing *w, const struct json *options, struct err *e)
{
	static const char *const ours[] = { "--model", "--adapter", "--device", "--threads", "--out", "--weights" };
	char *words[COMMAND_MOST];
	int n = 0;

	if (request_words(options, &w->words, words, COMMAND_MOST / 2, &n, e))
		return -1;
	for (int i = 0; i < n; i++) {
		for (size_t k = 0; k < COUNT_OF(ours); k++)
			if (str_starts(str_of(words[i]), ours[k]))
				return err_set(e, ERR_USAGE, "option '%s' belongs to the server", ours[k] + 2);
		if (add_word(w, words[i], e))
			return -1;
	}
	w->seconds = json_real(json_get(options, "seconds"), 60);
	return w->seconds > 0 && w->seconds <= SECONDS_MOST ? 0 :
		err_set(e, ERR_USAGE, "seconds must be between 0 and %d", SECONDS_MOST);
}

static int read_request(struct writing *w, const struct write_service_options *o, struct str body, struct err *e)
{
	struct json *j = json_parse(body, e);
	struct str module, class = json_str(json_get(j, "class"), "");
	int rc = !j || json_need_str(j, "module", &module, e) ? -1 : 0;

	if (!rc) {
		w->module = (struct str){ .p = arena_strndup(&w->words, module.p, module.n), .n = module.n };
		rc = !w->module.p ? err_nomem(e) : add_word(w, "tritonrl", e) || add_word(w, "write", e) ||
			add_word(w, "-", e) || add_word(w, "--json", e) || add_word(w, "--quiet", e) ||
			add_word(w, arena_printf(&w->words, "--workers=%d", o->workers), e) ? -1 : 0;
	}
	if (!rc && o->model)
		rc = add_word(w, arena_printf(&w->words, "--model=%s", o->model), e);
	if (!rc && o->adapter)
		rc = add_word(w, arena_printf(&w->words, "--adapter=%s", o->adapter), e);
	if (!rc && o->no_sandbox)
		rc = add_word(w, "--unsafe-no-sandbox", e);
	if (!rc && class.n)
		rc = add_word(w, arena_printf(&w->words, "--class=%.*s", STR_ARG(class)), e);
	if (!rc)
		rc = add_list(w, json_get(j, "inputs"), "input", e) || add_list(w, json_get(j, "init"), "init", e) ||
			add_options(w, json_get(j, "options"), e) ? -1 : 0;
	json_free(j);
	return rc;
}

/* --- the process ------------------------------------------------------------------------------------------- */

/* A file without a name that holds the module, at its beginning. */
static int module_file(struct str module, struct err *e)
{
	FILE *f = tmpfile();
	int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 3) : -1;

	if (f)
		fclose(f);
	if (fd < 0 || file_write_all(fd, module.p, module.n, e) || lseek(fd, 0, SEEK_SET)) {
		err_errno(e, "cannot write a temporary file");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* Starts the program with the module as its standard input. *out and *errors read what it prints. */
static pid_t start(const struct writing *w, int *out, int *errors, struct err *e)
{
	posix_spawn_file_actions_t a;
	int module = module_file(w->module, e), o[2] = { -1, -1 }, r[2] = { -1, -1 }, rc;
	pid_t pid = -1;

	if (module < 0)
		return -1;
	if (pipe2(o, O_CLOEXEC) || pipe2(r, O_CLOEXEC)) {
		err_errno(e, "cannot make a pipe");
	} else {
		posix_spawn_file_actions_init(&a);
		posix_spawn_file_actions_adddup2(&a, module, 0);
		posix_spawn_file_actions_adddup2(&a, o[1], 1);
		posix_spawn_file_actions_adddup2(&a, r[1], 2);
		rc = posix_spawn(&pid, "/proc/self/exe", &a, NULL, w->command, environ);
		posix_spawn_file_actions_destroy(&a);
		if (rc) {
			errno = rc;
			err_errno(e, "cannot start the program");
			pid = -1;
		}
	}
	close(module);
	close(o[1]);
	close(r[1]);
	*out = o[0];
	*errors = r[0];
	return pid;
}

/* Reads a pipe that has something. Returns 0 at its end. */
static int read_some(int fd, struct buf *to)
{
	ssize_t n;

	if (to->n > ANSWER_MOST || buf_reserve(to, 65536))
		return 0;
	n = read(fd, to->p + to->n, 65535);
	if (n > 0) {
		to->n += (size_t)n;
		to->p[to->n] = 0;
	}
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads both pipes until the process closes them, its time is over, the client has gone or the server ends. */
static void follow(struct write_service *s, const struct writing *w, int out, int errors, struct buf *answer,
		   struct buf *said)
{
	int64_t until = clock_ns() + (int64_t)((w->seconds + GRACE) * 1e9);
	struct pollfd p[2] = { { .fd = out, .events = POLLIN }, { .fd = errors, .events = POLLIN } };

	while ((p[0].fd >= 0 || p[1].fd >= 0) && clock_ns() < until && !httpd_gone(w->call) &&
	       !atomic_load(&s->closing)) {
		if (poll(p, 2, 100) <= 0)
			continue;
		if (p[0].revents && !read_some(out, answer))
			p[0].fd = -1;
		if (p[1].revents && !read_some(errors, said))
			p[1].fd = -1;
	}
}

/* The last line of a text. */
static struct str last_line(struct str s)
{
	struct str rest = str_trim(s), line = rest;

	while (rest.n)
		line = str_cut(&rest, '\n');
	return line;
}

static void answer(void *ctx, struct queued *queued)
{
	struct write_service *s = ctx;
	struct writing *w = (struct writing *)queued;
	struct buf text = BUF_INIT, said = BUF_INIT;
	struct err e = ERR_INIT;
	int out = -1, errors = -1, status = 0;
	pid_t pid = httpd_gone(w->call) || atomic_load(&s->closing) ? -1 : start(w, &out, &errors, &e);

	if (pid > 0) {
		follow(s, w, out, errors, &text, &said);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	if (text.n && text.p[text.n - 1] == '\n')
		httpd_reply(w->call, 200, "application/json", buf_str(&text), NULL);
	else if (atomic_load(&s->closing))
		httpd_error(w->call, 503, "the server is stopping");
	else if (pid > 0 && WIFEXITED(status))
		httpd_error(w->call, 422, "%.*s", STR_ARG(last_line(buf_str(&said))));
	else
		httpd_error(w->call, 500, "%s", e.code ? e.text : "the writing process took too long or crashed");
	if (out >= 0)
		close(out);
	if (errors >= 0)
		close(errors);
	buf_release(&text);
	buf_release(&said);
	arena_release(&w->words);
	mem_free(w);
}

void write_service_write(struct write_service *s, struct httpd_call *call)
{
	struct writing *w = mem_zalloc(sizeof *w);
	struct err e = ERR_INIT;

	if (w)
		w->call = call;
	if (!w)
		httpd_error(call, 500, "out of memory");
	else if (read_request(w, &s->o, httpd_body(call), &e))
		httpd_error(call, 400, "%s", e.text);
	else if (!queue_enter(&s->queue, &w->queued))
		httpd_error(call, 429, "too many requests are waiting");
	else
		return;
	if (w)
		arena_release(&w->words);
	mem_free(w);
}

/* --- opening and closing ----------------------------------------------------------------------------------- */

struct write_service *write_service_open(const struct write_service_options *o, struct err *e)
{
	struct write_service *s = mem_zalloc(sizeof *s);

	if (!s) {
		err_nomem(e);
		return NULL;
	}
	s->o = *o;
	if (!queue_start(&s->queue, WAITING, answer, s, e))
		return s;
	mem_free(s);
	return NULL;
}

void write_service_close(struct write_service *s)
{
	if (!s)
		return;
	atomic_store(&s->closing, 1);
	queue_stop(&s->queue);
	mem_free(s);
}
