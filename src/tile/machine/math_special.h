/* Special functions that the C library lacks, in long double. */
#ifndef TILE_MACHINE_MATH_SPECIAL_H
#define TILE_MACHINE_MATH_SPECIAL_H

#include <stdint.h>

long double special_sinpi(long double x);
long double special_cospi(long double x);
long double special_erfcx(long double x);       /* exp(x^2) erfc(x) */
long double special_erfinv(long double x);
long double special_erfcinv(long double x);
long double special_normcdf(long double x);     /* erfc(-x / sqrt 2) / 2 */
long double special_normcdfinv(long double x);
long double special_lgamma(long double x);      /* without the C library's global sign */
long double special_bessel_i(int order, long double x);   /* modified, order 0 or 1 */
long double special_norm(long double x, long double y, long double z, long double w);
double special_rcp64h(double x);                /* 1/x from the upper half, lower half zero */
int64_t special_ilogb(double x);                /* 0 and NaN: INT32_MIN, inf: INT32_MAX */
int64_t special_llround(double x);              /* ties away, saturating */

#endif
