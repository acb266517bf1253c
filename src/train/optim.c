/* AdamW and learning rate schedules: optim.h has the formulas. The state is one slab: first
 * moments, second moments, counters, so that saving and loading are one call. */
#include "train/optim.h"

#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "ops/ops.h"

enum { COUNTERS = 5 };   /* the step and the caller's four */

struct optim {
	struct tape *t;
	struct optim_opts o;
	struct slab state;         /* m.* then v.* in the order of the parameters, then counters */
	int64_t counter[COUNTERS]; /* the present values; the state holds the saved ones */
};

/* The schedule's factor at x in [0, 1] of the way after the warm-up; m is the floor
 * (schedule.def). */
static double factor_of(enum schedule_kind k, double x, double m)
{
	switch (k) {
#define SCHEDULE(id, name, factor) case SCHEDULE_##id: return factor;
#include "train/schedule.def"
#undef SCHEDULE
	default: BUG("schedule %d", (int)k);
	}
}

/* The learning rate of a step: linear warm-up, then the schedule. Warm-up of 10 steps gives 0.1 lr
 * at step 0 and lr at step 9. */
double schedule_lr(const struct optim_opts *o, int64_t step)
{
	int64_t rest = o->total - o->warmup;
	double x;

	if (step < o->warmup)
		return o->lr * (double)(step + 1) / (double)o->warmup;
	x = rest > 0 ? (double)(step - o->warmup) / (double)rest : 1.0;
	return o->lr * factor_of(o->schedule, MIN(x, 1.0), o->floor);
}

/* One moment tensor for each parameter, named "m.NAME" or "v.NAME". */
static int add_moments(struct optim *o, const char *which, struct err *e)
{
	const struct slab *p = tape_params(o->t);

	for (size_t i = 0; i < p->n; i++)
		if (slab_add(&o->state, DT_F32, p->v[i].ndim, p->v[i].shape, e, "%s.%s", which, p->v[i].name) < 0)
			return -1;
	return 0;
}

struct optim *optim_new(struct tape *t, const struct optim_opts *opts, struct err *e)
{
	struct optim *o = mem_zalloc(sizeof *o);
	int64_t n = COUNTERS;

	if (!o) {
		err_nomem(e);
		return NULL;
	}
	o->t = t;
	o->o = *opts;
	slab_init(&o->state, model_dev(tape_model(t)), "optimizer state");
	if (add_moments(o, "m", e) || add_moments(o, "v", e) || slab_add(&o->state, DT_I64, 1, &n, e, "counters") < 0 ||
	    slab_alloc(&o->state, e)) {
		optim_free(o);
		return NULL;
	}
	return o;
}

void optim_free(struct optim *o)
{
	if (!o)
		return;
	slab_release(&o->state);
	mem_free(o);
}

/* Matrices decay, vectors (norms, biases) do not. */
static float decay_of(const struct optim *o, int i)
{
	return tape_params(o->t)->v[i].ndim > 1 ? o->o.decay : 0;
}

/* One AdamW update. Neighbouring parameters with the same decay are one range: all slabs have the
 * same offsets, with zeros in the gaps, so one call covers several parameters. */
static void update(struct optim *o, double lr, double scale)
{
	struct slab *p = tape_params(o->t), *g = tape_grads(o->t);
	struct dev *d = model_dev(tape_model(o->t));
	double step = (double)o->counter[0];
	struct adamw k = { .lr = (float)lr, .beta1 = o->o.beta1, .beta2 = o->o.beta2, .eps = o->o.eps,
			   .scale = (float)scale,
			   .correct1 = (float)(1 - pow((double)o->o.beta1, step)),
			   .correct2 = (float)(1 - pow((double)o->o.beta2, step)) };

	for (int i = 0, next; i < (int)p->n; i = next) {
		size_t n;

		k.decay = decay_of(o, i);
		for (next = i + 1; next < (int)p->n && decay_of(o, next) == k.decay;)
			next++;
		n = (next < (int)p->n ? p->v[next].offset : p->bytes) - p->v[i].offset;
		ops_of(d)->adamw(d, slab_f32(p, i), slab_f32(&o->state, i), slab_f32(&o->state, i + (int)p->n),
				 slab_f32(g, i),
				 n / sizeof(float), &k);
	}
	tape_updated(o->t);
}

/* Clips the gradient by its global norm and updates. A gradient that is not finite changes nothing:
 * the step is counted and reported as skipped. */
void optim_step(struct optim *o, struct optim_report *r)
{
	double norm = tape_grad_norm(o->t), lr = schedule_lr(&o->o, o->counter[0]);
	double scale = o->o.clip > 0 && norm > o->o.clip ? o->o.clip / (norm + 1e-6) : 1.0;

	o->counter[0]++;
	*r = (struct optim_report){ .step = o->counter[0], .lr = lr, .grad_norm = norm, .skipped = !isfinite(norm) };
	if (r->skipped)
		log_warn("step %lld: the gradient is not finite, no update", (long long)r->step);
	else
		update(o, lr, scale);
	tape_zero_grads(o->t);
}

int64_t *optim_counters(struct optim *o) { return o->counter + 1; }
const struct slab *optim_slab(const struct optim *o) { return &o->state; }

void optim_put_counters(const struct optim *o)
{
	dev_put(o->state.dev, slab_at(&o->state, (int)o->state.n - 1), o->counter, sizeof o->counter);
}

int optim_save(const struct optim *o, const char *path, struct err *e)
{
	optim_put_counters(o);
	return slab_save(&o->state, path, "", e);
}

int optim_load(struct optim *o, const char *path, struct err *e)
{
	return slab_load(&o->state, path, "", e) || slab_get(&o->state, (int)o->state.n - 1, o->counter, e) ? -1 : 0;
}
