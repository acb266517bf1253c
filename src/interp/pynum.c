/* Arithmetic of bool, int and float by Python's rules.
 *
 * Integers are exact: an overflow of int64 continues as V_BIG (big.c). Floor division and modulo
 * take the sign of the divisor: -7 // 2 is -4 and -7 % 2 is 1. True division of integers gives
 * the float nearest to the exact quotient. */
#include <math.h>

#include "interp/attr.h"
#include "interp/big.h"
#include "interp/fail.h"
#include "interp/operator.h"
#include "interp/scalar.h"
#include "interp/state.h"

int val_is_number(struct val v)
{
	return v.kind == V_BOOL || v.kind == V_INT || v.kind == V_BIG || v.kind == V_FLOAT;
}

double val_as_double(struct val v)
{
	return v.kind == V_FLOAT ? v.u.f : v.kind == V_BIG ? big_to_double(v) : (double)v.u.i;
}

/* divmod of floats as CPython computes it: fmod first, then a correction of sign and rounding,
 * so that a == q * b + r holds as closely as possible. Signed zeros are kept. */
static int float_divmod(struct host *h, double a, double b, double *q, double *r)
{
	double m, d;

	if (b == 0)
		return host_raise(h, EXC_ZeroDivisionError, "float floor division by zero");
	m = fmod(a, b);
	d = (a - m) / b;
	if (m != 0) {
		if ((b < 0) != (m < 0)) {
			m += b;
			d -= 1;
		}
	} else {
		m = copysign(0.0, b);
	}
	*r = m;
	if (d != 0) {
		double f = floor(d);
		*q = d - f > 0.5 ? f + 1 : f;
	} else {
		*q = copysign(0.0, a / b);
	}
	return 0;
}

/* a ** b of floats. A negative base with a fractional exponent would be complex. */
static int float_pow(struct host *h, double a, double b, struct val *out)
{
	double r;

	if (a == 0 && b < 0)
		return host_raise(h, EXC_ZeroDivisionError, "0.0 cannot be raised to a negative power");
	if (a < 0 && b != floor(b) && isfinite(b) && isfinite(a))
		return host_fatal(h, REASON_unsupported, "complex numbers are not supported");
	r = pow(a, b);
	if (isinf(r) && isfinite(a) && isfinite(b))
		return host_raise(h, EXC_OverflowError, "(34, 'Numerical result out of range')");
	*out = val_float(r);
	return 0;
}

static int unsupported_float(struct host *h, enum py_op op, struct val a, struct val b)
{
	return host_raise(h, EXC_TypeError, "unsupported operand type(s) for %s: '%s' and '%s'", py_op_text(op),
			  val_type_name(h, a), val_type_name(h, b));
}

/* One operand is a float. A big int that no double holds is an OverflowError. */
static int float_binary(struct host *h, enum py_op op, struct val va, struct val vb, struct val *out)
{
	double a = val_as_double(va), b = val_as_double(vb), q, r;

	if ((va.kind == V_BIG && isinf(a)) || (vb.kind == V_BIG && isinf(b)))
		return host_raise(h, EXC_OverflowError, "int too large to convert to float");
	switch (op) {
	case PY_OP_Add: *out = val_float(a + b); return 0;
	case PY_OP_Sub: *out = val_float(a - b); return 0;
	case PY_OP_Mult: *out = val_float(a * b); return 0;
	case PY_OP_Div:
		if (b == 0)
			return host_raise(h, EXC_ZeroDivisionError, "float division by zero");
		*out = val_float(a / b);
		return 0;
	case PY_OP_FloorDiv: case PY_OP_Mod:
		if (b == 0)
			return host_raise(h, EXC_ZeroDivisionError, op == PY_OP_Mod ? "float modulo" :
					  "float floor division by zero");
		if (float_divmod(h, a, b, &q, &r))
			return -1;
		*out = val_float(op == PY_OP_Mod ? r : q);
		return 0;
	case PY_OP_Pow: return float_pow(h, a, b, out);
	default: return unsupported_float(h, op, va, vb);
	}
}

/* Does a double hold v exactly, and every integer of smaller magnitude? */
static int is_exact(struct val v)
{
	return v.kind != V_BIG && v.u.i <= (int64_t)1 << 53 && v.u.i >= -((int64_t)1 << 53);
}

/* a / b. Operands within 2**53 divide as doubles, which rounds once; larger ones need long
 * division to round correctly. */
static int int_true_div(struct host *h, struct val a, struct val b, struct val *out)
{
	if (b.kind != V_BIG && b.u.i == 0)
		return host_raise(h, EXC_ZeroDivisionError, "division by zero");
	if (!is_exact(a) || !is_exact(b))
		return big_true_div(h, a, b, out);
	*out = val_float((double)a.u.i / (double)b.u.i);
	return 0;
}

/* a ** b by squaring in int64, restarted with big integers on overflow. A negative exponent
 * gives a float. */
static int int_pow(struct host *h, struct val va, struct val vb, struct val *out)
{
	if (vb.kind != V_BIG && vb.u.i < 0) {
		if (va.kind != V_BIG && va.u.i == 0)
			return host_raise(h, EXC_ZeroDivisionError, "0.0 cannot be raised to a negative power");
		return float_pow(h, val_as_double(va), val_as_double(vb), out);
	}
	if (va.kind != V_BIG && vb.kind != V_BIG) {
		int64_t acc = 1, base = va.u.i, e = vb.u.i;
		int over = 0;
		for (; e && !over; e >>= 1) {
			over = e & 1 && ck_mul64(acc, base, &acc);
			if (e > 1 && !over && (base > 1 || base < -1))
				over = ck_mul64(base, base, &base);
			else if (e > 1 && base == -1)
				base = 1;
		}
		if (!over) {
			*out = val_int(acc);
			return 0;
		}
	}
	return big_binary(h, PY_OP_Pow, va, vb, out);
}

/* // and % within int64. INT64_MIN // -1 overflows and becomes a big int. */
static int small_divmod(struct host *h, enum py_op op, int64_t a, int64_t b, struct val *out)
{
	int64_t q, r;

	if (b == 0)
		return host_raise(h, EXC_ZeroDivisionError, op == PY_OP_Mod ? "integer modulo by zero" :
				  "integer division or modulo by zero");
	if (b == -1) {
		if (op == PY_OP_Mod)
			*out = val_int(0);
		else if (a == INT64_MIN)
			return big_neg(h, val_int(a), out);
		else
			*out = val_int(-a);
		return 0;
	}
	q = a / b;
	r = a % b;
	if (r && (r < 0) != (b < 0)) {
		q--;
		r += b;
	}
	*out = val_int(op == PY_OP_Mod ? r : q);
	return 0;
}

/* << and >>. A left shift that overflows continues as a big int. */
static int small_shift(struct host *h, enum py_op op, struct val va, struct val vb, struct val *out)
{
	int64_t a = va.u.i, b = vb.u.i;
	int64_t r;

	if (b < 0)
		return host_raise(h, EXC_ValueError, "negative shift count");
	if (op == PY_OP_RShift) {
		*out = val_int(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
		return 0;
	}
	if (a == 0) {
		*out = val_int(0);
		return 0;
	}
	if (b < 62 && !ck_mul64(a, (int64_t)1 << b, &r)) {
		*out = val_int(r);
		return 0;
	}
	return big_binary(h, op, va, vb, out);
}

/* Both operands are within int64. & | ^ of two bools give a bool: True & False is False. */
static int small_binary(struct host *h, enum py_op op, struct val va, struct val vb, struct val *out)
{
	int64_t a = va.u.i, b = vb.u.i, r;
	int both_bool = va.kind == V_BOOL && vb.kind == V_BOOL;
	switch (op) {
	case PY_OP_Add: if (ck_add64(a, b, &r)) return big_binary(h, op, va, vb, out); break;
	case PY_OP_Sub: if (ck_sub64(a, b, &r)) return big_binary(h, op, va, vb, out); break;
	case PY_OP_Mult: if (ck_mul64(a, b, &r)) return big_binary(h, op, va, vb, out); break;
	case PY_OP_FloorDiv: case PY_OP_Mod: return small_divmod(h, op, a, b, out);
	case PY_OP_LShift: case PY_OP_RShift: return small_shift(h, op, va, vb, out);
	case PY_OP_BitAnd: *out = both_bool ? val_bool(a & b) : val_int(a & b); return 0;
	case PY_OP_BitOr: *out = both_bool ? val_bool(a | b) : val_int(a | b); return 0;
	case PY_OP_BitXor: *out = both_bool ? val_bool(a ^ b) : val_int(a ^ b); return 0;
	default: return unsupported_float(h, op, va, vb);
	}
	*out = val_int(r);
	return 0;
}

/* Any binary operator on two numbers. */
int pynum_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	if (op == PY_OP_MatMult)
		return unsupported_float(h, op, a, b);
	if (a.kind == V_FLOAT || b.kind == V_FLOAT)
		return float_binary(h, op, a, b, out);
	if (op == PY_OP_Div)
		return int_true_div(h, a, b, out);
	if (op == PY_OP_Pow)
		return int_pow(h, a, b, out);
	if (a.kind == V_BIG || b.kind == V_BIG)
		return big_binary(h, op, a, b, out);
	return small_binary(h, op, a, b, out);
}

/* Three-way comparison of numbers. An integer and a float are compared exactly: 2**53 + 1 >
 * float(2**53), although both convert to the same double. */
int pynum_compare(struct val a, struct val b, int *unordered)
{
	*unordered = 0;
	if (a.kind == V_FLOAT || b.kind == V_FLOAT) {
		double x = val_as_double(a), y = val_as_double(b);
		if (isinf(x) && isinf(y) && a.kind != b.kind)      /* a big int against infinity */
			return a.kind == V_FLOAT ? (x > 0 ? 1 : -1) : (y > 0 ? -1 : 1);
		if (x == y && fabs(x) >= 9007199254740992.0 && a.kind != b.kind)
			return a.kind == V_FLOAT ? -big_compare_double(b, x) : big_compare_double(a, y);
		*unordered = isnan(x) || isnan(y);
		return x < y ? -1 : x > y;
	}
	if (a.kind == V_BIG || b.kind == V_BIG)
		return big_compare(a, b);
	return a.u.i < b.u.i ? -1 : a.u.i > b.u.i;
}

/* An integer argument: int, bool or __index__. Floats are refused, as in Python. */
int val_as_int(struct host *h, struct val v, int64_t *out)
{
	struct val r;
	if (v.kind == V_BOOL && scalar_is(v))
		return host_raise(h, EXC_TypeError, "'numpy.bool' object cannot be interpreted as an integer");
	if (v.kind == V_INT || v.kind == V_BOOL) {
		*out = v.u.i;
		return 0;
	}
	if (v.kind == V_BIG)
		return host_raise(h, EXC_OverflowError, "Python int too large to convert to C ssize_t");
	if (V_IS_HEAP(v)) {
		int found = call_special(h, v, NM___index__, NULL, 0, &r);
		if (found < 0)
			return -1;
		if (found && (r.kind == V_INT || r.kind == V_BOOL)) {
			*out = r.u.i;
			return 0;
		}
	}
	return host_raise(h, EXC_TypeError, "'%s' object cannot be interpreted as an integer", val_type_name(h, v));
}
