/* Kernel launches during a run: compile, then execute on the tile machine. Remembers whether
 * a run ended because a kernel was refused or because it faulted. */
#include "base/mem.h"
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

/* Which tensor arguments outlive the call and may be written: their bytes as they are, to be
 * compared after the run. */
struct kept {
	const struct tensor *t;
	void *bytes;
};

enum { KEPT_MOST = 16 };

static int keep_old(const struct launch_ctx *c, const struct tile_code *code, const struct tile_launch *l, struct kept *k, int *n, struct err *e)
{
	struct touched t = { { 0 }, { 0 } };
	int looked = 0;

	for (size_t i = 0; i < MIN(l->n_args, (size_t)128) && *n < KEPT_MOST && !c->may_keep; i++) {
		const struct tile_val *a = &l->args[i];

		if ((a->kind != TILE_V_TENSOR && a->kind != TILE_V_DESC) || a->t.st->id > c->sealed)
			continue;
		if (!looked++ && resource_touched(code, &t, e))
			return -1;
		if (!(t.written[i / 64] >> (i % 64) & 1))
			continue;
		k[*n] = (struct kept){ .t = &a->t, .bytes = mem_alloc(a->t.st->bytes) };
		if (!k[*n].bytes)
			return err_nomem(e);
		memcpy(k[(*n)++].bytes, a->t.st->data, a->t.st->bytes);
	}
	return 0;
}

/* 1 and *d if any of them changed. Gives the copies back. */
static int compare_old(struct kept *k, int n, const struct tile_launch *l, struct diag *d)
{
	int changed = 0;

	for (int i = 0; i < n; i++) {
		changed |= memcmp(k[i].bytes, k[i].t->st->data, k[i].t->st->bytes) != 0;
		mem_free(k[i].bytes);
	}
	if (changed)
		diag_set(d, REASON_state_kept, l->line, l->col, "kernel '%.*s' changes memory that outlives the call", STR_ARG(l->fn->name));
	return changed;
}

static int run_kernel(struct launch_ctx *c, const struct tile_code *code, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct kept k[KEPT_MOST];
	int n = 0, rc = keep_old(c, code, l, k, &n, e);

	c->run.fuel = c->fuel_left;
	if (!rc)
		rc = tile_run(c->engine, code, l, &c->run, &c->cost, d, e);
	return compare_old(k, n, l, d) && !rc ? 1 : rc;
}

int launch_kernel(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct launch_ctx *c = ctx;
	const struct tile_code *code;
	int rc = tile_compile(c->engine, l, &code, d, e);

	if (!rc && c->gpu)
		rc = resource_check(code, l, c->gpu, d);
	if (rc) {
		c->refused = rc > 0 && !(l->compile_only && resource_left_out(d));
		c->diag = *d;
		return rc;
	}
	if (c->idle || l->compile_only)
		return 0;
	rc = run_kernel(c, code, l, d, e);
	if (rc) {
		c->faulted = rc > 0;
		c->diag = *d;
	}
	return rc;
}
