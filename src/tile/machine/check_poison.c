/* Poison: lanes whose value must not matter. It is carried from operation to operation until it
 * does matter (a store, a branch, an address, a mask) or is discarded (a select, an `and` with
 * false, a masked store).
 *
 * x = tl.load(p, mask=offs < 5) of 8 lanes poisons lanes 5 to 7. tl.where(offs < 5, x, 0) is
 * clean again; tl.sum(x) is poisoned, and storing the sum is a fault. */
#include "tile/machine/check.h"

/* A register of a combine function is called with varying lane counts; func_lanes is the largest. */
unsigned char *poison_room(struct machine *m, struct mval *v)
{
	if (!v->pmap) {
		int64_t lanes = v->home == &v->u ? 1 :
			MAX(v->n, m->decoded->func_lanes[m->decoded->owner[v - m->vals]]);
		v->pmap = arena_alloc(&m->check->mem, (size_t)lanes);
		if (!v->pmap)
			diag_set(m->fault, REASON_internal, 0, 0, "out of memory for poison");
	}
	return v->pmap;
}

int poison_map(struct machine *m, struct mval *v)
{
	if (v->pmap_on)
		return 0;
	if (!poison_room(m, v))
		return -1;
	memset(v->pmap, v->poison, (size_t)v->n);
	v->pmap_on = 1;
	return 0;
}

int poison_all(struct machine *m, const struct tile_insn *in)
{
	unsigned char bits = 0;
	int32_t at = 0;
	for (int k = 0; k < in->n_src; k++) {
		bits |= mval_src(m, in, k)->poison;
		at = mval_src(m, in, k)->poison ? mval_src(m, in, k)->poison_at : at;
	}
	for (int k = 0; k < in->n_dst; k++) {
		struct mval *d = mval_dst(m, in, k);
		d->poison = bits;
		d->pmap_on = 0;
		d->poison_at = at;
	}
	return 0;
}

/* Turns the poison of a lane into a report: the reason code follows from the strongest bit.
 * Wrapped offsets and divisions are reported at the line where they arose, the others where they
 * matter. */
int poison_fault(struct machine *m, int32_t loc, const struct mval *v, int64_t lane, const char *what)
{
	unsigned char bits = v->pmap_on ? v->pmap[lane] : v->poison;
	const struct tile_loc *from = &m->code->locs[v->poison_at];
	if (bits & POISON_STALE)
		return fault_hint(m, loc, REASON_race, "put tl.debug_barrier() between the store and the load",
				  "race: one thread stores a scalar, all threads load it (line %d), and it decides %s",
				  from->line, what);
	if (bits & POISON_DIV)
		return fault_hint(m, v->poison_at, REASON_division_by_zero, "keep 0 out of the divisor",
				  "the result of an integer division by zero decides %s (line %d)", what,
				  m->code->locs[loc].line);
	if (bits & POISON_WRAP)
		return fault_hint(m, v->poison_at, REASON_address_overflow, "cast an operand to tl.int64",
				  "a 32-bit offset wraps around and decides %s (line %d)", what,
				  m->code->locs[loc].line);
	if (bits & POISON_MASKED)
		return fault_hint(m, loc, REASON_uninitialised, "pass other= to that load",
				  "a lane that line %d masks off without `other` decides %s", from->line, what);
	return fault_hint(m, loc, REASON_uninitialised, "does every element get a value?",
			  "memory that was never written, loaded at line %d, decides %s", from->line, what);
}

/* --- what an elementwise operation does to poison --------------------------------------- */

/* Poison of the result of the current operation. It is kept apart because the result may
 * overwrite a source. */
struct pending {
	unsigned char bits;         /* of all lanes, or the union of the lanes if `map` */
	int map;                    /* checker.pending holds the poison of each lane */
	int32_t at;
};

static unsigned char lane_poison(const struct mval *v, int64_t i)
{
	return v->pmap_on ? v->pmap[i] : v->poison;
}

/* The value of a bool lane; the caller has made v DENSE or left it UNIFORM. */
static int truth_at(struct mval *v, int64_t i)
{
	return v->kind == MVAL_UNIFORM ? v->u.raw[0] != 0 : ((unsigned char *)v->data)[i] != 0;
}

/* Sums the lanes of the map up. A map without any poison is dropped. */
static void settle(struct pending *pd, unsigned char *map, int64_t n)
{
	unsigned char any = 0;
	for (int64_t i = 0; i < n; i++)
		any |= map[i];
	pd->bits = any;
	pd->map = any != 0;
}

/* The general rule: a result lane has the poison of the same lane of every source. Maps are only
 * built where a source has one. */
static void join_lanes(struct machine *m, const struct tile_insn *in, struct pending *pd)
{
	int maps = 0;
	int64_t n;
	unsigned char *map;

	for (int k = 0; k < in->n_src; k++) {
		const struct mval *s = mval_src(m, in, k);
		pd->bits |= s->poison;
		maps |= s->pmap_on;
		pd->at = s->poison ? s->poison_at : pd->at;
	}
	if (!maps)
		return;
	n = mval_dst(m, in, 0)->n;
	map = m->check->pending;
	memset(map, 0, (size_t)n);
	for (int k = 0; k < in->n_src; k++) {
		const struct mval *s = mval_src(m, in, k);
		for (int64_t i = 0; s->poison && i < n; i++)
			map[i] |= lane_poison(s, i);
	}
	settle(pd, map, n);
}

/* Only the chosen side counts: where(c, a, b) has the poison of c and, lane by lane, of a or b. */
static void select_lanes(struct machine *m, const struct tile_insn *in, struct pending *pd)
{
	struct mval *c = mval_src(m, in, 0), *a = mval_src(m, in, 1), *b = mval_src(m, in, 2);
	int64_t n = c->n;
	unsigned char *map = m->check->pending;
	if (c->kind != MVAL_UNIFORM)
		mval_dense(c);
	for (int64_t i = 0; i < n; i++)
		map[i] = lane_poison(c, i) | lane_poison(truth_at(c, i) ? a : b, i);
	pd->at = c->poison ? c->poison_at : a->poison ? a->poison_at : b->poison_at;
	settle(pd, map, n);
}

/* false & x and true | x do not depend on x. `decisive` is 0 for `and`, 1 for `or`. A clean lane
 * with the decisive value clears the poison of the other side. */
static void logic_lanes(struct machine *m, const struct tile_insn *in, struct pending *pd, int decisive)
{
	struct mval *a = mval_src(m, in, 0), *b = mval_src(m, in, 1);
	int64_t n = a->n;
	unsigned char *map = m->check->pending;
	for (int k = 0; k < 2; k++)
		if (mval_src(m, in, k)->kind != MVAL_UNIFORM)
			mval_dense(mval_src(m, in, k));
	for (int64_t i = 0; i < n; i++) {
		unsigned char pa = lane_poison(a, i), pb = lane_poison(b, i);
		int settled = (!pa && truth_at(a, i) == decisive) || (!pb && truth_at(b, i) == decisive);
		map[i] = settled ? 0 : pa | pb;
	}
	pd->at = a->poison ? a->poison_at : b->poison_at;
	settle(pd, map, n);
}

static int64_t int_at(const struct mval *v, int64_t i)
{
	if (v->kind == MVAL_UNIFORM)
		return mval_int(v);
	return dtype_load_int((enum dtype)v->dt, (const char *)v->data + i * v->esize);
}

/* Adds `bit` to the lanes where `bad` is set, on top of what came from the sources. */
static void add_lanes(struct machine *m, struct pending *pd, int64_t n, unsigned char bit, int32_t at,
		      const unsigned char *bad)
{
	unsigned char *map = m->check->pending;
	if (!pd->map)
		memset(map, pd->bits, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		map[i] |= bad[i] ? bit : 0;
	pd->map = 1;
	pd->bits |= bit;
	pd->at = at;
}

/* Poisons the lanes that divide by zero. The range of the divisor answers first, since most
 * divisors are positive constants. */
static void check_divisor(struct machine *m, const struct tile_insn *in, struct pending *pd)
{
	struct mval *b = mval_src(m, in, 1);
	int64_t n = mval_dst(m, in, 0)->n, lo, hi;
	unsigned char *bad = m->scratch[3];
	int any = 0;
	if (!mval_range(b, &lo, &hi) && (lo > 0 || hi < 0))
		return;
	if (b->kind != MVAL_UNIFORM)
		mval_dense(b);
	for (int64_t i = 0; i < n; i++)
		any |= bad[i] = int_at(b, i) == 0;
	if (any)
		add_lanes(m, pd, n, POISON_DIV, in->loc, bad);
}

/* Poisons the lanes of an add, sub, mul or shl whose exact result does not fit 32 bits. 70000 *
 * 70000 as int32 is 605032704; the exact product is 4900000000, so the lane is poisoned. Two
 * UNIFORM operands are computed once for all lanes. */
static void check_wrap(struct machine *m, const struct tile_insn *in, struct pending *pd)
{
	struct mval *a = mval_src(m, in, 0), *b = mval_src(m, in, 1), *d = mval_dst(m, in, 0);
	int64_t lo = d->dt == DT_I32 ? INT32_MIN : 0, hi = d->dt == DT_I32 ? INT32_MAX : UINT32_MAX;
	unsigned char *bad = m->scratch[3];
	int64_t n = a->kind == MVAL_UNIFORM && b->kind == MVAL_UNIFORM ? 1 : d->n;
	int any = 0;
	struct mval *s[2] = { a, b };
	for (int k = 0; k < 2 && n > 1; k++)
		if (s[k]->kind != MVAL_UNIFORM)
			mval_dense(s[k]);
	for (int64_t i = 0; i < n; i++) {
		int64_t x = int_at(a, i), y = int_at(b, i);
		int64_t r = in->op == TOP_ADD ? x + y : in->op == TOP_SUB ? x - y : in->op == TOP_MUL ?
			x * y : y < 32 && y >= 0 ? x * ((int64_t)1 << y) : 0;
		any |= bad[i] = r < lo || r > hi;
	}
	if (any && n == 1 && d->n > 1)
		memset(bad, 1, (size_t)d->n);
	if (any)
		add_lanes(m, pd, d->n, POISON_WRAP, in->loc, bad);
}

static int is_one_int(const struct mval *v)
{
	return v->kind == MVAL_UNIFORM && v->dt == DT_I32 && !v->ptr;
}

/* Nonzero if some lane may wrap, by the ranges of the operands. This is cheaper than looking at
 * each lane and hardly ever wrong. Offsets from 0 to 4095 times 1024 end at 4193280: no lane can
 * wrap. */
static int may_wrap(struct machine *m, const struct tile_insn *in)
{
	struct mval *a = mval_src(m, in, 0), *b = mval_src(m, in, 1);
	int sign = mval_dst(m, in, 0)->dt == DT_I32, out = 0, n = 2;
	int64_t alo, ahi, blo, bhi, r[4];

	if (is_one_int(a) && is_one_int(b) && sign && in->op != TOP_SHL) {
		int64_t x = (int32_t)a->u.i, y = (int32_t)b->u.i, z = in->op == TOP_ADD ? x + y :
			in->op == TOP_SUB ? x - y : x * y;
		return z != (int32_t)z;
	}
	if (mval_range(a, &alo, &ahi) || mval_range(b, &blo, &bhi))
		return 1;
	switch (in->op) {
	case TOP_ADD: out = ck_add64(alo, blo, &r[0]) | ck_add64(ahi, bhi, &r[1]); break;
	case TOP_SUB: out = ck_sub64(alo, bhi, &r[0]) | ck_sub64(ahi, blo, &r[1]); break;
	case TOP_MUL:
		out = ck_mul64(alo, blo, &r[0]) | ck_mul64(alo, bhi, &r[1]) | ck_mul64(ahi, blo, &r[2]) |
			ck_mul64(ahi, bhi, &r[3]);
		n = 4;
		break;
	default: return 1;
	}
	for (int i = 0; i < n && !out; i++)
		out = sign ? r[i] < INT32_MIN || r[i] > INT32_MAX : r[i] < 0 || r[i] > UINT32_MAX;
	return out;
}

/* Works out the result's poison before the operation runs, because the result may take the slot
 * of a source. */
static void before(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p, struct pending *pd)
{
	if (any_poison(m, in)) {
		switch (p->poison) {
		case POISON_SELECT: select_lanes(m, in, pd); break;
		case POISON_AND: logic_lanes(m, in, pd, 0); break;
		case POISON_OR: logic_lanes(m, in, pd, 1); break;
		default: join_lanes(m, in, pd);
		}
	}
	if (p->poison == POISON_INT_DIV)
		check_divisor(m, in, pd);
	if (p->watch && may_wrap(m, in))
		check_wrap(m, in, pd);
}

/* Operations with rule POISON_OWN set the poison of their results themselves. */
static int exec_with_poison(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct pending pd = { .bits = 0 };
	unsigned char *map;
	struct mval *d;

	if (p->poison == POISON_OWN)
		return p->exec(m, in, p);
	before(m, in, p, &pd);
	if (p->exec(m, in, p))
		return -1;
	d = mval_dst(m, in, 0);
	d->poison = pd.bits;
	d->poison_at = pd.at;
	d->pmap_on = 0;
	if (!pd.map)
		return 0;
	map = poison_room(m, d);
	if (!map)
		return -1;
	memcpy(map, m->check->pending, (size_t)d->n);
	d->pmap_on = 1;
	return 0;
}

/* A barrier before the operation makes earlier stores visible to it, one after it makes them
 * visible to what follows. A stale scalar must not be spread over a tile: only one thread knows
 * it. */
int check_exec(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	m->check->barrier += p->sync == SYNC_AROUND;
	if (in->op == TOP_SPLAT && (mval_src(m, in, 0)->poison & POISON_STALE))
		return poison_fault(m, in->loc, mval_src(m, in, 0), 0, "every lane of a tile");
	if (exec_with_poison(m, in, p))
		return -1;
	m->check->barrier += p->sync && (p->sync != SYNC_WARPS || !m->check->one_warp);
	return 0;
}
