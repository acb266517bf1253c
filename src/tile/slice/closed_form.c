/* Values in closed form: see closed_form.h. */
#include "tile/slice/closed_form.h"

#include <string.h>

void form_lanes(struct form_batch *b, struct tile_type t)
{
	for (int d = 0; d < TILE_DIMS; d++)
		b->extent[d] = d < t.ndim ? t.shape[d] : 1;
}

struct form form_none(enum form_why why)
{
	return (struct form){ .kind = FORM_NONE, .why = (uint8_t)why, .memory = -1 };
}

/* The result of an operation with an operand that has no form. Contents come first. */
static struct form none_of(const struct form *x, const struct form *y)
{
	int contents = (x->kind == FORM_NONE && x->why == FORM_CONTENTS) ||
		(y->kind == FORM_NONE && y->why == FORM_CONTENTS);

	return form_none(contents ? FORM_CONTENTS : FORM_UNDECIDED);
}

struct form form_const(struct form_batch *b, int64_t v)
{
	int64_t *base = arena_alloc(b->mem, sizeof *base);

	if (!base)
		return form_none(FORM_UNDECIDED);
	*base = v;
	return (struct form){ .kind = FORM_INT, .memory = -1, .base = base };
}

struct form form_const_float(struct form_batch *b, double v)
{
	double *f = arena_alloc(b->mem, sizeof *f);

	if (!f)
		return form_none(FORM_UNDECIDED);
	*f = v;
	return (struct form){ .kind = FORM_FLOAT, .memory = -1, .f = f };
}

struct form form_between(struct form_batch *b, int64_t lo, int64_t hi)
{
	return form_between_rounded(b, lo, hi, 0);
}

struct form form_between_rounded(struct form_batch *b, int64_t lo, int64_t hi, int digits)
{
	struct form f = form_const(b, lo);
	int var = FORM_LOOSE + b->n_loose;

	if (f.kind == FORM_NONE || var == FORM_VARS || hi - lo >= INT64_MAX / 4)
		return form_none(FORM_UNDECIDED);
	b->n_loose++;
	b->extent[var] = hi - lo + 1;
	b->first[var] = lo;
	b->digits[var] = (uint8_t)digits;
	b->of[var] = NULL;
	f.coef[var] = 1;
	f.loose = 1;
	return f;
}

/* A quotient that has a variable already, which now counts up to `most` at least; -1: none. The same dividend has
 * more values in a longer loop or a larger tile. */
static int find_quotient(struct form_batch *b, const struct form *x, int64_t by, int64_t least, int64_t most)
{
	for (int k = FORM_LOOSE; k < FORM_LOOSE + b->n_loose; k++)
		if (b->of[k] && b->by[k] == by && b->first[k] <= least && form_same(b, b->of[k], x)) {
			b->extent[k] = MAX(b->extent[k], most - b->first[k] + 1);
			return k;
		}
	return -1;
}

/* by * q - x - 1 < 0 and x - by * q - by < 0. */
struct form form_divide(struct form_batch *b, const struct form *x, int64_t by)
{
	struct form *kept = arena_alloc(b->mem, 3 * sizeof *kept), zero = form_const(b, 0), less, q;
	int var = FORM_LOOSE + b->n_loose, at;
	int64_t lo, hi;

	if (!kept || form_range(b, x, &lo, &hi) || x->loose)
		return form_none(FORM_UNDECIDED);
	at = find_quotient(b, x, by, lo / by, hi / by);
	if (at >= 0) {
		var = at;
		q = form_const(b, b->first[var]);
		q.coef[var] = 1;
		return q;
	}
	q = form_between(b, lo / by, hi / by);
	if (q.kind == FORM_NONE)
		return q;
	q.loose = 0;
	kept[0] = *x;
	kept[0].memory = -1;
	b->of[var] = kept;
	b->by[var] = by;
	b->limits[var] = kept + 1;
	less = form_const(b, -1);
	less = form_add(b, &less, &q, by);
	kept[1] = form_add(b, &less, &kept[0], -1);
	less = form_add(b, &zero, &q, -by);
	zero = form_const(b, -by);
	less = form_add(b, &less, &zero, 1);
	kept[2] = form_add(b, &less, &kept[0], 1);
	if (kept[1].kind != FORM_INT || kept[2].kind != FORM_INT) {
		b->of[var] = NULL;
		q.loose = 1;
	}
	return q;
}

struct form form_replace(struct form_batch *b, const struct form *x, int var, const struct form *value)
{
	struct form r = *x, first = form_const(b, b->first[var]);
	int64_t times = x->coef[var];

	r.coef[var] = 0;
	r.memory = -1;
	r = form_add(b, &r, &first, -times);
	r = form_add(b, &r, value, times);
	r.memory = x->memory;
	return r;
}

/* Whole numbers from 0 to v with at most this number of binary digits, apart from zeros at the end. */
static int64_t count_held(int64_t v, int digits)
{
	int shift = 0;

	while (v >> shift >= (int64_t)1 << digits)
		shift++;
	/* 2^(digits - 1) numbers for each power of two above 2^digits, and those of the last one */
	return (v >> shift) + 1 + shift * ((int64_t)1 << (digits - 1));
}

/* A number out of the integer's range became its end, which may have more digits: one more. */
int64_t form_count_loose(const struct form_batch *b, int var, int64_t lo, int64_t hi)
{
	int64_t n = MAX(hi - lo, 0), from = b->first[var] + lo, to = b->first[var] + hi - 1, held = 1;

	if (!b->digits[var] || !n)
		return n;
	if (to >= 0)
		held += count_held(to, b->digits[var]) - (from > 0 ? count_held(from - 1, b->digits[var]) : 0);
	if (from < 0)
		held += count_held(-from, b->digits[var]) - (to < -1 ? count_held(-to - 1, b->digits[var]) : 0);
	return MIN(n, held);
}

int form_is_rounded(const struct form_batch *b, const struct form *f)
{
	int rounded = f->kind == FORM_NONE ? f->rounded : f->kind == FORM_FLOAT && f->loose;

	for (int k = FORM_LOOSE; k < FORM_VARS; k++)
		rounded |= f->kind == FORM_INT && f->coef[k] && b->digits[k];
	for (int c = 0; f->kind == FORM_BOOL && c < f->n_conds; c++)
		rounded |= form_is_rounded(b, &f->cond[c]);
	return rounded;
}

int form_is_plain(const struct form *f)
{
	for (int k = 0; k < FORM_VARS; k++)
		if (f->coef[k])
			return 0;
	return 1;
}

int form_has_quotients(const struct form *f)
{
	for (int k = FORM_LOOSE; k < FORM_VARS; k++)
		if (f->coef[k])
			return 1;
	return 0;
}

int form_is_number(const struct form *f, int64_t *v)
{
	if (f->kind != FORM_INT || f->many || f->loose || !form_is_plain(f))
		return 0;
	*v = f->base[0];
	return 1;
}

int form_same(const struct form_batch *b, const struct form *x, const struct form *y)
{
	if (x->kind != y->kind || x->memory != y->memory || x->kind == FORM_NONE || x->kind == FORM_BOOL)
		return 0;
	if (x->kind == FORM_FLOAT)
		return x->f == y->f && x->over == y->over && x->loose == y->loose &&
			!memcmp(x->coef, y->coef, sizeof x->coef);
	if (memcmp(x->coef, y->coef, sizeof x->coef) || x->loose || y->loose)
		return 0;
	for (int i = 0; x->base != y->base && i < (x->many || y->many ? b->n : 1); i++)
		if (form_base(x, i) != form_base(y, i))
			return 0;
	return 1;
}

/* The variables add between *lo and *hi to the base. */
static int spread_of(const struct form_batch *b, const struct form *f, int64_t *lo, int64_t *hi)
{
	*lo = *hi = 0;
	for (int k = 0; k < FORM_VARS; k++) {
		int64_t most;

		if (!f->coef[k])
			continue;
		if (ck_mul64(f->coef[k], MAX(b->extent[k] - 1, 0), &most) ||
		    __builtin_add_overflow(most < 0 ? *lo : *hi, most, most < 0 ? lo : hi))
			return -1;
	}
	return 0;
}

/* A form with a quotient of x by n in it, without the multiple of the remainder x - n * q that removes the
 * quotient: h * 5 + x - 14 * q is h * 5 and once the remainder, which lies between 0 and 13. Returns the
 * variable of the quotient, or -1. */
static int without_remainder(const struct form_batch *b, const struct form *f, int from, struct form *rest,
			     int64_t *times)
{
	int64_t more;

	for (int k = from; k < FORM_LOOSE + b->n_loose; k++) {
		if (!f->coef[k] || !b->of[k] || f->coef[k] % b->by[k])
			continue;
		*times = -(f->coef[k] / b->by[k]);
		*rest = *f;
		for (int v = 0; v < FORM_VARS; v++)
			if (ck_mul64(*times, b->of[k]->coef[v], &more) ||
			    __builtin_sub_overflow(f->coef[v], more, &rest->coef[v]))
				return -1;
		rest->coef[k] = 0;
		return k;
	}
	return -1;
}

/* Narrows the bounds in instance i (-1: in all) of a form with remainders in it. */
static void narrow(const struct form_batch *b, const struct form *f, int i, int64_t *lo, int64_t *hi)
{
	struct form rest;
	int64_t times;

	for (int k = FORM_LOOSE; (k = without_remainder(b, f, k, &rest, &times)) >= 0; k++) {
		const struct form *x = b->of[k];
		int64_t least = INT64_MAX, most = INT64_MIN, down, up, more;
		int last = i < 0 ? (f->many || x->many ? b->n : 1) - 1 : i;

		if (spread_of(b, &rest, &down, &up) || ck_mul64(times, b->by[k] - 1, &more))
			continue;
		for (int j = MAX(i, 0); j <= last; j++) {
			int64_t base;

			/* a multiple that does not fit gives no bounds */
			if (__builtin_sub_overflow(form_base(x, j), b->by[k] * b->first[k], &base) ||
			    ck_mul64(times, base, &base) || __builtin_sub_overflow(form_base(f, j), base, &base))
				return;
			least = MIN(least, base);
			most = MAX(most, base);
		}
		if (__builtin_add_overflow(least, down + MIN(more, 0), &least) ||
		    __builtin_add_overflow(most, up + MAX(more, 0), &most))
			return;
		*lo = MAX(*lo, least);
		*hi = MIN(*hi, most);
	}
}

int form_range(const struct form_batch *b, const struct form *f, int64_t *lo, int64_t *hi)
{
	int64_t least = f->base[0], most = f->base[0], down, up;

	for (int i = 1; f->many && i < b->n; i++) {
		least = MIN(least, f->base[i]);
		most = MAX(most, f->base[i]);
	}
	if (spread_of(b, f, &down, &up) || __builtin_add_overflow(least, down, lo) ||
	    __builtin_add_overflow(most, up, hi))
		return -1;
	narrow(b, f, -1, lo, hi);
	return 0;
}

void form_range_at(const struct form_batch *b, const struct form *f, int i, int64_t *lo, int64_t *hi)
{
	spread_of(b, f, lo, hi);
	*lo += form_base(f, i);
	*hi += form_base(f, i);
	narrow(b, f, i, lo, hi);
}

struct form form_add(struct form_batch *b, const struct form *x, const struct form *y, int64_t times)
{
	struct form r = { .kind = FORM_INT, .memory = MAX(x->memory, y->memory) };
	int64_t *base;
	int n;

	if (x->kind != FORM_INT || y->kind != FORM_INT)
		return none_of(x, y);
	r.many = x->many || y->many;
	n = r.many ? b->n : 1;
	r.base = base = arena_alloc(b->mem, (size_t)n * sizeof *base);
	if (!base)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		base[i] = (int64_t)((uint64_t)form_base(x, i) + (uint64_t)form_base(y, i) * (uint64_t)times);
	for (int k = 0; k < FORM_VARS; k++) {
		int64_t more;

		if (ck_mul64(y->coef[k], times, &more) || __builtin_add_overflow(x->coef[k], more, &r.coef[k]))
			return form_none(FORM_UNDECIDED);
		/* a loose value may cancel: row * n + (at - row * n) is `at` */
		r.loose |= k >= FORM_LOOSE && r.coef[k] && !b->of[k];
	}
	return r;
}

struct form form_scale(struct form_batch *b, const struct form *x, int64_t times)
{
	struct form zero = form_const(b, 0);

	return zero.kind == FORM_NONE ? zero : form_add(b, &zero, x, times);
}

/* A number of some bits, signed or not. */
static int64_t wrapped(int64_t v, int bits, int is_signed)
{
	if (bits == 64)
		return v;
	return is_signed ? (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits) :
		(int64_t)((uint64_t)v & (((uint64_t)1 << bits) - 1));
}

/* Each instance may wrap as a whole: pid * 2048 + lane beyond 2^31 becomes negative in all lanes. An
 * instance that wraps in some of its lanes only has no form. */
static struct form wrap_instances(struct form_batch *b, const struct form *x, int bits, int is_signed)
{
	struct form r = *x;
	int n = x->many ? b->n : 1;
	int64_t *base = arena_alloc(b->mem, (size_t)n * sizeof *base);

	if (!base)
		return form_none(FORM_UNDECIDED);
	r.base = base;
	for (int i = 0; i < n; i++) {
		int64_t lo, hi, at = form_base(x, i);

		form_range_at(b, x, i, &lo, &hi);
		base[i] = at + wrapped(lo, bits, is_signed) - lo;
		if (wrapped(hi, bits, is_signed) - hi != wrapped(lo, bits, is_signed) - lo)
			return form_none(FORM_UNDECIDED);
	}
	return r;
}

struct form form_wrap(struct form_batch *b, const struct form *x, enum dtype dt)
{
	int bits = dt == DT_BOOL ? 1 : 8 * (int)dtype_size(dt);
	int is_signed = dtype_info(dt)->class == DTC_SINT;
	int64_t lo, hi, least, most;

	if (x->kind != FORM_INT)
		return *x;
	if (form_range(b, x, &lo, &hi))
		return form_none(FORM_UNDECIDED);
	if (bits == 64)
		return is_signed || lo >= 0 ? *x : form_none(FORM_UNDECIDED);
	least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
	most = least + (((int64_t)1 << bits) - 1);
	return lo >= least && hi <= most ? *x : wrap_instances(b, x, bits, is_signed);
}

/* --- bools -------------------------------------------------------------------------------- */

struct form form_below_zero(struct form_batch *b, const struct form *x)
{
	struct form *cond;

	if (x->kind != FORM_INT)
		return form_none(x->kind == FORM_NONE ? (enum form_why)x->why : FORM_UNDECIDED);
	cond = arena_alloc(b->mem, sizeof *cond);
	if (!cond)
		return form_none(FORM_UNDECIDED);
	*cond = *x;
	return (struct form){ .kind = FORM_BOOL, .memory = -1, .n_conds = 1, .cond = cond };
}

struct form form_and(struct form_batch *b, const struct form *x, const struct form *y)
{
	struct form r = { .kind = FORM_BOOL, .memory = -1 }, *cond;

	if (x->kind != FORM_BOOL || y->kind != FORM_BOOL)
		return none_of(x, y);
	if (x->n_conds + y->n_conds > FORM_CONDS)
		return form_none(FORM_UNDECIDED);
	r.n_conds = (uint8_t)(x->n_conds + y->n_conds);
	cond = arena_alloc(b->mem, (size_t)(r.n_conds + 1) * sizeof *cond);
	if (!cond)
		return form_none(FORM_UNDECIDED);
	memcpy(cond, x->cond, x->n_conds * sizeof *cond);
	memcpy(cond + x->n_conds, y->cond, y->n_conds * sizeof *cond);
	r.cond = cond;
	return r;
}

int form_is_plain_bool(const struct form *x)
{
	for (int k = 0; k < x->n_conds; k++)
		if (!form_is_plain(&x->cond[k]) || x->cond[k].loose)
			return 0;
	return x->kind == FORM_BOOL;
}

int form_holds(const struct form *x, int i)
{
	for (int k = 0; k < x->n_conds; k++)
		if (form_base(&x->cond[k], i) >= 0)
			return 0;
	return 1;
}

int form_always(const struct form_batch *b, const struct form *x)
{
	int always = 1;

	for (int k = 0; k < x->n_conds; k++) {
		int64_t lo, hi;

		if (form_range(b, &x->cond[k], &lo, &hi))
			return -1;
		if (lo >= 0)
			return 0;
		always &= hi < 0;
	}
	return always ? 1 : -1;
}

struct form form_bool(struct form_batch *b, const int64_t *v, int many)
{
	struct form x = { .kind = FORM_INT, .memory = -1, .many = (uint8_t)many };
	int64_t *base = arena_alloc(b->mem, (size_t)(many ? b->n : 1) * sizeof *base);

	if (!base)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < (many ? b->n : 1); i++)
		base[i] = v[i] ? -1 : 0;
	x.base = base;
	return form_below_zero(b, &x);
}

/* The negation of one condition x < 0 is -x - 1 < 0. Several conditions have one only if they depend on
 * nothing but the instance. */
struct form form_not(struct form_batch *b, const struct form *x)
{
	struct form less, r;
	int64_t *v;
	int always;

	if (x->kind != FORM_BOOL)
		return *x;
	if (x->n_conds == 1) {
		less = form_const(b, -1);
		r = form_add(b, &less, &x->cond[0], -1);
		return form_below_zero(b, &r);
	}
	always = form_always(b, x);
	v = arena_alloc(b->mem, (size_t)b->n * sizeof *v);
	if (!v || (always < 0 && !form_is_plain_bool(x)))
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < b->n; i++)
		v[i] = always < 0 ? !form_holds(x, i) : !always;
	return form_bool(b, v, 1);
}
