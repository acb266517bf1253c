/* Vector code for comparisons of many values.
 *
 * Most functions only answer if all values, and all sums of them, are finite. If there is no
 * answer, the caller looks at the values one by one. */
#ifndef VERIFY_VERDICT_VALUES_H
#define VERIFY_VERDICT_VALUES_H

#include <stdint.h>

#include "base/cpu.h"

/* The largest allowed difference from the expected value x:
 * max(rel (|x| + rms), min(rel_close (|x| + rms), close (1 + |x|))) + abs. */
struct values_bound {
	double rel, rel_close, close, rms, abs;
};

/* The sum of squares. A result that is not finite means: no answer. */
SIMD_DECLARE(double, values_square_sum, (const double *x, int64_t n))
/* Returns 1 if every y is within the bound of its x; *sum is the sum of squared differences then.
 * Returns 0 if that is not certain. */
SIMD_DECLARE(int, values_are_near, (const double *x, const double *y, int64_t n, const struct values_bound *b,
				    double *sum))
/* Result of values_scan, which compares each y with its x. It works for any values. */
struct values_scan {
	int64_t worst;      /* the first index with the largest ratio; -1: all are equal */
	int64_t bad;        /* how many are out of bounds, or differ from an x that is not finite */
	double ratio;       /* error over allowed error at the worst index */
	double sum;         /* of the squared errors */
};
SIMD_DECLARE(void, values_scan, (const double *x, const double *y, int64_t n, const struct values_bound *b,
				 struct values_scan *out))
/* The largest |x - y| / (|y| + rms), for rms > 0. A result that is not finite means: no answer. */
SIMD_DECLARE(double, values_distance, (const double *x, const double *y, int64_t n, double rms))

#endif
