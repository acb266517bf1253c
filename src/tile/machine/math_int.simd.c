/* Integer and bool kernels. Wrap-around is defined: sums and products are computed unsigned.
 * Division by zero gives all ones and the remainder gives the dividend, as the hardware does.
 * Checked mode reports it from the operands (check_poison.c). */
#include "tile/machine/math_kernel.h"

/* 32-bit quotients through double are exact: a quotient that is not whole is at least 2^-31
 * (relative) away from the next whole number, and a double carries 53 bits. INT_MIN / -1 wraps. */
static inline int32_t div_i32(int32_t x, int32_t y)
{
	double q = (double)x / (double)(y ? y : 1);
	q = q > 2147483647.0 ? -2147483648.0 : q;
	return y ? (int32_t)q : -1;
}
/* As div_i32; the largest quotient does not fit int32, so it goes through int64. */
static inline uint32_t div_u32(uint32_t x, uint32_t y)
{
	double q = (double)x / (double)(y ? y : 1);
	return y ? (uint32_t)(int64_t)q : UINT32_MAX;
}
/* 64-bit quotients need the integer instruction. INT64_MIN / -1 wraps. */
static inline int64_t div_i64(int64_t x, int64_t y)
{
	return y == 0 ? -1 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}
static inline uint64_t div_u64(uint64_t x, uint64_t y) { return y ? x / y : UINT64_MAX; }
#define div_i8(x, y) ((int8_t)div_i32(x, y))
#define div_i16(x, y) ((int16_t)div_i32(x, y))
#define div_u8(x, y) ((uint8_t)div_u32(x, y))
#define div_u16(x, y) ((uint16_t)div_u32(x, y))

/* Written out so that it vectorises on every instruction set. */
static inline int popcount64(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555u;
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (int)(x * 0x0101010101010101u >> 56);
}

/* Reverses the bits of a word: swaps single bits, pairs and nibbles, then bytes. */
static inline uint64_t reverse64(uint64_t x)
{
	x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
	x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
	x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
	return __builtin_bswap64(x);
}

/* Product of the low 24 bits, sign-extended if signed. */
static inline int64_t mul24(int64_t x, int64_t y, int is_signed)
{
	uint32_t a = (uint32_t)x << 8, b = (uint32_t)y << 8;
	return is_signed ? (int64_t)((int32_t)a >> 8) * ((int32_t)b >> 8) : (int64_t)((uint64_t)(a >> 8) * (b >> 8));
}

/* Result byte i is byte s[i] of the eight bytes of x and y. */
static inline uint32_t byte_perm(uint32_t x, uint32_t y, uint32_t s)
{
	uint64_t both = (uint64_t)y << 32 | x;
	uint32_t r = 0;
	for (int i = 0; i < 4; i++) {
		/* libdevice uses three bits of each selector; PRMT's sign mode is out of reach. */
		uint32_t sel = s >> (4 * i) & 7;
		uint32_t byte = (uint32_t)(both >> (8 * sel)) & 0xff;
		r |= byte << (8 * i);
	}
	return r;
}

/* T: type, U: its unsigned twin, W: twice as wide with the same sign, UW: twice as wide unsigned,
 * P: the type that products wrap in, B: bits of T. */
#define INT_KERNELS(s, T, U, W, UW, P, B, IS_SIGNED) \
	KERNEL2(add_##s, T, T, T, (U)x + (U)y) \
	KERNEL2(sub_##s, T, T, T, (U)x - (U)y) \
	KERNEL2(mul_##s, T, T, T, (P)(U)x * (P)(U)y) \
	KERNEL2(divk_##s, T, T, T, div_##s(x, y)) \
	KERNEL2(rem_##s, T, T, T, y ? (U)x - (U)((P)(U)div_##s(x, y) * (P)(U)y) : (U)x) \
	KERNEL2(and_##s, T, T, T, x & y) \
	KERNEL2(or_##s, T, T, T, x | y) \
	KERNEL2(xor_##s, T, T, T, x ^ y) \
	KERNEL2(shl_##s, T, T, T, (U)y < B ? (U)((U)x << ((U)y & (B - 1))) : 0) \
	KERNEL2(shr_##s, T, T, T, (U)y < B ? x >> ((U)y & (B - 1)) : (T)-(IS_SIGNED && (U)x >> (B - 1))) \
	KERNEL2(max_##s, T, T, T, x > y ? x : y) \
	KERNEL2(min_##s, T, T, T, x < y ? x : y) \
	KERNEL2(umulhi_##s, T, T, T, (U)((UW)(U)x * (UW)(U)y >> B)) \
	KERNEL2(mulhi_##s, T, T, T, (T)((W)x * (W)y >> B)) \
	KERNEL2(eq_##s, uint8_t, T, T, x == y) \
	KERNEL2(ne_##s, uint8_t, T, T, x != y) \
	KERNEL2(lt_##s, uint8_t, T, T, x < y) \
	KERNEL2(le_##s, uint8_t, T, T, x <= y) \
	KERNEL2(gt_##s, uint8_t, T, T, x > y) \
	KERNEL2(ge_##s, uint8_t, T, T, x >= y) \
	KERNEL1(neg_##s, T, T, (U)0 - (U)x) \
	KERNEL1(not_##s, T, T, (U)~(U)x) \
	KERNEL1(abs_##s, T, T, IS_SIGNED && (U)x >> (B - 1) ? (U)0 - (U)x : (U)x) \
	KERNEL3(clamp_##s, T, T, T, T, (x < y ? y : x) > z ? z : (x < y ? y : x)) \
	KERNEL1(popc_##s, int32_t, T, popcount64((U)x)) \
	KERNEL1(clz_##s, int32_t, T, (U)x ? __builtin_clzll((U)x) - (64 - B) : B) \
	KERNEL1(ffs_##s, int32_t, T, (U)x ? __builtin_ctzll((U)x) + 1 : 0) \
	KERNEL1(brev_##s, T, T, (U)(reverse64((U)x) >> (64 - B))) \
	KERNEL2(mul24_##s, T, T, T, mul24((int64_t)x, (int64_t)y, IS_SIGNED)) \
	KERNEL2(hadd_##s, T, T, T, (x & y) + ((x ^ y) >> 1)) \
	KERNEL2(rhadd_##s, T, T, T, (x | y) - ((x ^ y) >> 1)) \
	KERNEL3(sad_##s, T, T, T, U, (x > y ? (U)x - (U)y : (U)y - (U)x) + z) \
	KERNEL3(perm_##s, T, T, T, T, (U)byte_perm((uint32_t)x, (uint32_t)y, (uint32_t)z))

typedef __int128 i128;
typedef unsigned __int128 u128;
INT_KERNELS(i8, int8_t, uint8_t, int16_t, uint32_t, uint32_t, 8, 1)
INT_KERNELS(i16, int16_t, uint16_t, int32_t, uint32_t, uint32_t, 16, 1)
INT_KERNELS(i32, int32_t, uint32_t, int64_t, uint64_t, uint32_t, 32, 1)
INT_KERNELS(i64, int64_t, uint64_t, i128, u128, uint64_t, 64, 1)
INT_KERNELS(u8, uint8_t, uint8_t, uint32_t, uint32_t, uint32_t, 8, 0)
INT_KERNELS(u16, uint16_t, uint16_t, uint32_t, uint32_t, uint32_t, 16, 0)
INT_KERNELS(u32, uint32_t, uint32_t, uint64_t, uint64_t, uint32_t, 32, 0)
INT_KERNELS(u64, uint64_t, uint64_t, u128, u128, uint64_t, 64, 0)

/* bool is arithmetic modulo 2: add is xor, mul is and, max is or. */
KERNEL2(bxor, uint8_t, uint8_t, uint8_t, x ^ y)
KERNEL2(band, uint8_t, uint8_t, uint8_t, x & y)
KERNEL2(bor, uint8_t, uint8_t, uint8_t, x | y)
KERNEL2(bnone, uint8_t, uint8_t, uint8_t, x & y & 2)
KERNEL2(bgt, uint8_t, uint8_t, uint8_t, x & (y ^ 1))
KERNEL2(blt, uint8_t, uint8_t, uint8_t, (x ^ 1) & y)
KERNEL2(bge, uint8_t, uint8_t, uint8_t, x | (y ^ 1))
KERNEL2(ble, uint8_t, uint8_t, uint8_t, (x ^ 1) | y)
KERNEL2(bxnor, uint8_t, uint8_t, uint8_t, x ^ y ^ 1)
KERNEL1(bsame, uint8_t, uint8_t, x)
KERNEL1(bnot, uint8_t, uint8_t, x ^ 1)
KERNEL1(bcount, int32_t, uint8_t, x)
KERNEL1(bclz, int32_t, uint8_t, x ^ 1)
KERNEL3(bclamp, uint8_t, uint8_t, uint8_t, uint8_t, (x | y) & z)

/* One row of the table: a kernel for each integer type, with or without one for bool. */
#define INT_ROW(ID, k) \
	[TOP_##ID] = { [DT_I8] = k##_i8, [DT_I16] = k##_i16, [DT_I32] = k##_i32, [DT_I64] = k##_i64, \
		       [DT_U8] = k##_u8, [DT_U16] = k##_u16, [DT_U32] = k##_u32, [DT_U64] = k##_u64 }
#define INT_BOOL_ROW(ID, k, b) \
	[TOP_##ID] = { [DT_I8] = k##_i8, [DT_I16] = k##_i16, [DT_I32] = k##_i32, [DT_I64] = k##_i64, \
		       [DT_U8] = k##_u8, [DT_U16] = k##_u16, [DT_U32] = k##_u32, [DT_U64] = k##_u64, [DT_BOOL] = b }

extern kernel_table SIMD_FN(tile_int_kernels);
kernel_table SIMD_FN(tile_int_kernels) = {
	INT_BOOL_ROW(ADD, add, bxor),
	INT_BOOL_ROW(SUB, sub, bxor),
	INT_BOOL_ROW(MUL, mul, band),
	INT_BOOL_ROW(DIV, divk, band),
	INT_BOOL_ROW(REM, rem, bgt),
	INT_BOOL_ROW(AND, and, band),
	INT_BOOL_ROW(OR, or, bor),
	INT_BOOL_ROW(XOR, xor, bxor),
	INT_BOOL_ROW(SHL, shl, bgt),
	INT_BOOL_ROW(SHR, shr, bgt),
	INT_BOOL_ROW(MAX, max, bor),
	INT_BOOL_ROW(MIN, min, band),
	INT_BOOL_ROW(MAX_NAN, max, bor),
	INT_BOOL_ROW(MIN_NAN, min, band),
	INT_BOOL_ROW(UMULHI, umulhi, bnone),
	INT_BOOL_ROW(MULHI, mulhi, bnone),
	INT_BOOL_ROW(EQ, eq, bxnor),
	INT_BOOL_ROW(NE, ne, bxor),
	INT_BOOL_ROW(LT, lt, blt),
	INT_BOOL_ROW(LE, le, ble),
	INT_BOOL_ROW(GT, gt, bgt),
	INT_BOOL_ROW(GE, ge, bge),
	INT_BOOL_ROW(NEG, neg, bsame),
	INT_BOOL_ROW(NOT, not, bnot),
	INT_BOOL_ROW(ABS, abs, bsame),
	INT_BOOL_ROW(CLAMP, clamp, bclamp),
	INT_BOOL_ROW(CLAMP_NAN, clamp, bclamp),
	INT_BOOL_ROW(POPC, popc, bcount),
	INT_BOOL_ROW(CLZ, clz, bclz),
	INT_BOOL_ROW(FFS, ffs, bcount),
	INT_BOOL_ROW(BREV, brev, bsame),
	INT_BOOL_ROW(MUL24, mul24, band),
	INT_BOOL_ROW(HADD, hadd, band),
	INT_BOOL_ROW(RHADD, rhadd, bor),
	INT_ROW(SAD, sad),
	INT_ROW(BYTE_PERM, perm),
};
