/* The time of a kernel from its counts: see speed.h.
 *
 * Every part of the GPU that an instance uses has a rate. The use of one instance, times the
 * instances that the busiest multiprocessor gets, is how long that part is busy. The longest part
 * decides, and the others add to it, because overlap is never perfect: the parts are combined by
 * their third powers. Two parts of 1 ms each take 1.26 ms; 1 ms and 0.5 ms take 1.04 ms. The time
 * that instances wait is a part too, in as many waves as it takes to run all instances. */
#include "tile/estimate/speed.h"

#include <math.h>

const struct speed_rates speed_rates = {
#define SPEED(name, value) .name = value,
#include "tile/estimate/speed.def"
#undef SPEED
};

/* Limits of a multiprocessor. REGISTERS_USED are those a thread needs in addition to its tiles. */
enum { SECTOR_BYTES = 32, THREADS_MOST = 2048, BLOCKS_MOST = 32, REGISTERS_ALL = 65536, REGISTERS_MOST = 255,
       REGISTERS_USED = 32 };

double speed_stream(const struct tile_gpu *g)
{
	return g->memory * 1e9 * speed_rates.memory;
}

static double cube(double x)
{
	return x * x * x;
}

/* Instances that a multiprocessor holds at once, by threads, registers and shared memory. */
static int resident_of(const struct probe *p, const struct tile_gpu *g)
{
	double threads = 32.0 * p->warps, registers = fmin(fmax(p->registers + REGISTERS_USED, 32), REGISTERS_MOST);
	double most = fmin(BLOCKS_MOST, floor(THREADS_MOST / threads));

	most = fmin(most, floor(REGISTERS_ALL / (registers * threads)));
	most = fmin(most, floor((double)g->shared_bytes / (p->shared_bytes + 1024)));
	return (int)fmax(most, 1);
}

/* All lanes in operations of the fp32 units. */
static double vector_work(const struct probe_ops *o)
{
	const struct speed_rates *r = &speed_rates;

	return o->f32 + o->f16 + 16 * o->f64 + r->integer * o->integer + r->divided * o->divided +
		r->int_divided * o->int_divided + r->special * o->special + r->heavy * o->heavy +
		r->reduced * o->reduced;
}

/* Sectors that one instance stores. */
static double stored_sectors(const struct probe *p)
{
	double sum = 0;

	for (int i = 0; i < p->n_params; i++)
		sum += p->param[i].stored;
	return sum;
}

/* Seconds of all tensor cores for the products of one instance. Small tiles and transposed
 * operands reach less of the rate. */
static double tensor_seconds(const struct probe *p, const struct tile_gpu *g)
{
	const struct speed_rates *r = &speed_rates;
	const struct probe_dots *d = &p->dots;
	double all = d->tf32 + d->f16 + d->f8 + d->int8 + d->f64 + d->f32, share, full;

	if (all <= 0)
		return 0;
	full = pow(fmin(1, d->m * d->n / (128.0 * 128.0)) * fmin(1, d->k / 64.0), r->small_dot);
	share = full * (d->m % 64 || p->warps % 4 ? r->dot : r->dot_async) /
		(1 + r->dot_transposed * d->transposed / all);
	return ((d->tf32 / g->tf32 + d->f16 / g->dot_f16 + d->f8 / g->dot_f8 + d->int8 / g->dot_int8 +
		 d->f64 / g->dot_f64) / share +
		d->f32 / (g->f32 * r->dot_f32 * full)) * 1e-12;
}

/* Bytes that come from memory or go there. A tensor counts at most once, because the second-level
 * cache serves repeated reads. */
static double memory_bytes(const struct probe *p)
{
	double sum = 0;

	for (int i = 0; i < p->n_params; i++)
		sum += fmin(p->param[i].bytes, p->programs * p->param[i].unique * SECTOR_BYTES);
	return sum;
}

/* Time that one instance waits from its beginning to its end. */
static double path_seconds(const struct probe *p, double fetched, double from_memory)
{
	const struct speed_rates *r = &speed_rates;
	double loads = fmax(p->memory.sectors - stored_sectors(p), 1e-9);
	double missed = fmin(1, p->memory.missed / loads), fresh = fetched > 0 ? fmin(1, from_memory / fetched) : 0;

	return (p->load_waits * (r->wait_l1 + missed * (r->wait_l2 + fresh * r->wait_memory)) + p->piped_waits *
		r->wait_piped +
		(p->syncs + p->converts) * r->wait_sync + r->program) * 1e-9;
}

/* Atomics on one address are done one after another: 4096 instances adding to one element take
 * 4096 times atomic_ns. */
static double atomic_seconds(const struct probe *p)
{
	double longest = 0;

	for (int i = 0; i < p->n_params; i++) {
		double all = p->param[i].atomics * p->programs, addresses = fmax(fmin(p->param[i].bytes / 4, all), 1);

		longest = fmax(longest, all / addresses * speed_rates.atomic_ns * 1e-9);
	}
	return longest;
}

double speed_kernel(const struct probe *p, const struct tile_gpu *g, struct speed_parts *parts)
{
	const struct speed_rates *r = &speed_rates;
	double clock = r->clock_ghz * 1e9, waves = ceil(p->programs / g->processors);
	double sectors = p->memory.missed + stored_sectors(p) + 2 * p->memory.atomic_sectors;
	double fetched = p->programs * sectors * SECTOR_BYTES, bytes = memory_bytes(p);
	double spill = 1 + r->spill * fmax(0, p->registers - REGISTERS_MOST) / 128;
	struct speed_parts t = { .resident = resident_of(p, g) };
	double busy;

	/* A multiply-add is two operations in the data sheet and one operation of a lane here. */
	t.vector = waves * vector_work(&p->ops) * g->processors / (g->f32 * 1e12 / 2 * r->vector);
	t.requests = waves * (r->line * p->memory.lines + p->memory.requests + r->atomic_cycles *
			      p->memory.atomics) / clock;
	t.l2 = waves * sectors * SECTOR_BYTES * g->processors / (g->l2 * 1e9 * r->l2);
	t.tensor = waves * tensor_seconds(p, g) * g->processors;
	t.memory = bytes / speed_stream(g);
	t.waiting = ceil(p->programs / ((double)g->processors * t.resident)) * path_seconds(p, fetched, bytes);
	t.atomics = atomic_seconds(p);
	busy = cbrt(cube(t.vector) + cube(t.requests) + cube(t.l2) + cube(t.tensor)) * spill;
	if (parts)
		*parts = t;
	return cbrt(cube(busy) + cube(t.memory) + cube(t.waiting) + cube(t.atomics));
}
