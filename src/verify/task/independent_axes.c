/* Independent axes: sizes along which each result depends on its own row only. See task_find_axes
 * and task_find_positions.
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
#include "tensor/sparse.h"
#include "verify/task/task.h"

/* How far two sums of the same terms may be apart; and results of equal windows, which are the same
 * terms in the same order. A mean over a local axis, which is not local, is further apart. */
static const double slack = 1e-4, window_slack = 2e-6;

/* Inputs and weights of a task that are looked at; a task with more has no independent axes. And
 * dimensions of inputs with one size; more are left alone. */
enum { TENSORS_MOST = 64, POSITIONS_MOST = 10 };

/* Inputs and weights, borrowed. */
struct tensors {
	struct tensor_obj *v[TENSORS_MOST];
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
	unsigned axes[TENSORS_MOST];          /* of each input and weight: a bit for each dimension of that size, */
	unsigned taken[TENSORS_MOST];         /* among these; the other dimensions keep their size */
	struct err *e;
};

/* Collects one tensor. Returns 1 if there are too many. */
static int collect(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct tensors *s = ctx;

	(void)name;
	if (s->n == TENSORS_MOST)
		return 1;
	s->v[s->n++] = obj;
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

/* Notes the axes of each tensor. Dimensions that are not taken become as short as they were. Then
 * the smaller tensors are copied. Returns 0 on success, 1 if more differs, -1 on our own failure
 * (*e). */
static int match(struct axis_probe *p, const struct tensors *reduced, const struct tensors *more)
{
	int rc = reduced->n != more->n;

	for (int i = 0; i < reduced->n && !rc; i++) {
		struct tensor *small = &reduced->v[i]->t, *t = &more->v[i]->t;

		rc = axes_of(small->ndim, small->shape, t->ndim, t->shape, p->reduced, &p->axes[i]) != 0;
		for (int d = 0; d < t->ndim && !rc; d++)
			if (p->axes[i] >> d & 1 && !(p->taken[i] >> d & 1))
				rc = input_axes_cut(t, d, p->reduced, p->e);
		p->axes[i] &= p->taken[i];
	}
	for (int i = 0; i < reduced->n && !rc; i++)
		rc = copy_reduced(&more->v[i]->t, &reduced->v[i]->t, p->axes[i], p->e);
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
		for (int d = 0; d < in.v[i]->t.ndim && !rc; d++)
			rc = p->axes[i] >> d & 1 ? repeat_index(&in.v[i]->t, d, index, p->e) : 0;
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

/* Opens the world of a probe at these sizes. The weights are kept, since probes change them. */
static int probe_open(struct axis_probe *p, const struct task *t, const int64_t *small, struct err *e)
{
	int rc;

	*p = (struct axis_probe){ .t = t, .reference = t->image.reference,
				  .tr = { .dt = DT_F32, .n_ov = t->image.n_all }, .e = e };
	for (size_t i = 0; i < t->image.n_all; i++)
		p->tr.ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = small[i] };
	p->reference.ov = p->tr.ov;
	p->reference.n_ov = t->image.n_all;
	memset(p->taken, 0xff, sizeof p->taken);
	rc = world_open(&p->w, t->judge, &p->reference, 0, NULL, e);
	return rc ? rc : weights_take(&p->built, p->w.h, p->w.model, e);
}

static void probe_close(struct axis_probe *p)
{
	weights_release(&p->built);
	world_close(&p->w);
}

/* One world serves all sizes; each probe puts the weights back that it changed. */
int task_find_axes(const struct task *t, const int64_t *small, unsigned among, unsigned *axes, struct err *e)
{
	struct axis_probe p;
	int rc = probe_open(&p, t, small, e);

	*axes = 0;
	for (size_t i = 0; i < t->image.n_all && !rc; i++) {
		p.which = i;
		p.reduced = small[i];
		if (!(among >> i & 1))
			continue;
		rc = is_independent(&p);
		*axes |= rc > 0 ? 1u << i : 0;
		rc = rc < 0 ? -1 : 0;
	}
	probe_close(&p);
	return rc < 0 ? -1 : 0;
}

/* --- axes by position --------------------------------------------------------------------- */

/* Zeros of an input from this share on are structure: a triangle, a diagonal, a mask. */
static const double least_structure = 0.25;

/* The dimensions of the inputs that have the size. */
struct positions {
	struct { int input, dim; } v[POSITIONS_MOST];
	int n;
	int is_symmetric, is_structured;
};

/* Is a matrix its own transpose, in all of a batch? */
static int is_symmetric(const struct tensor *t)
{
	int64_t n = t->shape[t->ndim - 1], k = tensor_numel(t);
	const char *v = tensor_data(t);
	size_t size = (size_t)dtype_size(t->dt);

	for (int64_t i = 0; i < k; i++) {
		int64_t row = i / n % n, col = i % n;

		if (memcmp(v + (size_t)i * size, v + (size_t)(i + (col - row) * (n - 1)) * size, size))
			return 0;
	}
	return 1;
}

/* The share of elements that are zero. */
static double zero_share(const struct tensor *t)
{
	int64_t zeros = 0, n = tensor_numel(t);

	for (int64_t i = 0; i < n; i++)
		zeros += dtype_load(t->dt, (const char *)tensor_data(t) + i * dtype_size(t->dt)) == 0.0;
	return n ? (double)zeros / (double)n : 0.0;
}

/* Notes the dimensions of one input that have the size, and the structure of a square one. */
static void add_positions(struct positions *s, int input, const struct tensor *t, unsigned dims)
{
	int last = t->ndim - 1, several = (dims & (dims - 1)) != 0;

	for (int d = 0; d < t->ndim && s->n < POSITIONS_MOST; d++)
		if (dims >> d & 1) {
			s->v[s->n].input = input;
			s->v[s->n++].dim = d;
		}
	if (!several || !tensor_is_contiguous(t))
		return;
	s->is_structured |= zero_share(t) >= least_structure;
	if (last > 0 && t->shape[last] == t->shape[last - 1] && is_symmetric(t))
		s->is_symmetric = 1;
}

/* Draws the inputs twice, the second time with the size one larger: dimensions that differ have
 * the size. Returns 0 on success, 1 if more differs or there are too many inputs, -1 on failure
 * (*e). */
static int list_positions(struct axis_probe *p, struct positions *out)
{
	struct trial next = p->tr;
	struct tensors small, more;
	struct val a, b;
	int rc = world_draw(&p->w, &p->tr, 1, &a, p->e);

	*out = (struct positions){ .n = 0 };
	if (rc)
		return rc;
	next.ov[p->which].value++;
	rc = world_draw(&p->w, &next, 1, &b, p->e);
	if (!rc) {
		rc = collect_all(p, &p->w, a, &small) || collect_all(p, &p->w, b, &more) || small.n != more.n ||
			small.n > INPUT_AXES_MOST;
		for (int i = 0; i < small.n && !rc; i++) {
			const struct tensor *t = &small.v[i]->t, *u = &more.v[i]->t;
			unsigned dims;

			rc = axes_of(t->ndim, t->shape, u->ndim, u->shape, p->reduced, &dims) != 0;
			if (!rc)
				add_positions(out, i, t, dims);
		}
		world_drop(&p->w, b);
	}
	world_drop(&p->w, a);
	return rc;
}

/* Is one axis, made of the positions of the bits, independent? Returns 1 if it is, 0 if not, -1 on
 * our own failure (*e). */
static int are_independent(struct axis_probe *p, const struct positions *s, unsigned set)
{
	memset(p->taken, 0, sizeof p->taken);
	for (int i = 0; i < s->n; i++)
		if (set >> i & 1)
			p->taken[s->v[i].input] |= 1u << s->v[i].dim;
	return is_independent(p);
}

/* Tries each position by itself (the rows of A in A @ B), then each two of the others (the rows of
 * A and C in A @ B + C). *found gets the positions of independent axes. Returns how many axes there
 * are, or -1 on our own failure (*e). */
static int try_positions(struct axis_probe *p, const struct positions *s, unsigned *found)
{
	int n = 0;

	*found = 0;
	for (int apart = 0; apart < s->n; apart++)
		for (int i = 0; i + apart < s->n; i++) {
			unsigned set = 1u << i | 1u << (i + apart);
			int rc = set & *found ? 0 : are_independent(p, s, set);

			if (rc < 0)
				return -1;
			*found |= rc ? set : 0;
			n += rc;
		}
	return n;
}

/* A size of one position was tried as a whole. Weights are not looked at, so sizes of the model
 * have no positions. Structure (a triangle) would be lost where indices are repeated. */
int task_find_positions(const struct task *t, const int64_t *small, size_t which, struct axis_positions *out,
			struct err *e)
{
	struct axis_probe p;
	struct positions s;
	unsigned found;
	int rc = probe_open(&p, t, small, e);

	*out = (struct axis_positions){ .axes = 0 };
	p.which = which;
	p.reduced = small[which];
	if (!rc)
		rc = is_of_model(&p) ? 1 : list_positions(&p, &s);
	if (!rc && s.n > 1 && !s.is_structured) {
		out->axes = try_positions(&p, &s, &found);
		out->is_symmetric = s.is_symmetric;
		for (int i = 0; i < s.n && out->axes > 0; i++) {
			out->all[s.v[i].input] |= 1u << s.v[i].dim;
			out->cut[s.v[i].input] |= (found >> i & 1u) << s.v[i].dim;
		}
		rc = MIN(out->axes, 0);
	}
	probe_close(&p);
	return rc < 0 ? -1 : 0;
}

/* --- local axes --------------------------------------------------------------------------- */

/* The results with inputs of this many indices that repeat after the period. */
static int call_periodic(struct axis_probe *p, const struct axis_positions *at, int64_t size, struct results *out)
{
	struct input_axes x = { .seed = 1 };
	struct val inputs;
	int rc;

	for (int k = 0; k < INPUT_AXES_MOST; k++) {
		x.periodic[k] = at->all[k];
		for (int d = 0; d < TENSOR_DIMS; d++)
			x.size[k][d] = at->all[k] >> d & 1 ? size : 0;
	}
	p->reference.axes = &x;
	rc = world_draw(&p->w, &p->tr, 1, &inputs, p->e);
	p->reference.axes = NULL;
	if (rc)
		return rc;
	rc = call(p, &p->w, inputs, out);
	world_drop(&p->w, inputs);
	return rc;
}

/* Is the longer result the shorter one with one period put in the middle? A result that does not
 * become longer (a maximum over the axis) must stay exactly the same. */
static int has_period(const struct result *was, const struct result *more)
{
	const struct sparse_map map = { .periods = 1 };
	double near = more->n > was->n ? window_slack : 0.0;

	if (was->ndim != more->ndim || !was->v || !more->v)
		return 0;
	for (int d = 0; d < was->ndim; d++)
		if (!sparse_map_fits(&map, more->shape[d], was->shape[d]))
			return 0;
	for (int64_t i = 0; i < more->n; i++) {
		int64_t left = i, from = 0, step = 1;

		for (int d = was->ndim - 1; d >= 0; d--) {
			from += sparse_map_index(&map, left % more->shape[d], more->shape[d], was->shape[d]) * step;
			left /= more->shape[d];
			step *= was->shape[d];
		}
		if (!(fabs(more->v[i] - was->v[from]) <= near * (fabs(was->v[from]) + was->rms)))
			return 0;
	}
	return 1;
}

/* One period more is enough: if it changes nothing, neither does the next one. */
int task_is_local(const struct task *t, const int64_t *small, size_t which, int64_t period, int64_t size,
		  struct axis_positions *out, struct err *e)
{
	struct results was = { .n = 0 }, more = { .n = 0 };
	struct axis_probe p;
	struct positions s;
	int rc = probe_open(&p, t, small, e), same;

	*out = (struct axis_positions){ .axes = 0 };
	p.which = which;
	p.reduced = small[which];
	if (!rc)
		rc = is_of_model(&p) ? 1 : list_positions(&p, &s);
	for (int i = 0; i < s.n && !rc; i++)
		out->all[s.v[i].input] |= 1u << s.v[i].dim;
	p.tr.ov[which].value = period;
	if (!rc)
		rc = call_periodic(&p, out, size, &was);
	if (!rc)
		rc = call_periodic(&p, out, size + period, &more);
	same = !rc && s.n && was.n == more.n && was.n > 0;
	for (int i = 0; i < was.n && same; i++)
		same = has_period(&was.r[i], &more.r[i]);
	results_release(&was);
	results_release(&more);
	probe_close(&p);
	return rc < 0 ? -1 : same;
}
