/* Statistics of timed trials: see timing_stats.h. */
#include "verify/gpu/timing_stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Cornish and Fisher's expansion around the normal quantile. Its error is below 0.3 % from eight
 * degrees of freedom on; smaller numbers have a table. */
double timing_student(double df)
{
	static const double small[] = { 12.706, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365 };
	const double z = 1.959964;

	if (df < 8.0)
		return small[df < 1.0 ? 0 : (int)df];
	return z + (z * z * z + z) / (4.0 * df) + (5.0 * pow(z, 5) + 16.0 * pow(z, 3) + 3.0 * z) / (96.0 * df * df);
}

/* The clock is read after each call. 1980 MHz is the highest, 1960 counts, 1400 does not. A GPU that spends most
 * calls at a low clock is throttled all the time: then its usual clock is what users get, and all samples count. */
size_t timing_drop_throttled(struct timing_sample *v, size_t n)
{
	double highest = 0.0;
	size_t kept = 0, fast = 0;

	for (size_t i = 0; i < n; i++)
		highest = fmax(highest, v[i].clock_mhz);
	for (size_t i = 0; i < n; i++)
		fast += v[i].clock_mhz >= 0.98 * highest;
	if (2 * fast < n)
		return n;
	for (size_t i = 0; i < n; i++)
		if (v[i].clock_mhz >= 0.98 * highest)
			v[kept++] = v[i];
	return kept;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The variance of the samples after those that are trimmed were replaced by their nearest kept
 * neighbour. `v` is sorted. */
static double winsorised_variance(const double *v, size_t n, size_t cut)
{
	double mean = 0.0, sum = 0.0;

	for (size_t i = 0; i < n; i++)
		mean += v[MIN(MAX(i, cut), n - 1 - cut)];
	mean /= (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = v[MIN(MAX(i, cut), n - 1 - cut)] - mean;

		sum += d * d;
	}
	return sum / (double)(n - 1);
}

enum { SAMPLES_MOST = 4096 };

/* With n samples, g trimmed at each end and h = n - 2 g left: mean of the h, and
 *     half = t(h - 1) * sqrt(s2 * (n - 1) / (h * (h - 1)))
 * where s2 is the winsorised variance and t Student's quantile. 50 samples and a trim of 0.1: g = 5, h = 40. */
struct timing_interval timing_summary(const struct timing_sample *v, size_t n, double trim)
{
	double sorted[SAMPLES_MOST], sum = 0.0, half;
	size_t cut, left;

	n = MIN(n, (size_t)SAMPLES_MOST);
	cut = (size_t)floor(trim * (double)n + 1e-9);
	left = n - 2 * cut;
	for (size_t i = 0; i < n; i++)
		sorted[i] = v[i].seconds;
	qsort(sorted, n, sizeof *sorted, by_size);
	for (size_t i = cut; i < n - cut; i++)
		sum += sorted[i];
	sum /= (double)left;
	half = timing_student((double)left - 1.0) * sqrt(winsorised_variance(sorted, n, cut) * ((double)n - 1.0) /
							 ((double)left * ((double)left - 1.0)));
	return (struct timing_interval){ .mean = sum, .low = sum - half, .high = sum + half, .n = (int)n };
}

int timing_is_precise(const struct timing_interval *t, double share)
{
	return t->high - t->mean <= share * t->mean;
}

/* Example: 100 (99 to 101) against 98 (97 to 99.5) microseconds overlap: 1. Against 95 (94 to 96): 1.05. */
double timing_speedup(const struct timing_interval *a, const struct timing_interval *b)
{
	return a->low <= b->high && b->low <= a->high ? 1.0 : a->mean / b->mean;
}

/* A start of a call costs the host some microseconds, and a busy host more, so single samples may be apart. */
int timing_clocks_agree(const struct timing_sample *v, size_t n, double slack)
{
	size_t apart = 0;

	for (size_t i = 0; i < n; i++)
		apart += v[i].wall - v[i].seconds > slack + 0.1 * v[i].seconds ||
			 v[i].seconds > v[i].wall * 1.05 + slack;
	return 2 * apart <= n;
}
