/* Dtypes: the table, scalar conversions, single elements. Bulk conversion is in convert.c.
 *
 * Rounding is to nearest, ties to even, everywhere but in f32_to_tf32. 16- and 8-bit floats are
 * always reached through float, as in PyTorch: double to half rounds twice. */
#include "tensor/tensor.h"

#include <math.h>
#include <string.h>

const struct dtype_info dtype_table[DTYPES] = {
#define DTYPE(id, t, tr, s, b, c) [DT_##id] = { .torch = t, .triton = tr, .safetensors = s, .bytes = b, \
						.class = DTC_##c },
#include "tensor/dtype.def"
#undef DTYPE
};

/* dtype_by_torch, dtype_by_triton and dtype_by_safetensors: the dtype of a name, or -1. */
#define BY_NAME(field)                                                \
	int dtype_by_##field(struct str name)                         \
	{                                                             \
		for (int i = 0; i < DTYPES; i++)                      \
			if (str_is(name, dtype_table[i].field))             \
				return i;                             \
		return -1;                                            \
	}
BY_NAME(torch)
BY_NAME(triton)
BY_NAME(safetensors)

/* The bits of a float and back. */
static uint32_t bits_of(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof u);
	return u;
}

static float float_of(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof x);
	return x;
}

/* Rounds the bits u of a positive float to a float with `mant` mantissa bits and exponent bias
 * `bias`. Below the smallest normal number, adding a power of two whose last mantissa bit weighs
 * one denormal step lets the adder round. */
static uint32_t shrink(uint32_t u, int mant, int bias)
{
	int drop = 23 - mant;

	if (u < (uint32_t)(127 - bias + 1) << 23) {
		uint32_t magic = (uint32_t)(127 - bias + drop + 1) << 23;

		return bits_of(float_of(u) + float_of(magic)) - magic;
	}
	u += (1u << (drop - 1)) - 1 + (u >> drop & 1);
	return (u - ((uint32_t)(127 - bias) << 23)) >> drop;
}

/* The inverse for finite values; `h` has no sign. fp16 0x3c00 (mant 10, bias 15) is 1.0. */
static float widen(uint32_t h, int mant, int bias)
{
	uint32_t u = h << (23 - mant);

	if (u < 1u << 23)       /* denormal: h * 2^(1 - bias - mant) */
		return (float)h * float_of((uint32_t)(127 + 1 - bias - mant) << 23);
	return float_of(u + ((uint32_t)(127 - bias) << 23));
}

/* 65504 is the largest fp16; 65520 and above rounds to infinity. */
uint16_t f32_to_f16(float x)
{
	uint32_t u = bits_of(x), sign = u >> 31 << 15;

	u &= 0x7fffffff;
	if (u > 0x7f800000)     /* NaN: the top of the payload, made quiet */
		return (uint16_t)(sign | 0x7e00 | (u >> 13 & 0x3ff));
	if (u >= 0x47800000)    /* 65536 and above */
		return (uint16_t)(sign | 0x7c00);
	return (uint16_t)(sign | shrink(u, 10, 15));
}

float f16_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h >> 15) << 31, m = h & 0x7fff;
	float x;

	if (m >= 0x7c00)
		x = float_of(0x7f800000 | (m & 0x3ff) << 13 | (m > 0x7c00 ? 1u << 22 : 0));
	else
		x = widen(m, 10, 15);
	return float_of(bits_of(x) | sign);
}

/* Every NaN becomes 0x7fc0, as in PyTorch; its sign and payload are lost. */
uint16_t f32_to_bf16(float x)
{
	uint32_t u = bits_of(x);

	if ((u & 0x7fffffff) > 0x7f800000)
		return 0x7fc0;
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

float bf16_to_f32(uint16_t h)
{
	return float_of((uint32_t)h << 16);
}

uint8_t f32_to_f8e4m3(float x)
{
	uint32_t u = bits_of(x), sign = u >> 31 << 7;

	u &= 0x7fffffff;
	/* This format has no infinity: 480 and above is NaN (0x7f), and so is what rounds up to 480. */
	return (uint8_t)(sign | (u >= 0x43f00000 ? 0x7f : shrink(u, 3, 7)));
}

float f8e4m3_to_f32(uint8_t h)
{
	uint32_t sign = (uint32_t)(h >> 7) << 31, m = h & 0x7f;
	float x = m == 0x7f ? float_of(0x7ff00000) : widen(m, 3, 7);

	return float_of(bits_of(x) | sign);
}

/* As fp16 with two mantissa bits: infinity from 61440 on. */
uint8_t f32_to_f8e5m2(float x)
{
	uint32_t u = bits_of(x), sign = u >> 31 << 7;

	u &= 0x7fffffff;
	if (u > 0x7f800000)
		return (uint8_t)(sign | 0x7f);
	return (uint8_t)(sign | (u >= 0x47800000 ? 0x7c : shrink(u, 2, 15)));
}

/* An e5m2 number is the upper half of an fp16 number. */
float f8e5m2_to_f32(uint8_t h)
{
	return f16_to_f32((uint16_t)(h << 8));
}

/* Adds half of the last kept bit and cuts 13 bits off; inf and NaN pass. */
float f32_to_tf32(float x)
{
	uint32_t u = bits_of(x);

	if ((u & 0x7fffffff) >= 0x7f800000)
		return x;
	return float_of((u + 0x1000) & ~0x1fffu);
}

/* fp32 has a short cut because nearly all floats have this type. */
double dtype_load(enum dtype dt, const void *p)
{
	float single;
	double v;

	if (dt == DT_F32) {
		memcpy(&single, p, sizeof single);
		return single;
	}
	dtype_convert(DT_F64, &v, dt, p, 1);
	return v;
}

void dtype_store(enum dtype dt, void *p, double v)
{
	float single = (float)v;

	if (dt == DT_F32)
		memcpy(p, &single, sizeof single);
	else
		dtype_convert(dt, p, DT_F64, &v, 1);
}

/* int32 and int64 have short cuts because nearly all integers have these types. */
int64_t dtype_load_int(enum dtype dt, const void *p)
{
	int32_t small;
	int64_t v;

	if (dt == DT_I32) {
		memcpy(&small, p, sizeof small);
		return small;
	}
	if (dt == DT_I64)
		memcpy(&v, p, sizeof v);
	else
		dtype_convert(DT_I64, &v, dt, p, 1);
	return v;
}

void dtype_store_int(enum dtype dt, void *p, int64_t v)
{
	int32_t small = (int32_t)v;

	if (dt == DT_I32)
		memcpy(p, &small, sizeof small);
	else if (dt == DT_I64)
		memcpy(p, &v, sizeof v);
	else
		dtype_convert(dt, p, DT_I64, &v, 1);
}
