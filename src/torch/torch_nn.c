/* Bindings of the convolutions, pools and norms of torch.nn.functional. Each reads its slots
 * into the parameter struct of the operator in src/num; the comment above a function is its
 * signature. Results of convolutions, pools and batch norm keep the memory format of their
 * input. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "torch/torch.h"

/* The usual end of a binding: the result, or the error of the operator. */
static int done(struct bind *b, int rc, struct tensor *y)
{
	return rc ? bind_fail(b) : bind_result(b, y);
}

/* The same, with the result in the memory format of x, or of the weights w (may be NULL). */
static int done_like(struct bind *b, int rc, struct tensor *y, const struct tensor *x,
		     const struct tensor *w)
{
	return rc ? bind_fail(b) : torch_follow_format(b, y, x, w) ? -1 : bind_result(b, y);
}

/* `want` integers from slot i into v; a single number counts for all. */
static int ints(struct bind *b, size_t i, int want, int64_t *v)
{
	struct bind_ints s;

	if (bind_ints_n(b, i, want, &s))
		return -1;
	memcpy(v, s.v, sizeof *v * (size_t)want);
	return 0;
}

/* --- convolutions ------------------------------------------------------------------------------ */

/* padding= in slot i: integers, 'valid' (none), or 'same'. 'same' pads dilation * (k - 1) in
 * total; an odd total has the extra element behind. */
static int conv_padding(struct bind *b, size_t i, struct num_conv *p, const struct tensor *w)
{
	struct str s;

	if (b->a[i].kind != V_STR) {
		/* The same padding on both sides. */
		if (ints(b, i, p->nd, p->lo))
			return -1;
		memcpy(p->hi, p->lo, sizeof p->hi);
		return 0;
	}
	s = val_text(b->a[i]);
	for (int k = 0; k < p->nd; k++) {
		int64_t total = w->ndim == p->nd + 2 ? p->dilation[k] * (w->shape[k + 2] - 1) : 0;

		p->lo[k] = p->hi[k] = 0;
		if (str_is(s, "valid"))
			continue;
		if (!str_is(s, "same"))
			return bind_raise(b, EXC_RuntimeError, "Invalid padding string: '%.*s'", STR_ARG(s));
		if (p->stride[k] != 1)
			return bind_raise(b, EXC_RuntimeError,
					  "padding='same' is not supported for strided convolutions");
		/* An even kernel has an odd total: 3 becomes 1 in front and 2 behind. */
		p->lo[k] = total / 2;
		p->hi[k] = total - total / 2;
	}
	return 0;
}

/* input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1. The dilation is read
 * before the padding, which may depend on it. */
static int conv(struct bind *b, int nd)
{
	struct num_ctx c = torch_ctx(b);
	struct num_conv p = { .nd = nd };
	struct tensor *x, *w, *bias, y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &w) || bind_opt_tensor(b, 2, &bias) ||
	    ints(b, 3, nd, p.stride) ||
	    ints(b, 5, nd, p.dilation) || conv_padding(b, 4, &p, w) || bind_int(b, 6, &p.groups))
		return -1;
	return done_like(b, num_conv(&c, &y, x, w, bias, &p, bind_e(b)), &y, x, w);
}

static int f_conv1d(struct bind *b) { return conv(b, 1); }
static int f_conv2d(struct bind *b) { return conv(b, 2); }
static int f_conv3d(struct bind *b) { return conv(b, 3); }

/* input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1 */
static int conv_transpose(struct bind *b, int nd)
{
	struct num_ctx c = torch_ctx(b);
	struct num_conv p = { .nd = nd };
	struct tensor *x, *w, *bias, y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &w) || bind_opt_tensor(b, 2, &bias) ||
	    ints(b, 3, nd, p.stride) ||
	    ints(b, 4, nd, p.lo) || ints(b, 5, nd, p.extra) || bind_int(b, 6, &p.groups) || ints(b, 7, nd, p.dilation))
		return -1;
	memcpy(p.hi, p.lo, sizeof p.hi);
	return done_like(b, num_conv_transpose(&c, &y, x, w, bias, &p, bind_e(b)), &y, x, w);
}

static int f_conv_transpose1d(struct bind *b) { return conv_transpose(b, 1); }
static int f_conv_transpose2d(struct bind *b) { return conv_transpose(b, 2); }
static int f_conv_transpose3d(struct bind *b) { return conv_transpose(b, 3); }

/* torch.convolution(input, weight, bias, stride, padding, dilation, transposed,
 * output_padding, groups): the number of dimensions follows from the weight. */
static int t_convolution(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_conv p = { .nd = 0 };
	struct tensor *x, *w, *bias, y;
	int transposed;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &w) || bind_opt_tensor(b, 2, &bias))
		return -1;
	p.nd = w->ndim - 2;
	if (p.nd < 1 || p.nd > 3)
		return bind_shape_error(b, "weight should have at least three dimensions");
	if (ints(b, 3, p.nd, p.stride) || ints(b, 4, p.nd, p.lo) || ints(b, 5, p.nd, p.dilation) ||
	    bind_bool(b, 6, &transposed) ||
	    ints(b, 7, p.nd, p.extra) || bind_int(b, 8, &p.groups))
		return -1;
	memcpy(p.hi, p.lo, sizeof p.hi);
	return done_like(b, (transposed ? num_conv_transpose : num_conv)(&c, &y, x, w, bias, &p, bind_e(b)), &y, x, w);
}

/* --- pools --------------------------------------------------------------------------------------- */

/* kernel_size (slot 1) and stride (slot 2) of a pool. The stride is the kernel size by
 * default. */
static int pool_window(struct bind *b, int nd, struct num_pool *p)
{
	p->nd = nd;
	if (ints(b, 1, nd, p->kernel))
		return -1;
	/* None, or the empty list that old code passes, means the kernel's size. */
	if (bind_given(b, 2) && !((b->a[2].kind == V_TUPLE || b->a[2].kind == V_LIST) && b->a[2].u.seq->n == 0))
		return ints(b, 2, nd, p->stride);
	/* The default: windows that do not overlap. */
	memcpy(p->stride, p->kernel, sizeof p->stride);
	return 0;
}

/* Returns y[0], or with `indices` the tuple y[0], y[1], in the memory format of x. */
static int pooled(struct bind *b, struct tensor *y, int indices, const struct tensor *x)
{
	if (!indices)
		return done_like(b, 0, y, x, NULL);
	/* The helper releases its own tensor on failure; the other one is released here. */
	if (torch_follow_format(b, y, x, NULL)) {
		tensor_release(&y[1]);
		return -1;
	}
	if (torch_follow_format(b, &y[1], x, NULL)) {
		tensor_release(y);
		return -1;
	}
	return bind_tuple(b, y, 2);
}

/* input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False.
 * `always`: the functions *_with_indices return the indices for any value of slot 6. */
static int max_pool(struct bind *b, int nd, int always)
{
	struct num_ctx c = torch_ctx(b);
	struct num_pool p = { .nd = nd };
	struct tensor *x, y[2];
	int indices;

	if (bind_tensor(b, 0, &x) || pool_window(b, nd, &p) || ints(b, 3, nd, p.pad) || ints(b, 4, nd, p.dilation) ||
	    bind_bool(b, 5, &p.ceil_mode) || bind_bool(b, 6, &indices))
		return -1;
	indices |= always;
	if (num_max_pool(&c, &y[0], indices ? &y[1] : NULL, x, &p, bind_e(b)))
		return bind_fail(b);
	return pooled(b, y, indices, x);
}

static int f_max_pool1d(struct bind *b) { return max_pool(b, 1, 0); }
static int f_max_pool2d(struct bind *b) { return max_pool(b, 2, 0); }
static int f_max_pool3d(struct bind *b) { return max_pool(b, 3, 0); }
static int f_max_pool1d_ix(struct bind *b) { return max_pool(b, 1, 1); }
static int f_max_pool2d_ix(struct bind *b) { return max_pool(b, 2, 1); }
static int f_max_pool3d_ix(struct bind *b) { return max_pool(b, 3, 1); }

/* input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
 * divisor_override=None */
static int avg_pool(struct bind *b, int nd)
{
	struct num_ctx c = torch_ctx(b);
	struct num_pool p = { .nd = nd, .dilation = { 1, 1, 1 } };
	struct tensor *x, y;

	if (bind_tensor(b, 0, &x) || pool_window(b, nd, &p) || ints(b, 3, nd, p.pad) || bind_bool(b, 4, &p.ceil_mode) ||
	    bind_bool(b, 5, &p.count_include_pad) || torch_int(b, 6, 0, &p.divisor))
		return -1;
	if (bind_given(b, 6) && p.divisor == 0)
		return bind_raise(b, EXC_RuntimeError, "divisor must be not zero");
	return done_like(b, num_avg_pool(&c, &y, x, &p, bind_e(b)), &y, x, NULL);
}

static int f_avg_pool1d(struct bind *b) { return avg_pool(b, 1); }
static int f_avg_pool2d(struct bind *b) { return avg_pool(b, 2); }
static int f_avg_pool3d(struct bind *b) { return avg_pool(b, 3); }

/* input, norm_type, kernel_size, stride=None, ceil_mode=False. (sum of x^p over the
 * window)^(1/p): an average pool of powers with divisor 1. A negative sum, which an odd p can
 * give, becomes 0 before the root. */
static int lp_pool(struct bind *b, int nd)
{
	struct num_ctx c = torch_ctx(b);
	struct num_pool p = { .nd = nd, .dilation = { 1, 1, 1 }, .divisor = 1 };
	struct tensor *x, s, a, y;
	struct bind_ints k;
	double order;
	int rc;

	if (bind_tensor(b, 0, &x) || bind_float(b, 1, &order) || bind_ints_n(b, 2, nd, &k) ||
	    bind_bool(b, 4, &p.ceil_mode))
		return -1;
	/* The stride is the kernel size unless slot 3 gives one. */
	memcpy(p.kernel, k.v, sizeof p.kernel);
	memcpy(p.stride, k.v, sizeof p.stride);
	if (bind_given(b, 3) && ints(b, 3, nd, p.stride))
		return -1;
	if (num_pow(&c, &s, num_t(x), num_f(order), bind_e(b)))
		return bind_fail(b);
	rc = num_avg_pool(&c, &a, &s, &p, bind_e(b));
	tensor_release(&s);
	if (rc)
		return bind_fail(b);
	rc = num_apply_into(&c, &a, NUM_relu, (struct num_arg[]){ num_t(&a) }, NULL, bind_e(b)) ||
	     num_pow(&c, &y, num_t(&a), num_f(1 / order), bind_e(b));
	tensor_release(&a);
	return done(b, rc, &y);
}

static int f_lp_pool1d(struct bind *b) { return lp_pool(b, 1); }
static int f_lp_pool2d(struct bind *b) { return lp_pool(b, 2); }

/* output_size in slot 1: an integer for all dimensions, or a tuple with None for "as the
 * input" (-1). */
static int adaptive_size(struct bind *b, int nd, int64_t *size)
{
	struct val v = b->a[1];

	for (int i = 0; i < nd; i++) {
		struct val s = v;

		if (v.kind == V_TUPLE || v.kind == V_LIST) {
			if ((int)v.u.seq->n != nd && v.u.seq->n != 1)
				return bind_raise(b, EXC_RuntimeError,
						  "adaptive_pool%dd: output_size must be %d", nd, nd);
			s = v.u.seq->v[v.u.seq->n == 1 ? 0 : i];
		}
		if (s.kind != V_INT && s.kind != V_NONE)
			return bind_raise(b, EXC_TypeError,
					  "adaptive_pool%dd(): argument 'output_size' must be tuple of ints, not %s",
					  nd, val_type_name(b->h, s));
		if (s.kind == V_INT && s.u.i < 0)
			return bind_shape_error(b,
						"adaptive_pool%dd: elements of output_size must "
						"be greater than or equal to 0 but received %lld", nd,
						(long long)s.u.i);
		size[i] = s.kind == V_NONE ? -1 : s.u.i;
	}
	return 0;
}

/* input, output_size, return_indices=False (max only) */
static int adaptive(struct bind *b, int nd, int max)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, y[2];
	int64_t size[3];
	int indices = 0;

	if (bind_tensor(b, 0, &x) || adaptive_size(b, nd, size) || (max && bind_bool(b, 2, &indices)))
		return -1;
	if (num_adaptive_pool(&c, &y[0], indices ? &y[1] : NULL, x, nd, size, max, bind_e(b)))
		return bind_fail(b);
	return pooled(b, y, indices, x);
}

static int f_adaptive_avg1d(struct bind *b) { return adaptive(b, 1, 0); }
static int f_adaptive_avg2d(struct bind *b) { return adaptive(b, 2, 0); }
static int f_adaptive_avg3d(struct bind *b) { return adaptive(b, 3, 0); }
static int f_adaptive_max1d(struct bind *b) { return adaptive(b, 1, 1); }
static int f_adaptive_max2d(struct bind *b) { return adaptive(b, 2, 1); }
static int f_adaptive_max3d(struct bind *b) { return adaptive(b, 3, 1); }

/* --- norms ----------------------------------------------------------------------------------------- */

/* input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1,
 * eps=1e-05. Training updates the running statistics in place. momentum=None counts as 0; the
 * module passes the cumulative factor. */
static int f_batch_norm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_batch_norm p;
	struct tensor *x, *m, *v, *w, *s, y;

	if (bind_tensor(b, 0, &x) || bind_opt_tensor(b, 1, &m) || bind_opt_tensor(b, 2, &v) ||
	    bind_opt_tensor(b, 3, &w) ||
	    bind_opt_tensor(b, 4, &s) || bind_bool(b, 5, &p.training) ||
	    torch_float(b, 6, 0, &p.momentum) || bind_float(b, 7, &p.eps))
		return -1;
	/* bind_opt_tensor gives NULL for None, which is what num_batch_norm takes for
	 * "absent". */
	p.mean = m;
	p.var = v;
	p.weight = w;
	p.bias = s;
	return done_like(b, num_batch_norm(&c, &y, x, &p, bind_e(b)), &y, x, NULL);
}

/* input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
 * momentum=0.1, eps=1e-05 */
static int f_instance_norm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_batch_norm p = { .training = 0 };
	struct tensor *x, *m, *v, *w, *s, y;
	int use;

	if (bind_tensor(b, 0, &x) || bind_opt_tensor(b, 1, &m) || bind_opt_tensor(b, 2, &v) ||
	    bind_opt_tensor(b, 3, &w) ||
	    bind_opt_tensor(b, 4, &s) || bind_bool(b, 5, &use) || bind_float(b, 6, &p.momentum) ||
	    bind_float(b, 7, &p.eps))
		return -1;
	p.mean = m;
	p.var = v;
	p.weight = w;
	p.bias = s;
	return done(b, num_instance_norm(&c, &y, x, &p, use, bind_e(b)), &y);
}

/* input, num_groups, weight=None, bias=None, eps=1e-05 */
static int f_group_norm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *w, *s, y;
	int64_t groups;
	double eps;

	if (bind_tensor(b, 0, &x) || bind_int(b, 1, &groups) || bind_opt_tensor(b, 2, &w) ||
	    bind_opt_tensor(b, 3, &s) ||
	    bind_float(b, 4, &eps))
		return -1;
	return done(b, num_group_norm(&c, &y, x, groups, w, s, eps, bind_e(b)), &y);
}

/* input, normalized_shape, weight=None, bias=None, eps=1e-05 */
static int f_layer_norm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *w, *s, y;
	struct bind_ints n;
	double eps;

	if (bind_tensor(b, 0, &x) || bind_ints(b, 1, &n) || bind_opt_tensor(b, 2, &w) || bind_opt_tensor(b, 3, &s) ||
	    bind_float(b, 4, &eps))
		return -1;
	return done(b, num_layer_norm(&c, &y, x, n.n, n.v, w, s, eps, 0, bind_e(b)), &y);
}

/* input, normalized_shape, weight=None, eps=None. The default eps is that of the program's
 * dtype: 2^-52 for float64, else 2^-23, also for half types, because PyTorch computes them in
 * float. */
static int f_rms_norm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *w, y;
	struct bind_ints n;
	double eps;

	if (bind_tensor(b, 0, &x) || bind_ints(b, 1, &n) || bind_opt_tensor(b, 2, &w) ||
	    torch_float(b, 3, host_nominal(b->h, x->dt) == DT_F64 ? 0x1p-52 : 0x1p-23, &eps))
		return -1;
	return done(b, num_layer_norm(&c, &y, x, n.n, n.v, w, NULL, eps, 1, bind_e(b)), &y);
}

/* input, size, alpha=0.0001, beta=0.75, k=1.0 */
static int f_local_response_norm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, y;
	int64_t size;
	double alpha, beta, k;

	if (bind_tensor(b, 0, &x) || bind_int(b, 1, &size) || bind_float(b, 2, &alpha) ||
	    bind_float(b, 3, &beta) || bind_float(b, 4, &k))
		return -1;
	return done(b, num_local_response_norm(&c, &y, x, size, alpha, beta, k, bind_e(b)), &y);
}

/* input, p=2.0, dim=1, eps=1e-12 */
static int f_normalize(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, y;
	double p, eps;
	int dim;

	if (bind_tensor(b, 0, &x) || bind_float(b, 1, &p) || bind_dim(b, 2, x->ndim, &dim) || bind_float(b, 3, &eps))
		return -1;
	return done(b, num_normalize(&c, &y, x, p, dim, eps, bind_e(b)), &y);
}

/* WIN marks functions that walk windows (BIND_WINDOW): the input after the last window may be
 * unread. The judge lowers the share of an input that a candidate must read accordingly. */
#define F "torch.nn.functional."
#define CONV_SIG "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1"
#define CONVT_SIG "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1"
#define MAX_SIG "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False"
#define AVG_SIG "input, kernel_size, stride=None, padding=0, ceil_mode=False, " \
		"count_include_pad=True, divisor_override=None"
#define LP_SIG "input, norm_type, kernel_size, stride=None, ceil_mode=False"
#define CMP BIND_COMPUTE
#define WIN (BIND_COMPUTE | BIND_WINDOW)

const struct bind_row torch_nn_rows[] = {
	{ F "conv1d", CONV_SIG, f_conv1d, WIN },
	{ F "conv2d", CONV_SIG, f_conv2d, WIN },
	{ F "conv3d", CONV_SIG, f_conv3d, WIN },
	{ F "conv_transpose1d", CONVT_SIG, f_conv_transpose1d, WIN },
	{ F "conv_transpose2d", CONVT_SIG, f_conv_transpose2d, WIN },
	{ F "conv_transpose3d", CONVT_SIG, f_conv_transpose3d, WIN },
	{ "torch.convolution",
	  "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups", t_convolution, WIN },
	ALIAS("torch.conv1d", F "conv1d"),
	ALIAS("torch.conv2d", F "conv2d"),
	ALIAS("torch.conv3d", F "conv3d"),
	ALIAS("torch.conv_transpose1d", F "conv_transpose1d"),
	ALIAS("torch.conv_transpose2d", F "conv_transpose2d"),
	ALIAS("torch.conv_transpose3d", F "conv_transpose3d"),
	{ F "max_pool1d", MAX_SIG, f_max_pool1d, WIN },
	{ F "max_pool2d", MAX_SIG, f_max_pool2d, WIN },
	{ F "max_pool3d", MAX_SIG, f_max_pool3d, WIN },
	{ F "max_pool1d_with_indices", MAX_SIG, f_max_pool1d_ix, WIN },
	{ F "max_pool2d_with_indices", MAX_SIG, f_max_pool2d_ix, WIN },
	{ F "max_pool3d_with_indices", MAX_SIG, f_max_pool3d_ix, WIN },
	ALIAS("torch.max_pool1d", F "max_pool1d"),
	ALIAS("torch.max_pool2d", F "max_pool2d"),
	ALIAS("torch.max_pool3d", F "max_pool3d"),
	{ F "avg_pool1d", AVG_SIG, f_avg_pool1d, WIN },
	{ F "avg_pool2d", AVG_SIG, f_avg_pool2d, WIN },
	{ F "avg_pool3d", AVG_SIG, f_avg_pool3d, WIN },
	ALIAS("torch.avg_pool1d", F "avg_pool1d"),
	{ F "lp_pool1d", LP_SIG, f_lp_pool1d, WIN },
	{ F "lp_pool2d", LP_SIG, f_lp_pool2d, WIN },
	{ F "adaptive_avg_pool1d", "input, output_size", f_adaptive_avg1d, WIN },
	{ F "adaptive_avg_pool2d", "input, output_size", f_adaptive_avg2d, WIN },
	{ F "adaptive_avg_pool3d", "input, output_size", f_adaptive_avg3d, WIN },
	{ F "adaptive_max_pool1d", "input, output_size, return_indices=False", f_adaptive_max1d, WIN },
	{ F "adaptive_max_pool2d", "input, output_size, return_indices=False", f_adaptive_max2d, WIN },
	{ F "adaptive_max_pool3d", "input, output_size, return_indices=False", f_adaptive_max3d, WIN },
	ALIAS("torch.adaptive_avg_pool1d", F "adaptive_avg_pool1d"),
	{ F "batch_norm",
	  "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05",
	  f_batch_norm, CMP },
	{ F "instance_norm",
	  "input, running_mean=None, running_var=None, weight=None, bias=None, "
	  "use_input_stats=True, momentum=0.1, eps=1e-05",
	  f_instance_norm, CMP },
	{ F "group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05", f_group_norm, CMP },
	{ F "layer_norm", "input, normalized_shape: tuple | list, weight=None, bias=None, eps=1e-05",
	  f_layer_norm, CMP },
	{ F "rms_norm", "input, normalized_shape, weight=None, eps=None", f_rms_norm, CMP },
	ALIAS("torch.group_norm", F "group_norm"),
	ALIAS("torch.layer_norm", F "layer_norm"),
	ALIAS("torch.rms_norm", F "rms_norm"),
	{ F "local_response_norm", "input, size, alpha=0.0001, beta=0.75, k=1.0", f_local_response_norm, CMP },
	{ F "normalize", "input, p=2.0, dim=1, eps=1e-12, out=None", f_normalize, CMP },
	{ NULL, NULL, NULL, 0 }
};
