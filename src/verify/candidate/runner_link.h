/* Where a candidate is run for the funnel: in this process, or in one of its here (zygote.h).
 *
 * lane_start gives it a candidate's text, which is in the area; lane_ask has the area's orders run
 * and waits for the reports; lane_end lets go of the candidate, whatever it was doing. */
#ifndef VERIFY_CANDIDATE_RUNNER_LINK_H
#define VERIFY_CANDIDATE_RUNNER_LINK_H

#include "verify/candidate/shmem.h"
#include "verify/candidate/task_image.h"

/* How a runner was lost. */
enum lost { LOST_NOT, LOST_CRASHED, LOST_LATE, LOST_KILLED };

struct runner_link {
	struct shmem *shmem;
	/* 0, or -1: we failed. */
	int (*start)(struct runner_link *l, const struct task_image *t, struct err *e);
	/* 0: the reports are there. 1: the runner is lost, *how. -1: we failed. */
	int (*ask)(struct runner_link *l, enum lost *how, struct err *e);
	void (*end)(struct runner_link *l);
};

/* The lane of this process; *here holds what it needs. */
struct runner;
struct link_here {
	struct runner_link link;
	struct judge *judge;
	struct runner *runner;
};
int link_here_init(struct link_here *here, struct judge *j, struct err *e);
void link_here_release(struct link_here *here);

#endif
