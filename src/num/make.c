/* Tensors from numbers (arange, linspace, eye, one_hot), pairwise distances and cross
 * products. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"

/* A Python number as a double. */
static double number(struct num_arg a)
{
	return a.kind == NUM_FLOAT ? a.f : (double)a.i;
}

/* n = ceil((end - start) / step) elements start + i * step. Integers are computed exactly;
 * floats in double from the index, not by repeated addition. The messages are PyTorch's. */
int num_arange(struct num_ctx *c, struct tensor *out, struct num_arg start, struct num_arg end,
	       struct num_arg step, enum dtype dt, struct err *e)
{
	double a = number(start), b = number(end), s = number(step), n;
	int whole = start.kind != NUM_FLOAT && end.kind != NUM_FLOAT && step.kind != NUM_FLOAT && !dtype_is_float(dt);
	int64_t count;

	if (s == 0)
		return err_set(e, ERR_STATE, "step must be nonzero");
	if (!isfinite(a) || !isfinite(b))
		return err_set(e, ERR_STATE, "unsupported range: %g -> %g", a, b);
	if ((s > 0 && b < a) || (s < 0 && b > a))
		return err_set(e, ERR_STATE, "upper bound and lower bound inconsistent with step sign");
	n = ceil((b - a) / s);
	if (!(n <= 9e18))
		return err_set(e, ERR_STATE, "invalid size, possible overflow?");
	count = (int64_t)n;
	if (num_new(c, out, dt, 1, &count, e))
		return -1;
	for (int64_t i = 0; i < count && !c->hollow; i++) {
		char *p = (char *)tensor_data(out) + i * dtype_size(dt);

		if (whole)
			dtype_store_int(dt, p, (int64_t)((uint64_t)start.i + (uint64_t)i * (uint64_t)step.i));
		else
			dtype_store(dt, p, a + (double)i * s);
	}
	return 0;
}

/* n values from start to end: start + i * step for the first half, end - (n - 1 - i) * step
 * for the second, as PyTorch computes them, in the precision of the dtype. Both ends are
 * exact. */
int num_linspace(struct num_ctx *c, struct tensor *out, double start, double end, int64_t n,
		 enum dtype dt, struct err *e)
{
	double step;
	float fs = (float)start, fe = (float)end, fstep;

	if (n < 0)
		return err_set(e, ERR_STATE, "number of steps must be non-negative");
	if (num_new(c, out, dt, 1, &n, e))
		return -1;
	step = n > 1 ? (end - start) / (double)(n - 1) : 0;
	fstep = n > 1 ? (fe - fs) / (float)(n - 1) : 0;
	n = c->hollow ? 0 : n;
	for (int64_t i = 0; i < n; i++) {
		char *p = (char *)tensor_data(out) + i * dtype_size(dt);

		if (dt == DT_F32)
			*(float *)p = i < n / 2 ? fs + fstep * (float)i : fe - fstep * (float)(n - i - 1);
		else
			dtype_store(dt, p, i < n / 2 || n == 1 ? start + step * (double)i :
				    end - step * (double)(n - i - 1));
	}
	if (n == 1)
		dtype_store(dt, tensor_data(out), start);
	return 0;
}

/* [n, m] with ones on the diagonal. */
int num_eye(struct num_ctx *c, struct tensor *out, int64_t n, int64_t m, enum dtype dt,
	    struct err *e)
{
	if (n < 0 || m < 0)
		return err_set(e, ERR_STATE, "n must be greater or equal to 0, got %lld",
			       (long long)MIN(n, m));
	if (num_new(c, out, dt, 2, (int64_t[]){ n, m }, e))
		return -1;
	if (c->hollow)
		return 0;
	storage_fill(out->st, 0);
	for (int64_t i = 0; i < MIN(n, m); i++)
		dtype_store(dt, (char *)tensor_data(out) + i * (m + 1) * dtype_size(dt), 1);
	return 0;
}

/* t [...] of class indices gives [..., classes]. classes = -1: the largest index plus 1,
 * which a dry run cannot know. */
int num_one_hot(struct num_ctx *c, struct tensor *out, const struct tensor *t, int64_t classes,
		struct err *e)
{
	int64_t shape[TENSOR_DIMS], n = tensor_numel(t), most = -1, *x;
	struct tensor d;

	if (t->dt != DT_I64)
		return err_set(e, ERR_STATE, "one_hot is only applicable to index tensor of type LongTensor.");
	if (n == 0 && classes <= 0)
		return err_set(e, ERR_STATE, "Can not infer total number of classes from empty tensor.");
	if (t->ndim + 1 > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "tensors of %d dimensions", t->ndim + 1);
	if (num_as(c, &d, t, DT_I64, e))
		return -1;
	x = tensor_data(&d);
	for (int64_t i = 0; i < n && !c->hollow; i++) {
		if (x[i] < 0) {
			tensor_release(&d);
			return err_set(e, ERR_STATE, "Class values must be non-negative.");
		}
		most = MAX(most, x[i]);
	}
	if (classes == -1)
		classes = most == INT64_MAX ? most : most + 1;
	memcpy(shape, t->shape, sizeof shape);
	shape[t->ndim] = classes;
	if (most >= classes ? err_set(e, ERR_STATE, "Class values must be smaller than num_classes.")
			    : num_new(c, out, DT_I64, t->ndim + 1, shape, e)) {
		tensor_release(&d);
		return -1;
	}
	storage_fill(out->st, 0);
	for (int64_t i = 0; i < n && !c->hollow; i++)
		((int64_t *)tensor_data(out))[i * classes + x[i]] = 1;
	tensor_release(&d);
	return 0;
}

/* --- distances ------------------------------------------------------------------------------------- */

/* p-norm of a - b: p = 0 counts differing elements, infinity takes the largest difference. */
static double distance(const double *a, const double *b, int64_t n, double p)
{
	double s = 0;

	for (int64_t i = 0; i < n; i++) {
		double d = fabs(a[i] - b[i]);

		s = p == 2 ? s + d * d : p == 1 ? s + d : p == 0 ? s + (d != 0) : isinf(p) ? fmax(s, d) : s + pow(d, p);
	}
	return p == 2 ? sqrt(s) : p == 1 || p == 0 || isinf(p) ? s : pow(s, 1 / p);
}

/* a [..., P, M], b [..., R, M] gives [..., P, R] p-norm distances, computed in double.
 * PyTorch may use a matrix product for p = 2, which is less exact for close points. */
int num_cdist(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	      double p, struct err *e)
{
	struct tensor x = { .st = NULL }, y = { .st = NULL }, r = { .st = NULL }, fa = { .st = NULL },
		fb = { .st = NULL };
	int64_t lead[TENSOR_DIMS], P, R, M, B = 1;
	int nl = a->ndim - 2, rc = -1;

	if (a->ndim < 2 || b->ndim < 2)
		return err_set(e, ERR_STATE, "cdist only supports at least 2D tensors, X1 got: %dD",
			       a->ndim);
	if (!(p >= 0))
		return err_set(e, ERR_STATE, "cdist only supports non-negative p values");
	P = a->shape[a->ndim - 2];
	M = a->shape[a->ndim - 1];
	R = b->shape[b->ndim - 2];
	if (b->shape[b->ndim - 1] != M)
		return err_set(e, ERR_STATE,
			       "X1 and X2 must have the same number of columns. X1: %lld X2: %lld",
			       (long long)M, (long long)b->shape[b->ndim - 1]);
	/* Leading dimensions broadcast. Both sides are laid out in full, so element i of the
	 * result finds its rows by division: row i / R of a, row (i / (P R)) R + i % R of b. */
	memcpy(lead, a->shape, sizeof lead);
	if (tensor_broadcast_shape(&nl, lead, b->ndim - 2, b->shape, e))
		return -1;
	lead[nl] = P;
	lead[nl + 1] = M;
	if (tensor_expand(&fa, a, nl + 2, lead, e))
		goto out;
	for (int i = 0; i < nl; i++)
		B *= lead[i];
	lead[nl] = R;
	if (tensor_expand(&fb, b, nl + 2, lead, e) || num_as(c, &x, &fa, DT_F64, e) ||
	    num_as(c, &y, &fb, DT_F64, e))
		goto out;
	lead[nl] = P;
	lead[nl + 1] = R;
	if (num_new(c, &r, DT_F64, nl + 2, lead, e) || num_charge(c, (uint64_t)(B * P * R) * (uint64_t)MAX(M, 1), e))
		goto out;
	for (int64_t i = 0; i < B * P * R && !c->hollow; i++)
		((double *)tensor_data(&r))[i] = distance((double *)tensor_data(&x) + i / R * M,
							  (double *)tensor_data(&y) + (i / (P * R) * R + i % R) * M, M,
							  p);
	if (num_settle(c, &r, a->dt, e))
		goto out;
	*out = r;
	r.st = NULL;
	rc = 0;
out:
	tensor_release(&x);
	tensor_release(&y);
	tensor_release(&r);
	tensor_release(&fa);
	tensor_release(&fb);
	return rc;
}

/* Cross product along a dimension of size 3: component k is a[i] b[j] - a[j] b[i] with i = k
 * + 1 and j = k + 2 modulo 3. Other dimensions broadcast. */
int num_cross(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	      int dim, struct err *e)
{
	struct tensor part[3];
	const struct tensor *list[3];
	int made = 0, rc = -1;

	if (!a->ndim || a->ndim != b->ndim)
		return err_set(e, ERR_STATE, "linalg.cross: inputs must have the same number of dimensions.");
	if (a->shape[dim] != 3 || b->shape[dim] != 3)
		return err_set(e, ERR_STATE,
			       "linalg.cross: inputs dimension %d must have length 3. Got %lld and %lld", dim,
			       (long long)a->shape[dim], (long long)b->shape[dim]);
	for (; made < 3; made++) {
		struct tensor v[4] = { 0 }, l = { .st = NULL }, r = { .st = NULL };
		int i = (made + 1) % 3, j = (made + 2) % 3;

		rc = tensor_select(&v[0], a, dim, i, e) || tensor_select(&v[1], b, dim, j, e) ||
		     tensor_select(&v[2], a, dim, j, e) || tensor_select(&v[3], b, dim, i, e) ||
		     num_op2(c, &l, NUM_mul, num_t(&v[0]), num_t(&v[1]), e) ||
		     num_op2(c, &r, NUM_mul, num_t(&v[2]), num_t(&v[3]), e) ||
		     num_op2(c, &part[made], NUM_minus, num_t(&l), num_t(&r), e);
		for (int k = 0; k < 4; k++)
			tensor_release(&v[k]);
		tensor_release(&l);
		tensor_release(&r);
		if (rc)
			break;
		list[made] = &part[made];
	}
	if (!rc)
		rc = num_stack(c, out, list, 3, dim, e);
	for (int k = 0; k < made; k++)
		tensor_release(&part[k]);
	return rc ? -1 : 0;
}
