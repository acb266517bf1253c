/* The table of GPUs: see gpu.h. */
#include "tile/estimate/gpu.h"

#include <math.h>

const struct tile_gpu tile_gpus[] = {
#define GPU(n, words, cap, size, shared, mem, l2b, d, s, t, h16, f8, i8, dd, us, sm, cost, spot) \
	{ .name = n, .text = words, .capability = cap, .gib = size, .shared_bytes = shared, .registers = 255, \
	  .memory = mem, .l2 = l2b, .f64 = d, .f32 = s, .tf32 = t, \
	  .dot_f16 = h16, .dot_f8 = f8, .dot_int8 = i8, .dot_f64 = dd, .launch_us = us, .processors = sm, \
	  .price = cost, .spot_price = spot },
#include "tile/estimate/gpu.def"
#undef GPU
	{ .name = NULL }
};

const char tile_gpu_names[] =
#define GPU(n, ...) "|" n
#include "tile/estimate/gpu.def"
#undef GPU
	;

const struct tile_gpu *tile_gpu_find(struct str name)
{
	for (const struct tile_gpu *g = tile_gpus; g->name; g++)
		if (str_is_any_case(name, g->name))
			return g;
	return NULL;
}

/* Looks for the family, the name up to a dash, in the driver's name. "NVIDIA A100-SXM4-40GB"
 * contains "A100", which A100-40 and A100 share; the closer memory size decides. */
const struct tile_gpu *tile_gpu_of_device(struct str device, double gib)
{
	const struct tile_gpu *best = NULL;

	for (const struct tile_gpu *g = tile_gpus; g->name; g++) {
		struct str rest = str_of(g->name), family = str_cut(&rest, '-');

		if (str_find(device, family) >= 0 && (!best || fabs(g->gib - gib) < fabs(best->gib - gib)))
			best = g;
	}
	return best;
}
