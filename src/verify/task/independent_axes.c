/* Independent axes: sizes along which each result depends on its own row only. See task_find_axes.
 *
 * A size is an independent axis if every element of the result follows from the elements of inputs
 * and weights at its own index along that axis, and not from the index itself: rows of a product,
 * the batch of nearly everything, the output channels of a convolution, every axis of an
 * elementwise operation. The results for a few indices then tell the results for any number:
 * inputs and weights at full size are the few, repeated, and so is the result.
 *
 * It is found at small sizes. With the size one larger, only an axis of inputs, weights and
 * results may change, and all other results stay what they were. With every index holding the
 * contents of the first one, every index of the result must be the first; and the same with the
 * last index, since the first element of a running sum sees nothing but itself. */
#include <math.h>

#include "base/mem.h"
#include "verify/task/task.h"

/* How far two sums of the same terms may be apart. */
static const double slack = 1e-4;

/* Inputs and weights of a task that are looked at; a task with more has no independent axes. */
enum { TENSORS_MOST = 64 };

/* Inputs and weights, borrowed. */
struct tensors {
	struct tensor v[TENSORS_MOST];
	int n;
};

/* The reference at small sizes, and the size that is looked at. */
struct axis_probe {
	const struct task *t;
	struct program reference;
	struct world w;
	struct trial tr;
	struct task_weights built;            /* of the model at these sizes */
	size_t which;                         /* index of the size */
	int64_t reduced;                      /* the value of that size */
	unsigned axes[TENSORS_MOST];          /* of each input and weight: a bit for each dimension of that size */
	struct err *e;
};

/* Collects one tensor. Returns 1 if there are too many. */
static int collect(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct tensors *s = ctx;

	(void)name;
	if (s->n == TENSORS_MOST)
		return 1;
	s->v[s->n++] = obj->t;
	return 0;
}

/* May weights have the size, too? */
static int is_of_model(const struct axis_probe *p)
{
	return p->t->image.size[p->which].of_model;
}

/* Collects the inputs, and the weights if these may have the size. Returns 1 if there are too
 * many. */
static int collect_all(const struct axis_probe *p, const struct world *w, struct val inputs, struct tensors *out)
{
	out->n = 0;
	return host_tensors(w->h, inputs, collect, out) || (is_of_model(p) && host_state(w->h, w->model, collect, out));
}

/* Finds the dimensions that have one index more, where the smaller shape has `reduced`. Returns -1
 * if anything else differs. */
static int axes_of(int ndim, const int64_t *shape, int more_ndim, const int64_t *more, int64_t reduced, unsigned *axes)
{
	*axes = 0;
	if (ndim != more_ndim)
		return -1;
	for (int i = 0; i < ndim; i++) {
		if (shape[i] != more[i] && (shape[i] != reduced || more[i] != reduced + 1))
			return -1;
		*axes |= shape[i] != more[i] ? 1u << i : 0;
	}
	return 0;
}

/* Calls forward and takes the results. */
static int call(struct axis_probe *p, struct world *w, struct val inputs, struct results *out)
{
	struct val result;
	int rc = host_forward(w->h, w->model, inputs, &result, p->e);

	if (rc)
		return rc;
	rc = results_take(out, w->h, result, inputs, p->e);
	world_drop(w, result);
	return rc;
}

/* --- one more ----------------------------------------------------------------------------- */

/* Copies a tensor into one that has one index more along these dimensions; the last index keeps
 * its own values. */
static int copy_reduced(const struct tensor *to, const struct tensor *from, unsigned axes, struct err *e)
{
	struct tensor part = *to, next;
	int rc = 0;

	tensor_retain(&part);
	for (int d = 0; d < to->ndim && !rc; d++) {
		if (!(axes >> d & 1))
			continue;
		rc = tensor_slice(&next, &part, d, 0, from->shape[d], 1, e);
		if (!rc) {
			tensor_release(&part);
			part = next;
		}
	}
	if (!rc)
		rc = tensor_copy(&part, from, e);
	tensor_release(&part);
	return rc;
}

/* Notes the axes of each tensor, and copies the smaller tensors. Returns 0 on success, 1 if more
 * differs, -1 on our own failure (*e). */
static int match(struct axis_probe *p, const struct tensors *reduced, const struct tensors *more)
{
	int rc = reduced->n != more->n;

	for (int i = 0; i < reduced->n && !rc; i++)
		rc = axes_of(reduced->v[i].ndim, reduced->v[i].shape, more->v[i].ndim, more->v[i].shape,
			     p->reduced, &p->axes[i]) != 0;
	for (int i = 0; i < reduced->n && !rc; i++)
		rc = copy_reduced(&more->v[i], &reduced->v[i], p->axes[i], p->e);
	return rc;
}

/* The result with the size one larger and all else as it was. Returns 0 on success, 1 if more
 * differs or the reference fails, -1 on our own failure (*e). */
static int call_in_more(struct axis_probe *p, struct world *w, const struct trial *next,
			const struct tensors *reduced, struct results *out)
{
	struct tensors more;
	struct val drawn;
	int rc = world_draw(w, next, 1, &drawn, p->e);

	if (rc)
		return rc;
	rc = collect_all(p, w, drawn, &more) ? 1 : match(p, reduced, &more);
	if (!rc)
		rc = call(p, w, drawn, out);
	world_drop(w, drawn);
	return rc;
}

/* The same; a size of the model needs another model. */
static int call_more(struct axis_probe *p, const struct tensors *reduced, struct results *out)
{
	struct trial next = p->tr;
	struct program reference = p->reference;
	struct world w;
	int rc;

	next.ov[p->which].value++;
	if (!is_of_model(p))
		return call_in_more(p, &p->w, &next, reduced, out);
	reference.ov = next.ov;
	rc = world_open(&w, p->t->judge, &reference, 0, NULL, p->e);
	rc = rc ? rc : call_in_more(p, &w, &next, reduced, out);
	world_close(&w);
	return rc;
}

/* Is every element of `was` in `more`, at the same index? */
static int is_part(const struct result *was, const struct result *more)
{
	if (!was->v || !more->v)
		return 0;
	for (int64_t i = 0; i < was->n; i++) {
		int64_t left = i, at = 0, step = 1;

		for (int d = was->ndim - 1; d >= 0; d--) {
			at += left % was->shape[d] * step;
			left /= was->shape[d];
			step *= more->shape[d];
		}
		if (!(fabs(more->v[at] - was->v[i]) <= slack * (fabs(was->v[i]) + was->rms)))
			return 0;
	}
	return 1;
}

/* --- the same everywhere ------------------------------------------------------------------ */

/* Copies the contents at one index to all others along the dimension. */
static int repeat_index(const struct tensor *t, int dim, int64_t index, struct err *e)
{
	struct tensor from, to;
	int rc = tensor_select(&from, t, dim, index, e);

	if (rc)
		return -1;
	for (int64_t i = 0; i < t->shape[dim] && !rc; i++) {
		if (i == index)
			continue;
		rc = tensor_select(&to, t, dim, i, e);
		if (rc)
			break;
		rc = tensor_copy(&to, &from, e);
		tensor_release(&to);
	}
	tensor_release(&from);
	return rc;
}

/* The result with the contents of one index everywhere along the axis. */
static int call_repeated(struct axis_probe *p, int64_t index, struct results *out)
{
	struct tensors in;
	struct val inputs;
	int rc = world_draw(&p->w, &p->tr, 1, &inputs, p->e);

	if (rc)
		return rc;
	rc = collect_all(p, &p->w, inputs, &in);
	for (int i = 0; i < in.n && !rc; i++)
		for (int d = 0; d < in.v[i].ndim && !rc; d++)
			rc = p->axes[i] >> d & 1 ? repeat_index(&in.v[i], d, index, p->e) : 0;
	if (!rc)
		rc = call(p, &p->w, inputs, out);
	world_drop(&p->w, inputs);
	return rc;
}

/* Is every element of `got` the element of `was` with this index along the axes? */
static int is_repeated(const struct result *was, const struct result *got, unsigned axes, int64_t index)
{
	if (!axes || got->n != was->n || !got->v || !was->v)
		return 0;
	for (int64_t i = 0; i < was->n; i++) {
		int64_t left = i, from = 0, step = 1;

		for (int d = was->ndim - 1; d >= 0; d--) {
			from += (axes >> d & 1 ? index : left % was->shape[d]) * step;
			left /= was->shape[d];
			step *= was->shape[d];
		}
		if (!(fabs(got->v[i] - was->v[from]) <= slack * (fabs(was->v[from]) + was->rms)))
			return 0;
	}
	return 1;
}

/* Does a result at an index depend only on the contents at that index? Weights are restored
 * afterwards. Returns 1 if it does, 0 if not, -1 on failure (*e). */
static int is_alone(struct axis_probe *p, int64_t index, const struct results *was, const unsigned *axes)
{
	struct results repeated = { .n = 0 };
	int rc = call_repeated(p, index, &repeated), same = !rc && repeated.n == was->n;
	char how[16];

	for (int i = 0; i < was->n && same; i++)
		same = is_repeated(&was->r[i], &repeated.r[i], axes[i], index);
	results_release(&repeated);
	if (is_of_model(p) && rc >= 0)
		rc = weights_put(&p->built, 0, p->w.h, p->w.model, how, p->e);
	return rc < 0 ? -1 : same;
}

/* Compares the results with those of a call with the size one larger. Does each result have an axis
 * of that size, and do the elements that both calls have agree? */
static int has_axes(const struct axis_probe *p, const struct results *was, const struct results *more, unsigned *axes)
{
	int same = was->n == more->n && was->n > 0;

	for (int i = 0; i < was->n && same; i++)
		same = !axes_of(was->r[i].ndim, was->r[i].shape, more->r[i].ndim, more->r[i].shape,
				p->reduced, &axes[i]) && axes[i] &&
		       is_part(&was->r[i], &more->r[i]);
	return same;
}

/* Draws inputs and calls the reference with the size as it is, and one larger. */
static int call_both(struct axis_probe *p, struct results *was, struct results *more)
{
	struct tensors reduced;
	struct val inputs;
	int rc = world_draw(&p->w, &p->tr, 1, &inputs, p->e);

	if (rc)
		return rc;
	rc = collect_all(p, &p->w, inputs, &reduced);
	if (!rc)
		rc = call(p, &p->w, inputs, was);
	if (!rc)
		rc = call_more(p, &reduced, more);
	world_drop(&p->w, inputs);
	return rc;
}

/* Returns 1 if the size is an independent axis, 0 if not, -1 on our own failure (*e). */
static int is_independent(struct axis_probe *p)
{
	struct results was = { .n = 0 }, more = { .n = 0 };
	unsigned axes[RESULTS_MOST];
	int rc = call_both(p, &was, &more), counts = !rc && has_axes(p, &was, &more, axes);

	if (counts > 0)
		counts = is_alone(p, 0, &was, axes);
	if (counts > 0)
		counts = is_alone(p, p->reduced - 1, &was, axes);
	results_release(&was);
	results_release(&more);
	return rc < 0 ? -1 : counts;
}

/* One world serves all sizes; each probe puts the weights back that it changed. */
int task_find_axes(const struct task *t, const int64_t *small, unsigned among, unsigned *axes, struct err *e)
{
	struct axis_probe p = { .t = t, .reference = t->image.reference,
				.tr = { .dt = DT_F32, .n_ov = t->image.n_all }, .e = e };
	int rc;

	for (size_t i = 0; i < t->image.n_all; i++)
		p.tr.ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = small[i] };
	p.reference.ov = p.tr.ov;
	p.reference.n_ov = t->image.n_all;
	*axes = 0;
	rc = world_open(&p.w, t->judge, &p.reference, 0, NULL, e);
	if (!rc)
		rc = weights_take(&p.built, p.w.h, p.w.model, e);
	for (size_t i = 0; i < t->image.n_all && !rc; i++) {
		p.which = i;
		p.reduced = small[i];
		if (!(among >> i & 1))
			continue;
		rc = is_independent(&p);
		*axes |= rc > 0 ? 1u << i : 0;
		rc = rc < 0 ? -1 : 0;
	}
	weights_release(&p.built);
	world_close(&p.w);
	return rc < 0 ? -1 : 0;
}
