/* Divides a step into micro-batches: the most costly unit comes first, and each unit goes to the
 * micro-batch that has the least so far. micro.h is the manual. */
#include "train/micro.h"

#include <stdlib.h>

#include "base/mem.h"

enum { SHARES = 4 };           /* the number of micro-batches is a multiple of this */

/* A micro-batch while units are distributed. */
struct bin {
	int rows;
	double cost;
	size_t at;                 /* its place before they are sorted by cost */
	size_t now;                /* of the one that stood here: its place after */
};

/* The most costly first; equal ones in the order of the data. */
static int by_cost(const void *x, const void *y)
{
	const struct micro_unit *a = x, *b = y;

	return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost) : (a->first > b->first) -
		(a->first < b->first);
}

/* By micro-batch, then in the order of the data. */
static int by_micro(const void *x, const void *y)
{
	const struct micro_unit *a = x, *b = y;

	return a->micro != b->micro ? (a->micro > b->micro) - (a->micro < b->micro) :
		(a->first > b->first) - (a->first < b->first);
}

/* The most costly micro-batch first; equal ones in the order they were opened. */
static int longest_first(const void *x, const void *y)
{
	const struct bin *a = x, *b = y;

	return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost) : (a->at > b->at) - (a->at < b->at);
}

/* Tries to distribute the units over `count` micro-batches of at most `max` rows. Returns 1 if all
 * units fit. */
static int place(struct micro_unit *u, size_t n, struct bin *m, size_t count, int max)
{
	for (size_t k = 0; k < count; k++)
		m[k] = (struct bin){ .at = k };
	for (size_t i = 0; i < n; i++) {
		struct bin *best = NULL;

		for (size_t k = 0; k < count; k++)
			if (m[k].rows + u[i].rows <= max && (!best || m[k].cost < best->cost))
				best = &m[k];
		if (!best)
			return 0;
		best->rows += u[i].rows;
		best->cost += u[i].cost;
		u[i].micro = best->at;
	}
	return 1;
}

/* The number of micro-batches to begin with: 1 if all rows fit into one, else rows / max rounded up
 * to a multiple of `step`. Example: 9,000 rows at 4,096 and step 4 are 4 micro-batches, not 3. */
static size_t fewest(const struct micro_unit *u, size_t n, const struct micro_opts *o, size_t step)
{
	int64_t rows = 0;
	size_t count;

	for (size_t i = 0; i < n; i++)
		rows += u[i].rows;
	if (rows <= o->max && !o->apart)
		return 1;
	count = (size_t)((rows + o->max - 1) / o->max);
	return o->apart ? n : (count + step - 1) / step * step;
}

/* Renumbers the micro-batches so that the most costly is computed first: ranks then wait least at
 * the end of a round. */
static void number(struct micro_unit *u, size_t n, struct bin *m, size_t count)
{
	qsort(m, count, sizeof *m, longest_first);
	for (size_t k = 0; k < count; k++)
		m[m[k].at].now = k;
	for (size_t i = 0; i < n; i++)
		u[i].micro = m[u[i].micro].now;
}

/* Sorts the units by micro-batch. The result depends only on the units and options, never on the
 * number of ranks. */
int micro_divide(struct micro_unit *u, size_t n, const struct micro_opts *o, struct err *e)
{
	size_t step = o->alone ? 1 : SHARES, count = fewest(u, n, o, step);
	struct bin *m = mem_array(n + 1, sizeof *m);

	if (!m)
		return err_nomem(e);
	qsort(u, n, sizeof *u, by_cost);
	while (!place(u, n, m, MIN(count, n), o->max)) {
		if (count >= n)
			BUG("a unit is longer than a micro-batch");
		count += step;
	}
	number(u, n, m, MIN(count, n));
	qsort(u, n, sizeof *u, by_micro);
	mem_free(m);
	return 0;
}
