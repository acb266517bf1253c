/* A runner in this process: see runner_link.h. Tests, benchmarks and `--no-sandbox` use it. The
 * pool's workers use a process for each candidate (pool/zygote.h) through the same functions. */
#include "verify/candidate/runner_link.h"

#include "verify/candidate/runner.h"

/* Starts a runner on the candidate's text, which is in shared memory already. */
static int here_start(struct runner_link *l, const struct task_image *t, struct err *e)
{
	struct link_here *here = (struct link_here *)l;

	here->runner = runner_new(here->judge, t, l->shmem, e);
	return here->runner ? 0 : -1;
}

/* Serves the orders at once. A runner in this process cannot be lost: a crash takes us with it. */
static int here_ask(struct runner_link *l, enum lost *how, struct err *e)
{
	(void)how, (void)e;
	runner_serve(((struct link_here *)l)->runner);
	return 0;
}

/* Lets go of the candidate. */
static void here_end(struct runner_link *l)
{
	struct link_here *here = (struct link_here *)l;

	runner_free(here->runner);
	here->runner = NULL;
}

int link_here_init(struct link_here *here, struct judge *j, struct err *e)
{
	*here = (struct link_here){ .link = { .shmem = shmem_new(e), .start = here_start, .ask = here_ask,
					     .end = here_end }, .judge = j };
	return here->link.shmem ? 0 : -1;
}

void link_here_release(struct link_here *here)
{
	shmem_free(here->link.shmem);
	here->link.shmem = NULL;
}
