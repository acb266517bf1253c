/* Choosing instances of a launch: see pick.h. */
#include "verify/candidate/pick.h"

#include "base/rng.h"

int pick_index(const int64_t *v, int n, int64_t program)
{
	for (int i = 0; i < n; i++)
		if (v[i] == program)
			return i;
	return -1;
}

double pick_share(uint64_t seed)
{
	return (double)(seed >> 11) * 0x1p-53;
}

/* The instance that has the share along each axis of the grid. */
static int64_t shared_program(double share, const int64_t *grid)
{
	int64_t at = 0;

	for (int axis = 2; axis >= 0; axis--)
		at = at * grid[axis] + (int64_t)(share * (double)grid[axis]);
	return at;
}

/* Picks the fixed instances and the drawn ones, then those of the classes, each once. The first is a
 * drawn one: if an instance costs a second, no other is run. */
int pick_programs(uint64_t seed, const struct tile_launch *l, const struct slice_call *slice, int64_t v[PICK_MOST])
{
	int64_t all = l->grid[0] * l->grid[1] * l->grid[2], wanted[PICK_MOST] = { 0 };
	int n = 0, n_wanted = 3 + PICK_DRAWN;
	struct rng r;

	/* The label is part of the seed: another text would pick other instances. */
	rng_init(&r, seed, "programs at own sizes");
	wanted[0] = shared_program(pick_share(seed), l->grid);
	wanted[1] = all - 1;
	wanted[3] = l->grid[0] - 1;
	for (int i = 4; i < n_wanted; i++)
		wanted[i] = (int64_t)rng_below(&r, (uint64_t)all);
	if (slice)
		n_wanted += class_picks(&slice->classes, wanted + n_wanted);
	for (int i = 0; i < n_wanted; i++)
		if (pick_index(v, n, wanted[i]) < 0)
			v[n++] = wanted[i];
	return n;
}
