/* The worker, which judges, and the spawner, which forks workers: see worker.h and pool.h.
 *
 * A worker is the deciding process: it prepares tasks, holds expected results and compares.
 * Candidates run in runners, which zygote.c forks. Invariant: a worker is in its sandbox before it
 * reads the first byte of a job. */
#include "verify/pool/worker.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "num/num.h"
#include "verify/funnel/judgement.h"
#include "verify/task/dump.h"
#include "verify/pool/pages.h"
#include "verify/pool/sandbox.h"
#include "verify/pool/task_cache.h"
#include "verify/pool/warm.h"
#include "verify/pool/zygote.h"

/* --- worker ------------------------------------------------------------------------------ */

/* TASKS_KEPT and KEPT_BYTES bound the prepared tasks in memory; FREE_KEPT is the free heap that a
 * worker does not return to the kernel. */
enum { TASKS_KEPT = 32, KEPT_BYTES = 512 << 20, FREE_KEPT = 64 << 20 };
/* A task that took longer than this to prepare is a large one. */
enum { LONG_MS = 50 };

/* A prepared task in memory. */
struct kept {
	uint64_t key;             /* hash of the source */
	uint64_t used;            /* value of the clock at the last use */
	struct task *task;
};

struct worker {
	struct judge *judge;
	struct kept kept[TASKS_KEPT];
	uint64_t clock;           /* counts uses, to find the least recent one */
	uint64_t made;            /* tasks prepared so far */
	uint64_t jobs;            /* candidates judged so far */
	struct zygote zygote;     /* forks the runners */
	struct task_cache task_cache;
	struct judge_watcher watcher;     /* sends dumps, if they are asked for */
	int fd;                   /* to the pool */
	uint64_t job;             /* id of the one being judged */
};

/* Releases a task and empties its slot. */
static void forget(struct kept *k)
{
	task_free(k->task);
	*k = (struct kept){ .task = NULL };
}

/* Returns an empty slot for a task; the least recently used task is dropped for it. If the tasks
 * take more than KEPT_BYTES together, all are dropped. */
static struct kept *oldest_kept(struct worker *w)
{
	struct kept *oldest = &w->kept[0];
	size_t bytes = 0;

	for (int i = 0; i < TASKS_KEPT; i++) {
		bytes += w->kept[i].task ? task_bytes(w->kept[i].task) : 0;
		if (w->kept[i].used < oldest->used)
			oldest = &w->kept[i];
	}
	for (int i = 0; bytes > KEPT_BYTES && i < TASKS_KEPT; i++)
		forget(&w->kept[i]);
	forget(oldest);
	return oldest;
}

/* Returns the task of this source. It is prepared once and kept while it is in use. */
static struct task *task_for(struct worker *w, struct str source, struct err *e)
{
	uint64_t key = hash_xxh64(source.p, source.n, 0x7461736b);
	struct kept *oldest;

	for (int i = 0; i < TASKS_KEPT; i++)
		if (w->kept[i].task && w->kept[i].key == key) {
			w->kept[i].used = ++w->clock;
			return w->kept[i].task;
		}
	oldest = oldest_kept(w);
	oldest->task = task_open(w->judge, source, "task", e);
	w->made++;
	oldest->key = key;
	oldest->used = oldest->task ? ++w->clock : 0;
	return oldest->task;
}

/* Judges one candidate into *r. A task that is unfit to judge by is an error of the job, not of the
 * candidate. */
static void judge_job(struct worker *w, struct str task, struct str candidate, struct reply_frame *r)
{
	int64_t start = clock_ns();
	uint64_t made = w->made;
	struct task *t = task_for(w, task, &r->err);
	double ms = made == w->made ? 0.0 : (double)(clock_ns() - start) / 1e6;

	r->rc = !t || judge_candidate(w->judge, t, judge_options(w->judge)->identity ? task : candidate,
				      &r->verdict, &r->err) ? -1 : 0;
	if (t && task_problem(t)->reason != REASON_ok) {
		r->verdict.diag = *task_problem(t);
		r->rc = -1;
	}
	r->verdict.prepare_ms += ms;
}

/* Sends an input set with its tensors to the pool. Called during a judgement, before the
 * verdict. */
static int send_dump(void *ctx, const struct task *t, const struct trial *tr, const struct results *got, struct err *e)
{
	static struct reply_frame f;
	struct worker *w = ctx;
	struct buf task_py = BUF_INIT, tensors = BUF_INIT;
	int rc = dump_make(t, tr, got, &task_py, &tensors, e);

	if (!rc && (task_py.n > DUMP_MOST || tensors.n > DUMP_MOST))
		rc = err_set(e, ERR_RANGE, "the tensors of input set '%s' are too large to dump: %zu bytes",
			     trial_name(tr->kind), tensors.n);
	if (!rc) {
		f = (struct reply_frame){ .magic = FRAME_DUMP, .id = w->job, .task_n = (uint32_t)task_py.n,
					  .tensors_n = (uint32_t)tensors.n };
		snprintf(f.kind, sizeof f.kind, "%s", trial_name(tr->kind));
		rc = file_write_all(w->fd, &f, sizeof f, e) || file_write_all(w->fd, tensors.p, tensors.n, e) ||
		     file_write_all(w->fd, task_py.p, task_py.n, e) ? -1 : 0;
	}
	buf_release(&task_py);
	buf_release(&tensors);
	return rc;
}

/* Sends a launch plan of the candidate to the pool. */
static int send_plan(void *ctx, struct str plan, struct err *e)
{
	static struct reply_frame f;
	struct worker *w = ctx;

	f = (struct reply_frame){ .magic = FRAME_PLAN, .id = w->job, .tensors_n = (uint32_t)plan.n };
	return file_write_all(w->fd, &f, sizeof f, e) || file_write_all(w->fd, plan.p, plan.n, e) ? -1 : 0;
}

/* Returns free memory to the kernel after a large task. During a judgement nothing is returned,
 * because each page would have to be cleared again at its next use. The question how much is free
 * takes as long as a short candidate, so it is asked for every sixteenth job only. */
static void give_back(struct worker *w, double prepare_ms)
{
	if ((prepare_ms > LONG_MS || ++w->jobs % 16 == 0) && mallinfo2().fordblks > FREE_KEPT + PAGES_GROWN)
		malloc_trim(0);
}

/* Handles one job from the pool. Returns -1 when the pool has closed the socket. */
static int serve(struct worker *w)
{
	struct job_frame job;
	static struct reply_frame reply;
	struct err e = ERR_INIT;
	char *text;

	if (file_read_all(w->fd, &job, sizeof job, &e) || job.magic != FRAME_JOB || job.task_n > FRAME_MOST ||
	    job.candidate_n > FRAME_MOST)
		return -1;
	text = mem_alloc((size_t)job.task_n + job.candidate_n);
	if (!text || file_read_all(w->fd, text, (size_t)job.task_n + job.candidate_n, &e))
		return -1;
	memset(&reply, 0, sizeof reply);
	reply.magic = FRAME_REPLY;
	reply.id = w->job = job.id;
	judge_job(w, (struct str){ .p = text, .n = job.task_n }, (struct str){ .p = text + job.task_n,
			.n = job.candidate_n }, &reply);
	mem_free(text);
	if (file_write_all(w->fd, &reply, sizeof reply, &e))
		return -1;
	give_back(w, reply.verdict.prepare_ms);
	return 0;
}

/* Enters the sandbox. The order matters: the task cache's process and the zygote are forked before
 * the last confinement forbids forking. */
static int settle(struct worker *w, const struct judge_pool_options *p, struct err *e)
{
	struct sandbox_options so = { .keep_fd = w->fd, .address_space = p->memory };
	struct verdict v;
	int files;

	if (task_cache_open(&w->task_cache, p->kept, e) || judge_warm_up(w->judge, &v, e))
		return -1;
	so.also_fd = MAX(w->task_cache.fd, 0);
	if ((!p->no_sandbox && sandbox_enter(&so, e)) ||
	    zygote_open(&w->zygote, w->judge, p->seconds, !p->no_sandbox, &files, e))
		return -1;
	pages_grow_huge();               /* after the fork: only for this process */
	judge_set_link(w->judge, &w->zygote.link);
	if (w->task_cache.fd >= 0)
		judge_set_store(w->judge, &w->task_cache.store);
	return p->no_sandbox ? 0 : sandbox_confine(SANDBOX_DECIDER, MAX(files, MAX(w->fd, w->task_cache.fd)) + 1, 1, e);
}

/* The first message says whether the worker is ready; its error text is the only explanation of a
 * broken sandbox that a user gets. Then jobs are served until the pool closes the socket. */
void worker_main(int fd, const struct judge_options *o, const struct judge_pool_options *p)
{
	static struct worker w;
	struct reply_frame ready = { .magic = FRAME_READY };

	pages_keep();
	w.fd = fd;
	w.watcher = (struct judge_watcher){ .seen = p->dump ? send_dump : NULL, .plan = o->plan ? send_plan : NULL,
					    .ctx = &w };
	w.judge = judge_new(o, &ready.err);
	ready.rc = w.judge ? settle(&w, p, &ready.err) : -1;
	/* Dumps start after the warm-up: its candidate was not submitted, and the pool expects
	 * `ready` first. */
	if (!ready.rc && (p->dump || o->plan))
		judge_set_watcher(w.judge, &w.watcher);
	if (file_write_all(fd, &ready, sizeof ready, NULL) || ready.rc)
		_exit(2);
	while (!serve(&w))
		;
	_exit(0);
}

/* --- spawner ------------------------------------------------------------------------------ */

/* Sends a worker's pid and its two descriptors to the pool.
 *
 * The protocol of the spawner: the pool sends a number. 0 asks for a worker; the answer is its pid
 * with its descriptors. Any other number is a pid; the answer is that worker's exit status. */
static int send_worker(int to, pid_t pid, const int fds[2])
{
	int32_t number = pid;
	struct iovec io = { .iov_base = &number, .iov_len = sizeof number };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(2 * sizeof (int))] = { 0 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof (int));
	memcpy(CMSG_DATA(c), fds, 2 * sizeof (int));
	return sendmsg(to, &m, MSG_NOSIGNAL) == sizeof number ? 0 : -1;
}

/* Makes this process die with its parent, also if the parent has died already. */
static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(2);
}

/* Forks a worker and sends its descriptors to the pool. */
static void spawn_one(int fd, const struct judge_options *o, const struct judge_pool_options *p)
{
	int pair[2], out[2];
	pid_t pid, self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		_exit(2);
	pid = fork();
	if (pid < 0)
		_exit(2);
	if (pid == 0) {
		close(pair[0]);
		close(fd);
		die_with(self);
		worker_main(pair[1], o, p);
	}
	close(pair[1]);
	out[0] = pair[0];
	out[1] = (int)syscall(SYS_pidfd_open, pid, 0);
	if (out[1] < 0 || send_worker(fd, pid, out))
		_exit(2);
	close(out[0]);
	close(out[1]);
}

/* Waits for a worker and sends its exit status. */
static void tell_status(int fd, pid_t pid)
{
	int32_t status = 0;
	int st;

	if (waitpid(pid, &st, 0) == pid)
		status = st;
	if (send(fd, &status, sizeof status, MSG_NOSIGNAL) != sizeof status)
		_exit(2);
}

/* The spawner closes everything but its socket and loads nothing else, so that a fork copies
 * little. It exits when the pool closes the socket, and waits for its workers, which see the
 * same. */
void spawner_main(int fd, pid_t parent, const struct judge_options *o, const struct judge_pool_options *p)
{
	int32_t asked;

	die_with(parent);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	file_close_others(fd, -1);
	pages_move_text();
	/* workers inherit a BLAS with one thread; it must not start others before */
	num_init();
	while (read(fd, &asked, sizeof asked) == sizeof asked)
		if (asked)
			tell_status(fd, asked);
		else
			spawn_one(fd, o, p);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

/* Sends 0 and receives the worker's pid with two descriptors: its socket and its pidfd. */
int spawner_start(int spawner, struct worker_handle *w, struct err *e)
{
	int32_t number = 0;
	struct iovec io = { .iov_base = &number, .iov_len = sizeof number };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(2 * sizeof (int))];
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c;
	int fds[2];

	if (send(spawner, &number, sizeof number, MSG_NOSIGNAL) != sizeof number ||
	    recvmsg(spawner, &m, MSG_CMSG_CLOEXEC) != sizeof number)
		return err_errno(e, "the process that starts judging workers has ended");
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof fds))
		return err_set(e, ERR_IO, "no worker was started");
	memcpy(fds, CMSG_DATA(c), sizeof fds);
	*w = (struct worker_handle){ .fd = fds[0], .pidfd = fds[1], .pid = number };
	return 0;
}

/* Called for each worker, so that no zombie is left in the spawner. */
int spawner_status(int spawner, pid_t pid, int *status)
{
	int32_t number = pid;

	if (send(spawner, &number, sizeof number, MSG_NOSIGNAL) != sizeof number ||
	    recv(spawner, &number, sizeof number, MSG_WAITALL) != sizeof number)
		return -1;
	*status = number;
	return 0;
}
