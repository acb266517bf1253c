/* Access to the GPU: several threads check candidates at once, one times.
 *
 * Benches (gpu_benches.c) prepare tasks and check candidates at the same time. While one of them measures
 * time, nothing else may run on the GPU. A bench that waits to time goes before benches that begin a
 * check, so that a steady stream of checks cannot keep it waiting. */
#ifndef VERIFY_GPU_GPU_QUIET_H
#define VERIFY_GPU_GPU_QUIET_H

#include <pthread.h>
#include <stdint.h>

struct gpu_quiet {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int users;                  /* benches that use the GPU and do not time */
	int timing;                 /* one bench times */
	int waiting;                /* benches that wait to time */
	int64_t since;              /* when the GPU was last taken or left, for the sums below */
	int64_t idle_ns, timing_ns, waiting_ns;     /* nobody used it; timed; summed over benches: waited to time */
};

void gpu_quiet_init(struct gpu_quiet *q);
/* Begins and ends a use that may be shared. */
void gpu_quiet_enter(struct gpu_quiet *q);
void gpu_quiet_leave(struct gpu_quiet *q);
/* Between enter and leave: waits until nobody else uses the GPU, and keeps others out until gpu_quiet_end. */
void gpu_quiet_begin(struct gpu_quiet *q);
void gpu_quiet_end(struct gpu_quiet *q);

#endif
