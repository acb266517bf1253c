/* Bindings of reductions, extremes, scans, softmax and sorting. Slots are read here, the
 * numeric work is in num/reduce.c, num/along.c and num/sort.c. Functions that return two
 * tensors give PyTorch's named tuples. */
#include "torch/torch.h"

#include <math.h>

#include "num/nn.h"
#include "num/shape.h"

typedef int sum_fn(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		   const struct num_dims *d, int keep, int dt, struct err *e);
typedef int plain_fn(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		     const struct num_dims *d, int keep, struct err *e);

/* input, dim=None, keepdim=False, *, dtype=None, out=None in slot 4 */
static int sum_like(struct bind *b, sum_fn *fn)
{
	struct num_ctx c = torch_ctx(b);
	struct num_dims d;
	struct tensor *t, y;
	int keep, dt;

	if (bind_tensor(b, 0, &t) || torch_dims(b, 1, t->ndim, &d) || bind_bool(b, 2, &keep) || torch_dtype(b, 3, &dt))
		return -1;
	if (fn(&c, &y, t, &d, keep, dt, bind_e(b)))
		return bind_fail(b);
	return torch_result(b, &y, 4);
}

static int r_sum(struct bind *b) { return sum_like(b, num_sum); }
static int r_mean(struct bind *b) { return sum_like(b, num_mean); }

/* prod takes one dimension only; sum takes several. */
static int r_prod(struct bind *b)
{
	if (b->a[1].kind == V_TUPLE || b->a[1].kind == V_LIST)
		return bind_raise(b, EXC_TypeError,
				  "prod() received an invalid combination of arguments - got "
				  "(Tensor, %s), but expected one of:",
				  val_type_name(b->h, b->a[1]));
	return sum_like(b, num_prod);
}

/* nansum and nanmean: NaNs count as 0. The mean divides by the number of elements that are
 * not NaN. */
static int nan_sum(struct bind *b, sum_fn *fn)
{
	struct num_ctx c = torch_ctx(b);
	struct num_dims d;
	struct tensor *t, z, n = { .st = NULL }, m = { .st = NULL }, y;
	int keep, dt, rc;

	if (bind_tensor(b, 0, &t) || torch_dims(b, 1, t->ndim, &d) || bind_bool(b, 2, &keep) || torch_dtype(b, 3, &dt))
		return -1;
	if (num_apply(&c, &z, NUM_nan_to_num, (struct num_arg[]){ num_t(t) },
		      (double[]){ 0, INFINITY, -INFINITY }, bind_e(b)))
		return bind_fail(b);
	rc = num_sum(&c, &y, &z, &d, keep, dt, bind_e(b));
	tensor_release(&z);
	if (rc || fn == num_sum)
		return rc ? bind_fail(b) : bind_result(b, &y);
	rc = num_op2(&c, &n, NUM_eq, num_t(t), num_t(t), bind_e(b)) ||
	     num_sum(&c, &m, &n, &d, keep, (int)y.dt, bind_e(b)) ||
	     num_apply_into(&c, &y, NUM_div, (struct num_arg[]){ num_t(&y), num_t(&m) }, NULL, bind_e(b));
	tensor_release(&n);
	tensor_release(&m);
	if (rc) {
		tensor_release(&y);
		return bind_fail(b);
	}
	return bind_result(b, &y);
}

static int r_nansum(struct bind *b) { return nan_sum(b, num_sum); }
static int r_nanmean(struct bind *b) { return nan_sum(b, num_mean); }

/* input, dim=None, keepdim=False. any and all of uint8 give uint8 in PyTorch and are refused. */
static int plain(struct bind *b, plain_fn *fn)
{
	struct num_ctx c = torch_ctx(b);
	struct num_dims d;
	struct tensor *t, y;
	int keep;

	if (bind_tensor(b, 0, &t) || torch_dims(b, 1, t->ndim, &d) || bind_bool(b, 2, &keep))
		return -1;
	/* The only dtype for which PyTorch's result is not bool. */
	if (t->dt == DT_U8 && (fn == num_any || fn == num_all))
		return bind_unsupported(b, "any and all of uint8 tensors, which PyTorch returns as uint8");
	if (fn(&c, &y, t, &d, keep, bind_e(b)))
		return bind_fail(b);
	return bind_result(b, &y);
}

static int r_amax(struct bind *b) { return plain(b, num_amax); }
static int r_amin(struct bind *b) { return plain(b, num_amin); }
static int r_any(struct bind *b) { return plain(b, num_any); }
static int r_all(struct bind *b) { return plain(b, num_all); }
static int r_logsumexp(struct bind *b) { return plain(b, num_logsumexp); }

/* input, dim=None */
static int r_count_nonzero(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_dims d;
	struct tensor *t, y;

	if (bind_tensor(b, 0, &t) || torch_dims(b, 1, t->ndim, &d))
		return -1;
	return num_count_nonzero(&c, &y, t, &d, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
}

/* Both extremes as a named tuple (min, max). */
static int aminmax(struct bind *b)
{
	static const char *const fields[] = { "min", "max" };
	struct num_ctx c = torch_ctx(b);
	struct num_dims d;
	struct tensor *t, y[2];
	int keep;

	if (bind_tensor(b, 0, &t) || torch_dims(b, 1, t->ndim, &d) || bind_bool(b, 2, &keep))
		return -1;
	if (num_amin(&c, &y[0], t, &d, keep, bind_e(b)))
		return bind_fail(b);
	if (num_amax(&c, &y[1], t, &d, keep, bind_e(b))) {
		tensor_release(&y[0]);
		return bind_fail(b);
	}
	return bind_named(b, "aminmax", fields, y, 2);
}

/* --- variance ------------------------------------------------------------------------------------ */

/* input, dim=None, unbiased=?, keepdim=False, *, correction=?. var(x, False) has unbiased in
 * the dim slot. The divisor is n - correction. */
static int variance(struct bind *b, int root, int with_mean)
{
	static const char *const fields[] = { "a", "b" };
	struct num_ctx c = torch_ctx(b);
	struct num_dims d = { .n = 0 };
	struct tensor *t, y[2];
	double correction = 1;
	int keep, unbiased;

	(void)fields;
	if (bind_tensor(b, 0, &t) || bind_bool(b, 3, &keep))
		return -1;
	/* The old form var(x, unbiased). */
	if (b->a[1].kind == V_BOOL)
		correction = b->a[1].u.i ? 1 : 0;
	else if (torch_dims(b, 1, t->ndim, &d))
		return -1;
	if (bind_given(b, 2)) {
		if (bind_bool(b, 2, &unbiased))
			return -1;
		correction = unbiased;
	}
	/* correction= wins over unbiased=. */
	if (bind_given(b, 4) && bind_float(b, 4, &correction))
		return -1;
	if (num_var(&c, &y[0], with_mean ? &y[1] : NULL, t, &d, keep, correction, root, bind_e(b)))
		return bind_fail(b);
	return with_mean ? bind_tuple(b, y, 2) : bind_result(b, &y[0]);
}

static int r_var(struct bind *b) { return variance(b, 0, 0); }
static int r_std(struct bind *b) { return variance(b, 1, 0); }
static int r_var_mean(struct bind *b) { return variance(b, 0, 1); }
static int r_std_mean(struct bind *b) { return variance(b, 1, 1); }

/* --- norms ----------------------------------------------------------------------------------------- */

/* p of a norm: a number, or "fro" (2), "inf", "-inf". */
static int norm_order(struct bind *b, size_t i, double *p)
{
	struct str s;

	*p = 2;
	if (!bind_given(b, i))
		return 0;
	if (b->a[i].kind != V_STR)
		return bind_float(b, i, p);
	s = val_text(b->a[i]);
	if (str_is(s, "fro"))
		return 0;
	if (str_is(s, "inf"))
		*p = INFINITY;
	else if (str_is(s, "-inf"))
		*p = -INFINITY;
	else
		return bind_unsupported(b, "norm of order '%.*s'", STR_ARG(s));
	return 0;
}

/* input, p='fro', dim=None, keepdim=False, dtype=None: dtype= converts first. */
static int r_norm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_dims d;
	struct tensor *t, x = { .st = NULL }, y;
	double p;
	int keep, dt, rc;

	if (bind_tensor(b, 0, &t) || norm_order(b, 1, &p) || torch_dims(b, 2, t->ndim, &d) || bind_bool(b, 3, &keep) ||
	    torch_dtype(b, 4, &dt))
		return -1;
	rc = (dt >= 0 && num_to(&c, &x, t, (enum dtype)dt, bind_e(b))) ||
	     num_norm(&c, &y, dt >= 0 ? &x : t, p, &d, keep, bind_e(b));
	tensor_release(&x);
	return rc ? bind_fail(b) : bind_result(b, &y);
}

/* --- extremes ---------------------------------------------------------------------------------------- */

/* max(x), max(x, dim, keepdim), max(x, other): the kind of slot 1 decides. */
static int extreme(struct bind *b, int max)
{
	static const char *const fields[] = { "values", "indices" };
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[2];
	int dim, keep;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (!bind_given(b, 1) && bind_bool(b, 2, &keep))
		return -1;
	if (!bind_given(b, 1) && keep)
		return bind_raise(b, EXC_TypeError,
				  "%s() received an invalid combination of arguments - got "
				  "(Tensor, keepdim=bool), but expected one of:",
				  max ? "max" : "min");
	if (!bind_given(b, 1)) {
		/* Without a dimension the result has no indices. */
		if ((max ? num_amax : num_amin)(&c, &y[0], t, NULL, 0, bind_e(b)))
			return bind_fail(b);
		return bind_result(b, &y[0]);
	}
	/* max(x, other) is the elementwise maximum. */
	if (b->a[1].kind == V_TENSOR) {
		struct num_arg a[2];

		if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]))
			return -1;
		return torch_apply(b, max ? NUM_maximum : NUM_minimum, a, NULL);
	}
	if (bind_dim(b, 1, t->ndim, &dim) || bind_bool(b, 2, &keep))
		return -1;
	if (num_extreme(&c, &y[0], &y[1], t, dim, keep, max, bind_e(b)))
		return bind_fail(b);
	return bind_named(b, max ? "max" : "min", fields, y, 2);
}

static int r_max(struct bind *b) { return extreme(b, 1); }
static int r_min(struct bind *b) { return extreme(b, 0); }

/* input, dim=None, keepdim=False: without dim the index into the flattened tensor. */
static int arg_extreme(struct bind *b, int max)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, flat, y;
	int dim = 0, keep, rc;

	if (bind_tensor(b, 0, &t) || bind_bool(b, 2, &keep))
		return -1;
	if (t->dt == DT_BOOL)
		return bind_raise(b, EXC_NotImplementedError, "\"arg%s_cpu\" not implemented for 'Bool'",
				  max ? "max" : "min");
	if (tensor_numel(t) == 0 && !bind_given(b, 1))
		return bind_raise(b, EXC_IndexError,
				  "arg%s(): Expected reduction dim to be specified for "
				  "input.numel() == 0. Specify the reduction dim with the 'dim' "
				  "argument.", max ? "max" : "min");
	if (bind_given(b, 1)) {
		if (bind_dim(b, 1, t->ndim, &dim))
			return -1;
		return num_extreme(&c, NULL, &y, t, dim, keep, max, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
	}
	if (num_reshape(&c, &flat, t, 1, (int64_t[]){ -1 }, bind_e(b)))
		return bind_fail(b);
	rc = num_extreme(&c, NULL, &y, &flat, 0, 0, max, bind_e(b));
	tensor_release(&flat);
	if (!rc && keep) {              /* keepdim without dim: all dimensions become 1 */
		int64_t ones[TENSOR_DIMS];

		for (int i = 0; i < t->ndim; i++)
			ones[i] = 1;
		rc = num_reshape(&c, &flat, &y, t->ndim, ones, bind_e(b));
		tensor_release(&y);
		y = flat;
	}
	return rc ? bind_fail(b) : bind_result(b, &y);
}

static int r_argmax(struct bind *b) { return arg_extreme(b, 1); }
static int r_argmin(struct bind *b) { return arg_extreme(b, 0); }

/* --- scans -------------------------------------------------------------------------------------------- */

/* input, dim, *, dtype=None */
static int scan(struct bind *b, enum num_scan op)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	int dim, dt;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || torch_dtype(b, 2, &dt))
		return -1;
	return num_scan(&c, &y, NULL, op, t, dim, dt, bind_e(b)) ? bind_fail(b) : torch_give(b, &y);
}

static int r_cumsum(struct bind *b) { return scan(b, SCAN_SUM); }
static int r_cumprod(struct bind *b) { return scan(b, SCAN_PROD); }
static int r_logcumsumexp(struct bind *b) { return scan(b, SCAN_LOGSUMEXP); }

/* cummax and cummin: values and indices. */
static int scan_extreme(struct bind *b, enum num_scan op)
{
	static const char *const fields[] = { "values", "indices" };
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[2];
	int dim;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim))
		return -1;
	if (num_scan(&c, &y[0], &y[1], op, t, dim, -1, bind_e(b)))
		return bind_fail(b);
	return bind_named(b, op == SCAN_MAX ? "cummax" : "cummin", fields, y, 2);
}

static int r_cummax(struct bind *b) { return scan_extreme(b, SCAN_MAX); }
static int r_cummin(struct bind *b) { return scan_extreme(b, SCAN_MIN); }

/* --- softmax -------------------------------------------------------------------------------------------- */

/* The dimension; F.softmax without dim= chooses 0 for ranks 0, 1 and 3, else 1. */
static int softmax_dim(struct bind *b, size_t i, const struct tensor *t, int *dim)
{
	if (bind_given(b, i))
		return bind_dim(b, i, t->ndim, dim);
	/* PyTorch's _get_softmax_dim */
	*dim = t->ndim == 0 || t->ndim == 1 || t->ndim == 3 ? 0 : 1;
	return 0;
}

/* softmax, log_softmax, and softmin (sign -1) as the softmax of -x. torch.softmax and
 * F.softmax have their dtype in different slots. */
static int softmax_as(struct bind *b, int log, double sign, size_t dim_slot, size_t dtype_slot)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, n = { .st = NULL }, y;
	int dim, dt, rc;

	if (bind_tensor(b, 0, &t) || softmax_dim(b, dim_slot, t, &dim) || torch_dtype(b, dtype_slot, &dt))
		return -1;
	rc = (sign < 0 && num_op1(&c, &n, NUM_neg, t, bind_e(b))) ||
	     num_softmax(&c, &y, sign < 0 ? &n : t, dim, dt, log, bind_e(b));
	tensor_release(&n);
	return rc ? bind_fail(b) : bind_result(b, &y);
}

static int r_softmax(struct bind *b) { return softmax_as(b, 0, 1, 1, 2); }
static int r_log_softmax(struct bind *b) { return softmax_as(b, 1, 1, 1, 2); }
static int f_softmax(struct bind *b) { return softmax_as(b, 0, 1, 1, 3); }
static int f_log_softmax(struct bind *b) { return softmax_as(b, 1, 1, 1, 3); }
static int f_softmin(struct bind *b) { return softmax_as(b, 0, -1, 1, 3); }

/* --- order ------------------------------------------------------------------------------------------------ */

static const char *const value_index[] = { "values", "indices" };

/* input, dim=-1, descending=False, *, stable=False: always stable here. */
static int r_sort(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[2];
	int dim, down;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_bool(b, 2, &down))
		return -1;
	return num_sort(&c, &y[0], &y[1], t, dim, down, bind_e(b)) ? bind_fail(b) :
	       bind_named(b, "sort", value_index, y, 2);
}

/* The indices of r_sort. */
static int r_argsort(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[2];
	int dim, down;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_bool(b, 2, &down))
		return -1;
	if (num_sort(&c, &y[0], &y[1], t, dim, down, bind_e(b)))
		return bind_fail(b);
	tensor_release(&y[0]);
	return bind_result(b, &y[1]);
}

/* input, k, dim=-1, largest=True, sorted=True: always sorted here. */
static int r_topk(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[2];
	int64_t k;
	int dim, largest;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &k) || bind_dim(b, 2, t->ndim, &dim) || bind_bool(b, 3, &largest))
		return -1;
	return num_topk(&c, &y[0], &y[1], t, k, dim, largest, bind_e(b)) ? bind_fail(b) :
		bind_named(b, "topk", value_index, y, 2);
}

/* input, k, dim=-1, keepdim=False */
static int r_kthvalue(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[2];
	int64_t k;
	int dim, keep;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &k) || bind_dim(b, 2, t->ndim, &dim) || bind_bool(b, 3, &keep))
		return -1;
	return num_kth(&c, &y[0], &y[1], t, k, dim, keep, bind_e(b)) ? bind_fail(b) :
		bind_named(b, "kthvalue", value_index, y, 2);
}

/* The lower of the two middle elements, as in PyTorch. Without dim the median of all
 * elements. */
static int r_median(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, flat, y[2];
	int dim, keep, rc;

	if (bind_tensor(b, 0, &t) || bind_bool(b, 2, &keep))
		return -1;
	if (t->dt == DT_BOOL)
		return bind_raise(b, EXC_NotImplementedError, "\"median_out\" not implemented for 'Bool'");
	if (bind_given(b, 1)) {
		if (bind_dim(b, 1, t->ndim, &dim))
			return -1;
		if (num_kth(&c, &y[0], &y[1], t, ((t->ndim ? t->shape[dim] : 1) + 1) / 2, dim, keep, bind_e(b)))
			return bind_fail(b);
		return bind_named(b, "median", value_index, y, 2);
	}
	if (num_reshape(&c, &flat, t, 1, (int64_t[]){ -1 }, bind_e(b)))
		return bind_fail(b);
	rc = num_kth(&c, &y[0], &y[1], &flat, (tensor_numel(t) + 1) / 2, 0, 0, bind_e(b));
	tensor_release(&flat);
	if (rc)
		return bind_fail(b);
	tensor_release(&y[1]);
	return bind_result(b, &y[0]);
}

/* input, sorted=True, return_inverse=False, return_counts=False, dim=None. The result's size
 * depends on the values, so a dry run cannot know it. */
static int r_unique(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[3];
	int inverse, counts, n = 1;

	if (bind_tensor(b, 0, &t) || bind_bool(b, 2, &inverse) || bind_bool(b, 3, &counts))
		return -1;
	if (bind_given(b, 4))
		return bind_unsupported(b, "torch.unique with dim");
	if (c.hollow)
		return host_may_read(b->h, DT_I64, 1) ? -1 :
		       bind_unsupported(b, "torch.unique of a tensor without contents");
	if (num_unique(&c, &y[0], inverse ? &y[1] : NULL, counts ? &y[1 + inverse] : NULL, t, bind_e(b)))
		return bind_fail(b);
	n += inverse + counts;
	return n == 1 ? bind_result(b, &y[0]) : bind_tuple(b, y, (size_t)n);
}

/* *, out_int32=False, right=False: the rest of searchsorted and bucketize. */
static int search(struct bind *b, const struct tensor *sorted, const struct tensor *v)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor y;
	int narrow, right;

	if (bind_bool(b, 2, &narrow) || bind_bool(b, 3, &right))
		return -1;
	if (narrow)
		return bind_unsupported(b, "out_int32");
	return num_searchsorted(&c, &y, sorted, v, right, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
}

/* sorted_sequence, input, *, out_int32=False, right=False */
static int r_searchsorted(struct bind *b)
{
	struct tensor *s, *v;

	return bind_tensor(b, 0, &s) || bind_tensor(b, 1, &v) ? -1 : search(b, s, v);
}

/* searchsorted with its first two arguments swapped. */
static int r_bucketize(struct bind *b)
{
	struct tensor *s, *v;

	if (bind_tensor(b, 0, &v) || bind_tensor(b, 1, &s))
		return -1;
	if (s->ndim != 1)
		return bind_raise(b, EXC_RuntimeError, "boundaries tensor must be 1 dimension, but got dim(%d)",
				  s->ndim);
	return search(b, s, v);
}

/* input, weights=None, minlength=0. The size of the result depends on the values. */
static int r_bincount(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *w, y;
	int64_t least;

	if (bind_tensor(b, 0, &t) || bind_opt_tensor(b, 1, &w) || bind_int(b, 2, &least))
		return -1;
	if (c.hollow)
		return host_may_read(b->h, DT_I64, 1) ? -1 :
		       bind_unsupported(b, "torch.bincount of a tensor without contents");
	return num_bincount(&c, &y, t, w, least, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
}

/* The function of torch and the method of Tensor. */
#define BOTH(name, sig, fn) { "torch." name, "input" sig, fn, BIND_COMPUTE }, \
	{ "torch.Tensor." name, "self" sig, fn, BIND_COMPUTE }

const struct bind_row torch_reduce_rows[] = {
	BOTH("sum", ", dim=None, keepdim=False, dtype=None, *, out=None", r_sum),
	BOTH("mean", ", dim=None, keepdim=False, *, dtype=None, out=None", r_mean),
	BOTH("prod", ", dim=None, keepdim=False, *, dtype=None, out=None", r_prod),
	BOTH("nansum", ", dim=None, keepdim=False, *, dtype=None", r_nansum),
	BOTH("nanmean", ", dim=None, keepdim=False, *, dtype=None", r_nanmean),
	BOTH("amax", ", dim=(), keepdim=False", r_amax),
	BOTH("amin", ", dim=(), keepdim=False", r_amin),
	BOTH("aminmax", ", *, dim=None, keepdim=False", aminmax),
	BOTH("any", ", dim=None, keepdim=False", r_any),
	BOTH("all", ", dim=None, keepdim=False", r_all),
	BOTH("logsumexp", ", dim, keepdim=False", r_logsumexp),
	BOTH("count_nonzero", ", dim=None", r_count_nonzero),
	BOTH("var", ", dim=None, unbiased=?, keepdim=False, *, correction=?", r_var),
	BOTH("std", ", dim=None, unbiased=?, keepdim=False, *, correction=?", r_std),
	BOTH("var_mean", ", dim=None, unbiased=?, keepdim=False, *, correction=?", r_var_mean),
	BOTH("std_mean", ", dim=None, unbiased=?, keepdim=False, *, correction=?", r_std_mean),
	BOTH("norm", ", p='fro', dim=None, keepdim=False, dtype=None", r_norm),
	{ "torch.linalg.norm", "input, ord=None, dim=None, keepdim=False, *, dtype=None", r_norm, BIND_COMPUTE },
	{ "torch.linalg.vector_norm", "input, ord=2, dim=None, keepdim=False, *, dtype=None", r_norm, BIND_COMPUTE },
	BOTH("max", ", dim=?, keepdim=False", r_max),
	BOTH("min", ", dim=?, keepdim=False", r_min),
	BOTH("argmax", ", dim=None, keepdim=False", r_argmax),
	BOTH("argmin", ", dim=None, keepdim=False", r_argmin),
	BOTH("cumsum", ", dim, *, dtype=None", r_cumsum),
	BOTH("cumprod", ", dim, *, dtype=None", r_cumprod),
	BOTH("logcumsumexp", ", dim, *, dtype=None", r_logcumsumexp),
	{ "torch.Tensor.cumsum_", "self, dim, *, dtype=None", r_cumsum, BIND_COMPUTE | BIND_INPLACE },
	{ "torch.Tensor.cumprod_", "self, dim, *, dtype=None", r_cumprod, BIND_COMPUTE | BIND_INPLACE },
	BOTH("cummax", ", dim", r_cummax),
	BOTH("cummin", ", dim", r_cummin),
	BOTH("softmax", ", dim, dtype=None", r_softmax),
	BOTH("log_softmax", ", dim, dtype=None", r_log_softmax),
	ALIAS("torch.special.logsumexp", "torch.logsumexp"),
	ALIAS("torch.special.softmax", "torch.softmax"),
	ALIAS("torch.special.log_softmax", "torch.log_softmax"),
	{ "torch.nn.functional.softmax", "input, dim=None, _stacklevel=3, dtype=None", f_softmax, BIND_COMPUTE },
	{ "torch.nn.functional.log_softmax", "input, dim=None, _stacklevel=3, dtype=None", f_log_softmax,
	  BIND_COMPUTE },
	{ "torch.nn.functional.softmin", "input, dim=None, _stacklevel=3, dtype=None", f_softmin, BIND_COMPUTE },
	BOTH("sort", ", dim=-1, descending=False, *, stable=False", r_sort),
	BOTH("argsort", ", dim=-1, descending=False, *, stable=False", r_argsort),
	BOTH("topk", ", k, dim=-1, largest=True, sorted=True", r_topk),
	BOTH("kthvalue", ", k, dim=-1, keepdim=False", r_kthvalue),
	BOTH("median", ", dim=None, keepdim=False", r_median),
	BOTH("unique", ", sorted: bool=True, return_inverse: bool=False, return_counts: bool=False, dim=None",
	     r_unique),
	{ "torch.searchsorted", "sorted_sequence, input, *, out_int32=False, right=False", r_searchsorted,
	  BIND_COMPUTE },
	{ "torch.bucketize", "input, boundaries, *, out_int32=False, right=False", r_bucketize, BIND_COMPUTE },
	BOTH("bincount", ", weights=None, minlength=0", r_bincount),
	{ NULL, NULL, NULL, 0 }
};
