/* Kernel launches during a run: compile, then execute on the tile machine. Remembers whether
 * a run ended because a kernel was refused or because it faulted. */
#include "tile/resource.h"
#include "verify/trial.h"

void launch_open(struct launch_ctx *c, struct judge *j)
{
	*c = (struct launch_ctx){ .engine = judge_engine(j), .gpu = resource_gpu(str_of(judge_options(j)->gpu)) };
	c->run = (struct tile_run_options){ .mode = TILE_FAST, .poison = 0xff };
}

void launch_close(struct launch_ctx *c)
{
	tile_engine_clear(c->engine);
	c->engine = NULL;
}

int launch_kernel(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct launch_ctx *c = ctx;
	const struct tile_code *code;
	int rc = tile_compile(c->engine, l, &code, d, e);

	if (!rc && c->gpu)
		rc = resource_check(code, l, c->gpu, d);
	if (rc) {
		c->refused = rc > 0;
		c->diag = *d;
		return rc;
	}
	if (c->idle)
		return 0;
	c->run.fuel = c->fuel_left;
	rc = tile_run(c->engine, code, l, &c->run, &c->cost, d, e);
	if (rc) {
		c->faulted = rc > 0;
		c->diag = *d;
	}
	return rc;
}
