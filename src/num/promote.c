/* Type promotion by the rules of torch.result_type.
 *
 * Operands have three classes: tensors with dimensions, 0-d tensors, Python numbers. A lower
 * class changes the result only if its category (bool < integer < float) is higher. Example:
 * int32 tensor + 1 is int32, int32 tensor + 1.0 is the default float, f16 tensor + 0-d f64
 * tensor is f16. */
#include <string.h>

#include "base/mem.h"
#include "num/num.h"

/* 0 bool, 1 integer, 2 float. */
static int category(enum dtype dt)
{
	enum dtype_class k = dtype_info(dt)->class;

	return k == DTC_BOOL ? 0 : k == DTC_FLOAT ? 2 : 1;
}

/* The wider one; two different types of one width give float32. */
static enum dtype promote_floats(enum dtype a, enum dtype b)
{
	int wa = dtype_size(a), wb = dtype_size(b);

	if (a == b)
		return a;
	if (wa == wb)           /* f16 with bf16; the fp8 types with each other */
		return DT_F32;
	return wa > wb ? a : b;
}

/* Same signedness: the wider one. Mixed: the signed type that holds both (uint8 with int8 is
 * int16); uint64 has no such type and gives int64. */
static enum dtype promote_ints(enum dtype a, enum dtype b)
{
	static const enum dtype by_size[] = { [1] = DT_I16, [2] = DT_I32, [4] = DT_I64, [8] = DT_I64 };
	int ua = dtype_info(a)->class == DTC_UINT, ub = dtype_info(b)->class == DTC_UINT;
	int wa = dtype_size(a), wb = dtype_size(b);

	if (ua == ub)
		return wa >= wb ? a : b;
	if (ua)                 /* make a the signed one */
		return promote_ints(b, a);
	return wa > wb ? a : by_size[wb];
}

/* torch.promote_types. */
enum dtype num_promote_types(enum dtype a, enum dtype b)
{
	int ka = category(a), kb = category(b);

	if (ka != kb)
		return ka > kb ? a : b;
	return ka == 2 ? promote_floats(a, b) : ka == 1 ? promote_ints(a, b) : DT_BOOL;
}

/* torch.can_cast: a higher category does not go into a lower one. Narrowing within a category
 * is allowed. */
int num_can_cast(enum dtype from, enum dtype to)
{
	return category(from) <= category(to) || (category(from) == 1 && category(to) == 1);
}

/* The class `higher` decides; `lower` only raises the category. -1 means that there is no
 * operand of that class. */
static int combine(int higher, int lower)
{
	if (higher < 0)
		return lower;
	if (lower < 0)
		return higher;
	if (category((enum dtype)higher) >= category((enum dtype)lower))
		return higher;
	return (int)num_promote_types((enum dtype)higher, (enum dtype)lower);
}

/* Promotion within one class. */
static int meet(int have, enum dtype dt)
{
	return have < 0 ? (int)dt : (int)num_promote_types((enum dtype)have, dt);
}

/* A Python float counts as the default float dtype, an int as int64. */
enum dtype num_result_type(const struct num_ctx *c, const struct num_arg *args, int n)
{
	int dim = -1, zero = -1, number = -1;

	for (int i = 0; i < n; i++) {
		const struct num_arg *a = &args[i];

		if (a->kind == NUM_TENSOR && a->t->ndim > 0)
			dim = meet(dim, a->t->dt);
		else if (a->kind == NUM_TENSOR)
			zero = meet(zero, a->t->dt);
		else
			number = meet(number, a->kind == NUM_FLOAT ? c->default_float :
				      a->kind == NUM_INT ? DT_I64 : DT_BOOL);
	}
	return (enum dtype)combine(combine(dim, zero), number);
}

/* C++ type names, for the messages of PyTorch that print them. */
const char *num_c_name(enum dtype dt)
{
	static const char *const name[DTYPES] = {
		[DT_BOOL] = "bool", [DT_U8] = "unsigned char", [DT_U16] = "unsigned short", [DT_U32] = "unsigned int",
		[DT_U64] = "unsigned long", [DT_I8] = "signed char", [DT_I16] = "short", [DT_I32] = "int",
		[DT_I64] = "long int",
		[DT_F8E4M3] = "c10::Float8_e4m3fn", [DT_F8E5M2] = "c10::Float8_e5m2", [DT_F16] = "c10::Half",
		[DT_BF16] = "c10::BFloat16", [DT_F32] = "float", [DT_F64] = "double",
	};

	return name[dt];
}

/* Scalar type names, for the other messages. */
const char *num_type_name(enum dtype dt)
{
	static const char *const name[DTYPES] = {
		[DT_BOOL] = "Bool", [DT_U8] = "Byte", [DT_U16] = "UInt16", [DT_U32] = "UInt32", [DT_U64] = "UInt64",
		[DT_I8] = "Char", [DT_I16] = "Short", [DT_I32] = "Int", [DT_I64] = "Long",
		[DT_F8E4M3] = "Float8_e4m3fn", [DT_F8E5M2] = "Float8_e5m2", [DT_F16] = "Half",
		[DT_BF16] = "BFloat16", [DT_F32] = "Float", [DT_F64] = "Double",
	};

	return name[dt];
}
