/* Weights: taking them from a model, drawing new ones, putting them into another model. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "verify/trial.h"

struct take_weights {
	struct task_weights *w;
	struct err *e;
};

static int take_weight(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct take_weights *k = ctx;
	struct task_weight w = { .name = "" };
	enum dtype dt = dtype_is_float(obj->t.dt) ? DT_F32 : obj->t.dt;

	snprintf(w.name, sizeof w.name, "%.*s", STR_ARG(name));
	if (tensor_to(&w.t, &obj->t, dt, k->e))
		return -1;
	if (vec_push(k->w, w)) {
		tensor_release(&w.t);
		return err_nomem(k->e);
	}
	return 0;
}

int weights_take(struct task_weights *w, struct host *h, struct val model, struct err *e)
{
	struct take_weights k = { .w = w, .e = e };

	*w = (struct task_weights){ .v = NULL };
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

int weights_copy(struct task_weights *to, const struct task_weights *from, struct err *e)
{
	*to = (struct task_weights){ .v = NULL };
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

/* How many different steps there are: a prime, so that no row or column of a matrix gets one
 * step throughout. */
enum { STEPS = 8191 };

/* Around what the constructor made, but never degenerate: a zero bias gets values, a norm
 * weight of one gets spread. Variances stay positive, counters stay as they are. */
static void redraw(struct task_weight *w, struct rng *r, double *step)
{
	float *v = tensor_data(&w->t);
	int64_t n = tensor_numel(&w->t);
	int positive = strstr(w->name, "var") != NULL;
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

static int is_constant(const struct task_weight *w)
{
	const float *v = tensor_data(&w->t);
	int64_t n = tensor_numel(&w->t);

	for (int64_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return 0;
	return n > 0;
}

static void draw_one(struct task_weight *w, uint64_t seed, double *step)
{
	struct rng r;

	rng_init(&r, seed, w->name);
	redraw(w, &r, step);
}

int weights_redraw(struct task_weights *w, uint64_t seed, struct err *e)
{
	double *step = mem_array(STEPS, sizeof *step);

	if (!step)
		return err_nomem(e);
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].t.dt == DT_F32)
			draw_one(&w->v[i], seed, step);
	mem_free(step);
	return 0;
}

int weights_move(struct task_weights *to, const struct task_weights *from, uint64_t seed, struct err *e)
{
	double *step = mem_array(STEPS, sizeof *step);
	int rc = step ? 0 : err_nomem(e);

	*to = (struct task_weights){ .v = NULL };
	for (size_t i = 0; i < from->n && !rc; i++) {
		struct task_weight w = from->v[i];

		if (vec_grow(to, 1)) {
			rc = err_nomem(e);
			break;
		}
		w.moved = w.t.dt == DT_F32 && is_constant(&w);
		if (!w.moved)
			tensor_retain(&w.t);
		else if (!(rc = tensor_to(&w.t, &from->v[i].t, DT_F32, e)))
			draw_one(&w, seed, step);
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

/* --- putting ----------------------------------------------------------------------------- */

struct put_weights {
	const struct task_weights *from;
	int by_name, dry, keep_parameters;
	size_t at, matched, seen;
	struct err *e;
};

static const struct task_weight *partner(struct put_weights *k, struct str name, const struct tensor *t)
{
	if (!k->by_name) {
		while (dtype_is_float(t->dt) && k->at < k->from->n) {
			const struct task_weight *w = &k->from->v[k->at++];

			if (dtype_is_float(w->t.dt))
				return tensor_same_shape(&w->t, t) ? w : NULL;
		}
		return NULL;
	}
	for (size_t i = 0; i < k->from->n; i++)
		if (str_is(name, k->from->v[i].name) && tensor_same_shape(&k->from->v[i].t, t))
			return &k->from->v[i];
	return NULL;
}

static int put_weight(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct put_weights *k = ctx;
	const struct task_weight *w = partner(k, name, &obj->t);

	k->seen += k->by_name || dtype_is_float(obj->t.dt);
	if (!w)
		return 0;
	k->matched++;
	return k->dry || (k->keep_parameters && obj->is_param) ? 0 : tensor_copy(&obj->t, &w->t, k->e);
}

int weights_restore(const struct task_weights *w, struct host *h, struct val model, const char *how, struct err *e)
{
	struct put_weights k = { .from = w, .by_name = strcmp(how, "order") != 0, .keep_parameters = 1, .e = e };

	return host_state(h, model, put_weight, &k) ? -1 : 0;
}

static size_t floats_of(const struct task_weights *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += dtype_is_float(w->v[i].t.dt);
	return n;
}

struct name_search {
	const struct task_weight *w;
	int found;
};

static int look_for_name(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct name_search *s = ctx;

	s->found |= str_is(name, s->w->name) && tensor_same_shape(&s->w->t, &obj->t);
	return 0;
}

const struct task_weight *weights_missing(const struct task_weights *w, struct host *h, struct val model)
{
	for (size_t i = 0; i < w->n; i++) {
		struct name_search s = { .w = &w->v[i] };

		if (!w->v[i].moved)
			continue;
		host_state(h, model, look_for_name, &s);
		if (!s.found)
			return s.w;
	}
	return NULL;
}

int weights_put(const struct task_weights *w, struct host *h, struct val model, char how[16], struct err *e)
{
	for (int by_name = 1; by_name >= 0; by_name--) {
		struct put_weights k = { .from = w, .by_name = by_name, .dry = 1, .e = e };

		if (host_state(h, model, put_weight, &k))
			return -1;
		if (k.matched != (by_name ? w->n : floats_of(w)) || (!by_name && k.seen != floats_of(w)))
			continue;
		k = (struct put_weights){ .from = w, .by_name = by_name, .e = e };
		if (host_state(h, model, put_weight, &k))
			return -1;
		snprintf(how, 16, "%s", by_name ? "name" : "order");
		return 0;
	}
	snprintf(how, 16, "seed");
	return host_state(h, model, put_weight, &(struct put_weights){ .from = w, .by_name = 1, .e = e }) ? -1 : 0;
}
