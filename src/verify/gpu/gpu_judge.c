/* The GPU judge, seen from the pool: see gpu_judge.h. gpu_service.c is its process. */
#include "verify/gpu/gpu_judge.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "verify/gpu/gpu_service.h"
#include "verify/verdict/reward.h"

struct gpu_judge {
	int fd;
	pid_t pid;
	struct service_ready ready;
	struct service_reply reply;
	size_t got;                 /* bytes of the reply received so far */
};

/* Starts the process that owns the GPU. It is forked before the pool has threads and ends with its parent. The
 * first message tells whether driver, compiler and PyTorch are there, so that a missing part is one clear error
 * before any candidate is judged. */
struct gpu_judge *gpu_judge_open(const struct gpu_options *o, const struct judge_options *judge, struct err *e)
{
	struct gpu_judge *g = mem_zalloc(sizeof *g);
	pid_t self = getpid();
	int pair[2];

	if (!g || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		err_nomem(e);
		mem_free(g);
		return NULL;
	}
	g->pid = fork();
	if (!g->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(2);
		close(pair[0]);
		gpu_service_main(pair[1], o, judge);
	}
	close(pair[1]);
	g->fd = pair[0];
	if (g->pid < 0 || file_read_all(g->fd, &g->ready, sizeof g->ready, e) || g->ready.magic != SERVICE_READY)
		err_set(e, ERR_STATE, "the process for the GPU ended when it started");
	else if (g->ready.rc)
		*e = g->ready.err;
	else
		return g;
	gpu_judge_close(g);
	return NULL;
}

void gpu_judge_close(struct gpu_judge *g)
{
	if (!g)
		return;
	close(g->fd);
	if (g->pid > 0)
		waitpid(g->pid, NULL, 0);
	mem_free(g);
}

const char *gpu_judge_text(const struct gpu_judge *g) { return g->ready.text; }
int gpu_judge_fd(const struct gpu_judge *g) { return g->fd; }

int gpu_judge_submit(struct gpu_judge *g, uint64_t id, struct str task, int eval_mode, const struct buf *plans, int n,
		     struct err *e)
{
	struct service_job j = { .magic = SERVICE_JOB, .id = id, .task_n = (uint32_t)task.n, .eval_mode = eval_mode,
				 .n_plans = MIN(n, GPU_PLANS) };

	for (int i = 0; i < j.n_plans; i++)
		j.plan_n[i] = (uint32_t)plans[i].n;
	if (file_write_all(g->fd, &j, sizeof j, e) || file_write_all(g->fd, task.p, task.n, e))
		return -1;
	for (int i = 0; i < j.n_plans; i++)
		if (file_write_all(g->fd, plans[i].p, plans[i].n, e))
			return -1;
	return 0;
}

/* A reply may arrive in parts: the rest comes with a later call, so the pool never waits here. */
int gpu_judge_next(struct gpu_judge *g, uint64_t *id, struct gpu_outcome *out, struct err *e)
{
	ssize_t k = recv(g->fd, (char *)&g->reply + g->got, sizeof g->reply - g->got, MSG_DONTWAIT);

	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (k <= 0)
		return err_set(e, ERR_STATE, "the process for the GPU ended");
	g->got += (size_t)k;
	if (g->got < sizeof g->reply)
		return 0;
	g->got = 0;
	if (g->reply.magic != SERVICE_REPLY)
		return err_set(e, ERR_STATE, "the process for the GPU sent a malformed reply");
	*id = g->reply.id;
	*out = g->reply.outcome;
	return 1;
}

/* The speed-up of two intervals that overlap is exactly 1: noise earns nothing. */
static void apply_time(const struct verdict_gpu *g, enum baseline baseline, struct verdict *v)
{
	const struct verdict_time *t = &g->time, *b = &g->baseline[baseline];

	if (!g->measured || !(b->mean > 0))
		return;
	v->estimate = v->speedup;
	v->seconds = t->mean;
	v->reference_seconds = b->mean;
	v->speedup = timing_speedup(&(struct timing_interval){ .mean = b->mean, .low = b->low, .high = b->high },
				    &(struct timing_interval){ .mean = t->mean, .low = t->low, .high = t->high });
	snprintf(v->timed, sizeof v->timed, "gpu");
}

void gpu_judge_apply(const struct gpu_outcome *g, enum baseline baseline, const struct judge_options *o,
		     struct verdict *v)
{
	v->gpu = g->gpu;
	v->gpu.asked = 1;
	if (!g->failed) {
		apply_time(&g->gpu, baseline, v);
	} else {
		v->correct = 0;
		v->stage = g->stage;
		v->diag = g->diag;
		v->stages[g->stage].passed = 0;
		for (int s = (int)g->stage + 1; s < STAGES; s++)
			v->stages[s].ran = v->stages[s].passed = 0;
		v->speedup = v->seconds = v->reference_seconds = 0.0;
		v->timed[0] = 0;
	}
	v->reward = v->correct || ext_on(o, EXT_funnel) ? reward_of(v, o->reward) : 0.0;
}
