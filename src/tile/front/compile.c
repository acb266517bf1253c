/* The engine and tile_compile: one compilation for each specialisation, kept in a cache. Also
 * decodes the code for the machine and runs it with the engine's shared state. */
#include "tile/front/compile.h"

#include "tile/machine/decode.h"
#include "tile/machine/execute.h"

/* An entry of the cache. A refusal is kept too, so that a bad launch is diagnosed once. */
struct compiled {
	struct tile_code *code;         /* NULL: Triton refuses it or the machine cannot run it */
	struct diag d;              /* the reason, if code is NULL */
};

/* Defaults: Triton 3.6 on a GPU of capability 9.0. */
struct tile_engine *tile_engine_new(const struct tile_options *o, struct err *e)
{
	struct tile_engine *g = mem_zalloc(sizeof *g);
	if (!g) {
		err_nomem(e);
		return NULL;
	}
	g->o = *o;
	g->replays.least = o->replay == TILE_REPLAY_ALL ? 0 : REPLAY_LEAST;
	if (!g->o.triton_version)
		g->o.triton_version = 306;
	if (!g->o.capability)
		g->o.capability = 90;
	if (lang_builtin_init(&g->builtins, e) || lang_library_open(g, e)) {
		tile_engine_free(g);
		return NULL;
	}
	return g;
}

/* Records of launches refer to the code, so they are freed first. */
void tile_engine_clear(struct tile_engine *g)
{
	replay_store_release(&g->replays);
	checked_launches_release(&g->checked);
	for (size_t i = 0; i < g->cache.n; i++) {
		struct compiled *c = g->cache.e[i].val.ptr;
		if (c)
			tile_code_free(c->code);
		mem_free(c);
	}
	map_release(&g->cache);
}

/* Frees the engine and all code that it gave out. */
void tile_engine_free(struct tile_engine *g)
{
	if (!g)
		return;
	tile_engine_clear(g);
	shadow_pool_release(&g->shadows);
	map_release(&g->lib_by_name);
	lang_builtin_release(&g->builtins);
	if (g->library.root)
		py_release(&g->library);
	arena_release(&g->scratch);
	arena_release(&g->mem);
	mem_free(g);
}

/* The walk over the kernel. Everything in it may leave by longjmp to compile_kernel. */
static void walk(struct front *f, const struct tile_launch *l, const char *const *types)
{
	struct front_frame fr;
	int mute;

	front_frame_init(f, &fr, l->fn);
	f->frame = &fr;
	front_check_names(f, l->fn);
	front_signature(f);
	spec_bind(f, l, types);
	mute = f->mute;
	front_kernel(f);
	if (!f->unsupported)
		f->mute = mute;
	f->frame = NULL;
}

/* Verifies and decodes the code. A failure is a bug of the front end, not of the kernel. */
static int finish(struct front *f, struct tile_code **code, struct err *e)
{
	struct err why = ERR_INIT;

	if (f->unsupported)
		return 0;
	if (!tile_build_finish(f->b, code, &why) && !tile_decode(*code, &why))
		return 0;
	tile_code_free(*code);
	*code = NULL;
	return err_set(e, why.code, "tile code of a kernel is not well-formed: %s", why.text);
}

/* The trap catches front_fail (a diagnostic is set) and failed arena allocations (none is set). */
int compile_kernel(struct tile_engine *g, const struct tile_launch *l, const struct compile_watch *w,
		   struct tile_code **code, struct diag *d, struct diag *unsupported, struct err *e)
{
	struct tile_builder builder;
	int rc;
	struct front *f;

	arena_clear(&g->scratch);
	f = arena_zalloc(&g->scratch, sizeof *f);
	if (!f)
		return err_nomem(e);
	*code = NULL;
	*unsupported = (struct diag){ 0 };
	*d = (struct diag){ 0 };
	tile_build_init(&builder, l->fn->name);
	/* Everything of the compilation lives in `scratch`, except the code itself. */
	f->g = g, f->a = &g->scratch, f->b = &builder, f->d = d, f->du = unsupported, f->launch = l;
	f->version = g->o.triton_version, f->capability = g->o.capability;
	if (w)
		f->trace = w->trace, f->trace_ctx = w->ctx;
	if (setjmp(f->trap)) {
		rc = d->reason == REASON_ok ? err_nomem(e) : 1;
	} else {
		g->scratch.trap = &f->trap;
		walk(f, l, w ? w->types : NULL);
		if (f->late.reason != REASON_ok)
			*d = f->late;
		rc = f->late.reason != REASON_ok ? 1 : finish(f, code, e);
	}
	g->scratch.trap = NULL;
	vec_free(&f->block_ptrs);
	tile_build_release(&builder);
	return rc;
}

/* Looks up the specialisation, or compiles it. */
int tile_compile(struct tile_engine *g, const struct tile_launch *l, const struct tile_code **code,
		 struct diag *d, struct err *e)
{
	struct buf key = BUF_INIT;
	struct compiled *c;
	struct map_entry *m;

	spec_key(l, &key);
	/* A new entry has a NULL value until its compilation succeeds or is refused. */
	m = key.failed ? NULL : map_put(&g->cache, buf_str(&key));
	buf_release(&key);
	if (!m)
		return err_nomem(e);
	c = m->val.ptr;
	if (!c) {
		struct diag unsupported;
		int rc;

		c = mem_zalloc(sizeof *c);
		if (!c)
			return err_nomem(e);
		rc = compile_kernel(g, l, NULL, &c->code, &c->d, &unsupported, e);
		if (rc < 0) {
			mem_free(c);
			return -1;
		}
		/* The machine cannot run it: to the caller that is a refusal with the reason
		 * "unsupported". */
		if (!rc && !c->code)
			c->d = unsupported;
		m->val.ptr = c;
	}
	if (!c->code) {
		*d = c->d;
		return 1;
	}
	*code = c->code;
	return 0;
}

/* Runs with the engine's thread pool, shadow memory and records of launches. */
int tile_run(struct tile_engine *g, const struct tile_code *code, const struct tile_launch *l,
	     const struct tile_run_options *o, struct tile_cost *cost, struct diag *d, struct err *e)
{
	struct tile_runner runner = { .pool = g->o.pool, .shadows = &g->shadows,
				      .replays = g->o.replay == TILE_REPLAY_NONE ? NULL : &g->replays,
				       .checked = &g->checked };
	return tile_execute(&runner, code, l, o, cost, d, e);
}
