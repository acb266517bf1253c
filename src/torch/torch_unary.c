/* Bindings of elementwise functions of one tensor, and of the activations. The plain ones are
 * rows of torch_unary.def and torch_act.def over the operations of num/ew_*.def; functions
 * with special rules are written out. */
#include "torch/torch.h"

#include <math.h>

/* Slot 0 is the operand, slot 1 (if it exists and is given) out=. Bools have special rules in
 * PyTorch; those that are not reproduced are refused. */
static int unary(struct bind *b, enum num_op op)
{
	struct num_arg a;

	if (torch_arg(b, 0, &a))
		return -1;
	if (a.kind != NUM_TENSOR)
		return bind_raise(b, EXC_TypeError, "%s(): argument 'input' (position 1) must be Tensor, not %s",
				  num_op_info(op)->name, val_type_name(b->h, b->a[0]));
	if (op == NUM_neg && a.t->dt == DT_BOOL)
		return bind_raise(b, EXC_RuntimeError,
				  "Negation, the `-` operator, on a bool tensor is not "
				  "supported. If you are trying to invert a mask, use the `~` or "
				  "`logical_not()` operator instead.");
	if (a.t->dt == DT_BOOL && (op == NUM_abs || op == NUM_floor || op == NUM_ceil || op == NUM_round ||
				   op == NUM_trunc || op == NUM_relu ||
				   op == NUM_square))
		return bind_unsupported(b, "%s of a bool tensor", num_op_info(op)->name);
	if (b->n > 1 && bind_given(b, 1)) {             /* out= */
		struct num_ctx c = torch_ctx(b);
		struct tensor y;

		if (num_op1(&c, &y, op, a.t, bind_e(b)))
			return bind_fail(b);
		return torch_result(b, &y, 1);
	}
	return torch_apply(b, op, &a, NULL);
}

#define UNARY(name, op) static int u_##name(struct bind *b) { return unary(b, NUM_##op); }
#include "torch/torch_unary.def"
#undef UNARY

/* Integers and bools pass through some activations only. `floats` lists the kernels that PyTorch
 * has for floats only, with the names in its messages. */
static int check_numbers(struct bind *b, enum num_op op, const struct tensor *t)
{
	static const struct { enum num_op op; const char *name; } floats[] = {
		{ NUM_selu, "elu_cpu" }, { NUM_elu, "elu_cpu" }, { NUM_celu, "elu_cpu" },
		{ NUM_leaky_relu, "leaky_relu_cpu" },
		{ NUM_silu, "silu_cpu" }, { NUM_mish, "mish_cpu" }, { NUM_hardswish, "hardswish_cpu" },
		{ NUM_hardsigmoid, "hardsigmoid_cpu" },
		{ NUM_softplus, "softplus_cpu" }, { NUM_hardshrink, "hardshrink_cpu" },
		{ NUM_softshrink, "softshrink_check" },
		{ NUM_logsigmoid, "log_sigmoid_cpu" },
	};

	for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
		if (op == floats[i].op)
			return bind_raise(b, EXC_NotImplementedError, "\"%s\" not implemented for '%s'",
					  floats[i].name, num_type_name(t->dt));
	if (t->dt != DT_BOOL)
		return 0;
	if (op == NUM_relu)
		return bind_raise(b, EXC_RuntimeError, "Boolean inputs not supported for relu");
	if (op == NUM_clamp || op == NUM_relu6)
		return bind_raise(b, EXC_RuntimeError, "Bool inputs not supported for hardtanh");
	if (op == NUM_softsign)
		return bind_raise(b, EXC_NotImplementedError, "\"abs_cpu\" not implemented for 'Bool'");
	return 0;
}

/* Slots 1, 2, 3 hold `params` parameters; missing ones are 0, 1, 1, which are alpha, scale
 * and input scale of elu. `inplace` is the slot of inplace=, or beyond the last one. */
static int activation(struct bind *b, enum num_op op, int params, size_t inplace)
{
	struct num_arg a;
	double p[3] = { 0, 1, 1 };

	if (torch_arg(b, 0, &a))
		return -1;
	for (int i = 0; i < params; i++)
		if (bind_float(b, (size_t)i + 1, &p[i]))
			return -1;
	if (op == NUM_clamp && p[0] > p[1])
		return bind_raise(b, EXC_ValueError, "min_val cannot be greater than max_val");
	if (op == NUM_celu && p[0] == 0)
		return bind_raise(b, EXC_RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU");
	if (a.kind == NUM_TENSOR && !dtype_is_float(a.t->dt) && check_numbers(b, op, a.t))
		return -1;
	return inplace < b->n ? torch_apply_maybe(b, op, &a, p, inplace) : torch_apply(b, op, &a, p);
}

#define ACT(name, op, sig, params, inplace) \
	static int act_##name(struct bind *b) { return activation(b, NUM_##op, params, inplace); }
#include "torch/torch_act.def"
#undef ACT

/* input, approximate='none': x Phi(x), or the tanh approximation. */
static int gelu(struct bind *b)
{
	static const char *const names[] = { "none", "tanh", NULL };
	struct num_arg a;
	int how;

	if (torch_arg(b, 0, &a) || torch_choice(b, 1, names, "approximate", &how))
		return -1;
	if (a.kind == NUM_TENSOR && !dtype_is_float(a.t->dt))
		return bind_raise(b, EXC_NotImplementedError, "\"GeluKernelImpl\" not implemented for '%s'",
				  num_type_name(a.t->dt));
	return torch_apply(b, how ? NUM_gelu_tanh : NUM_gelu, &a, NULL);
}

/* input, dim=-1: the first half times the sigmoid of the second half. */
static int glu(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, l, r, y;
	struct num_arg g;
	int dim, rc;

	if (bind_tensor(b, 0, &x) || bind_dim(b, 1, x->ndim, &dim))
		return -1;
	if (x->ndim == 0 || x->shape[dim] % 2)
		return bind_shape_error(b, "Halving dimension must be even, but dimension %d is size %lld", dim,
					x->ndim ? (long long)x->shape[dim] : 0);
	/* Both halves are views. */
	if (tensor_slice(&l, x, dim, 0, x->shape[dim] / 2, 1, bind_e(b)) ||
	    tensor_slice(&r, x, dim, x->shape[dim] / 2, x->shape[dim], 1, bind_e(b)))
		return bind_fail(b);
	rc = num_op1(&c, &y, NUM_sigmoid, &r, bind_e(b));
	tensor_release(&r);
	if (!rc) {
		g = num_t(&y);
		rc = num_op2(&c, &r, NUM_mul, num_t(&l), g, bind_e(b));
		tensor_release(&y);
	}
	tensor_release(&l);
	return rc ? bind_fail(b) : bind_result(b, &r);
}

/* input, weight: one slope for all, or one per channel (dimension 1). The weight is seen as
 * [1, C, 1, ...]. */
static int prelu(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *w, v, y;
	int64_t shape[TENSOR_DIMS];
	int rc;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &w))
		return -1;
	if (x->dt != w->dt)
		return bind_raise(b, EXC_RuntimeError, "prelu: Type promoting not supported. Got %s and %s",
				  num_type_name(x->dt), num_type_name(w->dt));
	if (w->ndim > 1)
		return bind_raise(b, EXC_RuntimeError,
				  "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = %d", w->ndim);
	/* The weight broadcasts along dimension 1, the channels. */
	for (int i = 0; i < x->ndim; i++)
		shape[i] = i == 1 && tensor_numel(w) > 1 ? tensor_numel(w) : 1;
	if (tensor_numel(w) > 1 && (x->ndim < 2 || x->shape[1] != tensor_numel(w)))
		return bind_shape_error(b,
					"Mismatch of parameter numbers and input channel size. "
					"Found parameter numbers = %lld and channel size = %lld.",
					(long long)tensor_numel(w), x->ndim < 2 ? 1LL : (long long)x->shape[1]);
	if (num_reshape(&c, &v, w, x->ndim, shape, bind_e(b)))
		return bind_fail(b);
	rc = num_op2(&c, &y, NUM_prelu, num_t(x), num_t(&v), bind_e(b));
	tensor_release(&v);
	return rc ? bind_fail(b) : bind_result(b, &y);
}

/* input, lower, upper, training, inplace. In evaluation the slope is the mean of the bounds;
 * in training PyTorch draws it. */
static int rrelu(struct bind *b)
{
	struct num_arg a;
	double lo, hi;
	int training;

	if (torch_arg(b, 0, &a) || bind_float(b, 1, &lo) || bind_float(b, 2, &hi) || bind_bool(b, 3, &training))
		return -1;
	if (!training || a.kind != NUM_TENSOR)
		return torch_apply_maybe(b, NUM_leaky_relu, &a, (double[]){ (lo + hi) / 2, 0, 0 }, 4);
	return bind_unsupported(b, "rrelu in training: PyTorch's order of random draws is not reproduced");
}

/* input, *, decimals=0: rounds half to even. Digits scale by 10^decimals, round and scale
 * back, as PyTorch does. */
static int round_to(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg a;
	struct tensor s, r, y;
	int64_t digits;
	double k;
	int rc;

	if (torch_arg(b, 0, &a) || torch_int(b, 1, 0, &digits))
		return -1;
	if (a.kind == NUM_TENSOR && a.t->dt == DT_BOOL)
		return bind_unsupported(b, "round of a bool tensor");
	if (digits == 0)
		return torch_apply(b, NUM_round, &a, NULL);
	/* Negative digits round to tens, hundreds, ... */
	k = pow(10, fabs((double)digits));
	if (num_op2(&c, &s, digits > 0 ? NUM_mul : NUM_div, a, num_f(k), bind_e(b)))
		return bind_fail(b);
	rc = num_op1(&c, &r, NUM_round, &s, bind_e(b));
	tensor_release(&s);
	if (rc)
		return bind_fail(b);
	rc = num_op2(&c, &y, digits > 0 ? NUM_div : NUM_mul, num_t(&r), num_f(k), bind_e(b));
	tensor_release(&r);
	return rc ? bind_fail(b) : torch_give(b, &y);
}

/* input, nan=0, posinf=None, neginf=None: infinities become the largest finite values of the
 * dtype by default. */
static int nan_to_num(struct bind *b)
{
	struct num_arg a;
	double p[3], top;

	if (torch_arg(b, 0, &a))
		return -1;
	/* The largest finite value of each float dtype. */
	top = a.kind != NUM_TENSOR ? 0 : a.t->dt == DT_F64 ? 0x1.fffffffffffffp1023 : a.t->dt == DT_F16 ? 65504
	      : a.t->dt == DT_BF16 ? 0x1.fep127 : 0x1.fffffep127;
	if (torch_float(b, 1, 0, &p[0]) || torch_float(b, 2, top, &p[1]) || torch_float(b, 3, -top, &p[2]))
		return -1;
	return torch_apply(b, NUM_nan_to_num, &a, p);
}

/* input, eps=None: log(x / (1 - x)) with x clamped to [eps, 1 - eps]. */
static int logit(struct bind *b)
{
	struct num_arg a;
	double eps;

	if (torch_arg(b, 0, &a) || torch_float(b, 1, -1, &eps))
		return -1;
	return torch_apply(b, NUM_logit, &a, eps < 0 ? (double[]){ -INFINITY, INFINITY, 0 } :
			   (double[]){ eps, 1 - eps, 0 });
}

/* Each row of torch_unary.def gives torch.NAME, Tensor.NAME, Tensor.NAME_ and torch.NAME_. */
const struct bind_row torch_unary_rows[] = {
#define UNARY(name, op)                                                                                    \
	{ "torch." #name, "input, *, out=None", u_##name, BIND_COMPUTE },                                  \
	{ "torch.Tensor." #name, "self", u_##name, BIND_COMPUTE },                                         \
	{ "torch.Tensor." #name "_", "self", u_##name, BIND_COMPUTE | BIND_INPLACE },                      \
	ALIAS("torch." #name "_", "torch.Tensor." #name "_"),
#include "torch/torch_unary.def"
#undef UNARY
	ALIAS("torch.Tensor.__neg__", "torch.Tensor.neg"),
	ALIAS("torch.Tensor.__pos__", "torch.Tensor.positive"),
	ALIAS("torch.Tensor.__invert__", "torch.Tensor.bitwise_not"),
	ALIAS("torch.Tensor.__abs__", "torch.Tensor.abs"),
	{ "torch.round", "input, *, decimals=0, out=None", round_to, BIND_COMPUTE },
	{ "torch.Tensor.round", "self, *, decimals=0", round_to, BIND_COMPUTE },
	{ "torch.Tensor.round_", "self, *, decimals=0", round_to, BIND_COMPUTE | BIND_INPLACE },
	{ "torch.nan_to_num", "input, nan=None, posinf=None, neginf=None", nan_to_num, BIND_COMPUTE },
	ALIAS("torch.Tensor.nan_to_num", "torch.nan_to_num"),
	{ "torch.logit", "input, eps=None", logit, BIND_COMPUTE },
	ALIAS("torch.Tensor.logit", "torch.logit"),
	ALIAS("torch.special.expit", "torch.sigmoid"),
	ALIAS("torch.special.erf", "torch.erf"),
#define ACT(name, op, sig, params, inplace) { "torch.nn.functional." #name, "input" sig, act_##name, BIND_COMPUTE },
#include "torch/torch_act.def"
#undef ACT
	{ "torch.nn.functional.gelu", "input, approximate='none'", gelu, BIND_COMPUTE },
	ALIAS("torch.nn.functional.swish", "torch.nn.functional.silu"),
	{ "torch.nn.functional.glu", "input, dim=-1", glu, BIND_COMPUTE },
	{ "torch.nn.functional.prelu", "input, weight", prelu, BIND_COMPUTE },
	ALIAS("torch.prelu", "torch.nn.functional.prelu"),
	{ "torch.nn.functional.rrelu",
	  "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False", rrelu,
	  BIND_COMPUTE },
	ALIAS("torch.celu", "torch.nn.functional.celu"),
	ALIAS("torch.hardshrink", "torch.nn.functional.hardshrink"),
	ALIAS("torch.threshold", "torch.nn.functional.threshold"),
	ALIAS("torch.rrelu", "torch.nn.functional.rrelu"),
	ALIAS("torch.Tensor.hardshrink", "torch.nn.functional.hardshrink"),
	{ NULL, NULL, NULL, 0 }
};
