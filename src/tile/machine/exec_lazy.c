/* Integer and pointer arithmetic on values that are not written out (UNIFORM, AFFINE, BOX, NEAR).
 *
 * offs = pid * 1024 + arange(0, 1024) stays { base = pid * 1024, stride = 1 }; offs < n becomes a
 * box; ptr + offs is again a base and a stride. No lane is computed before a load needs it.
 *
 * Invariant: an AFFINE value is exact in its type. No lane wraps around, every lane is within 2^61
 * and strides are within 2^39, so that sums of two of them never overflow 64 bits. If that would
 * not hold, the short cut declines and the lanes are computed one by one. */
#include "tile/machine/exec_lanes.h"
#include "tile/machine/machine.h"

/* Strides of dimensions beyond the shape are 0. The functions below are compiled twice, for one
 * dimension and for TILE_DIMS (`dims`), so that no loop has a variable length: a pointwise kernel
 * spends as much time on offsets as on values. */
#define FOR_DIMS static inline __attribute__((always_inline))

/* An AFFINE value taken out of its register; a UNIFORM one has strides of 0. */
struct affine {
	int64_t base, stride[TILE_DIMS];
};

/* Bounds that keep all arithmetic here inside 64 bits: 5 strides of 2^39 over 2^20 lanes and a
 * base of 2^61 add up to less than 2^63. */
#define MOST_BASE ((int64_t)1 << 61)
#define MOST_STRIDE ((int64_t)1 << 39)

/* Reads a UNIFORM or AFFINE value. Returns 0, or -1 for other forms and bases out of bounds. */
FOR_DIMS int load_affine(const struct mval *v, struct affine *out, int dims)
{
	if (v->kind == MVAL_UNIFORM) {
		for (int i = 0; i < dims; i++)
			out->stride[i] = 0;
		out->base = v->ptr ? v->u.i : mval_int(v);
		return out->base > MOST_BASE || out->base < -MOST_BASE ? -1 : 0;
	}
	if (v->kind != MVAL_AFFINE)
		return -1;
	out->base = v->u.i;
	for (int i = 0; i < dims; i++)
		out->stride[i] = i < v->ndim ? v->stride[i] : 0;
	return 0;
}

/* Least and greatest lane. Returns -1 if they might not fit 64 bits. */
FOR_DIMS int range_of(const struct affine *a, const struct mval *shape, int64_t *lo, int64_t *hi, int dims)
{
	int64_t down = 0, up = 0;
	int far = a->base > MOST_BASE || a->base < -MOST_BASE;
	for (int d = 0; d < dims; d++)
		far |= a->stride[d] > MOST_STRIDE || a->stride[d] < -MOST_STRIDE;
	if (far)
		return -1;
	for (int d = 0; d < dims; d++) {
		int64_t reach = a->stride[d] * (shape->shape[d] - 1);
		down += reach < 0 ? reach : 0;
		up += reach > 0 ? reach : 0;
	}
	*lo = a->base + down;
	*hi = a->base + up;
	return 0;
}

/* Whether lanes from lo to hi are exact in v's type. */
static int fits(const struct mval *v, int64_t lo, int64_t hi)
{
	if (v->ptr)
		return lo >= -MOST_BASE && hi <= MOST_BASE;
	switch (v->dt) {
	case DT_BOOL: return lo >= 0 && hi <= 1;
	case DT_I8: return lo >= INT8_MIN && hi <= INT8_MAX;
	case DT_I16: return lo >= INT16_MIN && hi <= INT16_MAX;
	case DT_I32: return lo >= INT32_MIN && hi <= INT32_MAX;
	case DT_I64: return lo >= -MOST_BASE && hi <= MOST_BASE;
	case DT_U8: return lo >= 0 && hi <= UINT8_MAX;
	case DT_U16: return lo >= 0 && hi <= UINT16_MAX;
	case DT_U32: return lo >= 0 && hi <= UINT32_MAX;
	case DT_U64: return lo >= 0 && hi <= MOST_BASE;
	default: return 0;
	}
}

/* Makes d the value `a` and returns 1 if that is exact in d's type; else returns 0. Strides of 0
 * throughout become UNIFORM. */
FOR_DIMS int put_affine(struct mval *d, const struct affine *a, int dims)
{
	int64_t lo, hi, any = 0;
	if (range_of(a, d, &lo, &hi, dims) || !fits(d, lo, hi))
		return 0;
	for (int i = 0; i < dims; i++)
		any |= a->stride[i];
	if (!any) {
		mval_set_int(d, a->base);
		return 1;
	}
	d->kind = MVAL_AFFINE;
	d->u.i = a->base;
	for (int i = 0; i < dims; i++)
		d->stride[i] = a->stride[i];
	return 1;
}

/* a *= by. Returns nonzero on overflow. */
FOR_DIMS int scaled(struct affine *a, int64_t by, int dims)
{
	int bad = __builtin_mul_overflow(a->base, by, &a->base);
	for (int i = 0; i < dims; i++)
		bad |= __builtin_mul_overflow(a->stride[i], by, &a->stride[i]);
	return bad;
}

/* a += b, or a -= b if sign is negative. Returns nonzero on overflow. */
FOR_DIMS int add_affine(struct affine *a, const struct affine *b, int sign, int dims)
{
	int bad = 0;
	if (sign > 0) {
		bad = __builtin_add_overflow(a->base, b->base, &a->base);
		for (int i = 0; i < dims; i++)
			bad |= __builtin_add_overflow(a->stride[i], b->stride[i], &a->stride[i]);
		return bad;
	}
	bad = __builtin_sub_overflow(a->base, b->base, &a->base);
	for (int i = 0; i < dims; i++)
		bad |= __builtin_sub_overflow(a->stride[i], b->stride[i], &a->stride[i]);
	return bad;
}

/* a / c and a % c, if the whole tile has one quotient. Lanes 256 to 383 over 128 have the
 * quotient 2; their remainders are 0 to 127, again AFFINE. Lanes 0 to 255 over 128 have two
 * quotients: no short cut. */
FOR_DIMS int one_quotient(struct mval *d, struct affine *a, const struct mval *b, int rem, int dims)
{
	int64_t lo, hi, q, c;

	if (b->kind != MVAL_UNIFORM)
		return 0;
	c = mval_int(b);
	if (range_of(a, d, &lo, &hi, dims) || c <= 0 || lo < 0 || lo / c != hi / c)
		return 0;
	q = lo / c;
	if (!rem)
		*a = (struct affine){ .base = q };
	else
		a->base -= q * c;
	return put_affine(d, a, dims);
}

/* Quotient rounded down. */
static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/* One answer for the whole tile. */
static int put_bool(struct mval *d, int yes)
{
	d->kind = MVAL_UNIFORM;
	d->u.i = yes;
	return 1;
}

/* d = (diff < 0), as a box if only one dimension has a stride. offs - 1000 with offs from 0 to
 * 1023 is negative in lanes 0 to 999: the box is [0, 1000). */
FOR_DIMS int put_negative(struct mval *d, const struct affine *diff, int dims)
{
	int64_t lo, hi, n, s, first, last;
	int along = -1;

	if (range_of(diff, d, &lo, &hi, dims))
		return 0;
	if (hi < 0 || lo >= 0)
		return put_bool(d, hi < 0);
	s = 0;
	for (int i = 0; i < dims; i++) {
		if (!diff->stride[i])
			continue;
		if (along >= 0)
			return 0;
		along = i;
		s = diff->stride[i];
	}
	if (!s)
		return 0;
	/* base + s * i < 0: for s > 0 up to i < -base / s, for s < 0 from i > base / -s on. */
	n = d->shape[along];
	first = 0;
	last = n;
	if (s > 0)
		last = floor_div(-diff->base + s - 1, s);
	else
		first = floor_div(diff->base, -s) + 1;
	d->kind = MVAL_BOX;
	for (int i = 0; i < d->ndim; i++) {
		d->box.lo[i] = 0;
		d->box.hi[i] = d->shape[i];
	}
	d->box.lo[along] = (int32_t)MAX(first, 0);
	d->box.hi[along] = (int32_t)MIN(last, n);
	return 1;
}

/* a < b is a - b < 0, a <= b is a - b - 1 < 0, and > and >= swap the sides. == and != have a
 * short cut only if the whole tile has one answer. */
FOR_DIMS int compare(enum tile_op op, struct mval *d, struct affine *a, const struct affine *b, int dims)
{
	int64_t lo, hi;

	if (add_affine(a, b, -1, dims))
		return 0;
	if (op == TOP_GT || op == TOP_GE)
		scaled(a, -1, dims);
	if (op == TOP_LE || op == TOP_GE)
		a->base -= 1;
	if (op != TOP_EQ && op != TOP_NE)
		return put_negative(d, a, dims);
	if (range_of(a, d, &lo, &hi, dims))
		return 0;
	if (lo > 0 || hi < 0)
		return put_bool(d, op == TOP_NE);
	return lo == 0 && hi == 0 ? put_bool(d, op == TOP_EQ) : 0;
}

/* max and min, if one operand is the greater one in every lane. */
FOR_DIMS int pick_by_range(enum tile_op op, struct mval *d, const struct affine *a, const struct affine *b, int dims)
{
	struct affine diff = *a;
	int64_t lo, hi;
	int max;

	if (add_affine(&diff, b, -1, dims) || range_of(&diff, d, &lo, &hi, dims))
		return 0;
	max = op == TOP_MAX || op == TOP_MAX_NAN;
	if (lo >= 0)
		return put_affine(d, max ? a : b, dims);
	return hi <= 0 ? put_affine(d, max ? b : a, dims) : 0;
}

/* The intersection of two boxes is a box; an empty one becomes UNIFORM false. */
static int and_boxes(struct mval *d, const struct mval *a, const struct mval *b)
{
	int empty;

	if (a->kind == MVAL_UNIFORM || b->kind == MVAL_UNIFORM) {
		const struct mval *u = a->kind == MVAL_UNIFORM ? a : b, *o = u == a ? b : a;
		if (o->kind != MVAL_BOX)
			return 0;
		if (!u->u.raw[0])
			return put_bool(d, 0);
		d->kind = MVAL_BOX;
		d->box = o->box;
		return 1;
	}
	if (a->kind != MVAL_BOX || b->kind != MVAL_BOX)
		return 0;
	empty = 0;
	for (int i = 0; i < d->ndim; i++) {
		int32_t lo = MAX(a->box.lo[i], b->box.lo[i]), hi = MIN(a->box.hi[i], b->box.hi[i]);
		empty |= lo >= hi;
		d->box.lo[i] = lo;
		d->box.hi[i] = hi;
	}
	d->kind = MVAL_BOX;
	return empty ? put_bool(d, 0) : 1;
}

/* Two UNIFORM operands have no short cut here: a kernel over one lane does them. */
FOR_DIMS int binary(const struct tile_insn *in, struct mval *d, const struct mval *a, const struct mval *b, int dims)
{
	struct affine x, y;
	if ((a->kind == MVAL_UNIFORM && b->kind == MVAL_UNIFORM) || load_affine(a, &x, dims) ||
	    load_affine(b, &y, dims))
		return 0;
	switch (in->op) {
	case TOP_ADD: return !add_affine(&x, &y, 1, dims) && put_affine(d, &x, dims);
	case TOP_SUB: return !add_affine(&x, &y, -1, dims) && put_affine(d, &x, dims);
	case TOP_MUL:
		if (b->kind == MVAL_UNIFORM)
			return !scaled(&x, y.base, dims) && put_affine(d, &x, dims);
		return a->kind == MVAL_UNIFORM && !scaled(&y, x.base, dims) && put_affine(d, &y, dims);
	case TOP_SHL:
		return b->kind == MVAL_UNIFORM && y.base >= 0 && y.base < 31 &&
			!scaled(&x, (int64_t)1 << y.base, dims) && put_affine(d, &x, dims);
	case TOP_DIV: case TOP_REM: return one_quotient(d, &x, b, in->op == TOP_REM, dims);
	case TOP_MAX: case TOP_MIN: case TOP_MAX_NAN: case TOP_MIN_NAN:
		return pick_by_range(in->op, d, &x, &y, dims);
	case TOP_EQ: case TOP_NE: case TOP_LT: case TOP_LE: case TOP_GT: case TOP_GE:
		return compare(in->op, d, &x, &y, dims);
	}
	return 0;
}

/* Bools have a short cut for `and` only: masks are mostly conjunctions. */
int lazy_binary(const struct tile_insn *in, struct mval *d, struct mval *a, struct mval *b)
{
	if (a->dt == DT_BOOL && !a->ptr)
		return in->op == TOP_AND ? and_boxes(d, a, b) : 0;
	return d->ndim <= 1 ? binary(in, d, a, b, 1) : binary(in, d, a, b, TILE_DIMS);
}

/* An AFFINE integer in another integer type, if its lanes fit that type. */
int lazy_cast(struct mval *d, const struct mval *a)
{
	struct affine x;
	enum { dims = TILE_DIMS };
	return a->kind == MVAL_AFFINE && !load_affine(a, &x, dims) && put_affine(d, &x, dims);
}

/* Offsets to 64 bits, by the sign of their type. */
static void widen(const struct mval *v, int64_t *out)
{
#define WIDEN(T) do { const T *s = v->data; for (int32_t i = 0; i < v->n; i++) out[i] = (int64_t)s[i]; } while (0)
	switch (v->dt) {
	case DT_I8: WIDEN(int8_t); break;
	case DT_I16: WIDEN(int16_t); break;
	case DT_BOOL: case DT_U8: WIDEN(uint8_t); break;
	case DT_U16: WIDEN(uint16_t); break;
	case DT_U32: WIDEN(uint32_t); break;
	default: WIDEN(int64_t);
	}
#undef WIDEN
}

/* pointer + offset * scale, all of it AFFINE. */
FOR_DIMS int short_addptr(struct mval *d, const struct mval *a, const struct mval *b, int64_t scale, int dims)
{
	struct affine x, y;
	return !load_affine(a, &x, dims) && !load_affine(b, &y, dims) && !scaled(&y, scale, dims) &&
		!add_affine(&x, &y, 1, dims) &&
		put_affine(d, &x, dims);
}

/* Pointer plus dense int32 offsets, kept as 32-bit counts while the sum of the ranges fits. A
 * second offset of the same kind is added to the counts. Returns 0 if the sum may not fit. */
static int near_addptr(struct mval *d, struct mval *a, struct mval *b, int64_t scale)
{
	int64_t alo = a->kind == MVAL_NEAR ? a->span.lo : 0, ahi = a->kind == MVAL_NEAR ? a->span.hi : 0, lo, hi;
	size_t bytes = (size_t)d->n * sizeof(int32_t);
	uint64_t base = (uint64_t)a->u.i;

	if ((a->kind != MVAL_NEAR && (a->kind != MVAL_UNIFORM || b->kind == MVAL_UNIFORM)) || d->home == &d->u)
		return 0;
	if (b->kind == MVAL_UNIFORM) {
		lo = hi = 0;
		base += (uint64_t)mval_int(b) * (uint64_t)scale;
		memmove(d->data, a->data, bytes);
	} else {
		if (b->dt != DT_I32 || mval_range(b, &lo, &hi) || alo + lo < INT32_MIN || ahi + hi > INT32_MAX)
			return 0;
		if (a->kind == MVAL_UNIFORM)
			memmove(d->data, mval_dense(b), bytes);
		else
			SIMD_PICK(lanes_add32)(d->data, a->data, mval_dense(b), d->n);
	}
	mval_clear_poison(d);
	d->kind = MVAL_NEAR;
	d->u.u64 = base;
	d->span.lo = (int32_t)(alo + lo);
	d->span.hi = (int32_t)(ahi + hi);
	return 1;
}

/* From cheap to general: a scalar address, AFFINE, NEAR, and dense 64-bit addresses. */
int exec_addptr(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *a = mval_src(m, in, 0), *b = mval_src(m, in, 1);
	int64_t scale = dtype_size((enum dtype)d->dt);
	int64_t *offset, base;
	const int64_t *addr;

	(void)p;
	d->prov = a->prov;
	if (d->home == &d->u && b->kind == MVAL_UNIFORM) {
		d->kind = MVAL_UNIFORM;
		d->u.u64 = a->u.u64 + (uint64_t)mval_int(b) * (uint64_t)scale;
		return 0;
	}
	if ((d->ndim <= 1 ? short_addptr(d, a, b, scale, 1) : short_addptr(d, a, b, scale, TILE_DIMS)) ||
	    near_addptr(d, a, b, scale))
		return 0;
	offset = (int64_t *)m->scratch[0];
	base = a->u.i;
	addr = a->kind == MVAL_UNIFORM ? NULL : mval_dense(a);
	mval_dense(b);
	if (b->home != &b->u && b->dt == DT_I32) {
		SIMD_PICK(lanes_offset32)(mval_result(d), addr, base, b->data, scale, d->n);
		return 0;
	}
	if (b->home == &b->u)
		offset[0] = mval_int(b);
	else
		widen(b, offset);
	SIMD_PICK(lanes_offset64)(mval_result(d), addr, base, offset, scale, d->n);
	return 0;
}
