/* Weights: taking them from a model and drawing new ones. See weights.h.
 *
 * Drawn weights are as large as the constructed ones, but never degenerate: a candidate that folds
 * "weight of one" or "bias of zero" into its code must be found. weights_match.c and weights_put.c
 * own the way back into a model. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "verify/candidate/weights.h"

/* Weights that are being taken. */
struct take_weights {
	struct task_weights *w;
	int64_t most;                 /* along a dimension */
	struct err *e;
};

/* A view of the first indices along each dimension, `most` at the most. */
static int take_first(struct tensor *out, const struct tensor *t, int64_t most, struct err *e)
{
	struct tensor next;

	*out = *t;
	tensor_retain(out);
	for (int d = 0; d < t->ndim; d++) {
		if (t->shape[d] <= most)
			continue;
		if (tensor_slice(&next, out, d, 0, most, 1, e)) {
			tensor_release(out);
			return -1;
		}
		tensor_release(out);
		*out = next;
	}
	return 0;
}

/* Copies one tensor of the model's state. Floats become fp32, which every set is kept in. */
static int take_weight(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct take_weights *k = ctx;
	struct task_weight w = { .name = "" };
	enum dtype dt = dtype_is_float(obj->t.dt) ? DT_F32 : obj->t.dt;
	struct tensor part;
	int rc;

	snprintf(w.name, sizeof w.name, "%.*s", STR_ARG(name));
	w.param = obj->is_param;
	memcpy(w.full, obj->t.shape, sizeof w.full);
	if (take_first(&part, &obj->t, k->most, k->e))
		return -1;
	rc = tensor_to(&w.t, &part, dt, k->e);
	tensor_release(&part);
	if (rc)
		return -1;
	if (vec_push(k->w, w)) {
		tensor_release(&w.t);
		return err_nomem(k->e);
	}
	return 0;
}

int weights_take(struct task_weights *w, struct host *h, struct val model, struct err *e)
{
	return weights_take_part(w, INT64_MAX, 0, h, model, e);
}

/* Takes a part of weights that are too large to be held several times: 16384 x 16384 becomes 1024 x
 * 1024. sparse_spread makes the whole weight again by repeating rows and columns. */
int weights_take_part(struct task_weights *w, int64_t most, uint64_t spread, struct host *h, struct val model,
		      struct err *e)
{
	struct take_weights k = { .w = w, .most = most, .e = e };

	*w = (struct task_weights){ .spread = spread };
	if (host_state(h, model, take_weight, &k)) {
		weights_release(w);
		return -1;
	}
	return 0;
}

void weights_release(struct task_weights *w)
{
	for (size_t i = 0; i < w->n; i++)
		tensor_release(&w->v[i].t);
	vec_free(w);
}

/* The copies own their memory, unlike those of weights_move. */
int weights_copy(struct task_weights *to, const struct task_weights *from, struct err *e)
{
	*to = (struct task_weights){ .spread = from->spread };
	for (size_t i = 0; i < from->n; i++) {
		struct task_weight w = from->v[i];

		if (vec_grow(to, 1) || tensor_to(&w.t, &from->v[i].t, w.t.dt, e)) {
			weights_release(to);
			return e && e->code ? -1 : err_nomem(e);
		}
		to->v[to->n++] = w;
	}
	return 0;
}

/* How many different random steps are drawn for a weight. It is a prime: no row or column of a
 * matrix gets one and the same step throughout. */
enum { STEPS = 8191 };

/* A running variance must stay positive; it is known by its name. */
static int is_variance(const struct task_weight *w)
{
	return strstr(w->name, "var") != NULL;
}

/* Moves each element by half of the weight's root mean square: a zero bias gets values, a norm's
 * weight of ones gets spread. Variances stay positive. */
static void redraw(struct task_weight *w, struct rng *r, double *step)
{
	float *v = tensor_data(&w->t);
	int64_t n = tensor_numel(&w->t);
	int positive = is_variance(w);
	double sum = 0.0, spread;

	for (int64_t i = 0; i < n; i++)
		sum += (double)v[i] * v[i];
	spread = n ? sqrt(sum / (double)n) : 0.0;
	spread = spread > 0.0 ? 0.5 * spread : 0.25;
	for (int64_t i = 0; i < MIN(n, STEPS); i++)
		step[i] = spread * rng_normal(r);
	for (int64_t i = 0; i < n; i++) {
		double x = v[i] + step[i % STEPS];

		v[i] = (float)(positive ? fabs(x) + 0.1 : x);
	}
}

/* Does the constructor fill it with one value? */
static int is_constant(const struct task_weight *w)
{
	const float *v = tensor_data(&w->t);
	int64_t n = tensor_numel(&w->t);

	for (int64_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return 0;
	return n > 0;
}

/* A buffer of zeros and one other value is a mask: it selects between two behaviours of a program
 * and is not a number that the program computes with. A candidate may know a mask without having
 * it. */
int weights_is_mask(const struct task_weight *w)
{
	const float *v = tensor_data(&w->t);
	int64_t n = tensor_numel(&w->t), zeros = 0;
	float other = 0.0f;

	if (w->param || w->t.dt != DT_F32)
		return 0;
	for (int64_t i = 0; i < n; i++) {
		zeros += v[i] == 0.0f;
		other = v[i] != 0.0f && other == 0.0f ? v[i] : other;
		if (v[i] != 0.0f && v[i] != other)
			return 0;
	}
	return zeros > 0 && zeros < n;
}

/* Draws one weight. The name is part of the seed, so that weights do not depend on each other. */
static void draw_one(struct task_weight *w, uint64_t seed, double *step)
{
	struct rng r;

	rng_init(&r, seed, w->name);
	redraw(w, &r, step);
}

/* Gives a counter of calls another start value: a program must not depend on how often it was
 * called. */
static void draw_counter(struct task_weight *w, uint64_t seed)
{
	enum { LEAST = 100, MOST = 10000 };
	struct rng r;

	rng_init(&r, seed, w->name);
	*(int64_t *)tensor_data(&w->t) += LEAST + (int64_t)(rng_u64(&r) % MOST);
}

/* An integer without dimensions that is no parameter, such as num_batches_tracked of a batch
 * norm. */
int weights_is_count(const struct task_weight *w)
{
	return w->t.dt == DT_I64 && !w->param && w->t.ndim == 0;
}

/* --- the state that a run begins with ----------------------------------------------------- */

/* Powers of two between which the number of earlier calls is drawn, for each kind of state: one
 * call, 2 to 512, 512 to 65536, and so on. */
static const double count_bits[WEIGHTS_STATES + 1] = { 0, 1, 9, 16, 24 };
/* Running statistics of earlier calls: large; small, so that one call changes them by much even
 * with a small momentum; of the other sign; small again. */
static const double statistic_scale[WEIGHTS_STATES] = { 8.0, 0x1p-6, -1.0, 0x1p-4 };

/* Fills a running statistic with values around the scale. */
static void begin_statistic(struct task_weight *w, struct rng *r, double scale)
{
	float *v = tensor_data(&w->t);
	int positive = is_variance(w);

	for (int64_t i = 0, n = tensor_numel(&w->t); i < n; i++) {
		double x = scale * (1.0 + 0.3 * rng_normal(r));

		v[i] = (float)(positive ? fabs(x) + 0.01 * fabs(scale) : x);
	}
}

/* A count gets a drawn number of calls, a statistic drawn values; the kind of state says how many
 * and how large. */
int weights_begin(struct task_weight *out, const struct task_weight *w, uint64_t state, struct err *e)
{
	uint64_t which = state % WEIGHTS_STATES;
	struct rng r;

	*out = *w;
	if (!state || !w->kept) {
		tensor_retain(&out->t);
		return 0;
	}
	if (tensor_to(&out->t, &w->t, w->t.dt, e))
		return -1;
	rng_init(&r, state, w->name);
	if (weights_is_count(w))
		*(int64_t *)tensor_data(&out->t) =
			(int64_t)exp2(count_bits[which] + (count_bits[which + 1] - count_bits[which]) * rng_f64(&r));
	else if (w->t.dt == DT_F32)
		begin_statistic(out, &r, statistic_scale[which]);
	return 0;
}

/* Masks and integers that are not counts keep their values. */
int weights_redraw(struct task_weights *w, uint64_t seed, struct err *e)
{
	double *step = mem_array(STEPS, sizeof *step);

	if (!step)
		return err_nomem(e);
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].t.dt == DT_F32 && !weights_is_mask(&w->v[i]))
			draw_one(&w->v[i], seed, step);
		else if (weights_is_count(&w->v[i]))
			draw_counter(&w->v[i], seed);
	mem_free(step);
	return 0;
}

/* Gives the first element the other sign. A weight of few elements may be positive throughout, and
 * a candidate that moves a scale out of a ReLU would be correct for it. */
static void negate_first(struct task_weight *w, const struct task_weight *built)
{
	float *v = tensor_data(&w->t), was = *(const float *)tensor_data(&built->t);

	if (!is_variance(w))
		v[0] = was != 0.0f ? -0.5f * was : -0.25f;
}

/* A weight that is not constant shares its tensor with `from`; a constant one gets new values and
 * is marked as moved. */
int weights_move(struct task_weights *to, const struct task_weights *from, uint64_t seed, struct err *e)
{
	double *step = mem_array(STEPS, sizeof *step);
	int rc = step ? 0 : err_nomem(e);

	*to = (struct task_weights){ .spread = from->spread };
	for (size_t i = 0; i < from->n && !rc; i++) {
		struct task_weight w = from->v[i];

		if (vec_grow(to, 1)) {
			rc = err_nomem(e);
			break;
		}
		w.moved = w.t.dt == DT_F32 && is_constant(&w);
		if (!w.moved)
			tensor_retain(&w.t);
		else if (!(rc = tensor_to(&w.t, &from->v[i].t, DT_F32, e))) {
			draw_one(&w, seed, step);
			negate_first(&w, &from->v[i]);
		}
		if (!rc)
			to->v[to->n++] = w;
	}
	mem_free(step);
	return rc;
}

size_t weights_bytes(const struct task_weights *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->v[i].t.st->bytes;
	return n;
}
