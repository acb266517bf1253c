/* Sets of bytes: see cover.h. */
#include "tile/slice/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Ranges that are kept before the list is merged; merges after which the set becomes a bitmap. */
enum { MERGE_AT = 1 << 13, MERGES_MOST = 2 };
/* The units of the largest bitmap; the most ranges of one box. */
static const int64_t bits_most = (int64_t)1 << 31, box_most = (int64_t)1 << 22;

void cover_release(struct cover *c)
{
	if (c->period)
		cover_release(c->period);
	mem_free(c->period);
	c->period = NULL;
	vec_free(c);
	mem_free(c->bits);
	c->bits = NULL;
	c->sorted = 0;
	c->merges = 0;
	c->adds = 0;
}

static int by_start(const void *a, const void *b)
{
	const struct cover_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Sorts the ranges and joins those that touch. */
static void merge(struct cover *c)
{
	size_t n = 0;

	if (c->sorted == c->n)
		return;
	qsort(c->v, c->n, sizeof *c->v, by_start);
	for (size_t i = 0; i < c->n; i++) {
		if (n && c->v[i].lo <= c->v[n - 1].hi)
			c->v[n - 1].hi = MAX(c->v[n - 1].hi, c->v[i].hi);
		else
			c->v[n++] = c->v[i];
	}
	c->n = c->sorted = n;
}

/* Sets the bits [lo, hi). */
static void set_bits(uint64_t *bits, int64_t lo, int64_t hi)
{
	int64_t first = lo / 64, last = (hi - 1) / 64;
	uint64_t head = ~(uint64_t)0 << (lo % 64), tail = ~(uint64_t)0 >> (63 - (hi - 1) % 64);

	if (first == last) {
		bits[first] |= head & tail;
		return;
	}
	bits[first] |= head;
	for (int64_t i = first + 1; i < last; i++)
		bits[i] = ~(uint64_t)0;
	bits[last] |= tail;
}

/* A list that has to be merged again and again becomes a bitmap. A storage that is too large keeps its
 * list. */
static int use_bits(struct cover *c)
{
	int64_t units = c->bytes / c->unit + 1;

	if (units > bits_most || ++c->merges < MERGES_MOST)
		return 0;
	c->bits = mem_zalloc((size_t)(units / 64 + 1) * sizeof *c->bits);
	if (!c->bits)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		set_bits(c->bits, c->v[i].lo / c->unit, c->v[i].hi / c->unit);
	vec_free(c);
	c->sorted = 0;
	return 0;
}

int cover_add(struct cover *c, int64_t lo, int64_t hi)
{
	if (lo >= hi)
		return 0;
	c->adds++;
	if (c->bits) {
		set_bits(c->bits, lo / c->unit, hi / c->unit);
		return 0;
	}
	/* the range after the last one, or the last one again */
	if (c->n && c->v[c->n - 1].hi >= lo && c->v[c->n - 1].lo <= lo) {
		c->v[c->n - 1].hi = MAX(c->v[c->n - 1].hi, hi);
		return 0;
	}
	if (vec_push(c, ((struct cover_range){ .lo = lo, .hi = hi })))
		return -1;
	if (c->n < 2 * c->sorted + MERGE_AT)
		return 0;
	merge(c);
	return use_bits(c);
}

/* Puts the dimensions in the order of falling stride, drops those of one index, turns negative
 * strides round, and joins those that continue each other: 64 rows of 256 bytes with stride 256 are
 * one row of 16384 bytes, and 8 images of 3 planes are 24 planes. Returns their number. */
static int tidy(int64_t *base, int64_t *size, int n, int64_t *stride, int64_t *count)
{
	int m = 0;

	for (int k = 0; k < n; k++) {
		int64_t s = stride[k], c = count[k];
		int at = m;

		if (c == 1 || !s)
			continue;
		*base += s < 0 ? s * (c - 1) : 0;
		s = s < 0 ? -s : s;
		for (; at > 0 && stride[at - 1] < s; at--) {
			stride[at] = stride[at - 1];
			count[at] = count[at - 1];
		}
		stride[at] = s;
		count[at] = c;
		m++;
	}
	/* from the innermost outwards: rows that touch or overlap make one row */
	while (m && stride[m - 1] <= *size) {
		*size += stride[m - 1] * (count[m - 1] - 1);
		m--;
	}
	for (; m > 1 && stride[0] == stride[1] * count[1]; m--) {
		count[1] *= count[0];
		memmove(stride, stride + 1, (size_t)(m - 1) * sizeof *stride);
		memmove(count, count + 1, (size_t)(m - 1) * sizeof *count);
	}
	return m;
}

/* Replaces the period of a set by one that is longer: `bytes` of it, which are the whole storage in the end. Returns 1
 * if that has too many ranges. */
static int unfold(struct cover *c, int64_t bytes)
{
	struct cover *one = c->period, *longer;
	int64_t times = bytes / one->bytes;
	int rc = one->period ? unfold(one, one->bytes) : 0;

	if (rc)
		return rc;
	merge(one);
	if (one->bits || (int64_t)one->n > box_most / times)
		return 1;
	longer = bytes == c->bytes ? c : mem_zalloc(sizeof *longer);
	if (!longer)
		return -1;
	if (longer != c)
		*longer = (struct cover){ .bytes = bytes, .unit = c->unit };
	c->period = longer == c ? NULL : longer;
	for (int64_t t = 0; t < times; t++)
		for (size_t i = 0; i < one->n && !rc; i++)
			rc = cover_add(longer, t * one->bytes + one->v[i].lo, t * one->bytes + one->v[i].hi);
	cover_release(one);
	mem_free(one);
	return rc;
}

/* Begins a period of an empty set. Returns 1 if the set is not empty. */
static int begin_period(struct cover *c, int64_t bytes)
{
	if (c->n || c->bits)
		return 1;
	c->period = mem_zalloc(sizeof *c->period);
	if (!c->period)
		return -1;
	*c->period = (struct cover){ .bytes = bytes, .unit = c->unit };
	return 0;
}

/* Adds a box to the period, if it repeats through the whole storage like those before it. Returns 0 if it was added, 2
 * if it does not suit, else as cover_add_box. The dimensions are in the order of falling stride. */
static int add_period(struct cover *c, int64_t base, int64_t size, int n, int64_t *stride, int64_t *count)
{
	int64_t end = base + size, all, was = c->period ? c->period->bytes : 0;
	int rc = 0;

	for (int i = 1; i < n; i++)
		end += stride[i] * (count[i] - 1);
	if (!n || ck_mul64(stride[0], count[0], &all) || all != c->bytes || end > stride[0] || base < 0)
		return 2;
	if (was && was % stride[0] && stride[0] % was)
		return 2;
	if (!was)
		rc = begin_period(c, stride[0]);
	else if (was < stride[0])
		rc = unfold(c, stride[0]);
	if (rc || !c->period)
		return rc < 0 ? -1 : 2;
	count[0] = c->period->bytes / stride[0];
	rc = cover_add_box(c->period, base, size, n, stride, count);
	c->adds += count[0];
	return rc;
}

int cover_add_box(struct cover *c, int64_t base, int64_t size, int n, const int64_t *stride, const int64_t *count)
{
	int64_t s[32], k[32], index[32] = { 0 }, ranges = 1;
	int m, rc = 0;

	BUG_ON(n > 32);
	for (int i = 0; i < n; i++) {
		s[i] = stride[i];
		k[i] = count[i];
		if (count[i] <= 0)
			return 0;
	}
	m = tidy(&base, &size, n, s, k);
	rc = add_period(c, base, size, m, s, k);
	if (rc != 2)
		return rc;
	rc = c->period ? unfold(c, c->bytes) : 0;
	if (rc)
		return rc;
	for (int i = 0; i < m; i++)
		if (ck_mul64(ranges, k[i], &ranges) || ranges > box_most)
			return 1;
	for (int64_t r = 0; r < ranges && !rc; r++) {
		rc = cover_add(c, base, base + size);
		for (int d = m - 1; d >= 0; d--) {
			base += s[d];
			if (++index[d] < k[d])
				break;
			base -= s[d] * k[d];
			index[d] = 0;
		}
	}
	return rc;
}

/* cover_count for a bitmap, in units, a word at a time. */
static int64_t count_bits(const struct cover *c, int64_t lo, int64_t hi, int64_t *gap)
{
	int64_t n = 0;

	for (int64_t at = lo; at < hi;) {
		int64_t word = at / 64, end = MIN(hi, (word + 1) * 64);
		uint64_t some = c->bits[word] >> (at % 64);
		uint64_t wanted = end - at == 64 ? ~(uint64_t)0 : ((uint64_t)1 << (end - at)) - 1;

		if ((some & wanted) != wanted && *gap < 0)
			*gap = at + __builtin_ctzll(~some & wanted);
		n += __builtin_popcountll(some & wanted);
		at = end;
	}
	return n;
}

/* cover_count for a set that repeats: parts of periods at both ends, and whole ones between them. */
static int64_t count_periods(struct cover *c, int64_t lo, int64_t hi, int64_t *gap)
{
	int64_t each = c->period->bytes, whole = 0, hole = each, n = 0, at = lo;

	*gap = hi;
	while (at < hi) {
		int64_t start = at - at % each, to = MIN(hi - start, each), here;

		if (at == start && to == each && whole) {
			n += whole * ((hi - at) / each);
			at += (hi - at) / each * each;
			continue;
		}
		n += here = cover_count(c->period, at - start, to, &hole);
		whole = at == start && to == each ? here : 0;
		if (hole < to)
			*gap = MIN(*gap, start + hole);
		at = start + to;
	}
	return n;
}

int64_t cover_count(struct cover *c, int64_t lo, int64_t hi, int64_t *gap)
{
	int64_t n = 0, at = lo;

	if (c->period)
		return count_periods(c, lo, hi, gap);

	if (c->bits) {
		*gap = -1;
		n = count_bits(c, lo / c->unit, hi / c->unit, gap) * c->unit;
		*gap = *gap < 0 ? hi : *gap * c->unit;
		return n;
	}
	merge(c);
	*gap = hi;
	for (size_t i = 0; i < c->n && c->v[i].lo < hi; i++) {
		int64_t from = MAX(c->v[i].lo, lo), to = MIN(c->v[i].hi, hi);

		if (to <= from)
			continue;
		if (from > at)
			*gap = MIN(*gap, at);
		at = to;
		n += to - from;
	}
	if (at < hi)
		*gap = MIN(*gap, at);
	return n;
}

int64_t cover_end(const struct cover *c)
{
	int64_t end = 0;

	if (c->period)
		return c->bytes - c->period->bytes + cover_end(c->period);
	for (int64_t i = c->bits ? c->bytes / c->unit : 0; i > 0; i--)
		if (c->bits[(i - 1) / 64] >> ((i - 1) % 64) & 1)
			return i * c->unit;
	for (size_t i = 0; i < c->n; i++)
		end = MAX(end, c->v[i].hi);
	return end;
}
