/* Instructions over forms: see form_op.h.
 *
 * Sums and products with numbers keep their form. A quotient or remainder of a tile needs no variable if the
 * quotient is the same in all lanes of an instance, or if the divisor divides the coefficients that
 * exceed it: (pid * 64 + lane) // 16 with a tile of [4, 16] lanes. Other integer operations have a form
 * for values that depend on the instance only; of tiles at least their bounds are kept. */
#include "tile/slice/form_op.h"

#include <string.h>

#include "tile/slice/float_op.h"

/* Everything that a function of one operation needs. */
struct operands {
	struct form_batch *b;
	const struct tile_insn *in;
	struct tile_type to, from;          /* types of the result and of the first operand */
	const struct form *v;
};

/* --- integers ----------------------------------------------------------------------------- */

/* An operation on two numbers, as Triton defines it. Division by zero gives 0: the machine reports it. */
static int64_t number_op(enum tile_op op, int64_t a, int64_t b)
{
	switch (op) {
	case TOP_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
	case TOP_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
	case TOP_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
	case TOP_DIV: return !b || (b == -1 && a == INT64_MIN) ? 0 : a / b;
	case TOP_REM: return !b || b == -1 ? 0 : a % b;
	case TOP_AND: return a & b;
	case TOP_OR: return a | b;
	case TOP_XOR: return a ^ b;
	case TOP_SHL: return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
	case TOP_SHR: return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
	case TOP_MIN: return MIN(a, b);
	case TOP_MAX: return MAX(a, b);
	default: return 0;
	}
}

/* Both operands depend on the instance only. */
static struct form plain_op(const struct operands *o, enum tile_op op)
{
	const struct form *x = &o->v[0], *y = &o->v[1];
	struct form r = { .kind = FORM_INT, .memory = -1, .many = x->many || y->many };
	int n = r.many ? o->b->n : 1;
	int64_t *base = arena_alloc(o->b->mem, (size_t)n * sizeof *base);

	if (!base)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		base[i] = number_op(op, form_base(x, i), form_base(y, i));
	r.base = base;
	return r;
}

/* The bounds of a quotient or remainder of a tile by a positive number. */
static struct form loose_quotient(struct form_batch *b, const struct form *x, int rem, int64_t by)
{
	int64_t lo, hi;

	if (form_range(b, x, &lo, &hi))
		return form_none(FORM_UNDECIDED);
	if (!rem)
		return form_between(b, lo / by, hi / by);
	return form_between(b, lo < 0 ? -MIN(-lo, by - 1) : 0, hi < 0 ? 0 : MIN(hi, by - 1));
}

/* Splits x = by * whole + part, where `part` has all coefficients that `by` does not divide. Succeeds
 * if part lies in [0, by) in every instance. */
static int split(struct form_batch *b, const struct form *x, int64_t by, struct form *whole, struct form *part)
{
	int n = x->many ? b->n : 1;
	int64_t *up = arena_alloc(b->mem, (size_t)n * sizeof *up), *rest, lo, hi;

	rest = arena_alloc(b->mem, (size_t)n * sizeof *rest);
	if (!up || !rest)
		return 0;
	*whole = *part = *x;
	for (int k = 0; k < FORM_VARS; k++) {
		int divides = x->coef[k] % by == 0;

		whole->coef[k] = divides ? x->coef[k] / by : 0;
		part->coef[k] = divides ? 0 : x->coef[k];
	}
	for (int i = 0; i < n; i++) {
		int64_t at = form_base(x, i), down;

		part->base = &at;
		part->many = 0;
		form_range_at(b, part, 0, &down, &hi);
		/* towards negative infinity; the caller has excluded negative values of x */
		up[i] = down >= 0 ? down / by : -((by - 1 - down) / by);
		rest[i] = at - up[i] * by;
	}
	part->many = whole->many = x->many;
	part->base = rest;
	whole->base = up;
	return !form_range(b, part, &lo, &hi) && lo >= 0 && hi < by;
}

struct form form_quotient(struct form_batch *b, const struct form *x, int rem, int64_t by)
{
	struct form whole, part;
	int64_t lo, hi;

	if (by <= 0 || form_range(b, x, &lo, &hi))
		return form_none(FORM_UNDECIDED);
	if (lo < 0 || x->loose)
		return loose_quotient(b, x, rem, by);
	if (split(b, x, by, &whole, &part))
		return rem ? part : whole;
	whole = form_divide(b, x, by);
	if (whole.kind == FORM_NONE)
		return loose_quotient(b, x, rem, by);
	return rem ? form_add(b, x, &whole, -by) : whole;
}

/* A minimum or maximum of tiles: one of the two if the ranges decide it, else the bounds. */
static struct form extreme(const struct operands *o, int max)
{
	int64_t alo, ahi, blo, bhi;

	if (form_range(o->b, &o->v[0], &alo, &ahi) || form_range(o->b, &o->v[1], &blo, &bhi))
		return form_none(FORM_UNDECIDED);
	if (ahi <= blo)
		return o->v[max ? 1 : 0];
	if (bhi <= alo)
		return o->v[max ? 0 : 1];
	return max ? form_between(o->b, MAX(alo, blo), MAX(ahi, bhi)) :
		form_between(o->b, MIN(alo, blo), MIN(ahi, bhi));
}

/* A product with a number. The product of two tiles has bounds only. */
static struct form product(const struct operands *o)
{
	int64_t v, lo, hi, from, to;

	if (form_is_number(&o->v[0], &v))
		return form_scale(o->b, &o->v[1], v);
	if (form_is_number(&o->v[1], &v))
		return form_scale(o->b, &o->v[0], v);
	if (form_range(o->b, &o->v[0], &lo, &hi) || form_range(o->b, &o->v[1], &from, &to) ||
	    lo < 0 || from < 0 || ck_mul64(hi, to, &hi))
		return form_none(FORM_UNDECIDED);
	return form_between(o->b, lo * from, hi);
}

/* Bitwise operations and shifts of a tile by a number, as the arithmetic that they are. */
static struct form bitwise(const struct operands *o, int64_t by)
{
	int64_t lo, hi;

	if (form_range(o->b, &o->v[0], &lo, &hi))
		return form_none(FORM_UNDECIDED);
	switch (o->in->op) {
	case TOP_SHL: return by < 62 ? form_scale(o->b, &o->v[0], (int64_t)1 << by) : form_none(FORM_UNDECIDED);
	case TOP_SHR:
		return lo >= 0 && by < 62 ? form_quotient(o->b, &o->v[0], 0, (int64_t)1 << by) :
			form_none(FORM_UNDECIDED);
	case TOP_AND:
		if (lo >= 0 && by < INT64_MAX && !(by & (by + 1)))
			return form_quotient(o->b, &o->v[0], 1, by + 1);
		return form_between(o->b, 0, by);
	default: return form_none(FORM_UNDECIDED);
	}
}

/* Two integers of any form. */
static struct form int_op(const struct operands *o)
{
	const struct form *x = &o->v[0], *y = &o->v[1];
	int plain = form_is_plain(x) && form_is_plain(y) && !x->loose && !y->loose;
	int64_t by;

	if (plain && o->in->op != TOP_ADD && o->in->op != TOP_SUB)
		return plain_op(o, (enum tile_op)o->in->op);
	switch (o->in->op) {
	case TOP_ADD: return form_add(o->b, x, y, 1);
	case TOP_SUB: return form_add(o->b, x, y, -1);
	case TOP_MUL: return product(o);
	case TOP_MIN: case TOP_MAX: return extreme(o, o->in->op == TOP_MAX);
	case TOP_DIV: case TOP_REM:
		return form_is_number(y, &by) ? form_quotient(o->b, x, o->in->op == TOP_REM, by) :
			form_none(FORM_UNDECIDED);
	case TOP_AND: case TOP_SHL: case TOP_SHR:
		return form_is_number(y, &by) && by >= 0 ? bitwise(o, by) : form_none(FORM_UNDECIDED);
	default: return form_none(FORM_UNDECIDED);
	}
}

/* --- comparisons, choices, casts ------------------------------------------------------------------ */

/* Whether two integers that depend on the instance only are equal, or differ. */
static struct form compare_numbers(struct form_batch *b, int equal, const struct form *x, const struct form *y)
{
	int many = x->many || y->many, n = many ? b->n : 1;
	int64_t *v = arena_alloc(b->mem, (size_t)n * sizeof *v);

	if (!v)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		v[i] = (form_base(x, i) == form_base(y, i)) == equal;
	return form_bool(b, v, many);
}

/* a < b is a - b < 0, a <= b is a - b - 1 < 0. */
struct form form_compare(struct form_batch *b, enum tile_op op, const struct form *x, const struct form *y)
{
	int or_equal = op == TOP_LE || op == TOP_GE, turned = op == TOP_GT || op == TOP_GE;
	struct form d, one, c, e;

	if (x->kind == FORM_FLOAT && y->kind == FORM_FLOAT)
		return float_compare(b, op, x, y);
	if (x->kind != FORM_INT || y->kind != FORM_INT || x->memory >= 0)
		return form_none(FORM_UNDECIDED);
	one = form_const(b, 1);
	if (op != TOP_EQ && op != TOP_NE) {
		d = turned ? form_add(b, y, x, -1) : form_add(b, x, y, -1);
		d = or_equal ? form_add(b, &d, &one, -1) : d;
		return form_below_zero(b, &d);
	}
	if (form_is_plain(x) && form_is_plain(y) && !x->loose && !y->loose)
		return compare_numbers(b, op == TOP_EQ, x, y);
	/* x == y: x - y - 1 < 0 and y - x - 1 < 0 */
	d = form_add(b, x, y, -1);
	c = form_add(b, &d, &one, -1);
	d = form_add(b, y, x, -1);
	d = form_add(b, &d, &one, -1);
	e = form_below_zero(b, &d);
	c = form_below_zero(b, &c);
	e = form_and(b, &c, &e);
	return op == TOP_EQ ? e : form_not(b, &e);
}

/* Chooses in each instance. Both values must have the same coefficients. */
static struct form select_instances(struct form_batch *b, const struct form *c, const struct form *x,
				    const struct form *y)
{
	struct form r = *x;
	int64_t *v = arena_alloc(b->mem, (size_t)b->n * sizeof *v);

	if (!v)
		return form_none(FORM_UNDECIDED);
	r.many = 1;
	for (int i = 0; i < b->n; i++) {
		int holds = form_holds(c, i);
		double f;

		if (x->kind == FORM_INT) {
			v[i] = form_base(holds ? x : y, i);
		} else {
			f = form_float(holds ? x : y, i);
			memcpy(&v[i], &f, sizeof f);
		}
	}
	r.base = v;
	r.f = (const double *)v;
	return r;
}

struct form form_select(struct form_batch *b, const struct form *c, const struct form *x, const struct form *y)
{
	int64_t lo, hi, from, to;
	int always;

	if (form_same(b, x, y))
		return *x;
	if (c->kind != FORM_BOOL)
		return form_none(c->kind == FORM_NONE ? (enum form_why)c->why : FORM_UNDECIDED);
	always = form_always(b, c);
	if (always >= 0)
		return always ? *x : *y;
	if (x->kind == FORM_NONE || y->kind == FORM_NONE)
		return form_none((enum form_why)(x->kind == FORM_NONE ? x->why : y->why));
	if (form_is_plain_bool(c) && x->kind == y->kind && x->kind != FORM_BOOL && x->memory == y->memory &&
	    x->over == y->over && !(x->kind == FORM_FLOAT && (x->loose || y->loose)) &&
	    !memcmp(x->coef, y->coef, sizeof x->coef))
		return select_instances(b, c, x, y);
	if (x->kind == FORM_FLOAT && y->kind == FORM_FLOAT)
		return float_either(b, x, y);
	if (x->kind != FORM_INT || y->kind != FORM_INT || x->memory >= 0 || y->memory >= 0 ||
	    form_range(b, x, &lo, &hi) || form_range(b, y, &from, &to))
		return form_none(FORM_UNDECIDED);
	return form_between(b, MIN(lo, from), MAX(hi, to));
}

/* The numbers 0 and 1 of a bool. */
static struct form bool_numbers(struct form_batch *b, const struct form *x)
{
	struct form one = form_const(b, 1), zero = form_const(b, 0);

	return form_select(b, x, &one, &zero);
}

static struct form cast(const struct operands *o)
{
	enum dtype to = (enum dtype)o->to.dt;
	struct form x = o->v[0], zero;

	if (o->to.ptr || o->from.ptr)
		return o->to.ptr && o->from.ptr ? x : form_none(FORM_UNDECIDED);
	if (x.kind == FORM_BOOL && to != DT_BOOL)
		x = bool_numbers(o->b, &x);
	if (dtype_is_float(to))
		return x.kind == FORM_INT || x.kind == FORM_FLOAT ? float_from(o->b, &x, to) :
			form_none(FORM_UNDECIDED);
	if (to == DT_BOOL && x.kind == FORM_INT) {
		zero = form_const(o->b, 0);
		return form_compare(o->b, TOP_NE, &x, &zero);
	}
	return x.kind == FORM_FLOAT ? float_to_int(o->b, &x, to) : x;
}

/* --- shape ---------------------------------------------------------------------------------------- */

/* The coefficients of the tile's dimensions, moved: dimension d of the result is dimension from[d] of the
 * operand; -1: a new one. */
static struct form move_dims(const struct operands *o, const struct form *x, const int *from)
{
	struct form r = *x;

	for (int d = 0; d < TILE_DIMS; d++)
		r.coef[d] = d < o->to.ndim && from[d] >= 0 ? x->coef[from[d]] : 0;
	return r;
}

/* Row-major order: the result's dimensions are digits of the operand's index or the other way round. Both
 * must go without a remainder into each other, dimension by dimension from the last one. */
static struct form reshape(const struct operands *o, const struct form *x)
{
	struct form r = *x;
	int from = o->from.ndim - 1;
	int64_t step = 1;               /* lanes of dimension `from` that the result's dimensions have used */

	memset(r.coef, 0, TILE_DIMS * sizeof *r.coef);
	for (int d = o->to.ndim - 1; d >= 0; d--) {
		int64_t lanes = o->to.shape[d], taken = 1, coef = 0;

		while (taken < lanes && from >= 0) {
			int64_t left = o->from.shape[from] / step, use = MIN(left, lanes / taken);

			if (use > 1 && taken > 1 && x->coef[from] * step != coef * taken)
				return form_none(FORM_UNDECIDED);
			coef = use > 1 && taken == 1 ? x->coef[from] * step : coef;
			taken *= use;
			step *= use;
			if (step == o->from.shape[from]) {
				from--;
				step = 1;
			}
		}
		r.coef[d] = coef;
	}
	return r;
}

/* The coefficients of the tile's dimensions through a change of shape. */
static struct form move_lanes(const struct operands *o, const struct form *x)
{
	int from[TILE_DIMS];

	switch (o->in->op) {
	case TOP_EXPAND_DIMS:
		for (int d = 0; d < TILE_DIMS; d++)
			from[d] = d == o->in->imm ? -1 : d > o->in->imm ? d - 1 : d;
		return move_dims(o, x, from);
	case TOP_PERMUTE:
		for (int d = 0; d < TILE_DIMS; d++)
			from[d] = d < o->to.ndim ? o->in->attr[d] : -1;
		return move_dims(o, x, from);
	case TOP_RESHAPE: return reshape(o, x);
	default: return *x;
	}
}

/* Whether each lane of the operand keeps its place. */
static int keeps_lanes(const struct operands *o)
{
	return o->in->op == TOP_SPLAT || o->in->op == TOP_BROADCAST ||
		(o->in->op == TOP_EXPAND_DIMS && o->in->imm >= o->from.ndim);
}

/* One form through a change of shape. A quotient is that of the moved dividend. A loose value gets a new variable,
 * because x[:, None] - x[None, :] is not 0. */
static struct form shape_one(const struct operands *o, const struct form *x)
{
	struct form r = move_lanes(o, x), value;

	for (int k = FORM_LOOSE; k < FORM_VARS && r.kind == x->kind && x->kind == FORM_INT && !keeps_lanes(o); k++) {
		if (!x->coef[k])
			continue;
		if (o->b->of[k]) {
			value = shape_one(o, o->b->of[k]);
			value = value.kind == FORM_INT ? form_divide(o->b, &value, o->b->by[k]) : value;
		} else {
			value = form_between_rounded(o->b, o->b->first[k], o->b->first[k] + o->b->extent[k] - 1,
						     o->b->digits[k]);
		}
		if (value.kind != FORM_INT)
			return form_none(FORM_UNDECIDED);
		r = form_replace(o->b, &r, k, &value);
	}
	return r;
}

/* Every condition of a bool changes its shape. */
static struct form shape(const struct operands *o)
{
	struct form r = o->v[0], *cond;

	if (r.kind == FORM_FLOAT && !r.loose && form_has_quotients(&r) && !keeps_lanes(o))
		return form_none(FORM_UNDECIDED);
	if (r.kind == FORM_INT || (r.kind == FORM_FLOAT && !r.loose))
		return shape_one(o, &r);
	if (r.kind != FORM_BOOL)
		return r;
	cond = arena_alloc(o->b->mem, (size_t)(r.n_conds + 1) * sizeof *cond);
	if (!cond)
		return form_none(FORM_UNDECIDED);
	for (int k = 0; k < r.n_conds; k++) {
		cond[k] = shape_one(o, &o->v[0].cond[k]);
		if (cond[k].kind != FORM_INT)
			return form_none(FORM_UNDECIDED);
	}
	r.cond = cond;
	return r;
}

/* --- all of it ------------------------------------------------------------------------------------ */

/* And, or, xor, not of bools. */
static struct form bool_op(const struct operands *o)
{
	struct form x, y, r;

	switch (o->in->op) {
	case TOP_AND: return form_and(o->b, &o->v[0], &o->v[1]);
	case TOP_NOT: return form_not(o->b, &o->v[0]);
	case TOP_OR:
		x = form_not(o->b, &o->v[0]);
		y = form_not(o->b, &o->v[1]);
		r = form_and(o->b, &x, &y);
		return form_not(o->b, &r);
	default:
		return form_none(FORM_UNDECIDED);
	}
}

/* Pointers count bytes. */
static struct form add_pointer(const struct operands *o)
{
	struct form r = form_add(o->b, &o->v[0], &o->v[1], dtype_size((enum dtype)o->to.dt));

	r.memory = o->v[0].memory;
	return r;
}

static struct form one_operand(const struct operands *o)
{
	struct form zero = form_const(o->b, 0), minus;
	struct form x[2] = { o->v[0], form_add(o->b, &zero, &o->v[0], -1) };
	struct operands p = *o;

	switch (o->in->op) {
	case TOP_NEG: return x[1];
	case TOP_NOT:
		minus = form_const(o->b, -1);
		return form_add(o->b, &minus, &o->v[0], -1);
	case TOP_ABS: {
		struct tile_insn max = { .op = TOP_MAX, .n_src = 2 };

		p.in = &max;
		p.v = x;
		return int_op(&p);
	}
	default: return form_none(FORM_UNDECIDED);
	}
}

/* Operations on numbers: floats, bools, then integers with the wrap-around of their type. */
static struct form arithmetic(const struct operands *o)
{
	int kind = o->v[0].kind;
	struct form r;

	for (int k = 1; k < o->in->n_src; k++)
		if (o->v[k].kind != kind)
			return form_none(FORM_UNDECIDED);
	if (kind == FORM_FLOAT)
		return float_op(o->b, (enum tile_op)o->in->op, o->v, o->in->n_src, (enum dtype)o->to.dt);
	if (kind == FORM_BOOL)
		return bool_op(o);
	r = o->in->n_src == 1 ? one_operand(o) : o->in->n_src == 2 ? int_op(o) : form_none(FORM_UNDECIDED);
	return form_wrap(o->b, &r, (enum dtype)o->to.dt);
}

/* The first operand without a form decides; contents come before the rest. */
static int lacking(const struct tile_insn *in, const struct form *src, struct form *r)
{
	int none = 0;

	*r = form_none(FORM_UNDECIDED);
	for (int k = 0; k < in->n_src; k++)
		if (src[k].kind == FORM_NONE) {
			none = 1;
			r->why = (uint8_t)MIN(r->why, src[k].why);
		}
	return none;
}

static struct form result(struct form_batch *b, const struct tile_code *code, const struct tile_insn *in,
			  const struct form *src)
{
	struct operands o = { .b = b, .in = in, .to = code->regs[tile_dst(in, 0)], .v = src };
	struct form r;

	if (in->n_dst != 1)
		return form_none(FORM_UNDECIDED);
	if (in->op != TOP_SELECT && lacking(in, src, &r)) {
		/* an unknown place in a tensor that is known */
		r.memory = o.to.ptr ? src[0].memory : -1;
		return r;
	}
	form_lanes(b, o.to);
	o.from = in->n_src ? code->regs[tile_src(in, 0)] : o.to;
	switch (in->op) {
	case TOP_CONST:
		return o.to.ptr ? form_none(FORM_UNDECIDED) : dtype_is_float((enum dtype)o.to.dt) ?
			form_const_float(b, float_rounded((enum dtype)o.to.dt, in->fimm)) :
			o.to.dt == DT_BOOL ? form_bool(b, &in->imm, 0) : form_const(b, in->imm);
	case TOP_ARANGE:
		r = form_const(b, in->imm);
		r.coef[0] = o.to.shape[0] > 1;
		return r;
	case TOP_MOV: return src[0];
	case TOP_SPLAT: case TOP_BROADCAST: case TOP_EXPAND_DIMS: case TOP_RESHAPE: case TOP_PERMUTE:
		return shape(&o);
	case TOP_CAST:
		r = cast(&o);
		return o.to.ptr ? r : form_wrap(b, &r, (enum dtype)o.to.dt);
	case TOP_ADDPTR: return add_pointer(&o);
	case TOP_EQ: case TOP_NE: case TOP_LT: case TOP_LE: case TOP_GT: case TOP_GE:
		return form_compare(b, (enum tile_op)in->op, &src[0], &src[1]);
	case TOP_SELECT: return form_select(b, &src[0], &src[1], &src[2]);
	default: return arithmetic(&o);
	}
}

struct form form_op(struct form_batch *b, const struct tile_code *code, const struct tile_insn *in,
		    const struct form *src)
{
	struct form r = result(b, code, in, src);

	for (int k = 0; r.kind == FORM_NONE && k < in->n_src; k++)
		r.rounded |= (uint8_t)form_is_rounded(b, &src[k]);
	return r;
}
