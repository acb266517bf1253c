/* Records a launch while the machine runs it, in either mode. Footprints and values are kept once
 * each: instances mostly differ in where a footprint begins, not in its lanes. If memory runs out
 * or the record grows too large, it is given up, and the launch runs on. */
#include "base/hash.h"
#include "tile/machine/exec_access.h"
#include "tile/machine/exec_lanes.h"
#include "tile/machine/replay_record.h"

/* Limits of one launch and of all launches of a store. */
enum { MOST_BYTES = 16 << 20, MOST_OF_ALL = 48 << 20 };

/* --- items that are kept once ---------------------------------------------------------------- */

/* Doubles the table. Entries with index -1 are free. */
static int lookup_grow(struct lookup *t)
{
	struct lookup bigger = { .cap = t->cap ? 2 * t->cap : 256, .n = t->n };
	bigger.v = mem_array(bigger.cap, sizeof *bigger.v);
	if (!bigger.v)
		return -1;
	for (size_t i = 0; i < bigger.cap; i++)
		bigger.v[i].index = -1;
	for (size_t i = 0; i < t->cap; i++) {
		size_t at = t->v[i].hash & (bigger.cap - 1);
		if (t->v[i].index < 0)
			continue;
		while (bigger.v[at].index >= 0)
			at = (at + 1) & (bigger.cap - 1);
		bigger.v[at].hash = t->v[i].hash;
		bigger.v[at].index = t->v[i].index;
	}
	mem_free(t->v);
	*t = bigger;
	return 0;
}

/* Returns the next index at or after *at with this hash. If no entry has it, returns -1 and sets
 * *at to the free entry where it belongs. */
static int32_t lookup_next(const struct lookup *t, uint64_t hash, size_t *at)
{
	while (t->v[*at].index >= 0 && t->v[*at].hash != hash)
		*at = (*at + 1) & (t->cap - 1);
	return t->v[*at].index;
}

/* Enters an item at the free entry that lookup_next found. */
static void lookup_put(struct lookup *t, uint64_t hash, size_t at, int32_t index)
{
	t->v[at].hash = hash;
	t->v[at].index = index;
	t->n++;
}

/* Keeps the table at most half full. Returns -1 when out of memory. */
static int lookup_ready(struct lookup *t)
{
	return 2 * (t->n + 1) > t->cap && lookup_grow(t) ? -1 : 0;
}

/* Appends a step to the record. */
static int add_event(struct replay_record *r, struct replay_event ev)
{
	if (r->out->events.n == r->out->events.cap && vec_grow(&r->out->events, 1))
		return -1;
	r->out->events.v[r->out->events.n++] = ev;
	return 0;
}

/* A copy of the bytes in the record's arena. */
static void *keep(struct replay_record *r, const void *from, size_t bytes)
{
	void *to = arena_alloc(&r->out->mem, bytes);
	r->bytes += bytes;
	if (to)
		memcpy(to, from, bytes);
	return to;
}

/* --- footprints ------------------------------------------------------------------------------- */

/* The leading bytes of a footprint, which memcmp can compare; pointers to its lanes follow them. */
#define FOOTPRINT_HEAD offsetof(struct replay_footprint, offset)

/* Boxes have no lanes to compare; other footprints are equal if every lane's offset is. */
static int same_footprint(const struct replay_footprint *a, const struct replay_footprint *b)
{
	if (memcmp(a, b, FOOTPRINT_HEAD) != 0)
		return 0;
	return a->boxed || !memcmp(a->offset, b->offset, (size_t)a->lanes * sizeof *a->offset);
}

/* Whether lane i belongs to the row of the lane before it. */
static int follows(const int32_t *offset, int32_t i, int esize)
{
	return i % REPLAY_BLOCK && offset[i] != REPLAY_OFF && offset[i - 1] != REPLAY_OFF &&
		offset[i] == offset[i - 1] + esize;
}

/* Adds rows if they are four lanes long on average; shorter rows are slower than a gather. */
static int add_rows(struct replay_record *r, struct replay_footprint *p, int esize)
{
	enum { LANES_A_ROW = 4 };
	struct replay_row *rows;
	int32_t n = 0;
	for (int32_t i = 0; i < p->lanes; i++)
		n += p->offset[i] != REPLAY_OFF && !follows(p->offset, i, esize);
	if (n * (int64_t)LANES_A_ROW > p->active)
		return 0;
	rows = arena_array(&r->out->mem, (size_t)n + 1, sizeof *rows);
	if (!rows)
		return -1;
	r->bytes += (size_t)n * sizeof *rows;
	p->rows = rows;
	for (int32_t i = 0; i < p->lanes; i++) {
		if (p->offset[i] == REPLAY_OFF)
			continue;
		if (follows(p->offset, i, esize))
			rows[p->n_rows - 1].count++;
		else
			rows[p->n_rows++] = (struct replay_row){ .lane = i, .count = 1, .offset = p->offset[i] };
	}
	return 0;
}

/* A box that is one line, as rows: a tap (replay_tap.c) needs rows. Lanes 5 to 40 become the rows
 * 5..15, 16..31 and 32..40. */
static int add_line(struct replay_record *r, struct replay_footprint *p, int esize)
{
	int32_t lo = p->lo[0], n = (p->hi[0] - 1) / REPLAY_BLOCK - lo / REPLAY_BLOCK + 1;
	struct replay_row *rows = arena_array(&r->out->mem, (size_t)n, sizeof *rows);
	if (!rows)
		return -1;
	r->bytes += (size_t)n * sizeof *rows;
	p->rows = rows;
	while (lo < p->hi[0]) {
		int32_t stop = MIN((lo / REPLAY_BLOCK + 1) * REPLAY_BLOCK, p->hi[0]);
		rows[p->n_rows++] = (struct replay_row){ .lane = lo, .count = stop - lo, .offset = lo * esize };
		lo = stop;
	}
	return 0;
}

/* Whether a box has one dimension and contiguous elements. */
static int is_line(const struct replay_footprint *p, int esize)
{
	int flat = 1;
	for (int d = 1; d < TILE_DIMS; d++)
		flat &= !p->hi[d];
	return p->boxed && p->active && flat && p->kind == MVAL_AFFINE && p->stride[0] == esize;
}

/* Copies the lanes of a new footprint into the record and adds its rows. */
static int add_footprint(struct replay_record *r, const struct replay_footprint *p, int esize)
{
	struct replay_footprint now = *p;
	r->bytes += sizeof now;
	if (!p->boxed) {
		now.offset = keep(r, p->offset, (size_t)p->lanes * sizeof *p->offset);
		if (!now.offset || add_rows(r, &now, esize))
			return -1;
	} else if (is_line(p, esize) && add_line(r, &now, esize)) {
		return -1;
	}
	return vec_push(&r->out->footprints, now);
}

/* Returns the index of an equal footprint, added if it is new, or -1 when out of memory. */
static int32_t find_footprint(struct replay_record *r, const struct replay_footprint *p, int esize)
{
	uint64_t hash = hash_xxh64(p, FOOTPRINT_HEAD, 0);
	int32_t i;
	size_t at;
	if (!p->boxed)
		hash = hash_xxh64(p->offset, (size_t)p->lanes * sizeof *p->offset, hash);
	if (lookup_ready(&r->footprints))
		return -1;
	at = hash & (r->footprints.cap - 1);
	while ((i = lookup_next(&r->footprints, hash, &at)) >= 0) {
		if (same_footprint(&r->out->footprints.v[i], p))
			return i;
		at = (at + 1) & (r->footprints.cap - 1);
	}
	if (add_footprint(r, p, esize))
		return -1;
	lookup_put(&r->footprints, hash, at, (int32_t)r->out->footprints.n - 1);
	return (int32_t)r->out->footprints.n - 1;
}

/* A boxed access as bounds and strides. A UNIFORM pointer has strides of 0. */
static void box_of(const struct access *a, struct replay_footprint *p)
{
	p->boxed = 1;
	p->kind = a->ptr->kind;
	for (int d = 0; d < a->ptr->ndim; d++) {
		p->lo[d] = a->lo[d];
		p->hi[d] = a->hi[d];
		p->stride[d] = a->ptr->kind == MVAL_AFFINE ? a->ptr->stride[d] : 0;
	}
}

/* Offsets from the first lane that is on. Returns -1 if they do not fit 32 bits. */
static int lanes_of(struct replay_record *r, const struct access *a, struct replay_footprint *p, int64_t *first)
{
	const unsigned char *on = a->mask ? a->mask->data : NULL;
	const struct mval *ptr = a->ptr;
	const int64_t *addr;
	int64_t i = a->next;
	while (on && !on[i])
		i++;
	p->kind = MVAL_DENSE;
	p->lanes = ptr->n;
	p->offset = r->offsets;
	if (ptr->kind == MVAL_NEAR && ((int64_t)ptr->span.hi - ptr->span.lo) * a->esize <= INT32_MAX) {
		const int32_t *offset = ptr->data;
		*first = ptr->u.i + (int64_t)offset[i] * a->esize;
		SIMD_PICK(lanes_apart)(r->offsets, offset, on, ptr->n, offset[i], a->esize);
		return 0;
	}
	addr = mval_dense(a->ptr);
	*first = addr[i];
	return SIMD_PICK(lanes_distance)(r->offsets, addr, on, a->ptr->n, *first);
}

/* Stops recording; the launch runs on. */
static void give_up(struct machine *m)
{
	m->record->failed = 1;
	m->record = NULL;
}

/* The cheap common case: one address for all lanes, all of them on, as in the last access of this
 * instruction. */
static int is_as_before(const struct replay_footprint *p, const struct access *a)
{
	return a->boxed && a->ptr->kind == MVAL_UNIFORM && a->active == a->ptr->n && p->boxed &&
		p->kind == MVAL_UNIFORM && p->active == a->active &&
	       p->param == a->ptr->prov;
}

/* Completes the last event with its footprint. A fused store opens its access twice; the second
 * time changes nothing. */
void replay_record_access(const struct access *a)
{
	struct replay_record *r = a->m->record;
	struct replay_event *ev = &r->out->events.v[r->out->events.n - 1];
	struct replay_footprint p;
	int64_t first = a->ptr->u.i;
	int32_t *last = &r->last_footprint[ev->pc];

	if (ev->what >= 0)
		return;
	if (*last >= 0 && is_as_before(&r->out->footprints.v[*last], a)) {
		ev->what = *last;
		ev->base = first - (int64_t)(uintptr_t)a->al->base;
		return;
	}
	memset(&p, 0, sizeof p);
	p.param = a->active ? a->ptr->prov : -1;
	p.active = a->active;
	if (!a->active)
		p.boxed = 1;
	else if (a->boxed)
		box_of(a, &p);
	if (a->active && (!a->al || p.param < 0 || (!a->boxed && lanes_of(r, a, &p, &first)))) {
		give_up(a->m);
		return;
	}
	if (*last < 0 || !same_footprint(&r->out->footprints.v[*last], &p))
		*last = find_footprint(r, &p, a->esize);
	ev->what = *last;
	ev->base = a->active ? first - (int64_t)(uintptr_t)a->al->base : 0;
	if (*last < 0)
		give_up(a->m);
}

/* --- values ---------------------------------------------------------------------------------- */

/* The leading bytes of a value, which memcmp can compare. */
#define VALUE_HEAD offsetof(struct replay_value, data)

/* The value of a register; its lanes are borrowed. */
static struct replay_value value_of(struct mval *v)
{
	struct replay_value x;
	memset(&x, 0, sizeof x);
	if (v->kind > MVAL_DENSE)
		mval_dense(v);
	x.kind = v->kind;
	if (v->kind == MVAL_UNIFORM)
		memcpy(x.u.raw, v->u.raw, v->esize);
	else if (v->kind == MVAL_AFFINE)
		x.u.i = v->u.i;
	for (int d = 0; v->kind == MVAL_AFFINE && d < v->ndim; d++)
		x.more[d] = v->stride[d];
	for (int d = 0; v->kind == MVAL_BOX && d < v->ndim; d++)
		x.more[d] = (int64_t)v->box.lo[d] << 32 | v->box.hi[d];
	if (v->home != &v->u)
		x.bytes = (size_t)v->n * v->esize;
	x.data = v->data;
	return x;
}

/* Lanes need to be compared only if a few words do not describe them. */
static int same_value(const struct replay_value *a, const struct replay_value *b)
{
	return !memcmp(a, b, VALUE_HEAD) && a->bytes == b->bytes && (a->kind != MVAL_DENSE || !a->bytes ||
								     !memcmp(a->data, b->data, a->bytes));
}

/* Returns the index of an equal value, added if it is new, or -1 when out of memory. */
static int32_t find_value(struct replay_record *r, struct replay_value *x, struct mval *v)
{
	uint64_t hash = hash_xxh64(x, VALUE_HEAD, x->bytes);
	size_t at;
	int32_t i;
	if (x->kind == MVAL_DENSE && x->bytes)
		hash = hash_xxh64(x->data, x->bytes, hash);
	if (lookup_ready(&r->values))
		return -1;
	at = hash & (r->values.cap - 1);
	while ((i = lookup_next(&r->values, hash, &at)) >= 0) {
		if (same_value(&r->out->values.v[i], x))
			return i;
		at = (at + 1) & (r->values.cap - 1);
	}
	r->bytes += sizeof *x;
	if (x->bytes && !(x->data = keep(r, mval_dense(v), x->bytes)))
		return -1;
	if (vec_push(&r->out->values, *x))
		return -1;
	lookup_put(&r->values, hash, at, (int32_t)r->out->values.n - 1);
	return (int32_t)r->out->values.n - 1;
}

/* Records a source that a replay would not have. Registers that the replay already holds (`held`)
 * need no event. */
static int record_value(struct machine *m, tile_reg reg)
{
	struct replay_record *r = m->record;
	struct mval *v = &m->vals[reg];
	struct replay_value x;
	int32_t *last = &r->last_value[reg];

	if (r->roles[reg] != REPLAY_FIXED)
		return 0;
	if (v->ptr)
		return -1;
	x = value_of(v);
	if (*last < 0 || !same_value(&r->out->values.v[*last], &x))
		*last = find_value(r, &x, v);
	if (*last < 0)
		return -1;
	if (r->held[reg] == *last)
		return 0;
	r->held[reg] = *last;
	return add_event(r, (struct replay_event){ .pc = ~(int32_t)reg, .what = *last });
}

/* --- the launch ------------------------------------------------------------------------------ */

/* Pointer and mask of an access are in its footprint. */
static int record_sources(struct machine *m, const struct tile_insn *in)
{
	int memory = in->op == TOP_LOAD || in->op == TOP_STORE, mask = in->op == TOP_LOAD ? 1 : 2, rc = 0;
	for (int k = 0; k < in->n_src && !rc; k++)
		if (!memory || (k && k != mask))
			rc = record_value(m, tile_src(in, k));
	return rc;
}

/* Values for the sources come before the instruction's own event. Its footprint is not known yet
 * (what = -1). */
void replay_record_insn(struct machine *m, const struct decoded_insn *p, int pc)
{
	struct replay_record *r = m->record;
	int rc;
	size_t bytes;

	if (replay_spares(m, p->in, pc))
		return;
	rc = record_sources(m, p->maker ? p->maker->in : p->in);
	bytes = r->bytes + r->out->events.n * sizeof *r->out->events.v;

	/* A store may move borrowed lanes to the register's slot, where a replay does not find them. */
	if (p->in->op == TOP_STORE)
		r->held[tile_src(p->in, 1)] = -1;
	if (rc || add_event(r, (struct replay_event){ .pc = pc, .what = -1 }) || bytes > MOST_BYTES ||
	    r->store->bytes + bytes > MOST_OF_ALL)
		give_up(m);
}

/* The events of an instance end where those of the next begin. */
static void end_program(struct replay_record *r)
{
	if (r->id >= 0)
		r->out->programs[r->id].last = (int64_t)r->out->events.n;
}

/* Nothing is held at the beginning of an instance: a replay may start with any instance's events. */
void replay_record_program(struct replay_record *r, int64_t id)
{
	end_program(r);
	r->id = id;
	r->out->programs[id].first = (int64_t)r->out->events.n;
	memset(r->held, 0xff, (size_t)r->n_regs * sizeof *r->held);
}

/* n + 1 entries of -1. */
static int32_t *none(size_t n)
{
	int32_t *v = mem_array(n + 1, sizeof *v);
	if (v)
		memset(v, 0xff, (n + 1) * sizeof *v);
	return v;
}

/* Frees the working arrays; the record itself belongs to the store. */
static void release(struct replay_record *r)
{
	mem_free(r->ends);
	mem_free(r->last_footprint);
	mem_free(r->last_value);
	mem_free(r->held);
	mem_free(r->offsets);
	mem_free(r->footprints.v);
	mem_free(r->values.v);
	mem_free(r);
}

/* The number of instances is the product of the grid, which the key begins with. */
struct replay_record *replay_record_new(struct replay_store *s, struct replay *of)
{
	struct replay_record *r = mem_zalloc(sizeof *r);
	const struct tile_decoded *decoded = of->code->decoded;
	int64_t programs = of->key[0] * of->key[1] * of->key[2];
	if (!r || programs > MOST_BYTES / (int64_t)sizeof *of->programs) {
		mem_free(r);
		return NULL;
	}
	r->store = s;
	r->bytes = (size_t)programs * sizeof *of->programs;
	r->roles = decoded->replay_roles;
	r->n_regs = of->code->n_regs;
	r->id = -1;
	r->ends = mem_array((size_t)decoded->funcs[0].n + 1, sizeof *r->ends);
	r->last_footprint = none((size_t)decoded->funcs[0].n);
	r->last_value = none((size_t)r->n_regs);
	r->held = none((size_t)r->n_regs);
	r->offsets = none((size_t)decoded->max_lanes);
	r->out = of;
	of->programs = mem_array((size_t)programs, sizeof *of->programs);
	if (r->ends && r->last_footprint && r->last_value && r->held && r->offsets && of->programs)
		return r;
	replay_empty(of);
	release(r);
	return NULL;
}

/* A record that failed stays FAILED, so that the launch is not recorded again in vain. */
void replay_record_free(struct replay_record *r, const struct tile_cost *cost, int64_t fuel)
{
	struct replay *out = r->out;
	end_program(r);
	if (r->failed)
		out->state = REPLAY_FAILED;
	else if (cost)
		out->state = REPLAY_READY;
	if (out->state == REPLAY_READY) {
		out->cost = *cost;
		out->fuel = fuel;
		r->store->bytes += r->bytes + out->events.n * sizeof *out->events.v;
	} else {
		replay_empty(out);
	}
	release(r);
}
