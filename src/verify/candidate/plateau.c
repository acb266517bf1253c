/* Filling in what instances wrote that were not run: see plateau.h. A storage is only filled if
 * every point has one value; all that does not fit this picture is left unknown. */
#include "verify/candidate/plateau.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/sparse.h"

/* Larger storages are not filled in: it would cost more than it tells. */
enum { BYTES_MOST = 16 << 20 };

/* Instances whose values are known, in order of their number. */
struct points {
	const struct plateau *l;
	int64_t v[2 * PLATEAU_RUNS];
	int n, runs;
};

/* The bytes that an instance writes: instance 3 with parts of 512 bytes writes [1536, 2048). */
static size_t part_begin(const struct plateau *l, int64_t program)
{
	return (size_t)program * l->part;
}

/* The end of its part; the last instance may have less. */
static size_t part_end(const struct plateau *l, int64_t program)
{
	return MIN(part_begin(l, program) + l->part, l->st->bytes);
}

/* The value that an instance wrote all over its part; NULL: it wrote several, or it is not
 * known. */
static const char *value_of(const struct plateau *l, int64_t program)
{
	size_t lo = part_begin(l, program), hi = part_end(l, program);
	const char *first = (const char *)l->st->data + lo;

	if (lo >= hi || sparse_touch(l->st, lo, hi) || !sparse_is_known(l->st, lo, hi))
		return NULL;
	for (size_t at = lo; at < hi; at += l->size)
		if (memcmp(first, (const char *)l->st->data + at, l->size))
			return NULL;
	return first;
}

/* Do two instances have the same value? A later instance may have written to the part of an
 * earlier one, which then has no value any more. */
static int same(const struct plateau *l, int64_t a, int64_t b)
{
	const char *x = value_of(l, a), *y = value_of(l, b);

	return x && y && !memcmp(x, y, l->size);
}

/* Adds an instance to the points, and runs it if `run` is set. Returns 0; 1 if it does not write
 * one value, or there are too many; else what running it gave. */
static int add(struct points *p, int64_t program, int run)
{
	int at = 0, rc;

	while (at < p->n && p->v[at] < program)
		at++;
	if (at < p->n && p->v[at] == program)
		return 0;
	if (p->n == (int)COUNT_OF(p->v) || (run && p->runs++ == PLATEAU_RUNS))
		return 1;
	rc = run ? p->l->run(p->l->ctx, program) : 0;
	if (rc)
		return rc;
	memmove(p->v + at + 1, p->v + at, (size_t)(p->n++ - at) * sizeof *p->v);
	p->v[at] = program;
	return !value_of(p->l, program);
}

/* Runs two more instances between each two, the neighbour and the one in the middle: values that
 * change from one instance to the next show there, and are not taken for a plateau. */
static int probe(struct points *p)
{
	int64_t was[2 * PLATEAU_RUNS];
	int n = p->n, rc = 0;

	memcpy(was, p->v, sizeof was);
	for (int i = 0; i + 1 < n && !rc; i++) {
		if (was[i + 1] - was[i] < 2)
			continue;
		rc = add(p, was[i] + 1, 1);
		rc = rc ? rc : add(p, was[i] + (was[i + 1] - was[i]) / 2, 1);
	}
	return rc;
}

/* Runs instances between two that differ, until the two are neighbours. */
static int bisect(struct points *p)
{
	int rc = 0;

	for (int i = 0; i + 1 < p->n && !rc;) {
		int64_t apart = p->v[i + 1] - p->v[i];

		if (apart > 1 && !same(p->l, p->v[i], p->v[i + 1]))
			rc = add(p, p->v[i] + apart / 2, 1);
		else
			i++;
	}
	return rc;
}

/* Fills each gap between two points with the value of the point before it. */
static int fill(const struct points *p)
{
	const struct plateau *l = p->l;

	for (int i = 0; i + 1 < p->n; i++) {
		size_t lo = part_end(l, p->v[i]), hi = part_begin(l, p->v[i + 1]);
		const char *value = value_of(l, p->v[i]);

		if (lo >= hi)
			continue;
		if (!value || sparse_touch(l->st, lo, hi) || sparse_mark(l->st, lo, hi, 1))
			return 1;
		for (size_t at = lo; at < hi; at += l->size)
			memcpy((char *)l->st->data + at, value, l->size);
	}
	return 0;
}

/* Nothing is filled in unless the parts of all instances cover the storage exactly. */
int plateau_fill(const struct plateau *l, const int64_t *ran, int n)
{
	struct points p = { .l = l };
	int rc = l->st->bytes > BYTES_MOST || l->st->bytes % l->size || l->part % l->size ||
		part_end(l, l->programs - 1) != l->st->bytes;

	for (int i = 0; i < n && !rc; i++)
		rc = add(&p, ran[i], 0);
	rc = rc ? rc : probe(&p);
	rc = rc ? rc : bisect(&p);
	rc = rc ? rc : fill(&p);
	return rc == 1 ? 0 : rc;
}
