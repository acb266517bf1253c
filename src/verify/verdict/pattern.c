/* Patterns of wrong elements: see pattern.h.
 *
 * One pass over the result collects, for each dimension, the indices that hold a wrong element, and
 * tests a few relations of the values: all zero, all NaN, a constant factor, a constant offset, a
 * transposition, a shift by one. A relation is reported only if it holds for all wrong elements, or
 * for nine in ten. */
#include "verify/verdict/pattern.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

/* Numbers that differ by less than this share count as equal: a kernel rounds differently. */
static const double same = 1e-3;

/* The indices of one dimension that hold a wrong element. */
struct along {
	int64_t first, last;          /* the first and the last of them */
	int64_t step;                 /* greatest common divisor of their distances from the first; 0: there is one */
	int64_t count;                /* how many there are */
};

/* All wrong elements of a result. */
struct wrong {
	int64_t n;                    /* how many there are */
	int64_t zeros, nans;          /* those that are 0, and NaN */
	int64_t equal_next;           /* those that have the value expected at the next index */
	int64_t transposed;           /* those that have the value expected with the last two indices exchanged */
	double ratio, offset;         /* got / expected and got - expected of the first wrong element */
	int ratio_holds, offset_holds;    /* the others have the same */
	struct along dim[TENSOR_DIMS];
};

/* gcd(0, x) is x, so a step of 0 takes the first distance. */
static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* The small constant makes two values near zero equal. */
static int close_to(double a, double b)
{
	return fabs(a - b) <= same * (fabs(a) + fabs(b)) + 1e-12;
}

/* --- where -------------------------------------------------------------------------------- */

/* Marks the index of the k-th element in every dimension. `mark` has the flags of all dimensions in
 * a row. */
static void mark_indices(const struct result *e, int64_t k, unsigned char *mark)
{
	int64_t at[TENSOR_DIMS], offset = 0;

	for (int d = e->ndim - 1; d >= 0; d--) {
		at[d] = k % e->shape[d];
		k /= e->shape[d];
	}
	for (int d = 0; d < e->ndim; d++) {
		mark[offset + at[d]] = 1;
		offset += e->shape[d];
	}
}

/* Sums up the marked indices of every dimension. */
static void read_marks(const struct result *e, const unsigned char *mark, struct wrong *w)
{
	for (int d = 0; d < e->ndim; mark += e->shape[d++]) {
		struct along *a = &w->dim[d];

		*a = (struct along){ .first = -1 };
		for (int64_t i = 0; i < e->shape[d]; i++) {
			if (!mark[i])
				continue;
			if (a->first < 0)
				a->first = i;
			a->step = gcd(a->step, i - a->first);
			a->last = i;
			a->count++;
		}
	}
}

/* Describes one dimension: "all from index 96 on of dimension 1 (of 128)". Returns the length, 0 if
 * nothing stands out. */
static size_t say_dimension(const struct result *e, int d, const struct along *a, char *out, size_t n)
{
	long long first = a->first, last = a->last, size = e->shape[d];
	int run = a->count == a->last - a->first + 1;

	if (a->count == 1)
		return (size_t)snprintf(out, n, "all at index %lld of dimension %d (of %lld)", first, d, size);
	if (run && last == size - 1)
		return (size_t)snprintf(out, n, "all from index %lld on of dimension %d (of %lld)", first, d, size);
	if (run && first == 0)
		return (size_t)snprintf(out, n, "all below index %lld of dimension %d (of %lld)", last + 1, d, size);
	if (run)
		return (size_t)snprintf(out, n, "all at indices %lld to %lld of dimension %d (of %lld)",
					first, last, d, size);
	/* Two indices always have a common step: only a third one makes it a pattern. */
	if (a->step > 1 && a->count > 2)
		return (size_t)snprintf(out, n, "all at every %lld%s index of dimension %d, from %lld on",
					(long long)a->step, a->step == 2 ? "nd" : a->step == 3 ? "rd" : "th",
					d, first);
	return 0;
}

/* Describes every dimension in which some index holds no wrong element. */
static size_t say_where(const struct result *e, const struct wrong *w, char *out, size_t n)
{
	size_t at = 0;

	for (int d = 0; d < e->ndim && at < n; d++) {
		const struct along *a = &w->dim[d];

		if (e->shape[d] < 2 || a->count == e->shape[d])
			continue;
		if (at)
			at += (size_t)snprintf(out + at, n - at, "; ");
		at += say_dimension(e, d, a, out + at, at < n ? n - at : 0);
	}
	/* No dimension stands out. */
	if (!at && w->n == e->n)
		at = (size_t)snprintf(out, n, "every element");
	return at;
}

/* --- what --------------------------------------------------------------------------------- */

/* The element with the last two indices of the k-th exchanged; -1 if those dimensions differ in
 * size. */
static int64_t exchanged(const struct result *e, int64_t k)
{
	int64_t s = e->ndim > 1 ? e->shape[e->ndim - 1] : 0;

	if (s < 2 || e->shape[e->ndim - 2] != s)
		return -1;
	return k - k % (s * s) + k % s * s + k / s % s;
}

/* Updates the relations of values with one wrong element. */
static void note_values(const struct result *e, const struct result *g, int64_t k, struct wrong *w)
{
	double x = e->v[k], y = g->v[k];
	int64_t t = exchanged(e, k);

	/* The first wrong element sets the factor and the offset that the others are compared
	 * with. */
	if (!w->n) {
		w->ratio = y / x;
		w->offset = y - x;
		w->ratio_holds = isfinite(w->ratio) && w->ratio != 0.0;
		w->offset_holds = isfinite(w->offset);
	}
	w->n++;
	w->zeros += y == 0.0;
	w->nans += isnan(y);
	w->ratio_holds &= close_to(y, w->ratio * x);
	w->offset_holds &= close_to(y - x, w->offset);
	w->equal_next += k + 1 < e->n && close_to(y, e->v[k + 1]);
	w->transposed += t >= 0 && t != k && close_to(y, e->v[t]);
}

/* Describes the first relation that holds. Factors, offsets and shifts need more than three
 * elements: fewer would fit by chance. */
static void say_what(const struct wrong *w, char *out, size_t n)
{
	if (w->nans == w->n)
		snprintf(out, n, "all of them are NaN");
	else if (w->zeros == w->n)
		snprintf(out, n, "all of them are 0, as if nothing had been stored there");
	else if (w->n > 3 && w->ratio_holds && !close_to(w->ratio, 1.0))
		snprintf(out, n, "each is %.6g times what it should be", w->ratio);
	else if (w->n > 3 && w->offset_holds)
		snprintf(out, n, "each is off by the same %.6g", w->offset);
	else if (w->n > 3 && 10 * w->transposed > 9 * w->n)
		snprintf(out, n, "the last two dimensions look transposed");
	else if (w->n > 3 && 10 * w->equal_next > 9 * w->n)
		snprintf(out, n, "each has the value that is expected at the next index");
}

/* Without memory for the marks there is no pattern: the verdict stands without it. */
void pattern_text(const struct result *e, const struct result *g, char *out, size_t n)
{
	struct wrong w = { .n = 0 };
	char where[160] = "", what[100] = "";
	unsigned char *mark;
	size_t sizes = 1;

	out[0] = '\0';
	for (int d = 0; d < e->ndim; d++)
		sizes += (size_t)e->shape[d];
	mark = mem_zalloc(sizes);
	if (!mark)
		return;
	for (int64_t k = 0; k < e->n; k++)
		if (result_is_wrong(e, g, k)) {
			note_values(e, g, k, &w);
			mark_indices(e, k, mark);
		}
	if (w.n) {
		read_marks(e, mark, &w);
		say_where(e, &w, where, sizeof where);
		say_what(&w, what, sizeof what);
		snprintf(out, n, "%s%s%s", where, where[0] && what[0] ? "; " : "", what);
	}
	mem_free(mark);
}
