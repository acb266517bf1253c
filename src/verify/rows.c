/* Which sizes of a task only count: see task.h.
 *
 * A size counts where every element of the result follows from the elements of the inputs at its own
 * index along that axis alone, and from no index: rows of a product, the batch of nearly everything,
 * every axis of what is done element by element. What the task gives for a few of them then says what it
 * gives for any number: inputs of the task's own sizes are made of these few, over and over, and so is
 * the result. It is found at small sizes: all that changes where the size is one more is an axis of
 * inputs and results, and where every index holds what the first one holds, every index of the result
 * is the first; and the same with the last one, since the first of a running sum sees nothing but itself. */
#include <math.h>

#include "base/mem.h"
#include "verify/task.h"

/* How far the same sums may be apart. */
static const double slack = 1e-4;

struct shapes {
	struct tensor v[RESULTS_MOST];
	int n;
};

/* The reference at small sizes, and one of them that is looked at. */
struct axis_probe {
	struct world w;
	struct trial tr;
	size_t which;
	int64_t few;                          /* of that size */
	int64_t index;                        /* along it: the first or the last */
	unsigned axes[RESULTS_MOST];          /* of each input: the dimensions that it is the size of */
	struct err *e;
};

static int collect(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct shapes *s = ctx;

	(void)name;
	if (s->n == RESULTS_MOST)
		return 1;
	s->v[s->n++] = obj->t;
	return 0;
}

/* The dimensions that have one more, which had `few`; -1: something else is different, too. */
static int axes_of(int ndim, const int64_t *shape, int more_ndim, const int64_t *more, int64_t few, unsigned *axes)
{
	*axes = 0;
	if (ndim != more_ndim)
		return -1;
	for (int i = 0; i < ndim; i++) {
		if (shape[i] != more[i] && (shape[i] != few || more[i] != few + 1))
			return -1;
		*axes |= shape[i] != more[i] ? 1u << i : 0;
	}
	return 0;
}

static int call(struct axis_probe *p, struct val inputs, struct results *out)
{
	struct val result;
	int rc = host_forward(p->w.h, p->w.model, inputs, &result, p->e);

	if (rc)
		return rc;
	rc = results_take(out, p->w.h, result, inputs, p->e);
	world_drop(&p->w, result);
	return rc;
}

/* The result where the size is one more: its shapes are wanted. 0, 1, -1. */
static int call_more(struct axis_probe *p, struct val inputs, struct results *out)
{
	struct shapes few = { .n = 0 }, more = { .n = 0 };
	struct trial next = p->tr;
	struct val drawn;
	int rc;

	next.ov[p->which].value++;
	rc = world_draw(&p->w, &next, 1, &drawn, p->e);
	if (rc)
		return rc;
	rc = host_tensors(p->w.h, inputs, collect, &few) || host_tensors(p->w.h, drawn, collect, &more) || few.n != more.n;
	for (int i = 0; i < few.n && !rc; i++)
		rc = axes_of(few.v[i].ndim, few.v[i].shape, more.v[i].ndim, more.v[i].shape, p->few, &p->axes[i]) != 0;
	if (!rc)
		rc = call(p, drawn, out);
	world_drop(&p->w, drawn);
	return rc;
}

/* Every index along the dimension gets what this one holds. */
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

static int call_repeated(struct axis_probe *p, struct val inputs, struct results *out)
{
	struct shapes in = { .n = 0 };

	host_tensors(p->w.h, inputs, collect, &in);
	for (int i = 0; i < in.n; i++)
		for (int d = 0; d < in.v[i].ndim; d++)
			if (p->axes[i] >> d & 1 && repeat_index(&in.v[i], d, p->index, p->e))
				return -1;
	return call(p, inputs, out);
}

/* Is every element of `got` the one of `was` with this index along the axes? */
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

static int compare(const struct axis_probe *p, const struct results *was, const struct results *more, const struct results *repeated)
{
	int same = was->n == more->n && was->n == repeated->n && was->n > 0;

	for (int i = 0; i < was->n && same; i++) {
		unsigned axes;

		same = !axes_of(was->r[i].ndim, was->r[i].shape, more->r[i].ndim, more->r[i].shape, p->few, &axes) &&
		       is_repeated(&was->r[i], &repeated->r[i], axes, p->index);
	}
	return same;
}

/* 1: the results are those of p->index alone where the inputs are, 0: they are not, -1. */
static int is_alone(struct axis_probe *p)
{
	struct results was = { .n = 0 }, more = { .n = 0 }, repeated = { .n = 0 };
	struct val inputs;
	int rc = world_draw(&p->w, &p->tr, 1, &inputs, p->e);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = call(p, inputs, &was);
	if (!rc)
		rc = call_more(p, inputs, &more);
	if (!rc)
		rc = call_repeated(p, inputs, &repeated);
	world_drop(&p->w, inputs);
	rc = rc < 0 ? -1 : !rc && compare(p, &was, &more, &repeated);
	results_release(&was);
	results_release(&more);
	results_release(&repeated);
	return rc;
}

/* 1: the size only counts, 0: it does not, -1. */
static int only_counts(struct axis_probe *p)
{
	int rc;

	p->index = 0;
	rc = is_alone(p);
	if (rc <= 0)
		return rc;
	p->index = p->few - 1;
	return is_alone(p);
}

int task_find_axes(const struct task *t, const int64_t *small, unsigned *axes, struct err *e)
{
	struct axis_probe p = { .tr = { .dt = DT_F32, .n_ov = t->n_all }, .e = e };
	struct program reference = t->reference;
	int rc;

	for (size_t i = 0; i < t->n_all; i++)
		p.tr.ov[i] = (struct host_override){ .name = t->size[i].name, .value = small[i] };
	reference.ov = p.tr.ov;
	reference.n_ov = t->n_all;
	*axes = 0;
	rc = world_open(&p.w, t->judge, &reference, 0, NULL, e);
	for (size_t i = 0; i < t->n_all && !rc; i++) {
		p.which = i;
		p.few = small[i];
		if (t->size[i].of_model)
			continue;
		rc = only_counts(&p);
		*axes |= rc > 0 ? 1u << i : 0;
		rc = rc < 0 ? -1 : 0;
	}
	world_close(&p.w);
	return rc < 0 ? -1 : 0;
}
