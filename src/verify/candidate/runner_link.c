/* A lane in this process: see lane.h. */
#include "verify/candidate/runner_link.h"

#include "verify/candidate/runner.h"

static int here_start(struct runner_link *l, const struct task_image *t, struct err *e)
{
	struct link_here *own = (struct link_here *)l;

	own->runner = runner_new(own->judge, t, l->shmem, e);
	return own->runner ? 0 : -1;
}

static int here_ask(struct runner_link *l, enum lost *how, struct err *e)
{
	(void)how, (void)e;
	runner_serve(((struct link_here *)l)->runner);
	return 0;
}

static void here_end(struct runner_link *l)
{
	struct link_here *own = (struct link_here *)l;

	runner_free(own->runner);
	own->runner = NULL;
}

int link_here_init(struct link_here *own, struct judge *j, struct err *e)
{
	*own = (struct link_here){ .link = { .shmem = shmem_new(e), .start = here_start, .ask = here_ask,
					     .end = here_end }, .judge = j };
	return own->link.shmem ? 0 : -1;
}

void link_here_release(struct link_here *own)
{
	shmem_free(own->link.shmem);
	own->link.shmem = NULL;
}
