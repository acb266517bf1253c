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
#include "tile/estimate/gpu.h"
#include "verify/gpu/gpu_service.h"
#include "verify/verdict/reward.h"

/* Products of fp16 that replace one of fp32. */
enum { SPLIT_PRODUCTS = 3 };
/* A time below this share of the products' floor is impossible. The products of a candidate are counted in a few
 * instances, which represent the others, so the floor is not exact. */
static const double product_share = 0.5;

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

/* Seconds of products on GPU b for each second on GPU a, at the least. */
static double least_ratio(const struct tile_gpu *a, const struct tile_gpu *b)
{
	double tensor = MIN(MIN(a->tf32 / b->tf32, a->dot_f16 / b->dot_f16),
			    MIN(a->dot_f8 / b->dot_f8, a->dot_int8 / b->dot_int8));

	return MIN(tensor, MIN(a->f32 / b->f32, a->dot_f64 / b->dot_f64));
}

/* Seconds that the matrix products of a call need at the least; 0: not known. Two counts must agree that the work
 * is there: the reference's products, at the rate of the narrowest operands that the precision permits, and the
 * products in the candidate's kernels, by their types. The smaller one counts: a candidate may need fewer products
 * than the reference (a sum after a product, a causal mask), and a compiler leaves out products that a kernel does
 * not need. Example: 2 x 4096^3 operations take an H200 0.14 ms in fp16; three fp16 products replace one of fp32. */
static double product_floor(const struct verdict *v, double flops, enum precision precision)
{
	const struct tile_gpu *counted = tile_gpu_find(str_of(v->estimate_gpu));
	const struct tile_gpu *g = counted ? tile_gpu_of_device(str_of(v->gpu.device), counted->gib) : NULL;
	double rate, least = 0.0;

	if (!g)
		return 0.0;
	rate = g->dot_f16 * 1e12 / (precision == PRECISION_IEEE ? SPLIT_PRODUCTS : 1);
	for (int i = 0; i < v->kernels.n; i++)
		least += v->kernels.v[i].products;
	return MIN(least * least_ratio(counted, g), flops / rate);
}

/* Fails a candidate that was faster than its products can be computed. */
static void check_products(struct verdict *v, enum precision precision, struct gpu_outcome *g)
{
	g->gpu.product_floor = product_floor(v, g->gpu.flops, precision);
	if (g->failed || !g->gpu.measured || g->gpu.time.mean >= product_share * g->gpu.product_floor)
		return;
	g->failed = 1;
	g->stage = STAGE_timing;
	diag_set(&g->diag, REASON_too_fast, 0, 0,
		 "on the GPU: %.3g microseconds are less than the GPU needs for the matrix products (%.3g)",
		 g->gpu.time.mean * 1e6, g->gpu.product_floor * 1e6);
}

void gpu_judge_apply(const struct gpu_outcome *outcome, enum baseline baseline, const struct judge_options *o,
		     struct verdict *v)
{
	struct gpu_outcome own = *outcome, *g = &own;

	v->gpu = g->gpu;
	check_products(v, o->precision, g);
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
