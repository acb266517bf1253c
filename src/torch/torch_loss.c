/* Bindings of the losses of torch.nn.functional. Elementwise losses are rows of
 * torch_loss.def over the kernels of ew_float.def; losses over classes are in num/loss.c;
 * distances and margins are composed here. Every loss ends with a reduction: none, mean, sum,
 * or batchmean.
 *
 * size_average= and reduce= are accepted and ignored: the modules of the prelude translate
 * them. */
#include <math.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"
#include "torch/torch.h"

/* The reduction= of slot i. "batchmean" is PyTorch's for kl_div only; the order is that of
 * the enum. */
static int reduction(struct bind *b, size_t i, enum num_reduction *how)
{
	static const char *const names[] = { "none", "mean", "sum", "batchmean", NULL };
	int k;

	if (torch_choice(b, i, names, "reduction", &k))
		return -1;
	*how = (enum num_reduction)k;
	return 0;
}

/* Reduces *t and returns it; *t is consumed. */
static int reduced(struct bind *b, struct tensor *t, enum num_reduction how)
{
	struct num_ctx c = torch_ctx(b);

	return num_reduce_loss(&c, t, how, bind_e(b)) ? bind_fail(b) : bind_result(b, t);
}

/* Parameters that PyTorch refuses, and losses without an integer kernel. */
static int check_pointwise(struct bind *b, enum num_op op, const struct num_arg *a, double p)
{
	const char *name = op == NUM_loss_mse ? "mse" : op == NUM_loss_smooth_l1 ? "smooth_l1" :
		op == NUM_loss_huber ? "huber" : NULL;

	if (op == NUM_loss_smooth_l1 && p < 0)
		return bind_raise(b, EXC_RuntimeError, "smooth_l1_loss does not support negative values for beta.");
	if (op == NUM_loss_huber && !(p > 0))
		return bind_raise(b, EXC_RuntimeError, "huber_loss does not support non-positive values for delta.");
	if (name && a[0].kind == NUM_TENSOR && a[1].kind == NUM_TENSOR && !dtype_is_float(a[0].t->dt) &&
	    !dtype_is_float(a[1].t->dt))
		return bind_raise(b, EXC_NotImplementedError, "\"%s_cpu\" not implemented for '%s'", name,
				  num_type_name(a[0].t->dt));
	return 0;
}

/* An elementwise loss. `param` is the slot of its parameter, or 9 for none; `how_slot` that
 * of reduction. smooth_l1 with beta 0 is l1. */
static int pointwise(struct bind *b, enum num_op op, size_t param, size_t how_slot)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg a[2];
	enum num_reduction how;
	double p[3] = { 0, 0, 0 };
	struct tensor y;

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]) || reduction(b, how_slot, &how) ||
	    (param < 9 && bind_float(b, param, &p[0])))
		return -1;
	if (check_pointwise(b, op, a, p[0]))
		return -1;
	/* A division by beta = 0 would give NaN for equal elements. */
	if (op == NUM_loss_smooth_l1 && p[0] == 0)
		op = NUM_loss_l1;
	if (num_apply(&c, &y, op, a, p, bind_e(b)))
		return bind_fail(b);
	return reduced(b, &y, how);
}

#define LOSS(name, op, sig, param, how) static int l_##name(struct bind *b) { return pointwise(b, NUM_##op, \
		param, how); }
#include "torch/torch_loss.def"
#undef LOSS

/* --- classes -------------------------------------------------------------------------------------- */

/* input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
 * reduction='mean', label_smoothing=0.0. `logits`: cross_entropy, else nll_loss, which has no
 * smoothing. */
static int classes(struct bind *b, int logits)
{
	struct num_ctx c = torch_ctx(b);
	struct num_nll p = { .smoothing = 0 };
	struct tensor *x, *t, *w, y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &t) || bind_opt_tensor(b, 2, &w) || bind_int(b, 4, &p.ignore) ||
	    reduction(b, 6, &p.how) || (logits && bind_float(b, 7, &p.smoothing)))
		return -1;
	if (!dtype_is_float(t->dt) && t->dt != DT_I64 && t->dt != DT_U8)
		return bind_raise(b, EXC_RuntimeError, "expected scalar type Long but found %s", num_c_name(t->dt));
	if (logits && !(p.smoothing >= 0 && p.smoothing <= 1) && !(p.smoothing < 0 && !dtype_is_float(t->dt)))
		return bind_raise(b, EXC_RuntimeError, "label_smoothing must be between 0.0 and 1.0. Got: %g",
				  p.smoothing);
	/* A float target of x's shape holds probabilities, which cannot be ignored. */
	if (logits && dtype_is_float(t->dt) && tensor_same_shape(x, t) && p.ignore >= 0)
		return bind_raise(b, EXC_RuntimeError, "ignore_index is not supported for floating point target");
	/* PyTorch ignores a negative smoothing for class indices. */
	p.smoothing = MAX(p.smoothing, 0);
	p.weight = w;
	return (logits ? num_cross_entropy : num_nll_loss)(&c, &y, x, t, &p, bind_e(b)) ? bind_fail(b) :
		bind_result(b, &y);
}

static int l_cross_entropy(struct bind *b) { return classes(b, 1); }
static int l_nll(struct bind *b) { return classes(b, 0); }

/* --- probabilities ----------------------------------------------------------------------------------- */

/* input (log probabilities), target, ..., reduction, log_target: target * (log target -
 * input). */
static int l_kl_div(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	enum num_reduction how;
	struct num_arg a[2];
	struct tensor y;
	int log_target;

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]) || reduction(b, 4, &how) || bind_bool(b, 5, &log_target))
		return -1;
	if ((a[0].kind == NUM_TENSOR && !dtype_is_float(a[0].t->dt)) ||
	    (a[1].kind == NUM_TENSOR && !dtype_is_float(a[1].t->dt)))
		return bind_raise(b, EXC_RuntimeError, "kl_div: Integral inputs not supported.");
	if (num_apply(&c, &y, log_target ? NUM_loss_kl_log : NUM_loss_kl, a, NULL, bind_e(b)))
		return bind_fail(b);
	return reduced(b, &y, how);
}

/* Multiplies each element by its weight, which broadcasts, and reduces. *y is consumed. */
static int weighted(struct bind *b, struct tensor *y, const struct tensor *w,
		    enum num_reduction how)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor z;
	int rc;

	if (!w)
		return reduced(b, y, how);
	rc = num_op2(&c, &z, NUM_mul, num_t(y), num_t(w), bind_e(b));
	tensor_release(y);
	return rc ? bind_fail(b) : reduced(b, &z, how);
}

/* binary_cross_entropy wants inputs in [0, 1]. PyTorch checks each of them, so a NaN is an
 * error, too. */
static int check_probabilities(struct bind *b, const struct tensor *x)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor d;
	int bad = 0;

	if (c.hollow)
		return 0;
	if (num_as(&c, &d, x, DT_F64, bind_e(b)))
		return bind_fail(b);
	for (int64_t i = 0; i < tensor_numel(&d); i++) {
		double v = ((double *)tensor_data(&d))[i];

		bad |= !(v >= 0 && v <= 1);
	}
	tensor_release(&d);
	return bad ? bind_raise(b, EXC_RuntimeError, "all elements of input should be between 0 and 1") : 0;
}

/* input, target, weight=None, ..., reduction: -(t log x + (1 - t) log(1 - x)). The logarithms
 * are clamped at -100, as in PyTorch. */
static int l_bce(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	enum num_reduction how;
	struct tensor *x, *t, *w, y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &t) || bind_opt_tensor(b, 2, &w) || reduction(b, 5, &how))
		return -1;
	if (!tensor_same_shape(x, t))
		return bind_raise(b, EXC_ValueError,
				  "Using a target size (torch.Size(%s)) that is different to the "
				  "input size (torch.Size(%s)) is deprecated. Please ensure they "
				  "have the same size.",
				  SHAPE_TEXT(t->ndim, t->shape), SHAPE_TEXT(x->ndim, x->shape));
	if (x->dt != t->dt)
		return bind_raise(b, EXC_RuntimeError, "Found dtype %s but expected %s", num_type_name(t->dt),
				  num_type_name(x->dt));
	if (check_probabilities(b, x))
		return -1;
	if (num_op2(&c, &y, NUM_loss_bce, num_t(x), num_t(t), bind_e(b)))
		return bind_fail(b);
	return weighted(b, &y, w, how);
}

/* ..., pos_weight=None: the same on logits, in the form that does not overflow. */
static int l_bce_logits(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	enum num_reduction how;
	struct tensor *x, *t, *w, *pos, y;
	int rc;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &t) || bind_opt_tensor(b, 2, &w) || reduction(b, 5, &how) ||
	    bind_opt_tensor(b, 6, &pos))
		return -1;
	if (!tensor_same_shape(x, t))
		return bind_raise(b, EXC_ValueError,
				  "Target size (torch.Size(%s)) must be the same as input size (torch.Size(%s))",
				  SHAPE_TEXT(t->ndim, t->shape), SHAPE_TEXT(x->ndim, x->shape));
	if (dtype_is_float(x->dt) && !dtype_is_float(t->dt))
		return bind_raise(b, EXC_RuntimeError,
				  "result type %s can't be cast to the desired output type %s", num_type_name(x->dt),
				  num_type_name(t->dt));
	if (pos && pos->ndim > x->ndim)
		return bind_raise(b, EXC_RuntimeError,
				  "output with shape %s doesn't match the broadcast shape %s",
				  SHAPE_TEXT(x->ndim, x->shape), SHAPE_TEXT(pos->ndim, pos->shape));
	rc = pos ? num_apply(&c, &y, NUM_loss_bce_logits_pos,
			     (struct num_arg[]){ num_t(x), num_t(t), num_t(pos) }, NULL, bind_e(b))
		 : num_op2(&c, &y, NUM_loss_bce_logits, num_t(x), num_t(t), bind_e(b));
	return rc ? bind_fail(b) : weighted(b, &y, w, how);
}

/* input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None,
 * reduction: exp(x) - t x, or x - t log(x + eps). The Stirling term of full=True is refused. */
static int l_poisson(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	enum num_reduction how;
	struct num_arg a[2];
	struct tensor y;
	double eps;
	int log_input, full;

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]) || bind_bool(b, 2, &log_input) || bind_bool(b, 3, &full) ||
	    bind_float(b, 5, &eps) || reduction(b, 7, &how))
		return -1;
	if (full)
		return bind_unsupported(b, "poisson_nll_loss with full=True");
	if (num_apply(&c, &y, log_input ? NUM_loss_poisson : NUM_loss_poisson_plain, a,
		      (double[]){ eps, 0, 0 }, bind_e(b)))
		return bind_fail(b);
	return reduced(b, &y, how);
}

/* Does t have a negative element? Without memory it says no; the operator that follows
 * reports the failure. */
static int has_negative(struct num_ctx *c, const struct tensor *t)
{
	struct err e = ERR_INIT;
	struct tensor d;
	int found = 0;

	if (num_as(c, &d, t, DT_F64, &e))
		return 0;                       /* out of memory: the next operator reports it */
	for (int64_t i = 0; i < tensor_numel(&d); i++)
		found |= ((double *)tensor_data(&d))[i] < 0;
	tensor_release(&d);
	return found;
}

/* Makes the view of `var` that broadcasts over `input`, by PyTorch's rule: a variance without the
 * last axis, (5) for an input of (5, 6), becomes (5, 1). Otherwise only one axis may differ, and
 * its size is 1. */
static int variance_view(struct bind *b, const struct tensor *input, const struct tensor *var, struct tensor *view)
{
	int same = 0, ones = 0;

	for (int i = 0; i < input->ndim && i < var->ndim; i++) {
		same += input->shape[i] == var->shape[i];
		ones += input->shape[i] != var->shape[i] && var->shape[i] == 1;
	}
	if (var->ndim == input->ndim - 1 && same == var->ndim)
		return tensor_unsqueeze(view, var, var->ndim, bind_e(b)) ? bind_fail(b) : 0;
	if (var->ndim != input->ndim || same + ones < input->ndim || ones > 1)
		return bind_raise(b, EXC_ValueError, "var is of incorrect size");
	tensor_retain(var);
	*view = *var;
	return 0;
}

/* input, target, var, full=False, eps=1e-06, reduction: (log max(var, eps) + (x - t)^2 /
 * max(var, eps)) / 2, plus log(2 pi) / 2 if full. */
static int l_gaussian(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	enum num_reduction how;
	struct num_arg a[3];
	struct tensor y, var = { .st = NULL };
	double eps;
	int full, rc;

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]) || torch_arg(b, 2, &a[2]) || bind_bool(b, 3, &full) ||
	    bind_float(b, 4, &eps) || reduction(b, 5, &how))
		return -1;
	if (!c.hollow && a[2].kind == NUM_TENSOR && has_negative(&c, a[2].t))
		return bind_raise(b, EXC_ValueError, "var has negative entry/entries");
	if (a[0].kind == NUM_TENSOR && a[2].kind == NUM_TENSOR) {
		if (variance_view(b, a[0].t, a[2].t, &var))
			return -1;
		a[2].t = &var;
	}
	rc = num_apply(&c, &y, NUM_loss_gaussian, a, (double[]){ eps, 0, 0 }, bind_e(b));
	tensor_release(&var);
	if (rc)
		return bind_fail(b);
	if (full && num_apply_into(&c, &y, NUM_plus,
				   (struct num_arg[]){ num_t(&y), num_f(0.5 * log(2 * M_PI)) }, NULL, bind_e(b))) {
		tensor_release(&y);
		return bind_fail(b);
	}
	return reduced(b, &y, how);
}

/* --- distances ------------------------------------------------------------------------------------------ */

/* out = ||x - y + eps||_p along dim. eps is added to each difference, as in PyTorch, so equal
 * vectors have a small distance. */
static int pair_distance(struct bind *b, struct tensor *out, const struct tensor *x,
			 const struct tensor *y, double p, double eps, int dim, int keep)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor d;
	int rc;

	if (num_op2(&c, &d, NUM_minus, num_t(x), num_t(y), bind_e(b)))
		return -1;
	rc = num_apply_into(&c, &d, NUM_plus, (struct num_arg[]){ num_t(&d), num_f(eps) }, NULL, bind_e(b)) ||
	     num_norm(&c, out, &d, p, &(struct num_dims){ .v = { dim }, .n = 1 }, keep, bind_e(b));
	tensor_release(&d);
	return rc;
}

/* x1, x2, p=2.0, eps=1e-06, keepdim=False, along the last dimension */
static int f_pairwise_distance(struct bind *b)
{
	struct tensor *x, *y, r;
	double p, eps;
	int keep, dims;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y) || bind_float(b, 2, &p) || bind_float(b, 3, &eps) ||
	    bind_bool(b, 4, &keep))
		return -1;
	dims = MAX(x->ndim, y->ndim);
	return pair_distance(b, &r, x, y, p, eps, MAX(dims - 1, 0), keep) ? bind_fail(b) : bind_result(b, &r);
}

/* anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None,
 * reduce=None, reduction. max(d(a, p) - d(a, n) + margin, 0); swap uses min(d(a, n), d(p,
 * n)). */
static int l_triplet(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *a, *p, *n, dp = { .st = NULL }, dn = { .st = NULL }, ds = { .st = NULL }, m = { .st = NULL }, y;
	enum num_reduction how;
	double margin, order, eps;
	int swap, dim, rc;

	if (bind_tensor(b, 0, &a) || bind_tensor(b, 1, &p) || bind_tensor(b, 2, &n) || bind_float(b, 3, &margin) ||
	    bind_float(b, 4, &order) || bind_float(b, 5, &eps) || bind_bool(b, 6, &swap) || reduction(b, 9, &how))
		return -1;
	if (!(margin > 0))
		return bind_raise(b, EXC_ValueError, "margin must be greater than 0, got %g", margin);
	if (a->ndim != p->ndim || a->ndim != n->ndim)
		return bind_raise(b, EXC_RuntimeError,
				  "The anchor, positive, and negative tensors are expected to "
				  "have the same number of dimensions, but got: anchor %dD, "
				  "positive %dD, and negative %dD inputs", a->ndim, p->ndim, n->ndim);
	/* The last dimension holds the vectors. */
	dim = MAX(a->ndim - 1, 0);
	rc = pair_distance(b, &dp, a, p, order, eps, dim, 0) || pair_distance(b, &dn, a, n, order, eps, dim, 0) ||
	     (swap && (pair_distance(b, &ds, p, n, order, eps, dim, 0) ||
		       num_apply_into(&c, &dn, NUM_minimum,
				      (struct num_arg[]){ num_t(&dn), num_t(&ds) }, NULL, bind_e(b)))) ||
	     num_op2(&c, &m, NUM_minus, num_t(&dp), num_t(&dn), bind_e(b)) ||
	     num_apply_into(&c, &m, NUM_plus, (struct num_arg[]){ num_t(&m), num_f(margin) }, NULL, bind_e(b)) ||
	     num_op1(&c, &y, NUM_relu, &m, bind_e(b));
	tensor_release(&dp);
	tensor_release(&dn);
	tensor_release(&ds);
	tensor_release(&m);
	return rc ? bind_fail(b) : reduced(b, &y, how);
}

/* out = x . y / (max(|x|, eps) max(|y|, eps)) along dim: each norm is clamped on its own, as
 * in PyTorch. */
static int cosine(struct bind *b, struct tensor *out, const struct tensor *x,
		  const struct tensor *y, int dim, double eps)
{
	struct num_ctx c = torch_ctx(b);
	struct num_dims d = { .v = { dim }, .n = 1 };
	struct tensor p = { .st = NULL }, s = { .st = NULL }, nx = { .st = NULL }, ny = { .st = NULL },
		m = { .st = NULL };
	int rc = num_op2(&c, &p, NUM_mul, num_t(x), num_t(y), bind_e(b)) || num_sum(&c, &s, &p, &d, 0, -1, bind_e(b)) ||
		 num_norm(&c, &nx, x, 2, &d, 0, bind_e(b)) || num_norm(&c, &ny, y, 2, &d, 0, bind_e(b)) ||
		 num_apply_into(&c, &nx, NUM_clamp_min, (struct num_arg[]){ num_t(&nx) },
				(double[]){ eps, 0, 0 }, bind_e(b)) ||
		 num_apply_into(&c, &ny, NUM_clamp_min, (struct num_arg[]){ num_t(&ny) },
				(double[]){ eps, 0, 0 }, bind_e(b)) ||
		 num_op2(&c, &m, NUM_mul, num_t(&nx), num_t(&ny), bind_e(b)) ||
		 num_op2(&c, out, NUM_div, num_t(&s), num_t(&m), bind_e(b));

	tensor_release(&p);
	tensor_release(&s);
	tensor_release(&nx);
	tensor_release(&ny);
	tensor_release(&m);
	return rc ? -1 : 0;
}

/* x1, x2, dim=1, eps=1e-08 */
static int f_cosine_similarity(struct bind *b)
{
	struct tensor *x, *y, r;
	double eps;
	int dim;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y) || bind_dim(b, 2, MAX(x->ndim, y->ndim), &dim) ||
	    bind_float(b, 3, &eps))
		return -1;
	if (x->ndim != y->ndim)
		return bind_unsupported(b, "cosine_similarity of %d and %d dimensions", x->ndim, y->ndim);
	return cosine(b, &r, x, y, dim, eps) ? bind_fail(b) : bind_result(b, &r);
}

/* input1, input2, target, margin=0, ..., reduction. 1 - cos where target is 1, max(cos -
 * margin, 0) where it is -1, and 0 elsewhere. */
static int l_cosine_embedding(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, *t, cs, pos = { .st = NULL }, neg = { .st = NULL }, is = { .st = NULL },
		not = { .st = NULL }, r;
	enum num_reduction how;
	double margin;
	int rc;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y) || bind_tensor(b, 2, &t) ||
	    bind_float(b, 3, &margin) || reduction(b, 6, &how))
		return -1;
	if (t->ndim > 1 || x->ndim != t->ndim + 1 || y->ndim != x->ndim)
		return bind_raise(b, EXC_RuntimeError,
				  "%dD target tensor does not go with inputs of %d and %d dimensions",
				  t->ndim, x->ndim, y->ndim);
	if (cosine(b, &cs, x, y, x->ndim - 1, 1e-8))
		return bind_fail(b);
	/* NUM_scale is x * p0 + p1: 1 - cos and cos - margin. */
	rc = num_apply(&c, &pos, NUM_scale, (struct num_arg[]){ num_t(&cs) }, (double[]){ -1, 1, 0 }, bind_e(b)) ||
	     num_apply(&c, &neg, NUM_scale, (struct num_arg[]){ num_t(&cs) }, (double[]){ 1, -margin, 0 }, bind_e(b)) ||
	     num_apply_into(&c, &neg, NUM_relu, (struct num_arg[]){ num_t(&neg) }, NULL, bind_e(b)) ||
	     num_op2(&c, &not, NUM_eq, num_t(t), num_i(-1), bind_e(b)) ||
	     num_apply_into(&c, &neg, NUM_where, (struct num_arg[]){ num_t(&not), num_t(&neg), num_f(0) },
			    NULL, bind_e(b)) ||
	     num_op2(&c, &is, NUM_eq, num_t(t), num_i(1), bind_e(b)) ||
	     num_apply(&c, &r, NUM_where, (struct num_arg[]){ num_t(&is), num_t(&pos), num_t(&neg) }, NULL, bind_e(b));
	tensor_release(&cs);
	tensor_release(&pos);
	tensor_release(&neg);
	tensor_release(&is);
	tensor_release(&not);
	return rc ? bind_fail(b) : reduced(b, &r, how);
}

/* input1, input2, target, margin=0, ..., reduction: max(-t (x1 - x2) + margin, 0). */
static int l_margin_ranking(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg a[3];
	enum num_reduction how;
	double margin;
	struct tensor y;

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]) || torch_arg(b, 2, &a[2]) ||
	    bind_float(b, 3, &margin) || reduction(b, 6, &how))
		return -1;
	for (int i = 0; i < 3; i++)
		if (a[0].kind == NUM_TENSOR && a[i].kind == NUM_TENSOR && a[i].t->ndim != a[0].t->ndim)
			return bind_raise(b, EXC_RuntimeError,
					  "margin_ranking_loss : All input tensors should have "
					  "same dimension but got sizes: input1: torch.Size(%s), "
					  "input2: torch.Size(%s), target: torch.Size(%s) ",
					  SHAPE_TEXT(a[0].t->ndim, a[0].t->shape),
					  SHAPE_TEXT(a[1].t->ndim, a[1].t->shape),
					  SHAPE_TEXT(a[2].t->ndim, a[2].t->shape));
	if (num_apply(&c, &y, NUM_loss_margin_ranking, a, (double[]){ margin, 0, 0 }, bind_e(b)))
		return bind_fail(b);
	return reduced(b, &y, how);
}

/* input [N, C] or [C], target [N], p=1, margin=1.0, weight=None, ..., reduction. Sum over j
 * != t of max(margin - x[t] + x[j], 0)^p, divided by C; computed in double. */
static int l_multi_margin(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *t, d, k, y;
	enum num_reduction how;
	double p, margin;
	int64_t N, C;
	int rc;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &t) || bind_float(b, 2, &p) ||
	    bind_float(b, 3, &margin) || reduction(b, 7, &how))
		return -1;
	if (bind_given(b, 4))
		return bind_unsupported(b, "multi_margin_loss with weight");
	N = x->ndim == 2 ? x->shape[0] : 1;
	if (x->ndim < 1 || x->ndim > 2 || tensor_numel(t) != N)
		return bind_raise(b, EXC_RuntimeError, "Expected a vector or matrix and a target for each of its rows");
	C = x->shape[x->ndim - 1];
	if (num_as(&c, &d, x, DT_F64, bind_e(b)))
		return bind_fail(b);
	rc = num_as(&c, &k, t, DT_I64, bind_e(b));
	if (rc || num_new(&c, &y, DT_F64, x->ndim == 2, &N, bind_e(b))) {
		tensor_release(&d);
		if (!rc)
			tensor_release(&k);
		return bind_fail(b);
	}
	for (int64_t i = 0; i < N && !rc && !c.hollow; i++) {
		const double *row = (double *)tensor_data(&d) + i * C;
		int64_t at = ((int64_t *)tensor_data(&k))[i];
		double s = 0;

		if (at < 0 || at >= C) {
			rc = err_set(bind_e(b), ERR_RANGE, "target out of range");
			break;
		}
		for (int64_t j = 0; j < C; j++)
			if (j != at && margin - row[at] + row[j] > 0)
				s += pow(margin - row[at] + row[j], p);
		((double *)tensor_data(&y))[i] = s / (double)C;
	}
	tensor_release(&d);
	tensor_release(&k);
	if (rc) {
		tensor_release(&y);
		return bind_fail(b);
	}
	return num_settle(&c, &y, x->dt, bind_e(b)) ? bind_fail(b) : reduced(b, &y, how);
}

/* Slots are numbered as in the signatures: size_average= and reduce= take a slot each. */
#define F "torch.nn.functional."

const struct bind_row torch_loss_rows[] = {
#define LOSS(name, op, sig, param, how) { F #name, "input, target: torch.Tensor, " sig, l_##name, BIND_COMPUTE },
#include "torch/torch_loss.def"
#undef LOSS
	{ F "cross_entropy",
	  "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, "
	  "reduction='mean', label_smoothing=0.0",
	  l_cross_entropy, BIND_COMPUTE },
	{ F "nll_loss", "input, target, weight=None, size_average=None, ignore_index=-100, "
			"reduce=None, reduction='mean'", l_nll,
	  BIND_COMPUTE },
	{ F "kl_div",
	  "input, target: torch.Tensor, size_average=None, reduce=None, reduction='mean', log_target=False",
	  l_kl_div, BIND_COMPUTE },
	{ F "binary_cross_entropy",
	  "input, target: torch.Tensor, weight=None, size_average=None, reduce=None, reduction='mean'",
	  l_bce, BIND_COMPUTE },
	{ F "binary_cross_entropy_with_logits",
	  "input, target: torch.Tensor, weight=None, size_average=None, reduce=None, "
	  "reduction='mean', pos_weight=None", l_bce_logits, BIND_COMPUTE },
	{ F "poisson_nll_loss",
	  "input, target: torch.Tensor, log_input=True, full=False, size_average=None, "
	  "eps=1e-08, reduce=None, reduction='mean'", l_poisson, BIND_COMPUTE },
	{ F "gaussian_nll_loss", "input, target: torch.Tensor, var, full=False, eps=1e-06, reduction='mean'",
	  l_gaussian, BIND_COMPUTE },
	{ F "pairwise_distance", "x1, x2, p=2.0, eps=1e-06, keepdim=False", f_pairwise_distance, BIND_COMPUTE },
	ALIAS("torch.pairwise_distance", F "pairwise_distance"),
	{ F "cosine_similarity", "x1, x2, dim=1, eps=1e-08", f_cosine_similarity, BIND_COMPUTE },
	ALIAS("torch.cosine_similarity", F "cosine_similarity"),
	{ F "triplet_margin_loss",
	  "anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, "
	  "size_average=None, reduce=None, reduction='mean'",
	  l_triplet, BIND_COMPUTE },
	{ F "cosine_embedding_loss",
	  "input1, input2: torch.Tensor, target: torch.Tensor, margin=0, size_average=None, "
	  "reduce=None, reduction='mean'",
	  l_cosine_embedding, BIND_COMPUTE },
	{ F "margin_ranking_loss",
	  "input1, input2: torch.Tensor, target: torch.Tensor, margin=0, size_average=None, "
	  "reduce=None, reduction='mean'",
	  l_margin_ranking, BIND_COMPUTE },
	{ F "multi_margin_loss",
	  "input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'",
	  l_multi_margin, BIND_COMPUTE },
	{ NULL, NULL, NULL, 0 }
};
