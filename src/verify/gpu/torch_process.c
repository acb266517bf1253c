/* The trusted PyTorch process: see torch_process.h. */
#include "verify/gpu/torch_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "tensor/safetensors.h"

/* Seconds for importing PyTorch, for preparing a task and for a batch of trials (compiling
 * included), and the longest line. */
enum { START_SECONDS = 180, WORK_SECONDS = 600, LINE_MOST = 1 << 20, LINK_FD = 3 };

__asm__(".pushsection .rodata\n"
	".globl gpu_torch_worker\n"
	"gpu_torch_worker:\n"
	".incbin \"python/tritonrl/torch_worker.py\"\n"
	".byte 0\n"
	".popsection\n");
extern const char gpu_torch_worker[];

int torch_process_is_there(const struct torch_process *p) { return p->fd >= 0 && p->version[0]; }

/* --- lines ---------------------------------------------------------------------------------- */

/* Reads one line. The bytes after it stay for the next call. */
static int read_line(struct torch_process *p, int seconds, struct buf *line, struct err *e)
{
	int64_t deadline = clock_ns() + seconds * (int64_t)1000000000;
	char part[65536], *end;
	ssize_t k;

	while (!p->in.n || !(end = memchr(p->in.p, '\n', p->in.n))) {
		struct pollfd w = { .fd = p->fd, .events = POLLIN };
		int64_t left = (deadline - clock_ns()) / 1000000;

		if (left <= 0 || poll(&w, 1, (int)left) == 0)
			return err_set(e, ERR_IO, "PyTorch did not answer within %d seconds", seconds);
		k = recv(p->fd, part, sizeof part, 0);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0 || p->in.n > LINE_MOST)
			return err_set(e, ERR_IO, "the PyTorch process ended");
		buf_add(&p->in, part, (size_t)k);
		if (buf_check(&p->in, e))
			return -1;
	}
	buf_clear(line);
	buf_add(line, p->in.p, (size_t)(end - p->in.p));
	p->in.n -= (size_t)(end + 1 - p->in.p);
	memmove(p->in.p, end + 1, p->in.n);
	return buf_check(line, e);
}

/* Sends a request and reads the reply. Returns NULL if the process is lost (it is closed then) or
 * says that it failed (*e). */
static struct json *ask(struct torch_process *p, struct buf *request, int seconds, struct err *e)
{
	struct buf line = BUF_INIT;
	struct json *j = NULL;

	buf_addc(request, '\n');
	if (buf_check(request, e) || file_write_all(p->fd, request->p, request->n, e) ||
	    read_line(p, seconds, &line, e))
		torch_process_close(p);
	else
		j = json_parse(buf_str(&line), e);
	buf_release(&line);
	if (j && !json_bool(json_get(j, "ok"), 0)) {
		err_set(e, ERR_STATE, "PyTorch: %.*s", STR_ARG(json_str(json_get(j, "why"), "no reason")));
		json_free(j);
		j = NULL;
	}
	return j;
}

/* --- life ----------------------------------------------------------------------------------- */

static _Noreturn void become_torch(const char *python, const char *device, int fd)
{
	const char *program = python ? python : "python3";
	char number[16];
	int null = open("/dev/null", O_RDWR);

	snprintf(number, sizeof number, "%d", LINK_FD);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || dup2(fd, LINK_FD) < 0)
		_exit(125);
	syscall(SYS_close_range, LINK_FD + 1, ~0u, 0);
	execlp(program, program, "-I", "-c", gpu_torch_worker, number, device, (char *)NULL);
	_exit(127);
}

/* The first question. Its time limit is longer: the process imports PyTorch, and runs a small task, because the first
 * task of a process loads libraries for seconds. */
int torch_process_wait(struct torch_process *p, struct err *e)
{
	struct buf hello = BUF_INIT;
	struct json *j;

	if (torch_process_is_there(p))
		return 0;
	buf_adds(&hello, "{\"do\":\"hello\"}");
	j = ask(p, &hello, START_SECONDS, e);
	buf_release(&hello);
	if (!j)
		return -1;
	snprintf(p->device, sizeof p->device, "%.*s", STR_ARG(json_str(json_get(j, "device"), "")));
	snprintf(p->version, sizeof p->version, "%.*s", STR_ARG(json_str(json_get(j, "torch"), "")));
	snprintf(p->cupti, sizeof p->cupti, "%.*s", STR_ARG(json_str(json_get(j, "cupti"), "")));
	json_free(j);
	return 0;
}

int torch_process_start(struct torch_process *p, const char *python, const char *device, struct err *e)
{
	int pair[2];

	*p = (struct torch_process){ .fd = -1 };
	snprintf(p->folder, sizeof p->folder, "/dev/shm/tritonrl-torch-XXXXXX");
	if (!mkdtemp(p->folder)) {
		p->folder[0] = 0;
		return err_errno(e, "cannot make a folder for PyTorch's results");
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "socketpair");
	p->pid = fork();
	if (!p->pid)
		become_torch(python, device, pair[1]);
	close(pair[1]);
	p->fd = pair[0];
	return p->pid < 0 ? err_errno(e, "fork") : 0;
}

void torch_process_close(struct torch_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	if (p->folder[0])
		file_remove_tree(p->folder, NULL);
	buf_release(&p->in);
	*p = (struct torch_process){ .fd = -1 };
}

/* --- results -------------------------------------------------------------------------------- */

/* The results of one kind ("own") and input set, from the file. */
static int read_results(const struct st_file *f, const char *kind, int set, struct results *out, struct err *e)
{
	char name[48];
	const struct st_tensor *t;

	*out = (struct results){ .n = 0 };
	for (;;) {
		struct result *r = &out->r[out->n];

		snprintf(name, sizeof name, "%s.%d.%d", kind, set, out->n);
		t = st_find(f, name);
		if (!t || out->n == RESULTS_MOST)
			return 0;
		*r = (struct result){ .dt = t->dt, .ndim = t->ndim, .n = t->numel };
		memcpy(r->shape, t->shape, sizeof r->shape);
		out->n++;
		if (result_fill(r, t->data, e))
			return -1;
	}
}

/* Expected results of one set, with the tolerance that PyTorch's own runs have. */
static int read_set(struct full_task *t, const struct st_file *f, int set, const struct judge_options *o, int64_t sum,
		    struct err *e)
{
	struct results own, products = { .n = 0 }, close = { .n = 0 };
	int rc = read_results(f, "expected", set, &t->expected[set], e) || read_results(f, "own", set, &own, e);

	if (!rc && o->precision != PRECISION_IEEE)
		rc = read_results(f, "torch", set, &products, e);
	if (!rc && o->precision == PRECISION_TORCH)
		rc = read_results(f, "close", set, &close, e);
	if (!rc && own.n != t->expected[set].n)
		rc = err_set(e, ERR_FORMAT, "PyTorch's results are incomplete");
	if (!rc && !(rc = results_note_overflow(&t->expected[set], &own, e)))
		full_task_tolerate(&t->expected[set], &own, &products, &close, sum);
	results_release(&own);
	results_release(&products);
	results_release(&close);
	return rc ? -1 : 0;
}

/* Opens both files, which lie in memory (/dev/shm): one holds what runners may see, the other the expected
 * results. The file with inputs stays open for runners, without a name. */
static int take_files(struct full_task *t, const struct json *j, const struct judge_options *o, struct err *e)
{
	char path[2][160];
	struct st_file *f;
	int rc = 0;

	snprintf(path[0], sizeof path[0], "%.*s", STR_ARG(json_str(json_get(j, "inputs"), "")));
	snprintf(path[1], sizeof path[1], "%.*s", STR_ARG(json_str(json_get(j, "results"), "")));
	t->inputs_fd = open(path[0], O_RDONLY | O_CLOEXEC);
	if (t->inputs_fd < 0)
		return err_errno(e, "cannot open '%s'", path[0]);
	f = st_open(path[1], e);
	if (!f)
		return -1;
	t->flops = json_real(json_get(j, "flops"), 0.0);
	for (t->sets = 0; t->sets < MIN((int)json_int(json_get(j, "sets"), 0), FULL_TASK_SETS) && !rc; t->sets++)
		rc = read_set(t, f, t->sets, o, json_int(json_get(j, "sum"), 1), e);
	st_close(f);
	unlink(path[0]);
	unlink(path[1]);
	return rc;
}

int torch_process_prepare(struct torch_process *p, struct full_task *t, struct str source, int eval_mode,
			  const struct judge_options *o, struct err *e)
{
	struct buf request = BUF_INIT;
	struct jw w = { .out = &request };
	struct json *j;
	int rc = 0;

	jw_begin(&w, '{');
	jw_key(&w, "do"), jw_cstr(&w, "prepare");
	jw_key(&w, "task"), jw_str(&w, source);
	jw_key(&w, "seed"), jw_int(&w, (int64_t)o->seed);
	jw_key(&w, "sets"), jw_int(&w, FULL_TASK_SETS);
	jw_key(&w, "eval"), jw_bool(&w, eval_mode);
	jw_key(&w, "precision"), jw_cstr(&w, precision_name(o->precision));
	jw_key(&w, "folder"), jw_cstr(&w, p->folder);
	jw_end(&w, '}');
	snprintf(t->source, sizeof t->source, "torch");
	p->prepared = 0;
	j = ask(p, &request, WORK_SECONDS, e);
	buf_release(&request);
	if (!j) {
		snprintf(t->why, sizeof t->why, "%.200s", e->text);
		err_clear(e);
		return 0;
	}
	rc = take_files(t, j, o, e);
	json_free(j);
	p->prepared = rc ? 0 : t->hash;
	return rc;
}

int torch_process_time(struct torch_process *p, enum baseline mode, int warm, int trials,
		       struct timing_sample *out, struct err *e)
{
	struct buf request = BUF_INIT;
	const struct json *list;
	struct json *j;
	int n;

	buf_addf(&request, "{\"do\":\"time\",\"mode\":\"%s\",\"warm\":%d,\"trials\":%d}", baseline_name(mode), warm,
		 trials);
	j = ask(p, &request, WORK_SECONDS, e);
	buf_release(&request);
	if (!j)
		return -1;
	list = json_get(j, "seconds");
	n = MIN((int)json_count(list), trials);
	for (int i = 0; i < n; i++)
		out[i] = (struct timing_sample){ .seconds = json_real(json_at(list, (size_t)i), 0.0) };
	json_free(j);
	return n;
}
