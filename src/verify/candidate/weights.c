/* Weights: taking them from a model, drawing new ones, putting them into another model. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tensor/sparse.h"
#include "verify/candidate/trial.h"

struct take_weights {
	struct task_weights *w;
	int64_t most;                 /* along a dimension */
	struct err *e;
};

/* The first ones along each dimension, no more than so many. */
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

static int take_weight(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct take_weights *k = ctx;
	struct task_weight w = { .name = "" };
	enum dtype dt = dtype_is_float(obj->t.dt) ? DT_F32 : obj->t.dt;
	struct tensor part;
	int rc;

	snprintf(w.name, sizeof w.name, "%.*s", STR_ARG(name));
	w.param = obj->is_param;
	memcpy(w.own, obj->t.shape, sizeof w.own);
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

/* How many different steps there are: a prime, so that no row or column of a matrix gets one
 * step throughout. */
enum { STEPS = 8191 };

static int is_variance(const struct task_weight *w)
{
	return strstr(w->name, "var") != NULL;
}

/* Around what the constructor made, but never degenerate: a zero bias gets values, a norm
 * weight of one gets spread. Variances stay positive. */
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

static int is_constant(const struct task_weight *w)
{
	const float *v = tensor_data(&w->t);
	int64_t n = tensor_numel(&w->t);

	for (int64_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return 0;
	return n > 0;
}

/* A buffer of zeros and one other value is a mask: which of two things a program does, not what it
 * does them with. A program may know it without having it. */
static int is_mask(const struct task_weight *w)
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

static void draw_one(struct task_weight *w, uint64_t seed, double *step)
{
	struct rng r;

	rng_init(&r, seed, w->name);
	redraw(w, &r, step);
}

/* A counter of calls goes on from another number: how often it was called is nothing to a program. */
static void draw_counter(struct task_weight *w, uint64_t seed)
{
	enum { LEAST = 100, MOST = 10000 };
	struct rng r;

	rng_init(&r, seed, w->name);
	*(int64_t *)tensor_data(&w->t) += LEAST + (int64_t)(rng_u64(&r) % MOST);
}

int weights_is_count(const struct task_weight *w)
{
	return w->t.dt == DT_I64 && !w->param && w->t.ndim == 0;
}

/* --- where a run begins ------------------------------------------------------------------------ */

/* So many times forward was called before, as powers of two: once, or from one to the next of these. */
static const double count_bits[WEIGHTS_STATES + 1] = { 0, 1, 9, 16, 24 };
/* Statistics of other calls are large, small (so that a call changes them by much, however small
 * its share is), or of the other sign. */
static const double statistic_scale[WEIGHTS_STATES] = { 8.0, 0x1p-6, -1.0, 0x1p-4 };

static void begin_statistic(struct task_weight *w, struct rng *r, double scale)
{
	float *v = tensor_data(&w->t);
	int positive = is_variance(w);

	for (int64_t i = 0, n = tensor_numel(&w->t); i < n; i++) {
		double x = scale * (1.0 + 0.3 * rng_normal(r));

		v[i] = (float)(positive ? fabs(x) + 0.01 * fabs(scale) : x);
	}
}

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
		*(int64_t *)tensor_data(&out->t) = (int64_t)exp2(count_bits[which] +
								 (count_bits[which + 1] - count_bits[which]) * rng_f64(&r));
	else if (w->t.dt == DT_F32)
		begin_statistic(out, &r, statistic_scale[which]);
	return 0;
}

int weights_redraw(struct task_weights *w, uint64_t seed, struct err *e)
{
	double *step = mem_array(STEPS, sizeof *step);

	if (!step)
		return err_nomem(e);
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].t.dt == DT_F32 && !is_mask(&w->v[i]))
			draw_one(&w->v[i], seed, step);
		else if (weights_is_count(&w->v[i]))
			draw_counter(&w->v[i], seed);
	mem_free(step);
	return 0;
}

/* Of few elements all may stay above zero, and a program that takes a scale out of a ReLU is right
 * for those: the first has the other sign. */
static void turn_first(struct task_weight *w, const struct task_weight *built)
{
	float *v = tensor_data(&w->t), was = *(const float *)tensor_data(&built->t);

	if (!is_variance(w))
		v[0] = was != 0.0f ? -0.5f * was : -0.25f;
}

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
			turn_first(&w, &from->v[i]);
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

/* --- putting ----------------------------------------------------------------------------- */

/* A model's own tensors, and which weight each one stands for. */
struct member {
	char name[96];
	struct tensor_obj *obj;
	const struct task_weight *of;
};

struct members {
	struct member *v;
	size_t n, cap;
};

static int add_member(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct members *m = ctx;
	struct member x = { .obj = obj };

	snprintf(x.name, sizeof x.name, "%.*s", STR_ARG(name));
	return vec_push(m, x) ? -1 : 0;
}

static int fits_transposed(const struct member *m, const struct task_weight *w)
{
	const struct tensor *a = &m->obj->t;

	return !m->of && a->ndim == 2 && w->t.ndim == 2 && a->shape[0] == w->own[1] &&
		a->shape[1] == w->own[0] && dtype_is_float(a->dt);
}

/* The same shape but for sizes of one: a bias of (64, 1, 1) is written (64,) as well. */
static int same_sizes(int ndim, const int64_t *shape, const struct task_weight *w)
{
	int i = 0, k = 0;

	for (;;) {
		while (i < ndim && shape[i] == 1)
			i++;
		while (k < w->t.ndim && w->own[k] == 1)
			k++;
		if (i == ndim || k == w->t.ndim)
			return i == ndim && k == w->t.ndim;
		if (shape[i++] != w->own[k++])
			return 0;
	}
}

/* Are there but a few of it along some dimension? */
static int is_reduced(const struct task_weight *w)
{
	for (int i = 0; i < w->t.ndim; i++)
		if (w->own[i] != w->t.shape[i])
			return 1;
	return 0;
}

static int same_kind(const struct member *m, const struct task_weight *w)
{
	return !m->of && dtype_is_float(m->obj->t.dt) == dtype_is_float(w->t.dt);
}

static int fits(const struct member *m, const struct task_weight *w)
{
	return same_kind(m, w) && same_sizes(m->obj->t.ndim, m->obj->t.shape, w);
}

/* Kept in another shape under its name: a kernel's window as a matrix. */
static int fits_folded(const struct member *m, const struct task_weight *w)
{
	return same_kind(m, w) && !is_reduced(w) && tensor_numel(&m->obj->t) == tensor_numel(&w->t);
}

/* Is one name the end of the other, with a dot or an underscore before it? "linear.weight" is
 * written "linear_weight" and "weight" as well. */
static int is_suffix(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), n = MIN(na, nb);
	const char *longer = na > nb ? a : b;

	for (size_t i = 1; i <= n; i++) {
		char x = a[na - i] == '.' ? '_' : a[na - i], y = b[nb - i] == '.' ? '_' : b[nb - i];

		if (x != y)
			return 0;
	}
	return na == nb || longer[MAX(na, nb) - n - 1] == '.' || longer[MAX(na, nb) - n - 1] == '_';
}

/* How a weight may be known again: by its name; by the end of its name, if only one tensor has that;
 * by its place among those of its shape, or of its shape turned, that are left, a parameter as a
 * parameter; by the end of its name in another shape. */
enum match { MATCH_NAME, MATCH_SUFFIX, MATCH_ORDER, MATCH_TRANSPOSED, MATCH_FOLDED, MATCHES };

static const char *const match_names[MATCHES + 1] = { "name", "suffix", "order", "transposed", "folded", "seed" };

static int fits_by(const struct member *m, const struct task_weight *w, enum match by)
{
	return by == MATCH_TRANSPOSED ? fits_transposed(m, w) : by == MATCH_FOLDED ? fits_folded(m, w) : fits(m, w);
}

static struct member *find_member(struct members *m, const struct task_weight *w, enum match by)
{
	struct member *found = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct member *x = &m->v[i];

		if (!fits_by(x, w, by))
			continue;
		if (by == MATCH_NAME ? !strcmp(x->name, w->name) :
		    (by == MATCH_ORDER || by == MATCH_TRANSPOSED) && x->obj->is_param == w->param)
			return x;
		if ((by != MATCH_SUFFIX && by != MATCH_FOLDED) || !is_suffix(x->name, w->name))
			continue;
		if (found)
			return NULL;
		found = x;
	}
	return found;
}

static const struct member *partner_of(const struct members *m, const struct task_weight *w)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].of == w)
			return &m->v[i];
	return NULL;
}

static int has_partner(const struct members *m, const struct task_weight *w)
{
	return partner_of(m, w) != NULL;
}

/* Counters, masks and what the reference's forward itself overwrites may be missing. */
static int may_be_missing(const struct task_weight *w)
{
	return !dtype_is_float(w->t.dt) || w->kept || is_mask(w);
}

/* Every weight its tensor, as far as there is one; how the last of them was found. */
static enum match match_members(struct members *m, const struct task_weights *w)
{
	enum match worst = MATCH_NAME;

	for (enum match by = MATCH_NAME; by < MATCHES; by++)
		for (size_t i = 0; i < w->n; i++) {
			struct member *x = has_partner(m, &w->v[i]) ? NULL : find_member(m, &w->v[i], by);

			if (!x)
				continue;
			x->of = &w->v[i];
			worst = by;
		}
	for (size_t i = 0; i < w->n; i++)
		if (!may_be_missing(&w->v[i]) && !has_partner(m, &w->v[i]))
			worst = MATCHES;
	return worst;
}

static int open_members(struct members *m, const struct task_weights *w, struct host *h, struct val model,
			enum match *by, struct err *e)
{
	*m = (struct members){ .n = 0 };
	if (host_state(h, model, add_member, m)) {
		vec_free(m);
		return err_nomem(e);
	}
	*by = match_members(m, w);
	return 0;
}

const struct task_weight *weights_missing(const struct task_weights *w, struct host *h, struct val model)
{
	const struct task_weight *missing = NULL;
	struct members m;
	enum match by;

	if (open_members(&m, w, h, model, &by, NULL))
		return NULL;
	for (size_t i = 0; i < w->n && !missing; i++)
		if ((w->v[i].moved || w->v[i].param) && !w->v[i].kept && !has_partner(&m, &w->v[i]))
			missing = &w->v[i];
	vec_free(&m);
	return missing;
}

/* The member's shape, with a few in place of what the weight has but a few of. */
static void reduced_shape(const struct member *m, int64_t *shape)
{
	const struct task_weight *w = m->of;

	memcpy(shape, m->obj->t.shape, TENSOR_DIMS * sizeof *shape);
	for (int i = 0, k = 0; is_reduced(w) && i < m->obj->t.ndim; i++) {
		if (shape[i] == 1)
			continue;
		while (w->own[k] == 1)
			k++;
		shape[i] = w->t.shape[k++];
	}
}

/* By its values or by its shape. */
static int is_transposed(const struct member *m)
{
	const struct tensor *a = &m->obj->t;
	const int64_t *own = m->of->own;

	return m->obj->transposed || (a->ndim == 2 && m->of->t.ndim == 2 && a->shape[0] != own[0] &&
				      a->shape[0] == own[1]);
}

/* The weight that a member stands for, in the member's shape: a view of it. */
static int as_member(struct tensor *out, const struct member *m, struct err *e)
{
	int64_t shape[TENSOR_DIMS];

	if (is_transposed(m))
		return tensor_transpose(out, &m->of->t, 0, 1, e);
	reduced_shape(m, shape);
	return tensor_view(out, &m->of->t, m->obj->t.ndim, shape, e);
}

/* --- what names and shapes do not settle ------------------------------------------------------ */

/* Is it certain which weight it stands for? Its whole name says so, the end of its name or its
 * shape where only one weight has it. */
static int is_settled(const struct member *m, const struct task_weights *w)
{
	int ends = 0, shapes = 0;

	for (size_t i = 0; i < w->n; i++) {
		ends += w->v[i].param && is_suffix(m->name, w->v[i].name);
		shapes += w->v[i].param && same_sizes(m->of->t.ndim, m->of->own, &w->v[i]);
	}
	return !strcmp(m->name, m->of->name) || shapes == 1 || (ends == 1 && is_suffix(m->name, m->of->name));
}

/* The same draws, whatever was done with them since. */
static int holds_values(const struct member *m, struct err *e)
{
	const double slack = m->obj->t.dt == DT_F32 ? 1e-5 : 1e-2;
	struct tensor view, a, b;
	const double *x, *y;
	double most = 0.0, apart = 0.0;

	if (as_member(&view, m, e))
		return -1;
	if (tensor_to(&b, &view, DT_F64, e)) {
		tensor_release(&view);
		return -1;
	}
	tensor_release(&view);
	if (tensor_to(&a, &m->obj->t, DT_F64, e)) {
		tensor_release(&b);
		return -1;
	}
	x = tensor_data(&a);
	y = tensor_data(&b);
	for (int64_t i = 0, n = tensor_numel(&a); i < n; i++) {
		most = fmax(most, fabs(y[i]));
		apart = isnan(x[i]) ? INFINITY : fmax(apart, fabs(x[i] - y[i]));
	}
	tensor_release(&a);
	tensor_release(&b);
	return apart <= slack * most;
}

/* As wide as it is high, and not under the reference's whole name: is it the weight or its transpose? */
static int may_be_transposed(const struct member *m)
{
	const struct tensor *t = &m->obj->t;

	return m->of && fits_transposed(&(struct member){ .obj = m->obj }, m->of) &&
		t->shape[0] == t->shape[1] && strcmp(m->name, m->of->name) != 0;
}

int weights_note_transposed(const struct task_weights *w, struct host *h, struct val model,
			    uint64_t *transposed, struct err *e)
{
	struct members m;
	enum match by;
	int rc = open_members(&m, w, h, model, &by, e);

	*transposed = 0;
	for (size_t i = 0; !rc && i < m.n; i++) {
		int straight = may_be_transposed(&m.v[i]) ? holds_values(&m.v[i], e) : 1, other = 0;

		if (!straight) {
			m.v[i].obj->transposed = 1;
			other = holds_values(&m.v[i], e);
			m.v[i].obj->transposed = other > 0;
		}
		*transposed |= i < 64 && m.v[i].of && is_transposed(&m.v[i]) ? (uint64_t)1 << i : 0;
		rc = straight < 0 || other < 0 ? -1 : 0;
	}
	vec_free(&m);
	return rc;
}

int weights_differ(const struct task_weights *w, struct host *h, struct val model,
		   const struct task_weight **out, struct err *e)
{
	struct members m;
	enum match by;
	int rc = open_members(&m, w, h, model, &by, e);

	*out = NULL;
	for (size_t i = 0; !rc && i < m.n && !*out; i++) {
		int same = 1;

		if (m.v[i].of && m.v[i].of->param && dtype_is_float(m.v[i].of->t.dt) && !is_settled(&m.v[i], w))
			same = holds_values(&m.v[i], e);
		rc = same < 0 ? -1 : 0;
		*out = same ? NULL : m.v[i].of;
	}
	vec_free(&m);
	return rc;
}

/* --- putting them there --------------------------------------------------------------------- */

/* A hollow model borrows them, and needs no more than what its kernels touch. */
static int put_tensor(const struct tensor *to, const struct tensor *from, const struct weights_reduced *reduced,
		      uint64_t spread, struct err *e)
{
	to->st->numbers = 0;
	if (to->st->hollow)
		return sparse_few(to, from, spread ? SPARSE_ANY : reduced->n, spread ? spread : reduced->seed) ?
			err_nomem(e) : 0;
	if (spread && !tensor_same_shape(to, from))
		return sparse_spread(to, from, spread) ? err_nomem(e) : 0;
	return tensor_copy(to, from, e);
}

static int put_weight(const struct member *m, const struct weights_reduced *reduced, uint64_t spread, struct err *e)
{
	struct tensor from;
	int rc;

	/* Without values nobody knows which way round it is, unless it was found where there were some. */
	if (m->obj->t.st->hollow && !reduced->settled && may_be_transposed(m))
		return 0;
	rc = as_member(&from, m, e);

	if (!rc) {
		rc = put_tensor(&m->obj->t, &from, reduced, spread, e);
		tensor_release(&from);
	}
	return rc;
}

static int put_member(const struct member *m, uint64_t state, const struct weights_reduced *reduced,
		      uint64_t spread, struct err *e)
{
	struct task_weight begun;
	struct member x = *m;
	int rc = weights_begin(&begun, m->of, state, e);

	if (rc)
		return rc;
	x.of = &begun;
	rc = put_weight(&x, reduced, spread, e);
	tensor_release(&begun.t);
	return rc;
}

/* NaN would say that there is no such tensor. */
static int put_kept(double *to, const struct tensor *t, struct err *e)
{
	struct tensor wide;
	const double *v;

	if (tensor_to(&wide, t, DT_F64, e))
		return -1;
	v = tensor_data(&wide);
	for (int64_t i = 0, n = tensor_numel(&wide); i < n; i++)
		to[i] = isnan(v[i]) ? INFINITY : v[i];
	tensor_release(&wide);
	return 0;
}

/* Values that are those the buffer was given say nothing. */
static int forget_left(double *v, const struct task_weight *w, uint64_t state, struct err *e)
{
	struct task_weight given;
	struct tensor wide;
	int64_t n = tensor_numel(&w->t);
	int rc = weights_begin(&given, w, state, e);

	if (!rc) {
		rc = tensor_to(&wide, &given.t, DT_F64, e);
		tensor_release(&given.t);
	}
	if (rc)
		return -1;
	if (!memcmp(v, tensor_data(&wide), (size_t)n * sizeof *v))
		for (int64_t i = 0; i < n; i++)
			v[i] = NAN;
	tensor_release(&wide);
	return 0;
}

static int may_leave(const struct weights_left *left, const struct task_weight *w)
{
	return w->kept == KEPT_COUNT ? left->may_count : left->may;
}

static int collect_kept(const struct task_weights *w, const struct members *m, const struct weights_left *left,
			double *to, struct census_may *of,
			struct err *e)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct member *x = w->v[i].kept ? partner_of(m, &w->v[i]) : NULL;
		int64_t n = w->v[i].kept ? tensor_numel(&w->v[i].t) : 0;

		/* Where nothing else lies in its storage, that may be written as a whole. */
		if (x && tensor_is_whole(&x->obj->t) && vec_push(of, x->obj->t.st))
			return err_nomem(e);
		for (int64_t k = 0; k < n && !x; k++)
			to[k] = NAN;
		if (x && n && (put_kept(to, &x->obj->t, e) || (may_leave(left, &w->v[i]) &&
							       forget_left(to, &w->v[i], left->state, e))))
			return -1;
		to += n;
	}
	return 0;
}

/* Half of a statistic is another one: only fp32 is compared. */
int weights_are_kept(const struct task_weights *w, enum dtype dt)
{
	for (size_t i = 0; i < w->n && dt == DT_F32; i++)
		if (w->v[i].kept)
			return 1;
	return 0;
}

int weights_kept(const struct task_weights *w, struct host *h, struct val model,
		 const struct weights_left *left, struct tensor *flat, struct census_may *of,
		 struct err *e)
{
	struct members m;
	enum match by;
	int64_t n = 0;
	int rc;

	for (size_t i = 0; i < w->n; i++)
		n += w->v[i].kept ? tensor_numel(&w->v[i].t) : 0;
	if (tensor_new(flat, DT_F64, 1, &n, e))
		return -1;
	rc = open_members(&m, w, h, model, &by, e);
	if (!rc) {
		rc = collect_kept(w, &m, left, tensor_data(flat), of, e);
		vec_free(&m);
	}
	if (rc)
		tensor_release(flat);
	return rc;
}

/* Copies what has a partner. With keep_parameters only the others'. */
static int put_members(const struct task_weights *w, uint64_t state, struct host *h, struct val model,
		       int keep_parameters, const struct weights_reduced *reduced,
		       enum match *by, struct err *e)
{
	struct members m;
	int rc = open_members(&m, w, h, model, by, e);

	for (size_t i = 0; !rc && i < m.n && reduced->settled; i++)
		m.v[i].obj->transposed = i < 64 && reduced->transposed >> i & 1;
	for (size_t i = 0; !rc && i < m.n; i++)
		if (m.v[i].of && !(keep_parameters && m.v[i].obj->is_param))
			rc = put_member(&m.v[i], state, reduced, w->spread, e);
	vec_free(&m);
	return rc;
}

int weights_restore(const struct task_weights *w, uint64_t state, struct host *h, struct val model, struct err *e)
{
	enum match by;

	return put_members(w, state, h, model, 1, &(struct weights_reduced){ .n = 0 }, &by, e);
}

int weights_put(const struct task_weights *w, uint64_t state, struct host *h, struct val model, char how[16],
		struct err *e)
{
	enum match by;

	if (put_members(w, state, h, model, 0, &(struct weights_reduced){ .n = 0 }, &by, e))
		return -1;
	snprintf(how, 16, "%s", match_names[by]);
	return 0;
}

int weights_put_reduced(const struct task_weights *w, const struct weights_reduced *reduced, struct host *h,
			struct val model, struct err *e)
{
	enum match by;

	return put_members(w, 0, h, model, 0, reduced, &by, e);
}

/* --- at the task's own sizes ------------------------------------------------------------------ */

static int note_own(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct task_weights *w = ctx;

	for (size_t i = 0; i < w->n; i++)
		if (str_is(name, w->v[i].name) && w->v[i].t.ndim == obj->t.ndim)
			memcpy(w->v[i].own, obj->t.shape, sizeof w->v[i].own);
	return 0;
}

int weights_note_own(struct task_weights *w, struct host *h, struct val model)
{
	return host_state(h, model, note_own, w);
}
