/* Conversions between bool, integers, fp32 and fp64. Float to integer truncates, saturates, and
 * sends NaN to 0, as the conversions of a GPU do. 8-bit integers go through 16 bits and wrap:
 * 300.0 as int8 is 44. exec_cast.c takes narrow floats through fp32. */
#include "tile/machine/math_kernel.h"

/* Truncates x to TI. HI_FIRST_OUT is the first float above the range: 2^31 for int32, because
 * INT32_MAX itself is no fp32 value. */
#define SAT(name, TF, TI, LO, HI, HI_FIRST_OUT) \
	static inline TI name(TF x) \
	{ \
		TF c = x != x ? 0 : x < (TF)(LO) ? (TF)(LO) : x; \
		return c >= (TF)(HI_FIRST_OUT) ? (TI)(HI) : (TI)c; \
	}
#define SAT_BOTH(s, TI, LO, HI, OUT) SAT(f_##s, float, TI, LO, HI, OUT) SAT(d_##s, double, TI, LO, HI, OUT)
SAT_BOTH(i16, int16_t, INT16_MIN, INT16_MAX, 0x1p15)
SAT_BOTH(u16, uint16_t, 0, UINT16_MAX, 0x1p16)
SAT_BOTH(i32, int32_t, INT32_MIN, INT32_MAX, 0x1p31)
SAT_BOTH(u32, uint32_t, 0, UINT32_MAX, 0x1p32)
SAT_BOTH(i64, int64_t, INT64_MIN, INT64_MAX, 0x1p63)
SAT_BOTH(u64, uint64_t, 0, UINT64_MAX, 0x1p64)
#define f_i8(x) ((int8_t)f_i16(x))
#define d_i8(x) ((int8_t)d_i16(x))
#define f_u8(x) ((uint8_t)f_u16(x))
#define d_u8(x) ((uint8_t)d_u16(x))

/* One kernel serves signed and unsigned targets of a width: their bits are the same. */
#define FROM_INT(s, T) \
	KERNEL1(s##_to_b, uint8_t, T, x != 0) \
	KERNEL1(s##_to_8, uint8_t, T, x) \
	KERNEL1(s##_to_16, uint16_t, T, x) \
	KERNEL1(s##_to_32, uint32_t, T, x) \
	KERNEL1(s##_to_64, uint64_t, T, x) \
	KERNEL1(s##_to_f, float, T, x) \
	KERNEL1(s##_to_d, double, T, x)
FROM_INT(i8, int8_t)
FROM_INT(i16, int16_t)
FROM_INT(i32, int32_t)
FROM_INT(i64, int64_t)
FROM_INT(u8, uint8_t)
FROM_INT(u16, uint16_t)
FROM_INT(u32, uint32_t)
FROM_INT(u64, uint64_t)

#define FROM_FLOAT(s, T) \
	KERNEL1(s##_to_b, uint8_t, T, x != 0) \
	KERNEL1(s##_to_i8, int8_t, T, s##_i8(x)) \
	KERNEL1(s##_to_i16, int16_t, T, s##_i16(x)) \
	KERNEL1(s##_to_i32, int32_t, T, s##_i32(x)) \
	KERNEL1(s##_to_i64, int64_t, T, s##_i64(x)) \
	KERNEL1(s##_to_u8, uint8_t, T, s##_u8(x)) \
	KERNEL1(s##_to_u16, uint16_t, T, s##_u16(x)) \
	KERNEL1(s##_to_u32, uint32_t, T, s##_u32(x)) \
	KERNEL1(s##_to_u64, uint64_t, T, s##_u64(x)) \
	KERNEL1(s##_to_f, float, T, x) \
	KERNEL1(s##_to_d, double, T, x)
FROM_FLOAT(f, float)
FROM_FLOAT(d, double)

#define INT_FROM(ID, s) \
	[DT_##ID] = { [DT_BOOL] = s##_to_b, [DT_I8] = s##_to_8, [DT_I16] = s##_to_16, [DT_I32] = s##_to_32, \
		      [DT_I64] = s##_to_64, \
		      [DT_U8] = s##_to_8, [DT_U16] = s##_to_16, [DT_U32] = s##_to_32, [DT_U64] = s##_to_64, \
		      [DT_F32] = s##_to_f, [DT_F64] = s##_to_d }
#define FLOAT_FROM(ID, s) \
	[DT_##ID] = { [DT_BOOL] = s##_to_b, [DT_I8] = s##_to_i8, [DT_I16] = s##_to_i16, [DT_I32] = s##_to_i32, \
		      [DT_I64] = s##_to_i64, \
		      [DT_U8] = s##_to_u8, [DT_U16] = s##_to_u16, [DT_U32] = s##_to_u32, [DT_U64] = s##_to_u64, \
		      [DT_F32] = s##_to_f, [DT_F64] = s##_to_d }

/* [from][to] */
extern tile_kernel *const SIMD_FN(tile_cast_kernels)[DTYPES][DTYPES];
tile_kernel *const SIMD_FN(tile_cast_kernels)[DTYPES][DTYPES] = {
	INT_FROM(BOOL, u8), INT_FROM(U8, u8), INT_FROM(U16, u16), INT_FROM(U32, u32), INT_FROM(U64, u64),
	INT_FROM(I8, i8), INT_FROM(I16, i16), INT_FROM(I32, i32), INT_FROM(I64, i64),
	FLOAT_FROM(F32, f), FLOAT_FROM(F64, d),
};
