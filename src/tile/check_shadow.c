/* Shadow memory: who touched each element last, and the races that follow from it. */
#include "tile/check.h"

#include <stdio.h>

#include "tile/exec_access.h"

/* --- set up ------------------------------------------------------------------------- */

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
	*p = (struct shadow_pool){ .base = 0 };
}

static int64_t cells_of(const struct shadow *s)
{
	return (int64_t)(s->st->bytes / (size_t)s->granule) + 1;
}

/* Room for n cells, and program numbers that no earlier run has used. */
static int pool_reserve(struct shadow_pool *p, size_t n, int epochs, int64_t programs, struct err *e)
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
	if (!p->ids || !p->locs || (epochs && !p->epochs))
		return err_nomem(e);
	if (p->base > SHADOW_FLAG - 2 - (uint64_t)programs) {
		memset(p->ids, 0, p->n_ids * sizeof *p->ids);
		p->base = 0;
	}
	return 0;
}

/* One shadow per storage, as fine as the smallest element that looks at it. */
static void find_shadows(struct checker *c, struct allocation *allocs, int n)
{
	for (int i = 0; i < n; i++) {
		if (!allocs[i].base)
			continue;
		int k = shadow_of(c, allocs[i].st);
		int size = dtype_size(allocs[i].dt);
		if (k < 0) {
			k = c->n_shadows++;
			c->shadows[k] = (struct shadow){ .st = allocs[i].st, .granule = size };
		}
		c->shadows[k].granule = MIN(c->shadows[k].granule, size);
		allocs[i].shadow = k;
	}
}

static void hand_out(struct checker *c, const struct shadow_pool *p, int epochs)
{
	size_t at = 0;
	for (int i = 0; i < c->n_shadows; i++) {
		struct shadow *s = &c->shadows[i];
		size_t n = (size_t)cells_of(s);
		s->writer = p->ids + 2 * at;
		s->reader = s->writer + n;
		s->wloc = p->locs + 2 * at;
		s->rloc = s->wloc + n;
		s->wepoch = epochs ? p->epochs + 2 * at : NULL;
		s->repoch = epochs ? s->wepoch + n : NULL;
		at += n;
	}
}

int checker_init(struct checker *c, struct shadow_pool *pool, const struct tile_decoded *decoded, struct allocation *allocs, int n,
		 int64_t programs, struct err *e)
{
	size_t cells = 0;
	*c = (struct checker){ .programs = programs };
	c->shadows = mem_array((size_t)n + 1, sizeof *c->shadows);
	c->sync = decoded->has_atomics ? mem_array((size_t)programs + 1, sizeof *c->sync) : NULL;
	c->pending = mem_alloc((size_t)decoded->max_lanes + 1);
	if (!c->shadows || (decoded->has_atomics && !c->sync) || !c->pending)
		return err_nomem(e);
	find_shadows(c, allocs, n);
	for (int i = 0; i < c->n_shadows; i++)
		cells += (size_t)cells_of(&c->shadows[i]);
	if (pool_reserve(pool, cells + 1, decoded->has_atomics, programs, e))
		return -1;
	hand_out(c, pool, decoded->has_atomics);
	c->base = pool->base;
	pool->base += (uint32_t)programs;
	return 0;
}

void checker_release(struct checker *c)
{
	for (int64_t i = 0; c->sync && i < c->programs; i++)
		vec_free(&c->sync[i].addr);
	mem_free(c->shadows);
	mem_free(c->sync);
	mem_free(c->pending);
	arena_release(&c->mem);
}

/* The number in a cell, 0 if it is of an earlier run. */
static uint32_t current(const struct machine *m, uint32_t id)
{
	return (id & ~SHADOW_FLAG) > m->check->base ? id : 0;
}

static int64_t program_of(const struct machine *m, uint32_t id)
{
	return (int64_t)((id & ~SHADOW_FLAG) - m->check->base) - 1;
}

/* --- order by atomics --------------------------------------------------------------------- */

static uint32_t epoch(const struct machine *m)
{
	return m->check->sync ? (uint32_t)m->check->sync[m->linear].addr.n : 0;
}

/* Did `before` do an atomic after that epoch on an address that this program
 * has done one on since? */
static int ordered(const struct machine *m, uint32_t before, const uint32_t *epochs, int64_t cell)
{
	if (!m->check->sync)
		return 0;
	const struct sync_log *a = &m->check->sync[program_of(m, before)], *b = &m->check->sync[m->linear];
	for (size_t i = epochs[cell]; i < a->addr.n; i++)
		for (size_t j = 0; j < b->addr.n; j++)
			if (a->addr.v[i] == b->addr.v[j])
				return 1;
	return 0;
}

/* --- reports ------------------------------------------------------------------------- */

struct touch {
	struct machine *m;
	int32_t loc;
	const struct allocation *al;
	struct shadow *s;
	uint32_t me;                /* this program's number */
	uint16_t short_loc;
};

static void name_program(const struct machine *m, uint32_t p, char *out, size_t n)
{
	int64_t id = program_of(m, p);
	snprintf(out, n, "(%lld, %lld, %lld)", (long long)(id % m->grid[0]), (long long)(id / m->grid[0] % m->grid[1]),
		(long long)(id / m->grid[0] / m->grid[1]));
}

static int report(const struct touch *t, int64_t off, enum reason r, int32_t loc, uint32_t other, int32_t other_loc, const char *did)
{
	char where[160], who[80];
	access_where(t->al, off, where, sizeof where);
	name_program(t->m, other, who, sizeof who);
	return fault_at(t->m, loc, r, "%s: %s by line %d, which program %s %s at line %d", r == REASON_lost_update ? "lost update" : "race",
		where, t->m->code->locs[t->loc].line, who, did, t->m->code->locs[other_loc].line);
}

/* --- the rules ------------------------------------------------------------------------- */

static void count_first(const struct touch *t, int64_t cell)
{
	int seen = current(t->m, t->s->writer[cell]) || current(t->m, t->s->reader[cell]);
	t->m->check->unique += seen ? 0 : t->s->granule;
}

static void note_write(const struct touch *t, int64_t cell, uint32_t flag)
{
	count_first(t, cell);
	t->s->writer[cell] = t->me | flag;
	t->s->wloc[cell] = t->short_loc;
	if (t->s->wepoch)
		t->s->wepoch[cell] = epoch(t->m);
}

/* Loads what another program stored. If that one had loaded it before storing, both add to
 * it, and the fault is the store. */
static int rule_read(const struct touch *t, int64_t cell, int64_t off)
{
	struct shadow *s = t->s;
	uint32_t w = current(t->m, s->writer[cell]), r = current(t->m, s->reader[cell]);
	if (w && (w & ~SHADOW_FLAG) != t->me && !ordered(t->m, w, s->wepoch, cell)) {
		int both = !(w & SHADOW_FLAG) && (r & ~SHADOW_FLAG) == w;
		return report(t, off, both ? REASON_lost_update : REASON_race, both ? s->wloc[cell] : t->loc, w, s->wloc[cell],
			w & SHADOW_FLAG ? "changes atomically" : "stores");
	}
	count_first(t, cell);
	s->reader[cell] = t->me | (r && (r & ~SHADOW_FLAG) != t->me ? SHADOW_FLAG : r & SHADOW_FLAG);
	s->rloc[cell] = t->short_loc;
	if (s->repoch)
		s->repoch[cell] = epoch(t->m);
	return 0;
}

static int rule_write(const struct touch *t, int64_t cell, int64_t off, int same_bytes)
{
	struct shadow *s = t->s;
	uint32_t w = current(t->m, s->writer[cell]), r = current(t->m, s->reader[cell]);
	if (w && (w & ~SHADOW_FLAG) != t->me && !ordered(t->m, w, s->wepoch, cell)) {
		if (!same_bytes || (w & SHADOW_FLAG))
			return report(t, off, REASON_race, t->loc, w, s->wloc[cell], w & SHADOW_FLAG ? "changes atomically" : "stores");
		t->m->check->benign++;
	}
	int others = r && ((r & ~SHADOW_FLAG) != t->me || (r & SHADOW_FLAG));
	if (others && !same_bytes && !ordered(t->m, r, s->repoch, cell)) {
		int mine = (r & ~SHADOW_FLAG) == t->me;     /* this program read it last, others before */
		return report(t, off, REASON_race, t->loc, r, s->rloc[cell], mine ? "and others load" : "loads");
	}
	note_write(t, cell, 0);
	return 0;
}

static int rule_atomic(const struct touch *t, int64_t cell, int64_t off)
{
	struct shadow *s = t->s;
	uint32_t w = current(t->m, s->writer[cell]), r = current(t->m, s->reader[cell]);
	if (w && !(w & SHADOW_FLAG) && w != t->me && !ordered(t->m, w, s->wepoch, cell))
		return report(t, off, REASON_race, t->loc, w, s->wloc[cell], "stores without an atomic");
	if (r && !(r & SHADOW_FLAG) && r != t->me && !ordered(t->m, r, s->repoch, cell))
		return report(t, off, REASON_race, t->loc, r, s->rloc[cell], "loads without an atomic");
	note_write(t, cell, SHADOW_FLAG);
	return 0;
}

/* --- entry points ------------------------------------------------------------------------- */

static struct touch touch_of(struct machine *m, int32_t loc, const struct allocation *al)
{
	return (struct touch) {
		.m = m, .loc = loc, .al = al, .s = &m->check->shadows[al->shadow], .me = m->check->base + (uint32_t)m->linear + 1,
		.short_loc = loc <= UINT16_MAX ? (uint16_t)loc : 0,
	};
}

/* A granule may be smaller than the element (one storage under two dtypes). */
static int cells_in(const struct touch *t, int esize)
{
	return MAX(1, esize / t->s->granule);
}

/* Whole rows at once where the elements lie side by side and no order is kept. */
static int whole_row(const struct touch *t, int64_t off, int64_t step, int64_t count, int esize, int write)
{
	struct shadow *s = t->s;
	int64_t cell = off / s->granule;
	if (step != esize || s->granule != esize || s->wepoch || count < 4)
		return 0;
	struct check_row row = {
		.writer = s->writer + cell, .reader = s->reader + cell, .wloc = s->wloc + cell, .rloc = s->rloc + cell,
		.me = t->me, .base = t->m->check->base, .loc = t->short_loc,
	};
	int64_t fresh = write ? SIMD_PICK(check_row_write)(&row, count) : SIMD_PICK(check_row_read)(&row, count);
	if (fresh < 0)
		return 0;
	t->m->check->unique += fresh * s->granule;
	return 1;
}

int check_load(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int64_t step, int64_t count, int esize)
{
	struct touch t = touch_of(m, loc, al);
	int cells = cells_in(&t, esize);
	if (whole_row(&t, off, step, count, esize, 0))
		return 0;
	for (int64_t i = 0; i < count; i++, off += step)
		for (int k = 0; k < cells; k++)
			if (rule_read(&t, off / t.s->granule + k, off))
				return -1;
	return 0;
}

int check_store(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int64_t step, int64_t count, int esize,
		const char *value, int64_t vstep)
{
	struct touch t = touch_of(m, loc, al);
	int cells = cells_in(&t, esize);
	if (whole_row(&t, off, step, count, esize, 1))
		return 0;
	for (int64_t i = 0; i < count; i++, off += step, value += vstep) {
		int same = !memcmp(al->base + off, value, (size_t)esize);
		for (int k = 0; k < cells; k++)
			if (rule_write(&t, off / t.s->granule + k, off, same))
				return -1;
	}
	return 0;
}

int check_atomic(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int esize, int scalar)
{
	struct touch t = touch_of(m, loc, al);
	int cells = cells_in(&t, esize);
	for (int k = 0; k < cells; k++)
		if (rule_atomic(&t, off / t.s->granule + k, off))
			return -1;
	if (scalar && vec_push(&m->check->sync[m->linear].addr, (uint64_t)(uintptr_t)(al->base + off)))
		return diag_set(m->fault, REASON_internal, 0, 0, "out of memory for the order of atomics");
	return 0;
}
