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

int checker_init(struct checker *c, struct allocation *allocs, int n, int64_t programs, int64_t max_lanes, struct err *e)
{
	*c = (struct checker){ .programs = programs };
	c->shadows = mem_array((size_t)n + 1, sizeof *c->shadows);
	c->sync = mem_array((size_t)programs + 1, sizeof *c->sync);
	c->pending = mem_alloc((size_t)max_lanes + 1);
	if (!c->shadows || !c->sync || !c->pending)
		return err_nomem(e);
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
	for (int i = 0; i < c->n_shadows; i++) {
		struct shadow *s = &c->shadows[i];
		s->cells = mem_array(s->st->bytes / (size_t)s->granule + 1, sizeof *s->cells);
		if (!s->cells)
			return err_nomem(e);
	}
	return 0;
}

void checker_release(struct checker *c)
{
	for (int i = 0; i < c->n_shadows; i++)
		mem_free(c->shadows[i].cells);
	for (int64_t i = 0; c->sync && i < c->programs; i++)
		vec_free(&c->sync[i].addr);
	mem_free(c->shadows);
	mem_free(c->sync);
	mem_free(c->pending);
	arena_release(&c->mem);
}

/* --- order by atomics --------------------------------------------------------------------- */

static uint32_t epoch(const struct machine *m)
{
	return (uint32_t)m->check->sync[m->linear].addr.n;
}

/* Did `before` (a program + 1) do an atomic after that epoch on an address that this program
 * has done one on since? */
static int ordered(const struct machine *m, uint32_t before, uint32_t since)
{
	const struct sync_log *a = &m->check->sync[(before & ~SHADOW_FLAG) - 1], *b = &m->check->sync[m->linear];
	for (size_t i = since; i < a->addr.n; i++)
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
	const char *verb;
	uint32_t me;                /* linear program + 1 */
};

static void name_program(const struct machine *m, uint32_t p, char *out, size_t n)
{
	int64_t id = (int64_t)(p & ~SHADOW_FLAG) - 1;
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

/* Loads what another program stored. If that one had loaded it before storing, both add to
 * it, and the fault is the store. */
static int rule_read(const struct touch *t, struct shadow_cell *c, int64_t off)
{
	uint32_t w = c->writer;
	if (w && (w & ~SHADOW_FLAG) != t->me && !ordered(t->m, w, c->wepoch)) {
		int both = !(w & SHADOW_FLAG) && (c->reader & ~SHADOW_FLAG) == w;
		return report(t, off, both ? REASON_lost_update : REASON_race, both ? c->wloc : t->loc, w, c->wloc, w & SHADOW_FLAG ? "changes atomically" : "stores");
	}
	uint32_t r = c->reader;
	if (r && (r & ~SHADOW_FLAG) != t->me)
		c->reader = t->me | SHADOW_FLAG;
	else
		c->reader = t->me | (r & SHADOW_FLAG);
	c->rloc = t->loc;
	c->repoch = epoch(t->m);
	return 0;
}

static int rule_write(const struct touch *t, struct shadow_cell *c, int64_t off, int same_bytes)
{
	uint32_t w = c->writer, r = c->reader;
	if (w && (w & ~SHADOW_FLAG) != t->me && !ordered(t->m, w, c->wepoch)) {
		if (!same_bytes || (w & SHADOW_FLAG))
			return report(t, off, REASON_race, t->loc, w, c->wloc, w & SHADOW_FLAG ? "changes atomically" : "stores");
		t->m->check->benign++;
	}
	int others = r && ((r & ~SHADOW_FLAG) != t->me || (r & SHADOW_FLAG));
	if (others && !same_bytes && !ordered(t->m, r, c->repoch)) {
		int mine = (r & ~SHADOW_FLAG) == t->me;     /* this program read it last, others before */
		return report(t, off, REASON_race, t->loc, r, c->rloc, mine ? "and others load" : "loads");
	}
	c->writer = t->me;
	c->wloc = t->loc;
	c->wepoch = epoch(t->m);
	return 0;
}

static int rule_atomic(const struct touch *t, struct shadow_cell *c, int64_t off)
{
	uint32_t w = c->writer, r = c->reader;
	if (w && !(w & SHADOW_FLAG) && w != t->me && !ordered(t->m, w, c->wepoch))
		return report(t, off, REASON_race, t->loc, w, c->wloc, "stores without an atomic");
	if (r && !(r & SHADOW_FLAG) && r != t->me && !ordered(t->m, r, c->repoch))
		return report(t, off, REASON_race, t->loc, r, c->rloc, "loads without an atomic");
	c->writer = t->me | SHADOW_FLAG;
	c->wloc = t->loc;
	c->wepoch = epoch(t->m);
	return 0;
}

/* --- entry points ------------------------------------------------------------------------- */

static struct touch touch_of(struct machine *m, int32_t loc, const struct allocation *al, const char *verb)
{
	return (struct touch){ .m = m, .loc = loc, .al = al, .verb = verb, .me = (uint32_t)m->linear + 1 };
}

static struct shadow_cell *cell_at(const struct machine *m, const struct allocation *al, int64_t off)
{
	const struct shadow *s = &m->check->shadows[al->shadow];
	return &s->cells[off / s->granule];
}

/* A granule may be smaller than the element (one storage under two dtypes). */
static int cells_in(const struct machine *m, const struct allocation *al, int esize)
{
	return MAX(1, esize / m->check->shadows[al->shadow].granule);
}

int check_load(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int64_t step, int64_t count, int esize)
{
	struct touch t = touch_of(m, loc, al, "load");
	int cells = cells_in(m, al, esize);
	for (int64_t i = 0; i < count; i++, off += step) {
		struct shadow_cell *c = cell_at(m, al, off);
		for (int k = 0; k < cells; k++)
			if (rule_read(&t, c + k, off))
				return -1;
	}
	return 0;
}

int check_store(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int64_t step, int64_t count, int esize,
		const char *value, int64_t vstep)
{
	struct touch t = touch_of(m, loc, al, "store");
	int cells = cells_in(m, al, esize);
	for (int64_t i = 0; i < count; i++, off += step, value += vstep) {
		struct shadow_cell *c = cell_at(m, al, off);
		int same = !memcmp(al->base + off, value, (size_t)esize);
		for (int k = 0; k < cells; k++)
			if (rule_write(&t, c + k, off, same))
				return -1;
	}
	return 0;
}

int check_atomic(struct machine *m, int32_t loc, const struct allocation *al, int64_t off, int esize, int scalar)
{
	struct touch t = touch_of(m, loc, al, "atomic");
	struct shadow_cell *c = cell_at(m, al, off);
	int cells = cells_in(m, al, esize);
	for (int k = 0; k < cells; k++)
		if (rule_atomic(&t, c + k, off))
			return -1;
	if (scalar && vec_push(&m->check->sync[m->linear].addr, (uint64_t)(uintptr_t)(al->base + off)))
		return diag_set(m->fault, REASON_internal, 0, 0, "out of memory for the order of atomics");
	return 0;
}
