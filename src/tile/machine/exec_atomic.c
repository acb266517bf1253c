/* Atomics: one lane after another, in lane order. The machine runs instances with atomics one at
 * a time in the order of the grid, so that sums have the same bits in every run. */
#include "tile/machine/check.h"
#include "tile/machine/exec_access.h"
#include "tile/machine/known_memory.h"

/* Max and min take the operand if the old value is NaN. */
static double rmw_float(enum tile_rmw k, double old, double x)
{
	switch (k) {
	case TILE_RMW_ADD: return old + x;
	case TILE_RMW_MAX: return x > old || old != old ? x : old;
	case TILE_RMW_MIN: return x < old || old != old ? x : old;
	default: return x;
	}
}

/* Sums wrap around. Max and min compare by the sign of the type. */
static int64_t rmw_int(enum tile_rmw k, int64_t old, int64_t x, int is_unsigned)
{
	int greater = is_unsigned ? (uint64_t)x > (uint64_t)old : x > old;
	switch (k) {
	case TILE_RMW_ADD: return (int64_t)((uint64_t)old + (uint64_t)x);
	case TILE_RMW_MAX: return greater ? x : old;
	case TILE_RMW_MIN: return greater ? old : x;
	case TILE_RMW_AND: return old & x;
	case TILE_RMW_OR: return old | x;
	case TILE_RMW_XOR: return old ^ x;
	default: return x;
	}
}

/* fp32 sums must round once, in fp32. Sums of narrower floats are exact in double before
 * rounding. */
static void rmw(enum dtype dt, enum tile_rmw k, char *at, const char *x)
{
	if (dt == DT_F32 && k == TILE_RMW_ADD) {
		float a, b;
		memcpy(&a, at, 4);
		memcpy(&b, x, 4);
		a += b;
		memcpy(at, &a, 4);
	} else if (dtype_is_float(dt)) {
		if (k == TILE_RMW_XCHG)
			memcpy(at, x, (size_t)dtype_size(dt));
		else
			dtype_store(dt, at, rmw_float(k, dtype_load(dt, at), dtype_load(dt, x)));
	} else {
		int u = dtype_info(dt)->class == DTC_UINT;
		dtype_store_int(dt, at, rmw_int(k, dtype_load_int(dt, at), dtype_load_int(dt, x), u));
	}
}

/* One atomic under way. */
struct swap {
	struct access a;
	struct mval *d;             /* result: the old values */
	struct mval *value, *compare;        /* compare NULL: read-modify-write; else compare-and-swap */
	int undef;
};

/* Checked mode: the operand must not be poison and the memory must have been written. A stale
 * scalar may be the operand of a scalar atomic, since the same thread does both. */
static int check_swap(struct swap *s, int64_t lane, const struct access_row *r, int64_t off)
{
	struct machine *m = s->a.m;
	const struct mval *v = s->value;
	int one_thread = v->poison == POISON_STALE && s->a.ptr->n == 1;
	const unsigned char *undef;

	if (v->poison && !one_thread && (!v->pmap_on || v->pmap[lane]))
		return poison_fault(m, s->a.in->loc, v, lane, "the operand of an atomic");
	undef = r->al->st->undef;
	if (undef && undef[off]) {
		char where[160];
		access_where(r->al, off, where, sizeof where);
		return fault_hint(m, s->a.in->loc, REASON_uninitialised, "start from torch.zeros",
				  "atomic on %s, which was never written", where);
	}
	return check_atomic(&s->a, lane, r->al, off);
}

/* One lane: the old value goes to `out`. The operand is copied first, because `out` may be its
 * slot. */
static int swap_lane(struct swap *s, int64_t lane, const struct access_row *r, char *at, char *out)
{
	struct machine *m = s->a.m;
	size_t size = (size_t)s->a.esize;
	enum dtype dt = (enum dtype)s->d->dt;
	const char *x = s->value->kind == MVAL_UNIFORM ? (char *)&s->value->u : (char *)s->value->data +
		(size_t)lane * size;
	char operand[8];

	if (m->check && check_swap(s, lane, r, at - r->al->base))
		return -1;
	memcpy(operand, x, size);
	/* Compare-and-swap compares bits, so that -0.0 and 0.0 differ and a NaN equals itself. */
	if (s->compare) {
		const char *c = s->compare->kind == MVAL_UNIFORM ? (char *)&s->compare->u :
			(char *)s->compare->data + (size_t)lane * size;
		int equal = !memcmp(at, c, size);
		memcpy(out, at, size);
		if (equal)
			memcpy(at, operand, size);
	} else {
		memcpy(out, at, size);
		rmw(dt, (enum tile_rmw)s->a.in->attr[0], at, operand);
	}
	if (r->al->st->undef)
		memset(r->al->st->undef + (at - r->al->base), 0, size);
	return 0;
}

/* Sums of fp32 are what most atomics are for; they have a loop of their own. */
static int adds_floats(const struct swap *s)
{
	return !s->compare && s->d->dt == DT_F32 && s->a.in->attr[0] == TILE_RMW_ADD;
}

/* As swap_lane for all lanes of a row, without its checks. */
static void add_row(struct swap *s, const struct access_row *r, char *out)
{
	int uniform = s->value->kind == MVAL_UNIFORM;
	const char *x = uniform ? (const char *)&s->value->u : (const char *)s->value->data +
		(size_t)r->lane * sizeof (float);
	unsigned char *undef = r->al->st->undef;

	out += (size_t)r->lane * sizeof (float);
	for (int64_t i = 0; i < r->count; i++) {
		char *at = r->addr + i * r->step;
		float old, by;

		memcpy(&old, at, sizeof old);
		memcpy(&by, uniform ? x : x + (size_t)i * sizeof by, sizeof by);
		memcpy(out + (size_t)i * sizeof old, &old, sizeof old);
		old += by;
		memcpy(at, &old, sizeof old);
		if (undef)
			memset(undef + (at - r->al->base), 0, sizeof old);
	}
}

/* Checked mode and all operations but fp32 sums go lane by lane. */
static int swap_row(struct swap *s, const struct access_row *r, char *out)
{
	if (!s->a.m->check && adds_floats(s)) {
		add_row(s, r, out);
		return 0;
	}
	for (int64_t i = 0; i < r->count; i++)
		if (swap_lane(s, r->lane + i, r, r->addr + i * r->step, out + (r->lane + i) * s->a.esize))
			return -1;
	return 0;
}

/* The result of an atomic is undefined in lanes that are off. */
static int mark_off(struct swap *s)
{
	struct access again = s->a;
	struct access_row r;
	unsigned char *map = poison_room(s->a.m, s->d);
	if (!map)
		return -1;
	memset(map, POISON_MASKED, (size_t)s->d->n);
	while (access_next(&again, &r))
		memset(map + r.lane, 0, (size_t)r.count);
	s->d->pmap_on = 1;
	s->d->poison = POISON_MASKED;
	s->d->poison_at = s->a.in->loc;
	return 0;
}

/* Counts each active lane as a load, a store and an atomic. */
static int run_swap(struct swap *s)
{
	struct access_row r;
	struct machine *m = s->a.m;
	char *out;

	if (s->value->kind != MVAL_UNIFORM)
		mval_dense(s->value);
	if (s->compare && s->compare->kind != MVAL_UNIFORM)
		mval_dense(s->compare);
	if (access_open(&s->a) || (m->sampled && known_swap(&s->a, (enum dtype)s->d->dt)))
		return -1;
	m->cost.atomics += s->a.active;
	m->cost.bytes_loaded += s->a.active * s->a.esize;
	m->cost.bytes_stored += s->a.active * s->a.esize;
	out = mval_result(s->d);
	if (!access_full(&s->a))
		memset(out, 0, (size_t)(s->d->n * s->a.esize));
	if (m->check && !access_full(&s->a) && mark_off(s))
		return -1;
	while (access_next(&s->a, &r))
		if (swap_row(s, &r, out))
			return -1;
	return 0;
}

/* Sources: pointer, value, and an optional mask. */
int exec_atomic(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct swap s = {
		.d = mval_dst(m, in, 0), .value = mval_src(m, in, 1),
		.a = { .m = m, .in = in, .ptr = mval_src(m, in, 0), .mask = in->n_src > 2 ? mval_src(m, in, 2) : NULL,
		       .esize = mval_dst(m, in, 0)->esize, .verb = "atomic" },
	};
	(void)p;
	return run_swap(&s);
}

/* Sources: pointer, expected value, new value. A compare-and-swap has no mask. */
int exec_cas(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct swap s = {
		.d = mval_dst(m, in, 0), .compare = mval_src(m, in, 1), .value = mval_src(m, in, 2),
		.a = { .m = m, .in = in, .ptr = mval_src(m, in, 0), .esize = mval_dst(m, in, 0)->esize,
		       .verb = "atomic" },
	};
	(void)p;
	return run_swap(&s);
}
