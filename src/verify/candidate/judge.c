/* The judge's shared state: see judge.h.
 *
 * Owns the host library and the tile engine, which are costly to make, and a runner in this
 * process for judges without a pool. All other pointers are borrowed. */
#include "verify/candidate/judge.h"

#include "base/mem.h"
#include "host/host.h"
#include "num/num.h"
#include "tile/tile.h"
#include "verify/candidate/runner_link.h"
#include "verify/config/key.h"

/* Everything that is made once for each judge. */
struct judge {
	struct judge_options o;
	struct host_lib *lib;
	struct tile_engine *engine;
	struct link_here here;        /* the runner in this process; unused where a link was set */
	struct runner_link *link;     /* borrowed, or &here.link; NULL until it is asked for */
	char fingerprint[17];
	uint64_t tasks;               /* prepared so far */
	const struct prepared_store *store;       /* borrowed; NULL: none */
	const struct judge_watcher *watcher;      /* borrowed; NULL: none */
};

/* Fails if the options name a GPU that the table does not have: kernels are compiled for one. */
struct judge *judge_new(const struct judge_options *o, struct err *e)
{
	const struct tile_gpu *gpu = tile_gpu_find(str_of(o->gpu));
	struct tile_options to = { .triton_version = 306, .capability = gpu ? gpu->capability : 0,
				   .may_vary = !rule_on(o, RULE_stable),
				   .may_exceed = !rule_on(o, RULE_back_end) };
	struct judge *j;

	if (!gpu) {
		err_set(e, ERR_USAGE, "there is no GPU '%s' in the table", o->gpu);
		return NULL;
	}
	j = mem_zalloc(sizeof *j);
	if (!j) {
		err_nomem(e);
		return NULL;
	}
	j->o = *o;
	verdict_fingerprint(o, j->fingerprint);
	num_init();
	j->lib = host_lib_new(e);
	j->engine = j->lib ? tile_engine_new(&to, e) : NULL;
	if (!j->engine) {
		judge_free(j);
		return NULL;
	}
	return j;
}

void judge_free(struct judge *j)
{
	if (!j)
		return;
	link_here_release(&j->here);
	tile_engine_free(j->engine);
	host_lib_free(j->lib);
	mem_free(j);
}

const struct judge_options *judge_options(const struct judge *j)
{
	return &j->o;
}

const char *judge_fingerprint(const struct judge *j)
{
	return j->fingerprint;
}

struct host_lib *judge_lib(struct judge *j)
{
	return j->lib;
}

struct tile_engine *judge_engine(struct judge *j)
{
	return j->engine;
}

/* Runner links keep images by this number (pool/zygote.c), since addresses of tasks are reused. */
uint64_t judge_next_task(struct judge *j)
{
	return ++j->tasks;
}

void judge_set_store(struct judge *j, const struct prepared_store *s)
{
	j->store = s;
}

const struct prepared_store *judge_store(const struct judge *j)
{
	return j->store;
}

void judge_set_link(struct judge *j, struct runner_link *l)
{
	j->link = l;
}

/* The runner in this process is made late: its shared memory is large, and workers never need
 * it. */
struct runner_link *judge_link(struct judge *j, struct err *e)
{
	if (!j->link && !link_here_init(&j->here, j, e))
		j->link = &j->here.link;
	return j->link;
}

void judge_set_watcher(struct judge *j, const struct judge_watcher *w)
{
	j->watcher = w;
}

const struct judge_watcher *judge_watcher(const struct judge *j)
{
	return j->watcher;
}
