/* The parent's side of the pool: see pool.h.
 *
 * Owns the queue of jobs, the workers' sockets and time limits, and the check of replies. It does
 * not judge: worker.c does. One thread polls all sockets. Invariant: every submitted job is
 * returned exactly once, with a verdict or an error, even if its worker hangs or dies. */
#include "verify/pool/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "verify/pool/measuring.h"
#include "verify/pool/worker.h"

/* How many failures of its worker a candidate may cause before the failure becomes its verdict. A
 * worker that was killed says little about its candidate: an operator or the kernel's memory killer
 * may have done it. That must happen far more often than by chance. */
enum { CRASHES_MOST = 2, TIMEOUTS_MOST = 2, KILLS_MOST = 64 };
/* After this many workers in a row that end before they are ready, the pool gives up. */
enum { STARTS_MOST = 8 };
/* The largest number of workers. It bounds the array for poll. */
enum { WORKERS_MOST = 256 };
/* The pool prefers a queued job of the task that a worker has prepared. LOOK_MOST: how many queued
 * jobs are searched for one. PASSED_MOST: how often the first job may be passed over for it. */
enum { LOOK_MOST = 64, PASSED_MOST = 64 };
/* The wall-clock limit is this many times the CPU limit, for machines that are busy. */
enum { CLOCK_TIMES = 5 };
/* A worker's CPU limit in units of a candidate's. The runner has its own limit (zygote.c); the
 * worker also prepares tasks, which runs a network of a hundred layers a dozen times. */
enum { PREPARE_TIMES = 6 };
/* Time between two checks whether a worker makes progress. */
enum { LOOK_NS = 250000000 };

/* A candidate on its way: in the queue, or with a worker. It is freed when it moves to the finished
 * list. */
struct job {
	struct job *next;
	uint64_t id;
	int crashes, timeouts, kills;   /* failures of its workers so far */
	int passed;               /* how often a later job was started first */
	int64_t used_ns;          /* CPU time on workers that were killed */
	uint64_t task;            /* hash of the task's source */
	size_t task_n, candidate_n;
	char text[];              /* the task's source, then the candidate's */
};

/* A place for one worker. */
struct slot {
	struct worker_handle w;   /* fd -1: no worker */
	int ready;                /* it has entered the sandbox */
	struct job *job;          /* being judged; NULL: idle. Owned */
	uint64_t task;            /* hash of its last task, which it holds prepared */
	int64_t deadline_ns;      /* wall clock */
	int64_t started_ns;       /* CPU time of the worker when it got the job */
	int64_t looked_ns;        /* wall clock at the last check for progress */
	int64_t moved_ns;         /* wall clock when its CPU time became moved_cpu */
	int64_t moved_cpu;
	size_t got;               /* bytes of the reply received so far */
	struct reply_frame reply;
	struct buf plan[GPU_PLANS];       /* launch plans of its job */
	int plans;
	struct buf dump;          /* the bytes that follow a FRAME_DUMP or FRAME_PLAN */
	size_t dump_n;            /* bytes of it received; less than dump.n while more is to come */
};

/* A finished job that judge_pool_next has not returned yet. */
struct done {
	struct done *next;
	struct judged j;
};

/* The whole pool. One thread uses it, so that it needs no lock. */
struct judge_pool {
	struct judge_options o;
	struct judge_pool_options p;
	int spawner;              /* socket to the process that forks workers; -1: none */
	pid_t spawner_pid;
	struct slot *slot;
	int workers;
	int starts;               /* failed starts since the last successful one */
	struct job *first, **last;        /* waiting jobs */
	struct done *done, **done_last;
	size_t pending;
	struct measuring *measuring;      /* candidates on their way through the GPU; NULL: none are measured */
	int woken;                /* wake_fd was signalled */
	struct judge_pool_stats stats;
};

/* --- workers --------------------------------------------------------------------------- */

/* Frees the plans of the last job. */
static void drop_plans(struct slot *s)
{
	while (s->plans)
		buf_release(&s->plan[--s->plans]);
}

/* Kills the worker and releases its slot. Returns 1 if the worker died by SIGKILL. */
static int slot_close(struct judge_pool *p, struct slot *s)
{
	int status = SIGKILL;

	if (s->w.fd < 0)
		return 0;
	syscall(SYS_pidfd_send_signal, s->w.pidfd, SIGKILL, NULL, 0);
	spawner_status(p->spawner, s->w.pid, &status);
	close(s->w.fd);
	close(s->w.pidfd);
	s->w.fd = s->w.pidfd = -1;
	s->ready = 0;
	s->task = 0;
	s->got = 0;
	buf_release(&s->dump);
	s->dump_n = 0;
	drop_plans(s);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Forks the spawner. It must be forked early: everything the caller holds is copied into each
 * worker. */
static int start_spawner(struct judge_pool *p, struct err *e)
{
	int pair[2];
	pid_t self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(e, "socketpair");
	p->spawner_pid = fork();
	if (p->spawner_pid < 0) {
		close(pair[0]);
		close(pair[1]);
		return err_errno(e, "fork");
	}
	if (p->spawner_pid == 0) {
		close(pair[0]);
		spawner_main(pair[1], self, &p->o, &p->p);
	}
	close(pair[1]);
	p->spawner = pair[0];
	return 0;
}

/* Closes the socket, which ends the spawner, and waits for it. Its workers die with it. */
static void stop_spawner(struct judge_pool *p)
{
	if (p->spawner < 0)
		return;
	close(p->spawner);
	waitpid(p->spawner_pid, NULL, 0);
	p->spawner = -1;
}

/* CPU time of a worker in nanoseconds; -1 if unknown. Time limits count CPU time so that a busy
 * machine does not fail a candidate. */
static int64_t cpu_ns(const struct slot *s)
{
	clockid_t id;
	struct timespec t;

	if (clock_getcpuclockid(s->w.pid, &id) || clock_gettime(id, &t))
		return -1;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Tells whether a worker hangs. Preparing a task and comparing results use CPU time, and a worker
 * that waits for its runner wakes up every quarter of a second (zygote.c). So a worker is never
 * idle for long, even on a busy machine. A worker without progress for as long as a candidate may
 * compute is in a lock, in the kernel, or stopped.
 *
 * Only consecutive checks count. While the pool's user does something else for longer than four
 * checks, nobody reads the socket and the worker may have had to wait. */
static int is_still(const struct judge_pool *p, struct slot *s, int64_t now)
{
	int64_t since = now - s->looked_ns, cpu;

	if (!s->job || since < LOOK_NS)
		return 0;
	s->looked_ns = now;
	cpu = cpu_ns(s);
	if (cpu != s->moved_cpu || since > 4 * (int64_t)LOOK_NS) {
		s->moved_cpu = cpu;
		s->moved_ns = now;
	}
	return (double)(now - s->moved_ns) > (p->p.seconds + 1.0) * 1e9;
}

/* Tells whether a worker has used its time. It reads the CPU clock only after the earliest
 * wall-clock time at which the limit can be reached. */
static int is_late(const struct judge_pool *p, const struct slot *s, int64_t now)
{
	int64_t limit = PREPARE_TIMES * (int64_t)(p->p.seconds * 1e9), used;

	if (!s->job || now > s->deadline_ns)
		return now > s->deadline_ns;
	if (now < s->deadline_ns - (CLOCK_TIMES - 1) * limit)
		return 0;
	used = cpu_ns(s);
	return used < 0 || s->started_ns < 0 || used - s->started_ns > limit;
}

/* Starts a worker. If the spawner was killed, its workers died with it, and a new spawner is
 * started. */
static int slot_start(struct judge_pool *p, struct slot *s, struct err *e)
{
	struct err gone = ERR_INIT;

	s->ready = 0;
	s->got = 0;
	s->deadline_ns = clock_ns() + (int64_t)(30.0 * 1e9);
	if (!spawner_start(p->spawner, &s->w, &gone))
		return 0;
	log_warn("%s; another one is started", gone.text);
	stop_spawner(p);
	return start_spawner(p, e) || spawner_start(p->spawner, &s->w, e) ? -1 : 0;
}

/* Starts the spawner at once and workers later, with the first jobs: a pool that is never used
 * costs little. */
struct judge_pool *judge_pool_open(const struct judge_options *o, const struct judge_pool_options *po, struct err *e)
{
	struct judge_pool *p = mem_zalloc(sizeof *p);

	if (!p) {
		err_nomem(e);
		return NULL;
	}
	p->o = *o;
	p->p = *po;
	p->spawner = -1;
	p->last = &p->first;
	p->done_last = &p->done;
	p->workers = MIN(po->workers > 0 ? po->workers : cpu_info()->cores, WORKERS_MOST);
	p->slot = mem_array((size_t)p->workers, sizeof *p->slot);
	if (!p->slot) {
		err_nomem(e);
		p->workers = 0;
		judge_pool_close(p);
		return NULL;
	}
	for (int i = 0; i < p->workers; i++)
		p->slot[i].w.fd = p->slot[i].w.pidfd = -1;
	if (po->no_sandbox)
		log_warn("judging without a sandbox, as told");
	if ((po->gpu.on && !(p->measuring = measuring_open(&po->gpu, o, e))) || start_spawner(p, e)) {
		judge_pool_close(p);
		return NULL;
	}
	return p;
}

/* Kills the workers, also busy ones, and frees the jobs without an answer. */
void judge_pool_close(struct judge_pool *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->workers; i++) {
		slot_close(p, &p->slot[i]);
		mem_free(p->slot[i].job);
	}
	stop_spawner(p);
	measuring_close(p->measuring);
	for (struct job *j = p->first, *next; j; j = next) {
		next = j->next;
		mem_free(j);
	}
	for (struct done *d = p->done, *next; d; d = next) {
		next = d->next;
		mem_free(d);
	}
	mem_free(p->slot);
	mem_free(p);
}

int judge_pool_workers(const struct judge_pool *p) { return p->workers; }
size_t judge_pool_pending(const struct judge_pool *p) { return p->pending; }
struct judge_pool_stats judge_pool_stats(const struct judge_pool *p) { return p->stats; }

/* --- jobs -------------------------------------------------------------------------------- */

/* Moves a job to the finished list. Frees the job. */
static int finish(struct judge_pool *p, struct job *j, int rc, const struct verdict *v, const struct err *why,
		  struct err *e)
{
	struct done *d = mem_zalloc(sizeof *d);

	if (!d)
		return err_nomem(e);
	d->j = (struct judged){ .id = j->id, .rc = rc, .verdict = *v, .err = *why };
	*p->done_last = d;
	p->done_last = &d->next;
	p->stats.judged++;
	mem_free(j);
	return 0;
}

/* Finishes a job whose source is too large to send. A candidate that is too large fails. If the
 * task is too large, judging fails (rc -1): nothing can be judged with it. */
static int finish_large(struct judge_pool *p, struct job *j, int candidate, struct err *e)
{
	struct verdict v = { .track = p->o.track, .stage = STAGE_ast };
	struct err why = ERR_INIT;

	v.stages[STAGE_ast].ran = 1;
	diag_set(&v.diag, candidate ? REASON_hard_coded : REASON_bad_task, 0, 0,
		 "the source has more than %d bytes", FRAME_MOST);
	return finish(p, j, candidate ? 0 : -1, &v, &why, e);
}

/* Keeps both texts in one block after the job, so that one send passes them to a worker. */
int judge_pool_submit(struct judge_pool *p, uint64_t id, struct str task, struct str candidate, struct err *e)
{
	int large = task.n > FRAME_MOST || candidate.n > FRAME_MOST;
	struct job *j = mem_alloc(sizeof *j + (large ? 0 : task.n + candidate.n));

	if (!j)
		return err_nomem(e);
	if (large) {
		*j = (struct job){ .id = id };
		p->pending++;
		return finish_large(p, j, candidate.n > FRAME_MOST, e);
	}
	*j = (struct job){ .id = id, .task = hash_xxh64(task.p, task.n, 0), .task_n = task.n,
			   .candidate_n = candidate.n };
	memcpy(j->text, task.p, task.n);
	memcpy(j->text + task.n, candidate.p, candidate.n);
	*p->last = j;
	p->last = &j->next;
	p->pending++;
	return 0;
}

/* Tells whether some worker holds this task prepared. */
static int is_taken(const struct judge_pool *p, uint64_t task)
{
	for (int i = 0; i < p->workers; i++)
		if (p->slot[i].ready && p->slot[i].task == task)
			return 1;
	return 0;
}

/* Chooses the job for a worker: one of the task that it holds prepared, else the first job of a
 * task that no worker holds, else the first job. So each task is prepared by one worker, not by
 * all. A job that was passed over PASSED_MOST times comes next in any case. */
static struct job **choose_job(struct judge_pool *p, const struct slot *s)
{
	struct job **other = NULL;
	int n = 0;

	if (!p->first || p->first->passed >= PASSED_MOST)
		return &p->first;
	for (struct job **at = &p->first; *at && n < LOOK_MOST; at = &(*at)->next, n++) {
		if ((*at)->task == s->task)
			return at;
		if (!other && !is_taken(p, (*at)->task))
			other = at;
	}
	return other ? other : &p->first;
}

/* Removes the chosen job from the queue. Returns NULL if the queue is empty. */
static struct job *take_job(struct judge_pool *p, struct slot *s)
{
	struct job **at = choose_job(p, s), *j = *at;

	if (!j)
		return NULL;
	p->first->passed += j != p->first;
	*at = j->next;
	if (!*at)
		p->last = at;
	j->next = NULL;
	s->task = j->task;
	return j;
}

/* Gives a verdict to a candidate whose workers died or ran out of time. */
static int finish_dead(struct judge_pool *p, struct job *j, enum reason why, struct err *e)
{
	struct verdict v = { .track = p->o.track, .stage = STAGE_tiny };
	struct err none = ERR_INIT;

	v.stages[STAGE_ast] = (struct verdict_stage){ .ran = 1, .passed = 1 };
	v.stages[STAGE_tiny].ran = 1;
	diag_set(&v.diag, why, 0, 0, "%s", reason_text(why));
	return finish(p, j, 0, &v, &none, e);
}

/* Why a worker is given up: it died, sent a malformed reply, or exceeded its time. */
enum worker_loss { LOSS_DEAD, LOSS_NONSENSE, LOSS_LATE };

/* Closes a worker. Its job goes back to the head of the queue, or gets a verdict if it has failed
 * too often. */
static int worker_lost(struct judge_pool *p, struct slot *s, enum worker_loss how, struct err *e)
{
	struct job *j = s->job;
	int64_t used = s->job && s->w.fd >= 0 ? cpu_ns(s) - s->started_ns : 0;
	int killed = slot_close(p, s) && how == LOSS_DEAD, again;

	s->job = NULL;
	p->stats.replaced++;
	if (how == LOSS_LATE)
		p->stats.timed_out++;
	else
		p->stats.crashed++;
	if (!j)
		return ++p->starts < STARTS_MOST ? 0 : err_set(e, ERR_DENIED,
							       "judging workers end before they are ready");
	/* A candidate whose workers are killed again and again may have used its time
	 * nevertheless. */
	if (killed && (j->used_ns += MAX(used, 0)) > TIMEOUTS_MOST * (int64_t)(p->p.seconds * 1e9))
		return finish_dead(p, j, REASON_worker_timeout, e);
	if (how == LOSS_LATE)
		again = ++j->timeouts < TIMEOUTS_MOST;
	else
		again = killed ? ++j->kills < KILLS_MOST : ++j->crashes < CRASHES_MOST;
	if (again) {
		j->next = p->first;
		if (!p->first)
			p->last = &j->next;
		p->first = j;
		return 0;
	}
	return finish_dead(p, j, how == LOSS_LATE ? REASON_worker_timeout : REASON_worker_crashed, e);
}

/* Sends the next job to a worker. A worker that cannot be written to is lost. */
static int give_job(struct judge_pool *p, struct slot *s, struct err *e)
{
	struct job_frame f = { .magic = FRAME_JOB };
	struct job *j = take_job(p, s);

	if (!j)
		return 0;
	s->job = j;
	s->deadline_ns = clock_ns() + CLOCK_TIMES * PREPARE_TIMES * (int64_t)(p->p.seconds * 1e9);
	s->started_ns = cpu_ns(s);
	f.task_n = (uint32_t)j->task_n;
	f.candidate_n = (uint32_t)j->candidate_n;
	f.id = j->id;
	if (send(s->w.fd, &f, sizeof f, MSG_NOSIGNAL | MSG_MORE) != sizeof f)
		return worker_lost(p, s, LOSS_DEAD, e);
	for (size_t at = 0, n = j->task_n + j->candidate_n; at < n;) {
		ssize_t k = send(s->w.fd, j->text + at, n - at, MSG_NOSIGNAL);

		if (k <= 0 && errno != EINTR)
			return worker_lost(p, s, LOSS_DEAD, e);
		at += k > 0 ? (size_t)k : 0;
	}
	return 0;
}

/* --- replies ------------------------------------------------------------------------------ */

/* Checks a reply. Its bytes come from a process that handled hostile input, so every enum, count
 * and string end is checked before anything uses it. */
static int reply_is_sane(const struct reply_frame *r, const struct job *j)
{
	const struct verdict *v = &r->verdict;

	if (r->magic != FRAME_REPLY || r->id != j->id || (unsigned)v->stage >= STAGES ||
	    (unsigned)v->diag.reason >= REASONS ||
	    v->n_inputs < 0 || v->n_inputs > VERDICT_INPUTS || (unsigned)v->track > TRACK_HYBRID ||
	    (v->correct && v->diag.reason != REASON_ok))
		return 0;
	if (v->n_elements < 0 || v->n_elements > VERDICT_ELEMENTS || v->general.n_failed < 0 ||
	    v->general.n_failed > VERDICT_GENERAL ||
	    (unsigned)v->contract > CONTRACT_GENERAL || (unsigned)v->precision > PRECISION_IEEE ||
	    (unsigned)v->size > SIZE_SAMPLED ||
	    (unsigned)v->full_size_reads >= CONSTANT_ANSWERS || (unsigned)v->full_size_values >= CONSTANT_ANSWERS)
		return 0;
	for (int i = 0; i < v->general.n_failed; i++)
		if (!memchr(v->general.failed[i], 0, sizeof v->general.failed[i]))
			return 0;
	for (int i = 0; i < v->n_inputs; i++)
		if (!memchr(v->inputs[i].kind, 0, sizeof v->inputs[i].kind) ||
		    !memchr(v->inputs[i].shape, 0, sizeof v->inputs[i].shape) ||
		    !memchr(v->inputs[i].skipped, 0, sizeof v->inputs[i].skipped))
			return 0;
	for (int i = 0; i < v->n_elements; i++)
		if (!memchr(v->elements[i].at, 0, sizeof v->elements[i].at))
			return 0;
	if (!memchr(v->task.survivor, 0, sizeof v->task.survivor) || !memchr(v->task.unfit, 0, sizeof v->task.unfit))
		return 0;
	return memchr(v->diag.text, 0, sizeof v->diag.text) && memchr(v->diag.hint, 0, sizeof v->diag.hint) &&
	       memchr(v->diag.kernel, 0, sizeof v->diag.kernel) && memchr(v->judge, 0, sizeof v->judge) &&
	       memchr(v->explain, 0, sizeof v->explain) && memchr(v->pattern, 0, sizeof v->pattern) &&
	       memchr(v->source_line, 0, sizeof v->source_line) && memchr(r->err.text, 0, sizeof r->err.text) &&
	       memchr(v->timed, 0, sizeof v->timed) && memchr(v->weights, 0, sizeof v->weights);
}

/* Prepares to receive a dump, whose sizes the worker's frame announced. */
static int begin_dump(struct judge_pool *p, struct slot *s, struct err *e)
{
	const struct reply_frame *r = &s->reply;
	size_t n = (size_t)r->task_n + r->tensors_n;

	int plan = r->magic == FRAME_PLAN;

	if ((plan ? !p->measuring || r->task_n || s->plans == GPU_PLANS : !p->p.dump) || !s->job ||
	    r->id != s->job->id || r->task_n > DUMP_MOST || r->tensors_n > DUMP_MOST || !n ||
	    !memchr(r->kind, 0, sizeof r->kind))
		return worker_lost(p, s, LOSS_NONSENSE, e);
	buf_clear(&s->dump);
	buf_pad(&s->dump, 0, n);
	s->dump_n = 0;
	return buf_check(&s->dump, e);
}

/* Keeps a complete launch plan until the verdict comes. */
static int take_plan(struct slot *s)
{
	s->plan[s->plans++] = s->dump;
	s->dump = (struct buf)BUF_INIT;
	s->dump_n = 0;
	return 0;
}

/* Hands a complete dump to the callback. The time to write it does not count for any candidate. */
static int take_dump(struct judge_pool *p, struct slot *s, struct err *e)
{
	int64_t start = clock_ns();
	size_t n = s->reply.tensors_n;
	int rc = p->p.dump(p->p.dump_ctx, s->job->id, s->reply.kind, (struct str){ .p = s->dump.p + n,
			.n = s->dump.n - n },
			   (struct str){ .p = s->dump.p, .n = n }, e);

	buf_release(&s->dump);
	s->dump_n = 0;
	for (int i = 0; i < p->workers; i++)
		p->slot[i].deadline_ns += clock_ns() - start;
	return rc;
}

/* Sends a correct candidate to the GPU. It is finished when its outcome comes. */
static int measure(struct judge_pool *p, struct slot *s, struct job *j, struct err *e)
{
	struct str task = { .p = j->text, .n = j->task_n };
	int rc = measuring_add(p->measuring, j->id, task, s->plan, s->plans, &s->reply.verdict, e);

	drop_plans(s);
	mem_free(j);
	return rc;
}

/* Moves candidates that were measured to the finished list. */
static int take_measured(struct judge_pool *p, struct err *e)
{
	struct done *d;
	int rc;

	do {
		d = mem_zalloc(sizeof *d);
		if (!d)
			return err_nomem(e);
		rc = measuring_next(p->measuring, &d->j.id, &d->j.verdict);
		if (rc > 0) {
			*p->done_last = d;
			p->done_last = &d->next;
			p->stats.judged++;
		} else {
			mem_free(d);
		}
	} while (rc > 0);
	return 0;
}

/* Handles a complete frame: the message that the worker is ready, a dump, or a verdict. */
static int take_reply(struct judge_pool *p, struct slot *s, struct err *e)
{
	struct job *j = s->job;

	s->got = 0;
	if (!s->ready) {
		if (s->reply.magic != FRAME_READY)
			return worker_lost(p, s, LOSS_NONSENSE, e);
		if (s->reply.rc)
			return err_set(e, ERR_DENIED,
				       "a judging worker cannot enter its sandbox: %.300s (see 'tritonrl doctor')",
				       s->reply.err.text);
		s->ready = 1;
		p->starts = 0;
		return 0;
	}
	if (s->reply.magic == FRAME_DUMP || s->reply.magic == FRAME_PLAN)
		return begin_dump(p, s, e);
	if (!j || !reply_is_sane(&s->reply, j))
		return worker_lost(p, s, LOSS_NONSENSE, e);
	s->job = NULL;
	s->reply.verdict.gpu = (struct verdict_gpu){ .asked = p->measuring != NULL };
	if (p->measuring && !s->reply.rc && s->reply.verdict.correct)
		return measure(p, s, j, e);
	drop_plans(s);
	return finish(p, j, s->reply.rc ? -1 : 0, &s->reply.verdict, &s->reply.err, e);
}

/* Receives what the socket holds without waiting. Frames may arrive in several parts. */
static int read_reply(struct judge_pool *p, struct slot *s, struct err *e)
{
	int dumping = s->dump_n < s->dump.n;
	ssize_t k = dumping ? recv(s->w.fd, s->dump.p + s->dump_n, s->dump.n - s->dump_n, MSG_DONTWAIT) :
			      recv(s->w.fd, (char *)&s->reply + s->got, sizeof s->reply - s->got, MSG_DONTWAIT);

	if (k < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (k <= 0)
		return worker_lost(p, s, LOSS_DEAD, e);
	if (dumping) {
		s->dump_n += (size_t)k;
		if (s->dump_n < s->dump.n)
			return 0;
		return s->reply.magic == FRAME_PLAN ? take_plan(s) : take_dump(p, s, e);
	}
	s->got += (size_t)k;
	return s->got == sizeof s->reply ? take_reply(p, s, e) : 0;
}

/* --- the loop ----------------------------------------------------------------------------- */

/* Starts workers as needed and gives each idle one a job. */
static int feed(struct judge_pool *p, struct err *e)
{
	for (int i = 0; i < p->workers; i++) {
		struct slot *s = &p->slot[i];

		if (s->job || !p->first)
			continue;
		if (s->w.fd < 0 && slot_start(p, s, e))
			return -1;
		if (s->ready && give_job(p, s, e))
			return -1;
	}
	return 0;
}

/* Closes the workers that are late or hang. */
static int check_deadlines(struct judge_pool *p, struct err *e)
{
	int64_t now = clock_ns();

	for (int i = 0; i < p->workers; i++) {
		struct slot *s = &p->slot[i];

		if (s->w.fd >= 0 && (s->job || !s->ready) && (is_late(p, s, now) || is_still(p, s, now)) &&
		    worker_lost(p, s, LOSS_LATE, e))
			return -1;
	}
	return 0;
}

/* Resets the eventfd. Returns 1 if it was signalled. */
static int take_wake(const struct judge_pool *p)
{
	uint64_t n;

	return read(p->p.wake_fd, &n, sizeof n) == sizeof n;
}

/* Waits for at most timeout_ms, reads replies, and checks time limits. */
static int pump(struct judge_pool *p, int timeout_ms, struct err *e)
{
	struct pollfd fds[WORKERS_MOST + 2];
	int of[WORKERS_MOST], n = 0;

	for (int i = 0; i < p->workers; i++)
		if (p->slot[i].w.fd >= 0) {
			fds[n] = (struct pollfd){ .fd = p->slot[i].w.fd, .events = POLLIN };
			of[n++] = i;
		}
	fds[n] = (struct pollfd){ .fd = p->p.wake_fd ? p->p.wake_fd : -1, .events = POLLIN };
	fds[n + 1] = (struct pollfd){ .fd = p->measuring ? measuring_fd(p->measuring) : -1, .events = POLLIN };
	if (poll(fds, (nfds_t)n + 2, timeout_ms) < 0 && errno != EINTR)
		return err_errno(e, "poll");
	p->woken |= fds[n].revents & POLLIN ? take_wake(p) : 0;
	for (int i = 0; i < n; i++)
		if (fds[i].revents && p->slot[of[i]].w.fd == fds[i].fd && read_reply(p, &p->slot[of[i]], e))
			return -1;
	if (p->measuring && take_measured(p, e))
		return -1;
	return check_deadlines(p, e);
}

/* Each pass first gives work to idle workers, then reads replies, then gives work again to workers
 * that became idle. A wait is cut into steps of 50 ms, because time limits and `stopped` must be
 * checked meanwhile. */
int judge_pool_next(struct judge_pool *p, int wait, struct judged *out, struct err *e)
{
	for (;;) {
		struct done *d;

		if (feed(p, e) || pump(p, 0, e) || feed(p, e))
			return -1;
		d = p->done;
		if (d) {
			p->done = d->next;
			if (!p->done)
				p->done_last = &p->done;
			*out = d->j;
			mem_free(d);
			p->pending--;
			return 1;
		}
		if (!wait || !p->pending)
			return 0;
		if (pump(p, 50, e))
			return -1;
		if (p->woken || (p->p.stopped && p->p.stopped())) {
			p->woken = 0;
			return 0;
		}
	}
}
