/* Adding up a call: see estimate.h. */
#include "verify/estimate.h"

#include "base/hash.h"
#include "base/mem.h"
#include "tile/speed.h"
#include "verify/op_speed.h"

/* Seconds that no kernel takes. */
static const double longest = 1e6;

void estimate_begin(struct estimate *s, const struct tile_gpu *g, unsigned tf32, int tunes)
{
	*s = (struct estimate){ .gpu = g, .tf32 = tf32, .tunes = tunes };
}

void estimate_call(void *estimate, const struct host_op_call *c)
{
	struct estimate *s = estimate;
	struct op_speed o = op_speed(c, s->gpu, s->tf32);

	s->busy += o.seconds + o.launches * s->gpu->launch_us * 1e-6;
	s->host += o.launches * speed_rates.host_op_us * 1e-6;
}

/* The entry of a kernel that is tried; NULL: it has none. */
static struct estimate_tuned *tuned_of(struct estimate *s, const struct tile_fn *fn)
{
	for (int i = 0; i < s->n_tuned; i++)
		if (s->tuned[i].fn == fn)
			return &s->tuned[i];
	return NULL;
}

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

/* Where a tensor begins counts as far as lines of memory go. */
enum { LINE = 256 };

static uint64_t hash_arg(const struct tile_val *a, uint64_t seed)
{
	const struct tensor *t = &a->t;
	int64_t v[] = { (int64_t)a->kind, a->i, 0, 0, 0, 0 };

	memcpy(&v[2], &a->f, sizeof v[2]);
	if (a->kind != TILE_V_TENSOR || !t->st)
		return hash_xxh64(v, sizeof v, seed);
	v[3] = (int64_t)t->dt;
	v[4] = t->offset * dtype_size(t->dt) % LINE;
	v[5] = (int64_t)t->st->bytes;
	seed = hash_xxh64(v, sizeof v, seed);
	seed = hash_xxh64(t->shape, sizeof *t->shape * (size_t)t->ndim, seed);
	return hash_xxh64(t->stride, sizeof *t->stride * (size_t)t->ndim, seed);
}

/* Launches that take the same time have the same key; 0: what it is launched with is not looked at. */
static uint64_t key_of(const struct tile_code *code, const struct tile_launch *l)
{
	int how[] = { l->num_warps, l->num_stages, l->num_ctas };
	uint64_t key = hash_xxh64(&code, sizeof code, 1);

	key = hash_xxh64(l->grid, sizeof l->grid, hash_xxh64(how, sizeof how, key));
	for (size_t i = 0; i < l->n_args; i++) {
		if (l->args[i].kind == TILE_V_TUPLE || l->args[i].kind == TILE_V_DESC)
			return 0;
		key = hash_arg(&l->args[i], key);
	}
	return key;
}

/* A loop over images launches the same thousands of times: it is walked through once. */
static int seconds_of(struct estimate *s, const struct tile_code *code, const struct tile_launch *l, double *seconds, struct err *e)
{
	uint64_t key = key_of(code, l);
	struct probe p;

	for (int i = 0; i < ESTIMATE_SEEN && key; i++)
		if (s->seen[i].key == key) {
			*seconds = s->seen[i].seconds;
			return 0;
		}
	if (probe_launch(code, l, s->gpu->capability, &p, e))
		return -1;
	*seconds = speed_kernel(&p, s->gpu, NULL);
	/* Loops in loops may have more turns than a number holds. */
	*seconds = *seconds < longest ? *seconds : longest;
	s->seen[s->next_seen].key = key;
	s->seen[s->next_seen].seconds = *seconds;
	s->next_seen = (s->next_seen + 1) % ESTIMATE_SEEN;
	return 0;
}

int estimate_launch(struct estimate *s, const struct tile_code *code, const struct tile_launch *l, struct err *e)
{
	struct estimate_tuned *t;
	double seconds;

	if (!l->grid[0] || !l->grid[1] || !l->grid[2])
		return 0;
	if (seconds_of(s, code, l, &seconds, e))
		return -1;
	if (l->compile_only) {
		note_try(s, l->fn, seconds);
		return 0;
	}
	t = tuned_of(s, l->fn);
	if (t && t->timing) {
		t->timing = 0;
		return 0;
	}
	s->busy += (t ? MIN(t->best, seconds) : seconds) + s->gpu->launch_us * 1e-6;
	s->host += speed_rates.host_launch_us * 1e-6;
	return 0;
}

double estimate_seconds(const struct estimate *s)
{
	return s->busy > 0 ? MAX(s->busy + speed_rates.start_us * 1e-6, s->host) : 0;
}
