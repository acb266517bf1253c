/* The inner loop of direct convolutions (see direct.h), compiled once per instruction set.
 * BLOCK output channels times up to VECS vectors of positions accumulate in registers: 8 x 3
 * of the 32 registers of AVX-512, 4 x 3 of the 16 of AVX2. Every accumulator adds the terms
 * in their order with fused multiply-adds, so each instruction set gives the same bits. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "num/direct.h"

#if SIMD_LEVEL == 2
#include <immintrin.h>
enum { BLOCK = 8, VECS = 3, LANES = 16 };
typedef __m512 vec;
#define VLOAD(p) _mm512_loadu_ps(p)
#define VSTORE(p, v) _mm512_storeu_ps(p, v)
#define VSET(x) _mm512_set1_ps(x)
#define VFMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define VADD(a, b) _mm512_add_ps(a, b)
#elif SIMD_LEVEL == 1
#include <immintrin.h>
enum { BLOCK = 4, VECS = 3, LANES = 8 };
typedef __m256 vec;
#define VLOAD(p) _mm256_loadu_ps(p)
#define VSTORE(p, v) _mm256_storeu_ps(p, v)
#define VSET(x) _mm256_set1_ps(x)
#define VFMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define VADD(a, b) _mm256_add_ps(a, b)
#else
enum { BLOCK = 4, VECS = 2, LANES = 4 };
typedef float vec __attribute__((vector_size(16)));

static inline vec VLOAD(const float *p)
{
	vec v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline vec VSET(float x)
{
	return (vec){ x, x, x, x };
}

static inline vec VFMA(vec a, vec b, vec c)
{
	for (int i = 0; i < LANES; i++)
		c[i] = __builtin_fmaf(a[i], b[i], c[i]);
	return c;
}
#define VSTORE(p, v) memcpy(p, &(v), sizeof (v))
#define VADD(a, b) ((a) + (b))
#endif

enum { CHUNK = VECS * LANES };          /* most positions of one call */

/* out[o, i] (+)= sum over t < n of w[t, o] x[offset[t] + i], for B channels and V vectors. B
 * and V are constants at each call, so the loops unroll. `first` overwrites out, later calls
 * add to it: sums of DIRECT_TERMS terms are combined afterwards, which rounds less than one
 * long chain. */
static inline __attribute__((always_inline)) void run_terms(float *out, const float *x,
							    const int32_t *offset, const float *w,
							    int64_t n, const int B, const int V,
							    int first)
{
	vec acc[BLOCK][VECS];

	for (int o = 0; o < B; o++)
		for (int v = 0; v < V; v++)
			acc[o][v] = VSET(0.0f);
	for (int64_t t = 0; t < n; t++) {
		const float *p = x + offset[t];
		vec in[VECS];

		for (int v = 0; v < V; v++)
			in[v] = VLOAD(p + v * LANES);
		for (int o = 0; o < B; o++) {
			vec k = VSET(w[t * B + o]);

			for (int v = 0; v < V; v++)
				acc[o][v] = VFMA(k, in[v], acc[o][v]);
		}
	}
	for (int o = 0; o < B; o++)
		for (int v = 0; v < V; v++) {
			float *to = out + o * CHUNK + v * LANES;
			vec sum = first ? acc[o][v] : VADD(VLOAD(to), acc[o][v]);

			VSTORE(to, sum);
		}
}

/* The kernel for B channels: terms in groups of DIRECT_TERMS, and as few vectors as n
 * positions need. */
#define RUN(name, B) \
	static void name(float *out, const float *x, const int32_t *offset, const float *w, int64_t terms, int64_t n) \
	{ \
		for (int64_t t = 0; t < terms; t += DIRECT_TERMS) { \
			int64_t m = MIN(terms - t, (int64_t)DIRECT_TERMS); \
			if (n <= LANES) \
				run_terms(out, x, offset + t, w + t * B, m, B, 1, t == 0); \
			else if (n <= 2 * LANES) \
				run_terms(out, x, offset + t, w + t * B, m, B, 2, t == 0); \
			else \
				run_terms(out, x, offset + t, w + t * B, m, B, VECS, t == 0); \
		} \
	}
RUN(run_block, BLOCK)
RUN(run_single, 1)

/* `single`: one output channel at a time, for groups with fewer than three. */
const struct direct_kernel *SIMD_FN(num_direct_kernel)(int single)
{
	static const struct direct_kernel many = { .run = run_block, .block = BLOCK, .chunk = CHUNK, .lanes = LANES };
	static const struct direct_kernel one = { .run = run_single, .block = 1, .chunk = CHUNK, .lanes = LANES };

	return single ? &one : &many;
}
