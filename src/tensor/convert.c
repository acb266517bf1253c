/* Bulk conversion between any two dtypes.
 *
 * Every dtype widens without loss to one of three carriers: i64 (integers and bool), f32 (8-, 16-
 * and 32-bit floats) or f64. A conversion loads into the carrier of the source and stores from it
 * into the target, one block at a time. 15 dtypes need 15 loads and 3 x 15 stores instead of 225
 * conversions. Frequent pairs have direct loops. */
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "tensor/tensor.h"

SIMD_DECLARE(void, vec_f16_to_f32, (float *dst, const uint16_t *src, size_t n))
SIMD_DECLARE(void, vec_f32_to_f16, (uint16_t *dst, const float *src, size_t n))
SIMD_DECLARE(void, vec_bf16_to_f32, (float *dst, const uint16_t *src, size_t n))
SIMD_DECLARE(void, vec_f32_to_bf16, (uint16_t *dst, const float *src, size_t n))
SIMD_DECLARE(void, vec_f32_to_f64, (double *dst, const float *src, size_t n))
SIMD_DECLARE(void, vec_f64_to_f32, (float *dst, const double *src, size_t n))

/* Elements that pass through the carrier at once; the block stays in the first-level cache. */
enum { BLOCK = 256 };

/* As the x86 instruction cvttss2si: the most negative number for a value out of range. */
static int32_t trunc_i32(double x)
{
	return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}

/* As trunc_i32 for 64 bits: NaN and values out of range give INT64_MIN. */
static int64_t trunc_i64(double x)
{
	return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

/* Up to 2^63 as int64; above that, up to 2^64, as unsigned; beyond, the largest number. */
static uint64_t trunc_u64(double x)
{
	if (x >= 9223372036854775808.0)
		return x < 18446744073709551616.0 ? (uint64_t)x : UINT64_MAX;
	return (uint64_t)trunc_i64(x);
}

/* --- loads into a carrier ------------------------------------------------------------ */

/* Loads of one dtype into its carrier, element by element. */
#define LOAD(name, carrier, type, expr)                                       \
	static void name(void *dst, const void *src, size_t n)                \
	{                                                                     \
		carrier *d = dst;                                             \
		const type *s = src;                                          \
		for (size_t i = 0; i < n; i++)                                \
			d[i] = expr;                                          \
	}
LOAD(load_bool, int64_t, uint8_t, s[i] != 0)
LOAD(load_u8, int64_t, uint8_t, s[i])
LOAD(load_u16, int64_t, uint16_t, s[i])
LOAD(load_u32, int64_t, uint32_t, s[i])
LOAD(load_u64, int64_t, uint64_t, (int64_t)s[i])
LOAD(load_i8, int64_t, int8_t, s[i])
LOAD(load_i16, int64_t, int16_t, s[i])
LOAD(load_i32, int64_t, int32_t, s[i])
LOAD(load_f8e4m3, float, uint8_t, f8e4m3_to_f32(s[i]))
LOAD(load_f8e5m2, float, uint8_t, f8e5m2_to_f32(s[i]))

static void load_f16(void *dst, const void *src, size_t n)
{
	SIMD_PICK(vec_f16_to_f32)(dst, src, n);
}

static void load_bf16(void *dst, const void *src, size_t n)
{
	SIMD_PICK(vec_bf16_to_f32)(dst, src, n);
}

static void copy4(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n * 4);
}

static void copy8(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n * 8);
}

/* Loads into the carrier, or stores from it, n elements. */
typedef void convert_fn(void *dst, const void *src, size_t n);

/* By source dtype. */
static convert_fn *const load[DTYPES] = {
	[DT_BOOL] = load_bool, [DT_U8] = load_u8, [DT_U16] = load_u16, [DT_U32] = load_u32,
	[DT_U64] = load_u64, [DT_I8] = load_i8, [DT_I16] = load_i16, [DT_I32] = load_i32,
	[DT_I64] = copy8, [DT_F8E4M3] = load_f8e4m3, [DT_F8E5M2] = load_f8e5m2,
	[DT_F16] = load_f16, [DT_BF16] = load_bf16, [DT_F32] = copy4, [DT_F64] = copy8,
};

enum dtype dtype_carrier(enum dtype dt)
{
	if (!dtype_is_float(dt))
		return DT_I64;
	return dt == DT_F64 ? DT_F64 : DT_F32;
}

/* --- stores from a carrier ----------------------------------------------------------- */

/* Stores from a carrier into one dtype, element by element; x is the carrier's value. */
#define STORE(name, carrier, type, expr)                                      \
	static void name(void *dst, const void *src, size_t n)                \
	{                                                                     \
		type *d = dst;                                                \
		const carrier *s = src;                                       \
		for (size_t i = 0; i < n; i++) {                              \
			carrier x = s[i];                                     \
			d[i] = (type)(expr);                                  \
		}                                                             \
	}
/* All targets whose conversion differs only in how a carrier becomes an integer. Each goes
 * through 32 or 64 bits as in PyTorch, which shows when a float is out of range. */
#define STORE_INTS(c, carrier)                                                \
	STORE(c##_as_u8, carrier, uint8_t, TO64(x))                           \
	STORE(c##_as_u16, carrier, uint16_t, TO32(x))                         \
	STORE(c##_as_u32, carrier, uint32_t, TO64(x))                         \
	STORE(c##_as_u64, carrier, uint64_t, TOU64(x))                        \
	STORE(c##_as_i8, carrier, int8_t, TO32(x))                            \
	STORE(c##_as_i16, carrier, int16_t, TO32(x))                          \
	STORE(c##_as_i32, carrier, int32_t, TO32(x))                          \
	STORE(c##_as_bool, carrier, uint8_t, x != 0)                          \
	STORE(c##_as_f8e4m3, carrier, uint8_t, f32_to_f8e4m3((float)x))       \
	STORE(c##_as_f8e5m2, carrier, uint8_t, f32_to_f8e5m2((float)x))

#define TO32(x) (x)
#define TO64(x) (x)
#define TOU64(x) (x)
STORE_INTS(i64, int64_t)
STORE(i64_as_f16, int64_t, uint16_t, f32_to_f16((float)x))
STORE(i64_as_bf16, int64_t, uint16_t, f32_to_bf16((float)x))
STORE(i64_as_f32, int64_t, float, x)
STORE(i64_as_f64, int64_t, double, x)
STORE(u64_as_f32, uint64_t, float, x)
STORE(u64_as_f64, uint64_t, double, x)
#undef TO32
#undef TO64
#undef TOU64
#define TO32(x) trunc_i32(x)
#define TO64(x) trunc_i64(x)
#define TOU64(x) trunc_u64(x)
STORE_INTS(f32, float)
STORE_INTS(f64, double)
STORE(f32_as_i64, float, int64_t, trunc_i64(x))
STORE(f64_as_i64, double, int64_t, trunc_i64(x))
STORE(f64_as_f16, double, uint16_t, f32_to_f16((float)x))
STORE(f64_as_bf16, double, uint16_t, f32_to_bf16((float)x))

static void f32_as_f16(void *dst, const void *src, size_t n)
{
	SIMD_PICK(vec_f32_to_f16)(dst, src, n);
}

static void f32_as_bf16(void *dst, const void *src, size_t n)
{
	SIMD_PICK(vec_f32_to_bf16)(dst, src, n);
}

static void f32_as_f64(void *dst, const void *src, size_t n)
{
	SIMD_PICK(vec_f32_to_f64)(dst, src, n);
}

static void f64_as_f32(void *dst, const void *src, size_t n)
{
	SIMD_PICK(vec_f64_to_f32)(dst, src, n);
}

/* The part of a table of stores that STORE_INTS makes. */
#define INT_STORES(c)                                                                        \
	[DT_BOOL] = c##_as_bool, [DT_U8] = c##_as_u8, [DT_U16] = c##_as_u16,                 \
	[DT_U32] = c##_as_u32, [DT_U64] = c##_as_u64, [DT_I8] = c##_as_i8,                   \
	[DT_I16] = c##_as_i16, [DT_I32] = c##_as_i32, [DT_F8E4M3] = c##_as_f8e4m3,           \
	[DT_F8E5M2] = c##_as_f8e5m2

/* By target dtype, one table per carrier. */
static convert_fn *const from_i64[DTYPES] = {
	INT_STORES(i64), [DT_I64] = copy8, [DT_F16] = i64_as_f16, [DT_BF16] = i64_as_bf16,
	[DT_F32] = i64_as_f32, [DT_F64] = i64_as_f64,
};
static convert_fn *const from_f32[DTYPES] = {
	INT_STORES(f32), [DT_I64] = f32_as_i64, [DT_F16] = f32_as_f16, [DT_BF16] = f32_as_bf16,
	[DT_F32] = copy4, [DT_F64] = f32_as_f64,
};
static convert_fn *const from_f64[DTYPES] = {
	INT_STORES(f64), [DT_I64] = f64_as_i64, [DT_F16] = f64_as_f16, [DT_BF16] = f64_as_bf16,
	[DT_F32] = f64_as_f32, [DT_F64] = copy8,
};

/* The store of a carrier into a dtype. */
static convert_fn *storer(enum dtype carrier, enum dtype to)
{
	return (carrier == DT_I64 ? from_i64 : carrier == DT_F32 ? from_f32 : from_f64)[to];
}

/* uint64 travels in an i64 carrier as the same bits; only its way to floats must treat it as
 * unsigned. Returns 1 if it has converted. */
static int convert_u64(enum dtype to, void *dst, enum dtype from, const void *src, size_t n)
{
	if (from != DT_U64 || !dtype_is_float(to))
		return 0;
	if (to == DT_F64) {
		u64_as_f64(dst, src, n);
		return 1;
	}
	for (size_t done = 0; done < n; done += BLOCK) {
		float block[BLOCK];
		size_t m = MIN(n - done, (size_t)BLOCK);

		u64_as_f32(block, (const uint64_t *)src + done, m);
		from_f32[to]((char *)dst + done * (size_t)dtype_size(to), block, m);
	}
	return 1;
}

/* bool to bool is a conversion too: any nonzero byte becomes 1. */
void dtype_convert(enum dtype to, void *dst, enum dtype from, const void *src, size_t n)
{
	enum dtype via = dtype_carrier(from);
	int64_t block[BLOCK];

	if (to == from && to != DT_BOOL) {
		memcpy(dst, src, n * (size_t)dtype_size(to));
		return;
	}
	if (convert_u64(to, dst, from, src, n))
		return;
	if (to == via) {
		load[from](dst, src, n);
		return;
	}
	if (from == via) {
		storer(via, to)(dst, src, n);
		return;
	}
	for (size_t done = 0; done < n; done += BLOCK) {
		size_t m = MIN(n - done, (size_t)BLOCK);

		load[from](block, (const char *)src + done * (size_t)dtype_size(from), m);
		storer(via, to)((char *)dst + done * (size_t)dtype_size(to), block, m);
	}
}
