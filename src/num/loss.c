/* Losses over classes: negative log likelihood and cross entropy, and the reduction of
 * losses. Losses that are elementwise are rows of torch_loss.def.
 *
 *     nll            loss = -w[target] * logp[target]
 *     cross entropy  nll of log_softmax(x)
 *
 * logp [N, C, inner...] or [C], target [N, inner...] or []. Sums are kept in double. */
#include <math.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/reduce.h"

/* Replaces the unreduced loss *t by its mean, sum, or sum / batch size ("batchmean"). *t is
 * released on failure. */
int num_reduce_loss(struct num_ctx *c, struct tensor *t, enum num_reduction how, struct err *e)
{
	struct tensor r;
	int64_t batch = t->ndim ? t->shape[0] : 1;
	int rc;

	if (how == REDUCE_NONE)
		return 0;
	if (how == REDUCE_MEAN)
		rc = num_mean(c, &r, t, NULL, 0, -1, e);
	else
		rc = num_sum(c, &r, t, NULL, 0, -1, e);
	if (!rc && how == REDUCE_BATCHMEAN) {
		rc = num_apply_into(c, &r, NUM_div, (struct num_arg[]){ num_t(&r), num_i(batch) },
				    NULL, e);
		if (rc)
			tensor_release(&r);
	}
	tensor_release(t);
	if (!rc)
		*t = r;
	return rc;
}

/* --- class indices ----------------------------------------------------------------------------- */

/* One call over class indices. */
struct nll {
	/* dense: carrier [N, C, inner]; i64 [N, inner]; f64 [C] or none */
	struct tensor logp, target, weight;
	int64_t N, C, inner;
	int64_t ignore;         /* target value that contributes nothing */
	double smoothing;       /* label smoothing in [0, 1] */
};

/* Element i of a float or double array. */
static double at(const struct tensor *t, int64_t i)
{
	return t->dt == DT_F32 ? (double)((float *)tensor_data(t))[i] : ((double *)tensor_data(t))[i];
}

/* Weight of class k; 1 without weights. */
static double class_weight(const struct nll *l, int64_t k)
{
	return l->weight.st ? at(&l->weight, k) : 1;
}

/* Position i of sample n: its loss, its weight, and the sum of the losses of all classes,
 * which label smoothing mixes in. An ignored target gives zeros. */
static int one_loss(const struct nll *l, int64_t n, int64_t i, double *loss, double *weight,
		    double *smooth, struct err *e)
{
	int64_t k = ((int64_t *)tensor_data(&l->target))[n * l->inner + i], base = n * l->C * l->inner + i;

	*loss = *weight = *smooth = 0;
	if (k == l->ignore)
		return 0;
	if (k < 0 || k >= l->C)
		return err_set(e, ERR_RANGE, "Target %lld is out of bounds.", (long long)k);
	*weight = class_weight(l, k);
	*loss = -at(&l->logp, base + k * l->inner) * *weight;
	if (l->smoothing > 0)
		for (int64_t j = 0; j < l->C; j++)
			*smooth -= at(&l->logp, base + j * l->inner) * class_weight(l, j);
	return 0;
}

/* Shapes, in the order of PyTorch's checks. `want` is the shape of x without its class
 * dimension. */
static int check_nll(const struct tensor *x, const struct tensor *target,
		     const struct tensor *weight, struct err *e)
{
	int classes = x->ndim == 1 ? 0 : 1;
	int64_t want[TENSOR_DIMS];
	int n = 0;

	if (x->ndim < 1)
		return err_set(e, ERR_STATE, "input tensor should be 1D or 2D");
	for (int i = 0; i < x->ndim; i++)
		if (i != classes)
			want[n++] = x->shape[i];
	if (target->ndim >= 1 && n >= 1 && target->shape[0] != want[0])
		return err_set(e, ERR_FORMAT, "Expected input batch_size (%lld) to match target batch_size (%lld).",
			       (long long)want[0], (long long)target->shape[0]);
	if (!n && target->ndim > 1)
		return err_set(e, ERR_STATE, "0D or 1D target tensor expected, multi-target not supported");
	if (!n && target->ndim && target->shape[0] != 1)
		return err_set(e, ERR_FORMAT,
			       "For 1D input, 1D target must have size 1, but got target size: %lld",
			       (long long)target->shape[0]);
	for (int i = 0; i < n; i++)
		if (target->ndim != n || target->shape[i] != want[i])
			return err_set(e, ERR_STATE, "Expected target size %s, got %s",
				       SHAPE_TEXT(n, want),
				       SHAPE_TEXT(target->ndim, target->shape));
	if (dtype_is_float(target->dt))
		return err_set(e, ERR_STATE, "expected scalar type Long but found %s",
			       num_type_name(target->dt));
	if (weight && (weight->ndim != 1 || weight->shape[0] != x->shape[classes]))
		return err_set(e, ERR_STATE,
			       "weight tensor should be defined either for all %lld classes or "
			       "no classes but got weight tensor of shape: %s",
			       (long long)x->shape[classes],
			       SHAPE_TEXT(weight->ndim, weight->shape));
	return 0;
}

/* All positions: losses into `each` (may be NULL), the total into *sum, the sum of weights
 * into *weights.
 *     loss = (1 - smoothing) * nll + smoothing / C * sum over classes */
static int run_nll(const struct nll *l, struct tensor *each, double *sum, double *weights,
		   struct err *e)
{
	double total = 0, smooth_total = 0;

	*weights = 0;
	for (int64_t n = 0; n < l->N && l->inner; n++)
		for (int64_t i = 0; i < l->inner; i++) {
			double loss, w, s;

			if (one_loss(l, n, i, &loss, &w, &s, e))
				return -1;
			total += loss;
			smooth_total += s;
			*weights += w;
			if (each)
				((double *)tensor_data(each))[n * l->inner + i] =
					(1 - l->smoothing) * loss + l->smoothing / (double)l->C * s;
		}
	*sum = (1 - l->smoothing) * total + l->smoothing / (double)l->C * smooth_total;
	return 0;
}

/* The mean divides by the weights of the targets that count, so an ignored target does not
 * count. All targets ignored gives 0 / 0 = NaN, as in PyTorch. A dry run makes the shape
 * only. */
int num_nll_loss(struct num_ctx *c, struct tensor *out, const struct tensor *logp,
		 const struct tensor *target, const struct num_nll *p, struct err *e)
{
	struct nll l = { .ignore = p->ignore, .smoothing = p->smoothing, .inner = 1 };
	struct tensor each = { .st = NULL };
	int classes = logp->ndim == 1 ? 0 : 1, rc = -1;
	double sum, weights;

	if (check_nll(logp, target, p->weight, e))
		return -1;
	if (!dtype_is_float(logp->dt))
		return err_set(e, ERR_STATE, "\"nll_loss_out_frame\" not implemented for '%s'",
			       num_type_name(logp->dt));
	l.N = classes ? logp->shape[0] : 1;
	l.C = logp->shape[classes];
	for (int i = 2; i < logp->ndim; i++)
		l.inner *= logp->shape[i];
	if (num_as(c, &l.logp, logp, dtype_carrier(logp->dt), e) ||
	    num_as(c, &l.target, target, DT_I64, e) ||
	    (p->weight && num_as(c, &l.weight, p->weight, DT_F64, e)))
		goto out;
	if (p->how == REDUCE_NONE ? num_new(c, &each, DT_F64, target->ndim, target->shape, e)
				  : num_new(c, &each, DT_F64, 0, NULL, e))
		goto out;
	if (c->hollow)
		sum = weights = 1.0;
	else if (run_nll(&l, p->how == REDUCE_NONE ? &each : NULL, &sum, &weights, e))
		goto out;
	if (p->how != REDUCE_NONE)
		*(double *)tensor_data(&each) = p->how == REDUCE_MEAN ? sum / weights : sum;
	if (num_settle(c, &each, logp->dt, e))
		goto out;
	*out = each;
	each.st = NULL;
	rc = 0;
out:
	tensor_release(&l.logp);
	tensor_release(&l.target);
	tensor_release(&l.weight);
	tensor_release(&each);
	return rc;
}

/* --- class probabilities ------------------------------------------------------------------------ */

/* Cross entropy with class probabilities t [N, C, inner]: -sum over k of t'[k] logp[k] w[k],
 * with t' = (1 - smoothing) t + smoothing / C. */
static int soft_loss(struct num_ctx *c, struct tensor *out, const struct tensor *logp,
		     const struct tensor *target, const struct num_nll *p, struct err *e)
{
	struct tensor x = { .st = NULL }, t = { .st = NULL }, w = { .st = NULL }, y = { .st = NULL };
	int classes = logp->ndim == 1 ? 0 : 1, n = 0, rc = -1;
	int64_t shape[TENSOR_DIMS], N = classes ? logp->shape[0] : 1, C = logp->shape[classes], inner = 1;
	double total = 0;

	if (p->weight && (p->weight->ndim != 1 || p->weight->shape[0] != C))
		return err_set(e, ERR_STATE,
			       "cross_entropy: weight tensor should be defined either for all "
			       "%lld classes or no classes but got weight tensor of shape: %s",
			       (long long)C, SHAPE_TEXT(p->weight->ndim, p->weight->shape));
	for (int i = 0; i < logp->ndim; i++)
		if (i != classes)
			shape[n++] = logp->shape[i];
	for (int i = 2; i < logp->ndim; i++)
		inner *= logp->shape[i];
	if (num_as(c, &x, logp, DT_F64, e) || num_as(c, &t, target, DT_F64, e) ||
	    (p->weight && num_as(c, &w, p->weight, DT_F64, e)) ||
	    num_new(c, &y, DT_F64, n, shape, e))
		goto out;
	for (int64_t i = 0; i < N * inner && !c->hollow; i++) {
		double s = 0;

		for (int64_t k = 0; k < C; k++) {
			int64_t pos = (i / inner * C + k) * inner + i % inner;
			double tk = at(&t, pos) * (1 - p->smoothing) + p->smoothing / (double)C;

			s -= at(&x, pos) * tk * (w.st ? at(&w, k) : 1);
		}
		((double *)tensor_data(&y))[i] = s;
		total += s;
	}
	/* Unlike with class indices the mean does not divide by the weights: PyTorch divides
	 * by the number of positions. */
	if (p->how != REDUCE_NONE) {
		tensor_release(&y);
		if (num_new(c, &y, DT_F64, 0, NULL, e))
			goto out;
		*(double *)tensor_data(&y) = p->how == REDUCE_MEAN ? total / (double)(N * inner) : total;
	}
	if (num_settle(c, &y, logp->dt, e))
		goto out;
	*out = y;
	y.st = NULL;
	rc = 0;
out:
	tensor_release(&x);
	tensor_release(&t);
	tensor_release(&w);
	tensor_release(&y);
	return rc;
}

/* A target with the shape of x holds probabilities, any other holds class indices. */
int num_cross_entropy(struct num_ctx *c, struct tensor *out, const struct tensor *x,
		      const struct tensor *target, const struct num_nll *p, struct err *e)
{
	struct tensor logp, wide;
	int rc;

	if (x->ndim < 1)
		return err_set(e, ERR_STATE, "input tensor should be at least 1D");
	/* The log probabilities stay in the carrier: half precision would round them before
	 * they are summed. */
	if (num_as(c, &wide, x, dtype_carrier(x->dt), e))
		return -1;
	rc = num_softmax(c, &logp, &wide, x->ndim == 1 ? 0 : 1, -1, 1, e);
	tensor_release(&wide);
	if (rc)
		return -1;
	if (tensor_same_shape(x, target) && !dtype_is_float(target->dt))
		rc = err_set(e, ERR_STATE,
			     "Expected floating point type for target with class probabilities, got %s",
			     num_type_name(target->dt));
	else if (tensor_same_shape(x, target))
		rc = soft_loss(c, out, &logp, target, p, e);
	else
		rc = num_nll_loss(c, out, &logp, target, p, e);
	tensor_release(&logp);
	return rc ? -1 : num_settle(c, out, x->dt, e);
}
