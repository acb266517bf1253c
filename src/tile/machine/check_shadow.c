/* Shadow memory: which program instance touched each element last, and the races that follow.
 *
 * The rules see one element at a time, in the order of the instances: 0, 1, 2, ... Instance 6
 * stores c_ptr[488] and finds that instance 0 stored it: a race, even if a GPU happens to run them
 * in order. Rows of neighbours without any conflict take the short way (check_row.h).
 *
 * This file does not see values; the caller says whether a store repeats the bytes in memory. */
#include "tile/machine/check.h"

#include <stdio.h>

/* The number in a cell, or 0 if an earlier run left it. */
static uint32_t current(const struct machine *m, uint32_t id)
{
	return (id & ~SHADOW_FLAG) > m->check->base ? id : 0;
}

/* Returns the instance that has this number. */
static int64_t program_of(const struct machine *m, uint32_t id)
{
	return (int64_t)((id & ~SHADOW_FLAG) - m->check->base) - 1;
}

/* --- order by atomics --------------------------------------------------------------------- */

/* How many scalar atomics this instance has done so far. An atomic orders only the accesses
 * before it. */
static uint32_t epoch(const struct machine *m)
{
	return m->check->sync ? (uint32_t)m->check->sync[m->linear].done.n : 0;
}

/* Nonzero if atomics order an access of instance `before` ahead of this instance. `before` must
 * have done a release atomic after the access (`since` counts its atomics at that time), and this
 * instance an acquire atomic on the same address.
 *
 * Example: instance 0 stores partial[0], then atomic_add(flag, 1, sem="release"). Instance 1 does
 * atomic_add(flag, 0, sem="acquire") and may then load partial[0].
 *
 * The atomic is done by one thread. An access by another lane (`mark`, NULL: not known) is
 * ordered only if a barrier came between the access and the atomic. */
static int ordered(const struct machine *m, uint32_t before, uint32_t since, const struct lane_mark *mark)
{
	const struct sync_log *a, *b;

	if (!m->check->sync)
		return 0;
	a = &m->check->sync[program_of(m, before)];
	b = &m->check->sync[m->linear];
	for (size_t i = since; i < a->done.n; i++) {
		const struct sync_done *x = &a->done.v[i];
		if (!x->release || (mark && mark->lane && mark->barrier >= x->barrier))
			continue;
		for (size_t j = 0; j < b->done.n; j++)
			if (b->done.v[j].acquire && b->done.v[j].addr == x->addr)
				return 1;
	}
	return 0;
}

/* --- reports ------------------------------------------------------------------------- */

/* One access to one element that the rules look at. */
struct touch {
	struct machine *m;
	int32_t loc;
	const struct allocation *al;
	struct shadow *s;
	uint32_t me;                /* number of this instance */
	uint16_t short_loc;         /* loc, or 0 if it does not fit 16 bits */
	uint32_t lane;              /* lane of this instance, as in struct lane_mark */
};

/* Whether the last write of a cell by number w is ordered before this access. */
static int ordered_write(const struct touch *t, uint32_t w, int64_t cell)
{
	const struct shadow *s = t->s;
	return ordered(t->m, w, s->wepoch ? s->wepoch[cell] : 0, s->wlane ? &s->wlane[cell] : NULL);
}

/* Whether the last read of a cell by number r is ordered before this access. */
static int ordered_read(const struct touch *t, uint32_t r, int64_t cell)
{
	const struct shadow *s = t->s;
	return ordered(t->m, r, s->repoch ? s->repoch[cell] : 0, s->rlane ? &s->rlane[cell] : NULL);
}

/* The indices of an instance in its grid: number 7 of a grid (4, 2, 1) is (3,1,0). */
static void name_program(const struct machine *m, uint32_t p, char *out, size_t n)
{
	int64_t id = program_of(m, p);
	snprintf(out, n, "(%lld,%lld,%lld)", (long long)(id % m->grid[0]), (long long)(id / m->grid[0] % m->grid[1]),
		(long long)(id / m->grid[0] / m->grid[1]));
}

/* The action of an instance on an element, as a race report names it. */
enum deed { DEED_LOAD, DEED_STORE, DEED_CHANGE, DEED_CHANGE_CTA };

static const struct { const char *verb, *how; } deeds[] = {
	[DEED_LOAD] = { .verb = "loads", .how = "" }, [DEED_STORE] = { .verb = "stores", .how = "" },
	[DEED_CHANGE] = { .verb = "changes", .how = " with an atomic" },
	[DEED_CHANGE_CTA] = { .verb = "changes", .how = " with an atomic of scope \"cta\"" },
};

/* Two unordered accesses to one element. */
struct clash {
	const struct touch *t;      /* the second access */
	int64_t off;                /* byte offset of the element in its storage */
	enum deed mine, theirs;     /* the actions of this instance and of the other one */
	uint32_t other;             /* number of the other instance */
	int32_t other_loc;
};

/* Both instances do the same: "both store c_ptr[488] (line 37)", or "(lines 37 and 52)". */
static int report_both(const struct clash *c, const char *where, const char *them, const char *me)
{
	int first = c->t->m->code->locs[c->other_loc].line, second = c->t->m->code->locs[c->t->loc].line;

	if (first == second)
		return fault_text(c->t->m, c->t->loc, REASON_race, "race: program instances %s and %s both store %s "
				  "(line %d); is a mask missing?", them, me, where, first);
	return fault_text(c->t->m, c->t->loc, REASON_race, "race: program instances %s and %s both store %s "
			  "(lines %d and %d); is a mask missing?", them, me, where, first, second);
}

/* Names both instances, the element and both lines. */
static int report(const struct clash *c)
{
	const struct tile_loc *locs = c->t->m->code->locs;
	char where[160], them[80], me[80];
	int others;

	access_where(c->t->al, c->off, where, sizeof where);
	name_program(c->t->m, c->other, them, sizeof them);
	name_program(c->t->m, c->t->me, me, sizeof me);
	if (c->mine == DEED_STORE && c->theirs == DEED_STORE)
		return report_both(c, where, them, me);
	/* This instance read the element last and others before it, whose numbers are not kept. */
	others = (c->other & ~SHADOW_FLAG) == c->t->me;
	return fault_text(c->t->m, c->t->loc, REASON_race, "race: %sprogram instance%s%s %s %s%s (line %d) and %s %s "
			  "it%s (line %d); nothing orders them", others ? "another " : "", others ? "" : " ",
			  others ? "" : them, deeds[c->theirs].verb, where, deeds[c->theirs].how,
			  locs[c->other_loc].line, me, deeds[c->mine].verb, deeds[c->mine].how,
			  locs[c->t->loc].line);
}

/* The other instance loaded the element and stored it; this one loads it to do the same. */
static int report_lost_update(const struct clash *c)
{
	const struct tile_loc *locs = c->t->m->code->locs;
	char where[160], them[80], me[80];

	access_where(c->t->al, c->off, where, sizeof where);
	name_program(c->t->m, c->other, them, sizeof them);
	name_program(c->t->m, c->t->me, me, sizeof me);
	return fault_text(c->t->m, c->other_loc, REASON_lost_update, "lost update: program instances %s and %s both "
			  "load %s (line %d) and store it back (line %d); use an atomic", them, me, where,
			  locs[c->t->loc].line, locs[c->other_loc].line);
}

/* --- lanes of one instance ---------------------------------------------------------------- */

static int report_lanes(const struct touch *t, int64_t off, int32_t other_loc, enum deed mine, enum deed theirs)
{
	char where[160];
	access_where(t->al, off, where, sizeof where);
	return fault_hint(t->m, t->loc, REASON_race, "put tl.debug_barrier() between them",
			  "race: one lane %s %s (line %d) and another lane %s it%s (line %d)",
			  deeds[theirs].verb, where, t->m->code->locs[other_loc].line,
			  deeds[mine].verb, deeds[mine].how,
			  t->m->code->locs[t->loc].line);
}

/* Nonzero if another lane of this instance touched the element since the last barrier. */
static int meets(const struct touch *t, const struct lane_mark *k)
{
	return k->barrier == t->m->check->barrier && k->lane != t->lane;
}

/* A lane loads: it must not meet a store of another lane. A scalar (lane mark 0) that was stored
 * since the last barrier is stale: the storing thread knows it, the others may not. */
static int lanes_read(const struct touch *t, int64_t cell, int64_t off)
{
	struct shadow *s = t->s;
	uint32_t now = t->m->check->barrier;
	struct lane_mark *r;
	int many;

	if (!s->wlane)
		return 0;
	if ((s->writer[cell] & ~SHADOW_FLAG) == t->me) {
		if (meets(t, &s->wlane[cell]))
			return report_lanes(t, off, s->wloc[cell], DEED_LOAD, DEED_STORE);
		t->m->check->stale |= !t->lane && s->wlane[cell].barrier == now;
	}
	r = &s->rlane[cell];
	many = (s->reader[cell] & ~SHADOW_FLAG) == t->me && meets(t, r);
	*r = (struct lane_mark){ .lane = many ? LANE_MANY : t->lane, .barrier = now };
	return 0;
}

/* A lane stores: it must meet neither a store nor a load of another lane. The same bytes again do
 * no harm. */
static int lanes_write(const struct touch *t, int64_t cell, int64_t off, int same_bytes, enum deed mine)
{
	struct shadow *s = t->s;
	if (!s->wlane)
		return 0;
	if (!same_bytes && (s->writer[cell] & ~SHADOW_FLAG) == t->me && meets(t, &s->wlane[cell]))
		return report_lanes(t, off, s->wloc[cell], mine, DEED_STORE);
	if (!same_bytes && (s->reader[cell] & ~SHADOW_FLAG) == t->me && meets(t, &s->rlane[cell]))
		return report_lanes(t, off, s->rloc[cell], mine, DEED_LOAD);
	s->wlane[cell] = (struct lane_mark){ .lane = t->lane, .barrier = t->m->check->barrier };
	return 0;
}

/* --- the rules ------------------------------------------------------------------------- */

/* Makes this instance the last writer. `flag` is SHADOW_FLAG for an atomic. */
static void note_write(const struct touch *t, int64_t cell, uint32_t flag)
{
	t->s->writer[cell] = t->me | flag;
	t->s->wloc[cell] = t->short_loc;
	if (t->s->wepoch)
		t->s->wepoch[cell] = epoch(t->m);
}

/* An instance loads what another instance stored: a race. If the storing instance had also loaded
 * the element, both add to it, and the fault is that store: a lost update. */
static int rule_read(const struct touch *t, int64_t cell, int64_t off)
{
	struct shadow *s = t->s;
	uint32_t w = current(t->m, s->writer[cell]), r = current(t->m, s->reader[cell]);
	if (w && (w & ~SHADOW_FLAG) != t->me && !ordered_write(t, w, cell)) {
		struct clash c = { .t = t, .off = off, .mine = DEED_LOAD, .other = w, .other_loc = s->wloc[cell],
				   .theirs = w & SHADOW_FLAG ? DEED_CHANGE : DEED_STORE };
		int both = !(w & SHADOW_FLAG) && (r & ~SHADOW_FLAG) == w;
		return both ? report_lost_update(&c) : report(&c);
	}
	if (lanes_read(t, cell, off))
		return -1;
	s->reader[cell] = t->me | (r && (r & ~SHADOW_FLAG) != t->me ? SHADOW_FLAG : r & SHADOW_FLAG);
	s->rloc[cell] = t->short_loc;
	if (s->repoch)
		s->repoch[cell] = epoch(t->m);
	return 0;
}

/* An instance stores what another instance stored or loaded. Storing the same bytes again is
 * benign. */
static int rule_write(const struct touch *t, int64_t cell, int64_t off, int same_bytes)
{
	struct shadow *s = t->s;
	uint32_t w = current(t->m, s->writer[cell]), r = current(t->m, s->reader[cell]);
	struct clash c = { .t = t, .off = off, .mine = DEED_STORE };
	int others;

	if (w && (w & ~SHADOW_FLAG) != t->me && !ordered_write(t, w, cell)) {
		c.theirs = w & SHADOW_FLAG ? DEED_CHANGE : DEED_STORE;
		c.other = w;
		c.other_loc = s->wloc[cell];
		if (!same_bytes || (w & SHADOW_FLAG))
			return report(&c);
		t->m->check->benign++;
	}
	others = r && ((r & ~SHADOW_FLAG) != t->me || (r & SHADOW_FLAG));
	if (others && !same_bytes && !ordered_read(t, r, cell)) {
		c.theirs = DEED_LOAD;
		c.other = r;
		c.other_loc = s->rloc[cell];
		return report(&c);
	}
	if (lanes_write(t, cell, off, same_bytes, DEED_STORE))
		return -1;
	note_write(t, cell, 0);
	return 0;
}

/* An atomic of scope "cta" is an ordinary load and store as other instances see it. */
static int rule_atomic(const struct touch *t, int64_t cell, int64_t off, int scope)
{
	struct shadow *s = t->s;
	uint32_t w = current(t->m, s->writer[cell]), r = current(t->m, s->reader[cell]);
	uint32_t flag = scope == TILE_SCOPE_CTA ? 0 : SHADOW_FLAG;
	struct clash c = { .t = t, .off = off, .mine = flag ? DEED_CHANGE : DEED_CHANGE_CTA };

	if (w && !(w & flag) && (w & ~SHADOW_FLAG) != t->me && !ordered_write(t, w, cell)) {
		c.theirs = w & SHADOW_FLAG ? DEED_CHANGE : DEED_STORE;
		c.other = w;
		c.other_loc = s->wloc[cell];
		return report(&c);
	}
	if (r && !(r & SHADOW_FLAG) && r != t->me && !ordered_read(t, r, cell)) {
		c.theirs = DEED_LOAD;
		c.other = r;
		c.other_loc = s->rloc[cell];
		return report(&c);
	}
	/* Atomics of several lanes do not disturb each other, but a plain store of another lane does. */
	if (!(s->writer[cell] & SHADOW_FLAG) && lanes_write(t, cell, off, 0, c.mine))
		return -1;
	if (s->wlane)
		s->wlane[cell] = (struct lane_mark){ .lane = t->lane, .barrier = t->m->check->barrier };
	note_write(t, cell, flag);
	return 0;
}

/* --- entry points ------------------------------------------------------------------------- */

/* resource_touched found all stores of the kernel before the run. A store it did not find has no
 * shadow. */
static int unforeseen(const struct touch *t)
{
	return diag_set(t->m->fault, REASON_internal, 0, 0,
			"a store through a pointer that nobody was seen to store through");
}

/* The access of `lane` to an element of `al`. The lane mark carries the logarithm of the tile's
 * size. */
static struct touch touch_of(const struct access *a, const struct allocation *al, int64_t lane)
{
	struct machine *m = a->m;
	int32_t loc = a->in->loc;
	uint32_t size = (uint32_t)(31 - __builtin_clz((unsigned)MAX(a->ptr->n, 1)));
	return (struct touch) {
		.m = m, .loc = loc, .al = al, .s = &m->check->shadows[al->shadow],
		.me = m->check->base + (uint32_t)m->linear + 1,
		.short_loc = loc <= UINT16_MAX ? (uint16_t)loc : 0, .lane = size << LANE_BITS | (uint32_t)lane,
	};
}

/* Cells of one element. A granule may be smaller than the element: one storage under two dtypes. */
static int cells_in(const struct touch *t, int esize)
{
	return MAX(1, esize / t->s->granule);
}

/* Lane marks of n neighbouring lanes. */
static void mark_row(struct lane_mark *k, uint32_t lane, uint32_t barrier, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		k[i] = (struct lane_mark){ .lane = lane + (uint32_t)i, .barrier = barrier };
}

/* Checks a whole row at once where its elements are neighbours and no atomics are counted.
 * Returns 0 if the row needs a look at each element. */
static int whole_row(const struct touch *t, int64_t off, const struct access_row *r, int esize, int write)
{
	struct shadow *s = t->s;
	int64_t cell = off >> s->shift;
	struct check_row row;

	if (r->step != esize || s->granule != esize || s->wepoch || r->count < 4)
		return 0;
	row = (struct check_row) {
		.writer = s->writer + cell, .reader = s->reader + cell, .wloc = s->wloc + cell, .rloc = s->rloc + cell,
		.me = t->me, .base = t->m->check->base, .loc = t->short_loc, .own = s->wlane != NULL,
	};
	if (write ? SIMD_PICK(check_row_write)(&row, r->count) : SIMD_PICK(check_row_read)(&row, r->count))
		return 0;
	if (s->wlane)
		mark_row((write ? s->wlane : s->rlane) + cell, t->lane, t->m->check->barrier, r->count);
	return 1;
}

int check_load(const struct access *a, const struct access_row *r)
{
	struct touch t = touch_of(a, r->al, r->lane);
	int cells = cells_in(&t, a->esize);
	int64_t off = r->addr - r->al->base;
	if (!t.s->writer || whole_row(&t, off, r, a->esize, 0))
		return 0;
	for (int64_t i = 0; i < r->count; i++, off += r->step, t.lane++)
		for (int k = 0; k < cells; k++)
			if (rule_read(&t, (off >> t.s->shift) + k, off))
				return -1;
	return 0;
}

int check_store(const struct access *a, const struct access_row *r, const char *value, int64_t vstep)
{
	struct touch t = touch_of(a, r->al, r->lane);
	int cells = cells_in(&t, a->esize);
	int64_t off = r->addr - r->al->base;
	if (!t.s->writer)
		return unforeseen(&t);
	if (whole_row(&t, off, r, a->esize, 1))
		return 0;
	for (int64_t i = 0; i < r->count; i++, off += r->step, value += vstep, t.lane++) {
		int same = !memcmp(r->al->base + off, value, (size_t)a->esize);
		for (int k = 0; k < cells; k++)
			if (rule_write(&t, (off >> t.s->shift) + k, off, same))
				return -1;
	}
	return 0;
}

int check_atomic(const struct access *a, int64_t lane, const struct allocation *al, int64_t off)
{
	struct touch t = touch_of(a, al, lane);
	struct machine *m = a->m;
	int cells = cells_in(&t, a->esize), sem = a->in->attr[1], scope = a->in->attr[2];
	struct sync_done done;

	if (!t.s->writer)
		return unforeseen(&t);
	for (int k = 0; k < cells; k++)
		if (rule_atomic(&t, (off >> t.s->shift) + k, off, scope))
			return -1;
	if (a->ptr->n != 1 || scope == TILE_SCOPE_CTA)
		return 0;
	done = (struct sync_done) {
		.addr = (uint64_t)(uintptr_t)(al->base + off), .barrier = m->check->barrier,
		.acquire = sem == TILE_SEM_ACQ_REL || sem == TILE_SEM_ACQUIRE,
		.release = sem == TILE_SEM_ACQ_REL || sem == TILE_SEM_RELEASE,
	};
	if (vec_push(&m->check->sync[m->linear].done, done))
		return diag_set(m->fault, REASON_internal, 0, 0, "out of memory for the order of atomics");
	return 0;
}
