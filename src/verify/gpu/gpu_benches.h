/* The benches of a GPU: each checks and times one candidate at a time, with processes of its own.
 *
 * Preparing a task and comparing results keep a GPU waiting, so several benches check different candidates at
 * the same time; one candidate is timed at a time (gpu_quiet.h). A bench keeps the tasks that it prepared
 * last, and gets further candidates of them. A call that needs much of the GPU's memory is measured while no
 * other bench works. */
#ifndef VERIFY_GPU_GPU_BENCHES_H
#define VERIFY_GPU_GPU_BENCHES_H

#include "verify/gpu/gpu_measure.h"

enum { BENCHES_MOST = 4, BENCH_TASKS = 2 };

/* One bench, with the tasks that it has prepared. */
struct bench {
	struct gpu_bench b;
	struct full_task task[BENCH_TASKS];
	int64_t used[BENCH_TASKS];   /* when each was used last, counted in candidates */
	int64_t candidates;
	uint64_t current;           /* hash of the task of the last candidate */
	int busy, torch_starts;
};

struct turn;

struct gpu_benches {
	struct gpu_options o;
	struct gpu_info info;
	struct bench bench[BENCHES_MOST];
	int n;
	struct gpu_quiet quiet;
	struct gpu_slot counting;   /* spawner -1: counters are not read */
	struct baselines *baselines;
	int has_torch;              /* the first bench has PyTorch */
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct turn *turns;         /* threads that wait for a bench, in order */
	int exclusive;              /* a large call is being measured */
	int64_t begin, measured;    /* for the log, as those that follow: sums over the benches */
	int64_t preparing_ns, waiting_ns, working_ns;
};

/* Finds the GPU and opens the benches. Call it before the process has threads. `text` gets a description.
 * Returns 0 on success, -1 on failure (*e). Close it in each case. */
int gpu_benches_open(struct gpu_benches *g, const struct gpu_options *o, const struct judge_options *judge, char *text,
		     size_t n, struct err *e);
void gpu_benches_close(struct gpu_benches *g);
/* Measures a candidate with its n compiled programs on the next free bench. A failure of ours is a note of the
 * outcome: the candidate is not measured. Threads may do this at the same time. */
void gpu_benches_measure(struct gpu_benches *g, struct gpu_program *p, int n, struct str task, int eval_mode,
			 struct gpu_outcome *out);
/* Logs where the time went. */
void gpu_benches_log(const struct gpu_benches *g);

#endif
