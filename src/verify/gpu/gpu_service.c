/* The process of the GPU judge: see gpu_service.h.
 *
 * Threads take jobs from a queue. Each compiles the kernels of its job, at the same time as the
 * others, and then waits for a bench (gpu_benches.h), which measures one candidate at a time. Invariant:
 * every job gets exactly one reply. */
#include "verify/gpu/gpu_service.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "verify/gpu/gpu_benches.h"

enum { THREADS_MOST = 64, QUEUE_MOST = 256 };

/* A job in the queue. The texts follow: task, then plans. */
struct gpu_job {
	struct gpu_job *next;
	struct service_job j;
	char text[];
};

struct service {
	int fd;
	struct kernel_compiler *compiler;
	struct gpu_benches benches;
	pthread_mutex_t queue_lock, reply_lock;
	pthread_cond_t changed;
	struct gpu_job *first, **last;
	int waiting;                /* jobs in the queue */
	int closed;                 /* no more jobs come */
	int64_t compiling_ns;       /* of all threads, for the log */
};

/* --- jobs ----------------------------------------------------------------------------------- */

/* Compiles the plans of a job, then measures. Threads compile while the benches work, so that a bench finds its
 * next candidate compiled. */
static void serve_job(struct service *s, const struct gpu_job *q, struct gpu_outcome *out)
{
	struct gpu_program p[GPU_PLANS];
	const struct str task = { .p = q->text, .n = q->j.task_n };
	const char *at = q->text + q->j.task_n;
	struct err e = ERR_INIT;
	int64_t begin = clock_ns();
	int n = 0, rc = 0;

	snprintf(out->gpu.device, sizeof out->gpu.device, "%.63s", s->benches.info.name);
	for (; n < q->j.n_plans && !rc; n++) {
		rc = gpu_program_open(&p[n], s->compiler, (struct str){ .p = at, .n = q->j.plan_n[n] }, out, &e);
		at += q->j.plan_n[n];
	}
	__atomic_fetch_add(&s->compiling_ns, clock_ns() - begin, __ATOMIC_RELAXED);
	snprintf(out->gpu.compiler, sizeof out->gpu.compiler, "%.23s", kernel_compiler_version(s->compiler));
	if (rc < 0)
		snprintf(out->gpu.note, sizeof out->gpu.note, "not measured: %.180s", e.text);
	else if (!rc && n)
		gpu_benches_measure(&s->benches, p, n, task, q->j.eval_mode, out);
	else if (!rc)
		snprintf(out->gpu.note, sizeof out->gpu.note, "the candidate has no launch plan");
	for (int i = 0; i < n; i++)
		gpu_program_release(&p[i]);
}

static int reply(struct service *s, uint64_t id, const struct gpu_outcome *out)
{
	struct service_reply r = { .magic = SERVICE_REPLY, .id = id, .outcome = *out };
	int rc;

	pthread_mutex_lock(&s->reply_lock);
	rc = file_write_all(s->fd, &r, sizeof r, NULL);
	pthread_mutex_unlock(&s->reply_lock);
	return rc;
}

/* The next job; NULL: no more come. */
static struct gpu_job *take_job(struct service *s)
{
	struct gpu_job *q;

	pthread_mutex_lock(&s->queue_lock);
	while (!s->first && !s->closed)
		pthread_cond_wait(&s->changed, &s->queue_lock);
	q = s->first;
	if (q) {
		s->first = q->next;
		if (!s->first)
			s->last = &s->first;
		s->waiting--;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->queue_lock);
	return q;
}

static void *work(void *ctx)
{
	struct service *s = ctx;
	struct gpu_job *q;

	while ((q = take_job(s))) {
		struct gpu_outcome out = { .failed = 0 };

		serve_job(s, q, &out);
		if (reply(s, q->j.id, &out))
			_exit(0);               /* the pool has gone */
		mem_free(q);
	}
	return NULL;
}

/* --- the process ---------------------------------------------------------------------------- */

/* Reads one job into the queue. Returns -1 when the pool has closed the socket. */
static int read_job(struct service *s)
{
	struct service_job j;
	struct gpu_job *q;
	size_t n;

	if (file_read_all(s->fd, &j, sizeof j, NULL) || j.magic != SERVICE_JOB || j.task_n > SERVICE_TEXT_MOST ||
	    j.n_plans < 0 || j.n_plans > GPU_PLANS)
		return -1;
	n = j.task_n;
	for (int i = 0; i < j.n_plans; i++)
		if (j.plan_n[i] > SERVICE_TEXT_MOST)
			return -1;
		else
			n += j.plan_n[i];
	q = mem_alloc(sizeof *q + n);
	if (!q || file_read_all(s->fd, q->text, n, NULL))
		return -1;
	q->j = j;
	q->next = NULL;
	pthread_mutex_lock(&s->queue_lock);
	while (s->waiting >= QUEUE_MOST)
		pthread_cond_wait(&s->changed, &s->queue_lock);
	*s->last = q;
	s->last = &q->next;
	s->waiting++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->queue_lock);
	return 0;
}

/* Finds the GPU and the compiler, and PyTorch if it is asked for. */
static int settle(struct service *s, const struct gpu_options *o, const struct judge_options *judge, char *text,
		  size_t n, struct err *e)
{
	struct kernel_compiler_options co = { .command = o->compiler, .python = o->python, .workers = o->compilers,
					      .seconds = 20.0, .memory = (size_t)16 << 30,
					      .no_sandbox = o->no_sandbox };

	if (gpu_benches_open(&s->benches, o, judge, text, n, e))
		return -1;
	co.capability = s->benches.info.capability;
	s->compiler = kernel_compiler_new(&co, e);
	return s->compiler ? 0 : -1;
}

static void end(struct service *s)
{
	if (s->benches.measured) {
		struct kernel_compiler_stats c = kernel_compiler_stats(s->compiler);

		gpu_benches_log(&s->benches);
		log_info("the GPU judge: %lld kernels asked for, %lld compiled before; threads waited %.1f s for "
			 "compilers", (long long)c.asked, (long long)c.cached, (double)s->compiling_ns * 1e-9);
	}
	gpu_benches_close(&s->benches);
	kernel_compiler_free(s->compiler);
}

void gpu_service_main(int fd, const struct gpu_options *o, const struct judge_options *judge)
{
	static struct service s;
	struct service_ready ready = { .magic = SERVICE_READY };
	pthread_t thread[THREADS_MOST];
	int n = MIN((o->compilers > 0 ? o->compilers : cpu_info()->cores) + BENCHES_MOST, THREADS_MOST);

	/* The socket of another GPU judge that the caller has must not stay open here: its process would
	 * never see the end. The log file stays open: a file
	 * that got its number would receive the messages. */
	file_close_others(fd, log_copy_fd());
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	s = (struct service){ .fd = fd, .last = &s.first };
	pthread_mutex_init(&s.queue_lock, NULL);
	pthread_mutex_init(&s.reply_lock, NULL);
	pthread_cond_init(&s.changed, NULL);
	ready.rc = settle(&s, o, judge, ready.text, sizeof ready.text, &ready.err);
	if (file_write_all(fd, &ready, sizeof ready, NULL) || ready.rc) {
		end(&s);
		_exit(2);
	}
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, &s))
			_exit(2);
	while (!read_job(&s))
		;
	pthread_mutex_lock(&s.queue_lock);
	s.closed = 1;
	pthread_cond_broadcast(&s.changed);
	pthread_mutex_unlock(&s.queue_lock);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	end(&s);
	_exit(0);
}
