/* Noise in the last place: see jitter.h. Compiled once per SIMD level. */
#include "interp/jitter.h"

#include <math.h>

/* One 64-bit draw gives two bits to each of 32 floats: down, up, or (half of the time) no step. */
enum { PER_DRAW = 32 };

/* `inf` is the bit pattern of infinity: the exponent's bits; the sign is above them. Adding 1
 * to the integer pattern is one step up in magnitude. Zero, infinities and NaN stay, and no
 * step reaches infinity. Most calls have a constant n, so the compiler vectorizes them. */
#define JITTER(name, type, inf) \
static inline void name##_some(uint64_t word, type *p, size_t n) \
{ \
	for (size_t i = 0; i < n; i++) { \
		uint32_t draw = (uint32_t)(word >> (i * 2)) & 3; \
		type mag = p[i] & (type)((inf) | (((inf) & -(inf)) - 1)); \
		type step = draw == 0 ? (type)-1 : draw == 1 ? 1 : 0; \
		int stays = (mag == 0) | (mag >= (inf)) | ((type)(mag + step) == (inf)); \
		p[i] = (type)(p[i] + (stays ? 0 : step)); \
	} \
} \
static void name(struct rng *r, void *data, size_t n) \
{ \
	type *p = data; \
	for (; n >= PER_DRAW; n -= PER_DRAW, p += PER_DRAW) \
		name##_some(rng_u64(r), p, PER_DRAW); \
	if (n) \
		name##_some(rng_u64(r), p, n); \
}

JITTER(jitter_f64, uint64_t, UINT64_C(0x7ff) << 52)
JITTER(jitter_f32, uint32_t, UINT32_C(0xff) << 23)
JITTER(jitter_f16, uint16_t, UINT16_C(0x1f) << 10)
JITTER(jitter_bf16, uint16_t, UINT16_C(0xff) << 7)

void SIMD_FN(jitter_floats)(enum dtype dt, struct rng *r, void *data, size_t n)
{
	switch (dt) {
	case DT_F64: jitter_f64(r, data, n); break;
	case DT_F32: jitter_f32(r, data, n); break;
	case DT_F16: jitter_f16(r, data, n); break;
	case DT_BF16: jitter_bf16(r, data, n); break;
	default: break;
	}
}

/* Here one draw gives one bit to each of 64 floats. */
enum { SIGNS = 64 };

/* Adds or subtracts 2**-23, one unit in the last place of values from 1 to 2, for magnitudes
 * below 1. At most half of a value is taken off, so no sign changes. */
static inline void near_one_some(uint64_t bits, float *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float mag = fabsf(p[i]), less = mag - 0x1p-23f, half = 0.5f * mag;
		float moved = bits >> i & 1 ? mag + 0x1p-23f : less > half ? less : half;

		p[i] = copysignf(mag < 1.0f ? moved : mag, p[i]);
	}
}

void SIMD_FN(jitter_near_one)(struct rng *r, float *p, size_t n)
{
	for (; n >= SIGNS; n -= SIGNS, p += SIGNS)
		near_one_some(rng_u64(r), p, SIGNS);
	if (n)
		near_one_some(rng_u64(r), p, n);
}
