/* Compile-time arithmetic: Python's operators on numbers, strings, tuples and types, with Python's
 * messages. Example: BLOCK // 2 with BLOCK: tl.constexpr = 128 is the constant 64 and emits
 * nothing; an instruction appears only when the constant meets a tensor.
 *
 * Integers have 128 bits here, enough for every constant that a kernel can turn into a tensor. An
 * overflow is refused as unsupported, never wrapped. The smallest 128-bit integer is refused too,
 * so that every integer has a negative. */
#include <math.h>

#include "tile/front/front.h"

#define WIDE_MAX ((pyint)(~(unsigned __int128)0 >> 1))

/* Python's TypeError for an operator that the types do not have. */
_Noreturn static void bad_operands(struct front *f, enum py_op op, const struct lang_val *a, const struct lang_val *b)
{
	front_fail(f, REASON_bad_types, "unsupported operand type(s) for %s: '%s' and '%s'",
		   op == PY_OP_Pow ? "** or pow()" : py_op_text(op), lang_type_name(a), lang_type_name(b));
}

/* Python has integers of any width; kernels cannot use them. */
_Noreturn static void too_wide(struct front *f)
{
	front_fail(f, REASON_unsupported, "this engine does not support integer constants of more than 127 bits");
}

/* An integer as a value; refuses the one that has no negative. */
static struct lang_val int_of(struct front *f, pyint i)
{
	if (i < -WIDE_MAX)
		too_wide(f);
	return lang_int(i);
}

/* Python rounds quotients down: -7 // 2 is -4. */
static pyint floor_div(pyint a, pyint b)
{
	pyint q = a / b;
	return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Python's remainder has the sign of the divisor: -7 % 2 is 1. */
static pyint floor_mod(pyint a, pyint b)
{
	pyint r = a % b;
	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* A negative exponent gives a float. Bases 0, 1 and -1 end the loop at once: their exponent may be
 * huge. */
static struct lang_val int_pow(struct front *f, pyint base, pyint e)
{
	pyint r;

	if (e < 0) {
		if (base == 0)
			front_fail(f, REASON_bad_value, "0.0 cannot be raised to a negative power");
		return lang_float(pow((double)base, (double)e));
	}
	r = 1;
	for (; e > 0; e--) {
		if (base == 0 || base == 1 || (base == -1 && e > 2)) {
			r = base == -1 ? ((e & 1) ? -r : r) : r * base;
			break;
		}
		if (__builtin_mul_overflow(r, base, &r))
			too_wide(f);
	}
	return int_of(f, r);
}

/* Shifts right are arithmetic; shifts left fail instead of losing bits. */
static struct lang_val int_shift(struct front *f, enum py_op op, pyint a, pyint n)
{
	if (n < 0)
		front_fail(f, REASON_bad_value, "negative shift count");
	if (op == PY_OP_RShift)
		return lang_int(n > 126 ? (a < 0 ? -1 : 0) : a >> n);
	if (a == 0)
		return lang_int(0);
	if (n > 126 || (a < 0 ? -a : a) > (WIDE_MAX >> n))
		too_wide(f);
	return lang_int(a * ((pyint)1 << n));
}

/* An operator on two integers; a bool counts as an integer, but & | ^ of two bools is a bool. */
static struct lang_val int_binary(struct front *f, enum py_op op, const struct lang_val *x, const struct lang_val *y)
{
	pyint a = x->u.i, b = y->u.i, r;
	int both_bool = x->kind == LANG_BOOL && y->kind == LANG_BOOL;
	switch (op) {
	case PY_OP_Add: if (__builtin_add_overflow(a, b, &r)) too_wide(f); return int_of(f, r);
	case PY_OP_Sub: if (__builtin_sub_overflow(a, b, &r)) too_wide(f); return int_of(f, r);
	case PY_OP_Mult: if (__builtin_mul_overflow(a, b, &r)) too_wide(f); return int_of(f, r);
	case PY_OP_BitAnd: return both_bool ? lang_bool(a & b) : int_of(f, a & b);
	case PY_OP_BitOr: return both_bool ? lang_bool(a | b) : int_of(f, a | b);
	case PY_OP_BitXor: return both_bool ? lang_bool(a ^ b) : int_of(f, a ^ b);
	case PY_OP_LShift: case PY_OP_RShift: return int_shift(f, op, a, b);
	case PY_OP_Pow: return int_pow(f, a, b);
	case PY_OP_Div:
		if (!b)
			front_fail(f, REASON_bad_value, "division by zero");
		return lang_float((double)((long double)a / (long double)b));
	case PY_OP_FloorDiv: case PY_OP_Mod:
		if (!b)
			front_fail(f, REASON_bad_value, "integer division or modulo by zero");
		return lang_int(op == PY_OP_Mod ? floor_mod(a, b) : floor_div(a, b));
	default: bad_operands(f, op, x, y);
	}
}

/* Computes an operator on two numbers. At least one of them is a float. */
static struct lang_val float_binary(struct front *f, enum py_op op, const struct lang_val *x, const struct lang_val *y)
{
	double a = lang_as_double(x), b = lang_as_double(y);
	if (b == 0 && (op == PY_OP_Div || op == PY_OP_FloorDiv || op == PY_OP_Mod))
		front_fail(f, REASON_bad_value, op == PY_OP_Div ? "float division by zero"
			   : op == PY_OP_Mod ? "float modulo" : "float floor division by zero");
	switch (op) {
	case PY_OP_Add: return lang_float(a + b);
	case PY_OP_Sub: return lang_float(a - b);
	case PY_OP_Mult: return lang_float(a * b);
	case PY_OP_Div: return lang_float(a / b);
	case PY_OP_FloorDiv: return lang_float(floor(a / b));
	case PY_OP_Mod: {
		double r = fmod(a, b);
		return lang_float(r != 0 && (r < 0) != (b < 0) ? r + b : r);
	}
	case PY_OP_Pow: return lang_float(pow(a, b));
	default: bad_operands(f, op, x, y);
	}
}

/* (a, b) + (c,) is (a, b, c). */
static struct lang_val tuple_add(struct front *f, const struct lang_val *a, const struct lang_val *b)
{
	size_t n = a->u.tup.n + b->u.tup.n;
	struct lang_val *v = arena_array(f->a, n ? n : 1, sizeof *v);
	for (size_t i = 0; i < n; i++)
		v[i] = i < a->u.tup.n ? a->u.tup.v[i] : b->u.tup.v[i - a->u.tup.n];
	for (size_t i = a->u.tup.n; i < n; i++)         /* Triton unwraps the constants of the right side */
		if (v[i].kind != LANG_TENSOR)
			v[i].wrapped = 0;
	return lang_tuple(v, n);
}

/* (a, b) * 2 is (a, b, a, b). The limit keeps a constant like 10 ** 9 from filling the memory. */
static struct lang_val tuple_repeat(struct front *f, const struct lang_val *a, pyint times)
{
	size_t n = a->u.tup.n;
	struct lang_val *v;

	if (times < 0)
		times = 0;
	if (times > 4096)
		front_fail(f, REASON_unsupported, "this engine does not support a tuple repeated more than 4096 times");
	v = arena_array(f->a, n * (size_t)times + 1, sizeof *v);
	for (size_t i = 0; i < n * (size_t)times; i++)
		v[i] = a->u.tup.v[i % n];
	return lang_tuple(v, n * (size_t)times);
}

static struct lang_val str_add(struct front *f, struct str a, struct str b)
{
	char *p = arena_alloc(f->a, a.n + b.n + 1);
	memcpy(p, a.p, a.n);
	memcpy(p + a.n, b.p, b.n);
	return lang_str((struct str){ p, a.n + b.n });
}

/* Dispatches by the kinds of both operands. */
struct lang_val front_const_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b)
{
	if (lang_is_int(&a) && lang_is_int(&b))
		return int_binary(f, op, &a, &b);
	if (lang_is_number(&a) && lang_is_number(&b))
		return float_binary(f, op, &a, &b);
	if (op == PY_OP_Add && a.kind == LANG_TUPLE && b.kind == LANG_TUPLE)
		return tuple_add(f, &a, &b);
	if (op == PY_OP_Mult && a.kind == LANG_TUPLE && lang_is_int(&b))
		return tuple_repeat(f, &a, b.u.i);
	if (op == PY_OP_Mult && b.kind == LANG_TUPLE && lang_is_int(&a))
		return tuple_repeat(f, &b, a.u.i);
	if (op == PY_OP_Add && a.kind == LANG_STR && b.kind == LANG_STR)
		return str_add(f, a.u.s, b.u.s);
	bad_operands(f, op, &a, &b);
}

/* -1, 0 or 1 as a is below, equal to or above b; 2 if a NaN is involved. */
static int order(struct front *f, enum py_op op, const struct lang_val *a, const struct lang_val *b)
{
	if (lang_is_int(a) && lang_is_int(b))
		return a->u.i < b->u.i ? -1 : a->u.i > b->u.i;
	if (lang_is_number(a) && lang_is_number(b)) {
		double x = lang_as_double(a), y = lang_as_double(b);
		return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
	}
	if (a->kind == LANG_STR && b->kind == LANG_STR) {
		size_t n = MIN(a->u.s.n, b->u.s.n);
		int c = n ? memcmp(a->u.s.p, b->u.s.p, n) : 0;
		return c < 0 ? -1 : c > 0 ? 1 : a->u.s.n < b->u.s.n ? -1 : a->u.s.n > b->u.s.n;
	}
	front_fail(f, REASON_bad_types, "'%s' not supported between instances of '%s' and '%s'",
		   py_op_text(op), lang_type_name(a), lang_type_name(b));
}

/* A NaN is neither below, equal nor above: every ordered comparison with it is false. */
struct lang_val front_const_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b)
{
	int o;

	if (op == PY_OP_Eq || op == PY_OP_NotEq)
		return lang_bool(lang_equal(&a, &b) == (op == PY_OP_Eq));
	o = order(f, op, &a, &b);
	switch (op) {
	case PY_OP_Lt: return lang_bool(o == -1);
	case PY_OP_LtE: return lang_bool(o == -1 || o == 0);
	case PY_OP_Gt: return lang_bool(o == 1);
	default: return lang_bool(o == 1 || o == 0);
	}
}

/* -, +, ~ and not. Triton's message for a bad operand depends on whether it is a constexpr. */
struct lang_val front_const_unary(struct front *f, enum py_op op, struct lang_val a)
{
	static const char *const method[PY_OPS] = {
		[PY_OP_USub] = "__neg__", [PY_OP_UAdd] = "__pos__", [PY_OP_Invert] = "__invert__",
	};
	if (op == PY_OP_Not && a.kind == LANG_TUPLE && !a.wrapped)
		front_fail(f, REASON_bad_types, "ValueError(\"'__not__' is not in list\")");
	if (op == PY_OP_Not)
		return lang_bool(!lang_truth(&a));
	if (a.kind == LANG_FLOAT && op != PY_OP_Invert)
		return lang_float(op == PY_OP_USub ? -a.u.f : a.u.f);
	if (lang_is_int(&a))
		return int_of(f, op == PY_OP_USub ? -a.u.i : op == PY_OP_Invert ? ~a.u.i : a.u.i);
	if (a.kind == LANG_TUPLE || !a.wrapped)
		front_fail(f, REASON_unsupported_syntax,
			   "AST unary operator '%s' is not (currently) implemented on type %s",
			   method[op], lang_type_name(&a));
	front_fail(f, REASON_bad_types, "bad operand type for unary %s: '%s'", py_op_text(op), lang_type_name(&a));
}

/* --- Python's math module --------------------------------------------------------------------- */

/* Functions of Python's math module with one argument. */
static const struct { const char *name; double (*one)(double); } math_one[] = {
	{ "sqrt", sqrt }, { "exp", exp }, { "log", log }, { "log2", log2 }, { "log10", log10 },
	{ "sin", sin }, { "cos", cos },
	{ "tan", tan }, { "tanh", tanh }, { "fabs", fabs }, { "log1p", log1p }, { "expm1", expm1 }, { "erf", erf },
	{ "ceil", ceil }, { "floor", floor }, { "trunc", trunc }, { "exp2", exp2 },
};

/* Whether front_math implements math.<name>. */
int front_math_known(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(math_one); i++)
		if (str_is(name, math_one[i].name))
			return 1;
	return str_is(name, "pow") || str_is(name, "gcd");
}

/* ceil, floor and trunc give integers, as in Python. */
struct lang_val front_math(struct front *f, struct str name, const struct front_args *args)
{
	for (size_t i = 0; i < args->n; i++)
		if (!lang_is_number(&args->v[i]))
			front_fail_hint(f, REASON_bad_types, "Python's math works on constants; use tl on tensors",
					"TypeError('must be real number, not %s')", lang_type_name(&args->v[i]));
	if (str_is(name, "pow") && args->n == 2)
		return lang_float(pow(lang_as_double(&args->v[0]), lang_as_double(&args->v[1])));
	if (str_is(name, "log") && args->n == 2)
		return lang_float(log(lang_as_double(&args->v[0])) / log(lang_as_double(&args->v[1])));
	if (str_is(name, "gcd") && args->n == 2 && lang_is_int(&args->v[0]) && lang_is_int(&args->v[1])) {
		pyint a = args->v[0].u.i, b = args->v[1].u.i;
		while (b) {
			pyint r = a % b;
			a = b, b = r;
		}
		return lang_int(a < 0 ? -a : a);
	}
	for (size_t i = 0; i < COUNT_OF(math_one); i++)
		if (str_is(name, math_one[i].name) && args->n == 1) {
			double r = math_one[i].one(lang_as_double(&args->v[0]));
			int whole;

			if (isnan(r) && !isnan(lang_as_double(&args->v[0])))
				front_fail(f, REASON_bad_value, "ValueError('math domain error')");
			whole = str_is(name, "ceil") || str_is(name, "floor") || str_is(name, "trunc");
			return whole && fabs(r) < 1e30 ? lang_int((pyint)r) : lang_float(r);
		}
	front_fail(f, REASON_bad_argument, "TypeError('math.%.*s() does not take these arguments')", STR_ARG(name));
}
