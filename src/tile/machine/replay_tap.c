/* Merges steps of a record: a tap of a convolution, and a value that is copied back to where it
 * came from.
 *
 * A tap is the five operations w = load(scalar); x = load(tile); s = splat(w); y = x * s; acc =
 * acc + y. A 3x3 convolution has nine of them per channel; each becomes one step. */
#include "tile/machine/replay_record.h"

/* The loads of a tap among the four events before an addition. */
struct tap {
	const struct tile_insn *load, *weight;
	const struct replay_event *at, *weight_at; /* their events */
};

/* The instruction of an event; NULL for values and taps. */
static const struct tile_insn *insn_of(const struct replay_record *r, const struct replay_event *ev)
{
	return ev->pc < 0 || (ev->pc & REPLAY_TAP) ? NULL : r->out->code->decoded->funcs[0].v[ev->pc].in;
}

static int is_op(const struct tile_insn *in, int op)
{
	return in && in->op == op && !in->rounding;
}

/* Whether `in` reads the result of `by` once and nobody else reads it. */
static int passes(const struct replay_record *r, const struct tile_insn *by, const struct tile_insn *in)
{
	tile_reg b = tile_dst(by, 0);
	int reads = 0;
	for (int k = 0; k < in->n_src; k++)
		reads += tile_src(in, k) == b;
	return reads == 1 && r->out->code->decoded->passed_on[b];
}

/* The tile and the scalar may be loaded in either order. */
static int find_loads(const struct replay_record *r, const struct replay_event *ev, struct tap *t)
{
	const struct tile_insn *a = insn_of(r, &ev[0]), *b = insn_of(r, &ev[1]);
	int swapped;
	if (!is_op(a, TOP_LOAD) || !is_op(b, TOP_LOAD))
		return 0;
	swapped = !r->out->code->regs[tile_dst(a, 0)].ndim;
	t->at = swapped ? &ev[1] : &ev[0];
	t->weight_at = swapped ? &ev[0] : &ev[1];
	t->load = swapped ? b : a;
	t->weight = swapped ? a : b;
	return 1;
}

/* The tile needs rows. Its lanes that are off must have one element, the same in every instance. */
static int tile_is_good(struct machine *m, const struct tap *t)
{
	const struct replay_footprint *p = &m->record->out->footprints.v[t->at->what];
	const struct mval *other = t->load->n_src > 2 ? mval_src(m, t->load, 2) : NULL;
	struct mval *d = mval_dst(m, t->load, 0);
	if (!p->rows || d->dt != DT_F32 || d->ptr)
		return 0;
	return p->active == d->n || (other && other->kind == MVAL_UNIFORM &&
				     m->record->roles[tile_src(t->load, 2)] == REPLAY_KEPT);
}

/* The weight must be an unmasked scalar load. */
static int scalar_is_good(struct machine *m, const struct tap *t)
{
	const struct replay_footprint *p = &m->record->out->footprints.v[t->weight_at->what];
	return !m->code->regs[tile_dst(t->weight, 0)].ndim && t->weight->n_src == 1 && p->active == 1 &&
		p->boxed && p->param >= 0;
}

/* Whether no control flow lies between the first event and the addition: each result is then read
 * by the next operation in every iteration. */
static int is_straight(const struct replay_record *r, const struct replay_event *first, int pc)
{
	const struct decoded_insn *code = r->out->code->decoded->funcs[0].v;
	int straight = first[0].pc < first[1].pc && first[1].pc < first[2].pc && first[2].pc < first[3].pc &&
		first[3].pc < pc;
	for (int i = first->pc; straight && i < pc; i++)
		straight = code[i].exec != NULL;
	return straight;
}

/* Whether these four instructions and the addition form a tap. The answer is remembered by
 * instruction. */
static int is_shaped(const struct replay_record *r, const struct replay_event *ev, const struct tile_insn *add,
		     int pc, const struct tap *t)
{
	const struct tile_insn *splat = insn_of(r, &ev[2]), *mul = insn_of(r, &ev[3]);
	tile_reg sum = tile_dst(add, 0);
	struct replay_ends now = { { ev[0].pc, ev[1].pc, ev[2].pc, ev[3].pc } };
	if (!memcmp(&r->ends[pc], &now, sizeof now))
		return 1;
	if (!is_op(add, TOP_ADD) || !is_op(mul, TOP_MUL) || !is_op(splat, TOP_SPLAT) ||
	    (tile_src(add, 0) == sum) == (tile_src(add, 1) == sum) ||
	    !passes(r, mul, add) || !passes(r, t->load, mul) || !passes(r, splat, mul) ||
	    !passes(r, t->weight, splat) || !is_straight(r, ev, pc))
		return 0;
	r->ends[pc] = now;
	return 1;
}

static int find_tap(struct machine *m, const struct tile_insn *add, int pc, struct tap *t)
{
	const struct replay_record *r = m->record;
	const struct replay_event *ev = r->out->events.v + r->out->events.n - 4;
	if ((int64_t)r->out->events.n - r->out->programs[r->id].first < 4 || !find_loads(r, ev, t) ||
	    !is_shaped(r, ev, add, pc, t))
		return 0;
	return scalar_is_good(m, t) && tile_is_good(m, t);
}

/* Replaces the four events before an addition by the two events of a tap. */
static void add_tap(struct replay_record *r, const struct tap *t, const struct tile_insn *add)
{
	struct replay_event *ev = r->out->events.v + r->out->events.n - 4;
	struct replay_event tile = *t->at, scalar = *t->weight_at;
	scalar.pc = REPLAY_TAP | (t->load->n_src > 2 ? (int32_t)tile_src(t->load, 2) : REPLAY_NOTHING);
	tile.pc = REPLAY_TAP | (int32_t)tile_dst(add, 0);
	ev[0] = tile;
	ev[1] = scalar;
	r->out->events.n -= 2;
}

/* a = b right after b = a changes nothing. */
static int is_mirror(const struct replay_record *r, const struct tile_insn *in)
{
	const struct tile_insn *before;
	if (in->op != TOP_MOV || (int64_t)r->out->events.n <= r->out->programs[r->id].first)
		return 0;
	before = insn_of(r, &r->out->events.v[r->out->events.n - 1]);
	return is_op(before, TOP_MOV) && tile_dst(before, 0) == tile_src(in, 0) && tile_src(before, 0) ==
		tile_dst(in, 0);
}

int replay_spares(struct machine *m, const struct tile_insn *in, int pc)
{
	struct tap t;

	if (is_mirror(m->record, in))
		return 1;
	if (in->op != TOP_ADD || !find_tap(m, in, pc, &t))
		return 0;
	add_tap(m->record, &t, in);
	return 1;
}
