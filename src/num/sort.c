/* Sorting and what rests on it: sort, topk, k-th value, unique, searchsorted, bincount.
 *
 * A slice is copied to keys with their positions, merge sorted, and written back. Sorting is
 * always stable, so the index order of equal elements is defined; PyTorch defines it only for
 * stable=True. NaN is greater than every number. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"

/* An element and its position in the slice. */
struct key { union { double f; int64_t i; } v; int64_t at; };

/* Order of floats: NaN last, and equal to other NaNs. */
static int less_f(const struct key *a, const struct key *b)
{
	return a->v.f < b->v.f || (isnan(b->v.f) && !isnan(a->v.f));
}

static int less_i(const struct key *a, const struct key *b)
{
	return a->v.i < b->v.i;
}

typedef int less_fn(const struct key *a, const struct key *b);

/* Bottom-up merge sort of k[0..n) with scratch t of n. A descending sort keeps equal keys in
 * order, too. */
static void sort_keys(struct key *k, struct key *t, int64_t n, less_fn *less, int descending)
{
	struct key *from = k, *to = t, *swap;

	for (int64_t w = 1; w < n; w *= 2) {
		for (int64_t lo = 0; lo < n; lo += 2 * w) {
			int64_t mid = MIN(lo + w, n), hi = MIN(lo + 2 * w, n), a = lo, b = mid;

			for (int64_t i = lo; i < hi; i++) {
				int right = a >= mid ||
					(b < hi && (descending ? less(&from[a], &from[b]) : less(&from[b], &from[a])));

				to[i] = right ? from[b++] : from[a++];
			}
		}
		swap = from;
		from = to;
		to = swap;
	}
	if (from != k)
		memcpy(k, from, (size_t)n * sizeof *k);
}

/* --- slices along a dimension --------------------------------------------------------------------- */

/* The slices of a tensor along a dimension, [outer, L, inner]. */
struct slices {
	struct tensor x;        /* dense, f64 or i64 */
	int64_t outer, L, inner;
	struct key *key;        /* [2 L]: keys of one slice, then scratch */
	less_fn *less;
};

/* Charges 20 units per element, about the depth of the merges. On failure nothing is held. */
static int slices_begin(struct num_ctx *c, struct slices *s, const struct tensor *t, int dim,
			struct err *e)
{
	enum dtype wide = dtype_is_float(t->dt) ? DT_F64 : DT_I64;

	memset(s, 0, sizeof *s);
	s->outer = s->inner = 1;
	s->L = t->ndim ? t->shape[dim] : 1;
	s->less = wide == DT_F64 ? less_f : less_i;
	for (int i = 0; i < t->ndim; i++)
		if (i != dim)
			*(i < dim ? &s->outer : &s->inner) *= t->shape[i];
	if (num_charge(c, 20 * (uint64_t)tensor_numel(t), e) || num_as(c, &s->x, t, wide, e))
		return -1;
	if (!(s->key = num_array(c, c->hollow ? 1 : s->L * 2 + 1, sizeof *s->key, e))) {
		tensor_release(&s->x);
		return -1;
	}
	return 0;
}

static void slices_end(struct slices *s)
{
	tensor_release(&s->x);
	mem_free(s->key);
}

/* Sorts slice number `slice` into s->key. Doubles and integers have 8 bytes, so one copy does
 * for both. */
static void sort_slice(struct slices *s, int64_t slice, int descending)
{
	const int64_t *x = (int64_t *)tensor_data(&s->x) + slice / s->inner * s->L * s->inner + slice % s->inner;

	for (int64_t k = 0; k < s->L; k++) {
		memcpy(&s->key[k].v, &x[k * s->inner], sizeof s->key[k].v);
		s->key[k].at = k;
	}
	sort_keys(s->key, s->key + s->L, s->L, s->less, descending);
}

/* Does a come before b in the requested order? Ties go to the lower position. */
static int comes_before(const struct slices *s, const struct key *a, const struct key *b,
			int descending)
{
	if (descending ? s->less(b, a) : s->less(a, b))
		return 1;
	if (descending ? s->less(a, b) : s->less(b, a))
		return 0;
	return a->at < b->at;
}

/* Restores the heap property at i; the top is the last of the chosen elements. */
static void sift_down(const struct slices *s, struct key *h, int64_t n, int64_t i, int descending)
{
	for (int64_t child; (child = 2 * i + 1) < n; i = child) {
		struct key t = h[i];

		if (child + 1 < n && comes_before(s, &h[child], &h[child + 1], descending))
			child++;
		if (!comes_before(s, &h[i], &h[child], descending))
			return;
		h[i] = h[child];
		h[child] = t;
	}
}

/* The first n of the wanted order, sorted, in s->key: a heap of n keeps the best so far.
 * Costs L log n instead of L log L. */
static void select_first(struct slices *s, int64_t slice, int64_t n, int descending)
{
	const int64_t *x = (int64_t *)tensor_data(&s->x) + slice / s->inner * s->L * s->inner + slice % s->inner;
	struct key *h = s->key;
	int floats = s->x.dt == DT_F64;

	for (int64_t k = 0; k < s->L && n; k++) {
		struct key c = { .at = k };

		memcpy(&c.v, &x[k * s->inner], sizeof c.v);
		/* Most elements lose against the worst of the best by a plain comparison. A
		 * NaN fails the comparison and takes the complete test. */
		if (k >= n && floats && (descending ? c.v.f <= h[0].v.f : c.v.f >= h[0].v.f))
			continue;
		if (k < n) {
			h[k] = c;
			for (int64_t i = n / 2 - 1; k == n - 1 && i >= 0; i--)
				sift_down(s, h, n, i, descending);
		} else if (comes_before(s, &c, &h[0], descending)) {
			h[0] = c;
			sift_down(s, h, n, 0, descending);
		}
	}
	sort_keys(h, h + s->L, n, s->less, descending);
}

/* The elements [first, first + n) of every sorted slice: values and positions with n along
 * dim. */
static int take_sorted(struct num_ctx *c, struct tensor *value, struct tensor *index,
		       const struct tensor *t, int dim,
		       int64_t first, int64_t n, int descending, struct err *e)
{
	struct slices s;
	struct tensor v = { .st = NULL }, ix = { .st = NULL };
	int64_t shape[TENSOR_DIMS];
	int rc = -1;

	memcpy(shape, t->shape, sizeof shape);
	if (t->ndim)
		shape[dim] = n;
	else
		n = 1;                  /* a 0-d tensor is its own only element, even for k = 0 */
	if (slices_begin(c, &s, t, dim, e))
		return -1;
	if (num_new(c, &v, s.x.dt, t->ndim, shape, e) || num_new(c, &ix, DT_I64, t->ndim, shape, e))
		goto out;
	for (int64_t i = 0; i < s.outer * s.inner && n && !c->hollow; i++) {
		int64_t base = i / s.inner * n * s.inner + i % s.inner;

		/* A small topk needs no order among the elements that are left out. */
		if (first == 0 && n < s.L / 4)
			select_first(&s, i, n, descending);
		else
			sort_slice(&s, i, descending);
		for (int64_t k = 0; k < n; k++) {
			memcpy((int64_t *)tensor_data(&v) + base + k * s.inner,
			       &s.key[first + k].v, 8);
			((int64_t *)tensor_data(&ix))[base + k * s.inner] = s.key[first + k].at;
		}
	}
	if (num_settle(c, &v, t->dt, e))
		goto out;
	*value = v;
	*index = ix;
	v.st = ix.st = NULL;
	rc = 0;
out:
	tensor_release(&v);
	tensor_release(&ix);
	slices_end(&s);
	return rc;
}

int num_sort(struct num_ctx *c, struct tensor *value, struct tensor *index, const struct tensor *t,
	     int dim, int descending, struct err *e)
{
	return take_sorted(c, value, index, t, dim, 0, t->ndim ? t->shape[dim] : 1, descending, e);
}

/* The results are sorted, which PyTorch promises only for sorted=True. */
int num_topk(struct num_ctx *c, struct tensor *value, struct tensor *index, const struct tensor *t,
	     int64_t k, int dim, int largest, struct err *e)
{
	if (k < 0 || k > (t->ndim ? t->shape[dim] : 1))
		return err_set(e, ERR_STATE, "selected index k out of range");
	return take_sorted(c, value, index, t, dim, 0, k, largest, e);
}

/* The k-th smallest along dim; k counts from 1. */
int num_kth(struct num_ctx *c, struct tensor *value, struct tensor *index, const struct tensor *t,
	    int64_t k, int dim, int keep, struct err *e)
{
	struct tensor v, ix;

	if (k < 1 || k > (t->ndim ? t->shape[dim] : 1))
		return err_set(e, ERR_STATE, "kthvalue(): selected number k out of range for dimension %d", dim);
	if (take_sorted(c, &v, &ix, t, dim, k - 1, 1, 0, e))
		return -1;
	if (keep || t->ndim == 0) {
		*value = v;
		*index = ix;
		return 0;
	}
	if (tensor_select(value, &v, dim, 0, e) || tensor_select(index, &ix, dim, 0, e))
		BUG("kth");
	tensor_release(&v);
	tensor_release(&ix);
	return 0;
}

/* --- sets and bins ----------------------------------------------------------------------------------- */

/* The number of results depends on the contents, so callers handle dry runs. NaNs count as
 * equal: all of them become one result. */
int num_unique(struct num_ctx *c, struct tensor *out, struct tensor *inverse, struct tensor *counts,
	       const struct tensor *t, struct err *e)
{
	struct tensor flat, v = { .st = NULL }, inv = { .st = NULL }, cnt = { .st = NULL };
	struct slices s;
	int64_t n, m = 0;
	int rc = -1;

	if (num_reshape(c, &flat, t, 1, (int64_t[]){ -1 }, e))
		return -1;
	rc = slices_begin(c, &s, &flat, 0, e);
	tensor_release(&flat);
	if (rc)
		return -1;
	rc = -1;
	n = s.L;
	sort_slice(&s, 0, 0);
	for (int64_t i = 0; i < n; i++)
		m += i == 0 || s.less(&s.key[i - 1], &s.key[i]);
	if (num_new(c, &v, s.x.dt, 1, &m, e) || num_new(c, &inv, DT_I64, t->ndim, t->shape, e) ||
	    num_new(c, &cnt, DT_I64, 1, &m, e))
		goto out;
	/* Equal keys are neighbours now; `at` is the position of a key in the input. */
	memset(cnt.st->data, 0, cnt.st->bytes);
	m = -1;
	for (int64_t i = 0; i < n; i++) {
		if (i == 0 || s.less(&s.key[i - 1], &s.key[i]))
			memcpy((int64_t *)tensor_data(&v) + ++m, &s.key[i].v, 8);
		((int64_t *)tensor_data(&inv))[s.key[i].at] = m;
		((int64_t *)tensor_data(&cnt))[m]++;
	}
	if (num_settle(c, &v, t->dt, e))
		goto out;
	*out = v;
	v.st = NULL;
	if (inverse) {
		*inverse = inv;
		inv.st = NULL;
	}
	if (counts) {
		*counts = cnt;
		cnt.st = NULL;
	}
	rc = 0;
out:
	slices_end(&s);
	tensor_release(&v);
	tensor_release(&inv);
	tensor_release(&cnt);
	return rc;
}

/* First index with a[i] >= v (or > v if `right`). The negated comparisons put a NaN value
 * behind all. */
static int64_t lower(const double *a, int64_t n, double v, int right)
{
	int64_t lo = 0, hi = n;

	while (lo < hi) {
		int64_t mid = (lo + hi) / 2;

		if (right ? !(a[mid] > v) : !(a[mid] >= v))     /* behind all: a NaN */
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Boundaries are one row for all values, or one row for each row of values. */
static int same_rows(const struct tensor *sorted, const struct tensor *v)
{
	if (sorted->ndim <= 1)
		return 1;
	for (int d = 0; d < sorted->ndim - 1; d++)
		if (sorted->ndim != v->ndim || sorted->shape[d] != v->shape[d])
			return 0;
	return 1;
}

/* Compares in double: integers beyond 2^53 lose their last bits. */
int num_searchsorted(struct num_ctx *c, struct tensor *out, const struct tensor *sorted,
		     const struct tensor *v, int right, struct err *e)
{
	struct tensor a = { .st = NULL }, b = { .st = NULL };
	int64_t n = sorted->ndim ? sorted->shape[sorted->ndim - 1] : 0, cols = v->ndim ? v->shape[v->ndim - 1] : 1;
	int rc = -1;

	if (!sorted->ndim)
		return err_set(e, ERR_STATE,
			       "torch.searchsorted(): boundaries tensor should have positive "
			       "dimension, but got 0 dimension");
	if (!same_rows(sorted, v))
		return err_set(e, ERR_STATE,
			       "torch.searchsorted(): boundaries tensor should be 1 dimension or "
			       "the first N-1 dimensions of boundaries tensor and input value "
			       "tensor must match, but got boundaries tensor %s and input value "
			       "tensor %s", SHAPE_TEXT(sorted->ndim, sorted->shape),
			       SHAPE_TEXT(v->ndim, v->shape));
	if (num_as(c, &a, sorted, DT_F64, e) || num_as(c, &b, v, DT_F64, e) ||
	    num_new(c, out, DT_I64, v->ndim, v->shape, e))
		goto out;
	for (int64_t i = 0; i < tensor_numel(v) && !c->hollow; i++) {
		const double *row = (double *)tensor_data(&a) + (sorted->ndim > 1 ? i / cols * n : 0);

		((int64_t *)tensor_data(out))[i] = lower(row, n, ((double *)tensor_data(&b))[i],
							 right);
	}
	rc = 0;
out:
	tensor_release(&a);
	tensor_release(&b);
	return rc;
}

/* Counts, or sums of weights, per value 0 .. max; at least `least` bins. Weighted sums are
 * float64, or float32 for float32 weights. */
int num_bincount(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		 const struct tensor *weights, int64_t least,
		 struct err *e)
{
	struct tensor x = { .st = NULL }, w = { .st = NULL }, y = { .st = NULL };
	int64_t n = tensor_numel(t), m = least, *p;
	int rc = -1;

	if (dtype_is_float(t->dt) || t->dt == DT_BOOL)
		return err_set(e, ERR_STATE, "\"bincount_cpu\" not implemented for '%s'",
			       num_type_name(t->dt));
	if (least < 0)
		return err_set(e, ERR_STATE, "minlength should be >= 0");
	if (t->ndim != 1)
		return err_set(e, ERR_STATE, "bincount only supports 1-d non-negative integral inputs.");
	if (n == 0)
		weights = NULL;         /* without elements the weights are not looked at */
	if (weights && (weights->ndim != 1 || weights->shape[0] != n))
		return err_set(e, ERR_STATE, "weights should be 1-d and have the same length as input");
	if (num_as(c, &x, t, DT_I64, e) || (weights && num_as(c, &w, weights, DT_F64, e)))
		goto out;
	p = tensor_data(&x);
	for (int64_t i = 0; i < n; i++) {
		if (p[i] < 0 || p[i] == INT64_MAX) {
			err_set(e, ERR_STATE, "bincount only supports 1-d non-negative integral inputs.");
			goto out;
		}
		m = MAX(m, p[i] + 1);
	}
	if (num_new(c, &y, weights ? DT_F64 : DT_I64, 1, &m, e))
		goto out;
	memset(y.st->data, 0, y.st->bytes);
	for (int64_t i = 0; i < n; i++)
		if (weights)
			((double *)tensor_data(&y))[p[i]] += ((double *)tensor_data(&w))[i];
		else
			((int64_t *)tensor_data(&y))[p[i]]++;
	if (weights && weights->dt == DT_F32 && num_settle(c, &y, DT_F32, e))
		goto out;
	*out = y;
	y.st = NULL;
	rc = 0;
out:
	tensor_release(&x);
	tensor_release(&w);
	tensor_release(&y);
	return rc;
}
