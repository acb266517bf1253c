/* The benches of a GPU: see gpu_benches.h.
 *
 * Owns the choice of a candidate for a free bench. Invariants: a bench has one thread at a time; a thread that waits
 * gets a bench in the end, because the first in line is passed over only by candidates of tasks that are prepared
 * already, and those are finite. Locks: `lock` is never held while the GPU or a process is used. */
#include "verify/gpu/gpu_benches.h"

#include <stdio.h>

#include "base/cpu.h"
#include "base/log.h"
#include "base/mem.h"
#include "verify/gpu/baseline_store.h"

/* Starts of a bench's PyTorch process after which no more are tried; candidates of one task that must wait before
 * a second bench prepares the task, too; cores, and bytes of the GPU, for each bench; and how many times
 * the memory of a call is taken while it is measured (input sets, the reference in fp64, PyTorch). */
enum { TORCH_STARTS_MOST = 4, SHARED_FROM = 6, CORES_EACH = 4, TIMES_MEMORY = 8 };
static const int64_t bytes_each = (int64_t)16 << 30;

/* A thread that waits for a bench. */
struct turn {
	struct turn *next;
	uint64_t task;
	int exclusive;                  /* no other bench may work meanwhile */
	struct bench *bench;        /* the one that it got */
};

/* --- who gets a bench ----------------------------------------------------------------------- */

/* Has a bench prepared a task, or is it about to? */
static int has_task(const struct bench *x, uint64_t task)
{
	for (int i = 0; i < BENCH_TASKS; i++)
		if (x->task[i].hash == task)
			return 1;
	return x->current == task;
}

/* May a bench prepare this task? Not if another has it, unless many candidates wait for that one. */
static int may_prepare(const struct gpu_benches *g, const struct bench *x, uint64_t task)
{
	int waiting = 0;

	for (const struct turn *t = g->turns; t; t = t->next)
		waiting += t->task == task;
	for (int i = 0; i < g->n; i++)
		if (&g->bench[i] != x && has_task(&g->bench[i], task))
			return waiting >= SHARED_FROM;
	return 1;
}

/* The next candidate for a free bench: of the task that PyTorch holds there, else of a task that is prepared
 * there, else the first whose task it may prepare. Once a large call is first, nothing else starts. */
static struct turn *next_turn(const struct gpu_benches *g, const struct bench *x)
{
	int busy = 0;

	for (int i = 0; i < g->n; i++)
		busy += g->bench[i].busy;
	if (g->exclusive || !g->turns)
		return NULL;
	if (g->turns->exclusive)
		return x == g->bench && !busy ? g->turns : NULL;
	for (struct turn *t = g->turns; t; t = t->next)
		if (!t->exclusive && t->task == x->current)
			return t;
	for (struct turn *t = g->turns; t; t = t->next)
		if (!t->exclusive && has_task(x, t->task))
			return t;
	for (struct turn *t = g->turns; t; t = t->next)
		if (!t->exclusive && may_prepare(g, x, t->task))
			return t;
	return NULL;
}

/* Gives free benches to threads that wait. Called at each change: a thread came, or a bench became free. The lock
 * is held. */
static void hand_out(struct gpu_benches *g)
{
	for (int i = 0; i < g->n; i++) {
		struct bench *x = &g->bench[i];
		struct turn *t = x->busy ? NULL : next_turn(g, x), **at = &g->turns;

		if (!t)
			continue;
		while (*at != t)
			at = &(*at)->next;
		*at = t->next;
		t->bench = x;
		x->busy = 1;
		x->current = t->task;
		g->exclusive = t->exclusive;
	}
	pthread_cond_broadcast(&g->given);
}

/* Waits in line for a bench. An exclusive candidate of 60 GiB waits until all benches are free, and the candidates
 * after it wait for its end. */
static struct bench *take_bench(struct gpu_benches *g, uint64_t task, int exclusive)
{
	struct turn me = { .task = task, .exclusive = exclusive }, **at = &g->turns;
	int64_t begin = clock_ns();

	pthread_mutex_lock(&g->lock);
	while (*at)
		at = &(*at)->next;
	*at = &me;
	hand_out(g);
	while (!me.bench)
		pthread_cond_wait(&g->given, &g->lock);
	g->waiting_ns += clock_ns() - begin;
	pthread_mutex_unlock(&g->lock);
	return me.bench;
}

/* Returns a bench, with the nanoseconds that its task and its candidate took. */
static void give_bench(struct gpu_benches *g, struct bench *x, int64_t preparing, int64_t working)
{
	pthread_mutex_lock(&g->lock);
	x->busy = 0;
	g->exclusive = 0;
	g->measured++;
	g->preparing_ns += preparing;
	g->working_ns += working;
	hand_out(g);
	pthread_mutex_unlock(&g->lock);
}

/* --- measuring ------------------------------------------------------------------------------ */

/* The task at full size, prepared once. The one that was not used for longest makes room. */
static const struct full_task *find_task(struct bench *x, struct str source, int eval_mode, struct err *e)
{
	uint64_t hash = full_task_hash(source, eval_mode);
	int at = 0;

	x->candidates++;
	for (int i = 0; i < BENCH_TASKS; i++) {
		if (x->task[i].hash == hash) {
			x->used[i] = x->candidates;
			return &x->task[i];
		}
		at = x->used[i] < x->used[at] ? i : at;
	}
	full_task_release(&x->task[at]);
	if (full_task_open(&x->task[at], x->b.judge, &x->b.torch, source, eval_mode, e)) {
		full_task_release(&x->task[at]);
		return NULL;
	}
	x->used[at] = x->candidates;
	return &x->task[at];
}

/* Starts the PyTorch process of a bench if none is running, and does not wait for it. */
static int start_torch(struct gpu_benches *g, struct bench *x, struct err *e)
{
	if (x->b.torch.fd >= 0)
		return 0;
	x->torch_starts++;
	torch_process_close(&x->b.torch);
	return torch_process_start(&x->b.torch, g->o.python, g->o.torch_device, e);
}

/* Waits for the PyTorch process of a bench, which is started again if it was lost: a reference that runs out of the
 * host's memory kills it. That takes seconds, during which other benches work and time. */
static void need_torch(struct gpu_benches *g, struct bench *x)
{
	struct err e = ERR_INIT;

	if (!g->has_torch || torch_process_is_there(&x->b.torch) ||
	    (x->b.torch.fd < 0 && x->torch_starts >= TORCH_STARTS_MOST))
		return;
	if (!start_torch(g, x, &e) && !torch_process_wait(&x->b.torch, &e))
		return;
	torch_process_close(&x->b.torch);
	log_warn("PyTorch cannot be used, so references are not timed: %s", e.text);
}

/* Does a call need so much memory that no other bench may work? On a GPU of 139 GiB with four benches that is a plan
 * of more than 4.3 GiB: one input set of it, the reference in fp64 and PyTorch's copies take eight times as much. */
static int is_large(const struct gpu_benches *g, const struct gpu_program *p, int n)
{
	int64_t most = 0;

	for (int i = 0; i < n; i++)
		most = MAX(most, p[i].plan.bytes);
	return most > g->info.memory / TIMES_MEMORY / g->n;
}

void gpu_benches_measure(struct gpu_benches *g, struct gpu_program *p, int n, struct str task, int eval_mode,
			 struct gpu_outcome *out)
{
	struct bench *x = take_bench(g, full_task_hash(task, eval_mode), is_large(g, p, n));
	const struct full_task *t;
	struct err e = ERR_INIT;
	int64_t begin, prepared;

	need_torch(g, x);
	gpu_quiet_enter(&g->quiet);
	begin = clock_ns();
	t = find_task(x, task, eval_mode, &e);
	prepared = clock_ns();
	if (!t || gpu_measure(&x->b, p, n, t, out, &e)) {
		snprintf(out->gpu.note, sizeof out->gpu.note, "not measured: %.180s", e.text);
		out->gpu.ran = 0;
	}
	gpu_quiet_leave(&g->quiet);
	give_bench(g, x, prepared - begin, clock_ns() - prepared);
}

/* Sums over several benches exceed the time that passed: 4 benches that each prepare for 2 s in 3 s sum to 8 s. */
void gpu_benches_log(const struct gpu_benches *g)
{
	const struct gpu_quiet *q = &g->quiet;

	log_info("the GPU judge: %lld candidates in %.1f s; the GPU unused for %.1f s, timing for %.1f s",
		 (long long)g->measured, (double)(clock_ns() - g->begin) * 1e-9, (double)q->idle_ns * 1e-9,
		 (double)q->timing_ns * 1e-9);
	log_info("the GPU judge: on %d bench%s: preparing tasks %.1f s, checking and timing %.1f s, of these waiting "
		 "to time %.1f s; candidates waited %.1f s for a bench", g->n, g->n == 1 ? "" : "es",
		 (double)g->preparing_ns * 1e-9, (double)g->working_ns * 1e-9, (double)q->waiting_ns * 1e-9,
		 (double)g->waiting_ns * 1e-9);
}

/* --- opening -------------------------------------------------------------------------------- */

/* One bench for each four cores and 16 GiB, at most four, unless the options say how many. */
static int benches_wanted(const struct gpu_benches *g)
{
	int64_t n = MIN(cpu_info()->cores / CORES_EACH, g->info.memory / bytes_each);

	return g->o.benches ? MIN(g->o.benches, BENCHES_MOST) : (int)MIN(MAX(n, 1), BENCHES_MOST);
}

/* Opens the slots of a bench. The first slot of the first bench is open already. */
static int open_bench(struct gpu_benches *g, struct bench *x, const struct judge_options *judge, struct err *e)
{
	struct gpu_bench *b = &x->b;

	if (b->slot.spawner < 0 && gpu_slot_open(&b->slot, g->o.driver, g->o.ordinal, g->o.seconds, e))
		return -1;
	if (strcmp(g->o.torch_device, "none") &&
	    gpu_slot_open_torch(&b->torch_slot, g->o.python, g->o.torch_device, g->o.seconds, e))
		return -1;
	b->o = g->o;
	b->info = g->info;
	b->quiet = &g->quiet;
	b->counting = g->counting.spawner >= 0 ? &g->counting : NULL;
	b->baselines = g->baselines;
	b->judge = judge_new(judge, e);
	return b->judge ? 0 : -1;
}

/* The first slot describes the GPU. */
static int find_gpu(struct gpu_benches *g, struct err *e)
{
	struct gpu_slot *slot = &g->bench[0].b.slot;
	struct slot_answer a;

	if (gpu_slot_open(slot, g->o.driver, g->o.ordinal, MAX(g->o.seconds, 30.0), e))
		return -1;
	if (gpu_slot_info(slot, &a) != SLOT_OK)
		return err_set(e, ERR_UNSUPPORTED, "%s", a.text);
	slot->seconds = g->o.seconds;
	g->info = a.info;
	return 0;
}

/* Without PyTorch our own engine gives the expected results, and there is no measured baseline. */
int gpu_benches_open(struct gpu_benches *g, const struct gpu_options *o, const struct judge_options *judge, char *text,
		     size_t n, struct err *e)
{
	struct err later = ERR_INIT;        /* a failure shows when the bench is used */

	*g = (struct gpu_benches){ .o = *o, .begin = clock_ns(), .counting = { .spawner = -1, .fd = -1 } };
	for (int i = 0; i < BENCHES_MOST; i++) {
		struct gpu_bench *b = &g->bench[i].b;

		b->torch.fd = b->slot.spawner = b->slot.fd = b->torch_slot.spawner = b->torch_slot.fd = -1;
		for (int k = 0; k < BENCH_TASKS; k++)
			g->bench[i].task[k].inputs_fd = -1;
	}
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->given, NULL);
	gpu_quiet_init(&g->quiet);
	if (find_gpu(g, e) || !(g->baselines = baselines_open(e)))
		return -1;
	if (o->counters && gpu_slot_open(&g->counting, o->driver, o->ordinal, MAX(o->seconds, 30.0), e))
		return -1;
	for (int wanted = benches_wanted(g); g->n < wanted; g->n++)
		if (open_bench(g, &g->bench[g->n], judge, e))
			return -1;
	g->has_torch = strcmp(o->torch_device, "none") != 0;
	for (int i = 1; i < g->n && g->has_torch; i++)
		start_torch(g, &g->bench[i], &later);
	need_torch(g, &g->bench[0]);
	g->has_torch = torch_process_is_there(&g->bench[0].b.torch);
	for (int i = 1; i < g->n && !g->has_torch; i++)
		torch_process_close(&g->bench[i].b.torch);
	snprintf(text, n, "%s, driver %d.%d, PyTorch %s", g->info.name, g->info.driver / 1000,
		 g->info.driver % 1000 / 10, g->has_torch ? g->bench[0].b.torch.version : "not there");
	return 0;
}

void gpu_benches_close(struct gpu_benches *g)
{
	for (int i = 0; i < BENCHES_MOST; i++) {
		struct bench *x = &g->bench[i];

		for (int k = 0; k < BENCH_TASKS; k++)
			full_task_release(&x->task[k]);
		torch_process_close(&x->b.torch);
		gpu_slot_close(&x->b.slot);
		gpu_slot_close(&x->b.torch_slot);
		judge_free(x->b.judge);
	}
	gpu_slot_close(&g->counting);
	baselines_close(g->baselines);
}
