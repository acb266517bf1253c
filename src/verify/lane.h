/* Where a candidate is run for the funnel: in this process, or in one of its own (zygote.h).
 *
 * lane_start gives it a candidate's text, which is in the area; lane_ask has the area's orders run
 * and waits for the reports; lane_end lets go of the candidate, whatever it was doing. */
#ifndef VERIFY_LANE_H
#define VERIFY_LANE_H

#include "verify/area.h"

/* How a runner was lost. */
enum lost { LOST_NOT, LOST_CRASHED, LOST_LATE, LOST_KILLED };

struct lane {
	struct area *area;
	/* 0, or -1: we failed. */
	int (*start)(struct lane *l, const struct task *t, struct err *e);
	/* 0: the reports are there. 1: the runner is lost, *how. -1: we failed. */
	int (*ask)(struct lane *l, enum lost *how, struct err *e);
	void (*end)(struct lane *l);
};

/* The lane of this process; *own holds what it needs. */
struct runner;
struct lane_here {
	struct lane lane;
	struct judge *judge;
	struct runner *runner;
};
/* Candidates run there from now on; until then, in this process. */
void judge_set_lane(struct judge *j, struct lane *l);
struct lane *judge_lane(struct judge *j, struct err *e);

int lane_here_init(struct lane_here *own, struct judge *j, struct err *e);
void lane_here_release(struct lane_here *own);

#endif
