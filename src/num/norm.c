/* Normalisations: batch, instance, group, layer, RMS, local response, unit length.
 *
 *     y = (x - mean) / sqrt(var + eps) * weight + bias
 *
 * The variants differ in the elements that share mean and var. Statistics are taken in double
 * over the carrier. The affine step is one pass y = x * scale + shift per row, with scale and
 * shift computed in double and rounded to the carrier. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/reduce.h"
#include "num/rows.h"

/* y[r, i] = x[r, i] * scale[r % period] + shift[r % period] for rows of n elements. */
struct affine_job {
	const struct num_rows *k;
	char *y;
	const char *x;
	int64_t n;
	int size;                       /* bytes of an element of the carrier */
	const double *scale, *shift;    /* [period] */
	int64_t period;
};

/* Thread body: rows [begin, end). */
static void affine_range(void *ctx, size_t begin, size_t end)
{
	const struct affine_job *j = ctx;

	for (int64_t r = (int64_t)begin; r < (int64_t)end; r++)
		j->k->affine(j->y + r * j->n * j->size, j->x + r * j->n * j->size, j->n,
			     j->scale[r % j->period], j->shift[r % j->period]);
}

/* Rows of about 16384 elements in total make a parallel part. */
static void apply_affine(struct num_ctx *c, struct tensor *y, const struct tensor *x, int64_t rows,
			 int64_t n, const double *scale, const double *shift, int64_t period)
{
	struct affine_job j = { .k = SIMD_PICK(num_rows)(x->dt), .y = tensor_data(y),
				.x = tensor_data(x), .n = n,
				.size = dtype_size(x->dt), .scale = scale, .shift = shift,
				.period = period };

	if (n > 0)
		pool_for(c->pool, (size_t)rows, (size_t)MAX(1, 16384 / n), affine_range, &j);
}

/* Element i of a vector of any float dtype, with its stride. */
static double element(const struct tensor *t, int64_t i)
{
	return dtype_load(t->dt, (char *)tensor_data(t) + i * (t->ndim ? t->stride[0] : 1) * dtype_size(t->dt));
}

/* A parameter vector must have `want` elements. The message is PyTorch's. */
static int check_param(const struct tensor *t, int64_t want, const char *name, struct err *e)
{
	if (t && (t->ndim != 1 || t->shape[0] != want))
		return err_set(e, ERR_STATE, "%s should contain %lld elements not %lld", name,
			       (long long)want, (long long)tensor_numel(t));
	return 0;
}

/* Instance norm repeats its vectors for every image in PyTorch, so its message counts N * C
 * elements. */
static int check_repeated(const struct tensor *t, const struct tensor *x, const char *name,
			  struct err *e)
{
	long long N = x->shape[0], C = x->shape[1];

	if (t && t->ndim > 1)
		return err_set(e, ERR_STATE,
			       "Number of dimensions of repeat dims can not be smaller than "
			       "number of dimensions of tensor");
	if (t && (t->ndim != 1 || t->shape[0] != C))
		return err_set(e, ERR_STATE, "%s should contain %lld elements not %lld", name,
			       N * C, N * (long long)tensor_numel(t));
	return 0;
}

/* PyTorch's error for a kernel without an integer version. */
static int check_float(const struct tensor *x, const char *kernel, struct err *e)
{
	return dtype_is_float(x->dt) ? 0 : err_set(e, ERR_STATE, "\"%s\" not implemented for '%s'", kernel,
						   num_type_name(x->dt));
}

/* --- batch ----------------------------------------------------------------------------------- */

/* running = (1 - momentum) * running + momentum * now, in place on element i. */
static void update_running(const struct tensor *t, int64_t i, double now, double momentum)
{
	char *p = (char *)tensor_data(t) + i * t->stride[0] * dtype_size(t->dt);

	dtype_store(t->dt, p, (1 - momentum) * dtype_load(t->dt, p) + momentum * now);
}

/* Mean and variance of each channel: the running ones, or in training those of the batch.
 * Training updates the running statistics; the running variance gets the unbiased estimate
 * (divisor n - 1), the normalisation the biased one. */
static int batch_stats(struct num_ctx *c, const struct tensor *x, const struct num_batch_norm *p,
		       double *mean, double *var, struct err *e)
{
	struct num_dims d = { .n = 0 };
	int64_t C = x->shape[1], n = C ? tensor_numel(x) / C : 0;

	if (!p->training) {
		for (int64_t i = 0; i < C && !c->hollow; i++) {
			mean[i] = element(p->mean, i);
			var[i] = element(p->var, i);
		}
		return 0;
	}
	if (n == 1)
		return err_set(e, ERR_FORMAT,
			       "Expected more than 1 value per channel when training, got input size torch.Size(%s)",
			       SHAPE_TEXT(x->ndim, x->shape));
	for (int i = 0; i < x->ndim; i++)
		if (i != 1)
			d.v[d.n++] = i;
	if (num_moments(c, x, &d, mean, var, e))
		return -1;
	for (int64_t i = 0; i < C && !c->hollow; i++) {
		if (p->mean)
			update_running(p->mean, i, mean[i], p->momentum);
		if (p->var)
			update_running(p->var, i, var[i] * (double)n / (double)(n - 1),
				       p->momentum);
	}
	return 0;
}

/* Ranks and vector lengths, in PyTorch's order. */
static int check_batch(const struct tensor *x, const struct num_batch_norm *p, struct err *e)
{
	if (x->ndim < 2)
		return err_set(e, ERR_FORMAT, "expected 2D or 3D input (got %dD input)", x->ndim);
	if (!p->training && (!p->mean || !p->var))
		return err_set(e, ERR_STATE, "Expected running_mean and running_var to be defined when training=False");
	return check_param(p->mean, x->shape[1], "running_mean", e) || check_param(p->var, x->shape[1],
			"running_var", e) ||
	       check_param(p->weight, x->shape[1], "weight", e) || check_param(p->bias, x->shape[1], "bias", e);
}

/* The affine step for planes of few elements: scale and shift [1, C, 1...] broadcast over x
 * by the elementwise engine. */
static int affine_columns(struct num_ctx *c, struct tensor *y, const struct tensor *x,
			  const double *scale, const double *shift, struct err *e)
{
	int64_t shape[TENSOR_DIMS];
	struct tensor a = { .st = NULL }, b = { .st = NULL };
	int rc;

	for (int i = 0; i < x->ndim; i++)
		shape[i] = i == 1 ? x->shape[1] : 1;
	rc = num_new(c, &a, x->dt, x->ndim, shape, e) || num_new(c, &b, x->dt, x->ndim, shape, e);
	if (!rc) {
		dtype_convert(x->dt, tensor_data(&a), DT_F64, scale, (size_t)x->shape[1]);
		dtype_convert(x->dt, tensor_data(&b), DT_F64, shift, (size_t)x->shape[1]);
		rc = num_apply_into(c, y, NUM_addcmul, (struct num_arg[]){ num_t(&b), num_t(x), num_t(&a) },
				    (double[]){ 1, 0, 0 }, e);
	}
	tensor_release(&a);
	tensor_release(&b);
	return rc;
}

/* x [N, C, ...]; mean, var, weight, bias [C]. */
int num_batch_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		   const struct num_batch_norm *p, struct err *e)
{
	struct tensor d = { .st = NULL }, y = { .st = NULL };
	int64_t C, inner = 1;
	double *s = NULL;
	int rc = -1;

	if (check_batch(x, p, e) || check_float(x, "batch_norm", e))
		return -1;
	C = x->shape[1];
	for (int i = 2; i < x->ndim; i++)
		inner *= x->shape[i];
	if (!(s = num_array(c, C * 2 + 1, sizeof *s, e)))
		return -1;
	if (num_as(c, &d, x, dtype_carrier(x->dt), e) || batch_stats(c, &d, p, s, s + C, e) ||
	    num_new(c, &y, d.dt, d.ndim, d.shape, e) || num_charge(c, (uint64_t)tensor_numel(x), e))
		goto out;
	/* Mean and variance are replaced by scale and shift in place: y = x * scale + (bias -
	 * mean * scale). */
	for (int64_t i = 0; i < C && !c->hollow; i++) {
		double scale = 1 / sqrt(s[C + i] + p->eps) * (p->weight ? element(p->weight, i) : 1);

		s[C + i] = (p->bias ? element(p->bias, i) : 0) - s[i] * scale;
		s[i] = scale;
	}
	/* A kernel call per plane does not pay for planes of a few values; the channels are
	 * then treated as columns. */
	if (inner < 16 && !c->hollow) {
		if (affine_columns(c, &y, &d, s, s + C, e))
			goto out;
	} else {
		apply_affine(c, &y, &d, x->shape[0] * C, inner, s, s + C, C);
	}
	if (num_settle(c, &y, x->dt, e))
		goto out;
	*out = y;
	y.st = NULL;
	rc = 0;
out:
	mem_free(s);
	tensor_release(&d);
	tensor_release(&y);
	return rc;
}

/* --- groups: instance and group norm ------------------------------------------------------------ */

/* x [N, C, ...] with statistics over each of N * groups sets of C / groups channels; w, b
 * [C]. */
int num_group_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x, int64_t groups,
		   const struct tensor *w, const struct tensor *b, double eps, struct err *e)
{
	struct tensor d = { .st = NULL }, y = { .st = NULL }, v = { .st = NULL };
	int64_t N, C, inner = 1, Cg;
	double *s = NULL;
	int rc = -1;

	if (x->ndim < 2)
		return err_set(e, ERR_STATE, "Expected at least 2 dimensions for input tensor but received %d",
			       x->ndim);
	if (check_float(x, "GroupNormKernelImpl", e))
		return -1;
	N = x->shape[0];
	C = x->shape[1];
	if (groups <= 0 || C % groups)
		return err_set(e, ERR_STATE,
			       "Expected number of channels in input to be divisible by "
			       "num_groups, but got input of shape %s and num_groups=%lld",
			       SHAPE_TEXT(x->ndim, x->shape), (long long)groups);
	if ((w && (w->ndim != 1 || w->shape[0] != C)) || (b && (b->ndim != 1 || b->shape[0] != C)))
		return err_set(e, ERR_STATE,
			       "Expected %s to be a vector of size equal to the number of "
			       "channels in input, but got weight of shape %s and input of shape "
			       "%s",
			       w ? "weight" : "bias", SHAPE_TEXT((w ? w : b)->ndim, (w ? w : b)->shape),
			       SHAPE_TEXT(x->ndim, x->shape));
	for (int i = 2; i < x->ndim; i++)
		inner *= x->shape[i];
	Cg = C / groups;
	/* One array: mean and variance of each group [2, N, groups], then scale and shift of
	 * each channel of each image [2, N, C]. */
	s = num_array(c, c->hollow ? 1 : N * groups * 2 + N * C * 2 + 1, sizeof *s, e);
	if (!s)
		return -1;
	if (num_as(c, &d, x, dtype_carrier(x->dt), e) || num_new(c, &y, d.dt, d.ndim, d.shape, e))
		goto out;
	if (!c->hollow && (tensor_view(&v, &d, 2, (int64_t[]){ N * groups, Cg * inner }, e) ||
	    num_moments(c, &v, &(struct num_dims){ .v = { 1 }, .n = 1 }, s, s + N * groups, e)))
		goto out;
	for (int64_t i = 0; i < N * C && !c->hollow; i++) {
		int64_t g = i / Cg, ch = i % C;
		double scale = 1 / sqrt(s[N * groups + g] + eps) * (w ? element(w, ch) : 1), *t = s + 2 * N * groups;

		t[i] = scale;
		t[N * C + i] = (b ? element(b, ch) : 0) - s[g] * scale;
	}
	apply_affine(c, &y, &d, N * C, inner, s + 2 * N * groups, s + 2 * N * groups + N * C,
		     N * C);
	if (num_settle(c, &y, x->dt, e))
		goto out;
	*out = y;
	y.st = NULL;
	rc = 0;
out:
	mem_free(s);
	tensor_release(&d);
	tensor_release(&y);
	tensor_release(&v);
	return rc;
}

/* Running statistics of instance norm: the mean over the batch of the statistics of each
 * image. */
static int update_instance(struct num_ctx *c, const struct tensor *x,
			   const struct num_batch_norm *p, struct err *e)
{
	int64_t N = x->shape[0], C = x->shape[1], n = N > 0 && C > 0 ? tensor_numel(x) / (N * C) : 0;
	double *s = num_array(c, c->hollow ? 1 : 2 * N * C + 1, sizeof *s, e);
	struct num_dims d = { .n = 0 };
	int rc;

	if (!s)
		return -1;
	for (int i = 2; i < x->ndim; i++)
		d.v[d.n++] = i;
	rc = num_moments(c, x, &d, s, s + N * C, e);
	for (int64_t ch = 0; ch < C && !rc && !c->hollow; ch++) {
		double m = 0, v = 0;

		for (int64_t i = 0; i < N; i++) {
			m += s[i * C + ch] / (double)N;
			v += s[N * C + i * C + ch] * (double)n / (double)(n - 1) / (double)N;
		}
		update_running(p->mean, ch, m, p->momentum);
		update_running(p->var, ch, v, p->momentum);
	}
	mem_free(s);
	return rc;
}

/* Group norm with one channel per group. Without input statistics it is batch norm with the
 * running ones. */
int num_instance_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		      const struct num_batch_norm *p, int use_input_stats, struct err *e)
{
	struct num_batch_norm fixed = *p;

	if (x->ndim < 2)
		return err_set(e, ERR_FORMAT, "expected 3D input (got %dD input)", x->ndim);
	if (!use_input_stats) {
		if (check_repeated(p->mean, x, "running_mean", e) ||
		    check_repeated(p->var, x, "running_var", e))
			return -1;
		fixed.training = 0;
		return num_batch_norm(c, out, x, &fixed, e);
	}
	if (tensor_numel(x) == x->shape[0] * x->shape[1])
		return err_set(e, ERR_FORMAT,
			       "Expected more than 1 spatial element when training, got input size torch.Size(%s)",
			       SHAPE_TEXT(x->ndim, x->shape));
	if (check_repeated(p->mean, x, "running_mean", e) ||
	    check_repeated(p->var, x, "running_var", e) ||
	    check_repeated(p->weight, x, "weight", e) || check_repeated(p->bias, x, "bias", e))
		return -1;
	if (p->mean && p->var && update_instance(c, x, p, e))
		return -1;
	return num_group_norm(c, out, x, x->shape[1], p->weight, p->bias, p->eps, e);
}

/* --- layer ----------------------------------------------------------------------------------------- */

/* One layer or RMS norm. */
struct layer_job {
	const struct num_rows *k;
	struct tensor x, y, w, b;       /* dense, in the carrier; w, b [n] or none */
	int64_t n;                      /* elements of a row: the normalised dimensions */
	int size, rms;                  /* size: bytes of an element; rms: no mean is subtracted */
	double eps;
};

/* Thread body: rows [begin, end). */
static void layer_range(void *ctx, size_t begin, size_t end)
{
	struct layer_job *j = ctx;
	const void *w = j->w.st ? tensor_data(&j->w) : NULL, *b = j->b.st ? tensor_data(&j->b) : NULL;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++)
		j->k->layer_norm((char *)tensor_data(&j->y) + i * j->n * j->size,
				 (char *)tensor_data(&j->x) + i * j->n * j->size,
				 j->n, w, b, j->eps, j->rms);
}

/* `shape` must be the last nd sizes of x, and the shape of w and b. */
static int check_layer(const struct tensor *x, int nd, const int64_t *shape, const struct tensor *w,
		       const struct tensor *b, struct err *e)
{
	int ok = nd >= 1 && x->ndim >= nd && !memcmp(x->shape + x->ndim - nd, shape, sizeof *shape * (size_t)nd);

	if (!ok)
		return err_set(e, ERR_STATE,
			       "Given normalized_shape=%s, expected input with shape [*, %s, but got input of size%s",
			       SHAPE_TEXT(nd, shape), SHAPE_TEXT(nd, shape) + 1,
			       SHAPE_TEXT(x->ndim, x->shape));
	if (w && (w->ndim != nd || memcmp(w->shape, shape, sizeof *shape * (size_t)nd)))
		return err_set(e, ERR_STATE,
			       "Expected weight to be of same shape as normalized_shape, but got "
			       "weight of shape %s and normalized_shape = %s",
			       SHAPE_TEXT(w->ndim, w->shape), SHAPE_TEXT(nd, shape));
	if (b && (b->ndim != nd || memcmp(b->shape, shape, sizeof *shape * (size_t)nd)))
		return err_set(e, ERR_STATE,
			       "Expected bias to be of same shape as normalized_shape, but got "
			       "bias of shape %s and normalized_shape = %s",
			       SHAPE_TEXT(b->ndim, b->shape), SHAPE_TEXT(nd, shape));
	return 0;
}

/* rms: y = x / sqrt(mean(x^2) + eps) * w. */
int num_layer_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x, int nd,
		   const int64_t *shape,
		   const struct tensor *w, const struct tensor *b, double eps, int rms,
		   struct err *e)
{
	struct layer_job j = { .n = 1, .rms = rms, .eps = eps };
	enum dtype carrier = dtype_carrier(x->dt);
	int rc = -1;

	if (check_layer(x, nd, shape, w, b, e) || check_float(x, "LayerNormKernelImpl", e))
		return -1;
	for (int i = 0; i < nd; i++)
		j.n *= shape[i];
	j.k = SIMD_PICK(num_rows)(carrier);
	j.size = dtype_size(carrier);
	if (num_as(c, &j.x, x, carrier, e) || num_new(c, &j.y, carrier, x->ndim, x->shape, e) ||
	    (w && num_as(c, &j.w, w, carrier, e)) || (b && num_as(c, &j.b, b, carrier, e)) ||
	    num_charge(c, (uint64_t)tensor_numel(x), e))
		goto out;
	if (tensor_numel(x))
		pool_for(c->pool, (size_t)(tensor_numel(x) / j.n), (size_t)MAX(1, 16384 / j.n),
			 layer_range, &j);
	if (num_settle(c, &j.y, x->dt, e))
		goto out;
	*out = j.y;
	j.y.st = NULL;
	rc = 0;
out:
	tensor_release(&j.x);
	tensor_release(&j.y);
	tensor_release(&j.w);
	tensor_release(&j.b);
	return rc;
}

/* --- the rest ---------------------------------------------------------------------------------------- */

/* y = x / (k + alpha / size * sum of x^2 over `size` neighbouring channels)^beta. The window
 * of channel ch is [ch - size / 2, ch + (size - 1) / 2], cut at the ends; x [N, C, ...]. */
int num_local_response_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x,
			    int64_t size, double alpha, double beta, double k, struct err *e)
{
	struct tensor d = { .st = NULL }, y = { .st = NULL };
	int64_t C, inner = 1, before, after;
	int rc = -1;

	if (x->ndim < 3)
		return err_set(e, ERR_FORMAT, "Expected 3D or higher dimensionality input (got %d dimensions)",
			       x->ndim);
	if (size < 1)
		return err_set(e, ERR_FORMAT, "kernel size should be greater than zero, but got %lld", (long long)size);
	before = size / 2;
	after = (size - 1) / 2;
	C = x->shape[1];
	for (int i = 2; i < x->ndim; i++)
		inner *= x->shape[i];
	if (num_as(c, &d, x, DT_F64, e) || num_new(c, &y, DT_F64, x->ndim, x->shape, e) ||
	    num_charge(c, (uint64_t)tensor_numel(x) * (uint64_t)MIN(size, MAX(C, 1)), e))
		goto out;
	for (int64_t i = 0; i < tensor_numel(x) && !c->hollow; i++) {
		const double *p = tensor_data(&d);
		int64_t ch = i / inner % C;
		double s = 0;

		for (int64_t o = MAX(ch - before, 0); o <= MIN(ch + after, C - 1); o++)
			s += p[i + (o - ch) * inner] * p[i + (o - ch) * inner];
		((double *)tensor_data(&y))[i] = p[i] / pow(k + alpha * s / (double)size, beta);
	}
	if (num_settle(c, &y, x->dt, e))
		goto out;
	*out = y;
	y.st = NULL;
	rc = 0;
out:
	tensor_release(&d);
	tensor_release(&y);
	return rc;
}

/* F.normalize: x / max(norm_p(x along dim), eps). */
int num_normalize(struct num_ctx *c, struct tensor *out, const struct tensor *x, double p, int dim,
		  double eps, struct err *e)
{
	struct tensor n, m;
	int rc;

	if (num_norm(c, &n, x, p, &(struct num_dims){ .v = { dim }, .n = 1 }, 1, e))
		return -1;
	rc = num_apply(c, &m, NUM_clamp_min, (struct num_arg[]){ num_t(&n) },
		       (double[]){ eps, 0, 0 }, e);
	tensor_release(&n);
	if (rc)
		return -1;
	rc = num_op2(c, out, NUM_div, num_t(x), num_t(&m), e);
	tensor_release(&m);
	return rc;
}
