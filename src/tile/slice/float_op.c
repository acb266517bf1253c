/* Floats in closed form: see float_op.h.
 *
 * Three kinds of forms occur: a number for each instance, computed and rounded as on a GPU; numbers plus whole
 * multiples of the variables, if the type holds every value; bounds (form.loose). A quotient by a whole number is kept
 * (form.over) until it is cut to an integer: floor(x / c) in fp32 is the quotient of integers below 2^24, because
 * x / c lies at least 1 / c below the next whole number, which is more than rounding adds. */
#include "tile/slice/float_op.h"

#include <float.h>
#include <math.h>

#include "tile/slice/form_op.h"

/* --- types and numbers ------------------------------------------------------------------------------------ */

/* Binary digits of a whole number that the type holds. */
static int digits_of(enum dtype dt)
{
	switch (dt) {
	case DT_F64: return 53;
	case DT_F32: return 24;
	case DT_F16: return 11;
	case DT_BF16: return 8;
	case DT_F8E4M3: return 4;
	default: return 3;
	}
}

double float_rounded(enum dtype dt, double v)
{
	unsigned char raw[8];

	if (dt == DT_F64)
		return v;
	if (dt == DT_F32)
		return (double)(float)v;
	dtype_store(dt, raw, v);
	return dtype_load(dt, raw);
}

static double number_op(enum tile_op op, double a, double b, double c)
{
	switch (op) {
	case TOP_ADD: return a + b;
	case TOP_SUB: return a - b;
	case TOP_MUL: return a * b;
	case TOP_DIV: return a / b;
	case TOP_REM: return fmod(a, b);
	case TOP_MIN: return fmin(a, b);
	case TOP_MAX: return fmax(a, b);
	case TOP_FMA: return fma(a, b, c);
	case TOP_NEG: return -a;
	case TOP_ABS: return fabs(a);
	case TOP_FLOOR: return floor(a);
	case TOP_CEIL: return ceil(a);
	case TOP_TRUNC: return trunc(a);
	case TOP_RINT: return rint(a);
	case TOP_ROUND: return round(a);
	case TOP_SQRT: return sqrt(a);
	case TOP_RSQRT: return 1.0 / sqrt(a);
	case TOP_RCP: return 1.0 / a;
	case TOP_EXP: return exp(a);
	case TOP_EXP2: return exp2(a);
	case TOP_LOG: return log(a);
	case TOP_LOG2: return log2(a);
	case TOP_SIN: return sin(a);
	case TOP_COS: return cos(a);
	case TOP_TANH: return tanh(a);
	case TOP_ERF: return erf(a);
	case TOP_POW: return pow(a, b);
	case TOP_CAST: case TOP_MOV: return a;
	default: return NAN;
	}
}

/* Whether number_op knows the operation. */
static int is_known(enum tile_op op)
{
	return !isnan(number_op(op, 0.25, 0.5, 0.75));
}

/* Whether the operation gives whole numbers or one of its operands, so that nothing is rounded. */
static int keeps_digits(enum tile_op op)
{
	switch (op) {
	case TOP_MIN: case TOP_MAX: case TOP_NEG: case TOP_ABS: case TOP_FLOOR: case TOP_CEIL: case TOP_TRUNC:
	case TOP_RINT: case TOP_ROUND: case TOP_CAST: case TOP_MOV:
		return 1;
	default: return 0;
	}
}

/* Whether the operation cuts a value that is not negative to the whole number below. */
static int cuts(enum tile_op op)
{
	return op == TOP_FLOOR || op == TOP_TRUNC;
}

/* --- bounds ----------------------------------------------------------------------------------------------- */

/* The least and the greatest value over all instances and variables. Returns -1 if a value is no number. */
static int range_of(const struct form_batch *b, const struct form *x, double *lo, double *hi)
{
	double down = 0.0, up = 0.0, by = x->over ? (double)x->over : 1.0;

	if (x->loose) {
		*lo = x->f[0];
		*hi = x->f[1];
		return 0;
	}
	for (int k = 0; k < FORM_VARS; k++) {
		double most = (double)x->coef[k] * (double)MAX(b->extent[k] - 1, 0);

		down += fmin(most, 0.0);
		up += fmax(most, 0.0);
	}
	*lo = INFINITY;
	*hi = -INFINITY;
	for (int i = 0; i < (x->many ? b->n : 1); i++) {
		if (isnan(x->f[i]))
			return -1;
		*lo = fmin(*lo, (x->f[i] + down) / by);
		*hi = fmax(*hi, (x->f[i] + up) / by);
	}
	return 0;
}

/* A float between two bounds, of a type with this number of digits. */
static struct form between(struct form_batch *b, double lo, double hi, int digits)
{
	double *f = arena_alloc(b->mem, 2 * sizeof *f);

	if (!f || isnan(lo) || isnan(hi))
		return form_none(FORM_UNDECIDED);
	f[0] = lo;
	f[1] = hi;
	return (struct form){ .kind = FORM_FLOAT, .memory = -1, .loose = 1, .digits = (uint8_t)digits, .f = f };
}

/* The bounds of an operation. Each known one here is monotone in every operand, or its extremes lie at the ends
 * of the operands. */
static struct form bounds_op(struct form_batch *b, enum tile_op op, const struct form *src, int n_src, enum dtype dt)
{
	double v[3][2] = { { 0.0 } }, lo = INFINITY, hi = -INFINITY;
	int digits = 0, most = digits_of(dt);

	if (op == TOP_REM || op == TOP_RSQRT || op == TOP_RCP || op == TOP_SIN || op == TOP_COS || op == TOP_POW)
		return form_none(FORM_UNDECIDED);
	for (int k = 0; k < n_src; k++) {
		if (range_of(b, &src[k], &v[k][0], &v[k][1]))
			return form_none(FORM_UNDECIDED);
		digits = MAX(digits, src[k].loose ? src[k].digits : most);
	}
	if ((op == TOP_DIV && v[1][0] <= 0.0) || (op == TOP_ABS && v[0][0] < 0.0))
		return form_none(FORM_UNDECIDED);
	for (int at = 0; at < 8; at++) {
		double r = float_rounded(dt, number_op(op, v[0][at & 1], v[1][at >> 1 & 1], v[2][at >> 2]));

		if (isnan(r))
			return form_none(FORM_UNDECIDED);
		lo = fmin(lo, r);
		hi = fmax(hi, r);
	}
	return between(b, lo, hi, keeps_digits(op) ? MIN(digits, most) : most);
}

struct form float_either(struct form_batch *b, const struct form *x, const struct form *y)
{
	double lo, hi, from, to;

	if (range_of(b, x, &lo, &hi) || range_of(b, y, &from, &to))
		return form_none(FORM_UNDECIDED);
	return between(b, fmin(lo, from), fmax(hi, to),
		       MAX(x->loose ? x->digits : digits_of(DT_F64), y->loose ? y->digits : digits_of(DT_F64)));
}

/* --- exact forms ------------------------------------------------------------------------------------------ */

/* The exponent of the lowest binary digit: -1 for 2.5. */
static int lowest_digit(double v)
{
	int e;
	double m = frexp(v, &e);

	return v == 0.0 ? 1023 : e - 53 + __builtin_ctzll((uint64_t)fabs(ldexp(m, 53)));
}

/* Whether a type with this number of digits holds every value. A number is rounded by itself. */
static int is_held(const struct form_batch *b, const struct form *x, int digits)
{
	double lo, hi;
	int unit = 1023;

	if (range_of(b, x, &lo, &hi) || isinf(lo) || isinf(hi))
		return 0;
	for (int k = 0; k < FORM_VARS; k++)
		if (x->coef[k])
			unit = MIN(unit, __builtin_ctzll((uint64_t)x->coef[k]));
	for (int i = 0; i < (x->many ? b->n : 1); i++)
		unit = MIN(unit, lowest_digit(x->f[i]));
	return fmax(-lo, hi) <= ldexp(1.0, unit + digits);
}

/* The value as the type holds it. */
static struct form fit(struct form_batch *b, const struct form *x, enum dtype dt)
{
	double lo, hi, *f;
	struct form r = *x;
	int n = x->many ? b->n : 1;

	if (x->kind != FORM_FLOAT)
		return *x;
	if (!x->loose && !form_is_plain(x) && is_held(b, x, digits_of(dt)) && !range_of(b, x, &lo, &hi) &&
	    isfinite(float_rounded(dt, lo)) && isfinite(float_rounded(dt, hi)))
		return r;
	if (x->loose || !form_is_plain(x))
		return bounds_op(b, TOP_CAST, x, 1, dt);
	r.f = f = arena_alloc(b->mem, (size_t)n * sizeof *f);
	if (!f)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		f[i] = float_rounded(dt, x->f[i]);
	return r;
}

/* The same number in all instances. */
static int is_number(const struct form *x, double *v)
{
	if (x->many || x->loose || x->over || !form_is_plain(x) || !isfinite(x->f[0]))
		return 0;
	*v = x->f[0];
	return 1;
}

/* x * times + y * more, not rounded. Returns 0 on success. */
static int combine(struct form_batch *b, const struct form *x, double times, const struct form *y, double more,
		   struct form *r)
{
	int many = x->many || y->many, n = many ? b->n : 1;
	double *f = arena_alloc(b->mem, (size_t)n * sizeof *f);

	*r = (struct form){ .kind = FORM_FLOAT, .memory = -1, .many = (uint8_t)many, .f = f };
	if (!f || x->loose || y->loose || x->over || y->over)
		return 1;
	for (int k = 0; k < FORM_VARS; k++) {
		double coef = (double)x->coef[k] * times + (double)y->coef[k] * more;

		if (coef != trunc(coef) || fabs(coef) > ldexp(1.0, 52))
			return 1;
		r->coef[k] = (int64_t)coef;
	}
	for (int i = 0; i < n; i++)
		f[i] = form_float(x, i) * times + form_float(y, i) * more;
	return 0;
}

/* Whether all values are whole numbers. */
static int is_whole(const struct form_batch *b, const struct form *x)
{
	int whole = !x->loose && !x->over;

	for (int i = 0; i < (x->many ? b->n : 1) && whole; i++)
		whole = isfinite(x->f[i]) && x->f[i] == trunc(x->f[i]) && fabs(x->f[i]) < ldexp(1.0, 62);
	return whole;
}

/* Whole numbers as integers. */
static struct form as_int(struct form_batch *b, const struct form *x)
{
	int n = x->many ? b->n : 1;
	struct form r = *x;
	int64_t *base = arena_alloc(b->mem, (size_t)n * sizeof *base);

	if (!base)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		base[i] = (int64_t)x->f[i];
	r.kind = FORM_INT;
	r.base = base;
	r.f = NULL;
	r.over = 0;
	return r;
}

/* Integers as a float of unlimited precision. */
static struct form from_int(struct form_batch *b, const struct form *x)
{
	int n = x->many ? b->n : 1, digits = 0;
	struct form r = *x;
	int64_t lo, hi;
	double *f;

	if (form_range(b, x, &lo, &hi))
		return form_none(FORM_UNDECIDED);
	for (int k = FORM_LOOSE; k < FORM_VARS; k++)
		if (x->coef[k])
			digits = MAX(digits, b->digits[k] ? b->digits[k] : digits_of(DT_F64));
	if (x->loose)
		return between(b, (double)lo, (double)hi, digits);
	r.f = f = arena_alloc(b->mem, (size_t)n * sizeof *f);
	if (!f)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		f[i] = (double)x->base[i];
	r.kind = FORM_FLOAT;
	r.base = NULL;
	return r;
}

/* A quotient that was kept, cut to whole numbers: that of the integers. */
static struct form cut_quotient(struct form_batch *b, const struct form *x)
{
	struct form whole = as_int(b, x);

	return whole.kind == FORM_NONE ? whole : form_quotient(b, &whole, 0, x->over);
}

/* A quotient of whole numbers, kept until it is cut. Returns 0 on success. */
static int keep_quotient(const struct form_batch *b, const struct form *x, const struct form *y, enum dtype dt,
			 struct form *r)
{
	double by, lo, hi;

	if (!is_number(y, &by) || by < 1.0 || by != trunc(by) || by > ldexp(1.0, digits_of(dt)) || !is_whole(b, x) ||
	    form_is_plain(x) || range_of(b, x, &lo, &hi) || lo < 0.0 || hi >= ldexp(1.0, digits_of(dt)))
		return 1;
	*r = *x;
	r->over = (int64_t)by;
	return 0;
}

/* The result of an operation as an exact form, before it is rounded. Returns 0 on success. */
static int exact_op(struct form_batch *b, enum tile_op op, const struct form *src, enum dtype dt, struct form *r)
{
	struct form zero = form_const_float(b, 0.0), product;
	const struct form *x = &src[0], *y = &src[1];
	double v, lo, hi, from, to;

	if (zero.kind == FORM_NONE)
		return 1;
	switch (op) {
	case TOP_ADD: return combine(b, x, 1.0, y, 1.0, r);
	case TOP_SUB: return combine(b, x, 1.0, y, -1.0, r);
	case TOP_NEG: return combine(b, x, -1.0, &zero, 0.0, r);
	case TOP_CAST: case TOP_MOV: return combine(b, x, 1.0, &zero, 0.0, r);
	case TOP_MUL:
		return is_number(y, &v) ? combine(b, x, v, &zero, 0.0, r) :
			is_number(x, &v) ? combine(b, y, v, &zero, 0.0, r) : 1;
	case TOP_FMA: return exact_op(b, TOP_MUL, src, dt, &product) || combine(b, &product, 1.0, &src[2], 1.0, r);
	case TOP_DIV:
		if (is_number(y, &v) && frexp(v, &(int){ 0 }) == 0.5 && !combine(b, x, 1.0 / v, &zero, 0.0, r))
			return 0;
		return keep_quotient(b, x, y, dt, r);
	case TOP_FLOOR: case TOP_CEIL: case TOP_TRUNC: case TOP_RINT: case TOP_ROUND:
		return !is_whole(b, x) || combine(b, x, 1.0, &zero, 0.0, r);
	case TOP_MIN: case TOP_MAX:
		if (range_of(b, x, &lo, &hi) || range_of(b, y, &from, &to) || (hi > from && to > lo))
			return 1;
		return combine(b, (hi <= from) == (op == TOP_MIN) ? x : y, 1.0, &zero, 0.0, r);
	default: return 1;
	}
}

/* Numbers that depend on the instance only. */
static struct form plain_op(struct form_batch *b, enum tile_op op, const struct form *src, int n_src, enum dtype dt)
{
	struct form r = { .kind = FORM_FLOAT, .memory = -1 };
	double *f;
	int n;

	for (int k = 0; k < n_src; k++)
		r.many |= src[k].many;
	n = r.many ? b->n : 1;
	r.f = f = arena_alloc(b->mem, (size_t)n * sizeof *f);
	if (!f)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++) {
		double y = n_src > 1 ? form_float(&src[1], i) : 0.0, z = n_src > 2 ? form_float(&src[2], i) : 0.0;

		f[i] = float_rounded(dt, number_op(op, form_float(&src[0], i), y, z));
	}
	return r;
}

/* --- what form_op.c asks for ------------------------------------------------------------------------------ */

struct form float_op(struct form_batch *b, enum tile_op op, const struct form *src, int n_src, enum dtype dt)
{
	int plain = 1;
	struct form r;

	if (!is_known(op) || n_src > 3)
		return form_none(FORM_UNDECIDED);
	for (int k = 0; k < n_src; k++)
		plain &= form_is_plain(&src[k]) && !src[k].loose && !src[k].over;
	if (plain)
		return plain_op(b, op, src, n_src, dt);
	if (cuts(op) && src[0].over) {
		r = cut_quotient(b, &src[0]);
		return r.kind == FORM_NONE ? r : float_from(b, &r, dt);
	}
	if (exact_op(b, op, src, dt, &r))
		return bounds_op(b, op, src, n_src, dt);
	return r.over ? r : fit(b, &r, dt);
}

static int compare_numbers(enum tile_op op, double a, double b)
{
	switch (op) {
	case TOP_EQ: return a == b;
	case TOP_NE: return a != b;
	case TOP_LT: return a < b;
	case TOP_LE: return a <= b;
	case TOP_GT: return a > b;
	default: return a >= b;
	}
}

struct form float_compare(struct form_batch *b, enum tile_op op, const struct form *x, const struct form *y)
{
	int many = x->many || y->many, n = many ? b->n : 1;
	struct form two[2];
	int64_t *v;

	if (x->loose || y->loose || x->over || y->over)
		return form_none(FORM_UNDECIDED);
	if (!form_is_plain(x) || !form_is_plain(y)) {
		if (!is_whole(b, x) || !is_whole(b, y))
			return form_none(FORM_UNDECIDED);
		two[0] = as_int(b, x);
		two[1] = as_int(b, y);
		return two[0].kind == FORM_INT && two[1].kind == FORM_INT ? form_compare(b, op, &two[0], &two[1]) :
			form_none(FORM_UNDECIDED);
	}
	v = arena_alloc(b->mem, (size_t)n * sizeof *v);
	if (!v)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		v[i] = compare_numbers(op, form_float(x, i), form_float(y, i));
	return form_bool(b, v, many);
}

struct form float_from(struct form_batch *b, const struct form *x, enum dtype dt)
{
	struct form r = x->kind == FORM_INT ? from_int(b, x) : *x;

	return r.over ? bounds_op(b, TOP_CAST, &r, 1, dt) : fit(b, &r, dt);
}

struct form float_to_int(struct form_batch *b, const struct form *x, enum dtype dt)
{
	int bits = 8 * (int)dtype_size(dt), is_signed = dtype_info(dt)->class == DTC_SINT;
	double most = ldexp(1.0, MIN(bits - is_signed, 60)) - 1.0, least = is_signed ? -most - 1.0 : 0.0, lo, hi;
	int n = x->many ? b->n : 1, digits = x->loose ? x->digits : 0;
	struct form r = *x;
	int64_t *base;

	if (x->over)
		return cut_quotient(b, x);
	if (x->loose || !form_is_plain(x)) {
		if (range_of(b, x, &lo, &hi))
			return form_none(FORM_UNDECIDED);
		if (is_whole(b, x) && lo >= least && hi <= most)
			return as_int(b, x);
		return form_between_rounded(b, (int64_t)trunc(fmin(fmax(lo, least), most)),
					    (int64_t)trunc(fmin(fmax(hi, least), most)), digits);
	}
	r.base = base = arena_alloc(b->mem, (size_t)n * sizeof *base);
	if (!base)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < n; i++)
		base[i] = isnan(x->f[i]) ? 0 : (int64_t)trunc(fmin(fmax(x->f[i], least), most));
	r.kind = FORM_INT;
	r.f = NULL;
	return r;
}
