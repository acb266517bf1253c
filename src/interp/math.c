/* The math module, and a few internal helpers of functools and numpy in the prelude.
 *
 * Results must agree with CPython's to the last bit, because a program may branch on them.
 * Functions for which the C library differs from CPython (gamma, hypot) are reimplemented or
 * refused. */
#include <math.h>

#include "interp/scalar.h"
#include "interp/big.h"
#include "interp/fail.h"
#include "interp/iter.h"
#include "interp/operator.h"
#include "interp/state.h"

/* CPython's ValueError of math.sqrt(-1). */
static int domain(struct bind *b)
{
	return bind_raise(b, EXC_ValueError, "math domain error");
}

/* One-argument functions: name, C expression of x, condition for x outside the domain. A result
 * that overflows is an OverflowError. */
#define FN1(name, expr, bad) \
	static int m_##name(struct bind *b) \
	{ \
		double x, r; \
		if (bind_float(b, 0, &x)) \
			return -1; \
		if (bad) \
			return domain(b); \
		r = expr; \
		if (isinf(r) && isfinite(x)) \
			return bind_raise(b, EXC_OverflowError, "math range error"); \
		b->out = val_float(r); \
		return 0; \
	}
#define FN1_LIST \
	FN1(sqrt, sqrt(x), x < 0) FN1(exp, exp(x), 0) FN1(exp2, exp2(x), 0) FN1(expm1, expm1(x), 0) \
	FN1(log1p, log1p(x), x <= -1) \
	FN1(sin, sin(x), isinf(x)) FN1(cos, cos(x), isinf(x)) FN1(tan, tan(x), isinf(x)) \
	FN1(asin, asin(x), fabs(x) > 1) FN1(acos, acos(x), fabs(x) > 1) FN1(atan, atan(x), 0) \
	FN1(sinh, sinh(x), 0) FN1(cosh, cosh(x), 0) FN1(tanh, tanh(x), 0) \
	FN1(asinh, asinh(x), 0) FN1(acosh, acosh(x), x < 1) FN1(atanh, atanh(x), fabs(x) >= 1) \
	FN1(erf, erf(x), 0) FN1(erfc, erfc(x), 0) FN1(fabs, fabs(x), 0) \
	FN1(degrees, x * (180.0 / 3.14159265358979323846), 0) FN1(radians, x * (3.14159265358979323846 / 180.0), 0) \
	FN1(cbrt, cbrt(x), 0)
FN1_LIST

/* The argument of a logarithm may be an integer of any size. One beyond every double is refused
 * here; CPython computes it. */
static int log_arg(struct bind *b, double *x)
{
	if (b->a[0].kind == V_BIG && isinf(big_to_double(b->a[0])))
		return b->a[0].u.big->neg ? domain(b) :
			bind_unsupported(b, "the logarithm of an integer beyond the range of floats is not supported");
	if (bind_float(b, 0, x))
		return -1;
	return *x <= 0 ? domain(b) : 0;
}

/* log2 and log10 of the argument. */
static int log_by(struct bind *b, double (*fn)(double))
{
	double x;

	if (log_arg(b, &x))
		return -1;
	b->out = val_float(fn(x));
	return 0;
}

static int m_log2(struct bind *b) { return log_by(b, log2); }
static int m_log10(struct bind *b) { return log_by(b, log10); }

/* CPython has its own gamma function, whose last bits differ from the C library's. Only
 * integers up to 23, where both are exact, are computed. */
static int m_gamma(struct bind *b)
{
	double x;

	if (bind_float(b, 0, &x))
		return -1;
	if (isinf(x) ? x < 0 : x <= 0 && x == floor(x))
		return domain(b);
	if (isfinite(x) && (x > 23 || x != floor(x)))
		return bind_unsupported(b, "math.gamma() of anything but integers up to 23 is not supported");
	b->out = val_float(tgamma(x));
	return 0;
}

/* Only the arguments with the exact results 0 and infinity. */
static int m_lgamma(struct bind *b)
{
	double x;

	if (bind_float(b, 0, &x))
		return -1;
	if (isfinite(x) && x <= 0 && x == floor(x))
		return domain(b);
	if (isfinite(x) && x != 1 && x != 2)
		return bind_unsupported(b, "math.lgamma() of anything but 1 and 2 is not supported");
	b->out = val_float(lgamma(x));
	return 0;
}

/* math.log(x[, base]): a quotient of two logarithms, as CPython has it. */
static int m_log(struct bind *b)
{
	double x, base, r;

	if (log_arg(b, &x))
		return -1;
	r = log(x);
	if (bind_given(b, 1)) {
		if (bind_float(b, 1, &base))
			return -1;
		if (base <= 0)
			return domain(b);
		if (base == 1)
			return bind_raise(b, EXC_ZeroDivisionError, "float division by zero");
		r /= log(base);
	}
	b->out = val_float(r);
	return 0;
}

/* The two float arguments of a function. */
static int two(struct bind *b, double *x, double *y)
{
	return bind_float(b, 0, x) || bind_float(b, 1, y) ? -1 : 0;
}

/* math.pow: always in floats, unlike **. */
static int m_pow(struct bind *b)
{
	double x, y, r;

	if (two(b, &x, &y))
		return -1;
	if ((x == 0 && y < 0) || (x < 0 && isfinite(y) && y != floor(y)))
		return domain(b);
	r = pow(x, y);
	if (isinf(r) && isfinite(x) && isfinite(y))
		return bind_raise(b, EXC_OverflowError, "math range error");
	b->out = val_float(r);
	return 0;
}

/* Two-argument functions: NaN without a NaN argument is a domain error. */
#define FN2(name, expr) \
	static int m_##name(struct bind *b) \
	{ \
		double x, y, r; \
		if (two(b, &x, &y)) \
			return -1; \
		r = expr; \
		if (isnan(r) && !isnan(x) && !isnan(y)) \
			return domain(b); \
		b->out = val_float(r); \
		return 0; \
	}
FN2(atan2, atan2(x, y))
FN2(copysign, copysign(x, y))
FN2(fmod, fmod(x, y))
FN2(remainder, remainder(x, y))
FN2(nextafter, nextafter(x, y))

/* A sum of squares with the rounding errors of each addition. `sum` starts at 1, so it is
 * always the larger operand and the error formula is exact. */
struct squares { double sum, lost[3]; };

/* Adds x and collects the rounding error in lost[i]. */
static void add_lost(struct squares *s, int i, double x)
{
	double old = s->sum;

	s->sum += x;
	s->lost[i] += (old - s->sum) + x;
}

/* Adds sign * x * x. x is split in two halves of 27 bits whose products are exact (Veltkamp). */
static void add_square(struct squares *s, double x, double sign)
{
	double t = x * 134217729.0, hi = t - (t - x), lo = x - hi;

	add_lost(s, 0, sign * hi * hi);
	add_lost(s, 1, sign * 2.0 * hi * lo);
	if (sign < 0)
		add_lost(s, 2, sign * lo * lo);
	else
		s->lost[2] += lo * lo;
}

/* The sum of squares with all errors added, without the 1 it started from. */
static double squares_total(const struct squares *s)
{
	return s->sum - 1.0 + (s->lost[0] + s->lost[1] + s->lost[2]);
}

/* The Euclidean norm as CPython computes it, to the last bit: scaled by a power of two, summed
 * with errors, square root corrected by one step. The C library's hypot rounds at every step. */
static double norm(const struct val *v, size_t n, double most)
{
	struct squares s = { .sum = 1 };
	double scale, h;
	int e;

	frexp(most, &e);
	scale = ldexp(1.0, -e);
	for (size_t i = 0; i < n; i++)
		add_square(&s, fabs(val_as_double(v[i])) * scale, 1);
	h = sqrt(squares_total(&s));
	add_square(&s, h, -1);
	return (h + squares_total(&s) / (2.0 * h)) / scale;
}

/* math.hypot(*coordinates). Infinity wins over NaN. */
static int m_hypot(struct bind *b)
{
	const struct val *v = b->a[0].u.seq->v;
	double most = 0;
	int nan = 0, inf = 0;

	for (size_t i = 0; i < b->a[0].u.seq->n; i++) {
		double x;
		if (!val_is_number(v[i]))
			return bind_raise(b, EXC_TypeError, "must be real number, not %s", val_type_name(b->h, v[i]));
		x = fabs(val_as_double(v[i]));
		nan |= isnan(x);
		inf |= isinf(x);
		most = x > most ? x : most;
	}
	if (most > 0 && most < 1e-300)
		return bind_unsupported(b, "math.hypot() of numbers below 1e-300 is not supported");
	b->out = val_float(inf ? INFINITY : nan ? NAN : most == 0 || b->a[0].u.seq->n == 1 ? most :
			   norm(v, b->a[0].u.seq->n, most));
	return 0;
}

/* floor, ceil and trunc: integers stay unchanged, floats become exact integers. */
static int to_int(struct bind *b, double (*fn)(double))
{
	double x;
	if (b->a[0].kind == V_INT || b->a[0].kind == V_BIG || b->a[0].kind == V_BOOL) {
		b->out = b->a[0].kind == V_BOOL ? val_int(b->a[0].u.i) : b->a[0];
		return 0;
	}
	if (bind_float(b, 0, &x))
		return -1;
	if (!isfinite(x))
		return bind_raise(b, isnan(x) ? EXC_ValueError : EXC_OverflowError,
				  "cannot convert float %s to integer", isnan(x) ? "NaN" : "infinity");
	return big_from_double(b->h, fn(x), &b->out);
}

static int m_floor(struct bind *b) { return to_int(b, floor); }
static int m_ceil(struct bind *b) { return to_int(b, ceil); }
static int m_trunc(struct bind *b) { return to_int(b, trunc); }

/* The result is false on failure, too; the pending exception decides the return value. */
static int m_isnan(struct bind *b)
{
	double x;
	b->out = val_bool(!bind_float(b, 0, &x) && isnan(x));
	return b->h->fail.exc.kind == V_UNSET ? 0 : -1;
}

static int m_isinf(struct bind *b)
{
	double x;
	b->out = val_bool(!bind_float(b, 0, &x) && isinf(x));
	return b->h->fail.exc.kind == V_UNSET ? 0 : -1;
}

static int m_isfinite(struct bind *b)
{
	double x;
	b->out = val_bool(!bind_float(b, 0, &x) && isfinite(x));
	return b->h->fail.exc.kind == V_UNSET ? 0 : -1;
}

/* x - y| <= max(rel * max(|x|, |y|), abs). */
static int m_isclose(struct bind *b)
{
	double x, y, rel, abs_tol;
	if (two(b, &x, &y) || bind_float(b, 2, &rel) || bind_float(b, 3, &abs_tol))
		return -1;
	b->out = val_bool(x == y || (isfinite(x) && isfinite(y) &&
				     fabs(x - y) <= fmax(rel * fmax(fabs(x), fabs(y)), abs_tol)));
	return 0;
}

/* v| as unsigned: right for INT64_MIN too. */
static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Euclid's algorithm. */
static uint64_t gcd_of(uint64_t x, uint64_t y)
{
	while (y) {
		uint64_t rest = x % y;

		x = y;
		y = rest;
	}
	return x;
}

/* gcd(*integers). Only gcd(INT64_MIN) exceeds int64. */
static int m_gcd(struct bind *b)
{
	uint64_t acc = 0;

	for (size_t i = 0; i < b->a[0].u.seq->n; i++) {
		int64_t v;

		if (val_as_int(b->h, b->a[0].u.seq->v[i], &v))
			return -1;
		acc = gcd_of(acc, magnitude(v));
	}
	if (acc > INT64_MAX)
		return bind_unsupported(b, "gcd() beyond 64 bits is not supported");
	b->out = val_int((int64_t)acc);
	return 0;
}

/* The accumulated product may become a big int; then a further factor is refused. */
static int m_lcm(struct bind *b)
{
	struct val acc = val_int(1);

	for (size_t i = 0; i < b->a[0].u.seq->n; i++) {
		int64_t v;
		uint64_t rest;

		if (val_as_int(b->h, b->a[0].u.seq->v[i], &v))
			return -1;
		if (!v) {
			acc = val_int(0);
			break;
		}
		rest = acc.kind == V_INT ? magnitude(v) / gcd_of(magnitude(v), (uint64_t)acc.u.i) : UINT64_MAX;
		if (rest > INT64_MAX)
			return bind_unsupported(b, "lcm() beyond 64 bits is not supported");
		if (pynum_binary(b->h, PY_OP_Mult, acc, val_int((int64_t)rest), &acc))
			return -1;
	}
	b->out = acc;
	return 0;
}

/* Each factor costs a step of fuel. */
static int m_factorial(struct bind *b)
{
	int64_t n;
	if (bind_int(b, 0, &n))
		return -1;
	if (n < 0)
		return bind_raise(b, EXC_ValueError, "factorial() not defined for negative values");
	b->out = val_int(1);
	for (int64_t i = 2; i <= n; i++)
		if (host_step(b->h) || pynum_binary(b->h, PY_OP_Mult, b->out, val_int(i), &b->out))
			return -1;
	return 0;
}

/* n over k: alternating multiplication and exact division keep intermediate values small. */
static int m_comb(struct bind *b)
{
	int64_t n, k;
	if (bind_int(b, 0, &n) || bind_int(b, 1, &k))
		return -1;
	if (n < 0 || k < 0)
		return bind_raise(b, EXC_ValueError, "n must be a non-negative integer");
	b->out = val_int(k > n ? 0 : 1);
	for (int64_t i = 1; i <= MIN(k, n - k); i++)
		if (host_step(b->h) || pynum_binary(b->h, PY_OP_Mult, b->out, val_int(n - i + 1), &b->out) ||
		    pynum_binary(b->h, PY_OP_FloorDiv, b->out, val_int(i), &b->out))
			return -1;
	return 0;
}

/* The floating-point root can be off by one; the loops correct it without overflow. */
static int m_isqrt(struct bind *b)
{
	int64_t n, r;

	if (bind_int(b, 0, &n))
		return -1;
	if (n < 0)
		return bind_raise(b, EXC_ValueError, "isqrt() argument must be nonnegative");
	r = (int64_t)sqrtl((long double)n);
	while (r > 0 && r > n / r)
		r--;
	while ((r + 1) <= n / (r + 1))
		r++;
	b->out = val_int(r);
	return 0;
}

/* math.prod: any values that can be multiplied. */
static int m_prod(struct bind *b)
{
	struct val list;
	if (host_to_list(b->h, b->a[0], &list))
		return -1;
	b->out = b->a[1];
	for (size_t i = 0; i < list.u.seq->n; i++)
		if (op_binary(b->h, PY_OP_Mult, b->out, list.u.seq->v[i], &b->out))
			return -1;
	return 0;
}

/* The sum of partials that do not overlap, the last one the largest, rounded once. On a tie the
 * next partial decides, as in CPython. */
static double round_partials(const double *p, size_t n)
{
	double hi = 0, lo = 0;

	if (n)
		hi = p[--n];
	while (n && lo == 0) {
		double x = hi, y = p[--n];
		hi = x + y;
		lo = y - (hi - x);
	}
	if (n && ((lo < 0 && p[n - 1] < 0) || (lo > 0 && p[n - 1] > 0))) {
		double twice = lo * 2, x = hi + twice;
		if (twice == x - hi)
			hi = x;
	}
	return hi;
}

/* math.fsum: exact summation by Shewchuk's partials: each addition keeps its rounding error as
 * a further partial. */
static int m_fsum(struct bind *b)
{
	struct val list;
	double p[64];
	size_t n = 0;

	if (host_to_list(b->h, b->a[0], &list))
		return -1;
	for (size_t i = 0; i < list.u.seq->n; i++) {
		double x;
		size_t k;

		if (!val_is_number(list.u.seq->v[i]))
			return bind_raise(b, EXC_TypeError, "must be real number, not %s",
					  val_type_name(b->h, list.u.seq->v[i]));
		x = val_as_double(list.u.seq->v[i]);
		if (!(fabs(x) < 1e300))
			return bind_unsupported(b, "math.fsum() of numbers from 1e300 on is not supported");
		k = 0;
		for (size_t j = 0; j < n; j++) {
			double y = p[j], hi = x + y, lo = fabs(x) < fabs(y) ? x - (hi - y) : y - (hi - x);
			if (lo != 0)
				p[k++] = lo;
			x = hi;
		}
		n = MIN(k, COUNT_OF(p) - 1);
		p[n++] = x;
	}
	b->out = val_float(round_partials(p, n));
	return 0;
}

/* (mantissa, exponent) with 0.5 <= |mantissa| < 1. */
static int m_frexp(struct bind *b)
{
	double x, m;
	int e;
	struct val v[2];

	if (bind_float(b, 0, &x))
		return -1;
	m = frexp(x, &e);
	v[0] = val_float(m);
	v[1] = val_int(e);
	return val_tuple(b->h, v, 2, &b->out);
}

/* The exponent is clamped: beyond 5000 every double is 0 or infinite anyway. */
static int m_ldexp(struct bind *b)
{
	double x;
	int64_t e;
	if (bind_float(b, 0, &x) || bind_int(b, 1, &e))
		return -1;
	b->out = val_float(ldexp(x, (int)MAX(MIN(e, 5000), -5000)));
	return 0;
}

/* (fraction, whole part), both floats with the sign of x. */
static int m_modf(struct bind *b)
{
	double x, whole, frac;
	struct val v[2];

	if (bind_float(b, 0, &x))
		return -1;
	frac = modf(x, &whole);
	v[0] = val_float(frac);
	v[1] = val_float(whole);
	return val_tuple(b->h, v, 2, &b->out);
}

/* A module constant: the binding runs once, at first use (BIND_CONST). */
#define CONSTANT(name, value) \
	static int m_const_##name(struct bind *b) { b->out = val_float(value); return 0; }
CONSTANT(pi, 3.14159265358979323846)
CONSTANT(e, 2.71828182845904523536)
CONSTANT(tau, 6.28318530717958647692)
CONSTANT(inf, INFINITY)
CONSTANT(nan, NAN)

/* numpy._scalar(ints, floats, x, wide): x as an instance of numpy's class of such numbers. Both
 * classes are noted at the first call, because an int and a float together give a float. */
static int m_scalar(struct bind *b)
{
	struct host *h = b->h;
	struct val x = b->a[2];

	if (x.kind != V_INT && x.kind != V_BOOL && x.kind != V_FLOAT)
		return bind_raise(b, EXC_TypeError, "two classes and a number");
	for (size_t i = 0; i < 2; i++)
		if (!h->type.scalar_class[i]) {     /* both classes at once */
			val_keep(b->a[i]);
			h->type.scalar_class[i] = b->a[i].u.c;
		}
	x.aux = b->a[3].u.i ? SCALAR_WIDE : SCALAR_NARROW;
	b->out = x;
	return 0;
}

/* Is x a Python number, a float64 or int64 scalar, or a tensor of such elements? The prelude asks
 * before it computes. The fp64 run of a reference keeps every float as float64. */
static int m_is_wide(struct bind *b)
{
	enum dtype dt = b->a[0].kind == V_TENSOR ? b->a[0].u.t->t.dt : DT_F64;

	b->out = val_bool((!scalar_is(b->a[0]) || b->a[0].aux == SCALAR_WIDE) &&
			  (dt == DT_F64 || dt == DT_I64 || dt == DT_BOOL));
	return 0;
}

/* The number of the current call from outside, 0 while the program is loaded. Caches of
 * functools may not remember objects from one call of forward to the next. */
static int m_entry(struct bind *b)
{
	b->out = val_int(b->h->heap.sealed ? b->h->heap.entries : 0);
	return 0;
}

const struct bind_row math_rows[] = {
#undef FN1
#define FN1(name, expr, bad) { "math." #name, "x, /", m_##name, 0 },
	FN1_LIST
	{ "math.log2", "x, /", m_log2, 0 },
	{ "math.log10", "x, /", m_log10, 0 },
	{ "math.gamma", "x, /", m_gamma, 0 },
	{ "math.lgamma", "x, /", m_lgamma, 0 },
	{ "math.log", "x, base=None, /", m_log, 0 },
	{ "math.pow", "x, y, /", m_pow, 0 },
	{ "math.atan2", "y, x, /", m_atan2, 0 },
	{ "math.copysign", "x, y, /", m_copysign, 0 },
	{ "math.fmod", "x, y, /", m_fmod, 0 },
	{ "math.remainder", "x, y, /", m_remainder, 0 },
	{ "math.nextafter", "x, y, /", m_nextafter, 0 },
	{ "math.hypot", "*coordinates", m_hypot, 0 },
	{ "math.floor", "x, /", m_floor, 0 },
	{ "math.ceil", "x, /", m_ceil, 0 },
	{ "math.trunc", "x, /", m_trunc, 0 },
	{ "math.isnan", "x, /", m_isnan, 0 },
	{ "math.isinf", "x, /", m_isinf, 0 },
	{ "math.isfinite", "x, /", m_isfinite, 0 },
	{ "math.isclose", "a, b, *, rel_tol=1e-9, abs_tol=0.0", m_isclose, 0 },
	{ "math.gcd", "*integers", m_gcd, 0 },
	{ "math.lcm", "*integers", m_lcm, 0 },
	{ "math.factorial", "n, /", m_factorial, 0 },
	{ "math.comb", "n, k, /", m_comb, 0 },
	{ "math.isqrt", "n, /", m_isqrt, 0 },
	{ "math.prod", "iterable, /, *, start=1", m_prod, 0 },
	{ "math.fsum", "seq, /", m_fsum, 0 },
	{ "math.frexp", "x, /", m_frexp, 0 },
	{ "math.ldexp", "x, i, /", m_ldexp, 0 },
	{ "math.modf", "x, /", m_modf, 0 },
	{ "functools._entry", "", m_entry, BIND_INTERNAL },
	{ "numpy._scalar", "ints: type, floats: type, x, wide: bool, /", m_scalar, BIND_INTERNAL },
	{ "numpy._is_wide", "x, /", m_is_wide, BIND_INTERNAL },
	{ "math.pi", "", m_const_pi, BIND_CONST },
	{ "math.e", "", m_const_e, BIND_CONST },
	{ "math.tau", "", m_const_tau, BIND_CONST },
	{ "math.inf", "", m_const_inf, BIND_CONST },
	{ "math.nan", "", m_const_nan, BIND_CONST },
	{ NULL, NULL, NULL, 0 }
};
