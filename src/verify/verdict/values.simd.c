/* Vector code for comparisons: see values.h.
 *
 * Invariant: each sum has 32 partial sums that are added in order. So the result does not depend on
 * the vector width of the machine. */
#include "verify/verdict/values.h"

#include <float.h>
#include <math.h>

enum { LANES = 32 };

/* Adds the partial sums in order. */
static inline double sum_of(const double *lane)
{
	double sum = 0.0;

	for (int k = 0; k < LANES; k++)
		sum += lane[k];
	return sum;
}

/* n is at most LANES; a constant n lets the compiler use whole vectors. */
static inline void add_squares(double *lane, const double *x, int64_t n)
{
	for (int64_t k = 0; k < n; k++)
		lane[k] += x[k] * x[k];
}

double SIMD_FN(values_square_sum)(const double *x, int64_t n)
{
	double lane[LANES] = { 0.0 };
	int64_t i = 0;

	for (; i + LANES <= n; i += LANES)
		add_squares(lane, x + i, LANES);
	add_squares(lane, x + i, n - i);
	return sum_of(lane);
}

/* The allowed error of one value (struct values_bound). The comparisons make NaN fail. */
static inline double allowed_of(double x, const struct values_bound *b)
{
	double size = fabs(x), scale = size + b->rms, rel = b->rel * scale, rel_close = b->rel_close * scale,
		close = b->close * (1.0 + size);
	double less = rel_close < close ? rel_close : close;

	return (rel > less ? rel : less) + b->abs;
}

/* Adds squared differences to the lanes, and counts in `far` the differences that are too large. */
static inline void add_differences(double *lane, double *far, const double *x, const double *y, int64_t n,
				   const struct values_bound *b)
{
	for (int64_t k = 0; k < n; k++) {
		double d = fabs(y[k] - x[k]);

		lane[k] += d * d;
		far[k] += d <= allowed_of(x[k], b) ? 0.0 : 1.0;
	}
}

int SIMD_FN(values_are_near)(const double *x, const double *y, int64_t n, const struct values_bound *b, double *sum)
{
	double lane[LANES] = { 0.0 }, far[LANES] = { 0.0 };
	struct values_bound bound = *b;
	int64_t i = 0;

	for (; i + LANES <= n; i += LANES)
		add_differences(lane, far, x + i, y + i, LANES, &bound);
	add_differences(lane, far, x + i, y + i, n - i, &bound);
	*sum = sum_of(lane);
	return isfinite(*sum) && sum_of(far) == 0.0;
}

/* Adds squared differences of a block to the lanes. Returns 1 if one is above `times` the allowed
 * error or not finite. */
static inline int look_at(double *lane, const double *x, const double *y, int64_t n,
			  const struct values_bound *b, double times)
{
	int64_t any = 0;

	for (int64_t k = 0; k < n; k++) {
		double limit = times * allowed_of(x[k], b), most = DBL_MAX < limit ? DBL_MAX : limit,
			d = x[k] == y[k] ? 0.0 : fabs(y[k] - x[k]);

		lane[k] += d * d;
		any |= d <= most ? 0 : 1;
	}
	return any != 0;
}

/* Updates the worst and the bad values with a block in which look_at found something. */
static void note_worst(struct values_scan *s, int64_t first, const double *x, const double *y, int64_t n,
		       const struct values_bound *b)
{
	for (int64_t k = 0; k < n; k++) {
		double allowed = allowed_of(x[k], b), d = fabs(y[k] - x[k]);

		if (x[k] == y[k])
			continue;
		s->bad += !(d <= allowed) || !(fabs(x[k]) <= DBL_MAX);
		if (s->worst < 0 || !(d <= s->ratio * allowed)) {
			s->worst = first + k;
			s->ratio = allowed > 0.0 && isfinite(d) ? d / allowed : (double)INFINITY;
		}
	}
}

/* Only blocks with an error above the worst ratio so far need the slow path. That ratio grows a few
 * times only, so nearly all blocks are done by look_at. */
void SIMD_FN(values_scan)(const double *x, const double *y, int64_t n, const struct values_bound *b,
			  struct values_scan *out)
{
	double lane[LANES] = { 0.0 };
	struct values_bound bound = *b;
	struct values_scan s = { .worst = -1 };

	for (int64_t i = 0; i < n; i += LANES) {
		double times = s.ratio < 1.0 ? s.ratio : 1.0;
		int64_t some = n - i < LANES ? n - i : LANES;
		/* The constant LANES lets the compiler unroll the common case. */
		int any = some == LANES ? look_at(lane, x + i, y + i, LANES, &bound, times) :
			look_at(lane, x + i, y + i, some, &bound, times);

		if (any)
			note_worst(&s, i, x + i, y + i, some, &bound);
	}
	s.sum = sum_of(lane);
	*out = s;
}

/* Updates the largest ratios. A difference that is not finite makes the sum of its lane not
 * finite. */
static inline void note_distances(double *most, double *lane, const double *x, const double *y, int64_t n, double rms)
{
	for (int64_t k = 0; k < n; k++) {
		double d = fabs(x[k] - y[k]), ratio = d / (fabs(y[k]) + rms);

		lane[k] += d;
		most[k] = ratio > most[k] ? ratio : most[k];
	}
}

double SIMD_FN(values_distance)(const double *x, const double *y, int64_t n, double rms)
{
	double lane[LANES] = { 0.0 }, most[LANES] = { 0.0 }, sum;
	int64_t i = 0;

	for (; i + LANES <= n; i += LANES)
		note_distances(most, lane, x + i, y + i, LANES, rms);
	note_distances(most, lane, x + i, y + i, n - i, rms);
	sum = sum_of(lane);
	for (int k = 1; k < LANES; k++)
		most[0] = most[k] > most[0] ? most[k] : most[0];
	return isfinite(sum) ? most[0] : sum;
}
