/* The inputs of sampled instances, and the report of their results: see sample.h.
 *
 * Inputs get the contents of a reduced task. After each launch the arguments that hold a step of the
 * reference are reported and replaced by that step. In the end every known element of the result is
 * reported with its position.
 *
 * Invariant: only elements that an instance wrote from known values are reported. */
#include "base/mem.h"
#include "tensor/sparse.h"
#include "verify/candidate/intermediate.h"
#include "verify/candidate/sample.h"

/* --- inputs ------------------------------------------------------------------------------- */

/* The trial's inputs are kept in *held, since hollow inputs only refer to their contents. */
int sample_inputs(const struct sampler *s, struct world *w, struct val inputs, struct world_tensors *held,
		  struct err *e)
{
	struct world_tensors own;
	struct val drawn;
	int rc = world_inputs(w, s->tr, 0, &drawn, e);

	held->n = 0;
	if (rc)
		return rc;
	world_tensors(w, inputs, &own);
	world_tensors(w, drawn, held);
	for (int i = 0; i < MIN(own.n, held->n); i++)
		if (own.v[i].st->hollow && sparse_few(&own.v[i], &held->v[i], s->map))
			return err_nomem(e);
	return 0;
}

/* --- reporting ---------------------------------------------------------------------------- */

/* Half of the parts of a report are for results. This many elements of a reference intermediate are
 * enough. */
enum { PARTS_MADE = RESULTS_MOST / 2, ELEMENTS_MADE = 1 << 14 };

/* Elements that are being reported. */
struct giver {
	const struct tensor *t;       /* the tensor that is reported */
	int64_t *position;            /* of the elements so far: indices in row-major order, */
	char *value;                  /* and values, in the tensor's dtype */
	int64_t n, most;              /* elements so far; room */
};

/* The index, in row-major order, of the element at an offset of the storage; -1: the view has none
 * there. Dimensions are taken by falling stride, as the offset is composed of them. */
static int64_t element_at(const struct tensor *t, int64_t offset)
{
	int64_t left = offset - t->offset, index[TENSOR_DIMS] = { 0 }, position = 0;
	unsigned done = 0;

	if (tensor_is_contiguous(t))
		return left < tensor_numel(t) ? left : -1;
	for (int k = 0; k < t->ndim; k++) {
		int big = 0;

		while (done >> big & 1)
			big++;
		for (int d = big + 1; d < t->ndim; d++)
			if (!(done >> d & 1) && (t->stride[d] > t->stride[big] ||
						 (t->stride[d] == t->stride[big] && t->shape[big] == 1)))
				big = d;
		done |= 1u << big;
		index[big] = t->stride[big] > 0 ? MIN(left / t->stride[big], t->shape[big] - 1) : 0;
		left -= index[big] * t->stride[big];
	}
	for (int d = 0; d < t->ndim; d++)
		position = position * t->shape[d] + index[d];
	return left || offset < t->offset ? -1 : position;
}

/* Reports the elements of the bytes [lo, hi) as positions and values. Returns 1 if there is no
 * more room. */
static int give_range(void *ctx, size_t lo, size_t hi)
{
	struct giver *g = ctx;
	size_t size = (size_t)dtype_size(g->t->dt);

	for (size_t at = (lo + size - 1) / size; (at + 1) * size <= hi; at++) {
		int64_t position = element_at(g->t, (int64_t)at);

		if (position < 0)
			continue;
		if (g->n == g->most)
			return 1;
		g->position[g->n] = position;
		memcpy(g->value + (size_t)g->n++ * size, (char *)g->t->st->data + at * size, size);
	}
	return 0;
}

/* Adds a part to the report with the elements of the tensor that instances wrote and knew, `most`
 * at the most. Positions and values are written apart first, and then moved together. */
static struct run_part *give_tensor(struct sampler *s, const struct tensor *t, int64_t most)
{
	const struct run_order *o = &s->a->order[s->i];
	struct run_report *r = &s->a->report[s->i];
	struct run_part *p = &r->part[r->n_parts++];
	uint64_t left = o->at + o->room - s->at, size = 8 + (uint64_t)dtype_size(t->dt);
	struct giver g = { .t = t, .most = MIN((int64_t)(left / size), most) };

	*p = (struct run_part){ .dt = (int)t->dt, .ndim = t->ndim, .at = s->at };
	memcpy(p->shape, t->shape, sizeof p->shape);
	g.position = (int64_t *)((char *)s->a + s->at);
	g.value = (char *)(g.position + g.most);
	if (t->st->hollow && t->st->sparse && t->ndim > 0)
		sparse_written(t->st, give_range, &g);
	memmove(g.position + g.n, g.value, (size_t)g.n * (size_t)dtype_size(t->dt));
	p->n = g.n;
	s->at += ((uint64_t)g.n * size + 63) / 64 * 64;
	s->at = MIN(s->at, o->at + o->room);
	return p;
}

/* Reports a result tensor, with the account of what no kernel writes. */
static int give_part(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct sampler *s = ctx;
	struct run_part *p;

	(void)name;
	if (s->a->report[s->i].n_parts == RESULTS_MOST)
		return 0;
	p = give_tensor(s, &obj->t, INT64_MAX);
	if (sparse_is_zero(obj->t.st))
		p->blank = addresses_blank(s->slice, &obj->t, &p->reached);
	return 0;
}

/* The contents of a step that the order gives: a tensor that borrows shared memory. Returns 1 and
 * *out, 0 if the order does not give it, -1 on our own failure (*e). */
static int open_step(const struct sampler *s, uint64_t how, struct tensor *out, struct err *e)
{
	const struct run_order *o = &s->a->order[s->i];
	const struct run_step *step = (const struct run_step *)((const char *)s->a + o->steps_at);
	int64_t n = sizeof (float);

	for (int i = 0; i < o->n_steps; i++) {
		if (step[i].how != how || !step[i].at)
			continue;
		for (int d = 0; d < step[i].ndim; d++)
			n *= step[i].shape[d];
		return tensor_borrow(out, DT_F32, step[i].ndim, step[i].shape, (char *)s->a + step[i].at,
				     (size_t)n, e) ? -1 : 1;
	}
	return 0;
}

/* Reports what a launch wrote of a reference intermediate; then gives the tensor the contents of
 * that intermediate, whole, so that later launches find the values that they would find on a
 * GPU. */
static int take_step(struct sampler *s, const struct tensor *t, uint64_t how, struct err *e)
{
	const struct intermediate *m = intermediate_find(&s->tr->intermediates, how);
	struct tensor given;
	int found = m ? (given = m->t, tensor_retain(&given), 1) : open_step(s, how, &given, e), rc = 0;

	if (found <= 0)
		return found;
	if (t->st->hollow && sparse_goes_with(t, &given, s->map) && s->a->report[s->i].n_parts < PARTS_MADE) {
		give_tensor(s, t, ELEMENTS_MADE)->call = how;
		rc = sparse_few(t, &given, s->map) ? err_nomem(e) : 0;
	}
	tensor_release(&given);
	return rc;
}

/* Does that for each argument of the launch that held a reference intermediate at smaller sizes.
 * The launch is recognised by its number and its kernel's name. */
int sample_take_steps(struct sampler *s, const struct tile_launch *l, struct err *e)
{
	const struct intermediate_matches *m = s->matches;
	int launch = s->launched++, rc = 0;

	for (int i = 0; i < MIN(m->n, (int)INTERMEDIATE_MATCHES) && !rc; i++) {
		const struct tile_val *a = m->v[i].arg >= 0 && (size_t)m->v[i].arg < l->n_args ?
			&l->args[m->v[i].arg] : NULL;

		if (a && m->v[i].launch == launch && m->v[i].kernel == intermediate_kernel(l) &&
		    a->kind == TILE_V_TENSOR)
			rc = take_step(s, &a->t, m->v[i].how, e);
	}
	return rc;
}

int sample_give(struct sampler *s, struct host *h, struct val result, struct err *e)
{
	struct buf form = BUF_INIT;
	int rc = host_result(h, result, &form, give_part, s) || buf_check(&form, e) ? -1 : 0;

	buf_release(&form);
	return rc;
}
