/* Constants and conversions: the type that a Python number gets, and which conversions exist
 * (semantic.py: to_tensor, scalar_constant, cast, bitcast). Example: 3 becomes int32, 2**31 uint32,
 * 0.1 fp32, 1e-40 fp64. */
#include <math.h>

#include "tile/front/sem.h"

/* The first of int32, uint32, int64, uint64 that holds the value. */
static const struct ty *int_literal_type(struct front *f, pyint i)
{
	pyint one = 1;
	struct lang_val v;

	if (i >= -(one << 31) && i < one << 31)
		return ty_sc(SC_INT32);
	if (i >= one << 31 && i < one << 32)
		return ty_sc(SC_UINT32);
	if (i >= -(one << 63) && i < one << 63)
		return ty_sc(SC_INT64);
	if (i >= one << 63 && i < one << 64)
		return ty_sc(SC_UINT64);
	v = lang_raw(lang_int(i));
	front_fail(f, REASON_bad_value, "Nonrepresentable integer %s.", front_str(f, &v));
}

/* fp32, unless the value is outside its normal range; then fp64. */
static const struct ty *float_literal_type(double x)
{
	double a = fabs(x);
	int single = isinf(a) || a == 0 || isnan(x) || (a >= 0x1p-126 && a <= 0x1.fffffep127);
	return ty_sc(single ? SC_FP32 : SC_FP64);
}

/* The type of a Python number in a kernel. */
static const struct ty *literal_type(struct front *f, const struct lang_val *v)
{
	if (v->kind == LANG_BOOL)
		return ty_sc(SC_INT1);
	return v->kind == LANG_INT ? int_literal_type(f, v->u.i) : float_literal_type(v->u.f);
}

/* Triton's builder accepts any 64-bit value of the type's sign and keeps its low bits. */
static int int_fits(pyint i, const struct ty *t)
{
	pyint one = 1;
	return ty_is_signed(t) ? i >= -(one << 63) && i < one << 63 : i >= 0 && i < one << 64;
}

/* The value cut to the width of the type, sign- or zero-extended to 64 bits. */
static int64_t low_bits(pyint i, const struct ty *t)
{
	int shift = 64 - ty_bits(t);
	uint64_t up = (uint64_t)i << shift;
	return ty_is_signed(t) ? (int64_t)up >> shift : (int64_t)(up >> shift);
}

/* Triton has no function that builds this constant; the message is Python's or pybind11's. */
_Noreturn static void bad_constant(struct front *f, const struct lang_val *v, const struct ty *t)
{
	struct lang_val bare = lang_raw(*v);
	if (ty_is_fp8(t))
		front_fail(f, REASON_bad_dtype,
			   "'triton._C.libtriton.ir.builder' object has no attribute 'get_%s'", front_ty(f, t));
	front_fail(f, REASON_bad_value, "get_%s(): incompatible function arguments: %s", front_ty(f, t),
		   front_str(f, &bare));
}

/* Before capability 8.9 a GPU has no fp8e4nv. Triton refuses the type wherever a value of it would
 * be made. */
void sem_check_fp8(struct front *f, const struct ty *t)
{
	if (!ty_is_fp8(t) || t->sc == SC_FP8E5 || t->sc == SC_FP8E4B15)
		return;
	if (t->sc == SC_FP8E4NV && f->capability >= 89)
		return;
	front_fail(f, REASON_bad_dtype,
		   "type %s not supported in this architecture. The supported fp8 dtypes are (%s'fp8e4b15', 'fp8e5')",
		   front_ty(f, t), f->capability >= 89 ? "'fp8e4nv', " : "");
}

/* A constant of type t. fp8 types have a constant 0 only. */
struct tv sem_constant(struct front *f, const struct lang_val *v, const struct ty *t)
{
	int zero;

	if (t->kind != TY_SCALAR || t->sc == SC_VOID)
		bad_constant(f, v, t);
	sem_check_fp8(f, t);
	zero = v->kind == LANG_FLOAT ? v->u.f == 0 : v->u.i == 0;
	if (ty_is_float(t)) {
		if (ty_is_fp8(t) && !zero)
			bad_constant(f, v, t);
		/* Triton tests only whether the value equals 0: a negative zero becomes 0.0. */
		return emit_float(f, t, zero ? 0.0 : lang_as_double(v));
	}
	if (zero)
		return emit_int(f, t, 0);
	if (ty_is_bool(t))
		return emit_int(f, t, 1);
	if (v->kind == LANG_FLOAT || !int_fits(v->u.i, t))
		bad_constant(f, v, t);
	return emit_int(f, t, low_bits(v->u.i, t));
}

/* For constants that are built without sem_constant. */
int64_t sem_int_bits(const struct lang_val *v, const struct ty *t)
{
	return low_bits(v->u.i, t);
}

/* The value of a variable after `x = 1` is this: a scalar tensor of the literal's type. */
struct tv sem_to_tensor(struct front *f, struct lang_val v)
{
	struct lang_val bare;

	if (v.kind == LANG_TENSOR)
		return tv_of(&v);
	if (lang_is_number(&v))
		return sem_constant(f, &v, literal_type(f, &v));
	bare = lang_raw(v);
	front_fail(f, REASON_bad_types, "cannot convert %s of type <class '%s'> to tensor",
		   front_str(f, &bare), lang_type_name(&v));
}

/* Sizes and strides of descriptors may be constants or scalar tensors. */
struct tv sem_make_scalar(struct front *f, struct lang_val v, const struct ty *dtype)
{
	if (v.kind == LANG_TENSOR) {
		if (v.u.t.ty->numel != 1)
			front_fail(f, REASON_bad_shape, "only accepts size-1 tensor");
		return sem_cast(f, tv_of(&v), dtype);
	}
	if (!lang_is_number(&v))
		front_fail(f, REASON_bad_types, "cannot convert %s to a scalar of type %s", front_str(f, &v),
			   front_ty(f, dtype));
	return sem_constant(f, &v, dtype);
}

/* Pointers are converted instead: they have no bits of their own in Triton. */
struct tv sem_bitcast(struct front *f, struct tv x, const struct ty *dtype)
{
	const struct ty *from = ty_scalar(x.ty), *to = ty_scalar(dtype);
	if (ty_eq(from, to) && (ty_is_block(x.ty) || ty_eq(x.ty, dtype)))
		return x;
	if (ty_is_ptr(from) || ty_is_ptr(to))
		return sem_cast(f, x, to);
	if (ty_bits(from) != ty_bits(to))
		front_fail(f, REASON_bad_cast, "Cannot bitcast data-type of size %d to data-type of size %d",
			   ty_bits(from), ty_bits(to));
	return emit(f, TOP_BITCAST, ty_with(f->a, x.ty, to), 1, x.id);
}

/* The conversions that Triton has. fp8 converts to and from floats only. */
static int castable(const struct ty *from, const struct ty *to)
{
	if (ty_is_float(from) && ty_is_float(to))
		return 1;
	if (ty_is_int(from) && ty_is_int(to))
		return 1;
	if ((ty_is_std_float(from) && ty_is_int(to)) || (ty_is_int(from) && ty_is_std_float(to)))
		return 1;
	if (ty_is_ptr(from) && ty_is_int(to))
		return ty_bits(to) == 64 || ty_bits(to) == 1;
	return ty_is_ptr(to) && (ty_is_int(from) || ty_is_ptr(from));
}

/* The names of tl.cast's fp_downcast_rounding. */
static enum tile_round rounding_mode(struct front *f, const char *name)
{
	if (!strcmp(name, "rtne"))
		return TILE_RN;
	if (!strcmp(name, "rtz"))
		return TILE_RZ;
	front_fail(f, REASON_bad_value,
		   "Invalid rounding mode: %s. Supported rounding modes are 'rtne' and 'rtz'.", name);
}

/* A conversion. A rounding mode may be given only where a float becomes narrower. */
struct tv sem_cast_rounded(struct front *f, struct tv x, const struct ty *dtype, const char *rounding)
{
	const struct ty *from = ty_scalar(x.ty), *to = ty_scalar(dtype);
	struct tv r;
	const struct ty *t;
	int narrows;
	enum tile_round mode;

	if (ty_eq(from, to))
		return x;
	/* Only a narrowing conversion of floats rounds. */
	narrows = ty_is_float(from) && ty_is_float(to) && ty_bits(to) < ty_bits(from);
	mode = TILE_RN;
	if (rounding) {
		mode = rounding_mode(f, rounding);
		if (!narrows)
			front_fail(f, REASON_bad_cast,
				   "fp_downcast_rounding should be set only for truncating fp conversions. "
				   "Source scalar type is %s and destination type is %s",
				   front_ty(f, from), front_ty(f, to));
	}
	sem_check_fp8(f, to);
	t = ty_with(f->a, x.ty, to);
	if (ty_is(from, SC_FP8E4B15))       /* Triton converts it by a custom function, to fp32 or fp16 only */
		return emit(f, TOP_CAST, ty_with(f->a, x.ty, ty_sc(ty_is(to, SC_FP32) ? SC_FP32 : SC_FP16)), 1, x.id);
	if (!castable(from, to) || ty_is_block_ptr(x.ty)) {
		struct lang_val v = lang_of(x);
		front_fail(f, REASON_bad_cast, "cannot cast %s to %s", front_str(f, &v), front_ty(f, t));
	}
	r = emit(f, TOP_CAST, t, 1, x.id);
	if (narrows)
		emit_last(f)->rounding = mode;
	return r;
}

/* A conversion with the default rounding: to nearest, ties to even. */
struct tv sem_cast(struct front *f, struct tv x, const struct ty *dtype)
{
	return sem_cast_rounded(f, x, dtype, NULL);
}

/* Triton computes several functions (maximum, clamp, sums) of bf16 in fp32. */
struct tv sem_bf16_to_fp32(struct front *f, struct tv x)
{
	return ty_is(ty_scalar(x.ty), SC_BF16) ? sem_cast(f, x, ty_sc(SC_FP32)) : x;
}
