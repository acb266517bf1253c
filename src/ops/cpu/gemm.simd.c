/* Tile kernels of the matrix products: see gemm.h. Nothing here knows blocking or threads.
 *
 * A tile of MR x NR fp32 sums lives in registers: 12 x 32 on AVX-512 (24 of 32 registers),
 * 6 x 16 on AVX2, 6 x 8 on the baseline (12 of 16). */
#include "ops/cpu/gemm.h"

#include "ops/cpu/vec.h"

enum { NR = 2 * VW, MR = SIMD_LEVEL == 2 ? 12 : 6 };

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

/* The sums of a tile: what C holds, or zero. */
INLINE void start(const int mr, vf acc[MR][2], const float *c, size_t ldc, enum gemm_sum sum)
{
	UNROLL
	for (int i = 0; i < mr; i++) {
		acc[i][0] = sum == GEMM_GO_ON ? vf_load(c + (size_t)i * ldc) : vf_zero();
		acc[i][1] = sum == GEMM_GO_ON ? vf_load(c + (size_t)i * ldc + VW) : vf_zero();
	}
}

/* Writes a tile, added to C if asked. */
INLINE void finish(const int mr, vf acc[MR][2], float *c, size_t ldc, enum gemm_sum sum)
{
	UNROLL
	for (int i = 0; i < mr; i++)
		for (int k = 0; k < 2; k++) {
			float *to = c + (size_t)i * ldc + k * VW;

			if (sum == GEMM_ADD)
				acc[i][k] += vf_load(to);
			vf_store(to, acc[i][k]);
		}
}

/* acc[i] += a[i] b: one step of k. */
INLINE void outer(const int mr, vf acc[MR][2], const float *a, vf b0, vf b1)
{
	UNROLL
	for (int i = 0; i < mr; i++) {
		vf x = vf_set1(a[i]);

		acc[i][0] = vf_fma(x, b0, acc[i][0]);
		acc[i][1] = vf_fma(x, b1, acc[i][1]);
	}
}

/* A tile over fp32 operands. */
INLINE void tile(const int mr, size_t k, const float *a, size_t as, const float *b, size_t bs,
		 float *c, size_t ldc, enum gemm_sum sum)
{
	vf acc[MR][2];

	start(mr, acc, c, ldc, sum);
	for (; k; k--, a += as, b += bs)
		outer(mr, acc, a, vf_load(b), vf_load(b + VW));
	finish(mr, acc, c, ldc, sum);
}

/* A tile over bf16 weights, widened in registers, two steps of k at a time. */
INLINE void tile16(const int mr, size_t k, const float *a, size_t as, const uint16_t *b,
		   float *c, size_t ldc, enum gemm_sum sum)
{
	vf acc[MR][2];

	start(mr, acc, c, ldc, sum);
	for (; k >= 2; k -= 2, a += 2 * as, b += 2 * NR) {
		vi w0 = vi_load(b), w1 = vi_load(b + NR);

		outer(mr, acc, a, vf_bf16_even(w0), vf_bf16_even(w1));
		outer(mr, acc, a + as, vf_bf16_odd(w0), vf_bf16_odd(w1));
	}
	if (k)
		outer(mr, acc, a, vf_bf16_even(vi_load(b)), vf_bf16_even(vi_load(b + NR)));
	finish(mr, acc, c, ldc, sum);
}

/* A tile over int8 weights, widened in registers. */
INLINE void tile8(const int mr, size_t k, const float *a, size_t as, const int8_t *b,
		  float *c, size_t ldc, enum gemm_sum sum)
{
	vf acc[MR][2];

	start(mr, acc, c, ldc, sum);
	for (; k; k--, a += as, b += NR)
		outer(mr, acc, a, vf_from_i8(b), vf_from_i8(b + VW));
	finish(mr, acc, c, ldc, sum);
}

/* One function of each kind per tile height. */
#if SIMD_LEVEL == 2
#define HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#else
#define HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#endif

#define DEFINE(n) \
	static void f32_##n(size_t k, const float *a, size_t as, const float *b, size_t bs, float *c, \
			    size_t ldc, enum gemm_sum sum) \
	{ tile(n, k, a, as, b, bs, c, ldc, sum); } \
	static void f16_##n(size_t k, const float *a, size_t as, const uint16_t *b, float *c, size_t ldc, \
			    enum gemm_sum sum) \
	{ tile16(n, k, a, as, b, c, ldc, sum); } \
	static void i8_##n(size_t k, const float *a, size_t as, const int8_t *b, float *c, size_t ldc, \
			   enum gemm_sum sum) \
	{ tile8(n, k, a, as, b, c, ldc, sum); }
HEIGHTS(DEFINE)

#if SIMD_LEVEL == 2
#define DP __attribute__((target("avx512bf16")))

DP INLINE void tiledp(const int mr, size_t pairs, const uint32_t *a, const uint32_t *b, float *c,
		      size_t ldc, enum gemm_sum sum)
{
	vf acc[MR][2];

	start(mr, acc, c, ldc, sum);
	for (; pairs; pairs--, a += mr, b += NR) {
		__m512bh b0 = (__m512bh)_mm512_loadu_si512(b), b1 = (__m512bh)_mm512_loadu_si512(b + VW);

		UNROLL
		for (int i = 0; i < mr; i++) {
			__m512bh x = (__m512bh)_mm512_set1_epi32((int)a[i]);

			acc[i][0] = _mm512_dpbf16_ps(acc[i][0], x, b0);
			acc[i][1] = _mm512_dpbf16_ps(acc[i][1], x, b1);
		}
	}
	finish(mr, acc, c, ldc, sum);
}

#define DEFINE_DP(n) \
	DP static void dp_##n(size_t pairs, const uint32_t *a, const uint32_t *b, float *c, size_t ldc, \
			      enum gemm_sum sum) \
	{ tiledp(n, pairs, a, b, c, ldc, sum); }
HEIGHTS(DEFINE_DP)
#endif

/* Round to nearest even to the upper 16 bits. */
static inline vi round16(vf x)
{
	vi b = (vi)x;

	return b + 0x7fff + (b >> 16 & 1);
}

/* Two vectors of floats as one of bf16 pairs. */
static inline vi pair_vec(vf lo, vf hi)
{
	return (vi)((vu)round16(lo) >> 16) | (round16(hi) & (int32_t)0xffff0000);
}

static inline void pair_store(uint32_t *out, vi w, int n)
{
	memcpy(out, &w, (size_t)n * sizeof *out);
}

/* Two lines of n floats as one line of pairs; a rest shorter than a vector is masked. */
INLINE void pair_line(uint32_t *out, const float *lo, const float *hi, int n)
{
	int i = 0;

	for (; i + VW <= n; i += VW)
		pair_store(out + i, pair_vec(vf_load(lo + i), vf_load(hi + i)), VW);
	if (i < n)
		vf_store_n((float *)(void *)(out + i), (vf)pair_vec(vf_load_n(lo + i, n - i),
								    vf_load_n(hi + i, n - i)), n - i);
}

/* kc lines become kc / 2 lines of pairs; an odd last one is paired with zeros. */
static void pair_lines(uint32_t *out, size_t ldo, const float *in, size_t ldi, int n, size_t kc)
{
	static const float zero[2 * NR];

	for (; kc >= 2; kc -= 2, in += 2 * ldi, out += ldo)
		if (n == NR)
			pair_line(out, in, in + ldi, NR);
		else if (n == MR)
			pair_line(out, in, in + ldi, MR);
		else
			pair_line(out, in, in + ldi, n);
	if (kc)
		pair_line(out, in, zero, n);
}

/* Two floats as one pair. */
static inline uint32_t pair_one(float lo, float hi)
{
	uint32_t a, b;

	memcpy(&a, &lo, 4);
	memcpy(&b, &hi, 4);
	a += 0x7fff + (a >> 16 & 1);
	b += 0x7fff + (b >> 16 & 1);
	return a >> 16 | (b & 0xffff0000u);
}

/* bf16 pairs back to floats. */
static void widen16(float *out, const uint16_t *b, size_t k)
{
	for (; k >= 2; k -= 2, b += 2 * NR, out += 2 * NR)
		for (int j = 0; j < 2; j++) {
			vi w = vi_load(b + j * NR);

			vf_store(out + j * VW, vf_bf16_even(w));
			vf_store(out + NR + j * VW, vf_bf16_odd(w));
		}
	if (k)
		for (int j = 0; j < 2; j++)
			vf_store(out + j * VW, vf_bf16_even(vi_load(b + j * NR)));
}

static void widen8(float *out, const int8_t *b, size_t k)
{
	for (size_t i = 0; i < k * NR; i += VW)
		vf_store(out + i, vf_from_i8(b + i));
}

typedef float v4 __attribute__((vector_size(16)));

static inline v4 v4_load(const float *p) { v4 v; memcpy(&v, p, sizeof v); return v; }
static inline void v4_store(float *p, v4 v) { memcpy(p, &v, sizeof v); }

/* A 4 x 4 block in registers. */
static inline void transpose4(float *out, size_t ldo, const float *in, size_t ldi)
{
	v4 a = v4_load(in), b = v4_load(in + ldi), c = v4_load(in + 2 * ldi), d = v4_load(in + 3 * ldi);
	v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	v4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);

	v4_store(out, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
	v4_store(out + ldo, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
	v4_store(out + 2 * ldo, __builtin_shufflevector(AB, CD, 0, 1, 4, 5));
	v4_store(out + 3 * ldo, __builtin_shufflevector(AB, CD, 2, 3, 6, 7));
}

/* out[j][i] = in[i][j]. */
static void transpose(float *out, size_t ldo, const float *in, size_t ldi, int rows, size_t cols)
{
	int i = 0;

	for (; i + 4 <= rows; i += 4) {
		const float *r = in + (size_t)i * ldi;
		size_t j = 0;

		for (; j + 4 <= cols; j += 4)
			transpose4(out + j * ldo + (size_t)i, ldo, r + j, ldi);
		for (; j < cols; j++)
			for (size_t k = 0; k < 4; k++)
				out[j * ldo + (size_t)i + k] = r[k * ldi + j];
	}
	for (; i < rows; i++)
		for (size_t j = 0; j < cols; j++)
			out[j * ldo + (size_t)i] = in[(size_t)i * ldi + j];
}

#if SIMD_LEVEL == 2
DP static void pair_row(uint32_t *out, const float *r, size_t n)
{
	size_t j = 0;

	for (; j + 2 * VW <= n; j += 2 * VW) {
		__m512bh w = _mm512_cvtne2ps_pbh(vf_load(r + j + VW), vf_load(r + j));

		memcpy(out + j / 2, &w, sizeof w);
	}
	for (; j + 1 < n; j += 2)
		out[j / 2] = pair_one(r[j], r[j + 1]);
	if (j < n)
		out[j / 2] = pair_one(r[j], 0);
}
#else
static void pair_row(uint32_t *out, const float *r, size_t n)
{
	for (size_t j = 0; j < n / 2; j++)
		out[j] = pair_one(r[2 * j], r[2 * j + 1]);
	if (n % 2)
		out[n / 2] = pair_one(r[n - 1], 0);
}
#endif

/* Rows are rounded to pairs first, then the words are transposed. */
static void pair_rows(uint32_t *out, size_t ldo, const float *in, size_t ldi, int h, size_t kc)
{
	enum { STEP = 256 };
	uint32_t row[NR][STEP / 2];

	for (size_t k = 0; k < kc; k += STEP) {
		size_t n = kc - k < STEP ? kc - k : STEP;

		for (int i = 0; i < h; i++)
			pair_row(row[i], in + (size_t)i * ldi + k, n);
		transpose((float *)(void *)(out + k / 2 * ldo), ldo, (const float *)(const void *)row,
			  STEP / 2, h, (n + 1) / 2);
	}
}

const struct gemm_kernels *SIMD_FN(gemm_kernels)(void)
{
#define ROW32(n) [n] = f32_##n,
#define ROW16(n) [n] = f16_##n,
#define ROW8(n) [n] = i8_##n,
	static const struct gemm_kernels k = {
		.mr = MR, .nr = NR,
		.tile = { HEIGHTS(ROW32) }, .tile16 = { HEIGHTS(ROW16) }, .tile8 = { HEIGHTS(ROW8) },
		.pair_lines = pair_lines, .pair_rows = pair_rows,
#if SIMD_LEVEL == 2
#define ROWDP(n) [n] = dp_##n,
		.tiledp = { HEIGHTS(ROWDP) },
#endif
		.widen16 = widen16, .widen8 = widen8, .transpose = transpose,
	};

	return &k;
}
