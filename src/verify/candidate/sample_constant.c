/* The constant-tensor test on the runner's side: what kernels are given, and the results' ends.
 * funnel/constant_test.h says what the deciding process concludes from them. */
#include <math.h>

#include "tensor/sparse.h"
#include "verify/candidate/sample.h"

/* Gives a tensor one positive value that the next tensor does not have: 0.5, 0.75, 1, 1.25, 1.5.
 * *ctx counts the tensors. */
static int give_value(void *ctx, struct str name, struct tensor_obj *obj)
{
	int *n = ctx;
	unsigned char value[8];

	(void)name;
	if (!obj->t.st->hollow || !obj->t.st->bytes || !dtype_is_float(obj->t.dt))
		return 0;
	dtype_store(obj->t.dt, value, 0.5 + 0.25 * ((*n)++ % 5));
	return sparse_value(obj->t.st, value, dtype_size(obj->t.dt));
}

/* Weights and inputs share one count, so that neighbours never have the same value. */
int sample_make_constant(struct world *w, struct val inputs, struct err *e)
{
	int n = 0;

	return host_tensors(w->h, inputs, give_value, &n) || host_state(w->h, w->model, give_value, &n) ?
		err_nomem(e) : 0;
}

/* The element at an offset, or NaN if no instance wrote it from known values. */
static double known_element(const struct tensor *t, int64_t at)
{
	size_t size = (size_t)dtype_size(t->dt), lo = (size_t)at * size;

	if (!t->st->hollow || !t->st->sparse || sparse_touch(t->st, lo, lo + size) ||
	    !sparse_is_known(t->st, lo, lo + size))
		return NAN;
	return dtype_load(t->dt, (char *)t->st->data + lo);
}

/* Reports the first and the last element of a result: what a kernel leaves out at its end shows
 * there. */
static int tell_ends(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct run_constant *f = ctx;
	const struct tensor *t = &obj->t;
	int64_t last = t->offset;

	(void)name;
	if (f->n == RESULTS_MOST)
		return 0;
	if (!tensor_numel(t)) {
		f->v[f->n].first = f->v[f->n].last = NAN;
		f->n++;
		return 0;
	}
	for (int i = 0; i < t->ndim; i++)
		last += (t->shape[i] - 1) * t->stride[i];
	f->v[f->n].first = known_element(t, t->offset);
	f->v[f->n++].last = known_element(t, last);
	return 0;
}

/* If some launch was not run whole, elements that it left alone would look like results. */
int sample_tell_constant(struct sampler *s, struct host *h, struct val result, struct err *e)
{
	struct buf form = BUF_INIT;
	int rc;

	s->a->report[s->i].constant.left = (int)s->left;
	if (s->constant == CONSTANT_ALL && s->left)
		return 0;
	rc = host_result(h, result, &form, tell_ends, &s->a->report[s->i].constant) || buf_check(&form, e) ? -1 : 0;
	buf_release(&form);
	return rc;
}
