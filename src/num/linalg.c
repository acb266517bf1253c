/* QR decomposition by Householder reflections in double. Other linear algebra is Python code
 * of the prelude (torch/linalg.py); products are matmul.c's. Signs follow LAPACK: R's
 * diagonal has the opposite sign of the column that was reduced, so results match PyTorch's. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"

/* The Householder vector of column k of a [m, n]: v[k..m) = column - alpha e_k with alpha =
 * -sign * norm, which reflects the column to (alpha, 0, ..., 0) without cancellation. */
static void reflect_column(double *a, double *v, int64_t m, int64_t n, int64_t k)
{
	double norm = 0, alpha;

	for (int64_t i = k; i < m; i++)
		norm += a[i * n + k] * a[i * n + k];
	alpha = a[k * n + k] > 0 ? -sqrt(norm) : sqrt(norm);
	for (int64_t i = k; i < m; i++)
		v[i] = a[i * n + k] - (i == k ? alpha : 0);
}

/* a := (I - 2 v v^T / |v|^2) a over the columns [first, n). A zero v changes nothing. */
static void apply_reflection(double *a, const double *v, int64_t m, int64_t n, int64_t k,
			     int64_t first)
{
	double norm = 0;

	for (int64_t i = k; i < m; i++)
		norm += v[i] * v[i];
	for (int64_t j = first; j < n && norm > 0; j++) {
		double dot = 0;

		for (int64_t i = k; i < m; i++)
			dot += v[i] * a[i * n + j];
		for (int64_t i = k; i < m; i++)
			a[i * n + j] -= 2 * dot / norm * v[i];
	}
}

/* a [m, n] becomes R in its first p rows; q [m, p] becomes the first p columns of Q; p =
 * min(m, n). v [p, m] is scratch. Q is built from the reflections in reverse order, and what
 * rounding left below R's diagonal is set to zero. */
static void factor(double *a, double *q, double *v, int64_t m, int64_t n)
{
	int64_t p = MIN(m, n);

	for (int64_t k = 0; k < p; k++) {
		reflect_column(a, v + k * m, m, n, k);
		apply_reflection(a, v + k * m, m, n, k, k);
	}
	for (int64_t i = 0; i < m * p; i++)
		q[i] = i / p == i % p;
	for (int64_t k = p - 1; k >= 0; k--)
		apply_reflection(q, v + k * m, m, p, k, 0);
	for (int64_t i = 0; i < p; i++)
		for (int64_t j = 0; j < MIN(i, n); j++)
			a[i * n + j] = 0;
}

/* Reduced QR of a matrix: q [m, p], r [p, n]. Batches are not supported. */
int num_qr(struct num_ctx *c, struct tensor *q, struct tensor *r, const struct tensor *t,
	   struct err *e)
{
	struct tensor a = { .st = NULL }, full = { .st = NULL }, top = { .st = NULL };
	int64_t m, n, p;
	double *v = NULL;
	int rc = -1;

	if (t->ndim != 2)
		return err_set(e, ERR_UNSUPPORTED, "linalg.qr of a tensor with %d dimensions",
			       t->ndim);
	m = t->shape[0];
	n = t->shape[1];
	p = MIN(m, n);
	if (num_charge(c, (uint64_t)(m * n) * (uint64_t)MAX(p, 1), e) ||
	    num_to(c, &a, t, DT_F64, e) ||
	    num_new(c, &full, DT_F64, 2, (int64_t[]){ m, p }, e))
		goto out;
	if (!(v = mem_array(c->hollow ? 1 : (size_t)(m * p) + 1, sizeof *v))) {
		err_nomem(e);
		goto out;
	}
	if (!c->hollow)
		factor(tensor_data(&a), tensor_data(&full), v, m, n);
	if (tensor_slice(&top, &a, 0, 0, p, 1, e) || num_to(c, r, &top, t->dt, e))
		goto out;
	if (num_settle(c, &full, t->dt, e)) {
		full.st = NULL;
		tensor_release(r);
		goto out;
	}
	*q = full;
	full.st = NULL;
	rc = 0;
out:
	mem_free(v);
	tensor_release(&a);
	tensor_release(&full);
	tensor_release(&top);
	return rc;
}
