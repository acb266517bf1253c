/* Putting weights into a model, and reading what a call left in its buffers. See weights.h.
 *
 * A hollow model at full size gets the weights of a reduced task by reference: sparse_few repeats
 * them along independent axes where a kernel touches them, and no memory is spent on the rest. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "tensor/sparse.h"
#include "verify/candidate/weights_match.h"

/* Copies or spreads one weight into a tensor of the model. At full size, rows along an independent axis follow the
 * map of all tensors, and what a part repeats follows its own seed: a weight of 8192 x 16384 comes from 3 x 1024. */
static int put_tensor(const struct tensor *to, const struct tensor *from, const struct weights_reduced *reduced,
		      uint64_t spread, struct err *e)
{
	struct sparse_map map = *reduced->map;

	to->st->numbers = 0;
	map.spread = spread;
	map.periods = spread ? 0 : map.periods;
	if (to->st->hollow)
		return sparse_few(to, from, &map) ? err_nomem(e) : 0;
	if (spread && !tensor_same_shape(to, from))
		return sparse_spread(to, from, spread) ? err_nomem(e) : 0;
	return tensor_copy(to, from, e);
}

/* Puts one weight. In a hollow model only a run with contents can find out whether a square matrix
 * is transposed (reduced->settled). Until then the weight gets no contents. */
static int put_weight(const struct weight_member *m, const struct weights_reduced *reduced, uint64_t spread,
		      struct err *e)
{
	struct tensor from;
	int rc;

	if (m->obj->t.st->hollow && !reduced->settled && member_may_be_transposed(m))
		return 0;
	rc = member_view(&from, m, e);

	if (!rc) {
		rc = put_tensor(&m->obj->t, &from, reduced, spread, e);
		tensor_release(&from);
	}
	return rc;
}

/* Puts one weight as a run that begins with `state` finds it. */
static int put_member(const struct weight_member *m, uint64_t state, const struct weights_reduced *reduced,
		      uint64_t spread, struct err *e)
{
	struct task_weight begun;
	struct weight_member x = *m;
	int rc = weights_begin(&begun, m->of, state, e);

	if (rc)
		return rc;
	x.of = &begun;
	rc = put_weight(&x, reduced, spread, e);
	tensor_release(&begun.t);
	return rc;
}

/* Copies a buffer as fp64. A NaN of the candidate becomes infinity, since NaN says that there is
 * no buffer. */
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

/* Replaces values by NaN if the buffer is as the run was given it: it was left, and tells
 * nothing. */
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

/* May a candidate leave this weight as it was? */
static int may_leave(const struct weights_left *left, const struct task_weight *w)
{
	return w->kept == KEPT_COUNT ? left->may_count : left->may;
}

/* Writes the row of weights_kept. A storage that holds nothing but the buffer may be written as a
 * whole by the candidate, and is added to *of. */
static int collect_kept(const struct task_weights *w, const struct weight_members *m, const struct weights_left *left,
			double *to, struct census_may *of,
			struct err *e)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct weight_member *x = w->v[i].kept ? members_partner(m, &w->v[i]) : NULL;
		int64_t n = w->v[i].kept ? tensor_numel(&w->v[i].t) : 0;

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

/* Only runs in fp32 are compared by their buffers: a running statistic in half precision rounds
 * differently in every program. */
int weights_are_kept(const struct task_weights *w, enum dtype dt)
{
	for (size_t i = 0; i < w->n && dt == DT_F32; i++)
		if (w->v[i].kept)
			return 1;
	return 0;
}

/* The row has the buffers in the order of the reference's weights, so that rows of two programs
 * can be compared element by element. */
int weights_kept(const struct task_weights *w, struct host *h, struct val model,
		 const struct weights_left *left, struct tensor *row, struct census_may *of,
		 struct err *e)
{
	struct weight_members m;
	enum match by;
	int64_t n = 0;
	int rc;

	for (size_t i = 0; i < w->n; i++)
		n += w->v[i].kept ? tensor_numel(&w->v[i].t) : 0;
	if (tensor_new(row, DT_F64, 1, &n, e))
		return -1;
	rc = members_open(&m, w, h, model, &by, e);
	if (!rc) {
		rc = collect_kept(w, &m, left, tensor_data(row), of, e);
		vec_free(&m);
	}
	if (rc)
		tensor_release(row);
	return rc;
}

/* Marks the tensors that hold a transposed weight, as an earlier run with contents found them. */
static void mark_transposed(struct weight_members *m, const struct weights_reduced *reduced)
{
	for (size_t i = 0; i < m->n && reduced->settled; i++)
		m->v[i].obj->transposed = i < 64 && reduced->transposed >> i & 1;
}

/* Puts all weights that have a partner; with keep_parameters only the buffers. */
static int put_members(const struct task_weights *w, uint64_t state, struct host *h, struct val model,
		       int keep_parameters, const struct weights_reduced *reduced,
		       enum match *by, struct err *e)
{
	struct weight_members m;
	int rc = members_open(&m, w, h, model, by, e);

	if (!rc)
		mark_transposed(&m, reduced);
	for (size_t i = 0; !rc && i < m.n; i++)
		if (m.v[i].of && !(keep_parameters && m.v[i].obj->is_param))
			rc = put_member(&m.v[i], state, reduced, w->spread, e);
	vec_free(&m);
	return rc;
}

/* Weights have the shapes of the model. */
static const struct sparse_map same_shapes = { .few = 0 };

/* Parameters of the reference never change in a run, and large ones are not copied again. */
int weights_restore(const struct task_weights *w, uint64_t state, struct host *h, struct val model, struct err *e)
{
	enum match by;

	return put_members(w, state, h, model, 1, &(struct weights_reduced){ .map = &same_shapes }, &by, e);
}

/* Parameters are copied, too; weights_restore leaves them. */
int weights_put(const struct task_weights *w, uint64_t state, struct host *h, struct val model, char how[16],
		struct err *e)
{
	enum match by;

	if (put_members(w, state, h, model, 0, &(struct weights_reduced){ .map = &same_shapes }, &by, e))
		return -1;
	snprintf(how, 16, "%s", weights_match_name(by));
	return 0;
}

/* State 0: a run at full size is not compared by its buffers. */
int weights_put_reduced(const struct task_weights *w, const struct weights_reduced *reduced, struct host *h,
			struct val model, struct err *e)
{
	enum match by;

	return put_members(w, 0, h, model, 0, reduced, &by, e);
}

int weights_partners(const struct task_weights *w, const struct weights_reduced *reduced, struct host *h,
		     struct val model, weights_partner_fn *fn, void *ctx, struct err *e)
{
	struct weight_members m;
	enum match by;
	int rc = members_open(&m, w, h, model, &by, e);

	if (!rc)
		mark_transposed(&m, reduced);
	for (size_t i = 0; !rc && i < m.n; i++)
		if (m.v[i].of)
			rc = fn(ctx, &m.v[i].obj->t, m.v[i].of, member_is_transposed(&m.v[i]));
	vec_free(&m);
	return rc;
}

/* --- at full size ------------------------------------------------------------------------- */

/* Notes the full-size shape of the weight of that name. */
static int note_full(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct task_weights *w = ctx;

	for (size_t i = 0; i < w->n; i++)
		if (str_is(name, w->v[i].name) && w->v[i].t.ndim == obj->t.ndim)
			memcpy(w->v[i].full, obj->t.shape, sizeof w->v[i].full);
	return 0;
}

/* Weights are found by their whole name: both models are the reference's. */
int weights_note_full(struct task_weights *w, struct host *h, struct val model)
{
	return host_state(h, model, note_full, w);
}
