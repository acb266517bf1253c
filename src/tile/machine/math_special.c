/* Special functions in long double: see math_special.h. Each is accurate to well below an ulp of
 * fp64, so that one rounding is left. */
#include "tile/machine/math_special.h"

#include <math.h>
#include <string.h>

#define PI_L 3.14159265358979323846264338327950288L
#define TWO_OVER_SQRT_PI 1.12837916709551257389615890312154517L

/* x = q / 2 + r with |r| <= 1/4, so that sin(pi x) needs sin or cos of at most pi/4. */
long double special_sinpi(long double x)
{
	long double q, r;

	if (!isfinite(x))
		return NAN;
	q = rintl(2 * x);
	r = (x - q / 2) * PI_L;
	switch ((int)(fmodl(q, 4) + 4) & 3) {
	case 0: return sinl(r);
	case 1: return cosl(r);
	case 2: return -sinl(r);
	}
	return -cosl(r);
}

/* As special_sinpi, a quarter period further on. */
long double special_cospi(long double x)
{
	long double q, r;

	if (!isfinite(x))
		return NAN;
	q = rintl(2 * x);
	r = (x - q / 2) * PI_L;
	switch ((int)(fmodl(q, 4) + 4) & 3) {
	case 0: return cosl(r);
	case 1: return -sinl(r);
	case 2: return -cosl(r);
	}
	return sinl(r);
}

/* Below 10 the product exp(x^2) erfc(x) is accurate. Above, the continued fraction sqrt(pi)
 * erfcx(x) = 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))) converges fast. */
long double special_erfcx(long double x)
{
	long double f;

	if (x < 10)
		return expl(x * x) * erfcl(x);
	f = x;
	for (int k = 60; k > 0; k--)
		f = x + (k * 0.5L) / f;
	return TWO_OVER_SQRT_PI / 2 / f;
}

/* Newton with the second-order term (Halley) on erfc(y) = x, 0 < x <= 1; five steps suffice. */
static long double solve_erfc(long double x)
{
	long double t = sqrtl(-2 * logl(x / 2));
	long double y = -0.70711L * ((2.30753L + t * 0.27061L) / (1 + t * (0.99229L + t * 0.04481L)) - t);
	for (int i = 0; i < 5; i++) {
		long double err = erfcl(y) - x;
		y += err / (TWO_OVER_SQRT_PI * expl(-y * y) - y * err);
	}
	return y;
}

/* erfc is symmetric around 1: erfcinv(x) = -erfcinv(2 - x), so that solve_erfc sees x <= 1. */
long double special_erfcinv(long double x)
{
	if (!(x >= 0 && x <= 2))
		return NAN;
	if (x == 0)
		return INFINITY;
	if (x == 2)
		return -INFINITY;
	return x <= 1 ? solve_erfc(x) : -solve_erfc(2 - x);
}

/* Above 0.5 through erfc, which is accurate where erf is close to 1. */
long double special_erfinv(long double x)
{
	long double y;

	if (!(fabsl(x) <= 1))
		return NAN;
	if (fabsl(x) == 1)
		return x * INFINITY;
	if (fabsl(x) > 0.5L)
		return copysignl(solve_erfc(1 - fabsl(x)), x);
	/* Near 0 the residual must come from erf itself: 1 - erfc would cancel. */
	y = x / TWO_OVER_SQRT_PI;
	for (int i = 0; i < 6; i++) {
		long double err = erfl(y) - x;
		y -= err / (TWO_OVER_SQRT_PI * expl(-y * y) + y * err);
	}
	return y;
}

/* The cumulative distribution of the standard normal: erfc(-x / sqrt 2) / 2. */
long double special_normcdf(long double x)
{
	return 0.5L * erfcl(-x * 0.70710678118654752440084436210484904L);
}

/* normcdf(y) = x solved for y: -sqrt 2 erfcinv(2 x). */
long double special_normcdfinv(long double x)
{
	return -1.41421356237309504880168872420969808L * special_erfcinv(2 * x);
}

long double special_lgamma(long double x)
{
	int sign;
	return lgammal_r(x, &sign);
}

/* Power series of I0 and I1. All terms have one sign, so nothing cancels. */
long double special_bessel_i(int order, long double x)
{
	long double q = x * x / 4;
	long double term = order ? x / 2 : 1, sum = term;
	if (!isfinite(x))
		return isnan(x) ? x : order && x < 0 ? -INFINITY : INFINITY;
	for (int k = 1; k < 20000; k++) {
		term *= q / ((long double)k * (k + order));
		sum += term;
		if (fabsl(term) < fabsl(sum) * 1e-20L)
			break;
	}
	return sum;
}

long double special_norm(long double x, long double y, long double z, long double w)
{
	return sqrtl(x * x + y * y + z * z + w * w);
}

/* rcp.approx.ftz.f64: only the upper 32 bits of the operand and the result count. */
double special_rcp64h(double x)
{
	uint64_t b;
	memcpy(&b, &x, 8);
	b &= 0xffffffff00000000u;
	memcpy(&x, &b, 8);
	x = 1 / x;
	memcpy(&b, &x, 8);
	b &= 0xffffffff00000000u;
	memcpy(&x, &b, 8);
	return x;
}

/* CUDA's values for 0, NaN and inf, which C leaves to the library. */
int64_t special_ilogb(double x)
{
	if (x == 0 || isnan(x))
		return INT32_MIN;
	return isinf(x) ? INT32_MAX : ilogb(x);
}

/* Ties away from zero; saturates as the conversion instruction does. */
int64_t special_llround(double x)
{
	if (isnan(x))
		return INT64_MIN;
	return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : llround(x);
}
