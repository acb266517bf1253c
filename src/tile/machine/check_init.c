/* Sets up the shadow memory of a checked run: takes it from the pool and hands it out by storage.
 *
 * Only storages that the kernel writes get a shadow. A kernel that adds two vectors of 1 M fp32
 * elements into a third has shadow for the third only: 1 M writer and 1 M reader numbers.
 *
 * Invariant: a number in `ids` that is not above the run's base belongs to an earlier run and
 * counts as "nobody", so that the pool need not be cleared between runs. */
#include "tile/machine/check.h"

#include "tile/code/touched.h"

/* Parameters that view the same storage share one shadow. */
static int shadow_of(struct checker *c, const struct storage *st)
{
	for (int i = 0; i < c->n_shadows; i++)
		if (c->shadows[i].st == st)
			return i;
	return -1;
}

void shadow_pool_release(struct shadow_pool *p)
{
	mem_free(p->ids);
	mem_free(p->locs);
	mem_free(p->epochs);
	mem_free(p->lanes);
	*p = (struct shadow_pool){ .base = 0 };
}

/* A storage that nobody writes needs no cells. Others get one cell more than whole granules, for
 * a size that is no multiple of them. */
static size_t cells_of(const struct shadow *s)
{
	return s->writes ? s->st->bytes / (size_t)s->granule + 1 : 0;
}

/* Makes room for n cells, `marked` of them with lane marks, and for instance numbers that no
 * earlier run has used. Fresh `ids` are zero, so the numbers restart at 0. When 31 bits of
 * numbers are used up (2 billion instances), the ids are cleared once and the numbers restart. */
static int pool_reserve(struct shadow_pool *p, size_t n, size_t marked, int epochs, int64_t programs, struct err *e)
{
	if (p->n_ids < 2 * n) {
		mem_free(p->ids);
		p->ids = mem_array(2 * n, sizeof *p->ids);
		p->n_ids = p->ids ? 2 * n : 0;
		p->base = 0;
	}
	if (p->n_locs < 2 * n) {
		mem_free(p->locs);
		p->locs = mem_array(2 * n, sizeof *p->locs);
		p->n_locs = p->locs ? 2 * n : 0;
	}
	if (epochs && p->n_epochs < 2 * n) {
		mem_free(p->epochs);
		p->epochs = mem_array(2 * n, sizeof *p->epochs);
		p->n_epochs = p->epochs ? 2 * n : 0;
	}
	if (p->n_lanes < 2 * marked) {
		mem_free(p->lanes);
		p->lanes = mem_array(2 * marked, sizeof *p->lanes);
		p->n_lanes = p->lanes ? 2 * marked : 0;
	}
	if (!p->ids || !p->locs || (epochs && !p->epochs) || (marked && !p->lanes))
		return err_nomem(e);
	if (p->base > SHADOW_FLAG - 2 - (uint64_t)programs) {
		memset(p->ids, 0, p->n_ids * sizeof *p->ids);
		p->base = 0;
	}
	return 0;
}

/* Arguments beyond TOUCHED_MOST have no bit; they count as touched. */
static int has_bit(const uint64_t *bits, int arg)
{
	return arg >= TOUCHED_MOST || (arg >= 0 && (bits[arg / 64] >> (arg % 64) & 1));
}

/* Finds one shadow per storage, with the smallest element that looks at it as its granule. A
 * storage seen as fp32 by one parameter and as fp16 by another gets granules of 2 bytes. */
static void find_shadows(struct checker *c, const struct tile_code *code, const struct touched *t,
			 struct allocation *allocs)
{
	int n = code->n_params;
	for (int i = 0; i < n; i++) {
		int arg, k, size;

		if (!allocs[i].base)
			continue;
		k = shadow_of(c, allocs[i].st);
		size = dtype_size(allocs[i].dt);
		if (k < 0) {
			k = c->n_shadows++;
			c->shadows[k] = (struct shadow){ .st = allocs[i].st, .granule = size };
		}
		c->shadows[k].granule = MIN(c->shadows[k].granule, size);
		allocs[i].shadow = k;
		arg = code->params[i].arg;
		c->shadows[k].reads |= has_bit(t->read, arg);
		c->shadows[k].writes += has_bit(t->written, arg) + has_bit(t->again, arg);
	}
}

/* One lane can meet an element of another lane only if the element is written and touched a
 * second time. A storage that one store writes and nothing reads needs no lane marks. */
static int lanes_meet(const struct shadow *s)
{
	return s->writes > 1 || (s->writes && s->reads);
}

/* Divides the arrays of the pool: each shadow gets n writers followed by n readers. */
static void hand_out(struct checker *c, const struct shadow_pool *p, int epochs)
{
	size_t at = 0, marked = 0;
	for (int i = 0; i < c->n_shadows; i++) {
		struct shadow *s = &c->shadows[i];
		size_t n = cells_of(s);
		if (!n)
			continue;
		s->writer = p->ids + 2 * at;
		s->reader = s->writer + n;
		s->wloc = p->locs + 2 * at;
		s->rloc = s->wloc + n;
		s->shift = __builtin_ctz((unsigned)s->granule);
		s->wepoch = epochs ? p->epochs + 2 * at : NULL;
		s->repoch = s->wepoch ? s->wepoch + n : NULL;
		at += n;
		if (!lanes_meet(s))
			continue;
		s->wlane = p->lanes + 2 * marked;
		s->rlane = s->wlane + n;
		marked += n;
	}
}

/* sync is needed only for kernels with atomics. `pending` has room for the largest tile. */
int checker_init(struct checker *c, struct shadow_pool *pool, const struct tile_code *code,
		 struct allocation *allocs, int num_warps,
		 int64_t programs, struct err *e)
{
	const struct tile_decoded *decoded = code->decoded;
	size_t cells = 0, marked = 0;
	struct touched t;
	*c = (struct checker){ .programs = programs, .one_warp = num_warps == 1 };
	c->shadows = mem_array((size_t)code->n_params + 1, sizeof *c->shadows);
	c->sync = decoded->has_atomics ? mem_array((size_t)programs + 1, sizeof *c->sync) : NULL;
	c->pending = mem_alloc((size_t)decoded->max_lanes + 1);
	if (!c->shadows || (decoded->has_atomics && !c->sync) || !c->pending)
		return err_nomem(e);
	if (resource_touched(code, &t, e))
		return -1;
	find_shadows(c, code, &t, allocs);
	for (int i = 0; i < c->n_shadows; i++) {
		cells += cells_of(&c->shadows[i]);
		marked += lanes_meet(&c->shadows[i]) ? cells_of(&c->shadows[i]) : 0;
	}
	if (pool_reserve(pool, cells + 1, marked, decoded->has_atomics, programs, e))
		return -1;
	hand_out(c, pool, decoded->has_atomics);
	c->base = pool->base;
	pool->base += (uint32_t)programs;
	return 0;
}

void checker_release(struct checker *c)
{
	for (int64_t i = 0; c->sync && i < c->programs; i++)
		vec_free(&c->sync[i].done);
	mem_free(c->shadows);
	mem_free(c->sync);
	mem_free(c->pending);
	arena_release(&c->mem);
}
