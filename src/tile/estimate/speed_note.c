/* Notes about the estimated speed of kernels: see speed_note.h. */
#include "tile/estimate/speed_note.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

const char *speed_bound_name(enum speed_bound b)
{
	static const char *const names[] = { [SPEED_MEMORY] = "memory", [SPEED_COMPUTE] = "compute",
					     [SPEED_LATENCY] = "latency", [SPEED_LAUNCHES] = "launches" };

	return names[b];
}

/* The part that takes longest. A kernel that is shorter than its own launch is bound by launches. */
static enum speed_bound bound_of(const struct speed_parts *t, const struct tile_gpu *g, double seconds)
{
	double compute = fmax(fmax(t->vector, t->tensor), fmax(t->requests, t->atomics));
	double memory = fmax(t->memory, t->l2);

	if (seconds < g->launch_us * 1e-6)
		return SPEED_LAUNCHES;
	if (t->waiting > compute && t->waiting > memory)
		return SPEED_LATENCY;
	return compute > memory ? SPEED_COMPUTE : SPEED_MEMORY;
}

/* Seconds of the matrix products at the peak rates of the data sheet. */
static double product_seconds(const struct probe *p, const struct tile_gpu *g)
{
	const struct probe_dots *d = &p->dots;

	return p->programs * (d->tf32 / g->tf32 + d->f16 / g->dot_f16 + d->f8 / g->dot_f8 + d->int8 / g->dot_int8 +
			      d->f64 / g->dot_f64 + d->f32 / g->f32) * 1e-12;
}

/* Seconds at the peak rates of the data sheet: of the bytes, or of the operations. */
static double peak_seconds(const struct probe *p, const struct tile_gpu *g, const struct speed_parts *t)
{
	double bytes = t->memory * speed_stream(g), dots = product_seconds(p, g), vector;

	vector = p->programs * (p->ops.f32 + p->ops.f16) / (g->f32 * 1e12 / 2);
	return fmax(bytes / (g->memory * 1e9), fmax(dots, vector));
}

/* The entry of a kernel; NULL if all are taken. */
static struct speed_note *entry(struct speed_notes *s, struct str kernel)
{
	size_t n = MIN(kernel.n, SPEED_NAME - 1);

	for (int i = 0; i < s->n; i++)
		if (!strncmp(s->v[i].name, kernel.p, n) && !s->v[i].name[n])
			return &s->v[i];
	if (s->n == SPEED_NOTES) {
		s->more++;
		return NULL;
	}
	memcpy(s->v[s->n].name, kernel.p, n);
	s->v[s->n].name[n] = 0;
	return &s->v[s->n++];
}

void speed_notes_add(struct speed_notes *s, struct str kernel, const struct probe *p, const struct tile_gpu *g,
		     double seconds)
{
	struct speed_note *x = entry(s, kernel);
	struct speed_parts parts;

	if (!x)
		return;
	speed_kernel(p, g, &parts);
	x->launches++;
	x->seconds += seconds;
	x->peak += fmin(peak_seconds(p, g, &parts), seconds);
	x->products += fmin(product_seconds(p, g), seconds);
	if (seconds >= x->longest) {
		x->longest = seconds;
		x->bound = bound_of(&parts, g, seconds);
	}
}

/* A printable name that ends, and numbers that are finite and not negative. */
static int is_sane(const struct speed_note *x)
{
	size_t n = strnlen(x->name, SPEED_NAME);

	for (size_t i = 0; i < n; i++)
		if (x->name[i] < ' ' || x->name[i] > '~')
			return 0;
	return n < SPEED_NAME && x->launches > 0 && x->bound >= 0 && x->bound < SPEED_BOUNDS && isfinite(x->seconds) &&
	       isfinite(x->peak) && x->seconds >= 0 && x->peak >= 0 && x->peak <= x->seconds && x->products >= 0 &&
	       x->products <= x->peak;
}

int speed_notes_sane(const struct speed_notes *s)
{
	if (s->n < 0 || s->n > SPEED_NOTES || s->more < 0)
		return 0;
	for (int i = 0; i < s->n; i++)
		if (!is_sane(&s->v[i]))
			return 0;
	return 1;
}
