/* Bindings of functions of two and three tensors or numbers, and the operators of Tensor. The
 * plain ones are rows of torch_binary.def; functions with special rules (add, sub, div, pow,
 * clamp, where, masked_fill, closeness) are written out. Promotion and broadcasting are
 * num/ew.c's. */
#include "torch/torch.h"

#include <math.h>

/* A bool or a bool tensor. */
static int is_bool(const struct num_arg *a)
{
	return a->kind == NUM_BOOL || (a->kind == NUM_TENSOR && a->t->dt == DT_BOOL);
}

/* An int or a tensor of integers or bools. */
static int is_whole(const struct num_arg *a)
{
	return a->kind == NUM_TENSOR ? !dtype_is_float(a->t->dt) : a->kind == NUM_INT;
}

/* Operations that PyTorch does not have for integers, for operands of different dtypes, or
 * with an integer zero as divisor. */
static int check_kinds(struct bind *b, enum num_op op, const struct num_arg *a)
{
	const struct tensor *t = a[0].kind == NUM_TENSOR ? a[0].t : a[1].kind == NUM_TENSOR ? a[1].t : NULL;

	if (!t)
		return 0;
	if (is_whole(&a[0]) && is_whole(&a[1]) && (op == NUM_logaddexp || op == NUM_logaddexp2 ||
						   op == NUM_hypot || op == NUM_nextafter))
		return bind_raise(b, EXC_NotImplementedError, "\"%s_cpu\" not implemented for '%s'",
				  num_op_info(op)->name, num_type_name(t->dt));
	if (op == NUM_heaviside && a[0].kind == NUM_TENSOR && a[1].kind == NUM_TENSOR && a[0].t->dt != a[1].t->dt)
		return bind_raise(b, EXC_RuntimeError,
				  "heaviside is not yet implemented for tensors with different dtypes.");
	if ((op == NUM_floor_divide || op == NUM_remainder || op == NUM_fmod || op == NUM_trunc_divide) &&
	    is_whole(&a[0]) &&
	    a[1].kind == NUM_INT && a[1].i == 0 && tensor_numel(t))
		return bind_raise(b, EXC_RuntimeError, "ZeroDivisionError");
	return 0;
}

/* Slots `first` and `second` are the operands; slot 2, if it exists and is given, is out=.
 * Bitwise operations refuse floats with PyTorch's message. */
static int binary(struct bind *b, enum num_op op, size_t first, size_t second, const double *p)
{
	struct num_arg a[2];

	if (torch_arg(b, first, &a[0]) || torch_arg(b, second, &a[1]))
		return -1;
	if (op >= NUM_bitwise_and && op <= NUM_gcd &&
	    ((a[0].kind == NUM_TENSOR && dtype_is_float(a[0].t->dt)) ||
	     (a[1].kind == NUM_TENSOR && dtype_is_float(a[1].t->dt))))
		return bind_raise(b, EXC_NotImplementedError, "\"%s_cpu\" not implemented for '%s'",
				  num_op_info(op)->name,
				  num_type_name(a[a[0].kind != NUM_TENSOR || !dtype_is_float(a[0].t->dt)].t->dt));
	if (check_kinds(b, op, a))
		return -1;
	if (is_bool(&a[0]) && is_bool(&a[1]) &&
	    (op == NUM_floor_divide || op == NUM_remainder || op == NUM_fmod ||
	     op == NUM_bitwise_left_shift || op == NUM_bitwise_right_shift))
		return bind_unsupported(b, "%s of two bools", num_op_info(op)->name);
	if (b->n > 2 && bind_given(b, 2)) {             /* out= */
		struct num_ctx c = torch_ctx(b);
		struct tensor y;

		if (num_apply(&c, &y, op, a, p, bind_e(b)))
			return bind_fail(b);
		return torch_result(b, &y, 2);
	}
	return torch_apply(b, op, a, p);
}

#define BINARY(name, op) static int b_##name(struct bind *b) { return binary(b, NUM_##op, 0, 1, NULL); }
#define TENSORS BINARY
#include "torch/torch_binary.def"
#undef TENSORS
#undef BINARY

/* An operand that is neither tensor nor number: returns NotImplemented, so that Python asks
 * the other operand. */
static int foreign(struct bind *b)
{
	if (b->a[1].kind == V_TENSOR || val_is_number(b->a[1]))
		return 0;
	b->out = (struct val){ .kind = V_NOTIMPL };
	return 1;
}

#define COMPARE(name) \
	static int op_##name(struct bind *b) { return foreign(b) ? 0 : binary(b, NUM_##name, 0, 1, NULL); }
#define OPERATOR(name, op)                                                                                 \
	static int op_##name(struct bind *b) { return foreign(b) ? 0 : binary(b, NUM_##op, 0, 1, NULL); }   \
	static int rop_##name(struct bind *b) { return foreign(b) ? 0 : binary(b, NUM_##op, 1, 0, NULL); }
OPERATOR(mul, mul)
OPERATOR(div, div)
OPERATOR(floordiv, floor_divide)
OPERATOR(mod, remainder)
OPERATOR(and, bitwise_and)
OPERATOR(or, bitwise_or)
OPERATOR(xor, bitwise_xor)
OPERATOR(lshift, bitwise_left_shift)
OPERATOR(rshift, bitwise_right_shift)
COMPARE(lt)
COMPARE(le)
COMPARE(gt)
COMPARE(ge)
OPERATOR(plus, plus)

/* == and != with anything but a tensor or number fall back to identity. */
COMPARE(eq)
COMPARE(ne)

/* --- add, sub, div, pow ------------------------------------------------------------------------ */

/* a - alpha b. PyTorch refuses bools and says what to use instead. */
static int minus(struct bind *b, size_t first, size_t second, double alpha)
{
	struct num_arg a[2];

	if (torch_arg(b, first, &a[0]) || torch_arg(b, second, &a[1]))
		return -1;
	if (is_bool(&a[0]) && is_bool(&a[1]))
		return bind_raise(b, EXC_RuntimeError,
				  "Subtraction, the `-` operator, with two bool tensors is not "
				  "supported. Use the `^` or `logical_xor()` operator instead.");
	if (is_bool(&a[0]) || is_bool(&a[1]))
		return bind_raise(b, EXC_RuntimeError,
				  "Subtraction, the `-` operator, with a bool tensor is not "
				  "supported. If you are trying to invert a mask, use the `~` or "
				  "`logical_not()` operator instead.");
	return torch_apply(b, alpha == 1 ? NUM_minus : NUM_sub, a, (double[]){ alpha, 0, 0 });
}

/* x - y and y - x of the operator protocol; a foreign operand gets NotImplemented. */
static int op_sub(struct bind *b)
{
	return foreign(b) ? 0 : minus(b, 0, 1, 1);
}

static int rop_sub(struct bind *b)
{
	return foreign(b) ? 0 : minus(b, 1, 0, 1);
}

/* input, other, *, alpha=1, out=None. alpha = 1 uses a kernel without the product. */
static int t_add(struct bind *b)
{
	struct num_arg a[2];
	double alpha;

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]) || bind_float(b, 2, &alpha))
		return -1;
	if (b->a[2].kind == V_FLOAT && is_whole(&a[0]) && is_whole(&a[1]))
		return bind_raise(b, EXC_RuntimeError,
				  "For integral input tensors, argument alpha must not be a floating point number.");
	if (b->n > 3 && bind_given(b, 3)) {
		struct num_ctx c = torch_ctx(b);
		struct tensor y;

		if (num_apply(&c, &y, NUM_add, a, (double[]){ alpha, 0, 0 }, bind_e(b)))
			return bind_fail(b);
		return torch_result(b, &y, 3);
	}
	return torch_apply(b, alpha == 1 ? NUM_plus : NUM_add, a, (double[]){ alpha, 0, 0 });
}

/* input, other, *, alpha=1, out=None */
static int t_sub(struct bind *b)
{
	double alpha;

	return bind_float(b, 2, &alpha) ? -1 : minus(b, 0, 1, alpha);
}

static int t_rsub(struct bind *b)
{
	double alpha;

	return bind_float(b, 2, &alpha) ? -1 : minus(b, 1, 0, alpha);
}

/* input, other, *, rounding_mode=None: true division, or division rounded to minus infinity
 * or to zero. */
static int t_div(struct bind *b)
{
	static const char *const modes[] = { "floor", "trunc", NULL };
	struct num_arg a[2];
	enum num_op op = NUM_div;
	int mode;

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]))
		return -1;
	if (bind_given(b, 2)) {
		if (torch_choice(b, 2, modes, "rounding_mode", &mode))
			return -1;
		op = mode ? NUM_trunc_divide : NUM_floor_divide;
	}
	return torch_apply(b, op, a, NULL);
}

/* Slot `first` to the power of slot `second`. */
static int power(struct bind *b, size_t first, size_t second)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg x, y;
	struct tensor r;

	if (torch_arg(b, first, &x) || torch_arg(b, second, &y))
		return -1;
	if (num_pow(&c, &r, x, y, bind_e(b)))
		return bind_fail(b);
	return torch_give(b, &r);
}

/* x ** y; torch.pow has the same rules. */
static int op_pow(struct bind *b)
{
	return foreign(b) ? 0 : power(b, 0, 1);
}

static int t_pow(struct bind *b)
{
	return power(b, 0, 1);
}

static int rop_pow(struct bind *b)
{
	return foreign(b) ? 0 : power(b, 1, 0);
}

/* Computes and returns float64. */
static int float_power(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg x, y;
	struct tensor wide, r;
	int rc;

	if (torch_arg(b, 0, &x) || torch_arg(b, 1, &y))
		return -1;
	if (x.kind != NUM_TENSOR)
		return bind_unsupported(b, "torch.float_power of a number");
	if (num_to(&c, &wide, x.t, DT_F64, bind_e(b)))
		return bind_fail(b);
	rc = num_op2(&c, &r, NUM_pow, num_t(&wide), y, bind_e(b));
	tensor_release(&wide);
	return rc ? bind_fail(b) : bind_result(b, &r);
}

/* --- clamp, where, lerp, addcmul --------------------------------------------------------------- */

/* Bounds that are tensors: min(max(x, lo), hi). has_lo and has_hi say which bounds exist. */
static int clamp_tensors(struct bind *b, size_t lo, size_t hi, int has_lo, int has_hi)
{
	struct num_arg a[3] = { { .kind = NUM_TENSOR } };
	struct num_ctx c = torch_ctx(b);
	struct tensor r, y;
	int rc;

	if (torch_arg(b, 0, &a[0]))
		return -1;
	/* One bound: a single maximum or minimum. */
	if (!has_lo || !has_hi) {
		if (torch_arg(b, has_lo ? lo : hi, &a[1]))
			return -1;
		return torch_apply(b, has_lo ? NUM_maximum : NUM_minimum, a, NULL);
	}
	if (torch_arg(b, lo, &a[1]) || torch_arg(b, hi, &a[2]))
		return -1;
	if (num_op2(&c, &r, NUM_maximum, a[0], a[1], bind_e(b)))
		return bind_fail(b);
	rc = num_op2(&c, &y, NUM_minimum, num_t(&r), a[2], bind_e(b));
	tensor_release(&r);
	return rc ? bind_fail(b) : torch_give(b, &y);
}

/* A bound that is a tensor without dimensions is a number if the other bound is one. */
static int clamp_number(struct bind *b, size_t bound, size_t other)
{
	const struct val *v = &b->a[bound];

	if (b->a[other].kind == V_TENSOR || v->kind != V_TENSOR || v->u.t->t.ndim)
		return 0;
	return torch_item(b, &v->u.t->t, &b->a[bound]);
}

/* Slots lo and hi; a slot number beyond the signature (9) means that the function has no such
 * bound. */
static int clamp(struct bind *b, size_t lo, size_t hi)
{
	int has_lo = lo < b->n && bind_given(b, lo), has_hi = hi < b->n && bind_given(b, hi);
	struct num_arg a, l = num_f(-INFINITY), h = num_f(INFINITY);
	struct num_arg all[3];
	struct num_ctx c = torch_ctx(b);
	double low, high;

	if (!has_lo && !has_hi)
		return bind_raise(b, EXC_RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None");
	if (has_lo && has_hi && (clamp_number(b, lo, hi) || clamp_number(b, hi, lo)))
		return -1;
	if (has_lo && has_hi && (b->a[lo].kind == V_TENSOR) != (b->a[hi].kind == V_TENSOR))
		return bind_raise(b, EXC_TypeError,
				  "clamp() received an invalid combination of arguments: min and "
				  "max must both be tensors or numbers");
	if ((has_lo && b->a[lo].kind == V_TENSOR) || (has_hi && b->a[hi].kind == V_TENSOR))
		return clamp_tensors(b, lo, hi, has_lo, has_hi);
	if (torch_arg(b, 0, &a) || (has_lo && torch_arg(b, lo, &l)) || (has_hi && torch_arg(b, hi, &h)))
		return -1;
	/* An integer tensor with a float bound gives floats, except in place. */
	all[0] = a;
	all[1] = has_lo ? l : h;
	all[2] = has_hi ? h : l;
	if (a.kind == NUM_TENSOR && !dtype_is_float(a.t->dt) && dtype_is_float(num_result_type(&c, all, 3)) &&
	    !(b->row->flags & BIND_INPLACE))
		return torch_apply(b, NUM_clamp_tensor,
				   (struct num_arg[]){ a, has_lo ? l : num_f(-INFINITY), has_hi ? h : num_f(INFINITY) },
				   NULL);
	if (a.kind == NUM_TENSOR && a.t->dt == DT_BOOL)
		return bind_unsupported(b, "clamp of a bool tensor");
	low = l.kind == NUM_FLOAT ? l.f : (double)l.i;
	high = h.kind == NUM_FLOAT ? h.f : (double)h.i;
	/* If min > max, every element becomes max, as in PyTorch. */
	return torch_apply(b, NUM_clamp, &a, (double[]){ low > high ? high : low, high, 0 });
}

static int t_clamp(struct bind *b)
{
	return clamp(b, 1, 2);
}

/* Slot 9 does not exist: there is no other bound. */
static int t_clamp_min(struct bind *b)
{
	return clamp(b, 1, 9);
}

static int t_clamp_max(struct bind *b)
{
	return clamp(b, 9, 1);
}

/* torch.where(condition, input, other). With only the condition it is nonzero(as_tuple=True). */
static int t_where(struct bind *b)
{
	struct num_arg a[3];

	if (torch_arg(b, 0, &a[0]))
		return -1;
	if (!bind_given(b, 1) && a[0].kind == NUM_TENSOR)
		return torch_nonzero_tuple(b, a[0].t);
	if (torch_arg(b, 1, &a[1]) || torch_arg(b, 2, &a[2]))
		return -1;
	if (a[0].kind != NUM_TENSOR || a[0].t->dt != DT_BOOL)
		return bind_raise(b, EXC_RuntimeError,
				  "where expected condition to be a boolean tensor, but got a tensor with dtype %s",
				  a[0].kind == NUM_TENSOR ? num_type_name(a[0].t->dt) : "number");
	return torch_apply(b, NUM_where, a, NULL);
}

/* x.where(condition, other): the condition comes second. */
static int m_where(struct bind *b)
{
	struct num_arg a[3];

	if (torch_arg(b, 1, &a[0]) || torch_arg(b, 0, &a[1]) || torch_arg(b, 2, &a[2]))
		return -1;
	return torch_apply(b, NUM_where, a, NULL);
}

/* Three operands and, in slot `value`, a factor (1 if there is no such slot). */
static int ternary(struct bind *b, enum num_op op, size_t value)
{
	struct num_arg a[3];
	double p[3] = { 1, 0, 0 };

	if (torch_arg(b, 0, &a[0]) || torch_arg(b, 1, &a[1]) || torch_arg(b, 2, &a[2]) ||
	    (value < b->n && bind_float(b, value, &p[0])))
		return -1;
	return torch_apply(b, op, a, p);
}

/* input + weight * (end - input); PyTorch does not promote here. */
static int t_lerp(struct bind *b)
{
	struct tensor *x, *y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y))
		return -1;
	if (x->dt != y->dt)
		return bind_raise(b, EXC_RuntimeError, "expected dtype %s for `end` but got dtype %s",
				  num_c_name(x->dt), num_c_name(y->dt));
	return ternary(b, NUM_lerp, 9);
}

static int t_addcmul(struct bind *b) { return ternary(b, NUM_addcmul, 3); }

/* input + value * tensor1 / tensor2; not for two integers. */
static int t_addcdiv(struct bind *b)
{
	struct tensor *x, *y;

	if (bind_tensor(b, 1, &x) || bind_tensor(b, 2, &y))
		return -1;
	if (!dtype_is_float(x->dt) && !dtype_is_float(y->dt))
		return bind_raise(b, EXC_RuntimeError,
				  "Integer division with addcdiv is no longer supported, and in "
				  "a future  release addcdiv will perform a true division of "
				  "tensor1 and tensor2.");
	return ternary(b, NUM_addcdiv, 3);
}

/* input, mask, value: where(mask, value, input) with value converted to the dtype of input. */
static int t_masked_fill(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *self, *mask, v, y;
	struct num_arg value;
	int rc;

	if (bind_tensor(b, 0, &self) || bind_tensor(b, 1, &mask) || torch_arg(b, 2, &value))
		return -1;
	if (mask->dt != DT_BOOL)
		return bind_raise(b, EXC_RuntimeError,
				  "masked_fill_ only supports boolean masks, but got mask with dtype %s",
				  num_c_name(mask->dt));
	/* The value is converted to the dtype of self; it does not promote. An infinite value
	 * does not fit an integer. */
	if (num_new(&c, &v, self->dt, 0, NULL, bind_e(b)))
		return bind_fail(b);
	if (value.kind == NUM_FLOAT && !isfinite(value.f) && !dtype_is_float(self->dt) && self->dt != DT_BOOL) {
		tensor_release(&v);
		return bind_raise(b, EXC_RuntimeError, "value cannot be converted to type %s without overflow",
				  self->dt == DT_I64 ? "int64_t" : self->dt == DT_I32 ? "int" : num_c_name(self->dt));
	}
	if (value.kind == NUM_TENSOR)
		rc = tensor_copy(&v, value.t, bind_e(b));
	else
		rc = num_fill(&c, &v, value, bind_e(b));
	if (!rc && b->row->flags & BIND_INPLACE)
		rc = num_apply_into(&c, self, NUM_where,
				    (struct num_arg[]){ num_t(mask), num_t(&v), num_t(self) }, NULL, bind_e(b));
	else if (!rc)
		rc = num_apply(&c, &y, NUM_where, (struct num_arg[]){ num_t(mask), num_t(&v), num_t(self) },
			       NULL, bind_e(b));
	tensor_release(&v);
	if (rc)
		return bind_fail(b);
	if (b->row->flags & BIND_INPLACE)
		return bind_self(b);
	if (!tensor_is_contiguous(&y)) {      /* PyTorch fills a contiguous copy */
		struct tensor packed;

		rc = num_to(&c, &packed, &y, y.dt, bind_e(b));
		tensor_release(&y);
		if (rc)
			return bind_fail(b);
		y = packed;
	}
	return bind_result(b, &y);
}

/* --- closeness ------------------------------------------------------------------------------------ */

/* x - y| <= atol + rtol |y| elementwise (isclose), or for all elements (allclose). Equal
 * infinities are close, NaNs only with equal_nan. */
static int close_to(struct bind *b, int all)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, d[2] = { { .st = NULL }, { .st = NULL } }, r = { .st = NULL };
	int64_t shape[TENSOR_DIMS], n;
	double rtol, atol;
	int ndim, equal_nan, ok = 1;
	uint8_t *out;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y) || bind_float(b, 2, &rtol) || bind_float(b, 3, &atol) ||
	    bind_bool(b, 4, &equal_nan))
		return -1;
	if (x->dt != y->dt)
		return bind_raise(b, EXC_RuntimeError, "%s did not match %s", num_type_name(x->dt),
				  num_type_name(y->dt));
	/* In float64: rounding of the tolerance itself decides nothing. */
	if (tensor_broadcast(x, y, &ndim, shape, bind_e(b)) || num_new(&c, &d[0], DT_F64, ndim, shape, bind_e(b)) ||
	    num_new(&c, &d[1], DT_F64, ndim, shape, bind_e(b)) || num_new(&c, &r, DT_BOOL, ndim, shape, bind_e(b)) ||
	    tensor_copy(&d[0], x, bind_e(b)) || tensor_copy(&d[1], y, bind_e(b))) {
		tensor_release(&d[0]);
		tensor_release(&d[1]);
		tensor_release(&r);
		return bind_fail(b);
	}
	n = c.hollow ? 0 : tensor_numel(&r);
	out = tensor_data(&r);
	for (int64_t i = 0; i < n; i++) {
		double p = ((double *)tensor_data(&d[0]))[i], q = ((double *)tensor_data(&d[1]))[i];

		out[i] = p == q || (isfinite(p) && isfinite(q) && fabs(p - q) <= atol + rtol * fabs(q)) ||
			 (equal_nan && isnan(p) && isnan(q));
		ok &= out[i];
	}
	tensor_release(&d[0]);
	tensor_release(&d[1]);
	if (!all)
		return bind_result(b, &r);
	tensor_release(&r);
	b->out = val_bool(ok);
	return host_may_read(b->h, DT_BOOL, 1);
}

static int t_allclose(struct bind *b) { return close_to(b, 1); }
static int t_isclose(struct bind *b) { return close_to(b, 0); }

/* torch.equal: same shape and same elements, as a Python bool. It reads the data, so the host
 * must allow it and no element may be unwritten. */
static int t_equal(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, d, r;
	int rc;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y))
		return -1;
	b->out = val_bool(0);
	if (!tensor_same_shape(x, y))
		return 0;
	if (host_is_unwritten(b->h, x) || host_is_unwritten(b->h, y))
		return -1;
	if (num_op2(&c, &d, NUM_eq, num_t(x), num_t(y), bind_e(b)))
		return bind_fail(b);
	rc = num_all(&c, &r, &d, NULL, 0, bind_e(b));
	tensor_release(&d);
	if (rc)
		return bind_fail(b);
	rc = host_read(b->h, &r, &b->out);
	tensor_release(&r);
	return rc;
}

/* CMP: computes elements from elements. INP: writes slot 0. SUFFIX3 makes torch.NAME,
 * Tensor.NAME and Tensor.NAME_ of one function; ARITH the three methods of an operator (+,
 * reflected +, +=). */
#define CMP (BIND_COMPUTE)
#define INP (BIND_COMPUTE | BIND_INPLACE)
#define SUFFIX3(name, sig, fn)                                                                             \
	{ "torch." name, "input, " sig, fn, CMP }, { "torch.Tensor." name, "self, " sig, fn, CMP },         \
	{ "torch.Tensor." name "_", "self, " sig, fn, INP }

const struct bind_row torch_binary_rows[] = {
#define ROWS(name, other)                                                                                  \
	{ "torch." #name, "input, " other ", *, out=None", b_##name, CMP },                                \
	{ "torch.Tensor." #name, "self, " other, b_##name, CMP },                                          \
	{ "torch.Tensor." #name "_", "self, " other, b_##name, INP },
#define BINARY(name, op) ROWS(name, "other")
#define TENSORS(name, op) ROWS(name, "other: torch.Tensor")
#include "torch/torch_binary.def"
#undef TENSORS
#undef BINARY
#undef ROWS
#define ARITH(method, fn)                                                                                  \
	{ "torch.Tensor.__" method "__", "self, other", op_##fn, CMP },                                    \
	{ "torch.Tensor.__r" method "__", "self, other", rop_##fn, CMP },                                  \
	{ "torch.Tensor.__i" method "__", "self, other", op_##fn, INP },
	ARITH("add", plus) ARITH("sub", sub) ARITH("mul", mul) ARITH("truediv", div) ARITH("floordiv", floordiv)
	ARITH("mod", mod) ARITH("pow", pow) ARITH("and", and) ARITH("or", or) ARITH("xor", xor)
	ARITH("lshift", lshift) ARITH("rshift", rshift)
#undef ARITH
	{ "torch.Tensor.__lt__", "self, other", op_lt, CMP },
	{ "torch.Tensor.__le__", "self, other", op_le, CMP },
	{ "torch.Tensor.__gt__", "self, other", op_gt, CMP },
	{ "torch.Tensor.__ge__", "self, other", op_ge, CMP },
	{ "torch.Tensor.__eq__", "self, other", op_eq, CMP },
	{ "torch.Tensor.__ne__", "self, other", op_ne, CMP },
	SUFFIX3("add", "other, *, alpha=1, out=None", t_add),
	SUFFIX3("sub", "other, *, alpha=1, out=None", t_sub),
	SUFFIX3("subtract", "other, *, alpha=1, out=None", t_sub),
	SUFFIX3("div", "other, *, rounding_mode=None, out=None", t_div),
	SUFFIX3("divide", "other, *, rounding_mode=None, out=None", t_div),
	SUFFIX3("true_divide", "other, *, rounding_mode=None, out=None", t_div),
	SUFFIX3("pow", "exponent, *, out=None", t_pow),
	{ "torch.rsub", "input, other, *, alpha=1", t_rsub, CMP },
	{ "torch.float_power", "input, exponent", float_power, CMP },
	ALIAS("torch.Tensor.float_power", "torch.float_power"),
	SUFFIX3("clamp", "min=None, max=None, *, out=None", t_clamp),
	SUFFIX3("clip", "min=None, max=None, *, out=None", t_clamp),
	SUFFIX3("clamp_min", "min", t_clamp_min),
	SUFFIX3("clamp_max", "max", t_clamp_max),
	{ "torch.where", "condition, input=?, other=?", t_where, CMP },
	{ "torch.Tensor.where", "self, condition, other", m_where, CMP },
	SUFFIX3("lerp", "end: torch.Tensor, weight", t_lerp),
	SUFFIX3("addcmul", "tensor1: torch.Tensor, tensor2: torch.Tensor, *, value=1", t_addcmul),
	SUFFIX3("addcdiv", "tensor1: torch.Tensor, tensor2: torch.Tensor, *, value=1", t_addcdiv),
	SUFFIX3("masked_fill", "mask, value", t_masked_fill),
	{ "torch.allclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", t_allclose, CMP },
	ALIAS("torch.Tensor.allclose", "torch.allclose"),
	{ "torch.isclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", t_isclose, CMP },
	ALIAS("torch.Tensor.isclose", "torch.isclose"),
	{ "torch.equal", "input, other", t_equal, CMP },
	ALIAS("torch.Tensor.equal", "torch.equal"),
	{ NULL, NULL, NULL, 0 }
};
