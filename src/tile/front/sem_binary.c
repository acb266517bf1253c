/* Operators: the type in which two operands are computed, and the operation that each operator
 * becomes (semantic.py: computation_type_impl, binary_op_type_checking_impl and the operators).
 *
 * A bare number takes part in promotion only if its kind (bool < int < float) is higher than that
 * of the tensor: with x of fp16, x + 1.5 stays fp16, and with i of int32, i + 1.5 becomes fp32.
 * Operators that turn numbers into tensors first (comparisons, maximum) do not have this exception,
 * which is why `half < 0.5` computes in fp32. */
#include "tile/front/sem.h"

/* The wider type wins. At the same width, unsigned wins: int32 and uint32 give uint32. */
const struct ty *sem_int_promote(const struct ty *a, const struct ty *b)
{
	int ra = ty_bits(a), rb = ty_bits(b);
	if (ty_is_signed(a) == ty_is_signed(b))
		return ra > rb ? a : b;
	if (ty_is_unsigned(a))
		return ra >= rb ? a : b;
	return rb >= ra ? b : a;
}

/* bool < int < float. */
static int kind_of(const struct ty *t)
{
	return ty_is_bool(t) ? 0 : ty_is_int(t) ? 1 : 2;
}

/* The type of an operation on two floats, or on a float and an integer. A division of fp16 or bf16
 * is done in fp32. Returns NULL if neither operand is a float. */
static const struct ty *float_result(const struct ty *a, const struct ty *b, int div)
{
	if (ty_is(a, SC_FP64) || ty_is(b, SC_FP64))
		return ty_sc(SC_FP64);
	if (ty_is(a, SC_FP32) || ty_is(b, SC_FP32))
		return ty_sc(SC_FP32);
	if (ty_is(a, SC_FP16) || ty_is(b, SC_FP16))
		return ty_sc(div ? SC_FP32 : SC_FP16);
	if (ty_is(a, SC_BF16) && ty_is(b, SC_BF16))
		return ty_sc(div ? SC_FP32 : SC_BF16);
	if (ty_is(a, SC_BF16) || ty_is(b, SC_BF16))
		return ty_sc(SC_FP32);
	if (ty_is_fp8(a) && ty_is_fp8(b))
		return ty_eq(a, b) ? a : ty_sc(SC_FP16);
	return NULL;
}

/* The common type of two operands. `a_number`, `b_number`: the operand is a bare Python number.
 * `div`: the operator is /, // or %. */
static const struct ty *computation_type(struct front *f, const struct ty *a, int a_number,
					 const struct ty *b, int b_number, int div)
{
	const struct ty *t;

	if (a_number != b_number) {
		const struct ty *number = a_number ? a : b, *tensor = a_number ? b : a;
		if (kind_of(number) <= kind_of(tensor)) {
			if (div && (ty_is(tensor, SC_FP16) || ty_is(tensor, SC_BF16)))
				return ty_sc(SC_FP32);
			return tensor;
		}
	}
	t = float_result(a, b, div);
	if (t)
		return t;
	if (!ty_is_int(a) || !ty_is_int(b))
		front_fail(f, REASON_bad_types, "unexpected type %s and %s", front_ty(f, a), front_ty(f, b));
	if (div && ty_is_signed(a) != ty_is_signed(b))
		front_fail(f, REASON_bad_types,
			   "Cannot use /, #, or %% with %s and %s because they have different signedness;"
			   "this is unlikely to result in a useful answer. Cast them to the same signedness.",
			   front_ty_repr(f, a), front_ty_repr(f, b));
	return sem_int_promote(a, b);
}

/* A pointer may meet an integer, or a pointer of the same type where the operator allows it. */
static void check_pointer(struct front *f, const struct ty *a, const struct ty *b, int allowed)
{
	if (!ty_is_ptr(a))
		return;
	if (!allowed || (ty_is_ptr(b) && !ty_eq(a, b)) || ty_is_float(b))
		front_fail(f, REASON_bad_types, "invalid operands of type %s and %s", front_ty_repr(f, a),
			   front_ty_repr(f, b));
}

/* A Python number must fit the integer type it is converted to. */
static void check_number(struct front *f, const struct lang_val *v, const struct ty *t)
{
	double x = lang_as_double(v);
	int bits;
	pyint one, hi, lo;

	if (x < 0 && ty_is_unsigned(t))
		front_fail(f, REASON_bad_value,
			   "Cannot perform a binary operation between an unsigned tensor and a negative scalar. "
			   "Perform a explicit cast on one of them.");
	if (!ty_is_int(t))
		return;
	bits = ty_bits(t);
	one = 1;
	hi = ty_is_signed(t) ? (one << (bits - 1)) - 1 : (one << bits) - 1;
	lo = ty_is_signed(t) ? -(one << (bits - 1)) : 0;
	if (v->u.i < lo || v->u.i > hi) {
		struct lang_val bare = lang_raw(*v);
		front_fail(f, REASON_bad_value, "Scalar %s is out of range for type %s", front_str(f, &bare),
			   front_ty(f, t));
	}
}

/* Triton fails with Python's error for an operand that is neither a number nor a tensor. */
_Noreturn static void not_a_value(struct front *f, const struct lang_val *v)
{
	front_fail(f, REASON_bad_types, "'%s' object has no attribute 'type'", lang_type_name(v));
}

/* The scalar type of an operand; for a number, the type that its literal would have. */
static const struct ty *operand_type(struct front *f, const struct lang_val *v, int number)
{
	if (number)
		return sem_to_tensor(f, *v).ty;
	if (v->kind != LANG_TENSOR)
		not_a_value(f, v);
	return ty_scalar(v->u.t.ty);
}

/* The operand in type t: a number becomes a constant of that type at once, without a conversion. */
static struct tv operand_as(struct front *f, const struct lang_val *v, int number, const struct ty *t)
{
	return number ? sem_constant(f, v, t) : sem_cast(f, tv_of(v), t);
}

/* Triton's binary_op_type_checking_impl: pointer checks, promotion, then broadcasting. The order
 * decides which error a kernel with several gets. */
void sem_unify(struct front *f, struct lang_val a, struct lang_val b, int flags, struct tv *x, struct tv *y)
{
	int a_number = lang_is_number(&a), b_number = lang_is_number(&b);
	const struct ty *ta, *tb;

	f->mute++;      /* only the type of a literal is needed here, not its constant */
	ta = operand_type(f, &a, a_number);
	tb = operand_type(f, &b, b_number);
	f->mute--;
	check_pointer(f, ta, tb, flags & SEM_LHS_PTR);
	check_pointer(f, tb, ta, flags & SEM_RHS_PTR);
	if (!(flags & SEM_NO_ARITH) && !ty_is_ptr(ta) && !ty_is_ptr(tb)) {
		const struct ty *t = computation_type(f, ta, a_number, tb, b_number, flags & SEM_DIV);
		if (a_number)
			check_number(f, &a, t);
		if (b_number)
			check_number(f, &b, t);
		*x = operand_as(f, &a, a_number, t);
		*y = operand_as(f, &b, b_number, t);
	} else {
		*x = a_number ? sem_to_tensor(f, a) : tv_of(&a);
		*y = b_number ? sem_to_tensor(f, b) : tv_of(&b);
	}
	sem_broadcast(f, x, y);
}

/* An operator on a type that it does not have. */
_Noreturn static void unexpected(struct front *f, const struct ty *t)
{
	front_fail(f, REASON_bad_types, "unexpected type %s", front_ty(f, t));
}

/* ptr + offset. The offset counts elements. */
static struct tv add_pointer(struct front *f, struct tv ptr, struct tv offset)
{
	if (ty_is_block_ptr(ty_scalar(ptr.ty)))
		front_fail_hint(f, REASON_block_pointer, "move a block pointer with tl.advance",
				"arithmetic on a block pointer is not possible");
	return emit(f, TOP_ADDPTR, ptr.ty, 2, ptr.id, offset.id);
}

/* Addition, of numbers or of a pointer and an integer in either order. */
static struct tv add(struct front *f, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	const struct ty *tx, *ty;

	sem_unify(f, a, b, SEM_LHS_PTR | SEM_RHS_PTR, &x, &y);
	tx = ty_scalar(x.ty);
	ty = ty_scalar(y.ty);
	if (ty_is_ptr(tx) && ty_is_ptr(ty))
		front_fail(f, REASON_bad_types, "cannot add pointers together");
	if (ty_is_ptr(ty))
		return add_pointer(f, y, x);
	if (ty_is_ptr(tx))
		return add_pointer(f, x, y);
	if (!ty_is_float(tx) && !ty_is_int(tx))
		unexpected(f, tx);
	return emit(f, TOP_ADD, x.ty, 2, x.id, y.id);
}

/* ptr - offset is ptr + (0 - offset). */
static struct tv sub(struct front *f, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	const struct ty *t;

	sem_unify(f, a, b, SEM_LHS_PTR, &x, &y);
	t = ty_scalar(x.ty);
	if (ty_is_ptr(t))
		return add(f, lang_of(x), lang_of(sem_neg(f, y)));
	if (!ty_is_float(t) && !ty_is_int(t))
		unexpected(f, t);
	return emit(f, TOP_SUB, x.ty, 2, x.id, y.id);
}

static struct tv mul(struct front *f, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	sem_unify(f, a, b, 0, &x, &y);
	return emit(f, TOP_MUL, x.ty, 2, x.id, y.id);
}

/* `/` of two integers is computed in fp32. */
static struct tv true_div(struct front *f, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	sem_unify(f, a, b, SEM_DIV, &x, &y);
	if (ty_is_int(ty_scalar(x.ty))) {
		x = sem_cast(f, x, ty_sc(SC_FP32));
		y = sem_cast(f, y, ty_sc(SC_FP32));
	}
	return emit(f, TOP_DIV, x.ty, 2, x.id, y.id);
}

/* `//` truncates towards zero, unlike Python: -7 // 2 is -3 in a kernel. */
static struct tv floor_div(struct front *f, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	sem_unify(f, a, b, SEM_DIV, &x, &y);
	if (!ty_is_int(ty_scalar(x.ty)))
		front_fail_hint(f, REASON_bad_types, "// is for integers; use tl.floor(a / b) on floats",
				"unexpected type %s", front_ty(f, ty_scalar(x.ty)));
	return emit(f, TOP_DIV, x.ty, 2, x.id, y.id);
}

/* `%` has the sign of the dividend, unlike Python. */
static struct tv mod(struct front *f, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	sem_unify(f, a, b, SEM_DIV, &x, &y);
	return emit(f, TOP_REM, x.ty, 2, x.id, y.id);
}

/* Operands of a bitwise operator. */
static void unify_ints(struct front *f, struct lang_val a, struct lang_val b, struct tv *x, struct tv *y)
{
	const struct ty *t;

	sem_unify(f, a, b, 0, x, y);
	t = ty_scalar(x->ty);
	if (!ty_is_int(t))
		front_fail(f, REASON_bad_types, "invalid operands of type %s and %s", front_ty_repr(f, t),
			   front_ty_repr(f, ty_scalar(y->ty)));
}

/* &, |, ^ and << of two integers. */
static struct tv bitwise(struct front *f, enum tile_op op, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	unify_ints(f, a, b, &x, &y);
	return emit(f, op, x.ty, 2, x.id, y.id);
}

/* Triton chooses between an arithmetic and a logical shift by the tensor whose operator is called,
 * before promotion. If promotion changed the sign, the operands are converted back and forth. */
static struct tv shift_right(struct front *f, struct lang_val a, struct lang_val b)
{
	const struct lang_val *owner = a.kind == LANG_TENSOR ? &a : &b;
	int arithmetic = ty_is_signed(ty_scalar(owner->u.t.ty));
	struct tv x, y, xs, ys;
	static const enum sc other_sign[SCALARS] = {
		[SC_INT8] = SC_UINT8, [SC_INT16] = SC_UINT16, [SC_INT32] = SC_UINT32, [SC_INT64] = SC_UINT64,
		[SC_UINT8] = SC_INT8, [SC_UINT16] = SC_INT16, [SC_UINT32] = SC_INT32, [SC_UINT64] = SC_INT64,
	};
	const struct ty *t, *s;

	unify_ints(f, a, b, &x, &y);
	t = ty_scalar(x.ty);
	if (ty_is_bool(t) || ty_is_signed(t) == arithmetic)
		return emit(f, TOP_SHR, x.ty, 2, x.id, y.id);
	s = ty_sc(other_sign[t->sc]);
	xs = sem_cast(f, x, s);
	ys = sem_cast(f, y, s);
	return sem_cast(f, emit(f, TOP_SHR, xs.ty, 2, xs.id, ys.id), t);
}

/* One function for each operator of Python. Tensors have no power operator. */
struct tv sem_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b)
{
	switch (op) {
	case PY_OP_Add: return add(f, a, b);
	case PY_OP_Sub: return sub(f, a, b);
	case PY_OP_Mult: return mul(f, a, b);
	case PY_OP_Div: return true_div(f, a, b);
	case PY_OP_FloorDiv: return floor_div(f, a, b);
	case PY_OP_Mod: return mod(f, a, b);
	case PY_OP_BitAnd: return bitwise(f, TOP_AND, a, b);
	case PY_OP_BitOr: return bitwise(f, TOP_OR, a, b);
	case PY_OP_BitXor: return bitwise(f, TOP_XOR, a, b);
	case PY_OP_LShift: return bitwise(f, TOP_SHL, a, b);
	case PY_OP_RShift: return shift_right(f, a, b);
	case PY_OP_Pow:
		front_fail_hint(f, REASON_unknown_attribute, "write x * x, or libdevice.pow(x, y)",
				"AttributeError(\"'tensor' object has no attribute '__%spow__'\")",
				a.kind == LANG_TENSOR ? "" : "r");
	default: BUG("not a binary operator");
	}
}

/* The result is a bool for each lane. */
struct tv sem_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b)
{
	static const enum tile_op ops[PY_OPS] = {
		[PY_OP_Eq] = TOP_EQ, [PY_OP_NotEq] = TOP_NE, [PY_OP_Lt] = TOP_LT, [PY_OP_LtE] = TOP_LE,
		[PY_OP_Gt] = TOP_GT, [PY_OP_GtE] = TOP_GE,
	};
	struct tv x, y;
	/* Both become tensors first, so that numbers take part in promotion. */
	struct lang_val ta = lang_of(sem_to_tensor(f, a)), tb = lang_of(sem_to_tensor(f, b));
	sem_unify(f, ta, tb, 0, &x, &y);
	emit_refuse_fp8(f, x.ty);
	return emit(f, ops[op], ty_with(f->a, x.ty, ty_sc(SC_INT1)), 2, x.id, y.id);
}

/* Triton reinterprets the bits: only a type of one bit passes. */
static struct tv as_bool(struct front *f, struct tv x)
{
	return ty_is_bool(x.ty) ? x : sem_bitcast(f, x, ty_sc(SC_INT1));
}

/* `and` and `or` of bools evaluate both sides, lane by lane. */
struct tv sem_logical(struct front *f, enum py_op op, struct lang_val a, struct lang_val b)
{
	struct tv x = as_bool(f, sem_to_tensor(f, a)), y = as_bool(f, sem_to_tensor(f, b));
	return bitwise(f, op == PY_OP_And ? TOP_AND : TOP_OR, lang_of(x), lang_of(y));
}

/* Triton computes 0 - x, not -x: the sign of a zero differs. */
struct tv sem_neg(struct front *f, struct tv x)
{
	const struct ty *t = ty_scalar(x.ty);
	struct tv zero;

	if (ty_is_ptr(t))
		front_fail(f, REASON_bad_types, "wrong type argument to unary minus (%s)", front_ty_repr(f, t));
	zero = ty_is_float(t) ? emit_float(f, x.ty, 0.0) : emit_int(f, x.ty, 0);
	return emit(f, TOP_SUB, x.ty, 2, zero.id, x.id);
}

/* ~x flips every bit; of a bool it is the logical negation. */
struct tv sem_invert(struct front *f, struct tv x)
{
	const struct ty *t = ty_scalar(x.ty);
	if (ty_is_ptr(t) || ty_is_float(t))
		front_fail(f, REASON_bad_types, "wrong type argument to unary invert (%s)", front_ty_repr(f, t));
	return emit(f, TOP_NOT, x.ty, 1, x.id);
}

struct tv sem_not(struct front *f, struct tv x)
{
	return sem_invert(f, as_bool(f, x));
}

/* Without propagate_nan the other operand wins over a NaN. */
struct tv sem_minmax(struct front *f, int is_max, int propagate_nan, struct lang_val a, struct lang_val b)
{
	struct tv x, y;
	enum tile_op op;

	sem_unify(f, a, b, 0, &x, &y);
	op = is_max ? TOP_MAX : TOP_MIN;
	if (propagate_nan && ty_is_float(ty_scalar(x.ty)))
		op = is_max ? TOP_MAX_NAN : TOP_MIN_NAN;
	return emit(f, op, x.ty, 2, x.id, y.id);
}

/* All three operands are brought to one type and shape, pair by pair. */
struct tv sem_clamp(struct front *f, struct tv x, struct tv lo, struct tv hi, int propagate_nan)
{
	const struct ty *t;

	sem_unify(f, lang_of(lo), lang_of(hi), 0, &lo, &hi);
	sem_unify(f, lang_of(x), lang_of(lo), 0, &x, &lo);
	sem_unify(f, lang_of(x), lang_of(hi), 0, &x, &hi);
	t = ty_scalar(x.ty);
	if (!ty_is_float(t))
		front_fail_hint(f, REASON_bad_dtype, "use tl.minimum(tl.maximum(x, lo), hi) on integers",
				"Unexpected dtype %s. Only floating point clamp is supported", front_ty(f, t));
	return emit(f, propagate_nan ? TOP_CLAMP_NAN : TOP_CLAMP, x.ty, 3, x.id, lo.id, hi.id);
}

/* The condition takes the shape of the values, then the values that of the condition. */
struct tv sem_where(struct front *f, struct tv cond, struct lang_val a, struct lang_val b)
{
	struct tv x, y;

	cond = sem_cast(f, cond, ty_sc(SC_INT1));
	sem_unify(f, a, b, SEM_LHS_PTR | SEM_RHS_PTR, &x, &y);
	sem_broadcast(f, &cond, &x);
	sem_broadcast(f, &x, &y);
	if (!ty_eq(ty_scalar(x.ty), ty_scalar(y.ty)))
		front_late(f, REASON_bad_types, "both sides must have the same type",
			   "tl.where cannot choose between %s and %s",
			   front_ty(f, x.ty), front_ty(f, y.ty));
	return emit(f, TOP_SELECT, x.ty, 3, cond.id, x.id, y.id);
}
