/* Initialisers of parameters that need more than one distribution's draws. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "host/num/random.h"

static double normal_cdf(double x)
{
	return (1 + erf(x / sqrt(2))) / 2;
}

/* torch.nn.init.trunc_normal_: uniform between the bounds' CDF values, then its inverse. */
int num_trunc_normal(struct num_rng *r, struct num_ctx *c, const struct tensor *t, enum dtype dt, double mean, double std,
		     double a, double b, struct err *e)
{
	double lo = normal_cdf((a - mean) / std), hi = normal_cdf((b - mean) / std);

	if (num_uniform(r, t, dt, 2 * lo - 1, 2 * hi - 1, e) ||
	    num_apply_into(c, t, NUM_erfinv, (struct num_arg[]){ num_t(t) }, NULL, e) ||
	    num_apply_into(c, t, NUM_mul, (struct num_arg[]){ num_t(t), num_f(std * sqrt(2)) }, NULL, e) ||
	    num_apply_into(c, t, NUM_plus, (struct num_arg[]){ num_t(t), num_f(mean) }, NULL, e))
		return -1;
	return num_apply_into(c, t, NUM_clamp, (struct num_arg[]){ num_t(t) }, (double[]){ a, b, 0 }, e);
}

/* Householder QR of q [m, n], m >= n, in place: q becomes Q with the signs of R's diagonal
 * taken into its columns. */
static void householder(double *q, double *sign, double *v, int64_t m, int64_t n)
{
	for (int64_t k = 0; k < n; k++) {
		double norm = 0, alpha;

		for (int64_t i = k; i < m; i++)
			norm += q[i * n + k] * q[i * n + k];
		alpha = q[k * n + k] > 0 ? -sqrt(norm) : sqrt(norm);
		sign[k] = alpha < 0 ? -1 : alpha > 0;
		norm = 0;
		for (int64_t i = k; i < m; i++) {
			v[k * m + i] = q[i * n + k] - (i == k ? alpha : 0);
			norm += v[k * m + i] * v[k * m + i];
		}
		for (int64_t j = k; j < n && norm > 0; j++) {
			double dot = 0;

			for (int64_t i = k; i < m; i++)
				dot += v[k * m + i] * q[i * n + j];
			for (int64_t i = k; i < m; i++)
				q[i * n + j] -= 2 * dot / norm * v[k * m + i];
		}
	}
	/* Q: the reflections applied to the first n columns of the identity, last one first. */
	for (int64_t i = 0; i < m * n; i++)
		q[i] = i / n == i % n;
	for (int64_t k = n - 1; k >= 0; k--) {
		double norm = 0;

		for (int64_t i = k; i < m; i++)
			norm += v[k * m + i] * v[k * m + i];
		for (int64_t j = 0; j < n && norm > 0; j++) {
			double dot = 0;

			for (int64_t i = k; i < m; i++)
				dot += v[k * m + i] * q[i * n + j];
			for (int64_t i = k; i < m; i++)
				q[i * n + j] -= 2 * dot / norm * v[k * m + i];
		}
	}
	for (int64_t i = 0; i < m * n; i++)
		q[i] *= sign[i % n];
}

int num_orthogonal(struct num_rng *r, struct num_ctx *c, const struct tensor *t, enum dtype dt, double gain, struct err *e)
{
	int64_t rows, cols, m, n;
	struct tensor flat;
	double *q, *work;

	if (t->ndim < 2)
		return err_set(e, ERR_FORMAT, "Only tensors with 2 or more dimensions are supported");
	rows = t->shape[0];
	cols = rows ? tensor_numel(t) / rows : 0;
	if (num_new(c, &flat, t->dt, 2, (int64_t[]){ rows, cols }, e))
		return -1;
	if (num_normal(r, &flat, dt, 0, 1, e)) {
		tensor_release(&flat);
		return -1;
	}
	m = MAX(rows, cols);
	n = MIN(rows, cols);
	q = mem_array((size_t)(m * n) + 1, sizeof *q);
	work = mem_array((size_t)(n * m + n) + 1, sizeof *work);
	if (q && work) {
		for (int64_t i = 0; i < m * n; i++) {       /* tall: as it is; wide: transposed */
			int64_t row = i / n, col = i % n, at = rows < cols ? col * cols + row : i;

			q[i] = dtype_load(t->dt, (char *)tensor_data(&flat) + at * dtype_size(t->dt));
		}
		householder(q, work, work + n, m, n);
		for (int64_t i = 0; i < m * n; i++) {
			int64_t row = i / n, col = i % n, at = rows < cols ? col * cols + row : i;

			dtype_store(t->dt, (char *)tensor_data(&flat) + at * dtype_size(t->dt), q[i] * gain);
		}
	}
	mem_free(q);
	mem_free(work);
	if (q && work) {
		struct tensor shaped = { .st = NULL };
		int rc = tensor_view(&shaped, &flat, t->ndim, t->shape, e) || tensor_copy(t, &shaped, e);

		tensor_release(&shaped);
		tensor_release(&flat);
		return rc;
	}
	tensor_release(&flat);
	return err_nomem(e);
}
