/* fmaf with one rounding at every instruction set. Without a fused instruction, the exact product
 * and the sum are formed in double, and the sum is rounded to odd first. After that the rounding
 * to fp32 cannot go wrong. */
#ifndef TILE_MACHINE_MATH_FMA_H
#define TILE_MACHINE_MATH_FMA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
static inline float fma_exact(float x, float y, float z) { return fmaf(x, y, z); }
#else
static inline float fma_exact(float x, float y, float z)
{
	double p = (double)x * y, c = z;        /* exact: 48 bits */
	double s = p + c;
	double t = s - p;
	double err = (p - (s - t)) + (c - t);   /* s + err is the true sum */
	uint64_t b, inexact, toward;

	memcpy(&b, &s, 8);
	inexact = err != 0 && s - s == 0;
	toward = (err > 0) == (s > 0) ? 1 : (uint64_t)-1;
	b += inexact & ~b & 1 ? toward : 0;
	memcpy(&s, &b, 8);
	return (float)s;
}
#endif

#endif
