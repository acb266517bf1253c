/* The runner link: the channel from the deciding process to the runner of a candidate, which is in
 * this process or in one of its own (pool/zygote.h). */
#ifndef VERIFY_CANDIDATE_RUNNER_LINK_H
#define VERIFY_CANDIDATE_RUNNER_LINK_H

#include "verify/candidate/shmem.h"
#include "verify/candidate/task_image.h"

/* How a runner was lost. */
enum lost { LOST_NOT, LOST_CRASHED, LOST_LATE, LOST_KILLED };

struct runner_link {
	struct shmem *shmem;
	/* Starts a runner for the candidate whose text is in shared memory. Returns 0 on success,
	 * -1 on failure (*e). */
	int (*start)(struct runner_link *l, const struct task_image *t, struct err *e);
	/* Has the orders in shared memory run. Returns 0 when the reports are there, 1 if the
	 * runner is lost (*how), -1 on our own failure (*e). */
	int (*ask)(struct runner_link *l, enum lost *how, struct err *e);
	/* Ends the runner, also in the middle of a run. */
	void (*end)(struct runner_link *l);
};

/* A runner in this process. */
struct runner;
struct link_here {
	struct runner_link link;
	struct judge *judge;
	struct runner *runner;        /* NULL: none was started */
};

int link_here_init(struct link_here *here, struct judge *j, struct err *e);
void link_here_release(struct link_here *here);

#endif
