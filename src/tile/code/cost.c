/* Adds up the work that kernels did. Does not own the time it takes: estimate/speed.h does. */
#include "tile/tile.h"

/* The struct is treated as an array of counters, so that a new counter needs no change here. */
void tile_cost_add(struct tile_cost *into, const struct tile_cost *more)
{
	int64_t *a = (int64_t *)into;
	const int64_t *b = (const int64_t *)more;
	_Static_assert(sizeof *into % sizeof *a == 0, "struct tile_cost is counters only");
	for (size_t i = 0; i < sizeof *into / sizeof *a; i++)
		a[i] += b[i];
}
