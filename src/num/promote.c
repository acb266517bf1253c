/* Type promotion: torch.result_type's rules.
 *
 * Three classes of operand: tensors with dimensions, 0-d tensors, Python numbers. A lower
 * class changes the result only if its category (bool < integer < float) is higher. */
#include <string.h>

#include "base/mem.h"
#include "num/num.h"

/* 0 bool, 1 integer, 2 float */
static int category(enum dtype dt)
{
	enum dtype_class k = dtype_info(dt)->class;

	return k == DTC_BOOL ? 0 : k == DTC_FLOAT ? 2 : 1;
}

static enum dtype promote_floats(enum dtype a, enum dtype b)
{
	int wa = dtype_size(a), wb = dtype_size(b);

	if (a == b)
		return a;
	if (wa == wb)           /* f16 with bf16; the fp8 types with each other */
		return DT_F32;
	return wa > wb ? a : b;
}

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

enum dtype num_promote_types(enum dtype a, enum dtype b)
{
	int ka = category(a), kb = category(b);

	if (ka != kb)
		return ka > kb ? a : b;
	return ka == 2 ? promote_floats(a, b) : ka == 1 ? promote_ints(a, b) : DT_BOOL;
}

int num_can_cast(enum dtype from, enum dtype to)
{
	return category(from) <= category(to) || (category(from) == 1 && category(to) == 1);
}

/* higher has priority; lower decides only by category. -1: no operand of that class. */
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

static int meet(int have, enum dtype dt)
{
	return have < 0 ? (int)dt : (int)num_promote_types((enum dtype)have, dt);
}

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
			number = meet(number, a->kind == NUM_FLOAT ? c->default_float : a->kind == NUM_INT ?
				      DT_I64 : DT_BOOL);
	}
	return (enum dtype)combine(combine(dim, zero), number);
}

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
