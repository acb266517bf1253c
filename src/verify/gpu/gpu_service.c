/* The process of the GPU judge: see gpu_service.h.
 *
 * Threads take jobs from a queue. Each compiles the kernels of its job, at the same time as the
 * others, and then waits for the GPU, which one thread uses at a time. Invariant: every job gets
 * exactly one reply. */
#include "verify/gpu/gpu_service.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/store.h"
#include "verify/gpu/baseline_store.h"

enum { THREADS_MOST = 64, QUEUE_MOST = 256, TASKS_KEPT = 4 };

/* A job in the queue. The texts follow: task, then plans. */
struct gpu_job {
	struct gpu_job *next;
	struct service_job j;
	char text[];
};

struct service {
	int fd;
	struct gpu_bench b;
	pthread_mutex_t queue_lock, gpu_lock, reply_lock;
	pthread_cond_t changed, gpu_free;
	struct turn *turns;         /* threads that wait for the GPU, in order */
	int gpu_busy;
	uint64_t last_task;         /* hash of the task that was measured last */
	struct gpu_job *first, **last;
	int waiting;                /* jobs in the queue */
	int closed;                 /* no more jobs come */
	struct full_task task[TASKS_KEPT];
	int64_t used[TASKS_KEPT];   /* when each was used last, counted in jobs */
	int64_t jobs;
	int64_t measured, preparing_ns, measuring_ns;       /* for the log */
};

/* --- tasks ---------------------------------------------------------------------------------- */

/* The task at full size, prepared once. The one that was not used for longest makes room. */
static const struct full_task *find_task(struct service *s, struct str source, int eval_mode, struct err *e)
{
	uint64_t hash = full_task_hash(source, eval_mode);
	int at = 0;

	s->jobs++;
	for (int i = 0; i < TASKS_KEPT; i++) {
		if (s->task[i].hash == hash) {
			s->used[i] = s->jobs;
			return &s->task[i];
		}
		at = s->used[i] < s->used[at] ? i : at;
	}
	full_task_release(&s->task[at]);
	if (full_task_open(&s->task[at], s->b.judge, &s->b.torch, source, eval_mode, e)) {
		full_task_release(&s->task[at]);
		return NULL;
	}
	s->used[at] = s->jobs;
	return &s->task[at];
}

/* --- the GPU -------------------------------------------------------------------------------- */

/* A thread that waits for the GPU with a candidate of a task. */
struct turn {
	struct turn *next;
	uint64_t task;
};

static int is_prepared(const struct service *s, uint64_t task)
{
	for (int i = 0; i < TASKS_KEPT; i++)
		if (s->task[i].hash == task)
			return 1;
	return 0;
}

/* The next thread: one with the task of the last candidate, whose baseline PyTorch can time, else one
 * whose task is prepared, else the first. Preparing a task costs more than measuring a candidate. */
static const struct turn *next_turn(const struct service *s)
{
	for (const struct turn *t = s->turns; t; t = t->next)
		if (t->task == s->last_task)
			return t;
	for (const struct turn *t = s->turns; t; t = t->next)
		if (is_prepared(s, t->task))
			return t;
	return s->turns;
}

static void take_gpu(struct service *s, uint64_t task)
{
	struct turn me = { .task = task }, **at = &s->turns;

	pthread_mutex_lock(&s->gpu_lock);
	while (*at)
		at = &(*at)->next;
	*at = &me;
	while (s->gpu_busy || next_turn(s) != &me)
		pthread_cond_wait(&s->gpu_free, &s->gpu_lock);
	for (at = &s->turns; *at != &me;)
		at = &(*at)->next;
	*at = me.next;
	s->gpu_busy = 1;
	s->last_task = task;
	pthread_mutex_unlock(&s->gpu_lock);
}

static void give_gpu(struct service *s)
{
	pthread_mutex_lock(&s->gpu_lock);
	s->gpu_busy = 0;
	pthread_cond_broadcast(&s->gpu_free);
	pthread_mutex_unlock(&s->gpu_lock);
}

/* --- jobs ----------------------------------------------------------------------------------- */

/* Measures when the GPU is free. A failure of ours is a note of the outcome: the candidate is
 * not measured, and that is said. */
static void measure(struct service *s, const struct gpu_job *q, struct gpu_program *p, struct gpu_outcome *out)
{
	const struct full_task *t;
	struct err e = ERR_INIT;
	int64_t begin;

	take_gpu(s, full_task_hash((struct str){ .p = q->text, .n = q->j.task_n }, q->j.eval_mode));
	begin = clock_ns();
	t = find_task(s, (struct str){ .p = q->text, .n = q->j.task_n }, q->j.eval_mode, &e);
	s->preparing_ns += clock_ns() - begin;
	begin = clock_ns();
	if (!t || gpu_measure(&s->b, p, q->j.n_plans, t, out, &e)) {
		snprintf(out->gpu.note, sizeof out->gpu.note, "not measured: %.180s", e.text);
		out->gpu.ran = 0;
	}
	s->measuring_ns += clock_ns() - begin;
	s->measured++;
	give_gpu(s);
}

/* Compiles the plans of a job, then measures. */
static void serve_job(struct service *s, const struct gpu_job *q, struct gpu_outcome *out)
{
	struct gpu_program p[GPU_PLANS];
	const char *at = q->text + q->j.task_n;
	struct err e = ERR_INIT;
	int n = 0, rc = 0;

	snprintf(out->gpu.device, sizeof out->gpu.device, "%.63s", s->b.info.name);
	for (; n < q->j.n_plans && !rc; n++) {
		rc = gpu_program_open(&p[n], s->b.compiler, (struct str){ .p = at, .n = q->j.plan_n[n] }, out, &e);
		at += q->j.plan_n[n];
	}
	snprintf(out->gpu.compiler, sizeof out->gpu.compiler, "%.23s", kernel_compiler_version(s->b.compiler));
	if (rc < 0)
		snprintf(out->gpu.note, sizeof out->gpu.note, "not measured: %.180s", e.text);
	else if (!rc && n)
		measure(s, q, p, out);
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

/* Finds the GPU, and PyTorch if it is asked for. Without PyTorch our own engine gives the expected
 * results, and there is no measured baseline. */
static int settle(struct service *s, const struct judge_options *judge, char *text, size_t n, struct err *e)
{
	struct gpu_bench *b = &s->b;
	struct kernel_compiler_options co = { .command = b->o.compiler, .python = b->o.python,
					      .workers = b->o.compilers, .seconds = 20.0, .memory = (size_t)16 << 30,
					      .no_sandbox = b->o.no_sandbox };
	struct slot_answer a;
	struct err none = ERR_INIT;

	b->torch.fd = -1;
	b->torch_slot.spawner = b->torch_slot.fd = -1;
	if (gpu_slot_open(&b->slot, b->o.driver, b->o.ordinal, MAX(b->o.seconds, 30.0), e))
		return -1;
	if (gpu_slot_info(&b->slot, &a) != SLOT_OK)
		return err_set(e, ERR_UNSUPPORTED, "%s", a.text);
	b->slot.seconds = b->o.seconds;
	b->info = a.info;
	co.capability = b->info.capability;
	b->judge = judge_new(judge, e);
	b->compiler = b->judge ? kernel_compiler_new(&co, e) : NULL;
	if (!b->compiler || baselines_open(&b->store, e))
		return -1;
	if (strcmp(b->o.torch_device, "none") &&
	    gpu_slot_open_torch(&b->torch_slot, b->o.python, b->o.torch_device, b->o.seconds, e))
		return -1;
	if (strcmp(b->o.torch_device, "none") && torch_process_open(&b->torch, b->o.python, b->o.torch_device, &none)) {
		torch_process_close(&b->torch);
		log_warn("PyTorch cannot be used, so there is no measured baseline: %s", none.text);
	}
	snprintf(text, n, "%s, driver %d.%d, PyTorch %s", b->info.name, b->info.driver / 1000,
		 b->info.driver % 1000 / 10, torch_process_is_there(&b->torch) ? b->torch.version : "not there");
	return 0;
}

static void end(struct service *s)
{
	if (s->measured)
		log_info("the GPU judge: %lld candidates; preparing tasks took %.1f s, measuring %.1f s",
			 (long long)s->measured, (double)s->preparing_ns * 1e-9, (double)s->measuring_ns * 1e-9);
	for (int i = 0; i < TASKS_KEPT; i++)
		full_task_release(&s->task[i]);
	torch_process_close(&s->b.torch);
	kernel_compiler_free(s->b.compiler);
	gpu_slot_close(&s->b.slot);
	gpu_slot_close(&s->b.torch_slot);
	store_close(s->b.store);
}

void gpu_service_main(int fd, const struct gpu_options *o, const struct judge_options *judge)
{
	static struct service s;
	struct service_ready ready = { .magic = SERVICE_READY };
	pthread_t thread[THREADS_MOST];
	int n = MIN((o->compilers > 0 ? o->compilers : cpu_info()->cores) + 1, THREADS_MOST);

	/* The socket of another GPU judge that the caller has must not stay open here: its process would
	 * never see the end. */
	syscall(SYS_close_range, 3, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0u, 0);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	s = (struct service){ .fd = fd, .b = { .o = *o }, .last = &s.first };
	for (int i = 0; i < TASKS_KEPT; i++)
		s.task[i].inputs_fd = -1;
	pthread_mutex_init(&s.queue_lock, NULL);
	pthread_mutex_init(&s.gpu_lock, NULL);
	pthread_mutex_init(&s.reply_lock, NULL);
	pthread_cond_init(&s.changed, NULL);
	pthread_cond_init(&s.gpu_free, NULL);
	ready.rc = settle(&s, judge, ready.text, sizeof ready.text, &ready.err);
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
