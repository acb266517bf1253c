/* The roofline model: seconds a kernel's work would take if the slower of memory and
 * arithmetic were the only limit. Always an estimate from below, never a measurement. */
#include "tile/gpu.h"
#include "tile/tile.h"

void tile_cost_add(struct tile_cost *into, const struct tile_cost *more)
{
	int64_t *a = (int64_t *)into;
	const int64_t *b = (const int64_t *)more;
	_Static_assert(sizeof *into % sizeof *a == 0, "struct tile_cost is counters only");
	for (size_t i = 0; i < sizeof *into / sizeof *a; i++)
		a[i] += b[i];
}

static double arithmetic_seconds(const struct tile_cost *c, const struct tile_gpu *g)
{
	double vector = c->ops_f64 / g->f64 + c->ops_f32 / g->f32 + c->ops_f16 / g->f16 + c->ops_int / g->integer +
		c->ops_special / g->special + c->dot_f32 / g->f32;
	double tensor = c->dot_tf32 / g->tf32 + c->dot_f16 / g->dot_f16 + c->dot_f8 / g->dot_f8 + c->dot_int8 / g->dot_int8 +
		c->dot_f64 / g->dot_f64;
	return (vector > tensor ? vector : tensor) * 1e-12;
}

double tile_cost_seconds(const struct tile_cost *c, const char *gpu)
{
	const struct tile_gpu *g = tile_gpu_find(str_of(gpu));
	if (!g)
		return -1;
	double all = (double)(c->bytes_loaded + c->bytes_stored);
	/* What is touched again comes from L2; without a count everything is taken as new. */
	double unique = c->bytes_unique ? (double)c->bytes_unique : all;
	double memory = unique / (g->memory * 1e9), cache = all / (g->l2 * 1e9);
	double slower = memory > cache ? memory : cache, work = arithmetic_seconds(c, g);
	/* Fewer programs than multiprocessors leave part of the machine idle. */
	double share = c->launches && c->programs / c->launches < g->processors ?
		(double)c->programs / (double)c->launches / g->processors : 1;
	work /= share > 0 ? share : 1;
	return (slower > work ? slower : work) + c->launches * g->launch_us * 1e-6;
}
