/* Adding up the estimated time of a call: see estimate.h. The GPU's time and the host's time are
 * summed apart, since they overlap: a call takes the longer of the two. */
#include "host/estimate.h"

#include "base/mem.h"
#include "host/op_speed.h"
#include "tile/estimate/speed.h"

/* Seconds that no kernel takes: a bound for estimates of absurd launches. */
static const double longest = 1e6;

void estimate_begin(struct estimate *s, const struct tile_gpu *g, unsigned tf32, int tunes)
{
	*s = (struct estimate){ .gpu = g, .tf32 = tf32, .tunes = tunes };
}

/* An operator costs its kernels' time, a start for each launch, and the host's time around it. */
void estimate_call(void *estimate, const struct host_op_call *c)
{
	struct estimate *s = estimate;
	struct op_speed o = op_speed(c, s->gpu, s->tf32);

	s->busy += o.seconds + o.launches * s->gpu->launch_us * 1e-6;
	s->host += o.launches * speed_rates.host_op_us * 1e-6;
}

/* The entry of an autotuned kernel; NULL: it has none. */
static struct estimate_tuned *tuned_of(struct estimate *s, const struct tile_fn *fn)
{
	for (int i = 0; i < s->n_tuned; i++)
		if (s->tuned[i].fn == fn)
			return &s->tuned[i];
	return NULL;
}

/* Notes a configuration that an autotuner tries: the best of them is the one that runs. Kernels
 * beyond ESTIMATE_TUNED count with the configuration that they are launched with. */
static void note_try(struct estimate *s, const struct tile_fn *fn, double seconds)
{
	struct estimate_tuned *t = tuned_of(s, fn);

	if (!t && s->n_tuned < ESTIMATE_TUNED) {
		t = &s->tuned[s->n_tuned++];
		*t = (struct estimate_tuned){ .fn = fn, .best = seconds };
	}
	if (t) {
		t->best = MIN(t->best, seconds);
		t->timing = s->tunes;
	}
}

/* A launch that only compiles is an autotuner's try. After the tries the autotuner launches its
 * choice once more by itself (`timing`); that launch does not belong to the call. */
int estimate_launch(struct estimate *s, const struct tile_code *code, const struct tile_launch *l, struct err *e)
{
	struct estimate_tuned *t;
	struct probe p;
	double seconds;

	if (!l->grid[0] || !l->grid[1] || !l->grid[2])
		return 0;
	if (probe_launch(code, l, s->gpu->capability, &p, e))
		return -1;
	seconds = speed_kernel(&p, s->gpu, NULL);
	/* Nested loops may have more iterations than a double holds. */
	seconds = seconds < longest ? seconds : longest;
	if (l->compile_only) {
		note_try(s, l->fn, seconds);
		return 0;
	}
	t = tuned_of(s, l->fn);
	if (t && t->timing) {
		t->timing = 0;
		return 0;
	}
	seconds = t ? MIN(t->best, seconds) : seconds;
	speed_notes_add(&s->kernels, l->fn->name, &p, s->gpu, seconds);
	s->busy += seconds + s->gpu->launch_us * 1e-6;
	s->host += speed_rates.host_launch_us * 1e-6;
	return 0;
}

/* A call that overlaps well takes the GPU's time and one start; one of many short kernels takes the
 * host's time. */
double estimate_seconds(const struct estimate *s)
{
	return s->busy > 0 ? MAX(s->busy + speed_rates.start_us * 1e-6, s->host) : 0;
}
