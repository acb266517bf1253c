/* What comparisons ask of many values at once.
 *
 * Each answers only where nothing is special about the values (all are finite, and so is what is formed of them).
 * Where it does not, the caller looks at them one by one. */
#ifndef VERIFY_VERDICT_VALUES_H
#define VERIFY_VERDICT_VALUES_H

#include <stdint.h>

#include "base/cpu.h"

/* How far a value may be from x:
 * max(rel (|x| + rms), min(rel_close (|x| + rms), close (1 + |x|))) + abs. */
struct values_bound {
	double rel, rel_close, close, rms, abs;
};

/* The sum of squares; not finite: there is no answer. */
SIMD_DECLARE(double, values_square_sum, (const double *x, int64_t n))
/* 1: every y is as near to its x as that, and *sum is that of the squared differences; 0: no answer. */
SIMD_DECLARE(int, values_are_near, (const double *x, const double *y, int64_t n, const struct values_bound *b,
				    double *sum))
/* Of the y beside their x, whatever they are. */
struct values_scan {
	int64_t worst;      /* the first that has the largest ratio; -1: all are the same */
	int64_t bad;        /* how many are too far, or beside an x that is not finite, and not the same */
	double ratio;       /* of the distance to what is allowed */
	double sum;         /* of the squared distances */
};
SIMD_DECLARE(void, values_scan, (const double *x, const double *y, int64_t n, const struct values_bound *b,
				 struct values_scan *out))
/* The largest |x - y| / (|y| + rms) for rms > 0; not finite: there is no answer. */
SIMD_DECLARE(double, values_distance, (const double *x, const double *y, int64_t n, double rms))

#endif
