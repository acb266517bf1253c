/* A lane in this process: see lane.h. */
#include "verify/lane.h"

#include "verify/runner.h"

static int here_start(struct lane *l, const struct task *t, struct err *e)
{
	struct lane_here *own = (struct lane_here *)l;

	own->runner = runner_new(own->judge, t, l->area, e);
	return own->runner ? 0 : -1;
}

static int here_ask(struct lane *l, enum lost *how, struct err *e)
{
	(void)how, (void)e;
	runner_serve(((struct lane_here *)l)->runner);
	return 0;
}

static void here_end(struct lane *l)
{
	struct lane_here *own = (struct lane_here *)l;

	runner_free(own->runner);
	own->runner = NULL;
}

int lane_here_init(struct lane_here *own, struct judge *j, struct err *e)
{
	*own = (struct lane_here){ .lane = { .area = area_new(e), .start = here_start, .ask = here_ask, .end = here_end }, .judge = j };
	return own->lane.area ? 0 : -1;
}

void lane_here_release(struct lane_here *own)
{
	area_free(own->lane.area);
	own->lane.area = NULL;
}
