/* The process of the GPU judge, and its frames. Both ends are this program; plans inside of jobs are
 * hostile text. */
#ifndef VERIFY_GPU_GPU_SERVICE_H
#define VERIFY_GPU_GPU_SERVICE_H

#include "verify/gpu/gpu_judge.h"

enum { SERVICE_READY = 0x47525931, SERVICE_JOB = 0x474a4231, SERVICE_REPLY = 0x47525031, SERVICE_TEXT_MOST = 8 << 20 };

/* The first message: whether the GPU can be used. */
struct service_ready {
	uint32_t magic;
	int rc;
	struct err err;
	char text[240];
};

/* The task's source and the plans follow. */
struct service_job {
	uint32_t magic, task_n;
	uint64_t id;
	int eval_mode, n_plans;
	uint32_t plan_n[GPU_PLANS];
};

struct service_reply {
	uint32_t magic, pad;
	uint64_t id;
	struct gpu_outcome outcome;
};

/* Serves jobs until the socket is closed. */
_Noreturn void gpu_service_main(int fd, const struct gpu_options *o, const struct judge_options *judge);

#endif
