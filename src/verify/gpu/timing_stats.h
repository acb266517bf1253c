/* Statistics of timed trials: pure functions of samples.
 *
 * The estimate of a time is the trimmed mean: the share `trim` of the samples is dropped at each
 * end. Its confidence interval uses the winsorised variance (Tukey and McLaughlin, 1963) and
 * Student's distribution. Two programs whose intervals overlap are equally fast, as far as these
 * samples tell. */
#ifndef VERIFY_GPU_TIMING_STATS_H
#define VERIFY_GPU_TIMING_STATS_H

#include <stddef.h>

/* One timed call. */
struct timing_sample {
	double seconds;             /* by events on the stream */
	double wall;                /* by the clock of the host, from the first launch to the end of all work */
	double clock_mhz;           /* of the multiprocessors; 0: not known */
};

struct timing_interval {
	double mean, low, high;     /* seconds; the interval holds the true mean 95 times in 100 */
	int n;                      /* samples that were used, before trimming */
	int dropped;                /* samples at a lower clock */
};

/* The 97.5 % quantile of Student's distribution with `df` degrees of freedom. */
double timing_student(double df);
/* Drops samples whose clock is below 98 % of the highest. Returns how many are left; they come
 * first, in order. If fewer than half are left, the GPU has no steady clock and all are kept. */
size_t timing_drop_throttled(struct timing_sample *v, size_t n);
/* The trimmed mean and its interval. `trim` is the share of the samples that is dropped at each end:
 * 0.1 drops the 5 lowest and the 5 highest of 50. n is at least 2. */
struct timing_interval timing_summary(const struct timing_sample *v, size_t n, double trim);
/* Is the half-width of the interval within this share of the mean? */
int timing_is_precise(const struct timing_interval *t, double share);
/* The speed-up of b against a: a.mean / b.mean, or exactly 1 if the intervals overlap. */
double timing_speedup(const struct timing_interval *a, const struct timing_interval *b);
/* Does the clock of the host agree with the events? Work that the events do not see shows as more
 * than `slack` seconds in most samples. */
int timing_clocks_agree(const struct timing_sample *v, size_t n, double slack);

#endif
