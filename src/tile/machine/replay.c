/* The store of records, and repeating a record: see replay.h.
 *
 * A store is a list of launches that were met. Each has a key (grid, hints, parameters) and, once
 * recorded, its events. A launch is the same if the keys and the code are equal. */
#include "tile/machine/replay.h"

#include "tile/machine/exec_access.h"
#include "tile/machine/exec_lanes.h"

/* --- the store ------------------------------------------------------------------------------- */

void replay_empty(struct replay *r)
{
	vec_free(&r->events);
	vec_free(&r->footprints);
	vec_free(&r->values);
	mem_free(r->programs);
	r->programs = NULL;
	arena_release(&r->mem);
}

static void replay_free(struct replay *r)
{
	if (!r)
		return;
	replay_empty(r);
	mem_free(r->key);
	mem_free(r);
}

void replay_store_release(struct replay_store *s)
{
	for (size_t i = 0; i < s->known.n; i++)
		replay_free(s->known.v[i]);
	vec_free(&s->known);
	s->bytes = 0;
}

/* --- what a launch is known by ---------------------------------------------------------------- */

/* Grid (3 numbers) and trust_hints; the parameters follow. */
enum { KEY_HEAD = 4 };

/* The first parameter with the same storage, so that aliasing is part of the key. */
static int storage_of(const struct replay_launch *l, int i)
{
	int k = 0;
	while (l->allocs[k].st != l->allocs[i].st)
		k++;
	return k;
}

static size_t key_size(const struct replay_launch *l)
{
	return KEY_HEAD + REPLAY_KEY_PARAM * (size_t)l->code->n_params;
}

/* A tensor adds its offset, size, dtype, storage and alignment to 64 bytes, not its address: a
 * model that is built again has its tensors elsewhere. */
void replay_key_param(const struct replay_launch *l, int i, int64_t key[REPLAY_KEY_PARAM])
{
	const struct allocation *al = &l->allocs[i];
	memset(key, 0, REPLAY_KEY_PARAM * sizeof *key);
	if (!al->st) {
		key[0] = l->bound[i].u.i;
		return;
	}
	key[0] = al->view;
	key[1] = (int64_t)al->bytes;
	key[2] = al->dt;
	key[3] = 1 + storage_of(l, i);
	key[4] = (int64_t)((uintptr_t)al->base & 63);
}

/* { grid x, y, z, trust_hints } and REPLAY_KEY_PARAM numbers for each parameter. */
static void make_key(const struct replay_launch *l, int64_t *key)
{
	memcpy(key, l->grid, 3 * sizeof *key);
	key[3] = l->trust_hints;
	for (int i = 0; i < l->code->n_params; i++)
		replay_key_param(l, i, key + KEY_HEAD + REPLAY_KEY_PARAM * i);
}

/* Compares what two instructions do; their source lines may differ. */
static int same_insn(const struct tile_insn *a, const struct tile_insn *b)
{
	return a->op == b->op && a->rounding == b->rounding && a->n_dst == b->n_dst && a->n_src == b->n_src &&
		a->imm == b->imm &&
	       !memcmp(&a->fimm, &b->fimm, sizeof a->fimm) && !memcmp(a->attr, b->attr, sizeof a->attr) &&
	       !memcmp(a->r, b->r, (size_t)(a->n_dst + a->n_src) * sizeof *a->r) && str_eq(a->text, b->text);
}

/* Compares two decoded functions instruction by instruction, fused ones included. */
static int same_decoded(const struct decoded_code *a, const struct decoded_code *b)
{
	int same = a->n == b->n;
	for (int i = 0; same && i < a->n; i++)
		same = same_insn(a->v[i].in, b->v[i].in) && !a->v[i].maker == !b->v[i].maker &&
			a->v[i].jump == b->v[i].jump &&
		       (!a->v[i].maker || same_insn(a->v[i].maker->in, b->v[i].maker->in));
	return same;
}

/* A kernel is compiled again when the model is built again, so equal code counts as the same. */
static int same_code(const struct tile_code *a, const struct tile_code *b)
{
	int same = a == b || (a->n_params == b->n_params && a->n_regs == b->n_regs && a->n_funcs == b->n_funcs);
	if (a == b || !same)
		return same;
	for (int i = 0; same && i < a->n_params; i++)
		same = a->params[i].reg == b->params[i].reg;
	for (int i = 0; same && i < a->n_regs; i++)
		same = tile_type_eq(a->regs[i], b->regs[i]);
	for (int i = 0; same && i < a->n_funcs; i++)
		same = same_decoded(&a->decoded->funcs[i], &b->decoded->funcs[i]);
	return same && same_decoded(&a->decoded->prologue, &b->decoded->prologue);
}

/* A launch that was met and not recorded yet. */
static struct replay *replay_new(const struct replay_launch *l)
{
	struct replay *r = mem_zalloc(sizeof *r);
	if (!r)
		return NULL;
	r->code = l->code;
	r->n_key = key_size(l);
	r->key = mem_array(r->n_key, sizeof *r->key);
	if (!r->key) {
		replay_free(r);
		return NULL;
	}
	make_key(l, r->key);
	return r;
}

/* Launches that a store remembers. A host that launches without end must not be slowed down by
 * the search through its earlier launches. */
enum { MOST_KNOWN = 256 };

/* The new record is only kept if no equal launch is known. An equal launch takes over the code
 * pointer, because the older code may be freed first. */
struct replay *replay_find(struct replay_store *s, const struct replay_launch *l, int *met)
{
	struct replay *now = replay_new(l);
	*met = 0;
	if (!now)
		return NULL;
	for (size_t i = 0; i < s->known.n; i++) {
		struct replay *r = s->known.v[i];
		if (r->n_key != now->n_key || memcmp(r->key, now->key, r->n_key * sizeof *r->key) != 0 ||
		    !same_code(r->code, l->code))
			continue;
		replay_free(now);
		r->code = l->code;
		*met = 1;
		return r;
	}
	if (s->known.n < MOST_KNOWN && !vec_push(&s->known, now))
		return now;
	replay_free(now);
	return NULL;
}

/* --- doing it again --------------------------------------------------------------------------- */

/* Gives a register a recorded value. Its lanes stay in the record: nobody writes to the lanes of
 * a source. */
static void give_value(struct mval *v, const struct replay_value *x)
{
	mval_renew(v);
	v->kind = (uint8_t)x->kind;
	v->u.i = x->u.i;
	if (v->kind == MVAL_AFFINE)
		memcpy(v->stride, x->more, sizeof v->stride);
	for (int d = 0; v->kind == MVAL_BOX && d < v->ndim; d++) {
		v->box.lo[d] = (int32_t)(x->more[d] >> 32);
		v->box.hi[d] = (int32_t)x->more[d];
	}
	if (!x->bytes)
		return;
	/* The cast drops const: operations only read the lanes of their sources. */
	v->data = (void *)(uintptr_t)x->data;
	v->written = 1;
}

/* The address of a footprint's origin in this launch. */
static char *beginning(const struct machine *m, const struct replay_event *ev)
{
	return m->allocs[m->replay->footprints.v[ev->what].param].base + ev->base;
}

/* sum += tile * scalar. The product and the sum round separately, as the two operations do. */
static void do_tap(struct machine *m, const struct replay_event *ev)
{
	const struct replay_footprint *p = &m->replay->footprints.v[ev[0].what];
	struct mval *sum = &m->vals[ev[0].pc & ~REPLAY_TAP];
	int32_t other = ev[1].pc & ~REPLAY_TAP;
	float by, off = other != REPLAY_NOTHING ? m->vals[other].u.f32 : 0;

	memcpy(&by, beginning(m, &ev[1]), sizeof by);
	if (sum->kind != MVAL_DENSE)
		mval_dense(sum);
	sum->kind = MVAL_DENSE;
	mval_renew(sum);
	SIMD_PICK(lanes_tap)(sum->data, sum->n, beginning(m, &ev[0]), p->rows, p->n_rows, by, off);
}

/* An event is a value for a register (pc < 0), a tap (two events), or an instruction to execute. */
int replay_program(struct machine *m, int64_t id)
{
	const struct replay *r = m->replay;
	const struct decoded_insn *code = m->decoded->funcs[0].v;
	const struct replay_event *end;
	if (r->programs[id].first == r->programs[id].last)
		return 0;
	end = r->events.v + r->programs[id].last;
	for (m->event = r->events.v + r->programs[id].first; m->event < end; m->event++) {
		const struct decoded_insn *p;
		if (m->event->pc < 0) {
			give_value(&m->vals[~m->event->pc], &r->values.v[m->event->what]);
			continue;
		}
		if (m->event->pc & REPLAY_TAP) {
			do_tap(m, m->event++);
			continue;
		}
		p = &code[m->event->pc];
		for (int k = 0; k < p->in->n_dst; k++)
			mval_renew(mval_dst(m, p->in, k));
		if (p->exec(m, p->in, p))
			return -1;
	}
	return 0;
}

/* Sets what access_open would have found, without any check. */
void replay_open(struct access *a)
{
	const struct replay_event *ev = a->m->event;
	const struct replay_footprint *p = &a->m->replay->footprints.v[ev->what];
	struct mval *ptr = a->ptr;

	a->footprint = p;
	a->al = p->param < 0 ? NULL : &a->m->allocs[p->param];
	a->boxed = p->boxed;
	a->active = p->active;
	a->done = !p->active;
	a->next = 0;
	ptr->kind = p->kind;
	ptr->u.i = a->al ? (int64_t)(uintptr_t)a->al->base + ev->base : 0;
	for (int d = 0; p->boxed && d < ptr->ndim; d++) {
		a->lo[d] = a->at[d] = p->lo[d];
		a->hi[d] = p->hi[d];
		ptr->stride[d] = p->stride[d];
	}
}

/* Elements of four bytes have vector loops; other sizes go lane by lane. */
void replay_gather(const struct access *a, char *out)
{
	const struct replay_footprint *p = a->footprint;
	const char *from = (const char *)(uintptr_t)a->ptr->u.i;
	if (a->esize == 4 && p->rows) {
		SIMD_PICK(lanes_rows32)((uint32_t *)out, from, p->rows, p->n_rows);
		return;
	}
	if (a->esize == 4) {
		SIMD_PICK(lanes_offsets32)((uint32_t *)out, from, p->offset, p->lanes);
		return;
	}
	for (int32_t i = 0; i < p->lanes; i++)
		if (p->offset[i] != REPLAY_OFF)
			memcpy(out + (size_t)i * (size_t)a->esize, from + p->offset[i], (size_t)a->esize);
}

/* Rows if the footprint has them, else one lane at a time. */
int replay_next(struct access *a, struct access_row *r)
{
	const struct replay_footprint *p = a->footprint;
	char *from = (char *)(uintptr_t)a->ptr->u.i;
	if (p->rows) {
		const struct replay_row *row = &p->rows[a->next];
		if (a->next++ >= p->n_rows)
			return 0;
		*r = (struct access_row){ .lane = row->lane, .count = row->count, .addr = from + row->offset,
					  .step = a->esize, .al = a->al };
		return 1;
	}
	while (a->next < p->lanes && p->offset[a->next] == REPLAY_OFF)
		a->next++;
	if (a->next >= p->lanes)
		return 0;
	*r = (struct access_row){ .lane = a->next, .count = 1, .addr = from + p->offset[a->next],
				  .step = a->esize, .al = a->al };
	a->next++;
	return 1;
}
